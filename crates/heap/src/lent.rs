//! The message a process looks at while it decides whether to take it, where that message was not
//! copied: its memory becomes part of the heap only when the message is taken, or when the heap is
//! collected meanwhile.

use std::ptr;

use kvik_term::word::NIL;
use kvik_term::Term;

use crate::frag::OwnedTerm;
use crate::roots::Root;
use crate::Heap;

impl Heap {
    /// Lends a term to the process, until `take_back` or `keep_lent`. One at a time.
    #[inline]
    pub fn lend(&self, t: OwnedTerm) -> Term<'_> {
        self.keep_lent();
        self.lent.set(t.frag);
        self.roots[Root::Lent as usize].set(t.root);
        std::mem::forget(t);
        self.root(Root::Lent)
    }
    /// The process doesn't want the term, and holds no part of it any more.
    #[inline]
    pub fn take_back(&self) -> OwnedTerm {
        let root = self.roots[Root::Lent as usize].replace(NIL);
        let frag = self.lent.replace(ptr::null_mut());
        let t = OwnedTerm { root, frag };
        if frag.is_null() {
            // It is an immediate, or was moved to the heap.
            return OwnedTerm::message(t.term());
        }
        t
    }
    /// The term's memory becomes part of the heap.
    #[inline]
    pub fn keep_lent(&self) {
        let f = self.lent.replace(ptr::null_mut());
        if !f.is_null() {
            // SAFETY: the fragment is live and nobody else's; it becomes ours, as do its off-heap
            // objects.
            unsafe {
                self.take_chain((*f).off_heap);
                (*f).off_heap = ptr::null_mut();
                self.link(f, (*f).used);
            }
        }
    }
}
