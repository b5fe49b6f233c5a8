//! `ets:info/1,2`.

use kvik_ets::{registry, Access, Refusal, Store, Table, TableKind, TableState};
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_sync::pin;
use kvik_term::{am, Atom, Term};

use super::me;

pub const BIFS: &[BifEntry] = &[bif!("ets", "info", 1, info_1), bif!("ets", "info", 2, info_2)];

/// The items of `ets:info/1`, in order.
const ITEMS: [Atom; 15] = [
    am::id,
    am::decentralized_counters,
    am::read_concurrency,
    am::write_concurrency,
    am::compressed,
    am::memory,
    am::owner,
    am::heir,
    am::name,
    am::size,
    am::node,
    am::named_table,
    am::type_,
    am::keypos,
    am::protection,
];

/// Calls `f` with the table, or returns `undefined` if there is none.
fn with<'h>(
    p: &'h Proc,
    t: Term<'h>,
    f: impl FnOnce(&Table, &TableState) -> BifResult<'h>,
) -> BifResult<'h> {
    let pin = pin();
    let found = match kvik_ets::find(t, &pin) {
        Ok(t) => t,
        Err(Refusal::Id) => return Ok(am::undefined.into()),
        Err(r) => return Err(p.badarg_because(r.atom())),
    };
    let s = found.read(me(p), Access::Info);
    match s {
        Ok(s) => f(&found, &s),
        Err(_) => Ok(am::undefined.into()),
    }
}

fn info_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t] = *a else { return Err(p.badarg()) };
    with(p, t, |t, s| {
        let items: Vec<_> = ITEMS
            .iter()
            .filter_map(|i| Some(p.heap.tuple(&[(*i).into(), item(p, t, s, *i)?])))
            .collect();
        Ok(p.heap.list(&items))
    })
}

fn info_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t, what] = *a else { return Err(p.badarg()) };
    if what.is_atom(am::binary) {
        let collect = kvik_code::export(am::erts_internal, am::ets_info_binary, 1);
        return Err(p.trap_in_next_turn(collect, &[t]));
    }
    with(p, t, |t, s| what.as_atom().and_then(|w| item(p, t, s, w)).ok_or_else(|| p.badarg()))
}

fn item<'h>(p: &'h Proc, t: &Table, s: &TableState, what: Atom) -> Option<Term<'h>> {
    let o = &t.options;
    let int = |n: usize| p.heap.integer(n as i64);
    Some(match what {
        am::id => registry::reference(&p.heap, t),
        am::decentralized_counters => o.decentralized_counters.into(),
        am::read_concurrency => o.read_concurrency.into(),
        am::write_concurrency => match o.fixed_locks {
            Some(n) if o.write_concurrency != am::false_ => {
                p.heap.tuple(&[am::debug_hash_fixed_number_of_locks.into(), int(n)])
            }
            _ => o.write_concurrency.into(),
        },
        am::compressed => o.compressed.into(),
        am::memory => int(t.memory(s)),
        am::owner => Term::local_pid(s.owner),
        am::heir => s.heir.as_ref().map_or(am::none.into(), |h| Term::local_pid(h.0)),
        am::name => s.name.into(),
        am::size => int(s.store.len()),
        am::node => kvik_proc::node::name().into(),
        am::named_table => o.named.into(),
        am::type_ => o.kind.atom().into(),
        am::keypos => int(o.keypos),
        am::protection => s.protection.atom().into(),
        am::fixed => t.is_fixed().into(),
        am::safe_fixed | am::safe_fixed_monotonic_time => fixed(p, t, what),
        am::stats => stats(p, t, s),
        _ => return None,
    })
}

fn fixed<'h>(p: &'h Proc, t: &Table, what: Atom) -> Term<'h> {
    let f = t.fixers();
    let Some(since) = f.since.filter(|_| !f.holders.is_empty()) else {
        return Term::bool(false);
    };
    let time = if what == am::safe_fixed {
        let micros = since.saturating_add(kvik_proc::clock::offset()).div_euclid(1000);
        let parts =
            [micros / 1_000_000_000_000, micros / 1_000_000 % 1_000_000, micros % 1_000_000];
        p.heap.tuple(&parts.map(|n| p.heap.integer(n)))
    } else {
        p.heap.integer(since)
    };
    let holders: Vec<_> = f
        .holders
        .iter()
        .map(|(pid, n)| p.heap.tuple(&[Term::local_pid(*pid), p.heap.integer(*n as i64)]))
        .collect();
    p.heap.tuple(&[time, p.heap.list(&holders)])
}

fn stats<'h>(p: &'h Proc, t: &Table, s: &TableState) -> Term<'h> {
    let Store::Hash(h) = &s.store else {
        return Term::bool(t.options.kind != TableKind::OrderedSet);
    };
    let (avg, dev, expected, min, max, kept) = h.stats();
    let int = |n: usize| p.heap.integer(n as i64);
    p.heap.tuple(&[
        int(h.active()),
        p.heap.float(avg),
        p.heap.float(dev),
        p.heap.float(expected),
        int(min),
        int(max),
        int(kept),
        int(match (t.options.write_concurrency, t.options.fixed_locks) {
            (am::false_, _) => 1,
            (_, n) => n.unwrap_or(64),
        }),
    ])
}
