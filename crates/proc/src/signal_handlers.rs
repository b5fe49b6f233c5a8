//! How a process handles its signals, in order of arrival.

use kvik_heap::{Heap, OwnedTerm};
use kvik_sync::pin;
use kvik_term::{am, Term, View};

use crate::links_monitors::{
    unlink_id, AliasKind, Link, LinkState, MonitoredBy, Monitoring, Target,
};
use crate::process::{flag, table, ColdFields};
use crate::remote::{tell, RemoteSignal};
use crate::signal::{control, message, monitor_signal, send_to_peer, try_control, undeliverable};
use crate::signal_types::{ByAge, Control, MonitorSignal, RefId, Signal};
use crate::trace::bit;
use crate::{sched, Proc};

impl Proc {
    #[inline]
    pub(crate) fn handle(&self, s: Signal) {
        if self.flag(flag::EXITING) {
            return undeliverable(self.pid(), s);
        }
        match s {
            Signal::Message(m) => self.put(m),
            Signal::Time => self.time_signal(),
            Signal::Control(c) => self.control(*c),
            Signal::Run(f) => f(Some(self)),
        }
    }
    /// Appends a message to the mailbox.
    #[inline]
    pub fn put(&self, m: OwnedTerm) {
        self.put_from(am::system.into(), m)
    }
    /// The same with a known sender, in the terms of `trace_receive`.
    #[inline]
    pub fn put_from(&self, from: Term<'static>, m: OwnedTerm) {
        if self.is_traced(bit::RECEIVE) {
            self.trace_receive(from, m.term());
        }
        self.messages().push(m)
    }
    fn put_timed(&self, m: OwnedTerm, sent: u64) {
        if self.flag(flag::SEQ) || self.is_traced(bit::RECEIVE) {
            return self.put(m);
        }
        self.messages().push_stamped(m, sent)
    }
    /// Accepts a timed message from a sender that may touch the process.
    pub(crate) fn accept_timed(&self, from: u32, m: &mut Option<OwnedTerm>, sent: u64) {
        if self.flag(flag::EXITING | flag::ENDING | flag::PENDING) {
            return;
        }
        if let Some(m) = m.take() {
            self.put_timed(m, sent);
            self.messages().note_accepted();
            self.last_from.set(from);
        }
    }
    /// Handles a signal while the process is queued, if no signal comes before it and it is quiet.
    /// The process has its time slice all the same.
    pub(crate) fn control_early(&self, c: &mut Option<Control>) {
        if self.handles_early() && c.as_ref().is_some_and(|c| c.is_quiet()) {
            c.take().into_iter().for_each(|c| self.control(c))
        }
    }
    /// The same for a monitor's signal. False: it was not handled.
    #[inline]
    pub(crate) fn monitor_early(&self, m: MonitorSignal) -> bool {
        let early = self.handles_early();
        if early {
            self.monitor_signal(m);
        }
        early
    }
    #[inline]
    fn handles_early(&self) -> bool {
        !self.flag(flag::EXITING | flag::ENDING | flag::PENDING)
    }
    #[inline]
    fn monitor_signal(&self, m: MonitorSignal) {
        match m {
            MonitorSignal::Begin { from, id, name } => self.with_cold(|x| {
                x.monitored_by.insert(ByAge(id), MonitoredBy { pid: from, name });
            }),
            MonitorSignal::End { id } => {
                if let Some(x) = self.extra.borrow_mut().get_mut() {
                    x.monitored_by.remove(&ByAge(id));
                }
            }
        }
    }
    fn control(&self, c: Control) {
        match c {
            Control::AliasMessage { id, from, message } => self.alias_message(id, from, message),
            Control::MessageFrom { from, alias, message, token } => {
                if alias.is_some_and(|id| !self.uses_alias(id)) {
                    return;
                }
                self.end_replied_monitor();
                self.last_from.set(from);
                self.put_tokened_from(Term::local_pid(from), message, token)
            }
            Control::MessageOf { from, message } => self.put_from(from, message),
            Control::Stamped { message, sent } => self.put_timed(message, sent),
            Control::Link { from } => self.linked_from(from),
            Control::Unlink { from, id } => {
                self.trace_procs("getting_unlinked", from);
                self.with_links(|x| {
                    if x.links.get(&Link::key(from)).is_some_and(|l| l.state == LinkState::Linked) {
                        x.links.remove(&Link::key(from));
                    }
                });
                self.end_priority_link(from);
                let ack = Control::UnlinkAck { from: self.self_pid(), id };
                send_to_peer(from, self.pid(), ack);
            }
            Control::UnlinkAck { from, id } => self.with_links(|x| {
                let state = x.links.get(&Link::key(from)).map(|l| l.state);
                if state == Some(LinkState::Unlinking(id)) {
                    x.links.remove(&Link::key(from));
                }
            }),
            Control::Exit { from, linked, reason, token } => {
                self.exit_signal(from, linked, reason, token)
            }
            Control::PriorityMessage { alias, from, message, token } => {
                self.priority_message(alias, from, message, token)
            }
            Control::ExitAlias { alias, priority, from, reason } => {
                // Unlike `exit/2`, one from the process itself is as any other.
                let ignored = reason.term().is_atom(am::normal) && !self.flag(flag::TRAP_EXIT);
                if let Some(priority) = self.exit_of_alias(alias, priority).filter(|_| !ignored) {
                    self.take_exit(from, false, reason, None, priority)
                }
            }
            Control::Monitor { from, id, name } => {
                self.monitor_signal(MonitorSignal::Begin { from, id, name })
            }
            Control::Demonitor { id } => self.monitor_signal(MonitorSignal::End { id }),
            Control::Down { id, reason } => self.down(id, &reason),
            Control::Suspend { by } => self.suspend_for_process(by),
            Control::Resume { by } => self.resume_for(by),
        }
    }
    fn with_links(&self, f: impl FnOnce(&mut ColdFields)) {
        if let Some(x) = self.extra.borrow_mut().get_mut() {
            f(x)
        }
    }
    fn linked_from(&self, from: Term<'static>) {
        // Until the peer has acknowledged our unlink, a link signal from it is older than the
        // unlink, which ends that link.
        let unlinking = |l: &Link| l.state != LinkState::Linked;
        if self.cold(|x| x.links.get(&Link::key(from)).is_some_and(unlinking)) == Some(true) {
            return;
        }
        self.trace_procs("getting_linked", from);
        self.with_cold(|x| {
            x.links.insert(Link::key(from), Link { peer: from, state: LinkState::Linked });
        });
    }

