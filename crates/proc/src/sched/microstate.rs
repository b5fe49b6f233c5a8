//! Microstate accounting: what a thread spends its time on. Each thread writes its current state to
//! a word of its own; while accounting is on, it adds up the time between changes. Other threads
//! read both.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicU8, Ordering::Relaxed};

use kvik_sys::METERED;

use crate::clock;

/// A thread's state, in the order of [`Microstate::NAMES`].
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Microstate {
    /// Timers, freeing memory, notifying links and monitors of ended processes.
    Aux = 0,
    /// Polls for events without waiting.
    CheckIo = 1,
    /// Runs a process.
    Emulator = 2,
    Gc = 3,
    /// Selects what to do next.
    Other = 4,
    Port = 5,
    Sleep = 6,
}

impl Microstate {
    pub const ALL: [Microstate; 7] = [
        Microstate::Aux,
        Microstate::CheckIo,
        Microstate::Emulator,
        Microstate::Gc,
        Microstate::Other,
        Microstate::Port,
        Microstate::Sleep,
    ];
    pub const NAMES: [&str; 7] = ["aux", "check_io", "emulator", "gc", "other", "port", "sleep"];
    fn of(n: u8) -> Microstate {
        Microstate::ALL.get(n as usize).copied().unwrap_or(Microstate::Other)
    }
}

kvik_state::vm_state! {
    static ON: AtomicBool = AtomicBool::new(false);
}

#[inline]
pub fn on() -> bool {
    ON.load(Relaxed)
}

/// Observers of state changes, as bits: microstate accounting and the latency sampler; and of time
/// slices alone, tracing.
pub(super) const ACCOUNT: u8 = 1;
const SAMPLE: u8 = 2;
pub(super) const TRACE: u8 = 4;

/// One thread's state and times.
pub struct MicrostateClock {
    state: AtomicU8,
    heard: AtomicU8,
    /// When the time not yet added up began; 0 for nothing to add. The thread that swaps the value
    /// out adds it.
    since: AtomicU64,
    ns: [AtomicU64; 7],
}

impl Default for MicrostateClock {
    fn default() -> MicrostateClock {
        MicrostateClock::new()
    }
}

impl MicrostateClock {
    pub const fn new() -> MicrostateClock {
        MicrostateClock {
            state: AtomicU8::new(Microstate::Sleep as u8),
            heard: AtomicU8::new(0),
            since: AtomicU64::new(0),
            ns: [const { AtomicU64::new(0) }; 7],
        }
    }
    /// Sets the state and returns the old one. Only for the thread itself.
    #[inline(always)]
    pub fn enter(&self, s: Microstate) -> Microstate {
        if !METERED {
            return Microstate::Other;
        }
        let was = self.state.load(Relaxed);
        self.state.store(s as u8, Relaxed);
        if self.heard() != 0 {
            self.change(was);
        }
        Microstate::of(was)
    }
    /// The thread's current state.
    pub fn state(&self) -> Microstate {
        Microstate::of(self.state.load(Relaxed))
    }
    /// The observers, as bits.
    #[inline(always)]
    pub(super) fn heard(&self) -> u8 {
        self.heard.load(Relaxed)
    }
    /// A time slice begins or ends. True if the latency sampler is to be told.
    #[inline(always)]
    pub(super) fn turns(&self, s: Microstate) -> bool {
        if METERED && self.heard() != 0 {
            self.enter(s);
            return self.heard() & SAMPLE != 0;
        }
        if METERED {
            self.state.store(s as u8, Relaxed);
        }
        false
    }
    /// Switches the latency sampler's timing of time slices on or off.
    pub(super) fn watch(&self, on: bool) {
        self.hear(SAMPLE, on)
    }
    fn hear(&self, who: u8, on: bool) {
        match on {
            true => self.heard.fetch_or(who, Relaxed),
            false => self.heard.fetch_and(!who, Relaxed),
        };
    }
    #[cold]
    fn change(&self, was: u8) {
        if self.heard() & ACCOUNT != 0 {
            self.add(was, clock::now());
        }
    }
    fn add(&self, state: u8, now: u64) {
        let since = self.since.swap(now, Relaxed);
        self.note(state, since, now);
    }
    fn note(&self, state: u8, since: u64, now: u64) {
        if let Some(ns) = self.ns.get(state as usize).filter(|_| since != 0) {
            ns.fetch_add(now.saturating_sub(since), Relaxed);
        }
    }
    /// Nanoseconds in each state, up to now while accounting is on.
    pub fn read(&self) -> [u64; 7] {
        let mut all = [0; 7];
        for (n, ns) in all.iter_mut().zip(&self.ns) {
            *n = ns.load(Relaxed);
        }
        let since = self.since.load(Relaxed);
        if on() && since != 0 {
            if let Some(n) = all.get_mut(self.state.load(Relaxed) as usize) {
                *n += clock::now().saturating_sub(since);
            }
        }
        all
    }
    fn begin(&self, now: u64) {
        self.since.store(now, Relaxed);
        self.heard.fetch_or(ACCOUNT, Relaxed);
    }
    fn stop(&self, now: u64) {
        self.heard.fetch_and(!ACCOUNT, Relaxed);
        let since = self.since.swap(0, Relaxed);
        self.note(self.state.load(Relaxed), since, now);
    }
    fn reset(&self, now: u64) {
        if on() {
            self.begin(now);
        }
        self.ns.iter().for_each(|n| n.store(0, Relaxed));
    }
}

