//! Tracing of processes: tracers, trace flags, and the trace messages. Calls are traced by native
//! code and `bifs`, ports by `kvik_port`; all other events are reported from here.

pub mod bit;
mod events;
pub(crate) mod gc;
pub mod module;
pub mod session;
mod settings;

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use kvik_heap::{Heap, OwnedTerm};
use kvik_sync::pin;
use kvik_term::{Atom, Term};

pub use crate::process::is_alive;
use crate::process::table;
use crate::signal::{deliver, message};
use crate::signal_types::Signal;
pub use crate::tracing_on::on;
use crate::{clock, Proc};
pub use module::TracerAnswer;
pub use session::{Session, SessionHandle, SessionRef};
pub use settings::{
    begin, forget, of, of_new, port_flags, refs, sessions_of, set, set_new, traces_new, Setting,
    TraceRef,
};

/// Names of flags, in the order `trace_info` gives them.
pub const FLAGS: &[(&str, u32)] = &[
    ("running_procs", bit::RUNNING_PROCS),
    ("running_ports", bit::RUNNING_PORTS),
    ("ports", bit::PORTS),
    ("scheduler_id", bit::SCHEDULER_ID),
    ("silent", bit::SILENT),
    ("return_to", bit::RETURN_TO),
    ("arity", bit::ARITY),
    ("garbage_collection", bit::GC),
    ("exiting", bit::EXITING),
    ("running", bit::RUNNING),
    ("set_on_first_link", bit::SET_ON_FIRST_LINK),
    ("set_on_link", bit::SET_ON_LINK),
    ("set_on_first_spawn", bit::SET_ON_FIRST_SPAWN),
    ("procs", bit::PROCS),
    ("call", bit::CALL),
    ("set_on_spawn", bit::SET_ON_SPAWN),
    ("receive", bit::RECEIVE),
    ("send", bit::SEND),
    ("monotonic_timestamp", bit::MONOTONIC),
    ("strict_monotonic_timestamp", bit::STRICT),
    ("timestamp", bit::TIMESTAMP),
];

/// The bit of a flag's name.
pub fn bit_of(flag: Atom) -> Option<u32> {
    match flag.name() {
        "all" => Some(bit::ALL),
        n => FLAGS.iter().find(|f| f.0 == n).map(|f| f.1),
    }
}

/// What may be traced.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Tracee {
    Process(u32),
    Port(u32),
}

impl Tracee {
    /// A process or port of this node.
    pub fn of(t: Term<'_>) -> Option<Tracee> {
        t.as_local_pid().map(Tracee::Process).or(t.as_local_port().map(Tracee::Port))
    }
    pub fn term(self) -> Term<'static> {
        match self {
            Tracee::Process(pid) => Term::local_pid(pid),
            Tracee::Port(port) => Term::local_port(port),
        }
    }
    pub fn is_there(self) -> bool {
        match self {
            Tracee::Process(pid) => is_alive(pid),
            Tracee::Port(port) => (crate::hooks::hooks().port.is_open)(port),
        }
    }
    /// Sends it a message: a process gets a message, a port's driver the same term in the external
    /// format. False: it is gone.
    pub fn hear(self, m: OwnedTerm) -> bool {
        match self {
            Tracee::Process(pid) => deliver(pid, Signal::Message(m)),
            Tracee::Port(port) => (crate::hooks::hooks().port.trace)(port, &m),
        }
    }
}

/// A module whose native functions are called for each event, and the state that it gets.
pub struct TracerModule {
    pub module: Atom,
    pub state: OwnedTerm,
}
/// The receiver of trace events.
#[derive(Clone)]
pub enum Tracer {
    To(Tracee),
    Module(Arc<TracerModule>),
}

impl Tracer {
    /// `{Module, State}`, or the process or port.
    pub fn term<'h>(&self, h: &'h Heap) -> Term<'h> {
        match self {
            Tracer::To(who) => who.term(),
            Tracer::Module(m) => h.tuple(&[m.module.into(), h.copy(m.state.term())]),
        }
    }
    /// Whether it still takes events about a process or port.
    pub fn is_enabled(&self, who: Term<'static>) -> bool {
        match self {
            Tracer::To(to) => to.is_there(),
            Tracer::Module(m) => module::status(m, who) != TracerAnswer::Remove,
        }
    }
    /// Whether it takes an event, before the event is made.
    pub fn takes(&self, who: Term<'static>, tag: &str) -> TracerAnswer {
        match self {
            Tracer::To(_) => TracerAnswer::Trace,
            Tracer::Module(m) => module::enabled(m, who, tag),
        }
    }
    pub fn is(&self, who: Tracee) -> bool {
        matches!(self, Tracer::To(to) if *to == who)
    }
}
impl PartialEq for Tracer {
    fn eq(&self, other: &Tracer) -> bool {
        match (self, other) {
            (Tracer::To(a), Tracer::To(b)) => a == b,
            (Tracer::Module(a), Tracer::Module(b)) => {
                let same = || kvik_term::cmp::eq_exact(a.state.term(), b.state.term());
                a.module == b.module && same()
            }
            _ => false,
        }
    }
}

kvik_state::vm_state! {
    /// Whether time stamps are in CPU time: the flag `cpu_timestamp`.
    static CPU_TIME: AtomicBool = AtomicBool::new(false);
}

pub fn set_cpu_time(on: bool) {
    CPU_TIME.store(on, Relaxed);
}

