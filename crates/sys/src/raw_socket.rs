//! The socket calls with the kernel's types: addresses, options and control messages are bytes in
//! its layout. `socket` is the typed form, for sockets of known families.

use std::ffi::{CStr, CString};
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use crate::errno::{check, retry, Errno, Result};
use crate::fd;
use crate::syscall_counters::{self, call, socket, SyscallCounter};

/// The largest address: `sockaddr_storage`.
pub const ADDRESS_ROOM: usize = size_of::<libc::sockaddr_storage>();

/// An address in the kernel's layout: `sa_family` in the machine's byte order, then what the family
/// has.
#[derive(Clone)]
pub struct RawAddr {
    bytes: [u8; ADDRESS_ROOM],
    len: usize,
}

impl RawAddr {
    /// `None` if longer than any address.
    pub fn new(b: &[u8]) -> Option<RawAddr> {
        let mut a = RawAddr { bytes: [0; ADDRESS_ROOM], len: b.len() };
        a.bytes.get_mut(..b.len())?.copy_from_slice(b);
        Some(a)
    }
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
    fn pointer(&self) -> *const libc::sockaddr {
        self.bytes.as_ptr().cast()
    }
    fn len(&self) -> libc::socklen_t {
        self.len as libc::socklen_t
    }
    /// The address written by a call that takes the buffer's size and returns the address's.
    fn written(
        f: impl FnOnce(*mut libc::sockaddr, *mut libc::socklen_t) -> Result<()>,
    ) -> Result<RawAddr> {
        let mut a = RawAddr { bytes: [0; ADDRESS_ROOM], len: 0 };
        let mut n = ADDRESS_ROOM as libc::socklen_t;
        f(a.bytes.as_mut_ptr().cast(), &mut n)?;
        a.len = (n as usize).min(ADDRESS_ROOM);
        Ok(a)
    }
}

/// A socket that does not block and is closed on exec.
pub fn open(domain: i32, kind: i32, protocol: i32) -> Result<OwnedFd> {
    // The type is a caller's number: flags of this call must not come in through it.
    let own = libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: the descriptor is ours.
    unsafe { Ok(OwnedFd::from_raw_fd(socket(libc::socket(domain, kind | own, protocol))?)) }
}

/// Runs `f` in the network namespace that a file names. The thread is in it only meanwhile.
pub fn in_namespace<T>(path: &[u8], f: impl FnOnce() -> Result<T>) -> Result<T> {
    let path = CString::new(path).map_err(|_| Errno::INVAL)?;
    let file = |path: &CStr| -> Result<OwnedFd> {
        // SAFETY: the path ends in NUL; the descriptor is ours.
        unsafe {
            let flags = libc::O_RDONLY | libc::O_CLOEXEC;
            Ok(OwnedFd::from_raw_fd(check(libc::open(path.as_ptr(), flags))?))
        }
    };
    let enter = |f: &OwnedFd| {
        // SAFETY: no memory is involved.
        check(unsafe { libc::setns(f.as_raw_fd(), libc::CLONE_NEWNET) }).map(drop)
    };
    let (old, new) = (file(c"/proc/self/ns/net")?, file(&path)?);
    enter(&new)?;
    let done = f();
    enter(&old)?;
    done
}

pub fn bind(fd: RawFd, a: &RawAddr) -> Result<()> {
    // SAFETY: the address lives for the call.
    socket(unsafe { libc::bind(fd, a.pointer(), a.len()) }).map(drop)
}
/// `Err(EINPROGRESS)` while the connection is being made.
pub fn connect(fd: RawFd, a: &RawAddr) -> Result<()> {
    // SAFETY: the address lives for the call.
    socket(unsafe { libc::connect(fd, a.pointer(), a.len()) }).map(drop)
}
pub fn local_address(fd: RawFd) -> Result<RawAddr> {
    call(SyscallCounter::Socket);
    // SAFETY: `written` gives room for any address.
    RawAddr::written(|p, n| check(unsafe { libc::getsockname(fd, p, n) }).map(drop))
}
pub fn peer_address(fd: RawFd) -> Result<RawAddr> {
    call(SyscallCounter::Socket);
    // SAFETY: as above.
    RawAddr::written(|p, n| check(unsafe { libc::getpeername(fd, p, n) }).map(drop))
}

