//! The external term format: what `term_to_binary/1` writes, `.beam` files keep their literals in
//! and nodes send each other.
//!
//! Decoding trusts nothing: every length is checked against the bytes that are there before memory
//! is asked for, and nesting costs heap, never stack.
#![forbid(unsafe_code)]

mod atom_cache;
mod decode;
mod encode;
mod hooks;
mod inflate;
mod local;
mod reader;
pub mod tag;

pub use atom_cache::{AtomRefs, ReceiveCache, SendCache};
pub use decode::{decode, DecodeOpts, Decoding};
pub use encode::{encode, Deflation, EncodeOpts, Encoding, SizeFields};
pub use hooks::{hooks, set_hooks, EtfHooks, FunId};

/// Why bytes are no term.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum EtfError {
    /// Truncated, an unknown tag, or a field out of its range.
    Malformed,
    /// An atom or function that `safe` forbids to create.
    Unsafe,
    /// The atom table is full.
    SystemLimit,
}
