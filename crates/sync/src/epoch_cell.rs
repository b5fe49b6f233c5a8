//! [`EpochCell`]: a value that is read without locks and without counting, and replaced as a whole.
//!
//! A replaced value stays in memory until every thread that may read it has dropped its
//! [`Guard`](crate::Guard).

use std::marker::PhantomData;
use std::sync::atomic::{AtomicPtr, Ordering};

use crossbeam_epoch as epoch;

use crate::guard::{pin, put_off, Guard};

pub struct EpochCell<T> {
    /// From `Box::into_raw`, or null.
    at: AtomicPtr<T>,
    owns: PhantomData<T>,
}

impl<T> Default for EpochCell<T> {
    fn default() -> Self {
        EpochCell { at: AtomicPtr::default(), owns: PhantomData }
    }
}

impl<T: Send + Sync + 'static> EpochCell<T> {
    /// The value, if there is one.
    #[inline]
    pub fn get<'g>(&'g self, _guard: &'g Guard) -> Option<&'g T> {
        // SAFETY: a replaced value is freed when the guards of that time are gone, and this guard is
        // held.
        unsafe { self.at.load(Ordering::Acquire).as_ref() }
    }
    /// Replaces the value by what `change` makes of it. Calls must not overlap: the caller holds a
    /// lock.
    pub fn change(&self, change: impl FnOnce(Option<&T>) -> T) {
        let guard = pin();
        let new = Box::into_raw(Box::new(change(self.get(&guard))));
        let old = self.at.swap(new, Ordering::AcqRel);
        drop(guard);
        if !old.is_null() {
            // SAFETY: `old` came from a box and is out of the cell: later reads cannot find it.
            let free = kvik_state::bind(move || unsafe { drop(Box::from_raw(old)) });
            // SAFETY: as above; nothing else is in it.
            unsafe { epoch::pin().defer_unchecked(free) };
            put_off();
        }
    }
}

impl<T> Drop for EpochCell<T> {
    fn drop(&mut self) {
        let at = *self.at.get_mut();
        if !at.is_null() {
            // SAFETY: it came from a box; nobody reads it, since `self` is borrowed alone.
            drop(unsafe { Box::from_raw(at) });
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn readers_see_whole_values() {
        let cell = EpochCell::<Vec<u64>>::default();
        assert!(cell.get(&pin()).is_none());
        let (last, over) = (if cfg!(miri) { 20 } else { 20_000 }, AtomicBool::new(false));
        cell.change(|_| vec![0; 8]);
        std::thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| {
                    let mut before = 0;
                    while !over.load(Ordering::Relaxed) {
                        let pin = pin();
                        let all = cell.get(&pin).unwrap();
                        assert!(all.iter().all(|n| *n == all[0]));
                        assert!(all[0] >= before, "values come in order");
                        before = all[0];
                    }
                });
            }
            (1..=last).for_each(|n| cell.change(|old| vec![old.unwrap()[0].max(n); 8]));
            over.store(true, Ordering::Relaxed);
        });
        assert_eq!(cell.get(&pin()), Some(&vec![last; 8]));
    }
}
