//! System monitors: in each trace session one process may be told of long collections, large heaps,
//! long time slices, long message queues, and ports that make processes wait.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};

use kvik_heap::{Heap, OwnedTerm};
use kvik_term::{am, Term};

use crate::process::is_alive;
use crate::signal::post;
use crate::trace::SessionRef;
use crate::tracing_on::{self, User};
use crate::{clock, trace, Proc};

/// The limits; 0, `None` and false: not monitored.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub struct MonitorLimits {
    /// Milliseconds.
    pub long_gc: u64,
    pub long_schedule: u64,
    /// Words.
    pub large_heap: u64,
    /// The lengths at which a queue is no longer long, and at which it is.
    pub long_message_queue: Option<(u64, u64)>,
    pub busy_port: bool,
    pub busy_dist_port: bool,
}

#[derive(Clone)]
struct SystemMonitor {
    session: SessionRef,
    receiver: u32,
    limits: MonitorLimits,
}

kvik_state::vm_state! {
    static MONITORS: Mutex<Vec<SystemMonitor>> = Mutex::new(Vec::new());
    /// The lowest limits of all monitors, and whether any has the others.
    static LONG_GC: AtomicU64 = AtomicU64::new(0);
    static LONG_SCHEDULE: AtomicU64 = AtomicU64::new(0);
    static LARGE_HEAP: AtomicU64 = AtomicU64::new(0);
    static LONG_QUEUE: AtomicU64 = AtomicU64::new(0);
    static BUSY_PORT: AtomicBool = AtomicBool::new(false);
    static BUSY_DIST_PORT: AtomicBool = AtomicBool::new(false);
    static ON: AtomicBool = AtomicBool::new(false);
}

/// For each process with a long message queue the sessions that were told, by their keys.
type LongQueues = HashMap<u32, Vec<u64>>;
kvik_state::vm_state! {
    static LONG_QUEUES: Mutex<Option<LongQueues>> = Mutex::new(None);
}
fn with_long_queues<R>(f: impl FnOnce(&mut LongQueues) -> R) -> R {
    let mut all = LONG_QUEUES.lock().unwrap_or_else(|e| e.into_inner());
    f(all.get_or_insert_default())
}

fn monitors() -> MutexGuard<'static, Vec<SystemMonitor>> {
    MONITORS.lock().unwrap_or_else(|e| e.into_inner())
}
fn change(f: impl FnOnce(&mut Vec<SystemMonitor>)) {
    let mut all = monitors();
    f(&mut all);
    let lowest = |limit: fn(&MonitorLimits) -> u64| {
        all.iter().map(|m| limit(&m.limits)).filter(|n| *n > 0).min().unwrap_or(0)
    };
    LONG_GC.store(lowest(|l| l.long_gc), Relaxed);
    LONG_SCHEDULE.store(lowest(|l| l.long_schedule), Relaxed);
    LARGE_HEAP.store(lowest(|l| l.large_heap), Relaxed);
    LONG_QUEUE.store(lowest(|l| l.long_message_queue.map_or(0, |q| q.1)), Relaxed);
    BUSY_PORT.store(all.iter().any(|m| m.limits.busy_port), Relaxed);
    BUSY_DIST_PORT.store(all.iter().any(|m| m.limits.busy_dist_port), Relaxed);
    ON.store(!all.is_empty(), Relaxed);
    tracing_on::update(User::SystemMonitor, on);
}

/// A session's monitor and its limits, if there is one.
pub fn get(s: &SessionRef) -> Option<(u32, MonitorLimits)> {
    let all = monitors();
    let found = all.iter().find(|m| Arc::ptr_eq(&m.session, s) && is_alive(m.receiver));
    found.map(|m| (m.receiver, m.limits))
}
pub fn set(s: &SessionRef, to: Option<(u32, MonitorLimits)>) {
    if to.is_none_or(|(_, l)| l.long_message_queue.is_none()) {
        with_long_queues(|all| all.values_mut().for_each(|told| told.retain(|k| *k != s.key())));
    }
    change(|all| {
        all.retain(|m| !Arc::ptr_eq(&m.session, s));
        let to = to.filter(|_| s.is_alive());
        all.extend(to.map(|(receiver, limits)| SystemMonitor {
            session: s.clone(),
            receiver,
            limits,
        }));
    });
}
pub(crate) fn forget_session(s: &SessionRef) {
    if on() {
        set(s, None)
    }
}
/// Whether time slices and collections are monitored.
pub(crate) fn on() -> bool {
    ON.load(Relaxed)
}

