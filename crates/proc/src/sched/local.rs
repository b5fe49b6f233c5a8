//! What belongs to one scheduler thread.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use kvik_sync::Here;

use super::crowd::Foreseen;
use super::idle_heaps::IdleHeaps;
use super::microstate::SmallCollections;
use super::queues::Queues;
use super::stopwatch::Stopwatch;
use super::{crowd, idle_heaps, mail, Scheduler};
use crate::farewell::Farewell;
use crate::process::{flag, Priority, Rest, Seat, Stage, Task, Ticket};
use crate::signal_types::Control;
use crate::timer_queue::{At, Due, Queue};
use crate::Proc;

pub(super) struct Local {
    /// Its number, from 0.
    pub id: usize,
    /// What others see of it.
    pub me: &'static Scheduler,
    /// Those that wait for their turn rest with it.
    pub here: Here,
    /// The process that runs.
    pub stage: Stage,
    /// Reductions until timers and events are looked at again.
    pub until_check: Cell<i64>,
    /// [`MANY`], or: a process runs. What it wakes may go to `next`.
    pub alone: Cell<u8>,
    /// What `alone` becomes with each turn: [`ALONE`] or [`CROWDED`].
    pub usual: Cell<u8>,
    pub foreseen: Cell<Foreseen>,
    /// When the one in `next` was woken, in ticks, where that is looked at; else 0.
    pub next_since: Cell<u64>,
    pub watch: RefCell<Stopwatch>,
    pub small_collections: SmallCollections,
    /// Reductions that the turn under way began with.
    pub given: Cell<i64>,
    /// LIFO slot: the head of the queue of normal priority. It is filled only while nothing else is
    /// runnable here, so that it never overtakes a process.
    pub next: Cell<Option<Rest>>,
    /// The process that waited last. Its partner is likely to be the next to run here, and to answer.
    pub seat: Seat,
    /// Not with one scheduler, where to wait takes no atomic operation anyway.
    has_seat: bool,
    /// The last monitor of the process that runs here, held back until its next signal to that
    /// process or another monitor, or the end of its turn: mostly a message follows.
    pub deferred_monitor: Cell<Option<Control>>,
    /// Whom it goes to, or `NOBODY`.
    pub deferred_to: Cell<u32>,
    /// Its turn has begun, but something is to be seen to before it runs.
    pub picked: Cell<Option<Ticket>>,
    pub queues: RefCell<Queues>,
    pub timers: RefCell<Queue>,
    /// Ends of processes that have not been told to all.
    pub farewells: RefCell<VecDeque<Farewell>>,
    /// Processes whose heaps have much room.
    pub idle_heaps: IdleHeaps,
}

/// No process has this number.
pub(super) const NOBODY: u32 = u32::MAX;

/// What `alone` says. When timed, it is looked at when the other was woken; in a crowd, the memory of
/// who is woken is fetched.
pub(super) const MANY: u8 = 0;
pub(super) const ALONE: u8 = 1;
pub(super) const TIMED: u8 = 2;
pub(super) const CROWDED: u8 = 3;

