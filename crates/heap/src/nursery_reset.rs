//! Frees what a process allocated since a heap position, without a collection, if nothing points
//! there.
//!
//! A loop that reads blocks of a file and keeps none leaves them to the collector, which runs when
//! some hundred kilobytes are held. By then each block went to memory that was no longer in the L1
//! cache, while a C program reads into the same block again and again. But terms never change: what
//! is older than a heap position can't point to what is younger. So if neither stack nor roots nor
//! arguments point behind the heap's top at the last read, all behind it is garbage, and the top is
//! reset.

use crate::binary::{next_word, release_one};
use crate::roots::ROOTS;
use crate::Heap;
use kvik_term::word::{header_subtag, REFC_BIN};

/// Instead of a position: flag that so many calls have to pass until one is noted.
const NO_POSITION: u32 = 1 << 31;
/// Calls to skip after a failed one, so that a process that keeps what it reads is hardly delayed.
const CALLS_AFTER_FAILURE: u32 = 15;
/// Least number of off-heap bytes worth freeing: a small part of the L1 cache, into which as many
/// bytes of the file go, too.
const MIN_OFF_HEAP_BYTES: usize = 8 << 10;
/// Number of bytes that are freed together: the check takes longer than reading from the L1 cache,
/// and that much of it may go to other blocks.
const BATCH_BYTES: usize = 12 << 10;
/// Most words of stack and dictionary that are scanned.
const MAX_SCANNED_WORDS: usize = 256;

impl Heap {
    /// The heap's top when a call noted it; see above.
    pub(crate) const NO_MARK: u32 = NO_POSITION;

    /// Frees what was allocated since the call that noted a position, if none of it is in use;
    /// otherwise notes a position for later calls.
    ///
    /// # Safety
    /// `args` points to `n` terms. No other term of this heap is in use except on its stack and in
    /// its roots.
    #[inline]
    pub unsafe fn reset_nursery(&self, args: *const u64, n: usize) {
        let mark = self.mark.get();
        if mark >= NO_POSITION {
            return self.note(mark);
        }
        let rest = self.rest.get();
        if rest > 0 {
            return self.rest.set(rest - 1);
        }
        if self.vheap.get() >= MIN_OFF_HEAP_BYTES {
            // SAFETY: as the caller says.
            let args = unsafe { std::slice::from_raw_parts(args, n) };
            self.reset_nursery_from(mark as usize, args);
        }
    }
    fn note(&self, mark: u32) {
        let top = (self.htop.get() as usize).wrapping_sub(self.start.get() as usize) / 8;
        self.mark.set(match mark {
            NO_POSITION => u32::try_from(top).unwrap_or(NO_POSITION).min(NO_POSITION),
            more => more - 1,
        });
    }
    #[inline(never)]
    fn reset_nursery_from(&self, mark: usize, args: &[u64]) {
        let from = self.start.get().wrapping_add(mark);
        let len = (self.htop.get() as usize).saturating_sub(from as usize);
        let young = |w: u64| (w as usize).wrapping_sub(from as usize) < len;
        if len == 0
            || !self.is_in_block()
            || args.iter().copied().any(young)
            || self.roots_have(young)
        {
            return self.mark.set(NO_POSITION + CALLS_AFTER_FAILURE);
        }
        // SAFETY: the chain's objects are live; the youngest come first, and nothing points to
        // those that are given back.
        unsafe {
            let (mut p, mut bytes, mut last) = (self.off_heap.get(), 0, BATCH_BYTES);
            while young(p as u64) {
                let next = *next_word(p) as *mut u64;
                if header_subtag(*p) == REFC_BIN {
                    last = *p.add(1) as usize;
                    bytes += last;
                }
                release_one(p);
                p = next;
            }
            self.off_heap.set(p);
            self.vheap.set(self.vheap.get().saturating_sub(bytes));
            self.rest.set((BATCH_BYTES / last.max(BATCH_BYTES / 16)).saturating_sub(1) as u8);
        }
        self.htop.set(from);
    }
    /// Whether everything young is in the block, and no registers are saved.
    fn is_in_block(&self) -> bool {
        self.frags.get().is_null() && self.lent.get().is_null() && !self.is_suspended()
    }
    /// Whether such a word is on the stack or among the roots. True also if there are too many to
    /// scan.
    fn roots_have(&self, young: impl Fn(u64) -> bool) -> bool {
        let words = (self.end.get() as usize).wrapping_sub(self.stop.get() as usize) / 8;
        if words > MAX_SCANNED_WORDS {
            return true;
        }
        // SAFETY: the stack's words are in use.
        let stack = unsafe { std::slice::from_raw_parts(self.stop.get(), words) };
        const { assert!(ROOTS <= MAX_SCANNED_WORDS) };
        stack.iter().any(|w| young(*w))
            || self.roots.iter().any(|w| young(w.get()))
            || self.pairs_have(young)
    }
    fn pairs_have(&self, young: impl Fn(u64) -> bool) -> bool {
        // SAFETY: nothing else accesses the pairs meanwhile.
        let Some(pairs) = (unsafe { &*self.pairs.as_ptr() }) else { return false };
        2 * pairs.all.len() > MAX_SCANNED_WORDS || pairs.all.iter().flatten().any(|w| young(*w))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roots::Root;
    use crate::BinRef;
    use kvik_term::Term;

    fn block(h: &Heap) -> Term<'_> {
        h.whole_binary(BinRef::from_bytes(&[7; 40_000]))
    }
    /// A call with that argument, and how many binaries there are then.
    fn call(h: &Heap, arg: Term<'_>) -> usize {
        // SAFETY: a term; the caller looks at no other that could be gone.
        unsafe { h.reset_nursery(&arg.word(), 1) };
        h.off_heap_binaries().len()
    }

