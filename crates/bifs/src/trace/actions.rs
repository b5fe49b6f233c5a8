//! The actions of trace match specifications.

use std::cell::Cell;

use kvik_ets::ms::{Effects, TraceAction};
use kvik_jit::breakpoints;
use kvik_proc::hooks::hooks;
use kvik_proc::trace::{self, bit, SessionRef, Tracee, Tracer};
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
    /// The same for the memory it allocates.
    pub const MEMORY: i64 = 64;
}

/// The effects of a session's specifications besides matching.
pub struct TraceActions<'s> {
    session: &'s SessionRef,
    /// What to report at the end of the call: [`end`].
    pub ends: Cell<i64>,
}

impl<'s> TraceActions<'s> {
    pub fn of(session: &'s SessionRef) -> TraceActions<'s> {
        TraceActions { session, ends: Cell::new(0) }
    }
    /// Clears and sets trace flags. Without a tracer, all are cleared.
    fn set(&self, pid: u32, off: u32, on: u32, tracer: Option<Tracer>) -> Option<()> {
        let who = Tracee::Process(pid);
        let (old, _) = trace::of(who, self.session)?;
        trace::set(who, self.session, old & !off | on, tracer);
        Some(())
    }
    /// The session's tracer, or the one that traces the process.
    fn tracer(&self, p: &Proc) -> Option<Tracer> {
        let own = || trace::of(p.tracee(), self.session).and_then(|s| s.1);
        self.session.tracer().cloned().or_else(own)
    }
    /// Parses a list of flags, and a tracer if one is named, which is for sessions without one.
    fn flags(&self, list: Term<'_>, tracer: &mut Option<Tracer>) -> Option<u32> {
        let mut bits = 0;
        for t in list.list_to_vec()? {
            if let Some(a) = t.as_atom() {
                bits |= trace::bit_of(a)?;
            } else if self.session.tracer().is_none() {
                *tracer = Some(super::named_tracer("tracer", t)?);
            } else {
                return None;
            }
        }
        Some(bits)
    }
    fn silence(&self, p: &Proc, on: bool) {
        // No effect on processes that are not traced.
        if let Some((old, by)) = trace::of(p.tracee(), self.session) {
            let new = if on { old | bit::SILENT } else { old & !bit::SILENT };
            trace::set(p.tracee(), self.session, new, by);
        }
    }
}

impl Effects for TraceActions<'_> {
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
            (TraceAction::CurrentStacktrace, [depth]) => {
                Some((hooks().stacktrace)(p, &p.heap, true, depth.as_usize()?))
            }
            (TraceAction::Display, [t]) => {
                let mut text = kvik_term::print::display(*t);
                text.push(b'\n');
                crate::names::show(&text);
                Some(Term::bool(true))
            }
            (TraceAction::ProcessDump, _) => {
                Some(p.heap.binary(&crate::dump::process_for_tracer(p)))
            }
            (TraceAction::EnableTrace | TraceAction::DisableTrace, [.., flag]) => {
                let pid = if args.len() == 2 { whom(args[0])? } else { p.pid() };
                let bits = trace::bit_of(flag.as_atom()?)?;
                let (off, on) =
                    if action == TraceAction::EnableTrace { (0, bits) } else { (bits, 0) };
                self.set(pid, off, on, self.tracer(p))?;
                Some(Term::bool(true))
            }
            (TraceAction::Trace, [.., off, on]) => {
                let pid = if args.len() == 3 { whom(args[0])? } else { p.pid() };
                let mut tracer = self.tracer(p);
                let off = self.flags(*off, &mut tracer)?;
                let on = self.flags(*on, &mut tracer)?;
                if tracer.as_ref().is_some_and(|t| !t.is_enabled(Term::local_pid(pid))) {
                    return None;
                }
                self.set(pid, off, on, tracer)?;
                Some(Term::bool(true))
            }
            (TraceAction::Silent, [b]) => {
                if let Some(on) = b.as_bool() {
                    self.silence(p, on);
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
