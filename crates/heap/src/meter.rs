//! Bytes in use, counted where they are allocated: what `erlang:memory/0` tells.
//!
//! Each thread adds to a cell of its own (which it shares with others where there are many threads),
//! so that counting waits for nobody.

use std::cell::Cell;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering::Relaxed};

const CELLS: usize = 32;

/// A cache line.
#[repr(align(64))]
struct Padded(AtomicI64);

pub struct Meter([Padded; CELLS]);

/// Blocks of processes: heap and stack.
pub static BLOCKS: Meter = Meter::new();
/// Off-heap binaries.
pub static BINARIES: Meter = Meter::new();

static THREADS: AtomicUsize = AtomicUsize::new(0);
thread_local!(static MINE: Cell<usize> = const { Cell::new(usize::MAX) });

#[inline]
fn mine() -> usize {
    // A thread that ends frees things still.
    MINE.try_with(|m| match m.get() {
        usize::MAX => {
            m.set(THREADS.fetch_add(1, Relaxed) % CELLS);
            m.get()
        }
        n => n,
    })
    .unwrap_or(0)
}

impl Meter {
    const fn new() -> Meter {
        Meter([const { Padded(AtomicI64::new(0)) }; CELLS])
    }
    #[inline]
    pub(crate) fn add(&self, bytes: usize) {
        self.0[mine()].0.fetch_add(bytes as i64, Relaxed);
    }
    #[inline]
    pub(crate) fn sub(&self, bytes: usize) {
        self.0[mine()].0.fetch_sub(bytes as i64, Relaxed);
    }
    pub fn bytes(&self) -> usize {
        let sum: i64 = self.0.iter().map(|c| c.0.load(Relaxed)).sum();
        sum.max(0) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_thread_adds_another_takes_away() {
        static M: Meter = Meter::new();
        M.add(100);
        std::thread::spawn(|| M.sub(60)).join().unwrap();
        assert_eq!(M.bytes(), 40);
    }
}
