//! The actions of trace match specifications.

use std::cell::Cell;

use kvik_ets::ms::{Effects, TraceAction};
use kvik_jit::breakpoints;
use kvik_proc::trace::{self, bit, Tracee, Tracer};
use kvik_proc::Proc;
use kvik_term::{am, Term};

/// What to report at the end of a call, as bits.
pub mod end {
    pub const RETURN: i64 = 1;
    pub const EXCEPTION: i64 = 2;
    pub const RETURN_TO: i64 = 4;
    /// The first two, for the meta tracer in the frame.
    pub const META: i64 = 8;
    pub const META_EXCEPTION: i64 = 16;
    /// Call time: from here on, time counts for the function in the frame, if there is one.
    pub const TIME: i64 = 32;
}

/// The effects of specifications besides matching.
#[derive(Default)]
pub struct TraceActions {
    /// What to report at the end of the call: [`end`].
    pub ends: Cell<i64>,
}

/// Clears and sets trace flags. Without a tracer, given or the process's own, all are cleared.
fn set(pid: u32, off: u32, on: u32, tracer: Option<Tracer>) -> Option<()> {
    let who = Tracee::Process(pid);
    let (old, _) = trace::of(who)?;
    trace::set(who, old & !off | on, tracer);
    Some(())
}
/// Parses a list of flags, and a tracer if one is named.
fn flags(list: Term<'_>, tracer: &mut Option<Tracer>) -> Option<u32> {
    let mut bits = 0;
    for t in list.list_to_vec()? {
        if let Some(a) = t.as_atom() {
            bits |= trace::bit_of(a)?;
        } else {
            let [k, by] = t.as_tuple_n::<2>().filter(|[k, _]| super::named(*k, "tracer"))?;
            let _ = k;
            *tracer = Some(Tracer::of(by)?);
        }
    }
    Some(bits)
}

impl Effects for TraceActions {
    fn act<'h>(&self, p: &'h Proc, action: TraceAction, args: &[Term<'h>]) -> Option<Term<'h>> {
        let add = |bits| {
            self.ends.set(self.ends.get() | bits);
            Some(Term::bool(true))
        };
        let whom = |t: Term<'_>| match t.as_atom() {
            Some(name) => kvik_proc::registry::whereis_process(name),
            None => t.as_local_pid(),
        };
        match (action, args) {
            (TraceAction::ReturnTrace, _) => add(end::RETURN),
            (TraceAction::ExceptionTrace, _) => add(end::RETURN | end::EXCEPTION),
            (TraceAction::Caller, _) => Some(caller(p, false)),
            (TraceAction::CallerLine, _) => Some(caller(p, true)),
            (TraceAction::Display, [t]) => {
                let mut text = kvik_term::print::display(*t);
                text.push(b'\n');
                crate::names::show(&text);
                Some(Term::bool(true))
            }
            (TraceAction::ProcessDump, _) => Some(p.heap.binary(&crate::process::dump(p, true))),
            (TraceAction::EnableTrace | TraceAction::DisableTrace, [.., flag]) => {
                let pid = if args.len() == 2 { whom(args[0])? } else { p.pid() };
                let bits = trace::bit_of(flag.as_atom()?)?;
                let (off, on) =
                    if action == TraceAction::EnableTrace { (0, bits) } else { (bits, 0) };
                set(pid, off, on, own_tracer(p))?;
                Some(Term::bool(true))
            }
            (TraceAction::Trace, [.., off, on]) => {
                let pid = if args.len() == 3 { whom(args[0])? } else { p.pid() };
                let mut tracer = own_tracer(p);
                let off = flags(*off, &mut tracer)?;
                let on = flags(*on, &mut tracer)?;
                if tracer.is_some_and(|t| !t.is_there()) {
                    return None;
                }
                set(pid, off, on, tracer)?;
                Some(Term::bool(true))
            }
            (TraceAction::Silent, [b]) => {
                // No effect on processes that are not traced.
                if let (Some(b), Some((old, by))) = (b.as_bool(), trace::of(p.tracee())) {
                    let new = if b { old | bit::SILENT } else { old & !bit::SILENT };
                    trace::set(p.tracee(), new, by);
                }
                Some(Term::bool(true))
            }
            (TraceAction::IsSeqTrace, _) => Some(Term::bool(seq_token(p).as_tuple().is_some())),
            (TraceAction::GetSeqToken, _) => Some(seq_token(p)),
            (TraceAction::SetSeqToken, [what, value]) => {
                crate::system::set_seq_token(p, *what, *value).map(|_| Term::bool(true))
            }
            (TraceAction::GetTcw, _) => Some(p.heap.integer(crate::system::trace_control_word())),
            (TraceAction::SetTcw, [n]) => {
                let n = n.as_i64().filter(|n| (0..=u32::MAX as i64).contains(n))?;
                Some(p.heap.integer(crate::system::set_trace_control_word(n)))
            }
            _ => None,
        }
    }
}

fn own_tracer(p: &Proc) -> Option<Tracer> {
    trace::of(p.tracee()).and_then(|s| s.1)
}
fn seq_token(p: &Proc) -> Term<'_> {
    p.heap.root(kvik_heap::roots::Root::SeqToken)
}

/// `{M, F, A}` of the caller, with `{File, Line}` if `with_line`.
fn caller(p: &Proc, with_line: bool) -> Term<'_> {
    let h = &p.heap;
    let Some(l) = breakpoints::caller(p) else { return am::undefined.into() };
    let mut parts = vec![l.module.into(), l.function.into(), Term::int(l.arity as i32)];
    if with_line {
        parts.push(match l.line {
            Some((file, line)) => h.tuple(&[h.string(&file), h.integer(line as i64)]),
            None => am::undefined.into(),
        });
    }
    h.tuple(&parts)
}
