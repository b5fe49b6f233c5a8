//! The lock-free pieces under processes: inboxes, tasks with a private part, the process table.
//!
//! Who owns what: a [`Task`] has a shared part anybody may read, an inbox anybody may push to, and
//! a private part that only the holder of its [`Ticket`] may touch. There is one ticket for each
//! task; while the task waits, the ticket rests in its inbox, and the push that ends the wait gets it.

mod atomic;
pub mod guard;
pub mod inbox;
mod latch;
#[cfg(all(test, loom))]
mod models;
mod parker;
pub mod solo;
pub mod table;
pub mod task;

pub use guard::{pin, Guard, Hold};
pub use inbox::{Chain, Node};
pub use latch::{Held, Latch};
pub use parker::Parker;
pub use table::{Numbered, Table};
pub use task::{Here, Me, Pushed, Rest, Room, Seat, Stage, Task, Ticket};
