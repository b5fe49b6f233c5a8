//! The memory of a process: one block with the heap growing up and the stack growing down, heap
//! fragments, off-heap binaries, copying between heaps, and the collector.
//!
//! The rule everything above relies on: **allocation never moves a term**. A full block gets a
//! fragment. Only [`Heap::collect`], which wants the heap alone (`&mut`), moves terms, and it is
//! called at safepoints only.

pub mod alloc;
pub mod arith;
mod aside;
pub mod assembly;
pub mod binary;
pub mod bits;
pub mod bits_build;
mod bits_segment;
pub mod build;
pub mod copy;
mod fit;
pub mod frag;
pub mod gc;
pub mod kept;
mod lent;
pub mod limit;
pub mod literal;
pub mod magic_refs;
pub mod map;
pub mod map_build;
pub mod map_merge;
#[cfg(test)]
mod map_tests;
pub mod meter;
pub mod pairs;
pub mod pin;
pub mod region;
pub mod regs;
pub mod roots;
mod shed;
mod text;
mod tuples;
pub mod writer;

pub use alloc::Heap;
pub use assembly::Assembly;
pub use binary::{BinRef, Resource};
pub use frag::OwnedTerm;
pub use gc::GcStats;
pub use kept::Kept;
pub use literal::LiteralArea;
pub use pin::Pins;
pub use regs::Regs;
pub use writer::Writer;
