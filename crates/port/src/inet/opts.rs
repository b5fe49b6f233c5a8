//! Socket options by the numbers `prim_inet` gives them.

use std::os::fd::{AsRawFd, RawFd};

use kvik_sys::socket::{self, name as n, Family};
use kvik_sys::Errno;

use super::{Active, Inet, Proto};
use crate::packet::Kind;

const REUSEADDR: u8 = 0;
const LINGER: u8 = 3;
const RCVBUF: u8 = 7;
const MULTICAST_IF: u8 = 11;
const ADD_MEMBERSHIP: u8 = 14;
const DROP_MEMBERSHIP: u8 = 15;
const L_BUFFER: u8 = 20;
const L_HEADER: u8 = 21;
const L_ACTIVE: u8 = 22;
const L_PACKET: u8 = 23;
const L_MODE: u8 = 24;
const L_DELIVER: u8 = 25;
const L_EXIT_ON_CLOSE: u8 = 26;
const L_HIGH: u8 = 27;
const L_LOW: u8 = 28;
const L_SEND_TIMEOUT: u8 = 30;
const L_DELAY_SEND: u8 = 31;
const L_PACKET_SIZE: u8 = 32;
const L_READ_PACKETS: u8 = 33;
const RAW: u8 = 34;
const L_SEND_TIMEOUT_CLOSE: u8 = 35;
const L_MSGQ_HIGH: u8 = 36;
const L_MSGQ_LOW: u8 = 37;
const L_NETNS: u8 = 38;
const L_SHOW_ECONNRESET: u8 = 39;
const L_DELIMITER: u8 = 40;
const BIND_TO_DEVICE: u8 = 42;
const DEBUG: u8 = 99;

/// The options that are one number of the system's: number here, level and name there, and whether
/// a failure to set it is told.
const NUMBERS: &[(u8, (i32, i32), bool)] = &[
    (REUSEADDR, n::REUSEADDR, false),
    (1, n::KEEPALIVE, false),
    (2, n::DONTROUTE, false),
    (4, n::BROADCAST, false),
    (6, n::SNDBUF, false),
    (RCVBUF, n::RCVBUF, false),
    (8, n::PRIORITY, true),
    (9, n::TOS, true),
    (10, n::NODELAY, false),
    (12, n::MULTICAST_TTL, false),
    (13, n::MULTICAST_LOOP, false),
    (16, n::V6ONLY, false),
    (41, n::TCLASS, true),
    (43, n::RECVTOS, true),
    (44, n::RECVTCLASS, true),
    (46, n::TTL, true),
    (47, n::RECVTTL, true),
    (48, n::CORK, false),
];

fn packet_kind(code: i32) -> Option<(Kind, bool)> {
    Some(match code {
        0 => (Kind::Raw, false),
        1 => (Kind::Length(1), false),
        2 => (Kind::Length(2), false),
        3 => (Kind::Length(4), false),
        4 => (Kind::Asn1, false),
        5 => (Kind::SunRm, false),
        6 => (Kind::Cdr, false),
        7 => (Kind::Fcgi, false),
        8 => (Kind::Line, false),
        9 => (Kind::Tpkt, false),
        10 => (Kind::Http, false),
        11 => (Kind::HttpHeader, false),
        12 => (Kind::SslTls, false),
        13 => (Kind::Http, true),
        14 => (Kind::HttpHeader, true),
        _ => return None,
    })
}

struct Reader<'a>(&'a [u8]);
impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (a, b) = self.0.split_at_checked(n)?;
        self.0 = b;
        Some(a)
    }
    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|b| b[0])
    }
    fn int(&mut self) -> Option<i32> {
        let b = self.take(4)?;
        Some(i32::from_be_bytes([b[0], b[1], b[2], b[3]]))
    }
    fn short(&mut self) -> Option<i16> {
        let b = self.take(2)?;
        Some(i16::from_be_bytes([b[0], b[1]]))
    }
}

/// Sets options. `Ok(true)`: the socket was passive and is active now, or delivers otherwise.
pub fn set(s: &mut Inet, bytes: &[u8]) -> Result<(), Errno> {
    let mut r = Reader(bytes);
    while let Some(opt) = r.byte() {
        set_one(s, opt, &mut r).unwrap_or(Err(Errno::INVAL))?;
    }
    Ok(())
}

