//! Processes: state, signals, mailbox, links, monitors, timers, schedulers, and the interface that
//! BIFs are written against ([`bif`]).
//!
//! Who may touch what: a [`Proc`] is reached by whoever runs it and nobody else; other processes,
//! timers and ports send it [`signal::Signal`]s through its inbox. See
//! `docs/internals/processes.md`.
//!
//! Modules in layers, the lowest first: types without behaviour (`signal_types`, `remote_types`,
//! `seq_types`, `timer_queue`, `relation`); `message_queue`; [`process`] with what it holds; [`hooks`] and
//! `tracing_on`; [`sched`], whose loop alone reaches further up; [`signal`]; [`trace`], [`sysprof`],
//! [`seq`], [`timer`]; what a process does: [`send`], [`receive`], [`handle`], [`exit`], [`spawn`].
#![forbid(unsafe_code)]

pub mod bif;
pub mod clock;
pub mod dictionary;
pub mod exit;
mod farewell;
mod few;
pub mod handle;
pub mod hooks;
pub mod limits;
pub mod logger;
mod message_queue;
pub mod node;
mod pending;
pub mod process;
pub mod receive;
pub mod registry;
pub mod relation;
mod relation_tree;
pub mod remote;
mod remote_types;
pub mod saved_calls;
pub mod sched;
pub mod send;
pub mod seq;
mod seq_types;
pub mod signal;
mod signal_types;
pub mod spawn;
pub mod sysmon;
pub mod sysprof;
pub mod tasks;
pub mod timer;
mod timer_queue;
pub mod trace;
mod tracing_on;

pub use bif::{Bif, BifEntry, BifResult, Class, Raised};
pub use hooks::{set_hooks, Hooks, Outcome};
pub(crate) use process::Me;
pub use process::{Priority, Proc, Stage, Task, Ticket};
pub use receive::{Peek, Wait};
pub use remote::{RemotePid, ABROAD};
pub use signal::{deliver, RefId, Signal};
