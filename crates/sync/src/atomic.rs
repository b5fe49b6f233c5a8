//! The atomics under inbox, task and parker: the standard ones, or those of loom, which tries all
//! that threads may see of each other (`loom_models.rs`, `make loom`).

#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{fence, AtomicBool, AtomicPtr, Ordering};

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{fence, AtomicBool, AtomicPtr, Ordering};

/// What a pointer nobody else has any more holds.
pub(crate) fn last<T>(p: &mut AtomicPtr<T>) -> *mut T {
    #[cfg(not(loom))]
    return *p.get_mut();
    // That nobody else has it is known by a count of the standard library, which loom does not see.
    #[cfg(loom)]
    return p.swap(std::ptr::null_mut(), Ordering::AcqRel);
}
