//! Tracing: `erlang:trace/3`, `trace_pattern/3`, trace information, and trace sessions. Events and
//! their delivery are in `kvik_proc::trace`; call breakpoints in `kvik_jit::breakpoints`.

mod accounts;
mod actions;
mod calls;
mod charges;
mod info;
mod messages;
mod on_load;
mod pattern;
mod sessions;
pub mod tracer;
mod watched;

pub use pattern::changed;
pub use sessions::session_of;

use std::sync::Arc;

use kvik_heap::OwnedTerm;
use kvik_proc::trace::{self, bit, session, SessionRef, Tracee, Tracer, TracerModule};
use kvik_proc::{bif, BifEntry, BifResult, Proc, Raised};
use kvik_term::{am, Atom, Term};

use sessions::session_arg;

pub const BIFS: &[BifEntry] = &[
    bif!("erts_internal", "trace", 3, trace_3),
    bif!("erts_internal", "trace_pattern", 3, pattern::trace_pattern_3),
    bif!("erts_debug", "breakpoint", 2, pattern::breakpoint_2),
    bif!("erlang", "trace_info", 2, info::trace_info_2),
    bif!("erlang", "trace_delivered", 1, trace_delivered_1),
    bif!("erts_internal", "trace", 4, trace_4, since 27),
    bif!("erts_internal", "trace_pattern", 4, pattern::trace_pattern_4, since 27),
    bif!("erts_internal", "trace_info", 3, info::trace_info_3, since 27),
    bif!("erts_internal", "trace_session_create", 3, sessions::create_3, since 27),
    bif!("erts_internal", "trace_session_destroy", 1, sessions::destroy_1, since 27),
    bif!("erts_trace_cleaner", "check", 0, sessions::check_0, since 27),
    bif!("erts_trace_cleaner", "send_trace_clean_signal", 1, sessions::clean_1, since 27),
];

/// Installs the handlers that native code calls for traced functions.
pub fn install() {
    calls::install();
    messages::install();
    sessions::install();
}

/// A parsed flag list: bits, and the tracer if one is given.
struct Flags {
    bits: u32,
    tracer: Option<Tracer>,
    cpu_time: bool,
}
fn flags(p: &Proc, s: &SessionRef, list: Term<'_>) -> Result<Flags, Raised> {
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
        if s.tracer().is_some() {
            return Err(bad());
        }
        all.tracer = Some(named_tracer("tracer", t).ok_or_else(bad)?);
    }
    Ok(all)
}
/// The tracer in `{Key, Pid}`, `{Key, Port}` or `{Key, Module, State}`.
fn named_tracer(key: &str, t: Term<'_>) -> Option<Tracer> {
    match *t.as_tuple()?.elements() {
        [k, by] if named(k, key) => tracer_of(by),
        [k, m, state] if named(k, key) => module_tracer(m, state),
        _ => None,
    }
}
/// A process, port or `{Module, State}` as a tracer.
pub fn tracer_of(t: Term<'_>) -> Option<Tracer> {
    match t.as_tuple_n::<2>() {
        Some([m, state]) => module_tracer(m, state),
        None => Tracee::of(t).map(Tracer::To),
    }
}
fn module_tracer(m: Term<'_>, state: Term<'_>) -> Option<Tracer> {
    let module = m.as_atom()?;
    // The predefined tracer module, which sends to a process or port.
    if module.name() == "erl_tracer" {
        return Tracee::of(state).map(Tracer::To);
    }
    let made = || Arc::new(TracerModule { module, state: OwnedTerm::new(state) });
    trace::module::is_tracer(module).then(|| Tracer::Module(made()))
}
fn named(t: Term<'_>, name: &str) -> bool {
    t.as_atom().is_some_and(|a| a.name() == name)
}

/// Sets the flags of one process or port. False if another tracer already traces it.
fn one(s: &SessionRef, who: Tracee, on: bool, bits: u32, tracer: Option<&Tracer>) -> bool {
    let Some((old, by)) = trace::of(who, s) else { return false };
    if on && tracer.is_some() && old != 0 && by.as_ref() != tracer {
        return false;
    }
    let new = if on { old | bits } else { old & !bits };
    trace::set(who, s, new, tracer.cloned().or(by))
}

fn trace_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    set_flags(p, session::default(), a)
}
fn trace_4<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    set_flags(p, &session_arg(p, a[0])?, &a[1..])
}
fn set_flags<'h>(p: &'h Proc, s: &SessionRef, a: &[Term<'h>]) -> BifResult<'h> {
    let bad = || p.badarg();
    let Flags { bits, mut tracer, cpu_time } = flags(p, s, a[2])?;
    let on = a[1].as_bool().ok_or_else(bad)?;
    if on {
        let own = || s.tracer().cloned().unwrap_or(Tracer::To(p.tracee()));
        tracer = tracer.or_else(|| Some(own()));
    }
    let one = |who| one(s, who, on, bits, tracer.as_ref());
    if let Some(who) = Tracee::of(a[0]) {
        if matches!(who, Tracee::Port(_)) && !who.is_there() {
            return Err(bad());
        }
        return if !cpu_time && one(who) { Ok(Term::int(1)) } else { Err(bad()) };
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
            count += all.filter(|n| one(Tracee::Process(*n))).count();
        }
        if ports && (common || bits & bit::OF_PORTS != 0) {
            let all = kvik_port::table::all().into_iter().filter(|p| p.is_open());
            count += all.filter(|p| one(Tracee::Port(p.id))).count();
        }
    }
    for (of_ports, mask) in [(false, bit::OF_PROCESSES), (true, bit::OF_PORTS)] {
        let meant = if of_ports { ports } else { processes };
        if !new || !meant || bits & mask == 0 {
            continue;
        }
        let (old, by) = trace::of_new(of_ports, s);
        let flags = if on { old | bits & mask } else { old & !bits };
        trace::set_new(of_ports, s, flags, tracer.clone().or(by));
    }
    Ok(p.heap.integer(count as i64))
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
