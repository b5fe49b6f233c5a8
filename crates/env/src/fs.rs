//! Files that the VM reads and writes for itself, by path: the boot script, modules, dumps,
//! `/proc`. Names and errors are those of `std::fs`.

use std::ffi::{CStr, CString};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

pub use std::fs::{
    canonicalize, copy, create_dir_all, hard_link, metadata, read_dir, read_link, remove_dir_all,
    remove_file, rename, DirEntry, Metadata, OpenOptions,
};
pub use std::os::unix::fs::{symlink, MetadataExt, OpenOptionsExt};

/// For `OpenOptionsExt::custom_flags`.
pub use kvik_sys::file::{NONBLOCK, NO_FOLLOW};

use crate::file::{self, FileKind, OpenMode};
use crate::{embedded, Fault};

/// An open file.
#[derive(Debug)]
pub struct File(std::fs::File);

impl File {
    pub fn open(path: impl AsRef<Path>) -> io::Result<File> {
        let mode = OpenMode { read: true, ..OpenMode::default() };
        match embedded(&path, |path| embedded::open(path, mode)) {
            Some(opened) => Ok(File::from(opened?)),
            None => File::with(OpenOptions::new().read(true), path),
        }
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

/// Asks the executable's own files, which have the path as a string of C.
fn embedded<T>(path: impl AsRef<Path>, ask: impl FnOnce(&CStr) -> Option<T>) -> Option<T> {
    let path = CString::new(path.as_ref().as_os_str().as_bytes()).ok()?;
    ask(&path)
}

/// Makes a directory that only this user may enter.
pub fn create_private_dir(path: impl AsRef<Path>) -> io::Result<()> {
    std::fs::DirBuilder::new().mode(0o700).create(path)
}
/// Writes a file that must not exist yet.
pub fn write_new(path: impl AsRef<Path>, bytes: &[u8]) -> io::Result<()> {
    File::create_new(path)?.write_all(bytes)
}

pub fn read(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
    Fault::FileOpen.fail()?;
    Fault::FileRead.fail()?;
    match carried(&path) {
        Some(bytes) => Ok(bytes?.to_vec()),
        None => std::fs::read(path),
    }
}
/// The bytes of one of the executable's own files; `None`: the path names none of them.
pub fn carried(path: impl AsRef<Path>) -> Option<io::Result<&'static [u8]>> {
    let found = embedded(path, embedded::contents)?;
    Some(found.map_err(io::Error::from))
}
pub fn read_to_string(path: impl AsRef<Path>) -> io::Result<String> {
    let invalid = |e| io::Error::new(io::ErrorKind::InvalidData, e);
    read(path).and_then(|bytes| String::from_utf8(bytes).map_err(invalid))
}
/// Kind and size.
fn status(path: impl AsRef<Path>) -> Option<(FileKind, u64)> {
    let info = embedded(path, |path| Some(file::stat(path, true)))?.ok()?;
    Some((info.kind, info.size))
}
pub fn exists(path: impl AsRef<Path>) -> bool {
    status(path).is_some()
}
pub fn is_dir(path: impl AsRef<Path>) -> bool {
    status(path).is_some_and(|s| s.0 == FileKind::Directory)
}
pub fn is_file(path: impl AsRef<Path>) -> bool {
    status(path).is_some_and(|s| s.0 == FileKind::Regular)
}
/// 0 where there is none.
pub fn size(path: impl AsRef<Path>) -> u64 {
    status(path).map_or(0, |s| s.1)
}
