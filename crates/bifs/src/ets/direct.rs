//! Searches whose key is bound, at least in part, and that visit few objects: they are matched without
//! compiling the pattern. Each function answers `None` for any other search, before it has changed or
//! counted anything. The order of results, and what a search costs in reductions, are those of
//! [`select`](super::select).

use kvik_ets::linear_hash::{Edit, LinearHash};
use kvik_ets::ms::direct::Direct;
use kvik_ets::tree::Tree;
use kvik_ets::{order, Access, Store, Table};
use kvik_proc::{Proc, Raised};
use kvik_sync::pin;
use kvik_term::Term;
use smallvec::SmallVec;

use super::select::{ends, CHUNK};
use super::{me, read, table, write};

/// Objects of an ordered set that are looked at.
const FEW: usize = 32;

/// What is found, in a list.
pub(super) fn list<'h>(
    p: &'h Proc,
    id: Term<'h>,
    pattern: impl FnOnce() -> Option<Direct<'h>>,
) -> Result<Option<Term<'h>>, Raised> {
    visit(p, id, pattern, |pattern, all| {
        let found: Objects<'h> = all.iter().filter_map(|o| pattern.run(p, *o)).collect();
        p.heap.list(&found)
    })
}
/// How many objects a specification is true for.
pub(super) fn count<'h>(
    p: &'h Proc,
    id: Term<'h>,
    spec: Term<'h>,
) -> Result<Option<usize>, Raised> {
    let pattern = || Direct::of_spec(spec);
    visit(p, id, pattern, |pattern, all| all.iter().filter(|o| pattern.is_true(**o)).count())
}
/// Deletes the objects that a specification is true for; how many there were.
pub(super) fn delete<'h>(
    p: &'h Proc,
    id: Term<'h>,
    spec: Term<'h>,
) -> Result<Option<usize>, Raised> {
    if p.heap.is_suspended() {
        return Ok(None);
    }
    let pin = pin();
    let t = table(p, id, &pin)?;
    let mut s = write(p, &t, Access::Write)?;
    let Some((pattern, key)) = with_key(&t, Direct::of_spec(spec)) else { return Ok(None) };
    if order::has_wild(key) {
        return Ok(None);
    }
    let hold = t.hold();
    let edit = |o: Term<'_>| if pattern.is_true(o) { Edit::Delete } else { Edit::Keep };
    match &mut s.store {
        Store::Hash(h) => {
            let Some(b) = h.bucket_with(key) else { return Ok(Some(0)) };
            let visited = h.bucket_len(b);
            if visited >= CHUNK {
                return Ok(None);
            }
            let n = h.edit_bucket(b, hold, edit);
            p.heap.bump_reductions(visited as i64);
            if t.shrinks_after_walk(&s, me(p), visited) {
                if let Store::Hash(h) = &mut s.store {
                    h.settle(hold);
                }
            }
            Ok(Some(n))
        }
        Store::Tree(tree) => {
            let (from, to) = ends(Some((key, key)), None, false);
            Ok(Some(tree.edit(from, to, &mut { CHUNK }, edit).0))
        }
    }
}

/// Objects that are looked at, in the order of results.
type Objects<'t> = SmallVec<[Term<'t>; 8]>;

fn with_key<'h>(t: &Table, pattern: Option<Direct<'h>>) -> Option<(Direct<'h>, Term<'h>)> {
    let pattern = pattern?;
    let key = pattern.key(t.options.keypos)?;
    Some((pattern, key))
}

fn visit<'h, R>(
    p: &'h Proc,
    id: Term<'h>,
    pattern: impl FnOnce() -> Option<Direct<'h>>,
    f: impl FnOnce(&Direct<'h>, &[Term<'_>]) -> R,
) -> Result<Option<R>, Raised> {
    if p.heap.is_suspended() {
        return Ok(None);
    }
    let pin = pin();
    let t = table(p, id, &pin)?;
    let s = read(p, &t, Access::Read)?;
    let Some((pattern, key)) = with_key(&t, pattern()) else { return Ok(None) };
    let (all, free) = match &s.store {
        Store::Hash(h) => (of_bucket(h, key), 0),
        // The one object of a key costs nothing.
        Store::Tree(tree) => (in_order(tree, key), usize::from(!order::has_wild(key))),
    };
    Ok(all.map(|all| {
        p.heap.bump_reductions(all.len().saturating_sub(free) as i64);
        f(&pattern, &all)
    }))
}
/// The objects of the bucket that has the key, the last one first. `None`: the key is not bound, or
/// there are too many.
fn of_bucket<'t>(h: &'t LinearHash, key: Term<'_>) -> Option<Objects<'t>> {
    if order::has_wild(key) {
        return None;
    }
    let rows = h.bucket_with(key).and_then(|b| h.bucket(b));
    let mut all: Objects<'t> = rows.into_iter().flatten().take(CHUNK).map(|r| r.object()).collect();
    all.reverse();
    (all.len() < CHUNK).then_some(all)
}
/// The objects whose keys may match. `None`: there may be any, or too many.
fn in_order<'t>(tree: &'t Tree, key: Term<'_>) -> Option<Objects<'t>> {
    if order::wild(key).is_some() {
        return None;
    }
    let (from, to) = ends(Some((key, key)), None, false);
    let all: Objects<'t> = tree.between(from, to).take(FEW + 1).map(|r| r.object()).collect();
    (all.len() <= FEW).then_some(all)
}
