//! [`Task`]: run by one thread at a time, and woken by whichever thread sends it an item.

use std::cell::{Cell, UnsafeCell};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Deref;
use std::ptr::{addr_of_mut, NonNull};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::Arc;

use crate::inbox::{Chain, Inbox, InboxNode, Push};
use crate::single_threaded::{self, who, Who};
use crate::table::Numbered;

/// `S`: the part that any thread may read. `P`: the part that only the running thread may touch.
/// `T`: the items that can be sent to it. `R`: number of words beside `P` for its use, see
/// [`InlineHeap`].
///
/// All in one allocation; the inbox, which senders write to, is kept away from the private part's
/// first fields, which the running thread uses.
#[repr(C)]
pub struct Task<S, P, T, const R: usize = 0> {
    /// Initialised from `Task::start` to `RunToken::finish`.
    private: UnsafeCell<MaybeUninit<P>>,
    shared: S,
    /// The number of the thread whose queue holds its run token, [`LOOKED_AT`], or 0.
    queued_on: AtomicU32,
    inbox: Inbox<T>,
    inline_heap: UnsafeCell<[MaybeUninit<u64>; R]>,
}

/// Memory in the task's allocation that lasts as long as the private part, which owns it, as it
/// does [`SelfHandle`].
pub struct InlineHeap {
    at: NonNull<u64>,
    words: usize,
}

impl InlineHeap {
    /// Its uninitialised words, for their new owner.
    pub fn into_words(self) -> (NonNull<u64>, usize) {
        (self.at, self.words)
    }
}

// SAFETY: the private part is reached through the one run token only.
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

/// The result of a send.
pub enum Pushed<S, P, T, const R: usize = 0> {
    Queued,
    /// The task waited; this is the right to run it.
    Woken(RunToken<S, P, T, R>),
    /// The task is gone.
    Closed(T),
    /// In single-threaded mode: the caller is not the thread that changes inboxes.
    Elsewhere(T),
}

impl<S, P, T, const R: usize> Task<S, P, T, R> {
    /// Makes a task. `make` gets the task's handle on itself and its inline heap, to be kept in the
    /// private part.
    #[inline]
    pub fn start(
        shared: S,
        make: impl FnOnce(SelfHandle<S, P, T, R>, InlineHeap) -> P,
    ) -> RunToken<S, P, T, R> {
        single_threaded::note_task_start();
        let task = Arc::<Self>::new_uninit();
        // SAFETY: the new memory is not shared yet (`Arc::get_mut` would check that, by an atomic).
        // All but the private part and the room, which need no value to be valid, is written before
        // it counts as a task; the private part follows before the first run token exists.
        unsafe {
            let at = Arc::as_ptr(&task).cast::<Self>().cast_mut();
            addr_of_mut!((*at).shared).write(shared);
            addr_of_mut!((*at).queued_on).write(AtomicU32::new(0));
            addr_of_mut!((*at).inbox).write(Inbox::default());
            let task = task.assume_init();
            let me = SelfHandle { task: NonNull::from(&*task), one_thread: PhantomData };
            let room =
                InlineHeap { at: NonNull::new_unchecked(task.inline_heap.get().cast()), words: R };
            (*task.private.get()).write(make(me, room));
            RunToken { task, one_thread: PhantomData }
        }
    }
    #[inline]
    pub fn send(&self, item: T) -> Pushed<S, P, T, R> {
        // Boxed at once; an item on the stack would be written and read once more.
        let node = InboxNode::new(item);
        let pushed = match who() {
            Who::All => self.inbox.push(node),
            // SAFETY: this thread is the one that changes inboxes.
            Who::Me => unsafe { self.inbox.push_alone(node) },
            Who::Other => return Pushed::Elsewhere(node.into_item()),
        };
        match pushed {
            Push::Queued => Pushed::Queued,
            // SAFETY: the count that `park` left behind becomes this run token's.
            Push::WasParked => Pushed::Woken(unsafe { self.recover() }),
            Push::Closed(n) => Pushed::Closed(n.into_item()),
        }
    }
    /// The right to run a task that waits, taken without sending it anything.
    #[inline]
    pub fn unpark(&self) -> Option<RunToken<S, P, T, R>> {
        let was_parked = match who() {
            Who::All => self.inbox.unpark(),
            // SAFETY: as in `send`.
            Who::Me => unsafe { self.inbox.unpark_alone() },
            Who::Other => false,
        };
        // SAFETY: as in `send`.
        was_parked.then(|| unsafe { self.recover() })
    }
    /// Passes the private part to `f`, if this thread's queue holds the run token and the task has
    /// no new items.
    #[inline]
    pub fn with_queued<A>(&self, here: ThreadId, f: impl FnOnce(&P) -> A) -> Option<A> {
        match self.inbox.is_empty() {
            true => self.with_queued_any(here, f),
            false => None,
        }
    }
    /// The same whether or not there are new items.
    #[inline]
    pub fn with_queued_any<A>(&self, here: ThreadId, f: impl FnOnce(&P) -> A) -> Option<A> {
        if self.queued_on.load(Relaxed) != here.number {
            return None;
        }
        self.queued_on.store(LOOKED_AT, Relaxed);
        // SAFETY: only this thread writes its number here, and it has not taken the run token up
        // since. It can't meanwhile, so nobody else has the private part.
        let a = f(unsafe { (*self.private.get()).assume_init_ref() });
        self.queued_on.store(here.number, Relaxed);
        Some(a)
    }
    /// Whether it waits; may be outdated at once.
    pub fn is_parked(&self) -> bool {
        self.inbox.is_parked()
    }
    pub fn is_closed(&self) -> bool {
        self.inbox.is_closed()
    }
    /// Whether there are items that the task has not taken.
    #[inline]
    pub fn has_items(&self) -> bool {
        !self.inbox.is_empty()
    }
    /// # Safety
    /// The caller ended this task's wait.
    unsafe fn recover(&self) -> RunToken<S, P, T, R> {
        // SAFETY: `park` forgot a count of the Arc this task lives in.
        let task = unsafe { Arc::from_raw(self as *const Self) };
        RunToken { task, one_thread: PhantomData }
    }
}

