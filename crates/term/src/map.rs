//! Looking into maps.
//!
//! A flat map has at most 32 keys: their number, a tuple of the keys in order (`compare_exact`),
//! the values. A larger one is a tree of 16-way nodes, indexed by four bits of the key's hash a
//! level, lowest first; after eight levels the hash is made anew with another salt. A node's own
//! header bits say which of its 16 children it has ([`ROOT`] marks the root, whose first word is
//! the number of keys); a child is a list cell `[Key | Value]` or a further node. Keys whose hashes
//! are the same on all [`LEVELS`] levels end in a collision node ([`COLLISION`]), which has any
//! number of cells in the order of their keys.

use std::cmp::Ordering;

use crate::cmp;
use crate::hash;
use crate::word::*;
use crate::{Map, Term, Tuple};

/// In a node's own header bits: this is the root.
pub const ROOT: u32 = 1 << 16;

/// In a node's own header bits: its children are the cells of keys whose hashes are the same.
pub const COLLISION: u32 = 1 << 17;
/// Levels of nodes that go by hashes, of four salts: no keys but those made to it go further.
pub const LEVELS: u32 = 32;

/// Where a key is looked for: its hash, level by level.
#[derive(Copy, Clone)]
pub struct Path<'h> {
    key: Term<'h>,
    hash: u32,
    level: u32,
}

impl<'h> Path<'h> {
    pub fn new(key: Term<'h>) -> Path<'h> {
        Path::hashed(key, hash::internal(key, 0))
    }
    /// The same where the key's hash (`hash::internal`, no salt) is known.
    pub fn hashed(key: Term<'h>, hash: u32) -> Path<'h> {
        Path { key, hash, level: 0 }
    }
    /// What of its hash is left at this level.
    pub fn hash(self) -> u32 {
        self.hash
    }
    /// The child's index at this level.
    #[inline]
    pub fn index(self) -> u32 {
        self.hash & 15
    }
    #[inline]
    pub fn down(self) -> Path<'h> {
        let level = self.level + 1;
        let hash = match level & 7 {
            0 if level < LEVELS => hash::internal(self.key, level >> 3),
            _ => self.hash >> 4,
        };
        Path { hash, level, ..self }
    }
    /// Is the node here a collision node?
    #[inline]
    pub fn is_collision(self) -> bool {
        self.level == LEVELS
    }
    pub fn key(self) -> Term<'h> {
        self.key
    }
    /// What children of a root are at, for [`Path::at_level_of`].
    pub fn first_level() -> Path<'h> {
        Path::hashed(Term::NIL, 0)
    }
    /// The path of a key at the level another one has come to.
    pub fn at_level_of(key: Term<'h>, other: Path<'h>) -> Path<'h> {
        if other.is_collision() {
            return Path { key, ..other };
        }
        let salted = hash::internal(key, other.level >> 3);
        Path { key, hash: salted >> (4 * (other.level & 7)), level: other.level }
    }
}

/// A node of a large map: which children it has (and [`COLLISION`]), and they.
#[derive(Copy, Clone)]
pub struct Node<'h> {
    pub bitmap: u32,
    pub children: &'h [Term<'h>],
}

impl<'h> Node<'h> {
    /// The place of child `index`, whether it is there or would have to go there.
    #[inline]
    pub fn place(self, index: u32) -> (usize, bool) {
        let before = self.bitmap & ((1 << index) - 1);
        (before.count_ones() as usize, self.bitmap >> index & 1 == 1)
    }
    /// The place of a key in a collision node, or where it would have to go.
    pub fn place_in_collision(self, key: Term<'_>) -> Result<usize, usize> {
        self.children.binary_search_by(|c| match c.as_cons() {
            Some(cell) => cmp::compare_exact(cell.head(), key),
            None => Ordering::Less,
        })
    }
}

/// What a child is.
pub enum Child<'h> {
    Leaf(Term<'h>, Term<'h>),
    Node(Node<'h>),
}

#[inline]
pub fn child(t: Term<'_>) -> Child<'_> {
    match t.as_cons() {
        Some(c) => Child::Leaf(c.head(), c.tail()),
        None => Child::Node(node(t)),
    }
}

#[inline]
fn node(t: Term<'_>) -> Node<'_> {
    match t.boxed() {
        // SAFETY: a child that is no cell is a node, whose words are all terms.
        Some((h, p)) => unsafe { raw_node(h, p) },
        None => Node { bitmap: 0, children: &[] },
    }
}

/// # Safety
/// `p` points to a HAMT object with header `h`.
unsafe fn raw_node<'h>(h: u64, p: *const u64) -> Node<'h> {
    let skip = (header_own(h) & ROOT != 0) as usize;
    let n = header_words(h) - skip;
    // SAFETY: n children follow the header and, in a root, the size.
    let children = unsafe { std::slice::from_raw_parts(p.add(1 + skip).cast(), n) };
    Node { bitmap: header_own(h) & (0xFFFF | COLLISION), children }
}

impl<'h> Map<'h> {
    /// The number of keys.
    #[inline]
    pub fn len(self) -> usize {
        // SAFETY: the second word of both kinds is the size.
        unsafe { small_value(*self.as_ptr().add(1)) as usize }
    }
    pub fn is_flat(self) -> bool {
        // SAFETY: a map's first word is its header.
        header_subtag(unsafe { *self.as_ptr() }) == FLAT_MAP
    }
    /// A flat map's keys as a tuple term.
    pub fn flat_keys_term(self) -> Option<Term<'h>> {
        // SAFETY: the third word of a flat map is the tuple of its keys.
        self.is_flat().then(|| unsafe { Term::from_word(*self.as_ptr().add(2)) })
    }
    /// A flat map's keys and values.
    #[inline]
    pub fn flat(self) -> Option<(&'h [Term<'h>], &'h [Term<'h>])> {
        let keys = self.flat_keys_term()?.as_tuple().map_or(&[][..], Tuple::elements);
        // SAFETY: the values follow the keys' tuple.
        let values = unsafe { std::slice::from_raw_parts(self.as_ptr().add(3).cast(), self.len()) };
        Some((keys, values))
    }
    /// A large map's root.
    pub fn root(self) -> Option<Node<'h>> {
        // SAFETY: a map that is not flat is a root node.
        (!self.is_flat()).then(|| unsafe { raw_node(*self.as_ptr(), self.as_ptr()) })
    }
    /// The node that a large map begins with, or that is within one.
    pub fn node(self) -> Option<Node<'h>> {
        self.root()
    }
    /// Is it a node within a large map? Only what counts words ever sees one.
    pub fn is_node(self) -> bool {
        // SAFETY: a map's first word is its header.
        !self.is_flat() && header_own(unsafe { *self.as_ptr() }) & ROOT == 0
    }
    pub fn term(self) -> Term<'h> {
        // SAFETY: the address of a map's header, tagged.
        unsafe { Term::from_word(self.as_ptr() as u64 + TAG_BOXED) }
    }
}

