//! Walks with match specifications: `match`, `match_object`, `select` and their variants.
//!
//! Each portion continues where the last one ended: at a bucket of a hash table, at a key of an
//! ordered set. So does a walk that takes more than one time slice. Between time slices the table
//! is not locked, but its buckets are not split or joined ([`StoppedWalk`]), so the walk sees each
//! object that stays in the table exactly once.

use std::cmp::Ordering;
use std::ops::Bound;
use std::sync::Arc;

use kvik_ets::linear_hash::{Edit, LinearHash};
use kvik_ets::ms::direct::{Direct, Found};
use kvik_ets::ms::{compile, Dialect, MatchProgram, MatchSpecError};
use kvik_ets::tree::TreeBound;
use kvik_ets::{order, registry, Access, StoppedWalk, Store, Table, TableKind, TableState};
use kvik_heap::{OwnedTerm, SuspendedState};
use kvik_proc::{bif, BifEntry, BifResult, Proc, Raised};
use kvik_sync::pin;
use kvik_term::{am, Term};

use super::{direct, me, read, table, write};
use crate::match_spec::{keeps_key, program_of};
use crate::process::{self, in_next_turn};

pub const BIFS: &[BifEntry] = &[
    bif!("ets", "match", 1, continue_1),
    bif!("ets", "match", 2, match_2),
    bif!("ets", "match", 3, match_3),
    bif!("ets", "match_object", 1, continue_1),
    bif!("ets", "match_object", 2, match_object_2),
    bif!("ets", "match_object", 3, match_object_3),
    bif!("ets", "select", 1, continue_1),
    bif!("ets", "select", 2, select_2),
    bif!("ets", "select", 3, select_3),
    bif!("ets", "select_reverse", 1, continue_1),
    bif!("ets", "select_reverse", 2, select_reverse_2),
    bif!("ets", "select_reverse", 3, select_reverse_3),
    bif!("ets", "select_count", 2, select_count_2),
    bif!("ets", "internal_select_delete", 2, select_delete_2),
    bif!("ets", "select_replace", 2, select_replace_2),
];

/// `[{Pattern, [], [Result]}]`
fn simple<'h>(p: &'h Proc, pattern: Term<'h>, result: kvik_term::Atom) -> Term<'h> {
    let body = p.heap.list(&[result.into()]);
    p.heap.list(&[p.heap.tuple(&[pattern, Term::NIL, body])])
}
fn match_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t, pat] = *a else { return Err(p.badarg()) };
    if let Some(list) = direct::list(p, t, || Direct::new(pat, Found::Bindings))? {
        return Ok(list);
    }
    select(p, t, || simple(p, pat, am::dollar_dollar), None, false)
}
fn match_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t, pat, limit] = *a else { return Err(p.badarg()) };
    select(p, t, || simple(p, pat, am::dollar_dollar), Some(limit), false)
}
fn match_object_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t, pat] = *a else { return Err(p.badarg()) };
    if let Some(list) = direct::list(p, t, || Direct::new(pat, Found::Object))? {
        return Ok(list);
    }
    select(p, t, || simple(p, pat, am::dollar_underscore), None, false)
}
fn match_object_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t, pat, limit] = *a else { return Err(p.badarg()) };
    select(p, t, || simple(p, pat, am::dollar_underscore), Some(limit), false)
}
fn select_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t, spec] = *a else { return Err(p.badarg()) };
    if let Some(list) = direct::list(p, t, || Direct::of_spec(spec))? {
        return Ok(list);
    }
    select(p, t, || spec, None, false)
}
fn select_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t, spec, limit] = *a else { return Err(p.badarg()) };
    select(p, t, || spec, Some(limit), false)
}
fn select_reverse_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t, spec] = *a else { return Err(p.badarg()) };
    select(p, t, || spec, None, true)
}
fn select_reverse_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t, spec, limit] = *a else { return Err(p.badarg()) };
    select(p, t, || spec, Some(limit), true)
}

