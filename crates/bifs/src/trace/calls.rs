//! What happens when a watched function is called, returns, or ends with an exception.

use std::cell::Cell;

use kvik_code::Location;
use kvik_ets::ms::{Action, Effects};
use kvik_heap::{Heap, OwnedTerm};
use kvik_jit::breaks::{self, Called, Hooks};
use kvik_proc::trace::{self, bit};
use kvik_proc::Proc;
use kvik_term::{am, Atom, Term};

use super::pattern::{self, Spec, Watched};

pub fn install() {
    breaks::set_hooks(Hooks { call, returned, raised });
}

/// What is asked for at the end of a call; the last element of its frame.
mod end {
    pub const RETURN: i64 = 1;
    pub const EXCEPTION: i64 = 2;
    pub const RETURN_TO: i64 = 4;
    /// For the meta tracer, whose pid is in the frame.
    pub const META: i64 = 8;
}

fn name(s: &str) -> Atom {
    Atom::intern(s).unwrap_or(am::undefined)
}

fn call<'h>(p: &'h Proc, f: Called, args: &[Term<'h>]) -> Option<Term<'h>> {
    let w = pattern::find((f.module, f.function, f.arity))?;
    let what = w.now();
    let here = !f.through_export || w.is_bif();
    let mut ends = 0;
    if here && what.count.is_some() && !what.paused {
        let mut now = w.what.lock().unwrap_or_else(|e| e.into_inner());
        now.count = now.count.map(|n| n + 1);
    }
    let mut meta = Term::NIL;
    if let Some((tracer, spec)) = what.meta.as_ref().filter(|_| here) {
        meta = Term::local_pid(*tracer);
        ends |= meta_call(p, f, args, *tracer, spec);
    }
    let counts = if what.global { f.through_export } else { here };
    if counts && p.is_traced(bit::CALL) {
        ends |= plain_call(p, f, args, &what);
    }
    if ends == 0 {
        return None;
    }
    let arity = Term::int(f.arity as i32);
    let ends = p.heap.integer(ends);
    Some(p.heap.tuple(&[f.module.into(), f.function.into(), arity, meta, ends]))
}

/// Whether the call passes, what its message has to add, and what is asked for at its end.
fn judge<'h>(
    p: &'h Proc,
    args: &[Term<'h>],
    spec: &Spec,
    tracer: Option<u32>,
) -> Option<(Term<'h>, i64)> {
    let Spec::Some(program) = spec else { return Some((Term::bool(true), 0)) };
    let acts = Acts { ends: Cell::new(0), tracer };
    let message = program.run_trace(p, args, &acts)?;
    Some((message, acts.ends.get()))
}

/// What a specification's answer adds to the message of a call.
fn addition(message: Term<'_>) -> Option<OwnedTerm> {
    (!message.is_atom(am::true_)).then(|| OwnedTerm::new(message))
}
/// `{M, F, Args}`, and the addition.
fn call_parts<'h>(
    h: &'h Heap,
    f: Called,
    args: &OwnedTerm,
    more: &Option<OwnedTerm>,
) -> Vec<Term<'h>> {
    let mfa = h.tuple(&[f.module.into(), f.function.into(), h.copy(args.term())]);
    std::iter::once(mfa).chain(more.iter().map(|m| h.copy(m.term()))).collect()
}

fn plain_call<'h>(p: &'h Proc, f: Called, args: &[Term<'h>], w: &Watched) -> i64 {
    let Some(spec) = &w.call else { return 0 };
    let tracer = trace::of(p.pid()).and_then(|s| s.1);
    let Some((message, mut ends)) = judge(p, args, spec, tracer) else { return 0 };
    let flags = p.trace_flags();
    let told = breaks::last_act_of(p).and_then(frame).is_some_and(|f| f.3 & end::RETURN_TO != 0);
    if flags & bit::RETURN_TO != 0 && !w.global && !told {
        ends |= end::RETURN_TO;
    }
    if flags & bit::SILENT != 0 || message.is_atom(am::false_) {
        return ends;
    }
    let args = match flags & bit::ARITY {
        0 => OwnedTerm::new(p.heap.list(args)),
        _ => OwnedTerm::immediate(Term::int(f.arity as i32)),
    };
    let more = addition(message);
    p.trace(name("call"), |h| call_parts(h, f, &args, &more));
    ends
}