/// A task's handle on itself, kept in its private part: the consumer's end of its inbox.
pub struct SelfHandle<S, P, T, const R: usize = 0> {
    task: NonNull<Task<S, P, T, R>>,
    one_thread: PhantomData<Cell<()>>,
}

// SAFETY: it goes where the private part goes, which is used by one thread at a time.
unsafe impl<S: Send + Sync, P: Send, T: Send, const R: usize> Send for SelfHandle<S, P, T, R> {}

impl<S, P, T, const R: usize> SelfHandle<S, P, T, R> {
    #[inline]
    fn task(&self) -> &Task<S, P, T, R> {
        // SAFETY: the private part, where this is kept, is a part of the task.
        unsafe { self.task.as_ref() }
    }
    /// Takes all items; each is passed to `see`, the last first.
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
    /// Whether all items in the inbox, at most `most`, satisfy `like`. Nothing is taken. False if
    /// there are more.
    pub fn are_all(&self, most: usize, like: impl Fn(&T) -> bool) -> bool {
        // SAFETY: this is the consumer's end, which takes nothing here.
        let mut items = unsafe { self.task().inbox.items() };
        items.by_ref().take(most).all(like) && items.next().is_none()
    }
}
impl<S, P, T, const R: usize> Deref for SelfHandle<S, P, T, R> {
    type Target = S;
    fn deref(&self) -> &S {
        &self.task().shared
    }
}

/// The right to run a task. Exactly one exists for each task.
pub struct RunToken<S, P, T, const R: usize = 0> {
    task: Arc<Task<S, P, T, R>>,
    one_thread: PhantomData<Cell<()>>,
}

impl<S, P, T, const R: usize> RunToken<S, P, T, R> {
    #[inline]
    pub fn task(&self) -> &Arc<Task<S, P, T, R>> {
        &self.task
    }
    #[inline]
    pub fn private(&self) -> &P {
        // SAFETY: we hold the one run token, and a run token is used by one thread at a time (not
        // Sync); the part is there from `start` to `finish`.
        unsafe { (*self.task.private.get()).assume_init_ref() }
    }
    #[inline]
    pub fn private_mut(&mut self) -> &mut P {
        // SAFETY: as above, and the run token is borrowed alone.
        unsafe { (*self.task.private.get()).assume_init_mut() }
    }
    /// Waits for an item. Returns the run token if there is one already.
    #[inline]
    pub fn park(self) -> Option<RunToken<S, P, T, R>> {
        // The count must be left behind before another thread can recover it.
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
        Some(RunToken { task: unsafe { Arc::from_raw(raw) }, one_thread: PhantomData })
    }
    /// Closes the inbox; returns the items that were in it.
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
        // SAFETY: the one run token goes with this call; nobody can reach the private part again.
        unsafe { (*self.task.private.get()).assume_init_drop() };
    }
}

/// The identity of a thread that queues run tokens.
#[derive(Copy, Clone)]
pub struct ThreadId {
    number: u32,
    one_thread: PhantomData<*mut ()>,
}

/// Replaces a thread's number while that thread looks at the private part.
const LOOKED_AT: u32 = u32::MAX;

impl ThreadId {
    /// Assigns the thread a unique number.
    pub fn new() -> ThreadId {
        static LAST: AtomicU32 = AtomicU32::new(0);
        let number = LAST.fetch_add(1, Relaxed) + 1;
        assert!(number < LOOKED_AT);
        ThreadId { number, one_thread: PhantomData }
    }
}
impl Default for ThreadId {
    fn default() -> ThreadId {
        ThreadId::new()
    }
}

/// A run token in a thread's queue. That thread may look at the private part meanwhile:
/// [`Task::with_queued`].
pub struct QueuedToken<S, P, T, const R: usize = 0> {
    token: RunToken<S, P, T, R>,
    one_thread: PhantomData<*mut ()>,
}

