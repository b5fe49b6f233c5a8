//! Time: Erlang's monotonic clock in nanoseconds, system time, and the offset between them.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::OnceLock;

use kvik_env::clock::{monotonic_nanos, wall_nanos};

struct Start {
    /// On the system's monotonic clock.
    at: i64,
    /// System time minus monotonic time, in nanoseconds, at the start.
    offset: i64,
}

/// Erlang's monotonic time begins far below zero, as OTP's does: at -2^59 in round seconds.
const BEGIN: i64 = -576_460_752_000_000_000;

fn start() -> &'static Start {
    kvik_state::vm_state! {
        static START: OnceLock<Start> = OnceLock::new();
    }
    START.get_or_init(|| Start { at: monotonic_nanos(), offset: os_system() - BEGIN })
}

/// The operating system's time, in nanoseconds since 1970.
pub fn os_system() -> i64 {
    wall_nanos()
}
/// Nanoseconds since the VM started.
#[inline]
pub fn now() -> u64 {
    let began = start().at;
    monotonic_nanos().saturating_sub(began).max(0) as u64
}
/// `erlang:monotonic_time/0`, in nanoseconds.
pub fn monotonic() -> i64 {
    BEGIN + now() as i64
}
/// When the VM started, on the system's monotonic clock.
pub fn began() -> u64 {
    start().at.max(0) as u64
}
pub fn begin() -> i64 {
    BEGIN
}
kvik_state::vm_state! {
    /// The change of the offset since the start; always 0 in OTP's default time warp mode.
    static WARP: AtomicI64 = AtomicI64::new(0);
}

/// System time minus monotonic time, in nanoseconds.
pub fn offset() -> i64 {
    start().offset + WARP.load(Ordering::Relaxed)
}
/// By how much the operating system's time is ahead of monotonic time plus offset.
pub fn drift() -> i64 {
    os_system() - system()
}
/// Sets system time to the operating system's.
pub fn warp() {
    WARP.fetch_add(drift(), Ordering::Relaxed);
}
/// System time in microseconds, greater each time than all before (`erlang:now/0`).
pub fn unique_us() -> i64 {
    kvik_state::vm_state! {
        static LAST: AtomicI64 = AtomicI64::new(0);
    }
    let now = system() / 1000;
    let next = |last: i64| Some(now.max(last + 1));
    let last = LAST.fetch_update(Ordering::AcqRel, Ordering::Acquire, next);
    last.map_or(now, |l| now.max(l + 1))
}
/// `erlang:system_time/0`, in nanoseconds.
pub fn system() -> i64 {
    monotonic() + offset()
}

#[cfg(test)]
mod tests {
    #[test]
    fn time_begins_at_zero() {
        // The first call starts the clock.
        assert!(super::now() < 60_000_000_000);
        let then = super::now();
        assert!(super::now() >= then);
    }
}
