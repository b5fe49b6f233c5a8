//! Stop the world: all schedulers wait between two time slices while one of them works alone.
//!
//! A request sets a flag, which every scheduler checks after it has looked for events, and wakes
//! the sleeping schedulers. The first to check leads: it waits for the others, runs the task, and
//! lets them go. Stopped schedulers run the leader's jobs on their own threads, because only a
//! scheduler reaches its run queue.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Duration;

use crate::poll;

type Task = fn(&StoppedWorld);
type Job = Arc<dyn Fn() + Send + Sync>;

#[derive(Default)]
struct State {
    /// The requested task, until a scheduler takes the lead.
    task: Option<Task>,
    /// Number of stopped schedulers.
    standing: usize,
    /// Jobs that have not begun, by scheduler number.
    jobs: Vec<(usize, Job)>,
    /// Number of running jobs.
    busy: usize,
}

kvik_state::vm_state! {
    static ASKED: AtomicBool = AtomicBool::new(false);
    static STATE: Mutex<State> =
        Mutex::new(State { task: None, standing: 0, jobs: Vec::new(), busy: 0 });
    static CHANGED: Condvar = Condvar::new();
}

/// How often the leader handles signals while it waits for others.
const SIGNAL_POLL_INTERVAL: Duration = Duration::from_millis(50);

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(|e| e.into_inner())
}
fn wait(s: MutexGuard<'static, State>) -> MutexGuard<'static, State> {
    CHANGED.wait(s).unwrap_or_else(|e| e.into_inner())
}

/// All other schedulers stand still.
pub struct StoppedWorld {
    others: Vec<usize>,
}

impl StoppedWorld {
    /// Runs `job` on each of the others; returns when all have done it.
    pub fn on_others(&self, job: impl Fn() + Send + Sync + 'static) {
        let job: Job = Arc::new(job);
        let mut s = state();
        s.jobs.extend(self.others.iter().map(|i| (*i, job.clone())));
        CHANGED.notify_all();
        while !s.jobs.is_empty() || s.busy > 0 {
            s = wait(s);
        }
    }
}

/// Requests a task; it runs when all schedulers have ended their time slices. False if another
/// request is pending.
pub fn run_alone(task: Task) -> bool {
    if ASKED.swap(true, Ordering::AcqRel) {
        return false;
    }
    state().task = Some(task);
    (0..poll::count()).for_each(poll::wake);
    true
}

/// Called by each scheduler between time slices. The leader calls `meanwhile` now and then while it
/// waits for the others.
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
            CHANGED.notify_all();
            while ASKED.load(Ordering::Acquire) {
                s = match s.jobs.iter().position(|j| j.0 == me) {
                    Some(i) => work(s, i),
                    None => wait(s),
                };
            }
            s.standing -= 1;
            CHANGED.notify_all();
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
    CHANGED.notify_all();
    s
}
fn lead(mut s: MutexGuard<'static, State>, me: usize, task: Task, meanwhile: fn()) {
    let others: Vec<usize> = (0..poll::count()).filter(|i| *i != me).collect();
    while s.standing < others.len() {
        s = kvik_env::thread::wait_timeout(&CHANGED, s, SIGNAL_POLL_INTERVAL).0;
        meanwhile();
    }
    drop(s);
    task(&StoppedWorld { others });
    let mut s = state();
    ASKED.store(false, Ordering::Release);
    CHANGED.notify_all();
    while s.standing > 0 {
        s = wait(s);
    }
}
