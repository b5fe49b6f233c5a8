//! Module `persistent_term`: terms that all processes share as literals, without copying.
//!
//! A replaced or erased pair is freed when no process holds any part of it: see `literals.rs`.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::OnceLock;

use kvik_ets::{hash, order};
use kvik_heap::{LiteralArea, SuspendedState};
use kvik_proc::{bif, BifEntry, BifResult, Proc, Raised};
use kvik_sync::ReadBiasedLock;
use kvik_term::mixed::Mixed;
use kvik_term::{am, Term};

use crate::literals;

pub const BIFS: &[BifEntry] = &[
    bif!("persistent_term", "put_new", 2, put_new_2, since 29),
    bif!("persistent_term", "put", 2, put_2),
    bif!("persistent_term", "get", 0, get_0),
    bif!("persistent_term", "get", 1, get_1),
    bif!("persistent_term", "get", 2, get_2),
    bif!("persistent_term", "erase", 1, erase_1),
    bif!("persistent_term", "info", 0, info_0),
    bif!("erts_internal", "erase_persistent_terms", 0, erase_all_0),
];

/// `{Key, Value}` in its own area.
type Pair = LiteralArea;

/// Sizes of OTP's table, which `info/0` reports: minimum slots, and overhead in bytes of the table
/// and of each pair.
const MIN_TABLE_SLOTS: usize = 8;
const TABLE_BYTES: usize = 112;
const PAIR_BYTES: usize = 16;

struct Pairs {
    by_hash: HashMap<u32, Vec<Pair>, BuildHasherDefault<Mixed>>,
    count: usize,
    words: usize,
    /// Table slots: at least twice the number of pairs.
    places: usize,
}

impl Default for Pairs {
    fn default() -> Pairs {
        Pairs { by_hash: HashMap::default(), count: 0, words: 0, places: MIN_TABLE_SLOTS }
    }
}

fn pairs() -> &'static ReadBiasedLock<Pairs> {
    kvik_state::vm_state! {
        static PAIRS: OnceLock<ReadBiasedLock<Pairs>> = OnceLock::new();
    }
    PAIRS.get_or_init(|| ReadBiasedLock::new(Pairs::default()))
}
fn parts(pair: &Pair) -> Option<[Term<'_>; 2]> {
    pair.get(0)?.as_tuple_n::<2>()
}
fn has_key(pair: &Pair, key: Term<'_>) -> bool {
    parts(pair).is_some_and(|[k, _]| order::same(k, key))
}