/// No call that sends or receives blocks: another program that shares a socket may have made it
/// blocking.
const RECEIVE: libc::c_int = libc::MSG_DONTWAIT;
/// A closed peer raises no `SIGPIPE`.
const SEND: libc::c_int = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;

/// Returns the number of bytes sent.
pub fn send(fd: RawFd, bytes: &[u8], flags: i32, to: Option<&RawAddr>) -> Result<usize> {
    let (p, n) = to.map_or((std::ptr::null(), 0), |a| (a.pointer(), a.len()));
    let flags = flags | SEND;
    retry(|| {
        // SAFETY: bytes and address live for the call.
        syscall_counters::write(unsafe {
            libc::sendto(fd, bytes.as_ptr().cast(), bytes.len(), flags, p, n)
        })
    })
}

/// A message of several pieces, with control messages in the kernel's layout.
pub fn send_message(
    fd: RawFd,
    pieces: &[IoSlice<'_>],
    to: Option<&RawAddr>,
    control: &[u8],
    flags: i32,
) -> Result<usize> {
    // SAFETY: all zeros is a value of the structure.
    let mut m: libc::msghdr = unsafe { std::mem::zeroed() };
    if let Some(a) = to {
        (m.msg_name, m.msg_namelen) = (a.pointer().cast_mut().cast(), a.len());
    }
    // `IoSlice` is laid out as `iovec`.
    (m.msg_iov, m.msg_iovlen) = (pieces.as_ptr().cast_mut().cast(), pieces.len());
    if !control.is_empty() {
        (m.msg_control, m.msg_controllen) = (control.as_ptr().cast_mut().cast(), control.len());
    }
    // SAFETY: what the message names lives for the call and is only read.
    retry(|| syscall_counters::write(unsafe { libc::sendmsg(fd, &m, flags | SEND) }))
}

/// The part of the room that was written.
pub fn receive(fd: RawFd, room: &mut [MaybeUninit<u8>], flags: i32) -> Result<&mut [u8]> {
    let (p, len) = (room.as_mut_ptr(), room.len());
    let n = retry(|| {
        // SAFETY: the room is ours to write.
        syscall_counters::read(unsafe { libc::recv(fd, p.cast(), len, flags | RECEIVE) })
    })?;
    Ok(written(room, n))
}
/// The same with the address it came from.
pub fn receive_from<'a>(
    fd: RawFd,
    room: &'a mut [MaybeUninit<u8>],
    flags: i32,
    from: &mut Option<RawAddr>,
) -> Result<&'a mut [u8]> {
    let mut got = 0;
    let (p, len) = (room.as_mut_ptr(), room.len());
    *from = Some(RawAddr::written(|a, n| {
        got = retry(|| {
            // SAFETY: the room is ours to write; `written` gives room for any address.
            syscall_counters::read(unsafe {
                libc::recvfrom(fd, p.cast(), len, flags | RECEIVE, a, n)
            })
        })?;
        Ok(())
    })?);
    Ok(written(room, got))
}

