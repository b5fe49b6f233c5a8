//! `kvik:inject_faults/1`, `faults/0`, `clear_faults/0` and `advance_clock/1`: let a program
//! control the simulated environment of its own VM. Only in builds with the feature `simulation`.

use std::time::Duration;

use kvik_env::{current, Fault};
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{am, Atom, Term};

pub const BIFS: &[BifEntry] = &[
    bif!("kvik", "inject_faults", 1, inject_faults_1),
    bif!("kvik", "faults", 0, faults_0),
    bif!("kvik", "clear_faults", 0, clear_faults_0),
    bif!("kvik", "advance_clock", 1, advance_clock_1),
];

/// Adds faults, in the syntax of `KVIK_FAULTS`, to the existing ones. `{error, Why}`: none was
/// added.
fn inject_faults_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let text = crate::iolist::bytes_of(a[0]).map_err(|_| p.badarg())?;
    let text = String::from_utf8(text).map_err(|_| p.badarg())?;
    match current().faults.arm(&text) {
        Ok(()) => Ok(am::ok.into()),
        Err(e) => Ok(p.heap.tuple(&[am::error.into(), p.heap.binary(e.as_bytes())])),
    }
}
/// `[{Name, HowOftenItStruck}]`.
fn faults_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    let row = |(fault, name, _): &(Fault, &str, _)| {
        let name = Atom::intern(name).map_err(|_| p.system_limit())?;
        let n = p.heap.unsigned(current().faults.struck(*fault));
        Ok(p.heap.tuple(&[name.into(), n]))
    };
    let all = Fault::ALL.iter().map(row).collect::<Result<Vec<_>, _>>()?;
    Ok(p.heap.list(&all))
}
fn clear_faults_0<'h>(_: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    current().faults.clear();
    Ok(am::ok.into())
}
/// Advances the clock by milliseconds. `false`: the system clock is in use, which cannot be
/// advanced.
fn advance_clock_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let ms = a[0].as_u64().ok_or_else(|| p.badarg())?;
    Ok(Term::bool(current().clock.advance(Duration::from_millis(ms))))
}
