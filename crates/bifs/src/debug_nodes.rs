//! `erts_debug:get_internal_state(node_and_dist_references)`: who holds what of which node.

use std::collections::BTreeMap;

use kvik_heap::Heap;
use kvik_term::{am, Atom, Term};

use crate::census::{Found, Holder};

/// `{{node_references, [{Node, N, Holders}]}, {dist_references, ...}}`: who holds pids, ports and
/// references of which node. Our own node is always held, by the system.
pub fn references<'h>(h: &'h Heap, found: &Found) -> Term<'h> {
    let pair = |a: Term<'h>, b: Term<'h>| h.tuple(&[a, b]);
    let held = |who: Term<'h>, how: Atom, n: usize| {
        pair(who, h.list(&[pair(how.into(), h.integer(n as i64))]))
    };
    let entry = |what: Term<'h>, n: usize, held: &[Term<'h>]| {
        h.tuple(&[what, h.integer(n as i64), h.list(held)])
    };
    let name = |i: u32| Atom::from_index(i).unwrap_or(am::undefined).into();
    let node = |(i, creation): (u32, u32)| pair(name(i), h.integer(creation as i64));
    let own = (kvik_proc::node::name().index(), kvik_proc::node::creation());
    let by_system = || held(pair(am::system.into(), am::undefined.into()), am::system, 1);

    let mut holders: BTreeMap<(u32, u32), (usize, Vec<Term<'h>>)> = BTreeMap::new();
    holders.insert(own, (1, vec![by_system()]));
    for (&(key, who), &n) in found {
        let Some(key) = key else { continue };
        let (all, list) = holders.entry(key).or_default();
        *all += n;
        list.push(match who {
            Holder::Process(pid) => {
                held(pair(am::process.into(), Term::local_pid(pid)), am::heap, n)
            }
            Holder::Timer(pid) => {
                held(pair(am::process.into(), Term::local_pid(pid)), am::timer, n)
            }
            Holder::NamedTimer(i) => held(pair(am::process.into(), name(i)), am::timer, n),
            Holder::Table(id) => {
                let table = kvik_ets::registry::by_id(id);
                let table = table.map(|t| kvik_ets::registry::reference(h, &t));
                held(pair(am::ets.into(), table.unwrap_or(am::undefined.into())), am::ets, n)
            }
        });
    }
    let nodes: Vec<_> = holders.iter().map(|(k, (n, l))| entry(node(*k), *n, l)).collect();

    let mut names: BTreeMap<u32, Vec<Term<'h>>> = BTreeMap::new();
    names.insert(own.0, vec![by_system()]);
    for &key in holders.keys() {
        let by_node = held(pair(am::node.into(), node(key)), am::node, 1);
        names.entry(key.0).or_default().push(by_node);
    }
    let dist: Vec<_> = names.iter().map(|(n, l)| entry(name(*n), l.len(), l)).collect();
    let rows = |of: Atom, rows: &[Term<'h>]| pair(of.into(), h.list(rows));
    pair(rows(am::node_references, &nodes), rows(am::dist_references, &dist))
}