impl Local {
    /// Has the stopwatch note something, where there is one.
    pub fn stopwatch<T>(&self, note: impl FnOnce(&mut Stopwatch) -> T) -> Option<T> {
        kvik_sys::METERED.then(|| note(&mut self.watch.borrow_mut()))
    }
    /// The thread becomes this scheduler.
    pub fn start(id: usize, me: &'static Scheduler) -> &'static Local {
        let here = Here::new();
        let l: &Local = Box::leak(Box::new(Local {
            id,
            me,
            here,
            stage: Stage::default(),
            until_check: Cell::new(0),
            alone: Cell::new(MANY),
            usual: Cell::new(ALONE),
            foreseen: Cell::default(),
            next_since: Cell::new(0),
            watch: RefCell::new(Stopwatch::new(me.page)),
            small_collections: SmallCollections::default(),
            given: Cell::new(0),
            next: Cell::new(None),
            seat: Seat::default(),
            has_seat: !kvik_sync::solo::is_reserved(),
            deferred_monitor: Cell::new(None),
            deferred_to: Cell::new(NOBODY),
            picked: Cell::new(None),
            queues: RefCell::new(Queues::new(here, me.page)),
            timers: RefCell::new(Queue::new()),
            farewells: RefCell::new(VecDeque::new()),
            idle_heaps: IdleHeaps::default(),
        }));
        me.page.begin();
        mail::note_on(Some(me.page));
        LOCAL.set(Some(l));
        l
    }
    /// The thread is no scheduler any more.
    pub fn stop() {
        mail::note_on(None);
        LOCAL.set(None)
    }
    /// Lets a process that waits here have its next turn as one of that priority. False: it does not.
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
    fn wake(&self, t: Ticket) {
        let first = self.next.take();
        if first.is_none() && self.alone.get() == ALONE && self.fits_next(&t) {
            return self.next.set(Some(Rest::new(t, self.here)));
        }
        self.wake_in_order(first, t);
    }
    /// May it go to `next`, where that is free?
    #[inline(always)]
    fn fits_next(&self, t: &Ticket) -> bool {
        self.queues.borrow().len == 0 && t.task().priority() == Priority::Normal
    }
    /// Looks whether there are many processes.
    pub fn see_crowd(&self) {
        self.usual.set(if crowd::is_there() { CROWDED } else { ALONE });
    }
    /// The same where others are runnable, or the wake-up is timed or in a crowd.
    #[inline(never)]
    fn wake_in_order(&self, first: Option<Rest>, t: Ticket) {
        let alone = self.alone.get();
        if alone == CROWDED {
            let mut f = self.foreseen.get();
            f.fetch_ahead(self.stage.with(|p| p.pid()), t.task().pid);
            self.foreseen.set(f);
        }
        if first.is_none() && alone != MANY && self.fits_next(&t) {
            if alone == TIMED {
                self.next_since.set(kvik_env::clock::ticks::ticks().now());
            }
            return self.next.set(Some(Rest::new(t, self.here)));
        }
        self.next.set(first);
        self.queues.borrow_mut().push(t);
    }
    /// A process waits from now on, of which nobody wants to be told.
    #[inline(always)]
    pub fn let_wait(&self, t: Ticket) {
        let leaves = match self.has_seat && !t.private().has_signals() {
            true => self.seat.put(t),
            false => Some(t),
        };
        if let Some(t) = leaves.and_then(Ticket::park) {
            self.queues.borrow_mut().push(t);
        }
    }
    /// Processes that wait for their turn.
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

/// Reductions used so far in the turn of the process that runs here.
pub fn used_in_turn(p: &Proc) -> u64 {
    local().map_or(0, |l| l.used(p) as u64)
}
impl Proc {
    /// With those of this turn, for the process itself.
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
/// Has the scheduler that this thread is look for events once the turn under way is over, before
/// anything else runs there.
pub fn look_after_turn() {
    if let Some(l) = local() {
        l.until_check.set(0);
    }
}
pub fn is_scheduler() -> bool {
    local().is_some()
}
/// Shows a process that waits for its turn here and has nothing to handle first.
#[inline]
pub(crate) fn with_rest<A>(task: &Task, f: impl FnOnce(&Proc) -> A) -> Option<A> {
    task.with_rest(local()?.here, f)
}
/// The same whatever there is for it to handle.
#[inline]
pub(crate) fn with_rest_any<A>(task: &Task, f: impl FnOnce(&Proc) -> A) -> Option<A> {
    task.with_rest_any(local()?.here, f)
}
/// A process that waits in the seat of this thread: its wait is over, or it sits down again.
#[inline]
pub(crate) fn from_seat(task: &Task) -> Option<Ticket> {
    local()?.seat.take_if(task)
}
/// One that came from the seat waits on.
pub(crate) fn sit_down(t: Ticket) {
    match local() {
        Some(l) => l.let_wait(t),
        None => super::wake(t),
    }
}
pub(super) fn enqueue(t: Ticket) -> Result<(), Ticket> {
    let Some(l) = local() else { return Err(t) };
    l.queues.borrow_mut().push(t);
    Ok(())
}
#[inline(always)]
pub(super) fn wake(t: Ticket) -> Result<(), Ticket> {
    let Some(l) = local() else { return Err(t) };
    l.wake(t);
    Ok(())
}
pub(super) fn wake_as(t: Ticket, priority: Priority) -> Result<(), Ticket> {
    let Some(l) = local() else { return Err(t) };
    l.queues.borrow_mut().push_raised(t, priority);
    Ok(())
}
pub(super) fn add_timer(at: At, due: Due) -> bool {
    let Some(l) = local() else { return false };
    l.timers.borrow_mut().add(at, due);
    true
}
/// Tells the rest between the turns of processes; at once where there are none.
pub(crate) fn say_later(mut f: Farewell) {
    match local() {
        None => while !f.step() {},
        Some(l) => l.farewells.borrow_mut().push_back(f),
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