    /// Notes that a message came for an alias. False: there is no such alias any more.
    pub fn uses_alias(&self, id: RefId) -> bool {
        let mut extra = self.extra.borrow_mut();
        let Some(x) = extra.get_mut() else { return false };
        let Some(&once) = x.aliases.get(&id) else { return false };
        if !once {
            return true;
        }
        x.end_alias(&id);
        // The reply also ends the monitor the alias came with.
        let ends = |m: &Monitoring| m.alias == Some(AliasKind::ReplyDemonitor);
        let ended = match x.monitoring.get(&id).is_some_and(ends) {
            true => x.monitoring.remove(&id),
            false => None,
        };
        let ends_monitor = ended.is_some();
        let older = ended.and_then(|m| x.ended.replace((id, m.target)));
        let prioritized = x.rare.as_ref().is_some_and(|x| x.priority.is_some());
        drop(extra);
        if prioritized {
            self.end_priority_alias(id);
            self.end_priority_monitor(id);
        }
        if ends_monitor {
            self.set_flag(flag::SIGNALLED, true);
        }
        if let Some((id, target)) = older {
            send_demonitor(self.pid(), id, &target);
        }
        true
    }
    /// Reports the end of a monitor by a reply to its target, in the time slice in which the reply
    /// becomes visible: the report makes the target runnable.
    pub(crate) fn end_replied_monitor(&self) {
        self.set_flag(flag::SIGNALLED, false);
        let ended = self.extra.borrow_mut().get_mut().and_then(|x| x.ended.take());
        if let Some((id, target)) = ended {
            send_demonitor(self.pid(), id, &target);
        }
    }
    fn alias_message(&self, id: RefId, from: Term<'static>, m: OwnedTerm) {
        if self.uses_alias(id) {
            self.end_replied_monitor();
            self.put_from(from, m);
        }
    }

