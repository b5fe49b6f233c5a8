//! Memory for processes: blocks of one size, of which there may be a million at once.
//!
//! A thread that makes processes has a magazine of free blocks ([`attach`]), and refills it from a
//! pool, many at a time. The pool keeps the addresses of free blocks outside the blocks, so that
//! [`give_back`] can return their pages to the system, even if neighbours are in use.
//!
//! New memory is made present some 100 blocks at a time: faulting it in page by page takes about
//! twice as long, which was the largest cost of a new process.

use std::cell::Cell;
use std::ops::Range;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes of a block: a process with its first heap (`kvik_proc` checks that it fits). Nine cache
/// lines.
pub const BLOCK: usize = 576;
/// Alignment of the blocks.
pub const ALIGN: usize = 64;

/// Bytes of a chunk, from which blocks are cut: a huge page.
const CHUNK: usize = 2 << 20;
const BLOCKS_A_CHUNK: usize = CHUNK / BLOCK;
/// Bytes of address space reserved at once.
const REGION: usize = 64 << 20;
/// Blocks that a thread takes from the pool, or returns to it, at once.
const TRANSFER_BLOCKS: usize = 128;
/// Blocks that are present from the start.
const READY: usize = 10 * TRANSFER_BLOCKS;
/// Least number of bytes worth a system call to return them.
const MIN_RELEASE_BYTES: usize = 16 << 10;
const PAGE: usize = 4096;
/// Flag in the address of a free block whose pages were returned to the system.
const RETURNED: usize = 1;

struct Pool {
    /// Addresses of free blocks.
    free: Vec<usize>,
    /// The part of the current chunk that has not been cut into blocks yet.
    fresh: Range<usize>,
    /// Chunks that are entirely free, and whose memory was returned to the system.
    whole: Vec<usize>,
    /// Reserved addresses that have not been used yet.
    region: Range<usize>,
}

kvik_state::vm_state! {
    static POOL: Mutex<Pool> =
        Mutex::new(Pool { free: Vec::new(), fresh: 0..0, whole: Vec::new(), region: 0..0 });
}

/// Free blocks of one thread: the first `n` entries.
struct Magazine {
    n: Cell<usize>,
    blocks: [Cell<usize>; 2 * TRANSFER_BLOCKS],
}

thread_local! {
    /// The thread's magazine, which is never freed; null if it has none.
    static MINE: Cell<*const Magazine> = const { Cell::new(ptr::null()) };
}

/// Gives this thread a magazine: it makes and ends processes until the program ends.
pub fn attach() {
    if MINE.get().is_null() {
        let blocks = [const { Cell::new(0) }; 2 * TRANSFER_BLOCKS];
        MINE.set(Box::leak(Box::new(Magazine { n: Cell::new(0), blocks })));
    }
}
#[inline]
fn mine() -> Option<&'static Magazine> {
    // SAFETY: null, or leaked by `attach`; other threads never see it.
    unsafe { MINE.get().as_ref() }
}

/// A block, or null when there is no memory.
#[inline]
pub fn alloc() -> *mut u8 {
    if let Some(m) = mine() {
        if let Some(n) = m.n.get().checked_sub(1) {
            m.n.set(n);
            return m.blocks[n % m.blocks.len()].get() as *mut u8;
        }
    }
    refill()
}
/// # Safety
/// `p` came from `alloc`, and nobody uses it any more.
#[inline]
pub unsafe fn free(p: *mut u8) {
    let Some(m) = mine() else { return pool().free.push(p as usize) };
    if m.n.get() == m.blocks.len() {
        hand_over(m);
    }
    m.blocks[m.n.get() % m.blocks.len()].set(p as usize);
    m.n.set(m.n.get() + 1);
}

fn pool() -> MutexGuard<'static, Pool> {
    POOL.lock().unwrap_or_else(PoisonError::into_inner)
}
#[cold]
fn refill() -> *mut u8 {
    let mut pool = pool();
    let Some(m) = mine() else { return pool.take_one().unwrap_or(0) as *mut u8 };
    let mut n = 0;
    while n < TRANSFER_BLOCKS {
        let Some(block) = pool.take_one() else { break };
        // The first block taken from the pool is used first, so that addresses are used in order.
        m.blocks[TRANSFER_BLOCKS - 1 - n].set(block);
        n += 1;
    }
    // Fewer came: move them from the end of the array to its start.
    for i in 0..n {
        m.blocks[i].set(m.blocks[TRANSFER_BLOCKS - n + i].get());
    }
    drop(pool);
    m.n.set(n.saturating_sub(1));
    if n == 0 {
        ptr::null_mut()
    } else {
        m.blocks[n - 1].get() as *mut u8
    }
}
/// Returns the blocks that have been in the magazine longest to the pool.
#[cold]
fn hand_over(m: &Magazine) {
    pool().free.extend(m.blocks[..TRANSFER_BLOCKS].iter().map(Cell::get));
    for (to, from) in m.blocks[..TRANSFER_BLOCKS].iter().zip(&m.blocks[TRANSFER_BLOCKS..]) {
        to.set(from.get());
    }
    m.n.set(m.n.get() - TRANSFER_BLOCKS);
}

