//! Files by name: links, directories, owners, times.

use std::ffi::{CStr, CString, OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use crate::errno::{Errno, Result};
use crate::file::stat;
use crate::syscall_counters::{call, file, SyscallCounter};

fn as_path(p: &CStr) -> &Path {
    Path::new(OsStr::from_bytes(p.to_bytes()))
}

/// The names in a directory without `.` and `..`, in the order the system gives them.
pub fn list_dir(path: &CStr, mut each: impl FnMut(&[u8])) -> Result<()> {
    call(SyscallCounter::File);
    for e in std::fs::read_dir(as_path(path))? {
        each(e?.file_name().as_bytes());
    }
    Ok(())
}
pub fn make_dir(path: &CStr) -> Result<()> {
    // SAFETY: the path ends in NUL.
    file(unsafe { libc::mkdir(path.as_ptr(), 0o777) }).map(drop)
}
pub fn remove_file(path: &CStr) -> Result<()> {
    // SAFETY: the path ends in NUL.
    match file(unsafe { libc::unlink(path.as_ptr()) }) {
        Err(Errno::ISDIR) => Err(Errno::PERM),
        r => r.map(drop),
    }
}
pub fn remove_dir(path: &CStr) -> Result<()> {
    // SAFETY: the path ends in NUL.
    match file(unsafe { libc::rmdir(path.as_ptr()) }) {
        Err(Errno::NOTEMPTY | Errno::EXIST) => {
            // The current directory has another error.
            match (stat(path, true), stat(c".", true)) {
                (Ok(a), Ok(b)) if (a.inode, a.device) == (b.inode, b.device) => Err(Errno::INVAL),
                _ => Err(Errno::EXIST),
            }
        }
        r => r.map(drop),
    }
}
pub fn rename(from: &CStr, to: &CStr) -> Result<()> {
    // SAFETY: both paths end in NUL.
    match file(unsafe { libc::rename(from.as_ptr(), to.as_ptr()) }) {
        Err(Errno::NOTEMPTY) => Err(Errno::EXIST),
        Err(_) if from.to_bytes() == b"/" => Err(Errno::INVAL),
        r => r.map(drop),
    }
}
pub fn hard_link(from: &CStr, to: &CStr) -> Result<()> {
    // SAFETY: both paths end in NUL.
    file(unsafe { libc::link(from.as_ptr(), to.as_ptr()) }).map(drop)
}
pub fn symlink(target: &CStr, at: &CStr) -> Result<()> {
    // SAFETY: both paths end in NUL.
    file(unsafe { libc::symlink(target.as_ptr(), at.as_ptr()) }).map(drop)
}
pub fn read_link(path: &CStr) -> Result<Vec<u8>> {
    call(SyscallCounter::File);
    Ok(std::fs::read_link(as_path(path))?.into_os_string().into_vec())
}
pub fn set_permissions(path: &CStr, mode: u32) -> Result<()> {
    let mode = mode & 0o6777;
    // SAFETY: the path ends in NUL.
    let change = |m| file(unsafe { libc::chmod(path.as_ptr(), m) }).map(drop);
    change(mode).or_else(|_| change(mode & 0o777))
}
/// `u32::MAX` leaves the user or group as it is.
pub fn set_owner(path: &CStr, uid: u32, gid: u32) -> Result<()> {
    // SAFETY: the path ends in NUL.
    file(unsafe { libc::chown(path.as_ptr(), uid, gid) }).map(drop)
}
pub fn set_times(path: &CStr, accessed: i64, modified: i64) -> Result<()> {
    let t = libc::utimbuf { actime: accessed, modtime: modified };
    // SAFETY: the path ends in NUL, the times are read only.
    file(unsafe { libc::utime(path.as_ptr(), &t) }).map(drop)
}
pub fn current_dir() -> Result<Vec<u8>> {
    call(SyscallCounter::File);
    Ok(std::env::current_dir()?.into_os_string().into_vec())
}
pub fn set_current_dir(path: &CStr) -> Result<()> {
    // SAFETY: the path ends in NUL.
    file(unsafe { libc::chdir(path.as_ptr()) }).map(drop)
}

/// Finds a program of this name in `PATH`-like directories.
pub fn find_program(name: &CStr, dirs: Option<&OsStr>) -> Option<CString> {
    if name.to_bytes().contains(&b'/') {
        return Some(name.to_owned());
    }
    let default = OsString::from("/bin:/usr/bin");
    let dirs = dirs.unwrap_or(&default);
    dirs.as_bytes().split(|b| *b == b':').find_map(|d| {
        let d = if d.is_empty() { b"." } else { d };
        let full = CString::new([d, b"/", name.to_bytes()].concat()).ok()?;
        let is_program = crate::file::executable(&full)
            && stat(&full, true).is_ok_and(|i| i.kind != crate::file::FileKind::Directory);
        is_program.then_some(full)
    })
}
