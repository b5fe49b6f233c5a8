//! Work that may wait long (a FIFO, a terminal, a disk that has to be written to), done by threads
//! that are no schedulers.
//!
//! A BIF calls [`hand_off`] and returns what that gives: its process waits in
//! `erts_internal:await_result/1` until the thread sends `{Ref, Answer}`. Threads are made when
//! there is work and none is free, and go when there was none for a while.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use kvik_env::clock::Instant;
use kvik_env::thread::{self, Thread};
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
    /// Threads that wait for work, by number. Who came last is called first: its memory is still in
    /// the processor's cache, and those that are too many are left to go.
    idle: Vec<(usize, Thread)>,
    /// One was called or made and has not looked for work yet.
    coming: bool,
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
kvik_state::vm_state! {
    static SEEN: [Seen; MAX_THREADS] =
        [const { Seen { meter: Meter::new(), busy: AtomicU64::new(0), began: AtomicU64::new(0) } };
            MAX_THREADS];
}

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
/// How long a thread waits for work before it goes. What others have freed of its memory is free for
/// the scavenger from then on.
const PATIENCE: Duration = Duration::from_secs(2);

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

/// How a thread is had that looks for work. It takes a call to the system: not for who holds the pool.
#[must_use]
enum Call {
    Nobody,
    Wake(Thread),
    Make,
}

impl Pool {
    /// One is called where there is work, but no second while the first is on its way: that one
    /// calls the next if there is more. To wake a thread costs a scheduler more than all else about
    /// handing it work, and of many calls that come at once it makes one.
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
    /// The lowest number that no thread has.
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
/// The system gives no more threads: work is done by those that are there, or here.
#[cold]
fn cannot_make() {
    let mut p = pool();
    p.threads -= 1;
    p.coming = false;
    let jobs = if p.threads == 0 { std::mem::take(&mut p.jobs) } else { VecDeque::new() };
    drop(p);
    jobs.into_iter().for_each(|j| j());
}

/// Has something done by a thread of the pool; here, where there can be none.
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
    // There are never more threads than that.
    let me = &SEEN[number % MAX_THREADS];
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
/// Waits until the thread of that number is called. `None`: it was not for long, and goes.
fn called(mut p: MutexGuard<'static, Pool>, number: usize) -> Option<MutexGuard<'static, Pool>> {
    p.idle.push((number, thread::current()));
    let end = Instant::now() + PATIENCE;
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
