//! Tracing of processes: who traces whom and for what, and the messages that tell of it. Calls are
//! the business of native code and of `bifs`; all other events are told from here.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};

use kvik_heap::{Heap, OwnedTerm};
use kvik_sync::pin;
use kvik_term::{am, Atom, Term};

use crate::process::table;
use crate::signal::{deliver, message, Signal};
use crate::{clock, Proc};

/// What a process is traced for, and how.
pub mod bit {
    pub const SEND: u32 = 1;
    pub const RECEIVE: u32 = 2;
    pub const PROCS: u32 = 4;
    pub const CALL: u32 = 8;
    pub const RETURN_TO: u32 = 16;
    pub const RUNNING: u32 = 32;
    pub const EXITING: u32 = 64;
    pub const GC: u32 = 128;
    pub const SILENT: u32 = 256;
    pub const ARITY: u32 = 512;
    pub const TIMESTAMP: u32 = 1 << 10;
    pub const MONOTONIC: u32 = 1 << 11;
    pub const STRICT: u32 = 1 << 12;
    pub const SET_ON_SPAWN: u32 = 1 << 13;
    pub const SET_ON_FIRST_SPAWN: u32 = 1 << 14;
    pub const SET_ON_LINK: u32 = 1 << 15;
    pub const SET_ON_FIRST_LINK: u32 = 1 << 16;
    pub const PORTS: u32 = 1 << 17;
    pub const RUNNING_PORTS: u32 = 1 << 18;
    /// What `all` stands for.
    pub const ALL: u32 = (1 << 19) - 1 - SILENT - RUNNING_PORTS;
    pub const STAMPS: u32 = TIMESTAMP | MONOTONIC | STRICT;
}

/// Names of flags, in the order `trace_info` gives them.
pub const FLAGS: &[(&str, u32)] = &[
    ("send", bit::SEND),
    ("receive", bit::RECEIVE),
    ("set_on_spawn", bit::SET_ON_SPAWN),
    ("call", bit::CALL),
    ("procs", bit::PROCS),
    ("set_on_first_spawn", bit::SET_ON_FIRST_SPAWN),
    ("set_on_link", bit::SET_ON_LINK),
    ("running", bit::RUNNING),
    ("garbage_collection", bit::GC),
    ("set_on_first_link", bit::SET_ON_FIRST_LINK),
    ("timestamp", bit::TIMESTAMP),
    ("monotonic_timestamp", bit::MONOTONIC),
    ("strict_monotonic_timestamp", bit::STRICT),
    ("arity", bit::ARITY),
    ("return_to", bit::RETURN_TO),
    ("silent", bit::SILENT),
    ("exiting", bit::EXITING),
    ("ports", bit::PORTS),
    ("running_ports", bit::RUNNING_PORTS),
];

/// What a flag's name stands for.
pub fn bit_of(flag: Atom) -> Option<u32> {
    match flag.name() {
        "all" => Some(bit::ALL & !bit::STAMPS),
        n => FLAGS.iter().find(|f| f.0 == n).map(|f| f.1),
    }
}

/// Was anything ever traced? One word that all schedulers read.
static ON: AtomicBool = AtomicBool::new(false);

#[inline]
pub fn on() -> bool {
    ON.load(Relaxed)
}

#[derive(Default)]
struct State {
    /// By whom a process is traced: a local pid.
    tracers: HashMap<u32, u32>,
    /// What new processes begin with.
    new: u32,
    new_tracer: Option<u32>,
}
static STATE: Mutex<Option<State>> = Mutex::new(None);

fn with<R>(f: impl FnOnce(&mut State) -> R) -> R {
    let mut s: MutexGuard<'_, Option<State>> = STATE.lock().unwrap_or_else(|e| e.into_inner());
    f(s.get_or_insert_with(State::default))
}

/// The flags and tracer of a process; `None` where there is no such process.
pub fn of(pid: u32) -> Option<(u32, Option<u32>)> {
    let guard = pin();
    let flags = table().get(pid, &guard)?.trace();
    Some((flags, with(|s| s.tracers.get(&pid).copied())))
}
/// The flags and tracer that new processes get.
pub fn of_new() -> (u32, Option<u32>) {
    with(|s| (s.new, s.new_tracer))
}
pub fn set_new(flags: u32, tracer: Option<u32>) {
    ON.store(true, Relaxed);
    with(|s| (s.new, s.new_tracer) = (flags, tracer));
}
/// Sets the flags of a process. False: there is none.
pub fn set(pid: u32, flags: u32, tracer: Option<u32>) -> bool {
    ON.store(true, Relaxed);
    let guard = pin();
    let Some(task) = table().get(pid, &guard) else { return false };
    with(|s| match tracer.filter(|_| flags != 0) {
        Some(t) => s.tracers.insert(pid, t),
        None => s.tracers.remove(&pid),
    });
    task.set_trace(if tracer.is_some() { flags } else { 0 });
    true
}
/// Is that process there?
pub fn is_alive(pid: u32) -> bool {
    table().get(pid, &pin()).is_some()
}

static UNIQUE: AtomicU64 = AtomicU64::new(1);

/// The time as flags ask for it.
pub fn stamp(h: &Heap, flags: u32) -> Option<Term<'_>> {
    if flags & bit::TIMESTAMP != 0 {
        let t = clock::system() / 1000;
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

/// `{trace, Pid, Tag, ...}` to a tracer, with the time where flags ask for it. False: it is gone.
pub fn post(
    tracer: u32,
    pid: u32,
    flags: u32,
    tag: Atom,
    parts: impl for<'h> FnOnce(&'h Heap) -> Vec<Term<'h>>,
) -> bool {
    let m = message(|h| {
        let stamp = stamp(h, flags);
        let first = if stamp.is_some() { "trace_ts" } else { "trace" };
        let mut all = vec![atom(first), Term::local_pid(pid), tag.into()];
        all.extend(parts(h));
        all.extend(stamp);
        h.tuple(&all)
    });
    deliver(tracer, Signal::Message(m))
}
fn atom(name: &str) -> Term<'static> {
    Atom::intern(name).map_or(Term::NIL, Term::from)
}
fn name(name: &str) -> Atom {
    Atom::intern(name).unwrap_or(am::undefined)
}