/// Metadata of a received message.
pub struct Envelope {
    /// Empty where the socket is connected.
    pub from: RawAddr,
    /// Bytes of the control room that are used.
    pub control: usize,
    /// `MSG_EOR` and its kin.
    pub flags: i32,
}
/// A message, with the control messages written to a room of their own.
pub fn receive_message<'a>(
    fd: RawFd,
    room: &'a mut [MaybeUninit<u8>],
    control: &mut [u8],
    flags: i32,
    envelope: &mut Option<Envelope>,
) -> Result<&'a mut [u8]> {
    let mut io = libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: room.len() };
    let mut from = RawAddr { bytes: [0; ADDRESS_ROOM], len: 0 };
    // SAFETY: all zeros is a value of the structure.
    let mut m: libc::msghdr = unsafe { std::mem::zeroed() };
    m.msg_name = from.bytes.as_mut_ptr().cast();
    m.msg_namelen = ADDRESS_ROOM as libc::socklen_t;
    (m.msg_iov, m.msg_iovlen) = (&mut io, 1);
    (m.msg_control, m.msg_controllen) = (control.as_mut_ptr().cast(), control.len());
    // SAFETY: what the message names lives for the call and is ours to write.
    let n =
        retry(|| syscall_counters::read(unsafe { libc::recvmsg(fd, &mut m, flags | RECEIVE) }))?;
    from.len = (m.msg_namelen as usize).min(ADDRESS_ROOM);
    let used = m.msg_controllen.min(control.len());
    *envelope = Some(Envelope { from, control: used, flags: m.msg_flags });
    Ok(written(room, n))
}

/// A message to send.
pub struct OutgoingMessage<'a> {
    pub pieces: Vec<IoSlice<'a>>,
    pub to: Option<&'a RawAddr>,
    /// Control messages in the kernel's layout.
    pub control: &'a [u8],
}
/// Sends several messages by one call. Returns how many bytes of each were sent, as far as they
/// were.
pub fn send_messages(fd: RawFd, all: &[OutgoingMessage<'_>], flags: i32) -> Result<Vec<usize>> {
    let header = |m: &OutgoingMessage<'_>| {
        // SAFETY: all zeros is a value of the structure.
        let mut h: libc::mmsghdr = unsafe { std::mem::zeroed() };
        let (to, len) = m.to.map_or((std::ptr::null(), 0), |a| (a.pointer(), a.len()));
        (h.msg_hdr.msg_name, h.msg_hdr.msg_namelen) = (to.cast_mut().cast(), len);
        // `IoSlice` is laid out as `iovec`.
        let pieces = m.pieces.as_ptr().cast_mut().cast();
        (h.msg_hdr.msg_iov, h.msg_hdr.msg_iovlen) = (pieces, m.pieces.len());
        if !m.control.is_empty() {
            let control = m.control.as_ptr().cast_mut().cast();
            (h.msg_hdr.msg_control, h.msg_hdr.msg_controllen) = (control, m.control.len());
        }
        h
    };
    let mut headers: Vec<libc::mmsghdr> = all.iter().map(header).collect();
    let n = headers.len() as libc::c_uint;
    let sent = retry(|| {
        // SAFETY: as many headers as are told; what they name lives for the call and is only read.
        socket(unsafe { libc::sendmmsg(fd, headers.as_mut_ptr(), n, flags | SEND) })
    })?;
    Ok(headers.iter().take(sent as usize).map(|h| h.msg_len as usize).collect())
}

