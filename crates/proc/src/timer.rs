//! Timers: those of `receive … after`, and those with a reference (`send_after` and `start_timer`).
//!
//! As in OTP, timers fire at full milliseconds, the deadline rounded up, and those of the same
//! millisecond in the order in which they were set.
//!
//! Each scheduler has a queue of deadlines that only it touches. A timer with a reference is in a
//! table, where any thread can read and cancel it. Cancelling also removes its queue entry: at once
//! or, if the queue is another scheduler's, when that scheduler takes its inbound work.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, OnceLock};

use kvik_heap::OwnedTerm;
use kvik_term::{am, Atom, Term};

use crate::signal::{deliver_from, inspect, message};
use crate::signal_types::{RefId, Signal};
use crate::timer_pause::{self, Turn};
pub use crate::timer_queue::{At, Due, TimerQueue};
use crate::{registry, sched, Proc};

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed as RELAXED};
kvik_state::vm_state! {
    static TIMERS_LEN: AtomicUsize = AtomicUsize::new(0);
}

#[derive(Copy, Clone)]
pub enum Dest {
    Process(u32),
    Name(Atom),
}

pub struct Timer {
    pub deadline: At,
    pub dest: Dest,
    pub message: OwnedTerm,
    /// The message is sent as `{timeout, Ref, Message}`.
    pub wrap: bool,
}

/// A timer that is set, and the scheduler whose queue it is in.
struct Set {
    timer: Timer,
    queue: Option<usize>,
    /// What its receiver's clock had lost: see [`timer_pause`].
    lost: u64,
}

/// Trees, because a hash table that grows moves all entries at once, and all shards would do so at
/// nearly the same time.
type Shard = Mutex<BTreeMap<RefId, Set>>;
const SHARDS: usize = 64;

fn shard(id: RefId) -> &'static Shard {
    kvik_state::vm_state! {
        static ALL: OnceLock<Vec<Shard>> = OnceLock::new();
    }
    &ALL.get_or_init(|| (0..SHARDS).map(|_| Shard::default()).collect())[id.0[0] as usize % SHARDS]
}

/// Calls `f` with all timers whose receiver exists, and their references.
pub fn each(mut f: impl FnMut(RefId, &Timer)) {
    let there = |d: Dest| match d {
        Dest::Process(pid) => crate::process::is_alive(pid),
        Dest::Name(_) => true,
    };
    for i in 0..SHARDS as u32 {
        let shard = shard(RefId([i, 0, 0])).lock().unwrap_or_else(|e| e.into_inner());
        let all = shard.iter().filter(|(_, set)| there(set.timer.dest));
        all.for_each(|(id, set)| f(*id, &set.timer));
    }
}
/// Sets the timer of the process's `receive`.
pub(crate) fn set_process_timer(pid: u32, deadline: At) {
    sched::add_timer(deadline, Due::Process(pid));
}

