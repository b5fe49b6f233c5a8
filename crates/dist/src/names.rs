//! `nodes/0,1,2`: the known nodes.

use std::collections::HashSet;

use kvik_bifs::reference_scan::{self, Wanted};
use kvik_heap::Heap;
use kvik_proc::{node as this, BifResult, Proc, Raised};
use kvik_term::{am, Atom, Term};

use crate::node::{self, Phase};

/// The kinds asked for.
#[derive(Copy, Clone, Default)]
struct Kinds {
    visible: bool,
    hidden: bool,
    this: bool,
    others: bool,
}

fn kinds(p: &Proc, t: Term<'_>) -> Result<Kinds, Raised> {
    let all = match t.as_atom() {
        Some(_) => vec![t],
        None => t.list_to_vec().ok_or_else(|| p.badarg())?,
    };
    let mut k = Kinds::default();
    for t in all {
        match t.as_atom() {
            Some(am::visible) => k.visible = true,
            Some(am::hidden) => k.hidden = true,
            Some(am::connected) => (k.visible, k.hidden) = (true, true),
            Some(am::this) => k.this = true,
            Some(am::known) => k = Kinds { visible: true, hidden: true, this: true, others: true },
            _ => return Err(p.badarg()),
        }
    }
    Ok(k)
}

/// A node, its kind, and its connection's number if it has one.
type Found = (Atom, Atom, Option<u32>);

/// Nodes of these kinds. `referred` lists nodes that were never connected, but that some local term
/// (pid, port or reference) refers to.
fn found(k: Kinds, referred: impl Iterator<Item = Atom>) -> Vec<Found> {
    let mut out = Vec::new();
    if k.this {
        out.push((this::name(), am::this, None));
    }
    let mut met = HashSet::from([this::name()]);
    for node in node::all() {
        let s = node.lock();
        if !met.insert(node.name) {
            continue;
        }
        match (s.phase == Phase::Up, s.flags.published()) {
            (true, true) if k.visible => out.push((node.name, am::visible, Some(s.id))),
            (true, false) if k.hidden => out.push((node.name, am::hidden, Some(s.id))),
            (false, _) if k.others => out.push((node.name, am::known, None)),
            _ => {}
        }
    }
    out.extend(referred.filter(|n| met.insert(*n)).map(|n| (n, am::known, None)));
    out
}
/// Lists the nodes of these kinds. References to nodes are not counted, so this scans all memory.
fn answer<'h>(
    p: &'h Proc,
    k: Kinds,
    list: impl for<'a> Fn(&'a Heap, Vec<Found>) -> Term<'a> + Send + Sync + 'static,
) -> BifResult<'h> {
    if !k.others {
        return Ok(list(&p.heap, found(k, std::iter::empty())));
    }
    Err(reference_scan::ask_all(p, Wanted::Nodes, move |h, holders| {
        let names = holders.keys().filter_map(|(key, ..)| Atom::from_index((*key)?.0));
        list(h, found(k, names))
    }))
}

pub fn nodes_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    nodes_1(p, &[am::visible.into()])
}
pub fn nodes_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    answer(p, kinds(p, a[0])?, |h, all| {
        let names: Vec<_> = all.into_iter().map(|f| f.0.into()).collect();
        h.list(&names)
    })
}
pub fn nodes_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let options = a[1].as_map().ok_or_else(|| p.badarg())?;
    let mut wanted = Vec::new();
    for (k, v) in kvik_ets::order::map_pairs(options) {
        let (k, on) = (k.as_atom(), v.as_bool().ok_or_else(|| p.badarg())?);
        let k = k.filter(|k| [am::connection_id, am::node_type].contains(k));
        let k = k.ok_or_else(|| p.badarg())?;
        wanted.extend(on.then_some(k));
    }
    answer(p, kinds(p, a[0])?, move |h, all| {
        let rows: Vec<_> = all.into_iter().map(|f| row(h, f, &wanted)).collect();
        h.list(&rows)
    })
}
fn row<'h>(h: &'h Heap, (name, kind, id): Found, wanted: &[Atom]) -> Term<'h> {
    let value = |k: Atom| match (k, id) {
        (am::node_type, _) => kind.into(),
        (_, Some(n)) => h.unsigned(n as u64),
        (_, None) => am::undefined.into(),
    };
    let info: Vec<_> = wanted.iter().map(|k| (Term::from(*k), value(*k))).collect();
    h.tuple(&[name.into(), kvik_ets::order::make_map(h, &info)])
}
