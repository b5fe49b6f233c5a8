//! Several VMs in one program.
//!
//! A [`State`] holds the values of all [`Slot`]s, made on first use. Its users have a
//! [`Membership`]: the handle [`Vm`], each of its threads, and deferred calls. A thread belongs to
//! one VM until it ends, and so do its thread-local variables. Threads that joined none use the
//! program's default VM.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ops::Deref;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;

type Value = Box<dyn Any + Send + Sync>;

/// A static that has a value in each VM.
pub struct Slot<T> {
    init: fn() -> T,
    /// Its index in each [`State`], plus one; 0 until its first use.
    place: AtomicUsize,
}

impl<T> Slot<T> {
    pub const fn new(init: fn() -> T) -> Slot<T> {
        Slot { init, place: AtomicUsize::new(0) }
    }
    fn place(&self) -> usize {
        static PLACES: AtomicUsize = AtomicUsize::new(0);
        let place = self.place.load(Ordering::Relaxed);
        if place != 0 {
            return place;
        }
        let new = PLACES.fetch_add(1, Ordering::Relaxed) + 1;
        match self.place.compare_exchange(0, new, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => new,
            Err(other) => other,
        }
    }
}

impl<T: Send + Sync + 'static> Deref for Slot<T> {
    type Target = T;
    /// The value in this thread's VM. It lives as long as that VM, see [`Vm::temporary`].
    fn deref(&self) -> &T {
        let place = self.place();
        let state = current();
        // SAFETY: the state of the VM that this thread joined, or whose `within` it runs: a
        // membership keeps it.
        let state = unsafe { &*state };
        let value = state.value(place, || Box::new((self.init)()));
        // SAFETY: a value stays until the state is emptied. That is never, or after the last
        // membership has ended; from then on nothing uses it, as the caller of `Vm::temporary`
        // guarantees.
        let value: &Value = unsafe { &*value };
        match value.downcast_ref() {
            Some(value) => value,
            None => unreachable!("a place has one slot, and a slot one type"),
        }
    }
}

/// Number of groups of indices, each of twice the size of the one before.
const GROUPS: usize = usize::BITS as usize;

/// The state of one VM.
struct State {
    /// By index: null for a slot that was not used yet.
    values: [OnceLock<Box<[AtomicPtr<Value>]>>; GROUPS],
    /// The indices of the values, in the order in which they were made.
    order: Mutex<Vec<usize>>,
    /// Number of memberships.
    members: AtomicUsize,
    /// Whether the values are dropped when the last membership ends.
    is_temporary: bool,
    is_emptied: AtomicBool,
}

impl State {
    fn new(is_temporary: bool) -> Arc<State> {
        Arc::new(State {
            values: [const { OnceLock::new() }; GROUPS],
            order: Mutex::default(),
            members: AtomicUsize::new(0),
            is_temporary,
            is_emptied: AtomicBool::new(false),
        })
    }
    fn cell(&self, place: usize) -> &AtomicPtr<Value> {
        let group = place.ilog2() as usize;
        let size = 1 << group;
        let new = || (0..size).map(|_| AtomicPtr::default()).collect();
        &self.values[group].get_or_init(new)[place - size]
    }
    /// Two threads may make the value at once; one of the two is kept.
    fn value(&self, place: usize, make: impl FnOnce() -> Value) -> *mut Value {
        let cell = self.cell(place);
        let there = cell.load(Ordering::Acquire);
        if !there.is_null() {
            return there;
        }
        let new = Box::into_raw(Box::new(make()));
        let (was, now) = (ptr::null_mut(), Ordering::AcqRel);
        match cell.compare_exchange(was, new, now, Ordering::Acquire) {
            Ok(_) => {
                self.order().push(place);
                new
            }
            Err(other) => {
                // SAFETY: made above, and nobody else has seen it.
                drop(unsafe { Box::from_raw(new) });
                other
            }
        }
    }
    fn order(&self) -> std::sync::MutexGuard<'_, Vec<usize>> {
        self.order.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Drops the values, the last made first. If dropping one uses another, that one is still
    /// there, or is made anew and dropped in turn.
    fn empty(self: &Arc<State>) {
        let _within = Within::new(self.clone());
        self.is_emptied.store(true, Ordering::Relaxed);
        let mut left = 4 * self.order().len();
        while let Some(place) = self.next_to_drop().filter(|_| left > 0) {
            left -= 1;
            let value = self.cell(place).swap(ptr::null_mut(), Ordering::AcqRel);
            // SAFETY: the swap took the value out of its cell, so only this call drops it. Nothing
            // uses it, as `deref` says: only this thread has the state, by `_within`.
            drop(unsafe { Box::from_raw(value) });
        }
        self.is_emptied.store(false, Ordering::Relaxed);
    }
    fn next_to_drop(&self) -> Option<usize> {
        self.order().pop()
    }
}

