//! Time: a monotonic clock, the time of day, and processor time.

use std::io;
use std::ops::Add;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use kvik_sys::clock as sys;

pub use kvik_sys::clock::{
    cpu_nanos, thread_cpu_nanos, thread_sleeps, tick_nanos, user_cpu_micros,
};
// The CPU's counter. It measures what schedulers do and decides nothing, so no simulation replaces
// it.
pub use kvik_sys::tsc;
pub use kvik_sys::usage::cpu_time_ns;

/// Nanoseconds of the clock that never goes back.
#[inline]
pub fn monotonic_nanos() -> i64 {
    #[cfg(feature = "simulation")]
    if let Some(now) = crate::current().clock.monotonic() {
        return now;
    }
    sys::monotonic_nanos()
}

/// The same as of the last tick, at a third of the cost.
#[inline]
pub fn coarse_nanos() -> i64 {
    #[cfg(feature = "simulation")]
    if let Some(now) = crate::current().clock.monotonic() {
        return now;
    }
    sys::coarse_nanos()
}

/// Nanoseconds since 1970 by the operating system's time of day.
#[inline]
pub fn wall_nanos() -> i64 {
    #[cfg(feature = "simulation")]
    return crate::current().wall_nanos(system_wall_nanos);
    #[cfg(not(feature = "simulation"))]
    system_wall_nanos()
}
fn system_wall_nanos() -> i64 {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(d) => d.as_nanos() as i64,
        Err(e) => -(e.duration().as_nanos() as i64),
    }
}

/// Notices that the system's time of day is set.
pub struct ClockSetWatch(
    #[cfg_attr(feature = "simulation", expect(dead_code, reason = "a simulation sets no clock"))]
    sys::ClockSetTimer,
);

impl ClockSetWatch {
    pub fn new() -> io::Result<ClockSetWatch> {
        Ok(ClockSetWatch(sys::ClockSetTimer::new()?))
    }
    /// Waits until the time has been set since the last call. The clock of a simulation jumps when
    /// it is read, so there a second is waited for.
    pub fn wait(&self) -> io::Result<()> {
        #[cfg(feature = "simulation")]
        {
            crate::thread::sleep(Duration::from_secs(1));
            Ok(())
        }
        #[cfg(not(feature = "simulation"))]
        Ok(self.0.wait()?)
    }
}

/// A moment of the monotonic clock, for deadlines.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Instant(i64);

fn nanos(d: Duration) -> i64 {
    i64::try_from(d.as_nanos()).unwrap_or(i64::MAX)
}

impl Instant {
    #[inline]
    pub fn now() -> Instant {
        Instant(monotonic_nanos())
    }
    /// How much later it is than `earlier`; zero if it is not later.
    pub fn saturating_duration_since(self, earlier: Instant) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0).max(0) as u64)
    }
    pub fn elapsed(self) -> Duration {
        Instant::now().saturating_duration_since(self)
    }
}
/// The clock never reaches its last moment, so a sum saturates there.
impl Add<Duration> for Instant {
    type Output = Instant;
    fn add(self, d: Duration) -> Instant {
        Instant(self.0.saturating_add(nanos(d)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_saturate() {
        let now = Instant::now();
        let never = now + Duration::MAX;
        assert!(never > now && never + Duration::MAX == never);
        assert_eq!(now.saturating_duration_since(never), Duration::ZERO);
        assert_eq!((now + Duration::from_secs(3)).saturating_duration_since(now).as_secs(), 3);
    }
}
