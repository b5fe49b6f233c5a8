//! Streams: accepting, connecting, and handling their events.

use std::os::fd::OwnedFd;

use kvik_env::socket::{self, ECONNABORTED, ECONNRESET, ENOTCONN};
use kvik_env::Errno;
use kvik_term::{am, Atom, Term};

use super::{control, posix, Exit, Inet, State, What};
use crate::driver::{ControlReply, Flow};
use crate::options::PortOptions;
use crate::port::state::Core;
use crate::port::Port;

impl Inet {
    pub(super) fn accept(&mut self, core: &mut Core, data: &[u8]) -> ControlReply {
        let Ok(timeout) = <[u8; 4]>::try_from(data).map(i32::from_be_bytes) else {
            return control::error(Errno::INVAL);
        };
        if self.state != State::Listening {
            return control::error(Errno::INVAL);
        }
        if let Err(e) = self.watch(core) {
            return control::error(e);
        }
        let r = self.later(core, What::Accept, timeout);
        self.accept_ready(core);
        r
    }

    /// Accepts connections for the waiting acceptors.
    fn accept_ready(&mut self, core: &Core) {
        self.forget_dead_acceptors();
        while let (Some(p), Ok(l)) = (self.pending.front(), self.raw()) {
            let owner = p.caller;
            match socket::accept(l) {
                Ok(fd) => match self.accepted_port(owner, fd) {
                    Ok(port) => self.answer(core, 3, |h| h.tuple(&[am::ok.into(), port])),
                    Err(e) => self.answer_error(core, e),
                },
                Err(Errno::AGAIN) => return,
                Err(ECONNABORTED) => continue,
                Err(e) => return self.answer_error(core, posix(e)),
            }
        }
    }

    /// Drops accept requests of processes that have ended.
    pub(super) fn forget_dead_acceptors(&mut self) {
        let Some(h) = crate::host::host() else { return };
        self.pending.retain(|p| p.what != What::Accept || h.is_alive(p.caller));
    }

    fn accepted_port(&self, owner: u32, fd: OwnedFd) -> Result<Term<'static>, Atom> {
        let socket = Box::new(self.accepted(fd));
        let o = PortOptions { read: true, write: true, binary: true, ..PortOptions::default() };
        let link = |port, make| {
            if let (true, Some(h)) = (make, crate::host::host()) {
                h.link(owner, port);
            }
        };
        match Port::with_driver(owner, b"tcp_inet".to_vec(), &o, socket, link) {
            Ok(p) => Ok(Term::local_port(p.id)),
            Err(_) => Err(am::system_limit),
        }
    }

    pub(super) fn tcp_ready(&mut self, core: &mut Core, hangup: bool, buffer: &mut [u8]) -> Flow {
        match self.state {
            State::Listening => {
                self.accept_ready(core);
                Ok(())
            }
            State::Connecting => self.tcp_writable(core),
            State::Connected => self.receive_ready(core, hangup, buffer),
            _ => Ok(()),
        }
    }

    pub(super) fn tcp_writable(&mut self, core: &mut Core) -> Flow {
        match self.state {
            State::Connecting => {
                self.connect_ready(core);
                Ok(())
            }
            State::Connected if core.channel.is_some() => self.fetch(core),
            State::Connected => self.write_queue(core),
            _ => Ok(()),
        }
    }

    fn connect_ready(&mut self, core: &mut Core) {
        let r = self.raw().and_then(|fd| {
            socket::take_error(fd)?;
            // Readiness means nothing before the handshake is complete.
            socket::peer_addr(fd).map(drop)
        });
        match r {
            Ok(()) => {
                self.state = State::Connected;
                self.answer(core, 0, |_| am::ok.into());
                if self.is_active() {
                    self.read_again(core);
                }
            }
            Err(ENOTCONN) => {}
            Err(e) => {
                self.state = State::Open;
                self.answer_error(core, posix(e));
            }
        }
    }

    pub(super) fn tell_closed(&mut self, core: &Core) {
        if !std::mem::replace(&mut self.told_closed, true) {
            let port = core.term();
            core.send(core.owner(), 3, |h| h.tuple(&[am::tcp_closed.into(), port]));
        }
    }
    pub(super) fn tell_error(&self, core: &Core, e: Errno) {
        let port = core.term();
        core.send(core.owner(), 5, |h| h.tuple(&[am::tcp_error.into(), port, posix(e).into()]));
    }

    /// The socket was closed while it was passive, and becomes active now: the owner gets the
    /// messages that an active socket would have sent at the close.
    pub(super) fn activated_closed(&mut self, core: &mut Core) -> Flow {
        if std::mem::take(&mut self.delayed_reset) {
            self.tell_error(core, ECONNRESET);
        }
        self.tell_closed(core);
        match self.exit_on_close {
            true => self.exit(core, Exit::Normal),
            false => Ok(()),
        }
    }
}
