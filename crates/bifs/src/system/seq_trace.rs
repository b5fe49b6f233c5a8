//! Sequential tracing: the token a process carries. Who sends messages passes it on.

use kvik_heap::roots::Root;
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{am, Atom, Term};

pub const BIFS: &[BifEntry] = &[
    bif!("erlang", "seq_trace", 2, seq_trace_2),
    bif!("erlang", "seq_trace_info", 1, seq_trace_info_1),
    bif!("erlang", "seq_trace_print", 1, seq_trace_print_1),
    bif!("erlang", "seq_trace_print", 2, seq_trace_print_2),
];

/// The flags of a token by name.
const FLAGS: &[(Atom, i64)] = &[
    (am::send, 1),
    (am::receive, 2),
    (am::print, 4),
    (am::timestamp, 8),
    (am::strict_monotonic_timestamp, 16),
    (am::monotonic_timestamp, 32),
];
const ALL_FLAGS: i64 = 63;

/// Flags, label, serial, sender, last serial.
type Token<'h> = [Term<'h>; 5];

fn token<'h>(p: &'h Proc) -> Option<Token<'h>> {
    p.heap.root(Root::SeqToken).as_tuple_n()
}
fn new_token<'h>(p: &'h Proc) -> Token<'h> {
    let zero = Term::int(0);
    [zero, zero, zero, p.self_pid(), zero]
}
fn set<'h>(p: &'h Proc, t: Token<'h>) {
    p.heap.set_root(Root::SeqToken, p.heap.tuple(&t));
}

fn seq_trace_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [what, value] = *a else { return Err(p.badarg()) };
    let what = what.as_atom().ok_or_else(|| p.badarg())?;
    if what == am::sequential_trace_token {
        return set_token(p, value);
    }
    let mut t = token(p).unwrap_or_else(|| new_token(p));
    let old = match what {
        am::label => std::mem::replace(&mut t[1], value),
        am::serial => {
            let [last, now] = value.as_tuple_n::<2>().ok_or_else(|| p.badarg())?;
            if last.as_usize().is_none() || now.as_usize().is_none() {
                return Err(p.badarg());
            }
            let old = p.heap.tuple(&[t[4], t[2]]);
            (t[4], t[2]) = (last, now);
            old
        }
        _ => {
            let bit = FLAGS.iter().find(|f| f.0 == what).ok_or_else(|| p.badarg())?.1;
            let on = value.as_bool().ok_or_else(|| p.badarg())?;
            let flags = t[0].as_small().unwrap_or(0);
            t[0] = p.heap.integer(if on { flags | bit } else { flags & !bit });
            Term::bool(flags & bit != 0)
        }
    };
    set(p, t);
    Ok(old)
}

fn set_token<'h>(p: &'h Proc, value: Term<'h>) -> BifResult<'h> {
    let old = p.heap.root(Root::SeqToken);
    if !value.is_nil() {
        let [flags, _, serial, from, last] = value.as_tuple_n().ok_or_else(|| p.badarg())?;
        let ok = flags.as_small().is_some_and(|f| f & !ALL_FLAGS == 0)
            && serial.as_small().is_some()
            && from.as_pid().is_some()
            && last.as_small().is_some();
        if !ok {
            return Err(p.badarg());
        }
    }
    p.heap.set_root(Root::SeqToken, value);
    Ok(old)
}

fn seq_trace_info_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let what = a.first().and_then(|t| t.as_atom()).ok_or_else(|| p.badarg())?;
    let flag = FLAGS.iter().find(|f| f.0 == what).map(|f| f.1);
    let value = match (token(p), flag, what) {
        (None, Some(_), _) => Term::bool(false),
        (None, None, am::label | am::serial) => return Ok(Term::NIL),
        (Some(t), Some(bit), _) => Term::bool(t[0].as_small().unwrap_or(0) & bit != 0),
        (Some(t), None, am::label) => t[1],
        (Some(t), None, am::serial) => p.heap.tuple(&[t[4], t[2]]),
        _ => return Err(p.badarg()),
    };
    Ok(p.heap.tuple(&[what.into(), value]))
}

/// Without a system tracer nothing is printed.
fn seq_trace_print_1<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(Term::bool(token(p).is_some()))
}
fn seq_trace_print_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [label, _] = *a else { return Err(p.badarg()) };
    let same = token(p).is_some_and(|t| kvik_ets::order::same(t[1], label));
    Ok(Term::bool(same))
}
