//! Processes: state, signals, mailbox, links, monitors, timers, schedulers, and the interface that
//! BIFs are written against ([`bif`]).
//!
//! Ownership: only the holder of its run token touches a [`Proc`]; other processes, timers and
//! ports send it [`signal::Signal`]s through its inbox. See `docs/internals/processes.md`.
//!
//! Module layers, the lowest first: types without behaviour (`signal_types`, `remote_types`,
//! `seq_trace_types`, `timer_queue`, `links_monitors`); `message_queue`; [`process`] with its
//! parts; [`hooks`] and `tracing_on`; [`sched`], whose loop alone calls higher layers; [`signal`];
//! [`trace`], [`sysprof`], [`seq_trace`], [`timer`]; the operations of a process: [`send`],
//! [`receive`], [`signal_handlers`], [`exit`], [`spawn`].
#![forbid(unsafe_code)]

pub mod bif;
pub mod clock;
pub mod dictionary;
mod due_collections;
pub mod exit;
mod exit_progress;
pub mod hooks;
pub mod limits;
pub mod links_monitors;
pub mod logger;
mod message_queue;
pub mod node;
mod priority;
mod priority_items;
pub mod process;
pub mod receive;
pub mod registry;
mod relation_tree;
pub mod remote;
mod remote_types;
pub mod saved_calls;
pub mod sched;
pub mod send;
pub mod seq_trace;
mod seq_trace_types;
pub mod signal;
mod signal_budget;
pub mod signal_handlers;
mod signal_types;
mod small_map;
pub mod spawn;
pub mod sysmon;
pub mod sysprof;
pub mod system_tasks;
pub mod timer;
mod timer_pause;
mod timer_queue;
pub mod trace;
mod tracing_on;
pub mod unique;
pub mod written_aliases;

pub use bif::{Bif, BifEntry, BifResult, ErrorClass, Raised};
pub use hooks::{set_hooks, Hooks, SliceEnd};
pub(crate) use process::SelfHandle;
pub use process::{CurrentTask, Priority, Proc, RunToken, Task};
pub use receive::{Peek, Wait};
pub use remote::{RemotePid, ABROAD};
pub use signal::{deliver, RefId, Signal};
