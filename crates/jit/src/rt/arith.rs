//! Arithmetic that templates leave to the runtime: large integers, floats, bad operands.

use std::panic::{catch_unwind, AssertUnwindSafe};

use kvik_heap::arith::{ArithError, ArithOp, BitOp, Number};
use kvik_heap::{Heap, Regs};
use kvik_proc::Proc;
use kvik_term::{am, Atom, Term};

use super::call::{answer_guard, fail_guard};
use super::{Fun, Operands};

/// The function for an operator of `erlang` with two operands. `extra` is as for
/// [`guard_bif`](super::call::guard_bif).
pub fn operator(name: Atom) -> Option<Fun> {
    Some(match name {
        am::op_plus => add,
        am::op_minus => subtract,
        am::op_times => multiply,
        am::div => divide,
        am::rem => remainder,
        am::band => and,
        am::bor => or,
        am::bxor => xor,
        am::bsl => shift_left,
        am::bsr => shift_right,
        _ => return None,
    })
}

/// A panic in an operation is a bug in kvik and ends the calling process only.
#[inline(always)]
fn run(
    p: &Proc,
    args: Operands,
    extra: u64,
    f: impl for<'h> FnOnce(&'h Heap, Term<'h>, Term<'h>) -> Number<'h>,
) -> u64 {
    let (a, b) = (args.term(p, 0), args.term(p, 1));
    match catch_unwind(AssertUnwindSafe(|| f(&p.heap, a, b))) {
        Ok(Ok(t)) => answer_guard(p, t),
        failed => fail(p, args, extra, failed.ok().and_then(Result::err)),
    }
}
#[cold]
fn fail(p: &Proc, args: Operands, extra: u64, error: Option<ArithError>) -> u64 {
    match error {
        Some(ArithError::BadArith) => p.badarith(),
        Some(ArithError::SystemLimit) => p.system_limit(),
        None => p.exit(am::internal_error),
    };
    fail_guard(p, args, extra)
}

macro_rules! operators {
    ($($name:ident = $f:expr;)*) => {
        $(extern "C" fn $name(p: &Proc, _: &Regs, args: Operands, extra: u64) -> u64 {
            run(p, args, extra, $f)
        })*
    };
}
operators! {
    add = |h, a, b| h.arith(ArithOp::Add, a, b);
    subtract = |h, a, b| h.arith(ArithOp::Sub, a, b);
    multiply = |h, a, b| h.arith(ArithOp::Mul, a, b);
    divide = |h, a, b| h.int_divide(a, b, false);
    remainder = |h, a, b| h.int_divide(a, b, true);
    and = |h, a, b| h.bitwise(BitOp::And, a, b);
    or = |h, a, b| h.bitwise(BitOp::Or, a, b);
    xor = |h, a, b| h.bitwise(BitOp::Xor, a, b);
    shift_left = |h, a, b| h.shift_left(a, b);
    shift_right = |h, a, b| h.shift_right(a, b);
}
