//! The context switch from a process that waits straight to the next, without leaving native code.
//!
//! Mostly nothing has to be done between two time slices. If something has, the switch is left to
//! the scheduler's loop, which handles every case.

use std::ptr::NonNull;
use std::sync::atomic::Ordering::Relaxed;

use super::local::{local, Local, NEXT_CLOSED};
use super::microstate;
use super::run::turn;
use crate::process::{flag, RunToken};
use crate::Proc;

/// Reductions that a switch counts for in the interval between checks. A ping-pong, which uses ten for
/// each, looks at events every 7 µs so.
const SWITCH_COST: i64 = 3;
/// Flags that need the scheduler's loop, when the process waits or before it runs.
const SLOW_PATH_FLAGS: u32 = flag::EXITING
    | flag::SUSPENDED
    | flag::HIBERNATING
    | flag::BOUND
    | flag::ENDING
    | flag::PENDING
    | flag::DEFERS_MONITOR
    | flag::CHORES
    | flag::CHORES_LATER
    | flag::SPARE_MAILBOX;

/// Called when the running process waits and its registers are saved. Returns the next process,
/// which runs from now on; `None`: the scheduler's loop must take over.
#[inline]
pub fn to_next() -> Option<NonNull<Proc>> {
    let l = local()?;
    match l.me.meter.heard() {
        0 => l.to_next(),
        _ => l.timed_to_next(),
    }
}

impl Local {
    #[inline(always)]
    fn to_next(&self) -> Option<NonNull<Proc>> {
        if !self.exits.borrow().is_empty() {
            return None;
        }
        let t = self.current_task.take()?;
        match self.next_after(t.private()) {
            Some(next) => self.switch(t, next),
            None => {
                self.current_task.put(t);
                None
            }
        }
    }
    /// Like `to_next`, while microstate accounting or the latency sampler observes.
    #[cold]
    #[inline(never)]
    fn timed_to_next(&self) -> Option<NonNull<Proc>> {
        if self.me.meter.heard() & (microstate::ACCOUNT | microstate::TRACE) != 0 {
            return None;
        }
        if self.sampler.borrow().is_early() {
            let next = self.to_next()?;
            self.sampler.borrow_mut().passed(self.me);
            return Some(next);
        }
        let from = self.sampler.borrow().now();
        let next = self.to_next();
        if next.is_some() {
            self.sampler.borrow_mut().switched(self, from);
        } else {
            // If the time slice has ended nevertheless, its round continues in the loop.
            let picked = self.picked.take();
            if picked.is_some() {
                self.sampler.borrow_mut().ended(self.me, from);
            }
            self.picked.set(picked);
        }
        next
    }
    /// The process to run next, if it can be determined without the loop.
    #[inline(always)]
    fn next_after(&self, p: &Proc) -> Option<RunToken> {
        let used = self.used(p);
        if p.flag(SLOW_PATH_FLAGS) || self.until_check.get() <= used + SWITCH_COST {
            return None;
        }
        self.take_first()
    }
    /// Takes the first runnable process.
    #[inline(always)]
    pub(super) fn take_first(&self) -> Option<RunToken> {
        let mut q = self.queues.borrow_mut();
        if let Some(next) = self.next.take() {
            if q.len == 0 || !q.has_urgent() {
                return Some(next.take());
            }
            self.next.set(Some(next));
        }
        q.pop()
    }
    #[inline(always)]
    fn switch(&self, t: RunToken, next: RunToken) -> Option<NonNull<Proc>> {
        self.account(t.private());
        self.let_wait(t);
        self.next_mode.set(NEXT_CLOSED);
        let n = next.private();
        self.begin(n);
        if n.has_signals() && !n.flag(flag::ENDING) {
            n.handle_first_signals();
        }
        if n.flag(SLOW_PATH_FLAGS | flag::WAITING) {
            self.spend(self.used(n));
            self.picked.set(Some(next));
            return None;
        }
        next.task().set_home(self.id as u16);
        self.next_mode.set(self.usual_next_mode.get());
        self.current_task.put(next);
        self.current_task.address()
    }
    /// Begins a process's time slice.
    #[inline]
    pub(super) fn begin(&self, p: &Proc) {
        let turn = turn(p);
        p.heap.set_reductions(turn);
        self.given.set(turn);
    }
    /// Reductions used in the current time slice.
    #[inline]
    pub(super) fn used(&self, p: &Proc) -> i64 {
        (self.given.get() - p.heap.reductions_left()).max(0)
    }
    /// Accounts for a time slice that is over.
    #[inline]
    pub(super) fn account(&self, p: &Proc) {
        let used = self.used(p);
        // What a yield gave back beforehand may have made the count less than nothing.
        p.reductions.set(p.reductions.get().wrapping_add(used as u64));
        self.spend(used);
        let c = &self.me.counters;
        c.turns.store(c.turns.load(Relaxed) + 1, Relaxed);
        c.reductions.store(c.reductions.load(Relaxed) + used as u64, Relaxed);
    }
    /// Charges a time slice to the interval between checks.
    #[inline]
    pub(super) fn spend(&self, used: i64) {
        self.until_check.set(self.until_check.get() - used - SWITCH_COST);
    }
}
