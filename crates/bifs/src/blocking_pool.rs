//! A thread pool for calls that may block for long (a FIFO, a terminal, a disk write).
//!
//! A BIF calls [`hand_off`] and returns the result: its process waits in
//! `erts_internal:await_result/1` until the thread sends `{Ref, Answer}`. A thread is started when
//! there is work and none is idle; it exits after `IDLE_TIMEOUT` without work.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use kvik_env::clock::Instant;
use kvik_env::thread::{self, Thread};
use kvik_heap::Heap;
use kvik_proc::clock;
use kvik_proc::process::flag;
use kvik_proc::sched::microstate_timing::{Microstate, MicrostateClock};
use kvik_proc::signal::post;
use kvik_proc::{BifResult, Proc, Raised};
use kvik_term::{am, Term};

type Job = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct Pool {
    jobs: VecDeque<Job>,
    /// Idle threads by number, in LIFO order: the last one's memory is still in the CPU cache, and
    /// surplus threads reach their timeout.
    idle: Vec<(usize, Thread)>,
    /// A thread was woken or started and has not looked for work yet.
    coming: bool,
    threads: usize,
    /// Which thread numbers are in use.
    numbers: Vec<bool>,
}

/// The statistics of a thread that other threads read.
struct WorkerMetrics {
    meter: MicrostateClock,
    /// Nanoseconds spent on jobs, and when the current job began (0: none).
    busy: AtomicU64,
    began: AtomicU64,
}
kvik_state::vm_state! {
    static WORKER_METRICS: [WorkerMetrics; MAX_THREADS] =
        [const { WorkerMetrics { meter: MicrostateClock::new(), busy: AtomicU64::new(0), began: AtomicU64::new(0) } };
            MAX_THREADS];
}

/// The metrics of all threads that exist or existed, at least `least`.
fn seen(least: usize) -> impl Iterator<Item = &'static WorkerMetrics> {
    let used = pool().numbers.len();
    WORKER_METRICS.iter().take(used.max(least))
}
/// The microstate clock of each thread.
pub fn meters(least: usize) -> Vec<&'static MicrostateClock> {
    seen(least).map(|s| &s.meter).collect()
}
/// Nanoseconds that each thread has spent on jobs.
pub fn busy(now: u64, least: usize) -> Vec<u64> {
    let of = |s: &WorkerMetrics| {
        let began = s.began.load(Relaxed);
        s.busy.load(Relaxed) + if began == 0 { 0 } else { now.saturating_sub(began) }
    };
    seen(least).take(least).map(of).collect()
}

/// Maximum number of threads; further jobs wait in the queue.
const MAX_THREADS: usize = 256;
/// How long an idle thread waits before it exits. From then on the scavenger can release the memory
/// that other threads freed in its heap.
const IDLE_TIMEOUT: Duration = Duration::from_secs(2);

kvik_state::vm_state! {
    static POOL: Mutex<Pool> = Mutex::new(Pool {
        jobs: VecDeque::new(),
        idle: Vec::new(),
        coming: false,
        threads: 0,
        numbers: Vec::new(),
    });
}

fn pool() -> MutexGuard<'static, Pool> {
    POOL.lock().unwrap_or_else(|e| e.into_inner())
}

/// How to get a thread that looks for work. [`Call::make`] makes a system call, so release the
/// pool's lock first.
#[must_use]
enum Call {
    Nobody,
    Wake(Thread),
    Make,
}

impl Pool {
    /// Picks a thread to wake or start if there is work, but only one at a time: that thread calls
    /// the next one if there is more. Waking a thread is the most expensive part of a hand-off for
    /// a scheduler, and a burst of calls wakes only one.
    fn call(&mut self) -> Call {
        if self.coming || self.jobs.is_empty() {
            return Call::Nobody;
        }
        let call = match self.idle.pop() {
            Some((_, thread)) => Call::Wake(thread),
            None if self.threads < MAX_THREADS => {
                self.threads += 1;
                Call::Make
            }
            None => return Call::Nobody,
        };
        self.coming = true;
        call
    }
    /// Allocates the lowest unused thread number.
    fn number(&mut self) -> usize {
        let number = self.numbers.iter().position(|used| !used).unwrap_or(self.numbers.len());
        match self.numbers.get_mut(number) {
            Some(used) => *used = true,
            None => self.numbers.push(true),
        }
        number
    }
}