fn program(p: &Proc, spec: Term<'_>) -> Result<Arc<MatchProgram>, Raised> {
    if spec.is_nil() {
        return Ok(Arc::new(MatchProgram::empty()));
    }
    match compile(spec, Dialect::Table) {
        Ok(prog) => Ok(Arc::new(prog)),
        Err(MatchSpecError::TooDeep) => Err(p.system_limit()),
        Err(MatchSpecError::Bad(_)) => Err(p.badarg()),
    }
}

/// Which objects can match, judging by the keys in the heads.
enum Reach<'h> {
    All,
    Nothing,
    /// The keys of all heads are bound: the distinct keys.
    Keys(Vec<Term<'h>>),
    /// The keys of all heads are at least partly bound: those that match the least and the greatest
    /// keys, which are the ends of a range in an ordered set.
    Between(Term<'h>, Term<'h>),
}

fn reach<'h>(spec: Term<'h>, keypos: usize, kind: TableKind) -> Reach<'h> {
    let heads = spec.list().filter_map(|c| c.as_tuple()?.get(0));
    let ordered = kind == TableKind::OrderedSet;
    let mut keys = Vec::new();
    for head in heads {
        if order::wild(head).is_some() {
            return Reach::All;
        }
        let Some(key) = head.as_tuple().and_then(|t| t.get(keypos - 1)) else {
            continue;
        };
        if order::wild(key).is_some() || !ordered && order::has_wild(key) {
            return Reach::All;
        }
        keys.push(key);
    }
    let Some((first, others)) = keys.split_first() else { return Reach::Nothing };
    if !ordered {
        return Reach::Keys(keys);
    }
    let ends = others.iter().fold((*first, *first), |(least, most), key| {
        let before = order::patterns(*key, least, Ordering::Less).is_lt();
        let behind = order::patterns(*key, most, Ordering::Greater).is_gt();
        (if before { *key } else { least }, if behind { *key } else { most })
    });
    Reach::Between(ends.0, ends.1)
}

/// The first buckets of a walk over a hash table; `true` if the walk continues from the last one.
fn buckets(h: &LinearHash, reach: &Reach<'_>) -> (Vec<usize>, bool) {
    match reach {
        Reach::Keys(keys) => {
            let mut all = Vec::new();
            for k in keys {
                all.extend(h.bucket_with(*k).filter(|b| !all.contains(b)));
            }
            (all, false)
        }
        Reach::Nothing => (Vec::new(), false),
        _ => (vec![0], true),
    }
}

/// The patterns that match the least and the greatest keys of a range.
type KeyRange<'h> = (Term<'h>, Term<'h>);

/// Whether the range is that of one key.
fn is_one_key(range: Option<KeyRange<'_>>) -> bool {
    range.is_some_and(|(least, most)| !order::has_wild(least) && order::order(least, most).is_eq())
}

/// Where a walk continues.
enum At<'h> {
    /// At a bucket; then at those of the list or, if `true`, at each bucket after it.
    Bucket(Option<usize>, std::vec::IntoIter<usize>, bool),
    /// In an ordered set: after (in reverse: before) the last key, within the range if there is one.
    Key {
        range: Option<KeyRange<'h>>,
        last: Option<OwnedTerm>,
        reverse: bool,
    },
    End,
}

/// A walk through a table and its results, which survive the end of the time slice.
struct Walk<'h> {
    prog: Arc<MatchProgram>,
    limit: Option<usize>,
    got: Vec<Term<'h>>,
    /// Results without a limit, which go into a list directly.
    list: Term<'h>,
    count: usize,
    /// Whether only one key's object can match, which costs nothing.
    one_key: bool,
    /// Objects seen in the buckets that were edited.
    seen: usize,
    at: At<'h>,
    /// Whether it began with an earlier portion or in an earlier time slice.
    continued: bool,
    stopped: Option<StoppedWalk>,
}
impl SuspendedState for Walk<'static> {
    type In<'h> = Walk<'h>;
}

/// Objects that a walk visits in a turn, a reduction each, as in OTP. In a hash table it uses up the
/// turn, in an ordered set it gives it up.
pub(super) const CHUNK: usize = 1000;

