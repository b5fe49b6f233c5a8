//! Who is traced: for each process and port, its settings in each trace session, and those that new
//! ones begin with.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use kvik_sync::pin;

use super::session::{self, SessionRef};
use super::{Tracee, Tracer};
use crate::process::table;
use crate::tracing_on::{self, User};

/// The setting of a process or port in one session.
#[derive(Clone)]
pub struct TraceRef {
    pub session: SessionRef,
    pub flags: u32,
    pub tracer: Tracer,
}
/// At most one for each session, the newest first.
type TraceRefs = Vec<TraceRef>;

/// Flags, and the tracer.
pub type Setting = (u32, Option<Tracer>);

#[derive(Default)]
struct State {
    processes: HashMap<u32, TraceRefs>,
    ports: HashMap<u32, TraceRefs>,
    new_processes: TraceRefs,
    new_ports: TraceRefs,
}
impl State {
    fn refs(&self, who: Tracee) -> &[TraceRef] {
        let refs = match who {
            Tracee::Process(pid) => self.processes.get(&pid),
            Tracee::Port(port) => self.ports.get(&port),
        };
        refs.map_or(&[], |r| r)
    }
    fn new_refs(&mut self, ports: bool) -> &mut TraceRefs {
        if ports {
            &mut self.new_ports
        } else {
            &mut self.new_processes
        }
    }
    fn change(&mut self, who: Tracee, f: impl FnOnce(&mut TraceRefs)) {
        let (all, id) = match who {
            Tracee::Process(pid) => (&mut self.processes, pid),
            Tracee::Port(port) => (&mut self.ports, port),
        };
        let refs = all.entry(id).or_default();
        f(refs);
        let flags = all_flags(refs);
        if refs.is_empty() {
            all.remove(&id);
        }
        if let (Tracee::Process(_), Some(task)) = (who, table().get(id, &pin())) {
            task.set_trace(flags);
        }
    }
    fn settle(&self) {
        let idle = self.processes.is_empty()
            && self.ports.is_empty()
            && self.new_processes.is_empty()
            && self.new_ports.is_empty();
        tracing_on::update(User::Tracers, || !idle);
    }
}
fn all_flags(refs: &[TraceRef]) -> u32 {
    refs.iter().fold(0, |flags, r| flags | r.flags)
}
fn setting(refs: &[TraceRef], s: &SessionRef) -> Setting {
    let found = refs.iter().find(|r| Arc::ptr_eq(&r.session, s));
    found.map_or((0, None), |r| (r.flags, Some(r.tracer.clone())))
}
/// Changes the setting of a session; no flags or no tracer removes it.
fn put(refs: &mut TraceRefs, s: &SessionRef, flags: u32, tracer: Option<Tracer>) {
    let at = refs.iter().position(|r| Arc::ptr_eq(&r.session, s));
    match (at, tracer.filter(|_| flags != 0 && s.is_alive())) {
        (Some(i), Some(tracer)) => (refs[i].flags, refs[i].tracer) = (flags, tracer),
        (None, Some(tracer)) => refs.insert(0, TraceRef { session: s.clone(), flags, tracer }),
        (Some(i), None) => drop(refs.remove(i)),
        (None, None) => {}
    }
}

kvik_state::vm_state! {
    static STATE: Mutex<Option<State>> = Mutex::new(None);
}

fn lock() -> MutexGuard<'static, Option<State>> {
    STATE.lock().unwrap_or_else(|e| e.into_inner())
}
fn read<R>(f: impl FnOnce(&mut State) -> R) -> R {
    f(lock().get_or_insert_with(State::default))
}
fn write<R>(f: impl FnOnce(&mut State) -> R) -> R {
    let mut s = lock();
    let s = s.get_or_insert_with(State::default);
    let r = f(s);
    s.settle();
    r
}
fn is_there(who: Tracee) -> bool {
    match who {
        Tracee::Process(pid) => table().get(pid, &pin()).is_some(),
        Tracee::Port(_) => true,
    }
}

