//! Tracing of processes: tracers, trace flags, and the trace messages. Calls are traced by native
//! code and `bifs`, ports by `kvik_port`; all other events are reported from here.

pub mod bit;
mod events;
mod gc;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, OnceLock};

use kvik_heap::{Heap, OwnedTerm};
use kvik_sync::pin;
use kvik_term::{Atom, Term};

pub use crate::process::is_alive;
use crate::process::table;
use crate::signal::{deliver, message};
use crate::signal_types::Signal;
pub use crate::tracing_on::on;
use crate::tracing_on::{self, User};
use crate::{clock, Proc};

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
/// The receiver of trace messages: a process gets messages, a port's driver the same terms in the
/// external format.
pub type Tracer = Tracee;

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
    /// Sends a tracer a message. False: it is gone.
    pub fn hear(self, m: OwnedTerm) -> bool {
        match self {
            Tracee::Process(pid) => deliver(pid, Signal::Message(m)),
            Tracee::Port(port) => (crate::hooks::hooks().port.trace)(port, &m),
        }
    }
}

/// Flags, and the tracer.
pub type Setting = (u32, Option<Tracer>);

#[derive(Default)]
struct State {
    /// The tracer of each traced process.
    tracers: HashMap<u32, Tracer>,
    ports: HashMap<u32, (u32, Tracer)>,
    /// Settings for new processes and ports.
    new: Setting,
    new_ports: Setting,
}
impl State {
    fn settle(&self) {
        let idle = self.tracers.is_empty()
            && self.ports.is_empty()
            && self.new.1.is_none()
            && self.new_ports.1.is_none();
        tracing_on::update(User::Tracers, || !idle);
    }
}
kvik_state::vm_state! {
    static STATE: Mutex<Option<State>> = Mutex::new(None);
}

fn with<R>(f: impl FnOnce(&mut State) -> R) -> R {
    let mut s: MutexGuard<'_, Option<State>> = STATE.lock().unwrap_or_else(|e| e.into_inner());
    let s = s.get_or_insert_with(State::default);
    let r = f(s);
    s.settle();
    r
}

/// The flags and tracer of a process or port; `None` if there is no such process. A tracer that has
/// ended does not count.
pub fn of(who: Tracee) -> Option<Setting> {
    let (flags, tracer) = match who {
        Tracee::Process(pid) => {
            let flags = table().get(pid, &pin())?.trace();
            (flags, with(|s| s.tracers.get(&pid).copied()))
        }
        Tracee::Port(port) => {
            with(|s| s.ports.get(&port).copied()).map_or((0, None), |s| (s.0, Some(s.1)))
        }
    };
    match tracer {
        Some(t) if flags != 0 && !t.is_there() => {
            set(who, 0, None);
            Some((0, None))
        }
        _ => Some((flags, tracer)),
    }
}
/// The settings of new processes (or ports).
pub fn of_new(ports: bool) -> Setting {
    let (flags, tracer) = with(|s| if ports { s.new_ports } else { s.new });
    match tracer {
        Some(t) if t.is_there() => (flags, tracer),
        Some(_) => {
            set_new(ports, 0, None);
            (0, None)
        }
        None => (0, None),
    }
}
pub fn set_new(ports: bool, flags: u32, tracer: Option<Tracer>) {
    let tracer = tracer.filter(|_| flags != 0);
    let new = (tracer.map_or(0, |_| flags), tracer);
    with(|s| *(if ports { &mut s.new_ports } else { &mut s.new }) = new);
}
/// Sets the flags of a process or port. False: there is no such process.
pub fn set(who: Tracee, flags: u32, tracer: Option<Tracer>) -> bool {
    let tracer = tracer.filter(|_| flags != 0);
    let pid = match who {
        Tracee::Process(pid) => pid,
        Tracee::Port(port) => {
            with(|s| match tracer {
                Some(t) => s.ports.insert(port, (flags, t)),
                None => s.ports.remove(&port),
            });
            return true;
        }
    };
    let guard = pin();
    let Some(task) = table().get(pid, &guard) else { return false };
    with(|s| match tracer {
        Some(t) => s.tracers.insert(pid, t),
        None => s.tracers.remove(&pid),
    });
    task.set_trace(if tracer.is_some() { flags } else { 0 });
    // It may have ended meanwhile, and then nothing else would remove its entry.
    if table().get(pid, &pin()).is_none() {
        forget(who);
        return false;
    }
    true
}
/// Removes the entry of a process or port that has ended.
pub fn forget(who: Tracee) {
    with(|s| match who {
        Tracee::Process(pid) => s.tracers.remove(&pid).map(|_| ()),
        Tracee::Port(port) => s.ports.remove(&port).map(|_| ()),
    });
}
kvik_state::vm_state! {
    static UNIQUE: AtomicU64 = AtomicU64::new(1);
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
        let n = UNIQUE.fetch_add(1, Relaxed);
        return Some(h.tuple(&[h.integer(clock::monotonic()), h.integer(n as i64)]));
    }
    (flags & bit::MONOTONIC != 0).then(|| h.integer(clock::monotonic()))
}

