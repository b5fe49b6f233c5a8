//! Socket options by the numbers `prim_inet` gives them.

use std::os::fd::{AsRawFd, RawFd};

use kvik_env::socket::{self, name as n, Family};
use kvik_env::Errno;

use super::{Active, Inet, Proto, State};
use crate::packet::PacketKind;
use crate::port::state::Core;

/// Options for control messages of datagrams, and for reading those of a stream.
const TOS: u8 = 9;
const TCLASS: u8 = 41;
const TTL: u8 = 46;
const PKTOPTIONS: u8 = 45;
/// The longest reply with options, in bytes.
const MAX_ANSWER: usize = 64 * 1024;
/// Option, level, name and length before the value of a raw option.
const RAW_HEAD: usize = 13;
/// The name of an interface with its NUL.
const INTERFACE_NAME: usize = 16;

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
/// An option of Windows, and one of SCTP sockets.
const EXCLUSIVEADDRUSE: u8 = 19;
const L_READ_AHEAD: u8 = 49;
const L_NON_BLOCK_SEND: u8 = 50;
const DEBUG: u8 = 99;

/// Options that map to one integer option of the system: number here, level and name there, and
/// whether a failure to set it is reported.
const NUMBERS: &[(u8, (i32, i32), bool)] = &[
    (REUSEADDR, n::REUSEADDR, false),
    (1, n::KEEPALIVE, false),
    (2, n::DONTROUTE, false),
    (4, n::BROADCAST, false),
    (5, n::OOBINLINE, false),
    (6, n::SNDBUF, false),
    (RCVBUF, n::RCVBUF, false),
    (8, n::PRIORITY, true),
    (TOS, n::TOS, true),
    (10, n::NODELAY, false),
    (12, n::MULTICAST_TTL, false),
    (13, n::MULTICAST_LOOP, false),
    (16, n::V6ONLY, true),
    // `reuseport` and `reuseport_lb`, which are the same here.
    (17, n::REUSEPORT, false),
    (18, n::REUSEPORT, false),
    (TCLASS, n::TCLASS, true),
    (43, n::RECVTOS, true),
    (44, n::RECVTCLASS, true),
    (TTL, n::TTL, true),
    (47, n::RECVTTL, true),
    (48, n::CORK, false),
    (51, n::KEEPCNT, false),
    (52, n::KEEPIDLE, false),
    (53, n::KEEPINTVL, false),
    (54, n::USER_TIMEOUT, false),
];

