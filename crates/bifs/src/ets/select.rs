//! Walks with match specifications: `match`, `match_object`, `select` and their kin.
//!
//! A walk that is not asked for in portions runs under the table's lock, so it sees the table at
//! one moment. Portions go on where the last one ended: a hash table's at a bucket, an ordered
//! set's at a key.

use std::ops::Bound;
use std::sync::Arc;

use kvik_ets::linear::{Edit, Linear};
use kvik_ets::ms::{compile, Dialect, Error, Program};
use kvik_ets::tree::{Place, Tree};
use kvik_ets::{order, Access, Kind, Store};
use kvik_heap::OwnedTerm;
use kvik_proc::{bif, BifEntry, BifResult, Proc, Raised};
use kvik_term::{am, Term};

use super::{read, table, write};
use crate::match_spec::{keeps_key, program_of};

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
    select(p, t, simple(p, pat, am::dollar_dollar), None, false)
}
fn match_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t, pat, limit] = *a else { return Err(p.badarg()) };
    select(p, t, simple(p, pat, am::dollar_dollar), Some(limit), false)
}
fn match_object_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t, pat] = *a else { return Err(p.badarg()) };
    select(p, t, simple(p, pat, am::dollar_underscore), None, false)
}
fn match_object_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t, pat, limit] = *a else { return Err(p.badarg()) };
    select(p, t, simple(p, pat, am::dollar_underscore), Some(limit), false)
}
fn select_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t, spec] = *a else { return Err(p.badarg()) };
    select(p, t, spec, None, false)
}
fn select_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t, spec, limit] = *a else { return Err(p.badarg()) };
    select(p, t, spec, Some(limit), false)
}
fn select_reverse_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t, spec] = *a else { return Err(p.badarg()) };
    select(p, t, spec, None, true)
}
fn select_reverse_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t, spec, limit] = *a else { return Err(p.badarg()) };
    select(p, t, spec, Some(limit), true)
}

fn program(p: &Proc, spec: Term<'_>) -> Result<Arc<Program>, Raised> {
    if spec.is_nil() {
        return Ok(Arc::new(Program::empty()));
    }
    match compile(spec, Dialect::Table) {
        Ok(prog) => Ok(Arc::new(prog)),
        Err(Error::TooDeep) => Err(p.system_limit()),
        Err(Error::Bad(_)) => Err(p.badarg()),
    }
}

/// Which objects can match at all, by the keys in the heads.
enum Reach<'h> {
    All,
    Nothing,
    /// All heads' keys are bound: the distinct ones.
    Keys(Vec<Term<'h>>),
    /// One head, whose key is bound from its beginning.
    Near(Term<'h>),
}

fn reach<'h>(spec: Term<'h>, keypos: usize, kind: Kind) -> Reach<'h> {
    let heads: Vec<_> = spec.list().filter_map(|c| c.as_tuple()?.get(0)).collect();
    let mut keys = Vec::new();
    for head in &heads {
        if order::wild(*head).is_some() {
            return Reach::All;
        }
        let Some(key) = head.as_tuple().and_then(|t| t.get(keypos - 1)) else {
            continue;
        };
        if order::has_wild(key) {
            return match (kind, heads.len()) {
                (Kind::OrderedSet, 1) if order::wild(key).is_none() => Reach::Near(key),
                _ => Reach::All,
            };
        }
        keys.push(key);
    }
    match (keys.as_slice(), kind, heads.len()) {
        ([], ..) => Reach::Nothing,
        ([key], Kind::OrderedSet, 1) => Reach::Near(*key),
        (_, Kind::OrderedSet, _) => Reach::All,
        _ => Reach::Keys(keys),
    }
}

/// The buckets a walk over a hash table begins with; the walk goes on from the last one where
/// `true`.
fn buckets(h: &Linear, reach: &Reach<'_>) -> (Vec<usize>, bool) {
    match reach {
        Reach::Keys(keys) => {
            let mut all = Vec::new();
            for k in keys {
                let b = h.bucket_of(*k);
                if h.contains(*k) && !all.contains(&b) {
                    all.push(b);
                }
            }
            (all, false)
        }
        Reach::Nothing => (Vec::new(), false),
        _ => (vec![0], true),
    }
}
type Ends<'h> = (Bound<Place<'h>>, Bound<Place<'h>>);
fn near_ends(pattern: Term<'_>) -> Ends<'_> {
    (Bound::Included(Place::Before(pattern)), Bound::Included(Place::Behind(pattern)))
}
fn ends<'h>(reach: &Reach<'h>) -> Option<Ends<'h>> {
    match reach {
        Reach::Nothing => None,
        Reach::Near(k) => Some(near_ends(*k)),
        _ => Some((Bound::Unbounded, Bound::Unbounded)),
    }
}
/// The pattern a continuation keeps, or `[]`.
fn near<'h>(reach: &Reach<'h>) -> Term<'h> {
    match reach {
        Reach::Near(k) => *k,
        _ => Term::NIL,
    }
}

