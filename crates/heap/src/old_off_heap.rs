//! The old block, and how much its objects may hold outside the heap before a collection is full.

use kvik_term::word::{header_subtag, REFC_BIN};

use crate::alloc::{block, free_block};
use crate::binary::next_word;
use crate::block_size::next_size;
use crate::gc::distance;
use crate::Heap;

/// What binaries of the old heap hold outside it, and at how much the next collection is full; in
/// words.
pub struct OldOffHeap {
    pub words: usize,
    pub limit: usize,
}

impl Heap {
    pub fn old_off_heap(&self) -> OldOffHeap {
        let (start, end) = (self.old_start.get(), self.old_end.get());
        if start.is_null() {
            return OldOffHeap { words: 0, limit: self.vheap_limit.get() as usize };
        }
        let mut bytes = 0;
        let mut p = self.off_heap.get();
        // SAFETY: the chain leads from one live object to the next; the word behind an old block's
        // objects was written when it was made.
        unsafe {
            while !p.is_null() {
                if header_subtag(*p) == REFC_BIN && (start..end).contains(&p) {
                    bytes += *p.add(1) as usize;
                }
                p = *next_word(p) as *mut u64;
            }
            OldOffHeap { words: bytes / 8, limit: bytes / 8 + *end as usize }
        }
    }
    /// Takes an old block for at least `n` words of objects; `young` are in use now. The word behind them
    /// says how many words outside the heap may yet become old: twice what was held after the last
    /// collection, or as much as the heap itself has. So a process that gets large binaries one after
    /// another keeps few of them, and one that needs what it holds is not often collected in full.
    pub(crate) fn make_old_block(&self, n: usize, young: usize) {
        let words = next_size(n + 1);
        let p = block(words);
        let end = p.wrapping_add(words - 1);
        // SAFETY: this is the block's last word.
        unsafe { end.write(young.max(2 * self.vheap_limit.get() as usize) as u64) }
        self.old_start.set(p);
        self.old_top.set(p);
        self.old_end.set(end);
    }
    /// # Safety
    /// Nobody uses an object there any more.
    pub(crate) unsafe fn free_old_block(&self) {
        let p = self.old_start.get();
        if !p.is_null() {
            // SAFETY: `make_old_block` took it, with one word behind the end.
            unsafe { free_block(p, distance(p, self.old_end.get()) + 1) }
        }
    }
    /// Whether what became old holds so much outside the heap that the next collection is to be full.
    pub(crate) fn holds_much_by_old(&self) -> bool {
        // SAFETY: the word behind an old block's objects was written when it was made.
        !self.old_start.get().is_null() && unsafe { *self.old_end.get() == 0 }
    }
    /// Notes that so many bytes outside the heap became old.
    pub(crate) fn count_old_off_heap(&self, bytes: usize) {
        if bytes > 0 && !self.old_start.get().is_null() {
            // SAFETY: as above; the process's own thread collects.
            unsafe { *self.old_end.get() = (*self.old_end.get()).saturating_sub(bytes as u64 / 8) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kvik_term::Term;

    #[test]
    fn dead_old_binaries_make_a_collection_full() {
        const BYTES: usize = if cfg!(miri) { 1 << 20 } else { 4 << 20 };
        let h = Heap::new(1000);
        let mut most = 0;
        for _ in 0..12 {
            let mut x = [h.binary(&vec![7; BYTES]).word()];
            for _ in 0..2 {
                // SAFETY: the only term in use is in `x`.
                unsafe { h.collect(x.as_mut_ptr(), 1, 0, false) };
            }
            let held = h.sizes().off_heap + h.old_off_heap().words;
            assert_eq!(held, h.off_heap_binaries().len() * BYTES / 8);
            most = most.max(held * 8 / BYTES);
            // SAFETY: the collection put it there.
            let t = unsafe { Term::from_word(x[0]) };
            assert_eq!(t.as_bytes().map(|b| (b.len(), b[BYTES - 1])), Some((BYTES, 7)));
        }
        assert!(most <= 4, "{most} binaries at once");
    }
}
