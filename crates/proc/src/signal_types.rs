//! Signal types: everything that one process (or port, or timer) can send another. Delivery is in
//! `signal.rs`.

use kvik_heap::build::{next_ref_of, RefKind};
use kvik_heap::{Heap, OwnedTerm};
use kvik_term::object::LocalRef;
use kvik_term::{Atom, Term};

use crate::Proc;

/// The numbers of a reference of this node.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct RefId(pub [u32; 3]);

/// The order of references as terms.
impl Ord for RefId {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.iter().rev().cmp(other.0.iter().rev())
    }
}
impl PartialOrd for RefId {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The same in the order in which references were made, whatever they stand for: a process tells
/// those that monitor it in that order.
#[derive(Copy, Clone, PartialEq, Eq)]
pub struct ByAge(pub RefId);

impl Ord for ByAge {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let age = |r: &ByAge| kvik_heap::build::age_of_ref(r.0 .0);
        age(self).cmp(&age(other))
    }
}
impl PartialOrd for ByAge {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl RefId {
    pub fn of(r: LocalRef<'_>) -> RefId {
        RefId(r.numbers())
    }
    #[inline]
    pub fn of_term(t: Term<'_>) -> Option<RefId> {
        t.as_local_ref().map(RefId::of)
    }
    pub fn next() -> RefId {
        RefId::next_for(false)
    }
    /// A new one for a reference that is an alias, or is none.
    pub fn next_for(alias: bool) -> RefId {
        RefId(next_ref_of(if alias { RefKind::Alias } else { RefKind::Plain }))
    }
    pub fn term(self, heap: &Heap) -> Term<'_> {
        heap.ref_of_numbers(self.0)
    }
}

/// A function that a process is asked to run.
pub type Closure = Box<dyn FnOnce(Option<&Proc>) + Send>;

pub enum Signal {
    Message(OwnedTerm),
    /// The timeout of a `receive` may have expired.
    Time,
    Control(Box<Control>),
    /// Runs in the process (with `None` if it has ended).
    Run(Closure),
}

impl Signal {
    #[inline]
    pub fn message(&self) -> Option<&OwnedTerm> {
        match self {
            Signal::Message(m) => Some(m),
            _ => None,
        }
    }
    /// Whether it is a message that goes to the mailbox unconditionally, or the end of a wait.
    pub(crate) fn is_mail(&self) -> bool {
        match self {
            Signal::Message(_) | Signal::Time => true,
            Signal::Control(c) => {
                matches!(**c, Control::Stamped { .. } | Control::MessageOf { .. })
            }
            Signal::Run(_) => false,
        }
    }
    #[inline]
    pub fn into_message(self) -> Option<OwnedTerm> {
        match self {
            Signal::Message(m) => Some(m),
            _ => None,
        }
    }
}

pub enum Control {
    AliasMessage {
        id: RefId,
        /// As in `MessageOf`.
        from: Term<'static>,
        message: OwnedTerm,
    },
    /// A message to a process traced for `receive`, or any message while there are tokens of
    /// sequential tracing.
    MessageFrom {
        from: u32,
        alias: Option<RefId>,
        message: OwnedTerm,
        token: OwnedTerm,
    },
    /// A message from no process to one traced for `receive`; `from` in the terms of
    /// `Proc::trace_receive`.
    MessageOf {
        from: Term<'static>,
        message: OwnedTerm,
    },
    /// A message whose latency in the mailbox is sampled.
    Stamped {
        message: OwnedTerm,
        /// In ticks.
        sent: u64,
    },
    /// `from`, here and below: a local pid or port.
    Link {
        from: Term<'static>,
    },
    Unlink {
        from: Term<'static>,
        id: u64,
    },
    UnlinkAck {
        from: Term<'static>,
        id: u64,
    },
    Exit {
        from: OwnedTerm,
        linked: bool,
        reason: OwnedTerm,
        /// A token of sequential tracing.
        token: Option<Box<OwnedTerm>>,
    },
    Monitor {
        from: u32,
        id: RefId,
        name: Option<Atom>,
    },
    Demonitor {
        id: RefId,
    },
    Down {
        id: RefId,
        reason: OwnedTerm,
    },
    /// A message to an alias, sent with priority; with a token of sequential tracing (an empty
    /// list: none) while there are any.
    PriorityMessage {
        alias: RefId,
        /// As in `MessageOf`.
        from: Term<'static>,
        message: OwnedTerm,
        token: Option<OwnedTerm>,
    },
    /// An exit signal to an alias.
    ExitAlias {
        alias: RefId,
        priority: bool,
        from: OwnedTerm,
        reason: OwnedTerm,
    },
    /// Another process suspends it, once more or once less.
    Suspend {
        by: u32,
    },
    Resume {
        by: u32,
    },
}

/// The signal that begins a monitor, or that ends it. On its way through an inbox it is a `Control`;
/// this is smaller, as each call of a server sends both.
#[derive(Copy, Clone)]
pub(crate) enum MonitorSignal {
    Begin { from: u32, id: RefId, name: Option<Atom> },
    End { id: RefId },
}

impl From<MonitorSignal> for Control {
    fn from(m: MonitorSignal) -> Control {
        match m {
            MonitorSignal::Begin { from, id, name } => Control::Monitor { from, id, name },
            MonitorSignal::End { id } => Control::Demonitor { id },
        }
    }
}

impl Control {
    /// Whether no other process can observe when it is handled, so that this may be before the
    /// receiver's time slice.
    pub(crate) fn is_quiet(&self) -> bool {
        !matches!(
            self,
            Control::Unlink { .. }
                | Control::AliasMessage { .. }
                | Control::PriorityMessage { .. }
                | Control::Suspend { .. }
                | Control::Resume { .. }
        )
    }
}
