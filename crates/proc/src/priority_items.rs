//! What of a process gives it priority messages; the process's methods for them are in
//! `priority.rs`.

use std::collections::BTreeSet;

use kvik_term::Term;

use crate::links_monitors::Link;
use crate::remote_types::RemotePid;
use crate::signal_types::RefId;

/// The other end of a link.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum LinkPeer {
    /// By [`Link::key`].
    Local(u64),
    Remote(RemotePid),
}

impl LinkPeer {
    pub fn of(t: Term<'_>) -> LinkPeer {
        RemotePid::of(t).map_or_else(|| LinkPeer::Local(Link::key(t)), LinkPeer::Remote)
    }
}

/// A process's aliases, monitors and links whose messages are priority messages.
#[derive(Default)]
pub struct PriorityItems {
    pub aliases: BTreeSet<RefId>,
    pub monitors: BTreeSet<RefId>,
    pub links: BTreeSet<LinkPeer>,
}
