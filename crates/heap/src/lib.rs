//! The memory of a process: one block with the heap growing up and the stack growing down, heap
//! fragments, off-heap binaries, copying between heaps, and the collector.
//!
//! Invariant that all code above relies on: **allocation never moves a term**. A full block gets a
//! fragment. Only [`Heap::collect`], which needs exclusive access (`&mut`), moves terms, and it is
//! called at safepoints only.

pub mod alloc;
pub mod arith;
mod big_build;
pub mod binary;
pub mod bits;
pub mod bits_build;
mod bits_segment;
mod block_size;
mod borrowed_message;
pub mod build;
pub mod copy;
mod copy_alignment;
mod digits;
#[cfg(test)]
mod digits_tests;
mod fit;
pub mod frag;
pub mod gc;
#[cfg(test)]
mod gc_tests;
pub mod limit;
pub mod literal;
pub mod long_collection;
pub mod map;
pub mod map_build;
pub mod map_merge;
#[cfg(test)]
mod map_tests;
pub mod memory_counters;
mod nursery_reset;
mod old_off_heap;
pub mod records;
pub mod region;
pub mod regs;
pub mod root_pairs;
pub mod roots;
mod spare_room;
mod spoil;
pub mod stored_row;
pub mod suspended_bif;
pub mod term_builder;
mod text;
mod tuples;
pub mod writer;
pub mod written_refs;

pub use alloc::Heap;
pub use binary::{BinRef, MagicResource};
pub use frag::OwnedTerm;
pub use gc::GcStats;
pub use literal::LiteralArea;
pub use regs::Regs;
pub use stored_row::StoredRow;
pub use suspended_bif::SuspendedState;
pub use term_builder::TermBuilder;
pub use writer::Writer;
