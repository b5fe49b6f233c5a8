//! `erlang:system_monitor/0,1,2`, and what `trace:system/3` calls. The events come from
//! `kvik_proc::sysmon`.

use kvik_proc::sysmon::{self, MonitorLimits};
use kvik_proc::trace::{self, SessionRef, Tracee, Tracer};
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{am, Atom, Term};

use crate::trace::session_of;

pub const BIFS: &[BifEntry] = &[
    bif!("erlang", "system_monitor", 0, system_monitor_0, until 28),
    bif!("erlang", "system_monitor", 1, system_monitor_1, until 28),
    bif!("erlang", "system_monitor", 2, system_monitor_2, until 28),
    bif!("erts_internal", "system_monitor", 1, of_session_1, since 28),
    bif!("erts_internal", "system_monitor", 3, of_session_3, since 28),
];

/// `{Pid, Options}`, or `undefined`.
fn get<'h>(p: &'h Proc, s: &SessionRef) -> Term<'h> {
    let Some((pid, l)) = sysmon::get(s) else { return am::undefined.into() };
    p.heap.tuple(&[Term::local_pid(pid), listed(p, &l)])
}
fn listed<'h>(p: &'h Proc, l: &MonitorLimits) -> Term<'h> {
    let h = &p.heap;
    let number = |k: Term<'h>, n: u64| (n > 0).then(|| h.tuple(&[k, h.unsigned(n)]));
    let flag = |k: Term<'h>, on: bool| on.then_some(k);
    let lengths = l.long_message_queue.zip(Atom::existing(LONG_MESSAGE_QUEUE));
    let lengths = lengths.map(|((off, on), name)| {
        h.tuple(&[name.into(), h.tuple(&[h.unsigned(off), h.unsigned(on)])])
    });
    let all = [
        flag(am::busy_dist_port.into(), l.busy_dist_port),
        flag(am::busy_port.into(), l.busy_port),
        number(am::large_heap.into(), l.large_heap),
        number(am::long_schedule.into(), l.long_schedule),
        number(am::long_gc.into(), l.long_gc),
        lengths,
    ];
    let options: Vec<Term<'h>> = all.into_iter().flatten().collect();
    h.list(&options)
}
/// The options of a session's monitor, for `trace:info(Session, system, all)`.
pub fn options<'h>(p: &'h Proc, s: &SessionRef) -> Term<'h> {
    listed(p, &sysmon::get(s).map(|m| m.1).unwrap_or_default())
}

fn system_monitor_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(get(p, trace::session::default()))
}
fn system_monitor_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    if a[0].is_atom(am::undefined) {
        return system_monitor_2(p, &[a[0], Term::NIL]);
    }
    let pair = a[0].as_tuple_n::<2>().ok_or_else(|| p.badarg())?;
    system_monitor_2(p, &pair)
}
fn system_monitor_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [who, options] = *a else { return Err(p.badarg()) };
    set_all(p, trace::session::default(), who, options)
}

/// A session, or `legacy` for the default session.
fn session<'h>(p: &'h Proc, t: Term<'h>) -> Result<SessionRef, kvik_proc::Raised> {
    match t.as_atom() {
        Some(a) if a.name() == "legacy" => Ok(trace::session::default().clone()),
        _ => session_of(t).ok_or_else(|| p.badarg()),
    }
}
fn of_session_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(get(p, &session(p, a[0])?))
}
fn of_session_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [s, who, options] = *a else { return Err(p.badarg()) };
    let s = session(p, s)?;
    let receiver = match s.tracer() {
        None => return set_all(p, &s, who, options),
        Some(Tracer::To(Tracee::Process(pid))) => *pid,
        Some(_) => return Err(p.badarg()),
    };
    let for_tracer = who.as_atom().is_some_and(|a| a.name() == "session");
    let old = sysmon::get(&s).map(|m| m.1).unwrap_or_default();
    let new = limits(old, options).filter(|_| for_tracer).ok_or_else(|| p.badarg())?;
    sysmon::set(&s, (new != MonitorLimits::default()).then_some((receiver, new)));
    Ok(am::ok.into())
}

/// Replaces the limits of a session without a tracer; returns the old ones.
fn set_all<'h>(p: &'h Proc, s: &SessionRef, who: Term<'h>, options: Term<'h>) -> BifResult<'h> {
    if kvik_release::current().has_system_monitors() && !options.is_list() {
        return Err(p.badarg());
    }
    let new = if who.is_atom(am::undefined) || options.is_nil() {
        None
    } else {
        let pid = who.as_local_pid().filter(|pid| trace::is_alive(*pid));
        let limits = limits(MonitorLimits::default(), options);
        Some(pid.zip(limits).ok_or_else(|| p.badarg())?)
    };
    let old = get(p, s);
    sysmon::set(s, new);
    Ok(old)
}

/// Adds the options of a list, `busy_port` or `{long_gc, Limit}`, to limits. Where there are trace
/// sessions, each may have `false`.
fn limits(mut l: MonitorLimits, options: Term<'_>) -> Option<MonitorLimits> {
    let pairs = kvik_release::current().has_system_monitors();
    let has_queues = kvik_release::current().has_long_message_queues();
    for t in options.list_to_vec()? {
        let (key, value) = match (t.as_atom(), t.as_tuple_n::<2>()) {
            (Some(key), _) => (key, Term::bool(true)),
            (_, Some([key, value])) => (key.as_atom()?, value),
            _ => return None,
        };
        let off = pairs && value.as_bool() == Some(false);
        let number = |lowest: u64| if off { Some(0) } else { Some(value.as_u64()?.max(lowest)) };
        let switch = || value.as_bool().filter(|_| pairs || t.as_atom().is_some());
        match key {
            am::busy_port => l.busy_port = switch()?,
            am::busy_dist_port => l.busy_dist_port = switch()?,
            am::long_gc => l.long_gc = number(1)?,
            am::long_schedule => l.long_schedule = number(1)?,
            am::large_heap => l.large_heap = number(MIN_LARGE_HEAP)?,
            key if key.name() == LONG_MESSAGE_QUEUE && has_queues => {
                l.long_message_queue = if off { None } else { Some(lengths(value)?) }
            }
            _ => return None,
        }
    }
    Some(l)
}
/// `{Disable, Enable}`
fn lengths(t: Term<'_>) -> Option<(u64, u64)> {
    let [off, on] = t.as_tuple_n::<2>()?;
    let lengths = (off.as_u64()?, on.as_u64()?);
    (lengths.0 < lengths.1).then_some(lengths)
}
const LONG_MESSAGE_QUEUE: &str = "long_message_queue";
/// Minimum of the `large_heap` limit, in words.
const MIN_LARGE_HEAP: u64 = 16_384;
