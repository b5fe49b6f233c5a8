//! Which functions are watched, and what for: `erlang:trace_pattern/3`.

use std::collections::HashMap;
use std::sync::atomic::Ordering::Acquire;
use std::sync::{Arc, Mutex, OnceLock, RwLock};

use kvik_code::{module, Instance};
use kvik_ets::ms::{compile, Dialect, Program};
use kvik_jit::breaks;
use kvik_proc::{BifResult, Proc};
use kvik_term::{am, Atom, Export, Term};

use super::named;

/// Which calls count: all, or those that a specification lets through.
#[derive(Clone)]
pub enum Spec {
    All,
    Some(Arc<Program>),
}

/// What a function is watched for.
#[derive(Clone, Default)]
pub struct Watched {
    pub call: Option<Spec>,
    /// Calls through the export only.
    pub global: bool,
    /// For the sake of a tracer who hears of all processes.
    pub meta: Option<(u32, Spec)>,
    pub count: Option<i64>,
    pub paused: bool,
}

impl Watched {
    fn is_idle(&self) -> bool {
        self.call.is_none() && self.meta.is_none() && self.count.is_none()
    }
}

/// A function with its places.
pub struct Watch {
    pub what: Mutex<Watched>,
    /// Where its code begins; none for a BIF, which is reached through its export only.
    entry: Option<usize>,
    export: Option<&'static Export>,
}
impl Watch {
    pub fn is_bif(&self) -> bool {
        self.entry.is_none()
    }
    pub fn now(&self) -> Watched {
        self.what.lock().unwrap_or_else(|e| e.into_inner()).clone()
    }
    /// Sets breakpoints where they are needed, and only there.
    fn apply(&self, w: &Watched) {
        let inside = w.meta.is_some() || w.count.is_some() || (w.call.is_some() && !w.global);
        if let Some(at) = self.entry {
            if inside {
                breaks::set_entry(at);
            } else {
                breaks::clear_entry(at);
            }
        }
        if let Some(e) = self.export {
            let outside = w.call.is_some() && w.global || inside && self.entry.is_none();
            if outside {
                breaks::set_export(e);
            } else {
                breaks::clear_export(e);
            }
        }
    }
}

pub type Mfa = (Atom, Atom, u32);
type Watches = RwLock<HashMap<Mfa, Arc<Watch>>>;
fn watches() -> &'static Watches {
    static WATCHES: OnceLock<Watches> = OnceLock::new();
    WATCHES.get_or_init(RwLock::default)
}
pub fn find(mfa: Mfa) -> Option<Arc<Watch>> {
    watches().read().unwrap_or_else(|e| e.into_inner()).get(&mfa).cloned()
}

/// What `trace_pattern` is to do with each function.
enum Order {
    Call(Option<Spec>, bool),
    Meta(Option<Spec>, u32),
    Count(Count),
}
#[derive(Copy, Clone)]
enum Count {
    On,
    Off,
    Restart,
    Pause,
}

fn carry_out(w: &mut Watched, o: &Order) {
    match o {
        Order::Call(Some(spec), global) => {
            (w.call, w.global) = (Some(spec.clone()), *global);
        }
        Order::Call(None, _) => w.call = None,
        Order::Meta(spec, tracer) => w.meta = spec.clone().map(|s| (*tracer, s)),
        Order::Count(c) => match c {
            Count::On => (w.count, w.paused) = (w.count.or(Some(0)), false),
            Count::Off => w.count = None,
            Count::Restart => {
                w.count = w.count.map(|_| 0);
                w.paused = false;
            }
            Count::Pause => w.paused = true,
        },
    }
}

fn with_watch(mfa: Mfa, entry: Option<usize>, export: Option<&'static Export>, o: &Order) {
    let mut all = watches().write().unwrap_or_else(|e| e.into_inner());
    let same = |w: &Arc<Watch>| w.entry == entry;
    if !all.get(&mfa).is_some_and(same) {
        // New, or loaded anew: what was said of the old code is gone with it.
        let what = Mutex::default();
        all.insert(mfa, Arc::new(Watch { what, entry, export }));
    }
    let Some(w) = all.get(&mfa).cloned() else { return };
    let mut what = w.what.lock().unwrap_or_else(|e| e.into_inner());
    carry_out(&mut what, o);
    w.apply(&what);
    if what.is_idle() {
        all.remove(&mfa);
    }
}

