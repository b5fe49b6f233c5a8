//! [`Channel`]: a port's connection to another node. Its input goes to the channel instead of the
//! owner, and its output is fetched from the channel.

use kvik_term::Term;

/// Called with the port's lock held: a channel queues what it has to send in answer, and calls
/// [`Port::fetch`].
pub trait Channel: Send + Sync {
    /// A packet has come. False: it is invalid, and the port ends.
    fn take(&self, packet: &[u8]) -> bool;
    /// The next packet to send: a header and what follows.
    fn next(&self) -> Option<(Vec<u8>, Vec<u8>)>;
    /// The port is closed.
    fn ended(&self, reason: Term<'_>);
}
