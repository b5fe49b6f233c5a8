//! Schedulers: one thread each, with run queues only it touches.
//!
//! A process that is woken goes to the tail of the waker's own queue, in OTP's order. Nothing is ever
//! stolen: a scheduler gives half of its work to one that sleeps when there are processes that use up
//! their turns, or such as have waited long.

pub mod board;
mod crowd;
mod deferred_monitor;
pub mod histogram;
mod idle_heaps;
mod local;
pub(crate) mod mail;
pub mod meter;
pub(crate) mod microstate;
pub mod online;
pub mod parking;
mod queues;
mod run;
mod scavenger;
mod stopwatch;
mod switch;

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::OnceLock;

use kvik_sync::inbox::{Inbox, Node, Push};
use kvik_sync::Parker;

use crate::hooks::hooks;
use crate::process::{Priority, Rest, Ticket};
use crate::signal_types::Signal;
use crate::timer_queue::{At, Due};

pub(crate) use deferred_monitor::{defer_monitor, deferred_to, flush_monitor_to};
use local::local;
pub use local::{current, is_scheduler, look_after_turn, note_collection, used_in_turn};
pub(crate) use local::{from_seat, say_later, sit_down, with_rest, with_rest_any};
pub use run::REDUCTIONS;
pub use switch::to_next;

#[derive(Clone, Debug)]
pub struct Config {
    pub schedulers: usize,
    /// Microseconds to look for work before sleeping.
    pub spin_us: u64,
}

impl Default for Config {
    fn default() -> Self {
        Config { schedulers: online_cpus(), spin_us: 0 }
    }
}

/// Processors this program may use.
pub fn online_cpus() -> usize {
    kvik_env::thread::available_parallelism().map_or(1, |n| n.get())
}

/// What a scheduler gets from other threads.
enum Work {
    Run(Ticket),
    Timer(At, Due),
    /// A timer in its queue was cancelled.
    Forget(At, Due),
    /// Where it alone may send it (see `kvik_sync::solo`).
    Signal(u32, Signal),
    Raise(u32, Priority),
}

/// What other threads see of a scheduler. In cache lines of its own, as it writes its counters with
/// each turn.
#[repr(align(128))]
pub struct Scheduler {
    inbound: Inbox<Work>,
    parker: Parker,
    pub counters: Counters,
    pub meter: microstate::Meter,
    page: board::Page,
}

impl Scheduler {
    fn new(id: usize) -> Scheduler {
        Scheduler {
            inbound: Inbox::default(),
            parker: Parker::default(),
            counters: Counters::default(),
            meter: microstate::Meter::new(),
            page: board::page(id),
        }
    }
}

/// Written by the scheduler, read by anybody.
#[derive(Default)]
pub struct Counters {
    pub turns: AtomicU64,
    pub reductions: AtomicU64,
    pub queued: AtomicUsize,
    pub given: AtomicU64,
    /// Nanoseconds asleep.
    pub slept: AtomicU64,
    /// Since when it is asleep; 0 while it isn't.
    pub asleep: AtomicU64,
    pub started: AtomicU64,
}

kvik_state::vm_state! {
    static ALL: OnceLock<Vec<Scheduler>> = OnceLock::new();
    static IDLE: AtomicUsize = AtomicUsize::new(0);
    static STOP: AtomicBool = AtomicBool::new(false);
}

pub fn all() -> &'static [Scheduler] {
    ALL.get().map_or(&[], |v| v)
}

/// Bytes of a scheduler thread's stack, of which only what is used takes memory. What goes deep in
/// the runtime (match specifications, regular expressions) has limits that fit.
pub const STACK: usize = 8 << 20;

/// To be called before there are processes: with one scheduler its thread alone changes inboxes.
pub fn prepare(c: &Config) {
    kvik_env::clock::ticks::begin();
    if c.schedulers <= 1 {
        kvik_sync::solo::reserve();
    }
}

/// Starts the schedulers. The first call counts.
pub fn start(c: &Config) -> std::io::Result<()> {
    let n = c.schedulers.clamp(1, 1024);
    board::put_up(n);
    if ALL.set((0..n).map(Scheduler::new).collect()).is_err() {
        return Ok(());
    }
    for (i, early) in (0..n).zip(std::iter::once(early()).chain(std::iter::repeat_with(Vec::new))) {
        let spin = c.spin_us;
        let name = format!("sched {}", i + 1);
        kvik_env::thread::spawn(&name, Some(STACK), move || run::scheduler(i, spin, early))?;
    }
    scavenger::start()
}
/// Ends the schedulers when their turns are over.
pub fn stop() {
    STOP.store(true, Ordering::Relaxed);
    (0..all().len()).for_each(wake_up);
}

/// Work that came before there were schedulers.
struct Early(Vec<Work>);

impl Drop for Early {
    /// The VM goes without having run: so do its processes.
    fn drop(&mut self) {
        for work in self.0.drain(..) {
            if let Work::Run(t) = work {
                t.finish();
            }
        }
    }
}