fn select<'h>(
    p: &'h Proc,
    id: Term<'h>,
    spec: Term<'h>,
    limit: Option<Term<'h>>,
    reverse: bool,
) -> BifResult<'h> {
    let t = table(p, id)?;
    let s = read(p, &t, Access::Read)?;
    let limit = match limit {
        Some(n) => Some(n.as_usize().filter(|n| *n > 0).ok_or_else(|| p.badarg())?),
        None => None,
    };
    let prog = program(p, spec)?;
    let reach = reach(spec, t.options.keypos, t.options.kind);
    let walk = Walk { p, table: &t, prog: &prog, limit };
    match &s.store {
        Store::Hash(h) => {
            let (start, on) = buckets(h, &reach);
            walk.hash(h, start, on, Vec::new())
        }
        Store::Tree(tree) => match ends(&reach) {
            Some((from, to)) => walk.tree(tree, (from, to), near(&reach), reverse),
            None => Ok(walk.nothing()),
        },
    }
}

struct Walk<'w, 'h> {
    p: &'h Proc,
    table: &'w kvik_ets::Table,
    prog: &'w Arc<Program>,
    limit: Option<usize>,
}

impl<'h> Walk<'_, 'h> {
    fn nothing(&self) -> Term<'h> {
        match self.limit {
            Some(_) => am::dollar_end_of_table.into(),
            None => Term::NIL,
        }
    }
    fn id(&self) -> Term<'h> {
        kvik_ets::registry::reference(&self.p.heap, self.table)
    }
    fn program(&self) -> Term<'h> {
        self.p.heap.magic_ref(self.prog.clone())
    }

    /// Buckets in turn until the limit is reached. Results are listed last first, as OTP has them.
    fn hash(
        &self,
        h: &Linear,
        start: Vec<usize>,
        on: bool,
        mut got: Vec<Term<'h>>,
    ) -> BifResult<'h> {
        let heap = &self.p.heap;
        let mut todo = start.into_iter();
        let mut at = todo.next();
        let mut seen = 0;
        while let Some(i) = at {
            for row in h.bucket(i).into_iter().flatten() {
                seen += 1;
                got.extend(self.prog.run(self.p, row.object()));
            }
            at = if on { h.next_bucket(i) } else { todo.next() };
            if on && self.limit.is_some_and(|n| got.len() >= n) {
                break;
            }
        }
        heap.bump_reductions(seen);
        let listed = |ts: &[Term<'h>]| heap.list(&ts.iter().rev().copied().collect::<Vec<_>>());
        let Some(limit) = self.limit else {
            return Ok(listed(&got));
        };
        let now = &got[..limit.min(got.len())];
        let rest = &got[now.len()..];
        if rest.is_empty() && at.is_none() {
            return Ok(match now {
                [] => am::dollar_end_of_table.into(),
                _ => heap.tuple(&[listed(now), am::dollar_end_of_table.into()]),
            });
        }
        let slot = at.map_or(-1, |i| i as i64);
        let continuation = heap.tuple(&[
            self.id(),
            heap.integer(slot),
            heap.integer(limit as i64),
            self.program(),
            listed(rest),
            heap.integer(rest.len() as i64),
        ]);
        Ok(heap.tuple(&[listed(now), continuation]))
    }

    fn tree(
        &self,
        t: &Tree,
        (from, to): Ends<'_>,
        pattern: Term<'h>,
        reverse: bool,
    ) -> BifResult<'h> {
        let heap = &self.p.heap;
        let mut rows = t.between(from, to);
        let mut got = Vec::new();
        let mut last = None;
        let mut seen = 0;
        while self.limit.is_none_or(|n| got.len() < n) {
            let Some(row) = (if reverse { rows.next_back() } else { rows.next() }) else {
                last = None;
                break;
            };
            seen += 1;
            last = Some(row.key());
            got.extend(self.prog.run(self.p, row.object()));
        }
        heap.bump_reductions(seen);
        let list = heap.list(&got);
        let Some(limit) = self.limit else {
            return Ok(list);
        };
        let continuation = match last {
            None if got.is_empty() => return Ok(am::dollar_end_of_table.into()),
            None => am::dollar_end_of_table.into(),
            Some(key) => heap.tuple(&[
                self.id(),
                heap.copy(key),
                pattern,
                heap.integer(limit as i64),
                self.program(),
                Term::NIL,
                Term::int(reverse as i32),
                Term::int(0),
            ]),
        };
        Ok(heap.tuple(&[list, continuation]))
    }
}