    #[test]
    fn unreferenced_blocks_are_freed() {
        let h = Heap::new(200);
        let old = h.tuple(&[block(&h)]);
        assert_eq!(call(&h, old), 1);
        let top = h.room();
        for _ in 0..3 {
            h.tuple(&[block(&h), old]);
            assert_eq!((call(&h, old), h.room()), (1, top));
        }
        assert_eq!(h.sizes().off_heap, 40_000 / 8);
        assert!(old.as_tuple().is_some_and(|t| t.elements()[0].as_bytes() == Some(&[7; 40_000])));
    }

    #[test]
    fn small_blocks_are_freed_together() {
        let h = Heap::new(600);
        let held = |size: usize| {
            h.whole_binary(BinRef::from_bytes(&vec![7; size]));
            call(&h, Term::NIL)
        };
        h.whole_binary(BinRef::from_bytes(&[7; MIN_OFF_HEAP_BYTES]));
        call(&h, Term::NIL);
        let n = BATCH_BYTES / 2_000;
        let all: Vec<usize> = (0..2 * n + 1).map(|_| held(2_000)).collect();
        // The old one stays.
        assert_eq!(
            all,
            [1].into_iter().chain(2..=n).chain([1]).chain(2..=n).chain([1]).collect::<Vec<_>>()
        );
        // Large ones have to wait for one call.
        let all: Vec<usize> = (0..n + 2).map(|_| held(40_000)).collect();
        assert_eq!(all, (2..=n).chain([1; 3]).collect::<Vec<_>>());
    }

    #[test]
    fn referenced_blocks_are_kept() {
        let held: [fn(&Heap, Term<'_>); 4] = [
            |h, t| assert_eq!(call(h, t), 2),
            |h, t| {
                // SAFETY: a term of this heap.
                h.set_root(Root::Trap, unsafe { Term::from_word(t.word()) });
                assert_eq!(call(h, Term::NIL), 2);
            },
            |h, t| {
                // SAFETY: the same.
                let t = unsafe { Term::from_word(t.word()) };
                h.with_pairs(|all, _| all.push([Term::NIL, t]));
                assert_eq!(call(h, Term::NIL), 2);
            },
            |h, t| {
                h.save_args(&[t]);
                assert_eq!(call(h, Term::NIL), 2);
            },
        ];
        for hold in held {
            let h = Heap::new(200);
            block(&h);
            call(&h, Term::NIL);
            hold(&h, h.list(&[block(&h)]));
            // After that there is a pause.
            for n in 3..=CALLS_AFTER_FAILURE as usize + 2 {
                block(&h);
                assert_eq!(call(&h, Term::NIL), n);
            }
        }
    }

    #[test]
    fn collection_clears_the_mark() {
        let mut h = Heap::new(200);
        call(&h, Term::NIL);
        assert_ne!(h.mark.get(), Heap::NO_MARK);
        h.collect_parked(false);
        assert_eq!(h.mark.get(), Heap::NO_MARK);
        // A fragment has no position in the block.
        call(&h, Term::NIL);
        h.in_fragments(|| block(&h));
        assert_eq!(call(&h, Term::NIL), 1);
    }
}
