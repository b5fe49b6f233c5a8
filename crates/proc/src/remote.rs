//! A process's relations to processes of other nodes: its side of links, and the signals it sends
//! them (their types are in `remote_types.rs`). A crate above delivers the signals
//! ([`crate::hooks::NodeHooks`]).

use kvik_heap::OwnedTerm;
use kvik_term::Term;

use crate::hooks::hooks;
use crate::links_monitors::{unlink_id, LinkState};
use crate::process::ColdFields;
pub use crate::remote_types::{RemotePid, RemoteSignal, SignalDelivery, ABROAD};
use crate::Proc;

/// Sends a signal for a caller that cannot be suspended. False: there is no connection, and none
/// can be made.
#[cold]
#[inline(never)]
pub fn tell(from: u32, what: RemoteSignal<'_>) -> bool {
    (hooks().node.tell)(from, what, false) != SignalDelivery::Unreachable
}

impl Proc {
    /// The same for a process that is running.
    #[cold]
    #[inline(never)]
    pub fn tell_abroad(&self, what: RemoteSignal<'_>) -> bool {
        let told = (hooks().node.tell)(self.pid(), what, true);
        if told == SignalDelivery::Wait {
            self.wait_for_connection();
        }
        told != SignalDelivery::Unreachable
    }
    /// Suspends the process until it is resumed.
    pub fn wait_for_connection(&self) {
        self.suspend_for(self.pid());
        self.give_up_turn();
    }
    fn remote_link(&self, r: RemotePid) -> Option<LinkState> {
        self.rare(|x| x.remote_links.get(&r).copied()).flatten()
    }
    fn set_remote_link(&self, r: RemotePid, s: Option<LinkState>) -> Option<LinkState> {
        self.with_rare(|x| match s {
            Some(s) => x.remote_links.insert(r, s),
            None => x.remote_links.remove(&r),
        })
    }
    /// Links to a process of another node. False: that node cannot be reached.
    pub fn link_remote(&self, to: RemotePid) -> bool {
        if self.remote_link(to) == Some(LinkState::Linked) {
            return true;
        }
        self.set_remote_link(to, Some(LinkState::Linked));
        let sent = self.tell_abroad(RemoteSignal::Link(to));
        if !sent {
            self.set_remote_link(to, None);
        }
        sent
    }
    /// The same if the other end is set up elsewhere.
    pub fn linked_remote(&self, to: RemotePid) {
        self.set_remote_link(to, Some(LinkState::Linked));
    }
    pub fn unlink_remote(&self, from: RemotePid) {
        if self.remote_link(from) != Some(LinkState::Linked) {
            return;
        }
        let id = unlink_id();
        self.set_remote_link(from, Some(LinkState::Unlinking(id)));
        self.end_priority_link(from.owned().term());
        if !self.tell_abroad(RemoteSignal::Unlink(from, id)) {
            self.set_remote_link(from, None);
        }
    }
    /// The other side has linked itself.
    pub fn remote_has_linked(&self, from: RemotePid) {
        if self.remote_link(from).is_none() {
            self.set_remote_link(from, Some(LinkState::Linked));
        }
    }
    /// The other side has unlinked itself.
    pub fn remote_has_unlinked(&self, from: RemotePid) {
        if self.remote_link(from) == Some(LinkState::Linked) {
            self.set_remote_link(from, None);
            self.end_priority_link(from.owned().term());
        }
    }
    /// The other side has acknowledged this process's unlink. True if the link is gone.
    pub fn remote_unlink_answered(&self, from: RemotePid, id: u64) -> bool {
        let ours = self.remote_link(from) == Some(LinkState::Unlinking(id));
        if ours {
            self.set_remote_link(from, None);
        }
        ours
    }
    /// An exit signal came over a link, which ends it. False: there was no such link.
    #[cold]
    pub(crate) fn take_remote_link(&self, from: Term<'_>) -> bool {
        let Some(r) = RemotePid::of(from) else { return false };
        if self.remote_link(r) != Some(LinkState::Linked) {
            return false;
        }
        self.set_remote_link(r, None);
        true
    }
    /// Forgets an unlink that will never be acknowledged.
    pub fn forget_unlinking(&self, r: RemotePid) {
        if matches!(self.remote_link(r), Some(LinkState::Unlinking(_))) {
            self.set_remote_link(r, None);
        }
    }
    /// Whether it is linked to that process, or its unlink is not acknowledged yet.
    pub fn has_remote_link(&self, r: RemotePid) -> bool {
        self.remote_link(r).is_some()
    }
    /// The processes of other nodes it is linked to.
    pub fn remote_links(&self) -> Vec<RemotePid> {
        let linked = |(r, s): (&RemotePid, &LinkState)| (*s == LinkState::Linked).then_some(*r);
        self.rare(|x| x.remote_links.iter().filter_map(linked).collect()).unwrap_or_default()
    }
}

/// Notifies one of the related processes of other nodes that a process has ended. False: none is
/// left.
#[cold]
#[inline(never)]
pub(crate) fn tell_one(
    pid: u32,
    x: &mut ColdFields,
    reason: &OwnedTerm,
    token: impl FnOnce(RemotePid) -> Option<Box<OwnedTerm>>,
) -> bool {
    let Some(rare) = x.rare.as_mut() else { return false };
    if let Some((r, s)) = rare.remote_links.pop_first() {
        match s {
            LinkState::Linked => {
                let token = token(r);
                tell(pid, RemoteSignal::Ended(r, reason, token.as_deref()))
            }
            LinkState::Unlinking(_) => tell(pid, RemoteSignal::Forget(r)),
        };
        return true;
    }
    match rare.spawning.pop_first() {
        Some(id) => tell(pid, RemoteSignal::SpawnerEnded(id, reason)),
        None => return false,
    };
    true
}