/// `None`: malformed.
fn set_one(s: &mut Inet, opt: u8, r: &mut Reader<'_>) -> Option<Result<(), Errno>> {
    let fd = s.fd.as_ref().map_or(-1, |f| f.as_raw_fd());
    if let Some((_, name, told)) = NUMBERS.iter().find(|o| o.0 == opt) {
        let v = r.int()?;
        let done = socket::set_int(fd, *name, v);
        if opt == RCVBUF && s.proto == Proto::Udp && v > 0 {
            s.buffer = s.buffer.max(v as usize);
        }
        return Some(if *told { done } else { Ok(()) });
    }
    let size = |v: i32| usize::try_from(v).unwrap_or(0);
    match opt {
        LINGER => {
            let v = [r.int()?.to_ne_bytes(), r.int()?.to_ne_bytes()].concat();
            let _ = socket::set_option(fd, n::LINGER.0, n::LINGER.1, &v);
        }
        MULTICAST_IF => {
            let v = r.take(4)?;
            let _ = socket::set_option(fd, n::MULTICAST_IF.0, n::MULTICAST_IF.1, v);
        }
        ADD_MEMBERSHIP | DROP_MEMBERSHIP => return membership(fd, opt == ADD_MEMBERSHIP, r),
        L_BUFFER => s.buffer = size(r.int()?).clamp(1, 1 << 26),
        L_HEADER => s.header = size(r.int()?),
        L_ACTIVE => return set_active(s, r),
        L_PACKET => {
            let code = r.int()?;
            if s.proto == Proto::Tcp {
                let (kind, binaries) = packet_kind(code)?;
                (s.packet, s.http_binaries, s.packet_code) = (kind, binaries, code);
                s.in_headers = kind == Kind::HttpHeader;
            }
        }
        L_MODE => s.list = r.int()? == 0,
        L_DELIVER => s.deliver_port = r.int()? == 0,
        L_EXIT_ON_CLOSE => s.exit_on_close = r.int()? != 0,
        L_HIGH => s.high = size(r.int()?),
        L_LOW => s.low = size(r.int()?),
        L_MSGQ_HIGH => s.msgq.1 = r.int()?,
        L_MSGQ_LOW => s.msgq.0 = r.int()?,
        L_SEND_TIMEOUT => s.send_timeout = r.int()?,
        L_SEND_TIMEOUT_CLOSE => s.send_timeout_close = r.int()? != 0,
        L_DELAY_SEND => s.delay_send = r.int()? != 0,
        L_PACKET_SIZE => s.packet_size = size(r.int()?),
        L_READ_PACKETS => s.read_packets = r.int()?,
        L_SHOW_ECONNRESET => s.show_econnreset = r.int()? != 0,
        L_DELIMITER => s.delimiter = r.int()? as u8,
        DEBUG => {
            r.int()?;
        }
        RAW => {
            let (level, name, len) = (r.int()?, r.int()?, r.int()?);
            let v = r.take(usize::try_from(len).ok()?)?;
            return Some(socket::set_option(fd, level, name, v));
        }
        BIND_TO_DEVICE => {
            let len = r.int()?;
            let v = r.take(usize::try_from(len).ok()?)?;
            return Some(socket::set_option(fd, n::BIND_TO_DEVICE.0, n::BIND_TO_DEVICE.1, v));
        }
        L_NETNS => {
            let len = r.int()?;
            r.take(usize::try_from(len).ok()?)?;
            return Some(Err(Errno::NOTSUP));
        }
        _ => return None,
    }
    Some(Ok(()))
}

fn set_active(s: &mut Inet, r: &mut Reader<'_>) -> Option<Result<(), Errno>> {
    s.active = match r.int()? {
        0 => Active::No,
        1 => Active::Yes,
        2 => Active::Once,
        3 => {
            let add = r.short()? as i32;
            let had = match s.active {
                Active::Count(n) if add != 0 => n as i32,
                _ => 0,
            };
            match had + add {
                n if n > i16::MAX as i32 => return None,
                n if n <= 0 => {
                    s.now_passive = true;
                    Active::No
                }
                n => Active::Count(n as i16),
            }
        }
        _ => return None,
    };
    Some(Ok(()))
}