thread_local! {
    /// Null: the default VM. Kept by `MEMBER`, or by a `Within` of this thread.
    static CURRENT: Cell<*const State> = const { Cell::new(ptr::null()) };
    static MEMBER: RefCell<Option<Member>> = const { RefCell::new(None) };
}

fn current() -> *const State {
    match CURRENT.get() {
        p if p.is_null() => Arc::as_ptr(default()),
        p => p,
    }
}
fn default() -> &'static Arc<State> {
    static DEFAULT: OnceLock<Arc<State>> = OnceLock::new();
    DEFAULT.get_or_init(|| State::new(false))
}

/// A thread's membership.
struct Member {
    _vm: Membership,
}
impl Drop for Member {
    fn drop(&mut self) {
        CURRENT.set(ptr::null());
    }
}

/// The right to use a VM's state, for one thread or call.
pub struct Membership(Arc<State>);

impl Membership {
    fn of(state: Arc<State>) -> Membership {
        state.members.fetch_add(1, Ordering::Relaxed);
        Membership(state)
    }
    pub fn of_this_thread() -> Membership {
        let state = current();
        // SAFETY: as in `deref`; all states are in an `Arc`, which keeps this one now.
        let state = unsafe {
            Arc::increment_strong_count(state);
            Arc::from_raw(state)
        };
        // Other threads must not use values that are being dropped.
        let is_emptied = state.is_emptied.load(Ordering::Relaxed);
        Membership::of(if is_emptied { State::new(true) } else { state })
    }
    /// Makes the calling thread, which has used no state yet, belong to that VM until it ends.
    pub fn join(self) {
        if Arc::ptr_eq(&self.0, default()) {
            return;
        }
        let state = Arc::as_ptr(&self.0);
        MEMBER.with_borrow_mut(|m| {
            assert!(m.is_none(), "a thread belongs to one VM");
            *m = Some(Member { _vm: self });
        });
        CURRENT.set(state);
    }
    /// Calls `f` in that VM. Thread-local variables remain the thread's, so `f` must not need any.
    pub fn within<R>(self, f: impl FnOnce() -> R) -> R {
        let _within = Within::new(self.0.clone());
        f()
    }
}
impl Drop for Membership {
    fn drop(&mut self) {
        if self.0.members.fetch_sub(1, Ordering::AcqRel) == 1 && self.0.is_temporary {
            self.0.empty();
        }
    }
}

struct Within {
    before: *const State,
    _state: Arc<State>,
}
impl Within {
    fn new(state: Arc<State>) -> Within {
        Within { before: CURRENT.replace(Arc::as_ptr(&state)), _state: state }
    }
}
impl Drop for Within {
    fn drop(&mut self) {
        CURRENT.set(self.before);
    }
}

/// A VM's state. After this handle was dropped, it is freed with the last of its threads.
pub struct Vm(Membership);

impl Vm {
    /// A VM whose state stays in memory until the program ends, as safe code may hold references to
    /// it.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Vm {
        Vm(Membership::of(State::new(false)))
    }
    /// A VM whose state is freed.
    ///
    /// # Safety
    /// References to what [`vm_state!`](crate::vm_state) declares are `&'static`. None obtained in
    /// this VM, and nothing made from one, is used after the handle has been dropped or reset and
    /// the VM's threads have ended, except by calls made with [`bind`](crate::bind).
    pub unsafe fn temporary() -> Vm {
        Vm(Membership::of(State::new(true)))
    }
    /// Calls `f` on a new thread of this VM, waits for it, and panics if it does.
    pub fn enter<R: Send>(&self, f: impl FnOnce() -> R + Send) -> R {
        let vm = Membership::of(self.0 .0.clone());
        let in_vm = move || {
            vm.join();
            f()
        };
        // Joining the thread waits for its thread-local variables too; the end of the scope would
        // not.
        match thread::scope(|s| s.spawn(in_vm).join()) {
            Ok(r) => r,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
    /// Gives the VM a new state. Threads that are in it still keep the old one.
    pub fn reset(&mut self) {
        self.0 = Membership::of(State::new(self.0 .0.is_temporary));
    }
}
