//! Processes of other nodes, the signals sent to them, and the outcome of a signal or message.
//! Sending is in `remote.rs` and `send.rs`.

use kvik_heap::{Heap, OwnedTerm};
use kvik_term::{Atom, ExtKind, PidTerm, Term, View};

use crate::signal_types::RefId;

/// A process of another node, or of this one before it got its current name.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RemotePid {
    /// The atom index of its node's name.
    atom: u32,
    creation: u32,
    /// Number and serial.
    data: u64,
}

impl RemotePid {
    pub fn of(t: Term<'_>) -> Option<RemotePid> {
        match t.view() {
            View::Pid(PidTerm::External(e)) => {
                Some(RemotePid { atom: e.node().index(), creation: e.creation(), data: e.data() })
            }
            _ => None,
        }
    }
    pub fn node(self) -> Atom {
        Atom::from_index(self.atom).unwrap_or(kvik_term::am::undefined)
    }
    pub fn term(self, h: &Heap) -> Term<'_> {
        h.external(ExtKind::Pid, self.node(), self.creation, &[self.data], 1)
    }
    pub fn owned(self) -> OwnedTerm {
        OwnedTerm::build(4, |h| self.term(h))
    }
}

/// Pseudo-pid of a monitoring process that is not of this node: no process has this number.
pub const ABROAD: u32 = u32::MAX - 1;

/// A signal from a process of this node to another node, or to one of its processes.
pub enum RemoteSignal<'a> {
    Link(RemotePid),
    Unlink(RemotePid, u64),
    UnlinkAck(RemotePid, u64),
    /// A link is gone, and its peer need not be told.
    Forget(RemotePid),
    /// The end of a linked process, with a token of sequential tracing.
    Ended(RemotePid, &'a OwnedTerm, Option<&'a OwnedTerm>),
    /// `exit/2,3`: to a process or an alias, and with priority if it is an alias for such.
    Exit(Term<'a>, Term<'a>, bool),
    /// A pid or `{Name, Node}`.
    Monitor(RefId, Term<'a>),
    Demonitor(RefId, Term<'a>),
    /// To the process that holds the monitor with this reference ([`ABROAD`]).
    Down(RefId, &'a OwnedTerm),
    /// A group leader, and the process that gets it.
    GroupLeader(Term<'a>, Term<'a>),
    /// The process that requested a spawn there has ended before the answer came.
    SpawnerEnded(RefId, &'a OwnedTerm),
}

/// The outcome of a signal.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum SignalDelivery {
    /// There is no connection, and none can be made.
    Unreachable,
    Done,
    /// Queued, but the connection is busy: the process must suspend itself until it is resumed.
    Wait,
}

/// The outcome of a message.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Sent {
    Ok,
    /// Not sent: there is no connection to the node, and none may be made.
    NoConnection,
    /// Not sent: it would have to wait for a busy port or connection.
    Busy,
    /// Not a valid receiver, or an unregistered name.
    BadArg,
}

/// What a sender permits.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct SendOptions {
    /// A busy port or connection may suspend it.
    pub may_wait: bool,
    /// A connection may be requested, if none is being made.
    pub may_connect: bool,
    /// If the receiver is an alias for priority messages, it gets one.
    pub priority: bool,
}
impl SendOptions {
    /// The options of `!`.
    pub const ANY: SendOptions = SendOptions { may_wait: true, may_connect: true, priority: false };
}
