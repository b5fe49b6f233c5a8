//! `port_control` of sockets: numbered requests, answered by a byte (0 error, 1 ok) and data.

use kvik_env::socket::{self, Addr, Interface, SocketType};
use kvik_env::{fd, Errno};
use kvik_term::am;

use super::{addr, interfaces, options, Active, Inet, Proto, State, What};
use crate::driver::ControlReply;
use crate::port::state::Core;

const BASE: u32 = 0x03f1_a300;

pub fn ok(data: &[u8]) -> ControlReply {
    ControlReply::List([&[1], data].concat())
}
pub fn error_text(text: &str) -> ControlReply {
    ControlReply::List([&[0], text.as_bytes()].concat())
}
pub fn error(e: Errno) -> ControlReply {
    error_text(e.name())
}
fn done(r: Result<(), Errno>) -> ControlReply {
    match r {
        Ok(()) => ok(&[]),
        Err(e) => error(e),
    }
}
fn value(r: Result<Vec<u8>, Errno>) -> ControlReply {
    match r {
        Ok(v) => ok(&v),
        Err(e) => error(e),
    }
}
fn int(b: &[u8]) -> Option<i32> {
    Some(i32::from_be_bytes(b.get(..4)?.try_into().ok()?))
}

pub fn control(s: &mut Inet, core: &mut Core, op: u32, data: &[u8]) -> Option<ControlReply> {
    let op = op.wrapping_sub(BASE);
    let tcp = s.proto == Proto::Tcp;
    Some(match op {
        1 => open(s, core, data),
        2 => {
            s.answer_all(core, am::closed);
            s.close_socket(core);
            ok(&[])
        }
        3 => connect(s, core, data),
        4 => value(peer(s).map(|a| addr::encode(&a))),
        5 => value(name(s).map(|a| addr::encode(&a))),
        6 => bind(s, data),
        7 => set_options(s, core, data),
        8 => match options::get(s, data) {
            Some(v) => ok(&v),
            None => error(Errno::INVAL),
        },
        11 => ok(&s.stats.get(data, s.queue.len())?),
        12 => value(socket::host_name()),
        13 => adopt(s, core, data),
        14 => value(s.raw().map(|n| n.to_be_bytes().to_vec()).map_err(|_| Errno::INVAL)),
        15 if s.state == State::Closed => error(Errno::INVAL),
        15 => {
            let family = addr::family_code(s.family) as u32;
            let kind: u32 = if tcp { 1 } else { 2 };
            ok(&[family.to_be_bytes(), kind.to_be_bytes()].concat())
        }
        16 => ok(&status(s).to_be_bytes()),
        17 => service_by_name(data),
        18 => service_by_port(data),
        19 => fake(s.family, data, &mut s.fake_name),
        20 => fake(s.family, data, &mut s.fake_peer),
        21..=23 | 25 if s.state == State::Closed => error_text("exbadport"),
        21 => value(s.raw().and_then(interfaces::names)),
        22 => value(s.raw().and_then(|fd| interfaces::values(fd, data))),
        23 => done(s.raw().and_then(|fd| interfaces::set(fd, data))),
        24 => subscribe(s, core, data)?,
        25 => value(socket::interfaces().map(|all| all_interfaces(&all))),
        26 if tcp => s.accept(core, data),
        27 if tcp => listen(s, data),
        28 => ignore(s, core, data),
        29 | 30 if data.len() != 4 => error(Errno::INVAL),
        29 | 30 if s.state == State::Closed => error_text("exbadport"),
        29 => value(s.raw().and_then(socket::local_addr).map(|a| addr::encode(&a))),
        30 => value(s.raw().and_then(socket::peer_addr).map(|a| addr::encode(&a))),
        42 if tcp => s.receive(core, data),
        43 if tcp => s.unreceive(core, data),
        44 if tcp => s.shut_down(data),
        45 if tcp => s.send_file(core, data),
        60 if !tcp => s.receive_packet(core, data),
        _ => error_text("exbadport"),
    })
}

fn kind(s: &Inet, code: u8) -> Option<SocketType> {
    match (s.proto, code) {
        (Proto::Tcp, 1) => Some(SocketType::Stream),
        (Proto::Udp, 2) => Some(SocketType::Datagram),
        _ => None,
    }
}

