//! `call_time`: how long functions take of their own, without those they call that are watched for
//! it too, and without the time their process does not run.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use kvik_proc::{clock, Proc};

use super::watched::{self, Mfa};

/// What a process is at: the function that its time belongs to, and since when.
type Running = HashMap<u32, (Option<Mfa>, u64)>;
kvik_state::vm_state! {
    /// Was there ever one? So that a process that ends needs no lock where times are not asked for.
    static ANY: AtomicBool = AtomicBool::new(false);
}

fn running() -> MutexGuard<'static, Running> {
    kvik_state::vm_state! {
        static RUNNING: OnceLock<Mutex<Running>> = OnceLock::new();
    }
    RUNNING.get_or_init(Mutex::default).lock().unwrap_or_else(|e| e.into_inner())
}

/// Adds the time since the last change to the function it belongs to.
fn settle(pid: u32, (mfa, since): (Option<Mfa>, u64), now: u64) {
    if let Some(w) = mfa.and_then(watched::find) {
        w.times.add(pid, 0, now.saturating_sub(since));
    }
}

/// A watched function is called. Answers the one whose time it was.
pub fn called(p: &Proc, w: &Arc<watched::Watch>, mfa: Mfa) -> Option<Mfa> {
    let now = clock::now();
    ANY.store(true, Relaxed);
    let before = running().insert(p.pid(), (Some(mfa), now));
    w.times.add(p.pid(), 1, 0);
    settle(p.pid(), before?, now);
    before?.0
}
/// It has returned to the one before.
pub fn returned(p: &Proc, to: Option<Mfa>) {
    let now = clock::now();
    // Before the lock is taken again.
    let before = running().insert(p.pid(), (to, now));
    if let Some(before) = before {
        settle(p.pid(), before, now);
    }
}
/// A turn begins or ends.
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
