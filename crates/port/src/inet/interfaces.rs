//! `inet:getiflist`, `ifget` and `ifset`: interfaces, by the requests of `netdevice(7)`.

use std::os::fd::RawFd;

use kvik_env::socket::raw::{self as sys, IFREQ_SIZE, INTERFACE_NAME_SIZE};
use kvik_env::{socket, Errno};

use super::control::flags;

/// Offset of the value in an `ifreq`, after the name.
const VALUE: usize = INTERFACE_NAME_SIZE;
/// Offset of an IPv4 address in an `ifreq`, after its family and its port.
const IP: usize = VALUE + 4;
const HARDWARE_SIZE: usize = 6;
type Request = [u8; IFREQ_SIZE];

/// The names of those that have an address, each ended by a zero.
pub fn names(fd: RawFd) -> Result<Vec<u8>, Errno> {
    let mut out = Vec::new();
    for r in sys::interface_list(fd)? {
        out.extend(r[..INTERFACE_NAME_SIZE].iter().take_while(|c| **c != 0));
        out.push(0);
    }
    Ok(out)
}

/// Takes the name off `data`: a request about that interface, and what comes after. Longer names
/// are truncated.
fn about(data: &[u8]) -> Result<(Request, &[u8]), Errno> {
    let (n, rest) = data.split_first().ok_or(Errno::INVAL)?;
    let (name, rest) = rest.split_at_checked(*n as usize).ok_or(Errno::INVAL)?;
    let mut r = [0; IFREQ_SIZE];
    let n = name.len().min(INTERFACE_NAME_SIZE - 1);
    r[..n].copy_from_slice(&name[..n]);
    Ok((r, rest))
}

/// `(Option Value)*`. What the system does not answer is left out, but for the flags.
pub fn values(fd: RawFd, data: &[u8]) -> Result<Vec<u8>, Errno> {
    let (mut r, asked) = about(data)?;
    let mut out = Vec::new();
    for &option in asked {
        let request = match option {
            1 => sys::SIOCGIFADDR,
            2 => sys::SIOCGIFBRDADDR,
            3 => sys::SIOCGIFDSTADDR,
            4 => sys::SIOCGIFMTU,
            5 => sys::SIOCGIFNETMASK,
            6 => sys::SIOCGIFFLAGS,
            7 => sys::SIOCGIFHWADDR,
            _ => return Err(Errno::INVAL),
        };
        let found = sys::interface_request(fd, request, &mut r).is_ok();
        if !found && option != 6 {
            continue;
        }
        out.push(option);
        match option {
            4 => out.extend(number(&r).to_be_bytes()),
            6 => out.extend(flags(if found { short(&r) } else { 0 }).to_be_bytes()),
            7 => {
                out.extend((HARDWARE_SIZE as u16).to_be_bytes());
                out.extend(&r[VALUE + 2..][..HARDWARE_SIZE]);
            }
            _ => {
                out.push(1);
                out.extend(&r[IP..IP + 4]);
            }
        }
    }
    Ok(out)
}
fn number(r: &Request) -> u32 {
    u32::from_ne_bytes([r[VALUE], r[VALUE + 1], r[VALUE + 2], r[VALUE + 3]])
}
fn short(r: &Request) -> u32 {
    u16::from_ne_bytes([r[VALUE], r[VALUE + 1]]).into()
}

/// Sets `(Option Value)*`. As in OTP, the answer does not tell what the system refused.
pub fn set(fd: RawFd, data: &[u8]) -> Result<(), Errno> {
    let (mut r, mut rest) = about(data)?;
    while let Some((&option, value)) = rest.split_first() {
        let (request, len) = match option {
            1 => (sys::SIOCSIFADDR, 5),
            2 => (sys::SIOCSIFBRDADDR, 5),
            3 => (sys::SIOCSIFDSTADDR, 5),
            4 => (sys::SIOCSIFMTU, 4),
            5 => (sys::SIOCSIFNETMASK, 5),
            6 => (sys::SIOCSIFFLAGS, 4),
            7 => {
                let n = value.first_chunk::<2>().ok_or(Errno::INVAL)?;
                (sys::SIOCSIFHWADDR, 2 + u16::from_be_bytes(*n) as usize)
            }
            _ => return Err(Errno::INVAL),
        };
        let (value, after) = value.split_at_checked(len).ok_or(Errno::INVAL)?;
        rest = after;
        match option {
            4 => r[VALUE..VALUE + 4].copy_from_slice(&number_of(value).to_ne_bytes()),
            6 => {
                let mut now = r;
                let found = sys::interface_request(fd, sys::SIOCGIFFLAGS, &mut now).is_ok();
                let old = if found { short(&now) } else { 0 };
                let new = changed(old, number_of(value));
                if new == old {
                    continue;
                }
                r[VALUE..VALUE + 2].copy_from_slice(&(new as u16).to_ne_bytes());
            }
            7 => {
                let room = r.len() - (VALUE + 2);
                let hardware = &value[2..];
                let n = hardware.len().min(room);
                r[VALUE + 2..].fill(0);
                r[VALUE + 2..][..n].copy_from_slice(&hardware[..n]);
            }
            _ if value[0] != 1 => return Err(Errno::INVAL),
            _ => {
                r[VALUE..].fill(0);
                r[VALUE..VALUE + 2].copy_from_slice(&sys::AF_INET.to_ne_bytes());
                r[IP..IP + 4].copy_from_slice(&value[1..]);
            }
        }
        let _ = sys::interface_request(fd, request, &mut r);
    }
    Ok(())
}
fn number_of(value: &[u8]) -> u32 {
    value.iter().fold(0, |n, b| n << 8 | u32::from(*b))
}
/// `old` with what `asked` sets and clears.
fn changed(old: u32, asked: u32) -> u32 {
    let all = [
        (1, 0x100, socket::IFF_UP),
        (2, 0x200, socket::IFF_BROADCAST),
        (8, 0x800, socket::IFF_POINTOPOINT),
    ];
    all.iter().fold(old, |f, (set, clear, bit)| {
        let f = if asked & set != 0 { f | bit } else { f };
        if asked & clear != 0 {
            f & !bit
        } else {
            f
        }
    })
}
