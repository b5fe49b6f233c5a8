//! The functions that are watched, and what for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, RwLock};

use kvik_code::Instance;
use kvik_ets::ms::Program;
use kvik_jit::breaks;
use kvik_proc::trace::Tracer;
use kvik_term::{Atom, Export};

use super::call_times::Times;

/// Which calls count: all, or those that a specification lets through.
#[derive(Clone)]
pub enum Spec {
    All,
    Some(Arc<Program>),
}

/// Something that counts, which may be put off for a while.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Meter {
    Off,
    Paused,
    On,
}

/// What a function is watched for.
#[derive(Clone)]
pub struct Watched {
    pub call: Option<Spec>,
    /// Calls through the export only.
    pub global: bool,
    /// For the sake of a tracer who hears of all processes (none: it has ended).
    pub meta: Option<(Option<Tracer>, Spec)>,
    pub counts: Meter,
    pub times: Meter,
    /// The error handler is called instead.
    pub debug: bool,
}
const NOTHING: Watched = Watched {
    call: None,
    global: false,
    meta: None,
    counts: Meter::Off,
    times: Meter::Off,
    debug: false,
};

impl Watched {
    fn inside(&self) -> bool {
        let meters = self.counts != Meter::Off || self.times != Meter::Off;
        meters || self.debug || self.meta.is_some() || self.call.is_some() && !self.global
    }
    fn is_idle(&self) -> bool {
        !self.inside() && self.call.is_none()
    }
}

/// A function with its places.
pub struct Watch {
    what: Mutex<Watched>,
    pub count: std::sync::atomic::AtomicI64,
    pub times: Times,
    /// Where its code begins; none for a BIF, which is reached through its export only.
    entry: Option<usize>,
    export: Option<&'static Export>,
}
impl Watch {
    pub fn is_bif(&self) -> bool {
        self.entry.is_none()
    }
    pub fn what(&self) -> MutexGuard<'_, Watched> {
        self.what.lock().unwrap_or_else(|e| e.into_inner())
    }
    pub fn now(&self) -> Watched {
        self.what().clone()
    }
    /// Sets breakpoints where they are needed, and only there.
    fn apply(&self, w: &Watched) {
        if let Some(at) = self.entry {
            if w.inside() {
                breaks::set_entry(at, w.debug);
            } else {
                breaks::clear_entry(at);
            }
        }
        if let Some(e) = self.export {
            let outside = w.call.is_some() && w.global;
            if outside || w.inside() && self.entry.is_none() {
                breaks::set_export(e);
            } else {
                breaks::clear_export(e);
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
                    w.counts = Meter::Off;
                }
                if o.times {
                    w.times = Meter::Off;
                }
            }
            // Global tracing and the other kinds exclude each other: the last one counts.
            _ if o.is_global() => {
                let call = Some(o.spec.clone());
                *w = Watched { call, global: true, debug: w.debug, ..NOTHING };
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
/// True: it begins anew. What is off is neither put off nor begun again.
fn set_meter(m: &mut Meter, on: On) -> bool {
    if *m == Meter::Off && on != On::Yes {
        return false;
    }
    *m = if on == On::Pause { Meter::Paused } else { Meter::On };
    on != On::Pause
}

pub type Mfa = (Atom, Atom, u32);
type Watches = RwLock<HashMap<Mfa, Arc<Watch>>>;
fn watches() -> &'static Watches {
    kvik_state::vm_state! {
        static WATCHES: OnceLock<Watches> = OnceLock::new();
    }
    WATCHES.get_or_init(RwLock::default)
}
pub fn find(mfa: Mfa) -> Option<Arc<Watch>> {
    watches().read().unwrap_or_else(|e| e.into_inner()).get(&mfa).cloned()
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum On {
    No,
    Yes,
    Restart,
    Pause,
}

/// What `trace_pattern` is to do with each function.
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
        Arc::new(Watch { what, count: 0.into(), times: Times::default(), entry, export })
    });
    w.carry_out(o);
    let idle = w.what().is_idle();
    if idle {
        all.remove(&mfa);
    }
}

/// A module's code is no longer the current one: what was said of it goes with it.
pub fn forget(name: Atom) {
    let mut all = watches().write().unwrap_or_else(|e| e.into_inner());
    all.retain(|mfa, w| {
        if mfa.0 == name {
            w.apply(&NOTHING);
        }
        mfa.0 != name
    });
}

/// Those functions of a module that a pattern names.
pub fn functions(i: &Instance, f: Option<Atom>, arity: Option<u32>, o: &Orders) -> usize {
    let mut n = 0;
    for (k, r) in i.functions.iter().enumerate() {
        if f.is_some_and(|f| f != r.function) || arity.is_some_and(|a| a != r.arity) {
            continue;
        }
        let export = kvik_code::find_export(i.name, r.function, r.arity);
        // `apply` too is reached through its export alone.
        let bif = export.filter(|e| e.extra.get() != 0);
        let end = i.functions.get(k + 1).map_or(i.size as u32, |next| next.start);
        let entry = if bif.is_some() { None } else { breaks::entry_of(i, r, end) };
        if entry.is_none() && bif.is_none() {
            continue;
        }
        // Global tracing ends the other kinds also where there is no export.
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