kvik_state::vm_state! {
    static EARLY: std::sync::Mutex<Early> = std::sync::Mutex::new(Early(Vec::new()));
}

fn early() -> Vec<Work> {
    std::mem::take(&mut EARLY.lock().unwrap_or_else(|e| e.into_inner()).0)
}

/// A process may run: to the back of a queue.
pub fn enqueue(t: Ticket) {
    if let Err(t) = local::enqueue(t) {
        hand(Work::Run(t));
    }
}
/// A process was woken.
#[inline(always)]
pub(crate) fn wake(t: Ticket) {
    if let Err(t) = local::wake(t) {
        hand(Work::Run(t));
    }
}
/// The same, for a task that it does as one of that priority at least. It has no place among those of its
/// own priority, as in OTP, where only signals give it one.
pub(crate) fn wake_as(t: Ticket, priority: Priority) {
    if priority >= t.task().priority() {
        return wake(t);
    }
    let pid = t.task().pid;
    if let Err(t) = local::wake_as(t, priority) {
        hand(Work::Run(t));
        raise(pid, priority);
    }
}
/// The same from a thread that is no scheduler, and where the process ran last.
pub(crate) fn wake_at_home(t: Ticket) {
    let home = t.task().home() as usize;
    match home < all().len() && !is_scheduler() {
        true => send_work(home, Work::Run(t)),
        false => wake(t),
    }
}
pub(crate) fn add_timer(at: At, due: Due) {
    if !local::add_timer(at, due) {
        hand(Work::Timer(at, due));
    }
}
/// A timer in that scheduler's queue will not ring. Nobody is woken for it.
pub(crate) fn forget_timer(scheduler: usize, at: At, due: Due) {
    if let Some(l) = local().filter(|l| l.id == scheduler) {
        l.timers.borrow_mut().remove(at, due);
    } else if let Some(s) = all().get(scheduler) {
        s.inbound.push(Node::new(Work::Forget(at, due)));
    }
}
/// A signal that only the one scheduler may send.
#[cold]
pub(crate) fn hand_signal(pid: u32, s: Signal) {
    hand(Work::Signal(pid, s));
}

/// Has a process do what it was just asked to do as one of that priority, if that is more than its
/// own: who asked may keep all others from running.
pub fn raise(pid: u32, to: Priority) {
    let guard = kvik_sync::pin();
    let Some(task) = crate::process::table().get(pid, &guard) else { return };
    if to >= task.priority() {
        return;
    }
    drop(guard);
    let own = local();
    if own.is_some_and(|l| l.raise(pid, to)) {
        return;
    }
    // In whose queue it waits nobody else can tell.
    let others = (0..online::active()).filter(|i| own.is_none_or(|l| l.id != *i));
    others.for_each(|i| send_work(i, Work::Raise(pid, to)));
}

/// Gives work to a scheduler, from a thread that is none; one that sleeps if there is one.
fn hand(w: Work) {
    let Some(all) = ALL.get() else {
        EARLY.lock().unwrap_or_else(|e| e.into_inner()).0.push(w);
        return;
    };
    let mut able = all.iter().take(online::active());
    let i = able.position(|s| s.parker.is_asleep()).unwrap_or(0);
    send_work(i, w);
}
fn send_work(i: usize, w: Work) {
    if let Push::Closed(w) = ALL.get().map_or(all(), |v| v)[i].inbound.push(Node::new(w)) {
        drop(w);
    }
    wake_up(i);
}
fn wake_up(i: usize) {
    if all()[i].parker.must_wake() {
        IDLE.fetch_sub(1, Ordering::Relaxed);
        (hooks().wake)(i);
    }
}
/// Has the counter of the scheduler this is say how many processes wait in its queue now; else it
/// does that from time to time.
pub fn note_queue() {
    if let Some(l) = local() {
        l.me.counters.queued.store(l.waiting(), Ordering::Relaxed);
    }
}
/// All that waits for its turn on this scheduler, or waited last, taken away: for who ends the
/// program, or gives it back by [`enqueue`] (between turns, when nobody sits in the seat).
pub fn take_own() -> Vec<Ticket> {
    let Some(l) = local() else { return Vec::new() };
    l.me.inbound.take(|_| ()).for_each(|w| l.work(w));
    let mut queue = l.queues.borrow_mut();
    let near = l.next.take().map(Rest::take).into_iter().chain(l.seat.take());
    near.chain(std::iter::from_fn(|| queue.pop())).collect()
}
/// Is that scheduler asleep?
pub fn is_idle(i: usize) -> bool {
    all().get(i).is_none_or(|s| s.parker.is_asleep())
}
/// Processes in run queues, all schedulers together.
pub fn run_queue_len() -> usize {
    all().iter().map(|s| s.counters.queued.load(Ordering::Relaxed)).sum()
}
