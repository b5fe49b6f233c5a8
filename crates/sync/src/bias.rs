//! [`Bias`]: how the readers of a [`ReadBiasedLock`](crate::ReadBiasedLock) and a writer learn of each
//! other.
//!
//! | a reader | the writer |
//! |---|---|
//! | sees a bias | |
//! | stores the bias's address in its slot | takes the bias away |
//! | a fence for the compiler | a fence on each thread |
//! | looks at the bias again: if it is gone, empties the slot | waits until no slot has the address |
//!
//! Each side writes its own variable and then reads the other's, with a fence between, so at least
//! one of them sees the other's write.

use crate::atomic::{AtomicBool, AtomicPtr, Ordering};

/// A lock's bias: its readers use slots.
pub(crate) struct Bias {
    on: AtomicBool,
}

impl Default for Bias {
    fn default() -> Self {
        Bias { on: AtomicBool::new(false) }
    }
}

/// The bias whose lock a thread reads, or null.
pub(crate) type Slot = AtomicPtr<Bias>;

impl Bias {
    /// Begins a read by a slot that is free. False: there is no bias.
    #[inline]
    pub(crate) fn enter(&self, slot: &Slot) -> bool {
        if !self.is_on() {
            return false;
        }
        slot.store(std::ptr::from_ref(self).cast_mut(), Ordering::Relaxed);
        light_fence();
        let entered = self.on.load(Ordering::Acquire);
        if !entered {
            leave(slot);
        }
        entered
    }
    /// Call it with the lock held by a reader.
    pub(crate) fn give(&self) {
        if !self.is_on() {
            self.on.store(true, Ordering::Release);
        }
    }
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.on.load(Ordering::Relaxed)
    }
    /// Takes the bias away, and waits until nobody reads by a slot. Call it with the lock held by
    /// the writer.
    pub(crate) fn take_away<'s>(&self, slots: impl Iterator<Item = &'s Slot>, wait: impl Fn()) {
        if !self.is_on() {
            return;
        }
        self.on.store(false, Ordering::Relaxed);
        heavy_fence();
        let me = std::ptr::from_ref(self).cast_mut();
        for slot in slots {
            while slot.load(Ordering::Acquire) == me {
                wait();
            }
        }
    }
}
/// Ends a read.
#[inline]
pub(crate) fn leave(slot: &Slot) {
    slot.store(std::ptr::null_mut(), Ordering::Release);
}

/// Between a reader's two accesses.
#[inline]
fn light_fence() {
    #[cfg(not(any(loom, miri)))]
    std::sync::atomic::compiler_fence(Ordering::SeqCst);
    #[cfg(any(loom, miri))]
    crate::atomic::fence(Ordering::SeqCst);
}
/// Between a writer's two accesses.
fn heavy_fence() {
    #[cfg(not(any(loom, miri)))]
    kvik_sys::membarrier::all_threads();
    #[cfg(any(loom, miri))]
    crate::atomic::fence(Ordering::SeqCst);
}
