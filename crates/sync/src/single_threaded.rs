//! Single-threaded mode: with one scheduler its thread alone changes inboxes and tables, and tasks
//! need no atomic read-modify-write.
//!
//! The program decides before its first task is started ([`reserve`]). The scheduler's thread then
//! becomes the one that may change them ([`claim`]). Other threads get
//! [`Pushed::Elsewhere`](crate::Pushed::Elsewhere), and hand over what they have to send.

use std::cell::Cell;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

const UNDECIDED: u8 = 0;
const MULTI_THREADED: u8 = 1;
/// Reserved, but no thread has claimed it yet.
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
/// The same for loom, which runs a program many times: each run begins undecided.
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

/// Which threads may change inboxes and tables.
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

/// Whether one thread makes all changes.
pub fn is_reserved() -> bool {
    STATE.load(Relaxed) >= RESERVED
}
/// Whether another thread makes all changes, so that this one must hand over what it sends.
pub fn is_elsewhere() -> bool {
    who() == Who::Other
}
/// Called before a task is started; settles the mode if undecided.
#[inline]
pub(crate) fn note_task_start() {
    if STATE.load(Relaxed) == UNDECIDED {
        let _ = STATE.compare_exchange(UNDECIDED, MULTI_THREADED, Relaxed, Relaxed);
    }
}
/// Enters single-threaded mode. False: tasks were started already.
pub fn reserve() -> bool {
    STATE.compare_exchange(UNDECIDED, RESERVED, Relaxed, Relaxed).is_ok()
}
/// Makes this thread the one that changes inboxes. False: nothing is reserved, or another thread
/// is.
pub fn claim() -> bool {
    let claimed = STATE.compare_exchange(RESERVED, CLAIMED, Relaxed, Relaxed).is_ok();
    if claimed {
        HERE.with(|h| h.set(true));
    }
    claimed
}
