//! [`ReadBiasedLock`]: a readers-writer lock whose readers write nothing that other threads read,
//! while nobody writes.
//!
//! Each thread has a slot in [`SLOTS`]. A reader of a lock with a bias stores the bias's address in
//! its slot; a writer takes the bias away and waits until no slot holds the address ([`Bias`]; the
//! idea is BRAVO's: Dice and Kogan, "BRAVO: Biased Locking for Reader-Writer Locks", 2019). The fence
//! between the two is paid by the writer alone: `membarrier` makes all threads of the program run one.
//!
//! A lock without a bias is an ordinary one. It gets its bias when many reads came after the last
//! write, so that what taking it away costs, some microseconds, is little for each of them.

use std::cell::{Cell, UnsafeCell};
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};
use std::sync::OnceLock;

use parking_lot::lock_api::RawRwLock as _;
use parking_lot::RawRwLock;

use crate::bias::{leave, Bias};

/// Reads without a write after which a lock gets its bias.
const READS_FOR_BIAS: u32 = if cfg!(miri) { 20 } else { 2_000 };
/// Threads with a slot; others take the lock.
const MAX_SLOTS: usize = if cfg!(miri) { 8 } else { 256 };

/// Whether the system has the writer's fence.
fn has_fences() -> bool {
    cfg!(miri) || *HAS_FENCES.get_or_init(kvik_sys::membarrier::register)
}

static HAS_FENCES: OnceLock<bool> = OnceLock::new();

/// A slot in cache lines of its own (CPUs fetch two at a time).
#[repr(align(128))]
struct ApartSlot {
    reads: AtomicPtr<Bias>,
    /// Some thread has it.
    taken: AtomicBool,
}

static SLOTS: [ApartSlot; MAX_SLOTS] = [const {
    ApartSlot { reads: AtomicPtr::new(std::ptr::null_mut()), taken: AtomicBool::new(false) }
}; MAX_SLOTS];

/// A thread's slot; it is given back when the thread ends.
struct OwnSlot(Option<&'static ApartSlot>);

impl OwnSlot {
    #[cold]
    fn take() -> OwnSlot {
        let mut free = SLOTS.iter().filter(|s| !s.taken.swap(true, Ordering::AcqRel));
        OwnSlot(has_fences().then(|| free.next()).flatten())
    }
}
impl Drop for OwnSlot {
    fn drop(&mut self) {
        FREE_SLOT.set(None);
        if let Some(slot) = self.0 {
            slot.taken.store(false, Ordering::Release);
        }
    }
}

thread_local! {
    /// This thread's slot, unless it reads by it.
    static FREE_SLOT: Cell<Option<&'static ApartSlot>> = const { Cell::new(None) };
    static OWN_SLOT: OwnSlot = OwnSlot::take();
    static ASKED: Cell<bool> = const { Cell::new(false) };
}

/// Gets this thread a slot, which it has until it ends.
#[cold]
fn prepare_slot() {
    if !ASKED.replace(true) {
        // Fails on a thread that ends.
        let _ = OWN_SLOT.try_with(|own| FREE_SLOT.set(own.0));
    }
}

pub struct ReadBiasedLock<T> {
    bias: Bias,
    /// Reads since the last write, about: threads may overwrite each other's counts.
    reads: AtomicU32,
    lock: RawRwLock,
    value: UnsafeCell<T>,
}

// SAFETY: readers share the value, one writer at a time has it alone.
unsafe impl<T: Send + Sync> Sync for ReadBiasedLock<T> {}

impl<T> ReadBiasedLock<T> {
    pub fn new(value: T) -> ReadBiasedLock<T> {
        ReadBiasedLock {
            bias: Bias::default(),
            reads: Default::default(),
            lock: RawRwLock::INIT,
            value: UnsafeCell::new(value),
        }
    }
    #[inline]
    pub fn read(&self) -> ReadGuard<'_, T> {
        if let Some(slot) = FREE_SLOT.get() {
            if self.bias.enter(&slot.reads) {
                FREE_SLOT.set(None);
                return self.guard(Some(slot));
            }
        }
        self.read_slowly()
    }
    #[inline]
    fn guard(&self, slot: Option<&'static ApartSlot>) -> ReadGuard<'_, T> {
        ReadGuard { of: self, slot, one_thread: PhantomData }
    }
    #[inline]
    fn read_slowly(&self) -> ReadGuard<'_, T> {
        self.lock.lock_shared();
        let reads = self.reads.load(Ordering::Relaxed);
        match reads < READS_FOR_BIAS {
            true => self.reads.store(reads + 1, Ordering::Relaxed),
            false => self.consider_bias(),
        }
        self.guard(None)
    }
    #[cold]
    fn consider_bias(&self) {
        prepare_slot();
        if has_fences() {
            self.bias.give();
        }
    }
    /// `None` if somebody writes.
    pub fn try_read(&self) -> Option<ReadGuard<'_, T>> {
        self.lock.try_lock_shared().then(|| self.guard(None))
    }
    #[inline]
    pub fn write(&self) -> WriteGuard<'_, T> {
        self.lock.lock_exclusive();
        self.reads.store(0, Ordering::Relaxed);
        self.bias.take_away(SLOTS.iter().map(|s| &s.reads), std::thread::yield_now);
        WriteGuard { of: self, one_thread: PhantomData }
    }
}

