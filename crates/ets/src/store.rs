//! The objects of a table of any kind.

use kvik_heap::{Heap, OwnedTerm};
use kvik_term::Term;
use smallvec::SmallVec;

use crate::deferred_free::DeferredFree;
use crate::kind::IterationHold;
use crate::linear_hash::{key_of, LinearHash, PutOutcome};
use crate::tree::Tree;

pub enum Store {
    Hash(LinearHash),
    Tree(Tree),
}

impl Store {
    pub fn len(&self) -> usize {
        match self {
            Store::Hash(h) => h.len(),
            Store::Tree(t) => t.len(),
        }
    }
    pub fn contains(&self, key: Term<'_>) -> bool {
        match self {
            Store::Hash(h) => h.contains(key),
            Store::Tree(t) => t.get(key).is_some(),
        }
    }
    /// The objects of a key, oldest first.
    pub fn get(&self, key: Term<'_>) -> Vec<Term<'_>> {
        match self {
            Store::Hash(h) => {
                let mut objects: Vec<_> = h.get(key).map(|r| r.object()).collect();
                objects.reverse();
                objects
            }
            Store::Tree(t) => t.get(key).into_iter().collect(),
        }
    }
    /// The one object of a key in a `set` or `ordered_set`.
    pub fn get_one(&self, key: Term<'_>) -> Option<Term<'_>> {
        match self {
            Store::Hash(h) => h.get_one(key).map(|r| r.object()),
            Store::Tree(t) => t.get_owned(key).map(|o| o.term()),
        }
    }
    /// Like `get_one`, but copied to a heap.
    pub fn copy_one<'h>(&self, key: Term<'_>, heap: &'h Heap) -> Option<Term<'h>> {
        match self {
            Store::Hash(h) => h.get_one(key).map(|r| heap.copy_row(r)),
            Store::Tree(t) => t.get_owned(key).map(|o| heap.copy_owned(o)),
        }
    }
    /// Copies of a key's objects as a list, oldest first.
    pub fn copy_all<'h>(&self, key: Term<'_>, heap: &'h Heap) -> Term<'h> {
        match self {
            Store::Hash(h) => h.get(key).fold(Term::NIL, |l, r| heap.cons(heap.copy_row(r), l)),
            Store::Tree(_) => {
                self.copy_one(key, heap).map_or(Term::NIL, |o| heap.cons(o, Term::NIL))
            }
        }
    }
    /// Replaces one immediate by another in a key's only object in a `set` or `ordered_set`; `None`
    /// if that does not suffice.
    pub fn change<'s>(
        &mut self,
        key: Term<'_>,
        i: usize,
        f: impl FnOnce(Term<'static>) -> Option<Term<'s>>,
    ) -> Option<Term<'static>> {
        match self {
            Store::Hash(h) => h.change(key, i, f),
            Store::Tree(t) => t.change(key, i, f),
        }
    }
    /// Replaces a key's only object in a `set` or `ordered_set` by what `f` makes of it, with the same
    /// key. `None`: there is none.
    pub fn replace<E>(
        &mut self,
        key: Term<'_>,
        f: impl FnOnce(Term<'_>) -> Result<OwnedTerm, E>,
    ) -> Option<Result<(), E>> {
        match self {
            Store::Hash(h) => h.replace_with(key, f),
            Store::Tree(t) => t.replace_with(key, f),
        }
    }
    pub fn put(&mut self, object: Term<'_>, only_new: bool, hold: IterationHold) -> PutOutcome {
        match self {
            Store::Hash(h) => h.put(object, only_new, hold),
            Store::Tree(t) => PutOutcome { inserted: t.put(object, only_new), passed: 0 },
        }
    }
    /// Fetches where the next objects go, at most `FETCHED_AT_ONCE`.
    pub fn fetch<'t>(&self, objects: impl Iterator<Item = Term<'t>>, keypos: usize) {
        if let Store::Hash(h) = self {
            h.fetch_buckets(objects.map(|o| key_of(o, keypos)));
        }
    }
    /// Inserts an object that is already copied; how many objects of its key it passed in a bag.
    pub fn put_owned(&mut self, object: OwnedTerm, hold: IterationHold) -> usize {
        match self {
            Store::Hash(h) => h.put_owned(object, hold),
            Store::Tree(t) => {
                t.put_owned(object);
                0
            }
        }
    }
    pub fn erase(&mut self, key: Term<'_>, hold: IterationHold) {
        match self {
            Store::Hash(h) => h.erase(key, hold),
            Store::Tree(t) => drop(t.take(key)),
        }
    }
    /// Erases a key's objects and returns copies, oldest first.
    pub fn take<'h>(
        &mut self,
        key: Term<'_>,
        heap: &'h Heap,
        hold: IterationHold,
    ) -> SmallVec<[Term<'h>; 1]> {
        match self {
            Store::Hash(h) if h.is_set() && hold != IterationHold::Objects => {
                h.take_one(key, hold).iter().map(|r| heap.copy_row(r)).collect()
            }
            Store::Hash(h) => {
                let mut copies: SmallVec<_> = h.get(key).map(|r| heap.copy_row(r)).collect();
                copies.reverse();
                if !copies.is_empty() {
                    h.erase(key, hold);
                }
                copies
            }
            Store::Tree(t) => t.take(key).iter().map(|o| heap.copy_owned(o)).collect(),
        }
    }
    pub fn erase_object(&mut self, object: Term<'_>, hold: IterationHold) {
        match self {
            Store::Hash(h) => h.erase_object(object, hold),
            Store::Tree(t) => t.erase_object(object),
        }
    }
    /// Empties the table and returns its contents, to be freed. `None`: the objects must be marked
    /// dead instead, with [`crate::CooperativeOperation::bury`].
    pub fn clear(&mut self, hold: IterationHold) -> Option<DeferredFree> {
        let empty = match self {
            Store::Hash(_) if hold == IterationHold::Objects => return None,
            Store::Hash(h) => Store::Hash(h.emptied()),
            Store::Tree(t) => Store::Tree(t.emptied()),
        };
        Some(std::mem::replace(self, empty).into_remains())
    }
    /// The contents, to be freed in steps.
    pub fn into_remains(self) -> DeferredFree {
        match self {
            Store::Hash(h) => DeferredFree::of_buckets(h.into_buckets()),
            Store::Tree(t) => DeferredFree::of_objects(t.into_objects()),
        }
    }
}
