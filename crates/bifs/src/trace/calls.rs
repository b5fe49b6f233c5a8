//! The hooks for a watched function: call, return, and end by an exception.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::Arc;

use kvik_code::Location;
use kvik_heap::{Heap, OwnedTerm};
use kvik_jit::breakpoints::{self, BreakpointHooks, Called};
use kvik_proc::trace::{
    self, bit, Event, SessionRef, TraceRef, Tracee, Tracer, TracerAnswer, TracerModule,
};
use kvik_proc::Proc;
use kvik_term::{am, Atom, Term};

use super::accounts::{self, AccountKind, Hook};
use super::actions::{end, TraceActions};
use super::watched::{self, CounterSwitch, Mfa, Spec, TraceSettings, Watch};

pub fn install() {
    breakpoints::set_hooks(BreakpointHooks { call, returned, raised, returned_to });
    trace::set_turn(accounts::turn);
    trace::on_reclaim(accounts::reclaimed);
    kvik_proc::hooks::on_exit(accounts::ended);
}

/// What a session wants at the end of a watched call. A call's frame, on the stack until the call
/// ends, has one of these, or a list if there are several.
struct Frame<'h> {
    mfa: Mfa,
    /// [`trace::Session::id`]
    session: Term<'h>,
    meta: Option<Tracer>,
    ends: i64,
    /// The functions that were charged with time and memory before.
    before: [Term<'h>; 2],
}
impl<'h> Frame<'h> {
    fn term(&self, p: &'h Proc) -> Term<'h> {
        let h = &p.heap;
        let meta = self.meta.as_ref().map_or(Term::NIL, |t| t.term(h));
        let [time, memory] = self.before;
        let ends = h.integer(self.ends);
        h.tuple(&[mfa_term(h, self.mfa), self.session, meta, ends, time, memory])
    }
    fn of(t: Term<'h>) -> Option<Frame<'h>> {
        let [mfa, session, meta, ends, time, memory] = t.as_tuple_n::<6>()?;
        let (meta, ends) = (meta_tracer(meta), ends.as_small()?);
        Some(Frame { mfa: mfa_of(mfa)?, session, meta, ends, before: [time, memory] })
    }
    /// All of a call's frame.
    fn all(t: Term<'h>) -> impl Iterator<Item = Frame<'h>> {
        let one = Frame::of(t);
        let more = t.as_cons().is_some().then(|| t.list().filter_map(Frame::of));
        one.into_iter().chain(more.into_iter().flatten())
    }
    /// The session's setting for the process, if it has the flag.
    fn trace_ref(&self, p: &Proc, flag: u32) -> Option<TraceRef> {
        let all = p.is_traced(flag).then(|| trace::refs(p.tracee(), flag));
        all?.into_iter().find(|r| r.session.id().same(self.session))
    }
}
/// The inverse of [`Tracer::term`].
fn meta_tracer(t: Term<'_>) -> Option<Tracer> {
    if let Some([module, state]) = t.as_tuple_n::<2>() {
        let (module, state) = (module.as_atom()?, OwnedTerm::new(state));
        return Some(Tracer::Module(Arc::new(TracerModule { module, state })));
    }
    Tracee::of(t).map(Tracer::To)
}
fn mfa_term(h: &Heap, (m, f, a): Mfa) -> Term<'_> {
    h.tuple(&[m.into(), f.into(), Term::int(a as i32)])
}
fn mfa_of(t: Term<'_>) -> Option<Mfa> {
    let [m, f, a] = t.as_tuple_n::<3>()?;
    Some((m.as_atom()?, f.as_atom()?, a.as_usize()? as u32))
}
/// Whether a call that ends with this one (a tail call) already reports `end` in a session.
fn outer(p: &Proc, s: &SessionRef, end: i64) -> bool {
    let all = breakpoints::last_act_of(p).flat_map(Frame::all);
    all.into_iter().any(|f| f.ends & end != 0 && f.session.same(s.id()))
}

fn call<'h>(p: &'h Proc, f: Called, args: &[Term<'h>]) -> Option<Term<'h>> {
    let watched = watched::find((f.module, f.function, f.arity))?;
    let here = !f.through_export || watched.is_bif();
    let hook = Hook::begin(p);
    let mut frames: Vec<Term<'h>> = Vec::new();
    for w in watched.watches().iter().filter(|w| w.session.is_alive()) {
        frames.extend(call_in_session(p, &hook, w, f, args, here));
    }
    match frames.len() {
        0 | 1 => frames.pop(),
        _ => Some(p.heap.list(&frames)),
    }
}
fn call_in_session<'h>(
    p: &'h Proc,
    hook: &Hook<'_>,
    w: &Watch,
    f: Called,
    args: &[Term<'h>],
    here: bool,
) -> Option<Term<'h>> {
    let mfa = (f.module, f.function, f.arity);
    let (s, what) = (&w.session, w.now());
    // None if the process is not traced in this session, or the tracer has ended.
    let tracer = match p.is_traced(bit::CALL) {
        true => trace::of(p.tracee(), s).filter(|(flags, _)| flags & bit::CALL != 0),
        false => None,
    };
    let tracer = tracer.and_then(|t| t.1);
    let before = [Term::NIL; 2];
    let mut frame = Frame { mfa, session: s.id(), meta: None, ends: 0, before };
    if let Some(tracer) =
        tracer.as_ref().filter(|_| if what.global { f.through_export } else { here })
    {
        frame.ends |= plain_call(p, f, args, (s, &what), tracer);
    }
    if let Some((Some(tracer), spec)) = what.meta.as_ref().filter(|_| here) {
        if tracer.is_enabled(p.self_pid()) {
            frame.ends |= meta_call(p, f, args, (s, spec), tracer);
        } else if let Some(m) = &mut w.what().meta {
            m.0 = m.0.take().filter(|t| t != tracer);
        }
        frame.meta = Some(tracer.clone());
    }
    if here && what.counts == CounterSwitch::On {
        w.count.fetch_add(1, Relaxed);
    }
    if here && tracer.is_some() {
        for (kind, switch) in [(AccountKind::Time, what.times), (AccountKind::Memory, what.memory)]
        {
            if switch != CounterSwitch::On {
                continue;
            }
            let before = hook.called(kind, w, mfa);
            if !outer(p, s, end_of(kind)) {
                frame.ends |= end_of(kind);
                frame.before[kind as usize] = before.map_or(Term::NIL, |m| mfa_term(&p.heap, m));
            }
        }
    }
    (frame.ends != 0).then(|| frame.term(p))
}
fn end_of(kind: AccountKind) -> i64 {
    match kind {
        AccountKind::Time => end::TIME,
        AccountKind::Memory => end::MEMORY,
    }
}

/// Runs the specification. `None`: it does not match; else what to add to the message, and what
/// to report at the end of the call.
fn judge<'h>(
    p: &'h Proc,
    s: &SessionRef,
    args: &[Term<'h>],
    spec: &Spec,
) -> Option<(Term<'h>, i64)> {
    let Spec::Some(program) = spec else { return Some((Term::bool(true), 0)) };
    let acts = TraceActions::of(s);
    let message = program.run_trace(p, args, &acts)?;
    Some((message, acts.ends.get()))
}

/// `{M, F, Args}`, and what the specification adds.
struct CallEvent {
    call: OwnedTerm,
    more: Option<OwnedTerm>,
}
impl CallEvent {
    fn new(p: &Proc, f: Called, args: &[Term<'_>], message: Term<'_>, arity: bool) -> CallEvent {
        let h = &p.heap;
        let args = match arity {
            true => Term::int(f.arity as i32),
            false => h.list(&args.iter().map(|t| h.copy(*t)).collect::<Vec<_>>()),
        };
        let call = OwnedTerm::new(h.tuple(&[f.module.into(), f.function.into(), args]));
        let more = (!message.is_atom(am::true_)).then(|| OwnedTerm::new(message));
        CallEvent { call, more }
    }
    fn on<'h>(&self, h: &'h Heap) -> Event<'h> {
        let more = self.more.as_ref().map(|t| h.copy(t.term()));
        Event::of(h.copy(self.call.term())).with_result(more)
    }
}

fn plain_call<'h>(
    p: &'h Proc,
    f: Called,
    args: &[Term<'h>],
    (s, w): (&SessionRef, &TraceSettings),
    tracer: &Tracer,
) -> i64 {
    let Some(spec) = &w.call else { return 0 };
    // The tracer is the one from before the specification, which may end the tracing: this call is
    // still reported.
    if tracer.takes(p.self_pid(), "call") != TracerAnswer::Trace {
        return 0;
    }
    let Some((message, mut ends)) = judge(p, s, args, spec) else { return 0 };
    let flags = trace::of(p.tracee(), s).map_or(0, |setting| setting.0);
    if flags & bit::SILENT != 0 {
        return 0;
    }
    if message.is_atom(am::false_) {
        return ends;
    }
    if flags & bit::RETURN_TO != 0 && !w.global && !outer(p, s, end::RETURN_TO) {
        ends |= end::RETURN_TO;
    }
    let event = CallEvent::new(p, f, args, message, flags & bit::ARITY != 0);
    trace::post(tracer, p.self_pid(), flags, "call", |h| event.on(h));
    ends
}

fn meta_call<'h>(
    p: &'h Proc,
    f: Called,
    args: &[Term<'h>],
    (s, spec): (&SessionRef, &Spec),
    tracer: &Tracer,
) -> i64 {
    if tracer.is(p.tracee()) || p.flag(kvik_proc::process::flag::SENSITIVE) {
        return 0;
    }
    if tracer.takes(p.self_pid(), "call") != TracerAnswer::Trace {
        return 0;
    }
    let Some((message, ends)) = judge(p, s, args, spec) else { return 0 };
    if !message.is_atom(am::false_) {
        let event = CallEvent::new(p, f, args, message, false);
        trace::post(tracer, p.self_pid(), bit::TIMESTAMP, "call", |h| event.on(h));
    }
    match ends {
        e if e & end::EXCEPTION != 0 => end::META | end::META_EXCEPTION,
        e if e & end::RETURN != 0 => end::META,
        _ => 0,
    }
}

/// Reports the end of a call: its function, and a value.
/// The value may be large, so it is copied only if there is something to report.
fn tell_end(p: &Proc, f: &Frame<'_>, tag: &str, ended: &End<'_>, [meta, own]: [i64; 2]) {
    if let (true, Some(tracer)) = (f.ends & meta != 0, &f.meta) {
        trace::post(tracer, p.self_pid(), bit::TIMESTAMP, tag, |h| ended.event(h, f.mfa));
    }
    if f.ends & own == 0 {
        return;
    }
    if let Some(r) = f.trace_ref(p, bit::CALL) {
        let there = trace::post(&r.tracer, p.self_pid(), r.flags, tag, |h| ended.event(h, f.mfa));
        if !there {
            trace::set(p.tracee(), &r.session, 0, None);
        }
    }
}
/// The result of a call: a value, or an exception's class and reason.
enum End<'h> {
    Value(Term<'h>),
    Exception(Atom, Term<'h>),
}
impl End<'_> {
    fn event<'m>(&self, h: &'m Heap, mfa: Mfa) -> Event<'m> {
        let value = match *self {
            End::Value(t) => h.copy(t),
            End::Exception(class, reason) => h.tuple(&[class.into(), h.copy(reason)]),
        };
        Event::of(mfa_term(h, mfa)).and(value)
    }
}

