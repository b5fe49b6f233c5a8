//! `nif_send`, `nif_sendto`, `nif_sendmsg`.

use std::io::IoSlice;

use kvik_env::socket::raw as sys;
use kvik_env::Errno;
use kvik_proc::{BifResult, Proc, Raised};
use kvik_term::{am, Term};

use crate::address;
use crate::answer::{
    atom, bytes, closed, error, error_invalid, field, int, invalid, ok, raise_invalid, settle,
    ArgResult, Rejection,
};
use crate::control;
use crate::requests::{PendingRequest, QueuePosition, WRITERS};
use crate::socket::{socket, Socket, SocketState};

/// The most pieces of one system call: `IOV_MAX`.
pub const PIECES: usize = 1024;

/// The system cannot poll the descriptor. The number is the result that `enif_select` would have.
pub fn cannot_select(p: &Proc, what: &str) -> Raised {
    p.error(p.heap.tuple(&[atom(what), p.heap.integer(-1)]))
}

/// The descriptor, if the socket is open and free for the caller; else the call's result.
pub fn may_write<'h>(
    p: &'h Proc,
    socket: &Socket,
    s: &mut SocketState,
    reference: Term<'h>,
) -> ArgResult<'h, std::os::fd::RawFd> {
    let Some(fd) = s.open() else { return Err(Rejection::Answer(closed(&p.heap))) };
    if s.connector.is_some() {
        return Err(Rejection::Answer(error_invalid(&p.heap, "state")));
    }
    match s.writers.turn(p.pid()) {
        QueuePosition::Mine => Ok(fd),
        QueuePosition::Waiting => Err(raise_invalid(p, atom("state")).into()),
        QueuePosition::Others => {
            s.writers.push(PendingRequest::new(socket, p.pid(), reference));
            Err(Rejection::Answer(am::select.into()))
        }
    }
}

pub fn send_4<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    settle(send(p, a[0], a[1], None, a[2], a[3]))
}
pub fn send_to_5<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    settle(send(p, a[0], a[1], Some(a[2]), a[3], a[4]))
}
fn send<'h>(
    p: &'h Proc,
    socket_term: Term<'h>,
    data: Term<'h>,
    to: Option<Term<'h>>,
    flags: Term<'h>,
    reference: Term<'h>,
) -> ArgResult<'h, Term<'h>> {
    let socket = socket(p, socket_term)?;
    let data = bytes(data).filter(|_| reference.as_ref().is_some()).ok_or_else(|| p.badarg())?;
    let flags = int(p, flags)?;
    let to = match to.map(address::decode) {
        Some(None) => return Ok(invalid(&p.heap, atom("sockaddr"))),
        Some(to) => to,
        None => None,
    };
    let mut s = socket.lock();
    let fd = may_write(p, socket, &mut s, reference)?;
    s.counters.write_tries += 1;
    let sent = sys::send(fd, &data, flags, to.as_ref());
    sent_so_far(p, socket, &mut s, sent, data.len(), false, reference)
}

/// A message's pieces.
struct Pieces<'h> {
    all: Vec<std::borrow::Cow<'h, [u8]>>,
    /// Bytes of all.
    size: usize,
    /// There are more than one call takes, not counting empty ones behind them.
    more: bool,
    /// There are more than one call takes.
    cut: bool,
}
/// `None`: no list of binaries, or too long for a socket that preserves message boundaries.
/// Empty binaries behind the most pieces do not count.
fn pieces<'h>(socket: &Socket, mut list: Term<'h>) -> Option<Pieces<'h>> {
    let (mut all, mut size) = (Vec::new(), 0usize);
    while let Some(cell) = list.as_cons().filter(|_| all.len() < PIECES) {
        let b = bytes(cell.head())?;
        size = size.checked_add(b.len())?;
        all.push(b);
        list = cell.tail();
    }
    let cut = !list.is_nil();
    while let Some(cell) = list.as_cons().filter(|c| bytes(c.head()).is_some_and(|b| b.is_empty()))
    {
        list = cell.tail();
    }
    let more = !list.is_nil();
    (!more || (list.as_cons().is_some() && socket.is_stream())).then_some(Pieces {
        all,
        size,
        more,
        cut,
    })
}

