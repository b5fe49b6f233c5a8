//! Sharded counters: bytes in use, counted where they are allocated (for `erlang:memory/0`), and
//! collections.
//!
//! The first threads, which are the schedulers, each have a cell that only they write, so that
//! counting needs no waiting and no atomic read-modify-write operation; all others share the last
//! cell.

use std::cell::Cell;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering::Relaxed};

const CELLS: usize = 64;
/// The cell of all threads without one of their own.
const SHARED: usize = CELLS - 1;

/// In cache lines of its own: CPUs fetch two at a time.
#[repr(align(128))]
struct Padded(AtomicI64);

/// The sum of a counter's cells, one for each thread.
pub struct ShardedCounter([Padded; CELLS]);

#[repr(align(128))]
struct BlockCell {
    bytes: AtomicI64,
    blocks: AtomicI64,
}

/// Counts the bytes and the blocks of one kind of memory. Both are in one cache line.
pub struct BlockCounter([BlockCell; CELLS]);

kvik_state::vm_state! {
    /// Blocks of processes: heap and stack.
    pub static BLOCKS: BlockCounter = BlockCounter::new();
    /// Off-heap binaries.
    pub static BINARIES: BlockCounter = BlockCounter::new();
}

kvik_state::vm_state! {
    static THREADS: AtomicUsize = AtomicUsize::new(0);
}

thread_local!(static MINE: Cell<usize> = const { Cell::new(usize::MAX) });

#[inline]
fn mine() -> usize {
    // A thread that ends may still free memory.
    MINE.try_with(|m| match m.get() {
        usize::MAX => {
            m.set(THREADS.fetch_add(1, Relaxed).min(SHARED));
            m.get()
        }
        n => n,
    })
    .unwrap_or(SHARED)
}

impl ShardedCounter {
    pub(crate) const fn new() -> ShardedCounter {
        ShardedCounter([const { Padded(AtomicI64::new(0)) }; CELLS])
    }
    #[inline]
    pub(crate) fn add(&self, n: usize) {
        let i = mine();
        add_to(&self.0[i].0, i, n as i64);
    }
    pub fn sum(&self) -> usize {
        let sum: i64 = self.0.iter().map(|c| c.0.load(Relaxed)).sum();
        sum.max(0) as usize
    }
}

/// Adds to a cell of the calling thread's index `i`.
#[inline]
fn add_to(cell: &AtomicI64, i: usize, n: i64) {
    match i {
        SHARED => drop(cell.fetch_add(n, Relaxed)),
        _ => cell.store(cell.load(Relaxed).wrapping_add(n), Relaxed),
    }
}

impl BlockCounter {
    const fn new() -> BlockCounter {
        BlockCounter(
            [const { BlockCell { bytes: AtomicI64::new(0), blocks: AtomicI64::new(0) } }; CELLS],
        )
    }
    /// A block of that many bytes was allocated.
    #[inline]
    pub(crate) fn add(&self, bytes: usize) {
        self.count(bytes as i64, 1);
    }
    /// A block of that many bytes was freed.
    #[inline]
    pub(crate) fn sub(&self, bytes: usize) {
        self.count(-(bytes as i64), -1);
    }
    #[inline]
    fn count(&self, bytes: i64, blocks: i64) {
        let i = mine();
        let cell = &self.0[i];
        add_to(&cell.bytes, i, bytes);
        add_to(&cell.blocks, i, blocks);
    }
    /// Bytes in use.
    pub fn sum(&self) -> usize {
        self.total(|c| &c.bytes)
    }
    /// Blocks in use.
    pub fn blocks(&self) -> usize {
        self.total(|c| &c.blocks)
    }
    fn total(&self, of: fn(&BlockCell) -> &AtomicI64) -> usize {
        let sum: i64 = self.0.iter().map(|c| of(c).load(Relaxed)).sum();
        sum.max(0) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_over_threads() {
        static M: ShardedCounter = ShardedCounter::new();
        M.add(100);
        std::thread::spawn(|| M.add(60)).join().unwrap();
        assert_eq!(M.sum(), 160);
    }

    #[test]
    fn counts_blocks_and_their_bytes() {
        static M: BlockCounter = BlockCounter::new();
        M.add(100);
        M.add(20);
        std::thread::spawn(|| M.sub(20)).join().unwrap();
        assert_eq!((M.sum(), M.blocks()), (100, 1));
        // A block that is resized stays one block.
        M.sub(100);
        M.add(300);
        assert_eq!((M.sum(), M.blocks()), (300, 1));
    }

    #[test]
    fn threads_without_a_cell_share_one() {
        static M: ShardedCounter = ShardedCounter::new();
        let each = if cfg!(miri) { 10 } else { 1000 };
        let count = move || (0..each).for_each(|_| M.add(1));
        let threads: Vec<_> = (0..CELLS + 8).map(|_| std::thread::spawn(count)).collect();
        threads.into_iter().for_each(|t| t.join().unwrap());
        assert_eq!(M.sum(), (CELLS + 8) * each);
    }
}
