//! `ordered_set`: objects by the standard order of their keys, in which `1 == 1.0`.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::ops::Bound;

use kvik_heap::{change_in_set, OwnedTerm};
use kvik_term::Term;

use crate::linear_hash::{key_of, Edit};
use crate::order;

struct Row {
    object: OwnedTerm,
    keypos: u32,
    /// Whether the key is a small integer: such rows compare without access to their objects.
    is_small: bool,
    small: i64,
}

impl Row {
    fn new(object: OwnedTerm, keypos: usize) -> Row {
        let small = key_of(object.term(), keypos).as_small();
        let is_small = small.is_some();
        Row { object, keypos: keypos as u32, is_small, small: small.unwrap_or(0) }
    }
    fn key(&self) -> Term<'_> {
        // A small key is here, without access to the object.
        let small = self.is_small.then(|| Term::small(self.small)).flatten();
        small.unwrap_or_else(|| key_of(self.object.term(), self.keypos as usize))
    }
}

/// A position in a set of rows: a key, or before or behind all keys that a partly bound pattern may
/// match.
#[derive(Copy, Clone)]
pub enum TreeBound<'a> {
    Key(Term<'a>),
    Before(Term<'a>),
    Behind(Term<'a>),
}

/// A row of a table, or a position that rows are compared with. Both are of one type, so that the
/// search in a `BTreeSet` compares without a virtual call.
enum Place<'a> {
    Row(Row),
    Bound(TreeBound<'a>),
}

impl Place<'_> {
    /// The key, if it is a small integer.
    #[inline(always)]
    fn small(&self) -> Option<i64> {
        match self {
            Place::Row(row) => row.is_small.then_some(row.small),
            Place::Bound(TreeBound::Key(k)) => k.as_small(),
            Place::Bound(_) => None,
        }
    }
    fn bound(&self) -> TreeBound<'_> {
        match self {
            Place::Row(row) => TreeBound::Key(row.key()),
            Place::Bound(b) => *b,
        }
    }
}

impl Ord for Place<'_> {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.small(), other.small()) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ => order_of(self.bound(), other.bound()),
        }
    }
}
fn order_of(a: TreeBound<'_>, b: TreeBound<'_>) -> Ordering {
    use TreeBound::*;
    match (a, b) {
        (Key(a), Key(b)) => order::order(a, b),
        (Before(p), Key(k)) => order::partial(p, k).then(Ordering::Less),
        (Behind(p), Key(k)) => order::partial(p, k).then(Ordering::Greater),
        (Key(k), Before(p)) => order::partial(p, k).then(Ordering::Less).reverse(),
        (Key(k), Behind(p)) => order::partial(p, k).then(Ordering::Greater).reverse(),
        (Before(_), Behind(_)) => Ordering::Less,
        (Behind(_), Before(_)) => Ordering::Greater,
        _ => Ordering::Equal,
    }
}
impl PartialOrd for Place<'_> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for Place<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Place<'_> {}

/// A row in a table: always [`Place::Row`].
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub struct TreeRow(Place<'static>);

impl TreeRow {
    fn new(object: OwnedTerm, keypos: usize) -> TreeRow {
        TreeRow(Place::Row(Row::new(object, keypos)))
    }
    fn row(&self) -> Option<&Row> {
        match &self.0 {
            Place::Row(row) => Some(row),
            Place::Bound(_) => None,
        }
    }
    fn into_object(self) -> Option<OwnedTerm> {
        match self.0 {
            Place::Row(row) => Some(row.object),
            Place::Bound(_) => None,
        }
    }
    fn owned(&self) -> Option<&OwnedTerm> {
        self.row().map(|row| &row.object)
    }
    pub fn object(&self) -> Term<'_> {
        self.row().map_or(Term::NIL, |row| row.object.term())
    }
    pub fn words(&self) -> usize {
        self.row().map_or(0, |row| row.object.words())
    }
    pub fn key(&self) -> Term<'_> {
        self.row().map_or(Term::NIL, Row::key)
    }
}
impl<'a> Borrow<Place<'a>> for TreeRow {
    #[inline(always)]
    fn borrow(&self) -> &Place<'a> {
        &self.0
    }
}

pub struct Tree {
    rows: BTreeSet<TreeRow>,
    keypos: usize,
    words: usize,
}

