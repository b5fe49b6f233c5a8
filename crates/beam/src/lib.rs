//! `.beam` files: the container, its chunks, the instructions in generic form, and the verifier.
//!
//! Reading a file takes four steps, each of which can refuse it: [`Container`] finds the chunks,
//! [`Module`] reads the tables, [`Code`] decodes every instruction, and [`verify`] proves what
//! native code relies on. Input is untrusted: no bytes cause a panic, or allocations of more than a
//! small multiple of the file.
#![forbid(unsafe_code)]

mod bs_match;
mod code;
mod compact;
mod container;
mod debug_info;
mod decode;
mod error;
mod functions;
mod lines;
mod md5;
mod module;
mod old_bits;
mod read_buffers;
mod reader;
mod tables;
mod types;
mod verify;

pub use bs_match::{match_commands, MatchCommand};
pub use code::{AllocList, Arg, BigInt, Code, DebugCall, DebugFrame, DebugInfo, DebugItem};
pub use code::{Function, Op, RecordEntry};
pub use container::Container;
pub use error::{BeamError, Reason};
pub use kvik_isa::Opcode;
pub use lines::{LineEntry, Lines};
pub use module::{CodeChunk, Module};
pub use old_bits::SEGMENT_TYPES;
pub use read_buffers::ReadBuffers;
pub use tables::{FunctionEntry, Import, Lambda, Literals};
pub use types::{BeamType, Types};
pub use verify::{
    verify, verify_in, Proof, RegisterClaim, StateClaim, ValueKind, CHECKED, MAX_TUPLE,
};
