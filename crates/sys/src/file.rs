//! Open files: opening, positions, lengths, metadata, hints.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

use crate::errno::{retry, Errno, Result};
use crate::syscall_counters::{call, file, SyscallCounter};

/// How to open.
#[derive(Copy, Clone, Default, Debug)]
pub struct OpenMode {
    pub read: bool,
    pub write: bool,
    pub append: bool,
    pub exclusive: bool,
    pub sync: bool,
    pub directory: bool,
    /// Do not wait for a FIFO's other end.
    pub nonblocking: bool,
}

impl OpenMode {
    fn flags(self) -> i32 {
        let mut f = match (self.read, self.write) {
            (_, false) => libc::O_RDONLY,
            (false, true) => libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC,
            (true, true) => libc::O_RDWR | libc::O_CREAT,
        };
        if self.append {
            f = f & !libc::O_TRUNC | libc::O_APPEND;
        }
        for (on, bit) in [
            (self.exclusive, libc::O_EXCL),
            (self.sync, libc::O_SYNC),
            (self.directory, libc::O_DIRECTORY),
            (self.nonblocking, libc::O_NONBLOCK),
        ] {
            if on {
                f |= bit;
            }
        }
        f | libc::O_CLOEXEC
    }
}

pub fn open(path: &CStr, mode: OpenMode) -> Result<OwnedFd> {
    let permissions: libc::c_uint = if mode.directory { 0o777 } else { 0o666 };
    // SAFETY: the path ends in NUL; the descriptor is ours.
    unsafe {
        let fd = retry(|| file(libc::open(path.as_ptr(), mode.flags(), permissions)))?;
        Ok(OwnedFd::from_raw_fd(fd))
    }
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum FileKind {
    Device,
    Directory,
    Regular,
    Symlink,
    Fifo,
    Socket,
    Other,
}

/// The result of `stat`.
#[derive(Copy, Clone, Debug)]
pub struct FileInfo {
    pub kind: FileKind,
    pub size: u64,
    pub mode: u32,
    pub links: u64,
    pub device: u64,
    pub raw_device: u64,
    pub inode: u64,
    pub uid: u32,
    pub gid: u32,
    pub accessed: i64,
    pub modified: i64,
    pub changed: i64,
}

fn info(s: libc::stat) -> FileInfo {
    let kind = match s.st_mode & libc::S_IFMT {
        libc::S_IFCHR | libc::S_IFBLK => FileKind::Device,
        libc::S_IFDIR => FileKind::Directory,
        libc::S_IFREG => FileKind::Regular,
        libc::S_IFLNK => FileKind::Symlink,
        libc::S_IFIFO => FileKind::Fifo,
        libc::S_IFSOCK => FileKind::Socket,
        _ => FileKind::Other,
    };
    FileInfo {
        kind,
        size: s.st_size.max(0) as u64,
        mode: s.st_mode,
        links: s.st_nlink,
        device: s.st_dev,
        raw_device: s.st_rdev,
        inode: s.st_ino,
        uid: s.st_uid,
        gid: s.st_gid,
        accessed: s.st_atime,
        modified: s.st_mtime,
        changed: s.st_ctime,
    }
}

pub fn stat(path: &CStr, follow: bool) -> Result<FileInfo> {
    let mut s = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the path ends in NUL; the call fills the structure where it succeeds.
    unsafe {
        file(if follow {
            libc::stat(path.as_ptr(), s.as_mut_ptr())
        } else {
            libc::lstat(path.as_ptr(), s.as_mut_ptr())
        })?;
        Ok(info(s.assume_init()))
    }
}
pub fn fstat(fd: RawFd) -> Result<FileInfo> {
    let mut s = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the call fills the structure where it succeeds.
    unsafe {
        file(libc::fstat(fd, s.as_mut_ptr()))?;
        Ok(info(s.assume_init()))
    }
}
/// Which kind of file system it is on, by `f_type` of `statfs(2)`.
pub fn system(fd: RawFd) -> Option<u32> {
    let mut s = MaybeUninit::<libc::statfs>::uninit();
    // SAFETY: the call fills the structure where it succeeds.
    unsafe {
        file(libc::fstatfs(fd, s.as_mut_ptr())).ok()?;
        Some(s.assume_init().f_type as u32)
    }
}
/// May this process read (write) the file?
pub fn access(path: &CStr, write: bool) -> bool {
    let mode = if write { libc::W_OK } else { libc::R_OK };
    // SAFETY: the path ends in NUL.
    file(unsafe { libc::access(path.as_ptr(), mode) }).is_ok()
}
/// May it be run (a directory: entered)? The error says why not.
pub fn may_execute(path: &CStr) -> Result<()> {
    // SAFETY: the path ends in NUL.
    file(unsafe { libc::access(path.as_ptr(), libc::X_OK) }).map(drop)
}
pub fn executable(path: &CStr) -> bool {
    may_execute(path).is_ok()
}
/// The user and group this process acts as.
/// The most bytes that a file may get: beyond them a write ends the program by a signal.
pub fn size_limit() -> u64 {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the system writes to `limit`.
    match unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) } {
        0 => limit.rlim_cur,
        _ => 0,
    }
}

