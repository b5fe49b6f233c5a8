//! The lock-free pieces under processes: inboxes, tasks with a private part, the process table;
//! and the locks that tables have.
//!
//! Ownership: a [`Task`] has a shared part that any thread may read, an inbox that any thread may
//! push to, and a private part that only the holder of its [`RunToken`] may touch. There is one run
//! token for each task; while the task waits, the run token lies in its inbox, and the push that
//! ends the wait gets it.

mod atomic;
mod bias;
mod epoch_cell;
pub mod guard;
pub mod inbox;
#[cfg(all(test, loom))]
mod loom_models;
mod parker;
#[cfg(not(loom))]
mod read_biased_lock;
pub mod single_threaded;
mod spin_lock;
pub mod table;
pub mod task;

pub use epoch_cell::EpochCell;
pub use guard::{pin, EpochPin, Guard};
pub use inbox::{Chain, InboxNode};
pub use parker::Parker;
#[cfg(not(loom))]
pub use read_biased_lock::{ReadBiasedLock, ReadGuard, WriteGuard};
pub use spin_lock::{SpinLock, SpinLockGuard};
pub use table::{Numbered, SlotTable};
pub use task::{
    CurrentTask, InlineHeap, Pushed, QueuedToken, RunToken, SelfHandle, Task, ThreadId,
    UnparkedSlot,
};
