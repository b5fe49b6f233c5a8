//! `erts_debug:dirty_cpu/2`, `dirty_io/2` and `dirty/3`: what OTP's tests have threads do that are
//! no schedulers.

use std::time::{Duration, Instant};

use kvik_proc::signal::post;
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{am, Atom, Term};

use crate::blocking::hand_off;

pub const BIFS: &[BifEntry] = &[
    bif!("erts_debug", "dirty_cpu", 2, dirty_cpu_2),
    bif!("erts_debug", "dirty_io", 2, dirty_io_2),
    bif!("erts_debug", "dirty", 3, dirty_3),
];

fn dirty_cpu_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    dirty(p, am::dirty_cpu, a)
}
fn dirty_io_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    dirty(p, am::dirty_io, a)
}
fn dirty_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    match a[0].as_atom() {
        Some(kind @ (am::dirty_cpu | am::dirty_io)) => dirty(p, kind, &a[1..]),
        // On the scheduler only what does not wait.
        Some(am::normal) if a[1] == am::scheduler || a[1] == am::error => {
            dirty(p, am::normal, &a[1..])
        }
        Some(am::normal) => Err(p.notsup()),
        _ => Err(p.badarg()),
    }
}

/// `kind`: on which kind of thread.
fn dirty<'h>(p: &'h Proc, kind: Atom, a: &[Term<'h>]) -> BifResult<'h> {
    let [what, of] = *a else { return Err(p.badarg()) };
    match what.as_atom().map(|a| a.name()) {
        Some("scheduler") if of == am::type_ && kind == am::normal => Ok(kind.into()),
        Some("scheduler") if of == am::type_ => {
            Err(hand_off(p, || (), move |_, ()| Term::atom(kind)))
        }
        Some("error") => Err(match of.as_atom() {
            Some(why @ (am::notsup | am::undef | am::badarith | am::noproc)) => p.error(why),
            Some(am::system_limit) => p.system_limit(),
            _ => p.badarg(),
        }),
        Some("wait") => {
            let time = Duration::from_millis(of.as_u64().ok_or_else(|| p.badarg())?);
            let work = move || match kind {
                am::dirty_cpu => compute(time),
                _ => std::thread::sleep(time),
            };
            Err(hand_off(p, work, |_, ()| am::ok.into()))
        }
        Some("send") => {
            let to = of.as_local_pid().ok_or_else(|| p.badarg())?;
            let work = move || post(to, |_| am::ok.into());
            Err(hand_off(p, work, |_, _| am::ok.into()))
        }
        _ => Err(p.badarg()),
    }
}
/// Uses a processor for so long.
fn compute(time: Duration) {
    let begin = Instant::now();
    while begin.elapsed() < time {
        std::hint::spin_loop();
    }
}
