//! The external term format: written by `term_to_binary/1`, used for literals in `.beam` files and
//! between nodes.
//!
//! Decoding trusts nothing: every length is checked against the remaining bytes before memory is
//! allocated, and nesting uses heap, never the Rust stack.
#![forbid(unsafe_code)]

mod atom_cache;
mod decode;
mod deflate;
mod encode;
mod hooks;
mod inflate;
mod iovec;
mod local;
mod quick_size;
mod reader;
pub mod tag;

pub use atom_cache::{entry as atom_cache_entry, ENTRIES as ATOM_CACHE_ENTRIES};
pub use atom_cache::{AtomRefs, ReceiveCache, SendCache};
pub use decode::{decode, DecodeOpts, Decoding};
pub use deflate::Deflation;
pub use encode::{encode, EncodeOpts, Encoding, SizeFields};
pub use hooks::{hooks, set_hooks, EtfHooks, FunId};
pub use quick_size::quick_size;

/// Why decoding failed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum EtfError {
    /// Truncated, an unknown tag, or a field out of its range.
    Malformed,
    /// An atom or function that `safe` forbids creating.
    Unsafe,
    /// The atom table is full.
    SystemLimit,
}
