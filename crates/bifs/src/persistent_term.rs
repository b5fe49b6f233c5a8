//! Module `persistent_term`: terms that all processes share without copying, as literals.
//!
//! A pair that is replaced or erased stays where it is: some process may still use it. Its memory
//! is not given back.

use std::collections::HashMap;
use std::sync::{OnceLock, RwLock};

use kvik_ets::{hash, order};
use kvik_heap::LiteralArea;
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{am, Term};

pub const BIFS: &[BifEntry] = &[
    bif!("persistent_term", "put", 2, put_2),
    bif!("persistent_term", "get", 0, get_0),
    bif!("persistent_term", "get", 1, get_1),
    bif!("persistent_term", "get", 2, get_2),
    bif!("persistent_term", "erase", 1, erase_1),
    bif!("persistent_term", "info", 0, info_0),
    bif!("erts_internal", "erase_persistent_terms", 0, erase_all_0),
];

/// `{Key, Value}` in an area of its own that is never freed.
type Pair = &'static LiteralArea;

#[derive(Default)]
struct Pairs {
    by_hash: HashMap<u32, Vec<Pair>>,
    count: usize,
    words: usize,
}

fn pairs() -> &'static RwLock<Pairs> {
    static PAIRS: OnceLock<RwLock<Pairs>> = OnceLock::new();
    PAIRS.get_or_init(RwLock::default)
}
fn parts(pair: Pair) -> Option<[Term<'static>; 2]> {
    pair.get(0)?.as_tuple_n::<2>()
}
fn has_key(pair: &Pair, key: Term<'_>) -> bool {
    parts(pair).is_some_and(|[k, _]| order::same(k, key))
}

impl Pairs {
    fn get(&self, key: Term<'_>) -> Option<Term<'static>> {
        let same = self.by_hash.get(&hash::of_key(key))?;
        let pair = same.iter().find(|p| has_key(p, key))?;
        parts(pair).map(|[_, v]| v)
    }
    fn erase(&mut self, key: Term<'_>) -> bool {
        let Some(same) = self.by_hash.get_mut(&hash::of_key(key)) else {
            return false;
        };
        let Some(i) = same.iter().position(|p| has_key(p, key)) else {
            return false;
        };
        self.words -= same.remove(i).words();
        self.count -= 1;
        true
    }
    fn put(&mut self, key: Term<'_>, pair: Pair) {
        self.erase(key);
        self.words += pair.words();
        self.count += 1;
        self.by_hash.entry(hash::of_key(key)).or_default().push(pair);
    }
}

fn lookup(key: Term<'_>) -> Option<Term<'static>> {
    pairs().read().unwrap_or_else(|e| e.into_inner()).get(key)
}

/// Places of the table, used or not.
pub(crate) fn buckets() -> usize {
    pairs().read().unwrap_or_else(|e| e.into_inner()).by_hash.capacity()
}

fn put_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [key, value] = *a else { return Err(p.badarg()) };
    let mut all = pairs().write().unwrap_or_else(|e| e.into_inner());
    if all.get(key).is_some_and(|old| order::same(old, value)) {
        return Ok(am::ok.into());
    }
    let area = LiteralArea::new(&[p.heap.tuple(&[key, value])]).ok_or_else(|| p.system_limit())?;
    all.put(key, Box::leak(Box::new(area)));
    Ok(am::ok.into())
}
fn get_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    let all = pairs().read().unwrap_or_else(|e| e.into_inner());
    let list: Vec<Term<'h>> = all.by_hash.values().flatten().filter_map(|a| a.get(0)).collect();
    Ok(p.heap.list(&list))
}
fn get_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [key] = *a else { return Err(p.badarg()) };
    lookup(key).ok_or_else(|| p.badarg())
}
fn get_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [key, default] = *a else { return Err(p.badarg()) };
    Ok(lookup(key).unwrap_or(default))
}
fn erase_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [key] = *a else { return Err(p.badarg()) };
    let mut all = pairs().write().unwrap_or_else(|e| e.into_inner());
    Ok(Term::bool(all.erase(key)))
}
fn erase_all_0<'h>(_: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    *pairs().write().unwrap_or_else(|e| e.into_inner()) = Pairs::default();
    Ok(am::ok.into())
}
fn info_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    let all = pairs().read().unwrap_or_else(|e| e.into_inner());
    let values = [p.heap.integer(all.count as i64), p.heap.integer(8 * all.words as i64)];
    let keys = [am::count, am::memory].map(Term::atom);
    Ok(p.heap.flat_map_sorted(p.heap.tuple(&keys), &values))
}
