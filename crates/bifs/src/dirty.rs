//! `erts_debug:dirty_cpu/2`, `dirty_io/2` and `dirty/3`: actions that OTP's tests run on dirty
//! schedulers; here they run on the blocking pool.

use std::time::Duration;

use kvik_env::clock::Instant;
use kvik_env::thread::sleep;
use kvik_heap::{Heap, OwnedTerm};
use kvik_proc::sched::online::{self, Blocked};
use kvik_proc::signal::{deliver, post, Signal};
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{am, Atom, Term};

use crate::blocking_pool::{hand_off, hand_on, run, Completion};

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
        Some(kind @ (am::dirty_cpu | am::dirty_io | am::normal)) => dirty(p, kind, &a[1..]),
        _ => Err(p.badarg()),
    }
}

/// Number of copies that `copy` makes.
const COPIES: usize = 1000;

/// Runs an action; `kind` selects the kind of thread.
fn dirty<'h>(p: &'h Proc, kind: Atom, a: &[Term<'h>]) -> BifResult<'h> {
    let [what, of] = *a else { return Err(p.badarg()) };
    let me = p.pid();
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
        Some("copy") => {
            let t = OwnedTerm::new(of);
            Err(hand_off(p, || t, |h, t| h.list(&copied(h, &t))))
        }
        Some("wait") => {
            let time = of.as_i64().filter(|t| *t >= 0).ok_or_else(|| p.badarg())?;
            let time = Duration::from_millis(time.unsigned_abs());
            let work = move || match kind {
                am::dirty_cpu => compute(time),
                _ => sleep(time),
            };
            // All other schedulers are blocked, so this thread works alone.
            if online::blocked() == Blocked::All {
                work();
                return Ok(am::ok.into());
            }
            Err(hand_off(p, work, |_, ()| am::ok.into()))
        }
        Some("send") => {
            let to = of.as_local_pid().ok_or_else(|| p.badarg())?;
            Err(hand_off(p, move || tell(to, "ok", me), |_, ()| am::ok.into()))
        }
        Some("ready_wait6_done") => {
            let to = of.as_local_pid().ok_or_else(|| p.badarg())?;
            let work = move || {
                tell(to, "ready", me);
                sleep(Duration::from_secs(6));
                tell(to, "done", me);
            };
            Err(hand_off(p, work, |_, ()| am::ok.into()))
        }
        Some("alive_waitexiting") => {
            let to = of.as_local_pid().ok_or_else(|| p.badarg())?;
            let work = move || {
                tell(to, "alive", me);
                while kvik_proc::trace::is_alive(me) {
                    sleep(Duration::from_millis(10));
                }
            };
            Err(hand_off(p, work, |_, ()| am::ok.into()))
        }
        Some("reschedule") => {
            let n = of.as_u64().filter(|n| n.is_multiple_of(2)).ok_or_else(|| p.badarg())?;
            Err(hand_on(p, move |done| reschedule(me, kind, n, done)))
        }
        _ => Err(p.badarg()),
    }
}
fn copied<'h>(h: &'h Heap, t: &OwnedTerm) -> Vec<Term<'h>> {
    (0..COPIES).map(|_| h.copy(t.term())).collect()
}
/// Sends `{What, Pid}` to a process.
fn tell(to: u32, what: &str, from: u32) {
    let Ok(what) = Atom::intern(what) else { return };
    post(to, |h| h.tuple(&[what.into(), Term::local_pid(from)]));
}
/// Counts `n` down by 2, each step on a new thread of its kind; every second step changes the kind.
fn reschedule(me: u32, kind: Atom, n: u64, done: Completion) {
    let Some(left) = n.checked_sub(2) else { return done(Box::new(|_| am::ok.into())) };
    let next = match kind {
        _ if !n.is_multiple_of(4) => kind,
        am::dirty_cpu => am::dirty_io,
        am::dirty_io => am::normal,
        _ => am::dirty_cpu,
    };
    if next != am::normal {
        return run(Box::new(move || reschedule(me, next, left, done)));
    }
    // The chain ends if the process has ended.
    let step = move |p: Option<&Proc>| {
        if p.is_some() {
            reschedule(me, next, left, done)
        }
    };
    deliver(me, Signal::Run(Box::new(step)));
}
/// Keeps a CPU busy for `time`.
fn compute(time: Duration) {
    let begin = Instant::now();
    while begin.elapsed() < time {
        std::hint::spin_loop();
    }
}
