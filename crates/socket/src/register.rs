//! The process that keeps the register of sockets.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

kvik_state::vm_state! {
    /// Its process number plus one; 0 before there is one.
    static REGISTER: AtomicU32 = AtomicU32::new(0);
}

pub fn set_register(pid: u32) {
    REGISTER.store(pid + 1, Relaxed);
}
pub fn register() -> Option<u32> {
    REGISTER.load(Relaxed).checked_sub(1)
}
