//! The functions that are watched (traced or counted), and their settings in each trace session.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, RwLock};

use kvik_code::LoadedModule;
use kvik_ets::ms::MatchProgram;
use kvik_jit::breakpoints::{self, EntryAction};
use kvik_proc::trace::{SessionRef, Tracee, Tracer};
use kvik_term::{Atom, Export};

use super::accounts;
use super::charges::Charges;

/// Which calls are traced: all, or those that a specification matches.
#[derive(Clone)]
pub enum Spec {
    All,
    Some(Arc<MatchProgram>),
}

/// The state of a counter of calls, time or memory, which may be paused.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum CounterSwitch {
    Off,
    Paused,
    On,
}

/// The trace settings of a function.
#[derive(Clone)]
pub struct TraceSettings {
    pub call: Option<Spec>,
    /// Only calls through the export are traced.
    pub global: bool,
    /// Meta tracing, for calls by all processes. No tracer: it has ended.
    pub meta: Option<(Option<Tracer>, Spec)>,
    pub counts: CounterSwitch,
    pub times: CounterSwitch,
    pub memory: CounterSwitch,
    /// Calls go to the error handler instead.
    pub debug: bool,
}
const NOTHING: TraceSettings = TraceSettings {
    call: None,
    global: false,
    meta: None,
    counts: CounterSwitch::Off,
    times: CounterSwitch::Off,
    memory: CounterSwitch::Off,
    debug: false,
};

impl TraceSettings {
    /// Whether calls are traced or counted at all.
    pub fn is_traced(&self) -> bool {
        self.call.is_some() || self.meta.is_some() || self.is_counted()
    }
    fn is_counted(&self) -> bool {
        [self.counts, self.times, self.memory].iter().any(|c| *c != CounterSwitch::Off)
    }
    fn inside(&self) -> bool {
        let local = self.call.is_some() && !self.global;
        self.is_counted() || self.debug || self.meta.is_some() || local
    }
    /// Whether it concerns calls of processes that are not traced, apart from counting them.
    fn concerns_untraced(&self) -> bool {
        let charged = [self.times, self.memory].iter().any(|c| *c != CounterSwitch::Off);
        charged || self.meta.is_some() || self.debug
    }
    fn is_idle(&self) -> bool {
        !self.inside() && self.call.is_none()
    }
}

/// A session's settings for a function, and what it has counted.
pub struct Watch {
    pub session: SessionRef,
    what: Mutex<TraceSettings>,
    pub count: Arc<AtomicI64>,
    pub times: Charges,
    pub memory: Charges,
}
impl Watch {
    pub fn what(&self) -> MutexGuard<'_, TraceSettings> {
        self.what.lock().unwrap_or_else(|e| e.into_inner())
    }
    pub fn now(&self) -> TraceSettings {
        self.what().clone()
    }
    fn carry_out(&self, o: &Orders) {
        let mut w = self.what();
        match o.on {
            on if o.debug => w.debug = on == On::Yes,
            On::No if o.is_global() => {
                if w.global {
                    w.call = None;
                }
            }
            On::No => {
                if o.local && !w.global {
                    w.call = None;
                }
                if o.meta.is_some() {
                    w.meta = None;
                }
                if o.counts {
                    w.counts = CounterSwitch::Off;
                }
                if o.times {
                    w.times = CounterSwitch::Off;
                }
                if o.memory {
                    w.memory = CounterSwitch::Off;
                }
            }
            // Global tracing and the other kinds exclude each other: the last one set applies.
            _ if o.is_global() => {
                let call = Some(o.spec.clone());
                *w = TraceSettings { call, global: true, debug: w.debug, ..NOTHING };
            }
            on => {
                if w.global {
                    (w.call, w.global) = (None, false);
                }
                if o.local {
                    w.call = Some(o.spec.clone());
                }
                if let Some(tracer) = &o.meta {
                    w.meta = Some((Some(tracer.clone()), o.spec.clone()));
                }
                if o.counts && set_meter(&mut w.counts, on) {
                    self.count.store(0, Relaxed);
                }
                if o.times && set_meter(&mut w.times, on) {
                    self.times.clear();
                }
                if o.memory && set_meter(&mut w.memory, on) {
                    self.memory.clear();
                    accounts::count_memory();
                }
            }
        }
    }
}