fn packet_kind(code: i32) -> Option<(PacketKind, bool)> {
    Some(match code {
        0 => (PacketKind::Raw, false),
        1 => (PacketKind::Length(1), false),
        2 => (PacketKind::Length(2), false),
        3 => (PacketKind::Length(4), false),
        4 => (PacketKind::Asn1, false),
        5 => (PacketKind::SunRm, false),
        6 => (PacketKind::Cdr, false),
        7 => (PacketKind::Fcgi, false),
        8 => (PacketKind::Line, false),
        9 => (PacketKind::Tpkt, false),
        10 => (PacketKind::Http, false),
        11 => (PacketKind::HttpHeader, false),
        12 => (PacketKind::SslTls, false),
        13 => (PacketKind::Http, true),
        14 => (PacketKind::HttpHeader, true),
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

/// Sets options. Returns `einval` if one is malformed, or if the system refuses one whose failure
/// is reported.
pub fn set(s: &mut Inet, core: &mut Core, bytes: &[u8]) -> Result<(), Errno> {
    let mut r = Reader(bytes);
    while r.0.len() >= 5 {
        let opt = r.byte().unwrap_or_default();
        set_one(s, core, opt, &mut r).ok_or(Errno::INVAL)?;
    }
    Ok(())
}

/// Notes an option by which datagrams come with control messages.
fn set_control_message(s: &mut Inet, opt: u8, on: bool) {
    let bit = match opt {
        43 => 1,
        44 => 2,
        47 => 4,
        _ => return,
    };
    s.control_messages = if on { s.control_messages | bit } else { s.control_messages & !bit };
}

/// Grows the buffer with the system's, unless it was set.
fn grow_buffer(s: &mut Inet, v: usize) {
    if s.buffer_set {
        return;
    }
    if s.proto == Proto::Udp && v > 1 << 16 {
        s.buffer = 1 << 16;
    } else {
        s.buffer = s.buffer.max(v);
    }
}

/// `None`: malformed, or refused.
fn set_one(s: &mut Inet, core: &mut Core, opt: u8, r: &mut Reader<'_>) -> Option<()> {
    let fd = s.fd.as_ref().map_or(-1, |f| f.as_raw_fd());
    if let Some((_, name, told)) = NUMBERS.iter().find(|o| o.0 == opt) {
        let v = r.int()?;
        if opt == RCVBUF {
            grow_buffer(s, size(v));
        }
        return match socket::set_int(fd, *name, v) {
            Ok(()) => {
                set_control_message(s, opt, v != 0);
                Some(())
            }
            Err(_) => (!told).then_some(()),
        };
    }
    match opt {
        LINGER => {
            let (on, seconds) = (r.int()?, r.int()?);
            s.linger_zero = s.proto == Proto::Tcp && on != 0 && seconds == 0;
            let v = [on.to_ne_bytes(), seconds.to_ne_bytes()].concat();
            let _ = socket::set_option(fd, n::LINGER.0, n::LINGER.1, &v);
        }
        MULTICAST_IF => {
            let name = multicast_interface(s.family)?;
            let _ = socket::set_option(fd, name.0, name.1, r.take(4)?);
        }
        ADD_MEMBERSHIP | DROP_MEMBERSHIP => membership(s, fd, opt == ADD_MEMBERSHIP, r)?,
        L_ACTIVE => set_active(s, core, r)?,
        L_PACKET => {
            let code = r.int()?;
            if s.proto == Proto::Tcp {
                let (kind, binaries) = packet_kind(code)?;
                (s.packet, s.http_binaries, s.packet_code) = (kind, binaries, code);
                s.in_headers = kind == PacketKind::HttpHeader;
            }
        }
        RAW => {
            let (level, name, len) = (r.int()?, r.int()?, r.int()?);
            let v = r.take(usize::try_from(len).ok()?)?;
            let _ = socket::set_option(fd, level, name, v);
        }
        BIND_TO_DEVICE => {
            let len = r.int()?;
            let v = r.take(usize::try_from(len).ok()?)?;
            if v.len() > INTERFACE_NAME {
                return None;
            }
            socket::set_option(fd, n::BIND_TO_DEVICE.0, n::BIND_TO_DEVICE.1, v).ok()?;
        }
        L_NETNS => {
            let len = r.int()?;
            s.network_namespace = Some(r.take(usize::try_from(len).ok()?)?.to_vec());
        }
        _ => set_local(s, opt, r.int()?)?,
    }
    Some(())
}

fn size(v: i32) -> usize {
    usize::try_from(v).unwrap_or(0)
}

/// Integer options of the driver itself.
fn set_local(s: &mut Inet, opt: u8, v: i32) -> Option<()> {
    let tcp = s.proto == Proto::Tcp;
    match opt {
        L_BUFFER => (s.buffer, s.buffer_set) = (size(v).clamp(1, 1 << 26), true),
        L_HEADER => s.header = size(v),
        L_MODE => s.list = v == 0,
        L_DELIVER => s.deliver_port = v == 0,
        L_EXIT_ON_CLOSE => s.exit_on_close = v != 0,
        L_HIGH => {
            s.high = size(v);
            s.low = s.low.min(s.high);
        }
        L_LOW => {
            s.low = size(v);
            s.high = s.high.max(s.low);
        }
        L_MSGQ_HIGH => s.msgq = (s.msgq.0.min(positive(v)?), v),
        L_MSGQ_LOW => s.msgq = (v, s.msgq.1.max(positive(v)?)),
        L_SEND_TIMEOUT => s.send_timeout = v,
        L_SEND_TIMEOUT_CLOSE => s.send_timeout_close = v != 0,
        L_DELAY_SEND => s.delay_send = tcp && v != 0,
        L_PACKET_SIZE => s.packet_size = size(v),
        L_READ_PACKETS if !tcp => s.read_packets = positive(v)?,
        L_READ_PACKETS => {}
        L_SHOW_ECONNRESET => s.show_econnreset = tcp && v != 0,
        L_READ_AHEAD => s.read_ahead = !tcp || v != 0,
        L_DELIMITER => s.delimiter = v as u8,
        EXCLUSIVEADDRUSE | L_NON_BLOCK_SEND => {}
        DEBUG => s.debug = v != 0,
        _ => return None,
    }
    Some(())
}
fn positive(v: i32) -> Option<i32> {
    (v > 0).then_some(v)
}

fn set_active(s: &mut Inet, core: &mut Core, r: &mut Reader<'_>) -> Option<()> {
    s.active = match r.int()? {
        0 => Active::No,
        1 => Active::Yes,
        2 => Active::Once,
        3 => {
            let had = match s.active {
                Active::Count(n) => n as i32,
                _ => 0,
            };
            match had + r.short()? as i32 {
                n if n > i16::MAX as i32 || n < i16::MIN as i32 => return None,
                n if n <= 0 => {
                    s.tell_passive(core);
                    Active::No
                }
                n => Active::Count(n as i16),
            }
        }
        _ => return None,
    };
    if s.proto == Proto::Tcp && s.is_active() && s.state == State::Closed {
        let flow = s.activated_closed(core);
        core.fail(flow);
    }
    Some(())
}

fn multicast_interface(f: Family) -> Option<(i32, i32)> {
    match f {
        Family::Inet => Some(n::MULTICAST_IF),
        Family::Inet6 => Some(n::V6_MULTICAST_IF),
        Family::Local => None,
    }
}

fn membership(s: &Inet, fd: RawFd, add: bool, r: &mut Reader<'_>) -> Option<()> {
    let (family, index) = (r.int()?, r.int()?);
    let (v, (level, name)) = match (family as u8, s.family) {
        (super::addr::AF_INET, Family::Inet) => {
            let (group, interface) = (r.take(4)?, r.take(4)?);
            let v = [group, interface, &index.to_ne_bytes()].concat();
            (v, if add { n::ADD_MEMBERSHIP } else { n::DROP_MEMBERSHIP })
        }
        (super::addr::AF_INET6, Family::Inet6) => {
            let v = [r.take(16)?, &index.to_ne_bytes()].concat();
            (v, if add { n::V6_ADD_MEMBERSHIP } else { n::V6_DROP_MEMBERSHIP })
        }
        _ => return None,
    };
    let _ = socket::set_option(fd, level, name, &v);
    Some(())
}

/// Decodes control messages from `prim_inet`: an option and its value each.
pub fn control_messages(mut b: &[u8]) -> Option<Vec<socket::ControlMessage>> {
    let mut all = Vec::new();
    while let Some((opt, rest)) = b.split_first() {
        let (v, rest) = rest.split_at_checked(4)?;
        let (level, kind) = match *opt {
            TOS => n::TOS,
            TTL => n::TTL,
            TCLASS => n::TCLASS,
            _ => return None,
        };
        all.push((level, kind, i32::from_be_bytes(v.try_into().ok()?)));
        b = rest;
    }
    // OTP allows two.
    (all.len() <= 2).then_some(all)
}
/// The option that a control message belongs to.
pub fn option_of((level, kind, _): &socket::ControlMessage) -> Option<u8> {
    match (*level, *kind) {
        n::TOS | n::RECVTOS => Some(TOS),
        n::TTL | n::RECVTTL => Some(TTL),
        n::TCLASS | n::RECVTCLASS => Some(TCLASS),
        _ => None,
    }
}
pub fn option_name(opt: u8) -> &'static str {
    match opt {
        TOS => "tos",
        TTL => "ttl",
        _ => "tclass",
    }
}

/// The values of options, without those that the system does not know.
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
            MULTICAST_IF => {
                let name = multicast_interface(s.family)?;
                // The address, or the interface's number, stands before the family.
                if let Ok(mut v) = socket::option(fd, name.0, name.1, 4) {
                    if s.family == Family::Inet6 {
                        v.reverse();
                    }
                    out.push(opt);
                    out.extend(v);
                    out.extend(u32::from(super::addr::family_code(s.family)).to_be_bytes());
                }
                continue;
            }
            PKTOPTIONS => {
                packet_options(s.family, fd, &mut out)?;
                continue;
            }
            BIND_TO_DEVICE => {
                let (level, name) = n::BIND_TO_DEVICE;
                if let Ok(v) = socket::option(fd, level, name, INTERFACE_NAME) {
                    let end = v.iter().position(|b| *b == 0).unwrap_or(v.len());
                    put_bytes(&mut out, opt, &v[..end]);
                }
                continue;
            }
            L_NETNS => {
                if let Some(v) = &s.network_namespace {
                    put_bytes(&mut out, opt, v);
                }
                continue;
            }
            // Options of streams only, or of datagrams only, are left out for the others.
            L_HIGH | L_LOW | L_SEND_TIMEOUT | L_SEND_TIMEOUT_CLOSE | L_DELAY_SEND
            | L_SHOW_ECONNRESET
                if s.proto == Proto::Udp =>
            {
                continue
            }
            L_READ_PACKETS if s.proto == Proto::Tcp => continue,
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
            L_READ_AHEAD => s.read_ahead as i32,
            DEBUG => s.debug as i32,
            EXCLUSIVEADDRUSE | L_NON_BLOCK_SEND => 0,
            _ => return None,
        };
        out.push(opt);
        out.extend(v.to_be_bytes());
    }
    Some(out)
}

