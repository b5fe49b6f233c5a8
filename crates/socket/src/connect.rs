//! `nif_connect`: the first call has an address; a second one completes the connection when the
//! socket is writable.

use std::os::fd::RawFd;

use kvik_env::socket::{take_error, EINPROGRESS};
use kvik_env::{socket::raw as sys, Errno};
use kvik_heap::Heap;
use kvik_port::select::EventMask;
use kvik_proc::{BifResult, Proc};
use kvik_release::SocketNatives::{V1, V3};
use kvik_term::{am, Term};

use crate::address;
use crate::answer::{atom, closed, error, error_invalid, invalid, posix, raise_invalid};
use crate::close::release;
use crate::requests::PendingRequest;
use crate::sctp;
use crate::send::cannot_select;
use crate::socket::{socket, state, Socket, SocketState};

pub fn connect_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let socket = socket(p, a[0])?;
    if a[1].as_ref().is_none() {
        return Err(p.badarg());
    }
    if socket.natives >= V3 && (a[2].is_nil() || a[2].as_cons().is_some()) {
        return sctp::connect(p, socket, a);
    }
    let Some(to) = address::decode(a[2]) else {
        return Ok(invalid(&p.heap, atom("sockaddr")));
    };
    let other = |p: &'h Proc| Ok(error(&p.heap, atom("already")));
    begin(p, socket, a[1], |fd| sys::connect(fd, &to), |_, ()| am::ok.into(), other)
}

/// Begins to connect by a call. `done` is the answer if it is connected at once, `other` if another
/// process is connecting it.
pub fn begin<'h, T>(
    p: &'h Proc,
    socket: &Socket,
    reference: Term<'h>,
    call: impl FnOnce(RawFd) -> kvik_env::Result<T>,
    done: impl FnOnce(&'h Heap, T) -> Term<'h>,
    other: impl FnOnce(&'h Proc) -> BifResult<'h>,
) -> BifResult<'h> {
    let mut s = socket.lock();
    let Some(fd) = s.open() else { return Ok(closed(&p.heap)) };
    if s.writers.current.is_some() {
        return Ok(error_invalid(&p.heap, "state"));
    }
    match s.connector.as_ref().map(|c| c.pid) {
        Some(pid) if pid == p.pid() => return finish(p, &mut s, fd),
        Some(_) => return other(p),
        None => {}
    }
    match call(fd) {
        Ok(value) => {
            s.write_state |= state::CONNECTED;
            Ok(done(&p.heap, value))
        }
        Err(e) if e == EINPROGRESS || (e == Errno::AGAIN && socket.natives == V1) => {
            if !socket.select(&mut s, EventMask::WRITE, p.pid(), reference) {
                return Err(cannot_select(p, "select_write"));
            }
            s.connector = Some(PendingRequest::new(socket, p.pid(), reference));
            s.write_state |= state::CONNECTING;
            Ok(am::select.into())
        }
        Err(e) => Ok(posix(&p.heap, e)),
    }
}

pub fn finish_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let socket = socket(p, a[0])?;
    let mut s = socket.lock();
    let Some(fd) = s.open() else { return Ok(closed(&p.heap)) };
    if s.writers.current.is_some() {
        return Ok(error_invalid(&p.heap, "state"));
    }
    if s.connector.as_ref().is_none_or(|c| c.pid != p.pid()) {
        return Err(raise_invalid(p, atom("state")));
    }
    finish(p, &mut s, fd)
}
fn finish<'h>(p: &'h Proc, s: &mut SocketState, fd: RawFd) -> BifResult<'h> {
    release(s.connector.take());
    s.write_state &= !state::CONNECTING;
    match take_error(fd) {
        Ok(()) => {
            s.write_state |= state::CONNECTED;
            Ok(am::ok.into())
        }
        Err(e) => Ok(posix(&p.heap, e)),
    }
}
