//! The verifier: proves what native code relies on, before any is made.
//!
//! OTP trusts `.beam` files; kvik doesn't. There are two passes over each function. The first
//! (`operands.rs`) checks each instruction by itself. The second (`flow.rs`) follows every path
//! through each function with the known types of all registers, joining states where paths meet,
//! until a fixed point. After both, for all reachable code:
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
//! The type of a register is often known, but not always: if an instruction needs a tuple and the
//! analysis doesn't prove one, [`Proof::checked_needed`] tells the loader to emit the test. See
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
use crate::error::{BeamError, Reason};
use crate::module::Module;
use crate::read_buffers::ReadBuffers;
use claims::Claims;
pub use claims::{RegisterClaim, StateClaim, ValueKind, CHECKED};
use flow::Flow;
use operands::Tables;
pub(crate) use ty::MAX_LABELS;

/// The largest number of elements that a tuple can have. Code may name a size or an index beyond it,
/// as compilers write out the constants of a program: no tuple passes such a test, and an
/// instruction that takes such an element is never reached.
pub const MAX_TUPLE: u64 = (1 << 24) - 1;

/// The reason for refusing code.
pub(crate) type What = &'static str;

/// The verifier's results for code that it accepts.
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
    /// process for good (not raise: no handler was told) if the test fails. For comparisons and
    /// arithmetic it only says that the operands are not both known to be small integers.
    pub fn checked_needed(&self, op: usize) -> bool {
        self.checked.get(op) || !self.visited.get(op)
    }

    /// Whether any path leads to the instruction.
    pub fn reachable(&self, op: usize) -> bool {
        self.visited.get(op)
    }

    /// The instruction never returns (it calls `erlang:error/1` or the like, or the compiler knew
    /// of another function), and what follows may rely on that: the loader must put a trap behind
    /// it. A tail call that is so marked must be made as an ordinary call: the frame size that it
    /// names is arbitrary.
    pub fn trap_after(&self, op: usize) -> bool {
        self.trap.get(op)
    }
}

impl Proof {
    /// From this instruction on a part of the current message (`loop_rec`) may be kept, though the
    /// message isn't taken: before it, the process must take over the message's memory for good.
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
    /// The claim about the state before an instruction; always `None` unless [`CHECKED`].
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
pub fn verify(module: &Module, code: &Code) -> Result<Proof, BeamError> {
    verify_in(module, code, &mut ReadBuffers::default())
}

/// The same, with memory from `buffers`.
pub fn verify_in(
    module: &Module,
    code: &Code,
    buffers: &mut ReadBuffers,
) -> Result<Proof, BeamError> {
    let tables = Tables::new(module, code);
    let refuse = |function: Option<usize>, op: usize, what: What| {
        let function = function.and_then(|f| code.functions.get(f));
        let name = function.and_then(|f| module.atom(f.name)).unwrap_or("the module");
        let arity = function.map_or(0, |f| f.arity);
        BeamError::Unsafe(Box::new(Reason {
            function: format!("{name}/{arity}"),
            op,
            name: code.ops.get(op).map_or("", |op| op.opcode.name()),
            what,
        }))
    };
    tables.check_tables().map_err(|what| refuse(None, 0, what))?;
    let mut flow = Flow::new(&tables, std::mem::take(&mut buffers.labels));
    let result = flow.run();
    let (proof, labels) = flow.into_proof();
    buffers.labels = labels;
    match result {
        Ok(()) => Ok(proof),
        Err((function, op, what)) => Err(refuse(Some(function), op, what)),
    }
}
