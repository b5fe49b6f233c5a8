//! Tables (`ets`): hash tables, ordered sets, and the machine of match specifications, which
//! tracing shares.
#![forbid(unsafe_code)]
#![allow(clippy::len_without_is_empty)]

pub mod hash;
mod kind;
pub mod linear;
pub mod ms;
pub mod order;
pub mod pending;
pub mod registry;
pub mod remains;
mod store;
pub mod table;
pub mod tree;

pub use kind::{Hold, Kind};
pub use pending::{Outcome, Pending};
pub use registry::{find, process_exits, Found};
pub use remains::Remains;
pub use store::Store;
pub use table::{Access, Options, Protection, Refusal, State, StoppedWalk, Table};
