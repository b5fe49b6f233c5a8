//! Maps: what `maps` does natively, and the iterator behind it.

use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{am, map, Map, Term};

pub const BIFS: &[BifEntry] = &[
    bif!("maps", "find", 2, find),
    bif!("maps", "from_keys", 2, from_keys),
    bif!("maps", "from_list", 1, from_list),
    bif!("maps", "get", 2, get),
    bif!("maps", "is_key", 2, is_key),
    bif!("maps", "keys", 1, keys),
    bif!("maps", "merge", 2, merge),
    bif!("maps", "put", 3, put),
    bif!("maps", "remove", 2, remove),
    bif!("maps", "take", 2, take),
    bif!("maps", "update", 3, update),
    bif!("maps", "values", 1, values),
    bif!("erts_internal", "map_next", 3, map_next),
    bif!("erts_internal", "map_to_tuple_keys", 1, map_to_tuple_keys),
];

fn the_map<'h>(p: &'h Proc, t: Term<'h>) -> Result<Map<'h>, kvik_proc::Raised> {
    t.as_map().ok_or_else(|| p.error_pair(am::badmap, t))
}

fn find<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(match map::get(the_map(p, a[1])?, a[0]) {
        Some(v) => p.heap.tuple(&[am::ok.into(), v]),
        None => am::error.into(),
    })
}
fn get<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    map::get(the_map(p, a[1])?, a[0]).ok_or_else(|| p.error_pair(am::badkey, a[0]))
}
fn is_key<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(Term::bool(map::contains(the_map(p, a[1])?, a[0])))
}
fn put<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(p.heap.map_put(the_map(p, a[2])?, a[0], a[1]))
}
fn update<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let m = the_map(p, a[2])?;
    if !map::contains(m, a[0]) {
        return Err(p.error_pair(am::badkey, a[0]));
    }
    Ok(p.heap.map_put(m, a[0], a[1]))
}
fn remove<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(p.heap.map_remove(the_map(p, a[1])?, a[0]))
}
fn take<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let m = the_map(p, a[1])?;
    Ok(match map::get(m, a[0]) {
        Some(v) => p.heap.tuple(&[v, p.heap.map_remove(m, a[0])]),
        None => am::error.into(),
    })
}
fn keys<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let all: Vec<_> = map::iter(the_map(p, a[0])?).map(|e| e.0).collect();
    p.heap.bump_reductions(all.len() as i64 / 16);
    Ok(p.heap.list(&all))
}
fn values<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let all: Vec<_> = map::iter(the_map(p, a[0])?).map(|e| e.1).collect();
    p.heap.bump_reductions(all.len() as i64 / 16);
    Ok(p.heap.list(&all))
}
fn from_list<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let Some(list) = a[0].list_to_vec() else { return Err(p.badarg()) };
    p.heap.bump_reductions(list.len() as i64 / 4);
    let pairs: Option<Vec<_>> =
        list.iter().map(|t| t.as_tuple_n::<2>().map(|[k, v]| (k, v))).collect();
    pairs.map(|v| p.heap.map(&v)).ok_or_else(|| p.badarg())
}
fn from_keys<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let Some(list) = a[0].list_to_vec() else { return Err(p.badarg()) };
    p.heap.bump_reductions(list.len() as i64 / 4);
    let pairs: Vec<_> = list.iter().map(|k| (*k, a[1])).collect();
    Ok(p.heap.map(&pairs))
}
/// All of both; where a key is in both, the second map's value.
fn merge<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (x, y) = (the_map(p, a[0])?, the_map(p, a[1])?);
    p.heap.bump_reductions((x.len() + y.len()) as i64 / 8);
    if x.len() == 0 {
        return Ok(a[1]);
    }
    if y.len() * 4 < x.len() {
        return Ok(map::iter(y).fold(a[0], |t, (k, v)| match t.as_map() {
            Some(m) => p.heap.map_put(m, k, v),
            None => t,
        }));
    }
    let mut pairs: Vec<_> = map::iter(x).filter(|e| !map::contains(y, e.0)).collect();
    pairs.extend(map::iter(y));
    Ok(p.heap.map_of_unique(pairs))
}

/// How many keys a step of an iterator takes.
const STEP: usize = 100;

/// `map_next(Path, Map, Kind)`: from a number of keys already seen on, the next ones: as
/// `{K, V, Next}` nested in each other (`iterator`) or in a list whose tail is the next path.
fn map_next<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (Some(m), Some(seen)) = (a[1].as_map(), a[0].as_usize()) else { return Err(p.badarg()) };
    let as_list = !a[2].is_atom(am::iterator);
    let step = if m.is_flat() { usize::MAX } else { STEP };
    let entries: Vec<_> = map::iter(m).skip(seen).take(step).collect();
    let rest = m.len().saturating_sub(seen + entries.len());
    let next = p.heap.integer((seen + entries.len()) as i64);
    let end = match (rest, as_list) {
        (0, true) => Term::NIL,
        (0, false) => am::none.into(),
        _ => p.heap.cons(next, a[1]),
    };
    p.heap.bump_reductions(entries.len() as i64 / 16);
    if as_list {
        let pairs: Vec<_> = entries.iter().map(|e| p.heap.tuple(&[e.0, e.1])).collect();
        // A list iterator that goes on ends in an improper tail.
        return Ok(p.heap.list_with_tail(&pairs, end));
    }
    Ok(entries.iter().rev().fold(end, |next, e| p.heap.tuple(&[e.0, e.1, next])))
}

fn map_to_tuple_keys<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    a[0].as_map().and_then(|m| m.flat_keys_term()).ok_or_else(|| p.badarg())
}