/// Empty buckets that a walk passes in one go; they cost nothing.
const PASSED: usize = 200_000;

impl<'h> Walk<'h> {
    fn new(prog: Arc<MatchProgram>, limit: Option<usize>, at: At<'h>) -> Walk<'h> {
        let (got, list) = (Vec::new(), Term::NIL);
        Walk {
            prog,
            limit,
            got,
            list,
            count: 0,
            one_key: false,
            seen: 0,
            at,
            continued: false,
            stopped: None,
        }
    }
    /// Starts at the beginning (in reverse: the end) of what a specification can match.
    fn start(
        p: &'h Proc,
        (t, s): (&Table, &TableState),
        spec: Term<'h>,
        limit: Option<usize>,
        reverse: bool,
    ) -> Result<Walk<'h>, Raised> {
        let prog = program(p, spec)?;
        let reach = reach(spec, t.options.keypos, t.options.kind);
        let at = match (&s.store, reach) {
            (Store::Hash(h), reach) => {
                let (buckets, on) = buckets(h, &reach);
                let mut todo = buckets.into_iter();
                At::Bucket(todo.next(), todo, on)
            }
            (Store::Tree(_), Reach::Nothing) => At::End,
            (Store::Tree(_), Reach::Between(least, most)) => {
                At::Key { range: Some((least, most)), last: None, reverse }
            }
            (Store::Tree(_), _) => At::Key { range: None, last: None, reverse },
        };
        let one_key = matches!(at, At::Key { range, .. } if is_one_key(range));
        Ok(Walk { one_key, ..Walk::new(prog, limit, at) })
    }
    /// Suspends the walk at the end of its turn. The table is locked.
    fn stop(mut self, p: &'h Proc, t: &Table) -> Raised {
        match self.at {
            At::Key { .. } => {
                p.heap.bump_reductions(CHUNK as i64);
                p.give_up_turn();
            }
            At::Bucket(..) | At::End => p.use_up_turn(),
        }
        self.continued = true;
        if self.stopped.is_none() {
            self.stopped = registry::by_id(t.id).map(StoppedWalk::new);
        }
        p.again::<Walk<'static>>(self, None)
    }
    fn full(&self) -> bool {
        self.limit.is_some_and(|n| self.got.len() >= n)
    }
    /// Charges for the last objects of a walk through an ordered set and, as OTP reverses it in a
    /// call of its own, for a portion.
    fn charge(&self, p: &Proc, visited: usize) {
        let reversed = if self.limit.is_some() { self.got.len().div_ceil(10) } else { 0 };
        if !self.one_key {
            p.heap.bump_reductions((visited + reversed) as i64);
        }
    }
    /// Calls `visit` for objects until there are no more, or until the limit is reached.
    fn run(
        mut self,
        p: &'h Proc,
        t: &Table,
        s: &TableState,
        visit: impl Fn(&mut Walk<'h>, Term<'_>),
    ) -> Result<Walk<'h>, Raised> {
        let mut visited = 0;
        match &s.store {
            Store::Hash(h) => {
                let At::Bucket(mut at, mut todo, on) = std::mem::replace(&mut self.at, At::End)
                else {
                    return Ok(self);
                };
                let mut buckets = 0;
                let mut full = on && self.full();
                while let (Some(i), 0..CHUNK, 0..PASSED, false) = (at, visited, buckets, full) {
                    buckets += 1;
                    for row in h.bucket(i).into_iter().flatten() {
                        visited += 1;
                        visit(&mut self, row.object());
                    }
                    at = if on { h.next_bucket(i) } else { todo.next() };
                    full = on && self.full();
                }
                self.at = At::Bucket(at, todo, on);
                if (at.is_some() || visited >= CHUNK) && !full {
                    return Err(self.stop(p, t));
                }
            }
            Store::Tree(tree) => {
                let At::Key { range, ref last, reverse } = self.at else { return Ok(self) };
                let last = last.clone();
                let mut rows = {
                    let (from, to) = ends(range, last.as_ref(), reverse);
                    tree.between(from, to)
                };
                let mut key = None;
                while !self.full() {
                    if visited == CHUNK {
                        let last = key.map(OwnedTerm::new).or(last);
                        self.at = At::Key { range, last, reverse };
                        return Err(self.stop(p, t));
                    }
                    let row = if reverse { rows.next_back() } else { rows.next() };
                    let Some(row) = row else {
                        self.at = At::End;
                        self.charge(p, visited);
                        return Ok(self);
                    };
                    visited += 1;
                    key = Some(row.key());
                    visit(&mut self, row.object());
                }
                let last = key.map(OwnedTerm::new).or(last);
                self.charge(p, visited);
                self.at = At::Key { range, last, reverse };
                return Ok(self);
            }
        }
        p.heap.bump_reductions(visited as i64);
        Ok(self)
    }
}

