//! Buffers for reading a module, reused for the next.

use crate::code::{Arg, Code, Op};
use crate::tables::Inflate;
use crate::verify::state::LabelState;

/// Memory for reading a module, reused for the next: the system has to clear each page of new
/// memory.
#[derive(Default)]
pub struct ReadBuffers {
    pub(crate) ops: Vec<Op>,
    pub(crate) args: Vec<Arg>,
    pub(crate) labels: Vec<LabelState>,
    pub(crate) inflate: Inflate,
}

impl ReadBuffers {
    /// Room for modules of that many bytes of code. Unused pages are never touched.
    pub fn new(bytes: usize) -> ReadBuffers {
        let [ops, args] = [bytes / 2, bytes];
        ReadBuffers {
            ops: Vec::with_capacity(ops),
            args: Vec::with_capacity(args),
            labels: Vec::with_capacity(bytes / 8),
            inflate: Inflate::default(),
        }
    }

    /// Takes back the memory of code that is no longer needed.
    pub fn reclaim(&mut self, code: Code) {
        (self.ops, self.args) = (code.ops, code.args);
    }

    /// The number of bytes that were used.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.ops[..]) + size_of_val(&self.args[..])
    }
}
