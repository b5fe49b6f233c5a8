//! Programs that a scheduler keeps on the processor it runs on, and lets go again.
//!
//! A program is kept while it answers each write and its scheduler has nothing to do but to hear of
//! it. It is let go as soon as that scheduler has other work, hears of many, or has heard of none for
//! [`PATIENCE`]; when it says nothing to a write, uses more time, or ends; and when its port or the
//! machine ends. If somebody else has said meanwhile where it may run, that stays.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use kvik_env::place::Processors;
use kvik_env::poll::{Events, Poller};
use kvik_env::Result;

use crate::affinity::placement;
use crate::poll;

/// How long a scheduler that keeps programs waits for one of them to be heard of.
const PATIENCE: Duration = Duration::from_millis(10);
/// Times in a row that one event came alone, after which there is one conversation only.
const ALONE: u32 = 16;

/// A program that may run where its scheduler does only.
pub(crate) struct Kept {
    pid: i32,
    /// Where it might run before.
    all: Processors,
    scheduler: usize,
    /// Where it is kept. None: it was let go.
    at: Mutex<Option<Processors>>,
}

impl Kept {
    /// None where it may not be moved, or may run on others than are known.
    pub fn new(pid: i32, all: Processors, scheduler: usize) -> Option<Arc<Kept>> {
        let list = keeps(scheduler)?;
        let here = placement::settle(scheduler, &all)?;
        if Processors::of(pid) != Ok(all) {
            return None;
        }
        here.keep(pid).ok()?;
        let kept = Arc::new(Kept { pid, all, scheduler, at: Mutex::new(Some(here)) });
        list.add(kept.clone());
        Some(kept)
    }
    /// It is to be woken by a scheduler, which may have been moved: then so is the program. Answers
    /// whether it is still kept, and by this one.
    pub fn stays(&self, scheduler: usize) -> bool {
        let mut at = lock(&self.at);
        let Some(was) = at.filter(|_| scheduler == self.scheduler) else { return false };
        if here(&self.all).is_some_and(|here| here != was) {
            let to = placement::settle(scheduler, &self.all).filter(|to| *to != was);
            *at = to.filter(|to| to.keep(self.pid).is_ok()).or(*at);
        }
        true
    }
    /// Has nobody else said where it may run? So of one that was let go.
    pub fn is_ours(&self) -> bool {
        lock(&self.at).is_none_or(|at| Processors::of(self.pid) == Ok(at))
    }
    /// It may run where it might before.
    pub fn let_go(&self) {
        let mut at = lock(&self.at);
        if at.take().is_some_and(|at| Processors::of(self.pid) == Ok(at)) {
            // It may have ended, by which nothing is lost.
            let _ = self.all.keep(self.pid);
        }
    }
}

fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(|e| e.into_inner())
}
/// The processor this thread runs on, if it is one of these.
fn here(all: &Processors) -> Option<Processors> {
    Processors::here().filter(|here| all.has(here))
}

/// This thread, which runs where it does only until this is dropped.
pub(crate) struct Here(Processors);
impl Here {
    /// None where there is no other place, or it may not say so.
    pub fn stay() -> Option<Here> {
        let all = Processors::of(0).ok().filter(|all| all.count() > 1)?;
        here(&all)?.keep(0).ok()?;
        Some(Here(all))
    }
}
impl Drop for Here {
    fn drop(&mut self) {
        let _ = self.0.keep(0);
    }
}

/// Those that one scheduler keeps. Each scheduler has cache lines of its own.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Keeps {
    scheduler: usize,
    any: AtomicBool,
    /// Times in a row that events came one by one; only the scheduler asks.
    alone: AtomicU32,
    list: Mutex<Vec<Arc<Kept>>>,
}

kvik_state::vm_state! {
    static KEEPS: OnceLock<Box<[Keeps]>> = OnceLock::new();
}

fn all() -> &'static [Keeps] {
    let of = |scheduler| Keeps { scheduler, ..Keeps::default() };
    KEEPS.get_or_init(|| (0..poll::count()).map(of).collect())
}
/// Those that a scheduler keeps where it runs.
pub(crate) fn keeps(scheduler: usize) -> Option<&'static Keeps> {
    let all = all();
    all.get(scheduler % all.len().max(1))
}

impl Keeps {
    fn add(&self, kept: Arc<Kept>) {
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
    /// The scheduler waits for events, for at most this long and if it keeps any no longer than it
    /// has patience; then it lets them go, and answers 0.
    ///
    /// Most have answered by now, as they ran when they were written to. One that is yet to run does
    /// so here when the scheduler sleeps, and is not to wake it elsewhere, for there it would follow.
    /// Where several talk at once, the others are at work and there is no processor to go to: then to
    /// say so is only dear.
    pub fn wait(&self, from: &Poller, to: &mut Events, timeout: Option<Duration>) -> Result<usize> {
        if !self.any.load(Relaxed) {
            return from.wait(to, timeout);
        }
        let told = self.count(from.wait(to, Some(Duration::ZERO)));
        if told != Ok(0) || timeout.is_some_and(|t| t.is_zero()) {
            return told;
        }
        let is_alone = self.alone.load(Relaxed) >= ALONE;
        let here = if is_alone { Here::stay() } else { None };
        let told = self.count(from.wait(to, Some(timeout.map_or(PATIENCE, |t| t.min(PATIENCE)))));
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

/// Lets go of all: the machine ends.
pub fn let_go_all() {
    all().iter().for_each(Keeps::let_go);
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};
    use std::time::Instant;

    use kvik_state::Vm;

    use super::*;

    #[test]
    fn it_follows_and_is_let_go() {
        Vm::new().enter(|| {
            let all = Processors::of(0).unwrap();
            let mut cat = Command::new("/bin/cat").stdin(Stdio::piped()).spawn().unwrap();
            let pid = cat.id() as i32;
            let from = Here::stay();
            assert_eq!(from.is_some(), all.count() > 1);
            let first = Processors::here().unwrap();
            let kept = Kept::new(pid, all, 0).unwrap();
            assert!(kept.stays(0) && kept.is_ours() && Processors::of(pid) == Ok(first));
            drop(from);
            // To another processor, if there is one.
            let other = |p: &Processors| *p != first;
            if let Some(second) = all.each().find(other) {
                second.keep(0).unwrap();
                assert!(kept.stays(0) && Processors::of(pid) == Ok(second));
                all.keep(0).unwrap();
            }
            // Nothing is heard of it.
            let (poller, mut events) = (Poller::new().unwrap(), Box::<Events>::default());
            let keeps = keeps(0).unwrap();
            let begun = Instant::now();
            assert_eq!(keeps.wait(&poller, &mut events, Some(60 * PATIENCE)), Ok(0));
            assert!(begun.elapsed() >= PATIENCE);
            assert!(!kept.stays(0) && kept.is_ours() && Processors::of(pid) == Ok(all));
            assert_eq!(Processors::of(0), Ok(all));
            // Now it waits as long as it is asked to.
            let begun = Instant::now();
            assert_eq!(keeps.wait(&poller, &mut events, Some(3 * PATIENCE)), Ok(0));
            assert!(begun.elapsed() >= 3 * PATIENCE);
            // Who is woken says so, be there programs or not.
            let kept = Kept::new(pid, all, 0).unwrap();
            poller.wake();
            assert_eq!(keeps.wait(&poller, &mut events, None), Ok(1));
            assert!(kept.stays(0));
            let_go_all();
            assert!(!kept.stays(0) && Processors::of(pid) == Ok(all));
            drop(cat.stdin.take());
            cat.wait().unwrap();
        })
    }
}