/// Opening fails if the path names a link.
pub const NO_FOLLOW: i32 = libc::O_NOFOLLOW;
/// Opening does not wait for a FIFO's other end.
pub const NONBLOCK: i32 = libc::O_NONBLOCK;

pub fn effective_ids() -> (u32, u32) {
    // SAFETY: these calls cannot fail.
    unsafe { (libc::geteuid(), libc::getegid()) }
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Whence {
    Start,
    Current,
    End,
}

pub fn seek(fd: RawFd, whence: Whence, offset: i64) -> Result<u64> {
    let w = match whence {
        Whence::Start => libc::SEEK_SET,
        Whence::Current => libc::SEEK_CUR,
        Whence::End => libc::SEEK_END,
    };
    call(SyscallCounter::File);
    // SAFETY: no memory is involved.
    let at = unsafe { libc::lseek(fd, offset, w) };
    u64::try_from(at).map_err(|_| match Errno::last() {
        Errno(0) => Errno::INVAL,
        e => e,
    })
}
/// Cuts the file at its position.
pub fn truncate_here(fd: RawFd) -> Result<()> {
    let at = seek(fd, Whence::Current, 0)?;
    // SAFETY: no memory is involved.
    file(unsafe { libc::ftruncate(fd, at as i64) }).map(drop)
}
pub fn sync(fd: RawFd, data_only: bool) -> Result<()> {
    // SAFETY: no memory is involved.
    file(unsafe {
        if data_only {
            libc::fdatasync(fd)
        } else {
            libc::fsync(fd)
        }
    })
    .map(drop)
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Advice {
    Normal,
    Random,
    Sequential,
    WillNeed,
    DontNeed,
    NoReuse,
}

/// A hint; a system that does not take it is no error.
pub fn advise(fd: RawFd, offset: i64, length: i64, advice: Advice) {
    let a = match advice {
        Advice::Normal => libc::POSIX_FADV_NORMAL,
        Advice::Random => libc::POSIX_FADV_RANDOM,
        Advice::Sequential => libc::POSIX_FADV_SEQUENTIAL,
        Advice::WillNeed => libc::POSIX_FADV_WILLNEED,
        Advice::DontNeed => libc::POSIX_FADV_DONTNEED,
        Advice::NoReuse => libc::POSIX_FADV_NOREUSE,
    };
    call(SyscallCounter::File);
    // SAFETY: no memory is involved.
    unsafe { libc::posix_fadvise(fd, offset, length, a) };
}
/// Makes room for a part of the file.
pub fn allocate(fd: RawFd, offset: i64, length: i64) -> Result<()> {
    // SAFETY: no memory is involved.
    if retry(|| file(unsafe { libc::fallocate(fd, 0, offset, length) })).is_ok() {
        return Ok(());
    }
    loop {
        call(SyscallCounter::File);
        // SAFETY: no memory is involved.
        match unsafe { libc::posix_fallocate(fd, offset, length) } {
            0 => return Ok(()),
            libc::EINTR => continue,
            e => return Err(Errno(e)),
        }
    }
}
