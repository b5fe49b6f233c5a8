//! All schedulers stand still between two turns, while one of them does something alone.
//!
//! Who asks sets a flag that every scheduler looks at when it has looked for events, and wakes those
//! that sleep. The first to come leads: it waits for the others, does what was asked, and lets them
//! go. Those that stand still do what the leader has for them, on their own threads: only a
//! scheduler reaches its queue.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use crate::poll;

type Task = fn(&Alone);
type Job = Arc<dyn Fn() + Send + Sync>;

#[derive(Default)]
struct State {
    /// What was asked, until somebody leads.
    task: Option<Task>,
    /// Schedulers that stand still.
    standing: usize,
    /// What those have still to do, by their numbers.
    jobs: Vec<(usize, Job)>,
    /// Jobs that are under way.
    busy: usize,
}

kvik_state::vm_state! {
    static ASKED: AtomicBool = AtomicBool::new(false);
    static STATE: Mutex<State> =
        Mutex::new(State { task: None, standing: 0, jobs: Vec::new(), busy: 0 });
    static BELL: Condvar = Condvar::new();
}

/// How often the leader sees to signals while others are not there yet.
const LOOK: Duration = Duration::from_millis(50);

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(|e| e.into_inner())
}
fn wait(s: MutexGuard<'static, State>) -> MutexGuard<'static, State> {
    BELL.wait(s).unwrap_or_else(|e| e.into_inner())
}

/// All other schedulers stand still.
pub struct Alone {
    others: Vec<usize>,
}

impl Alone {
    /// Has each of the others do it; comes back when all have.
    pub fn on_others(&self, job: impl Fn() + Send + Sync + 'static) {
        let job: Job = Arc::new(job);
        let mut s = state();
        s.jobs.extend(self.others.iter().map(|i| (*i, job.clone())));
        BELL.notify_all();
        while !s.jobs.is_empty() || s.busy > 0 {
            s = wait(s);
        }
    }
}

/// Asks for it; it begins when all schedulers have come to an end of their turns. False where
/// something was asked for already.
pub fn ask(task: Task) -> bool {
    if ASKED.swap(true, Ordering::AcqRel) {
        return false;
    }
    state().task = Some(task);
    (0..poll::count()).for_each(poll::wake);
    true
}

/// To be called by each scheduler between turns. The one that leads calls `meanwhile` now and then as
/// it waits for the others.
#[inline]
pub fn point(me: usize, meanwhile: fn()) {
    if ASKED.load(Ordering::Acquire) {
        stop(me, meanwhile);
    }
}
#[cold]
fn stop(me: usize, meanwhile: fn()) {
    let mut s = state();
    match s.task.take() {
        Some(task) => lead(s, me, task, meanwhile),
        None if ASKED.load(Ordering::Acquire) => {
            s.standing += 1;
            BELL.notify_all();
            while ASKED.load(Ordering::Acquire) {
                s = match s.jobs.iter().position(|j| j.0 == me) {
                    Some(i) => work(s, i),
                    None => wait(s),
                };
            }
            s.standing -= 1;
            BELL.notify_all();
        }
        None => {}
    }
}
/// Does one of the jobs.
fn work(mut s: MutexGuard<'static, State>, i: usize) -> MutexGuard<'static, State> {
    let (_, job) = s.jobs.swap_remove(i);
    s.busy += 1;
    drop(s);
    job();
    let mut s = state();
    s.busy -= 1;
    BELL.notify_all();
    s
}
fn lead(mut s: MutexGuard<'static, State>, me: usize, task: Task, meanwhile: fn()) {
    let others: Vec<usize> = (0..poll::count()).filter(|i| *i != me).collect();
    while s.standing < others.len() {
        s = kvik_env::thread::wait_timeout(&BELL, s, LOOK).0;
        meanwhile();
    }
    drop(s);
    task(&Alone { others });
    let mut s = state();
    ASKED.store(false, Ordering::Release);
    BELL.notify_all();
    while s.standing > 0 {
        s = wait(s);
    }
}
