//! `erts_debug:get_internal_state(node_and_dist_references)`: which holders refer to which node.

use std::collections::BTreeMap;

use kvik_ets::{registry, Access, Table};
use kvik_heap::Heap;
use kvik_term::{am, Atom, Term};

use crate::reference_scan::{HeldIn, ReferenceHolder, References};

/// Number of references of each kind.
type Counts = Vec<(Atom, usize)>;

/// `{{node_references, [{Node, N, Holders}]}, {dist_references, ...}}`: the holders of each node's
/// pids, ports and references. The system always holds the own node.
pub fn references<'h>(h: &'h Heap, found: &References) -> Term<'h> {
    let pair = |a: Term<'h>, b: Term<'h>| h.tuple(&[a, b]);
    let counts = |all: &[(Atom, usize)]| {
        let all: Vec<_> =
            all.iter().map(|(k, n)| pair((*k).into(), h.integer(*n as i64))).collect();
        h.list(&all)
    };
    let entry = |what: Term<'h>, n: usize, held: &[Term<'h>]| {
        h.tuple(&[what, h.integer(n as i64), h.list(held)])
    };
    let node = |(i, creation): (u32, u32)| pair(name(i), h.integer(creation as i64));
    let own = (kvik_proc::node::name().index(), kvik_proc::node::creation());
    let by_system =
        || pair(pair(am::system.into(), am::undefined.into()), counts(&[(am::system, 1)]));

    // One entry per holder, even if it holds a node in several places.
    let mut holders: BTreeMap<(u32, u32), BTreeMap<ReferenceHolder, Counts>> = BTreeMap::new();
    holders.insert(own, BTreeMap::new());
    for (&(key, who, held_in), &n) in found {
        let Some(key) = key else { continue };
        holders.entry(key).or_default().entry(who).or_default().push((kind(who, held_in), n));
    }
    let nodes = holders.iter().map(|(key, held)| {
        let mut n: usize = held.values().flatten().map(|(_, n)| n).sum();
        let mut list: Vec<_> =
            held.iter().map(|(who, w)| pair(holder(h, *who), counts(w))).collect();
        if *key == own {
            n += 1;
            list.push(by_system());
        }
        entry(node(*key), n, &list)
    });
    let nodes: Vec<_> = nodes.collect();

    let mut names: BTreeMap<u32, Vec<Term<'h>>> = BTreeMap::new();
    names.insert(own.0, vec![by_system()]);
    for &key in holders.keys() {
        let by_node = pair(pair(am::node.into(), node(key)), counts(&[(am::node, 1)]));
        names.entry(key.0).or_default().push(by_node);
    }
    let dist: Vec<_> = names.iter().map(|(n, l)| entry(name(*n), l.len(), l)).collect();
    let rows = |of: Atom, rows: &[Term<'h>]| pair(of.into(), h.list(rows));
    pair(rows(am::node_references, &nodes), rows(am::dist_references, &dist))
}

fn name(i: u32) -> Term<'static> {
    Atom::from_index(i).unwrap_or(am::undefined).into()
}
/// The kind of a reference.
fn kind(who: ReferenceHolder, held_in: HeldIn) -> Atom {
    match (who, held_in) {
        (_, HeldIn::Timer) => am::timer,
        (ReferenceHolder::Process(_) | ReferenceHolder::Name(_), HeldIn::Memory) => am::heap,
        (ReferenceHolder::Table(_), HeldIn::Memory) => am::ets,
        (ReferenceHolder::MatchSpec(_), HeldIn::Memory) => am::binary,
        (ReferenceHolder::PersistentTerms, HeldIn::Memory) => am::system,
    }
}
/// `{process, Pid}` and the like.
fn holder<'h>(h: &'h Heap, who: ReferenceHolder) -> Term<'h> {
    let (kind, id) = match who {
        ReferenceHolder::Process(pid) => (am::process, Term::local_pid(pid)),
        ReferenceHolder::Name(i) => (am::process, name(i)),
        ReferenceHolder::Table(id) => {
            let table = registry::by_id(id);
            (am::ets, table.map_or(am::undefined.into(), |t| table_handle(h, &t)))
        }
        ReferenceHolder::MatchSpec(address) => (am::match_spec, h.unsigned(address as u64)),
        ReferenceHolder::PersistentTerms => (am::system, am::persistent_term.into()),
    };
    h.tuple(&[kind.into(), id])
}
fn table_handle<'h>(h: &'h Heap, t: &Table) -> Term<'h> {
    match t.read(0, Access::Info) {
        Ok(state) => registry::handle(h, t, state.name),
        Err(_) => registry::reference(h, t),
    }
}
