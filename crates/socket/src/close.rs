//! Closing, in two steps: `nif_close` tells all who wait, `nif_finalize_close` gives the descriptor
//! up. And closing when the owner ends.

use std::os::fd::{AsRawFd, OwnedFd};

use kvik_bifs::blocking::hand_off;
use kvik_env::{fd, socket as sys};
use kvik_heap::{Heap, OwnedTerm};
use kvik_port::select::{self, Events};
use kvik_proc::{BifResult, Proc};
use kvik_term::{am, Term};

use crate::answer::{atom, closed, done, raise_invalid};
use crate::count;
use crate::monitors;
use crate::requests::{Request, ACCEPTORS, READERS, WRITERS};
use crate::socket::{socket, state, Closer, Socket, State};

impl Socket {
    /// Nothing is waited for any more: who waits hears that the socket is closed.
    fn stop(&self, s: &mut State) {
        let cancelled = match s.fd() {
            Some(fd) if s.is_selected() => select::stop(fd),
            _ => Events::default(),
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
    /// The socket is closed from now on. Its descriptor, which is still to be closed.
    fn give_up(&self, s: &mut State) -> Option<OwnedFd> {
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
    /// Closes a socket for which nobody calls `nif_finalize_close`.
    pub fn close_for_good(&self, s: &mut State) {
        if s.read_state & state::CLOSED == 0 {
            s.tell_unsent_file(self);
            drop(self.give_up(s));
        }
    }
    pub fn owner_ended(&self, s: &mut State) {
        (s.owner, s.owner_monitor) = (None, None);
        if s.open().is_some() {
            self.stop(s);
            self.close_for_good(s);
            s.read_state |= state::CLOSING;
            s.write_state |= state::CLOSING;
        }
    }
}

impl State {
    /// Who closes descriptors for others closes that of a file that was being sent.
    fn tell_unsent_file(&self, socket: &Socket) {
        if self.file.is_some() {
            socket.tell_register("sendfile_deferred_close");
        }
    }
}

/// `ok`: the caller is to call `nif_finalize_close`.
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
    // Unsent bytes are waited for, as `linger` says: that is a matter for a thread that may wait.
    let _ = fd::set_nonblocking(descriptor.as_raw_fd(), false);
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

/// What a process waits for when its operation is taken back.
pub fn release(r: Option<Request>) {
    r.into_iter().for_each(Request::release);
}
