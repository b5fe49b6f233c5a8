//! Whether any tracing, monitoring or profiling is on: one word that all schedulers read, and that
//! these features keep up to date.

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::sync::Mutex;

use crate::sched::microstate;

/// A feature that reports what processes do.
#[derive(Copy, Clone)]
#[repr(u8)]
pub(crate) enum User {
    Tracers = 1,
    SystemMonitor = 2,
    SystemProfile = 4,
    /// There is a token of sequential tracing.
    SeqTrace = 8,
    SavedCalls = 16,
}

kvik_state::vm_state! {
    /// The features in use, as bits.
    static USERS: Mutex<u8> = Mutex::new(0);
}

kvik_state::vm_state! {
    /// Whether anything is traced, monitored or profiled, or there is a token of sequential
    /// tracing.
    static ON: AtomicU8 = AtomicU8::new(0);
}

const TRACED: u8 = 1;
/// A message is to be timed: only senders test this bit.
const TIMED: u8 = 2;

#[inline]
pub fn on() -> bool {
    ON.load(Relaxed) & TRACED != 0
}
/// Whether any of these is on, or a message is to be timed.
#[inline]
pub(crate) fn on_or_timed() -> bool {
    ON.load(Relaxed) != 0
}
pub(crate) fn time_message(on: bool) {
    note(TIMED, on)
}
fn note(bit: u8, on: bool) {
    match on {
        true => ON.fetch_or(bit, Relaxed),
        false => ON.fetch_and(!bit, Relaxed),
    };
}

/// To be called when a feature may have been switched on or off. `has_told` is evaluated under the
/// lock, so that of several concurrent changes the last one wins.
pub(crate) fn update(user: User, has_told: impl FnOnce() -> bool) {
    let mut users = USERS.lock().unwrap_or_else(|e| e.into_inner());
    match has_told() {
        true => *users |= user as u8,
        false => *users &= !(user as u8),
    }
    let on = *users != 0;
    microstate::trace(on);
    note(TRACED, on);
}
