//! Queues of processes that wait to read, to write or to accept: the current one has selected the
//! descriptor; the others wait behind it.

use std::collections::VecDeque;

use kvik_heap::OwnedTerm;
use kvik_port::select::EventMask;
use kvik_term::cmp::eq_exact;
use kvik_term::{am, Term};

use crate::monitors::{self, SocketMonitor};
use crate::socket::{Socket, SocketState};

/// An operation for which a process waits.
pub struct PendingRequest {
    pub pid: u32,
    pub monitor: Option<SocketMonitor>,
    /// The reference in its messages.
    pub reference: OwnedTerm,
}

impl PendingRequest {
    pub fn new(socket: &Socket, pid: u32, reference: Term<'_>) -> PendingRequest {
        let monitor = socket.shared().and_then(|me| monitors::watch(&me, pid));
        PendingRequest { pid, monitor, reference: OwnedTerm::new(reference) }
    }
    /// Drops the request, with its monitor on the process.
    pub fn release(self) {
        if let Some(m) = self.monitor {
            monitors::unwatch(m);
        }
    }
}

#[derive(Default)]
pub struct RequestQueue {
    pub current: Option<PendingRequest>,
    waiting: VecDeque<PendingRequest>,
}

/// A caller's position in a queue.
pub enum QueuePosition {
    /// No other process is current.
    Mine,
    /// Another process is current, and the caller does not wait yet.
    Others,
    /// The caller waits already.
    Waiting,
}

impl RequestQueue {
    pub fn turn(&self, pid: u32) -> QueuePosition {
        match &self.current {
            Some(r) if r.pid != pid => match self.waiting.iter().any(|r| r.pid == pid) {
                true => QueuePosition::Waiting,
                false => QueuePosition::Others,
            },
            _ => QueuePosition::Mine,
        }
    }
    pub fn push(&mut self, r: PendingRequest) {
        self.waiting.push_back(r);
    }
    /// Number of requests, including the current one.
    pub fn len(&self) -> usize {
        match self.current {
            Some(_) => 1 + self.waiting.len(),
            None => 0,
        }
    }
    /// Removes the waiting request of a process, only if it has this reference where one is given.
    pub fn unqueue(&mut self, pid: u32, reference: Option<Term<'_>>) -> bool {
        let Some(at) = self.waiting.iter().position(|r| r.pid == pid) else { return false };
        let is_it = |r: &PendingRequest| reference.is_none_or(|t| eq_exact(r.reference.term(), t));
        if !self.waiting.get(at).is_some_and(is_it) {
            return false;
        }
        self.waiting.remove(at).into_iter().for_each(PendingRequest::release);
        true
    }
    /// Makes the caller current, with this reference.
    pub fn serve(&mut self, socket: &Socket, pid: u32, reference: Term<'_>) {
        match &mut self.current {
            Some(r) => r.reference = OwnedTerm::new(reference),
            None => self.current = Some(PendingRequest::new(socket, pid, reference)),
        }
    }
    /// Takes all waiting requests, without the current one.
    pub fn take_waiting(&mut self) -> VecDeque<PendingRequest> {
        std::mem::take(&mut self.waiting)
    }
    fn next(&mut self) -> Option<PendingRequest> {
        self.waiting.pop_front()
    }
}

/// One of a socket's queues, and the events it waits for.
#[derive(Copy, Clone)]
pub struct RequestDirection {
    pub queue: fn(&mut SocketState) -> &mut RequestQueue,
    pub events: EventMask,
}
pub const READERS: RequestDirection =
    RequestDirection { queue: |s| &mut s.readers, events: EventMask::READ };
pub const WRITERS: RequestDirection =
    RequestDirection { queue: |s| &mut s.writers, events: EventMask::WRITE };
pub const ACCEPTORS: RequestDirection =
    RequestDirection { queue: |s| &mut s.acceptors, events: EventMask::READ };

impl Socket {
    /// The current request is done: makes the next waiting one current, and selects the descriptor
    /// for it. False if there is none.
    pub fn serve_next(&self, s: &mut SocketState, line: RequestDirection) -> bool {
        let queue = line.queue;
        queue(s).current.take().into_iter().for_each(PendingRequest::release);
        while let Some(r) = queue(s).next() {
            if self.select(s, line.events, r.pid, r.reference.term()) {
                queue(s).current = Some(r);
                return true;
            }
            let reason = kvik_proc::signal::message(|h| {
                h.tuple(&[crate::answer::atom("select_failed"), h.integer(-1)])
            });
            self.abort(&r, reason.term());
            r.release();
        }
        false
    }
    /// An operation has failed for a reason that concerns all waiting processes: aborts their
    /// requests.
    pub fn fail_all(&self, s: &mut SocketState, line: RequestDirection, reason: Term<'_>) {
        let q = (line.queue)(s);
        let Some(current) = q.current.take() else { return };
        current.release();
        for r in q.take_waiting() {
            self.abort(&r, reason);
            r.release();
        }
    }
    /// The socket closes: aborts all requests. The current one is not told if `select` has already
    /// sent its message (`cancelled` lacks its event).
    pub fn close_line(&self, s: &mut SocketState, line: RequestDirection, cancelled: EventMask) {
        let q = (line.queue)(s);
        let Some(current) = q.current.take() else { return };
        let waiting = q.take_waiting();
        let untold = (line.events.read && cancelled.read) || (line.events.write && cancelled.write);
        if untold {
            self.abort(&current, am::closed.into());
        }
        current.release();
        for r in waiting {
            self.abort(&r, am::closed.into());
            r.release();
        }
    }
    /// A waiting process has ended.
    pub fn requester_ended(
        &self,
        s: &mut SocketState,
        line: RequestDirection,
        pid: u32,
        m: SocketMonitor,
    ) {
        let q = (line.queue)(s);
        match q.current.as_mut() {
            None => {}
            Some(r) if r.monitor == Some(m) => {
                r.monitor = None;
                self.serve_next(s, line);
            }
            Some(_) => {
                q.unqueue(pid, None);
            }
        }
    }
}