impl Pool {
    fn take_one(&mut self) -> Option<usize> {
        if let Some(block) = self.free.pop() {
            return Some(block & !RETURNED);
        }
        if self.fresh.len() < BLOCK {
            self.fresh = self.next_chunk()?;
        }
        let block = self.fresh.start;
        self.fresh.start += BLOCK;
        if (block % CHUNK / BLOCK).is_multiple_of(TRANSFER_BLOCKS) {
            let bytes = (TRANSFER_BLOCKS * BLOCK).min(self.fresh.end - block);
            advise(block & !(PAGE - 1)..block + bytes, libc::MADV_POPULATE_WRITE);
        }
        Some(block)
    }
    fn next_chunk(&mut self) -> Option<Range<usize>> {
        let start = match self.whole.pop() {
            Some(chunk) => chunk,
            None => self.new_chunk()?,
        };
        Some(start..start + BLOCKS_A_CHUNK * BLOCK)
    }
    fn new_chunk(&mut self) -> Option<usize> {
        let is_first = self.region.end == 0;
        if self.region.is_empty() {
            self.region = reserve()?;
        }
        let start = self.region.start;
        self.region.start += CHUNK;
        // A VM that has just started has few processes, and should be small.
        let pages = if is_first { libc::MADV_NOHUGEPAGE } else { libc::MADV_HUGEPAGE };
        advise(start..start + CHUNK, pages);
        Some(start)
    }
}

/// Reserves addresses of memory that is not present yet, aligned to a chunk.
fn reserve() -> Option<Range<usize>> {
    let prot = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: asks for new memory, at any place.
    let p = unsafe { libc::mmap(ptr::null_mut(), REGION + CHUNK, prot, flags, -1, 0) };
    if p == libc::MAP_FAILED {
        return None;
    }
    let start = (p as usize).next_multiple_of(CHUNK);
    Some(start..start + REGION)
}
/// Advice that the system does not know has no effect.
fn advise(range: Range<usize>, advice: libc::c_int) {
    // SAFETY: memory of this pool; nothing uses the pages whose contents are dropped.
    unsafe { libc::madvise(range.start as *mut libc::c_void, range.len(), advice) };
}

/// Makes blocks present in advance: those of the VM's own processes, and of a thousand others. For
/// a thread that no other waits for.
pub fn prepare() {
    let first = {
        let mut pool = pool();
        if pool.fresh.is_empty() {
            let Some(chunk) = pool.next_chunk() else { return };
            pool.fresh = chunk;
        }
        let start = pool.fresh.start;
        start & !(PAGE - 1)..pool.fresh.end.min(start + READY * BLOCK)
    };
    advise(first, libc::MADV_POPULATE_WRITE);
}

