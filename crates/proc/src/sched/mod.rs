//! Schedulers: one thread each, with run queues that only this thread touches.
//!
//! A woken process goes to the tail of the waker's queue, in OTP's order. There is no work
//! stealing: a scheduler gives half of its work to a sleeping one if processes use up their time
//! slices or have waited long.

mod context_switch;
mod deferred_monitor;
pub mod histogram;
mod idle_heaps;
mod latency_sampler;
mod local;
mod long_collections;
pub(crate) mod mailbox_latency;
pub mod metrics_page;
pub(crate) mod microstate;
pub mod microstate_timing;
pub mod online;
pub mod parking;
mod queues;
mod run;
mod scavenger;
mod wake_prefetch;

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use kvik_sync::inbox::{Inbox, InboxNode, Push};
use kvik_sync::{single_threaded, Parker};

use crate::hooks::hooks;
use crate::process::{Priority, QueuedToken, RunToken};
use crate::signal_types::Signal;
use crate::timer_queue::{At, Due};

pub use context_switch::to_next;
pub(crate) use deferred_monitor::{defer_monitor, deferred_to, flush_monitor_to, take_deferred};
use local::local;
pub(crate) use local::{
    continue_exit_later, keep_unparked, take_unparked, with_queued, with_queued_any,
};
pub use local::{current, is_scheduler, look_after_turn, note_collection, used_in_turn};
pub use run::REDUCTIONS;

#[derive(Clone, Debug)]
pub struct SchedulerConfig {
    pub schedulers: usize,
    /// Microseconds to look for work before sleeping.
    pub spin_us: u64,
}

impl Default for SchedulerConfig {
    fn default() -> Self {
        SchedulerConfig { schedulers: online_cpus(), spin_us: 0 }
    }
}

/// Processors this program may use.
pub fn online_cpus() -> usize {
    kvik_env::thread::available_parallelism().map_or(1, |n| n.get())
}

/// Work that a scheduler receives from other threads.
enum Work {
    Run(RunToken),
    Timer(At, Due),
    /// A timer in its queue was cancelled.
    Forget(At, Due),
    /// A signal that only this scheduler may send (see `kvik_sync::single_threaded`).
    Signal(u32, Signal),
    Raise(u32, Priority),
    /// Another thread has collected a process's heap for this scheduler.
    Collected(Box<long_collections::Collected>),
    /// A function that each scheduler calls.
    Call(Arc<dyn Fn() + Send + Sync>),
    /// A function that this scheduler calls.
    CallOnce(Box<dyn FnOnce() + Send>),
}

/// The part of a scheduler that other threads see. It has cache lines of its own, because the
/// scheduler writes its counters with each time slice.
#[repr(align(128))]
pub struct Scheduler {
    inbound: Inbox<Work>,
    parker: Parker,
    pub counters: SchedulerCounters,
    pub meter: microstate::MicrostateClock,
    page: metrics_page::Page,
}

impl Scheduler {
    fn new(id: usize) -> Scheduler {
        Scheduler {
            inbound: Inbox::default(),
            parker: Parker::default(),
            counters: SchedulerCounters::default(),
            meter: microstate::MicrostateClock::new(),
            page: metrics_page::page(id),
        }
    }
}

