//! The old block, and how much its objects may hold outside the heap before a collection is full.

use crate::alloc::{block, free_block};
use crate::gc::distance;
use crate::Heap;

impl Heap {
    /// Takes an old block for `n` words of objects; `young` are in use now. The word behind them says how
    /// many words outside the heap may yet become old: twice what was held after the last collection,
    /// or as much as the heap itself has. So a process that gets large binaries one after another
    /// keeps few of them, and one that needs what it holds is not often collected in full.
    pub(crate) fn make_old_block(&self, n: usize, young: usize) {
        let p = block(n + 1);
        let end = p.wrapping_add(n);
        // SAFETY: the block has `n + 1` words.
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
            // SAFETY: `make_old_block` took it.
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
