//! Timers: those of `receive … after`, and those a reference stands for (`send_after` and
//! `start_timer`).
//!
//! As in OTP, timers ring at full milliseconds, the deadline rounded up, and those of the same one in
//! the order in which they were set.
//!
//! Each scheduler has a queue of deadlines that only it touches. A timer with a reference lives in
//! a table, where it can be read and cancelled from everywhere. Its entry in the queue goes then, at
//! once or, where that is another scheduler's, when that one looks at what others sent it.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, OnceLock};

use kvik_heap::OwnedTerm;
use kvik_term::{am, Atom, Term};

use crate::signal::{deliver_from, inspect, message};
use crate::signal_types::{RefId, Signal};
use crate::{clock, registry, sched, Proc};

/// What is to be done at a deadline.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Due {
    Process(u32),
    Ref(RefId),
    /// A function of [`call_at`].
    Call(RefId),
}

/// When a timer rings: the millisecond of `clock::now`, and below that its number among those set, as
/// far as it fits, by which those of one millisecond are in order.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct At(u64);

const TICK_NS: u64 = 1_000_000;
const NUMBER_BITS: u32 = 20;

impl At {
    /// Of a deadline in nanoseconds of `clock::now`.
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
    fn left(self) -> u64 {
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

/// Deadlines in order. A tree: with a million timers, too, each step is a small one.
#[derive(Default)]
pub struct Queue(BTreeSet<(At, Due)>);

impl Queue {
    pub const fn new() -> Queue {
        Queue(BTreeSet::new())
    }
    pub fn add(&mut self, at: At, due: Due) {
        self.0.insert((at, due));
    }
    pub fn remove(&mut self, at: At, due: Due) {
        self.0.remove(&(at, due));
    }
    /// When the next one rings, in nanoseconds of `clock::now`.
    pub fn next(&self) -> Option<u64> {
        self.0.first().map(|e| e.0.ns())
    }
    /// Takes one entry whose time has come.
    pub fn pop_due(&mut self, now: u64) -> Option<Due> {
        if self.next()? > now {
            return None;
        }
        self.0.pop_first().map(|e| e.1)
    }
}

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed as RELAXED};
static TIMERS_LEN: AtomicUsize = AtomicUsize::new(0);

#[derive(Copy, Clone)]
pub enum Dest {
    Process(u32),
    Name(Atom),
}

pub struct Timer {
    pub deadline: At,
    pub dest: Dest,
    pub message: OwnedTerm,
    /// Comes as `{timeout, Ref, Message}`.
    pub wrap: bool,
}

/// A timer that is set, and the scheduler whose queue it stands in.
struct Set {
    timer: Timer,
    queue: Option<usize>,
}

/// Trees, as a table that grows moves all it has at once, and the shards all at nearly the same time.
type Shard = Mutex<BTreeMap<RefId, Set>>;
const SHARDS: usize = 64;

fn shard(id: RefId) -> &'static Shard {
    static ALL: OnceLock<Vec<Shard>> = OnceLock::new();
    &ALL.get_or_init(|| (0..SHARDS).map(|_| Shard::default()).collect())[id.0[0] as usize % SHARDS]
}

/// Looks at all timers whose receiver is there, with their references.
pub fn each(mut f: impl FnMut(RefId, &Timer)) {
    let there = |d: Dest| match d {
        Dest::Process(pid) => crate::trace::is_alive(pid),
        Dest::Name(_) => true,
    };
    for i in 0..SHARDS as u32 {
        let shard = shard(RefId([i, 0, 0])).lock().unwrap_or_else(|e| e.into_inner());
        let all = shard.iter().filter(|(_, set)| there(set.timer.dest));
        all.for_each(|(id, set)| f(*id, &set.timer));
    }
}
/// Rings for the process's `receive`.
pub(crate) fn set_process_timer(pid: u32, deadline: At) {
    sched::add_timer(deadline, Due::Process(pid));
}

