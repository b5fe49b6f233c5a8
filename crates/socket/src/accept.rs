//! `nif_accept`.

use std::os::fd::OwnedFd;

use kvik_env::socket as sys;
use kvik_env::Errno;
use kvik_proc::{BifResult, Proc};
use kvik_release::SocketNatives;
use kvik_term::{am, Term};

use crate::answer::{atom, closed, error_invalid, ok, posix, raise_invalid};
use crate::requests::{PendingRequest, QueuePosition, ACCEPTORS};
use crate::send::cannot_select;
use crate::socket::{socket, state, Parts, Socket, SocketState};

pub fn accept_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let socket = socket(p, a[0])?;
    let mut s = socket.lock();
    let Some(fd) = s.open() else { return Ok(closed(&p.heap)) };
    if s.readers.current.is_some() {
        return Ok(error_invalid(&p.heap, "state"));
    }
    match s.acceptors.turn(p.pid()) {
        QueuePosition::Mine => {}
        QueuePosition::Waiting => return Err(raise_invalid(p, atom("state"))),
        QueuePosition::Others => {
            s.acceptors.push(PendingRequest::new(socket, p.pid(), a[1]));
            return Ok(am::select.into());
        }
    }
    s.counters.accept_tries += 1;
    match sys::accept(fd) {
        Ok(fd) => Ok(accepted(p, socket, &mut s, fd)),
        Err(Errno::AGAIN) => wait(p, socket, &mut s, a[1]),
        Err(e) => {
            s.counters.accept_fails += 1;
            let reason = atom(e.name());
            socket.fail_all(&mut s, ACCEPTORS, reason);
            Ok(posix(&p.heap, e))
        }
    }
}

fn accepted<'h>(p: &'h Proc, listener: &Socket, s: &mut SocketState, fd: OwnedFd) -> Term<'h> {
    s.counters.accept_success += 1;
    let Socket { domain, kind, protocol, .. } = *listener;
    let settings = s.settings.clone();
    let (original, borrowed) = (None, false);
    let parts = Parts { fd, domain, kind, protocol, original, borrowed, settings };
    let new = Socket::new(parts, p.pid());
    match listener.natives {
        // As in OTP, the listening socket gets this bit, not the connected one.
        SocketNatives::V1 => s.write_state |= state::CONNECTED,
        _ => new.lock().write_state |= state::CONNECTED,
    }
    if s.acceptors.current.is_some() && !listener.serve_next(s, ACCEPTORS) {
        s.read_state &= !state::ACCEPTING;
    }
    ok(&p.heap, new.term(&p.heap))
}

fn wait<'h>(
    p: &'h Proc,
    socket: &Socket,
    s: &mut SocketState,
    reference: Term<'h>,
) -> BifResult<'h> {
    if s.acceptors.current.is_some() {
        s.counters.accept_waits += 1;
        if socket.natives > SocketNatives::V1 {
            if !socket.unselect(s, ACCEPTORS.events) {
                return Ok(atom("select_sent"));
            }
            if let Some(earlier) = &s.acceptors.current {
                socket.abort(earlier, atom("cancelled"));
            }
        }
    }
    s.acceptors.serve(socket, p.pid(), reference);
    if !socket.select(s, ACCEPTORS.events, p.pid(), reference) {
        if !socket.serve_next(s, ACCEPTORS) {
            s.read_state &= !state::ACCEPTING;
        }
        return Err(cannot_select(p, "select_read"));
    }
    s.read_state |= state::ACCEPTING;
    Ok(am::select.into())
}
