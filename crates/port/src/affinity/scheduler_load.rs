//! Where each scheduler runs, and how many programs owe it an answer.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::OnceLock;

use crate::poll;

/// Each scheduler has cache lines of its own.
#[repr(align(128))]
struct Load {
    /// The processor it ran on when its poll set was served last.
    cpu: AtomicUsize,
    /// Programs that are to be heard of there, answer each write, and have not answered the last.
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

/// A scheduler runs on a processor.
pub(crate) fn runs_on(scheduler: usize, cpu: usize) {
    if let Some(s) = load(scheduler) {
        s.cpu.store(cpu, Ordering::Relaxed);
    }
}

/// The set whose scheduler runs on a processor: `home`, if that does, or else the first.
pub(crate) fn on(cpu: usize, home: usize) -> Option<usize> {
    let is_there = |s: &Load| s.cpu.load(Ordering::Relaxed) == cpu;
    if load(home).is_some_and(is_there) {
        return Some(home);
    }
    loads().iter().position(is_there)
}

/// One program more of this set owes an answer, until this is dropped.
pub(crate) struct Owed(Option<&'static Load>);
impl Owed {
    pub fn to(home: usize) -> Owed {
        let s = load(home);
        if let Some(s) = s {
            s.owed.fetch_add(1, Ordering::Relaxed);
        }
        Owed(s)
    }
}
impl Drop for Owed {
    fn drop(&mut self) {
        if let Some(s) = self.0 {
            s.owed.fetch_sub(1, Ordering::Relaxed);
        }
    }
}
/// How many answers a set is owed now.
pub(crate) fn owed(home: usize) -> usize {
    load(home).map_or(0, |s| s.owed.load(Ordering::Relaxed))
}
