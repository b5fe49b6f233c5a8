//! Events that processes report to their tracers.

use kvik_heap::{Heap, OwnedTerm};
use kvik_term::{am, Atom, Ref, Term};

use super::{bit, is_alive, judge, of, of_new, on, set, Tracee, Tracer, Verdict};
use crate::process::flag;
use crate::signal::{control, Control, RefId};
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
    /// Reports an event, if the process is traced.
    pub fn trace(&self, tag: &str, parts: impl for<'h> FnOnce(&'h Heap) -> Vec<Term<'h>>) {
        super::tell_as(self.tracee(), self.trace_flags(), tag, parts)
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
        let more = match judge(self, true, &[to, m]) {
            Verdict::Ignore => return,
            Verdict::Tell => None,
            Verdict::With(t) => Some(t),
        };
        let there = to.as_local_pid().is_none_or(is_alive);
        let (to, m) = (OwnedTerm::new(to), OwnedTerm::new(m));
        self.trace(if there { "send" } else { "send_to_non_existing_process" }, |h| {
            let parts = [&m, &to].into_iter().chain(&more);
            parts.map(|t| h.copy(t.term())).collect()
        });
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
        let more = match judge(self, false, &args) {
            Verdict::Ignore => return,
            Verdict::Tell => None,
            Verdict::With(t) => Some(t),
        };
        self.trace("receive", |h| {
            std::iter::once(&m).chain(&more).map(|t| h.copy(t.term())).collect()
        });
    }
    /// Reports an event in a process's life, with one term.
    #[inline]
    pub fn trace_procs(&self, tag: &str, what: Term<'_>) {
        if self.is_traced(bit::PROCS) {
            self.tell_one(tag, what);
        }
    }
    #[cold]
    fn tell_one(&self, tag: &str, what: Term<'_>) {
        let what = OwnedTerm::new(what);
        self.trace(tag, |h| vec![h.copy(what.term())]);
    }
    /// Reports that a time slice begins or ends, at a function.
    #[cold]
    pub(crate) fn trace_turn(&self, tag: &str) {
        if let Some(turn) = super::TURN.get().filter(|_| self.is_traced(bit::CALL)) {
            turn(self, tag == "in");
        }
        if !self.is_traced(bit::RUNNING | bit::RUNNING_PROCS) {
            return;
        }
        self.trace(tag, |h| vec![self.place(h)]);
    }
    /// The function that a process is in, while it is not running.
    pub(crate) fn place<'h>(&self, h: &'h Heap) -> Term<'h> {
        let stack = (crate::hooks::hooks().stacktrace)(self, h, false, 2);
        let (m, f, a) = self.initial_call();
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
        child.trace_as_new();
        if let Some((flags, Some(tracer))) = of(self.tracee()) {
            let by = (flags, tracer);
            self.hand_on(by, child, bit::SET_ON_SPAWN, bit::SET_ON_FIRST_SPAWN);
            if link {
                self.hand_on(by, child, bit::SET_ON_LINK, bit::SET_ON_FIRST_LINK);
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
        self.trace_as_new();
        let call = Call { m, f, args: OwnedTerm::new(args), link };
        self.tell_of_spawn(["spawned", "getting_linked"], by.owned().term(), &call);
    }
    fn trace_as_new(&self) {
        let (flags, tracer) = of_new(false);
        if tracer.is_some() {
            set(self.tracee(), flags, tracer);
        }
    }
    fn tell_of_spawn(&self, [spawned, linked]: [&str; 2], other: Term<'_>, call: &Call) {
        if !self.is_traced(bit::PROCS) {
            return;
        }
        self.trace(spawned, |h| {
            vec![h.copy(other), h.tuple(&[call.m.into(), call.f.into(), h.copy(call.args.term())])]
        });
        if call.link {
            self.trace(linked, |h| vec![h.copy(other)]);
        }
    }
    /// Traces a new process as this one is, if a flag says so: each time, or the first.
    fn hand_on(&self, (flags, tracer): (u32, Tracer), to: &Proc, each_time: u32, once: u32) {
        if flags & (each_time | once) == 0 {
            return;
        }
        let mut inherited = flags | to.trace_flags();
        if flags & once != 0 {
            inherited &= !(once | each_time);
            let left = self.trace_flags() & !(once | each_time);
            set(self.tracee(), left, Some(tracer));
        }
        set(to.tracee(), inherited, Some(tracer));
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
            self.tell_one(tag, Term::int(0));
        }
    }
    /// Reports that the process has ended.
    #[cold]
    pub(crate) fn trace_exited(&self) {
        self.trace_exiting("out_exited");
        super::forget(self.tracee());
        self.profile(false);
        crate::sysprof::ended(Tracee::Process(self.pid()));
    }
}
