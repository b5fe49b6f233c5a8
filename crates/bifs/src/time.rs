//! Clocks and calendars: the time functions of `erlang`.

use kvik_heap::arith::ArithOp;
use kvik_proc::{bif, clock, BifEntry, BifResult, Proc, Raised};
use kvik_sys::local_time::{has_summer_time, local_of_posix, posix_of_local, Civil};
use kvik_term::{am, Term, View};

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

const NANO: i64 = 1_000_000_000;
const DAY: i64 = 86_400;

/// A time unit as parts per second: a positive integer of any size.
fn unit(t: Term<'_>) -> Option<Term<'_>> {
    match t.view() {
        View::Atom(a) => Some(Term::int(match a.name() {
            "second" | "seconds" => 1,
            "millisecond" | "milli_seconds" => 1000,
            "microsecond" | "micro_seconds" => 1_000_000,
            "nanosecond" | "nano_seconds" | "native" | "perf_counter" => NANO as i32,
            _ => return None,
        })),
        View::Small(n) => (n > 0).then_some(t),
        View::Big(n) => (!n.is_negative()).then_some(t),
        _ => None,
    }
}
/// Converts nanoseconds to another unit, rounding down.
pub(crate) fn converted<'h>(p: &'h Proc, nanos: i64, to: Option<&Term<'h>>) -> BifResult<'h> {
    let per_second = to.and_then(|t| unit(*t)).ok_or_else(|| p.badarg())?;
    let Some(small) = per_second.as_small() else {
        let toward_zero = if nanos < 0 { NANO - 1 } else { 0 };
        let parts = p.heap.arith(ArithOp::Mul, p.heap.integer(nanos), per_second);
        let floored =
            parts.and_then(|n| p.heap.arith(ArithOp::Sub, n, Term::int(toward_zero as i32)));
        let n = floored.and_then(|n| p.heap.int_divide(n, Term::int(NANO as i32), false));
        return n.map_err(|_| p.badarg());
    };
    let n = (nanos as i128 * small as i128).div_euclid(NANO as i128);
    match i64::try_from(n) {
        Ok(n) => Ok(p.heap.integer(n)),
        Err(_) => {
            let m = n.unsigned_abs();
            Ok(p.heap.big(n < 0, &[m as u64, (m >> 64) as u64]))
        }
    }
}

fn monotonic_time_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(p.heap.integer(clock::monotonic()))
}
fn monotonic_time_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    converted(p, clock::monotonic(), a.first())
}
fn system_time_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(p.heap.integer(clock::system()))
}
fn system_time_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    converted(p, clock::system(), a.first())
}
fn time_offset_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(p.heap.integer(clock::offset()))
}
fn time_offset_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    converted(p, clock::offset(), a.first())
}

/// `{MegaSecs, Secs, MicroSecs}`
fn three<'h>(p: &'h Proc, micros: i64) -> Term<'h> {
    let parts = [micros / 1_000_000_000_000, micros / 1_000_000 % 1_000_000, micros % 1_000_000];
    p.heap.tuple(&parts.map(|n| p.heap.integer(n)))
}
fn timestamp_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(three(p, clock::system() / 1000))
}
/// Strictly increasing: each call returns a greater value than all before.
fn now_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(three(p, clock::unique_us()))
}

