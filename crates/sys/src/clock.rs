//! Clocks.

use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use crate::errno::{check, Errno, Result};

#[inline]
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
/// The same as of the last tick, at a third of the cost.
#[inline]
pub fn coarse_nanos() -> i64 {
    read(libc::CLOCK_MONOTONIC_COARSE)
}
/// Nanoseconds from tick to tick.
pub fn tick_nanos() -> i64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 10_000_000 };
    // SAFETY: the structure is ours to write.
    unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC_COARSE, &mut t) };
    t.tv_nsec
}
/// Microseconds of processor time that this process (all its threads) has used outside the kernel.
pub fn user_cpu_micros() -> i64 {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the call fills the structure; all zeros is a value of it too.
    let t = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init().ru_utime
    };
    t.tv_sec.saturating_mul(1_000_000).saturating_add(t.tv_usec)
}
/// Nanoseconds of processor time that this process (all its threads) has used, in the kernel and
/// outside.
pub fn cpu_nanos() -> i64 {
    read(libc::CLOCK_PROCESS_CPUTIME_ID)
}
/// Nanoseconds of processor time that this thread has used.
pub fn thread_cpu_nanos() -> i64 {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}
/// How often this thread has gone to sleep in a system call (being interrupted does not count).
pub fn thread_sleeps() -> i64 {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the call fills the structure; all zeros is a value of it too.
    unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
        usage.assume_init().ru_nvcsw
    }
}

/// A timer that never rings, and ends a wait when the time of day is set (timerfd_create(2)).
pub struct ClockSetTimer(OwnedFd);

/// Seconds since 1970 of a moment that does not come.
const NEVER: libc::time_t = 1 << 33;

impl ClockSetTimer {
    pub fn new() -> Result<ClockSetTimer> {
        // SAFETY: the call takes no memory.
        let fd = check(unsafe { libc::timerfd_create(libc::CLOCK_REALTIME, libc::TFD_CLOEXEC) })?;
        // SAFETY: the descriptor is new, and nobody else's.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        let zero = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        let at = libc::timespec { tv_sec: NEVER, ..zero };
        let never = libc::itimerspec { it_interval: zero, it_value: at };
        let flags = libc::TFD_TIMER_ABSTIME | libc::TFD_TIMER_CANCEL_ON_SET;
        // SAFETY: the structure is read during the call; none is asked for.
        check(unsafe {
            libc::timerfd_settime(fd.as_raw_fd(), flags, &never, std::ptr::null_mut())
        })?;
        Ok(ClockSetTimer(fd))
    }
    /// Waits until the time has been set since the last call.
    pub fn wait(&self) -> Result<()> {
        let mut expirations = [MaybeUninit::uninit(); 8];
        match crate::fd::read(self.0.as_raw_fd(), &mut expirations) {
            Ok(_) | Err(Errno(libc::ECANCELED)) => Ok(()),
            Err(e) => Err(e),
        }
    }
}
