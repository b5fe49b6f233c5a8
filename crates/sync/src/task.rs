//! [`Task`]: something that is run by one thread at a time, and woken by whoever sends it an item.

use std::cell::{Cell, UnsafeCell};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Deref;
use std::ptr::{addr_of_mut, NonNull};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::Arc;

use crate::inbox::{Chain, Inbox, Node, Push};
use crate::solo::{self, who, Who};
use crate::table::Numbered;

/// `S`: what anybody may read. `P`: what only the runner may touch. `T`: what it can be sent. `R`:
/// words beside `P` for it to use, see [`Room`].
///
/// One piece of memory; the inbox, which senders write to, is kept away from the private part's
/// first fields, which its runner is busy with.
#[repr(C)]
pub struct Task<S, P, T, const R: usize = 0> {
    /// There from `Task::start` to `Ticket::finish`.
    private: UnsafeCell<MaybeUninit<P>>,
    shared: S,
    /// The number of the thread with which its ticket rests, [`LOOKED_AT`], or 0.
    rests: AtomicU32,
    inbox: Inbox<T>,
    room: UnsafeCell<[MaybeUninit<u64>; R]>,
}

/// Memory that lies beside the private part and lasts as long: to be kept there, like [`Me`].
pub struct Room {
    at: NonNull<u64>,
    words: usize,
}

impl Room {
    /// Its words, which hold nothing yet, for whoever keeps the room from now on.
    pub fn into_words(self) -> (NonNull<u64>, usize) {
        (self.at, self.words)
    }
}

// SAFETY: the private part is reached through the one ticket only.
unsafe impl<S: Send + Sync, P: Send, T: Send, const R: usize> Sync for Task<S, P, T, R> {}
// SAFETY: as above.
unsafe impl<S: Send + Sync, P: Send, T: Send, const R: usize> Send for Task<S, P, T, R> {}

impl<S, P, T, const R: usize> Deref for Task<S, P, T, R> {
    type Target = S;
    fn deref(&self) -> &S {
        &self.shared
    }
}
impl<S: Numbered, P, T, const R: usize> Numbered for Task<S, P, T, R> {
    fn number(&self) -> u32 {
        self.shared.number()
    }
    fn is_shown(&self) -> bool {
        self.shared.is_shown()
    }
}

/// What became of something sent.
pub enum Pushed<S, P, T, const R: usize = 0> {
    Queued,
    /// The task waited; here is the right to run it.
    Woken(Ticket<S, P, T, R>),
    /// The task is gone.
    Closed(T),
    /// One thread does everything, and this isn't it.
    Elsewhere(T),
}

