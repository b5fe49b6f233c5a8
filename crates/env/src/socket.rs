//! Sockets. [`raw`] has the same calls with the system's own addresses and flags.

use std::io::{self, IoSlice, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use kvik_sys::{fd, socket as sys};

pub use kvik_sys::socket::*;
/// Between this program and a child of its own.
pub use std::os::unix::net::UnixStream;

use crate::{Fault, Result};

#[inline]
pub fn open(family: Family, kind: SocketType) -> Result<OwnedFd> {
    Fault::SocketOpen.fail()?;
    sys::open(family, kind)
}
#[inline]
pub fn open_in(namespace: &[u8], family: Family, kind: SocketType) -> Result<OwnedFd> {
    Fault::SocketOpen.fail()?;
    sys::open_in(namespace, family, kind)
}
#[inline]
pub fn connect(fd: RawFd, to: &Addr) -> Result<()> {
    Fault::SocketConnect.fail()?;
    sys::connect(fd, to)
}
#[inline]
pub fn accept(fd: RawFd) -> Result<OwnedFd> {
    Fault::SocketAccept.fail()?;
    sys::accept(fd)
}

/// Reads from a stream.
#[inline]
pub fn read_bytes(fd: RawFd, buf: &mut [u8]) -> Result<usize> {
    Fault::SocketReceive.part(buf.len(), |n| fd::read_bytes(fd, &mut buf[..n]))
}
/// Writes to a stream.
#[inline]
pub fn write(fd: RawFd, bytes: &[u8]) -> Result<usize> {
    Fault::SocketSend.part(bytes.len(), |n| fd::write(fd, &bytes[..n]))
}
#[inline]
pub fn writev(fd: RawFd, slices: &[IoSlice<'_>]) -> Result<usize> {
    Fault::SocketSend.writev(slices, |slices| fd::writev(fd, slices))
}

// A datagram is sent whole or not at all, so no short write is simulated.
#[inline]
pub fn send_to(fd: RawFd, bytes: &[u8], to: Option<&Addr>) -> Result<usize> {
    Fault::DatagramSend.fail()?;
    sys::send_to(fd, bytes, to)
}
#[inline]
pub fn send_message(
    fd: RawFd,
    bytes: &[u8],
    to: Option<&Addr>,
    c: &[ControlMessage],
) -> Result<usize> {
    Fault::DatagramSend.fail()?;
    sys::send_message(fd, bytes, to, c)
}
#[inline]
pub fn receive_from(fd: RawFd, buf: &mut [u8]) -> Result<(usize, Addr)> {
    Fault::DatagramReceive.fail()?;
    sys::receive_from(fd, buf)
}
#[inline]
pub fn receive_message(fd: RawFd, buf: &mut [u8]) -> Result<(usize, Addr, Vec<ControlMessage>)> {
    Fault::DatagramReceive.fail()?;
    sys::receive_message(fd, buf)
}
#[inline]
pub fn send_file(to: RawFd, from: RawFd, offset: i64, n: usize) -> Result<usize> {
    Fault::SocketSend.part(n, |n| sys::send_file(to, from, offset, n))
}

pub mod raw {
    use std::io::IoSlice;
    use std::mem::MaybeUninit;
    use std::os::fd::{OwnedFd, RawFd};

    use kvik_sys::raw_socket as sys;

    pub use kvik_sys::raw_socket::*;

    use crate::{Errno, Fault, Result};

    #[inline]
    pub fn open(domain: i32, kind: i32, protocol: i32) -> Result<OwnedFd> {
        Fault::SocketOpen.fail()?;
        sys::open(domain, kind, protocol)
    }
    #[inline]
    pub fn connect(fd: RawFd, to: &RawAddr) -> Result<()> {
        Fault::SocketConnect.fail()?;
        sys::connect(fd, to)
    }
    #[inline]
    pub fn send(fd: RawFd, bytes: &[u8], flags: i32, to: Option<&RawAddr>) -> Result<usize> {
        if to.is_some() {
            Fault::DatagramSend.fail()?;
            return sys::send(fd, bytes, flags, to);
        }
        Fault::SocketSend.part(bytes.len(), |n| sys::send(fd, &bytes[..n], flags, to))
    }
    #[inline]
    pub fn send_message(
        fd: RawFd,
        pieces: &[IoSlice<'_>],
        to: Option<&RawAddr>,
        control: &[u8],
        flags: i32,
    ) -> Result<usize> {
        Fault::SocketSend.writev(pieces, |p| sys::send_message(fd, p, to, control, flags))
    }
    #[inline]
    pub fn receive(fd: RawFd, room: &mut [MaybeUninit<u8>], flags: i32) -> Result<&mut [u8]> {
        let mut got: &mut [u8] = &mut [];
        Fault::SocketReceive.part(room.len(), |n| {
            got = sys::receive(fd, &mut room[..n], flags)?;
            Ok::<_, Errno>(got.len())
        })?;
        Ok(got)
    }
    #[inline]
    pub fn receive_from<'a>(
        fd: RawFd,
        room: &'a mut [MaybeUninit<u8>],
        flags: i32,
        from: &mut Option<RawAddr>,
    ) -> Result<&'a mut [u8]> {
        Fault::DatagramReceive.fail()?;
        sys::receive_from(fd, room, flags, from)
    }
    #[inline]
    pub fn receive_message<'a>(
        fd: RawFd,
        room: &'a mut [MaybeUninit<u8>],
        control: &mut [u8],
        flags: i32,
        envelope: &mut Option<Envelope>,
    ) -> Result<&'a mut [u8]> {
        Fault::DatagramReceive.fail()?;
        sys::receive_message(fd, room, control, flags, envelope)
    }
    #[inline]
    pub fn send_messages(fd: RawFd, all: &[OutgoingMessage<'_>], flags: i32) -> Result<Vec<usize>> {
        Fault::DatagramSend.fail()?;
        sys::send_messages(fd, all, flags)
    }
    #[inline]
    pub fn receive_messages<T>(
        fd: RawFd,
        most: usize,
        rooms: (usize, usize),
        flags: i32,
        each: impl FnMut(&[u8], &[u8], Envelope) -> T,
    ) -> Result<Vec<T>> {
        Fault::DatagramReceive.fail()?;
        sys::receive_messages(fd, most, rooms, flags, each)
    }
}

/// A server's socket and a connection to it, with the addresses and errors of `std::net`: for the
/// VM's own use.
pub struct Listener(std::net::TcpListener);

impl Listener {
    /// Listens for connections at an address; does not block.
    pub fn bind(at: SocketAddr) -> io::Result<Listener> {
        Fault::SocketOpen.fail()?;
        let l = std::net::TcpListener::bind(at)?;
        l.set_nonblocking(true)?;
        Ok(Listener(l))
    }
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
    pub fn accept(&self) -> io::Result<Stream> {
        Fault::SocketAccept.fail()?;
        let (s, _) = self.0.accept()?;
        Ok(Stream(s))
    }
}
impl AsRawFd for Listener {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

pub struct Stream(std::net::TcpStream);

impl Stream {
    /// Makes it non-blocking, and without Nagle's delay.
    pub fn prepare(&self) -> io::Result<()> {
        self.0.set_nonblocking(true)?;
        self.0.set_nodelay(true)
    }
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.0.shutdown(how)
    }
}
impl AsRawFd for Stream {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}
impl Read for Stream {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        Fault::SocketReceive.part(to.len(), |n| self.0.read(&mut to[..n]))
    }
}
impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Fault::SocketSend.part(bytes.len(), |n| self.0.write(&bytes[..n]))
    }
    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
