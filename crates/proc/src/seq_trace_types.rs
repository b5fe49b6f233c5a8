//! A process's state of sequential tracing, which `seq_trace.rs` uses.

use kvik_heap::OwnedTerm;
use kvik_term::Term;

/// The serials of the last message sent and of the last one received.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub struct SeqTraceCounters {
    pub clock: u64,
    pub last: u64,
}

/// Sequential tracing state for the last signals of a process that ends.
pub(crate) struct Parting {
    pub token: OwnedTerm,
    pub sender: Term<'static>,
    pub counters: SeqTraceCounters,
}