impl<S, P, T, const R: usize> Task<S, P, T, R> {
    /// A new task. `make` gets the task's handle on itself and its room, to be kept in the private
    /// part.
    #[inline]
    pub fn start(shared: S, make: impl FnOnce(Me<S, P, T, R>, Room) -> P) -> Ticket<S, P, T, R> {
        solo::a_task_starts();
        let task = Arc::<Self>::new_uninit();
        // SAFETY: nobody else has the new memory (`Arc::get_mut` would ask, by an atomic). All but the private part and the room, which need
        // no value to be valid, is written before it counts as a task; the private part follows
        // before the first ticket exists.
        unsafe {
            let at = Arc::as_ptr(&task).cast::<Self>().cast_mut();
            addr_of_mut!((*at).shared).write(shared);
            addr_of_mut!((*at).rests).write(AtomicU32::new(0));
            addr_of_mut!((*at).inbox).write(Inbox::default());
            let task = task.assume_init();
            let me = Me { task: NonNull::from(&*task), one_thread: PhantomData };
            let room = Room { at: NonNull::new_unchecked(task.room.get().cast()), words: R };
            (*task.private.get()).write(make(me, room));
            Ticket { task, one_thread: PhantomData }
        }
    }
    #[inline]
    pub fn send(&self, item: T) -> Pushed<S, P, T, R> {
        // At once, as an item that lies on the stack first is written and read again.
        let node = Node::new(item);
        let pushed = match who() {
            Who::All => self.inbox.push(node),
            // SAFETY: this thread is the one that changes inboxes.
            Who::Me => unsafe { self.inbox.push_alone(node) },
            Who::Other => return Pushed::Elsewhere(node.into_item()),
        };
        match pushed {
            Push::Queued => Pushed::Queued,
            // SAFETY: the count that `park` left behind becomes this ticket's.
            Push::WasParked => Pushed::Woken(unsafe { self.recover() }),
            Push::Closed(n) => Pushed::Closed(n.into_item()),
        }
    }
    /// The right to run a task that waits, taken without sending it anything.
    #[inline]
    pub fn unpark(&self) -> Option<Ticket<S, P, T, R>> {
        let was_parked = match who() {
            Who::All => self.inbox.unpark(),
            // SAFETY: as in `send`.
            Who::Me => unsafe { self.inbox.unpark_alone() },
            Who::Other => false,
        };
        // SAFETY: as in `send`.
        was_parked.then(|| unsafe { self.recover() })
    }
    /// Shows the private part, where the ticket rests with this thread and nothing has come in that
    /// the task has not seen.
    #[inline]
    pub fn with_rest<A>(&self, here: Here, f: impl FnOnce(&P) -> A) -> Option<A> {
        match self.inbox.is_empty() {
            true => self.with_rest_any(here, f),
            false => None,
        }
    }
    /// The same whatever has come in.
    #[inline]
    pub fn with_rest_any<A>(&self, here: Here, f: impl FnOnce(&P) -> A) -> Option<A> {
        if self.rests.load(Relaxed) != here.number {
            return None;
        }
        self.rests.store(LOOKED_AT, Relaxed);
        // SAFETY: only this thread writes its number here, and it has not taken the ticket up since.
        // It can't meanwhile, so nobody else has the private part.
        let a = f(unsafe { (*self.private.get()).assume_init_ref() });
        self.rests.store(here.number, Relaxed);
        Some(a)
    }
    /// Does it wait, as far as one can tell?
    pub fn is_parked(&self) -> bool {
        self.inbox.is_parked()
    }
    pub fn is_closed(&self) -> bool {
        self.inbox.is_closed()
    }
    /// Has something come in that the task has not taken?
    #[inline]
    pub fn has_items(&self) -> bool {
        !self.inbox.is_empty()
    }
    /// # Safety
    /// The caller ended this task's wait.
    unsafe fn recover(&self) -> Ticket<S, P, T, R> {
        // SAFETY: `park` forgot a count of the Arc this task lives in.
        let task = unsafe { Arc::from_raw(self as *const Self) };
        Ticket { task, one_thread: PhantomData }
    }
}

/// A task's handle on itself, kept in its private part: the consumer's end of its inbox.
pub struct Me<S, P, T, const R: usize = 0> {
    task: NonNull<Task<S, P, T, R>>,
    one_thread: PhantomData<Cell<()>>,
}

// SAFETY: it goes where the private part goes, which is used by one thread at a time.
unsafe impl<S: Send + Sync, P: Send, T: Send, const R: usize> Send for Me<S, P, T, R> {}

impl<S, P, T, const R: usize> Me<S, P, T, R> {
    #[inline]
    fn task(&self) -> &Task<S, P, T, R> {
        // SAFETY: the private part, where this is kept, is a part of the task.
        unsafe { self.task.as_ref() }
    }
    /// Everything that has come in; each item is shown, the last first.
    #[inline]
    pub fn take(&self, see: impl FnMut(&T)) -> Chain<T> {
        match who() {
            Who::All => self.task().inbox.take(see),
            // SAFETY: this thread is the one that changes inboxes.
            Who::Me => unsafe { self.task().inbox.take_alone(see) },
            Who::Other => Chain::default(),
        }
    }
    #[inline]
    pub fn has_items(&self) -> bool {
        !self.task().inbox.is_empty()
    }
    /// Is what has come in, the last so many items of it, all like this? Nothing is taken. False where
    /// more has come.
    pub fn are_all(&self, most: usize, like: impl Fn(&T) -> bool) -> bool {
        // SAFETY: this is the consumer's end, which takes nothing here.
        let mut items = unsafe { self.task().inbox.items() };
        items.by_ref().take(most).all(like) && items.next().is_none()
    }
}
impl<S, P, T, const R: usize> Deref for Me<S, P, T, R> {
    type Target = S;
    fn deref(&self) -> &S {
        &self.task().shared
    }
}

