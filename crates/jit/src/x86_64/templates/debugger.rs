//! Places for breakpoints at lines.

use crate::compiler::Compiler;
use crate::x86_64::breakpoint::{CALL_LENGTH, LINE_CLEAR};

impl Compiler<'_> {
    /// A place for a breakpoint, and where a process goes on behind it, which is a return address:
    /// see `breakpoint.rs`.
    pub fn line_point(&mut self) -> (u32, u32) {
        self.a.nops_to(16);
        let offset = self.a.pos();
        self.a.bytes(&LINE_CLEAR);
        self.a.nop();
        self.a.call_abs(self.stubs.line_break);
        debug_assert_eq!(self.a.pos() - offset, LINE_LENGTH);
        self.place();
        (offset, self.a.pos())
    }
}

const LINE_LENGTH: u32 = (LINE_CLEAR.len() + 1 + CALL_LENGTH) as u32;
const _: () = assert!(LINE_LENGTH == 8, "a return address ends in 8");
