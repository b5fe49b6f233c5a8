//! What belongs to one scheduler thread.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::mem::ManuallyDrop;

use super::queues::Queues;
use crate::exit::Farewell;
use crate::process::{Priority, Ticket};
use crate::timer::{Due, Queue};

pub(super) struct Local {
    pub id: Cell<usize>,
    /// A process runs, and has woken one other at most: what it wakes may go to `next`.
    pub alone: Cell<bool>,
    /// Reductions that the turn under way began with.
    pub given: Cell<i64>,
    pub next: Cell<Option<Ticket>>,
    pub queues: RefCell<Queues>,
    pub timers: RefCell<Queue>,
    /// Ends of processes that have not been told to all.
    pub farewells: RefCell<VecDeque<Farewell>>,
}

impl Local {
    /// Lets a process that waits here have its next turn as one of that priority.
    pub fn raise(&self, pid: u32, to: Priority) {
        let mut q = self.queues.borrow_mut();
        match self.next.take() {
            Some(t) if t.task().pid == pid => q.push(t),
            other => self.next.set(other),
        }
        q.raise(pid, to);
    }
    /// Processes that wait for their turn.
    pub fn waiting(&self) -> usize {
        let next = self.next.take();
        let n = self.queues.borrow().len + next.is_some() as usize;
        self.next.set(next);
        n
    }
}

const NONE: usize = usize::MAX;

thread_local! {
    /// Never dropped, as a scheduler's thread ends with the program: what is dropped with its thread
    /// costs a look at each use whether that is over.
    pub(super) static LOCAL: ManuallyDrop<Local> = const { ManuallyDrop::new(Local {
        id: Cell::new(NONE),
        alone: Cell::new(false),
        given: Cell::new(0),
        next: Cell::new(None),
        queues: RefCell::new(Queues::new()),
        timers: RefCell::new(Queue::new()),
        farewells: RefCell::new(VecDeque::new()),
    }) };
}

/// Reductions used so far in the turn of the process that runs here.
pub fn used_in_turn(p: &crate::Proc) -> u64 {
    let left = p.heap.reductions_left();
    LOCAL.with(|l| l.given.get().saturating_sub(left)).max(0) as u64
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
/// Tells the rest between the turns of processes; at once where there are none.
pub(crate) fn say_later(mut f: Farewell) {
    LOCAL.with(|l| match l.id.get() {
        NONE => while !f.step() {},
        _ => l.farewells.borrow_mut().push_back(f),
    })
}
