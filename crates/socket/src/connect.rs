//! `nif_connect`: the first call has an address; a second one completes the connection when the
//! socket is writable.

use kvik_env::socket::{take_error, EINPROGRESS};
use kvik_env::{socket::raw as sys, Errno};
use kvik_port::select::EventMask;
use kvik_proc::{BifResult, Proc};
use kvik_term::{am, Term};

use crate::address;
use crate::answer::{atom, closed, error, error_invalid, invalid, posix, raise_invalid};
use crate::close::release;
use crate::requests::PendingRequest;
use crate::send::cannot_select;
use crate::socket::{socket, state};

pub fn connect_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let socket = socket(p, a[0])?;
    if a[1].as_ref().is_none() {
        return Err(p.badarg());
    }
    let Some(to) = address::decode(a[2]) else {
        return Ok(invalid(&p.heap, atom("sockaddr")));
    };
    let mut s = socket.lock();
    let Some(fd) = s.open() else { return Ok(closed(&p.heap)) };
    if s.writers.current.is_some() {
        return Ok(error_invalid(&p.heap, "state"));
    }
    match s.connector.as_ref().map(|c| c.pid) {
        Some(pid) if pid == p.pid() => {
            drop(s);
            return finish_1(p, a);
        }
        Some(_) => return Ok(error(&p.heap, atom("already"))),
        None => {}
    }
    match sys::connect(fd, &to) {
        Ok(()) => {
            s.write_state |= state::CONNECTED;
            Ok(am::ok.into())
        }
        Err(e) if e == EINPROGRESS || e == Errno::AGAIN => {
            if !socket.select(&mut s, EventMask::WRITE, p.pid(), a[1]) {
                return Err(cannot_select(p, "select_write"));
            }
            s.connector = Some(PendingRequest::new(socket, p.pid(), a[1]));
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
