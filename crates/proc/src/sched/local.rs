//! What belongs to one scheduler thread.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use crate::process::{Priority, Ticket};
use crate::timer::{Due, Queue};

/// Run queues by priority.
pub(super) struct Queues {
    pub by_priority: [VecDeque<Ticket>; 4],
    pub len: usize,
    /// Normal processes picked since a low one was.
    skipped: u32,
}
/// A low process goes before the normal ones every so often.
const LOW_TURN: u32 = 8;

pub(super) struct Local {
    pub id: Cell<usize>,
    /// A process runs, and has woken one other at most: what it wakes may go to `next`.
    pub alone: Cell<bool>,
    pub next: Cell<Option<Ticket>>,
    pub queues: RefCell<Queues>,
    pub timers: RefCell<Queue>,
}

const NONE: usize = usize::MAX;

thread_local! {
    pub(super) static LOCAL: Local = const { Local {
        id: Cell::new(NONE),
        alone: Cell::new(false),
        next: Cell::new(None),
        queues: RefCell::new(Queues {
            by_priority: [const { VecDeque::new() }; 4],
            len: 0,
            skipped: 0,
        }),
        timers: RefCell::new(Queue::new()),
    } };
}

impl Queues {
    pub fn push(&mut self, t: Ticket) {
        self.len += 1;
        self.by_priority[t.task().priority() as usize].push_back(t);
    }
    /// The best process there is.
    pub fn pop(&mut self) -> Option<Ticket> {
        if self.len == 0 {
            return None;
        }
        let [max, high, normal, low] = &mut self.by_priority;
        let t = max.pop_front().or_else(|| high.pop_front()).or_else(|| {
            if !low.is_empty() && (normal.is_empty() || self.skipped >= LOW_TURN) {
                self.skipped = 0;
                return low.pop_front();
            }
            self.skipped += 1;
            normal.pop_front()
        });
        self.len -= t.is_some() as usize;
        t
    }
    /// Is there something that goes before processes of normal priority?
    pub fn has_urgent(&self) -> bool {
        !self.by_priority[0].is_empty() || !self.by_priority[1].is_empty()
    }
    /// Half of what waits, the oldest first, but for those that have to stay.
    pub fn take_half(&mut self, stays: impl Fn(&Ticket) -> bool) -> Vec<Ticket> {
        let mut taken = Vec::new();
        for q in &mut self.by_priority {
            let (go, stay): (Vec<_>, Vec<_>) =
                q.drain(..q.len().div_ceil(2)).partition(|t| !stays(t));
            taken.extend(go);
            stay.into_iter().rev().for_each(|t| q.push_front(t));
        }
        self.len -= taken.len();
        taken
    }
}

/// The number of the scheduler this thread is, from 0.
pub fn current() -> Option<usize> {
    LOCAL.with(|l| Some(l.id.get()).filter(|i| *i != NONE))
}
pub fn is_scheduler() -> bool {
    current().is_some()
}
pub(super) fn enqueue(t: Ticket) -> Result<(), Ticket> {
    LOCAL.with(|l| {
        if l.id.get() == NONE {
            return Err(t);
        }
        l.queues.borrow_mut().push(t);
        Ok(())
    })
}
#[inline]
pub(super) fn wake(t: Ticket) -> Result<(), Ticket> {
    LOCAL.with(|l| {
        if l.id.get() == NONE {
            return Err(t);
        }
        if !l.alone.get() || t.task().priority() != Priority::Normal {
            l.queues.borrow_mut().push(t);
        } else if let Some(first) = l.next.replace(Some(t)) {
            // Many are woken: each in its turn, in the order they were woken.
            l.alone.set(false);
            let mut q = l.queues.borrow_mut();
            q.push(first);
            if let Some(t) = l.next.take() {
                q.push(t);
            }
        }
        Ok(())
    })
}
pub(super) fn add_timer(at: u64, due: Due) -> bool {
    LOCAL.with(|l| {
        let here = l.id.get() != NONE;
        if here {
            l.timers.borrow_mut().add(at, due);
        }
        here
    })
}
