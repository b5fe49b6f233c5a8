//! Free lists by size class, one set for each scheduler, of blocks of 1 KB and more: heaps, and
//! data read from files. mimalloc's fast path ends at 1 KB; its path for larger blocks takes ten
//! times as long, a thirtieth of a small read. And large blocks should be reused LIFO: the one
//! freed last is in the CPU's cache.

use std::cell::Cell;
use std::ptr;

/// Cached blocks are larger than the first of these, and not larger than the second.
pub const MIN_BYTES: usize = 1024;
const MAX_BYTES: usize = 2 << 20;
/// Above this a block is large.
const SMALL_BYTES: usize = 64 << 10;
/// Classes between one power of two and the next: as many as mimalloc has, so that no space is
/// lost.
const CLASSES_PER_POWER: usize = 4;
const CLASSES: usize = (MAX_BYTES / MIN_BYTES).ilog2() as usize * CLASSES_PER_POWER;
/// Most bytes of each class that a thread caches.
const MAX_BYTES_PER_CLASS: usize = 256 << 10;
/// Most bytes of all large blocks together.
const MAX_LARGE_BYTES: usize = 4 << 20;

/// The class that a block belongs to.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct SizeClass {
    index: usize,
    /// Size in bytes to request from mimalloc.
    pub size: usize,
}

impl SizeClass {
    /// `None`: blocks of such a size are not cached.
    #[inline]
    pub fn of(size: usize) -> Option<SizeClass> {
        if size <= MIN_BYTES || size > MAX_BYTES {
            return None;
        }
        let last = size - 1;
        let power = last.ilog2();
        let unit = power - CLASSES_PER_POWER.ilog2();
        let step = last >> unit;
        let octave = (power - MIN_BYTES.ilog2()) as usize;
        Some(SizeClass {
            index: octave * CLASSES_PER_POWER + step % CLASSES_PER_POWER,
            size: (step + 1) << unit,
        })
    }
    fn at(index: usize) -> SizeClass {
        let unit = index / CLASSES_PER_POWER + (MIN_BYTES / CLASSES_PER_POWER).ilog2() as usize;
        SizeClass { index, size: (CLASSES_PER_POWER + index % CLASSES_PER_POWER + 1) << unit }
    }
}

/// Free blocks of one class: each begins with the address of the next.
struct FreeList {
    first: Cell<*mut u8>,
    n: Cell<usize>,
}

struct SizeClassCache {
    lists: [FreeList; CLASSES],
    /// Bytes of large blocks in the cache.
    large: Cell<usize>,
    /// The list of large blocks to evict from next.
    hand: Cell<usize>,
}

thread_local! {
    /// The thread's cache, which is never freed; null if it has none.
    static MINE: Cell<*const SizeClassCache> = const { Cell::new(ptr::null()) };
}

/// Makes this thread cache blocks from now on, until the program ends.
pub fn attach() {
    if MINE.get().is_null() {
        let lists =
            [const { FreeList { first: Cell::new(ptr::null_mut()), n: Cell::new(0) } }; CLASSES];
        let (large, hand) = (Cell::new(0), Cell::new(0));
        MINE.set(Box::leak(Box::new(SizeClassCache { lists, large, hand })));
    }
}
#[inline]
fn mine(c: SizeClass) -> Option<(&'static SizeClassCache, &'static FreeList)> {
    // SAFETY: null, or leaked by `attach`; other threads never see it.
    let kept = unsafe { MINE.get().as_ref() }?;
    Some((kept, kept.lists.get(c.index)?))
}

/// A block of that class, if one is cached.
#[inline]
pub fn take(c: SizeClass) -> Option<*mut u8> {
    let (kept, list) = mine(c)?;
    kept.pop(list, c)
}

impl SizeClassCache {
    #[inline]
    fn pop(&self, list: &FreeList, c: SizeClass) -> Option<*mut u8> {
        let p = list.first.get();
        if p.is_null() {
            return None;
        }
        // SAFETY: `keep` wrote the next one's address there.
        list.first.set(unsafe { p.cast::<*mut u8>().read() });
        list.n.set(list.n.get() - 1);
        if c.size > SMALL_BYTES {
            self.large.set(self.large.get() - c.size);
        }
        Some(p)
    }
    /// Evicts large blocks of other classes in turn until there is room for one of this class: this
    /// one was just in use, and those have been unused for longer. False if only blocks of the same
    /// class could go.
    #[cold]
    fn makes_room(&self, c: SizeClass, free: impl Fn(*mut u8)) -> bool {
        let mut left = CLASSES;
        while self.large.get() + c.size > MAX_LARGE_BYTES {
            let other = SizeClass::at(self.hand.get() % CLASSES);
            let block = match other.size > SMALL_BYTES && other != c {
                true => self.pop(&self.lists[other.index], other),
                false => None,
            };
            match block {
                Some(p) => free(p),
                None if left == 0 => return false,
                None => {
                    left -= 1;
                    self.hand.set(other.index + 1);
                }
            }
        }
        true
    }
}

