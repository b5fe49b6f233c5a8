//! Microstate accounting: what a thread spends its time on. Each thread says what it is at, in a
//! word of its own; while accounting is on, it adds up the time between such changes. Others read.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicU8, Ordering::Relaxed};

use kvik_sys::METERED;

use crate::clock;

/// What a thread is at. The order is that of [`State::NAMES`].
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum State {
    /// Timers, memory to be given back, ends of processes.
    Aux = 0,
    /// Asks the system for events, without waiting.
    CheckIo = 1,
    /// Runs a process.
    Emulator = 2,
    Gc = 3,
    /// Looks for what to do next.
    Other = 4,
    Port = 5,
    Sleep = 6,
}

impl State {
    pub const ALL: [State; 7] = [
        State::Aux,
        State::CheckIo,
        State::Emulator,
        State::Gc,
        State::Other,
        State::Port,
        State::Sleep,
    ];
    pub const NAMES: [&str; 7] = ["aux", "check_io", "emulator", "gc", "other", "port", "sleep"];
    fn of(n: u8) -> State {
        State::ALL.get(n as usize).copied().unwrap_or(State::Other)
    }
}

kvik_state::vm_state! {
    static ON: AtomicBool = AtomicBool::new(false);
}

#[inline]
pub fn on() -> bool {
    ON.load(Relaxed)
}

/// Who wants to hear of changes: microstate accounting, the scheduler's stopwatch; and of turns alone,
/// tracing.
pub(super) const ACCOUNT: u8 = 1;
const WATCH: u8 = 2;
pub(super) const TRACE: u8 = 4;

/// One thread's time.
pub struct Meter {
    state: AtomicU8,
    heard: AtomicU8,
    /// Since when it is at that, as far as that is not added up; 0 for nothing to add. Who takes it
    /// out adds it.
    since: AtomicU64,
    ns: [AtomicU64; 7],
}

impl Default for Meter {
    fn default() -> Meter {
        Meter::new()
    }
}

impl Meter {
    pub const fn new() -> Meter {
        Meter {
            state: AtomicU8::new(State::Sleep as u8),
            heard: AtomicU8::new(0),
            since: AtomicU64::new(0),
            ns: [const { AtomicU64::new(0) }; 7],
        }
    }
    /// The thread begins something else; what it was at before. Only for the thread itself.
    #[inline(always)]
    pub fn enter(&self, s: State) -> State {
        if !METERED {
            return State::Other;
        }
        let was = self.state.load(Relaxed);
        self.state.store(s as u8, Relaxed);
        if self.heard() != 0 {
            self.change(was);
        }
        State::of(was)
    }
    /// What the thread is at now.
    pub fn state(&self) -> State {
        State::of(self.state.load(Relaxed))
    }
    /// Who wants to hear of changes.
    #[inline(always)]
    pub(super) fn heard(&self) -> u8 {
        self.heard.load(Relaxed)
    }
    /// A turn begins or ends. True where the stopwatch is to hear of it.
    #[inline(always)]
    pub(super) fn turns(&self, s: State) -> bool {
        if METERED && self.heard() != 0 {
            self.enter(s);
            return self.heard() & WATCH != 0;
        }
        if METERED {
            self.state.store(s as u8, Relaxed);
        }
        false
    }
    /// Has the stopwatch hear of turns, or no more.
    pub(super) fn watch(&self, on: bool) {
        self.hear(WATCH, on)
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

/// Meters of schedulers, and others.
fn each(others: &[&Meter], f: impl Fn(&Meter)) {
    super::all().iter().for_each(|s| f(&s.meter));
    others.iter().for_each(|m| f(m));
}
/// Something is traced, or nothing any more: schedulers go from turn to turn in the loop, or straight.
pub(crate) fn trace(on: bool) {
    each(&[], |m| m.hear(TRACE, on));
}
/// Switches accounting on or off for schedulers and for threads with these meters; what it was.
pub fn switch(to: bool, others: &[&Meter]) -> bool {
    let now = clock::now();
    let was = ON.swap(to, Relaxed);
    if was != to {
        each(others, |m| if to { m.begin(now) } else { m.stop(now) });
    }
    was
}
/// All counters go back to 0.
pub fn reset(others: &[&Meter]) {
    let now = clock::now();
    each(others, |m| m.reset(now));
}

/// Collections of small heaps take little more than to time them does. So where there are many, one in
/// [`SmallCollections::APART`] is timed, and stands for all since the last one; behind a sleep the first
/// is, and then ever fewer.
#[derive(Default)]
pub(super) struct SmallCollections {
    /// Those since the last that was timed, and how many have to be until the next is.
    since: Cell<u32>,
    apart: Cell<u32>,
}

impl SmallCollections {
    /// An odd number: of two processes that collect in turn, both are seen.
    const APART: u32 = 31;
    /// One more. How many it stands for; 0 where it is not timed.
    #[inline]
    pub(super) fn one(&self) -> u32 {
        let n = self.since.get() + 1;
        if n < self.apart.get() {
            self.since.set(n);
            return 0;
        }
        self.since.set(0);
        self.apart.set((2 * self.apart.get() + 1).min(Self::APART));
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
        let m = Meter::new();
        assert_eq!(m.enter(State::Other), State::Sleep);
        assert_eq!(m.read(), [0; 7]);
        assert!(!switch(true, &[&m]));
        std::thread::sleep(std::time::Duration::from_millis(2));
        assert_eq!(m.enter(State::Gc), State::Other);
        assert!(m.read()[State::Other as usize] >= 2_000_000);
        assert!(switch(false, &[&m]));
        let after = m.read();
        m.enter(State::Port);
        std::thread::sleep(std::time::Duration::from_millis(1));
        assert_eq!((m.read(), after[State::Port as usize]), (after, 0));
        reset(&[&m]);
        assert_eq!(m.read(), [0; 7]);
    }
}