fn settle(hook: &Hook<'_>, f: &Frame<'_>) {
    for kind in [AccountKind::Time, AccountKind::Memory] {
        if f.ends & end_of(kind) == 0 {
            continue;
        }
        let session = f.session.as_small().map_or(0, |n| n as u64 + 1);
        hook.returned(kind, session, mfa_of(f.before[kind as usize]));
    }
}
fn returned(p: &Proc, t: Term<'_>, value: Term<'_>, to: Option<Location>) {
    let hook = Hook::begin(p);
    for f in Frame::all(t) {
        settle(&hook, &f);
        let ends = [end::META, end::RETURN | end::EXCEPTION];
        tell_end(p, &f, "return_from", &End::Value(value), ends);
        if f.ends & end::RETURN_TO != 0 {
            return_to(p, &f, &to);
        }
    }
}
fn return_to(p: &Proc, f: &Frame<'_>, to: &Option<Location>) {
    let Some(r) = f.trace_ref(p, bit::RETURN_TO) else { return };
    let there = trace::post(&r.tracer, p.self_pid(), r.flags, "return_to", |h| {
        Event::of(match to {
            Some(l) => mfa_term(h, (l.module, l.function, l.arity)),
            None => am::undefined.into(),
        })
    });
    if !there {
        trace::set(p.tracee(), &r.session, 0, None);
    }
}
/// Reports the return to the location that has caught an exception, once in each session.
fn returned_to(p: &Proc, frames: &[Term<'_>], to: Option<Location>) {
    let mut told: Vec<Term<'_>> = Vec::new();
    for f in frames.iter().flat_map(|t| Frame::all(*t)) {
        if f.ends & end::RETURN_TO != 0 && !told.iter().any(|s| s.same(f.session)) {
            return_to(p, &f, &to);
            told.push(f.session);
        }
    }
}
fn raised(p: &Proc, t: Term<'_>, class: Atom, value: Term<'_>) -> bool {
    let hook = Hook::begin(p);
    let mut wants_return_to = false;
    for f in Frame::all(t) {
        let ended = End::Exception(class, value);
        tell_end(p, &f, "exception_from", &ended, [end::META_EXCEPTION, end::EXCEPTION]);
        settle(&hook, &f);
        wants_return_to |= f.ends & end::RETURN_TO != 0;
    }
    wants_return_to
}