impl Call {
    fn make(self) {
        match self {
            Call::Nobody => {}
            Call::Wake(thread) => thread.unpark(),
            Call::Make => {
                if thread::spawn("blocking", None, worker).is_err() {
                    cannot_make();
                }
            }
        }
    }
}
/// The system refuses further threads: existing ones do the work, or this thread if there are none.
#[cold]
fn cannot_make() {
    let mut p = pool();
    p.threads -= 1;
    p.coming = false;
    let jobs = if p.threads == 0 { std::mem::take(&mut p.jobs) } else { VecDeque::new() };
    drop(p);
    jobs.into_iter().for_each(|j| j());
}

/// Runs a job on a thread of the pool, or on this thread if no thread can be started.
pub fn run(job: Job) {
    let mut p = pool();
    p.jobs.push_back(job);
    let call = p.call();
    drop(p);
    call.make();
}

fn worker() {
    let mut p = pool();
    let number = p.number();
    // `MAX_THREADS` bounds the numbers.
    let me = &WORKER_METRICS[number % MAX_THREADS];
    p.coming = false;
    loop {
        while let Some(job) = p.jobs.pop_front() {
            let call = p.call();
            drop(p);
            call.make();
            me.work(job);
            p = pool();
        }
        match called(p, number) {
            Some(again) => p = again,
            None => return kvik_sys::alloc::call_scavenger(),
        }
        p.coming = false;
    }
}
/// Waits until this thread is called. `None`: the idle timeout has passed and the thread exits.
fn called(mut p: MutexGuard<'static, Pool>, number: usize) -> Option<MutexGuard<'static, Pool>> {
    p.idle.push((number, thread::current()));
    let end = Instant::now() + IDLE_TIMEOUT;
    loop {
        drop(p);
        let left = end.saturating_duration_since(Instant::now());
        thread::park_timeout(left);
        p = pool();
        let Some(at) = p.idle.iter().position(|(n, _)| *n == number) else { return Some(p) };
        if left.is_zero() {
            p.idle.remove(at);
            p.threads -= 1;
            if let Some(used) = p.numbers.get_mut(number) {
                *used = false;
            }
            return None;
        }
    }
}
impl WorkerMetrics {
    fn work(&self, job: Job) {
        self.meter.enter(Microstate::Emulator);
        let began = clock::now();
        self.began.store(began.max(1), Relaxed);
        job();
        self.began.store(0, Relaxed);
        self.busy.fetch_add(clock::now().saturating_sub(began), Relaxed);
        self.meter.enter(Microstate::Sleep);
    }
}

/// Runs `work` on a thread that may block; `answer` builds the BIF's value from its result.
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

/// Builds a BIF's value on the process's heap.
pub type DeferredTerm = Box<dyn for<'h> FnOnce(&'h Heap) -> Term<'h> + Send>;
/// Called with the BIF's value; resumes the process.
pub type Completion = Box<dyn FnOnce(DeferredTerm) + Send>;

/// Suspends the process until the completion passed to `begin` is called, on any thread.
pub fn hand_on(p: &Proc, begin: impl FnOnce(Completion)) -> Raised {
    let (me, n) = (p.pid(), kvik_heap::build::next_ref());
    begin(Box::new(move |value| {
        post(me, |h| h.tuple(&[h.ref_of_numbers(n), value(h)]));
    }));
    p.set_flag(flag::HANDED_OFF, true);
    let wait = kvik_code::export(am::erts_internal, am::await_result, 1);
    p.trap(wait, &[p.heap.ref_of_numbers(n)])
}

/// Like [`hand_off`], but runs the work at once on this scheduler if it cannot block.
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
    fn waiting_calls_do_not_delay_others() {
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
