//! Pins external programs to their scheduler's CPU, and unpins them.
//!
//! A program stays pinned while it answers each write and its scheduler only waits for answers. It
//! is unpinned when that scheduler has other work, gets many events, or gets none for
//! [`ANSWER_WAIT`]; when the program leaves a write unanswered, uses more CPU time, or ends; and
//! when its port or the VM ends. A CPU set that somebody else has given it meanwhile stays.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use kvik_env::cpu_affinity::CpuSet;
use kvik_env::poll::{PollEvents, Poller};
use kvik_env::Result;

use crate::affinity::placement;
use crate::poll;

/// How long a scheduler with pinned programs waits for an answer before it unpins them.
const ANSWER_WAIT: Duration = Duration::from_millis(10);
/// Consecutive waits with exactly one event, after which there is only one conversation.
const SINGLE_EVENTS_IN_A_ROW: u32 = 16;

/// A program that may run only on its scheduler's CPU.
pub(crate) struct PinnedChild {
    pid: i32,
    /// The CPUs it might run on before.
    all: CpuSet,
    scheduler: usize,
    /// The CPU it is pinned to. None: it was unpinned.
    at: Mutex<Option<CpuSet>>,
}

impl PinnedChild {
    /// None if its affinity cannot be set, or its CPU set is not `all` any more.
    pub fn new(pid: i32, all: CpuSet, scheduler: usize) -> Option<Arc<PinnedChild>> {
        let list = pinned_children(scheduler)?;
        let here = placement::settle(scheduler, &all)?;
        if CpuSet::of(pid) != Ok(all) {
            return None;
        }
        here.keep(pid).ok()?;
        let kept = Arc::new(PinnedChild { pid, all, scheduler, at: Mutex::new(Some(here)) });
        list.add(kept.clone());
        Some(kept)
    }
    /// Called before `scheduler` wakes it: if that scheduler has migrated, the program follows.
    /// Returns whether it is still pinned, and by this scheduler.
    pub fn stays(&self, scheduler: usize) -> bool {
        let mut at = lock(&self.at);
        let Some(was) = at.filter(|_| scheduler == self.scheduler) else { return false };
        if here(&self.all).is_some_and(|here| here != was) {
            let to = placement::settle(scheduler, &self.all).filter(|to| *to != was);
            *at = to.filter(|to| to.keep(self.pid).is_ok()).or(*at);
        }
        true
    }
    /// Whether its CPU set is still the one we gave it. Always true of one that was unpinned.
    pub fn is_ours(&self) -> bool {
        lock(&self.at).is_none_or(|at| CpuSet::of(self.pid) == Ok(at))
    }
    /// Restores the CPU set it had before.
    pub fn let_go(&self) {
        let mut at = lock(&self.at);
        if at.take().is_some_and(|at| CpuSet::of(self.pid) == Ok(at)) {
            // Fails harmlessly if it has ended.
            let _ = self.all.keep(self.pid);
        }
    }
}

fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(|e| e.into_inner())
}
/// The CPU this thread runs on, if it is one of these.
fn here(all: &CpuSet) -> Option<CpuSet> {
    CpuSet::here().filter(|here| all.has(here))
}

/// Binds this thread to its current CPU until this is dropped.
pub(crate) struct SchedulerBinding(CpuSet);
impl SchedulerBinding {
    /// None if the thread may run on one CPU only, or its affinity cannot be set.
    pub fn stay() -> Option<SchedulerBinding> {
        let all = CpuSet::of(0).ok().filter(|all| all.count() > 1)?;
        here(&all)?.keep(0).ok()?;
        Some(SchedulerBinding(all))
    }
}
impl Drop for SchedulerBinding {
    fn drop(&mut self) {
        let _ = self.0.keep(0);
    }
}

/// The programs that one scheduler has pinned. Each scheduler has cache lines of its own.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct PinnedChildren {
    scheduler: usize,
    any: AtomicBool,
    /// Consecutive waits that brought one event; only the scheduler reads it.
    alone: AtomicU32,
    list: Mutex<Vec<Arc<PinnedChild>>>,
}

kvik_state::vm_state! {
    static KEEPS: OnceLock<Box<[PinnedChildren]>> = OnceLock::new();
}

fn all() -> &'static [PinnedChildren] {
    let of = |scheduler| PinnedChildren { scheduler, ..PinnedChildren::default() };
    KEEPS.get_or_init(|| (0..poll::count()).map(of).collect())
}
/// The programs that a scheduler has pinned.
pub(crate) fn pinned_children(scheduler: usize) -> Option<&'static PinnedChildren> {
    let all = all();
    all.get(scheduler % all.len().max(1))
}

