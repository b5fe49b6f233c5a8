//! From a process that waits straight to the one it woke, without leaving native code.
//!
//! Partners that answer each other's messages switch at every message. Between two of their turns
//! there is mostly nothing to see to; where there is, the scheduler's loop does the same with care.

use std::ptr::NonNull;
use std::sync::atomic::Ordering::Relaxed;

use super::local::{local, Local, ALONE};
use super::meter;
use crate::process::{flag, Ticket};
use crate::{trace, Proc};

/// What is left of a turn that is not worth handing on to the next partner.
pub(super) const CRUMBS: i64 = 200;
/// What switching counts for when deciding how often to look at timers and events.
const SWITCH_COST: i64 = 40;
/// Something is to be seen to when the process waits, or before it runs.
const UNUSUAL: u32 = flag::EXITING
    | flag::SUSPENDED
    | flag::HIBERNATING
    | flag::BOUND
    | flag::ENDING
    | flag::PENDING
    | flag::CHORES
    | flag::LITERALS_LATER
    | flag::TASKS_LATER;

/// The process that runs here waits, and all it has is put aside. Where the one to run next is,
/// which runs from now on; `None`: the turn has to end first.
#[inline]
pub fn to_partner() -> Option<NonNull<Proc>> {
    let l = local()?;
    match l.me.meter.heard() {
        0 => l.to_partner(),
        heard => l.timed_to_partner(heard),
    }
}

impl Local {
    #[inline(always)]
    fn to_partner(&self) -> Option<NonNull<Proc>> {
        let next = self.next.take()?;
        if self.may_switch_to(&next) {
            if let Some(t) = self.stage.take() {
                if !t.private().flag(UNUSUAL) && self.has_turn_left(t.private()) {
                    return self.switch(t, next);
                }
                self.stage.put(t);
            }
        }
        self.next.set(Some(next));
        None
    }
    /// The same where somebody wants to hear of it.
    #[cold]
    #[inline(never)]
    fn timed_to_partner(&self, heard: u8) -> Option<NonNull<Proc>> {
        if heard & meter::ACCOUNT != 0 {
            return None;
        }
        let from = self.watch.borrow().now();
        let next = self.to_partner();
        if next.is_some() {
            self.watch.borrow_mut().switched(self, from);
        }
        next
    }
    #[inline(always)]
    fn may_switch_to(&self, next: &Ticket) -> bool {
        let n = next.private();
        !n.flag(UNUSUAL | flag::WAITING)
            && !n.has_signals()
            && !trace::on()
            && !self.queues.borrow().has_urgent()
            && self.farewells.borrow().is_empty()
    }
    #[inline(always)]
    fn has_turn_left(&self, p: &Proc) -> bool {
        let used = self.used(p);
        self.slice.get() - used > CRUMBS && self.until_check.get() > used + SWITCH_COST
    }
    #[inline(always)]
    fn switch(&self, t: Ticket, next: Ticket) -> Option<NonNull<Proc>> {
        self.account(t.private());
        if let Some(t) = t.park() {
            self.queues.borrow_mut().push(t);
        }
        next.task().set_home(self.id as u16);
        self.begin(next.private());
        self.alone.set(ALONE);
        self.stage.put(next);
        self.stage.address()
    }
    /// A process begins a turn with what is left of the slice.
    #[inline]
    pub(super) fn begin(&self, p: &Proc) {
        let slice = self.slice.get();
        p.heap.set_reductions(slice);
        self.given.set(slice);
    }
    /// Reductions of the turn under way so far.
    #[inline]
    pub(super) fn used(&self, p: &Proc) -> i64 {
        (self.given.get() - p.heap.reductions_left()).max(0)
    }
    /// A turn is over.
    #[inline]
    pub(super) fn account(&self, p: &Proc) {
        let used = self.used(p);
        p.reductions.set(p.reductions.get() + used as u64);
        self.spend(used);
        let c = &self.me.counters;
        c.turns.store(c.turns.load(Relaxed) + 1, Relaxed);
        c.reductions.store(c.reductions.load(Relaxed) + used as u64, Relaxed);
    }
    /// A turn took so many reductions.
    #[inline]
    pub(super) fn spend(&self, used: i64) {
        self.slice.set(self.slice.get() - used - 1);
        self.until_check.set(self.until_check.get() - used - SWITCH_COST);
    }
}
