//! [`Latch`]: a lock for what hardly ever two want at once, held for a few steps.
//!
//! It is taken by one atomic exchange and given back by a plain store, where a lock that others may
//! sleep on needs an exchange for that, too. Who finds it taken lets other threads run and tries again.

use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::thread::yield_now;

use crate::atomic::{AtomicBool, Ordering};

pub struct Latch<T> {
    held: AtomicBool,
    /// Whose who holds it.
    value: UnsafeCell<T>,
}

// SAFETY: one thread at a time gets at the value.
unsafe impl<T: Send> Sync for Latch<T> {}

impl<T: Default> Default for Latch<T> {
    fn default() -> Self {
        Latch { held: AtomicBool::new(false), value: UnsafeCell::default() }
    }
}

/// The value, till this is dropped. Other threads may have it as far as they may have `&mut T`.
pub struct Held<'a, T>(&'a Latch<T>, PhantomData<&'a mut T>);

impl<T> Latch<T> {
    #[inline]
    pub fn lock(&self) -> Held<'_, T> {
        loop {
            if let Some(held) = self.try_lock() {
                return held;
            }
            yield_now();
        }
    }
    #[inline]
    pub fn try_lock(&self) -> Option<Held<'_, T>> {
        let taken = self.held.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed);
        taken.is_ok().then(|| Held(self, PhantomData))
    }
}

impl<T> Deref for Held<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: there is one `Held` at a time.
        unsafe { &*self.0.value.get() }
    }
}
impl<T> DerefMut for Held<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the same.
        unsafe { &mut *self.0.value.get() }
    }
}
impl<T> Drop for Held<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.0.held.store(false, Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time() {
        let each = if cfg!(miri) { 50 } else { 10_000 };
        let n = Latch::<[u64; 2]>::default();
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