impl Proc {
    pub fn trace_flags(&self) -> u32 {
        self.me.as_ref().map_or(0, |m| m.trace())
    }
    /// Is it traced for that, and not by a tracer that is gone?
    #[inline]
    pub fn is_traced(&self, flags: u32) -> bool {
        on() && self.trace_flags() & flags != 0
    }
    /// Tells of an event, where the process is traced at all.
    pub fn trace(&self, tag: Atom, parts: impl for<'h> FnOnce(&'h Heap) -> Vec<Term<'h>>) {
        let Some((flags, Some(tracer))) = of(self.pid()) else { return };
        if flags == 0 || tracer == self.pid() {
            return;
        }
        if !post(tracer, self.pid(), flags, tag, parts) {
            set(self.pid(), 0, None);
        }
    }
    #[cold]
    pub(crate) fn trace_send(&self, to: Term<'_>, m: Term<'_>) {
        let (to, m) = (OwnedTerm::new(to), OwnedTerm::new(m));
        let there = match to.term().as_local_pid() {
            Some(pid) => is_alive(pid),
            None => true,
        };
        let tag = name(if there { "send" } else { "send_to_non_existing_process" });
        self.trace(tag, |h| vec![h.copy(m.term()), h.copy(to.term())]);
    }
    #[cold]
    pub fn trace_receive(&self, m: Term<'_>) {
        let m = OwnedTerm::new(m);
        self.trace(am::receive, |h| vec![h.copy(m.term())]);
    }
    /// An event of a process's life, with one term.
    #[inline]
    pub fn trace_procs(&self, tag: &str, what: Term<'_>) {
        if self.is_traced(bit::PROCS) {
            let what = OwnedTerm::new(what);
            self.trace(name(tag), |h| vec![h.copy(what.term())]);
        }
    }
    /// A turn begins or ends, at a function.
    #[cold]
    pub(crate) fn trace_turn(&self, tag: &str) {
        if !self.is_traced(bit::RUNNING) {
            return;
        }
        let at = OwnedTerm::new((crate::hooks::hooks().stacktrace)(self, &self.heap, false, 1));
        let (m, f, a) = self.initial_call();
        self.trace(name(tag), |h| {
            let line = at.term().as_cons().and_then(|c| c.head().as_tuple_n::<4>());
            vec![match line {
                Some([m, f, a, _]) => h.tuple(&[h.copy(m), h.copy(f), h.copy(a)]),
                None => h.tuple(&[m.into(), f.into(), Term::int(a as i32)]),
            }]
        });
    }
    /// This process has just made another: tells of it, and hands on what is to be handed on.
    #[cold]
    pub(crate) fn trace_spawn(&self, child: &Proc, m: Atom, f: Atom, args: Term<'_>) {
        let (new, new_tracer) = of_new();
        if let (true, Some(t)) = (new != 0, new_tracer) {
            set(child.pid(), new, Some(t));
        }
        let Some((flags, tracer)) = of(self.pid()) else { return };
        let Some(tracer) = tracer.filter(|_| flags != 0) else { return };
        self.hand_on((flags, tracer), child.pid(), bit::SET_ON_SPAWN, bit::SET_ON_FIRST_SPAWN);
        let args = OwnedTerm::new(args);
        if flags & bit::PROCS != 0 {
            let pid = child.self_pid();
            self.trace(name("spawn"), |h| vec![pid, three(h, m, f, &args)]);
        }
        if child.is_traced(bit::PROCS) {
            let pid = self.self_pid();
            child.trace(name("spawned"), |h| vec![pid, three(h, m, f, &args)]);
        }
    }
    /// The process links to another: that one may be traced from now on.
    #[cold]
    pub(crate) fn trace_link(&self, to: Term<'static>) {
        self.trace_procs("link", to);
        let Some((flags, Some(tracer))) = of(self.pid()) else { return };
        let Some(pid) = to.as_local_pid() else { return };
        self.hand_on((flags, tracer), pid, bit::SET_ON_LINK, bit::SET_ON_FIRST_LINK);
    }
    /// Another process is traced as this one is, where a flag says so: each time, or the first.
    fn hand_on(&self, (flags, tracer): (u32, u32), to: u32, each_time: u32, once: u32) {
        if flags & (each_time | once) == 0 {
            return;
        }
        let first = bit::SET_ON_FIRST_SPAWN | bit::SET_ON_FIRST_LINK;
        let mut inherited = flags;
        if flags & each_time == 0 {
            inherited &= !(first | each_time);
            set(self.pid(), flags & !first, Some(tracer));
        }
        set(to, inherited, Some(tracer));
    }
    /// The process is at its end.
    #[cold]
    pub(crate) fn trace_exit(&self, reason: &OwnedTerm) {
        self.trace_procs("exit", reason.term());
        if self.trace_flags() != 0 {
            if let Some(name) = self.name() {
                self.trace_procs("unregister", name.into());
            }
        }
    }
    pub(crate) fn forget_trace(&self) {
        with(|s| s.tracers.remove(&self.pid()));
    }
}

fn three<'h>(h: &'h Heap, m: Atom, f: Atom, args: &OwnedTerm) -> Term<'h> {
    h.tuple(&[m.into(), f.into(), h.copy(args.term())])
}