/// Receives up to `most` messages of at most `size` bytes by one call, each with room for so many
/// bytes of control messages, and passes them to `each`: data, control messages, and the rest.
pub fn receive_messages<T>(
    fd: RawFd,
    most: usize,
    (size, control): (usize, usize),
    flags: i32,
    mut each: impl FnMut(&[u8], &[u8], Envelope) -> T,
) -> Result<Vec<T>> {
    let mut data = Vec::<u8>::with_capacity(most * size);
    let mut controls = Vec::<u8>::with_capacity(most * control);
    let mut addresses = vec![[0u8; ADDRESS_ROOM]; most];
    let (at, control_at) = (data.as_mut_ptr(), controls.as_mut_ptr());
    let mut pieces: Vec<libc::iovec> = (0..most)
        .map(|i| libc::iovec { iov_base: at.wrapping_add(i * size).cast(), iov_len: size })
        .collect();
    let header = |(i, (piece, from)): (usize, (&mut libc::iovec, &mut [u8; ADDRESS_ROOM]))| {
        // SAFETY: all zeros is a value of the structure.
        let mut h: libc::mmsghdr = unsafe { std::mem::zeroed() };
        let m = &mut h.msg_hdr;
        (m.msg_name, m.msg_namelen) = (from.as_mut_ptr().cast(), ADDRESS_ROOM as libc::socklen_t);
        (m.msg_iov, m.msg_iovlen) = (piece, 1);
        m.msg_control = control_at.wrapping_add(i * control).cast();
        m.msg_controllen = control;
        h
    };
    let parts = pieces.iter_mut().zip(&mut addresses);
    let mut headers: Vec<libc::mmsghdr> = parts.enumerate().map(header).collect();
    let got = retry(|| {
        let (p, n, now) = (headers.as_mut_ptr(), most as libc::c_uint, std::ptr::null_mut());
        // SAFETY: as many headers as are told; what each names lives for the call, is ours to
        // write, and belongs to no other header.
        socket(unsafe { libc::recvmmsg(fd, p, n, flags | RECEIVE, now) })
    })?;
    let received = headers.iter().zip(addresses).take(got as usize).enumerate();
    let received = received.map(|(i, (h, bytes))| {
        let (n, used) = ((h.msg_len as usize).min(size), h.msg_hdr.msg_controllen.min(control));
        // SAFETY: the system has written so many bytes at the start of this message's rooms.
        let (data, control) = unsafe {
            let data = std::slice::from_raw_parts(at.add(i * size), n);
            (data, std::slice::from_raw_parts(control_at.add(i * control), used))
        };
        let from = RawAddr { bytes, len: (h.msg_hdr.msg_namelen as usize).min(ADDRESS_ROOM) };
        each(data, control, Envelope { from, control: used, flags: h.msg_hdr.msg_flags })
    });
    Ok(received.collect())
}

fn written(room: &mut [MaybeUninit<u8>], n: usize) -> &mut [u8] {
    let part = &mut room[..n];
    // SAFETY: the system has written so many bytes.
    unsafe { &mut *(std::ptr::from_mut(part) as *mut [u8]) }
}

/// Whether the option exists. The query asks for no value.
pub fn option_without_value(fd: RawFd, level: i32, name: i32) -> Result<()> {
    let null = std::ptr::null_mut();
    // SAFETY: the system reads and writes nothing but through pointers it is given.
    socket(unsafe { libc::getsockopt(fd, level, name, null, std::ptr::null_mut()) }).map(drop)
}

/// Sets an option that answers a number.
pub fn set_option_result(fd: RawFd, level: i32, name: i32, value: &[u8]) -> Result<i32> {
    let n = value.len() as libc::socklen_t;
    // SAFETY: the value lives for the call.
    socket(unsafe { libc::setsockopt(fd, level, name, value.as_ptr().cast(), n) })
}

/// A descriptor of the same socket that lives on its own; it does not block.
pub fn duplicate(fd: RawFd) -> Result<OwnedFd> {
    let copy = fd::duplicate(fd)?;
    fd::set_nonblocking(copy.as_raw_fd(), true)?;
    Ok(copy)
}

/// Bytes of `struct ifreq`: a name of 16, then what is asked for.
pub const IFREQ_SIZE: usize = size_of::<libc::ifreq>();
pub const INTERFACE_NAME_SIZE: usize = libc::IFNAMSIZ;

