//! Timers of processes that `suspend_process` has suspended: the timeout of their `receive` stands
//! still since OTP 28, a timer that sends them a message since OTP 29.
//!
//! A process that was ever suspended has a clock that loses the time for which it is suspended. A
//! timer remembers what the clock of its receiver had lost when it was set, so suspending a process
//! takes no walk over its timers: one that comes due is put off by what was lost since then, or held
//! until its receiver is resumed. As in OTP, a timer whose receiver has been suspended since is no
//! longer found by its reference.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed as RELAXED};
use std::sync::{Mutex, MutexGuard};

use kvik_release::current;

use crate::signal_types::RefId;
use crate::timer::At;
use crate::{clock, timer, Proc};

/// The clock of one receiver. Times are nanoseconds.
#[derive(Default)]
struct Pause {
    /// What it lost while suspended earlier.
    lost: u64,
    /// Since when it is suspended.
    since: Option<u64>,
    /// Timers that came due meanwhile.
    held: Vec<RefId>,
}

kvik_state::vm_state! {
    static PAUSES: Mutex<BTreeMap<u32, Pause>> = Mutex::new(BTreeMap::new());
    /// Entries of `PAUSES`; mostly there is none.
    static PAUSES_LEN: AtomicUsize = AtomicUsize::new(0);
}

fn pauses() -> MutexGuard<'static, BTreeMap<u32, Pause>> {
    PAUSES.lock().unwrap_or_else(|e| e.into_inner())
}
fn with<R>(pid: u32, f: impl FnOnce(&mut Pause) -> R) -> Option<R> {
    if PAUSES_LEN.load(RELAXED) == 0 {
        return None;
    }
    pauses().get_mut(&pid).map(f)
}

/// What a timer that is due does.
pub(crate) enum Turn {
    Fires,
    /// The receiver's clock has lost that much since the timer was set.
    Later(u64),
    /// The receiver is suspended.
    Held,
}

/// What the clock of this process has lost.
pub(crate) fn lost(pid: u32) -> u64 {
    let all = |p: &mut Pause| p.lost + p.since.map_or(0, |t| clock::now().saturating_sub(t));
    with(pid, all).unwrap_or(0)
}
/// Whether the process was suspended after its clock had lost that much.
pub(crate) fn has_paused(pid: u32, lost: u64) -> bool {
    with(pid, |p| p.since.is_some() || p.lost != lost) == Some(true)
}
/// Decides about a timer that is due, which was set when the clock had lost that much.
pub(crate) fn turn(pid: u32, id: RefId, lost: u64) -> Turn {
    let judge = |p: &mut Pause| match p.lost.saturating_sub(lost) {
        _ if p.since.is_some() => {
            p.held.push(id);
            Turn::Held
        }
        0 => Turn::Fires,
        more => Turn::Later(more),
    };
    with(pid, judge).unwrap_or(Turn::Fires)
}
/// The process has ended. Returns the timers that were held for it.
pub(crate) fn forget(pid: u32) -> Vec<RefId> {
    if PAUSES_LEN.load(RELAXED) == 0 {
        return Vec::new();
    }
    let mut all = pauses();
    let Some(gone) = all.remove(&pid) else { return Vec::new() };
    PAUSES_LEN.store(all.len(), RELAXED);
    gone.held
}

impl Proc {
    /// Suspends it as `suspend_process` does: unlike when it suspends itself, its timers stand
    /// still.
    pub fn suspend_for_process(&self, by: u32) {
        self.suspend_for(by);
        let first = self.with_rare(|x| {
            x.pausing.insert(by);
            x.pausing.len() == 1
        });
        if !first {
            return;
        }
        let deadline = self.deadline.get();
        if current().pauses_timeouts() && deadline != 0 && deadline != u64::MAX {
            self.with_rare(|x| x.timeout_left = Some(At::of_word(deadline).left()));
            self.deadline.set(u64::MAX);
        }
        if current().pauses_timers() {
            let mut all = pauses();
            all.entry(self.pid()).or_default().since = Some(clock::now());
            PAUSES_LEN.store(all.len(), RELAXED);
        }
    }
    /// That process no longer suspends it: its timers run again, if it was the last that did.
    pub(crate) fn resume_timers(&self, by: u32) {
        let last = |x: &mut crate::process::RareState| {
            (x.pausing.remove(&by) && x.pausing.is_empty()).then(|| x.timeout_left.take())
        };
        let Some(timeout) = self.with_rare(last) else { return };
        if let Some(ns) = timeout {
            self.arm(At::deadline(clock::now() + ns));
        }
        let held = with(self.pid(), |p| {
            p.lost += p.since.take().map_or(0, |t| clock::now().saturating_sub(t));
            std::mem::take(&mut p.held)
        });
        held.into_iter().flatten().for_each(timer::put_off);
    }
}
