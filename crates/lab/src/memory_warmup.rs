//! Memory warm-up: keeps pages present for the program that runs next.
//!
//! A virtual machine returns pages that are free for some seconds to its host; getting them back
//! costs ten times as much as using one that was kept. The first run after a pause would pay for
//! that: starting a million processes took 0.2 s or 1.8 s here for this reason alone, and starting
//! ten thousand took five times as long. So the lab holds resident memory, frees as much as a
//! program needs right before it starts, and reclaims it as soon as the program has ended, while
//! the pages are still there.
//!
//! It frees an eighth more, as memory use varies a little from run to run, and pages are allocated
//! in blocks. More does not help: of an additional half the host had taken the rest before the
//! program ended, and making that resident again took longer than the program ran.

use crate::machine::{field, leading};
use kvik_sys::alloc::Ballast;
use std::time::{Duration, Instant};

/// Memory that a program needs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Need {
    /// Its own memory: an estimate before the first run, then the maximum so far.
    pub own_kb: u64,
    /// Memory not counted as its own: page cache, page tables, pipes.
    pub beside_kb: u64,
}

impl Need {
    fn room_kb(self) -> u64 {
        self.own_kb + self.own_kb / 8 + self.beside_kb
    }
}

pub struct Warm {
    ballast: Ballast,
    /// Maximum held at a time.
    most_kb: u64,
    /// Maximum freed for any program so far.
    held_kb: u64,
    /// Time spent on making memory resident.
    pub time: Duration,
}

impl Warm {
    pub fn new() -> Warm {
        let most_kb = portion(available_kb());
        let ballast = Ballast::new(bytes(most_kb));
        Warm { ballast, most_kb, held_kb: 0, time: Duration::ZERO }
    }
    /// Frees memory for a program.
    pub fn make_room(&mut self, need: Need) {
        let begin = Instant::now();
        let room = need.room_kb().min(self.most_kb);
        self.held_kb = self.held_kb.max(room);
        if self.ballast.size() < bytes(room) {
            self.ballast.resize(bytes(room));
        }
        self.ballast.resize(self.ballast.size() - bytes(room));
        self.time += begin.elapsed();
    }
    /// Reclaims memory after the program has ended.
    pub fn take_again(&mut self) {
        let begin = Instant::now();
        self.ballast.resize(bytes(self.held_kb));
        self.time += begin.elapsed();
    }
}

/// The part of available memory to hold: the rest is left to other programs.
fn portion(available_kb: u64) -> u64 {
    available_kb / 2
}

fn bytes(kb: u64) -> usize {
    (kb << 10) as usize
}

fn available_kb() -> u64 {
    let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    field(&meminfo, "MemAvailable").and_then(|m| leading(&m)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warm(most_kb: u64) -> Warm {
        let ballast = Ballast::new(bytes(most_kb));
        Warm { ballast, most_kb, held_kb: 0, time: Duration::ZERO }
    }

    #[test]
    fn releases_as_much_as_others_allocate() {
        let mut warm = warm(512 << 10);
        let mut held = |own_mb: u64, beside_mb: u64| {
            warm.make_room(Need { own_kb: own_mb << 10, beside_kb: beside_mb << 10 });
            let during = warm.ballast.size() >> 20;
            warm.take_again();
            (during, warm.ballast.size() >> 20)
        };
        assert_eq!(held(96, 0), (0, 108));
        assert_eq!(held(192, 64), (0, 280));
        assert_eq!(held(96, 0), (172, 280));
        assert_eq!(held(9000, 0), (0, 512), "and never all there is");
        assert!(warm.time > Duration::ZERO);
    }

    #[test]
    fn half_of_what_there_is() {
        assert!(portion(1000) == 500 && available_kb() > 1000);
    }
}
