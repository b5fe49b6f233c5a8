//! The CPU's time-stamp counter, which is read in a third of the time of the system's clock, and
//! its calibration. If the counter's rate is not constant, ticks are nanoseconds of the system's
//! clock.

use std::sync::OnceLock;

use crate::clock::monotonic_nanos;

#[cfg(target_arch = "x86_64")]
mod counter {
    use std::arch::x86_64::{__cpuid, _rdtsc};

    /// Whether the counter runs at a constant rate and is the system's own clock source. (The
    /// system has then found it to be synchronised between CPUs.)
    pub fn is_steady() -> bool {
        let path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
        let [most, power] = [0x8000_0000, 0x8000_0007];
        __cpuid(most).eax >= power
            && __cpuid(power).edx & 1 << 8 != 0
            && std::fs::read_to_string(path).is_ok_and(|s| s.trim() == "tsc")
    }
    #[inline(always)]
    pub fn read() -> u64 {
        // SAFETY: no memory is involved.
        unsafe { _rdtsc() }
    }
}
#[cfg(not(target_arch = "x86_64"))]
mod counter {
    pub fn is_steady() -> bool {
        false
    }
    pub fn read() -> u64 {
        0
    }
}

/// Nanoseconds per tick, in units of 2^-32.
type Scale = u64;
const ONE: Scale = 1 << 32;
/// Fractions of a nanosecond, for intervals of a few nanoseconds.
pub const PARTS_PER_NS: i64 = 64;
/// Distance between two readings of both clocks that suffices for the calibration.
const APART_NS: i64 = 2_000_000;

/// A reading of both clocks at the same time.
#[derive(Copy, Clone)]
struct Both {
    ticks: u64,
    ns: i64,
}

impl Both {
    /// The closest pair of a few: the thread may be interrupted between the two readings.
    fn read() -> Both {
        let one = || {
            let before = counter::read();
            let ns = monotonic_nanos();
            let took = counter::read().wrapping_sub(before);
            (took, Both { ticks: before.wrapping_add(took / 2), ns })
        };
        let mut best = one();
        for _ in 0..7 {
            let next = one();
            if next.0 < best.0 {
                best = next;
            }
        }
        best.1
    }
}

/// Reads the counter, and converts its ticks.
#[derive(Copy, Clone, Debug)]
pub struct Ticks {
    scale: Scale,
    steady: bool,
    cost: u64,
}

static BEGIN: OnceLock<Option<Both>> = OnceLock::new();
static TICKS: OnceLock<Ticks> = OnceLock::new();

/// To be called early: the more time passes until [`tsc`], the shorter that has to wait.
pub fn begin() {
    BEGIN.get_or_init(|| counter::is_steady().then(Both::read));
}
/// The calibrated counter. The first call waits until two milliseconds have passed since [`begin`].
pub fn ticks() -> Ticks {
    begin();
    *TICKS.get_or_init(|| match BEGIN.get() {
        Some(Some(b)) => measured(*b),
        _ => Ticks { scale: ONE, steady: false, cost: 0 }.with_cost(),
    })
}
fn measured(begin: Both) -> Ticks {
    let mut now = Both::read();
    while now.ns - begin.ns < APART_NS {
        std::hint::spin_loop();
        now = Both::read();
    }
    let ns = (now.ns - begin.ns) as u128;
    let ticks = now.ticks.wrapping_sub(begin.ticks).max(1) as u128;
    let scale = ((ns << 32) / ticks).clamp(1, u64::MAX as u128) as u64;
    Ticks { scale, steady: true, cost: 0 }.with_cost()
}

impl Ticks {
    #[inline(always)]
    pub fn now(&self) -> u64 {
        if self.steady {
            counter::read()
        } else {
            monotonic_nanos() as u64
        }
    }
    /// Nanoseconds between two readings.
    #[inline]
    pub fn between(&self, from: u64, to: u64) -> u64 {
        // A thread that moves to another CPU may find its counter some ticks behind.
        (self.parts_between(from, to).max(0) / PARTS_PER_NS) as u64
    }
    /// The same in units of 1/[`PARTS_PER_NS`] nanosecond; negative if `to` is earlier.
    #[inline]
    pub fn parts_between(&self, from: u64, to: u64) -> i64 {
        let ticks = to.wrapping_sub(from) as i64;
        ((ticks as i128 * self.scale as i128) >> (32 - PARTS_PER_NS.ilog2())) as i64
    }
    /// Ticks that a reading itself takes: the distance between two consecutive readings. It is
    /// averaged, as a counter may advance in steps longer than a reading; of several averages the
    /// smallest counts, which no interruption has increased.
    pub fn cost(&self) -> u64 {
        self.cost
    }
    fn with_cost(mut self) -> Ticks {
        const N: u64 = 64;
        let average = || {
            let from = self.now();
            let to = (0..N).fold(from, |_, _| self.now());
            (to.wrapping_sub(from) + N / 2) / N
        };
        self.cost = (0..4).map(|_| average()).min().unwrap_or(0);
        self
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    #[test]
    fn ticks_are_worth_what_the_clock_says() {
        let t = super::ticks();
        // Each reading lies between two of the clock: this thread may be interrupted in between.
        let read = || (Instant::now(), t.now(), Instant::now());
        let (began, from, begun) = read();
        std::thread::sleep(Duration::from_millis(50));
        let (ends, to, ended) = read();
        let ns = t.between(from, to) as f64;
        let [least, most] = [ends - begun, ended - began].map(|d| d.as_nanos() as f64);
        assert!(least * 0.99 < ns && ns < most * 1.01, "{ns} for {least} to {most}");
        assert!(t.between(0, t.cost()) < 2_000, "a reading costs {}", t.cost());
        assert_eq!(t.between(10, 5), 0);
        assert!(t.parts_between(10, 5) < 0 && t.parts_between(5, 5) == 0);
        let (from, to) = (t.now(), t.now() + 100_000);
        assert_eq!(
            t.parts_between(from, to) as u64 / super::PARTS_PER_NS as u64,
            t.between(from, to)
        );
    }
}