/// The settings with one of these flags, of the sessions that have not ended.
pub fn refs(who: Tracee, flags: u32) -> TraceRefs {
    let asked = |r: &&TraceRef| r.flags & flags != 0 && r.session.is_alive();
    read(|s| s.refs(who).iter().filter(asked).cloned().collect())
}
/// The sessions that trace a process or port, the oldest setting first; `None` if it does not
/// exist.
pub fn sessions_of(who: Tracee) -> Option<Vec<SessionRef>> {
    let alive = |r: &&TraceRef| r.session.is_alive();
    let all =
        || read(|s| s.refs(who).iter().rev().filter(alive).map(|r| r.session.clone()).collect());
    who.is_there().then(all)
}
/// The flags of a port in all sessions.
pub fn port_flags(port: u32) -> u32 {
    read(|s| all_flags(s.refs(Tracee::Port(port))))
}
/// The flags and tracer of a process or port in a session; `None` if there is no such process. A
/// tracer that has ended does not count.
pub fn of(who: Tracee, s: &SessionRef) -> Option<Setting> {
    if !is_there(who) {
        return None;
    }
    match read(|state| setting(state.refs(who), s)) {
        (_, Some(t)) if !t.is_enabled(who.term()) => {
            set(who, s, 0, None);
            Some((0, None))
        }
        setting => Some(setting),
    }
}
/// Sets the flags of a process or port in a session. False: there is no such process.
pub fn set(who: Tracee, s: &SessionRef, flags: u32, tracer: Option<Tracer>) -> bool {
    if !is_there(who) {
        return false;
    }
    write(|state| state.change(who, |refs| put(refs, s, flags, tracer)));
    // It may have ended meanwhile, and then nothing else would remove its entry.
    let there = is_there(who);
    if !there {
        forget(who);
    }
    there
}
/// Removes the entry of a process or port that has ended.
pub fn forget(who: Tracee) {
    write(|s| match who {
        Tracee::Process(pid) => s.processes.remove(&pid),
        Tracee::Port(port) => s.ports.remove(&port),
    });
}
/// Removes all settings of a session.
pub(super) fn forget_session(s: &SessionRef) {
    write(|state| {
        let processes = state.processes.keys().copied().map(Tracee::Process);
        let ports = state.ports.keys().copied().map(Tracee::Port);
        for who in processes.chain(ports).collect::<Vec<_>>() {
            state.change(who, |refs| put(refs, s, 0, None));
        }
        put(&mut state.new_processes, s, 0, None);
        put(&mut state.new_ports, s, 0, None);
    });
}

/// The settings of new processes (or ports) in a session.
pub fn of_new(ports: bool, s: &SessionRef) -> Setting {
    match read(|state| setting(state.new_refs(ports), s)) {
        (_, Some(t)) if !t.is_enabled(kvik_term::am::undefined.into()) => {
            set_new(ports, s, 0, None);
            (0, None)
        }
        setting => setting,
    }
}
pub fn set_new(ports: bool, s: &SessionRef, flags: u32, tracer: Option<Tracer>) {
    write(|state| put(state.new_refs(ports), s, flags, tracer));
}
/// Gives a new process or port the settings of new ones.
pub fn begin(who: Tracee) {
    let ports = matches!(who, Tracee::Port(_));
    let new: TraceRefs = read(|s| s.new_refs(ports).clone());
    // The oldest first, so that the order stays.
    for r in new.into_iter().rev() {
        if let (flags, tracer @ Some(_)) = of_new(ports, &r.session) {
            set(who, &r.session, flags, tracer);
        }
    }
}
/// Whether sessions trace new processes (or ports).
pub fn traces_new(ports: bool, s: &SessionRef) -> bool {
    session::Session::is_alive(s) && of_new(ports, s).0 != 0
}
