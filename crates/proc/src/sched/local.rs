//! State that belongs to one scheduler thread.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use kvik_sync::ThreadId;

use super::idle_heaps::IdleHeaps;
use super::latency_sampler::LatencySampler;
use super::long_collections::Ran;
use super::microstate::SmallCollections;
use super::queues::Queues;
use super::wake_prefetch::WakePredictor;
use super::{idle_heaps, mailbox_latency, wake_prefetch, Scheduler};
use crate::exit_progress::ExitProgress;
use crate::process::{flag, CurrentTask, Priority, QueuedToken, RunToken, Task, UnparkedSlot};
use crate::signal_types::MonitorSignal;
use crate::timer_queue::{At, Due, TimerQueue};
use crate::Proc;

pub(super) struct Local {
    /// Its number, from 0.
    pub id: usize,
    /// The part that other threads see.
    pub me: &'static Scheduler,
    /// The identity under which it queues run tokens.
    pub thread: ThreadId,
    /// The process that runs.
    pub current_task: CurrentTask,
    /// Reductions until the next check of timers and events.
    pub until_check: Cell<i64>,
    /// [`NEXT_CLOSED`] between time slices; else a process runs, and one it wakes may go to `next`.
    pub next_mode: Cell<u8>,
    /// Value of `next_mode` during a time slice: [`NEXT_OPEN`] or [`NEXT_PREFETCHING`].
    pub usual_next_mode: Cell<u8>,
    pub predictor: Cell<WakePredictor>,
    /// When the process in `next` was woken, in ticks, if that is sampled; else 0.
    pub next_since: Cell<u64>,
    pub sampler: RefCell<LatencySampler>,
    pub small_collections: SmallCollections,
    /// Reductions that the time slice under way began with.
    pub given: Cell<i64>,
    /// LIFO slot: the head of the normal-priority queue. It is filled only while nothing else is
    /// runnable here, so that it never overtakes a process.
    pub next: Cell<Option<QueuedToken>>,
    /// The process that waited last, not parked. Its partner likely runs here next and answers it.
    pub unparked: UnparkedSlot,
    /// False with one scheduler, where parking takes no atomic operation anyway.
    keeps_unparked: bool,
    /// The running process's last monitor signal, held back until its next signal to that process,
    /// its next monitor, or the end of its time slice: mostly a message follows.
    pub deferred_monitor: Cell<Option<MonitorSignal>>,
    /// Receiver of `deferred_monitor`, or `NOBODY`.
    pub deferred_to: Cell<u32>,
    /// A process whose time slice has begun, but which needs attention before it runs.
    pub picked: Cell<Option<RunToken>>,
    pub queues: RefCell<Queues>,
    pub timers: RefCell<TimerQueue>,
    /// Ended processes whose links and monitors are not all notified yet.
    pub exits: RefCell<VecDeque<ExitProgress>>,
    /// Processes whose heaps have much free space.
    pub idle_heaps: IdleHeaps,
    pub ran: Cell<Ran>,
}

/// No process has this number.
pub(super) const NOBODY: u32 = u32::MAX;

/// Values of `next_mode`. `NEXT_TIMED` records when the process in `next` was woken;
/// `NEXT_PREFETCHING` prefetches the memory of the woken process and its predicted successors.
pub(super) const NEXT_CLOSED: u8 = 0;
pub(super) const NEXT_OPEN: u8 = 1;
pub(super) const NEXT_TIMED: u8 = 2;
pub(super) const NEXT_PREFETCHING: u8 = 3;

