//! Memory for processes: blocks of one size, of which a program may have a million at once.
//!
//! A thread that makes processes has some free blocks at hand ([`attach`]), and takes more from a
//! pool, many at a time. There a free block is known by its address only, nothing is kept in it, so
//! that [`give_back`] can return its pages to the system, also where neighbours are in use.
//!
//! New memory is made present some 100 blocks at a time: to touch it page by page takes the system
//! about twice as long, which was the most that a new process cost.

use std::cell::Cell;
use std::ops::Range;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes of a block: a process with its first heap (`kvik_proc` holds it to that). Nine cache lines.
pub const BLOCK: usize = 576;
/// What blocks are aligned to.
pub const ALIGN: usize = 64;

/// Bytes that blocks are cut from; a huge page.
const CHUNK: usize = 2 << 20;
const BLOCKS_A_CHUNK: usize = CHUNK / BLOCK;
/// Bytes of addresses asked for at once.
const REGION: usize = 64 << 20;
/// Blocks that a thread takes from the pool or hands to it at once.
const MANY: usize = 128;
/// Blocks that are present from the start.
const READY: usize = 10 * MANY;
/// Least bytes that are worth a call to give them back.
const WORTH: usize = 16 << 10;
const PAGE: usize = 4096;
/// Set in the address of a free block whose pages are with the system.
const RETURNED: usize = 1;

struct Pool {
    /// Addresses of free blocks.
    free: Vec<usize>,
    /// What has not been cut into blocks yet, of the chunk in use.
    fresh: Range<usize>,
    /// Chunks whose blocks are all free, and whose memory is with the system.
    whole: Vec<usize>,
    /// Addresses that have not been used yet.
    region: Range<usize>,
}

kvik_state::vm_state! {
    static POOL: Mutex<Pool> =
        Mutex::new(Pool { free: Vec::new(), fresh: 0..0, whole: Vec::new(), region: 0..0 });
}

/// Free blocks of one thread: the first `n`.
struct Magazine {
    n: Cell<usize>,
    blocks: [Cell<usize>; 2 * MANY],
}

thread_local! {
    /// The thread's own, which is never freed; null where it has none.
    static MINE: Cell<*const Magazine> = const { Cell::new(ptr::null()) };
}

/// This thread makes and ends processes from now on, as long as the program runs.
pub fn attach() {
    if MINE.get().is_null() {
        let blocks = [const { Cell::new(0) }; 2 * MANY];
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
    while n < MANY {
        let Some(block) = pool.take_one() else { break };
        // The first to come is the first to go: addresses in order are memory in order.
        m.blocks[MANY - 1 - n].set(block);
        n += 1;
    }
    // Fewer came: they are at the end of their place.
    for i in 0..n {
        m.blocks[i].set(m.blocks[MANY - n + i].get());
    }
    drop(pool);
    m.n.set(n.saturating_sub(1));
    if n == 0 {
        ptr::null_mut()
    } else {
        m.blocks[n - 1].get() as *mut u8
    }
}
/// Those that have been there longest go to the pool.
#[cold]
fn hand_over(m: &Magazine) {
    pool().free.extend(m.blocks[..MANY].iter().map(Cell::get));
    for (to, from) in m.blocks[..MANY].iter().zip(&m.blocks[MANY..]) {
        to.set(from.get());
    }
    m.n.set(m.n.get() - MANY);
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
        if (block % CHUNK / BLOCK).is_multiple_of(MANY) {
            let bytes = (MANY * BLOCK).min(self.fresh.end - block);
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
        // A machine that has just started has few processes, and is to be small.
        let pages = if is_first { libc::MADV_NOHUGEPAGE } else { libc::MADV_HUGEPAGE };
        advise(start..start + CHUNK, pages);
        Some(start)
    }
}

/// Addresses of memory that is not there yet, aligned to a chunk.
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
/// An advice that the system does not know changes nothing.
fn advise(range: Range<usize>, advice: libc::c_int) {
    // SAFETY: memory of this pool; of what is dropped nobody uses a byte.
    unsafe { libc::madvise(range.start as *mut libc::c_void, range.len(), advice) };
}

/// Makes blocks present before they are asked for: those of a machine's own processes, and of a
/// thousand others. For a thread of which nobody waits.
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

/// Returns the memory of blocks that are in the pool to the system. Any thread may call it, and the
/// others go on: what they need meanwhile is cut anew.
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
    // The lowest are taken first, so that the highest become free.
    left.reverse();
    let mut pool = pool();
    left.append(&mut pool.free);
    pool.free = left;
    pool.whole.append(&mut whole);
}
/// The pages of free blocks side by side, in a chunk of which others are in use.
fn return_runs(blocks: &mut [usize]) {
    for run in blocks.chunk_by_mut(|a, b| (a & !RETURNED) + BLOCK == b & !RETURNED) {
        let start = (run[0] & !RETURNED).next_multiple_of(PAGE);
        let end = ((run[run.len() - 1] & !RETURNED) + BLOCK) / PAGE * PAGE;
        if end < start + WORTH || run.iter().all(|b| b & RETURNED != 0) {
            continue;
        }
        // Or the system would make huge pages of what is left, and all of it present.
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
    fn no_block_is_given_twice_and_all_come_back() {
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
            // This thread has no magazine: they go to the pool at once.
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
            // All but each 200th.
            let (kept, freed): (Vec<_>, Vec<_>) =
                all.iter().enumerate().partition(|(i, _)| i % 200 == 0);
            let just = |v: Vec<(usize, &usize)>| v.into_iter().map(|(_, b)| *b).collect::<Vec<_>>();
            let (kept, freed) = (just(kept), just(freed));
            free_all(freed.iter().copied());
            give_back();
            assert!(pages_present(&freed) < freed.len() / 5, "{}", pages_present(&freed));
            // SAFETY: ours still.
            assert!(kept.iter().all(|b| unsafe { *(*b as *const u8) } == 0x5a));
            // A second time changes nothing, and what was returned can be used.
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
