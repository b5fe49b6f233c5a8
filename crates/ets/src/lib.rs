//! Tables (`ets`): hash tables, ordered sets, and match specifications, which tracing uses too.
#![forbid(unsafe_code)]
#![allow(clippy::len_without_is_empty)]

mod buckets;
mod chain;
pub mod cooperative;
pub mod deferred_free;
pub mod hash;
mod kind;
pub mod linear_hash;
pub mod ms;
pub mod order;
pub mod registry;
mod store;
pub mod table;
pub mod tree;

pub use cooperative::{CooperativeOperation, InsertOutcome, TurnSteps};
pub use deferred_free::DeferredFree;
pub use kind::{IterationHold, TableKind};
pub use linear_hash::PutOutcome;
pub use registry::{find, process_exits, TableRef};
pub use store::Store;
pub use table::{Access, Heir, Protection, Refusal, StoppedWalk, Table, TableOptions, TableState};