/// The right to run a task. There is one for each task.
pub struct Ticket<S, P, T, const R: usize = 0> {
    task: Arc<Task<S, P, T, R>>,
    one_thread: PhantomData<Cell<()>>,
}

impl<S, P, T, const R: usize> Ticket<S, P, T, R> {
    #[inline]
    pub fn task(&self) -> &Arc<Task<S, P, T, R>> {
        &self.task
    }
    #[inline]
    pub fn private(&self) -> &P {
        // SAFETY: we hold the one ticket, and a ticket is used by one thread at a time (not Sync);
        // the part is there from `start` to `finish`.
        unsafe { (*self.task.private.get()).assume_init_ref() }
    }
    #[inline]
    pub fn private_mut(&mut self) -> &mut P {
        // SAFETY: as above, and the ticket is borrowed alone.
        unsafe { (*self.task.private.get()).assume_init_mut() }
    }
    /// Waits for something to be sent. Gives the ticket back when there is something already.
    #[inline]
    pub fn park(self) -> Option<Ticket<S, P, T, R>> {
        // The count must be behind before anybody can recover it.
        let raw = Arc::into_raw(self.task);
        // SAFETY: the count is ours still: the task is there. Alone as in `take`.
        let parked = unsafe {
            match who() {
                Who::All => (*raw).inbox.park(),
                Who::Me => (*raw).inbox.park_alone(),
                Who::Other => false,
            }
        };
        if parked {
            return None;
        }
        // SAFETY: nobody saw it parked.
        Some(Ticket { task: unsafe { Arc::from_raw(raw) }, one_thread: PhantomData })
    }
    /// Nothing can be sent any more; gives what was.
    pub fn close(&self) -> Chain<T> {
        match who() {
            Who::All => self.task.inbox.close(),
            // SAFETY: this thread is the one that changes inboxes.
            Who::Me => unsafe { self.task.inbox.close_alone() },
            Who::Other => Chain::default(),
        }
    }
    /// Ends the task: drops its private part.
    pub fn finish(self) {
        drop(self.close());
        // SAFETY: the one ticket goes with this call; nobody can reach the private part again.
        unsafe { (*self.task.private.get()).assume_init_drop() };
    }
}

/// A thread with which tickets rest.
#[derive(Copy, Clone)]
pub struct Here {
    number: u32,
    one_thread: PhantomData<*mut ()>,
}

/// In place of a thread's number, while that thread looks at the private part.
const LOOKED_AT: u32 = u32::MAX;

impl Here {
    /// The thread gets a number, which no other has.
    pub fn new() -> Here {
        static LAST: AtomicU32 = AtomicU32::new(0);
        let number = LAST.fetch_add(1, Relaxed) + 1;
        assert!(number < LOOKED_AT);
        Here { number, one_thread: PhantomData }
    }
}
impl Default for Here {
    fn default() -> Here {
        Here::new()
    }
}

/// A ticket that rests with a thread, which may look at the private part meanwhile:
/// [`Task::with_rest`].
pub struct Rest<S, P, T, const R: usize = 0> {
    ticket: Ticket<S, P, T, R>,
    one_thread: PhantomData<*mut ()>,
}

impl<S, P, T, const R: usize> Rest<S, P, T, R> {
    #[inline(always)]
    pub fn new(ticket: Ticket<S, P, T, R>, here: Here) -> Self {
        ticket.task.rests.store(here.number, Relaxed);
        Rest { ticket, one_thread: PhantomData }
    }
    #[inline(always)]
    pub fn take(self) -> Ticket<S, P, T, R> {
        let rests = &self.ticket.task.rests;
        assert!(rests.load(Relaxed) != LOOKED_AT, "it is being looked at");
        rests.store(0, Relaxed);
        self.ticket
    }
}
impl<S, P, T, const R: usize> Deref for Rest<S, P, T, R> {
    type Target = Ticket<S, P, T, R>;
    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.ticket
    }
}

/// A task that waits, kept at hand by a thread: that thread ends its wait without an atomic operation.
/// To all others the task is up. So whoever keeps one has to look from time to time, and before each
/// sleep, whether something came: it takes the ticket and parks it.
pub struct Seat<S, P, T, const R: usize = 0>(Cell<Option<Ticket<S, P, T, R>>>);