pub(super) type Ends<'h> = (Bound<TreeBound<'h>>, Bound<TreeBound<'h>>);

/// The bounds of the rest of a walk through an ordered set.
pub(super) fn ends<'a>(
    range: Option<KeyRange<'a>>,
    last: Option<&'a OwnedTerm>,
    reverse: bool,
) -> Ends<'a> {
    let mut ends = match range {
        Some((least, most)) => {
            (Bound::Included(TreeBound::Before(least)), Bound::Included(TreeBound::Behind(most)))
        }
        None => (Bound::Unbounded, Bound::Unbounded),
    };
    if let Some(key) = last {
        let here = Bound::Excluded(TreeBound::Key(key.term()));
        *(if reverse { &mut ends.1 } else { &mut ends.0 }) = here;
    }
    ends
}

fn select<'h>(
    p: &'h Proc,
    id: Term<'h>,
    spec: impl Fn() -> Term<'h>,
    limit: Option<Term<'h>>,
    reverse: bool,
) -> BifResult<'h> {
    if let Some(portion) = p.resumed::<process::Found>() {
        return Ok(portion);
    }
    let pin = pin();
    let t = table(p, id, &pin)?;
    let s = read(p, &t, Access::Read)?;
    let walk = match p.resumed::<Walk<'static>>() {
        Some(walk) => walk,
        None => {
            let limit = match limit {
                Some(n) => Some(n.as_usize().filter(|n| *n > 0).ok_or_else(|| p.badarg())?),
                None => None,
            };
            // A whole list is made from its end, as in OTP.
            let backwards = reverse != limit.is_none();
            Walk::start(p, (&t, &s), spec(), limit, backwards)?
        }
    };
    walk.found(p, &t, &s)
}