/// The requests of `netdevice(7)` that take an `ifreq`. Any other number could make the system
/// write elsewhere.
const IFREQ_REQUESTS: &[libc::c_ulong] = &[
    libc::SIOCGIFNAME,
    libc::SIOCGIFINDEX,
    libc::SIOCGIFFLAGS,
    libc::SIOCGIFADDR,
    libc::SIOCGIFDSTADDR,
    libc::SIOCGIFBRDADDR,
    libc::SIOCGIFNETMASK,
    libc::SIOCGIFMTU,
    libc::SIOCGIFHWADDR,
    libc::SIOCGIFMAP,
    SIOCGIFTXQLEN,
    libc::SIOCSIFFLAGS,
    libc::SIOCSIFADDR,
    libc::SIOCSIFDSTADDR,
    libc::SIOCSIFBRDADDR,
    libc::SIOCSIFNETMASK,
    libc::SIOCSIFMTU,
    libc::SIOCSIFHWADDR,
    SIOCSIFTXQLEN,
];
pub use libc::{
    SIOCGIFADDR, SIOCGIFBRDADDR, SIOCGIFDSTADDR, SIOCGIFFLAGS, SIOCGIFHWADDR, SIOCGIFMTU,
    SIOCGIFNETMASK, SIOCSIFADDR, SIOCSIFBRDADDR, SIOCSIFDSTADDR, SIOCSIFFLAGS, SIOCSIFHWADDR,
    SIOCSIFMTU, SIOCSIFNETMASK,
};
pub const AF_INET: u16 = libc::AF_INET as u16;
pub const SIOCGIFTXQLEN: libc::c_ulong = 0x8942;
pub const SIOCSIFTXQLEN: libc::c_ulong = 0x8943;

/// Reads or sets a property of an interface: `request` is one of `SIOCGIF…`, `SIOCSIF…`.
pub fn interface_request(fd: RawFd, request: u64, r: &mut [u8; IFREQ_SIZE]) -> Result<()> {
    if !IFREQ_REQUESTS.contains(&request) {
        return Err(Errno::INVAL);
    }
    // An `ifreq` is aligned, the bytes need not be.
    // SAFETY: all zeros is a value of the structure, and so are any bytes.
    let mut aligned: libc::ifreq = unsafe { std::mem::zeroed() };
    let place = (&raw mut aligned).cast::<u8>();
    // SAFETY: as many bytes as the structure has; each of these requests reads and writes one.
    let done = unsafe {
        place.copy_from_nonoverlapping(r.as_ptr(), IFREQ_SIZE);
        socket(libc::ioctl(fd, request, place))
    };
    // SAFETY: as many bytes as the array has.
    unsafe { r.as_mut_ptr().copy_from_nonoverlapping(place, IFREQ_SIZE) };
    done.map(drop)
}

/// `SIOCGIFCONF`: an `ifreq` with its address for each interface that has one.
pub fn interface_list(fd: RawFd) -> Result<Vec<[u8; IFREQ_SIZE]>> {
    let mut room = 128;
    loop {
        let mut all = vec![[0u8; IFREQ_SIZE]; room];
        let len = (room * IFREQ_SIZE) as i32;
        let ifc_ifcu = libc::__c_anonymous_ifc_ifcu { ifcu_buf: all.as_mut_ptr().cast() };
        let mut c = libc::ifconf { ifc_len: len, ifc_ifcu };
        // SAFETY: the structure tells the room that is there.
        socket(unsafe { libc::ioctl(fd, libc::SIOCGIFCONF, &mut c) })?;
        // A list that fills the room may have been cut off.
        if c.ifc_len < len {
            all.truncate(c.ifc_len.max(0) as usize / IFREQ_SIZE);
            return Ok(all);
        }
        room *= 2;
    }
}

/// The requests that write one `int`.
const NUMBER_REQUESTS: &[libc::c_ulong] = &[libc::FIONREAD, SIOCATMARK];
pub const SIOCATMARK: libc::c_ulong = 0x8905;
/// How many bytes can be read, or whether urgent data come next: `FIONREAD`, `SIOCATMARK`.
pub fn number_request(fd: RawFd, request: u64) -> Result<i32> {
    if !NUMBER_REQUESTS.contains(&request) {
        return Err(Errno::INVAL);
    }
    let mut n: libc::c_int = 0;
    // SAFETY: each of these requests writes one `int`.
    socket(unsafe { libc::ioctl(fd, request, &mut n) }).map(|_| n)
}