fn continue_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [c] = *a else { return Err(p.badarg()) };
    if c.is_atom(am::dollar_end_of_table) {
        return Ok(c);
    }
    let parts = c.as_tuple().map_or(&[][..], |t| t.elements());
    let id = *parts.first().ok_or_else(|| p.badarg())?;
    let t = table(p, id)?;
    let s = read(p, &t, Access::Read)?;
    let limit_at = if parts.len() == 6 { 2 } else { 3 };
    let limit = parts.get(limit_at).and_then(|n| n.as_usize());
    let prog = parts.get(limit_at + 1).and_then(|t| program_of(*t));
    let (Some(limit), Some(prog)) = (limit.filter(|n| *n > 0), prog) else {
        return Err(p.badarg());
    };
    let walk = Walk { p, table: &t, prog: &prog, limit: Some(limit) };
    match (&s.store, parts) {
        (Store::Hash(h), &[_, slot, _, _, rest, _]) => {
            let mut got = rest.list_to_vec().ok_or_else(|| p.badarg())?;
            got.reverse();
            let slot = slot.as_small().ok_or_else(|| p.badarg())?;
            match usize::try_from(slot) {
                Ok(i) if i >= h.active() => Err(p.badarg()),
                Ok(i) if got.len() < limit => walk.hash(h, vec![i], true, got),
                Ok(i) => walk.more(got, limit, i as i64),
                Err(_) => walk.hash(h, Vec::new(), false, got),
            }
        }
        (Store::Tree(tree), &[_, key, pattern, _, _, _, reverse, _]) => {
            let reverse = reverse.as_small() == Some(1);
            let all = (Bound::Unbounded, Bound::Unbounded);
            let mut ends = if pattern.is_nil() { all } else { near_ends(pattern) };
            let here = Bound::Excluded(Place::Key(key));
            *(if reverse { &mut ends.1 } else { &mut ends.0 }) = here;
            walk.tree(tree, ends, pattern, reverse)
        }
        _ => Err(p.badarg()),
    }
}

impl<'h> Walk<'_, 'h> {
    /// A portion from what an earlier walk found already.
    fn more(&self, got: Vec<Term<'h>>, limit: usize, slot: i64) -> BifResult<'h> {
        let heap = &self.p.heap;
        let listed = |ts: &[Term<'h>]| heap.list(&ts.iter().rev().copied().collect::<Vec<_>>());
        let (now, rest) = got.split_at(limit.min(got.len()));
        let continuation = heap.tuple(&[
            self.id(),
            heap.integer(slot),
            heap.integer(limit as i64),
            self.program(),
            listed(rest),
            heap.integer(rest.len() as i64),
        ]);
        Ok(heap.tuple(&[listed(now), continuation]))
    }
}

fn select_count_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [t, spec] = *a else { return Err(p.badarg()) };
    let t = table(p, t)?;
    let s = read(p, &t, Access::Read)?;
    let prog = program(p, spec)?;
    let reach = reach(spec, t.options.keypos, t.options.kind);
    let mut n = 0;
    match &s.store {
        Store::Hash(h) => each_bucket(h, &reach, |i| {
            for row in h.bucket(i).into_iter().flatten() {
                n += prog.is_true(p, row.object()) as i64;
            }
        }),
        Store::Tree(tree) => {
            if let Some((from, to)) = ends(&reach) {
                for row in tree.between(from, to) {
                    n += prog.is_true(p, row.object()) as i64;
                }
            }
        }
    }
    p.heap.bump_reductions(s.store.len() as i64);
    Ok(p.heap.integer(n))
}

fn each_bucket(h: &Linear, reach: &Reach<'_>, mut f: impl FnMut(usize)) {
    let (start, on) = buckets(h, reach);
    for b in start {
        let mut at = Some(b);
        while let Some(i) = at {
            f(i);
            at = if on { h.next_bucket(i) } else { None };
        }
    }
}

fn select_delete_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    edit(p, a, |prog, o| if prog.is_true(p, o) { Edit::Delete } else { Edit::Keep })
}
fn select_replace_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [id, spec] = *a else { return Err(p.badarg()) };
    let t = table(p, id)?;
    drop(write(p, &t, Access::Write)?);
    if t.options.kind == Kind::Bag {
        return Err(p.badarg_because(am::table_type));
    }
    if !keeps_key(spec, t.options.keypos) {
        return Err(p.badarg());
    }
    edit(p, a, |prog, o| match prog.run(p, o) {
        Some(new) => Edit::Replace(OwnedTerm::new(new)),
        None => Edit::Keep,
    })
}
fn edit<'h>(p: &'h Proc, a: &[Term<'h>], f: impl Fn(&Program, Term<'_>) -> Edit) -> BifResult<'h> {
    let [t, spec] = *a else { return Err(p.badarg()) };
    let t = table(p, t)?;
    let mut s = write(p, &t, Access::Write)?;
    let prog = program(p, spec)?;
    let reach = reach(spec, t.options.keypos, t.options.kind);
    let fixed = t.is_fixed();
    p.heap.bump_reductions(s.store.len() as i64);
    let n = match &mut s.store {
        Store::Hash(h) => {
            let mut all = Vec::new();
            each_bucket(h, &reach, |i| all.push(i));
            let mut n = 0;
            for i in all {
                n += h.edit_bucket(i, fixed, |o| f(&prog, o));
            }
            h.settle(fixed);
            n
        }
        Store::Tree(tree) => match ends(&reach) {
            Some((from, to)) => tree.edit(from, to, |o| f(&prog, o)),
            None => 0,
        },
    };
    Ok(p.heap.integer(n as i64))
}
