//! Tracing: `erlang:trace/3`, `trace_pattern/3` and what asks about them. What events there are
//! and how they are told is `kvik_proc::trace`'s; how calls are noticed, `kvik_jit::breaks`'.

mod calls;
mod info;
mod pattern;

use kvik_proc::trace;
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{am, Atom, Term};

pub const BIFS: &[BifEntry] = &[
    bif!("erts_internal", "trace", 3, trace_3),
    bif!("erts_internal", "trace_pattern", 3, pattern::trace_pattern_3),
    bif!("erlang", "trace_info", 2, info::trace_info_2),
    bif!("erlang", "trace_delivered", 1, trace_delivered_1),
];

/// Has native code tell us of calls that are watched.
pub fn install() {
    calls::install();
}

/// What a list of flags says: bits, and a tracer where one is named.
fn flags(list: Term<'_>) -> Option<(u32, Option<u32>)> {
    let (mut bits, mut tracer) = (0, None);
    for t in list.list_to_vec()? {
        if let Some(a) = t.as_atom() {
            bits |= trace::bit_of(a)?;
            continue;
        }
        let pid = match *t.as_tuple()?.elements() {
            [k, pid] if named(k, "tracer") => pid,
            [k, m, state] if named(k, "tracer") && named(m, "erl_tracer") => state,
            _ => return None,
        };
        tracer = Some(pid.as_local_pid()?);
    }
    Some((bits, tracer))
}
fn named(t: Term<'_>, name: &str) -> bool {
    t.as_atom().is_some_and(|a| a.name() == name)
}

/// One process. False where somebody else traces it already, or it would trace itself.
fn one(pid: u32, on: bool, bits: u32, tracer: u32) -> bool {
    let Some((old, by)) = trace::of(pid) else { return false };
    if !on {
        let left = old & !bits;
        return trace::set(pid, left, by.filter(|_| left != 0));
    }
    let by = by.filter(|t| *t != tracer && old != 0 && trace::is_alive(*t));
    if pid == tracer || by.is_some() || !trace::is_alive(tracer) {
        return false;
    }
    trace::set(pid, old | bits, Some(tracer))
}

fn trace_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let bad = || p.badarg();
    let on = a[1].as_bool().ok_or_else(bad)?;
    let (mut bits, tracer) = flags(a[2]).ok_or_else(bad)?;
    let tracer = tracer.unwrap_or(p.pid());
    let all = a[2].list().any(|t| t.is_atom(am::all));
    if all && !on {
        bits = !0;
    }
    if let Some(pid) = a[0].as_local_pid() {
        return if one(pid, on, bits, tracer) { Ok(Term::int(1)) } else { Err(bad()) };
    }
    if a[0].as_local_port().is_some() {
        // Ports tell nothing yet.
        return Err(p.notsup());
    }
    let which = a[0].as_atom().map_or("", Atom::name);
    let (existing, new) = match which {
        "all" | "processes" => (true, true),
        "existing" | "existing_processes" => (true, false),
        "new" | "new_processes" => (false, true),
        "ports" | "existing_ports" | "new_ports" => (false, false),
        _ => return Err(bad()),
    };
    if new {
        let (old, by) = trace::of_new();
        let bits = if on { old | bits } else { old & !bits };
        let by = if on { Some(tracer) } else { by.filter(|_| bits != 0) };
        trace::set_new(bits, by);
    }
    let mut count = 0;
    if existing {
        let pids = kvik_proc::process::table().numbers();
        count = pids.into_iter().filter(|pid| one(*pid, on, bits, tracer)).count();
    }
    Ok(p.heap.integer(count as i64))
}

/// Every event is a message that was sent when it happened: what came before this is delivered.
fn trace_delivered_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    if a[0].as_local_pid().is_none() && !a[0].is_atom(am::all) {
        return Err(p.badarg());
    }
    let r = p.heap.make_ref();
    let tag = Atom::intern("trace_delivered").map_err(|_| p.system_limit())?;
    let m = kvik_heap::OwnedTerm::new(p.heap.tuple(&[tag.into(), a[0], r]));
    kvik_proc::signal::deliver(p.pid(), kvik_proc::signal::Signal::Message(m));
    Ok(r)
}
