//! Linear hashing: `set`, `bag` and `duplicate_bag`.
//!
//! Buckets are split one by one as the table grows, so that an insertion splits only a few. Objects
//! with the same key are adjacent in their bucket. A walk visits the newest object of a key first,
//! and older keys before newer ones. Buckets are stored in the reverse of that order, so that
//! adding another object to the oldest key appends to the end at constant cost. While a table is
//! fixed, deletion only marks objects dead, so that a walk finds its position again;
//! [`LinearHash::purge`] removes them later.

use kvik_heap::{Heap, OwnedTerm, StoredTuple};
use kvik_term::Term;
use smallvec::SmallVec;

use crate::buckets::{Bucket, Buckets};
use crate::kind::{IterationHold, TableKind};
use crate::{hash, order};

/// Buckets of an empty table, and size of the first segment.
pub const FIRST: usize = 256;
/// Buckets of each further segment: tables shrink by whole segments.
pub(crate) const SEGMENT: usize = 2048;
/// Keys whose buckets a long insertion fetches together.
pub const FETCHED_AT_ONCE: usize = 32;
/// Upper limit of buckets split or joined by one operation.
const MAX_SPLITS_PER_OPERATION: usize = 5;

/// An object with its key's hash, which has a flag for dead objects.
pub struct StoredRow(StoredTuple<u32>);

/// A hash has 31 bits.
const DEAD: u32 = 1 << 31;

impl StoredRow {
    /// `None` if the object is no tuple; callers have looked.
    fn new(object: OwnedTerm, hash: u32) -> Option<StoredRow> {
        StoredTuple::new(object, hash).map(StoredRow)
    }
    pub fn object(&self) -> Term<'_> {
        self.0.term()
    }
    pub fn words(&self) -> usize {
        self.0.words()
    }
    pub fn copy<'h>(&self, heap: &'h Heap) -> Term<'h> {
        heap.copy_stored(&self.0)
    }
    fn hash(&self) -> u32 {
        self.0.extra & !DEAD
    }
    fn is_dead(&self) -> bool {
        self.0.extra & DEAD != 0
    }
    fn kill(&mut self) {
        self.0.extra |= DEAD
    }
    fn revive(&mut self) {
        self.0.extra &= !DEAD
    }
    /// Replaces the object by another with the same key.
    fn replace(&mut self, object: OwnedTerm) {
        if let Some(row) = StoredRow::new(object, self.0.extra) {
            *self = row;
        }
    }
}

/// What an insertion did.
pub struct PutOutcome {
    /// False if the key had to be new and was not.
    pub inserted: bool,
    /// Objects of the key that were not the one to be inserted, in a bag.
    pub passed: usize,
}

pub struct LinearHash {
    buckets: Buckets,
    /// Slots in whole segments: decides when to shrink.
    slots: usize,
    mask: u32,
    kind: TableKind,
    keypos: usize,
    items: usize,
    /// Words of all objects.
    words: usize,
    /// Walks visit every n-th bucket, as with OTP's n locks for `write_concurrency`.
    stride: usize,
    /// Some objects are marked dead.
    dirty: bool,
}

