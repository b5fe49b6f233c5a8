//! Reading and writing descriptors, pipes and their flags.
//!
//! The most frequent calls bypass the C library's wrappers: in a program with threads each wrapper
//! is a cancellation point, which costs some 5% of a small read.

use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use libc::syscall;

use crate::errno::{retry, Errno, Result};
use crate::file::{seek, Whence};
use crate::syscall_counters::{self, call, SyscallCounter};

/// The most slices one `writev` takes.
const IOV_MAX: usize = 1024;

/// A `read` into memory that need not be written before. Answers the part that was read.
pub fn read(fd: RawFd, buf: &mut [MaybeUninit<u8>]) -> Result<&mut [u8]> {
    let n = retry(|| {
        // SAFETY: the buffer is ours to write, for its length.
        syscall_counters::read(unsafe {
            syscall(libc::SYS_read, fd, buf.as_mut_ptr(), buf.len()) as isize
        })
    })?;
    // SAFETY: the system wrote `n` bytes.
    Ok(unsafe { std::slice::from_raw_parts_mut(buf.as_mut_ptr().cast(), n) })
}

/// Fills a buffer by calls of `some`, which gets the number of bytes read so far and returns how
/// many more it has read; 0 is the end.
#[inline]
fn fill(
    buf: &mut [MaybeUninit<u8>],
    mut some: impl FnMut(&mut [MaybeUninit<u8>], usize) -> Result<usize>,
) -> Result<&mut [u8]> {
    let mut done = 0;
    while done < buf.len() {
        match retry(|| some(&mut buf[done..], done))? {
            0 => break,
            n => done += n,
        }
    }
    // SAFETY: the calls above wrote the first `done` bytes.
    Ok(unsafe { std::slice::from_raw_parts_mut(buf.as_mut_ptr().cast(), done) })
}

/// Reads until the buffer is full or the file ends: from `offset` on, or from the file position,
/// which moves.
#[inline]
pub fn read_full(fd: RawFd, buf: &mut [MaybeUninit<u8>], offset: Option<i64>) -> Result<&mut [u8]> {
    fill(buf, |room, done| read_some(fd, room, offset, done))
}

/// One read, at `done` bytes behind `offset`.
#[inline]
fn read_some(
    fd: RawFd,
    room: &mut [MaybeUninit<u8>],
    offset: Option<i64>,
    done: usize,
) -> Result<usize> {
    let (at, n) = (room.as_mut_ptr(), room.len());
    syscall_counters::read(match offset {
        // SAFETY: the buffer is ours to write, for its length.
        None => unsafe { syscall(libc::SYS_read, fd, at, n) as isize },
        // SAFETY: the same.
        Some(o) => unsafe { syscall(libc::SYS_pread64, fd, at, n, behind(o, done)?) as isize },
    })
}

fn read_flags(
    fd: RawFd,
    room: &mut [MaybeUninit<u8>],
    offset: Option<i64>,
    done: usize,
    flags: i32,
) -> Result<usize> {
    let io = libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: room.len() };
    let at = offset.map_or(Ok(-1), |o| behind(o, done))?;
    // SAFETY: one iovec of memory that is ours to write.
    syscall_counters::read(unsafe { libc::preadv2(fd, &io, 1, at, flags) })
}

/// The same if it need not wait. `AGAIN`: not all of it is in memory, and the file position has not
/// moved. If the file does not support this, `can_ask` becomes false and the read may wait.
pub fn read_cached<'a>(
    fd: RawFd,
    buf: &'a mut [MaybeUninit<u8>],
    offset: Option<i64>,
    can_ask: &mut bool,
) -> Result<&'a mut [u8]> {
    let mut moved = 0;
    let r = fill(buf, |room, done| {
        moved = done;
        if *can_ask {
            match read_flags(fd, room, offset, done, libc::RWF_NOWAIT) {
                Err(Errno::NOTSUP | Errno::NOSYS) => *can_ask = false,
                r => return r,
            }
        }
        read_some(fd, room, offset, done)
    });
    if matches!(r, Err(Errno::AGAIN)) && offset.is_none() && moved > 0 {
        seek(fd, Whence::Current, -(moved as i64))?;
    }
    r
}

#[inline]
fn behind(offset: i64, done: usize) -> Result<i64> {
    offset.checked_add(done as i64).ok_or(Errno::INVAL)
}

/// A `read` into bytes that hold something already.
pub fn read_bytes(fd: RawFd, buf: &mut [u8]) -> Result<usize> {
    let (at, n) = (buf.as_mut_ptr(), buf.len());
    // SAFETY: the buffer is ours to write, for its length.
    retry(|| syscall_counters::read(unsafe { syscall(libc::SYS_read, fd, at, n) as isize }))
}

