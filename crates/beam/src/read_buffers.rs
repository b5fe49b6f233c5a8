//! Buffers for reading a module, used again for the next.

use crate::code::{Arg, Code, Op};
use crate::tables::Inflate;
use crate::verify::state::LabelState;

/// Memory that reading one module needs, for the next one to use again: what the system gives anew
/// it has to clear, page by page.
#[derive(Default)]
pub struct ReadBuffers {
    pub(crate) ops: Vec<Op>,
    pub(crate) args: Vec<Arg>,
    pub(crate) labels: Vec<LabelState>,
    pub(crate) inflate: Inflate,
}

impl ReadBuffers {
    /// Room for modules of that many bytes of code. What is not used is never touched.
    pub fn new(bytes: usize) -> ReadBuffers {
        let [ops, args] = [bytes / 2, bytes];
        ReadBuffers {
            ops: Vec::with_capacity(ops),
            args: Vec::with_capacity(args),
            labels: Vec::with_capacity(bytes / 8),
            inflate: Inflate::default(),
        }
    }

    /// The memory of code that is of no use any more.
    pub fn reclaim(&mut self, code: Code) {
        (self.ops, self.args) = (code.ops, code.args);
    }

    /// The bytes that were used of it.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.ops[..]) + size_of_val(&self.args[..])
    }
}
