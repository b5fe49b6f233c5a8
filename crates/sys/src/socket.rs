//! Sockets: making, naming, connecting, options, datagrams. All are non-blocking and closed on
//! exec.

use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

use crate::errno::{check, retry, Errno, Result};
use crate::syscall_counters::{self, call, socket, SyscallCounter};

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Family {
    Inet,
    Inet6,
    Local,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum SocketType {
    Stream,
    Datagram,
    SeqPacket,
}

/// A socket's address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Addr {
    V4(Ipv4Addr, u16),
    /// Address, port, flow information, scope.
    V6(Ipv6Addr, u16, u32, u32),
    /// A path, or a name that begins with NUL.
    Local(Vec<u8>),
    Unspecified,
}

impl Family {
    fn number(self) -> i32 {
        match self {
            Family::Inet => libc::AF_INET,
            Family::Inet6 => libc::AF_INET6,
            Family::Local => libc::AF_UNIX,
        }
    }
}

/// An address in the kernel's layout.
union Raw {
    v4: libc::sockaddr_in,
    v6: libc::sockaddr_in6,
    un: libc::sockaddr_un,
    any: libc::sockaddr,
    storage: libc::sockaddr_storage,
}
const UN_PATH: usize = std::mem::offset_of!(libc::sockaddr_un, sun_path);

fn zeroed() -> Raw {
    // SAFETY: all zeros is a value of each of the structures.
    unsafe { std::mem::zeroed() }
}

impl Addr {
    fn to_raw(&self) -> Result<(Raw, libc::socklen_t)> {
        let mut r = zeroed();
        let n = match self {
            Addr::V4(ip, port) => {
                r.v4 = libc::sockaddr_in {
                    sin_family: libc::AF_INET as u16,
                    sin_port: port.to_be(),
                    sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(ip.octets()) },
                    sin_zero: [0; 8],
                };
                size_of::<libc::sockaddr_in>()
            }
            Addr::V6(ip, port, flow, scope) => {
                r.v6 = libc::sockaddr_in6 {
                    sin6_family: libc::AF_INET6 as u16,
                    sin6_port: port.to_be(),
                    sin6_flowinfo: *flow,
                    sin6_addr: libc::in6_addr { s6_addr: ip.octets() },
                    sin6_scope_id: *scope,
                };
                size_of::<libc::sockaddr_in6>()
            }
            Addr::Local(path) => {
                let mut un =
                    libc::sockaddr_un { sun_family: libc::AF_UNIX as u16, sun_path: [0; 108] };
                if path.len() >= un.sun_path.len() {
                    return Err(Errno::INVAL);
                }
                for (to, from) in un.sun_path.iter_mut().zip(path) {
                    *to = *from as libc::c_char;
                }
                r.un = un;
                // A path ends in NUL, an abstract name has its length only.
                let abstract_name = path.first().is_none_or(|b| *b == 0);
                UN_PATH + path.len() + !abstract_name as usize
            }
            Addr::Unspecified => {
                r.any.sa_family = libc::AF_UNSPEC as u16;
                size_of::<libc::sockaddr>()
            }
        };
        Ok((r, n as libc::socklen_t))
    }

    fn from_raw(r: &Raw, n: usize) -> Addr {
        // SAFETY: the union was all zeros before the system wrote the member the family names.
        unsafe {
            match r.any.sa_family as i32 {
                libc::AF_INET => {
                    let ip = Ipv4Addr::from(r.v4.sin_addr.s_addr.to_ne_bytes());
                    Addr::V4(ip, u16::from_be(r.v4.sin_port))
                }
                libc::AF_INET6 => Addr::V6(
                    Ipv6Addr::from(r.v6.sin6_addr.s6_addr),
                    u16::from_be(r.v6.sin6_port),
                    r.v6.sin6_flowinfo,
                    r.v6.sin6_scope_id,
                ),
                libc::AF_UNIX => {
                    let n = n.saturating_sub(UN_PATH).min(108);
                    let mut path: Vec<u8> = r.un.sun_path[..n].iter().map(|c| *c as u8).collect();
                    if path.first().is_some_and(|b| *b != 0) {
                        if let Some(end) = path.iter().position(|b| *b == 0) {
                            path.truncate(end);
                        }
                    }
                    Addr::Local(path)
                }
                _ => Addr::Unspecified,
            }
        }
    }
}