/// Access to the value, which nobody writes meanwhile.
pub struct ReadGuard<'a, T> {
    of: &'a ReadBiasedLock<T>,
    /// The thread's slot that holds the bias's address; `None`: the lock is held.
    slot: Option<&'static ApartSlot>,
    one_thread: PhantomData<*mut ()>,
}
impl<T> Deref for ReadGuard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: a writer waits for this guard.
        unsafe { &*self.of.value.get() }
    }
}
impl<T> Drop for ReadGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        match self.slot {
            Some(slot) => {
                leave(&slot.reads);
                FREE_SLOT.set(Some(slot));
            }
            // SAFETY: this guard holds the lock.
            None => unsafe { self.of.lock.unlock_shared() },
        }
    }
}

/// Access to the value alone.
pub struct WriteGuard<'a, T> {
    of: &'a ReadBiasedLock<T>,
    one_thread: PhantomData<*mut ()>,
}
impl<T> Drop for WriteGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: this guard holds the lock.
        unsafe { self.of.lock.unlock_exclusive() }
    }
}
impl<T> Deref for WriteGuard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: there is one such guard at a time, and no reader.
        unsafe { &*self.of.value.get() }
    }
}
impl<T> DerefMut for WriteGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the same.
        unsafe { &mut *self.of.value.get() }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn is_biased<T>(lock: &ReadBiasedLock<T>) -> bool {
        lock.bias.is_on()
    }
    /// Reads until the lock has its bias and this thread its slot.
    fn biased<T>(value: T) -> ReadBiasedLock<T> {
        let lock = ReadBiasedLock::new(value);
        (0..=READS_FOR_BIAS).for_each(|_| drop(lock.read()));
        lock
    }

    #[test]
    fn many_reads_give_a_bias_and_a_write_takes_it() {
        let lock = biased(7);
        assert_eq!(is_biased(&lock), has_fences());
        let (a, b) = (lock.read(), lock.read());
        if has_fences() {
            assert!(a.slot.is_some() && b.slot.is_none());
        }
        drop((a, b));
        *lock.write() += 1;
        assert!(!is_biased(&lock));
        assert!(lock.read().slot.is_none());
        assert_eq!(*lock.read(), 8);
        assert!(lock.try_read().is_some());
        let held = lock.write();
        assert!(lock.try_read().is_none());
        drop(held);
    }

    #[test]
    fn a_writer_waits_for_readers() {
        let (lock, other) = (biased([0u64; 8]), biased(0));
        let rounds = if cfg!(miri) { 3 } else { 300 };
        std::thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| {
                    let mut seen = 0;
                    while seen < rounds {
                        let all = lock.read();
                        seen = all[0];
                        assert!(all.iter().all(|n| *n == seen), "a write in the middle of a read");
                        drop((all, other.read()));
                    }
                });
            }
            for _ in 0..rounds {
                // Readers are to have the bias again.
                while has_fences() && !is_biased(&lock) && !cfg!(miri) {
                    drop(lock.read());
                }
                lock.write().iter_mut().for_each(|n| *n += 1);
            }
        });
    }

    #[test]
    fn slots_are_given_back() {
        let lock = biased(1);
        for _ in 0..if cfg!(miri) { 2 } else { 2 * MAX_SLOTS } {
            std::thread::scope(|s| {
                s.spawn(|| {
                    prepare_slot();
                    assert_eq!(FREE_SLOT.get().is_some(), has_fences());
                    assert_eq!(*lock.read(), 1);
                });
            });
        }
    }
}
