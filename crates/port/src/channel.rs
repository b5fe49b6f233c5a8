//! A port that carries a connection to another node: what comes goes to its channel instead of to
//! its owner, and what is to be sent is fetched there.

use kvik_term::Term;

/// Called with the port's lock held: what it has to send in answer it keeps, and calls
/// [`Port::fetch`].
pub trait Channel: Send + Sync {
    /// A packet has come. False: it is no good, and the port ends.
    fn take(&self, packet: &[u8]) -> bool;
    /// The next packet to be sent: a header and what follows.
    fn next(&self) -> Option<(Vec<u8>, Vec<u8>)>;
    /// The port is closed for everybody.
    fn ended(&self, reason: Term<'_>);
}
