//! Messages outside the heap block.
//!
//! There are two kinds. A message that the process inspects in a `receive` and that was not copied:
//! its memory becomes part of the heap only when the message is taken, or when the heap is
//! collected meanwhile. And a small message for which the heap had no room on arrival.

use std::ptr;

use kvik_term::word::NIL;
use kvik_term::Term;

use crate::binary::release_until;
use crate::copy;
use crate::frag::{Frag, OwnedTerm};
use crate::literal::Sharing;
use crate::roots::Root;
use crate::Heap;

impl Heap {
    /// Lends a term to the process, until `take_borrowed_message` or `keep_borrowed_message`. Only
    /// one at a time.
    #[inline]
    pub fn borrow_message(&self, t: OwnedTerm) -> Term<'_> {
        self.keep_borrowed_message();
        self.lent.set(t.frag);
        self.roots[Root::Lent as usize].set(t.root);
        std::mem::forget(t);
        self.root(Root::Lent)
    }
    /// Gives the term back: the process does not take it, and holds no part of it any more.
    #[inline]
    pub fn take_borrowed_message(&self) -> OwnedTerm {
        let root = self.roots[Root::Lent as usize].replace(NIL);
        let frag = self.lent.replace(ptr::null_mut());
        let t = OwnedTerm { root, frag };
        if frag.is_null() {
            // The term is an immediate, or was moved to the heap.
            return OwnedTerm::message(t.term());
        }
        t
    }
    /// Makes the term's memory part of the heap.
    #[inline]
    pub fn keep_borrowed_message(&self) {
        let f = self.lent.replace(ptr::null_mut());
        if !f.is_null() {
            // SAFETY: the fragment is live and nobody else's; it becomes ours, as do its off-heap
            // objects.
            unsafe {
                self.take_chain((*f).off_heap);
                (*f).off_heap = ptr::null_mut();
                let (due, before) = (self.gc_due.get(), self.frag_words.get());
                self.link(f, (*f).used);
                // The message itself is in use, and mostly garbage by the next one: collecting now
                // would copy it.
                if self.max_words.get() == 0 {
                    self.gc_due.set(due || before > self.block_words());
                }
            }
        }
    }
    /// Whether to collect before a message of `words` words becomes part of the heap: what the
    /// process took before is probably garbage by now.
    #[inline]
    pub fn is_due_before_message(&self, words: usize) -> bool {
        let before = self.frag_words.get();
        before > 0 && before + words > self.block_words()
    }
    /// Copies a small term, for which the block has no room, to a fragment; the collection that
    /// makes room is due from then on. `None`: there is room, or the term has more than `most`
    /// words.
    #[cold]
    pub fn copy_to_fragment<'h>(&'h self, t: Term<'_>, most: usize) -> Option<Term<'h>> {
        if self.room() >= most {
            return None;
        }
        let f = Frag::new(most).as_ptr();
        // SAFETY: the new fragment has room for as many words and is ours alone; what off-heap
        // objects the copy has become ours with it, or are given back.
        unsafe {
            let words = Frag::words(f);
            let (mut top, mut off_heap) = (words, ptr::null_mut());
            let sharing = &Sharing::now();
            match copy::copy_up_to(t, sharing, &mut top, words.add(most), &mut off_heap) {
                Some(w) => {
                    (*f).used = top.offset_from(words) as usize;
                    self.take_chain(off_heap);
                    self.link(f, (*f).used);
                    self.gc_due.set(true);
                    Some(Term::from_word(w))
                }
                None => {
                    release_until(off_heap, ptr::null_mut());
                    Frag::free(f);
                    None
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kvik_term::cmp::eq_exact;

    #[test]
    fn message_that_does_not_fit_becomes_a_fragment_until_the_next_collection() {
        let (from, mut to) = (Heap::new(1000), Heap::new(300));
        let t =
            from.tuple(&[Term::int(1), from.binary(&[7; 1000]), from.list(&[Term::int(2); 10])]);
        let holders = || from.off_heap_binaries()[0].2;
        assert!(to.copy_to_fragment(t, 64).is_none() && holders() == 1, "there is room");
        while to.room() >= 20 {
            to.tuple(&[Term::NIL; 9]);
        }
        assert!(to.copy_small(t, 64).is_none() && !to.gc_due());
        assert!(to.copy_to_fragment(t, 20).is_none(), "too large");
        assert_eq!((holders(), to.sizes().fragments), (1, 0));
        let copy = to.copy_to_fragment(t, 64).expect("it fits").word();
        assert!(to.gc_due() && holders() == 2 && to.sizes().fragments > 20);
        // SAFETY: a term of that heap.
        to.set_root(Root::Message, unsafe { Term::from_word(copy) });
        to.collect_parked(false);
        assert_eq!((to.sizes().fragments, holders()), (0, 2));
        assert!(to.message().is_some_and(|copy| eq_exact(copy, t)));
        drop(to);
        assert_eq!(holders(), 1);
    }
}