/// A watched function and the addresses where breakpoints go. It does not change: another takes its
/// place in the table.
pub struct TracedFunction {
    /// At most one for each session, the newest first.
    watches: Vec<Arc<Watch>>,
    /// The address of its code; none for a BIF, which is called only through its export.
    entry: Option<usize>,
    export: Option<&'static Export>,
}
impl TracedFunction {
    pub fn is_bif(&self) -> bool {
        self.entry.is_none()
    }
    pub fn watches(&self) -> &[Arc<Watch>] {
        &self.watches
    }
    /// The watch of the session with a key.
    pub fn watch_of(&self, session: u64) -> Option<Arc<Watch>> {
        self.watches.iter().find(|w| w.session.key() == session).cloned()
    }
    /// The same with other watches.
    fn with(&self, watches: Vec<Arc<Watch>>) -> TracedFunction {
        let function = TracedFunction { watches, entry: self.entry, export: self.export };
        function.apply();
        function
    }
    fn carry_out(&self, o: &Orders) -> TracedFunction {
        let mut all = self.watches.clone();
        let at =
            all.iter().position(|w| Arc::ptr_eq(&w.session, &o.session)).unwrap_or_else(|| {
                let what = Mutex::new(NOTHING);
                let (times, memory) = (Charges::default(), Charges::default());
                let (session, count) = (o.session.clone(), Arc::default());
                let w = Watch { session, what, count, times, memory };
                all.insert(0, Arc::new(w));
                0
            });
        all[at].carry_out(o);
        all.retain(|w| !w.what().is_idle());
        self.with(all)
    }
    fn any(&self, f: fn(&TraceSettings) -> bool) -> bool {
        self.watches.iter().any(|w| f(&w.what()))
    }
    fn entry_action(&self) -> EntryAction {
        let mut counting = self.watches.iter().filter(|w| w.what().counts == CounterSwitch::On);
        let counter = counting.next().map(|w| w.count.clone());
        match counting.next() {
            _ if self.any(|w| w.debug) => EntryAction::Divert,
            None if !self.any(TraceSettings::concerns_untraced) => {
                EntryAction::ReportTraced(counter)
            }
            _ => EntryAction::Report,
        }
    }
    /// Sets the breakpoints that the settings need, and clears the others.
    fn apply(&self) {
        let inside = self.any(TraceSettings::inside);
        if let Some(at) = self.entry {
            if inside {
                breakpoints::set_entry(at, self.entry_action());
            } else {
                breakpoints::clear_entry(at);
            }
        }
        if let Some(e) = self.export {
            let outside = self.any(|w| w.call.is_some() && w.global);
            if outside || inside && self.entry.is_none() {
                breakpoints::set_export(e);
            } else {
                breakpoints::clear_export(e);
            }
        }
    }
}
/// Returns true if counting starts anew. What is off starts even with `pause`, as in OTP, if the
/// function is watched at all.
fn set_meter(m: &mut CounterSwitch, on: On) -> bool {
    let pause = on == On::Pause && *m != CounterSwitch::Off;
    *m = if pause { CounterSwitch::Paused } else { CounterSwitch::On };
    !pause
}

