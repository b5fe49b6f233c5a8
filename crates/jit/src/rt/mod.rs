//! The runtime functions that native code calls. Each gets the running process, the scheduler's
//! registers, the operands that the template put on the thread's stack, and one more word from the
//! template. A result of `NONE` means that there is no term: a failed match, or an exception
//! recorded in the process.

pub mod arith;
pub mod bits;
pub mod breakpoints;
pub mod call;
pub mod compare;
pub mod debugger;
pub mod dictionary;
pub mod maps;
pub mod raise;
pub mod receive;
pub mod records;
pub mod stop;
pub mod trace;

use kvik_heap::Regs;
use kvik_proc::Proc;
use kvik_term::Term;

pub type Fun = extern "C" fn(&Proc, &Regs, Operands, u64) -> u64;

/// A function that gets its operands in machine registers. It may build terms if called through
/// `lean_alloc`, and never reads x registers.
pub type Lean = extern "C" fn(&Proc, u64, u64, u64) -> u64;

/// The same with two results.
pub type LeanPair = extern "C" fn(&Proc, u64, u64, u64) -> Pair;
#[repr(C)]
pub struct Pair(pub u64, pub u64);

/// The operands that a template has put on the thread's stack for a runtime function. Only native
/// code creates this.
#[derive(Copy, Clone)]
#[repr(transparent)]
pub struct Operands(*const u64);

impl Operands {
    /// Operand `i`.
    #[inline]
    fn word(self, i: usize) -> u64 {
        // SAFETY: a template gives as many operands as its runtime function reads.
        unsafe { *self.0.add(i) }
    }
    /// Operand `i` as a term of the process's heap.
    #[inline]
    fn term<'h>(self, _: &'h Proc, i: usize) -> Term<'h> {
        // SAFETY: operands are live terms, and nothing is collected before the runtime has answered.
        unsafe { Term::from_word(self.word(i)) }
    }
    /// The first `n` operands as terms.
    #[inline]
    fn terms<'h>(self, _: &'h Proc, n: usize) -> &'h [Term<'h>] {
        // SAFETY: as for one; they stay on the thread's stack until the runtime has answered.
        unsafe { std::slice::from_raw_parts(self.0.cast(), n) }
    }
    /// `n` pairs of words behind the first operand.
    #[inline]
    fn pairs_behind_first(self, _: &Proc, n: usize) -> &[[u64; 2]] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts(self.0.add(1).cast(), n) }
    }
}
/// The first `n` x registers.
#[inline]
fn x_terms<'h>(_: &'h Proc, regs: &Regs, n: usize) -> &'h [Term<'h>] {
    // SAFETY: these registers hold live terms; a term is one word; only native code and the
    // functions here write registers, after they have read them.
    unsafe { std::slice::from_raw_parts(regs.x_ptr().cast(), n.min(256)) }
}
