//! Links and monitors as a process records them.

use kvik_heap::OwnedTerm;
use kvik_term::{Atom, Term};

use crate::signal_types::RefId;

/// One side of a link.
#[derive(Copy, Clone)]
pub struct Link {
    /// The process or port at the other end.
    pub peer: Term<'static>,
    pub state: LinkState,
}
impl Link {
    /// The key of a link to that peer: processes before ports, as in OTP, and each by their
    /// numbers.
    pub fn key(peer: Term<'_>) -> u64 {
        // Moves the tag into the high bits.
        peer.word().rotate_right(4)
    }
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum LinkState {
    Linked,
    /// Unlinked from this side; exit signals from the peer are ignored until it has acknowledged.
    Unlinking(u64),
}

/// Identifies an unlink; never 0.
pub(crate) fn unlink_id() -> u64 {
    let id = RefId::next();
    (u64::from(id.0[1]) | u64::from(id.0[2]) << 32).max(1)
}

/// The target of a monitor.
pub enum Target {
    Process(u32),
    /// A process or port by name, with the node's name: shown in the 'DOWN' message.
    Named {
        /// `[]` if the name is not registered.
        pid: Term<'static>,
        /// Whether a port was meant.
        port: bool,
        name: Atom,
        node: Atom,
    },
    Port(u32),
    TimeOffset,
    /// A process of another node, or a name there.
    Remote(OwnedTerm),
}

/// The monitoring side of a monitor.
pub struct Monitoring {
    pub target: Target,
    /// First element of the message in place of `'DOWN'`.
    pub tag: Option<OwnedTerm>,
    /// When the alias ends.
    pub alias: Option<AliasKind>,
}

/// The options of a monitor.
#[derive(Default)]
pub struct MonitorOptions {
    pub tag: Option<OwnedTerm>,
    pub alias: Option<AliasKind>,
    /// Its message is a priority message.
    pub priority: bool,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum AliasKind {
    ExplicitUnalias,
    Demonitor,
    ReplyDemonitor,
}

/// The monitored side of a monitor.
#[derive(Copy, Clone)]
pub struct MonitoredBy {
    pub pid: u32,
    pub name: Option<Atom>,
}