/// Caches a block; false if there are enough. For a large one others may be evicted by `free`.
///
/// # Safety
/// It has that many bytes, aligned to a word, and nobody uses it any more.
#[inline]
pub unsafe fn keep(p: *mut u8, c: SizeClass, free: impl Fn(*mut u8)) -> bool {
    let Some((kept, list)) = mine(c) else { return false };
    let n = list.n.get();
    if c.size > SMALL_BYTES {
        if kept.large.get() + c.size > MAX_LARGE_BYTES && !kept.makes_room(c, free) {
            return false;
        }
        kept.large.set(kept.large.get() + c.size);
    } else if n * c.size >= MAX_BYTES_PER_CLASS {
        return false;
    }
    // SAFETY: as the caller says.
    unsafe { p.cast::<*mut u8>().write(list.first.get()) };
    list.first.set(p);
    list.n.set(n + 1);
    true
}

/// Empties this thread's cache, passing each block to `free`.
pub fn release_all(free: impl Fn(*mut u8)) {
    // SAFETY: as in `list`.
    let Some(kept) = (unsafe { MINE.get().as_ref() }) else { return };
    kept.large.set(0);
    for list in &kept.lists {
        let mut p = list.first.replace(ptr::null_mut());
        list.n.set(0);
        while !p.is_null() {
            // SAFETY: as in `take`.
            let next = unsafe { p.cast::<*mut u8>().read() };
            free(p);
            p = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_classes_are_ordered_and_large_enough() {
        assert_eq!((SizeClass::of(1024), SizeClass::of(MAX_BYTES + 1)), (None, None));
        let of = |n| SizeClass::of(n).unwrap();
        for n in 1025..=MAX_BYTES {
            assert!(of(n).size >= n && of(n).size <= n + n / 4 && of(n).index < CLASSES);
            assert_eq!(of(n), of(of(n).size));
        }
        let mut sizes: Vec<_> = (1025..=MAX_BYTES).map(|n| (of(n).index, of(n).size)).collect();
        sizes.dedup();
        assert!(sizes.iter().all(|(index, size)| of(*size) == SizeClass::at(*index)));
        assert_eq!(sizes.len(), CLASSES);
        assert!(sizes.windows(2).all(|w| w[0].0 + 1 == w[1].0 && w[0].1 < w[1].1));
    }

    #[test]
    fn cache_is_bounded_and_only_for_schedulers() {
        let c = SizeClass::of(SMALL_BYTES).unwrap();
        let mut blocks = vec![[0u64; SMALL_BYTES / 8]; 6];
        let mut all = blocks.iter_mut().map(|b| b.as_mut_ptr().cast::<u8>());
        // SAFETY: the blocks are large enough, and used for nothing else.
        let mut keep =
            |n: usize| all.by_ref().take(n).filter(|p| unsafe { keep(*p, c, |_| {}) }).count();
        assert!(keep(1) == 0 && take(c).is_none());
        attach();
        assert_eq!(keep(5), MAX_BYTES_PER_CLASS / SMALL_BYTES);
        assert!(take(c).is_some());
        let gone = Cell::new(0);
        release_all(|_| gone.set(gone.get() + 1));
        assert!(gone.get() == MAX_BYTES_PER_CLASS / SMALL_BYTES - 1 && take(c).is_none());
    }
    #[test]
    fn large_blocks_are_bounded_in_total() {
        attach();
        let c = SizeClass::of(MAX_BYTES).unwrap();
        let mut blocks = vec![0u64; 3 * MAX_BYTES / 8];
        for (i, block) in blocks.chunks_mut(MAX_BYTES / 8).enumerate() {
            // SAFETY: the blocks are large enough, and used for nothing else.
            let kept = unsafe { keep(block.as_mut_ptr().cast(), c, |_| unreachable!()) };
            assert_eq!(kept, i < MAX_LARGE_BYTES / MAX_BYTES);
        }
        let last = blocks[MAX_BYTES / 8..].as_mut_ptr().cast();
        assert_eq!(take(c), Some(last));
        // A block of another class evicts none as long as there is room.
        let other = SizeClass::of(MAX_BYTES / 2).unwrap();
        // SAFETY: as above.
        assert!(unsafe { keep(last, other, |_| unreachable!()) });
        // It is evicted for one of a third class.
        let third = SizeClass::of(MAX_BYTES / 4 * 3).unwrap();
        let (gone, block) =
            (Cell::new(ptr::null_mut()), blocks[MAX_BYTES / 4..].as_mut_ptr().cast());
        // SAFETY: as above.
        assert!(unsafe { keep(block, third, |p| gone.set(p)) });
        assert!(!gone.get().is_null() && take(third) == Some(block));
        release_all(|_| {});
    }
}