/// Applies `f` to the schedulers' clocks, and to others.
fn each(others: &[&MicrostateClock], f: impl Fn(&MicrostateClock)) {
    super::all().iter().for_each(|s| f(&s.meter));
    others.iter().for_each(|m| f(m));
}
/// Switches tracing's bit on or off: with it, schedulers switch processes in the loop, not
/// directly.
pub(crate) fn trace(on: bool) {
    each(&[], |m| m.hear(TRACE, on));
}
/// Switches accounting on or off for schedulers and for threads with these clocks; returns the old
/// setting.
pub fn switch(to: bool, others: &[&MicrostateClock]) -> bool {
    let now = clock::now();
    let was = ON.swap(to, Relaxed);
    if was != to {
        each(others, |m| if to { m.begin(now) } else { m.stop(now) });
    }
    was
}
/// Sets all counters to 0.
pub fn reset(others: &[&MicrostateClock]) {
    let now = clock::now();
    each(others, |m| m.reset(now));
}

/// Selects which collections of small heaps to time: one takes hardly longer than timing it does.
/// One in [`SmallCollections::SAMPLE_INTERVAL`] is timed and stands for all since the last one.
/// After a sleep the first is timed, then ever fewer.
#[derive(Default)]
pub(super) struct SmallCollections {
    /// Collections since the last one timed, and the count at which the next is.
    since: Cell<u32>,
    apart: Cell<u32>,
}

impl SmallCollections {
    /// Odd, so that with two processes that collect in turn, both are sampled.
    const SAMPLE_INTERVAL: u32 = 31;
    /// Counts a collection. Returns its weight; 0 if it is not timed.
    #[inline]
    pub(super) fn one(&self) -> u32 {
        let n = self.since.get() + 1;
        if n < self.apart.get() {
            self.since.set(n);
            return 0;
        }
        self.since.set(0);
        self.apart.set((2 * self.apart.get() + 1).min(Self::SAMPLE_INTERVAL));
        n
    }
    pub fn sleeps(&self) {
        self.apart.set(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_small_collection_counts_once() {
        let c = SmallCollections::default();
        let stands_for = |n: u32| (0..n).map(|_| c.one()).filter(|n| *n > 0).collect::<Vec<_>>();
        assert_eq!(stands_for(1 + 1 + 3 + 7 + 15 + 2 * 31 + 5), [1, 1, 3, 7, 15, 31, 31]);
        c.sleeps();
        assert_eq!(stands_for(1 + 1 + 3), [6, 1, 3]);
    }
    #[test]
    fn time_counts_for_one_state_and_only_while_on() {
        let m = MicrostateClock::new();
        assert_eq!(m.enter(Microstate::Other), Microstate::Sleep);
        assert_eq!(m.read(), [0; 7]);
        assert!(!switch(true, &[&m]));
        std::thread::sleep(std::time::Duration::from_millis(2));
        assert_eq!(m.enter(Microstate::Gc), Microstate::Other);
        assert!(m.read()[Microstate::Other as usize] >= 2_000_000);
        assert!(switch(false, &[&m]));
        let after = m.read();
        m.enter(Microstate::Port);
        std::thread::sleep(std::time::Duration::from_millis(1));
        assert_eq!((m.read(), after[Microstate::Port as usize]), (after, 0));
        reset(&[&m]);
        assert_eq!(m.read(), [0; 7]);
    }
}
