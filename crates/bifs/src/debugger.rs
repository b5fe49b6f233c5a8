//! Module `erl_debugger` (since OTP 28): a debugger registers itself, sets breakpoints at lines, is
//! told when a process comes to one, and looks into suspended processes. Without `+D` the functions
//! are undefined.

mod inspect;

use std::sync::{Arc, Mutex, MutexGuard};

use kvik_code::{debugger, module, DebuggerSwitches, LinePoint, LoadedModule};
use kvik_jit::line_breakpoints;
use kvik_proc::process::table;
use kvik_proc::signal::post;
use kvik_proc::{bif, BifEntry, BifResult, Proc, Raised};
use kvik_term::{am, Atom, Term};

pub const BIFS: &[BifEntry] = &[
    bif!("erl_debugger", "supported", 0, supported_0, since 28),
    bif!("erl_debugger", "instrumentations", 0, instrumentations_0, since 28),
    bif!("erl_debugger", "toggle_instrumentations", 1, toggle_instrumentations_1, since 28),
    bif!("erl_debugger", "register", 1, register_1, since 28),
    bif!("erl_debugger", "unregister", 2, unregister_2, since 28),
    bif!("erl_debugger", "whereis", 0, whereis_0, since 28),
    bif!("erl_debugger", "breakpoint", 3, breakpoint_3, since 28),
    bif!("erl_debugger", "breakpoints", 1, breakpoints_1, since 28),
    bif!("erl_debugger", "breakpoints", 3, breakpoints_3, since 28),
    bif!("erl_debugger", "stack_frames", 2, inspect::stack_frames_2, since 28),
    bif!("erl_debugger", "peek_stack_frame_slot", 4, inspect::peek_stack_frame_slot_4, since 28),
    bif!("erl_debugger", "xregs_count", 1, inspect::xregs_count_1, since 28),
    bif!("erl_debugger", "peek_xreg", 3, inspect::peek_xreg_3, since 28),
    bif!("erts_internal", "notify_breakpoint_hit", 3, notify_breakpoint_hit_3, since 28),
    bif!("code", "get_debug_info", 1, get_debug_info_1, since 28),
];

/// The registered debugger.
#[derive(Default)]
struct Registered {
    pid: Option<u32>,
    /// Goes with each event, and is to be given to unregister.
    session: u32,
}
kvik_state::vm_state! {
    static REGISTERED: Mutex<Registered> = Mutex::new(Registered { pid: None, session: 0 });
}
fn registered() -> MutexGuard<'static, Registered> {
    REGISTERED.lock().unwrap_or_else(|e| e.into_inner())
}
impl Registered {
    /// Its pid, if it lives.
    fn living(&self) -> Option<u32> {
        self.pid.filter(|pid| table().get(*pid, &kvik_sync::pin()).is_some())
    }
}

fn ensure_enabled(p: &Proc) -> Result<(), Raised> {
    match DebuggerSwitches::current().is_enabled() {
        true => Ok(()),
        false => Err(p.error(am::undef)),
    }
}
fn local_pid(p: &Proc, t: Term<'_>) -> Result<u32, Raised> {
    t.as_local_pid().ok_or_else(|| p.badarg())
}
fn atom(p: &Proc, t: Term<'_>) -> Result<Atom, Raised> {
    t.as_atom().ok_or_else(|| p.badarg())
}
fn small(p: &Proc, t: Term<'_>) -> Result<i64, Raised> {
    t.as_small().ok_or_else(|| p.badarg())
}
fn pair<'h>(p: &'h Proc, a: impl Into<Term<'h>>, b: impl Into<Term<'h>>) -> Term<'h> {
    p.heap.tuple(&[a.into(), b.into()])
}

fn supported_0<'h>(_: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(DebuggerSwitches::current().is_enabled().into())
}
fn instrumentations_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    ensure_enabled(p)?;
    let on = DebuggerSwitches::current().wants_line_breakpoints();
    Ok(p.heap.map(&[(am::line_breakpoint.into(), on.into())]))
}
fn toggle_instrumentations_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    ensure_enabled(p)?;
    let map = a[0].as_map().ok_or_else(|| p.badarg())?;
    let toggle = kvik_term::map::get(map, am::line_breakpoint.into());
    if map.len() != usize::from(toggle.is_some()) {
        return Err(p.badarg());
    }
    if let Some(on) = toggle {
        debugger::want_line_breakpoints(on.as_bool().ok_or_else(|| p.badarg())?);
    }
    Ok(am::ok.into())
}

fn register_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    ensure_enabled(p)?;
    let pid = local_pid(p, a[0])?;
    let mut r = registered();
    if r.living().is_some() {
        return Ok(pair(p, am::error, am::already_exists));
    }
    r.pid = Some(pid);
    let last = r.session;
    while r.session == last {
        r.session = kvik_env::random::number() as u32;
    }
    Ok(pair(p, am::ok, p.heap.integer(r.session.into())))
}
fn unregister_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    ensure_enabled(p)?;
    let (pid, session) = (local_pid(p, a[0])?, small(p, a[1])?);
    let mut r = registered();
    if r.pid == Some(pid) {
        if i64::from(r.session) != session {
            return Err(p.badarg());
        }
        r.pid = None;
    }
    Ok(am::ok.into())
}
fn whereis_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    ensure_enabled(p)?;
    Ok(registered().living().map_or(am::undefined.into(), Term::local_pid))
}