pub fn start(id: RefId, timer: Timer) {
    let deadline = timer.deadline;
    TIMERS_LEN.fetch_add(1, RELAXED);
    let lost = match timer.dest {
        Dest::Process(pid) => timer_pause::lost(pid),
        Dest::Name(_) => 0,
    };
    let set = Set { timer, queue: sched::current(), lost };
    lock(id).insert(id, set);
    sched::add_timer(deadline, Due::Ref(id));
}
/// Cancels a timer; returns the nanoseconds that were left.
pub fn cancel(id: RefId) -> Option<u64> {
    if !lock(id).get(&id)?.is_known() {
        return None;
    }
    let Set { timer, queue, .. } = take(id)?;
    if let Some(q) = queue {
        sched::forget_timer(q, timer.deadline, Due::Ref(id));
    }
    timer.is_set().then(|| timer.deadline.left())
}
fn lock(id: RefId) -> MutexGuard<'static, BTreeMap<RefId, Set>> {
    shard(id).lock().unwrap_or_else(|e| e.into_inner())
}
fn take(id: RefId) -> Option<Set> {
    let t = lock(id).remove(&id)?;
    TIMERS_LEN.fetch_sub(1, RELAXED);
    Some(t)
}
impl Set {
    /// Whether its reference names it.
    fn is_known(&self) -> bool {
        !matches!(self.timer.dest, Dest::Process(pid) if timer_pause::has_paused(pid, self.lost))
    }
}
/// Puts a timer off that is due, by the time for which its receiver was suspended since it was set.
/// False: it fires.
fn is_put_off(id: RefId) -> bool {
    let mut shard = lock(id);
    let Some(set) = shard.get_mut(&id) else { return false };
    let Dest::Process(pid) = set.timer.dest else { return false };
    match timer_pause::turn(pid, id, set.lost) {
        Turn::Fires => return false,
        Turn::Held => set.queue = None,
        Turn::Later(ns) => {
            let deadline = At::deadline(set.timer.deadline.ns() + ns);
            set.timer.deadline = deadline;
            set.lost += ns;
            set.queue = sched::current();
            drop(shard);
            sched::add_timer(deadline, Due::Ref(id));
        }
    }
    true
}
/// Sets a timer again that was held while its receiver was suspended.
pub(crate) fn put_off(id: RefId) {
    if !is_put_off(id) {
        ring_id(id);
    }
}
/// The process has ended.
pub(crate) fn forget(pid: u32) {
    timer_pause::forget(pid).into_iter().for_each(|id| drop(take(id)));
}
impl Timer {
    /// Whether it is still set: a process's timers end with it.
    fn is_set(&self) -> bool {
        match self.dest {
            Dest::Process(n) => crate::process::table().get(n, &kvik_sync::pin()).is_some(),
            Dest::Name(_) => true,
        }
    }
}
/// Nanoseconds that are left.
pub fn read(id: RefId) -> Option<u64> {
    let s = lock(id);
    let t = s.get(&id).filter(|s| s.is_known()).map(|s| &s.timer).filter(|t| t.is_set());
    t.map(|t| t.deadline.left())
}
/// Timers that are set.
pub fn count() -> usize {
    TIMERS_LEN.load(RELAXED)
}

type Call = Box<dyn FnOnce() + Send>;
kvik_state::vm_state! {
    static CALLS: Mutex<Vec<(RefId, Call)>> = Mutex::new(Vec::new());
}

/// Calls a function at that time, in nanoseconds of `clock::now`, on the current scheduler.
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

/// Fires a timer that is due.
pub(crate) fn ring(due: Due) {
    match due {
        Due::Process(pid) => {
            // If the deadline has moved or is gone, the process needs no time slice for this timer.
            if inspect(pid, Proc::puts_timer_off) != Some(true) {
                let _ = crate::signal::try_deliver(pid, Signal::Time);
            }
        }
        Due::Call(id) => call(id),
        Due::Ref(id) if is_put_off(id) => (),
        Due::Ref(id) => ring_id(id),
    }
}
fn ring_id(id: RefId) {
    let Some(Set { timer: t, .. }) = take(id) else { return };
    let pid = match t.dest {
        Dest::Process(p) => Some(p),
        Dest::Name(n) => registry::whereis_process(n),
    };
    let Some(pid) = pid else { return };
    let m = if t.wrap { wrapped(id, &t.message) } else { t.message };
    deliver_from(pid, am::clock_service.into(), m);
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
    fn cancel_tells_what_was_left() {
        let id = RefId::next();
        let deadline = At::deadline(crate::clock::now() + 3600 * 1_000_000_000);
        let message = OwnedTerm::immediate(Term::int(1));
        start(id, Timer { deadline, dest: Dest::Name(am::timeout), message, wrap: true });
        assert!(read(id).is_some_and(|n| n > 3000 * 1_000_000_000));
        assert!(cancel(id).is_some());
        assert!(cancel(id).is_none() && read(id).is_none());
    }
}
