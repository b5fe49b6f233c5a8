//! Closes sockets in two steps: `nif_close` aborts all waiting operations, `nif_finalize_close`
//! closes the descriptor. Also closes sockets whose owner ends.

use std::os::fd::{AsRawFd, OwnedFd};

use kvik_bifs::blocking_pool::hand_off;
use kvik_bifs::process::ends_turn;
use kvik_env::{fd, socket as sys};
use kvik_heap::{Heap, OwnedTerm};
use kvik_port::select::{self, EventMask};
use kvik_proc::{BifResult, Proc};
use kvik_term::{am, Term};

use crate::answer::{atom, closed, done, raise_invalid};
use crate::count;
use crate::monitors;
use crate::requests::{PendingRequest, ACCEPTORS, READERS, WRITERS};
use crate::socket::{socket, state, Closer, Socket, SocketState};

impl Socket {
    /// Aborts all waiting operations, with reason `closed`.
    fn stop(&self, s: &mut SocketState) {
        let cancelled = match s.fd() {
            Some(fd) if s.is_selected() => select::stop(fd),
            _ => EventMask::default(),
        };
        self.close_line(s, WRITERS, cancelled);
        if let Some(r) = s.connector.take() {
            if cancelled.write {
                self.abort(&r, am::closed.into());
            }
            r.release();
        }
        self.close_line(s, READERS, cancelled);
        self.close_line(s, ACCEPTORS, cancelled);
    }
    /// Marks the socket as closed. Returns its descriptor, which the caller closes.
    fn give_up(&self, s: &mut SocketState) -> Option<OwnedFd> {
        s.read_state |= state::CLOSED;
        s.write_state |= state::CLOSED;
        s.meta = OwnedTerm::immediate(am::undefined.into());
        s.file = None;
        count::closed(self.domain, self.kind, self.protocol);
        if s.settings.in_register {
            self.tell_register("del");
        }
        s.take_descriptor()
    }
    /// Closes a socket without a call of `nif_finalize_close`.
    pub fn close_for_good(&self, s: &mut SocketState) {
        if s.read_state & state::CLOSED == 0 {
            s.tell_unsent_file(self);
            drop(self.give_up(s));
        }
    }
    pub fn owner_ended(&self, s: &mut SocketState) {
        (s.owner, s.owner_monitor) = (None, None);
        if s.open().is_some() {
            self.stop(s);
            self.close_for_good(s);
            s.read_state |= state::CLOSING;
            s.write_state |= state::CLOSING;
        }
    }
}

impl SocketState {
    /// Makes the register process close the file that was being sent.
    fn tell_unsent_file(&self, socket: &Socket) {
        if self.file.is_some() {
            socket.tell_register("sendfile_deferred_close");
        }
    }
}

/// `ok`: the caller must call `nif_finalize_close`.
pub fn close_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let socket = socket(p, a[0])?;
    let mut s = socket.lock();
    if s.open().is_none() {
        return Ok(closed(&p.heap));
    }
    let pid = p.pid();
    let monitor = match s.owner {
        Some(owner) if owner == pid => None,
        _ => socket.shared().and_then(|me| monitors::watch(&me, pid)),
    };
    s.closer = Some(Closer { pid, monitor });
    s.read_state |= state::CLOSING;
    s.write_state |= state::CLOSING;
    socket.stop(&mut s);
    Ok(am::ok.into())
}

pub fn finalize_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    // In OTP this may block.
    ends_turn(p, || finalize(p, a))
}
fn finalize<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let socket = socket(p, a[0])?;
    let mut s = socket.lock();
    if s.read_state & state::CLOSED != 0 {
        return Ok(closed(&p.heap));
    }
    let closes = s.closer.as_ref().is_some_and(|c| c.pid == p.pid());
    if s.read_state & state::CLOSING == 0 || !closes {
        return Err(raise_invalid(p, atom("state")));
    }
    let closer = s.closer.take().and_then(|c| c.monitor);
    let owner = s.owner_monitor.take();
    closer.into_iter().chain(owner).for_each(monitors::unwatch);
    s.owner = None;
    let descriptor = socket.give_up(&mut s);
    drop(s);
    let Some(descriptor) = descriptor else { return Ok(am::ok.into()) };
    // With `linger` the close waits for unsent bytes, so a blocking-pool thread does it. It waits
    // whether or not the descriptor blocks, and that stays as it is: another socket may share it.
    if lingers(&descriptor) {
        fn answer(h: &Heap, r: kvik_env::Result<()>) -> Term<'_> {
            done(h, r)
        }
        return Err(hand_off(p, move || fd::close(descriptor), answer));
    }
    Ok(done(&p.heap, fd::close(descriptor)))
}
fn lingers(descriptor: &OwnedFd) -> bool {
    let size = size_of::<libc::linger>();
    let value = sys::option(descriptor.as_raw_fd(), libc::SOL_SOCKET, libc::SO_LINGER, size);
    value.is_ok_and(|v| v.iter().take(4).any(|b| *b != 0) && v.iter().skip(4).any(|b| *b != 0))
}

/// Drops the request of an operation that is cancelled.
pub fn release(r: Option<PendingRequest>) {
    r.into_iter().for_each(PendingRequest::release);
}