fn open(s: &mut Inet, core: &mut Core, data: &[u8]) -> ControlReply {
    // Newer releases name the protocol, too.
    let ([family, code] | [family, code, _]) = *data else {
        return error(Errno::INVAL);
    };
    let Some(family) = addr::family(family) else {
        return error_text("eafnosupport");
    };
    let Some(kind) = kind(s, code) else {
        return error(Errno::INVAL);
    };
    if s.state != State::Closed {
        return error_text("exbadseq");
    }
    let opened = match &s.network_namespace {
        Some(file) => socket::open_in(file, family, kind),
        None => socket::open(family, kind),
    };
    match opened {
        Ok(fd) => {
            (s.fd, s.family, s.state) = (Some(fd), family, State::Open);
            if s.proto == Proto::Udp {
                return done(s.watch(core));
            }
            ok(&[])
        }
        Err(e) => error(e),
    }
}

/// Takes over a socket by its descriptor.
fn adopt(s: &mut Inet, core: &mut Core, data: &[u8]) -> ControlReply {
    let [family, code, rest @ ..] = data else {
        return error(Errno::INVAL);
    };
    let Some(family) = addr::family(*family) else {
        return error_text("eafnosupport");
    };
    let (Some(_), Some(n)) = (kind(s, *code), int(rest)) else {
        return error(Errno::INVAL);
    };
    let bound = int(rest.get(4..).unwrap_or(&[])) != Some(0);
    if bound {
        match socket::local_addr(n) {
            Ok(name) if addr::family_of(&name).is_none_or(|f| f == family) => {}
            Ok(_) => return error(Errno::INVAL),
            Err(e) => return error(e),
        }
    }
    let fd = match fd::adopt(n) {
        Ok(fd) => fd,
        Err(e) => return error(e),
    };
    let _ = fd::set_nonblocking(n, true);
    (s.fd, s.family, s.bound, s.adopted) = (Some(fd), family, bound, true);
    s.state = if socket::peer_addr(n).is_ok() { State::Connected } else { State::Open };
    done(s.watch(core))
}

fn name(s: &Inet) -> Result<Addr, Errno> {
    match &s.fake_name {
        Some(a) => Ok(a.clone()),
        None => s.raw().and_then(socket::local_addr),
    }
}
/// Reads the address of a request.
fn decode(family: socket::Family, data: &[u8]) -> Result<Addr, ControlReply> {
    match data {
        [addr::AF_INET..=addr::AF_LOCAL, ..] => {
            addr::decode(family, data).map(|(a, _)| a).ok_or_else(|| error(Errno::INVAL))
        }
        _ => Err(error_text("eafnosupport")),
    }
}
/// Sets a name to be returned in place of the true one; empty data unset it.
fn fake(family: socket::Family, data: &[u8], to: &mut Option<Addr>) -> ControlReply {
    *to = match data {
        [] => None,
        [_] => return error(Errno::INVAL),
        _ => match decode(family, data) {
            Ok(a) => Some(a),
            Err(e) => return e,
        },
    };
    ok(&[])
}

/// Leaves a connection's descriptor to other code, or takes it back.
fn ignore(s: &mut Inet, core: &mut Core, data: &[u8]) -> ControlReply {
    if s.state != State::Connected {
        return error(socket::ENOTCONN);
    }
    match (data, s.ignored, s.proto) {
        ([1], false, Proto::Tcp) => {
            s.ignored = true;
            s.leave_poll_set(core);
            ok(&[])
        }
        ([0], true, Proto::Tcp) => {
            s.ignored = false;
            // Adding it to the set reports both directions at once.
            done(s.watch(core))
        }
        _ => error(Errno::INVAL),
    }
}

fn peer(s: &Inet) -> Result<Addr, Errno> {
    if s.state != State::Connected {
        return Err(socket::ENOTCONN);
    }
    if let Some(a) = &s.fake_peer {
        return Ok(a.clone());
    }
    s.raw().and_then(socket::peer_addr)
}

