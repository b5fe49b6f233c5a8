//! Clocks and calendars.

use std::sync::atomic::{AtomicI64, Ordering};

use kvik_proc::{bif, clock, BifEntry, BifResult, Proc};
use kvik_sys::calendar::{self, DateTime};
use kvik_term::{am, Term};

pub const BIFS: &[BifEntry] = &[
    bif!("erlang", "monotonic_time", 0, monotonic_time_0),
    bif!("erlang", "monotonic_time", 1, monotonic_time_1),
    bif!("erlang", "system_time", 0, system_time_0),
    bif!("erlang", "system_time", 1, system_time_1),
    bif!("erlang", "time_offset", 0, time_offset_0),
    bif!("erlang", "time_offset", 1, time_offset_1),
    bif!("erlang", "timestamp", 0, timestamp_0),
    bif!("erlang", "now", 0, now_0),
    bif!("erlang", "date", 0, date_0),
    bif!("erlang", "time", 0, time_0),
    bif!("erlang", "localtime", 0, localtime_0),
    bif!("erlang", "universaltime", 0, universaltime_0),
    bif!("erlang", "universaltime_to_localtime", 1, universaltime_to_localtime_1),
    bif!("erlang", "localtime_to_universaltime", 2, localtime_to_universaltime_2),
    bif!("erlang", "universaltime_to_posixtime", 1, universaltime_to_posixtime_1),
    bif!("erlang", "posixtime_to_universaltime", 1, posixtime_to_universaltime_1),
];

/// Parts of a second that a unit counts; the native unit is the nanosecond.
fn parts(t: Term<'_>) -> Option<i128> {
    if let Some(n) = t.as_i64() {
        return (n > 0).then_some(n as i128);
    }
    Some(match t.as_atom()? {
        am::second | am::seconds => 1,
        am::millisecond | am::milli_seconds => 1_000,
        am::microsecond | am::micro_seconds => 1_000_000,
        am::nanosecond | am::nano_seconds | am::native | am::perf_counter => 1_000_000_000,
        _ => return None,
    })
}
fn in_unit<'h>(p: &'h Proc, ns: i64, unit: Term<'h>) -> BifResult<'h> {
    let parts = parts(unit).ok_or_else(|| p.badarg())?;
    let t = (ns as i128 * parts).div_euclid(1_000_000_000);
    let u = t.unsigned_abs();
    Ok(p.heap.big(t < 0, &[u as u64, (u >> 64) as u64]))
}
fn monotonic_time_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(p.heap.integer(clock::monotonic()))
}
fn monotonic_time_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    in_unit(p, clock::monotonic(), a[0])
}
fn system_time_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(p.heap.integer(clock::system()))
}
fn system_time_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    in_unit(p, clock::system(), a[0])
}
fn time_offset_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(p.heap.integer(clock::offset()))
}
fn time_offset_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    in_unit(p, clock::offset(), a[0])
}
/// `{MegaSeconds, Seconds, MicroSeconds}`.
fn mega<'h>(p: &'h Proc, us: i64) -> Term<'h> {
    let (s, us) = (us.div_euclid(1_000_000), us.rem_euclid(1_000_000));
    let n = |n: i64| p.heap.integer(n);
    p.heap.tuple(&[n(s.div_euclid(1_000_000)), n(s.rem_euclid(1_000_000)), n(us)])
}
fn timestamp_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(mega(p, clock::system() / 1000))
}
/// Never the same twice.
fn now_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    static LAST: AtomicI64 = AtomicI64::new(0);
    let us = clock::system() / 1000;
    let later = |last: i64| Some(us.max(last + 1));
    let before = LAST.fetch_update(Ordering::Relaxed, Ordering::Relaxed, later).unwrap_or(us);
    Ok(mega(p, us.max(before + 1)))
}

fn date_term<'h>(p: &'h Proc, d: &DateTime) -> Term<'h> {
    p.heap.tuple(&[p.heap.integer(d.year), Term::int(d.month as i32), Term::int(d.day as i32)])
}
fn time_term<'h>(p: &'h Proc, d: &DateTime) -> Term<'h> {
    let n = |n: u32| Term::int(n as i32);
    p.heap.tuple(&[n(d.hour), n(d.minute), n(d.second)])
}
fn both<'h>(p: &'h Proc, d: &DateTime) -> Term<'h> {
    p.heap.tuple(&[date_term(p, d), time_term(p, d)])
}
fn seconds_now() -> i64 {
    clock::os_system().div_euclid(1_000_000_000)
}
fn local_now<'h>(p: &'h Proc) -> Result<DateTime, kvik_proc::Raised> {
    calendar::local(seconds_now()).ok_or_else(|| p.badarg())
}
fn date_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(date_term(p, &local_now(p)?))
}
fn time_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(time_term(p, &local_now(p)?))
}
fn localtime_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(both(p, &local_now(p)?))
}
fn universaltime_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(both(p, &DateTime::of_seconds(seconds_now())))
}

/// `{{Year, Month, Day}, {Hour, Minute, Second}}`, valid.
fn date_time(t: Term<'_>) -> Option<DateTime> {
    let [d, t] = t.as_tuple_n()?;
    let ([y, mo, d], [h, mi, s]) = (d.as_tuple_n()?, t.as_tuple_n()?);
    let n = |t: Term<'_>| u32::try_from(t.as_small()?).ok();
    let d = DateTime {
        year: y.as_small()?,
        month: n(mo)?,
        day: n(d)?,
        hour: n(h)?,
        minute: n(mi)?,
        second: n(s)?,
    };
    d.is_valid().then_some(d)
}
fn universaltime_to_localtime_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let d = date_time(a[0]).ok_or_else(|| p.badarg())?;
    let l = calendar::local(d.to_seconds()).ok_or_else(|| p.badarg())?;
    Ok(both(p, &l))
}
fn localtime_to_universaltime_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let dst = match a[1].as_atom() {
        Some(am::true_) => Some(true),
        Some(am::false_) => Some(false),
        Some(am::undefined) => None,
        _ => return Err(p.badarg()),
    };
    let d = date_time(a[0]).ok_or_else(|| p.badarg())?;
    let s = calendar::local_to_seconds(&d, dst).ok_or_else(|| p.badarg())?;
    Ok(both(p, &DateTime::of_seconds(s)))
}
fn universaltime_to_posixtime_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let d = date_time(a[0]).ok_or_else(|| p.badarg())?;
    Ok(p.heap.integer(d.to_seconds()))
}
fn posixtime_to_universaltime_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    /// Ten thousand years either way.
    const LIMIT: i64 = 315_569_520_000;
    let s = a[0].as_i64().filter(|s| s.abs() <= LIMIT).ok_or_else(|| p.badarg())?;
    Ok(both(p, &DateTime::of_seconds(s)))
}
