//! Which schedulers may run processes: the first N, or only the first while some process blocks
//! multi-scheduling. The others still handle their timers and events, and pass on the processes
//! these wake.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};

kvik_state::vm_state! {
    /// How many schedulers may run processes now.
    static ACTIVE: AtomicUsize = AtomicUsize::new(usize::MAX);
    static STATE: Mutex<State> = Mutex::new(State { online: usize::MAX, blockers: Vec::new() });
    /// Number of blocks in force, so that an ending process takes no lock if there are none.
    static BLOCKS: AtomicUsize = AtomicUsize::new(0);
}

struct State {
    online: usize,
    /// Blocking processes, and whether they block only normal schedulers; one entry for each block.
    blockers: Vec<(u32, bool)>,
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(|e| e.into_inner())
}
impl State {
    fn online(&self) -> usize {
        self.online.min(super::all().len().max(1))
    }
    fn apply(&self) {
        BLOCKS.store(self.blockers.len(), Relaxed);
        let n = if self.blockers.is_empty() { self.online() } else { 1 };
        ACTIVE.store(n, Relaxed);
        (0..super::all().len()).for_each(super::wake_up);
    }
}

/// Whether the scheduler with that number may run processes.
#[inline]
pub(super) fn is_active(id: usize) -> bool {
    id < ACTIVE.load(Relaxed)
}
pub fn active() -> usize {
    ACTIVE.load(Relaxed).min(super::all().len().max(1))
}
pub fn online() -> usize {
    state().online()
}
/// Called before the schedulers start: only the first `n` will be online.
pub fn begin_with(n: usize) {
    state().online = n;
    ACTIVE.store(n, Relaxed);
}
/// Sets how many schedulers are online. Returns the old number; `None` if there are not so many.
pub fn set_online(n: usize) -> Option<usize> {
    let mut s = state();
    let before = s.online();
    if n == 0 || n > super::all().len() {
        return None;
    }
    s.online = n;
    s.apply();
    Some(before)
}

/// How multi-scheduling is blocked.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Blocked {
    No,
    Normal,
    All,
}
pub fn blocked() -> Blocked {
    of(&state())
}
fn of(s: &State) -> Blocked {
    match (s.blockers.is_empty(), s.blockers.iter().any(|b| !b.1)) {
        (true, _) => Blocked::No,
        (_, true) => Blocked::All,
        _ => Blocked::Normal,
    }
}
/// Adds a process's block on multi-scheduling.
pub fn block(pid: u32, normal: bool) -> Blocked {
    let mut s = state();
    s.blockers.push((pid, normal));
    s.apply();
    of(&s)
}
/// Ends one of a process's blocks, if it has any.
pub fn unblock(pid: u32, normal: bool) -> Blocked {
    let mut s = state();
    if let Some(i) = s.blockers.iter().position(|b| *b == (pid, normal)) {
        s.blockers.remove(i);
        s.apply();
    }
    of(&s)
}
/// The blocking processes, each once.
pub fn blockers(normal: bool) -> Vec<u32> {
    let s = state();
    let mut all: Vec<u32> = s.blockers.iter().filter(|b| b.1 == normal).map(|b| b.0).collect();
    all.sort_unstable();
    all.dedup();
    all
}
/// Removes the blocks of a process that has ended.
#[inline]
pub(crate) fn ended(pid: u32) {
    if BLOCKS.load(Relaxed) != 0 {
        let mut s = state();
        s.blockers.retain(|b| b.0 != pid);
        s.apply();
    }
}
