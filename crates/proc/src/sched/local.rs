//! What belongs to one scheduler thread.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use kvik_sync::ThreadId;

use super::idle_heaps::IdleHeaps;
use super::latency_sampler::LatencySampler;
use super::microstate::SmallCollections;
use super::queues::Queues;
use super::wake_prefetch::WakePredictor;
use super::{idle_heaps, mailbox_latency, wake_prefetch, Scheduler};
use crate::exit_progress::ExitProgress;
use crate::process::{flag, CurrentTask, Priority, QueuedToken, RunToken, Task, UnparkedSlot};
use crate::signal_types::Control;
use crate::timer_queue::{At, Due, TimerQueue};
use crate::Proc;

pub(super) struct Local {
    /// Its number, from 0.
    pub id: usize,
    /// What others see of it.
    pub me: &'static Scheduler,
    /// The identity under which it queues run tokens.
    pub thread: ThreadId,
    /// The process that runs.
    pub current_task: CurrentTask,
    /// Reductions until timers and events are looked at again.
    pub until_check: Cell<i64>,
    /// [`NEXT_CLOSED`], or: a process runs. What it wakes may go to `next`.
    pub next_mode: Cell<u8>,
    /// What `next_mode` becomes with each time slice: [`NEXT_OPEN`] or [`NEXT_PREFETCHING`].
    pub usual_next_mode: Cell<u8>,
    pub predictor: Cell<WakePredictor>,
    /// When the one in `next` was woken, in ticks, where that is looked at; else 0.
    pub next_since: Cell<u64>,
    pub sampler: RefCell<LatencySampler>,
    pub small_collections: SmallCollections,
    /// Reductions that the time slice under way began with.
    pub given: Cell<i64>,
    /// LIFO slot: the head of the queue of normal priority. It is filled only while nothing else is
    /// runnable here, so that it never overtakes a process.
    pub next: Cell<Option<QueuedToken>>,
    /// The process that waited last, not parked. Its partner is likely to be the next to run here,
    /// and to answer.
    pub unparked: UnparkedSlot,
    /// Off with one scheduler, where parking takes no atomic operation anyway.
    keeps_unparked: bool,
    /// The last monitor of the process that runs here, held back until its next signal to that
    /// process or another monitor, or the end of its time slice: mostly a message follows.
    pub deferred_monitor: Cell<Option<Control>>,
    /// Whom it goes to, or `NOBODY`.
    pub deferred_to: Cell<u32>,
    /// Its time slice has begun, but something is to be seen to before it runs.
    pub picked: Cell<Option<RunToken>>,
    pub queues: RefCell<Queues>,
    pub timers: RefCell<TimerQueue>,
    /// Processes that have ended, whose links and monitors are not all told yet.
    pub exits: RefCell<VecDeque<ExitProgress>>,
    /// Processes whose heaps have much room.
    pub idle_heaps: IdleHeaps,
}

/// No process has this number.
pub(super) const NOBODY: u32 = u32::MAX;

/// What `next_mode` says. When timed, it is looked at when the other was woken; with prefetching
/// on, the memory of who is woken is fetched.
pub(super) const NEXT_CLOSED: u8 = 0;
pub(super) const NEXT_OPEN: u8 = 1;
pub(super) const NEXT_TIMED: u8 = 2;
pub(super) const NEXT_PREFETCHING: u8 = 3;

impl Local {
    /// Has the latency sampler note something, where there is one.
    pub fn sample<T>(&self, note: impl FnOnce(&mut LatencySampler) -> T) -> Option<T> {
        kvik_sys::METERED.then(|| note(&mut self.sampler.borrow_mut()))
    }
    /// The thread becomes this scheduler.
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
        }));
        me.page.begin();
        mailbox_latency::record_on(Some(me.page));
        LOCAL.set(Some(l));
        l
    }
    /// The thread is no scheduler any more.
    pub fn stop() {
        mailbox_latency::record_on(None);
        LOCAL.set(None)
    }
    /// Lets a process that waits here have its next time slice as one of that priority. False: it
    /// does not.
    pub fn raise(&self, pid: u32, to: Priority) -> bool {
        let mut q = self.queues.borrow_mut();
        match self.next.take() {
            Some(t) if t.task().pid == pid => q.push(t.take()),
            other => self.next.set(other),
        }
        q.raise(pid, to)
    }
    /// A process may run: at the tail of the run queue, which is `next` where nothing else is runnable.
    #[inline(always)]
    fn wake(&self, t: RunToken) {
        let first = self.next.take();
        if first.is_none() && self.next_mode.get() == NEXT_OPEN && self.fits_next(&t) {
            return self.next.set(Some(QueuedToken::new(t, self.thread)));
        }
        self.wake_in_order(first, t);
    }
    /// May it go to `next`, where that is free?
    #[inline(always)]
    fn fits_next(&self, t: &RunToken) -> bool {
        self.queues.borrow().len == 0 && t.task().priority() == Priority::Normal
    }
    /// Looks whether there are many processes.
    pub fn update_prefetching(&self) {
        self.usual_next_mode.set(if wake_prefetch::is_active() {
            NEXT_PREFETCHING
        } else {
            NEXT_OPEN
        });
    }
    /// The same where others are runnable, or the wake-up is timed or with prefetching on.
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
    /// A process waits from now on, of which nobody wants to be told.
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
    /// None where the thread is no scheduler. A scheduler's is never dropped: its thread ends with the
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
    /// With those of this time slice, for the process itself.
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
/// Has the scheduler that this thread is look for events once the time slice under way is over, before
/// anything else runs there.
pub fn look_after_turn() {
    if let Some(l) = local() {
        l.until_check.set(0);
    }
}
pub fn is_scheduler() -> bool {
    local().is_some()
}
/// Shows a process that waits for its time slice here and has nothing to handle first.
#[inline]
pub(crate) fn with_queued<A>(task: &Task, f: impl FnOnce(&Proc) -> A) -> Option<A> {
    task.with_queued(local()?.thread, f)
}
/// The same whatever there is for it to handle.
#[inline]
pub(crate) fn with_queued_any<A>(task: &Task, f: impl FnOnce(&Proc) -> A) -> Option<A> {
    task.with_queued_any(local()?.thread, f)
}
/// A process that waits in this thread's unparked slot: its wait is over, or it goes back there.
#[inline]
pub(crate) fn take_unparked(task: &Task) -> Option<RunToken> {
    local()?.unparked.take_if(task)
}
/// One that came from the unparked slot waits on.
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
/// Tells the rest between the time slices of processes; at once where there are none.
pub(crate) fn continue_exit_later(mut f: ExitProgress) {
    match local() {
        None => while !f.step() {},
        Some(l) => l.exits.borrow_mut().push_back(f),
    }
}
/// The heap of the process that runs was collected: if that left much room, it is looked at again
/// once the process may have gone idle.
#[inline]
pub fn note_collection(p: &Proc) {
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
