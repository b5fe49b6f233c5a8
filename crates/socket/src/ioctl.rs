//! `nif_ioctl`: interfaces, by the requests of `netdevice(7)`.

use kvik_env::socket::raw::{
    self as sys, IFREQ_SIZE, INTERFACE_NAME_SIZE, SIOCATMARK, SIOCGIFTXQLEN, SIOCSIFTXQLEN,
};
use kvik_heap::Heap;
use kvik_proc::{BifResult, Proc};
use kvik_term::{am, map, Term};

use crate::address::{self, number16, number32, number64};
use crate::answer::{
    atom, closed, done, error, flag_list, invalid, latin1, ok, posix, record, small_int,
};
use crate::packet_address::hardware_address;
use crate::socket::socket;
use crate::supports::INTERFACE_FLAGS;

/// Offset of the value in an `ifreq`, after the name.
const VALUE: usize = INTERFACE_NAME_SIZE;
type Request = [u8; IFREQ_SIZE];

/// A request for an interface. Longer names are truncated.
fn about(name: &[u8]) -> Request {
    let mut r = [0; IFREQ_SIZE];
    let n = name.len().min(INTERFACE_NAME_SIZE - 1);
    r[..n].copy_from_slice(&name[..n]);
    r
}
fn name_of<'h>(h: &'h Heap, r: &Request) -> Term<'h> {
    let name = &r[..INTERFACE_NAME_SIZE];
    h.byte_list(name.split(|c| *c == 0).next().unwrap_or_default())
}
fn not_supported(h: &Heap) -> Term<'_> {
    error(h, atom("enotsup"))
}
fn request_number(p: &Proc, t: Term<'_>) -> Result<u64, kvik_proc::Raised> {
    t.as_u64().ok_or_else(|| p.badarg())
}

/// `gifconf`: the interfaces with their addresses; `nread`: how many bytes can be read; `atmark`:
/// whether urgent data come next.
pub fn list_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (socket, h) = (socket(p, a[0])?, &p.heap);
    let request = request_number(p, a[1])?;
    let s = socket.lock();
    let Some(fd) = s.open() else { return Ok(closed(h)) };
    match request {
        libc::SIOCGIFCONF => {}
        libc::FIONREAD | SIOCATMARK => {
            return Ok(match sys::number_request(fd, request) {
                Ok(n) if request == SIOCATMARK => ok(h, Term::bool(n != 0)),
                Ok(n) => ok(h, h.integer(n.into())),
                Err(e) => posix(h, e),
            });
        }
        _ => return Ok(not_supported(h)),
    }
    let one = |r: &Request| {
        let addr = address::encode(h, known_address(&r[VALUE..]));
        record(h, &[("name", name_of(h, r)), ("addr", addr)])
    };
    Ok(match sys::interface_list(fd) {
        Ok(all) => ok(h, h.list(&all.iter().map(one).collect::<Vec<_>>())),
        Err(e) => posix(h, e),
    })
}
/// The part of an address buffer that its family uses.
fn known_address(b: &[u8]) -> &[u8] {
    let n = match number16(b, 0).map(i32::from) {
        Some(libc::AF_INET) => size_of::<libc::sockaddr_in>(),
        _ => 2,
    };
    b.get(..n).unwrap_or(b)
}

