//! `erlang:trace_pattern/3`: parses its arguments, and applies them to functions.

use std::sync::{Arc, Mutex};

use kvik_code::module;
use kvik_ets::ms::{compile, Dialect, MatchSpecError};
use kvik_jit::breakpoints;
use kvik_proc::trace::Tracer;
use kvik_proc::{BifResult, Proc, Raised};
use kvik_term::{am, Atom, Term};

use super::watched::{forget, functions, Mfa, On, Orders, Spec};
use super::{messages, named};

/// The functions that `{M, F, A}` matches. `_` (`None`) is allowed only at the end.
struct PatternSite {
    module: Option<Atom>,
    function: Option<Atom>,
    arity: Option<u32>,
}
fn place(m: Term<'_>, f: Term<'_>, a: Term<'_>) -> Option<PatternSite> {
    let atom = |t: Term<'_>| t.as_atom().map(|a| Some(a).filter(|a| *a != am::underscore));
    let (module, function) = (atom(m)?, atom(f)?);
    let arity = match a.as_small() {
        // If out of range, an arity that no function has.
        Some(n) => Some(u32::try_from(n).unwrap_or(u32::MAX)),
        None if a.is_atom(am::underscore) => None,
        None => return None,
    };
    let fits = (module.is_some() || function.is_none()) && (function.is_some() || arity.is_none());
    fits.then_some(PatternSite { module, function, arity })
}

fn orders<'h>(
    p: &'h Proc,
    (ms, dialect): (Term<'h>, Dialect),
    flags: Term<'h>,
) -> Result<(Orders, bool), Raised> {
    let on = match ms.as_atom().map(Atom::name) {
        Some("false") => On::No,
        Some("restart") => On::Restart,
        Some("pause") => On::Pause,
        _ => On::Yes,
    };
    let all = ms.is_nil() || ms.as_atom().is_some();
    let known = ["true", "false", "restart", "pause"];
    if ms.as_atom().is_some_and(|a| !known.contains(&a.name())) {
        return Err(p.badarg_because(am::match_spec));
    }
    let spec = match all {
        true => Spec::All,
        false => match compile(ms, dialect) {
            Ok(program) => Spec::Some(Arc::new(program)),
            Err(MatchSpecError::TooDeep) => return Err(p.system_limit()),
            Err(MatchSpecError::Bad(_)) => return Err(p.badarg_because(am::match_spec)),
        },
    };
    let bad = || p.badarg_because(am::badopt);
    let mut o =
        Orders { on, spec, local: false, meta: None, counts: false, times: false, debug: false };
    let mut global = false;
    for f in flags.list_to_vec().ok_or_else(bad)? {
        match f.as_atom().map(Atom::name) {
            Some("global") if o.is_global() => global = true,
            Some("local") => o.local = true,
            Some("meta") => o.meta = o.meta.or(Some(p.tracee())),
            Some("call_count") => o.counts = true,
            Some("call_time") => o.times = true,
            Some(_) => return Err(bad()),
            None => o.meta = Some(meta_tracer(f).ok_or_else(bad)?),
        }
        if global && !o.is_global() {
            return Err(bad());
        }
    }
    let meters_only = !o.local && o.meta.is_none() && (o.counts || o.times);
    if matches!(o.spec, Spec::Some(_)) && meters_only {
        return Err(p.badarg_because(am::call_count));
    }
    Ok((o, global))
}
fn meta_tracer(t: Term<'_>) -> Option<Tracer> {
    let by = match *t.as_tuple()?.elements() {
        [k, by] if named(k, "meta") => by,
        [k, m, state] if named(k, "meta") && named(m, "erl_tracer") => state,
        _ => return None,
    };
    Tracer::of(by)
}

pub fn trace_pattern_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [what, ms, flags] = *a else { return Err(p.badarg()) };
    let dialect = match what.as_atom().map(Atom::name) {
        Some("send") => Dialect::Sent,
        Some("receive") => Dialect::Received,
        _ => Dialect::Trace,
    };
    let (o, global) = orders(p, (ms, dialect), flags)?;
    if what.is_atom(am::on_load) {
        set_default(&o);
        return Ok(Term::int(0));
    }
    if let Some(event) = what.as_atom() {
        let simple = !global && o.is_global() && matches!(o.on, On::No | On::Yes);
        return match (simple, event.name()) {
            (true, "send") => Ok(messages::set(true, &o)),
            (true, "receive") => Ok(messages::set(false, &o)),
            _ => Err(p.badarg()),
        };
    }
    let mfa = what.as_tuple_n::<3>().and_then(|[m, f, a]| place(m, f, a));
    let to = mfa.ok_or_else(|| p.badarg())?;
    Ok(p.heap.integer(everywhere(p, &to, &o) as i64))
}
fn everywhere(p: &Proc, to: &PatternSite, o: &Orders) -> usize {
    let modules = match to.module {
        Some(m) => vec![m],
        None => module::loaded(),
    };
    let mut n = 0;
    for i in modules.into_iter().filter_map(module::current) {
        p.heap.bump_reductions(i.functions.len() as i64);
        n += functions(&i, to.function, to.arity, o);
    }
    n
}

