//! Processes of other nodes, what they are told by those of this one, and what became of that or of a
//! message. How that is done is in `remote.rs` and `send.rs`.

use kvik_heap::{Heap, OwnedTerm};
use kvik_term::{Atom, ExtKind, PidTerm, Term, View};

use crate::signal_types::RefId;

/// A process of another node, or of this one before it got its present name.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RemotePid {
    /// Of its node's name.
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

/// A process that watches and is not one of this node: no process has this number.
pub const ABROAD: u32 = u32::MAX - 1;

/// What a process of this node tells another node, or has it tell one of its processes.
pub enum RemoteSignal<'a> {
    Link(RemotePid),
    Unlink(RemotePid, u64),
    UnlinkAck(RemotePid, u64),
    /// A link is gone though nobody has to be told.
    Forget(RemotePid),
    /// Of the end of a linked process, with a token of sequential tracing.
    Ended(RemotePid, &'a OwnedTerm, Option<&'a OwnedTerm>),
    /// `exit/2`
    Exit(Term<'a>, Term<'a>),
    /// A pid or `{Name, Node}`.
    Monitor(RefId, Term<'a>),
    Demonitor(RefId, Term<'a>),
    /// To the process that watches by this reference ([`ABROAD`]).
    Down(RefId, &'a OwnedTerm),
    /// A group leader, and whose it is to be.
    GroupLeader(Term<'a>, Term<'a>),
    /// Who asked for a process there has ended before the answer came.
    SpawnerEnded(RefId, &'a OwnedTerm),
}

/// What became of it.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum SignalDelivery {
    /// There is no connection, and none can be made.
    Unreachable,
    Done,
    /// On its way, but much waits there: the process is to suspend itself until it is resumed.
    Wait,
}

/// Where a message went.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Sent {
    Ok,
    /// Not sent: there is no connection to the node, and none is to be made.
    NoConnection,
    /// Not sent: it would have to wait for a busy port or connection.
    Busy,
    /// Not something a message can be sent to, or a name nobody has.
    BadArg,
}

/// What a sender is ready for.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct SendOptions {
    /// A busy port or connection may suspend it.
    pub may_wait: bool,
    /// A connection may be asked for, where none is being made.
    pub may_connect: bool,
}
impl SendOptions {
    /// That of `!`.
    pub const ANY: SendOptions = SendOptions { may_wait: true, may_connect: true };
}
