//! The CPU of each scheduler, and how many programs have not answered it yet.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::OnceLock;

use crate::poll;

/// Each scheduler has cache lines of its own.
#[repr(align(128))]
struct Load {
    /// The CPU it ran on when its poll set was last served.
    cpu: AtomicUsize,
    /// Programs in its poll set that answer each write, and have not answered the last one.
    owed: AtomicUsize,
}

kvik_state::vm_state! {
    static LOADS: OnceLock<Box<[Load]>> = OnceLock::new();
}

fn loads() -> &'static [Load] {
    let new = |_| Load { cpu: AtomicUsize::new(usize::MAX), owed: AtomicUsize::new(0) };
    LOADS.get_or_init(|| (0..poll::count()).map(new).collect())
}
fn load(scheduler: usize) -> Option<&'static Load> {
    let all = loads();
    all.get(scheduler % all.len().max(1))
}

/// Notes the CPU that a scheduler runs on.
pub(crate) fn runs_on(scheduler: usize, cpu: usize) {
    if let Some(s) = load(scheduler) {
        s.cpu.store(cpu, Ordering::Relaxed);
    }
}

/// The poll set whose scheduler runs on a CPU: `home` if its scheduler does, else the first.
pub(crate) fn on(cpu: usize, home: usize) -> Option<usize> {
    let is_there = |s: &Load| s.cpu.load(Ordering::Relaxed) == cpu;
    if load(home).is_some_and(is_there) {
        return Some(home);
    }
    loads().iter().position(is_there)
}

/// Counts one program of this set that owes an answer, until this is dropped.
pub(crate) struct PendingAnswer(Option<&'static Load>);
impl PendingAnswer {
    pub fn to(home: usize) -> PendingAnswer {
        let s = load(home);
        if let Some(s) = s {
            s.owed.fetch_add(1, Ordering::Relaxed);
        }
        PendingAnswer(s)
    }
}
impl Drop for PendingAnswer {
    fn drop(&mut self) {
        if let Some(s) = self.0 {
            s.owed.fetch_sub(1, Ordering::Relaxed);
        }
    }
}
/// How many answers a set waits for now.
pub(crate) fn pending_answers(home: usize) -> usize {
    load(home).map_or(0, |s| s.owed.load(Ordering::Relaxed))
}
