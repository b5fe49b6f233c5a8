//! The runtime: what native code calls. Each function gets the process that runs, the scheduler's
//! registers, the operands that the template put on the thread's stack, and a word of the
//! template's own. `NONE` as an answer means that there is no term: a failed match, or an exception
//! noted in the process.

pub mod bits;
pub mod breaks;
pub mod call;
pub mod compare;
pub mod dictionary;
pub mod maps;
pub mod raise;
pub mod receive;
pub mod stop;
pub mod trace;

use kvik_heap::Regs;
use kvik_proc::Proc;
use kvik_term::Term;

pub type Fun = extern "C" fn(&Proc, &Regs, *const u64, u64) -> u64;

/// A function that gets its operands in registers. It may build terms where it is called by
/// `lean_alloc`, and never looks at x registers.
pub type Lean = extern "C" fn(&Proc, u64, u64, u64) -> u64;

/// The same with two answers.
pub type LeanPair = extern "C" fn(&Proc, u64, u64, u64) -> Pair;
#[repr(C)]
pub struct Pair(pub u64, pub u64);

/// Operand `i`.
#[inline]
fn word(args: *const u64, i: usize) -> u64 {
    // SAFETY: a template gives as many operands as its runtime function reads.
    unsafe { *args.add(i) }
}
/// Operand `i` as a term of the process's heap.
#[inline]
fn arg<'h>(_: &'h Proc, args: *const u64, i: usize) -> Term<'h> {
    // SAFETY: operands are live terms, and nothing is collected before the runtime has answered.
    unsafe { Term::from_word(word(args, i)) }
}
/// The first `n` x registers.
#[inline]
fn x_terms<'h>(_: &'h Proc, regs: &Regs, n: usize) -> &'h [Term<'h>] {
    // SAFETY: these registers hold live terms; a term is one word; only native code and the
    // functions here write registers, after they have read them.
    unsafe { std::slice::from_raw_parts(regs.x_ptr().cast(), n.min(256)) }
}
fn set_x(regs: &Regs, i: usize, w: u64) {
    // SAFETY: register numbers are below the register file's size.
    unsafe { *regs.x_ptr().add(i) = w }
}
fn set_scratch(regs: &Regs, i: usize, w: u64) {
    // SAFETY: there are 32 scratch words.
    unsafe { *regs.scratch_ptr().add(i) = w }
}
