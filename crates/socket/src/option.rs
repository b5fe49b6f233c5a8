//! `nif_setopt` and `nif_getopt`. The last argument of the first, or an additional argument of the
//! second, means that the value is passed to the system as it is.

use std::os::fd::RawFd;

use kvik_env::socket::raw;
use kvik_env::{socket as sys, Errno};
use kvik_proc::{BifResult, Proc};
use kvik_term::{am, Term};

use crate::answer::{
    atom, bytes, closed, done, error_invalid, int, invalid, is, ok, posix, settle, small_int,
    ArgResult,
};
use crate::control::level_number;
use crate::option_table;
use crate::option_value::{self, OptionValue};
use crate::otp_option;
use crate::socket::{socket, Socket};

const PRIORITY: (i32, i32) = (libc::SOL_SOCKET, libc::SO_PRIORITY);
const TOS: (i32, i32) = (libc::IPPROTO_IP, libc::IP_TOS);
/// The largest value that can be read as a binary.
const MAX_OPTION_BYTES: i32 = 1 << 20;

/// An option's level: one of the system's, or OTP's own.
enum Level {
    System(i32),
    Otp,
}
fn level<'h>(p: &'h Proc, t: Term<'h>) -> ArgResult<'h, Level> {
    match level_number(t) {
        Some(n) => Ok(Level::System(n)),
        None if is(t, "otp") => Ok(Level::Otp),
        None => int(p, t).map(Level::System),
    }
}

pub fn set_5<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    settle(set(p, a))
}
fn set<'h>(p: &'h Proc, a: &[Term<'h>]) -> ArgResult<'h, Term<'h>> {
    let socket = socket(p, a[0])?;
    let native = small_int(a[4]).ok_or_else(|| p.badarg())? != 0;
    let number = int(p, a[2])?;
    match level(p, a[1])? {
        Level::System(level) if native => Ok(set_native(p, socket, level, number, a[3])),
        Level::System(level) => Ok(set_known(p, socket, level, number, a[3])),
        Level::Otp if native => Err(p.badarg().into()),
        Level::Otp => Ok(otp_option::set(p, socket, number, a[3])?),
    }
}
fn set_known<'h>(
    p: &'h Proc,
    socket: &Socket,
    level: i32,
    number: i32,
    value: Term<'h>,
) -> Term<'h> {
    let s = socket.lock();
    let Some(fd) = s.open() else { return closed(&p.heap) };
    let Some(kind) = option_table::find(socket.natives, level, number).and_then(|o| o.set) else {
        return invalid(&p.heap, atom("socket_option"));
    };
    match option_value::encode(kind, value, socket.natives) {
        Some(value) => done(&p.heap, set_kept(fd, level, number, &value)),
        None => invalid(&p.heap, atom("value")),
    }
}
fn set_native<'h>(
    p: &'h Proc,
    socket: &Socket,
    level: i32,
    number: i32,
    value: Term<'h>,
) -> Term<'h> {
    let s = socket.lock();
    let Some(fd) = s.open() else { return closed(&p.heap) };
    let as_int = || small_int(value).or_else(|| value.as_bool().map(i32::from));
    let value = bytes(value).map(|b| b.into_owned());
    match value.or_else(|| as_int().map(|n| n.to_ne_bytes().to_vec())) {
        Some(value) => done(&p.heap, set_kept(fd, level, number, &value)),
        None => error_invalid(&p.heap, "value"),
    }
}
/// Sets an option and then restores the priority and the type of service, as OTP does: some options
/// change them as a side effect.
fn set_kept(fd: RawFd, level: i32, number: i32, value: &[u8]) -> kvik_env::Result<()> {
    let (priority, tos) = (sys::int(fd, PRIORITY), sys::int(fd, TOS));
    sys::set_option(fd, level, number, value)?;
    if number == PRIORITY.1 {
        return Ok(());
    }
    if let Some(tos) = tos.ok().filter(|_| number != TOS.1) {
        sys::set_int(fd, TOS, tos)?;
    }
    match priority.map(|n| sys::set_int(fd, PRIORITY, n)) {
        Ok(Err(e)) if e != Errno::PERM => Err(e),
        _ => Ok(()),
    }
}

pub fn get_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    settle(get(p, a))
}
fn get<'h>(p: &'h Proc, a: &[Term<'h>]) -> ArgResult<'h, Term<'h>> {
    let socket = socket(p, a[0])?;
    let number = int(p, a[2])?;
    let level = match level(p, a[1])? {
        Level::System(level) => level,
        Level::Otp => return Ok(otp_option::get(p, socket, number)?),
    };
    let s = socket.lock();
    let Some(fd) = s.open() else { return Ok(closed(&p.heap)) };
    let Some(kind) = option_table::find(socket.natives, level, number).and_then(|o| o.get) else {
        return Ok(invalid(&p.heap, atom("socket_option")));
    };
    let room = option_value::room(kind, s.settings.receive_control);
    let bytes = match kind {
        OptionValue::Structure(layout) => {
            layout.query(a.get(3).copied()).ok_or_else(|| p.badarg())?
        }
        _ => vec![0; room],
    };
    Ok(read(p, socket, fd, (level, number), kind, bytes))
}
fn read<'h>(
    p: &'h Proc,
    socket: &Socket,
    fd: RawFd,
    (level, number): (i32, i32),
    kind: OptionValue,
    bytes: Vec<u8>,
) -> Term<'h> {
    let local = socket.domain == libc::AF_UNIX;
    match sys::option_with(fd, level, number, bytes) {
        Ok(b) => ok(&p.heap, option_value::decode(&p.heap, kind, &b, local, socket.natives)),
        Err(e) => posix(&p.heap, e),
    }
}

/// The fourth argument tells whether the last is a native value's type; else it is for options that
/// need a value to be read.
pub fn get_5<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let native = is(a[3], "native");
    let a = [a[0], a[1], a[2], a[4]];
    if native {
        return settle(get_native(p, &a));
    }
    if is(a[1], "otp") {
        socket(p, a[0])?;
        return Err(p.badarg());
    }
    settle(get(p, &a))
}

pub fn get_native_4<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    settle(get_native(p, a))
}
/// The last argument is the value's type: a size, `integer`, `boolean`, or a binary that is passed
/// and filled.
fn get_native<'h>(p: &'h Proc, a: &[Term<'h>]) -> ArgResult<'h, Term<'h>> {
    let socket = socket(p, a[0])?;
    let number = int(p, a[2])?;
    let Level::System(level) = level(p, a[1])? else { return Err(p.badarg().into()) };
    let s = socket.lock();
    let Some(fd) = s.open() else { return Ok(closed(&p.heap)) };
    let h = &p.heap;
    let binary = |r: kvik_env::Result<Vec<u8>>| match r {
        Ok(b) => ok(h, h.binary(&b)),
        Err(e) => posix(h, e),
    };
    Ok(match (small_int(a[3]), a[3].as_atom(), bytes(a[3])) {
        (Some(0), ..) => done(h, raw::option_without_value(fd, level, number)),
        (Some(n), ..) if (1..=MAX_OPTION_BYTES).contains(&n) => {
            binary(sys::option(fd, level, number, n as usize))
        }
        (_, Some(am::integer), _) => {
            read(p, socket, fd, (level, number), OptionValue::Int, vec![0; 4])
        }
        (_, Some(am::boolean), _) => {
            read(p, socket, fd, (level, number), OptionValue::Bool, vec![0; 4])
        }
        (_, _, Some(b)) => binary(sys::option_with(fd, level, number, b.into_owned())),
        _ => invalid(h, atom("value")),
    })
}