fn membership(fd: RawFd, add: bool, r: &mut Reader<'_>) -> Option<Result<(), Errno>> {
    let (family, index) = (r.int()?, r.int()?);
    if family != super::addr::AF_INET as i32 {
        r.take(16)?;
        return Some(Err(Errno::NOTSUP));
    }
    let (group, interface) = (r.take(4)?, r.take(4)?);
    let v = [group, interface, &index.to_ne_bytes()].concat();
    let (level, name) = if add { n::ADD_MEMBERSHIP } else { n::DROP_MEMBERSHIP };
    Some(socket::set_option(fd, level, name, &v))
}

/// The values of options: those the system does not know are left out.
pub fn get(s: &Inet, bytes: &[u8]) -> Option<Vec<u8>> {
    let mut r = Reader(bytes);
    let mut out = Vec::new();
    let fd = s.fd.as_ref().map_or(-1, |f| f.as_raw_fd());
    while let Some(opt) = r.byte() {
        if let Some((_, name, _)) = NUMBERS.iter().find(|o| o.0 == opt) {
            if let Ok(v) = socket::int(fd, *name) {
                out.push(opt);
                out.extend(v.to_be_bytes());
            }
            continue;
        }
        if opt == RAW {
            get_raw(fd, &mut r, &mut out)?;
            continue;
        }
        let v = match opt {
            LINGER => match socket::option(fd, n::LINGER.0, n::LINGER.1, 8) {
                Ok(v) if v.len() == 8 => {
                    out.push(opt);
                    out.extend(v[..4].iter().rev());
                    out.extend(v[4..].iter().rev());
                    continue;
                }
                _ => continue,
            },
            MULTICAST_IF => match socket::option(fd, n::MULTICAST_IF.0, n::MULTICAST_IF.1, 4) {
                Ok(v) => {
                    out.push(opt);
                    out.extend(v);
                    let f = if s.family == Family::Inet6 { 2u32 } else { 1 };
                    out.extend(f.to_be_bytes());
                    continue;
                }
                Err(_) => continue,
            },
            L_BUFFER => s.buffer as i32,
            L_HEADER => s.header as i32,
            L_ACTIVE => match s.active {
                Active::No => 0,
                Active::Yes => 1,
                Active::Once => 2,
                Active::Count(n) => {
                    out.push(opt);
                    out.extend(3i32.to_be_bytes());
                    out.extend(n.to_be_bytes());
                    continue;
                }
            },
            L_PACKET => s.packet_code,
            L_MODE => !s.list as i32,
            L_DELIVER => !s.deliver_port as i32,
            L_EXIT_ON_CLOSE => s.exit_on_close as i32,
            L_HIGH => s.high as i32,
            L_LOW => s.low as i32,
            L_MSGQ_HIGH => s.msgq.1,
            L_MSGQ_LOW => s.msgq.0,
            L_SEND_TIMEOUT => s.send_timeout,
            L_SEND_TIMEOUT_CLOSE => s.send_timeout_close as i32,
            L_DELAY_SEND => s.delay_send as i32,
            L_PACKET_SIZE => s.packet_size as i32,
            L_READ_PACKETS => s.read_packets,
            L_SHOW_ECONNRESET => s.show_econnreset as i32,
            _ => return None,
        };
        out.push(opt);
        out.extend(v.to_be_bytes());
    }
    Some(out)
}

/// `{raw, Level, Name, SizeOrValue}`: asked with what is in the value, or with a size.
fn get_raw(fd: RawFd, r: &mut Reader<'_>, out: &mut Vec<u8>) -> Option<()> {
    let (level, name) = (r.int()?, r.int()?);
    let with_value = r.byte()? == 1;
    let size = usize::try_from(r.int()?).ok()?.min(1 << 16);
    if with_value {
        r.take(size)?;
    }
    if let Ok(v) = socket::option(fd, level, name, size) {
        out.push(RAW);
        out.extend(level.to_be_bytes());
        out.extend(name.to_be_bytes());
        out.extend((v.len() as u32).to_be_bytes());
        out.extend(v);
    }
    Some(())
}
