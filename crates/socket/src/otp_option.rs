//! Options of level `otp`: settings of a socket that the system does not know.

use kvik_heap::OwnedTerm;
use kvik_proc::{Proc, Raised};
use kvik_release::SocketNatives;
use kvik_term::{am, Term};

use crate::address::domain;
use crate::answer::{atom, closed, error_invalid, invalid, is, ok, raise_invalid, unsigned};
use crate::monitors;
use crate::socket::{Socket, SocketState, CONTROL_BUFFER, RECEIVE_BUFFER};

/// Numbers that `prim_socket` passes.
mod number {
    pub const DEBUG: i32 = 1001;
    pub const IOW: i32 = 1002;
    pub const CONTROLLING_PROCESS: i32 = 1003;
    pub const RCVBUF: i32 = 1004;
    pub const RCVCTRLBUF: i32 = 1006;
    pub const SNDCTRLBUF: i32 = 1007;
    pub const FD: i32 = 1008;
    pub const META: i32 = 1009;
    pub const USE_REGISTRY: i32 = 1010;
    pub const SELECT_READ: i32 = 1011;
    pub const DOMAIN: i32 = 1999;
}

fn unknown(p: &Proc, n: i32) -> Raised {
    let what = p.heap.tuple(&[atom("otp_socket_option"), p.heap.integer(n.into())]);
    raise_invalid(p, what)
}

fn is_unknown(socket: &Socket, n: i32) -> bool {
    n == number::SELECT_READ && socket.natives < SocketNatives::V3
}

pub fn set<'h>(p: &'h Proc, socket: &Socket, n: i32, value: Term<'h>) -> Result<Term<'h>, Raised> {
    let mut s = socket.lock();
    let known = [
        number::DEBUG,
        number::IOW,
        number::CONTROLLING_PROCESS,
        number::RCVBUF,
        number::RCVCTRLBUF,
        number::SNDCTRLBUF,
        number::META,
        number::USE_REGISTRY,
        number::SELECT_READ,
    ];
    if !known.contains(&n) || is_unknown(socket, n) {
        return Err(unknown(p, n));
    }
    if s.open().is_none() {
        return Ok(closed(&p.heap));
    }
    let owned = s.owner == Some(p.pid());
    if !owned && [number::CONTROLLING_PROCESS, number::META].contains(&n) {
        return Ok(error_invalid(&p.heap, "not_owner"));
    }
    let set = match n {
        number::CONTROLLING_PROCESS => give_away(socket, &mut s, value),
        number::USE_REGISTRY => enter_register(socket, &mut s, value),
        number::SELECT_READ => value.as_bool().map(|on| s.select_read = on),
        _ => set_setting(&mut s, n, value),
    };
    Ok(match set {
        Some(()) => am::ok.into(),
        None => invalid(&p.heap, atom("value")),
    })
}
/// `None`: an invalid value.
fn set_setting(s: &mut SocketState, n: i32, value: Term<'_>) -> Option<()> {
    let settings = &mut s.settings;
    match n {
        number::DEBUG => settings.debug = value.as_bool()?,
        number::IOW => settings.counters_wrap = value.as_bool()?,
        number::RCVBUF => {
            (settings.receive_times, settings.receive_buffer) = match value.as_tuple_n::<2>() {
                Some([times, size]) => {
                    (unsigned(times).filter(|n| *n > 0)?, size_of_buffer(size, RECEIVE_BUFFER)?)
                }
                None => (0, size_of_buffer(value, RECEIVE_BUFFER)?),
            }
        }
        number::RCVCTRLBUF => settings.receive_control = size_of_buffer(value, CONTROL_BUFFER)?,
        number::SNDCTRLBUF => settings.send_control = size_of_buffer(value, CONTROL_BUFFER)?,
        number::META => s.meta = OwnedTerm::new(value),
        _ => return None,
    }
    Some(())
}
/// A number of bytes, or `default`.
fn size_of_buffer(t: Term<'_>, default: usize) -> Option<usize> {
    match is(t, "default") {
        true => Some(default),
        false => t.as_i64().and_then(|n| usize::try_from(n).ok()).filter(|n| *n > 0),
    }
}
fn give_away(socket: &Socket, s: &mut SocketState, to: Term<'_>) -> Option<()> {
    let pid = to.as_local_pid()?;
    s.owner_monitor.take().into_iter().for_each(monitors::unwatch);
    s.owner = Some(pid);
    s.owner_monitor = socket.shared().and_then(|me| monitors::watch(&me, pid));
    if s.owner_monitor.is_none() {
        socket.owner_ended(s);
    }
    Some(())
}
fn enter_register(socket: &Socket, s: &mut SocketState, value: Term<'_>) -> Option<()> {
    // A socket cannot leave the register.
    value.as_bool().filter(|on| *on)?;
    if !std::mem::replace(&mut s.settings.in_register, true) {
        socket.tell_register("add");
    }
    Some(())
}

pub fn get<'h>(p: &'h Proc, socket: &Socket, n: i32) -> Result<Term<'h>, Raised> {
    let (s, h) = (socket.lock(), &p.heap);
    let number = |n: usize| h.unsigned(n as u64);
    let fd = s.open();
    let value = match n {
        number::USE_REGISTRY => return Ok(ok(h, Term::bool(s.settings.in_register))),
        number::DEBUG => Term::bool(s.settings.debug),
        number::IOW => Term::bool(s.settings.counters_wrap),
        number::CONTROLLING_PROCESS => s.owner.map_or(am::undefined.into(), Term::local_pid),
        number::RCVBUF => match s.settings.receive_times {
            0 => number(s.settings.receive_buffer),
            n => h.tuple(&[h.unsigned(n.into()), number(s.settings.receive_buffer)]),
        },
        number::RCVCTRLBUF => number(s.settings.receive_control),
        number::SNDCTRLBUF => number(s.settings.send_control),
        number::FD => h.integer(fd.unwrap_or(-1).into()),
        number::META => h.copy(s.meta.term()),
        number::DOMAIN => domain(h, socket.domain),
        number::SELECT_READ if !is_unknown(socket, n) => Term::bool(s.select_read),
        n => return Err(unknown(p, n)),
    };
    Ok(match fd {
        Some(_) => ok(h, value),
        None => closed(h),
    })
}
