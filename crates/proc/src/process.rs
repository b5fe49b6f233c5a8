//! [`Proc`]: what a process is to itself.

use std::cell::Cell;

use kvik_heap::Heap;
use kvik_term::{Atom, Export, Term};

/// The part of a process that belongs to whoever runs it. Native code holds its address; the heap
/// has to come first.
#[repr(C)]
pub struct Proc {
    pub heap: Heap,
    /// Where a BIF that trapped goes on.
    pub trap_to: Cell<Option<&'static Export>>,
    /// Why a BIF's argument was bad, where the reason does not say so: `cause` of `error_info`.
    pub cause: Cell<Option<Atom>>,
    pid: u32,
}

impl Proc {
    pub fn new(pid: u32, heap_words: usize) -> Proc {
        Proc { heap: Heap::new(heap_words), trap_to: Cell::new(None), cause: Cell::new(None), pid }
    }
    /// Its pid as a term.
    pub fn self_pid(&self) -> Term<'static> {
        Term::local_pid(self.pid)
    }
}