/// `erts_debug:breakpoint(MFA, Boolean)`: redirects calls to the error handler.
pub fn breakpoint_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let to = a[0].as_tuple_n::<3>().and_then(|[m, f, a]| place(m, f, a));
    let (Some(to), Some(on)) = (to, a[1].as_bool()) else { return Err(p.badarg()) };
    let on = if on { On::Yes } else { On::No };
    let o = Orders {
        on,
        debug: true,
        local: false,
        meta: None,
        counts: false,
        times: false,
        spec: Spec::All,
    };
    Ok(p.heap.integer(everywhere(p, &to, &o) as i64))
}

kvik_state::vm_state! {
    /// The settings for modules loaded from now on: the pattern `on_load`.
    static DEFAULT: Mutex<Option<Orders>> = Mutex::new(None);
}

/// The settings for new modules, and the specification for meta tracing. `None`: no tracing.
pub fn default() -> Option<(Orders, Spec)> {
    let d = DEFAULT.lock().unwrap_or_else(|e| e.into_inner()).clone()?;
    let meta = META_SPEC.lock().unwrap_or_else(|e| e.into_inner()).clone();
    Some((d, meta.unwrap_or(Spec::All)))
}
kvik_state::vm_state! {
    /// The specification for meta tracing, if one was set.
    static META_SPEC: Mutex<Option<Spec>> = Mutex::new(None);
}

fn set_default(o: &Orders) {
    let mut d = DEFAULT.lock().unwrap_or_else(|e| e.into_inner());
    let mut meta = META_SPEC.lock().unwrap_or_else(|e| e.into_inner());
    let on = o.on != On::No;
    let (counts, times) = (o.counts && o.on == On::Yes, o.times && o.on == On::Yes);
    if o.meta.is_some() {
        *meta = on.then(|| o.spec.clone());
    }
    let old = d.clone().filter(|d| !d.is_global());
    let spec = if o.local || o.is_global() { Some(o.spec.clone()) } else { None };
    let mut new = match old {
        // Without earlier settings, only what is named is switched on.
        None if o.is_global() => {
            *meta = None;
            *d = on.then(|| o.clone());
            return;
        }
        None if !on => return,
        None => Orders { counts, times, ..o.clone() },
        Some(_) if o.is_global() => {
            if on {
                *meta = None;
                *d = Some(o.clone());
            }
            return;
        }
        Some(d) if on => Orders {
            local: d.local | o.local,
            meta: o.meta.or(d.meta),
            counts: d.counts | counts,
            times: d.times | times,
            ..d
        },
        Some(d) => Orders {
            local: d.local & !o.local,
            meta: d.meta.filter(|_| o.meta.is_none()),
            counts: d.counts & !o.counts,
            times: d.times & !o.times,
            ..d
        },
    };
    new.on = On::Yes;
    if let Some(spec) = spec {
        new.spec = spec;
    }
    *d = (!new.is_global()).then_some(new);
}

/// A module's code was loaded or removed. If it can be called (`ready`), the `on_load` settings
/// apply to it.
pub fn changed(name: Atom, ready: bool) {
    forget(name);
    if ready {
        breakpoints::notice_exports_of(name);
    }
    let found = default().zip(module::current(name)).filter(|_| ready);
    let Some(((o, meta), i)) = found else { return };
    functions(&i, None, None, &Orders { meta: None, ..o.clone() });
    if o.meta.is_some() {
        let only = Orders { local: false, counts: false, times: false, spec: meta, ..o };
        functions(&i, None, None, &only);
    }
}

/// Whether the current code of a loaded module has the function.
pub fn exists((m, f, a): Mfa) -> bool {
    module::current(m).is_some_and(|i| i.functions.iter().any(|r| (r.function, r.arity) == (f, a)))
}