impl PinnedChildren {
    fn add(&self, kept: Arc<PinnedChild>) {
        lock(&self.list).push(kept);
        self.any.store(true, Relaxed);
    }
    pub fn let_go(&self) {
        if self.any.swap(false, Relaxed) {
            let all = std::mem::take(&mut *lock(&self.list));
            placement::leave(self.scheduler);
            all.iter().for_each(|k| k.let_go());
        }
    }
    /// Waits for events, for at most `timeout`. With pinned programs it waits at most
    /// [`ANSWER_WAIT`]; if nothing came by then, it unpins them and returns 0.
    ///
    /// Most programs have answered by now, as they ran when they were written to. One that is yet
    /// to run does so on this CPU while the scheduler sleeps. The scheduler is bound meanwhile, so
    /// that the answer does not wake it on another CPU, where the program would follow. With
    /// several conversations the other CPUs are busy, so the binding would only cost time.
    pub fn wait(
        &self,
        from: &Poller,
        to: &mut PollEvents,
        timeout: Option<Duration>,
    ) -> Result<usize> {
        if !self.any.load(Relaxed) {
            return from.wait(to, timeout);
        }
        let told = self.count(from.wait(to, Some(Duration::ZERO)));
        if told != Ok(0) || timeout.is_some_and(|t| t.is_zero()) {
            return told;
        }
        let is_alone = self.alone.load(Relaxed) >= SINGLE_EVENTS_IN_A_ROW;
        let here = if is_alone { SchedulerBinding::stay() } else { None };
        let told =
            self.count(from.wait(to, Some(timeout.map_or(ANSWER_WAIT, |t| t.min(ANSWER_WAIT)))));
        drop(here);
        if told == Ok(0) {
            self.let_go();
        }
        told
    }
    fn count(&self, told: Result<usize>) -> Result<usize> {
        match told {
            Ok(0) | Err(_) => {}
            Ok(1) => self.alone.store(self.alone.load(Relaxed).saturating_add(1), Relaxed),
            Ok(_) => self.alone.store(0, Relaxed),
        }
        told
    }
}

/// Unpins all programs: the VM ends.
pub fn let_go_all() {
    all().iter().for_each(PinnedChildren::let_go);
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};
    use std::time::Instant;

    use kvik_state::Vm;

    use super::*;

    #[test]
    fn pinned_child_follows_its_scheduler_and_is_unpinned() {
        Vm::new().enter(|| {
            let all = CpuSet::of(0).unwrap();
            let mut cat = Command::new("/bin/cat").stdin(Stdio::piped()).spawn().unwrap();
            let pid = cat.id() as i32;
            let from = SchedulerBinding::stay();
            assert_eq!(from.is_some(), all.count() > 1);
            let first = CpuSet::here().unwrap();
            let kept = PinnedChild::new(pid, all, 0).unwrap();
            assert!(kept.stays(0) && kept.is_ours() && CpuSet::of(pid) == Ok(first));
            drop(from);
            // To another CPU, if there is one.
            let other = |p: &CpuSet| *p != first;
            if let Some(second) = all.each().find(other) {
                second.keep(0).unwrap();
                assert!(kept.stays(0) && CpuSet::of(pid) == Ok(second));
                all.keep(0).unwrap();
            }
            // It does not answer.
            let (poller, mut events) = (Poller::new().unwrap(), Box::<PollEvents>::default());
            let keeps = pinned_children(0).unwrap();
            let begun = Instant::now();
            assert_eq!(keeps.wait(&poller, &mut events, Some(60 * ANSWER_WAIT)), Ok(0));
            assert!(begun.elapsed() >= ANSWER_WAIT);
            assert!(!kept.stays(0) && kept.is_ours() && CpuSet::of(pid) == Ok(all));
            assert_eq!(CpuSet::of(0), Ok(all));
            // With nothing pinned it waits for the whole timeout.
            let begun = Instant::now();
            assert_eq!(keeps.wait(&poller, &mut events, Some(3 * ANSWER_WAIT)), Ok(0));
            assert!(begun.elapsed() >= 3 * ANSWER_WAIT);
            // A wake-up is an event, with or without pinned programs.
            let kept = PinnedChild::new(pid, all, 0).unwrap();
            poller.wake();
            assert_eq!(keeps.wait(&poller, &mut events, None), Ok(1));
            assert!(kept.stays(0));
            let_go_all();
            assert!(!kept.stays(0) && CpuSet::of(pid) == Ok(all));
            drop(cat.stdin.take());
            cat.wait().unwrap();
        })
    }
}
