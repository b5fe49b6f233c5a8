//! Which collections may take long, so that they are better not done between two processes that
//! want to run. See `docs/internals/gc.md`.

use crate::gc::distance;
use crate::Heap;

/// A collection that may move so many words is long: it takes about a millisecond if all of them
/// live. OTP draws the line there too (`ERTS_POTENTIAL_LONG_GC_HSIZE`).
pub const LONG_WORDS: usize = 128 << 10;
/// The most free words of a large block that is nearly full.
const MARGIN_WORDS: usize = 64 << 10;
/// The part of the words free after a collection that a block of less room has left when it is
/// nearly full.
const MARGIN_PART: usize = 8;

impl Heap {
    /// The most words that a collection may move.
    pub fn words_to_move(&self, full: bool) -> usize {
        let young = distance(self.start.get(), self.htop.get());
        let stack = distance(self.stop.get(), self.end.get());
        let old = match self.would_be_minor(full) {
            true => 0,
            false => distance(self.old_start.get(), self.old_top.get()),
        };
        young + stack + old + self.frag_words.get()
    }
    /// Whether the block is so large that its collection may be long.
    #[inline]
    pub fn is_large(&self) -> bool {
        distance(self.start.get(), self.end.get()) >= LONG_WORDS
    }
    /// Whether the block is large and has so little room left that the next time slice may well
    /// fill it.
    #[inline]
    pub fn is_nearly_full(&self) -> bool {
        self.is_large() && self.has_little_room()
    }
    fn has_little_room(&self) -> bool {
        let at_first = distance(self.high_water.get(), self.end.get());
        distance(self.htop.get(), self.stop.get()) < MARGIN_WORDS.min(at_first / MARGIN_PART)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kvik_term::Term;

    #[test]
    fn only_large_blocks_are_nearly_full() {
        for (words, expected) in [(LONG_WORDS / 2, false), (LONG_WORDS * 2, true)] {
            let h = Heap::new(words);
            assert!(!h.is_nearly_full());
            while h.has_room(1000) {
                h.tuple(&[Term::int(1); 99]);
            }
            assert_eq!(h.is_nearly_full(), expected, "{words}");
        }
    }

    #[test]
    fn what_a_collection_moves_at_most() {
        let mut h = Heap::new(2000);
        h.set_root(crate::roots::Root::Trap, h.list(&[Term::int(7); 50]));
        h.tuple(&[Term::int(1); 99]);
        assert_eq!((h.words_to_move(false), h.words_to_move(true)), (200, 200));
        h.collect_parked(false);
        h.collect_parked(false);
        assert_eq!((h.words_to_move(false), h.words_to_move(true)), (0, 100));
    }
}