/// Runs a call that writes an address.
fn addr_of(f: impl FnOnce(*mut libc::sockaddr, *mut libc::socklen_t) -> i32) -> Result<Addr> {
    let mut r = zeroed();
    let mut n = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
    let p = (&raw mut r.storage).cast();
    check(f(p, &mut n))?;
    Ok(Addr::from_raw(&r, n as usize))
}

pub fn open(family: Family, kind: SocketType) -> Result<OwnedFd> {
    let kind = match kind {
        SocketType::Stream => libc::SOCK_STREAM,
        SocketType::Datagram => libc::SOCK_DGRAM,
        SocketType::SeqPacket => libc::SOCK_SEQPACKET,
    };
    let kind = kind | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: the descriptor is ours.
    unsafe { Ok(OwnedFd::from_raw_fd(socket(libc::socket(family.number(), kind, 0))?)) }
}
pub fn bind(fd: RawFd, addr: &Addr) -> Result<()> {
    let (r, n) = addr.to_raw()?;
    // SAFETY: the address lives for the call.
    socket(unsafe { libc::bind(fd, &r.any, n) }).map(drop)
}
/// `Err(EINPROGRESS)` while the connection is being made.
pub fn connect(fd: RawFd, addr: &Addr) -> Result<()> {
    let (r, n) = addr.to_raw()?;
    // SAFETY: the address lives for the call.
    retry(|| socket(unsafe { libc::connect(fd, &r.any, n) })).map(drop)
}
pub fn listen(fd: RawFd, backlog: i32) -> Result<()> {
    // SAFETY: no memory is involved.
    socket(unsafe { libc::listen(fd, backlog) }).map(drop)
}
pub fn accept(fd: RawFd) -> Result<OwnedFd> {
    let flags = libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: no address is asked for; the descriptor is ours.
    unsafe {
        let null = std::ptr::null_mut();
        let n = retry(|| socket(libc::accept4(fd, null, std::ptr::null_mut(), flags)))?;
        Ok(OwnedFd::from_raw_fd(n))
    }
}
pub fn local_addr(fd: RawFd) -> Result<Addr> {
    call(SyscallCounter::Socket);
    // SAFETY: `addr_of` gives room for any address.
    addr_of(|p, n| unsafe { libc::getsockname(fd, p, n) })
}
pub fn peer_addr(fd: RawFd) -> Result<Addr> {
    call(SyscallCounter::Socket);
    // SAFETY: as above.
    addr_of(|p, n| unsafe { libc::getpeername(fd, p, n) })
}
/// 0: reading, 1: writing, 2: both.
pub fn shutdown(fd: RawFd, how: u8) -> Result<()> {
    let how = match how {
        0 => libc::SHUT_RD,
        1 => libc::SHUT_WR,
        _ => libc::SHUT_RDWR,
    };
    // SAFETY: no memory is involved.
    socket(unsafe { libc::shutdown(fd, how) }).map(drop)
}
pub fn send_to(fd: RawFd, bytes: &[u8], to: Option<&Addr>) -> Result<usize> {
    let flags = libc::MSG_NOSIGNAL;
    let raw = to.map(|a| a.to_raw()).transpose()?;
    retry(|| {
        // SAFETY: bytes and address live for the call.
        syscall_counters::write(unsafe {
            match &raw {
                Some((r, n)) => {
                    libc::sendto(fd, bytes.as_ptr().cast(), bytes.len(), flags, &r.any, *n)
                }
                None => libc::send(fd, bytes.as_ptr().cast(), bytes.len(), flags),
            }
        })
    })
}
/// Receives a datagram and its sender's address.
pub fn receive_from(fd: RawFd, buf: &mut [u8]) -> Result<(usize, Addr)> {
    let mut n = 0;
    let a = addr_of(|p, len| {
        match retry(|| {
            // SAFETY: the buffer is ours to write; `addr_of` gives room for any address.
            syscall_counters::read(unsafe {
                libc::recvfrom(fd, buf.as_mut_ptr().cast(), buf.len(), 0, p, len)
            })
        }) {
            Ok(k) => {
                n = k;
                0
            }
            Err(_) => -1,
        }
    })?;
    Ok((n, a))
}