/// Returns the memory of the blocks in the pool to the system. Any thread may call it; the others
/// keep running, and cut new blocks if they need some meanwhile.
pub fn give_back() {
    let mut free = {
        let mut pool = pool();
        if pool.free.len() < BLOCKS_A_CHUNK / 2 {
            return;
        }
        std::mem::take(&mut pool.free)
    };
    free.sort_unstable();
    let mut whole = Vec::new();
    let mut left = Vec::new();
    for of_chunk in free.chunk_by_mut(|a, b| a / CHUNK == b / CHUNK) {
        let chunk = of_chunk[0] / CHUNK * CHUNK;
        if of_chunk.len() == BLOCKS_A_CHUNK {
            advise(chunk..chunk + CHUNK, libc::MADV_DONTNEED);
            whole.push(chunk);
        } else {
            return_runs(of_chunk);
            left.extend_from_slice(of_chunk);
        }
    }
    // The lowest are reused first, so that the highest become free.
    left.reverse();
    let mut pool = pool();
    left.append(&mut pool.free);
    pool.free = left;
    pool.whole.append(&mut whole);
}
/// Returns the pages of adjacent free blocks, in a chunk of which other blocks are in use.
fn return_runs(blocks: &mut [usize]) {
    for run in blocks.chunk_by_mut(|a, b| (a & !RETURNED) + BLOCK == b & !RETURNED) {
        let start = (run[0] & !RETURNED).next_multiple_of(PAGE);
        let end = ((run[run.len() - 1] & !RETURNED) + BLOCK) / PAGE * PAGE;
        if end < start + MIN_RELEASE_BYTES || run.iter().all(|b| b & RETURNED != 0) {
            continue;
        }
        // Otherwise the system could merge the rest into huge pages, which would be present as a
        // whole.
        advise(start / CHUNK * CHUNK..start / CHUNK * CHUNK + CHUNK, libc::MADV_NOHUGEPAGE);
        advise(start..end, libc::MADV_DONTNEED);
        run.iter_mut().for_each(|b| *b |= RETURNED);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::sync::Barrier;

    use kvik_state::{inherit, Vm};

    fn pages_present(blocks: &[usize]) -> usize {
        let one = |b: &usize| {
            let mut there = 0u8;
            // SAFETY: asks about one page of memory that is mapped.
            unsafe { libc::mincore((b & !(PAGE - 1)) as *mut libc::c_void, 1, &mut there) };
            usize::from(there & 1)
        };
        blocks.iter().map(one).sum()
    }
    fn many(n: usize) -> Vec<usize> {
        let blocks: Vec<usize> = (0..n).map(|_| alloc() as usize).collect();
        for b in &blocks {
            assert!(*b != 0 && b.is_multiple_of(ALIGN));
            // SAFETY: a block of our own.
            unsafe { ptr::write_bytes(*b as *mut u8, 0x5a, BLOCK) };
        }
        blocks
    }
    fn free_all(blocks: impl IntoIterator<Item = usize>) {
        // SAFETY: from `alloc`, each once.
        blocks.into_iter().for_each(|b| unsafe { free(b as *mut u8) });
    }

    #[test]
    fn blocks_are_unique_and_reused() {
        Vm::new().enter(|| {
            let barrier = Barrier::new(4);
            let of = |seed: usize| {
                attach();
                barrier.wait();
                let mut mine = many(1000);
                for round in 0..200 {
                    let (at, n) = ((seed * 37 + round * 101) % 700, 300);
                    free_all(mine.drain(at..at + n));
                    mine.extend(many(n));
                }
                mine
            };
            let of = &of;
            let all: Vec<usize> = std::thread::scope(|s| {
                let threads: Vec<_> = (0..4).map(|i| s.spawn(inherit(move || of(i)))).collect();
                threads.into_iter().flat_map(|t| t.join().unwrap()).collect()
            });
            let distinct: HashSet<usize> = all.iter().map(|b| b / BLOCK).collect();
            assert_eq!(all.iter().collect::<HashSet<_>>().len(), 4000);
            assert!(distinct.len() >= 2000, "they do not overlap");
            let mut sorted = all.clone();
            sorted.sort_unstable();
            assert!(sorted.windows(2).all(|w| w[0] + BLOCK <= w[1]));
            // This thread has no magazine: freed blocks go to the pool at once.
            free_all(all);
        })
    }

    #[test]
    fn memory_goes_back_in_whole_and_in_part() {
        Vm::new().enter(|| {
            let mut all = many(3 * BLOCKS_A_CHUNK);
            all.sort_unstable();
            let before = pages_present(&all);
            assert_eq!(before, all.len());
            // All except each 200th.
            let (kept, freed): (Vec<_>, Vec<_>) =
                all.iter().enumerate().partition(|(i, _)| i % 200 == 0);
            let just = |v: Vec<(usize, &usize)>| v.into_iter().map(|(_, b)| *b).collect::<Vec<_>>();
            let (kept, freed) = (just(kept), just(freed));
            free_all(freed.iter().copied());
            give_back();
            assert!(pages_present(&freed) < freed.len() / 5, "{}", pages_present(&freed));
            // SAFETY: ours still.
            assert!(kept.iter().all(|b| unsafe { *(*b as *const u8) } == 0x5a));
            // A second call changes nothing, and returned blocks can be used again.
            give_back();
            let again = many(freed.len());
            assert!(again.iter().all(|b| !kept.contains(b)));
            free_all(again);
            free_all(kept);
            give_back();
            assert!(!pool().whole.is_empty());
            assert!(pages_present(&all) < 30);
            free_all(many(2 * BLOCKS_A_CHUNK));
        })
    }
}