    fn exit_signal(
        &self,
        from: OwnedTerm,
        linked: bool,
        reason: OwnedTerm,
        token: Option<Box<OwnedTerm>>,
    ) {
        if linked {
            let key = Link::key(from.term());
            let counts = self.extra.borrow_mut().get_mut().is_some_and(|x| {
                let linked = x.links.get(&key).is_some_and(|l| l.state == LinkState::Linked);
                if linked {
                    x.links.remove(&key);
                }
                linked
            });
            if !counts && !self.take_remote_link(from.term()) {
                return;
            }
        }
        let priority = linked && self.end_priority_link(from.term());
        self.take_exit(from, linked, reason, token, priority)
    }
    /// An exit signal that has an effect. `priority`: where it becomes a message, that is one with
    /// priority.
    fn take_exit(
        &self,
        from: OwnedTerm,
        linked: bool,
        reason: OwnedTerm,
        token: Option<Box<OwnedTerm>>,
        priority: bool,
    ) {
        let kill = !linked && reason.term().is_atom(am::kill);
        if kill {
            return self.begin_exit(OwnedTerm::immediate(Term::atom(am::killed)));
        }
        if self.flag(flag::TRAP_EXIT) {
            if priority {
                let m = message(|h| exit_message(h, &from, &reason));
                self.put_priority(origin(from.term()), m, token.map(|t| *t));
            } else if token.is_some() || self.flag(flag::SEQ) {
                let m = message(|h| exit_message(h, &from, &reason));
                let token = token.map_or_else(OwnedTerm::default, |t| *t);
                self.put_tokened_from(origin(from.term()), m, token);
            } else if let Some((from, reason)) = from.as_immediate().zip(reason.as_immediate()) {
                self.put_tuple(origin(from), [am::UP_EXIT.into(), from, reason]);
            } else {
                self.put_message(origin(from.term()), |h| exit_message(h, &from, &reason));
            }
        } else {
            let own = from.term().same(self.self_pid());
            if !reason.term().is_atom(am::normal) || (own && !linked) {
                return self.begin_exit(reason);
            }
        }
        if linked {
            self.trace_procs("getting_unlinked", from.term());
        }
    }
    /// Has the process end when its time slice is over, or before its next one.
    pub fn begin_exit(&self, reason: OwnedTerm) {
        if !self.set_flag(flag::EXITING, true) {
            self.with_cold(|x| x.exit_reason = Some(reason));
        }
    }
    pub fn is_exiting(&self) -> bool {
        self.flag(flag::EXITING)
    }

    fn down(&self, id: RefId, reason: &OwnedTerm) {
        let m = self.with_cold(|x| {
            let m = x.monitoring.remove(&id);
            if m.as_ref().is_some_and(|m| m.alias.is_some_and(|a| a != AliasKind::ExplicitUnalias))
            {
                x.end_alias(&id);
            }
            m
        });
        if let Some(m) = m {
            if self.end_priority_monitor(id) {
                let down = message(|h| down_message(h, self.pid(), id, &m, reason));
                return self.put_priority(watched(&m.target), down, None);
            }
            let remote = matches!(m.target, Target::Remote(_));
            if remote && self.flag(flag::SEQ) && kvik_release::current().remote_down_ends_token() {
                let down = message(|h| down_message(h, self.pid(), id, &m, reason));
                return self.put_tokened_from(watched(&m.target), down, OwnedTerm::default());
            }
            self.put_message(watched(&m.target), |h| down_message(h, self.pid(), id, &m, reason));
        }
    }
}

/// The sender of a signal, as `trace_receive` takes it: for other nodes, the node.
fn origin(from: Term<'_>) -> Term<'static> {
    match from.view() {
        View::Pid(kvik_term::PidTerm::Local(n)) => Term::local_pid(n),
        View::Pid(kvik_term::PidTerm::External(e)) => e.node().into(),
        View::Port(_) => from.as_local_port().map_or(am::system.into(), Term::local_port),
        _ => am::system.into(),
    }
}
fn watched(target: &Target) -> Term<'static> {
    match target {
        Target::Process(pid) => Term::local_pid(*pid),
        Target::Port(port) => Term::local_port(*port),
        Target::Named { pid, .. } if !pid.is_nil() => *pid,
        Target::Named { .. } => am::system.into(),
        Target::TimeOffset => am::clock_service.into(),
        Target::Remote(t) => match t.term().as_tuple() {
            Some(t) => {
                t.elements().last().and_then(|n| n.as_atom()).map_or(am::system.into(), Term::from)
            }
            None => origin(t.term()),
        },
    }
}

/// Ends a monitor that `from` holds.
pub(crate) fn send_demonitor(from: u32, id: RefId, target: &Target) {
    match target {
        Target::Process(pid) => monitor_signal(*pid, MonitorSignal::End { id }),
        Target::Named { pid, .. } => send_to_peer(*pid, from, Control::Demonitor { id }),
        Target::Port(port) => (crate::hooks::hooks().port.demonitor)(*port, id),
        Target::TimeOffset => {}
        Target::Remote(t) => {
            tell(from, RemoteSignal::Demonitor(id, t.term()));
        }
    }
}

/// `{'EXIT', From, Reason}`.
fn exit_message<'h>(h: &'h Heap, from: &OwnedTerm, reason: &OwnedTerm) -> Term<'h> {
    h.tuple(&[am::UP_EXIT.into(), h.copy(from.term()), h.copy(reason.term())])
}

