//! Linear hashing: `set`, `bag` and `duplicate_bag`.
//!
//! Buckets are split one by one as the table grows, so that an insertion splits only a few. A bucket is
//! a chain of rows in the order of a walk: objects with the same key are adjacent, the newest first,
//! and older keys come before newer ones. While a table is fixed, deletion only marks objects dead, so
//! that a walk finds its position again; [`LinearHash::purge`] removes them later.

use kvik_heap::{OwnedTerm, StoredRow};
use kvik_term::Term;
use smallvec::SmallVec;

use crate::buckets::Buckets;
use crate::chain::{self, Chain};
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

/// A key that is looked for.
#[derive(Clone, Copy)]
struct SoughtKey<'k> {
    key: Term<'k>,
    hash: u32,
    keypos: usize,
}

impl SoughtKey<'_> {
    #[inline]
    fn is_of(&self, row: &StoredRow) -> bool {
        row.prefetch();
        row.hash() == self.hash && order::same(self.key, key_of(row.object(), self.keypos))
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
    dirty: Dirty,
}

/// The buckets with objects that are marked dead.
enum Dirty {
    /// Each at least once.
    Listed(Vec<u32>),
    /// Too many to be listed.
    All,
}

impl Dirty {
    const NONE: Dirty = Dirty::Listed(Vec::new());