pub type Mfa = (Atom, Atom, u32);
type Watches = RwLock<HashMap<Mfa, Arc<TracedFunction>>>;
fn watches() -> &'static Watches {
    kvik_state::vm_state! {
        static WATCHES: OnceLock<Watches> = OnceLock::new();
    }
    WATCHES.get_or_init(RwLock::default)
}
pub fn find(mfa: Mfa) -> Option<Arc<TracedFunction>> {
    watches().read().unwrap_or_else(|e| e.into_inner()).get(&mfa).cloned()
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum On {
    No,
    Yes,
    Restart,
    Pause,
}

/// The change that `trace_pattern` makes to a session's settings of each function.
#[derive(Clone)]
pub struct Orders {
    pub session: SessionRef,
    pub on: On,
    pub spec: Spec,
    pub local: bool,
    pub meta: Option<Tracer>,
    pub counts: bool,
    pub times: bool,
    pub memory: bool,
    pub debug: bool,
}
impl Orders {
    /// Global tracing, as long as nothing else is named.
    pub fn new(session: &SessionRef, on: On, spec: Spec) -> Orders {
        Orders {
            session: session.clone(),
            on,
            spec,
            local: false,
            meta: None,
            counts: false,
            times: false,
            memory: false,
            debug: false,
        }
    }
    pub fn is_global(&self) -> bool {
        !(self.local || self.meta.is_some() || self.counts_only() || self.debug)
    }
    /// Whether something is counted. Only that, if nothing else is named.
    pub fn counts_only(&self) -> bool {
        !self.local && self.meta.is_none() && (self.counts || self.times || self.memory)
    }
}

fn with_watch(mfa: Mfa, entry: Option<usize>, export: Option<&'static Export>, o: &Orders) {
    let mut all = watches().write().unwrap_or_else(|e| e.into_inner());
    let begins = o.on == On::Yes || o.on != On::No && !o.counts_only();
    let watched = all.get(&mfa).is_some_and(|f| f.watch_of(o.session.key()).is_some());
    if !watched && !begins {
        return;
    }
    let new = || Arc::new(TracedFunction { watches: Vec::new(), entry, export });
    let changed = all.get(&mfa).cloned().unwrap_or_else(new).carry_out(o);
    if changed.watches.is_empty() {
        all.remove(&mfa);
    } else {
        all.insert(mfa, Arc::new(changed));
    }
}

fn retain(f: impl Fn(&Mfa, &Watch) -> bool) {
    let mut all = watches().write().unwrap_or_else(|e| e.into_inner());
    all.retain(|mfa, function| {
        let left: Vec<Arc<Watch>> =
            function.watches.iter().filter(|w| f(mfa, w)).cloned().collect();
        let some = !left.is_empty();
        if left.len() < function.watches.len() {
            *function = Arc::new(function.with(left));
        }
        some
    });
}
/// Drops the settings of a module's functions: its code is no longer the current one.
pub fn forget(name: Atom) {
    retain(|mfa, _| mfa.0 != name);
}
/// Drops the settings of a session.
pub fn forget_session(s: &SessionRef) {
    retain(|_, w| !Arc::ptr_eq(&w.session, s));
}

/// Applies `o` to the functions of a module that a pattern names, and counts them.
pub fn functions(i: &LoadedModule, f: Option<Atom>, arity: Option<u32>, o: &Orders) -> usize {
    let mut n = 0;
    for (k, r) in i.functions.iter().enumerate() {
        if f.is_some_and(|f| f != r.function) || arity.is_some_and(|a| a != r.arity) {
            continue;
        }
        let export = kvik_code::find_export(i.name, r.function, r.arity);
        // `apply` too is called only through its export.
        let bif = export.filter(|e| e.extra.get() != 0);
        let end = i.functions.get(k + 1).map_or(i.size as u32, |next| next.start);
        let entry = if bif.is_some() { None } else { breakpoints::entry_of(i, r, end) };
        if entry.is_none() && bif.is_none() {
            continue;
        }
        // Global tracing ends the other kinds even if there is no export.
        let inside_only = export.is_none() && o.is_global();
        if !inside_only || o.on != On::No && find((i.name, r.function, r.arity)).is_some() {
            let o = if inside_only { &everything_off(&o.session) } else { o };
            with_watch((i.name, r.function, r.arity), entry, export, o);
        }
        n += !inside_only as usize;
    }
    n
}
fn everything_off(session: &SessionRef) -> Orders {
    let meta = Some(Tracer::To(Tracee::Process(0)));
    let off = Orders::new(session, On::No, Spec::All);
    Orders { local: true, meta, counts: true, times: true, memory: true, ..off }
}
