//! The functions that have a breakpoint at their entry (see `breaks.rs`).

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{OnceLock, RwLock};

kvik_state::vm_state! {
    pub(crate) static ACTIVE: AtomicBool = AtomicBool::new(false);
}

/// Was there ever a breakpoint?
pub(crate) fn active() -> bool {
    ACTIVE.load(Ordering::Relaxed)
}

/// With whether calls go to the error handler.
pub(crate) fn entries() -> &'static RwLock<HashMap<usize, bool>> {
    kvik_state::vm_state! {
        static ENTRIES: OnceLock<RwLock<HashMap<usize, bool>>> = OnceLock::new();
    }
    ENTRIES.get_or_init(RwLock::default)
}
/// The code at these addresses goes.
pub(crate) fn forget(code: std::ops::Range<usize>) {
    if active() {
        let mut all = entries().write().unwrap_or_else(|e| e.into_inner());
        all.retain(|at, _| !code.contains(at));
    }
}
/// Is there a breakpoint at this address, and do its calls go to the error handler?
pub(crate) fn entry(at: usize) -> Option<bool> {
    entries().read().unwrap_or_else(|e| e.into_inner()).get(&at).copied()
}