impl Local {
    /// Calls `note` with the latency sampler, if the build has one.
    pub fn sample<T>(&self, note: impl FnOnce(&mut LatencySampler) -> T) -> Option<T> {
        kvik_sys::METERED.then(|| note(&mut self.sampler.borrow_mut()))
    }
    /// Makes the calling thread this scheduler.
    pub fn start(id: usize, me: &'static Scheduler) -> &'static Local {
        let here = ThreadId::new();
        let l: &Local = Box::leak(Box::new(Local {
            id,
            me,
            thread: here,
            current_task: CurrentTask::default(),
            until_check: Cell::new(0),
            next_mode: Cell::new(NEXT_CLOSED),
            usual_next_mode: Cell::new(NEXT_OPEN),
            predictor: Cell::default(),
            next_since: Cell::new(0),
            sampler: RefCell::new(LatencySampler::new(me.page)),
            small_collections: SmallCollections::default(),
            given: Cell::new(0),
            next: Cell::new(None),
            unparked: UnparkedSlot::default(),
            keeps_unparked: !kvik_sync::single_threaded::is_reserved(),
            deferred_monitor: Cell::new(None),
            deferred_to: Cell::new(NOBODY),
            picked: Cell::new(None),
            queues: RefCell::new(Queues::new(here, me.page)),
            timers: RefCell::new(TimerQueue::new()),
            exits: RefCell::new(VecDeque::new()),
            idle_heaps: IdleHeaps::default(),
            ran: Cell::default(),
        }));
        me.page.begin();
        mailbox_latency::record_on(Some(me.page));
        LOCAL.set(Some(l));
        l
    }
    /// Ends the calling thread's role as a scheduler.
    pub fn stop() {
        mailbox_latency::record_on(None);
        LOCAL.set(None)
    }
    /// Raises a process queued here for its next time slice. False: it is not queued here.
    pub fn raise(&self, pid: u32, to: Priority) -> bool {
        let mut q = self.queues.borrow_mut();
        match self.next.take() {
            Some(t) if t.task().pid == pid => q.push(t.take()),
            other => self.next.set(other),
        }
        q.raise(pid, to)
    }
    /// Queues a woken process at the tail, which is `next` if nothing else is runnable.
    #[inline(always)]
    fn wake(&self, t: RunToken) {
        let first = self.next.take();
        if first.is_none() && self.next_mode.get() == NEXT_OPEN && self.fits_next(&t) {
            return self.next.set(Some(QueuedToken::new(t, self.thread)));
        }
        self.wake_in_order(first, t);
    }
    /// Whether it may go to `next`, provided that is free.
    #[inline(always)]
    fn fits_next(&self, t: &RunToken) -> bool {
        self.queues.borrow().len == 0 && t.task().priority() == Priority::Normal
    }
    /// Enables prefetching if there are many processes.
    pub fn update_prefetching(&self) {
        self.usual_next_mode.set(if wake_prefetch::is_active() {
            NEXT_PREFETCHING
        } else {
            NEXT_OPEN
        });
    }
    /// Like `wake`, if others are runnable, or the wake-up is timed or prefetching is on.
    #[inline(never)]
    fn wake_in_order(&self, first: Option<QueuedToken>, t: RunToken) {
        let mode = self.next_mode.get();
        if mode == NEXT_PREFETCHING {
            let mut f = self.predictor.get();
            f.prefetch(self.current_task.with(|p| p.pid()), t.task().pid);
            self.predictor.set(f);
        }
        if first.is_none() && mode != NEXT_CLOSED && self.fits_next(&t) {
            if mode == NEXT_TIMED {
                self.next_since.set(kvik_env::clock::tsc::ticks().now());
            }
            return self.next.set(Some(QueuedToken::new(t, self.thread)));
        }
        self.next.set(first);
        self.queues.borrow_mut().push(t);
    }
    /// Lets a process wait, with no tracer or profiler to notify.
    #[inline(always)]
    pub fn let_wait(&self, t: RunToken) {
        let leaves = match self.keeps_unparked && !t.private().has_signals() {
            true => self.unparked.put(t),
            false => Some(t),
        };
        if let Some(t) = leaves.and_then(RunToken::park) {
            self.queues.borrow_mut().push(t);
        }
    }
    /// Processes that wait for their time slice.
    pub fn waiting(&self) -> usize {
        let next = self.next.take();
        let n = self.queues.borrow().len + next.is_some() as usize;
        self.next.set(next);
        n
    }
}

thread_local! {
    /// None if the thread is no scheduler. A scheduler's is never dropped: its thread ends with the
    /// program.
    static LOCAL: Cell<Option<&'static Local>> = const { Cell::new(None) };
}
#[inline]
pub(super) fn local() -> Option<&'static Local> {
    LOCAL.get()
}