fn bind(s: &mut Inet, data: &[u8]) -> ControlReply {
    if data.len() < 2 {
        return error(Errno::INVAL);
    }
    let (Ok(fd), State::Open) = (s.raw(), s.state) else {
        return error_text("exbadport");
    };
    let a = match decode(s.family, data) {
        Ok(a) => a,
        Err(e) => return e,
    };
    if let Err(e) = socket::bind(fd, &a) {
        return error(e);
    }
    s.bound = true;
    let port = socket::local_addr(fd).map_or(0, |a| addr::port(&a));
    ok(&port.to_be_bytes())
}

fn listen(s: &mut Inet, data: &[u8]) -> ControlReply {
    let Ok(fd) = s.raw() else {
        return error_text("exbadport");
    };
    let Ok(backlog) = <[u8; 2]>::try_from(data) else {
        return error(Errno::INVAL);
    };
    let r = socket::listen(fd, u16::from_be_bytes(backlog) as i32);
    if r.is_ok() {
        s.state = State::Listening;
    }
    done(r)
}

fn connect(s: &mut Inet, core: &mut Core, data: &[u8]) -> ControlReply {
    let Ok(fd) = s.raw() else {
        return error_text("exbadport");
    };
    let udp = s.proto == Proto::Udp;
    if s.state == State::Connected && !udp {
        return error(socket::EISCONN);
    }
    if s.state == State::Connecting {
        return error(Errno::INVAL);
    }
    if udp && data.is_empty() {
        let _ = socket::connect(fd, &Addr::Unspecified);
        s.state = State::Open;
        let r = s.later(core, What::Connect, -1);
        s.answer(core, 0, |_| am::ok.into());
        return r;
    }
    let decoded = data.get(4..).and_then(|b| addr::decode(s.family, b));
    let (Some(timeout), Some((a, _))) = (int(data), decoded) else {
        return error(Errno::INVAL);
    };
    if udp && s.state == State::Connected {
        // Without this the old source address would stay.
        let _ = socket::connect(fd, &Addr::Unspecified);
    }
    match socket::connect(fd, &a) {
        Ok(()) => {
            s.state = State::Connected;
            if let Err(e) = s.watch(core) {
                return error(e);
            }
            let r = s.later(core, What::Connect, -1);
            s.answer(core, 0, |_| am::ok.into());
            r
        }
        Err(socket::EINPROGRESS | Errno::AGAIN) if !udp => {
            s.state = State::Connecting;
            if let Err(e) = s.watch(core) {
                return error(e);
            }
            s.later(core, What::Connect, timeout)
        }
        Err(e) => {
            if udp {
                let _ = socket::connect(fd, &Addr::Unspecified);
                s.state = State::Open;
            }
            error(e)
        }
    }
}

fn set_options(s: &mut Inet, core: &mut Core, data: &[u8]) -> ControlReply {
    let (was, packet) = (s.is_active(), s.packet_code);
    let r = options::set(s, core, data);
    if r.is_ok() && s.is_active() {
        match (s.proto, s.state) {
            (Proto::Tcp, State::Connected) => became_active(s, core, was, packet),
            (Proto::Udp, State::Open | State::Connected) if !was => s.read_again(core),
            _ => {}
        }
    }
    done(r)
}

/// `was`: it was active before. As in OTP, `once` and a count read at once, so that a message may
/// be there when the call returns; `true` delivers buffered data, and reads at the next event.
fn became_active(s: &mut Inet, core: &mut Core, was: bool, packet: i32) {
    let same_packets = s.packet_code == packet;
    if !was && same_packets && s.active != Active::Yes {
        if !s.ignored {
            if let Err(e) = s.watch(core) {
                return core.fail(Err(crate::driver::Exit::Posix(e)));
            }
            s.read_now(core, 0);
        }
        return;
    }
    if let (false, Err(e)) = (s.ignored, s.watch(core)) {
        return core.fail(Err(crate::driver::Exit::Posix(e)));
    }
    if !was || !same_packets {
        let flow = s.deliver_ready(core);
        core.fail(flow);
    }
    if !was && s.is_active() {
        s.read_again(core);
    }
}

