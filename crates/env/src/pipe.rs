//! Pipes to programs, terminals, and all else that a port reads and writes except sockets.

use std::io::IoSlice;
use std::os::fd::{OwnedFd, RawFd};

use kvik_sys::fd as sys;

use crate::{Fault, Result};

/// Makes a pipe: its read end and its write end.
#[inline]
pub fn open() -> Result<(OwnedFd, OwnedFd)> {
    Fault::PipeOpen.fail()?;
    sys::pipe()
}

#[inline]
pub fn read_bytes(fd: RawFd, buf: &mut [u8]) -> Result<usize> {
    Fault::PipeRead.part(buf.len(), |n| sys::read_bytes(fd, &mut buf[..n]))
}

#[inline]
pub fn write(fd: RawFd, bytes: &[u8]) -> Result<usize> {
    Fault::PipeWrite.part(bytes.len(), |n| sys::write(fd, &bytes[..n]))
}

#[inline]
pub fn write_nowait(fd: RawFd, bytes: &[u8]) -> Result<usize> {
    Fault::PipeWrite.part(bytes.len(), |n| sys::write_nowait(fd, &bytes[..n]))
}

#[inline]
pub fn writev(fd: RawFd, slices: &[IoSlice<'_>]) -> Result<usize> {
    Fault::PipeWrite.writev(slices, |slices| sys::writev(fd, slices))
}