/// Sends a tracer `{trace, Who, Tag, ...}`, with the scheduler and the time if flags ask for them.
/// False: it is gone.
pub fn post(
    tracer: Tracer,
    who: Term<'static>,
    flags: u32,
    tag: &str,
    parts: impl for<'h> FnOnce(&'h Heap) -> Vec<Term<'h>>,
) -> bool {
    if Tracee::of(who) == Some(tracer) {
        return true;
    }
    let m = message(|h| {
        let stamp = stamp(h, flags);
        let first = if stamp.is_some() { "trace_ts" } else { "trace" };
        let mut all = vec![atom(first), who, atom(tag)];
        all.extend(parts(h));
        if flags & bit::SCHEDULER_ID != 0 {
            let id = crate::sched::current().map_or(0, |n| n + 1);
            all.push(h.integer(id as i64));
        }
        all.extend(stamp);
        h.tuple(&all)
    });
    tracer.hear(m)
}
/// Reports an event to the tracer of a process or port.
pub fn tell(who: Tracee, tag: &str, parts: impl for<'h> FnOnce(&'h Heap) -> Vec<Term<'h>>) {
    if let Some((flags, Some(_))) = of(who) {
        tell_as(who, flags, tag, parts)
    }
}
/// The same with the flags known.
fn tell_as(
    who: Tracee,
    flags: u32,
    tag: &str,
    parts: impl for<'h> FnOnce(&'h Heap) -> Vec<Term<'h>>,
) {
    let tracer = match who {
        Tracee::Process(pid) => with(|s| s.tracers.get(&pid).copied()),
        Tracee::Port(port) => with(|s| s.ports.get(&port).map(|p| p.1)),
    };
    let hidden = |pid| table().get(pid, &pin()).is_some_and(|t| t.is_sensitive());
    let Some(tracer) = tracer.filter(|_| !matches!(who, Tracee::Process(pid) if hidden(pid)))
    else {
        return;
    };
    if flags != 0 && !post(tracer, who.term(), flags, tag, parts) {
        set(who, 0, None);
    }
}
/// Reports a name that a process or port gets or loses.
pub fn tell_name(whose: Term<'_>, tag: &str, what: Atom) {
    let Some(who) = Tracee::of(whose).filter(|_| on()) else { return };
    let flag = if matches!(who, Tracee::Port(_)) { bit::PORTS } else { bit::PROCS };
    if of(who).is_some_and(|(flags, _)| flags & flag != 0) {
        tell(who, tag, |_| vec![what.into()]);
    }
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
/// Matches messages that are sent (`[To, Message]`) or received (`[Node, From, Message]`).
pub type Judge = for<'h> fn(&'h Proc, sent: bool, args: &[Term<'h>]) -> Verdict;
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
pub(crate) fn judge<'h>(p: &'h Proc, sent: bool, args: &[Term<'h>]) -> Verdict {
    JUDGE.get().map_or(Verdict::Tell, |j| j(p, sent, args))
}
