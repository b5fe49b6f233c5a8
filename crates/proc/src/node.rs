//! This node's name and creation.

use std::sync::atomic::{AtomicU32, Ordering};

use kvik_term::{am, Atom};

static NAME: AtomicU32 = AtomicU32::new(am::nonode_nohost.index());
static CREATION: AtomicU32 = AtomicU32::new(0);

pub fn name() -> Atom {
    Atom::from_index(NAME.load(Ordering::Relaxed)).unwrap_or(am::nonode_nohost)
}
pub fn creation() -> u32 {
    CREATION.load(Ordering::Relaxed)
}
pub fn set(name: Atom, creation: u32) {
    CREATION.store(creation, Ordering::Relaxed);
    NAME.store(name.index(), Ordering::Relaxed);
}
pub fn is_alive() -> bool {
    name() != am::nonode_nohost
}