    /// `buckets`: how many the table has.
    fn add(&mut self, bucket: usize, buckets: usize) {
        if let Dirty::Listed(all) = self {
            let bucket = bucket as u32;
            if all.last() == Some(&bucket) {
                return;
            }
            if all.len() * 4 < buckets {
                all.push(bucket);
            } else {
                *self = Dirty::All;
            }
        }
    }
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
            dirty: Dirty::NONE,
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
    fn sought<'k>(&self, key: Term<'k>) -> SoughtKey<'k> {
        SoughtKey { key, hash: hash::of_key(key), keypos: self.keypos }
    }
    /// The objects of a key, newest first, including those marked dead.
    fn group<'t, 'k>(&'t self, key: Term<'k>) -> impl Iterator<Item = &'t StoredRow> + use<'t, 'k> {
        let key = self.sought(key);
        let mut rows = chain::rows(&self.buckets[self.index(key.hash)]);
        let first = rows.find(|r| key.is_of(r));
        first.into_iter().chain(rows.take_while(move |r| key.is_of(r)))
    }
    /// The live objects of a key, newest first.
    pub fn get<'t, 'k>(
        &'t self,
        key: Term<'k>,
    ) -> impl Iterator<Item = &'t StoredRow> + use<'t, 'k> {
        self.group(key).filter(|r| !r.is_dead())
    }
    /// The one object of a key in a `set`.
    pub fn get_one(&self, key: Term<'_>) -> Option<&StoredRow> {
        let key = self.sought(key);
        let rows = &self.buckets[self.index(key.hash)];
        chain::rows(rows).find(|r| key.is_of(r)).filter(|r| !r.is_dead())
    }
    /// Replaces one immediate element by another in a key's only object in a `set`: see
    /// [`OwnedTerm::change_element`].
    pub fn change<'s>(
        &mut self,
        key: Term<'_>,
        i: usize,
        f: impl FnOnce(Term<'static>) -> Option<Term<'s>>,
    ) -> Option<Term<'static>> {
        let key = self.sought(key);
        let b = self.index(key.hash);
        let row = chain::find(&mut self.buckets[b], |r| key.is_of(r)).as_mut()?;
        if row.is_dead() {
            return None;
        }
        row.change_element(i, f)
    }
    /// Replaces a key's only object in a `set` by what `f` makes of it, with the same key.
    pub fn replace_with<E>(
        &mut self,
        key: Term<'_>,
        f: impl FnOnce(Term<'_>) -> Result<OwnedTerm, E>,
    ) -> Option<Result<(), E>> {
        let key = self.sought(key);
        let b = self.index(key.hash);
        let row = chain::find(&mut self.buckets[b], |r| key.is_of(r)).as_mut()?;
        if row.is_dead() {
            return None;
        }
        Some(f(row.object()).map(|new| {
            self.words -= row.words();
            row.replace(new);
            self.words += row.words();
        }))
    }
    pub fn is_set(&self) -> bool {
        self.kind == TableKind::Set
    }
    /// Takes the only object of a key out of a `set` whose objects are not held.
    pub fn take_one(&mut self, key: Term<'_>, hold: IterationHold) -> Option<StoredRow> {
        let key = self.sought(key);
        let b = self.index(key.hash);
        let at = chain::find(&mut self.buckets[b], |r| key.is_of(r));
        if at.as_ref()?.is_dead() {
            return None;
        }
        let row = chain::take(at)?;
        self.words -= row.words();
        self.items -= 1;
        if hold == IterationHold::None {
            self.shrink();
        }
        Some(row)
    }
    /// Like `get`, but including objects marked dead.
    pub fn get_stored<'t, 'k>(
        &'t self,
        key: Term<'k>,
    ) -> impl Iterator<Item = &'t StoredRow> + use<'t, 'k> {
        self.group(key)
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
        let key = self.sought(key_of(object, self.keypos));
        let b = self.index(key.hash);
        let at = chain::find(&mut self.buckets[b], |r| key.is_of(r));
        if only_new && chain::while_some(at, |r| key.is_of(r)).any(|r| !r.is_dead()) {
            return PutOutcome { inserted: false, passed: 0 };
        }
        if let (TableKind::Set, Some(row)) = (self.kind, &mut *at) {
            self.items += row.is_dead() as usize;
            row.revive();
            if !row.overwrite(object) {
                self.words -= row.words();
                row.replace(OwnedTerm::new(object));
                self.words += row.words();
            }
            return done(0);
        }
        let mut passed = 0;
        if self.kind == TableKind::Bag {
            let equal = revive(at, &key, object);
            passed = equal.passed;
            if equal.is_there {
                self.items += equal.was_dead as usize;
                return done(passed);
            }
        }
        let Some(row) = StoredRow::new(OwnedTerm::new(object), key.hash) else { return done(0) };
        let words = row.words();
        chain::insert(at, row);
        self.has_grown(words, hold);
        done(passed)
    }
    /// Like `put`, with an object that is already copied; how many it passed.
    pub fn put_owned(&mut self, object: OwnedTerm, hold: IterationHold) -> usize {
        let hash = hash::of_key(key_of(object.term(), self.keypos));
        let Some(row) = StoredRow::new(object, hash) else { return 0 };
        let words = row.words();
        let key = SoughtKey { key: key_of(row.object(), self.keypos), hash, keypos: self.keypos };
        let b = self.index(hash);
        let at = chain::find(&mut self.buckets[b], |r| key.is_of(r));
        let mut passed = 0;
        match (self.kind, &mut *at) {
            (TableKind::Set, Some(old)) => {
                self.items += old.is_dead() as usize;
                self.words += words;
                self.words -= chain::exchange(old, row).words();
                return 0;
            }
            (TableKind::Bag, _) => {
                let equal = revive(at, &key, row.object());
                passed = equal.passed;
                if equal.is_there {
                    self.items += equal.was_dead as usize;
                    return passed;
                }
            }
            _ => {}
        }
        chain::insert(at, row);
        self.has_grown(words, hold);
        passed
    }
    fn has_grown(&mut self, words: usize, hold: IterationHold) {
        self.words += words;
        self.items += 1;
        if hold == IterationHold::None {
            self.grow();
        }
    }
    /// Reads the buckets of these keys and their first rows, so that what follows finds them in the
    /// CPU's cache: the misses of independent reads overlap, those of insertions one after the other do
    /// not.
    pub fn fetch_buckets<'k>(&self, keys: impl Iterator<Item = Term<'k>>) {
        let bucket = |key| &self.buckets[self.index(hash::of_key(key))];
        let buckets: SmallVec<[&Chain; FETCHED_AT_ONCE]> = keys.map(bucket).collect();
        buckets.iter().filter_map(|b| b.as_ref()).for_each(StoredRow::prefetch);
        let hashes = buckets.iter().filter_map(|b| b.as_ref()).map(StoredRow::hash);
        std::hint::black_box(hashes.fold(0, u32::wrapping_add));
    }
    /// Removes the live objects of a key that `which` selects; returns how many.
    fn remove(
        &mut self,
        key: Term<'_>,
        hold: IterationHold,
        which: impl Fn(&StoredRow) -> bool,
    ) -> usize {
        let key = self.sought(key);
        let b = self.index(key.hash);
        let buckets = self.buckets.len();
        let mut at = chain::find(&mut self.buckets[b], |r| key.is_of(r));
        let mut n = 0;
        while let Some(row) = at.as_mut().filter(|r| key.is_of(r)) {
            let goes = !row.is_dead() && which(row);
            n += goes as usize;
            if goes && hold != IterationHold::Objects {
                self.words -= chain::take(at).map_or(0, |row| row.words());
                continue;
            }
            if goes {
                row.kill();
                self.dirty.add(b, buckets);
            }
            at = chain::next(at);
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

    fn grow(&mut self) {
        if self.items > self.buckets.len() {
            // What is listed would not be in its bucket any more.
            self.purge();
        }
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
            let rows = self.buckets[from].take();
            let (stay, gone) = chain::split(rows, |r| r.hash() as usize & mask == to);
            self.buckets[from] = stay;
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
            self.purge();
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
            *chain::find(&mut top, |_| false) = self.buckets[dst].take();
            self.buckets[dst] = top;
        }
    }

    /// Removes the objects marked dead while the table was fixed.
    pub fn purge(&mut self) {
        match std::mem::replace(&mut self.dirty, Dirty::NONE) {
            Dirty::Listed(buckets) => {
                for b in buckets {
                    if let Some(at) = self.buckets.get_mut(b as usize) {
                        self.words -= remove_dead(at);
                    }
                }
            }
            Dirty::All => self.words -= self.buckets.iter_mut().map(remove_dead).sum::<usize>(),
        }
    }
    /// Marks all objects from a bucket on dead, counting one step for each and for each bucket.
    /// True when no bucket is left.
    pub fn bury(&mut self, from: &mut usize, steps: &mut usize) -> bool {
        self.dirty = Dirty::All;
        while *steps > 0 {
            let Some(mut at) = self.buckets.get_mut(*from) else { return true };
            let mut objects = 0;
            while let Some(row) = at {
                self.items -= !row.is_dead() as usize;
                row.kill();
                objects += 1;
                at = row.link();
            }
            *from += 1;
            *steps = steps.saturating_sub(1 + objects);
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
    /// The live objects of a bucket, in the order of a walk.
    pub fn bucket(&self, i: usize) -> Option<impl Iterator<Item = &StoredRow>> {
        self.buckets.get(i).map(|b| chain::rows(b).filter(|r| !r.is_dead()))
    }
    /// Number of objects in a bucket, including dead ones.
    pub fn bucket_len(&self, i: usize) -> usize {
        self.buckets.get(i).map_or(0, |b| chain::rows(b).count())
    }
    /// The bucket that has live objects of a key.
    pub fn bucket_with(&self, key: Term<'_>) -> Option<usize> {
        let key = self.sought(key);
        let b = self.index(key.hash);
        let mut rows = chain::rows(&self.buckets[b]);
        rows.any(|r| key.is_of(r) && !r.is_dead()).then_some(b)
    }
    fn first_from(&self, mut b: Option<usize>, dead: bool) -> Option<Term<'_>> {
        while let Some(i) = b {
            let mut from = i;
            if self.stride == 1 {
                from = self.buckets.used_from(i)?;
            }
            if let Some(r) = chain::rows(self.buckets.get(from)?).find(|r| dead || !r.is_dead()) {
                return Some(key_of(r.object(), self.keypos));
            }
            b = self.next_bucket(from);
        }
        None
    }
    /// `dead`: include objects marked dead, here and in `next`.
    pub fn first(&self, dead: bool) -> Option<Term<'_>> {
        self.first_from(Some(0), dead)
    }
    /// `None` if the key is missing, even among dead objects.
    pub fn next(&self, key: Term<'_>, dead: bool) -> Option<Option<Term<'_>>> {
        let key = self.sought(key);
        let b = self.index(key.hash);
        let mut rows = chain::rows(&self.buckets[b]);
        rows.find(|r| key.is_of(r))?;
        let after = rows.find(|r| (dead || !r.is_dead()) && !key.is_of(r));
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
        let buckets = self.buckets.len();
        let Some(mut at) = self.buckets.get_mut(i) else { return 0 };
        let mut n = 0;
        while let Some(row) = at {
            let edit = if row.is_dead() { Edit::Keep } else { f(row.object()) };
            n += !matches!(edit, Edit::Keep) as usize;
            match edit {
                Edit::Keep => {}
                Edit::Replace(object) => {
                    self.words -= row.words();
                    row.replace(object);
                    self.words += row.words();
                }
                Edit::Delete => {
                    self.items -= 1;
                    if hold != IterationHold::Objects {
                        self.words -= chain::take(at).map_or(0, |row| row.words());
                        continue;
                    }
                    row.kill();
                    self.dirty.add(i, buckets);
                }
            }
            at = chain::next(at);
        }
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
        let lens: Vec<usize> = self.buckets.iter().map(|b| chain::rows(b).count()).collect();
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

/// Takes the objects marked dead out of a bucket; their words.
fn remove_dead(bucket: &mut Chain) -> usize {
    let mut words = 0;
    let mut at = chain::find(bucket, StoredRow::is_dead);
    while let Some(row) = chain::take(at) {
        words += row.words();
        at = chain::find(at, StoredRow::is_dead);
    }
    words
}

/// An object of a bag that equals one to be inserted.
struct Equal {
    is_there: bool,
    was_dead: bool,
    /// Objects of the key that are newer; without an equal one, all of them.
    passed: usize,
}

/// A bag holds an object once: finds an equal one among those of its key, whose newest is at `at`. If it
/// is marked dead, it becomes the newest.
fn revive(at: &mut Chain, key: &SoughtKey<'_>, object: Term<'_>) -> Equal {
    let mut passed = 0;
    let mut is_equal = |r: &StoredRow| {
        let equal = order::same(r.object(), object);
        passed += !equal as usize;
        equal
    };
    let equal = chain::while_some(at, |r| key.is_of(r)).find(|r| is_equal(r)).map(|r| r.is_dead());
    if equal == Some(true) {
        if let Some(mut row) = chain::take(chain::nth(at, passed)) {
            row.revive();
            chain::insert(at, row);
        }
    }
    Equal { is_there: equal.is_some(), was_dead: equal == Some(true), passed }
}

/// What to do with an object that a walk visits.
pub enum Edit {
    Keep,
    Delete,
    Replace(OwnedTerm),
}