impl Tree {
    pub fn new(keypos: usize) -> Tree {
        Tree { rows: BTreeSet::new(), keypos, words: 0 }
    }
    pub fn len(&self) -> usize {
        self.rows.len()
    }
    pub fn words(&self) -> usize {
        self.words
    }
    fn row(&self, key: Term<'_>) -> Option<&TreeRow> {
        self.rows.get(&Place::Bound(TreeBound::Key(key)))
    }
    pub fn get_owned(&self, key: Term<'_>) -> Option<&OwnedTerm> {
        self.row(key)?.owned()
    }
    pub fn get(&self, key: Term<'_>) -> Option<Term<'_>> {
        self.row(key).map(TreeRow::object)
    }
    pub fn put(&mut self, object: Term<'_>, only_new: bool) -> bool {
        if only_new && self.row(key_of(object, self.keypos)).is_some() {
            return false;
        }
        self.put_owned(OwnedTerm::new(object));
        true
    }
    pub fn put_owned(&mut self, object: OwnedTerm) {
        self.words += object.words();
        let row = TreeRow::new(object, self.keypos);
        if let Some(old) = self.rows.replace(row) {
            self.words -= old.words();
        }
    }
    pub fn take(&mut self, key: Term<'_>) -> Option<OwnedTerm> {
        let row = self.rows.take(&Place::Bound(TreeBound::Key(key)))?;
        self.words -= row.words();
        row.into_object()
    }
    /// Replaces one immediate element by another in a key's object, but not its key: see
    /// [`OwnedTerm::change_element`].
    pub fn change<'s>(
        &mut self,
        key: Term<'_>,
        i: usize,
        f: impl FnOnce(Term<'static>) -> Option<Term<'s>>,
    ) -> Option<Term<'static>> {
        let place = Place::Bound(TreeBound::Key(key));
        change_in_set(&mut self.rows, &place, TreeRow::owned, i, f)
    }
    pub fn erase_object(&mut self, object: Term<'_>) {
        let key = key_of(object, self.keypos);
        if self.get(key).is_some_and(|o| order::same(o, object)) {
            self.take(key);
        }
    }
    /// An empty table of the same kind.
    pub fn emptied(&self) -> Tree {
        Tree::new(self.keypos)
    }
    pub(crate) fn into_rows(self) -> std::collections::btree_set::IntoIter<TreeRow> {
        self.rows.into_iter()
    }
    pub fn first(&self) -> Option<Term<'_>> {
        self.rows.first().map(TreeRow::key)
    }
    pub fn last(&self) -> Option<Term<'_>> {
        self.rows.last().map(TreeRow::key)
    }
    pub fn next(&self, key: Term<'_>) -> Option<Term<'_>> {
        let place = TreeBound::Key(key);
        self.between(Bound::Excluded(place), Bound::Unbounded).next().map(TreeRow::key)
    }
    pub fn prev(&self, key: Term<'_>) -> Option<Term<'_>> {
        let place = TreeBound::Key(key);
        self.between(Bound::Unbounded, Bound::Excluded(place)).next_back().map(TreeRow::key)
    }
    pub fn nth(&self, n: usize) -> Option<Term<'_>> {
        self.rows.iter().nth(n).map(TreeRow::object)
    }
    /// The rows between two positions, in order.
    pub fn between<'t, 'k>(
        &'t self,
        from: Bound<TreeBound<'k>>,
        to: Bound<TreeBound<'k>>,
    ) -> std::collections::btree_set::Range<'t, TreeRow> {
        let (from, to) = (from.map(Place::Bound), to.map(Place::Bound));
        if let (Bound::Included(a) | Bound::Excluded(a), Bound::Included(b) | Bound::Excluded(b)) =
            (&from, &to)
        {
            // `BTreeSet::range` panics if start is greater than end.
            if a >= b {
                return self.rows.range::<TreeRow, _>((
                    Bound::Unbounded,
                    self.rows.first().map_or(Bound::Unbounded, Bound::Excluded),
                ));
            }
        }
        self.rows.range::<Place<'k>, _>((from.as_ref(), to.as_ref()))
    }
    /// Calls `f` for up to `most` objects between two positions and applies the edits it returns.
    /// Returns the number of changes, and the key of the last object if there are more.
    pub fn edit(
        &mut self,
        from: Bound<TreeBound<'_>>,
        to: Bound<TreeBound<'_>>,
        most: &mut usize,
        mut f: impl FnMut(Term<'_>) -> Edit,
    ) -> (usize, Option<OwnedTerm>) {
        let mut changes = Vec::new();
        let mut last = None;
        let mut rows = self.between(from, to);
        while *most > 0 {
            last = rows.next();
            let Some(row) = last else { break };
            *most -= 1;
            match f(row.object()) {
                Edit::Keep => {}
                Edit::Delete => changes.push((OwnedTerm::new(row.key()), None)),
                Edit::Replace(o) => changes.push((OwnedTerm::new(row.key()), Some(o))),
            }
        }
        let last = last.map(|row| OwnedTerm::new(row.key()));
        let n = changes.len();
        for (key, object) in changes {
            match object {
                Some(o) => self.put_owned(o),
                None => {
                    self.take(key.term());
                }
            }
        }
        (n, last)
    }
}
