//! The atomics under inbox, task and parker: the standard ones, or those of loom, which explores
//! all values that threads may read (`loom_models.rs`, `make loom`).

#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{fence, AtomicBool, AtomicPtr, Ordering};

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{fence, AtomicBool, AtomicPtr, Ordering};

/// The value of a pointer that no other thread can reach any more.
pub(crate) fn last<T>(p: &mut AtomicPtr<T>) -> *mut T {
    #[cfg(not(loom))]
    return *p.get_mut();
    // Exclusive access is known from a count of the standard library, which loom does not see.
    #[cfg(loom)]
    return p.swap(std::ptr::null_mut(), Ordering::AcqRel);
}
