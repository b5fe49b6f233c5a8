//! `call_time`: the time that functions take themselves, without other functions watched for it
//! that they call, and without the time in which their process does not run.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use kvik_proc::{clock, Proc};

use super::watched::{self, Mfa};

/// For each process: the function that its time counts for, and since when.
type Running = HashMap<u32, (Option<Mfa>, u64)>;
kvik_state::vm_state! {
    /// Whether times were ever measured: if not, a process that ends needs no lock.
    static ANY: AtomicBool = AtomicBool::new(false);
}

fn running() -> MutexGuard<'static, Running> {
    kvik_state::vm_state! {
        static RUNNING: OnceLock<Mutex<Running>> = OnceLock::new();
    }
    RUNNING.get_or_init(Mutex::default).lock().unwrap_or_else(|e| e.into_inner())
}

/// Adds the time since the last change to the function that it counts for.
fn settle(pid: u32, (mfa, since): (Option<Mfa>, u64), now: u64) {
    if let Some(w) = mfa.and_then(watched::find) {
        w.times.add(pid, 0, now.saturating_sub(since));
    }
}

/// A watched function is called. Returns the function that time counted for before.
pub fn called(p: &Proc, w: &Arc<watched::TracedFunction>, mfa: Mfa) -> Option<Mfa> {
    let now = clock::now();
    ANY.store(true, Relaxed);
    let before = running().insert(p.pid(), (Some(mfa), now));
    w.times.add(p.pid(), 1, 0);
    settle(p.pid(), before?, now);
    before?.0
}
/// A watched function has returned: time counts for `to` again.
pub fn returned(p: &Proc, to: Option<Mfa>) {
    let now = clock::now();
    // A statement of its own, so that the lock is released before `settle`.
    let before = running().insert(p.pid(), (to, now));
    if let Some(before) = before {
        settle(p.pid(), before, now);
    }
}
/// A time slice begins or ends.
pub fn turn(p: &Proc, begins: bool) {
    let now = clock::now();
    let before = match running().get_mut(&p.pid()) {
        Some(r) => std::mem::replace(r, (r.0, now)),
        None => return,
    };
    if !begins {
        settle(p.pid(), before, now);
    }
}
pub fn ended(p: &Proc) {
    if ANY.load(Relaxed) {
        running().remove(&p.pid());
    }
}
