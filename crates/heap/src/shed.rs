//! Giving back at once what a process has made and dropped, where that can be seen without a
//! collection.
//!
//! A loop that reads blocks of a file and keeps none leaves them to the collector, which comes when
//! some hundred kilobytes are held. By then each block went to memory that the processor had put out
//! of its nearest cache, where a C program reads into the same block again and again. But terms never
//! change: what is older than a place on the heap can't point to what is younger. So where neither
//! stack nor roots nor arguments point behind the place where the heap's top stood at the last read,
//! all behind it is garbage, and the top goes back.

use crate::binary::{next_word, release_one};
use crate::roots::ROOTS;
use crate::Heap;
use kvik_term::word::{header_subtag, REFC_BIN};

/// Instead of a place: so many calls have to pass until one is noted.
const NOWHERE: u32 = 1 << 31;
/// Calls that pass after one that was in vain: who keeps what it reads is hardly held up.
const PAUSE: u32 = 15;
/// Bytes outside the heap that are worth it: a small part of what the nearest cache holds, where as
/// many bytes of the file go, too.
const WORTH: usize = 8 << 10;
/// So many bytes are given back together: looking takes longer than reading from the nearest cache,
/// and as much of that may go to other blocks.
const TOGETHER: usize = 12 << 10;
/// Words of stack and dictionary that are looked at.
const MOST: usize = 256;

impl Heap {
    /// Where the heap's top was when a call noted it; see above.
    pub(crate) const NO_MARK: u32 = NOWHERE;

    /// Gives back what was made since the call that noted a place, if nothing of it is in use; or
    /// notes a place for the calls to come.
    ///
    /// # Safety
    /// `args` points to `n` terms. Nobody holds another term of this heap but on its stack and in its
    /// roots.
    #[inline]
    pub unsafe fn shed(&self, args: *const u64, n: usize) {
        let mark = self.mark.get();
        if mark >= NOWHERE {
            return self.note(mark);
        }
        let rest = self.rest.get();
        if rest > 0 {
            return self.rest.set(rest - 1);
        }
        if self.vheap.get() >= WORTH {
            // SAFETY: as the caller says.
            let args = unsafe { std::slice::from_raw_parts(args, n) };
            self.shed_from(mark as usize, args);
        }
    }
    fn note(&self, mark: u32) {
        let top = (self.htop.get() as usize).wrapping_sub(self.start.get() as usize) / 8;
        self.mark.set(match mark {
            NOWHERE => u32::try_from(top).unwrap_or(NOWHERE).min(NOWHERE),
            more => more - 1,
        });
    }
    #[inline(never)]
    fn shed_from(&self, mark: usize, args: &[u64]) {
        let from = self.start.get().wrapping_add(mark);
        let len = (self.htop.get() as usize).saturating_sub(from as usize);
        let young = |w: u64| (w as usize).wrapping_sub(from as usize) < len;
        if len == 0
            || !self.is_in_block()
            || args.iter().copied().any(young)
            || self.roots_have(young)
        {
            return self.mark.set(NOWHERE + PAUSE);
        }
        // SAFETY: the chain's objects are live; the youngest come first, and nothing points to those
        // that are given back.
        unsafe {
            let (mut p, mut bytes, mut last) = (self.off_heap.get(), 0, TOGETHER);
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
            self.rest.set((TOGETHER / last.max(TOGETHER / 16)).saturating_sub(1) as u8);
        }
        self.htop.set(from);
    }
    /// Is all that is young in the block, and nothing put aside?
    fn is_in_block(&self) -> bool {
        self.frags.get().is_null() && self.lent.get().is_null() && !self.is_pinned()
    }
    /// Is such a word on the stack or among the roots? True also where those are too many.
    fn roots_have(&self, young: impl Fn(u64) -> bool) -> bool {
        let words = (self.end.get() as usize).wrapping_sub(self.stop.get() as usize) / 8;
        if words > MOST {
            return true;
        }
        // SAFETY: the stack's words are in use.
        let stack = unsafe { std::slice::from_raw_parts(self.stop.get(), words) };
        const { assert!(ROOTS <= MOST) };
        stack.iter().any(|w| young(*w))
            || self.roots.iter().any(|w| young(w.get()))
            || self.pairs_have(young)
    }
    fn pairs_have(&self, young: impl Fn(u64) -> bool) -> bool {
        // SAFETY: nobody else looks at the pairs meanwhile.
        let Some(pairs) = (unsafe { &*self.pairs.as_ptr() }) else { return false };
        2 * pairs.all.len() > MOST || pairs.all.iter().flatten().any(|w| young(*w))
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
        unsafe { h.shed(&arg.word(), 1) };
        h.off_heap_binaries().len()
    }

    #[test]
    fn what_nobody_points_to_goes() {
        let h = Heap::new(200);
        let old = h.tuple(&[block(&h)]);
        assert_eq!(call(&h, old), 1);
        let top = h.room();
        for _ in 0..3 {
            h.tuple(&[block(&h), old]);
            assert_eq!((call(&h, old), h.room()), (1, top));
        }
        assert_eq!(h.sizes().off_heap_bytes, 40_000);
        assert!(old.as_tuple().is_some_and(|t| t.elements()[0].as_bytes() == Some(&[7; 40_000])));
    }

    #[test]
    fn small_blocks_go_together() {
        let h = Heap::new(600);
        let held = |size: usize| {
            h.whole_binary(BinRef::from_bytes(&vec![7; size]));
            call(&h, Term::NIL)
        };
        h.whole_binary(BinRef::from_bytes(&[7; WORTH]));
        call(&h, Term::NIL);
        let n = TOGETHER / 2_000;
        let all: Vec<usize> = (0..2 * n + 1).map(|_| held(2_000)).collect();
        // The old one stays.
        assert_eq!(
            all,
            [1].into_iter().chain(2..=n).chain([1]).chain(2..=n).chain([1]).collect::<Vec<_>>()
        );
        // Large ones have to wait once.
        let all: Vec<usize> = (0..n + 2).map(|_| held(40_000)).collect();
        assert_eq!(all, (2..=n).chain([1; 3]).collect::<Vec<_>>());
    }

    #[test]
    fn what_is_in_use_stays() {
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
            for n in 3..=PAUSE as usize + 2 {
                block(&h);
                assert_eq!(call(&h, Term::NIL), n);
            }
        }
    }

    #[test]
    fn a_collection_forgets_the_place() {
        let mut h = Heap::new(200);
        call(&h, Term::NIL);
        assert_ne!(h.mark.get(), Heap::NO_MARK);
        h.collect_parked(false);
        assert_eq!(h.mark.get(), Heap::NO_MARK);
        // What went to a fragment has no place on the block.
        call(&h, Term::NIL);
        h.in_fragments(|| block(&h));
        assert_eq!(call(&h, Term::NIL), 1);
    }
}
