//! One thread for everything: with one scheduler nobody else changes an inbox or a table, and nothing
//! about a task needs an atomic read-modify-write.
//!
//! A program decides before its first task is started ([`reserve`]). The scheduler's thread then
//! makes itself the one that may ([`claim`]); others are told that they can't
//! ([`Pushed::Elsewhere`](crate::Pushed::Elsewhere)), and hand over what they have to send.

use std::cell::Cell;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

const UNDECIDED: u8 = 0;
const MANY: u8 = 1;
/// The thread is still to come.
const RESERVED: u8 = 2;
const CLAIMED: u8 = 3;

#[cfg(not(loom))]
mod decided {
    use super::*;

    kvik_state::vm_state! {
        /// Changes from `UNDECIDED` before there is a task, and is read only where there is one; so
        /// every thread reads the same decision, whatever the order.
        pub static STATE: AtomicU8 = AtomicU8::new(UNDECIDED);
    }

    thread_local! {
        pub static HERE: Cell<bool> = const { Cell::new(false) };
    }
}
/// The same for loom, which runs a program many times over: each time begins undecided.
#[cfg(loom)]
mod decided {
    use super::*;

    loom::lazy_static! {
        pub static ref STATE: AtomicU8 = AtomicU8::new(UNDECIDED);
    }
    loom::thread_local! {
        pub static HERE: Cell<bool> = Cell::new(false);
    }
}
use decided::{HERE, STATE};

/// Who may change inboxes and tables.
#[derive(Copy, Clone, PartialEq, Eq)]
pub(crate) enum Who {
    /// Any thread, with atomic operations.
    All,
    /// This thread alone.
    Me,
    /// Another thread alone.
    Other,
}

#[inline]
pub(crate) fn who() -> Who {
    if STATE.load(Relaxed) < RESERVED {
        Who::All
    } else if HERE.with(Cell::get) {
        Who::Me
    } else {
        Who::Other
    }
}

/// Does one thread do everything?
pub fn is_reserved() -> bool {
    STATE.load(Relaxed) >= RESERVED
}
/// A task is about to be started: undecided is decided.
#[inline]
pub(crate) fn a_task_starts() {
    if STATE.load(Relaxed) == UNDECIDED {
        let _ = STATE.compare_exchange(UNDECIDED, MANY, Relaxed, Relaxed);
    }
}
/// From now on one thread does everything. False: tasks were started already.
pub fn reserve() -> bool {
    STATE.compare_exchange(UNDECIDED, RESERVED, Relaxed, Relaxed).is_ok()
}
/// This thread is the one. False: nothing was reserved, or another is.
pub fn claim() -> bool {
    let claimed = STATE.compare_exchange(RESERVED, CLAIMED, Relaxed, Relaxed).is_ok();
    if claimed {
        HERE.with(|h| h.set(true));
    }
    claimed
}
