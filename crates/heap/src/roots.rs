//! Terms that a process holds outside its stack and registers.

use kvik_term::Term;

use crate::alloc::Heap;

/// The places every process has.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[repr(usize)]
pub enum Root {
    /// The reason or value of the exception under way, and its stack trace.
    ExcValue,
    ExcTrace,
    GroupLeader,
    SeqToken,
    /// What a BIF that trapped keeps.
    Trap,
    /// The message the save pointer stands on, while it is looked at.
    Spare,
}
pub const ROOTS: usize = 6;

impl Heap {
    #[inline]
    pub fn root(&self, r: Root) -> Term<'_> {
        // SAFETY: roots are terms of this heap.
        unsafe { Term::from_word(self.roots[r as usize].get()) }
    }
    #[inline]
    pub fn set_root<'h>(&'h self, r: Root, t: Term<'h>) {
        self.roots[r as usize].set(t.word());
    }
    /// Further roots, in pairs: the process dictionary. See `dict`.
    pub fn with_pairs<'h, R>(&'h self, f: impl FnOnce(&mut Vec<(Term<'h>, Term<'h>)>) -> R) -> R {
        let mut pairs = self.pairs.take();
        // SAFETY: Term is one word; the pairs are terms of this heap, which is borrowed for 'h.
        let view: &mut Vec<(Term<'h>, Term<'h>)> =
            unsafe { &mut *(&mut pairs as *mut Vec<(u64, u64)>).cast() };
        let r = f(view);
        self.pairs.set(pairs);
        r
    }
}
