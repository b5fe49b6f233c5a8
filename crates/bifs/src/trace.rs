//! Tracing: `erlang:trace/3`, `trace_pattern/3` and trace information. Events and their delivery
//! are in `kvik_proc::trace`; call breakpoints in `kvik_jit::breakpoints`.

mod actions;
mod call_times;
mod calls;
mod info;
mod messages;
mod pattern;
mod time;
pub mod tracer;
mod watched;

pub use pattern::changed;

use kvik_proc::trace::{self, bit, Tracee, Tracer};
use kvik_proc::{bif, BifEntry, BifResult, Proc, Raised};
use kvik_term::{am, Atom, Term};

pub const BIFS: &[BifEntry] = &[
    bif!("erts_internal", "trace", 3, trace_3),
    bif!("erts_internal", "trace_pattern", 3, pattern::trace_pattern_3),
    bif!("erts_debug", "breakpoint", 2, pattern::breakpoint_2),
    bif!("erlang", "trace_info", 2, info::trace_info_2),
    bif!("erlang", "trace_delivered", 1, trace_delivered_1),
    bif!("erts_trace_cleaner", "check", 0, no_session_ended_0, since 27),
];

/// Installs the handlers that native code calls for traced functions.
pub fn install() {
    calls::install();
    messages::install();
}

/// A parsed flag list: bits, and the tracer if one is given.
struct Flags {
    bits: u32,
    tracer: Option<Tracer>,
    cpu_time: bool,
}
fn flags(p: &Proc, list: Term<'_>) -> Result<Flags, Raised> {
    let bad = || p.badarg_because(am::badopt);
    let mut all = Flags { bits: 0, tracer: None, cpu_time: false };
    for t in list.list_to_vec().ok_or_else(bad)? {
        if let Some(a) = t.as_atom() {
            match a.name() {
                "cpu_timestamp" => all.cpu_time = true,
                _ => all.bits |= trace::bit_of(a).ok_or_else(bad)?,
            }
            continue;
        }
        let by = match *t.as_tuple().ok_or_else(bad)?.elements() {
            [k, by] if named(k, "tracer") => by,
            // The predefined tracer module, which sends to a process or port.
            [k, m, state] if named(k, "tracer") && named(m, "erl_tracer") => state,
            _ => return Err(bad()),
        };
        all.tracer = Some(Tracer::of(by).ok_or_else(bad)?);
    }
    Ok(all)
}
fn named(t: Term<'_>, name: &str) -> bool {
    t.as_atom().is_some_and(|a| a.name() == name)
}

/// Sets the flags of one process or port. False if another tracer already traces it.
fn one(who: Tracee, on: bool, bits: u32, tracer: Option<Tracer>) -> bool {
    let Some((old, by)) = trace::of(who) else { return false };
    if tracer.is_some() && old != 0 && by != tracer {
        return false;
    }
    let new = if on { old | bits } else { old & !bits };
    trace::set(who, new, tracer.or(by))
}

fn trace_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let bad = || p.badarg();
    let Flags { bits, mut tracer, cpu_time } = flags(p, a[2])?;
    let on = a[1].as_bool().ok_or_else(bad)?;
    if on {
        tracer = tracer.or(Some(p.tracee()));
    }
    if let Some(who) = Tracee::of(a[0]) {
        if matches!(who, Tracee::Port(_)) && !who.is_there() {
            return Err(bad());
        }
        return if !cpu_time && one(who, on, bits, tracer) { Ok(Term::int(1)) } else { Err(bad()) };
    }
    // Which ones are selected: existing ones, new ones; processes, ports.
    let (existing, new, processes, ports) = match a[0].as_atom().map_or("", Atom::name) {
        "all" => (true, true, true, true),
        "existing" => (true, false, true, true),
        "new" => (false, true, true, true),
        "processes" => (true, true, true, false),
        "existing_processes" => (true, false, true, false),
        "new_processes" => (false, true, true, false),
        "ports" => (true, true, false, true),
        "existing_ports" => (true, false, false, true),
        "new_ports" => (false, true, false, true),
        _ => return Err(bad()),
    };
    if cpu_time && !(existing && new && processes && ports) {
        return Err(bad());
    }
    if cpu_time {
        trace::set_cpu_time(on);
    }
    let mut count = 0;
    if existing {
        let common = bits & bit::COMMON != 0;
        if processes && (common || bits & bit::OF_PROCESSES != 0) {
            let all = kvik_proc::process::table().numbers().into_iter();
            count += all.filter(|n| one(Tracee::Process(*n), on, bits, tracer)).count();
        }
        if ports && (common || bits & bit::OF_PORTS != 0) {
            let all = kvik_port::table::all().into_iter().filter(|p| p.is_open());
            count += all.filter(|p| one(Tracee::Port(p.id), on, bits, tracer)).count();
        }
    }
    for (of_ports, mask) in [(false, bit::OF_PROCESSES), (true, bit::OF_PORTS)] {
        let meant = if of_ports { ports } else { processes };
        if !new || !meant || bits & mask == 0 {
            continue;
        }
        let (old, by) = trace::of_new(of_ports);
        let flags = if on { old | bits & mask } else { old & !bits };
        trace::set_new(of_ports, flags, tracer.or(by));
    }
    Ok(p.heap.integer(count as i64))
}

/// Whether a trace session has ended and must be removed from processes. Only the first session
/// exists, and it never ends.
fn no_session_ended_0<'h>(_: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(Term::bool(false))
}

/// Events are delivered when they happen, as messages or as port output that is handled before any
/// later request, so all earlier events are already delivered.
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