/// A property of an interface, which is given by name or number.
pub fn get_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (socket, h) = (socket(p, a[0])?, &p.heap);
    let request = request_number(p, a[1])?;
    let s = socket.lock();
    let Some(fd) = s.open() else { return Ok(closed(h)) };
    let mut r = match request {
        libc::SIOCGIFNAME => {
            let index = small_int(a[2]).ok_or_else(|| p.badarg())?;
            let mut r = about(b"");
            r[VALUE..VALUE + 4].copy_from_slice(&index.to_ne_bytes());
            r
        }
        libc::SIOCGIFINDEX
        | libc::SIOCGIFFLAGS
        | libc::SIOCGIFADDR
        | libc::SIOCGIFDSTADDR
        | libc::SIOCGIFBRDADDR
        | libc::SIOCGIFNETMASK
        | libc::SIOCGIFMTU
        | libc::SIOCGIFHWADDR
        | libc::SIOCGIFMAP
        | SIOCGIFTXQLEN => about(&latin1(a[2]).ok_or_else(|| p.badarg())?),
        _ => return Ok(not_supported(h)),
    };
    Ok(match sys::interface_request(fd, request, &mut r) {
        Ok(()) => ok(h, told(h, request, &r)),
        Err(e) => posix(h, e),
    })
}
fn told<'h>(h: &'h Heap, request: u64, r: &Request) -> Term<'h> {
    let b = &r[VALUE..];
    let flags = || i32::from(number16(b, 0).unwrap_or(0) as i16);
    match request {
        libc::SIOCGIFNAME => name_of(h, r),
        libc::SIOCGIFFLAGS => flag_list(h, INTERFACE_FLAGS, flags()),
        libc::SIOCGIFADDR | libc::SIOCGIFDSTADDR | libc::SIOCGIFBRDADDR | libc::SIOCGIFNETMASK => {
            address::encode(h, known_address(b))
        }
        libc::SIOCGIFHWADDR => hardware_address(h, &b[..size_of::<libc::sockaddr>()]),
        libc::SIOCGIFMAP => interface_map(h, b),
        _ => h.integer((number32(b, 0).unwrap_or(0) as i32).into()),
    }
}
/// `struct ifmap`
fn interface_map<'h>(h: &'h Heap, b: &[u8]) -> Term<'h> {
    let long = |at| h.unsigned(number64(b, at).unwrap_or(0));
    let byte = |at: usize| h.integer(b.get(at).copied().unwrap_or(0).into());
    record(
        h,
        &[
            ("mem_start", long(0)),
            ("mem_end", long(8)),
            ("base_addr", h.integer(number16(b, 16).unwrap_or(0).into())),
            ("irq", byte(18)),
            ("dma", byte(19)),
            ("port", byte(20)),
        ],
    )
}

/// Sets a property of an interface.
pub fn set_4<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (socket, h) = (socket(p, a[0])?, &p.heap);
    let request = request_number(p, a[1])?;
    let s = socket.lock();
    let Some(fd) = s.open() else { return Ok(closed(h)) };
    let name = || latin1(a[2]).ok_or_else(|| p.badarg());
    let (value, what) = match request {
        libc::SIOCSIFFLAGS => return set_flags(p, fd, &name()?, a[3]),
        libc::SIOCSIFADDR | libc::SIOCSIFDSTADDR | libc::SIOCSIFBRDADDR | libc::SIOCSIFNETMASK => {
            (address::decode(a[3]).map(|a| a.bytes().to_vec()), "sockaddr")
        }
        libc::SIOCSIFMTU => (small_int(a[3]).map(|n| n.to_ne_bytes().to_vec()), "mtu"),
        SIOCSIFTXQLEN => (small_int(a[3]).map(|n| n.to_ne_bytes().to_vec()), "txqlen"),
        _ => return Ok(not_supported(h)),
    };
    let mut r = about(&name()?);
    let place = &mut r[VALUE..];
    match value.filter(|v| v.len() <= place.len()) {
        Some(v) => place[..v.len()].copy_from_slice(&v),
        None => return Ok(invalid(h, atom(what))),
    }
    Ok(done(h, sys::interface_request(fd, request, &mut r)))
}
/// Takes a map from flag numbers to whether they are to be on; other flags stay.
fn set_flags<'h>(
    p: &'h Proc,
    fd: std::os::fd::RawFd,
    name: &[u8],
    flags: Term<'h>,
) -> BifResult<'h> {
    let mut r = about(name);
    if let Err(e) = sys::interface_request(fd, libc::SIOCGIFFLAGS, &mut r) {
        return Ok(posix(&p.heap, e));
    }
    let mut set = number16(&r, VALUE).unwrap_or(0);
    for (flag, on) in flags.as_map().map(map::iter).ok_or_else(|| p.badarg())? {
        let bit = small_int(flag).ok_or_else(|| p.badarg())? as u16;
        match on.as_atom() {
            Some(am::true_) => set |= bit,
            Some(am::false_) => set &= !bit,
            _ => return Err(p.badarg()),
        }
    }
    r[VALUE..VALUE + 2].copy_from_slice(&set.to_ne_bytes());
    Ok(done(&p.heap, sys::interface_request(fd, libc::SIOCSIFFLAGS, &mut r)))
}
