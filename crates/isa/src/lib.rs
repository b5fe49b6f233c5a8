//! The instruction set: what each generic instruction of a `.beam` file is.
//!
//! `ops.tab` is the single source. Its `%generic` section becomes the [`Opcode`] enum when this
//! crate is built. This crate knows nothing of terms, heaps or machines.
#![forbid(unsafe_code)]

mod opcode;

pub use opcode::{highest_opcode, OpInfo, Opcode, OperandKind, MAX_OPCODE};