impl<S, P, T, const R: usize> QueuedToken<S, P, T, R> {
    #[inline(always)]
    pub fn new(run_token: RunToken<S, P, T, R>, here: ThreadId) -> Self {
        run_token.task.queued_on.store(here.number, Relaxed);
        QueuedToken { token: run_token, one_thread: PhantomData }
    }
    #[inline(always)]
    pub fn take(self) -> RunToken<S, P, T, R> {
        let rests = &self.token.task.queued_on;
        assert!(rests.load(Relaxed) != LOOKED_AT, "it is being looked at");
        rests.store(0, Relaxed);
        self.token
    }
}
impl<S, P, T, const R: usize> Deref for QueuedToken<S, P, T, R> {
    type Target = RunToken<S, P, T, R>;
    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.token
    }
}

/// A task that waits but was not parked: its thread ends the wait without an atomic operation. To
/// all other threads the task is awake and a push does not wake it. So the thread has to check from
/// time to time, and before each sleep, whether something came: it takes the run token and parks
/// it.
pub struct UnparkedSlot<S, P, T, const R: usize = 0>(Cell<Option<RunToken<S, P, T, R>>>);

impl<S, P, T, const R: usize> Default for UnparkedSlot<S, P, T, R> {
    fn default() -> Self {
        UnparkedSlot(Cell::new(None))
    }
}
impl<S, P, T, const R: usize> UnparkedSlot<S, P, T, R> {
    /// Returns the previous occupant.
    #[inline]
    #[must_use]
    pub fn put(&self, t: RunToken<S, P, T, R>) -> Option<RunToken<S, P, T, R>> {
        self.0.replace(Some(t))
    }
    #[inline]
    pub fn take(&self) -> Option<RunToken<S, P, T, R>> {
        self.0.take()
    }
    /// Takes the run token if it belongs to this task.
    #[inline]
    pub fn take_if(&self, task: &Task<S, P, T, R>) -> Option<RunToken<S, P, T, R>> {
        // SAFETY: the slot belongs to one thread, and nothing else looks into it meanwhile.
        let sits = unsafe { &*self.0.as_ptr() }.as_ref();
        match sits.is_some_and(|t| std::ptr::eq(Arc::as_ptr(&t.task), task)) {
            true => self.0.take(),
            false => None,
        }
    }
}

/// The task that a thread runs. Native code knows it by the address of its private part, and may
/// replace it with another.
pub struct CurrentTask<S, P, T, const R: usize = 0>(Cell<Option<RunToken<S, P, T, R>>>);

impl<S, P, T, const R: usize> Default for CurrentTask<S, P, T, R> {
    fn default() -> Self {
        CurrentTask(Cell::new(None))
    }
}
impl<S, P, T, const R: usize> CurrentTask<S, P, T, R> {
    #[inline]
    pub fn put(&self, t: RunToken<S, P, T, R>) {
        self.0.set(Some(t))
    }
    #[inline]
    pub fn take(&self) -> Option<RunToken<S, P, T, R>> {
        self.0.take()
    }
    /// The address of the task's private part. It stays there, and belongs to the owner of this
    /// slot, until the task is taken.
    #[inline]
    pub fn address(&self) -> Option<NonNull<P>> {
        let t = self.0.take()?;
        let at = NonNull::from(t.private());
        self.0.set(Some(t));
        Some(at)
    }
    /// Calls `f` with the private part; the task is taken out meanwhile.
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
    fn waker_gets_the_run_token() {
        struct P {
            me: SelfHandle<u32, P, u32>,
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
        let here = ThreadId::new();
        let rest = QueuedToken::new(t, here);
        assert_eq!(task.with_queued(here, |p| p.sum), Some(11));
        assert_eq!(task.with_queued(ThreadId::new(), |p| p.sum), None, "another thread's");
        task.with_queued(here, |_| assert!(task.with_queued(here, |p| p.sum).is_none()));
        task.send(1);
        assert_eq!(task.with_queued(here, |p| p.sum), None, "that would overtake");
        let t = rest.take();
        assert_eq!(task.with_queued(here, |p| p.sum), None);
        let t = t.park().expect("there was something");
        let (unparked, other) = (UnparkedSlot::default(), Task::start(8, |me, _| P { me, sum: 0 }));
        assert!(unparked.put(t).is_none() && unparked.take_if(other.task()).is_none());
        assert!(matches!(task.send(3), Pushed::Queued) && task.unpark().is_none());
        let t = unparked.put(other).expect("it sat there");
        let t = t.park().expect("there was something still");
        unparked.take().expect("the other").finish();
        let current_task = CurrentTask::default();
        assert!(current_task.address().is_none() && current_task.with(|_: &P| ()).is_none());
        current_task.put(t);
        assert_eq!(current_task.with(|p| p.sum), Some(11));
        assert!(current_task.address().is_some());
        let t = current_task.take().expect("it was put there");
        t.finish();
        assert!(matches!(task.send(2), Pushed::Closed(2)));
        assert_eq!(Arc::strong_count(&task), 1);
    }
}