pub fn write(fd: RawFd, bytes: &[u8]) -> Result<usize> {
    retry(|| write_some(fd, bytes, None))
}

/// A write that does not block: less is written, or `AGAIN`. `NOTSUP`: the kernel cannot do this for what
/// the descriptor names (terminals, most file systems).
pub fn write_nowait(fd: RawFd, bytes: &[u8]) -> Result<usize> {
    let io = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    // SAFETY: one iovec of readable bytes, which the call does not write.
    retry(|| syscall_counters::write(unsafe { libc::pwritev2(fd, &io, 1, -1, libc::RWF_NOWAIT) }))
}

/// One write: at `offset`, or at the file position.
#[inline(always)]
fn write_some(fd: RawFd, bytes: &[u8], offset: Option<i64>) -> Result<usize> {
    let (at, n) = (bytes.as_ptr(), bytes.len());
    syscall_counters::write(match offset {
        // SAFETY: the bytes are readable.
        None => unsafe { syscall(libc::SYS_write, fd, at, n) as isize },
        // SAFETY: the same.
        Some(o) => unsafe { syscall(libc::SYS_pwrite64, fd, at, n, o) as isize },
    })
}

/// One `writev`; may write less than all.
pub fn writev(fd: RawFd, slices: &[IoSlice<'_>]) -> Result<usize> {
    if let [one] = slices {
        return write(fd, one);
    }
    let n = slices.len().min(IOV_MAX) as i32;
    // SAFETY: an IoSlice is an iovec; its bytes are readable.
    retry(|| syscall_counters::write(unsafe { libc::writev(fd, slices.as_ptr().cast(), n) }))
}

/// The same at a position, without moving the file's own.
fn pwritev(fd: RawFd, slices: &[IoSlice<'_>], at: i64) -> Result<usize> {
    let n = slices.len().min(IOV_MAX) as i32;
    retry(|| match slices {
        [one] => write_some(fd, one, Some(at)),
        // SAFETY: an IoSlice is an iovec; its bytes are readable.
        _ => syscall_counters::write(unsafe { libc::pwritev(fd, slices.as_ptr().cast(), n, at) }),
    })
}

/// Writes all bytes (at least one): at `offset`, or at the file position, which moves. Adds the
/// number of bytes written to `done`, also if an error follows.
#[inline(always)]
pub fn write_all(fd: RawFd, bytes: &[u8], offset: Option<i64>, done: &mut usize) -> Result<()> {
    match write_some(fd, bytes, offset) {
        Ok(n) if n == bytes.len() => {
            *done += n;
            Ok(())
        }
        r => write_rest(fd, bytes, offset, done, r),
    }
}
/// Continues after a call that was interrupted, or has written less than all.
#[cold]
fn write_rest(
    fd: RawFd,
    bytes: &[u8],
    offset: Option<i64>,
    done: &mut usize,
    r: Result<usize>,
) -> Result<()> {
    let n = match r {
        Err(Errno::INTR) => 0,
        r => r?,
    };
    *done += n;
    let offset = offset.map(|o| behind(o, n)).transpose()?;
    write_full(fd, &mut [IoSlice::new(&bytes[n..])], offset, done)
}

/// The same for slices. Without slices there is no call.
pub fn write_full(
    fd: RawFd,
    mut slices: &mut [IoSlice<'_>],
    offset: Option<i64>,
    done: &mut usize,
) -> Result<()> {
    IoSlice::advance_slices(&mut slices, 0);
    let mut written = 0;
    while !slices.is_empty() {
        let n = match offset {
            None => writev(fd, slices)?,
            Some(o) => pwritev(fd, slices, behind(o, written)?)?,
        };
        written += n;
        *done += n;
        IoSlice::advance_slices(&mut slices, n);
    }
    Ok(())
}

/// A pipe, both ends closed on exec: read end, write end.
pub fn pipe() -> Result<(OwnedFd, OwnedFd)> {
    let mut fds = [0; 2];
    // SAFETY: room for two descriptors, which are ours afterwards.
    unsafe {
        syscall_counters::check(
            SyscallCounter::Spawn,
            libc::pipe2(fds.as_mut_ptr(), libc::O_CLOEXEC),
        )?;
        Ok((OwnedFd::from_raw_fd(fds[0]), OwnedFd::from_raw_fd(fds[1])))
    }
}

/// A pair of connected stream sockets, closed on exec.
pub fn socket_pair() -> Result<(OwnedFd, OwnedFd)> {
    let mut fds = [0; 2];
    let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC;
    // SAFETY: room for two descriptors, which are ours afterwards.
    unsafe {
        syscall_counters::socket(libc::socketpair(libc::AF_UNIX, kind, 0, fds.as_mut_ptr()))?;
        Ok((OwnedFd::from_raw_fd(fds[0]), OwnedFd::from_raw_fd(fds[1])))
    }
}

/// Sets or clears `O_NONBLOCK`. Answers whether it was set before.
pub fn set_nonblocking(fd: RawFd, on: bool) -> Result<bool> {
    // SAFETY: fcntl with these commands touches no memory of ours.
    unsafe {
        let flags = syscall_counters::file(libc::fcntl(fd, libc::F_GETFL))?;
        let was = flags & libc::O_NONBLOCK != 0;
        if was != on {
            syscall_counters::file(libc::fcntl(fd, libc::F_SETFL, flags ^ libc::O_NONBLOCK))?;
        }
        Ok(was)
    }
}

/// Whether this is an open descriptor.
pub fn is_open(fd: RawFd) -> bool {
    call(SyscallCounter::File);
    // SAFETY: F_GETFD touches no memory of ours.
    unsafe { libc::fcntl(fd, libc::F_GETFD) >= 0 }
}

/// A descriptor of our own for the same open file.
pub fn duplicate(fd: RawFd) -> Result<OwnedFd> {
    // SAFETY: the new descriptor is ours.
    unsafe {
        let n = syscall_counters::file(libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 3))?;
        Ok(OwnedFd::from_raw_fd(n))
    }
}

/// Takes over a descriptor that a program asked us to use by number (`{fd, In, Out}`,
/// `file_desc_to_ref`). The number may be anything: that is why this checks that it is open.
pub fn adopt(fd: RawFd) -> Result<OwnedFd> {
    if fd < 0 || !is_open(fd) {
        return Err(Errno::BADF);
    }
    // SAFETY: an open descriptor; the program that named it hands it over.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// How many descriptors the program may have now (`ulimit -n`). 0 if unknown.
pub fn limit() -> u64 {
    let mut l = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is ours to write.
    match unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut l) } {
        0 => l.rlim_cur,
        _ => 0,
    }
}

/// Closes, and returns an error that the close reports.
pub fn close(fd: OwnedFd) -> Result<()> {
    use std::os::fd::IntoRawFd;
    // SAFETY: the descriptor is ours and gone afterwards, whatever the answer.
    syscall_counters::file(unsafe { libc::close(fd.into_raw_fd()) }).map(drop)
}

/// Waits for a descriptor to be readable or writable, at most `timeout_ms` (-1: for ever).
pub fn wait_ready(fd: RawFd, write: bool, timeout_ms: i32) -> Result<bool> {
    let events = if write { libc::POLLOUT } else { libc::POLLIN };
    let mut p = libc::pollfd { fd, events, revents: 0 };
    retry(|| {
        // SAFETY: one pollfd.
        syscall_counters::check(SyscallCounter::Poll, unsafe { libc::poll(&mut p, 1, timeout_ms) })
    })
    .map(|n| n > 0)
}

/// Whether no process has the other end open any more.
pub fn hung_up(fd: RawFd) -> Result<bool> {
    let mut p = libc::pollfd { fd, events: libc::POLLHUP, revents: 0 };
    let n = retry(|| {
        // SAFETY: one pollfd.
        syscall_counters::check(SyscallCounter::Poll, unsafe { libc::poll(&mut p, 1, 0) })
    })?;
    Ok(n > 0 && p.revents & libc::POLLHUP != 0)
}

/// Whether a pipe has room and its other end is open.
pub fn takes(fd: RawFd) -> bool {
    let mut p = libc::pollfd { fd, events: libc::POLLOUT, revents: 0 };
    // SAFETY: one pollfd.
    let n = syscall_counters::check(SyscallCounter::Poll, unsafe { libc::poll(&mut p, 1, 0) });
    n == Ok(1) && p.revents == libc::POLLOUT
}

/// Waits until one of two descriptors can be read. True for each that can, or has ended.
pub fn wait_either(a: RawFd, b: RawFd) -> Result<(bool, bool)> {
    let of = |fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    let mut p = [of(a), of(b)];
    retry(|| {
        // SAFETY: two pollfds.
        syscall_counters::check(SyscallCounter::Poll, unsafe { libc::poll(p.as_mut_ptr(), 2, -1) })
    })?;
    Ok((p[0].revents != 0, p[1].revents != 0))
}

/// Bytes that a pipe, terminal or socket has ready.
pub fn bytes_ready(fd: &OwnedFd) -> usize {
    let mut n: i32 = 0;
    // SAFETY: FIONREAD writes one int.
    match syscall_counters::file(unsafe { libc::ioctl(fd.as_raw_fd(), libc::FIONREAD, &mut n) }) {
        Ok(_) => n.max(0) as usize,
        Err(_) => 0,
    }
}
