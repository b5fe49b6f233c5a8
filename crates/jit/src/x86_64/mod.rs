//! Native code for x86-64: the encoder, one template for each instruction, and the stubs. Nothing
//! outside this folder names a machine register or a machine instruction.

mod asm;
pub mod breakpoint;
mod operands;
#[cfg(test)]
mod snapshots;
mod stubs;
mod templates;

use asm::*;
pub use asm::{Asm, Label, WordAt};
pub use stubs::make as make_stubs;
pub use templates::floats::keeps_floats;

const P: R = R13;
const REGS: R = RBX;
const HTOP: R = R15;
const STACK: R = R12;
const REDS: R = R14;
/// x0 to x3.
const XREGS: [R; 4] = [R8, R9, R10, R11];

/// Fills memory that holds no code: `int3`, which ends the program.
pub const FILL: u8 = 0xCC;