impl Pairs {
    fn get(&self, key: Term<'_>) -> Option<Term<'_>> {
        let same = self.by_hash.get(&hash::of_key(key))?;
        let pair = same.iter().find(|p| has_key(p, key))?;
        parts(pair).map(|[_, v]| v)
    }
    fn take(&mut self, key: Term<'_>) -> Option<Pair> {
        let hash = hash::of_key(key);
        let same = self.by_hash.get_mut(&hash)?;
        let i = same.iter().position(|p| has_key(p, key))?;
        let pair = same.remove(i);
        if same.is_empty() {
            self.by_hash.remove(&hash);
        }
        self.words -= pair.words();
        self.count -= 1;
        Some(pair)
    }
    fn put(&mut self, key: Term<'_>, pair: Pair) -> Option<Pair> {
        let old = self.take(key);
        if old.is_none() && self.count * 2 >= self.places {
            self.places *= 2;
        }
        self.words += pair.words();
        self.count += 1;
        self.by_hash.entry(hash::of_key(key)).or_default().push(pair);
        old
    }
    fn erase(&mut self, key: Term<'_>) -> Option<Pair> {
        let before = self.count;
        let old = self.take(key)?;
        if before * 4 <= self.places && self.places > MIN_TABLE_SLOTS {
            self.places /= 2;
        }
        Some(old)
    }
    fn memory(&self) -> usize {
        TABLE_BYTES + 8 * (self.places - 1 + self.words) + PAIR_BYTES * self.count
    }
}

/// Frees a pair that was removed from the table. Only its value was ever shared with processes.
fn retire(pair: Pair) {
    if parts(&pair).is_some_and(|[_, v]| !v.is_immediate()) {
        literals::retire_area(pair);
    }
}

/// Slots of the table, used or not.
pub(crate) fn buckets() -> usize {
    pairs().read().places
}

kvik_state::vm_state! {
    /// Whether a process has changed the table and not returned yet.
    static CHANGING: AtomicBool = AtomicBool::new(false);
}

/// After a change to the table the BIF returns in the process's next time slice, as in OTP.
fn changed(p: &Proc, change: Change) -> Raised {
    p.give_up_turn();
    p.again::<Changed>(change, None)
}
/// A change that has not ended yet.
struct Change(());
impl Change {
    /// Waits for the end of another process's change, turn by turn. It does not end while that
    /// process is suspended, so nobody waits for ever.
    fn begin(p: &Proc) -> Result<Change, Raised> {
        let waited = p.resumed::<Waiting>().unwrap_or(0);
        if CHANGING.swap(true, Acquire) && waited < TURNS {
            p.give_up_turn();
            return Err(p.again::<Waiting>(waited + 1, None));
        }
        Ok(Change(()))
    }
}
impl Drop for Change {
    fn drop(&mut self) {
        CHANGING.store(false, Release);
    }
}
/// Turns that a process waits for another's change.
const TURNS: u32 = 1000;
/// How many turns a process has waited.
struct Waiting;
impl SuspendedState for Waiting {
    type In<'h> = u32;
}
struct Changed;
impl SuspendedState for Changed {
    type In<'h> = Change;
}
fn put_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    put(p, a, true)
}
/// Raises `badarg` if the key has another value.
fn put_new_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    put(p, a, false)
}
fn put<'h>(p: &'h Proc, a: &[Term<'h>], replaces: bool) -> BifResult<'h> {
    if p.resumed::<Changed>().is_some() {
        return Ok(am::ok.into());
    }
    let [key, value] = *a else { return Err(p.badarg()) };
    let change = Change::begin(p)?;
    let mut all = pairs().write();
    match all.get(key) {
        Some(old) if order::same(old, value) => return Ok(am::ok.into()),
        Some(_) if !replaces => return Err(p.badarg()),
        _ => {}
    }
    let pair = p.heap.tuple(&[key, value]);
    let area = LiteralArea::with_sharing(pair).ok_or_else(|| p.system_limit())?;
    let old = all.put(key, area);
    drop(all);
    old.into_iter().for_each(retire);
    Err(changed(p, change))
}
/// The value of a key, shared with the table.
fn value<'h>(p: &'h Proc, key: Term<'_>) -> Option<Term<'h>> {
    let all = pairs().read();
    all.get(key).map(|v| p.heap.copy(v))
}
/// Visits all keys and values, or none if the table is locked: a dump may be written at any moment.
pub(crate) fn each(mut f: impl FnMut(Term<'_>, Term<'_>)) {
    let Some(all) = pairs().try_read() else { return };
    all.by_hash.values().flatten().filter_map(parts).for_each(|[k, v]| f(k, v));
}
/// Visits the memory of all pairs.
pub(crate) fn each_area(f: impl FnMut(&LiteralArea)) {
    let all = pairs().read();
    all.by_hash.values().flatten().for_each(f);
}
fn get_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    let all = pairs().read();
    let pairs = all.by_hash.values().flatten().filter_map(parts);
    let list: Vec<Term<'h>> =
        pairs.map(|[k, v]| p.heap.tuple(&[p.heap.copy_all(k), p.heap.copy(v)])).collect();
    p.heap.bump_reductions(list.len() as i64);
    Ok(p.heap.list(&list))
}
fn get_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [key] = *a else { return Err(p.badarg()) };
    value(p, key).ok_or_else(|| p.badarg())
}
fn get_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [key, default] = *a else { return Err(p.badarg()) };
    Ok(value(p, key).unwrap_or(default))
}
fn erase_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    if p.resumed::<Changed>().is_some() {
        return Ok(true.into());
    }
    let [key] = *a else { return Err(p.badarg()) };
    let change = Change::begin(p)?;
    let old = pairs().write().erase(key);
    let Some(old) = old else { return Ok(false.into()) };
    retire(old);
    Err(changed(p, change))
}
fn erase_all_0<'h>(_: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    let all = std::mem::take(&mut *pairs().write());
    all.by_hash.into_values().flatten().for_each(retire);
    Ok(am::ok.into())
}
fn info_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    let all = pairs().read();
    let (count, memory) = (all.count as i64, all.memory() as i64);
    let pairs = [(am::count, p.heap.integer(count)), (am::memory, p.heap.integer(memory))];
    Ok(p.heap.map_of_atoms(&pairs))
}