/// The time stamp that the flags ask for.
pub fn stamp(h: &Heap, flags: u32) -> Option<Term<'_>> {
    if flags & bit::TIMESTAMP != 0 {
        let t = match CPU_TIME.load(Relaxed) {
            true => kvik_env::clock::cpu_time_ns() as i64 / 1000,
            false => clock::unique_us(),
        };
        let part = |n: i64| h.integer(n);
        return Some(h.tuple(&[
            part(t / 1_000_000_000_000),
            part(t / 1_000_000 % 1_000_000),
            part(t % 1_000_000),
        ]));
    }
    if flags & bit::STRICT != 0 {
        let n = crate::unique::integer(h, true, false);
        return Some(h.tuple(&[h.integer(clock::monotonic()), n]));
    }
    (flags & bit::MONOTONIC != 0).then(|| h.integer(clock::monotonic()))
}

/// What an event reports, in the order of its message.
pub struct Event<'h> {
    what: Term<'h>,
    extra: Option<Term<'h>>,
    /// What a match specification adds.
    result: Option<Term<'h>>,
}
impl<'h> Event<'h> {
    pub fn of(what: Term<'h>) -> Event<'h> {
        Event { what, extra: None, result: None }
    }
    pub fn and(self, extra: Term<'h>) -> Event<'h> {
        Event { extra: Some(extra), ..self }
    }
    pub fn with_result(self, result: Option<Term<'h>>) -> Event<'h> {
        Event { result, ..self }
    }
}

fn scheduler_id(h: &Heap, flags: u32) -> Option<Term<'_>> {
    let id = || h.integer(crate::sched::current().map_or(0, |n| n + 1) as i64);
    (flags & bit::SCHEDULER_ID != 0).then(id)
}

/// Sends a tracer `{trace, Who, Tag, ...}`, with the scheduler and the time if flags ask for them.
/// False: it is gone.
pub fn post(
    tracer: &Tracer,
    who: Term<'static>,
    flags: u32,
    tag: &str,
    event: impl for<'h> Fn(&'h Heap) -> Event<'h>,
) -> bool {
    let to = match tracer {
        Tracer::To(to) if Tracee::of(who) == Some(*to) => return true,
        Tracer::To(to) => to,
        Tracer::Module(m) => return module::tell(m, who, flags, tag, event),
    };
    let m = message(|h| {
        let stamp = stamp(h, flags);
        let first = if stamp.is_some() { "trace_ts" } else { "trace" };
        let e = event(h);
        let mut all = vec![atom(first), who, atom(tag), e.what];
        all.extend(e.extra);
        all.extend(e.result);
        all.extend(scheduler_id(h, flags));
        all.extend(stamp);
        h.tuple(&all)
    });
    to.hear(m)
}
/// Reports an event to each tracer of a process or port that asks for it with one of these flags.
pub fn tell(who: Tracee, flags: u32, tag: &str, event: impl for<'h> Fn(&'h Heap) -> Event<'h>) {
    let hidden = |pid| table().get(pid, &pin()).is_some_and(|t| t.is_sensitive());
    if matches!(who, Tracee::Process(pid) if hidden(pid)) {
        return;
    }
    for r in refs(who, flags) {
        tell_one(who, &r, tag, &event);
    }
}
/// Reports an event to one tracer.
fn tell_one(who: Tracee, r: &TraceRef, tag: &str, event: impl for<'h> Fn(&'h Heap) -> Event<'h>) {
    let gone = match r.tracer.takes(who.term(), tag) {
        TracerAnswer::Trace => !post(&r.tracer, who.term(), r.flags, tag, event),
        TracerAnswer::Discard => false,
        TracerAnswer::Remove => true,
    };
    if gone {
        set(who, &r.session, 0, None);
    }
}
/// Reports a name that a process or port gets or loses.
pub fn tell_name(whose: Term<'_>, tag: &str, what: Atom) {
    let Some(who) = Tracee::of(whose).filter(|_| on()) else { return };
    let flag = if matches!(who, Tracee::Port(_)) { bit::PORTS } else { bit::PROCS };
    tell(who, flag, tag, |_| Event::of(what.into()));
}
pub(crate) fn atom(name: &str) -> Term<'static> {
    Atom::intern(name).map_or(Term::NIL, Term::from)
}

/// The verdict of match patterns on a message.
pub enum Verdict {
    Ignore,
    Tell,
    /// Reports it with an additional term.
    With(OwnedTerm),
}
/// Matches messages that are sent (`[To, Message]`) or received (`[Node, From, Message]`) with the
/// patterns of a session.
pub type Judge = for<'h> fn(&'h Proc, &SessionRef, sent: bool, args: &[Term<'h>]) -> Verdict;
kvik_state::vm_state! {
    static JUDGE: OnceLock<Judge> = OnceLock::new();
}

pub fn set_judge(j: Judge) -> bool {
    JUDGE.set(j).is_ok()
}
/// Called at time slices of processes whose calls are traced: `true` when one begins.
pub type TimeSliceHook = fn(&Proc, begins: bool);
kvik_state::vm_state! {
    static TURN: OnceLock<TimeSliceHook> = OnceLock::new();
}

pub fn set_turn(t: TimeSliceHook) -> bool {
    TURN.set(t).is_ok()
}
fn judge<'h>(p: &'h Proc, s: &SessionRef, sent: bool, args: &[Term<'h>]) -> Verdict {
    JUDGE.get().map_or(Verdict::Tell, |j| j(p, s, sent, args))
}
kvik_state::vm_state! {
    static RECLAIMED: OnceLock<fn(&Proc, words: i64)> = OnceLock::new();
}

/// Registers a function that is told how many words each collection reclaims. False if there is one
/// already.
pub fn on_reclaim(f: fn(&Proc, words: i64)) -> bool {
    RECLAIMED.set(f).is_ok()
}
