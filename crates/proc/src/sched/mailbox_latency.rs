//! Samples how long messages lie in mailboxes. Stamping each would cost more than all other
//! sampling. Instead, a scheduler that begins a burst (see `latency_sampler`) requests a sample,
//! and the message sent a random number of messages later, by any process, is stamped with its send
//! time. It travels as a control signal, and has its own kind of slot in the mailbox: the normal
//! send and receive paths test no word that they do not test already.

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::metrics_page::{HistogramKind, Page};
use crate::tracing_on;

/// A random message among this many is stamped: with a fixed choice, a process that sends many in a
/// time slice would always have its first one stamped.
pub const SAMPLE_INTERVAL: u32 = 256;
/// The same if few messages are sent.
pub const SHORT_SAMPLE_INTERVAL: u32 = 4;

kvik_state::vm_state! {
    /// Messages until the sample. Schedulers may overwrite each other's decrements; the choice is
    /// random anyway.
    static UNTIL_SAMPLE: AtomicU32 = AtomicU32::new(0);
}

thread_local! {
    /// None if the thread is no scheduler.
    static PAGE: Cell<Option<Page>> = const { Cell::new(None) };
}
/// Sets where this thread's scheduler records the latency of messages taken on it.
pub(super) fn record_on(page: Option<Page>) {
    PAGE.set(page)
}
/// Requests that the message `n` messages from now be stamped.
pub fn sample_within(n: u64) {
    UNTIL_SAMPLE.store(n as u32 + 1, Relaxed);
    tracing_on::time_message(true);
}
/// Counts a message sent while a sample is pending: whether it is the one.
pub fn is_due() -> bool {
    let n = UNTIL_SAMPLE.load(Relaxed);
    if n > 1 {
        UNTIL_SAMPLE.store(n - 1, Relaxed);
        return false;
    }
    tracing_on::time_message(false);
    UNTIL_SAMPLE.swap(0, Relaxed) == 1
}
pub fn now() -> u64 {
    kvik_env::clock::tsc::ticks().now()
}
/// Records that a message sent at `sent` was taken.
#[cold]
pub fn taken(sent: u64) {
    if let Some(page) = PAGE.get() {
        let ticks = kvik_env::clock::tsc::ticks();
        page.note(HistogramKind::Mail, ticks.between(sent, ticks.now()), 1);
    }
}