/// A number sent with a datagram: level, type and value of a control message.
pub type ControlMessage = (i32, i32, i32);

/// Room for the control messages of one datagram.
const CONTROL_ROOM: usize = 512;
const CONTROL_HEAD: usize = size_of::<libc::cmsghdr>();

fn aligned(n: usize) -> usize {
    n.next_multiple_of(size_of::<usize>())
}

/// Parses control messages: each a header (length with the header, level, type), then the value.
pub fn parse_control(mut b: &[u8]) -> Vec<ControlMessage> {
    let mut all = Vec::new();
    let word = |b: &[u8], at: usize| -> Option<i32> {
        Some(i32::from_ne_bytes(b.get(at..at + 4)?.try_into().ok()?))
    };
    while b.len() >= CONTROL_HEAD {
        let (len, rest) = b.split_at(size_of::<usize>());
        let len = usize::from_ne_bytes(len.try_into().unwrap_or_default());
        let (Some(level), Some(kind)) = (word(rest, 0), word(rest, 4)) else { break };
        let Some(value) = b.get(CONTROL_HEAD..len) else { break };
        let value = match *value {
            [one] => one as i32,
            [a, b] => u16::from_ne_bytes([a, b]) as i32,
            _ => word(value, 0).unwrap_or(0),
        };
        all.push((level, kind, value));
        b = b.get(aligned(len)..).unwrap_or_default();
    }
    all
}

fn write_control(all: &[ControlMessage]) -> Vec<u8> {
    let mut b = Vec::new();
    for (level, kind, value) in all {
        b.extend((CONTROL_HEAD + 4).to_ne_bytes());
        for n in [level, kind, value] {
            b.extend(n.to_ne_bytes());
        }
        b.resize(aligned(b.len()), 0);
    }
    b
}

/// [`send_to`] with control messages.
pub fn send_message(
    fd: RawFd,
    bytes: &[u8],
    to: Option<&Addr>,
    c: &[ControlMessage],
) -> Result<usize> {
    let mut raw = to.map(|a| a.to_raw()).transpose()?;
    let mut control = write_control(c);
    let mut io = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    // SAFETY: all zeros is a value of the structure.
    let mut m: libc::msghdr = unsafe { std::mem::zeroed() };
    if let Some((r, n)) = &mut raw {
        m.msg_name = (&raw mut *r).cast();
        m.msg_namelen = *n;
    }
    (m.msg_iov, m.msg_iovlen) = (&mut io, 1);
    (m.msg_control, m.msg_controllen) = (control.as_mut_ptr().cast(), control.len());
    // SAFETY: what the message names lives for the call and is only read.
    retry(|| syscall_counters::write(unsafe { libc::sendmsg(fd, &m, libc::MSG_NOSIGNAL) }))
}

/// [`receive_from`] with control messages.
pub fn receive_message(fd: RawFd, buf: &mut [u8]) -> Result<(usize, Addr, Vec<ControlMessage>)> {
    let mut control = [0u8; CONTROL_ROOM];
    let mut io = libc::iovec { iov_base: buf.as_mut_ptr().cast(), iov_len: buf.len() };
    let mut r = zeroed();
    // SAFETY: all zeros is a value of the structure.
    let mut m: libc::msghdr = unsafe { std::mem::zeroed() };
    m.msg_name = (&raw mut r).cast();
    m.msg_namelen = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
    (m.msg_iov, m.msg_iovlen) = (&mut io, 1);
    (m.msg_control, m.msg_controllen) = (control.as_mut_ptr().cast(), control.len());
    // SAFETY: what the message names lives for the call and is ours to write.
    let n = retry(|| syscall_counters::read(unsafe { libc::recvmsg(fd, &mut m, 0) }))?;
    let used = control.get(..m.msg_controllen).unwrap_or_default();
    Ok((n, Addr::from_raw(&r, m.msg_namelen as usize), parse_control(used)))
}