/// Sends the monitors that ask for it `{monitor, Who, What, Info}`.
fn tell(
    of: u32,
    asked: impl Fn(&MonitorLimits) -> bool,
    what: &str,
    info: impl for<'h> Fn(&'h Heap) -> Term<'h>,
) {
    let all: Vec<SystemMonitor> = monitors().clone();
    for m in all.iter().filter(|m| asked(&m.limits)) {
        tell_one(m, of, what, &info);
    }
}
/// Sends a monitor an event, but never about itself.
fn tell_one(m: &SystemMonitor, of: u32, what: &str, info: impl for<'h> Fn(&'h Heap) -> Term<'h>) {
    if m.receiver == of || !m.session.is_alive() {
        return;
    }
    let heard = post(m.receiver, |h| {
        let info = info(h);
        h.tuple(&[trace::atom("monitor"), Term::local_pid(of), trace::atom(what), info])
    });
    if !heard {
        change(|all| all.retain(|other| other.receiver != m.receiver));
    }
}
/// A process must wait for a port.
pub fn busy_port(pid: u32, port: u32) {
    if BUSY_PORT.load(Relaxed) {
        tell(pid, |l| l.busy_port, "busy_port", |_| Term::local_port(port));
    }
}
/// A process must wait for a connection, carried by this port or process.
pub fn busy_dist_port(pid: u32, controller: Term<'static>) {
    if BUSY_DIST_PORT.load(Relaxed) {
        tell(pid, |l| l.busy_dist_port, "busy_dist_port", |_| controller);
    }
}
/// Whether a monitor is to be told of a queue of that length: that it is long, or no longer is.
fn news(told: &mut Vec<u64>, m: &SystemMonitor, length: u64) -> Option<bool> {
    let (off, on) = m.limits.long_message_queue?;
    let key = m.session.key();
    let was_long = told.contains(&key);
    if !was_long && length >= on {
        told.push(key);
        return Some(true);
    }
    if was_long && length <= off {
        told.retain(|k| *k != key);
        return Some(false);
    }
    None
}
kvik_state::vm_state! {
    /// Milliseconds to sleep after each collection: used by OTP's test of `long_gc`.
    pub static TEST_LONG_GC_MS: AtomicU64 = AtomicU64::new(0);
}

impl Proc {
    /// Reports that the message queue has become long, or no longer is.
    #[cold]
    pub(crate) fn monitor_queue(&self) {
        let lowest = LONG_QUEUE.load(Relaxed);
        if lowest == 0 {
            return;
        }
        let n = self.messages().len() as u64;
        let known = with_long_queues(|all| all.contains_key(&self.pid()));
        if !known && n < lowest {
            return;
        }
        let all: Vec<SystemMonitor> = monitors().clone();
        let changed = with_long_queues(|queues| {
            let told = queues.entry(self.pid()).or_default();
            let changed =
                all.iter().filter_map(|m| Some((m, news(told, m, n)?))).collect::<Vec<_>>();
            if told.is_empty() {
                queues.remove(&self.pid());
            }
            changed
        });
        for (m, long) in changed {
            tell_one(m, self.pid(), "long_message_queue", |_| Term::bool(long));
        }
    }
    /// The process has ended.
    #[cold]
    pub(crate) fn forget_queue(&self) {
        if on() {
            with_long_queues(|all| all.remove(&self.pid()));
        }
    }
    /// A collection that began at `began` is over.
    pub(crate) fn monitor_collection(&self, began: u64) {
        let (long, large) = (LONG_GC.load(Relaxed), LARGE_HEAP.load(Relaxed));
        if long > 0 {
            let sleep = TEST_LONG_GC_MS.load(Relaxed);
            if sleep > 0 {
                kvik_env::thread::sleep(std::time::Duration::from_millis(sleep));
            }
            let ms = clock::now().saturating_sub(began) / 1_000_000;
            if ms > long {
                let asked = |l: &MonitorLimits| l.long_gc > 0 && ms > l.long_gc;
                tell(self.pid(), asked, "long_gc", |h| self.sizes_term(h, Some(ms)));
            }
        }
        let sizes = self.heap.sizes();
        let words = (sizes.block + sizes.old_block) as u64;
        if large > 0 && words >= large {
            let asked = |l: &MonitorLimits| l.large_heap > 0 && words >= l.large_heap;
            tell(self.pid(), asked, "large_heap", |h| self.sizes_term(h, None));
        }
    }
    fn sizes_term<'h>(&self, h: &'h Heap, ms: Option<u64>) -> Term<'h> {
        let s = self.heap.sizes();
        let pair = |k: Term<'h>, n: usize| h.tuple(&[k, h.integer(n as i64)]);
        let mut all: Vec<Term<'h>> = vec![
            pair(am::old_heap_block_size.into(), s.old_block),
            pair(am::heap_block_size.into(), s.block),
            pair(am::mbuf_size.into(), s.fragments),
            pair(am::stack_size.into(), s.stack),
            pair(am::old_heap_size.into(), s.old_used),
            pair(am::heap_size.into(), s.used),
        ];
        if let Some(ms) = ms {
            all.insert(0, pair(am::timeout.into(), ms as usize));
        }
        h.list(&all)
    }
    /// A time slice begins: the time and the function, if long ones are reported.
    pub(crate) fn turn_begins(&self) -> Option<(u64, OwnedTerm)> {
        if LONG_SCHEDULE.load(Relaxed) == 0 {
            return None;
        }
        let at = crate::signal::message(|h| self.place(h));
        Some((clock::now(), at))
    }
    pub(crate) fn turn_ends(&self, (began, at): (u64, OwnedTerm)) {
        let ms = clock::now().saturating_sub(began) / 1_000_000;
        let limit = LONG_SCHEDULE.load(Relaxed);
        if limit == 0 || ms <= limit {
            return;
        }
        let asked = |l: &MonitorLimits| l.long_schedule > 0 && ms > l.long_schedule;
        tell(self.pid(), asked, "long_schedule", |h| {
            let out = self.place(h);
            h.list(&[
                h.tuple(&[am::timeout.into(), h.integer(ms as i64)]),
                h.tuple(&[trace::atom("in"), h.copy(at.term())]),
                h.tuple(&[trace::atom("out"), out]),
            ])
        });
    }
}
