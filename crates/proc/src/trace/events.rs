//! Events that processes report to their tracers.

use kvik_heap::{Heap, OwnedTerm};
use kvik_term::{am, Atom, Ref, Term};

use super::{
    begin, bit, is_alive, judge, on, refs, set, tell_one, Event, TraceRef, Tracee, Verdict,
};
use crate::process::flag;
use crate::signal::{control, deliver, Control, RefId, Signal};
use crate::{node, registry, Proc, RemotePid};

/// The process or port of this node that a message goes to, or the alias of one.
fn receiver(to: Term<'_>) -> Option<(Term<'_>, Option<(u32, RefId)>)> {
    let name = match to.as_tuple_n::<2>() {
        Some([name, at]) if at.as_atom() == Some(node::name()) => name.as_atom(),
        _ => to.as_atom(),
    };
    if let Some(name) = name {
        return Some((registry::whereis(name)?, None));
    }
    let alias = match to.as_ref() {
        Some(Ref::Local(r)) => r.alias_pid().map(|pid| (pid, RefId::of(r))),
        _ => None,
    };
    Some((to, alias))
}

/// The call a new process begins with, and whether it is linked from the start.
struct Call {
    m: Atom,
    f: Atom,
    args: OwnedTerm,
    link: bool,
}

impl Proc {
    pub fn trace_flags(&self) -> u32 {
        self.me().map_or(0, |m| m.trace())
    }
    /// Whether it is traced for one of these flags.
    #[inline]
    pub fn is_traced(&self, flags: u32) -> bool {
        on() && self.trace_flags() & flags != 0 && !self.flag(flag::SENSITIVE)
    }
    pub fn tracee(&self) -> Tracee {
        Tracee::Process(self.pid())
    }
    /// Reports an event to the tracers that ask for it with one of these flags.
    pub fn trace(&self, flags: u32, tag: &str, event: impl for<'h> Fn(&'h Heap) -> Event<'h>) {
        if self.trace_flags() & flags != 0 {
            super::tell(self.tracee(), flags, tag, event)
        }
    }
    /// The slow path of a send while anything is traced. True: it is done.
    #[cold]
    pub(crate) fn trace_send(&self, to: Term<'_>, m: Term<'_>) -> bool {
        self.save_call(crate::saved_calls::Saved::Send);
        if self.is_traced(bit::SEND) {
            self.tell_send(to, m);
        }
        // Match patterns for received messages look at the sender too.
        let seq = crate::seq_trace::on();
        let Some((to, alias)) = receiver(to) else { return false };
        if let (Some(_), true) = (to.as_local_port(), seq) {
            self.seq_send(to, m);
        }
        let Some(pid) = to.as_local_pid().or(alias.map(|a| a.0)) else { return false };
        if pid == self.pid() {
            self.note_sent_to_self();
        }
        let alias = alias.map(|a| a.1);
        let traced = {
            let guard = kvik_sync::pin();
            let Some(task) = crate::process::table().get(pid, &guard) else { return false };
            task.trace() & bit::RECEIVE != 0
        };
        if !seq && !traced {
            return self.send_profiled(pid, alias, m);
        }
        let token = if seq { self.seq_send(to, m) } else { OwnedTerm::default() };
        let (from, message) = (self.pid(), OwnedTerm::message(m));
        control(pid, Control::MessageFrom { from, alias, message, token });
        true
    }
    /// Reports a send while anything is traced. Returns the token that the message takes along, if
    /// there are tokens.
    #[cold]
    pub(crate) fn note_send(&self, to: Term<'_>, m: Term<'_>) -> Option<OwnedTerm> {
        self.save_call(crate::saved_calls::Saved::Send);
        if self.is_traced(bit::SEND) {
            self.tell_send(to, m);
        }
        crate::seq_trace::on().then(|| self.seq_send(receiver(to).map_or(to, |r| r.0), m))
    }
    /// Sends a message whose receiver's wake-up may have to be profiled.
    fn send_profiled(&self, pid: u32, alias: Option<RefId>, m: Term<'_>) -> bool {
        if !crate::sysprof::on() {
            return false;
        }
        if alias.is_none() {
            self.last_to.set(pid);
        }
        self.pay_for(crate::signal::send_profiled(self.pid(), pid, alias, m));
        true
    }
    fn tell_send<'h>(&'h self, to: Term<'h>, m: Term<'h>) {
        let there = to.as_local_pid().is_none_or(is_alive);
        let tag = if there { "send" } else { "send_to_non_existing_process" };
        let copies = (OwnedTerm::new(to), OwnedTerm::new(m));
        for r in refs(self.tracee(), bit::SEND) {
            let more = match judge(self, &r.session, true, &[to, m]) {
                Verdict::Ignore => continue,
                Verdict::Tell => None,
                Verdict::With(t) => Some(t),
            };
            tell_one(self.tracee(), &r, tag, |h| {
                let sent = Event::of(h.copy(copies.1.term())).and(h.copy(copies.0.term()));
                sent.with_result(more.as_ref().map(|t| h.copy(t.term())))
            });
        }
    }
    /// Reports a message that arrives, or a `receive` that has timed out. Match patterns see the
    /// sender: a process and its node, or, without a process, the node or the part of this one (a
    /// port, `system`, `clock_service`).
    #[cold]
    pub fn trace_receive(&self, from: Term<'static>, m: Term<'_>) {
        // A copy, untouched while the match builds terms.
        let m = OwnedTerm::new(m);
        let args = match from.as_local_pid() {
            Some(_) => [node::name().into(), from, m.term()],
            None => [from, am::undefined.into(), m.term()],
        };
        for r in refs(self.tracee(), bit::RECEIVE) {
            let more = match judge(self, &r.session, false, &args) {
                Verdict::Ignore => continue,
                Verdict::Tell => None,
                Verdict::With(t) => Some(t),
            };
            tell_one(self.tracee(), &r, "receive", |h| {
                let more = more.as_ref().map(|t| h.copy(t.term()));
                Event::of(h.copy(m.term())).with_result(more)
            });
        }
    }
    /// Reports an event in a process's life, with one term.
    #[inline]
    pub fn trace_procs(&self, tag: &str, what: Term<'_>) {
        if self.is_traced(bit::PROCS) {
            self.tell_one(bit::PROCS, tag, what);
        }
    }
    #[cold]
    fn tell_one(&self, flags: u32, tag: &str, what: Term<'_>) {
        let what = OwnedTerm::new(what);
        self.trace(flags, tag, |h| Event::of(h.copy(what.term())));
    }
    /// Reports that a time slice begins or ends, at a function.
    #[cold]
    pub(crate) fn trace_turn(&self, tag: &str) {
        if let Some(turn) = super::TURN.get().filter(|_| self.is_traced(bit::CALL)) {
            turn(self, tag == "in");
        }
        let flags = bit::RUNNING | bit::RUNNING_PROCS;
        if self.is_traced(flags) {
            self.trace(flags, tag, |h| Event::of(self.place(h)));
        }
    }
    /// The function that a process is in, while it is not running.
    pub(crate) fn place<'h>(&self, h: &'h Heap) -> Term<'h> {
        let stack = (crate::hooks::hooks().stacktrace)(self, h, false, 2);
        // A process without a stack has not begun, or hibernates.
        let (m, f, a) = match self.is_hibernating() {
            true => (am::erlang, am::hibernate, 3),
            false => self.initial_call(),
        };
        let mut lines = stack.list().filter_map(|line| line.as_tuple_n::<4>());
        // In OTP `yield/0` is never reported: its caller is.
        let yields = |l: &[Term<'_>; 4]| l[0].is_atom(am::erlang) && l[1].is_atom(am::yield_);
        let first = lines.next();
        match first.filter(|l| !yields(l)).or_else(|| lines.next()) {
            Some([m, f, a, _]) => h.tuple(&[m, f, a]),
            None => h.tuple(&[m.into(), f.into(), Term::int(a as i32)]),
        }
    }
    /// This process has just spawned another: reports it, and passes on inherited settings.
    #[cold]
    pub(crate) fn trace_spawn(&self, child: &Proc, m: Atom, f: Atom, args: Term<'_>, link: bool) {
        begin(child.tracee());
        let mut asked = bit::SET_ON_SPAWN | bit::SET_ON_FIRST_SPAWN;
        if link {
            asked |= bit::SET_ON_LINK | bit::SET_ON_FIRST_LINK;
        }
        if self.trace_flags() & asked != 0 {
            // The oldest first, so that the child's have the same order.
            for r in refs(self.tracee(), asked).into_iter().rev() {
                self.hand_on(r, child, link);
            }
        }
        let call = Call { m, f, args: OwnedTerm::new(args), link };
        self.tell_of_spawn(["spawn", "link"], child.self_pid(), &call);
        child.tell_of_spawn(["spawned", "getting_linked"], self.self_pid(), &call);
    }
    /// The same for a process that another node's process spawned.
    #[cold]
    pub(crate) fn trace_spawned_abroad(
        &self,
        by: RemotePid,
        (m, f): (Atom, Atom),
        args: Term<'_>,
        link: bool,
    ) {
        begin(self.tracee());
        let call = Call { m, f, args: OwnedTerm::new(args), link };
        self.tell_of_spawn(["spawned", "getting_linked"], by.owned().term(), &call);
    }
    fn tell_of_spawn(&self, [spawned, linked]: [&str; 2], other: Term<'_>, call: &Call) {
        if !self.is_traced(bit::PROCS) {
            return;
        }
        self.trace(bit::PROCS, spawned, |h| {
            let first = h.tuple(&[call.m.into(), call.f.into(), h.copy(call.args.term())]);
            Event::of(h.copy(other)).and(first)
        });
        if call.link {
            self.trace(bit::PROCS, linked, |h| Event::of(h.copy(other)));
        }
    }
    /// Traces a new process as this one is in a session: each time, or the first.
    fn hand_on(&self, by: TraceRef, to: &Proc, link: bool) {
        let (s, tracer) = (&by.session, Some(by.tracer));
        let mut flags = by.flags;
        if !kvik_release::current().has_trace_sessions() {
            flags |= to.trace_flags();
        }
        let mut once = 0;
        for (first, each, counts) in [
            (bit::SET_ON_FIRST_SPAWN, bit::SET_ON_SPAWN, true),
            (bit::SET_ON_FIRST_LINK, bit::SET_ON_LINK, link),
        ] {
            if counts && by.flags & first != 0 {
                once |= first | each;
            }
        }
        if once != 0 {
            set(self.tracee(), s, by.flags & !once, tracer.clone());
        }
        set(to.tracee(), s, flags & !once, tracer);
    }
    /// This process links itself to another, which may then be traced as this one is. In releases
    /// without sessions that has no effect.
    #[cold]
    pub(crate) fn hand_settings_on(&self, to: u32) {
        if !kvik_release::current().has_trace_sessions() {
            return;
        }
        let both = bit::SET_ON_LINK | bit::SET_ON_FIRST_LINK;
        let handed_on = |r: TraceRef| {
            let cleared = if r.flags & bit::SET_ON_FIRST_LINK != 0 { both } else { 0 };
            if cleared != 0 {
                set(self.tracee(), &r.session, r.flags & !cleared, Some(r.tracer.clone()));
            }
            (r, cleared)
        };
        let all: Vec<_> = refs(self.tracee(), both).into_iter().map(handed_on).collect();
        if !all.is_empty() {
            let run = |of: Option<&Proc>| of.map_or((), |p| p.inherit(all));
            deliver(to, Signal::Run(Box::new(run)));
        }
    }
    /// The settings, with flags that are cleared, come from a process that links itself to this one.
    fn inherit(&self, from: Vec<(TraceRef, u32)>) {
        for (r, cleared) in from.into_iter().rev() {
            let (old, _) = super::of(self.tracee(), &r.session).unwrap_or_default();
            set(self.tracee(), &r.session, (old | r.flags) & !cleared, Some(r.tracer));
        }
    }
    /// Reports that the process ends.
    #[cold]
    pub(crate) fn trace_exit(&self, reason: &OwnedTerm) {
        self.trace_procs("exit", reason.term());
        if self.is_traced(bit::PROCS) {
            if let Some(name) = self.name() {
                self.trace_procs("unregister", name.into());
            }
        }
    }
    /// Reports that a time slice of an ending process begins or ends.
    #[cold]
    pub(crate) fn trace_exiting(&self, tag: &str) {
        if self.is_traced(bit::EXITING) {
            self.tell_one(bit::EXITING, tag, Term::int(0));
        }
    }
    /// Reports that the process has ended.
    #[cold]
    pub(crate) fn trace_exited(&self) {
        self.trace_exiting("out_exited");
        super::forget(self.tracee());
        self.forget_queue();
        self.profile(false);
        crate::sysprof::ended(Tracee::Process(self.pid()));
    }
}