/// Opens a socket in the network namespace that a file names.
pub fn open_in(namespace: &[u8], family: Family, kind: SocketType) -> Result<OwnedFd> {
    crate::raw_socket::in_namespace(namespace, || open(family, kind))
}

pub fn set_option(fd: RawFd, level: i32, name: i32, value: &[u8]) -> Result<()> {
    let n = value.len() as libc::socklen_t;
    // SAFETY: the value lives for the call.
    socket(unsafe { libc::setsockopt(fd, level, name, value.as_ptr().cast(), n) }).map(drop)
}
pub fn option(fd: RawFd, level: i32, name: i32, size: usize) -> Result<Vec<u8>> {
    option_with(fd, level, name, vec![0; size])
}
/// The same for an option whose value is also an input.
pub fn option_with(fd: RawFd, level: i32, name: i32, mut v: Vec<u8>) -> Result<Vec<u8>> {
    let mut n = v.len() as libc::socklen_t;
    // SAFETY: room for `n` bytes.
    socket(unsafe { libc::getsockopt(fd, level, name, v.as_mut_ptr().cast(), &mut n) })?;
    v.truncate(n as usize);
    Ok(v)
}
pub fn set_int(fd: RawFd, (level, name): (i32, i32), value: i32) -> Result<()> {
    set_option(fd, level, name, &value.to_ne_bytes())
}
pub fn int(fd: RawFd, (level, name): (i32, i32)) -> Result<i32> {
    let v = option(fd, level, name, 4)?;
    Ok(match *v.as_slice() {
        [a, b, c, d] => i32::from_ne_bytes([a, b, c, d]),
        [a, ..] => a as i32,
        [] => 0,
    })
}
/// Returns and clears the error of a connect or of an earlier operation.
pub fn take_error(fd: RawFd) -> Result<()> {
    match int(fd, (libc::SOL_SOCKET, libc::SO_ERROR))? {
        0 => Ok(()),
        e => Err(Errno(e)),
    }
}

