//! [`Parker`]: a thread that sleeps while it has no work, and the threads that give it work.
//!
//! | the sleeping thread | a thread that adds work |
//! |---|---|
//! | `sleeps` | adds work |
//! | checks once more for work | `must_wake`: if so, wakes it |
//! | if there is none: waits to be woken | |
//! | `is_up` | |
//!
//! Each side writes its own variable and then reads the other's, with a fence between, so at least
//! one of them sees the other's write. A wake-up must persist: one that comes before the wait ends
//! it.

use crate::atomic::{fence, AtomicBool, Ordering};

pub struct Parker {
    /// The thread sleeps or is about to; whichever thread clears this wakes it.
    asleep: AtomicBool,
}

impl Default for Parker {
    fn default() -> Self {
        Parker { asleep: AtomicBool::new(false) }
    }
}

impl Parker {
    /// The thread is about to sleep. After this call it must check once more for work.
    pub fn sleeps(&self) {
        self.asleep.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
    }
    /// The thread is awake. True if no other thread has cleared the mark before.
    pub fn is_up(&self) -> bool {
        self.asleep.swap(false, Ordering::AcqRel)
    }
    /// Work was added. True for the one caller that has to wake the thread.
    pub fn must_wake(&self) -> bool {
        fence(Ordering::SeqCst);
        self.asleep.load(Ordering::Relaxed) && self.is_up()
    }
    /// Whether it sleeps; may be outdated at once.
    pub fn is_asleep(&self) -> bool {
        self.asleep.load(Ordering::Relaxed)
    }
}