pub fn start(id: RefId, timer: Timer) {
    let deadline = timer.deadline;
    TIMERS_LEN.fetch_add(1, RELAXED);
    let set = Set { timer, queue: sched::current() };
    shard(id).lock().unwrap_or_else(|e| e.into_inner()).insert(id, set);
    sched::add_timer(deadline, Due::Ref(id));
}
/// Stops a timer; nanoseconds that were left.
pub fn cancel(id: RefId) -> Option<u64> {
    let Set { timer, queue } = take(id)?;
    if let Some(q) = queue {
        sched::forget_timer(q, timer.deadline, Due::Ref(id));
    }
    timer.is_set().then(|| timer.deadline.left())
}
fn take(id: RefId) -> Option<Set> {
    let t = shard(id).lock().unwrap_or_else(|e| e.into_inner()).remove(&id)?;
    TIMERS_LEN.fetch_sub(1, RELAXED);
    Some(t)
}
impl Timer {
    /// A process takes the timers with it that are to ring for it.
    fn is_set(&self) -> bool {
        match self.dest {
            Dest::Process(n) => crate::process::table().get(n, &kvik_sync::pin()).is_some(),
            Dest::Name(_) => true,
        }
    }
}
/// Nanoseconds that are left.
pub fn read(id: RefId) -> Option<u64> {
    let s = shard(id).lock().unwrap_or_else(|e| e.into_inner());
    let t = s.get(&id).map(|s| &s.timer).filter(|t| t.is_set());
    t.map(|t| t.deadline.left())
}
/// Timers that are set.
pub fn count() -> usize {
    TIMERS_LEN.load(RELAXED)
}

type Call = Box<dyn FnOnce() + Send>;
static CALLS: Mutex<Vec<(RefId, Call)>> = Mutex::new(Vec::new());

/// Has a function called at that time, in nanoseconds of `clock::now`, by the scheduler that runs this.
pub fn call_at(deadline: u64, f: Call) {
    let id = RefId::next();
    CALLS.lock().unwrap_or_else(|e| e.into_inner()).push((id, f));
    sched::add_timer(At::deadline(deadline), Due::Call(id));
}
fn call(id: RefId) {
    let mut calls = CALLS.lock().unwrap_or_else(|e| e.into_inner());
    let found = calls.iter().position(|c| c.0 == id).map(|i| calls.swap_remove(i));
    drop(calls);
    if let Some((_, f)) = found {
        f()
    }
}

/// Does what is due.
pub(crate) fn ring(due: Due) {
    match due {
        Due::Process(pid) => {
            // One whose wait is not over has no turn for it.
            if inspect(pid, Proc::puts_timer_off) != Some(true) {
                let _ = crate::signal::try_deliver(pid, Signal::Time);
            }
        }
        Due::Call(id) => call(id),
        Due::Ref(id) => {
            let Some(Set { timer: t, .. }) = take(id) else { return };
            let pid = match t.dest {
                Dest::Process(p) => Some(p),
                Dest::Name(n) => registry::whereis_process(n),
            };
            let Some(pid) = pid else { return };
            let m = if t.wrap { wrapped(id, &t.message) } else { t.message };
            deliver_from(pid, am::clock_service.into(), m);
        }
    }
}
fn wrapped(id: RefId, m: &OwnedTerm) -> OwnedTerm {
    message(|h| {
        let m: Term<'_> = h.copy(m.term());
        h.tuple(&[am::timeout.into(), id.term(h), m])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_due_in_order() {
        const MS: u64 = TICK_NS;
        let mut q = Queue::new();
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
    fn those_of_one_millisecond_ring_in_the_order_they_were_set() {
        let mut q = Queue::new();
        for (ns, pid) in [(2_900_000, 7), (2_000_001, 3), (2_000_000, 9), (2_500_000, 1)] {
            q.add(At::deadline(ns), Due::Process(pid));
        }
        let due = std::iter::from_fn(|| q.pop_due(3 * TICK_NS)).collect::<Vec<_>>();
        assert_eq!(due, [9, 7, 3, 1].map(Due::Process));
    }

    #[test]
    fn cancel_tells_what_was_left() {
        let id = RefId::next();
        let deadline = At::deadline(clock::now() + 3600 * 1_000_000_000);
        let message = OwnedTerm::immediate(Term::int(1));
        start(id, Timer { deadline, dest: Dest::Name(am::timeout), message, wrap: true });
        assert!(read(id).is_some_and(|n| n > 3000 * 1_000_000_000));
        assert!(cancel(id).is_some());
        assert!(cancel(id).is_none() && read(id).is_none());
    }
}