/// Level and name of the numeric options.
pub mod name {
    type O = (i32, i32);
    pub const REUSEADDR: O = (libc::SOL_SOCKET, libc::SO_REUSEADDR);
    pub const KEEPALIVE: O = (libc::SOL_SOCKET, libc::SO_KEEPALIVE);
    pub const DONTROUTE: O = (libc::SOL_SOCKET, libc::SO_DONTROUTE);
    pub const LINGER: O = (libc::SOL_SOCKET, libc::SO_LINGER);
    pub const BROADCAST: O = (libc::SOL_SOCKET, libc::SO_BROADCAST);
    pub const SNDBUF: O = (libc::SOL_SOCKET, libc::SO_SNDBUF);
    pub const RCVBUF: O = (libc::SOL_SOCKET, libc::SO_RCVBUF);
    pub const PRIORITY: O = (libc::SOL_SOCKET, libc::SO_PRIORITY);
    pub const BIND_TO_DEVICE: O = (libc::SOL_SOCKET, libc::SO_BINDTODEVICE);
    pub const TOS: O = (libc::IPPROTO_IP, libc::IP_TOS);
    pub const TTL: O = (libc::IPPROTO_IP, libc::IP_TTL);
    pub const RECVTOS: O = (libc::IPPROTO_IP, libc::IP_RECVTOS);
    pub const RECVTTL: O = (libc::IPPROTO_IP, libc::IP_RECVTTL);
    pub const MULTICAST_IF: O = (libc::IPPROTO_IP, libc::IP_MULTICAST_IF);
    pub const MULTICAST_TTL: O = (libc::IPPROTO_IP, libc::IP_MULTICAST_TTL);
    pub const MULTICAST_LOOP: O = (libc::IPPROTO_IP, libc::IP_MULTICAST_LOOP);
    pub const ADD_MEMBERSHIP: O = (libc::IPPROTO_IP, libc::IP_ADD_MEMBERSHIP);
    pub const DROP_MEMBERSHIP: O = (libc::IPPROTO_IP, libc::IP_DROP_MEMBERSHIP);
    pub const PKTOPTIONS: O = (libc::IPPROTO_IP, 9);
    pub const V6_PKTOPTIONS: O = (libc::IPPROTO_IPV6, 6);
    pub const V6_MULTICAST_IF: O = (libc::IPPROTO_IPV6, libc::IPV6_MULTICAST_IF);
    pub const V6_ADD_MEMBERSHIP: O = (libc::IPPROTO_IPV6, libc::IPV6_ADD_MEMBERSHIP);
    pub const V6_DROP_MEMBERSHIP: O = (libc::IPPROTO_IPV6, libc::IPV6_DROP_MEMBERSHIP);
    pub const OOBINLINE: O = (libc::SOL_SOCKET, libc::SO_OOBINLINE);
    pub const TCLASS: O = (libc::IPPROTO_IPV6, libc::IPV6_TCLASS);
    pub const RECVTCLASS: O = (libc::IPPROTO_IPV6, libc::IPV6_RECVTCLASS);
    pub const V6ONLY: O = (libc::IPPROTO_IPV6, libc::IPV6_V6ONLY);
    pub const NODELAY: O = (libc::IPPROTO_TCP, libc::TCP_NODELAY);
    pub const CORK: O = (libc::IPPROTO_TCP, libc::TCP_CORK);
    pub const REUSEPORT: O = (libc::SOL_SOCKET, libc::SO_REUSEPORT);
    pub const KEEPCNT: O = (libc::IPPROTO_TCP, libc::TCP_KEEPCNT);
    pub const KEEPIDLE: O = (libc::IPPROTO_TCP, libc::TCP_KEEPIDLE);
    pub const KEEPINTVL: O = (libc::IPPROTO_TCP, libc::TCP_KEEPINTVL);
    pub const USER_TIMEOUT: O = (libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT);
}

pub const ECONNRESET: Errno = Errno(libc::ECONNRESET);
pub const EINPROGRESS: Errno = Errno(libc::EINPROGRESS);
pub const EISCONN: Errno = Errno(libc::EISCONN);
pub const ENOTCONN: Errno = Errno(libc::ENOTCONN);
pub const ECONNABORTED: Errno = Errno(libc::ECONNABORTED);
pub const ETIMEDOUT: Errno = Errno(libc::ETIMEDOUT);

pub fn host_name() -> Result<Vec<u8>> {
    let mut b = [0u8; 256];
    // SAFETY: room for that many bytes, one is kept for the NUL.
    check(unsafe { libc::gethostname(b.as_mut_ptr().cast(), b.len() - 1) })?;
    let n = b.iter().position(|c| *c == 0).unwrap_or(b.len());
    Ok(b[..n].to_vec())
}

/// Copies a part of a file to a socket; returns the number of bytes sent.
pub fn send_file(to: RawFd, from: RawFd, offset: i64, count: usize) -> Result<usize> {
    let mut at = offset;
    // SAFETY: the offset lives for the call.
    retry(|| syscall_counters::write(unsafe { libc::sendfile(to, from, &mut at, count) }))
}

/// An interface's address.
pub struct Interface {
    pub name: Vec<u8>,
    pub flags: u32,
    pub addr: Option<Addr>,
    pub mask: Option<Addr>,
    /// Where broadcasts go, or the other end of a point-to-point link.
    pub other: Option<Addr>,
    pub hardware: Option<Vec<u8>>,
}
pub const IFF_UP: u32 = libc::IFF_UP as u32;
pub const IFF_BROADCAST: u32 = libc::IFF_BROADCAST as u32;
pub const IFF_LOOPBACK: u32 = libc::IFF_LOOPBACK as u32;
pub const IFF_POINTOPOINT: u32 = libc::IFF_POINTOPOINT as u32;
pub const IFF_MULTICAST: u32 = libc::IFF_MULTICAST as u32;