/// `/etc/protocols`: name, aliases and number of each protocol.
pub fn protocols() -> Vec<(Vec<u8>, Vec<Vec<u8>>, i32)> {
    let mut all = Vec::new();
    // The C library has one list for the whole program.
    static LIST: std::sync::Mutex<()> = std::sync::Mutex::new(());
    let _alone = LIST.lock().unwrap_or_else(|e| e.into_inner());
    // SAFETY: nobody else walks the list meanwhile; its strings end in NUL, the aliases in null.
    unsafe {
        setprotoent(1);
        while let Some(p) = getprotoent().as_ref() {
            let mut aliases = Vec::new();
            let mut at = p.p_aliases;
            while !(*at).is_null() {
                aliases.push(CStr::from_ptr(*at).to_bytes().to_vec());
                at = at.add(1);
            }
            all.push((CStr::from_ptr(p.p_name).to_bytes().to_vec(), aliases, p.p_proto));
        }
        endprotoent();
    }
    all
}
extern "C" {
    fn setprotoent(stayopen: i32);
    fn getprotoent() -> *mut libc::protoent;
    fn endprotoent();
}

/// The C library has one entry of `/etc/services` for the whole program.
static SERVICE: std::sync::Mutex<()> = std::sync::Mutex::new(());
/// The port of a service, in network byte order; with any protocol if none is given.
pub fn service_port(name: &CStr, protocol: Option<&CStr>) -> Option<u16> {
    let _alone = SERVICE.lock().unwrap_or_else(|e| e.into_inner());
    let protocol = protocol.map_or(std::ptr::null(), CStr::as_ptr);
    // SAFETY: the strings end in NUL; the entry is read before anybody else asks for one.
    unsafe { Some(libc::getservbyname(name.as_ptr(), protocol).as_ref()?.s_port as u16) }
}
/// The service of a port in network byte order.
pub fn service_name(port: u16, protocol: Option<&CStr>) -> Option<Vec<u8>> {
    let _alone = SERVICE.lock().unwrap_or_else(|e| e.into_inner());
    let protocol = protocol.map_or(std::ptr::null(), CStr::as_ptr);
    // SAFETY: as above; the name ends in NUL.
    unsafe {
        let entry = libc::getservbyport(port.into(), protocol).as_ref()?;
        Some(CStr::from_ptr(entry.s_name).to_bytes().to_vec())
    }
}

/// An address of a host, as `getaddrinfo` finds it.
pub struct HostAddress {
    pub family: i32,
    pub kind: i32,
    pub protocol: i32,
    pub address: RawAddr,
}
/// Resolves a host and a service, which may wait for another machine. `Err`: one of `EAI_…`.
pub fn find_addresses(
    host: Option<&CStr>,
    service: Option<&CStr>,
) -> std::result::Result<Vec<HostAddress>, i32> {
    let pointer = |s: Option<&CStr>| s.map_or(std::ptr::null(), CStr::as_ptr);
    let mut first = std::ptr::null_mut();
    let mut all = Vec::new();
    // SAFETY: the strings end in NUL; the list is walked while it is there and given back once.
    // Each address is as long as its entry says.
    unsafe {
        let null = std::ptr::null();
        match libc::getaddrinfo(pointer(host), pointer(service), null, &mut first) {
            0 => {}
            e => return Err(e),
        }
        let mut p = first;
        while let Some(i) = p.as_ref() {
            let bytes = std::slice::from_raw_parts(i.ai_addr.cast::<u8>(), i.ai_addrlen as usize);
            if let Some(address) = RawAddr::new(bytes) {
                let (family, kind) = (i.ai_family, i.ai_socktype);
                all.push(HostAddress { family, kind, protocol: i.ai_protocol, address });
            }
            p = i.ai_next;
        }
        libc::freeaddrinfo(first);
    }
    Ok(all)
}
/// Names of an address's host and service. `Err`: one of `EAI_…`.
pub fn find_names(a: &RawAddr, flags: i32) -> std::result::Result<(Vec<u8>, Vec<u8>), i32> {
    let (mut host, mut service) = ([0u8; 256], [0u8; 256]);
    let room = host.len() as libc::socklen_t;
    // SAFETY: room for so many bytes each, the NUL included.
    let e = unsafe {
        let (h, s) = (host.as_mut_ptr().cast(), service.as_mut_ptr().cast());
        libc::getnameinfo(a.pointer(), a.len(), h, room, s, room, flags)
    };
    let text = |b: &[u8]| b.split(|c| *c == 0).next().unwrap_or_default().to_vec();
    match e {
        0 => Ok((text(&host), text(&service))),
        e => Err(e),
    }
}

