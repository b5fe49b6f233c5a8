//! Natives of distribution while the node is not alive: there are no channels, so whoever names
//! one names it wrong.

use std::collections::BTreeMap;

use kvik_heap::Heap;
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{am, Atom, Term};

use crate::census::{Found, Holder};

pub const BIFS: &[BifEntry] = &[
    bif!("erlang", "dist_ctrl_get_data", 1, badarg),
    bif!("erlang", "dist_ctrl_get_data_notification", 1, badarg),
    bif!("erlang", "dist_ctrl_get_opt", 2, badarg),
    bif!("erlang", "dist_ctrl_input_handler", 2, badarg),
    bif!("erlang", "dist_ctrl_put_data", 2, badarg),
    bif!("erlang", "dist_ctrl_set_opt", 3, badarg),
    bif!("erts_internal", "abort_pending_connection", 2, abort_pending_connection_2),
    bif!("erts_internal", "create_dist_channel", 3, badarg),
    bif!("erts_internal", "new_connection", 1, new_connection_1),
    bif!("erlang", "monitor_node", 2, monitor_node),
    bif!("erlang", "monitor_node", 3, monitor_node),
];

fn badarg<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Err(p.badarg())
}
fn abort_pending_connection_2<'h>(_: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(Term::bool(false))
}
fn new_connection_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    match a.first().and_then(|t| t.as_atom()) {
        Some(_) => Err(p.notsup()),
        None => Err(p.badarg()),
    }
}
/// A node that is not alive can watch none but itself.
fn monitor_node<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (Some(node), Some(on)) = (a.first(), a.get(1)) else {
        return Err(p.badarg());
    };
    let options = a.get(2).copied().unwrap_or(Term::NIL);
    let known = |o: Term<'_>| o.is_atom(am::allow_passive_connect);
    let fine = node.as_atom().is_some()
        && on.as_bool().is_some()
        && options.list_to_vec().is_some_and(|l| l.into_iter().all(known));
    if !fine {
        return Err(p.badarg());
    }
    // Our own node is always there.
    if node.is_atom(kvik_proc::node::name()) {
        return Ok(Term::bool(true));
    }
    if kvik_proc::node::is_alive() {
        return Err(p.notsup());
    }
    Err(p.error(am::notalive))
}

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
