//! A port that carries a connection to another node: what comes goes to its channel instead of to
//! its owner, and what is to be sent is fetched there.

use std::sync::Arc;

use kvik_proc::sched::meter::{during, State};
use kvik_term::Term;

use crate::driver::Ready;
use crate::port::Port;

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

impl Port {
    /// From now on it carries that. False: it is closed, carries something, or its driver knows no
    /// packets.
    pub fn carry(&self, c: Arc<dyn Channel>) -> bool {
        match self.look() {
            Some(mut g) if g.carries_packets() && g.core.channel.is_none() => {
                g.core.channel = Some(c);
                true
            }
            _ => false,
        }
    }
    /// There is something to be sent. From anywhere, in the channel's own calls too: who has the
    /// port's lock sees to it then.
    pub fn fetch(&self) {
        during(State::Port, || self.ready(Ready::Fetch, &mut []))
    }
}
