//! Addresses as `prim_inet` writes and reads them: a byte for the family, then port and address.

use std::net::{Ipv4Addr, Ipv6Addr};

use kvik_env::socket::{Addr, Family};
use kvik_heap::Heap;
use kvik_term::{am, Term};

pub const AF_UNSPEC: u8 = 0;
pub const AF_INET: u8 = 1;
pub const AF_INET6: u8 = 2;
const AF_ANY: u8 = 3;
const AF_LOOPBACK: u8 = 4;
pub const AF_LOCAL: u8 = 5;

pub fn family_code(f: Family) -> u8 {
    match f {
        Family::Inet => AF_INET,
        Family::Inet6 => AF_INET6,
        Family::Local => AF_LOCAL,
    }
}
pub fn family(code: u8) -> Option<Family> {
    match code {
        AF_INET => Some(Family::Inet),
        AF_INET6 => Some(Family::Inet6),
        AF_LOCAL => Some(Family::Local),
        _ => None,
    }
}

pub fn family_of(a: &Addr) -> Option<Family> {
    match a {
        Addr::V4(..) => Some(Family::Inet),
        Addr::V6(..) => Some(Family::Inet6),
        Addr::Local(_) => Some(Family::Local),
        Addr::Unspecified => None,
    }
}

fn u16_at(b: &[u8]) -> Option<u16> {
    Some(u16::from_be_bytes(b.get(..2)?.try_into().ok()?))
}
fn u32_at(b: &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(b.get(..4)?.try_into().ok()?))
}

/// Reads an address for a socket of family `f`. Also returns the rest of the bytes.
pub fn decode(f: Family, b: &[u8]) -> Option<(Addr, &[u8])> {
    let (code, b) = b.split_first()?;
    match *code {
        AF_UNSPEC => Some((Addr::Unspecified, b)),
        AF_INET => {
            let ip: [u8; 4] = b.get(2..6)?.try_into().ok()?;
            Some((Addr::V4(ip.into(), u16_at(b)?), &b[6..]))
        }
        AF_INET6 => {
            let ip: [u8; 16] = b.get(2..18)?.try_into().ok()?;
            let (flow, scope) = (u32_at(&b[18..])?, u32_at(b.get(22..)?)?);
            Some((Addr::V6(ip.into(), u16_at(b)?, flow, scope), &b[26..]))
        }
        AF_ANY | AF_LOOPBACK => {
            let port = u16_at(b)?;
            let any = *code == AF_ANY;
            let a = match f {
                Family::Inet if any => Addr::V4(Ipv4Addr::UNSPECIFIED, port),
                Family::Inet => Addr::V4(Ipv4Addr::LOCALHOST, port),
                Family::Inet6 if any => Addr::V6(Ipv6Addr::UNSPECIFIED, port, 0, 0),
                Family::Inet6 => Addr::V6(Ipv6Addr::LOCALHOST, port, 0, 0),
                Family::Local => return None,
            };
            Some((a, &b[2..]))
        }
        AF_LOCAL => {
            let (n, b) = b.split_first()?;
            let path = b.get(..*n as usize)?;
            Some((Addr::Local(path.to_vec()), &b[*n as usize..]))
        }
        _ => None,
    }
}

pub fn encode(a: &Addr) -> Vec<u8> {
    let mut v = Vec::with_capacity(32);
    match a {
        Addr::V4(ip, port) => {
            v.push(AF_INET);
            v.extend(port.to_be_bytes());
            v.extend(ip.octets());
        }
        Addr::V6(ip, port, _, _) => {
            v.push(AF_INET6);
            v.extend(port.to_be_bytes());
            v.extend(ip.octets());
        }
        Addr::Local(path) => {
            v.push(AF_LOCAL);
            v.push(path.len().min(255) as u8);
            v.extend(&path[..path.len().min(255)]);
        }
        Addr::Unspecified => v.push(AF_UNSPEC),
    }
    v
}

/// The address's bytes after its family, without the port.
pub fn encode_ip(a: &Addr) -> Vec<u8> {
    let v = encode(a);
    match v.split_first() {
        Some((f, rest)) if rest.len() > 2 => [&[*f], &rest[2..]].concat(),
        _ => v,
    }
}

pub fn port(a: &Addr) -> u16 {
    match a {
        Addr::V4(_, p) | Addr::V6(_, p, _, _) => *p,
        _ => 0,
    }
}

/// Address and port as in `{udp, S, Address, Port, Data}`.
pub fn terms<'h>(h: &'h Heap, a: &Addr) -> (Term<'h>, Term<'h>) {
    let ip = match a {
        Addr::V4(ip, _) => h.tuple(&ip.octets().map(|b| Term::int(b as i32))),
        Addr::V6(ip, _, _, _) => h.tuple(&ip.segments().map(|s| Term::int(s as i32))),
        Addr::Local(path) => h.tuple(&[am::local.into(), h.binary(path)]),
        Addr::Unspecified => h.tuple(&[am::unspec.into(), h.binary(b"")]),
    };
    (ip, Term::int(port(a) as i32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let a = Addr::V4(Ipv4Addr::new(1, 2, 3, 4), 80);
        assert_eq!(encode(&a), [1, 0, 80, 1, 2, 3, 4]);
        assert_eq!(decode(Family::Inet, &encode(&a)), Some((a, &[][..])));
        let any = decode(Family::Inet6, &[3, 1, 0, 9]).unwrap();
        assert_eq!(any, (Addr::V6(Ipv6Addr::UNSPECIFIED, 256, 0, 0), &[9][..]));
        assert_eq!(decode(Family::Inet, &[1, 0]), None);
        let l = decode(Family::Local, b"\x05\x02ab!").unwrap();
        assert_eq!(l, (Addr::Local(b"ab".to_vec()), &b"!"[..]));
    }
}
