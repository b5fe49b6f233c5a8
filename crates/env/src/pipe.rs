//! Pipes to programs, terminals, and whatever a port reads and writes that is no socket.

use std::io::IoSlice;
use std::os::fd::{OwnedFd, RawFd};

use kvik_sys::fd as sys;

use crate::{Fault, Result};

/// Its two ends: reading, writing.
#[inline]
pub fn open() -> Result<(OwnedFd, OwnedFd)> {
    Fault::PipeOpen.fail()?;
    sys::pipe()
}

#[inline]
pub fn read_bytes(fd: RawFd, buf: &mut [u8]) -> Result<usize> {
    let room = Fault::PipeRead.room(buf.len())?;
    sys::read_bytes(fd, &mut buf[..room])
}

#[inline]
pub fn write(fd: RawFd, bytes: &[u8]) -> Result<usize> {
    sys::write(fd, &bytes[..Fault::PipeWrite.room(bytes.len())?])
}

#[inline]
pub fn writev(fd: RawFd, slices: &[IoSlice<'_>]) -> Result<usize> {
    Fault::PipeWrite.writev(slices, |slices| sys::writev(fd, slices))
}
