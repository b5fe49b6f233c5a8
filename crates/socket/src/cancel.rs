//! `nif_cancel`: cancels an operation that a process waits for.

use kvik_port::select::EventMask;
use kvik_proc::{BifResult, Proc};
use kvik_release::SocketNatives;
use kvik_term::cmp::eq_exact;
use kvik_term::{am, Term};

use crate::answer::{atom, closed, error};
use crate::close::release;
use crate::requests::{RequestDirection, ACCEPTORS, READERS, WRITERS};
use crate::socket::{socket, state, Socket, SocketState};

/// `ok`, `select_sent` if the message has been sent already, or `not_found`.
pub fn cancel_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let socket = socket(p, a[0])?;
    let (Some(op), Some(_)) = (a[1].as_atom(), a[2].as_ref()) else { return Err(p.badarg()) };
    let mut s = socket.lock();
    if s.open().is_none() {
        return Ok(closed(&p.heap));
    }
    let (pid, reference) = (p.pid(), a[2]);
    Ok(match op.name() {
        "connect" => match cancel_connect(socket, &mut s, pid, reference) {
            Some(told) => told,
            None if socket.natives == SocketNatives::V1 => not_found(),
            None => error(&p.heap, not_found()),
        },
        "accept" => cancel_in(socket, &mut s, ACCEPTORS, pid, reference),
        "recv" | "recvfrom" | "recvmsg" | "recvmmsg" => {
            cancel_in(socket, &mut s, READERS, pid, reference)
        }
        "send" | "sendto" | "sendmsg" | "sendmmsg" | "sendv" | "sendfile" => {
            cancel_in(socket, &mut s, WRITERS, pid, reference)
        }
        _ => return Err(p.badarg()),
    })
}

fn told(cancelled: bool) -> Term<'static> {
    match cancelled {
        true => am::ok.into(),
        false => atom("select_sent"),
    }
}
fn not_found() -> Term<'static> {
    atom("not_found")
}

/// `None`: the caller does not connect it.
fn cancel_connect(
    socket: &Socket,
    s: &mut SocketState,
    pid: u32,
    reference: Term<'_>,
) -> Option<Term<'static>> {
    let is_it = |r: &crate::requests::PendingRequest| {
        r.pid == pid && eq_exact(r.reference.term(), reference)
    };
    if !s.connector.as_ref().is_some_and(is_it) {
        return None;
    }
    let cancelled = socket.unselect(s, EventMask::WRITE);
    release(s.connector.take());
    s.write_state &= !state::CONNECTING;
    Some(told(cancelled))
}

fn cancel_in(
    socket: &Socket,
    s: &mut SocketState,
    line: RequestDirection,
    pid: u32,
    reference: Term<'_>,
) -> Term<'static> {
    let queue = (line.queue)(s);
    match &queue.current {
        None => not_found(),
        Some(r) if r.pid != pid => match queue.unqueue(pid, Some(reference)) {
            true => am::ok.into(),
            false => not_found(),
        },
        Some(r) if !eq_exact(r.reference.term(), reference) => not_found(),
        Some(_) => {
            let cancelled = socket.unselect(s, line.events);
            if !socket.serve_next(s, line) && std::ptr::fn_addr_eq(line.queue, ACCEPTORS.queue) {
                s.read_state &= !state::ACCEPTING;
            }
            told(cancelled)
        }
    }
}
