//! Addresses as maps (`socket:sockaddr()`) and as the kernel's bytes.

use std::net::{Ipv4Addr, Ipv6Addr};

use kvik_env::socket::raw::{RawAddr, ADDRESS_ROOM};
use kvik_heap::Heap;
use kvik_term::Term;

use crate::answer::{atom, bytes, field, is, record, small_int, unsigned};
use crate::packet_address;

/// Size of the family, after which its own data begin.
const FAMILY_SIZE: usize = size_of::<libc::sa_family_t>();
const PATH_ROOM: usize = 108;

/// `inet`, `inet6`, `local`, `unspec`, or a number.
pub fn domain_number(t: Term<'_>) -> Option<i32> {
    match t.as_atom().map(|a| a.name()) {
        Some("inet") => Some(libc::AF_INET),
        Some("inet6") => Some(libc::AF_INET6),
        Some("local") => Some(libc::AF_UNIX),
        Some("unspec") => Some(libc::AF_UNSPEC),
        Some(_) => None,
        None => small_int(t),
    }
}
pub fn domain(h: &Heap, n: i32) -> Term<'_> {
    match n {
        libc::AF_INET => atom("inet"),
        libc::AF_INET6 => atom("inet6"),
        libc::AF_UNIX => atom("local"),
        libc::AF_UNSPEC => atom("unspec"),
        n => h.integer(n.into()),
    }
}

/// The kernel's layout of an address map, which names its family.
pub fn decode(t: Term<'_>) -> Option<RawAddr> {
    let family = field(t, "family")?;
    let number = domain_number(family)?;
    let mut b = Vec::with_capacity(28);
    b.extend((number as libc::sa_family_t).to_ne_bytes());
    match number {
        // A family given by number comes with the bytes that follow it.
        _ if family.as_atom().is_none() => b.extend(&*bytes(field(t, "addr")?)?),
        libc::AF_INET => {
            b.extend((small_int(field(t, "port")?)? as u16).to_be_bytes());
            b.extend(ipv4(field(t, "addr")?)?.octets());
            b.extend([0; 8]);
        }
        libc::AF_INET6 => {
            b.extend((small_int(field(t, "port")?)? as u16).to_be_bytes());
            b.extend(unsigned(field(t, "flowinfo")?)?.to_ne_bytes());
            b.extend(ipv6(field(t, "addr")?)?.octets());
            b.extend(unsigned(field(t, "scope_id")?)?.to_ne_bytes());
        }
        libc::AF_UNIX => {
            let path = bytes(field(t, "path")?)?;
            // A path must have room for its NUL; an abstract name, which begins with one, needs
            // none.
            let ends = path.first() != Some(&0);
            if path.len() + usize::from(ends) > PATH_ROOM {
                return None;
            }
            b.extend(&*path);
        }
        _ => b.extend(&*bytes(field(t, "addr")?)?),
    }
    RawAddr::new(&b).filter(|_| b.len() <= ADDRESS_ROOM)
}

/// A map for an address in the kernel's layout.
pub fn encode<'h>(h: &'h Heap, b: &[u8]) -> Term<'h> {
    let Some(family) = number16(b, 0) else { return h.binary(b) };
    match i32::from(family) {
        libc::AF_INET => inet(h, b).unwrap_or_else(|| native(h, atom("inet"), b)),
        libc::AF_INET6 => inet6(h, b).unwrap_or_else(|| native(h, atom("inet6"), b)),
        libc::AF_UNIX => local(h, b),
        libc::AF_UNSPEC => native(h, atom("unspec"), b),
        libc::AF_PACKET => {
            packet_address::encode(h, b).unwrap_or_else(|| native(h, atom("packet"), b))
        }
        n => native(h, h.integer(n.into()), b),
    }
}
/// An address of a family that is returned as the bytes that follow it.
pub fn native<'h>(h: &'h Heap, family: Term<'h>, b: &[u8]) -> Term<'h> {
    let rest = h.binary(b.get(FAMILY_SIZE..).unwrap_or_default());
    record(h, &[("family", family), ("addr", rest)])
}
fn inet<'h>(h: &'h Heap, b: &[u8]) -> Option<Term<'h>> {
    let b = b.first_chunk::<16>()?;
    let port = h.integer(u16::from_be_bytes([b[2], b[3]]).into());
    let fields = [
        ("family", atom("inet")),
        ("port", port),
        ("addr", ipv4_tuple(h, [b[4], b[5], b[6], b[7]])),
    ];
    Some(record(h, &fields))
}
fn inet6<'h>(h: &'h Heap, b: &[u8]) -> Option<Term<'h>> {
    let b = b.first_chunk::<28>()?;
    let port = h.integer(u16::from_be_bytes([b[2], b[3]]).into());
    // Returned as a C `int`.
    let int = |at| h.integer((number32(b, at).unwrap_or(0) as i32).into());
    let mut ip = [0; 16];
    ip.copy_from_slice(&b[8..24]);
    Some(record(
        h,
        &[
            ("family", atom("inet6")),
            ("port", port),
            ("addr", ipv6_tuple(h, ip)),
            ("flowinfo", int(4)),
            ("scope_id", int(24)),
        ],
    ))
}
fn local<'h>(h: &'h Heap, b: &[u8]) -> Term<'h> {
    let path = &b[FAMILY_SIZE..];
    let n = path.iter().position(|c| *c == 0).unwrap_or(path.len());
    // An abstract name begins with NUL and is as long as the address.
    let path = if n == 0 { path } else { &path[..n] };
    record(h, &[("family", atom("local")), ("path", h.binary(path))])
}

/// A tuple of four bytes, or `any`, `loopback`, `broadcast`.
pub fn ipv4(t: Term<'_>) -> Option<Ipv4Addr> {
    match t.as_atom().map(|a| a.name()) {
        Some("any") => Some(Ipv4Addr::UNSPECIFIED),
        Some("loopback") => Some(Ipv4Addr::LOCALHOST),
        Some("broadcast") => Some(Ipv4Addr::BROADCAST),
        Some(_) => None,
        None => {
            let mut ip = [0; 4];
            for (to, t) in ip.iter_mut().zip(t.as_tuple_n::<4>()?) {
                *to = t.as_i64().and_then(|n| u8::try_from(n).ok())?;
            }
            Some(ip.into())
        }
    }
}
/// A tuple of eight 16-bit numbers, or `any`, `loopback`.
pub fn ipv6(t: Term<'_>) -> Option<Ipv6Addr> {
    match t.as_atom() {
        Some(_) if is(t, "any") => Some(Ipv6Addr::UNSPECIFIED),
        Some(_) if is(t, "loopback") => Some(Ipv6Addr::LOCALHOST),
        Some(_) => None,
        None => {
            let mut ip = [0u16; 8];
            for (to, t) in ip.iter_mut().zip(t.as_tuple_n::<8>()?) {
                *to = t.as_i64().and_then(|n| u16::try_from(n).ok())?;
            }
            Some(ip.into())
        }
    }
}
pub fn ipv4_tuple(h: &Heap, ip: [u8; 4]) -> Term<'_> {
    h.tuple(&ip.map(|b| h.integer(b.into())))
}
pub fn ipv6_tuple(h: &Heap, ip: [u8; 16]) -> Term<'_> {
    h.tuple(&Ipv6Addr::from(ip).segments().map(|n| h.integer(n.into())))
}

pub fn number16(b: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(b.get(at..at + 2)?.try_into().ok()?))
}
pub fn number32(b: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(b.get(at..at + 4)?.try_into().ok()?))
}
pub fn number64(b: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(b.get(at..at + 8)?.try_into().ok()?))
}
