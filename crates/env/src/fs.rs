//! Files that the VM reads and writes for itself, by path: the boot script, modules, dumps,
//! `/proc`. Names and errors are those of `std::fs`.

use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;

pub use std::fs::{
    canonicalize, copy, create_dir_all, hard_link, metadata, read_dir, read_link, remove_file,
    DirEntry, Metadata, OpenOptions,
};
pub use std::os::unix::fs::{symlink, MetadataExt, OpenOptionsExt};

use crate::Fault;

/// An open file.
#[derive(Debug)]
pub struct File(std::fs::File);

impl File {
    pub fn open(path: impl AsRef<Path>) -> io::Result<File> {
        File::with(OpenOptions::new().read(true), path)
    }
    pub fn create_new(path: impl AsRef<Path>) -> io::Result<File> {
        File::with(OpenOptions::new().write(true).create_new(true), path)
    }
    /// Opens a file with these options.
    pub fn with(options: &OpenOptions, path: impl AsRef<Path>) -> io::Result<File> {
        Fault::FileOpen.fail()?;
        options.open(path).map(File)
    }
    pub fn metadata(&self) -> io::Result<Metadata> {
        self.0.metadata()
    }
    pub fn read_exact_at(&self, to: &mut [u8], offset: u64) -> io::Result<()> {
        Fault::FileRead.fail()?;
        std::os::unix::fs::FileExt::read_exact_at(&self.0, to, offset)
    }
}
impl From<OwnedFd> for File {
    fn from(fd: OwnedFd) -> File {
        File(fd.into())
    }
}
impl Read for File {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        Fault::FileRead.fail()?;
        self.0.read(to)
    }
    // Overridden because the inner one knows the file's size.
    fn read_to_end(&mut self, to: &mut Vec<u8>) -> io::Result<usize> {
        Fault::FileRead.fail()?;
        self.0.read_to_end(to)
    }
}
impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(&bytes[..Fault::FileWrite.room(bytes.len())?])
    }
    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

pub fn read(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    Fault::FileOpen.fail()?;
    Fault::FileRead.fail()?;
    std::fs::read(path)
}
pub fn read_to_string(path: impl AsRef<Path>) -> io::Result<String> {
    Fault::FileOpen.fail()?;
    Fault::FileRead.fail()?;
    std::fs::read_to_string(path)
}
pub fn exists(path: impl AsRef<Path>) -> bool {
    path.as_ref().exists()
}
pub fn is_file(path: impl AsRef<Path>) -> bool {
    path.as_ref().is_file()
}