/// # Safety
/// `p` is null or points to an address of its family.
unsafe fn copy_addr(p: *const libc::sockaddr) -> Option<Addr> {
    let mut r = zeroed();
    // SAFETY: as the caller says; the family tells the size.
    unsafe {
        match p.as_ref()?.sa_family as i32 {
            libc::AF_INET => r.v4 = *p.cast(),
            libc::AF_INET6 => r.v6 = *p.cast(),
            _ => return None,
        }
    }
    Some(Addr::from_raw(&r, 0))
}

pub fn interfaces() -> Result<Vec<Interface>> {
    let mut first = MaybeUninit::<*mut libc::ifaddrs>::uninit();
    let mut all = Vec::new();
    // SAFETY: the list is walked while it is there, and given back once.
    unsafe {
        check(libc::getifaddrs(first.as_mut_ptr()))?;
        let first = first.assume_init();
        let mut p = first;
        while let Some(i) = p.as_ref() {
            let hardware = match i.ifa_addr.as_ref() {
                Some(a) if a.sa_family as i32 == libc::AF_PACKET => {
                    let ll = *i.ifa_addr.cast::<libc::sockaddr_ll>();
                    Some(ll.sll_addr[..(ll.sll_halen as usize).min(8)].to_vec())
                }
                _ => None,
            };
            all.push(Interface {
                name: std::ffi::CStr::from_ptr(i.ifa_name).to_bytes().to_vec(),
                flags: i.ifa_flags,
                addr: copy_addr(i.ifa_addr),
                mask: copy_addr(i.ifa_netmask),
                other: copy_addr(i.ifa_ifu),
                hardware,
            });
            p = i.ifa_next;
        }
        libc::freeifaddrs(first);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn a_connection() {
        let l = open(Family::Inet, SocketType::Stream).unwrap();
        bind(l.as_raw_fd(), &Addr::V4(Ipv4Addr::LOCALHOST, 0)).unwrap();
        listen(l.as_raw_fd(), 5).unwrap();
        let at = local_addr(l.as_raw_fd()).unwrap();
        let c = open(Family::Inet, SocketType::Stream).unwrap();
        let r = connect(c.as_raw_fd(), &at);
        assert!(matches!(r, Ok(()) | Err(EINPROGRESS)));
        crate::fd::wait_ready(l.as_raw_fd(), false, 1000).unwrap();
        let s = accept(l.as_raw_fd()).unwrap();
        assert_eq!(peer_addr(s.as_raw_fd()), local_addr(c.as_raw_fd()));
        set_int(s.as_raw_fd(), name::NODELAY, 1).unwrap();
        assert_eq!(int(s.as_raw_fd(), name::NODELAY), Ok(1));
        take_error(c.as_raw_fd()).unwrap();
    }

    #[test]
    fn control_messages_come_back_as_sent() {
        let all = [(0, 1, 42), (41, 67, 7)];
        assert_eq!(parse_control(&write_control(&all)), all);
        assert_eq!(parse_control(&[1, 0, 0]), []);
        assert_eq!(parse_control(&[255; 40]), []);
    }

    #[test]
    fn datagrams_and_local_names() {
        let path = std::env::temp_dir().join(format!("kvik-sock-{}", std::process::id()));
        let addr = Addr::Local(path.to_str().unwrap().as_bytes().to_vec());
        let a = open(Family::Local, SocketType::Datagram).unwrap();
        bind(a.as_raw_fd(), &addr).unwrap();
        assert_eq!(local_addr(a.as_raw_fd()).unwrap(), addr);
        let b = open(Family::Local, SocketType::Datagram).unwrap();
        send_to(b.as_raw_fd(), b"hi", Some(&addr)).unwrap();
        let mut buf = [0; 10];
        let (n, from) = receive_from(a.as_raw_fd(), &mut buf).unwrap();
        assert_eq!((&buf[..n], from), (&b"hi"[..], Addr::Unspecified));
        std::fs::remove_file(path).unwrap();
        assert!(interfaces().unwrap().iter().any(|i| i.flags & IFF_LOOPBACK != 0));
        assert!(!host_name().unwrap().is_empty());
    }
}
