//! Processes: state, signals, mailbox, links, monitors, timers, schedulers, and the interface that
//! BIFs are written against ([`bif`]).
#![forbid(unsafe_code)]

pub mod bif;
pub mod process;

pub use bif::{Bif, BifEntry, BifResult, Class, Raised};
pub use process::Proc;