/// Those functions of a module that a pattern names.
fn functions(i: &Instance, f: Option<Atom>, arity: Option<u32>, o: &Order) -> usize {
    let global = matches!(o, Order::Call(_, true));
    let mut n = 0;
    for (k, r) in i.functions.iter().enumerate() {
        if f.is_some_and(|f| f != r.function) || arity.is_some_and(|a| a != r.arity) {
            continue;
        }
        let export = kvik_code::find_export(i.name, r.function, r.arity);
        let bif = export.filter(|e| e.extra.load(Acquire) != 0);
        if bif.is_some_and(|e| e.extra.load(Acquire) < 16) || global && export.is_none() {
            continue;
        }
        let end = i.functions.get(k + 1).map_or(i.size as u32, |next| next.start);
        let entry = if bif.is_some() { None } else { breaks::entry_of(i, r, end) };
        if entry.is_none() && bif.is_none() {
            continue;
        }
        with_watch((i.name, r.function, r.arity), entry, export, o);
        n += 1;
    }
    n
}

fn order<'h>(p: &'h Proc, ms: Term<'h>, flags: Term<'h>) -> Option<Vec<Order>> {
    let list = flags.list_to_vec()?;
    let (mut global, mut local, mut meta, mut count) = (list.is_empty(), false, None, false);
    for f in list {
        match f.as_atom().map(Atom::name) {
            Some("global") => global = true,
            Some("local") => local = true,
            Some("meta") => meta = Some(p.pid()),
            Some("call_count") => count = true,
            Some(_) => return None,
            None => {
                let [k, pid] = f.as_tuple_n::<2>()?;
                meta = Some(pid.as_local_pid().filter(|_| named(k, "meta"))?);
            }
        }
    }
    if global && (local || meta.is_some() || count) {
        return None;
    }
    let spec = match ms.as_atom().map(Atom::name) {
        Some("true") => Some(Spec::All),
        Some("false" | "restart" | "pause") => None,
        Some(_) => return None,
        None if ms.is_nil() => Some(Spec::All),
        None => Some(Spec::Some(Arc::new(compile(ms, Dialect::Trace).ok()?))),
    };
    let mut all = Vec::new();
    let on_off = !matches!(ms.as_atom().map(Atom::name), Some("restart" | "pause"));
    if !on_off && !count {
        return None;
    }
    if count {
        all.push(Order::Count(match ms.as_atom().map(Atom::name) {
            Some("true") => Count::On,
            Some("false") => Count::Off,
            Some("restart") => Count::Restart,
            Some("pause") => Count::Pause,
            // A specification says nothing to a counter.
            _ => Count::On,
        }));
    }
    if global || local {
        all.push(Order::Call(spec.clone(), global));
    }
    if let Some(tracer) = meta {
        all.push(Order::Meta(spec, tracer));
    }
    Some(all)
}

pub fn trace_pattern_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [what, ms, flags] = *a else { return Err(p.badarg()) };
    let Some([m, f, arity]) = what.as_tuple_n::<3>() else {
        return match what.as_atom().map(Atom::name) {
            // No module gets breakpoints when it is loaded, and every message is told of.
            Some("on_load") if ms.is_atom(am::false_) => Ok(Term::int(0)),
            Some("send" | "receive") if ms.is_atom(am::true_) => Ok(Term::int(1)),
            Some("send" | "receive" | "on_load") => Err(p.notsup()),
            _ => Err(p.badarg()),
        };
    };
    let any = |t: Term<'_>| t.is_atom(am::underscore);
    let number = arity.as_usize().filter(|n| *n <= 255).map(|n| n as u32);
    let fits = m.as_atom().is_some()
        && f.as_atom().is_some()
        && (any(arity) || number.is_some())
        && (!any(m) || any(f) && any(arity))
        && (!any(f) || any(arity));
    if !fits {
        return Err(p.badarg());
    }
    let orders = order(p, ms, flags).ok_or_else(|| p.badarg())?;
    let modules: Vec<Atom> = match m.as_atom() {
        Some(m) if m != am::underscore => vec![m],
        _ => module::loaded(),
    };
    let f = f.as_atom().filter(|_| !any(f));
    let mut n = 0;
    for i in modules.into_iter().filter_map(module::current) {
        p.heap.bump_reductions(i.functions.len() as i64);
        n += orders.iter().map(|o| functions(&i, f, number, o)).max().unwrap_or(0);
    }
    Ok(p.heap.integer(n as i64))
}

/// Is there such a function in loaded code?
pub fn exists((m, f, a): Mfa) -> bool {
    module::current(m).is_some_and(|i| i.functions.iter().any(|r| (r.function, r.arity) == (f, a)))
}
