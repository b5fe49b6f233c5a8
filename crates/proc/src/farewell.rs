//! [`Farewell`]: what is left of a process that has ended. What is done with it is in `exit.rs`.

use kvik_heap::OwnedTerm;
use kvik_sync::Chain;

use crate::message_queue::Mailbox;
use crate::process::{Extra, LeavingLiterals};
use crate::seq_types::Parting;
use crate::signal_types::Signal;

/// What the end of a process still has to do, where that is too much for one turn.
pub(crate) struct Farewell {
    pub pid: u32,
    pub reason: OwnedTerm,
    /// To be told.
    pub to: Extra,
    /// To be answered, after that: who watched it before hears so before who wanted to watch it.
    pub signals: Chain<Signal>,
    /// To be freed, where there are many.
    pub messages: Option<Mailbox>,
    pub seq: Option<Parting>,
    pub literals: Option<LeavingLiterals>,
    /// Turns in which it has answered one signal.
    pub turns: u32,
}