/// Written by the scheduler alone, read by any thread.
#[derive(Default)]
pub struct SchedulerCounters {
    pub turns: AtomicU64,
    pub reductions: AtomicU64,
    pub queued: AtomicUsize,
    pub given: AtomicU64,
    /// Nanoseconds asleep.
    pub slept: AtomicU64,
    /// When the current sleep began; 0 while awake.
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

/// Bytes of a scheduler thread's stack; only touched pages take memory. Deep recursion in the
/// runtime (match specifications, regular expressions) has limits that fit.
pub const STACK: usize = 8 << 20;

/// To be called before any process exists: with one scheduler, only its thread changes inboxes.
pub fn prepare(c: &SchedulerConfig) {
    kvik_env::clock::tsc::begin();
    if c.schedulers <= 1 {
        kvik_sync::single_threaded::reserve();
    }
}

/// Starts the schedulers. Later calls do nothing.
pub fn start(c: &SchedulerConfig) -> std::io::Result<()> {
    let n = c.schedulers.clamp(1, 1024);
    metrics_page::publish(n);
    if ALL.set((0..n).map(Scheduler::new).collect()).is_err() {
        return Ok(());
    }
    for (i, early) in (0..n).zip(std::iter::once(early()).chain(std::iter::repeat_with(Vec::new))) {
        let spin = c.spin_us;
        let name = format!("sched {}", i + 1);
        kvik_env::thread::spawn(&name, Some(STACK), move || {
            let _end = EndsNode;
            run::scheduler(i, spin, early);
        })?;
    }
    scavenger::start()
}
/// Stops each scheduler at the end of its time slice.
pub fn stop() {
    STOP.store(true, Ordering::Relaxed);
    (0..all().len()).for_each(wake_up);
}

/// Ends the program if a panic, a fault of this VM, leaves a scheduler: without it the node would
/// stand still.
struct EndsNode;

impl Drop for EndsNode {
    fn drop(&mut self) {
        if kvik_env::thread::panicking() {
            std::process::abort();
        }
    }
}

/// Work queued before the schedulers started.
struct Early(Vec<Work>);

impl Drop for Early {
    /// The VM ends without having run: frees its processes.
    fn drop(&mut self) {
        for work in self.0.drain(..) {
            if let Work::Run(t) = work {
                t.finish();
            }
        }
    }
}

kvik_state::vm_state! {
    static EARLY_WORK: std::sync::Mutex<Early> = std::sync::Mutex::new(Early(Vec::new()));
}

fn early() -> Vec<Work> {
    std::mem::take(&mut EARLY_WORK.lock().unwrap_or_else(|e| e.into_inner()).0)
}

/// Puts a runnable process at the tail of a queue.
pub fn enqueue(t: RunToken) {
    if let Err(t) = local::enqueue(t) {
        hand(Work::Run(t));
    }
}
/// Queues a process that was woken.
#[inline(always)]
pub(crate) fn wake(t: RunToken) {
    if let Err(t) = local::wake(t) {
        hand(Work::Run(t));
    }
}
/// Like [`wake`], for a system task that runs at `priority` at least. The process gets no
/// placeholder at its own priority, as in OTP, where only signals give it one.
pub(crate) fn wake_as(t: RunToken, priority: Priority) {
    if priority >= t.task().priority() {
        return wake(t);
    }
    let pid = t.task().pid;
    if let Err(t) = local::wake_as(t, priority) {
        hand(Work::Run(t));
        raise(pid, priority);
    }
}
/// Like [`wake`]; from a non-scheduler thread, the process goes to its last scheduler.
pub(crate) fn wake_at_home(t: RunToken) {
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
/// Removes a timer from that scheduler's queue, without waking the scheduler.
pub(crate) fn forget_timer(scheduler: usize, at: At, due: Due) {
    if let Some(l) = local().filter(|l| l.id == scheduler) {
        l.timers.borrow_mut().remove(at, due);
    } else if let Some(s) = all().get(scheduler) {
        s.inbound.push(InboxNode::new(Work::Forget(at, due)));
    }
}
/// Hands over a signal that only the single scheduler may send.
#[cold]
pub(crate) fn hand_signal(pid: u32, s: Signal) {
    hand(Work::Signal(pid, s));
}

/// Raises a process to `to` for a request just made, if that is above its own priority: the
/// requester may keep all lower priorities from running.
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
    // The process may be in any other scheduler's queue, so all are told.
    let others = (0..online::active()).filter(|i| own.is_none_or(|l| l.id != *i));
    others.for_each(|i| send_work(i, Work::Raise(pid, to)));
}

/// Calls a function on each scheduler, between two time slices.
pub fn call_on_each(f: impl Fn() + Send + Sync + 'static) {
    let f: Arc<dyn Fn() + Send + Sync> = Arc::new(f);
    (0..all().len()).for_each(|i| send_work(i, Work::Call(f.clone())));
}

/// Calls a function between two time slices: on this scheduler or, from another thread, on the first
/// one. Before the schedulers have started it is called at once.
pub fn call_between_slices(f: impl FnOnce() + Send + 'static) {
    match ALL.get() {
        Some(_) => send_work(local().map_or(0, |l| l.id), Work::CallOnce(Box::new(f))),
        None => f(),
    }
}

/// Whether signals that this thread sends go straight to their receivers. With one scheduler, those
/// of other threads are handed to it, and what it sends itself may overtake them.
pub fn may_send() -> bool {
    !single_threaded::is_elsewhere()
}

/// Gives work from a non-scheduler thread to a scheduler, preferably a sleeping one.
fn hand(w: Work) {
    let Some(all) = ALL.get() else {
        EARLY_WORK.lock().unwrap_or_else(|e| e.into_inner()).0.push(w);
        return;
    };
    let mut able = all.iter().take(online::active());
    let i = able.position(|s| s.parker.is_asleep()).unwrap_or(0);
    send_work(i, w);
}
fn send_work(i: usize, w: Work) {
    if let Push::Closed(w) = ALL.get().map_or(all(), |v| v)[i].inbound.push(InboxNode::new(w)) {
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
/// Updates this scheduler's queue-length counter now instead of at the next check.
pub fn note_queue() {
    if let Some(l) = local() {
        l.me.counters.queued.store(l.waiting(), Ordering::Relaxed);
    }
}
/// Takes all processes queued or unparked on this scheduler, for shutdown, or to be given back by
/// [`enqueue`] (between time slices, when the unparked slot is empty).
pub fn take_own() -> Vec<RunToken> {
    let Some(l) = local() else { return Vec::new() };
    l.me.inbound.take(|_| ()).for_each(|w| l.work(w));
    let mut queue = l.queues.borrow_mut();
    let near = l.next.take().map(QueuedToken::take).into_iter().chain(l.unparked.take());
    near.chain(std::iter::from_fn(|| queue.pop())).collect()
}
/// Whether that scheduler is asleep.
pub fn is_idle(i: usize) -> bool {
    all().get(i).is_none_or(|s| s.parker.is_asleep())
}
/// Processes in run queues, all schedulers together.
pub fn run_queue_len() -> usize {
    all().iter().map(|s| s.counters.queued.load(Ordering::Relaxed)).sum()
}