pub fn send_message_5<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    settle(send_message(p, a))
}
fn send_message<'h>(p: &'h Proc, a: &[Term<'h>]) -> ArgResult<'h, Term<'h>> {
    let socket = socket(p, a[0])?;
    if a[1].as_map().is_none() || a[3].as_ref().is_none() {
        return Err(p.badarg().into());
    }
    let flags = int(p, a[2])?;
    let mut s = socket.lock();
    let fd = may_write(p, socket, &mut s, a[3])?;
    let wrong = |what| Rejection::Answer(invalid(&p.heap, atom(what)));
    let to = field(a[1], "addr").map(|t| address::decode(t).ok_or_else(|| wrong("addr")));
    let to = to.transpose()?;
    let Pieces { all, size, more, .. } = pieces(socket, a[4]).ok_or_else(|| wrong("iov"))?;
    let control = field(a[1], "ctrl").map(|t| {
        control::encode(t, s.settings.send_control, socket.natives).ok_or_else(|| wrong("ctrl"))
    });
    let control = control.transpose()?.unwrap_or_default();
    let slices: Vec<IoSlice> = all.iter().map(|b| IoSlice::new(b)).collect();
    s.counters.write_tries += 1;
    let sent = sys::send_message(fd, &slices, to.as_ref(), &control, flags);
    sent_so_far(p, socket, &mut s, sent, size, more, a[3])
}

pub fn send_vector_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    settle(send_vector(p, a))
}
fn send_vector<'h>(p: &'h Proc, a: &[Term<'h>]) -> ArgResult<'h, Term<'h>> {
    let socket = socket(p, a[0])?;
    if a[2].as_ref().is_none() {
        return Err(p.badarg().into());
    }
    let mut s = socket.lock();
    let fd = may_write(p, socket, &mut s, a[2])?;
    let wrong = || Rejection::Answer(invalid(&p.heap, atom("iov")));
    let Pieces { all, size, more, cut } = pieces(socket, a[1]).ok_or_else(wrong)?;
    // Unlike in a message, empty binaries behind the most pieces count.
    if cut && !socket.is_stream() {
        return Err(wrong());
    }
    let slices: Vec<IoSlice> = all.iter().map(|b| IoSlice::new(b)).collect();
    s.counters.write_tries += 1;
    // OTP writes a vector, and a vector without a byte does not reach the socket: on one that is
    // not connected no error comes back, and no empty datagram is sent.
    let sent = match size {
        0 => Ok(0),
        _ => sys::send_message(fd, &slices, None, &[], 0),
    };
    sent_so_far(p, socket, &mut s, sent, size, more || cut, a[2])
}

/// The result of a call: `ok`, `{ok, Sent}` for a truncated message, `select` or `{select, Sent}`
/// if the rest must wait, `{iov, Sent}` if more pieces are to be passed.
pub fn sent_so_far<'h>(
    p: &'h Proc,
    socket: &Socket,
    s: &mut SocketState,
    sent: kvik_env::Result<usize>,
    size: usize,
    more: bool,
    reference: Term<'h>,
) -> ArgResult<'h, Term<'h>> {
    match sent {
        Ok(n) if n >= size && !more => {
            s.counters.wrote_all(n);
            if s.writers.current.is_some() {
                socket.serve_next(s, WRITERS);
            }
            Ok(am::ok.into())
        }
        Ok(n) if !socket.is_stream() => {
            s.counters.wrote_all(n);
            if s.writers.current.is_some() {
                socket.serve_next(s, WRITERS);
            }
            Ok(ok(&p.heap, p.heap.unsigned(n as u64)))
        }
        Ok(n) if n >= size => {
            s.counters.wrote_part(n);
            s.writers.serve(socket, p.pid(), reference);
            Ok(p.heap.tuple(&[atom("iov"), p.heap.unsigned(n as u64)]))
        }
        Ok(n) => {
            s.counters.wrote_part(n);
            wait(p, socket, s, reference)?;
            Ok(p.heap.tuple(&[am::select.into(), p.heap.unsigned(n as u64)]))
        }
        Err(Errno::AGAIN) => {
            wait(p, socket, s, reference)?;
            Ok(am::select.into())
        }
        Err(e) => {
            s.counters.write_fails += 1;
            let reason = atom(e.name());
            // An invalid argument concerns this call only.
            if e != Errno::INVAL {
                socket.fail_all(s, WRITERS, reason);
            }
            Ok(error(&p.heap, reason))
        }
    }
}

/// Makes the caller wait until the socket is writable.
pub fn wait<'h>(
    p: &'h Proc,
    socket: &Socket,
    s: &mut SocketState,
    reference: Term<'h>,
) -> ArgResult<'h, ()> {
    s.writers.serve(socket, p.pid(), reference);
    if socket.select(s, WRITERS.events, p.pid(), reference) {
        s.counters.write_waits += 1;
        return Ok(());
    }
    let reason = p.heap.tuple(&[atom("select_write"), p.heap.integer(-1)]);
    socket.fail_all(s, WRITERS, reason);
    Err(p.error(reason).into())
}
