//! Work that may wait long (a FIFO, a terminal, a disk that has to be written to), done by threads
//! that are no schedulers.
//!
//! A BIF calls [`hand_off`] and returns what that gives: its process waits in
//! `erts_internal:await_result/1` until the thread sends `{Ref, Answer}`. Threads are made when
//! there is work and none is free, and go when there was none for a while.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

use kvik_heap::Heap;
use kvik_proc::clock;
use kvik_proc::process::flag;
use kvik_proc::sched::meter::{Meter, State};
use kvik_proc::signal::post;
use kvik_proc::{BifResult, Proc, Raised};
use kvik_term::{am, Term};

type Job = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Pool {
    jobs: VecDeque<Job>,
    /// Threads that wait for work.
    idle: usize,
    threads: usize,
    /// Which numbers threads have.
    numbers: Vec<bool>,
}

/// What others see of a thread.
struct Seen {
    meter: Meter,
    /// Nanoseconds at work, and since when it is at work now (0: it isn't).
    busy: AtomicU64,
    began: AtomicU64,
}
static SEEN: [Seen; MAX_THREADS] =
    [const { Seen { meter: Meter::new(), busy: AtomicU64::new(0), began: AtomicU64::new(0) } };
        MAX_THREADS];

/// Threads that are there, or might be: so many at least.
fn seen(least: usize) -> impl Iterator<Item = &'static Seen> {
    let used = pool().numbers.len();
    SEEN.iter().take(used.max(least))
}
/// What each spends its time on.
pub fn meters(least: usize) -> Vec<&'static Meter> {
    seen(least).map(|s| &s.meter).collect()
}
/// Nanoseconds that each was at work.
pub fn busy(now: u64, least: usize) -> Vec<u64> {
    let of = |s: &Seen| {
        let began = s.began.load(Relaxed);
        s.busy.load(Relaxed) + if began == 0 { 0 } else { now.saturating_sub(began) }
    };
    seen(least).take(least).map(of).collect()
}

/// So many may wait at once; what comes then stands in a queue.
const MAX_THREADS: usize = 256;
/// How long a thread waits for work before it goes.
const PATIENCE: Duration = Duration::from_secs(10);

static POOL: Mutex<Pool> =
    Mutex::new(Pool { jobs: VecDeque::new(), idle: 0, threads: 0, numbers: Vec::new() });
static BELL: Condvar = Condvar::new();

fn pool() -> MutexGuard<'static, Pool> {
    POOL.lock().unwrap_or_else(|e| e.into_inner())
}

/// Has something done by a thread of the pool; here, where there can be none.
pub fn run(job: Job) {
    let mut p = pool();
    p.jobs.push_back(job);
    if p.idle >= p.jobs.len() || p.threads >= MAX_THREADS {
        BELL.notify_one();
        return;
    }
    p.threads += 1;
    drop(p);
    if std::thread::Builder::new().name("blocking".into()).spawn(worker).is_err() {
        let mut p = pool();
        p.threads -= 1;
        let job = if p.threads == 0 { p.jobs.pop_back() } else { None };
        drop(p);
        job.into_iter().for_each(|j| j());
    }
}

fn worker() {
    let mut p = pool();
    let number = p.numbers.iter().position(|used| !used).unwrap_or(p.numbers.len());
    match p.numbers.get_mut(number) {
        Some(used) => *used = true,
        None => p.numbers.push(true),
    }
    // There are never more threads than that.
    let me = &SEEN[number % MAX_THREADS];
    loop {
        if let Some(job) = p.jobs.pop_front() {
            drop(p);
            me.work(job);
            p = pool();
            continue;
        }
        p.idle += 1;
        let (guard, waited) = BELL.wait_timeout(p, PATIENCE).unwrap_or_else(|e| e.into_inner());
        p = guard;
        p.idle -= 1;
        if waited.timed_out() && p.jobs.is_empty() {
            p.threads -= 1;
            if let Some(used) = p.numbers.get_mut(number) {
                *used = false;
            }
            return;
        }
    }
}
impl Seen {
    fn work(&self, job: Job) {
        self.meter.enter(State::Emulator);
        let began = clock::now();
        self.began.store(began.max(1), Relaxed);
        job();
        self.began.store(0, Relaxed);
        self.busy.fetch_add(clock::now().saturating_sub(began), Relaxed);
        self.meter.enter(State::Sleep);
    }
}

/// Has `work` done by a thread that may wait; `answer` makes the BIF's value of what it gives.
pub fn hand_off<T: Send + 'static>(
    p: &Proc,
    work: impl FnOnce() -> T + Send + 'static,
    answer: impl for<'h> FnOnce(&'h Heap, T) -> Term<'h> + Send + 'static,
) -> Raised {
    hand_on(p, |done| {
        run(Box::new(move || {
            let result = work();
            done(Box::new(|h| answer(h, result)))
        }))
    })
}

/// What a BIF's value is built by.
pub type Value = Box<dyn for<'h> FnOnce(&'h Heap) -> Term<'h> + Send>;
/// To be called with it.
pub type Done = Box<dyn FnOnce(Value) + Send>;

/// Has `begin` see to it that somebody calls what it is given, some time.
pub fn hand_on(p: &Proc, begin: impl FnOnce(Done)) -> Raised {
    let (me, n) = (p.pid(), kvik_heap::build::next_ref());
    begin(Box::new(move |value| {
        post(me, |h| h.tuple(&[h.ref_of_numbers(n), value(h)]));
    }));
    p.set_flag(flag::HANDED_OFF, true);
    let wait = kvik_code::export(am::erts_internal, am::await_result, 1);
    p.trap(wait, &[p.heap.ref_of_numbers(n)])
}

/// The same, but at once on this scheduler if it does not wait.
pub fn answer<'h, T: Send + 'static>(
    p: &'h Proc,
    waits: bool,
    work: impl FnOnce() -> T + Send + 'static,
    answer: impl for<'a> FnOnce(&'a Heap, T) -> Term<'a> + Send + 'static,
) -> BifResult<'h> {
    if waits {
        return Err(hand_off(p, work, answer));
    }
    Ok(answer(&p.heap, work()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn those_that_wait_do_not_hold_up_others() {
        let (done, results) = mpsc::channel();
        let gates: Vec<_> = (0..20)
            .map(|i| {
                let (gate, wait) = mpsc::channel::<()>();
                let done = done.clone();
                run(Box::new(move || {
                    let _ = wait.recv();
                    let _ = done.send(i);
                }));
                gate
            })
            .collect();
        for (i, gate) in gates.into_iter().enumerate().rev() {
            gate.send(()).unwrap();
            assert_eq!(results.recv_timeout(Duration::from_secs(10)), Ok(i));
        }
    }
}
