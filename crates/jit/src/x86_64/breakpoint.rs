//! The code patches that breakpoints apply: to a function's first instruction, see
//! `breakpoints.rs`, and to the jump at a line, see `line_breakpoints.rs`.

use crate::mem;

/// `dec r14`, the first instruction of every function.
const FIRST: [u8; 3] = [0x49, 0xFF, 0xCE];
/// Length of the `call` with a rel32 in front of the entry.
pub const CALL_LENGTH: usize = 5;
const CALL: u8 = 0xE8;
/// A short jump from the entry to the call.
const JUMP: [u8; 2] = [0xEB, (-2 - CALL_LENGTH as i8) as u8];

/// At a place for a breakpoint at a line: a jump over one byte and a call, or a `nop` of two bytes.
pub const LINE_CLEAR: [u8; 2] = [0xEB, 1 + CALL_LENGTH as u8];
pub const LINE_SET: [u8; 2] = [0x66, 0x90];

/// Alignment of entries, in bytes.
pub const ENTRY_ALIGNMENT: usize = 16;

/// Whether this is an entry without a breakpoint, at which one can be set.
pub fn is_free(at: usize) -> bool {
    mem::read(at) == Some(FIRST) && has_call(at)
}
/// Whether this looks like an entry with a breakpoint.
pub fn is_set(at: usize) -> bool {
    mem::read(at).is_some_and(|b| b[..2] == JUMP && b[2] == FIRST[2])
}
fn has_call(at: usize) -> bool {
    at.checked_sub(CALL_LENGTH).and_then(mem::read).is_some_and(|b| b[0] == CALL)
}

/// Sets a breakpoint at an entry that has none.
pub fn set(at: usize) -> bool {
    mem::patch(at, JUMP)
}
/// Restores the original instruction.
pub fn clear(at: usize) {
    mem::patch(at, [FIRST[0], FIRST[1]]);
}
