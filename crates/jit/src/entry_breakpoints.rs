//! The functions that have a breakpoint at their entry (see `breakpoints.rs`).

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{OnceLock, RwLock};

kvik_state::vm_state! {
    pub(crate) static ACTIVE: AtomicBool = AtomicBool::new(false);
}

/// Whether a breakpoint was ever set.
pub(crate) fn active() -> bool {
    ACTIVE.load(Ordering::Relaxed)
}

/// The entries with a breakpoint, each with whether its calls go to the error handler.
pub(crate) fn entries() -> &'static RwLock<HashMap<usize, bool>> {
    kvik_state::vm_state! {
        static ENTRIES: OnceLock<RwLock<HashMap<usize, bool>>> = OnceLock::new();
    }
    ENTRIES.get_or_init(RwLock::default)
}
/// Removes the breakpoints of code that is about to be freed.
pub(crate) fn forget(code: std::ops::Range<usize>) {
    if active() {
        let mut all = entries().write().unwrap_or_else(|e| e.into_inner());
        all.retain(|at, _| !code.contains(at));
    }
}
/// The breakpoint at this address, if any: whether its calls go to the error handler.
pub(crate) fn entry(at: usize) -> Option<bool> {
    entries().read().unwrap_or_else(|e| e.into_inner()).get(&at).copied()
}
