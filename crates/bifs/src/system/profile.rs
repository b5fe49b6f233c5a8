//! `erlang:system_profile/0,2`. The events come from `kvik_proc::sysprof`.

use kvik_proc::sysprof::{self, what, Setting};
use kvik_proc::trace::{bit, Tracee};
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{am, Atom, Term};

pub const BIFS: &[BifEntry] = &[
    bif!("erlang", "system_profile", 0, system_profile_0),
    bif!("erlang", "system_profile", 2, system_profile_2),
];

/// The kinds of events, in the order in which they are listed.
const OPTIONS: [(Atom, u32); 4] = [
    (am::exclusive, what::EXCLUSIVE),
    (am::scheduler, what::SCHEDULERS),
    (am::runnable_procs, what::PROCS),
    (am::runnable_ports, what::PORTS),
];
const STAMPS: [(Atom, u32); 3] = [
    (am::timestamp, bit::TIMESTAMP),
    (am::monotonic_timestamp, bit::MONOTONIC),
    (am::strict_monotonic_timestamp, bit::STRICT),
];

/// `{Profiler, Options}`, or `undefined`. The options do not include the kind of timestamp.
fn system_profile_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    let Some(s) = sysprof::get() else { return Ok(am::undefined.into()) };
    let told = OPTIONS.iter().filter(|o| s.what & o.1 != 0);
    let told: Vec<Term<'h>> = told.map(|o| o.0.into()).collect();
    Ok(p.heap.tuple(&[s.profiler.term(), p.heap.list(&told)]))
}

/// Returns the previous settings.
fn system_profile_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [who, options] = *a else { return Err(p.badarg()) };
    let new = if who.is_atom(am::undefined) || options.is_nil() {
        None
    } else {
        let who = Tracee::of(who).filter(|w| w.is_there());
        Some(who.and_then(|w| setting(w, options)).ok_or_else(|| p.badarg())?)
    };
    let old = system_profile_0(p, &[])?;
    sysprof::set(new);
    Ok(old)
}

fn setting(profiler: Tracee, options: Term<'_>) -> Option<Setting> {
    let mut s = Setting { profiler, what: 0, stamp: bit::TIMESTAMP };
    for t in options.list_to_vec()? {
        let named = |all: &[(Atom, u32)]| all.iter().find(|o| t.is_atom(o.0)).map(|o| o.1);
        match named(&STAMPS) {
            Some(stamp) => s.stamp = stamp,
            None => s.what |= named(&OPTIONS)?,
        }
    }
    Some(s)
}
