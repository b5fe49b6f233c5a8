//! The hooks for a watched function: call, return, and end by an exception.

use std::sync::atomic::Ordering::Relaxed;

use kvik_code::Location;
use kvik_heap::{Heap, OwnedTerm};
use kvik_jit::breakpoints::{self, BreakpointHooks, Called};
use kvik_proc::trace::{self, bit, Tracer};
use kvik_proc::Proc;
use kvik_term::{am, Atom, Term};

use super::actions::{end, TraceActions};
use super::time;
use super::watched::{self, CounterSwitch, Mfa, Spec, TraceSettings};

pub fn install() {
    breakpoints::set_hooks(BreakpointHooks { call, returned, raised, returned_to });
    trace::set_turn(time::turn);
    kvik_proc::hooks::on_exit(time::ended);
}

/// The frame of a watched call: kept on the stack until the call ends.
struct Frame<'h> {
    mfa: Mfa,
    meta: Option<Tracer>,
    ends: i64,
    before: Term<'h>,
}
impl<'h> Frame<'h> {
    fn term(&self, p: &'h Proc) -> Term<'h> {
        let meta = self.meta.map_or(Term::NIL, Tracer::term);
        p.heap.tuple(&[mfa_term(&p.heap, self.mfa), meta, p.heap.integer(self.ends), self.before])
    }
    fn of(t: Term<'h>) -> Option<Frame<'h>> {
        let [mfa, meta, ends, before] = t.as_tuple_n::<4>()?;
        Some(Frame { mfa: mfa_of(mfa)?, meta: Tracer::of(meta), ends: ends.as_small()?, before })
    }
}
fn mfa_term(h: &Heap, (m, f, a): Mfa) -> Term<'_> {
    h.tuple(&[m.into(), f.into(), Term::int(a as i32)])
}
fn mfa_of(t: Term<'_>) -> Option<Mfa> {
    let [m, f, a] = t.as_tuple_n::<3>()?;
    Some((m.as_atom()?, f.as_atom()?, a.as_usize()? as u32))
}
/// Whether a call that ends with this one (a tail call) already reports `end`.
fn outer(p: &Proc, end: i64) -> bool {
    breakpoints::last_act_of(p).filter_map(Frame::of).any(|f| f.ends & end != 0)
}

fn call<'h>(p: &'h Proc, f: Called, args: &[Term<'h>]) -> Option<Term<'h>> {
    let mfa = (f.module, f.function, f.arity);
    let w = watched::find(mfa)?;
    let what = w.now();
    let here = !f.through_export || w.is_bif();
    // False if the tracer has ended.
    let traced = p.is_traced(bit::CALL)
        && trace::of(p.tracee()).is_some_and(|(flags, _)| flags & bit::CALL != 0);
    let mut frame = Frame { mfa, meta: None, ends: 0, before: Term::NIL };
    if traced && if what.global { f.through_export } else { here } {
        frame.ends |= plain_call(p, f, args, &what);
    }
    if let Some((Some(tracer), spec)) = what.meta.as_ref().filter(|_| here) {
        frame.meta = Some(*tracer);
        if tracer.is_there() {
            frame.ends |= meta_call(p, f, args, *tracer, spec);
        } else if let Some(m) = &mut w.what().meta {
            m.0 = m.0.filter(|t| t != tracer);
        }
    }
    if here && what.counts == CounterSwitch::On {
        w.count.fetch_add(1, Relaxed);
    }
    if here && traced && what.times == CounterSwitch::On {
        let before = time::called(p, &w, mfa);
        if !outer(p, end::TIME) {
            frame.ends |= end::TIME;
            frame.before = before.map_or(Term::NIL, |mfa| mfa_term(&p.heap, mfa));
        }
    }
    (frame.ends != 0).then(|| frame.term(p))
}

/// Runs the specification. `None`: it does not match; else what to add to the message, and what
/// to report at the end of the call.
fn judge<'h>(p: &'h Proc, args: &[Term<'h>], spec: &Spec) -> Option<(Term<'h>, i64)> {
    let Spec::Some(program) = spec else { return Some((Term::bool(true), 0)) };
    let acts = TraceActions::default();
    let message = program.run_trace(p, args, &acts)?;
    Some((message, acts.ends.get()))
}

/// `{M, F, Args}`, and what the specification adds.
fn parts(p: &Proc, f: Called, args: &[Term<'_>], message: Term<'_>, arity: bool) -> Vec<OwnedTerm> {
    let h = &p.heap;
    let args = match arity {
        true => Term::int(f.arity as i32),
        false => h.list(&args.iter().map(|t| h.copy(*t)).collect::<Vec<_>>()),
    };
    let call = OwnedTerm::new(h.tuple(&[f.module.into(), f.function.into(), args]));
    let more = (!message.is_atom(am::true_)).then(|| OwnedTerm::new(message));
    std::iter::once(call).chain(more).collect()
}
fn copied<'h>(h: &'h Heap, parts: &[OwnedTerm]) -> Vec<Term<'h>> {
    parts.iter().map(|t| h.copy(t.term())).collect()
}

fn plain_call<'h>(p: &'h Proc, f: Called, args: &[Term<'h>], w: &TraceSettings) -> i64 {
    let Some(spec) = &w.call else { return 0 };
    // Read before the specification, which may end the tracing: this call is still reported.
    let Some((_, Some(tracer))) = trace::of(p.tracee()) else { return 0 };
    let Some((message, mut ends)) = judge(p, args, spec) else { return 0 };
    let flags = p.trace_flags();
    if flags & bit::SILENT != 0 {
        return 0;
    }
    if message.is_atom(am::false_) {
        return ends;
    }
    if flags & bit::RETURN_TO != 0 && !w.global && !outer(p, end::RETURN_TO) {
        ends |= end::RETURN_TO;
    }
    let parts = parts(p, f, args, message, flags & bit::ARITY != 0);
    trace::post(tracer, p.self_pid(), flags, "call", |h| copied(h, &parts));
    ends
}

fn meta_call<'h>(p: &'h Proc, f: Called, args: &[Term<'h>], tracer: Tracer, spec: &Spec) -> i64 {
    if tracer == p.tracee() || p.flag(kvik_proc::process::flag::SENSITIVE) {
        return 0;
    }
    let Some((message, ends)) = judge(p, args, spec) else { return 0 };
    if !message.is_atom(am::false_) {
        let parts = parts(p, f, args, message, false);
        let tag = "call";
        trace::post(tracer, p.self_pid(), bit::TIMESTAMP, tag, |h| copied(h, &parts));
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
    if let (true, Some(tracer)) = (f.ends & meta != 0, f.meta) {
        trace::post(tracer, p.self_pid(), bit::TIMESTAMP, tag, |h| ended.parts(h, f.mfa));
    }
    if f.ends & own != 0 && p.is_traced(bit::CALL) {
        p.trace(tag, |h| ended.parts(h, f.mfa));
    }
}
/// The result of a call: a value, or an exception's class and reason.
enum End<'h> {
    Value(Term<'h>),
    Exception(Atom, Term<'h>),
}
impl End<'_> {
    fn parts<'m>(&self, h: &'m Heap, mfa: Mfa) -> Vec<Term<'m>> {
        let value = match *self {
            End::Value(t) => h.copy(t),
            End::Exception(class, reason) => h.tuple(&[class.into(), h.copy(reason)]),
        };
        vec![mfa_term(h, mfa), value]
    }
}

fn returned(p: &Proc, t: Term<'_>, value: Term<'_>, to: Option<Location>) {
    let Some(f) = Frame::of(t) else { return };
    if f.ends & end::TIME != 0 {
        time::returned(p, mfa_of(f.before));
    }
    tell_end(p, &f, "return_from", &End::Value(value), [end::META, end::RETURN | end::EXCEPTION]);
    if f.ends & end::RETURN_TO != 0 {
        returned_to(p, to);
    }
}
fn returned_to(p: &Proc, to: Option<Location>) {
    if p.is_traced(bit::RETURN_TO) {
        p.trace("return_to", |h| {
            vec![match &to {
                Some(l) => mfa_term(h, (l.module, l.function, l.arity)),
                None => am::undefined.into(),
            }]
        });
    }
}
fn raised(p: &Proc, t: Term<'_>, class: Atom, value: Term<'_>) -> bool {
    let Some(f) = Frame::of(t) else { return false };
    let ended = End::Exception(class, value);
    tell_end(p, &f, "exception_from", &ended, [end::META_EXCEPTION, end::EXCEPTION]);
    if f.ends & end::TIME != 0 {
        time::returned(p, mfa_of(f.before));
    }
    f.ends & end::RETURN_TO != 0
}