/// `{'DOWN', Ref, process, Item, Reason}`.
fn down_message<'h>(
    h: &'h Heap,
    own: u32,
    id: RefId,
    m: &Monitoring,
    reason: &OwnedTerm,
) -> Term<'h> {
    let tag = m.tag.as_ref().map_or(am::DOWN.into(), |t| h.copy(t.term()));
    let (kind, item) = match &m.target {
        Target::Process(pid) => (am::process, Term::local_pid(*pid)),
        Target::Port(port) => (am::port, Term::local_port(*port)),
        Target::Named { port, name, node, .. } => {
            let kind = if *port { am::port } else { am::process };
            (kind, h.tuple(&[(*name).into(), (*node).into()]))
        }
        Target::TimeOffset => (am::time_offset, am::clock_service.into()),
        Target::Remote(t) if matches!(t.term().view(), View::Port(_)) => {
            (am::port, h.copy(t.term()))
        }
        Target::Remote(t) => (am::process, h.copy(t.term())),
    };
    let r = match m.alias {
        Some(_) => h.alias_ref_of_numbers(id.0, own),
        None => id.term(h),
    };
    h.tuple(&[tag, r, kind.into(), item, h.copy(reason.term())])
}

impl Proc {
    /// Links this process to another (or to a port). False: there is no such process.
    pub fn link(&self, to: Term<'static>) -> bool {
        if to.same(self.self_pid()) {
            return true;
        }
        // If the peer is gone, nothing is sent, and a monitor signal held back is not flushed.
        if to.as_local_pid().is_some_and(|pid| table().get(pid, &pin()).is_none()) {
            return false;
        }
        let new = self.with_cold(|x| {
            let old = x.links.insert(Link::key(to), Link { peer: to, state: LinkState::Linked });
            !old.is_some_and(|l| l.state == LinkState::Linked)
        });
        if !new {
            return true;
        }
        self.trace_procs("link", to);
        let sent = match (to.as_local_pid(), to.as_local_port()) {
            (Some(pid), _) => {
                if self.is_traced(bit::SET_ON_LINK | bit::SET_ON_FIRST_LINK) {
                    self.hand_settings_on(pid);
                }
                let link = Control::Link { from: self.self_pid() };
                try_control(pid, link).is_ok()
            }
            (_, Some(port)) => (crate::hooks::hooks().port.link)(port, self.pid()),
            _ => false,
        };
        if !sent {
            self.with_links(|x| {
                x.links.remove(&Link::key(to));
            });
        }
        sent
    }
    pub fn unlink(&self, from: Term<'static>) {
        let id = unlink_id();
        let was = self.extra.borrow_mut().get_mut().is_some_and(|x| {
            match x.links.get_mut(&Link::key(from)) {
                Some(l) if l.state == LinkState::Linked => {
                    l.state = LinkState::Unlinking(id);
                    true
                }
                _ => false,
            }
        });
        if was {
            self.end_priority_link(from);
            self.trace_procs("unlink", from);
            if from.as_local_port().is_some() {
                self.with_links(|x| {
                    x.links.remove(&Link::key(from));
                });
            }
            send_to_peer(from, self.pid(), Control::Unlink { from: self.self_pid(), id });
        }
    }
    /// Monitors a process or port. If it does not exist, that is reported at once.
    pub fn monitor(&self, id: RefId, m: Monitoring) {
        let (target, name) = match &m.target {
            Target::Process(pid) => (Term::local_pid(*pid), None),
            Target::Named { pid, name, .. } => (*pid, Some(*name)),
            Target::Port(port) => (Term::local_port(*port), None),
            _ => (Term::NIL, None),
        };
        if let Some(kind) = m.alias {
            self.with_cold(|x| x.aliases.insert(id, kind == AliasKind::ReplyDemonitor));
        }
        let time_offset = matches!(m.target, Target::TimeOffset);
        // A pid of an earlier incarnation of this node is certainly gone.
        let remote = match &m.target {
            Target::Remote(t) if !crate::node::is_own(t.term()) => {
                Some(self.tell_abroad(RemoteSignal::Monitor(id, t.term())))
            }
            _ => None,
        };
        self.with_cold(|x| x.monitoring.insert(id, m));
        let reason = if let Some(pid) = target.as_local_pid() {
            self.set_flag(flag::DEFERS_MONITOR, true);
            sched::defer_monitor(pid, MonitorSignal::Begin { from: self.pid(), id, name });
            return;
        } else if let Some(port) = target.as_local_port() {
            if (crate::hooks::hooks().port.monitor)(port, self.pid(), id, name) {
                return;
            }
            am::noproc
        } else if time_offset || remote == Some(true) {
            return;
        } else if remote.is_some() {
            am::noconnection
        } else {
            am::noproc
        };
        let reason = OwnedTerm::immediate(Term::atom(reason));
        control(self.pid(), Control::Down { id, reason });
    }
    /// Ends a monitor. False: there is none with that reference.
    pub fn demonitor(&self, id: RefId) -> bool {
        let m = self.extra.borrow_mut().get_mut().and_then(|x| {
            let m = x.monitoring.remove(&id)?;
            if m.alias.is_some_and(|a| a != AliasKind::ExplicitUnalias) {
                x.end_alias(&id);
            }
            Some(m)
        });
        match m {
            Some(m) => {
                self.end_priority_monitor(id);
                match &m.target {
                    Target::Remote(t) => {
                        let _ = self.tell_abroad(RemoteSignal::Demonitor(id, t.term()));
                    }
                    t => send_demonitor(self.pid(), id, t),
                }
                true
            }
            None => false,
        }
    }
    /// Exit signal from this process, `exit/2`.
    pub fn send_exit(&self, to: Term<'static>, reason: Term<'_>) {
        let c = Control::Exit {
            from: OwnedTerm::immediate(self.self_pid()),
            linked: false,
            reason: OwnedTerm::new(reason),
            token: None,
        };
        if to.same(self.self_pid()) {
            self.note_sent_to_self();
        }
        send_to_peer(to, self.pid(), c);
    }
    /// Words of the messages that count as its heap's.
    pub(crate) fn queue_words(&self) -> usize {
        match self.flag(flag::OFF_HEAP_QUEUE) {
            true => 0,
            false => self.message_words(),
        }
    }
    /// Called after a collection: if the heap has more words than `max_heap_size` allows, the
    /// process is killed and the logger told, each unless the setting says otherwise.
    pub fn check_heap(&self, stats: &kvik_heap::GcStats) -> Result<(), crate::Raised> {
        let Some(words) = stats.over else { return Ok(()) };
        let setting = crate::limits::MaxHeap::of(self);
        let binaries = match setting.shared_binaries {
            true => self.heap.sizes().off_heap + self.heap.old_off_heap().words,
            false => 0,
        };
        if words.used + self.queue_words() + binaries <= words.max {
            return Ok(());
        }
        if setting.log {
            crate::exit::report_heap(self, &setting);
        }
        if setting.kill {
            self.begin_exit(OwnedTerm::immediate(Term::atom(am::killed)));
        }
        self.check_exit()
    }
    /// Waits with the least memory; see `erlang:hibernate/0` and `hibernate/3`.
    pub fn wait_in_hibernation(&self) {
        // Does not call `wait`: messages that are there already wake it at once. It has fetched
        // them.
        self.timeout();
        self.set_flag(flag::WAITING | flag::HIBERNATING, true);
        if !self.has_other_signals() {
            self.fetch_signals();
        }
    }
    pub fn is_hibernating(&self) -> bool {
        self.flag(flag::HIBERNATING)
    }
    /// Suspends itself, until `by` resumes it.
    pub fn suspend_for(&self, by: u32) {
        self.with_rare(|x| *x.suspended_by.entry(by).or_default() += 1);
        self.set_flag(flag::SUSPENDED, true);
    }
    /// Ends one `suspend_process` of the process `by`.
    fn resume_for(&self, by: u32) {
        let (gone, none) = self.with_rare(|x| {
            let gone = x.suspended_by.get_mut(&by).is_some_and(|n| {
                *n = n.saturating_sub(1);
                *n == 0
            });
            if gone {
                x.suspended_by.remove(&by);
            }
            (gone, x.suspended_by.is_empty())
        });
        if gone {
            self.resume_timers(by);
        }
        self.set_flag(flag::SUSPENDED, !none);
    }
    /// Makes a process that is no longer suspended sit out this time slice; it has the next one.
    pub(crate) fn sit_out(&self) {
        if !self.flag(flag::SUSPENDED | flag::EXITING) {
            self.set_flag(flag::SUSPENDED, true);
        }
    }
    /// Whether it only sits out this time slice; clears that state.
    pub(crate) fn has_sat_out(&self) -> bool {
        let sits =
            self.flag(flag::SUSPENDED) && self.rare(|x| x.suspended_by.is_empty()) == Some(true);
        if sits {
            self.set_flag(flag::SUSPENDED, false);
        }
        sits
    }
}

/// Ends one `suspend_process` of the process `by`.
pub fn resume(pid: u32, by: u32) {
    control(pid, Control::Resume { by });
}
