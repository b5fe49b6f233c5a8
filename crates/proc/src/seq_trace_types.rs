//! What a process keeps of sequential tracing. What is done with it is in `seq_trace.rs`.

use kvik_heap::OwnedTerm;
use kvik_term::Term;

/// The serials of the last message sent and of the last one received.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub struct SeqTraceCounters {
    pub clock: u64,
    pub last: u64,
}

/// What a process that ends leaves for its last signals.
pub(crate) struct Parting {
    pub token: OwnedTerm,
    pub sender: Term<'static>,
    pub counters: SeqTraceCounters,
}