#[inline]
fn same_words(a: &[Term<'_>], b: &[Term<'_>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same(*b))
}

/// Where a key is among a flat map's keys.
#[inline]
pub fn place_of(keys: &[Term<'_>], key: Term<'_>) -> Option<usize> {
    if key.is_immediate() {
        keys.iter().position(|k| k.same(key))
    } else if let Some(key) = key.as_tuple() {
        let parts = key.elements();
        if parts.iter().all(|p| p.is_immediate()) {
            // Only what has the same words is equal.
            let same = |k: &Term<'_>| k.as_tuple().is_some_and(|t| same_words(t.elements(), parts));
            return keys.iter().position(same);
        }
        let equal = |k: &Term<'_>| k.as_tuple().is_some_and(|t| cmp::same_tuples(t, key));
        keys.iter().position(equal)
    } else {
        keys.iter().position(|k| cmp::eq_exact(*k, key))
    }
}

/// The value of a key (`=:=`).
pub fn get<'h>(m: Map<'h>, key: Term<'h>) -> Option<Term<'h>> {
    match m.root() {
        Some(root) => find(root, Path::new(key)),
        None => get_flat(m, key),
    }
}
/// The same where the key's hash (`hash::internal`, no salt) is known.
pub fn get_hashed<'h>(m: Map<'h>, key: Term<'h>, hash: u32) -> Option<Term<'h>> {
    match m.root() {
        Some(root) => find(root, Path::hashed(key, hash)),
        None => get_flat(m, key),
    }
}

fn get_flat<'h>(m: Map<'h>, key: Term<'h>) -> Option<Term<'h>> {
    let (keys, values) = m.flat()?;
    place_of(keys, key).and_then(|i| values.get(i).copied())
}

/// The value of the key that a path is of, at the path's level or below.
pub fn find_below<'h>(node: Node<'h>, path: Path<'h>) -> Option<Term<'h>> {
    match path.is_collision() {
        true => find_collision(node, path.key),
        false => find(node, path),
    }
}
fn find_collision<'h>(node: Node<'h>, key: Term<'h>) -> Option<Term<'h>> {
    let place = node.place_in_collision(key).ok()?;
    node.children.get(place)?.as_cons().map(|cell| cell.tail())
}

/// Down from a node above the collisions.
fn find<'h>(mut node: Node<'h>, mut path: Path<'h>) -> Option<Term<'h>> {
    let key = path.key;
    loop {
        let (place, there) = node.place(path.index());
        if !there {
            return None;
        }
        match child(*node.children.get(place)?) {
            Child::Leaf(k, v) => return cmp::eq_exact(k, key).then_some(v),
            Child::Node(n) => node = n,
        }
        path = path.down();
        if path.is_collision() {
            return find_collision(node, key);
        }
    }
}

pub fn contains<'h>(m: Map<'h>, key: Term<'h>) -> bool {
    get(m, key).is_some()
}

/// Keys and values: of a flat map in the order of the keys, of a large one in the tree's order.
pub fn iter(m: Map<'_>) -> Iter<'_> {
    match m.flat() {
        Some((keys, values)) => Iter { flat: keys.iter().zip(values), stack: Vec::new() },
        None => {
            let children = m.root().map_or(&[][..], |r| r.children);
            Iter { flat: [].iter().zip(&[]), stack: vec![children] }
        }
    }
}

pub struct Iter<'h> {
    flat: std::iter::Zip<std::slice::Iter<'h, Term<'h>>, std::slice::Iter<'h, Term<'h>>>,
    stack: Vec<&'h [Term<'h>]>,
}

impl<'h> Iterator for Iter<'h> {
    type Item = (Term<'h>, Term<'h>);
    fn next(&mut self) -> Option<Self::Item> {
        if let Some((k, v)) = self.flat.next() {
            return Some((*k, *v));
        }
        loop {
            let top = self.stack.last_mut()?;
            let Some((first, rest)) = top.split_first() else {
                self.stack.pop();
                continue;
            };
            *top = rest;
            match child(*first) {
                Child::Leaf(k, v) => return Some((k, v)),
                Child::Node(n) => self.stack.push(n.children),
            }
        }
    }
}

/// Keys and values in the order of the keys.
pub fn sorted_pairs(m: Map<'_>) -> Vec<(Term<'_>, Term<'_>)> {
    let mut pairs: Vec<_> = iter(m).collect();
    if !m.is_flat() {
        pairs.sort_by(|a, b| cmp::compare_exact(a.0, b.0));
    }
    pairs
}
