//! [`ExitProgress`]: the state of telling links and monitors of an ended process, some at a time;
//! `exit.rs` drives it.

use kvik_heap::OwnedTerm;
use kvik_sync::Chain;

use crate::message_queue::Mailbox;
use crate::process::{ColdState, LeavingLiterals};
use crate::seq_trace_types::Parting;
use crate::signal_types::Signal;

/// What the end of a process still has to do, where that is too much for one time slice.
pub(crate) struct ExitProgress {
    pub pid: u32,
    pub reason: OwnedTerm,
    /// To be told.
    pub to: ColdState,
    /// To be answered, after that: who watched it before hears so before who wanted to watch it.
    pub signals: Chain<Signal>,
    /// To be freed, where there are many.
    pub messages: Option<Mailbox>,
    pub seq: Option<Parting>,
    pub literals: Option<LeavingLiterals>,
    /// Turns in which it has answered one signal.
    pub turns: u32,
}
