//! The layout of maps.
//!
//! A flat map has at most 32 keys: their number, a tuple of the keys in order (`key_order`), the
//! values. A larger one is a tree of 16-way nodes, indexed by four bits of the key's hash a level,
//! lowest first; after eight levels the hash is made anew with another salt. A node's own header
//! bits say which of its 16 children it has ([`ROOT`] marks the root, whose first word is the
//! number of keys); a child is a list cell `[Key | Value]` or a further node. Keys whose hashes are
//! the same on all [`crate::map::LAST_LEVEL`] levels end in a collision node ([`COLLISION`]), which has
//! any number of cells in the order of their keys.

use crate::word::*;
use crate::{Map, Term, Tuple};

/// In a node's own header bits: this is the root.
pub const ROOT: u32 = 1 << 16;

/// In a node's own header bits: its children are the cells of keys whose hashes are the same.
pub const COLLISION: u32 = 1 << 17;
/// A node of a large map: a bitmap of its children (and [`COLLISION`]), and the children.
#[derive(Copy, Clone)]
pub struct MapNode<'h> {
    pub bitmap: u32,
    pub children: &'h [Term<'h>],
}

impl<'h> MapNode<'h> {
    /// The index among the children of child `index`, or where it would be inserted; whether it
    /// exists.
    #[inline]
    pub fn place(self, index: u32) -> (usize, bool) {
        let before = self.bitmap & ((1 << index) - 1);
        (before.count_ones() as usize, self.bitmap >> index & 1 == 1)
    }
}

/// The kinds of children.
pub enum MapChild<'h> {
    Leaf(Term<'h>, Term<'h>),
    Node(MapNode<'h>),
}

#[inline]
pub fn child(t: Term<'_>) -> MapChild<'_> {
    match t.as_cons() {
        Some(c) => MapChild::Leaf(c.head(), c.tail()),
        None => MapChild::Node(node(t)),
    }
}

#[inline]
fn node(t: Term<'_>) -> MapNode<'_> {
    match t.boxed() {
        // SAFETY: a child that is no cell is a node, whose words are all terms.
        Some((h, p)) => unsafe { raw_node(h, p) },
        None => MapNode { bitmap: 0, children: &[] },
    }
}

/// # Safety
/// `p` points to a HAMT object with header `h`.
unsafe fn raw_node<'h>(h: u64, p: *const u64) -> MapNode<'h> {
    let skip = (header_own(h) & ROOT != 0) as usize;
    let n = header_words(h) - skip;
    // SAFETY: n children follow the header and, in a root, the size.
    let children = unsafe { std::slice::from_raw_parts(p.add(1 + skip).cast(), n) };
    MapNode { bitmap: header_own(h) & (0xFFFF | COLLISION), children }
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
    pub fn root(self) -> Option<MapNode<'h>> {
        // SAFETY: a map that is not flat is a root node.
        (!self.is_flat()).then(|| unsafe { raw_node(*self.as_ptr(), self.as_ptr()) })
    }
    /// The root of a large map, or the node if this is one within a large map.
    pub fn node(self) -> Option<MapNode<'h>> {
        self.root()
    }
    /// Whether it is a node within a large map. Only code that counts words ever encounters one.
    pub fn is_node(self) -> bool {
        // SAFETY: a map's first word is its header.
        !self.is_flat() && header_own(unsafe { *self.as_ptr() }) & ROOT == 0
    }
    pub fn term(self) -> Term<'h> {
        // SAFETY: the address of a map's header, tagged.
        unsafe { Term::from_word(self.as_ptr() as u64 + TAG_BOXED) }
    }
}

/// Keys and values: of a flat map in the order of the keys, of a large one in the tree's order.
pub fn iter(m: Map<'_>) -> Iter<'_> {
    match m.flat() {
        Some((keys, values)) => {
            Iter { flat: keys.iter().zip(values), stack: Vec::new(), from_end: false }
        }
        None => large(m, false),
    }
}
/// Keys and values of a large map from its end; none of a flat one.
pub fn iter_reversed(m: Map<'_>) -> Iter<'_> {
    large(m, true)
}
fn large(m: Map<'_>, from_end: bool) -> Iter<'_> {
    let children = m.root().map_or(&[][..], |r| r.children);
    Iter { flat: [].iter().zip(&[]), stack: vec![children], from_end }
}

pub struct Iter<'h> {
    flat: std::iter::Zip<std::slice::Iter<'h, Term<'h>>, std::slice::Iter<'h, Term<'h>>>,
    stack: Vec<&'h [Term<'h>]>,
    from_end: bool,
}

impl<'h> Iterator for Iter<'h> {
    type Item = (Term<'h>, Term<'h>);
    fn next(&mut self) -> Option<Self::Item> {
        if let Some((k, v)) = self.flat.next() {
            return Some((*k, *v));
        }
        loop {
            let top = self.stack.last_mut()?;
            let next = if self.from_end { top.split_last() } else { top.split_first() };
            let Some((first, rest)) = next else {
                self.stack.pop();
                continue;
            };
            *top = rest;
            match child(*first) {
                MapChild::Leaf(k, v) => return Some((k, v)),
                MapChild::Node(n) => self.stack.push(n.children),
            }
        }
    }
}
