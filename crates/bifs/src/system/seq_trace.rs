//! Sequential tracing: the token that a process carries, and the system tracer. The rest is in
//! `kvik_proc::seq_trace`.

use kvik_heap::roots::Root;
use kvik_proc::seq_trace::{self, bit, Token};
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{am, Atom, Term};

use crate::trace::tracer_of;

pub const BIFS: &[BifEntry] = &[
    bif!("erlang", "seq_trace", 2, seq_trace_2),
    bif!("erlang", "seq_trace_info", 1, seq_trace_info_1),
    bif!("erlang", "seq_trace_print", 1, seq_trace_print_1),
    bif!("erlang", "seq_trace_print", 2, seq_trace_print_2),
];

/// The flags of a token by name.
const FLAGS: &[(Atom, i64)] = &[
    (am::send, bit::SEND),
    (am::receive, bit::RECEIVE),
    (am::print, bit::PRINT),
    (am::timestamp, bit::TIMESTAMP),
    (am::strict_monotonic_timestamp, bit::STRICT),
    (am::monotonic_timestamp, bit::MONOTONIC),
];

fn new_token<'h>(p: &'h Proc) -> Token<'h> {
    let zero = Term::int(0);
    [zero, zero, zero, p.self_pid(), p.heap.unsigned(p.seq_counters().last)]
}

fn seq_trace_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [what, value] = *a else { return Err(p.badarg()) };
    set(p, what, value).ok_or_else(|| p.badarg())
}
/// Sets a part of the token, or clears the token; returns the previous value.
pub(crate) fn set<'h>(p: &'h Proc, what: Term<'h>, value: Term<'h>) -> Option<Term<'h>> {
    let what = what.as_atom()?;
    if what == am::sequential_trace_token {
        let old = p.heap.root(Root::SeqToken);
        value.is_nil().then(|| p.set_seq_token(None))?;
        return Some(old);
    }
    let mut t = p.seq_token().unwrap_or_else(|| new_token(p));
    let old = match what {
        am::label => std::mem::replace(&mut t[1], value),
        am::serial => {
            let [last, clock] = value.as_tuple_n::<2>()?;
            last.as_small().and(clock.as_small())?;
            let (l, c) = (seq_trace::serial_of(last), seq_trace::serial_of(clock));
            p.set_seq_counters(seq_trace::SeqTraceCounters { clock: c, last: l });
            let old = p.heap.tuple(&[t[4], t[2]]);
            (t[4], t[2]) = (last, clock);
            old
        }
        _ => {
            let bit = FLAGS.iter().find(|f| f.0 == what)?.1;
            let on = value.as_bool()?;
            let flags = t[0].as_small().unwrap_or(0);
            t[0] = p.heap.integer(if on { flags | bit } else { flags & !bit });
            Term::bool(flags & bit != 0)
        }
    };
    p.set_seq_token(Some(t));
    Some(old)
}

fn seq_trace_info_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let what = a.first().and_then(|t| t.as_atom()).ok_or_else(|| p.badarg())?;
    let flag = FLAGS.iter().find(|f| f.0 == what).map(|f| f.1);
    let value = match (p.seq_token(), flag, what) {
        (None, Some(_), _) => Term::bool(false),
        (None, None, am::label | am::serial) => return Ok(Term::NIL),
        (Some(t), Some(bit), _) => Term::bool(t[0].as_small().unwrap_or(0) & bit != 0),
        (Some(t), None, am::label) => t[1],
        (Some(t), None, am::serial) => p.heap.tuple(&[t[4], t[2]]),
        _ => return Err(p.badarg()),
    };
    Ok(p.heap.tuple(&[what.into(), value]))
}

fn seq_trace_print_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [m] = *a else { return Err(p.badarg()) };
    Ok(Term::bool(p.seq_print(m)))
}
fn seq_trace_print_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [label, m] = *a else { return Err(p.badarg()) };
    let same = p.seq_token().is_some_and(|t| kvik_ets::order::same(t[1], label));
    Ok(Term::bool(same && p.seq_print(m)))
}

/// Sets the system tracer, a process or port of this node or `{Module, State}`; returns the
/// previous one, or `false`.
pub(super) fn set_tracer<'h>(p: &'h Proc, to: Term<'h>) -> BifResult<'h> {
    let to = match (to.as_bool(), tracer_of(to)) {
        (Some(false), _) => None,
        (_, Some(t)) if t.is_enabled(am::undefined.into()) => Some(t),
        _ => return Err(p.badarg()),
    };
    Ok(seq_trace::set_tracer(to).map_or(Term::bool(false), |t| t.term(&p.heap)))
}
