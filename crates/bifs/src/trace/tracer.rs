//! The BIFs of `erl_tracer`, the tracer module that sends events to a process or port.

use kvik_heap::OwnedTerm;
use kvik_proc::trace::Tracee;
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{am, map, Atom, Term};

pub const BIFS: &[BifEntry] =
    &[bif!("erl_tracer", "enabled", 3, enabled_3), bif!("erl_tracer", "trace", 5, trace_5)];

fn atom<'h>(p: &'h Proc, name: &str) -> BifResult<'h> {
    Ok(Atom::intern(name).map_err(|_| p.system_limit())?.into())
}
/// `enabled(Tag, State, Tracee)`: a process does not trace itself, and a tracer that has ended is
/// removed.
fn enabled_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [_, state, tracee] = *a else { return Err(p.badarg()) };
    match Tracee::of(state).filter(|t| t.is_there()) {
        None => atom(p, "remove"),
        Some(_) if state.same(tracee) => atom(p, "discard"),
        Some(_) => atom(p, "trace"),
    }
}
/// `trace(Tag, State, Tracee, Term, Options)`: sends the event as a message.
fn trace_5<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [tag, state, tracee, what, options] = *a else { return Err(p.badarg()) };
    let (Some(to), Some(options)) = (Tracee::of(state), options.as_map()) else {
        return Err(p.badarg());
    };
    let option = |name: &str| Atom::existing(name).and_then(|k| map::get(options, k.into()));
    let stamp = option("timestamp");
    let mut all: Vec<Term<'h>> = Vec::new();
    if tag.is_atom(am::seq_trace) {
        all.extend([tag, tracee, what]);
    } else {
        let first = if stamp.is_some() { "trace_ts" } else { "trace" };
        all.extend([atom(p, first)?, tracee, tag, what]);
        let more = ["extra", "match_spec_result", "scheduler_id"];
        all.extend(more.into_iter().filter_map(option));
    }
    all.extend(stamp);
    to.hear(OwnedTerm::new(p.heap.tuple(&all)));
    Ok(am::ok.into())
}