/// A process is at a breakpoint; tells the debugger, unless that is the process itself.
fn notify_breakpoint_hit_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    ensure_enabled(p)?;
    let [module, function, arity] = a[0].as_tuple_n::<3>().ok_or_else(|| p.badarg())?;
    atom(p, module).and(atom(p, function))?;
    small(p, arity).and(small(p, a[1]))?;
    let resume = a[2].as_fun().filter(|f| f.arity() == 0);
    resume.ok_or_else(|| p.badarg())?;
    // The lock is kept until the event is sent: after unregister there are none.
    let r = registered();
    if r.pid == Some(p.pid()) {
        return Ok(am::abort.into());
    }
    let Some(to) = r.living() else { return Ok(am::noproc.into()) };
    let own = Term::local_pid(p.pid());
    let sent = post(to, |h| {
        let [mfa, line, resume] = [a[0], a[1], a[2]].map(|t| h.copy(t));
        let event = h.tuple(&[am::breakpoint.into(), own, mfa, line, resume]);
        h.tuple(&[am::debugger_event.into(), h.integer(r.session.into()), event])
    });
    Ok(if sent { am::ok } else { am::noproc }.into())
}

fn breakpoint_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    ensure_enabled(p)?;
    let (name, line) = (atom(p, a[0])?, small(p, a[1])?);
    let on = a[2].as_bool().filter(|_| line > 0).ok_or_else(|| p.badarg())?;
    let refused = |why: Atom, what: Term<'h>| Ok(pair(p, am::error, pair(p, why, what)));
    let Some(i) = module::current(name) else { return refused(am::badkey, a[0]) };
    if !i.debug.switches.has_line_breakpoints() {
        return refused(am::unsupported, a[0]);
    }
    let points = || i.debug.points.iter().filter(|point| i64::from(point.line) == line);
    if points().next().is_none() {
        let known = i.lines.iter().any(|(_, l)| i64::from(*l) == line);
        return refused(if known { am::unsupported } else { am::badkey }, a[1]);
    }
    points().for_each(|point| line_breakpoints::set(&i, point, on));
    Ok(am::ok.into())
}

fn breakpoints_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    ensure_enabled(p)?;
    let Some(i) = module::current(atom(p, a[0])?) else {
        return Ok(pair(p, am::error, am::badkey));
    };
    let lines = (0..i.functions.len()).map(|n| (function(p, &i, n), lines_of(p, &i, n)));
    Ok(pair(p, am::ok, p.heap.map(&lines.collect::<Vec<_>>())))
}
fn breakpoints_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    ensure_enabled(p)?;
    let (name, wanted, arity) = (atom(p, a[0])?, atom(p, a[1])?, small(p, a[2])?);
    let unknown = |what: Term<'h>| Ok(pair(p, am::error, pair(p, am::badkey, what)));
    let Some(i) = module::current(name) else { return unknown(a[0]) };
    let at = i.functions.iter().position(|f| f.function == wanted && i64::from(f.arity) == arity);
    match at {
        Some(n) => Ok(pair(p, am::ok, lines_of(p, &i, n))),
        None => unknown(pair(p, wanted, a[2])),
    }
}
/// `{Name, Arity}` of a function of a module.
fn function<'h>(p: &'h Proc, i: &LoadedModule, n: usize) -> Term<'h> {
    let f = i.functions.get(n);
    let (name, arity) = f.map_or((am::undefined, 0), |f| (f.function, f.arity));
    pair(p, name, p.heap.integer(arity.into()))
}
/// `#{Line => Whether a breakpoint is set}` of a function.
fn lines_of<'h>(p: &'h Proc, i: &LoadedModule, n: usize) -> Term<'h> {
    let own = |point: &&LinePoint| point.function == n && point.line > 0;
    let line = |point: &LinePoint| {
        (p.heap.integer(point.line.into()), line_breakpoints::is_set(i, point).into())
    };
    p.heap.map(&i.debug.points.iter().filter(own).map(line).collect::<Vec<_>>())
}

/// What the compiler told about each place for a breakpoint.
fn get_debug_info_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let i: Arc<LoadedModule> =
        a[0].as_atom().and_then(module::current).ok_or_else(|| p.badarg())?;
    if !i.debug.has_info {
        return Ok(am::none.into());
    }
    let mut points: Vec<&LinePoint> = i.debug.points.iter().collect();
    points.sort_by_key(|point| point.item);
    let item = |point: &LinePoint| {
        let item = i.literals.get(i.debug.first_item + point.item)?;
        Some(pair(p, p.heap.integer(point.line.into()), p.heap.copy(item)))
    };
    let all: Vec<_> = points.into_iter().filter_map(item).collect();
    p.heap.bump_reductions(all.len() as i64);
    Ok(p.heap.list(&all))
}
