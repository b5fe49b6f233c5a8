//! `erlang:system_monitor`: one process is told of long collections, large heaps, long time slices,
//! and ports that make processes wait.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

use kvik_heap::{Heap, OwnedTerm};
use kvik_term::{am, Term};

use crate::process::is_alive;
use crate::signal::post;
use crate::tracing_on::{self, User};
use crate::{clock, trace, Proc};

/// The limits; 0 and false: not monitored.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub struct MonitorLimits {
    /// Milliseconds.
    pub long_gc: u64,
    pub long_schedule: u64,
    /// Words.
    pub large_heap: u64,
    pub busy_port: bool,
    pub busy_dist_port: bool,
}

kvik_state::vm_state! {
    /// The monitoring process; 0 for none (that pid is the first process's, which is never asked to
    /// monitor).
    static PID: AtomicU32 = AtomicU32::new(0);
    static LONG_GC: AtomicU64 = AtomicU64::new(0);
    static LONG_SCHEDULE: AtomicU64 = AtomicU64::new(0);
    static LARGE_HEAP: AtomicU64 = AtomicU64::new(0);
    static BUSY_PORT: AtomicBool = AtomicBool::new(false);
    static BUSY_DIST_PORT: AtomicBool = AtomicBool::new(false);
}

/// The setting, if there is one.
pub fn get() -> Option<(u32, MonitorLimits)> {
    let pid = PID.load(Relaxed);
    if pid == 0 || !is_alive(pid) {
        return None;
    }
    let limits = MonitorLimits {
        long_gc: LONG_GC.load(Relaxed),
        long_schedule: LONG_SCHEDULE.load(Relaxed),
        large_heap: LARGE_HEAP.load(Relaxed),
        busy_port: BUSY_PORT.load(Relaxed),
        busy_dist_port: BUSY_DIST_PORT.load(Relaxed),
    };
    Some((pid, limits))
}
pub fn set(to: Option<(u32, MonitorLimits)>) {
    let (pid, l) = to.unwrap_or_default();
    PID.store(pid, Relaxed);
    LONG_GC.store(l.long_gc, Relaxed);
    LONG_SCHEDULE.store(l.long_schedule, Relaxed);
    LARGE_HEAP.store(l.large_heap, Relaxed);
    BUSY_PORT.store(l.busy_port, Relaxed);
    BUSY_DIST_PORT.store(l.busy_dist_port, Relaxed);
    tracing_on::update(User::SystemMonitor, on);
}
/// Whether time slices and collections are monitored.
pub(crate) fn on() -> bool {
    PID.load(Relaxed) != 0
}

/// Sends the monitoring process `{monitor, Pid, What, Info}`, but never about itself.
fn tell(of: u32, what: &str, info: impl for<'h> FnOnce(&'h Heap) -> Term<'h>) {
    let Some((to, _)) = get() else { return };
    if to != of {
        post(to, |h| {
            let info = info(h);
            h.tuple(&[trace::atom("monitor"), Term::local_pid(of), trace::atom(what), info])
        });
    }
}
/// A process must wait for a port.
pub fn busy_port(pid: u32, port: u32) {
    if BUSY_PORT.load(Relaxed) {
        tell(pid, "busy_port", |_| Term::local_port(port));
    }
}
/// A process must wait for a connection, carried by this port or process.
pub fn busy_dist_port(pid: u32, controller: Term<'static>) {
    if BUSY_DIST_PORT.load(Relaxed) {
        tell(pid, "busy_dist_port", |_| controller);
    }
}
kvik_state::vm_state! {
    /// Milliseconds to sleep after each collection: used by OTP's test of `long_gc`.
    pub static TEST_LONG_GC_MS: AtomicU64 = AtomicU64::new(0);
}

impl Proc {
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
                tell(self.pid(), "long_gc", |h| self.sizes_term(h, Some(ms)));
            }
        }
        let sizes = self.heap.sizes();
        if large > 0 && (sizes.block + sizes.old_block) as u64 >= large {
            tell(self.pid(), "large_heap", |h| self.sizes_term(h, None));
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
        tell(self.pid(), "long_schedule", |h| {
            let out = self.place(h);
            h.list(&[
                h.tuple(&[am::timeout.into(), h.integer(ms as i64)]),
                h.tuple(&[trace::atom("in"), h.copy(at.term())]),
                h.tuple(&[trace::atom("out"), out]),
            ])
        });
    }
}
