//! [`SpinLock`]: a lock for critical sections of a few instructions with almost no contention.
//!
//! It is taken by one atomic exchange and released by a plain store; a lock with sleeping waiters
//! needs an exchange for the release, too. A thread that finds it taken yields and tries again.

use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::thread::yield_now;

use crate::atomic::{AtomicBool, Ordering};

pub struct SpinLock<T> {
    held: AtomicBool,
    /// Accessed by the holder only.
    value: UnsafeCell<T>,
}

// SAFETY: one thread at a time has access to the value.
unsafe impl<T: Send> Sync for SpinLock<T> {}

impl<T: Default> Default for SpinLock<T> {
    fn default() -> Self {
        SpinLock { held: AtomicBool::new(false), value: UnsafeCell::default() }
    }
}

/// Access to the value until dropped. Other threads may get it as far as they may have `&mut T`.
pub struct SpinLockGuard<'a, T>(&'a SpinLock<T>, PhantomData<&'a mut T>);

impl<T> SpinLock<T> {
    #[inline]
    pub fn lock(&self) -> SpinLockGuard<'_, T> {
        loop {
            if let Some(held) = self.try_lock() {
                return held;
            }
            yield_now();
        }
    }
    #[inline]
    pub fn try_lock(&self) -> Option<SpinLockGuard<'_, T>> {
        let taken = self.held.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed);
        taken.is_ok().then(|| SpinLockGuard(self, PhantomData))
    }
}

impl<T> Deref for SpinLockGuard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: there is one `SpinLockGuard` at a time.
        unsafe { &*self.0.value.get() }
    }
}
impl<T> DerefMut for SpinLockGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the same.
        unsafe { &mut *self.0.value.get() }
    }
}
impl<T> Drop for SpinLockGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.0.held.store(false, Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn excludes_other_threads() {
        let each = if cfg!(miri) { 50 } else { 10_000 };
        let n = SpinLock::<[u64; 2]>::default();
        std::thread::scope(|s| {
            for _ in 0..4 {
                s.spawn(|| {
                    for _ in 0..each {
                        let mut n = n.lock();
                        assert_eq!(n[0], n[1]);
                        n[0] += 1;
                        n[1] += 1;
                    }
                });
            }
        });
        assert_eq!(*n.lock(), [4 * each; 2]);
    }
}