impl<'h> Walk<'h> {
    /// Continues the walk, and returns its results as the BIF's value.
    fn found(self, p: &'h Proc, t: &Table, s: &TableState) -> BifResult<'h> {
        let list = self.limit.is_none();
        let walk = self.run(p, t, s, |w, object| match w.prog.run(p, object) {
            Some(result) if list => w.list = p.heap.cons(result, w.list),
            result => w.got.extend(result),
        })?;
        match &s.store {
            Store::Hash(_) => Ok(walk.buckets_answer(p, t)),
            Store::Tree(_) if walk.ends_turn() => in_next_turn(p, walk.keys_answer(p, t)),
            Store::Tree(_) => Ok(walk.keys_answer(p, t)),
        }
    }
    /// Whether the process gives up its turn before it gets the results: OTP reverses a portion from
    /// an ordered set in a call to which it traps.
    fn ends_turn(&self) -> bool {
        self.limit.is_some() && !self.got.is_empty() && !self.one_key
    }
    /// The results, last one first, as in OTP. Of a walk that has been continued, those left over for
    /// the next portion are in the order in which they were found, so that they get reversed once more
    /// than the others.
    fn buckets_answer(self, p: &'h Proc, t: &Table) -> Term<'h> {
        let heap = &p.heap;
        let listed = |ts: &[Term<'h>]| heap.list(&ts.iter().rev().copied().collect::<Vec<_>>());
        let Some(limit) = self.limit else { return self.list };
        let at = match self.at {
            At::Bucket(at, ..) => at,
            _ => None,
        };
        let (now, rest) = self.got.split_at(limit.min(self.got.len()));
        if rest.is_empty() && at.is_none() {
            return match now {
                [] => am::dollar_end_of_table.into(),
                _ => heap.tuple(&[listed(now), am::dollar_end_of_table.into()]),
            };
        }
        let slot = at.map_or(-1, |i| i as i64);
        let left_over = if self.continued { heap.list(rest) } else { listed(rest) };
        let continuation = heap.tuple(&[
            registry::reference(heap, t),
            heap.integer(slot),
            heap.integer(limit as i64),
            heap.magic_ref(self.prog),
            left_over,
            heap.integer(rest.len() as i64),
        ]);
        heap.tuple(&[listed(now), continuation])
    }
    fn keys_answer(self, p: &'h Proc, t: &Table) -> Term<'h> {
        let heap = &p.heap;
        let Some(limit) = self.limit else { return self.list };
        let list = heap.list(&self.got);
        let continuation = match self.at {
            At::Key { range, last: Some(key), reverse } => heap.tuple(&[
                registry::reference(heap, t),
                heap.copy(key.term()),
                range.map_or(Term::NIL, |(least, most)| if reverse { least } else { most }),
                heap.integer(limit as i64),
                heap.magic_ref(self.prog),
                Term::NIL,
                Term::int(reverse as i32),
                Term::int(0),
            ]),
            _ if self.got.is_empty() => return am::dollar_end_of_table.into(),
            _ => am::dollar_end_of_table.into(),
        };
        heap.tuple(&[list, continuation])
    }
}

fn continue_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [c] = *a else { return Err(p.badarg()) };
    if let Some(portion) = p.resumed::<process::Found>() {
        return Ok(portion);
    }
    if c.is_atom(am::dollar_end_of_table) {
        return Ok(c);
    }
    let parts = c.as_tuple().map_or(&[][..], |t| t.elements());
    let id = *parts.first().ok_or_else(|| p.badarg())?;
    let pin = pin();
    let t = table(p, id, &pin)?;
    let s = read(p, &t, Access::Read)?;
    if let Some(walk) = p.resumed::<Walk<'static>>() {
        return walk.found(p, &t, &s);
    }
    let limit_at = if parts.len() == 6 { 2 } else { 3 };
    let limit = parts.get(limit_at).and_then(|n| n.as_usize());
    let prog = parts.get(limit_at + 1).and_then(|t| program_of(*t));
    let (Some(limit), Some(prog)) = (limit.filter(|n| *n > 0), prog) else {
        return Err(p.badarg());
    };
    match (&s.store, parts) {
        (Store::Hash(h), &[_, slot, _, _, rest, _]) => {
            let mut got = rest.list_to_vec().ok_or_else(|| p.badarg())?;
            got.reverse();
            let slot = slot.as_small().ok_or_else(|| p.badarg())?;
            let at = match usize::try_from(slot) {
                Ok(i) if i >= h.active() => return Err(p.badarg()),
                Ok(i) => Some(i),
                Err(_) => None,
            };
            let at = At::Bucket(at, Vec::new().into_iter(), true);
            let walk = Walk { got, continued: true, ..Walk::new(prog, Some(limit), at) };
            match walk.full() {
                // An earlier walk has already found enough for this portion.
                true => Ok(walk.buckets_answer(p, &t)),
                false => walk.found(p, &t, &s),
            }
        }
        (Store::Tree(_), &[_, key, pattern, _, _, _, reverse, _]) => {
            let reverse = reverse.as_small() == Some(1);
            // The last key is the other end.
            let range = (!pattern.is_nil()).then_some((pattern, pattern));
            let at = At::Key { range, last: Some(OwnedTerm::new(key)), reverse };
            Walk::new(prog, Some(limit), at).found(p, &t, &s)
        }
        _ => Err(p.badarg()),
    }
}

fn select_count_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t, spec] = *a else { return Err(p.badarg()) };
    if let Some(n) = direct::count(p, t, spec)? {
        return Ok(p.heap.integer(n as i64));
    }
    let pin = pin();
    let t = table(p, t, &pin)?;
    let s = read(p, &t, Access::Read)?;
    let walk = match p.resumed::<Walk<'static>>() {
        Some(walk) => walk,
        None => Walk::start(p, (&t, &s), spec, None, true)?,
    };
    let walk = walk.run(p, &t, &s, |w, object| w.count += w.prog.is_true(p, object) as usize)?;
    Ok(p.heap.integer(walk.count as i64))
}

