//! Files that Erlang programs name: opening, reading, writing.

use std::ffi::CStr;
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{OwnedFd, RawFd};

use kvik_sys::{fd as sys, file};

pub use kvik_sys::file::*;

use crate::{embedded, Errno, Fault, Result};

#[inline]
pub fn open(path: &CStr, mode: OpenMode) -> Result<OwnedFd> {
    Fault::FileOpen.fail()?;
    embedded::open(path, mode).unwrap_or_else(|| file::open(path, mode))
}

pub fn stat(path: &CStr, follow: bool) -> Result<FileInfo> {
    embedded::stat(path).unwrap_or_else(|| file::stat(path, follow))
}
/// May this process read (write) the file?
pub fn access(path: &CStr, write: bool) -> bool {
    embedded::stat(path).map_or_else(|| file::access(path, write), |found| found.is_ok() && !write)
}
/// May it be run (a directory: entered)? The error says why not.
pub fn may_execute(path: &CStr) -> Result<()> {
    embedded::may_execute(path).unwrap_or_else(|| file::may_execute(path))
}

#[inline]
pub fn sync(fd: RawFd, data_only: bool) -> Result<()> {
    Fault::FileSync.fail()?;
    file::sync(fd, data_only)
}

/// Reads until the buffer is full or the file ends.
#[inline]
pub fn read_full(fd: RawFd, buf: &mut [MaybeUninit<u8>], offset: Option<i64>) -> Result<&mut [u8]> {
    Fault::FileRead.fail()?;
    sys::read_full(fd, buf, offset)
}

/// [`read_full`] of data that needs no wait for a device; see [`kvik_sys::fd::read_cached`].
#[inline]
pub fn read_cached<'a>(
    fd: RawFd,
    buf: &'a mut [MaybeUninit<u8>],
    offset: Option<i64>,
    can_ask: &mut bool,
) -> Result<&'a mut [u8]> {
    Fault::FileRead.fail()?;
    sys::read_cached(fd, buf, offset, can_ask)
}

fn behind(offset: Option<i64>, done: usize) -> Result<Option<i64>> {
    offset.map(|o| o.checked_add(done as i64).ok_or(Errno::INVAL)).transpose()
}

/// Writes all bytes, at the file's position or at an offset, and adds to `done` how many it wrote.
#[inline(always)]
pub fn write_all(fd: RawFd, bytes: &[u8], offset: Option<i64>, done: &mut usize) -> Result<()> {
    let room = Fault::FileWrite.room(bytes.len())?;
    sys::write_all(fd, &bytes[..room], offset, done)?;
    if room == bytes.len() {
        return Ok(());
    }
    write_rest(fd, &bytes[room..], behind(offset, room)?, done)
}
/// Writes the rest after a short write, in writes that may be short too.
#[cold]
fn write_rest(
    fd: RawFd,
    mut bytes: &[u8],
    mut offset: Option<i64>,
    done: &mut usize,
) -> Result<()> {
    while !bytes.is_empty() {
        let room = Fault::FileWrite.room(bytes.len())?;
        sys::write_all(fd, &bytes[..room], offset, done)?;
        (bytes, offset) = (&bytes[room..], behind(offset, room)?);
    }
    Ok(())
}

/// The same with several slices.
#[inline]
pub fn write_full(
    fd: RawFd,
    slices: &mut [IoSlice<'_>],
    offset: Option<i64>,
    done: &mut usize,
) -> Result<()> {
    if cfg!(feature = "simulation") {
        let bytes: Vec<u8> = slices.iter().flat_map(|s| s.iter().copied()).collect();
        return write_all(fd, &bytes, offset, done);
    }
    sys::write_full(fd, slices, offset, done)
}
