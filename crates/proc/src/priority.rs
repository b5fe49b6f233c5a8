//! Priority messages (since OTP 28): what of a process gives them, and the signals to an alias that
//! may become one. A priority message is received before all ordinary ones: see
//! [`crate::message_queue`].

use kvik_heap::OwnedTerm;
use kvik_term::{Atom, Ref, Term, View};

use crate::links_monitors::{Link, LinkState};
use crate::priority_items::{LinkPeer, PriorityItems};
use crate::process::flag;
use crate::signal::control;
use crate::signal_types::{Control, RefId};
use crate::{tracing_on, Proc, RemotePid};

/// A process and its alias.
fn alias(t: Term<'_>) -> Option<(u32, RefId)> {
    match t.view() {
        View::Ref(Ref::Local(r)) => Some((r.alias_pid()?, RefId::of(r))),
        _ => None,
    }
}

impl Proc {
    fn make_priority_items<A>(&self, f: impl FnOnce(&mut PriorityItems) -> A) -> A {
        self.with_rare(|x| f(x.priority.get_or_insert_default()))
    }
    /// The same if there ever were any.
    fn priority_items<A>(&self, f: impl FnOnce(&mut PriorityItems) -> A) -> Option<A> {
        let mut extra = self.extra.borrow_mut();
        Some(f(extra.get_mut()?.rare.as_mut()?.priority.as_mut()?))
    }
    pub fn prioritize_alias(&self, id: RefId) {
        self.make_priority_items(|i| i.aliases.insert(id));
    }
    pub fn prioritize_monitor(&self, id: RefId) {
        self.make_priority_items(|i| i.monitors.insert(id));
    }
    /// Whether an exit signal over the link to that process or port becomes a priority message.
    pub fn prioritize_link(&self, peer: Term<'_>, on: bool) {
        match on {
            true => _ = self.make_priority_items(|i| i.links.insert(LinkPeer::of(peer))),
            false => _ = self.end_priority_link(peer),
        }
    }
    /// Whether anything may give it priority messages.
    pub fn accepts_priority_messages(&self) -> bool {
        let any = |i: &mut PriorityItems| {
            !(i.aliases.is_empty() && i.monitors.is_empty() && i.links.is_empty())
        };
        self.priority_items(any) == Some(true)
    }
    pub(crate) fn is_priority_alias(&self, id: RefId) -> bool {
        self.priority_items(|i| i.aliases.contains(&id)) == Some(true)
    }
    /// An alias has ended. True: it was one for priority messages.
    pub fn end_priority_alias(&self, id: RefId) -> bool {
        self.priority_items(|i| i.aliases.remove(&id)) == Some(true)
    }
    /// A monitor has ended. True: its message is a priority message.
    pub fn end_priority_monitor(&self, id: RefId) -> bool {
        self.priority_items(|i| i.monitors.remove(&id)) == Some(true)
    }
    /// A link has ended. True: its exit signal is a priority message.
    pub fn end_priority_link(&self, peer: Term<'_>) -> bool {
        self.priority_items(|i| i.links.remove(&LinkPeer::of(peer))) == Some(true)
    }

    /// Links to a process or port that is gone: its exit signal comes at once, as a priority
    /// message.
    pub fn link_to_ended(&self, peer: Term<'_>, why: Atom) {
        match (peer.immediate(), RemotePid::of(peer)) {
            (Some(to), _) => {
                let link = Link { peer: to, state: LinkState::Linked };
                self.with_cold(|x| x.links.insert(Link::key(to), link));
            }
            (None, Some(to)) => self.linked_remote(to),
            (None, None) => return,
        }
        self.prioritize_link(peer, true);
        let (from, reason) = (OwnedTerm::new(peer), OwnedTerm::immediate(why.into()));
        control(self.pid(), Control::Exit { from, linked: true, reason, token: None });
    }

    /// Sends a message that is a priority message if the receiver is an alias for them. False: it
    /// is not one of this node's aliases, and gets an ordinary message.
    #[cold]
    pub(crate) fn send_priority(&self, to: Term<'_>, m: Term<'_>) -> bool {
        let Some((pid, id)) = alias(to) else { return false };
        let token = match tracing_on::on() {
            true => self.note_send(to, m),
            false => None,
        };
        if pid == self.pid() {
            self.note_sent_to_self();
        }
        let message = OwnedTerm::message(m);
        self.pay_for(message.words());
        let from = self.self_pid();
        control(pid, Control::PriorityMessage { alias: id, from, message, token });
        true
    }
    /// Sends an exit signal to an alias, which becomes a priority message if both sides want that.
    pub fn send_exit_to_alias(&self, to: Term<'_>, reason: Term<'_>, priority: bool) {
        let Some((pid, alias)) = alias(to) else { return };
        if pid == self.pid() {
            self.note_sent_to_self();
        }
        let (from, reason) = (OwnedTerm::immediate(self.self_pid()), OwnedTerm::new(reason));
        control(pid, Control::ExitAlias { alias, priority, from, reason });
    }

    /// Handles a message to an alias that was sent with priority.
    pub(crate) fn priority_message(
        &self,
        id: RefId,
        from: Term<'static>,
        m: OwnedTerm,
        token: Option<OwnedTerm>,
    ) {
        // The message may end the alias.
        let priority = self.is_priority_alias(id);
        if !self.uses_alias(id) {
            return;
        }
        self.end_replied_monitor();
        match (priority, token) {
            (true, token) => self.put_priority(from, m, token),
            (false, Some(token)) => self.put_tokened_from(from, m, token),
            (false, None) => self.put_from(from, m),
        }
    }
    /// Whether an exit signal to this alias has an effect, and whether it is a priority message.
    pub(crate) fn exit_of_alias(&self, id: RefId, priority: bool) -> Option<bool> {
        self.cold(|x| x.aliases.get(&id).is_some())?.then_some(())?;
        Some(priority && self.is_priority_alias(id))
    }
    /// Puts a message after the priority messages that there are.
    pub(crate) fn put_priority(&self, from: Term<'static>, m: OwnedTerm, token: Option<OwnedTerm>) {
        if self.is_traced(crate::trace::bit::RECEIVE) {
            self.trace_receive(from, m.term());
        }
        if token.as_ref().is_some_and(|t| !t.term().is_nil()) {
            self.carry();
        }
        let token = token.or_else(|| self.flag(flag::SEQ).then(OwnedTerm::default));
        self.messages().push_priority(m, token.filter(|_| self.flag(flag::SEQ)));
    }
}
