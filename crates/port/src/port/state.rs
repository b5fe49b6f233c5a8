//! [`Core`]: a port's state without its driver, and the operations that drivers have on it.

use std::sync::Arc;

use kvik_heap::{Heap, OwnedTerm};
use kvik_sys::syscall_counters;
use kvik_term::{am, Atom, Term};

use crate::channel::Channel;
use crate::driver::{Exit, Flow};
use crate::host::host;
use crate::input::InputPiece;
use crate::options::BusyLimits;
use crate::trace;

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum State {
    Open,
    /// Closed, but output still waits to be written.
    Flushing,
    Closed,
}

/// A port's state, without its driver.
pub struct Core {
    pub id: u32,
    /// Its poll set.
    pub home: usize,
    pub(crate) state: State,
    /// Its driver's `stop` is running, and it was open just before.
    pub(crate) is_stopping: bool,
    /// Its owner asked for the end by message, and is told `closed` once the queue is written.
    pub(crate) tells_closed: bool,
    pub(crate) name: Vec<u8>,
    pub(crate) owner: u32,
    pub(crate) links: Vec<u32>,
    pub(crate) monitors: Vec<(u32, [u32; 3], Option<Atom>)>,
    pub(crate) data: OwnedTerm,
    /// The calling process.
    pub caller: u32,
    /// The scheduler in whose time slice output comes, so that it may be held until the slice ends.
    pub(crate) turn: Option<usize>,
    pub binary: bool,
    pub eof: bool,
    /// It was opened with `line`.
    pub line: bool,
    pub parallelism: bool,
    pub(crate) busy_limits: Option<BusyLimits>,
    pub(crate) busy: bool,
    /// Processes that are suspended until it is no longer busy.
    pub(crate) waiters: Vec<u32>,
    /// The driver wants the port to end, but its call could not return that.
    pub(crate) failed: Option<Exit>,
    pub(crate) channel: Option<Arc<dyn Channel>>,
    pub(crate) input: u64,
    pub(crate) output: u64,
}

impl Core {
    pub fn term(&self) -> Term<'static> {
        Term::local_port(self.id)
    }
    pub fn owner(&self) -> u32 {
        self.owner
    }
    pub fn is_open(&self) -> bool {
        self.state == State::Open
    }
    /// Whether its driver may send messages.
    pub fn may_send(&self) -> bool {
        self.is_open() || self.is_stopping
    }

    /// Unlinks the owner, so that it gets no exit signal.
    pub fn unlink_owner(&mut self) {
        let owner = self.owner;
        let linked = self.links.len();
        self.links.retain(|pid| *pid != owner);
        if let (Some(h), true) = (host(), self.links.len() < linked) {
            h.unlink(owner, self.term());
        }
    }

    /// Sends `{Port, Message}` to the owner.
    pub fn tell_owner(&self, words: usize, message: impl for<'h> FnOnce(&'h Heap) -> Term<'h>) {
        let Some(h) = host() else { return };
        let port = self.term();
        let m = OwnedTerm::build(words + 3, |heap| heap.tuple(&[port, message(heap)]));
        trace::sent(self.id, self.owner, &m);
        h.send(self.owner, port, m);
    }

    /// Sends any message to a process.
    pub fn send(&self, pid: u32, words: usize, m: impl for<'h> FnOnce(&'h Heap) -> Term<'h>) {
        if let Some(h) = host() {
            let m = OwnedTerm::build(words, m);
            trace::sent(self.id, pid, &m);
            h.send(pid, self.term(), m);
        }
    }

    /// Sends `{Port, {data, Data}}`. Lines are counted as input when they are read, with their
    /// ends.
    pub fn deliver(&mut self, piece: InputPiece<'_>) {
        let (InputPiece::Data(bytes) | InputPiece::Eol(bytes) | InputPiece::NoEol(bytes)) = piece;
        if let InputPiece::Data(bytes) = piece {
            self.count_input(bytes.len());
        }
        let binary = self.binary;
        let words = 8 + if binary { 2 + bytes.len().min(64) / 8 + 6 } else { 2 * bytes.len() };
        self.tell_owner(words, |h| {
            let data = if binary { h.binary(bytes) } else { h.byte_list(bytes) };
            let data = match piece {
                InputPiece::Data(_) => data,
                InputPiece::Eol(_) => h.tuple(&[am::eol.into(), data]),
                InputPiece::NoEol(_) => h.tuple(&[am::noeol.into(), data]),
            };
            h.tuple(&[am::data.into(), data])
        });
    }

    /// The input has ended: sends `{Port, eof}` if that was requested, else the port ends.
    pub fn end_of_input(&mut self) -> Flow {
        if !self.eof {
            return Err(Exit::Normal);
        }
        self.tell_owner(0, |_| am::eof.into());
        Ok(())
    }

    /// Output has been written: resumes waiting senders if the queue is short enough.
    pub fn drained(&mut self, queued: usize) {
        if self.busy && self.busy_limits.is_none_or(|l| queued < l.low.max(1)) {
            self.set_busy(false);
        }
    }
    /// Output was queued: the port becomes busy at the high watermark.
    pub fn queued(&mut self, queued: usize) {
        if self.busy_limits.is_some_and(|l| queued >= l.high) {
            self.busy = true;
        }
    }
    pub fn set_busy(&mut self, busy: bool) {
        self.busy = busy;
        if !busy {
            self.wake_waiters();
        }
    }
    pub(crate) fn wake_waiters(&mut self) {
        let Some(h) = host() else { return };
        self.waiters.drain(..).for_each(|pid| h.resume(pid));
    }
    /// Ends the port after a call whose result is something else.
    pub fn fail(&mut self, flow: Flow) {
        self.failed = flow.err().or(self.failed);
    }
    /// Counts bytes that go to a process in a message that the driver makes itself: as input of the
    /// VM, not of the port, as in OTP.
    pub fn came(&self, n: usize) {
        syscall_counters::add(syscall_counters::SyscallCounter::Input, n as u64);
    }
    pub fn count_input(&mut self, n: usize) {
        self.input += n as u64;
        self.came(n);
    }
    pub fn count_output(&mut self, n: usize) {
        self.output += n as u64;
        syscall_counters::add(syscall_counters::SyscallCounter::Output, n as u64);
    }
}
