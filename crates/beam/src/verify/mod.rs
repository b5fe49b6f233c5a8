//! The verifier: what native code takes for granted, proved before any is made.
//!
//! OTP trusts `.beam` files; we don't. Two passes over each function. The first (`operands.rs`) looks at each
//! instruction by itself. The second (`flow.rs`) follows every path through each function with
//! what is known of each register, joining the states where paths meet, until nothing changes.
//! After both, for all code that can be reached:
//!
//! - operands are of the right kind; registers, labels and indexes exist; a jump stays in its
//!   function, a call goes to an entry with the arity given, a path can't run off the end;
//! - an x register is written before it is read, and so are those a collection would look at;
//!   a y register is inside the frame, and written before a read, a collection or an exception;
//! - frames are made once, dropped with their own size, and gone at `return` and tail calls;
//! - a term is built only in words reserved since the last point where a collection may happen;
//! - `catch` and `try` nest (the innermost tag is in the lowest y register), are closed before
//!   their frame goes, and an exception arrives at `try_case` or `catch_end` of its own register;
//! - there is no way round in a function on which the process can neither yield nor wait;
//! - a match context is seen by bs instructions only, except that it may be moved, kept in y
//!   registers, and passed to functions of the module that begin to match on it.
//!
//! What a register holds is often known, but not always: where an instruction needs a tuple and
//! the flow doesn't prove one, [`Proof::checked_needed`] tells the loader to emit the test. See
//! `docs/internals/verifier.md` for what templates must guarantee in turn.

mod bifs;
mod binary;
mod claims;
mod control;
mod flow;
mod fresh_tuple;
mod loops;
mod operands;
pub(crate) mod state;
mod terms;
mod ty;

use crate::code::Code;
use crate::error::{Error, Reason};
use crate::module::Module;
use crate::room::Room;
use claims::Claims;
pub use claims::{RegisterClaim, StateClaim, ValueKind, CHECKED};
use flow::Flow;
use operands::Tables;
pub(crate) use ty::MAX_LABELS;

/// Says what is wrong.
pub(crate) type What = &'static str;

/// What the verifier found out about code that it accepts.
pub struct Proof {
    checked: Bits,
    visited: Bits,
    trap: Bits,
    zero: Bits,
    keep: Bits,
    clear: Bits,
    claims: Claims,
}

impl Proof {
    /// The instruction relies on a type that isn't proved: its template must test it, and end the
    /// process for good (not raise: no handler was told) when the test fails. For comparisons and
    /// arithmetic it only says that not both operands are known to be small integers.
    pub fn checked_needed(&self, op: usize) -> bool {
        self.checked.get(op) || !self.visited.get(op)
    }

    /// Whether any path leads to the instruction.
    pub fn reachable(&self, op: usize) -> bool {
        self.visited.get(op)
    }

    /// The instruction never comes back (it calls `erlang:error/1` or its kin, or the compiler
    /// knew of another function), and what follows may rely on that: the loader must put a trap
    /// behind it. A tail call that is so marked must be made as an ordinary call: the compiler
    /// doesn't care which frame size such a call names.
    pub fn trap_after(&self, op: usize) -> bool {
        self.trap.get(op)
    }
}

impl Proof {
    /// A part of the message that `loop_rec` shows may be kept from this instruction on, though the
    /// message isn't taken: before it, its memory must become the process's for good.
    pub fn keep_message(&self, op: usize) -> bool {
        self.keep.get(op)
    }

    /// A guard BIF whose target must be set to `[]` before it: some code behind its failure label
    /// reads that register, since the compiler knew that the BIF succeeds.
    pub fn clear_target(&self, op: usize) -> bool {
        self.clear.get(op)
    }

    /// An `allocate` whose y registers must be filled with `[]`: the code may collect or raise
    /// before it has written them all. (Other frames needn't be filled.)
    pub fn fill_frame(&self, op: usize) -> bool {
        self.zero.get(op) || !self.visited.get(op)
    }
}

impl Proof {
    /// What is claimed of the state before an instruction; always `None` unless [`CHECKED`].
    pub fn claim(&self, op: usize) -> Option<&StateClaim> {
        self.claims.get(op)
    }
}

/// A set of instruction indexes.
struct Bits(Vec<u64>);

impl Bits {
    fn new(len: usize) -> Bits {
        Bits(vec![0; len.div_ceil(64)])
    }

    fn get(&self, at: usize) -> bool {
        self.0.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 != 0)
    }

    fn set(&mut self, at: usize) {
        if let Some(word) = self.0.get_mut(at / 64) {
            *word |= 1 << (at % 64);
        }
    }
}

/// Verifies all functions of a module.
pub fn verify(module: &Module, code: &Code) -> Result<Proof, Error> {
    verify_in(module, code, &mut Room::default())
}

/// The same, with what `room` has for it.
pub fn verify_in(module: &Module, code: &Code, room: &mut Room) -> Result<Proof, Error> {
    let tables = Tables::new(module, code);
    let refuse = |function: Option<usize>, op: usize, what: What| {
        let function = function.and_then(|f| code.functions.get(f));
        let name = function.and_then(|f| module.atom(f.name)).unwrap_or("the module");
        let arity = function.map_or(0, |f| f.arity);
        Error::Unsafe(Box::new(Reason {
            function: format!("{name}/{arity}"),
            op,
            name: code.ops.get(op).map_or("", |op| op.opcode.name()),
            what,
        }))
    };
    tables.check_tables().map_err(|what| refuse(None, 0, what))?;
    let mut flow = Flow::new(&tables, std::mem::take(&mut room.labels));
    let result = flow.run();
    let (proof, labels) = flow.into_proof();
    room.labels = labels;
    match result {
        Ok(()) => Ok(proof),
        Err((function, op, what)) => Err(refuse(Some(function), op, what)),
    }
}