fn put_bytes(out: &mut Vec<u8>, opt: u8, v: &[u8]) {
    out.push(opt);
    out.extend((v.len() as u32).to_be_bytes());
    out.extend(v);
}

/// The control messages of the last packet of a stream.
fn packet_options(f: Family, fd: RawFd, out: &mut Vec<u8>) -> Option<()> {
    let (level, name) = match f {
        Family::Inet => n::PKTOPTIONS,
        Family::Inet6 => n::V6_PKTOPTIONS,
        Family::Local => return None,
    };
    let mut all = Vec::new();
    let Ok(v) = socket::option(fd, level, name, 48) else { return Some(()) };
    for c in socket::parse_control(&v) {
        if let Some(opt) = option_of(&c) {
            all.push(opt);
            all.extend(c.2.to_be_bytes());
        }
    }
    put_bytes(out, PKTOPTIONS, &all);
    Some(())
}

/// `{raw, Level, Name, SizeOrValue}`: the buffer is the value, or has the size.
fn get_raw(fd: RawFd, r: &mut Reader<'_>, out: &mut Vec<u8>) -> Option<()> {
    let (level, name) = (r.int()?, r.int()?);
    let with_value = r.byte()? == 1;
    let size = usize::try_from(r.int()?).ok()?;
    if size > MAX_ANSWER || out.len() + RAW_HEAD + size >= MAX_ANSWER {
        return None;
    }
    let value = match with_value {
        true => r.take(size)?.to_vec(),
        false => vec![0; size],
    };
    if let Ok(v) = socket::option_with(fd, level, name, value) {
        out.push(RAW);
        out.extend(level.to_be_bytes());
        out.extend(name.to_be_bytes());
        out.extend((v.len() as u32).to_be_bytes());
        out.extend(v);
    }
    Some(())
}