/// Reductions used so far in the time slice of the process that runs here.
pub fn used_in_turn(p: &Proc) -> u64 {
    local().map_or(0, |l| l.used(p) as u64)
}
impl Proc {
    /// Reductions used, for the process itself including those of this time slice.
    pub fn reductions_now(&self, own: bool) -> u64 {
        let turn = if own { used_in_turn(self) } else { 0 };
        self.reductions.get() + turn
    }
}
/// The number of the scheduler this thread is, from 0.
#[inline]
pub fn current() -> Option<usize> {
    local().map(|l| l.id)
}
/// Makes this thread's scheduler poll for events as soon as the current time slice ends, before
/// anything else runs.
pub fn look_after_turn() {
    if let Some(l) = local() {
        l.until_check.set(0);
    }
}
pub fn is_scheduler() -> bool {
    local().is_some()
}
/// Calls `f` with a process queued here that has no signals to handle first.
#[inline]
pub(crate) fn with_queued<A>(task: &Task, f: impl FnOnce(&Proc) -> A) -> Option<A> {
    task.with_queued(local()?.thread, f)
}
/// Like [`with_queued`], whatever signals are pending.
#[inline]
pub(crate) fn with_queued_any<A>(task: &Task, f: impl FnOnce(&Proc) -> A) -> Option<A> {
    task.with_queued_any(local()?.thread, f)
}
/// Takes a process from this thread's unparked slot. The caller ends its wait or puts it back
/// ([`keep_unparked`]).
#[inline]
pub(crate) fn take_unparked(task: &Task) -> Option<RunToken> {
    local()?.unparked.take_if(task)
}
/// Puts back a process taken from the unparked slot, which waits on.
pub(crate) fn keep_unparked(t: RunToken) {
    match local() {
        Some(l) => l.let_wait(t),
        None => super::wake(t),
    }
}
pub(super) fn enqueue(t: RunToken) -> Result<(), RunToken> {
    let Some(l) = local() else { return Err(t) };
    l.queues.borrow_mut().push(t);
    Ok(())
}
#[inline(always)]
pub(super) fn wake(t: RunToken) -> Result<(), RunToken> {
    let Some(l) = local() else { return Err(t) };
    l.wake(t);
    Ok(())
}
pub(super) fn wake_as(t: RunToken, priority: Priority) -> Result<(), RunToken> {
    let Some(l) = local() else { return Err(t) };
    l.queues.borrow_mut().push_raised(t, priority);
    Ok(())
}
pub(super) fn add_timer(at: At, due: Due) -> bool {
    let Some(l) = local() else { return false };
    l.timers.borrow_mut().add(at, due);
    true
}
/// Notifies the remaining links and monitors between time slices; at once on a thread that is no
/// scheduler.
pub(crate) fn continue_exit_later(mut f: ExitProgress) {
    match local() {
        None => while !f.step() {},
        Some(l) => l.exits.borrow_mut().push_back(f),
    }
}
/// The running process's heap was collected, or took over a large message: if it has much free
/// space or perhaps garbage, the process is re-examined once it may have gone idle.
#[inline]
pub fn note_collection(p: &Proc) {
    if p.heap.is_large() != p.flag(flag::LARGE_HEAP) {
        p.set_flag(flag::LARGE_HEAP, p.heap.is_large());
    }
    if !p.flag(flag::IDLE_LISTED) && idle_heaps::has_room(p) {
        list_idle(p);
    }
}
#[cold]
fn list_idle(p: &Proc) {
    if let Some(l) = local() {
        p.set_flag(flag::IDLE_LISTED, true);
        l.idle_heaps.list(p.pid());
    }
}
