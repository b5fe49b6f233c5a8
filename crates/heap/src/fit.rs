//! Collections that fit a block to its contents: for processes that wait, perhaps for long.

use std::ptr::NonNull;

use crate::alloc::LEAST_WORDS;
use crate::block_size::{FIT, FIT_IDLE};
use crate::{GcStats, Heap};

/// Least number of free words that an idle process keeps.
const LEAST_ROOM: usize = 24;

impl Heap {
    /// Collects and keeps no more room than the contents need: for hibernation.
    pub fn collect_to_fit(&mut self) -> GcStats {
        let min = self.min_words.replace(FIT);
        let stats = self.collect_parked(true);
        self.min_words.set(min);
        stats
    }
    /// The same for a process that has not asked for it. It keeps some free words, and as many as
    /// its settings require. Its counters and reductions do not change. `None` while a BIF is suspended.
    pub fn collect_idle(&mut self) -> Option<GcStats> {
        if self.is_suspended() {
            return None;
        }
        let (minors, min) = (self.minor_count.get(), self.min_words.replace(FIT_IDLE));
        let reductions = self.reductions_left();
        let room = if min as usize > LEAST_WORDS { min as usize } else { LEAST_ROOM };
        // SAFETY: as for `collect_parked`: nobody holds a term of a heap that is borrowed alone.
        let stats = unsafe { self.collect(NonNull::dangling().as_ptr(), 0, room, true) };
        self.min_words.set(min);
        self.minor_count.set(minors);
        self.set_reductions(reductions);
        self.often.set(0);
        Some(stats)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kvik_term::Term;

    fn with_garbage(words: usize) -> Heap {
        let h = Heap::new(words);
        for i in 0..words / 6 {
            h.tuple(&[Term::int(i as i32); 3]);
        }
        h.set_root(crate::roots::Root::Trap, h.list(&[Term::int(7); 50]));
        h
    }

    #[test]
    fn idle_heap_keeps_what_it_holds_and_little_more() {
        let mut h = with_garbage(4000);
        for _ in 0..3 {
            h.collect_parked(false);
        }
        let minors = h.minor_collections();
        h.collect_idle();
        let s = h.sizes();
        assert_eq!((s.used, s.old_block, h.minor_collections()), (100, 0, minors));
        assert!((100 + LEAST_ROOM..100 + 2 * LEAST_ROOM).contains(&s.block), "{}", s.block);
        assert!(h.room() >= LEAST_ROOM);
        assert_eq!(h.root(crate::roots::Root::Trap).list_to_vec().map(|v| v.len()), Some(50));
    }

    #[test]
    fn idle_heap_is_as_large_as_its_settings_say() {
        let mut h = with_garbage(8000);
        h.set_limits(1000, 10, 0);
        h.collect_idle();
        assert!((1000..1300).contains(&h.sizes().block), "{}", h.sizes().block);
    }
}
