//! Tracers that are modules. Their native functions `enabled` and `trace`, or more special ones, are
//! called where an event happens, by whatever thread.

use std::sync::OnceLock;

use kvik_heap::{Heap, OwnedTerm};
use kvik_term::{am, Atom, Term};

use super::{atom, bit, scheduler_id, Event, TracerModule, CPU_TIME};

/// What `enabled` answers.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum TracerAnswer {
    Trace,
    Discard,
    Remove,
}

/// Functions of NIF libraries.
#[derive(Copy, Clone)]
pub struct NativeFunctions {
    /// Whether a module's library has a function.
    pub has: fn(Atom, name: &str, arity: usize) -> bool,
    /// Calls it on behalf of a process or of none; `None` if it does not exist.
    pub call: fn(Atom, name: &str, caller: Option<u32>, args: &[Term<'_>]) -> Option<OwnedTerm>,
}
kvik_state::vm_state! {
    static FUNCTIONS: OnceLock<NativeFunctions> = OnceLock::new();
}

/// Sets the functions that call NIF libraries. False if they were set before.
pub fn set_functions(f: NativeFunctions) -> bool {
    FUNCTIONS.set(f).is_ok()
}

const ENABLED_ARITY: usize = 3;
const TRACE_ARITY: usize = 5;

/// Whether a module is a tracer: it must have the two functions that all events may use.
pub fn is_tracer(m: Atom) -> bool {
    let has = |f: &NativeFunctions| {
        (f.has)(m, "enabled", ENABLED_ARITY) && (f.has)(m, "trace", TRACE_ARITY)
    };
    FUNCTIONS.get().is_some_and(has)
}

/// The suffix of the special functions for an event; sequential tracing has none.
fn kind(tag: &str, who: Term<'_>) -> Option<&'static str> {
    let of_port = who.as_local_port().is_some();
    Some(match tag {
        "seq_trace" => return None,
        "call" | "return_from" | "return_to" | "exception_from" => "call",
        "send" | "send_to_non_existing_process" => "send",
        "receive" => "receive",
        "gc_minor_start" | "gc_minor_end" | "gc_major_start" | "gc_major_end" => {
            "garbage_collection"
        }
        "in" | "out" | "in_exiting" | "out_exiting" | "out_exited" if of_port => "running_ports",
        "in" | "out" | "in_exiting" | "out_exiting" | "out_exited" => "running_procs",
        _ if of_port => "ports",
        _ => "procs",
    })
}
fn call(
    m: Atom,
    base: &str,
    kind: Option<&str>,
    caller: Option<u32>,
    args: &[Term<'_>],
) -> Option<OwnedTerm> {
    let f = FUNCTIONS.get()?;
    let special = kind.map(|kind| format!("{base}_{kind}"));
    let special = special.filter(|name| (f.has)(m, name, args.len()));
    (f.call)(m, special.as_deref().unwrap_or(base), caller, args)
}

fn is_named(answer: &OwnedTerm, name: &str) -> bool {
    answer.term().as_atom().is_some_and(|a| a.name() == name)
}
/// Whether the tracer still takes events about a process or port.
pub fn status(t: &TracerModule, who: Term<'static>) -> TracerAnswer {
    let args = [atom("trace_status"), t.state.term(), who];
    match call(t.module, "enabled", None, None, &args) {
        Some(answer) if !is_named(&answer, "remove") => TracerAnswer::Trace,
        _ => TracerAnswer::Remove,
    }
}
/// Whether it takes this event.
pub fn enabled(t: &TracerModule, who: Term<'static>, tag: &str) -> TracerAnswer {
    let args = [atom(tag), t.state.term(), who];
    match call(t.module, "enabled", kind(tag, who), None, &args) {
        Some(a) if is_named(&a, "trace") => TracerAnswer::Trace,
        Some(a) if is_named(&a, "remove") => TracerAnswer::Remove,
        _ => TracerAnswer::Discard,
    }
}
/// Gives it an event.
pub fn tell(
    t: &TracerModule,
    who: Term<'_>,
    flags: u32,
    tag: &str,
    event: impl for<'h> Fn(&'h Heap) -> Event<'h>,
) -> bool {
    let h = Heap::detached();
    let e = event(&h);
    let mut options: Vec<(Term<'_>, Term<'_>)> = Vec::new();
    options.extend(e.extra.map(|t| (atom("extra"), t)));
    options.extend(e.result.map(|t| (atom("match_spec_result"), t)));
    options.extend(scheduler_id(&h, flags).map(|n| (am::scheduler_id.into(), n)));
    options.extend(stamp(flags).map(|s| (am::timestamp.into(), atom(s))));
    let args = [atom(tag), t.state.term(), who, e.what, h.map(&options)];
    let kind = kind(tag, who);
    call(t.module, "trace", kind, caller(kind, who), &args).is_some()
}
/// The process that causes an event of a kind about itself. Other events may come from anywhere.
fn caller(kind: Option<&str>, who: Term<'_>) -> Option<u32> {
    let its_own = matches!(kind?, "call" | "send" | "running_procs" | "garbage_collection");
    who.as_local_pid().filter(|_| its_own)
}
/// The name of the time stamp that it is to add.
fn stamp(flags: u32) -> Option<&'static str> {
    let cpu = || CPU_TIME.load(std::sync::atomic::Ordering::Relaxed);
    match flags {
        f if f & bit::TIMESTAMP != 0 && cpu() => Some("cpu_timestamp"),
        f if f & bit::TIMESTAMP != 0 => Some("timestamp"),
        f if f & bit::STRICT != 0 => Some("strict_monotonic"),
        f if f & bit::MONOTONIC != 0 => Some("monotonic"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_a_process_about_itself_have_a_caller() {
        let (process, port) = (Term::local_pid(7), Term::local_port(7));
        let of = |tag, who| caller(kind(tag, who), who);
        for tag in ["call", "return_to", "exception_from", "send", "in", "out", "gc_minor_end"] {
            assert_eq!(of(tag, process), Some(7), "{tag}");
        }
        for tag in ["receive", "spawned", "exit", "link", "seq_trace"] {
            assert_eq!(of(tag, process), None, "{tag}");
        }
        for tag in ["send", "in", "open"] {
            assert_eq!(of(tag, port), None, "{tag}");
        }
    }
}
