//! [`ExitProgress`]: the state of notifying links and monitors of an ended process in steps;
//! `exit.rs` drives it.

use kvik_heap::OwnedTerm;
use kvik_sync::Chain;

use crate::message_queue::Mailbox;
use crate::process::{ColdState, LeavingLiterals};
use crate::seq_trace_types::Parting;
use crate::signal_types::Signal;

/// What is left of a process's exit, if it is too much for one time slice.
pub(crate) struct ExitProgress {
    pub pid: u32,
    pub reason: OwnedTerm,
    /// Links and monitors to notify.
    pub to: ColdState,
    /// Signals to answer after that: processes that monitored it are told before those whose
    /// monitor signal was not handled.
    pub signals: Chain<Signal>,
    /// Messages to free, if there are many.
    pub messages: Option<Mailbox>,
    pub seq: Option<Parting>,
    pub literals: Option<LeavingLiterals>,
    /// Time slices in which it has answered one signal.
    pub turns: u32,
}