fn status(s: &mut Inet) -> u32 {
    s.forget_dead_acceptors();
    let mut f = match s.state {
        State::Closed => 0,
        State::Open => 0x1,
        State::Connecting => 0x1 | 0x10,
        State::Connected => 0x1 | 0x4,
        State::Listening => 0x1 | 0x8,
    };
    if s.pending.iter().any(|p| p.what == What::Accept) {
        f |= 0x20;
    }
    if s.pending.len() > 1 && s.state == State::Listening {
        f |= 0x100;
    }
    if !s.senders.is_empty() {
        f |= 0x80;
    }
    f
}

fn subscribe(s: &mut Inet, core: &Core, data: &[u8]) -> Option<ControlReply> {
    let mut out = Vec::new();
    for what in data {
        if *what != 1 {
            return None;
        }
        let n = s.queue.len();
        if n > 0 {
            s.want_empty.push(core.caller);
        }
        out.push(1);
        out.extend((n as u32).to_be_bytes());
    }
    Some(ok(&out))
}

/// Iterates over the system's list of services: name, port, protocol, aliases.
fn services<R>(mut f: impl FnMut(&str, u16, &str, &[&str]) -> Option<R>) -> Option<R> {
    let all = kvik_env::fs::read_to_string("/etc/services").ok()?;
    all.lines().find_map(|l| {
        let l = l.split('#').next()?;
        let words: Vec<&str> = l.split_whitespace().collect();
        let [name, at, others @ ..] = words.as_slice() else {
            return None;
        };
        let (port, proto) = at.split_once('/')?;
        f(name, port.parse().ok()?, proto, others)
    })
}
fn service_by_name(data: &[u8]) -> ControlReply {
    let parse = || {
        let (n, rest) = data.split_first()?;
        let (name, rest) = rest.split_at_checked(*n as usize)?;
        let proto = rest.get(1..)?;
        Some((std::str::from_utf8(name).ok()?, std::str::from_utf8(proto).ok()?))
    };
    let Some((want, want_proto)) = parse() else {
        return error(Errno::INVAL);
    };
    let port = services(|name, port, proto, others| {
        (proto == want_proto && (name == want || others.contains(&want))).then_some(port)
    });
    match port {
        Some(p) => ok(&p.to_be_bytes()),
        None => error(Errno::INVAL),
    }
}
fn service_by_port(data: &[u8]) -> ControlReply {
    let (Some(port), Some(proto)) = (data.get(..2), data.get(3..)) else {
        return error(Errno::INVAL);
    };
    let want = u16::from_be_bytes([port[0], port[1]]);
    let name = services(|name, port, p, _| {
        (port == want && p.as_bytes() == proto).then(|| name.to_owned())
    });
    match name {
        Some(n) => ok(n.as_bytes()),
        None => error(Errno::INVAL),
    }
}

pub fn flags(f: u32) -> u32 {
    let pairs = [
        (socket::IFF_UP, 1),
        (socket::IFF_BROADCAST, 2),
        (socket::IFF_LOOPBACK, 4),
        (socket::IFF_POINTOPOINT, 8),
        // As in OTP: the system's own bit is not asked.
        (socket::IFF_UP, 0x10),
        (socket::IFF_MULTICAST, 0x20),
    ];
    pairs.iter().map(|(bit, ours)| if f & bit != 0 { *ours } else { 0 }).sum()
}

/// `Name 0 (Option Value)* 0` for each address of each interface.
fn all_interfaces(all: &[Interface]) -> Vec<u8> {
    let mut out = Vec::new();
    for i in all {
        out.extend(&i.name);
        out.push(0);
        out.push(6);
        out.extend(flags(i.flags).to_be_bytes());
        let mut put = |opt: u8, a: &Option<Addr>| {
            if let Some(a @ (Addr::V4(..) | Addr::V6(..))) = a {
                out.push(opt);
                out.extend(addr::encode_ip(a));
            }
        };
        put(1, &i.addr);
        put(5, &i.mask);
        let v4 = matches!(i.addr, Some(Addr::V4(..)));
        if i.flags & socket::IFF_POINTOPOINT != 0 {
            put(3, &i.other);
        } else if i.flags & socket::IFF_BROADCAST != 0 && v4 {
            put(2, &i.other);
        }
        if let Some(h) = &i.hardware {
            out.push(7);
            out.extend((h.len() as u16).to_be_bytes());
            out.extend(h);
        }
        out.push(0);
    }
    out
}