/// The key element of an object.
#[inline]
pub fn key_of(object: Term<'_>, keypos: usize) -> Term<'_> {
    object.as_tuple().and_then(|t| t.get(keypos - 1)).unwrap_or(Term::NIL)
}

impl LinearHash {
    pub fn new(kind: TableKind, keypos: usize, stride: usize) -> LinearHash {
        // At least as many buckets as locks.
        let more = stride.saturating_sub(FIRST).div_ceil(SEGMENT) * SEGMENT;
        let slots = FIRST + more;
        LinearHash {
            buckets: Buckets::new(slots),
            slots,
            mask: (slots.next_power_of_two() - 1) as u32,
            kind,
            keypos,
            items: 0,
            words: 0,
            stride,
            dirty: false,
        }
    }
    pub fn len(&self) -> usize {
        self.items
    }
    pub fn words(&self) -> usize {
        self.words
    }
    pub fn slots(&self) -> usize {
        self.slots
    }
    pub fn active(&self) -> usize {
        self.buckets.len()
    }
    #[inline]
    fn index(&self, hash: u32) -> usize {
        let i = (hash & self.mask) as usize;
        if i < self.buckets.len() {
            i
        } else {
            (hash & self.mask >> 1) as usize
        }
    }
    #[inline]
    fn has_key(&self, row: &StoredRow, key: Term<'_>, hash: u32) -> bool {
        if row.hash() != hash {
            return false;
        }
        row.0.prefetch();
        order::same(key, key_of(row.object(), self.keypos))
    }
    /// The bucket and range of a key's objects, including dead ones. New objects go to the end of
    /// the range.
    fn span(&self, key: Term<'_>) -> (usize, std::ops::Range<usize>) {
        self.span_hashed(key, hash::of_key(key))
    }
    fn span_hashed(&self, key: Term<'_>, hash: u32) -> (usize, std::ops::Range<usize>) {
        let (b, to) = self.newest(key, hash);
        let rows = &self.buckets[b];
        let mut from = to.saturating_sub(1);
        if self.kind != TableKind::Set {
            while from > 0 && self.has_key(&rows[from - 1], key, hash) {
                from -= 1;
            }
        }
        (b, from..to)
    }
    /// Insertion point for another object of a key, found without a scan of all its objects: behind
    /// the newest, or at the beginning if there is none.
    fn newest(&self, key: Term<'_>, hash: u32) -> (usize, usize) {
        let b = self.index(hash);
        let rows = &self.buckets[b];
        (b, rows.iter().rposition(|r| self.has_key(r, key, hash)).map_or(0, |last| last + 1))
    }
    /// The live objects of a key, newest first.
    pub fn get(&self, key: Term<'_>) -> impl DoubleEndedIterator<Item = &StoredRow> {
        let (b, span) = self.span(key);
        self.buckets[b][span].iter().rev().filter(|r| !r.is_dead())
    }
    /// The one object of a key in a `set`.
    pub fn get_one(&self, key: Term<'_>) -> Option<&StoredRow> {
        let hash = hash::of_key(key);
        let rows = &self.buckets[self.index(hash)];
        rows.iter().find(|r| self.has_key(r, key, hash)).filter(|r| !r.is_dead())
    }
    /// Replaces one immediate element by another in a key's only object in a `set`: see
    /// [`OwnedTerm::change_element`].
    pub fn change<'s>(
        &mut self,
        key: Term<'_>,
        i: usize,
        f: impl FnOnce(Term<'static>) -> Option<Term<'s>>,
    ) -> Option<Term<'static>> {
        let (b, span) = self.span(key);
        let row = self.buckets[b][span].first_mut().filter(|r| !r.is_dead())?;
        row.0.change_element(i, f)
    }
    /// Like `get`, but including objects marked dead.
    pub fn get_stored(&self, key: Term<'_>) -> impl DoubleEndedIterator<Item = &StoredRow> {
        let (b, span) = self.span(key);
        self.buckets[b][span].iter().rev()
    }
    pub fn contains(&self, key: Term<'_>) -> bool {
        match self.kind {
            TableKind::Set => self.get_one(key).is_some(),
            _ => self.get(key).next().is_some(),
        }
    }

    /// Not inserted if `only_new` is set and the key exists.
    pub fn put(&mut self, object: Term<'_>, only_new: bool, hold: IterationHold) -> PutOutcome {
        let done = |passed| PutOutcome { inserted: true, passed };
        if self.kind == TableKind::DuplicateBag && !only_new {
            return done(self.put_owned(OwnedTerm::new(object), hold));
        }
        let key = key_of(object, self.keypos);
        let hash = hash::of_key(key);
        let (b, span) = self.span_hashed(key, hash);
        let live = self.buckets[b][span.clone()].iter().any(|r| !r.is_dead());
        if only_new && live {
            return PutOutcome { inserted: false, passed: 0 };
        }
        let (there, passed) = self.revive(b, &span, object);
        if there {
            return done(passed);
        }
        if self.kind == TableKind::Set && !span.is_empty() {
            let row = &mut self.buckets[b][span.start];
            self.items += row.is_dead() as usize;
            row.revive();
            if !row.0.replace(object) {
                self.words -= row.words();
                row.replace(OwnedTerm::new(object));
                self.words += row.words();
            }
            return done(0);
        }
        self.insert(b, span.end, OwnedTerm::new(object), hash, hold);
        done(passed)
    }
    /// Reads the buckets of these keys, so that what follows finds them in the CPU's cache: the misses
    /// of independent reads overlap, those of insertions one after the other do not.
    pub fn fetch_buckets<'k>(&self, keys: impl Iterator<Item = Term<'k>>) {
        let hashes: SmallVec<[u32; FETCHED_AT_ONCE]> = keys.map(hash::of_key).collect();
        let rows = |h: &u32| self.buckets[self.index(*h)].len();
        std::hint::black_box(hashes.iter().map(rows).sum::<usize>());
    }
    /// Like `put`, with an object that is already copied; how many it passed.
    pub fn put_owned(&mut self, object: OwnedTerm, hold: IterationHold) -> usize {
        let key = key_of(object.term(), self.keypos);
        let hash = hash::of_key(key);
        if self.kind == TableKind::Set {
            let (b, span) = self.span_hashed(key, hash);
            if let Some(row) = self.buckets[b][span].first_mut() {
                self.items += row.is_dead() as usize;
                row.revive();
                self.words -= row.words();
                row.replace(object);
                self.words += row.words();
                return 0;
            }
            self.insert(b, 0, object, hash, hold);
            return 0;
        }
        if self.kind == TableKind::DuplicateBag {
            let (b, at) = self.newest(key, hash);
            self.insert(b, at, object, hash, hold);
            return 0;
        }
        let (b, span) = self.span_hashed(key, hash);
        let (there, passed) = self.revive(b, &span, object.term());
        if !there {
            self.insert(b, span.end, object, hash, hold);
        }
        passed
    }
    fn insert(&mut self, b: usize, at: usize, object: OwnedTerm, hash: u32, hold: IterationHold) {
        let Some(row) = StoredRow::new(object, hash) else { return };
        self.words += row.words();
        self.buckets[b].insert(at, row);
        self.items += 1;
        if hold == IterationHold::None {
            self.grow();
        }
    }
    /// A bag holds an object once: finds an equal one, and revives it if it is marked dead. Whether
    /// there is one, and how many objects were passed, from the newest on.
    fn revive(
        &mut self,
        b: usize,
        span: &std::ops::Range<usize>,
        object: Term<'_>,
    ) -> (bool, usize) {
        if self.kind != TableKind::Bag {
            return (false, 0);
        }
        let rows = &mut self.buckets[b];
        let Some(i) = span.clone().rev().find(|i| order::same(rows[*i].object(), object)) else {
            return (false, span.len());
        };
        let passed = span.end - 1 - i;
        if rows[i].is_dead() {
            rows[i].revive();
            self.items += 1;
            rows[i..span.end].rotate_left(1);
        }
        (true, passed)
    }

    /// Removes the live objects of a key that `which` selects; returns how many.
    fn remove(
        &mut self,
        key: Term<'_>,
        hold: IterationHold,
        which: impl Fn(&StoredRow) -> bool,
    ) -> usize {
        let (b, span) = self.span(key);
        let goes = |r: &StoredRow| !r.is_dead() && which(r);
        let mut n = 0;
        if hold == IterationHold::Objects {
            for r in self.buckets[b][span].iter_mut().filter(|r| goes(r)) {
                r.kill();
                n += 1;
            }
            self.dirty |= n > 0;
        } else if let (1, true) = (span.len(), span.clone().all(|i| goes(&self.buckets[b][i]))) {
            self.words -= self.buckets[b].remove(span.start).words();
            n = 1;
        } else {
            let (words, mut i) = (&mut self.words, 0);
            self.buckets[b].retain(|r| {
                let stays = !span.contains(&i) || !goes(r);
                i += 1;
                if !stays {
                    n += 1;
                    *words -= r.words();
                }
                stays
            });
        }
        self.items -= n;
        if n > 0 && hold == IterationHold::None {
            self.shrink();
        }
        n
    }
    pub fn erase(&mut self, key: Term<'_>, hold: IterationHold) {
        self.remove(key, hold, |_| true);
    }
    pub fn erase_object(&mut self, object: Term<'_>, hold: IterationHold) {
        let key = key_of(object, self.keypos);
        self.remove(key, hold, |r| order::same(r.object(), object));
    }
    /// Replaces the object by another with the same key.
    pub fn replace(&mut self, object: Term<'_>) {
        let (b, span) = self.span(key_of(object, self.keypos));
        if let Some(r) = self.buckets[b][span].first_mut() {
            self.words -= r.words();
            r.replace(OwnedTerm::new(object));
            self.words += r.words();
        }
    }

    fn grow(&mut self) {
        for _ in 0..MAX_SPLITS_PER_OPERATION {
            let to = self.buckets.len();
            if self.items <= to {
                return;
            }
            if to == self.slots {
                self.slots += SEGMENT;
            }
            let from = if to <= self.mask as usize {
                to & (self.mask >> 1) as usize
            } else {
                self.mask = self.mask << 1 | 1;
                0
            };
            let mask = self.mask as usize;
            let goes = |r: &StoredRow| r.hash() as usize & mask == to;
            let (rows, mut gone) = (&mut self.buckets[from], Bucket::new());
            match rows.iter().filter(|r| goes(r)).count() {
                0 => {}
                n if n == rows.len() => std::mem::swap(rows, &mut gone),
                _ => (gone, *rows) = std::mem::take(rows).into_iter().partition(goes),
            }
            self.buckets.push(gone);
        }
    }
    fn shrink(&mut self) {
        for _ in 0..MAX_SPLITS_PER_OPERATION {
            let limit =
                if self.slots >= FIRST + 2 * SEGMENT { (self.slots - SEGMENT) / 2 } else { 0 };
            if self.items >= limit || self.buckets.len() <= FIRST.max(self.stride) {
                return;
            }
            let Some(mut top) = self.buckets.pop() else {
                return;
            };
            let src = self.buckets.len();
            let low = (self.mask >> 1) as usize;
            let dst = src & low;
            if dst == 0 {
                self.mask = low as u32;
            }
            if self.slots - src >= SEGMENT {
                self.slots -= SEGMENT;
            }
            self.buckets[dst].append(&mut top);
        }
    }

    /// Removes the objects marked dead while the table was fixed.
    pub fn purge(&mut self) {
        if !std::mem::take(&mut self.dirty) {
            return;
        }
        for b in self.buckets.iter_mut() {
            b.retain(|r| {
                if r.is_dead() {
                    self.words -= r.words();
                }
                !r.is_dead()
            });
        }
    }
    /// Marks all objects from a bucket on dead, counting one step for each and for each bucket.
    /// True when no bucket is left.
    pub fn bury(&mut self, from: &mut usize, steps: &mut usize) -> bool {
        self.dirty = true;
        while *steps > 0 {
            let Some(rows) = self.buckets.get_mut(*from) else { return true };
            for r in rows.iter_mut() {
                self.items -= !r.is_dead() as usize;
                r.kill();
            }
            *from += 1;
            *steps = steps.saturating_sub(1 + rows.len());
        }
        false
    }
    /// An empty table of the same kind.
    pub fn emptied(&self) -> LinearHash {
        LinearHash::new(self.kind, self.keypos, self.stride)
    }
    pub(crate) fn into_buckets(self) -> Buckets {
        self.buckets
    }

    /// The bucket that a walk visits after this one.
    pub fn next_bucket(&self, i: usize) -> Option<usize> {
        let n = i + self.stride;
        if n < self.buckets.len() {
            return Some(n);
        }
        let n = (n + 1) % self.stride;
        (n != 0).then_some(n)
    }
    pub fn bucket(&self, i: usize) -> Option<impl DoubleEndedIterator<Item = &StoredRow>> {
        self.buckets.get(i).map(|b| b.iter().rev().filter(|r| !r.is_dead()))
    }
    /// Number of objects in a bucket, including dead ones.
    pub fn bucket_len(&self, i: usize) -> usize {
        self.buckets.get(i).map_or(0, |b| b.len())
    }
    pub fn bucket_of(&self, key: Term<'_>) -> usize {
        self.index(hash::of_key(key))
    }
    fn first_from(&self, mut b: Option<usize>, dead: bool) -> Option<Term<'_>> {
        while let Some(i) = b {
            if let Some(r) = self.buckets.get(i)?.iter().rev().find(|r| dead || !r.is_dead()) {
                return Some(key_of(r.object(), self.keypos));
            }
            b = self.next_bucket(i);
        }
        None
    }
    /// `dead`: include objects marked dead, here and in `next`.
    pub fn first(&self, dead: bool) -> Option<Term<'_>> {
        self.first_from(Some(0), dead)
    }
    /// `None` if the key is missing, even among dead objects.
    pub fn next(&self, key: Term<'_>, dead: bool) -> Option<Option<Term<'_>>> {
        let (b, span) = self.span(key);
        if span.is_empty() {
            return None;
        }
        let after = self.buckets[b][..span.start].iter().rev().find(|r| dead || !r.is_dead());
        Some(match after {
            Some(r) => Some(key_of(r.object(), self.keypos)),
            None => self.first_from(self.next_bucket(b), dead),
        })
    }

    /// Calls `f` for each live object of a bucket and applies the edit it returns. Returns the
    /// number of changes.
    pub fn edit_bucket(
        &mut self,
        i: usize,
        hold: IterationHold,
        mut f: impl FnMut(Term<'_>) -> Edit,
    ) -> usize {
        let Some(rows) = self.buckets.get_mut(i) else {
            return 0;
        };
        let mut n = 0;
        let fixed = hold == IterationHold::Objects;
        let (words, items, dirty) = (&mut self.words, &mut self.items, &mut self.dirty);
        rows.reverse();
        rows.retain_mut(|r| {
            if r.is_dead() {
                return true;
            }
            match f(r.object()) {
                Edit::Keep => true,
                Edit::Replace(object) => {
                    n += 1;
                    *words -= r.words();
                    r.replace(object);
                    *words += r.words();
                    true
                }
                Edit::Delete => {
                    n += 1;
                    *items -= 1;
                    *dirty |= fixed;
                    match fixed {
                        true => r.kill(),
                        false => *words -= r.words(),
                    }
                    fixed
                }
            }
        });
        rows.reverse();
        n
    }
    /// Shrinks the table after deletions of a walk, if it may.
    pub fn settle(&mut self, hold: IterationHold) {
        if hold == IterationHold::None {
            self.shrink();
        }
    }
    /// Chain lengths: average, deviation, expected deviation, minimum, maximum; number of dead
    /// objects kept. Square roots in single precision, as in OTP.
    pub fn stats(&self) -> (f64, f64, f64, usize, usize, usize) {
        let lens: Vec<usize> = self.buckets.iter().map(|b| b.len()).collect();
        let n = lens.len() as f64;
        let kept: usize = lens.iter().sum();
        let squares: usize = lens.iter().map(|l| l * l).sum();
        let avg = kept as f64 / n;
        let dev = ((squares as f64 - avg * kept as f64) / n).max(0.0).sqrt() as f32 as f64;
        let expected = (avg * (1.0 - 1.0 / n)).sqrt() as f32 as f64;
        let (min, max) =
            (lens.iter().min().copied().unwrap_or(0), lens.iter().max().copied().unwrap_or(0));
        (avg, dev, expected, min, max, kept - self.items)
    }
}

/// What to do with an object that a walk visits.
pub enum Edit {
    Keep,
    Delete,
    Replace(OwnedTerm),
}
