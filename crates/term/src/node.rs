//! This node's name and creation, which identify its own pids, ports and references.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::{am, Atom};

kvik_state::vm_state! {
    static NAME: AtomicU32 = AtomicU32::new(am::nonode_nohost.0);
    static CREATION: AtomicU32 = AtomicU32::new(0);
}

pub fn name() -> Atom {
    Atom(NAME.load(Ordering::Relaxed))
}
pub fn creation() -> u32 {
    CREATION.load(Ordering::Relaxed)
}
pub fn set(name: Atom, creation: u32) {
    CREATION.store(creation, Ordering::Relaxed);
    NAME.store(name.0, Ordering::Relaxed);
}
