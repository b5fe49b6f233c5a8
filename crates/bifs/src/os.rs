//! Module `os`: environment, system clocks, signals.

use kvik_env::clock::{monotonic_nanos, wall_nanos};
use kvik_env::signal::SignalAction;
use kvik_port::{env, signals};
use kvik_proc::{bif, BifEntry, BifResult, Proc, Raised};
use kvik_term::{am, Term};

use crate::filename::{from_native, native};

pub const BIFS: &[BifEntry] = &[
    bif!("os", "getenv", 1, getenv_1),
    bif!("os", "putenv", 2, putenv_2),
    bif!("os", "unsetenv", 1, unsetenv_1),
    bif!("os", "env", 0, env_0),
    bif!("os", "getpid", 0, getpid_0),
    bif!("os", "timestamp", 0, timestamp_0),
    bif!("os", "system_time", 0, system_time_0),
    bif!("os", "system_time", 1, system_time_1),
    bif!("os", "perf_counter", 0, perf_counter_0),
    bif!("os", "set_signal", 2, set_signal_2),
];

/// A variable's name or value, given as a list of characters.
fn text(p: &Proc, t: Term<'_>) -> Result<Vec<u8>, Raised> {
    let t = if t.is_list() { native(t) } else { None };
    t.ok_or_else(|| p.badarg())
}

/// A variable's name, which must not contain `=`.
fn name(p: &Proc, t: Term<'_>) -> Result<Vec<u8>, Raised> {
    let n = text(p, t)?;
    if n.contains(&b'=') {
        return Err(p.badarg());
    }
    Ok(n)
}

/// A value as characters, or as bytes if it is not valid in the encoding of file names.
fn out<'h>(p: &'h Proc, bytes: &[u8]) -> Term<'h> {
    from_native(p, bytes).unwrap_or_else(|| p.heap.byte_list(bytes))
}

fn getenv_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let name = name(p, a[0])?;
    Ok(match env::read().get(&name) {
        Some(v) => out(p, v),
        None => Term::bool(false),
    })
}

fn putenv_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (name, value) = (name(p, a[0])?, text(p, a[1])?);
    env::write().insert(name, value);
    Ok(Term::bool(true))
}

fn unsetenv_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    env::write().remove(&name(p, a[0])?);
    Ok(Term::bool(true))
}

fn env_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    let all: Vec<_> =
        env::read().iter().map(|(k, v)| p.heap.tuple(&[out(p, k), out(p, v)])).collect();
    Ok(p.heap.list(&all))
}

fn getpid_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(p.heap.string(&std::process::id().to_string()))
}

fn timestamp_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    let us = wall_nanos().div_euclid(1000);
    let n = |n: i64| p.heap.integer(n);
    let (s, us) = (us.div_euclid(1_000_000), us.rem_euclid(1_000_000));
    let (mega, s) = (s.div_euclid(1_000_000), s.rem_euclid(1_000_000));
    Ok(p.heap.tuple(&[n(mega), n(s), n(us)]))
}

fn system_time_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(p.heap.integer(wall_nanos()))
}

fn system_time_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    crate::time::converted(p, wall_nanos(), a.first())
}

fn perf_counter_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(p.heap.integer(monotonic_nanos()))
}

fn set_signal_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let action = match a[1].as_atom() {
        Some(am::default) => SignalAction::Default,
        Some(am::ignore) => SignalAction::Ignore,
        Some(am::handle) => SignalAction::Handle,
        _ => return Err(p.badarg_because(am::badopt)),
    };
    a[0].as_atom().and_then(|name| signals::set(name, action)).ok_or_else(|| p.badarg())?;
    Ok(am::ok.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables() {
        let p = Proc::new(1, 1000);
        let h = &p.heap;
        let (n, v) = (h.string("KVIK_TEST"), h.string("å=1"));
        assert!(getenv_1(&p, &[n]).unwrap() == am::false_);
        putenv_2(&p, &[n, v]).unwrap();
        let got = getenv_1(&p, &[n]).unwrap();
        assert_eq!(got.list().count(), 3);
        unsetenv_1(&p, &[n]).unwrap();
        assert!(getenv_1(&p, &[n]).unwrap() == am::false_);
        assert!(putenv_2(&p, &[h.string("a=b"), v]).is_err());
        assert!(getenv_1(&p, &[h.string("a=b")]).is_err());
        assert!(getenv_1(&p, &[am::ok.into()]).is_err());
    }

    #[test]
    fn clocks() {
        let p = Proc::new(1, 1000);
        let ms = system_time_1(&p, &[am::millisecond.into()]).unwrap();
        let s = system_time_1(&p, &[Term::int(1)]).unwrap();
        let (ms, s) = (ms.as_i64().unwrap(), s.as_i64().unwrap());
        assert!((ms / 1000 - s).abs() <= 1);
        assert!(system_time_1(&p, &[Term::int(0)]).is_err());
    }
}
