//! `ordered_set`: objects by the standard order of their keys, in which `1 == 1.0`.
//!
//! A B+ tree. The first 128 bits of each key are beside its object ([`key_code`]), so that a search seldom
//! looks at the objects themselves.

mod guess;
mod key_code;
mod node;
mod range;
#[cfg(test)]
mod tests;

use std::ops::Bound;

use kvik_heap::OwnedTerm;
use kvik_term::Term;

use self::guess::Guess;
use self::node::{Edge, Leaf, Node, Target};
pub(crate) use self::range::IntoObjects;
use self::range::Limit;
pub use self::range::{Range, TreeRow};
use crate::linear_hash::{key_of, Edit};
use crate::order;

/// A position in a tree: a key, or before or behind all keys that a partly bound pattern may match.
#[derive(Copy, Clone)]
pub enum TreeBound<'a> {
    Key(Term<'a>),
    Before(Term<'a>),
    Behind(Term<'a>),
}

pub struct Tree {
    root: Node,
    /// Where a walk is that finds no other leaf.
    nowhere: Leaf,
    len: usize,
    keypos: usize,
    words: usize,
}

impl Tree {
    pub fn new(keypos: usize) -> Tree {
        Tree { root: Node::default(), nowhere: Leaf::default(), len: 0, keypos, words: 0 }
    }
    pub fn len(&self) -> usize {
        self.len
    }
    pub fn words(&self) -> usize {
        self.words
    }
    pub fn get_owned(&self, key: Term<'_>) -> Option<&OwnedTerm> {
        let target = Target::key(key);
        let guessed = self.root.find_guessed(&target, self.keypos);
        guessed.or_else(|| self.root.find(&target, self.keypos))
    }
    pub fn get(&self, key: Term<'_>) -> Option<Term<'_>> {
        self.get_owned(key).map(OwnedTerm::term)
    }
    pub fn put(&mut self, object: Term<'_>, only_new: bool) -> bool {
        if only_new && self.get_owned(key_of(object, self.keypos)).is_some() {
            return false;
        }
        self.put_owned(OwnedTerm::new(object));
        true
    }
    pub fn put_owned(&mut self, object: OwnedTerm) {
        self.words += object.words();
        match self.root.put(object, self.keypos) {
            Some(old) => self.words -= old.words(),
            None => self.len += 1,
        }
    }
    pub fn take(&mut self, key: Term<'_>) -> Option<OwnedTerm> {
        let object = self.root.take(&Target::key(key), self.keypos)?;
        self.words -= object.words();
        self.len -= 1;
        Some(object)
    }
    /// Replaces one immediate element by another in a key's object, but not its key: see
    /// [`OwnedTerm::change_element`].
    pub fn change<'s>(
        &mut self,
        key: Term<'_>,
        i: usize,
        f: impl FnOnce(Term<'static>) -> Option<Term<'s>>,
    ) -> Option<Term<'static>> {
        self.root.find_mut(&Target::key(key), self.keypos)?.change_element(i, f)
    }
    /// Replaces a key's object by what `f` makes of it, with the same key.
    pub fn replace_with<E>(
        &mut self,
        key: Term<'_>,
        f: impl FnOnce(Term<'_>) -> Result<OwnedTerm, E>,
    ) -> Option<Result<(), E>> {
        let object = self.root.find_mut(&Target::key(key), self.keypos)?;
        Some(f(object.term()).map(|new| {
            self.words = self.words + new.words() - object.words();
            *object = new;
        }))
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
    pub(crate) fn into_objects(self) -> IntoObjects {
        IntoObjects::new(self.root)
    }
    fn key<'t>(&self, object: Option<&'t OwnedTerm>) -> Option<Term<'t>> {
        object.map(|o| key_of(o.term(), self.keypos))
    }
    pub fn first(&self) -> Option<Term<'_>> {
        Guess::new().keep();
        self.key(self.root.outermost(false))
    }
    pub fn last(&self) -> Option<Term<'_>> {
        self.key(self.root.outermost(true))
    }
    pub fn next(&self, key: Term<'_>) -> Option<Term<'_>> {
        self.step(key, false)
    }
    pub fn prev(&self, key: Term<'_>) -> Option<Term<'_>> {
        self.step(key, true)
    }
    fn step(&self, key: Term<'_>, is_before: bool) -> Option<Term<'_>> {
        let edge = Edge::new(TreeBound::Key(key), !is_before);
        let guessed = self.root.beside_guessed(edge.target(), self.keypos, is_before);
        self.key(guessed.or_else(|| self.root.beside(&edge, self.keypos, is_before)))
    }
    pub fn nth(&self, n: usize) -> Option<Term<'_>> {
        self.between(Bound::Unbounded, Bound::Unbounded).nth(n).map(TreeRow::object)
    }
    /// The objects between two positions, in order.
    pub fn between<'t>(
        &'t self,
        from: Bound<TreeBound<'_>>,
        to: Bound<TreeBound<'_>>,
    ) -> Range<'t> {
        let from = match from {
            Bound::Included(b) => Limit::Edge(Edge::new(b, false)),
            Bound::Excluded(b) => Limit::Edge(Edge::new(b, true)),
            Bound::Unbounded => Limit::None,
        };
        let to = match to {
            Bound::Included(b) => Limit::Edge(Edge::new(b, true)),
            Bound::Excluded(b) => Limit::Edge(Edge::new(b, false)),
            Bound::Unbounded => Limit::None,
        };
        Range::new(&self.root, &self.nowhere, (from, to), self.keypos)
    }
    /// Calls `f` for up to `most` objects between two positions, the last ones first, and applies the
    /// edits it returns. Returns the number of changes, and the key of the last object if there are more.
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
            last = rows.next_back();
            let Some(row) = last else { break };
            *most -= 1;
            match f(row.object()) {
                Edit::Keep => {}
                Edit::Delete => changes.push((OwnedTerm::new(row.key()), None)),
                Edit::Replace(o) => changes.push((OwnedTerm::new(row.key()), Some(o))),
            }
        }
        let last = last.map(|row| OwnedTerm::new(row.key()));
        drop(rows);
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
