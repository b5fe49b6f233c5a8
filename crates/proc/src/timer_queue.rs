//! Deadlines: when a timer fires, and a scheduler's timers in order. Setting, cancelling and firing
//! are in `timer.rs`.

use std::cell::Cell;
use std::collections::BTreeSet;

use crate::clock;
use crate::signal_types::RefId;

/// The action at a deadline.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Due {
    Process(u32),
    Ref(RefId),
    /// A function of [`crate::timer::call_at`].
    Call(RefId),
}

/// When a timer fires: the millisecond of `clock::now`, and in the low bits a sequence number, as
/// far as it fits, which orders the timers of one millisecond.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct At(u64);

const TICK_NS: u64 = 1_000_000;
const NUMBER_BITS: u32 = 20;

impl At {
    /// From a deadline in nanoseconds of `clock::now`.
    #[inline]
    pub fn deadline(ns: u64) -> At {
        thread_local! {
            static SET: Cell<u64> = const { Cell::new(0) };
        }
        let number = SET.get();
        SET.set(number.wrapping_add(1));
        At(ns.div_ceil(TICK_NS) << NUMBER_BITS | number & ((1 << NUMBER_BITS) - 1))
    }
    /// In nanoseconds of `clock::now`.
    pub fn ns(self) -> u64 {
        (self.0 >> NUMBER_BITS) * TICK_NS
    }
    /// Nanoseconds until then, in full milliseconds.
    pub(crate) fn left(self) -> u64 {
        (self.ns() / TICK_NS).saturating_sub(clock::now().div_ceil(TICK_NS)) * TICK_NS
    }
    /// As a word, which is not 0.
    pub(crate) fn word(self) -> u64 {
        self.0.max(1)
    }
    pub(crate) fn of_word(word: u64) -> At {
        At(word)
    }
}

/// Deadlines in order. A tree: each step is small even with a million timers.
#[derive(Default)]
pub struct TimerQueue(BTreeSet<(At, Due)>);

impl TimerQueue {
    pub const fn new() -> TimerQueue {
        TimerQueue(BTreeSet::new())
    }
    pub fn add(&mut self, at: At, due: Due) {
        self.0.insert((at, due));
    }
    pub fn remove(&mut self, at: At, due: Due) {
        self.0.remove(&(at, due));
    }
    /// When the next one fires, in nanoseconds of `clock::now`.
    pub fn next(&self) -> Option<u64> {
        self.0.first().map(|e| e.0.ns())
    }
    /// Takes one entry that is due.
    pub fn pop_due(&mut self, now: u64) -> Option<Due> {
        if self.next()? > now {
            return None;
        }
        self.0.pop_first().map(|e| e.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_due_in_order() {
        const MS: u64 = TICK_NS;
        let mut q = TimerQueue::new();
        let [last, ..] = [50, 10, 30].map(|ms| {
            let at = At::deadline(ms * MS);
            q.add(at, Due::Process(ms as u32));
            at
        });
        assert_eq!(q.next(), Some(10 * MS));
        assert_eq!(q.pop_due(40 * MS), Some(Due::Process(10)));
        assert_eq!(q.pop_due(40 * MS), Some(Due::Process(30)));
        assert_eq!(q.pop_due(40 * MS), None);
        q.remove(last, Due::Process(50));
        assert_eq!(q.next(), None);
    }

    #[test]
    fn timers_of_one_millisecond_fire_in_the_order_they_were_set() {
        let mut q = TimerQueue::new();
        for (ns, pid) in [(2_900_000, 7), (2_000_001, 3), (2_000_000, 9), (2_500_000, 1)] {
            q.add(At::deadline(ns), Due::Process(pid));
        }
        let due = std::iter::from_fn(|| q.pop_due(3 * TICK_NS)).collect::<Vec<_>>();
        assert_eq!(due, [9, 7, 3, 1].map(Due::Process));
    }
}