fn meta_call<'h>(p: &'h Proc, f: Called, args: &[Term<'h>], tracer: u32, spec: &Spec) -> i64 {
    if tracer == p.pid() {
        return 0;
    }
    let Some((message, ends)) = judge(p, args, spec, Some(tracer)) else { return 0 };
    if !message.is_atom(am::false_) {
        let args = OwnedTerm::new(p.heap.list(args));
        let more = addition(message);
        let tag = name("call");
        trace::post(tracer, p.pid(), bit::TIMESTAMP, tag, |h| call_parts(h, f, &args, &more));
    }
    if ends & end::RETURN != 0 {
        end::META
    } else {
        0
    }
}

/// A frame's function, meta tracer and wishes.
fn frame(t: Term<'_>) -> Option<([Atom; 2], Term<'_>, Term<'_>, i64)> {
    let [m, f, a, meta, ends] = t.as_tuple_n::<5>()?;
    Some(([m.as_atom()?, f.as_atom()?], a, meta, ends.as_small()?))
}

fn returned(p: &Proc, t: Term<'_>, value: Term<'_>, to: Option<Location>) {
    let Some(([m, f], a, meta, ends)) = frame(t) else { return };
    let a = OwnedTerm::new(a);
    let value = OwnedTerm::new(value);
    if let (true, Some(tracer)) = (ends & end::META != 0, meta.as_local_pid()) {
        let tag = name("return_from");
        trace::post(tracer, p.pid(), bit::TIMESTAMP, tag, |h| ended(h, m, f, &a, &value));
    }
    if !p.is_traced(bit::CALL) || p.is_traced(bit::SILENT) {
        return;
    }
    if ends & (end::RETURN | end::EXCEPTION) != 0 {
        p.trace(name("return_from"), |h| ended(h, m, f, &a, &value));
    }
    if ends & end::RETURN_TO != 0 && p.is_traced(bit::RETURN_TO) {
        p.trace(name("return_to"), |h| {
            vec![match &to {
                Some(l) => {
                    h.tuple(&[l.module.into(), l.function.into(), Term::int(l.arity as i32)])
                }
                None => am::undefined.into(),
            }]
        });
    }
}
fn ended<'h>(h: &'h Heap, m: Atom, f: Atom, a: &OwnedTerm, value: &OwnedTerm) -> Vec<Term<'h>> {
    vec![h.tuple(&[m.into(), f.into(), h.copy(a.term())]), h.copy(value.term())]
}

fn raised(p: &Proc, t: Term<'_>, class: Atom, value: Term<'_>) {
    let Some(([m, f], a, meta, ends)) = frame(t) else { return };
    let a = OwnedTerm::new(a);
    let value = OwnedTerm::new(value);
    if let (true, Some(tracer)) = (ends & end::META != 0, meta.as_local_pid()) {
        let tag = name("exception_from");
        trace::post(tracer, p.pid(), bit::TIMESTAMP, tag, |h| failed(h, [m, f], &a, class, &value));
    }
    if ends & end::EXCEPTION != 0 && p.is_traced(bit::CALL) && !p.is_traced(bit::SILENT) {
        p.trace(name("exception_from"), |h| failed(h, [m, f], &a, class, &value));
    }
}
fn failed<'h>(
    h: &'h Heap,
    [m, f]: [Atom; 2],
    a: &OwnedTerm,
    class: Atom,
    value: &OwnedTerm,
) -> Vec<Term<'h>> {
    let what = h.tuple(&[class.into(), h.copy(value.term())]);
    vec![h.tuple(&[m.into(), f.into(), h.copy(a.term())]), what]
}