/// `{{Year, Month, Day}, {Hour, Minute, Second}}`
fn date_time<'h>(p: &'h Proc, c: Civil) -> Term<'h> {
    let three = |n: &[i64]| {
        let n: Vec<_> = n.iter().map(|n| p.heap.integer(*n)).collect();
        p.heap.tuple(&n)
    };
    p.heap.tuple(&[three(&c[..3]), three(&c[3..])])
}
fn civil_of(t: Term<'_>) -> Option<Civil> {
    let [date, time] = t.as_tuple_n()?;
    let ([y, mo, d], [h, mi, s]) = (date.as_tuple_n()?, time.as_tuple_n()?);
    let mut c = [0; 6];
    for (c, t) in c.iter_mut().zip([y, mo, d, h, mi, s]) {
        *c = t.as_small()?;
    }
    Some(c)
}
fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}
/// Whether a date and time exists, from year `from` on.
fn is_valid([y, mo, d, h, mi, s]: Civil, from: i64) -> bool {
    let days = match mo {
        2 => 28 + is_leap(y) as i64,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    (from..i32::MAX as i64).contains(&y)
        && (1..=12).contains(&mo)
        && (1..=days).contains(&d)
        && (0..24).contains(&h)
        && (0..60).contains(&mi)
        && (0..60).contains(&s)
}

/// Days since 1970, computed with eras of 400 years and years that begin in March.
fn days_of([y, m, d, ..]: Civil) -> i64 {
    let y = if m <= 2 { y - 1 } else { y };
    let era = y.div_euclid(400);
    let of_era = y.rem_euclid(400);
    let of_year = (153 * ((m + 9) % 12) + 2) / 5 + d - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}
fn posix_of(c: Civil) -> i64 {
    days_of(c) * DAY + c[3] * 3600 + c[4] * 60 + c[5]
}
fn civil_of_posix(seconds: i64) -> Civil {
    let (days, s) = (seconds.div_euclid(DAY) + 719_468, seconds.rem_euclid(DAY));
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let mp = (5 * of_year + 2) / 153;
    let day = of_year - (153 * mp + 2) / 5 + 1;
    let month = (mp + 2) % 12 + 1;
    let year = era * 400 + year + (month <= 2) as i64;
    [year, month, day, s / 3600, s / 60 % 60, s % 60]
}

fn local_now(p: &Proc) -> Result<Civil, Raised> {
    local_of_posix(clock::system().div_euclid(NANO)).ok_or_else(|| p.badarg())
}
fn date_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    let [date, _] = parts(p)?;
    Ok(date)
}
fn time_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    let [_, time] = parts(p)?;
    Ok(time)
}
fn parts<'h>(p: &'h Proc) -> Result<[Term<'h>; 2], Raised> {
    date_time(p, local_now(p)?).as_tuple_n().ok_or_else(|| p.badarg())
}
fn localtime_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(date_time(p, local_now(p)?))
}
fn universaltime_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(date_time(p, civil_of_posix(clock::system().div_euclid(NANO))))
}
fn universaltime_to_localtime_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let c = a.first().and_then(|t| civil_of(*t)).filter(|c| is_valid(*c, 1902));
    let local = c.and_then(|c| local_of_posix(posix_of(c)));
    local.map(|c| date_time(p, c)).ok_or_else(|| p.badarg())
}
fn localtime_to_universaltime_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t, dst] = *a else { return Err(p.badarg()) };
    let dst = match dst.as_atom() {
        Some(am::undefined) => None,
        _ => Some(dst.as_bool().ok_or_else(|| p.badarg())?),
    };
    let ignored =
        || kvik_release::current().ignores_summer_time_that_a_zone_lacks() && !has_summer_time();
    let dst = dst.map(|dst| dst && !ignored());
    let c = civil_of(t).filter(|c| is_valid(*c, 1902)).ok_or_else(|| p.badarg())?;
    let seconds = posix_of_local(c, dst).ok_or_else(|| p.badarg())?;
    Ok(date_time(p, civil_of_posix(seconds)))
}
fn universaltime_to_posixtime_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let c = a.first().and_then(|t| civil_of(*t)).filter(|c| is_valid(*c, 1600));
    c.map(|c| p.heap.integer(posix_of(c))).ok_or_else(|| p.badarg())
}
fn posixtime_to_universaltime_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let s = a.first().and_then(|t| t.as_i64()).ok_or_else(|| p.badarg())?;
    Ok(date_time(p, civil_of_posix(s)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calendars_agree() {
        for s in [0, -1, 951_782_400, 951_868_799, 4_102_444_800, -11_676_096_000, 1_795_229_433] {
            assert_eq!(posix_of(civil_of_posix(s)), s);
        }
        assert_eq!(civil_of_posix(951_782_400), [2000, 2, 29, 0, 0, 0]);
        assert!(!is_valid([1900, 2, 29, 0, 0, 0], 1600));
    }
}
