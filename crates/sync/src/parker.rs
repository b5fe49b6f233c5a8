//! [`Parker`]: a thread that sleeps where nothing is there for it, and those who give it something.
//!
//! | the thread | who gives |
//! |---|---|
//! | `sleeps` | gives it something |
//! | looks once more whether something is there | `must_wake`: if so, wakes it |
//! | if not: waits to be woken | |
//! | `is_up` | |
//!
//! Both write one thing and then read the other's, with a fence between, so one of them at least
//! sees what the other wrote. What wakes the thread must last: a wake-up that comes before the wait
//! ends it.

use crate::atomic::{fence, AtomicBool, Ordering};

pub struct Parker {
    /// The thread sleeps or is about to; whoever takes this back wakes it.
    asleep: AtomicBool,
}

impl Default for Parker {
    fn default() -> Self {
        Parker { asleep: AtomicBool::new(false) }
    }
}

impl Parker {
    /// The thread is about to sleep. It must look once more behind this whether something is there.
    pub fn sleeps(&self) {
        self.asleep.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
    }
    /// The thread is up. True where nobody has taken back before that it sleeps.
    pub fn is_up(&self) -> bool {
        self.asleep.swap(false, Ordering::AcqRel)
    }
    /// Something was given. True for the one who has to wake the thread.
    pub fn must_wake(&self) -> bool {
        fence(Ordering::SeqCst);
        self.asleep.load(Ordering::Relaxed) && self.is_up()
    }
    /// Does it sleep, as far as one can tell?
    pub fn is_asleep(&self) -> bool {
        self.asleep.load(Ordering::Relaxed)
    }
}
