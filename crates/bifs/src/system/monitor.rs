//! `erlang:system_monitor/0,1,2`. The events come from `kvik_proc::sysmon`.

use kvik_proc::sysmon::{self, MonitorLimits};
use kvik_proc::{bif, trace, BifEntry, BifResult, Proc};
use kvik_term::{am, Term};

pub const BIFS: &[BifEntry] = &[
    bif!("erlang", "system_monitor", 0, system_monitor_0),
    bif!("erlang", "system_monitor", 1, system_monitor_1),
    bif!("erlang", "system_monitor", 2, system_monitor_2),
];

/// `{Pid, Options}`, or `undefined`.
fn system_monitor_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    let Some((pid, l)) = sysmon::get() else { return Ok(am::undefined.into()) };
    let h = &p.heap;
    let number = |k: Term<'h>, n: u64| (n > 0).then(|| h.tuple(&[k, h.unsigned(n)]));
    let flag = |k: Term<'h>, on: bool| on.then_some(k);
    let all = [
        flag(am::busy_dist_port.into(), l.busy_dist_port),
        flag(am::busy_port.into(), l.busy_port),
        number(am::large_heap.into(), l.large_heap),
        number(am::long_schedule.into(), l.long_schedule),
        number(am::long_gc.into(), l.long_gc),
    ];
    let options: Vec<Term<'h>> = all.into_iter().flatten().collect();
    Ok(h.tuple(&[Term::local_pid(pid), h.list(&options)]))
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
    let new = if who.is_atom(am::undefined) || options.is_nil() {
        None
    } else {
        let pid = who.as_local_pid().filter(|pid| trace::is_alive(*pid));
        Some(pid.zip(limits(options)).ok_or_else(|| p.badarg())?)
    };
    let old = system_monitor_0(p, &[])?;
    sysmon::set(new);
    Ok(old)
}

fn limits(options: Term<'_>) -> Option<MonitorLimits> {
    let mut l = MonitorLimits::default();
    for t in options.list_to_vec()? {
        match (t.as_atom(), t.as_tuple_n::<2>()) {
            (Some(am::busy_port), _) => l.busy_port = true,
            (Some(am::busy_dist_port), _) => l.busy_dist_port = true,
            (_, Some([k, n])) => {
                let n = n.as_u64()?;
                match k.as_atom()? {
                    am::long_gc => l.long_gc = n.max(1),
                    am::long_schedule => l.long_schedule = n.max(1),
                    am::large_heap => l.large_heap = n.max(MIN_LARGE_HEAP),
                    _ => return None,
                }
            }
            _ => return None,
        }
    }
    Some(l)
}
/// Minimum of the `large_heap` limit, in words.
const MIN_LARGE_HEAP: u64 = 16_384;
