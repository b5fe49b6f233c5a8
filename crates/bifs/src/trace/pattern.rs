//! `erlang:trace_pattern/3` and `trace:function/4`: parses their arguments, and applies them to
//! functions.

use std::sync::Arc;

use kvik_code::module;
use kvik_ets::ms::{compile, Dialect, MatchSpecError};
use kvik_jit::breakpoints;
use kvik_proc::trace::{session, SessionRef, Tracee, Tracer};
use kvik_proc::{BifResult, Proc, Raised};
use kvik_term::{am, Atom, Term};

use super::watched::{forget, functions, Mfa, On, Orders, Spec};
use super::{messages, named_tracer, on_load, session_arg};
use crate::process::ends_turn;

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
    session: &SessionRef,
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
    let spec = || {
        let known = ["true", "false", "restart", "pause"];
        if ms.as_atom().is_some_and(|a| !known.contains(&a.name())) {
            return Err(p.badarg_because(am::match_spec));
        }
        if all {
            return Ok(Spec::All);
        }
        match compile(ms, dialect) {
            Ok(program) => Ok(Spec::Some(Arc::new(program))),
            Err(MatchSpecError::TooDeep) => Err(p.system_limit()),
            Err(MatchSpecError::Bad(_)) => Err(p.badarg_because(am::match_spec)),
        }
    };
    // Of two wrong arguments the flags are named by releases with trace sessions, else the pattern.
    let early = match kvik_release::current().has_trace_sessions() {
        true => None,
        false => Some(spec()?),
    };
    let bad = || p.badarg_because(am::badopt);
    let mut o = Orders::new(session, on, Spec::All);
    let mut global = false;
    for f in flags.list_to_vec().ok_or_else(bad)? {
        match f.as_atom().map(Atom::name) {
            Some("global") if o.is_global() => global = true,
            Some("local") => o.local = true,
            Some("meta") => o.meta = o.meta.or_else(|| Some(tracer(p, session))),
            Some("call_count") => o.counts = true,
            Some("call_time") => o.times = true,
            Some("call_memory") if kvik_release::current().has_call_memory() => o.memory = true,
            Some(_) => return Err(bad()),
            None if session.tracer().is_some() => return Err(bad()),
            None => o.meta = Some(named_tracer("meta", f).ok_or_else(bad)?),
        }
        if global && !o.is_global() {
            return Err(bad());
        }
    }
    o.spec = early.map_or_else(spec, Ok)?;
    if matches!(o.spec, Spec::Some(_)) && o.counts_only() {
        return Err(p.badarg_because(am::call_count));
    }
    Ok((o, global))
}
/// The session's tracer, or the calling process.
fn tracer(p: &Proc, s: &SessionRef) -> Tracer {
    s.tracer().cloned().unwrap_or(Tracer::To(Tracee::Process(p.pid())))
}

pub fn trace_pattern_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    set(p, session::default(), a)
}
pub fn trace_pattern_4<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    set(p, &session_arg(p, a[0])?, &a[1..])
}
fn set<'h>(p: &'h Proc, session: &SessionRef, a: &[Term<'h>]) -> BifResult<'h> {
    if a.first().is_some_and(|what| what.is_atom(am::on_load)) {
        return change(p, session, a);
    }
    // In OTP the new code waits for all schedulers.
    ends_turn(p, || change(p, session, a))
}
fn change<'h>(p: &'h Proc, session: &SessionRef, a: &[Term<'h>]) -> BifResult<'h> {
    let [what, ms, flags] = *a else { return Err(p.badarg()) };
    let dialect = match what.as_atom().map(Atom::name) {
        Some("send") => Dialect::Sent,
        Some("receive") => Dialect::Received,
        _ => Dialect::Trace,
    };
    let (o, global) = orders(p, session, (ms, dialect), flags)?;
    if what.is_atom(am::on_load) {
        on_load::set(&o);
        return Ok(Term::int(0));
    }
    if let Some(event) = what.as_atom() {
        let simple = !global && o.is_global() && matches!(o.on, On::No | On::Yes);
        return match (simple, event.name()) {
            (true, "send") => Ok(messages::set(session, true, &o)),
            (true, "receive") => Ok(messages::set(session, false, &o)),
            _ => Err(p.badarg_because(am::none)),
        };
    }
    let mfa = what.as_tuple_n::<3>().and_then(|[m, f, a]| place(m, f, a));
    let to = mfa.ok_or_else(|| p.badarg_because(am::none))?;
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
    let o = Orders { debug: true, ..Orders::new(session::default(), on, Spec::All) };
    Ok(p.heap.integer(everywhere(p, &to, &o) as i64))
}

/// A module's code was loaded or removed. If it can be called (`ready`), the `on_load` settings
/// apply to it.
pub fn changed(name: Atom, ready: bool) {
    forget(name);
    if ready {
        breakpoints::notice_exports_of(name);
    }
    let Some(i) = module::current(name).filter(|_| ready) else { return };
    for (o, meta) in on_load::all() {
        functions(&i, None, None, &Orders { meta: None, ..o.clone() });
        if o.meta.is_some() {
            let only = Orders::new(&o.session, o.on, meta);
            functions(&i, None, None, &Orders { meta: o.meta, ..only });
        }
    }
}

/// Whether the current code of a loaded module has the function.
pub fn exists((m, f, a): Mfa) -> bool {
    module::current(m).is_some_and(|i| i.functions.iter().any(|r| (r.function, r.arity) == (f, a)))
}