/// What specifications do besides matching.
struct Acts {
    ends: Cell<i64>,
    tracer: Option<u32>,
}

impl Acts {
    fn set(&self, pid: u32, on: bool, flags: &[Term<'_>]) -> Option<()> {
        let mut bits = 0;
        for f in flags {
            bits |= trace::bit_of(f.as_atom()?)?;
        }
        let (old, by) = trace::of(pid)?;
        let tracer = by.filter(|_| old != 0).or(self.tracer);
        let new = if on { old | bits } else { old & !bits };
        trace::set(pid, new, tracer.filter(|t| *t != pid));
        Some(())
    }
}

impl Effects for Acts {
    fn act<'h>(&self, p: &'h Proc, action: Action, args: &[Term<'h>]) -> Option<Term<'h>> {
        let add = |bits| {
            self.ends.set(self.ends.get() | bits);
            Some(Term::bool(true))
        };
        let whom = |t: Term<'_>| match t.as_atom() {
            Some(name) => kvik_proc::registry::whereis_process(name),
            None => t.as_local_pid(),
        };
        match (action, args) {
            (Action::ReturnTrace, _) => add(end::RETURN),
            (Action::ExceptionTrace, _) => add(end::RETURN | end::EXCEPTION),
            (Action::Caller, _) => Some(caller(p, false)),
            (Action::CallerLine, _) => Some(caller(p, true)),
            (Action::Display, [t]) => {
                let mut text = kvik_term::print::display(*t);
                text.push(b'\n');
                crate::names::show(&text);
                Some(Term::bool(true))
            }
            (Action::EnableTrace | Action::DisableTrace, [.., flag]) => {
                let pid = if args.len() == 2 { whom(args[0])? } else { p.pid() };
                self.set(pid, action == Action::EnableTrace, &[*flag])?;
                Some(Term::bool(true))
            }
            (Action::Trace, [.., off, on]) => {
                let pid = if args.len() == 3 { whom(args[0])? } else { p.pid() };
                self.set(pid, false, &off.list_to_vec()?)?;
                self.set(pid, true, &on.list_to_vec()?)?;
                Some(Term::bool(true))
            }
            (Action::Silent, [b]) => {
                if let (Some(b), Some((old, by))) = (b.as_bool(), trace::of(p.pid())) {
                    let new = if b { old | bit::SILENT } else { old & !bit::SILENT };
                    trace::set(p.pid(), new, by);
                }
                Some(Term::bool(true))
            }
            (Action::IsSeqTrace, _) => Some(Term::bool(seq_token(p).as_tuple().is_some())),
            (Action::GetSeqToken, _) => Some(seq_token(p)),
            (Action::GetTcw, _) => Some(p.heap.integer(crate::system::trace_control_word())),
            (Action::SetTcw, [n]) => {
                let n = n.as_i64().filter(|n| (0..=u32::MAX as i64).contains(n))?;
                Some(p.heap.integer(crate::system::set_trace_control_word(n)))
            }
            _ => None,
        }
    }
}

fn seq_token(p: &Proc) -> Term<'_> {
    p.heap.root(kvik_heap::roots::Root::SeqToken)
}

/// `{M, F, A}`, with `{File, Line}` where that is asked for.
fn caller(p: &Proc, with_line: bool) -> Term<'_> {
    let h = &p.heap;
    let Some(l) = breaks::caller(p) else { return am::undefined.into() };
    let mut parts = vec![l.module.into(), l.function.into(), Term::int(l.arity as i32)];
    if with_line {
        parts.push(match l.line {
            Some((file, line)) => h.tuple(&[h.string(&file), h.integer(line as i64)]),
            None => am::undefined.into(),
        });
    }
    h.tuple(&parts)
}