pub fn interface_index(name: &CStr) -> Result<u32> {
    // SAFETY: the name ends in NUL.
    match unsafe { libc::if_nametoindex(name.as_ptr()) } {
        0 => Err(Errno::last()),
        n => Ok(n),
    }
}
pub fn interface_name(index: u32) -> Option<Vec<u8>> {
    let mut b = [0u8; INTERFACE_NAME_SIZE + 1];
    // SAFETY: room for the longest name.
    let p = unsafe { libc::if_indextoname(index, b.as_mut_ptr().cast()) };
    (!p.is_null()).then(|| b.split(|c| *c == 0).next().unwrap_or_default().to_vec())
}
pub fn interface_names() -> Result<Vec<(u32, Vec<u8>)>> {
    let mut all = Vec::new();
    // SAFETY: the list ends with an entry of zeros, and is given back once.
    unsafe {
        let first = libc::if_nameindex();
        if first.is_null() {
            return Err(Errno::last());
        }
        let mut p = first;
        while (*p).if_index != 0 && !(*p).if_name.is_null() {
            all.push(((*p).if_index, CStr::from_ptr((*p).if_name).to_bytes().to_vec()));
            p = p.add(1);
        }
        libc::if_freenameindex(first);
    }
    Ok(all)
}

/// An interface with one of its addresses, as `getifaddrs` tells.
pub struct InterfaceAddress {
    pub name: Vec<u8>,
    pub flags: u32,
    pub address: Option<RawAddr>,
    pub mask: Option<RawAddr>,
    /// Where broadcasts go, or the other end of a point-to-point link.
    pub other: Option<RawAddr>,
}

/// Bytes that an address of this family has.
fn address_size(family: i32) -> usize {
    match family {
        libc::AF_INET => size_of::<libc::sockaddr_in>(),
        libc::AF_INET6 => size_of::<libc::sockaddr_in6>(),
        libc::AF_PACKET => size_of::<libc::sockaddr_ll>(),
        _ => size_of::<libc::sa_family_t>(),
    }
}
/// # Safety
/// `p` is null or points to an address of its family.
unsafe fn copy_address(p: *const libc::sockaddr) -> Option<RawAddr> {
    // SAFETY: as the caller says; the family tells the size.
    unsafe {
        let n = address_size(p.as_ref()?.sa_family as i32);
        RawAddr::new(std::slice::from_raw_parts(p.cast::<u8>(), n))
    }
}
pub fn interface_addresses() -> Result<Vec<InterfaceAddress>> {
    let mut first = std::ptr::null_mut();
    let mut all = Vec::new();
    // SAFETY: the list is walked while it is there and given back once.
    unsafe {
        check(libc::getifaddrs(&mut first))?;
        let mut p = first;
        while let Some(i) = p.as_ref() {
            all.push(InterfaceAddress {
                name: CStr::from_ptr(i.ifa_name).to_bytes().to_vec(),
                flags: i.ifa_flags,
                address: copy_address(i.ifa_addr),
                mask: copy_address(i.ifa_netmask),
                other: copy_address(i.ifa_ifu),
            });
            p = i.ifa_next;
        }
        libc::freeifaddrs(first);
    }
    Ok(all)
}
