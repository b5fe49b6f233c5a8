//! Memory warm-up: keeps pages present for the program that runs next.
//!
//! A virtual machine gives pages that are free for some seconds back to its host, and to get them
//! again costs ten times as much as to use one that was kept. Whoever comes after a pause would pay:
//! a million processes took 0.2 s or 1.8 s here, by nothing but that, and ten thousand five times as
//! long. So the lab holds memory that is present, lets go of as much as a program is going to take
//! right before it starts, and takes it again as soon as it has ended, while it is still there.
//!
//! It lets go of an eighth more: what a program takes differs a little from run to run, and pages are
//! handed out in blocks. More would do no good. Of half as much again the host had taken what was left
//! before the program ended, and to have that present for the next took longer than the program.

use crate::machine::{field, leading};
use kvik_sys::alloc::Ballast;
use std::time::{Duration, Instant};

/// What a program takes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Need {
    /// Of its own: as long as it has not run, a guess, and then the most it had.
    pub own_kb: u64,
    /// What is not counted as its own: what is in files, tables of pages, pipes.
    pub beside_kb: u64,
}

impl Need {
    fn room_kb(self) -> u64 {
        self.own_kb + self.own_kb / 8 + self.beside_kb
    }
}

pub struct Warm {
    ballast: Ballast,
    /// The most that is held at a time.
    most_kb: u64,
    /// The most that somebody was to have.
    held_kb: u64,
    /// How long it took to have it present.
    pub time: Duration,
}

impl Warm {
    pub fn new() -> Warm {
        let most_kb = portion(available_kb());
        let ballast = Ballast::new(bytes(most_kb));
        Warm { ballast, most_kb, held_kb: 0, time: Duration::ZERO }
    }
    /// Has memory at hand for a program.
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
    /// What there was room for has ended.
    pub fn take_again(&mut self) {
        let begin = Instant::now();
        self.ballast.resize(bytes(self.held_kb));
        self.time += begin.elapsed();
    }
}

/// Of what is available: nobody else is to be pressed out of memory.
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
