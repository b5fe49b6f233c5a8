//! How long messages lie in mailboxes. To stamp each would cost more than the rest of the meter, so now
//! and then one is: a scheduler that begins a row (see `stopwatch`) asks for it, and the one that is
//! sent so many behind that, by whichever process, goes with the time it was sent. It takes the way of
//! signals that are no messages, and a slot of its own kind in the mailbox: what sends and takes other
//! messages has nothing to look at for it but a word it looks at already.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::board::{Kind, Page};
use crate::tracing_on;

/// A message among so many is the one: who sends many in a turn would else always show the first.
pub const AHEAD: u32 = 256;
/// The same where few are sent.
pub const FEW: u32 = 4;

kvik_state::vm_state! {
    /// Messages until then. Schedulers may miss each other's counting, which chance forgives.
    static LEFT: AtomicU32 = AtomicU32::new(0);
}

thread_local! {
    /// None where the thread is no scheduler.
    static PAGE: Cell<Option<Page>> = const { Cell::new(None) };
}
/// Where the scheduler that this thread is notes how long messages lay that are taken on it.
pub(super) fn note_on(page: Option<Page>) {
    PAGE.set(page)
}
/// One message behind so many is to be timed.
pub fn time_one_of(n: u64) {
    LEFT.store(n as u32 + 1, Relaxed);
    tracing_on::time_message(true);
}
/// A message is sent while one is to be timed: is it this one?
pub fn is_due() -> bool {
    let n = LEFT.load(Relaxed);
    if n > 1 {
        LEFT.store(n - 1, Relaxed);
        return false;
    }
    tracing_on::time_message(false);
    LEFT.swap(0, Relaxed) == 1
}
pub fn now() -> u64 {
    kvik_env::clock::ticks::ticks().now()
}
/// One that was sent then was taken.
#[cold]
pub fn taken(sent: u64) {
    if let Some(page) = PAGE.get() {
        let ticks = kvik_env::clock::ticks::ticks();
        page.note(Kind::Mail, ticks.between(sent, ticks.now()), 1);
    }
}
