//! The functions that are watched (traced or counted), and their settings.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, RwLock};

use kvik_code::LoadedModule;
use kvik_ets::ms::MatchProgram;
use kvik_jit::breakpoints;
use kvik_proc::trace::Tracer;
use kvik_term::{Atom, Export};

use super::call_times::Times;

/// Which calls are traced: all, or those that a specification matches.
#[derive(Clone)]
pub enum Spec {
    All,
    Some(Arc<MatchProgram>),
}

/// The state of a call counter or call timer, which may be paused.
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
    /// Calls go to the error handler instead.
    pub debug: bool,
}
const NOTHING: TraceSettings = TraceSettings {
    call: None,
    global: false,
    meta: None,
    counts: CounterSwitch::Off,
    times: CounterSwitch::Off,
    debug: false,
};

impl TraceSettings {
    fn inside(&self) -> bool {
        let meters = self.counts != CounterSwitch::Off || self.times != CounterSwitch::Off;
        meters || self.debug || self.meta.is_some() || self.call.is_some() && !self.global
    }
    fn is_idle(&self) -> bool {
        !self.inside() && self.call.is_none()
    }
}

/// A watched function and the addresses where breakpoints go.
pub struct TracedFunction {
    what: Mutex<TraceSettings>,
    pub count: std::sync::atomic::AtomicI64,
    pub times: Times,
    /// The address of its code; none for a BIF, which is called only through its export.
    entry: Option<usize>,
    export: Option<&'static Export>,
}
impl TracedFunction {
    pub fn is_bif(&self) -> bool {
        self.entry.is_none()
    }
    pub fn what(&self) -> MutexGuard<'_, TraceSettings> {
        self.what.lock().unwrap_or_else(|e| e.into_inner())
    }
    pub fn now(&self) -> TraceSettings {
        self.what().clone()
    }
    /// Sets the breakpoints that the settings need, and clears the others.
    fn apply(&self, w: &TraceSettings) {
        if let Some(at) = self.entry {
            if w.inside() {
                breakpoints::set_entry(at, w.debug);
            } else {
                breakpoints::clear_entry(at);
            }
        }
        if let Some(e) = self.export {
            let outside = w.call.is_some() && w.global;
            if outside || w.inside() && self.entry.is_none() {
                breakpoints::set_export(e);
            } else {
                breakpoints::clear_export(e);
            }
        }
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
                if let Some(tracer) = o.meta {
                    w.meta = Some((Some(tracer), o.spec.clone()));
                }
                if o.counts && set_meter(&mut w.counts, on) {
                    self.count.store(0, std::sync::atomic::Ordering::Relaxed);
                }
                if o.times && set_meter(&mut w.times, on) {
                    self.times.clear();
                }
            }
        }
        self.apply(&w);
    }
}
/// Returns true if counting starts anew. What is off can be neither paused nor restarted.
fn set_meter(m: &mut CounterSwitch, on: On) -> bool {
    if *m == CounterSwitch::Off && on != On::Yes {
        return false;
    }
    *m = if on == On::Pause { CounterSwitch::Paused } else { CounterSwitch::On };
    on != On::Pause
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

/// The change that `trace_pattern` makes to the settings of each function.
#[derive(Clone)]
pub struct Orders {
    pub on: On,
    pub spec: Spec,
    pub local: bool,
    pub meta: Option<Tracer>,
    pub counts: bool,
    pub times: bool,
    pub debug: bool,
}
impl Orders {
    pub fn is_global(&self) -> bool {
        !(self.local || self.meta.is_some() || self.counts || self.times || self.debug)
    }
}

fn with_watch(mfa: Mfa, entry: Option<usize>, export: Option<&'static Export>, o: &Orders) {
    let mut all = watches().write().unwrap_or_else(|e| e.into_inner());
    let meters_only = !o.local && o.meta.is_none() && !o.is_global() && !o.debug;
    let begins = o.on == On::Yes || o.on != On::No && !meters_only;
    if !all.contains_key(&mfa) && !begins {
        return;
    }
    let w = all.entry(mfa).or_insert_with(|| {
        let what = Mutex::new(NOTHING);
        Arc::new(TracedFunction { what, count: 0.into(), times: Times::default(), entry, export })
    });
    w.carry_out(o);
    let idle = w.what().is_idle();
    if idle {
        all.remove(&mfa);
    }
}

/// Drops the settings of a module's functions: its code is no longer the current one.
pub fn forget(name: Atom) {
    let mut all = watches().write().unwrap_or_else(|e| e.into_inner());
    all.retain(|mfa, w| {
        if mfa.0 == name {
            w.apply(&NOTHING);
        }
        mfa.0 != name
    });
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
            let o = if inside_only { &everything_off() } else { o };
            with_watch((i.name, r.function, r.arity), entry, export, o);
        }
        n += !inside_only as usize;
    }
    n
}
fn everything_off() -> Orders {
    Orders {
        on: On::No,
        spec: Spec::All,
        local: true,
        meta: Some(Tracer::Process(0)),
        counts: true,
        times: true,
        debug: false,
    }
}
