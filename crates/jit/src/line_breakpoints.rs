//! Breakpoints at lines, for a debugger: see `docs/internals/debugger.md`.
//!
//! Code that is loaded for a debugger has a jump over a call of a stub at each `debug_line`. Setting
//! a breakpoint overwrites the jump with a `nop`, in one atomic store. The stub puts the live x
//! registers on the stack and calls `erts_internal:breakpoint/4`, which tells the debugger and waits.

use kvik_beam::Arg;
use kvik_code::{LinePoint, LoadedModule};

use crate::compiler::{Compiler, EmitResult};
use crate::target::breakpoint;
use crate::{mem, LoadError};

impl Compiler<'_> {
    /// `debug_line`: kind, location, number of the item in the debug information, live x registers.
    pub fn debug_line(&mut self, args: &[Arg]) -> EmitResult {
        let [Arg::Atom(kind), Arg::U(location), Arg::U(number), Arg::U(live)] = *args else {
            return Err(self.refuse("debug_line"));
        };
        if !self.debug.switches.has_line_breakpoints() || self.module.atom(kind) == Some("entry") {
            return Ok(());
        }
        let item = usize::try_from(number).ok().and_then(|n| n.checked_sub(1));
        let item = item.filter(|i| *i < self.code.debug_info.items.len());
        let item = item.ok_or(LoadError::Malformed("debug_line: no such item"))?;
        let location = u32::try_from(location).unwrap_or(u32::MAX);
        let line = self.module.lines.get(location);
        let line = line.ok_or(LoadError::Malformed("debug_line: no such line"))?.line;
        self.at_line(location);
        let (offset, resume) = self.line_point();
        let (live, function) = (live as u16, self.function_index);
        self.debug.points.push(LinePoint { offset, resume, line, live, function, item });
        Ok(())
    }
}

/// Sets or clears a breakpoint.
pub fn set(i: &LoadedModule, point: &LinePoint, on: bool) {
    let bytes = if on { breakpoint::LINE_SET } else { breakpoint::LINE_CLEAR };
    if is_set(i, point) != on {
        mem::patch(i.start + point.offset as usize, bytes);
    }
}
pub fn is_set(i: &LoadedModule, point: &LinePoint) -> bool {
    let code = mem::read(i.start + point.offset as usize);
    code.is_some_and(|b| b[..2] == breakpoint::LINE_SET)
}
