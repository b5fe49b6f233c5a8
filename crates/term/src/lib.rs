//! Terms: the tagged word, the objects it may point to, and safe views of both.
//!
//! A [`Term`] borrows the heap it lives in, so that the heap cannot be collected while a term of it
//! is in use. [`word`] describes the layout of every object.
#![allow(clippy::len_without_is_empty)]

pub mod atom;
mod atoms;
pub mod cmp;
pub mod entry;
pub mod hash;
mod hash_wide;
pub mod map;
mod map_node;
mod merge_sort;
pub mod mixed;
pub mod node;
pub mod object;
pub mod phash;
pub mod print;
pub mod record;
mod stack;
pub mod term;
pub mod word;
mod zero;

pub use atom::Atom;
pub use atoms::am;
pub use entry::{CodeAddress, CodeCell, Export, ExportSlot, FunEntry, NativeCell, StagedIndex};
pub use object::{
    Big, Bits, Cons, Ext, ExtKind, Fun, LocalRef, Map, PidTerm, PortTerm, Ref, Tuple,
};
pub use record::{NativeRecord, RecordDef};
pub use term::{Term, View};