impl<S, P, T, const R: usize> Default for Seat<S, P, T, R> {
    fn default() -> Self {
        Seat(Cell::new(None))
    }
}
impl<S, P, T, const R: usize> Seat<S, P, T, R> {
    /// Gives the one who sat there.
    #[inline]
    #[must_use]
    pub fn put(&self, t: Ticket<S, P, T, R>) -> Option<Ticket<S, P, T, R>> {
        self.0.replace(Some(t))
    }
    #[inline]
    pub fn take(&self) -> Option<Ticket<S, P, T, R>> {
        self.0.take()
    }
    /// That task's, if it sits there.
    #[inline]
    pub fn take_if(&self, task: &Task<S, P, T, R>) -> Option<Ticket<S, P, T, R>> {
        // SAFETY: a seat belongs to one thread, and nothing else looks into it meanwhile.
        let sits = unsafe { &*self.0.as_ptr() }.as_ref();
        match sits.is_some_and(|t| std::ptr::eq(Arc::as_ptr(&t.task), task)) {
            true => self.0.take(),
            false => None,
        }
    }
}

/// The task that a thread runs, for code that knows it by an address and may be given another in its
/// place.
pub struct Stage<S, P, T, const R: usize = 0>(Cell<Option<Ticket<S, P, T, R>>>);

impl<S, P, T, const R: usize> Default for Stage<S, P, T, R> {
    fn default() -> Self {
        Stage(Cell::new(None))
    }
}
impl<S, P, T, const R: usize> Stage<S, P, T, R> {
    #[inline]
    pub fn put(&self, t: Ticket<S, P, T, R>) {
        self.0.set(Some(t))
    }
    #[inline]
    pub fn take(&self) -> Option<Ticket<S, P, T, R>> {
        self.0.take()
    }
    /// Where the private part of the task is. It stays there, and belongs to whoever has the stage,
    /// until the task is taken.
    #[inline]
    pub fn address(&self) -> Option<NonNull<P>> {
        let t = self.0.take()?;
        let at = NonNull::from(t.private());
        self.0.set(Some(t));
        Some(at)
    }
    /// The task is taken while `f` looks at its private part.
    pub fn with<A>(&self, f: impl FnOnce(&P) -> A) -> Option<A> {
        let t = self.0.take()?;
        let a = f(t.private());
        self.0.set(Some(t));
        Some(a)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_run_by_who_wakes_it() {
        struct P {
            me: Me<u32, P, u32>,
            sum: u32,
        }
        let t = Task::start(7, |me, _| P { me, sum: 0 });
        let task = t.task().clone();
        assert!(t.park().is_none());
        let Pushed::Woken(mut t) = task.send(5) else { panic!() };
        assert!(matches!(task.send(6), Pushed::Queued));
        let got: u32 = t.private().me.take(|_| ()).sum();
        t.private_mut().sum += got;
        assert_eq!((t.private().sum, ***t.task()), (11, 7));
        let here = Here::new();
        let rest = Rest::new(t, here);
        assert_eq!(task.with_rest(here, |p| p.sum), Some(11));
        assert_eq!(task.with_rest(Here::new(), |p| p.sum), None, "another thread's");
        task.with_rest(here, |_| assert!(task.with_rest(here, |p| p.sum).is_none()));
        task.send(1);
        assert_eq!(task.with_rest(here, |p| p.sum), None, "that would overtake");
        let t = rest.take();
        assert_eq!(task.with_rest(here, |p| p.sum), None);
        let t = t.park().expect("there was something");
        let (seat, other) = (Seat::default(), Task::start(8, |me, _| P { me, sum: 0 }));
        assert!(seat.put(t).is_none() && seat.take_if(other.task()).is_none());
        assert!(matches!(task.send(3), Pushed::Queued) && task.unpark().is_none());
        let t = seat.put(other).expect("it sat there");
        let t = t.park().expect("there was something still");
        seat.take().expect("the other").finish();
        let stage = Stage::default();
        assert!(stage.address().is_none() && stage.with(|_: &P| ()).is_none());
        stage.put(t);
        assert_eq!(stage.with(|p| p.sum), Some(11));
        assert!(stage.address().is_some());
        let t = stage.take().expect("it was put there");
        t.finish();
        assert!(matches!(task.send(2), Pushed::Closed(2)));
        assert_eq!(Arc::strong_count(&task), 1);
    }
}
