//! Terms that a process holds outside its stack and registers.

use std::mem::offset_of;

use kvik_term::word::NONE;
use kvik_term::Term;

use crate::alloc::Heap;
use crate::root_pairs::Index;

/// The roots that every process has.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[repr(usize)]
pub enum Root {
    /// The reason or value of the current exception, and its stack trace.
    ExcValue,
    ExcTrace,
    GroupLeader,
    SeqToken,
    /// State of a trapped BIF.
    Trap,
    /// The first line of the next stack trace, if it is not where the exception was raised.
    Spare,
    /// The message at the save pointer, if it is on the heap already.
    Lent,
    /// The first message, if its sender put it on the heap; see [`Heap::message`].
    Message,
}
pub const ROOTS: usize = 8;

impl Heap {
    /// Offset of the word of `Root::Message`; it is `NONE` if there is no message.
    pub const MESSAGE: usize = offset_of!(Heap, roots) + 8 * Root::Message as usize;

    /// A message put on the heap by its sender; it precedes all that are in the mailbox.
    #[inline]
    pub fn message(&self) -> Option<Term<'_>> {
        let w = self.roots[Root::Message as usize].get();
        // SAFETY: roots are terms of this heap, but for `NONE`.
        (w != NONE).then(|| unsafe { Term::from_word(w) })
    }
    #[inline]
    pub fn take_message(&self) -> Option<Term<'_>> {
        let t = self.message();
        self.roots[Root::Message as usize].set(NONE);
        t
    }
    #[inline]
    pub fn root(&self, r: Root) -> Term<'_> {
        // SAFETY: roots are terms of this heap.
        unsafe { Term::from_word(self.roots[r as usize].get()) }
    }
    #[inline]
    pub fn set_root<'h>(&'h self, r: Root, t: Term<'h>) {
        self.roots[r as usize].set(t.word());
    }
    /// Additional roots, in pairs: the process dictionary. See `dict`.
    pub fn with_pairs<'h, R>(
        &'h self,
        f: impl FnOnce(&mut Vec<[Term<'h>; 2]>, &mut Index) -> R,
    ) -> R {
        let mut pairs = self.pairs.take().unwrap_or_default();
        // SAFETY: Term is one word; the pairs are terms of this heap, which is borrowed for 'h.
        let view: &mut Vec<[Term<'h>; 2]> =
            unsafe { &mut *(&mut pairs.all as *mut Vec<[u64; 2]>).cast() };
        let r = f(view, &mut pairs.index);
        pairs.settle();
        self.pairs.set((!pairs.all.is_empty()).then_some(pairs));
        r
    }
}
