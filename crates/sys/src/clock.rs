//! Clocks.

use std::mem::MaybeUninit;

fn read(clock: libc::clockid_t) -> i64 {
    let mut t = MaybeUninit::<libc::timespec>::zeroed();
    // SAFETY: the call fills the structure; all zeros is a value of it too.
    let t = unsafe {
        libc::clock_gettime(clock, t.as_mut_ptr());
        t.assume_init()
    };
    t.tv_sec.saturating_mul(1_000_000_000).saturating_add(t.tv_nsec)
}

/// Nanoseconds of the clock that never goes back.
pub fn monotonic_nanos() -> i64 {
    read(libc::CLOCK_MONOTONIC)
}
/// Nanoseconds of processor time that this process (all its threads) has used.
pub fn cpu_nanos() -> i64 {
    read(libc::CLOCK_PROCESS_CPUTIME_ID)
}
/// Nanoseconds of processor time that this thread has used.
pub fn thread_cpu_nanos() -> i64 {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}