fn select_delete_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t, spec] = *a else { return Err(p.badarg()) };
    if let Some(n) = direct::delete(p, t, spec)? {
        return Ok(p.heap.integer(n as i64));
    }
    edit(p, a, false, |prog, o| if prog.is_true(p, o) { Edit::Delete } else { Edit::Keep })
}
fn select_replace_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [id, spec] = *a else { return Err(p.badarg()) };
    let pin = pin();
    let t = table(p, id, &pin)?;
    drop(write(p, &t, Access::Write)?);
    if t.options.kind == TableKind::Bag {
        return Err(p.badarg_because(am::table_type));
    }
    if !keeps_key(spec, t.options.keypos) {
        return Err(p.badarg());
    }
    edit(p, a, true, |prog, o| match prog.run(p, o) {
        Some(new) => Edit::Replace(OwnedTerm::new(new)),
        None => Edit::Keep,
    })
}

/// Deletes or replaces objects, as `f` decides.
fn edit<'h>(
    p: &'h Proc,
    a: &[Term<'h>],
    replaces: bool,
    f: impl Fn(&MatchProgram, Term<'_>) -> Edit,
) -> BifResult<'h> {
    let [t, spec] = *a else { return Err(p.badarg()) };
    let pin = pin();
    let t = table(p, t, &pin)?;
    let mut s = write(p, &t, Access::Write)?;
    let mut walk = match p.resumed::<Walk<'static>>() {
        Some(walk) => walk,
        None => Walk::start(p, (&t, &s), spec, None, true)?,
    };
    let hold = t.hold();
    match &mut s.store {
        Store::Hash(h) => {
            let (mut visited, mut buckets) = (0, 0);
            while let At::Bucket(Some(i), ..) = walk.at {
                if visited >= CHUNK || buckets >= PASSED {
                    return Err(walk.stop(p, &t));
                }
                let n = h.bucket_len(i);
                buckets += 1;
                visited += n;
                walk.seen += n;
                walk.count += h.edit_bucket(i, hold, |o| f(&walk.prog, o));
                if let At::Bucket(at, todo, on) = &mut walk.at {
                    *at = if *on { h.next_bucket(i) } else { todo.next() };
                }
            }
            if visited >= CHUNK {
                return Err(walk.stop(p, &t));
            }
            drop(walk.stopped.take());
            let replaced = if replaces { walk.count.min(CHUNK) } else { 0 };
            p.heap.bump_reductions((visited + replaced) as i64);
        }
        Store::Tree(tree) => {
            if let At::Key { range, ref mut last, .. } = walk.at {
                let before = last.take();
                let mut most = CHUNK;
                let (from, to) = ends(range, before.as_ref(), true);
                let (n, behind) = tree.edit(from, to, &mut most, |o| f(&walk.prog, o));
                walk.count += n;
                if replaces && !walk.one_key {
                    p.heap.bump_reductions(n as i64);
                }
                if behind.is_some() {
                    *last = behind;
                    return Err(walk.stop(p, &t));
                }
                p.heap.bump_reductions(if walk.one_key { 0 } else { CHUNK - most } as i64);
            }
        }
    }
    if t.shrinks_after_walk(&s, me(p), walk.seen) {
        if let Store::Hash(h) = &mut s.store {
            h.settle(t.hold());
        }
    }
    Ok(p.heap.integer(walk.count as i64))
}
