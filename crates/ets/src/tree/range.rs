//! Walks through a tree, from both ends.

use kvik_heap::OwnedTerm;
use kvik_term::Term;
use smallvec::SmallVec;

use super::node::{Edge, Inner, Leaf, Node, Parts, Row};
use crate::linear_hash::key_of;

/// An object of a table.
#[derive(Copy, Clone)]
pub struct TreeRow<'t> {
    object: Term<'t>,
    keypos: usize,
}

impl<'t> TreeRow<'t> {
    pub fn object(self) -> Term<'t> {
        self.object
    }
    pub fn key(self) -> Term<'t> {
        key_of(self.object, self.keypos)
    }
}

/// A position before an object of a leaf. Behind a leaf's last object it is only in the last leaf.
#[derive(Clone)]
struct Position<'t> {
    /// The inner nodes above the leaf, and which of their children leads to it.
    above: SmallVec<[(&'t Inner, usize); 6]>,
    leaf: &'t Leaf,
    at: usize,
}

impl<'t> Position<'t> {
    /// The first position below a node, or the one behind its last object.
    fn descend(&mut self, mut node: &'t Node, to_end: bool) {
        loop {
            match node {
                Node::Leaf(leaf) => {
                    self.leaf = leaf;
                    self.at = if to_end { leaf.len() } else { 0 };
                    return;
                }
                Node::Inner(inner) => {
                    let i = if to_end { inner.len().saturating_sub(1) } else { 0 };
                    self.above.push((inner, i));
                    let Some(child) = inner.child(i) else { return };
                    node = child;
                }
            }
        }
    }
    fn at_end_of(root: &'t Node, nowhere: &'t Leaf, is_last: bool) -> Position<'t> {
        let mut here = Position { above: SmallVec::new(), leaf: nowhere, at: 0 };
        here.descend(root, is_last);
        here
    }
    fn at_edge(root: &'t Node, nowhere: &'t Leaf, edge: &Edge<'_>, keypos: usize) -> Position<'t> {
        let mut here = Position { above: SmallVec::new(), leaf: nowhere, at: 0 };
        let mut node = root;
        loop {
            match node {
                Node::Leaf(leaf) => {
                    (here.leaf, here.at) = (leaf, leaf.edge(edge, keypos));
                    here.leave_end();
                    return here;
                }
                Node::Inner(inner) => {
                    let i = inner.edge(edge);
                    here.above.push((inner, i));
                    let Some(child) = inner.child(i) else { return here };
                    node = child;
                }
            }
        }
    }
    /// Goes from the end of a leaf to the beginning of the next one.
    fn leave_end(&mut self) {
        if self.at < self.leaf.len() {
            return;
        }
        let Some(depth) = self.above.iter().rposition(|(inner, i)| i + 1 < inner.len()) else {
            return;
        };
        self.above.truncate(depth + 1);
        if let Some((inner, i)) = self.above.last_mut() {
            *i += 1;
            if let Some(child) = inner.child(*i) {
                self.descend(child, false);
            }
        }
    }
    /// Goes from the beginning of a leaf to the end of the one before it.
    fn leave_start(&mut self) {
        if self.at > 0 {
            return;
        }
        let Some(depth) = self.above.iter().rposition(|(_, i)| *i > 0) else { return };
        self.above.truncate(depth + 1);
        if let Some((inner, i)) = self.above.last_mut() {
            *i -= 1;
            if let Some(child) = inner.child(*i) {
                self.descend(child, true);
            }
        }
    }
    fn is_behind(&self, other: &Position<'_>) -> bool {
        let path = |p: &Position<'_>| -> SmallVec<[usize; 8]> {
            p.above.iter().map(|(_, i)| *i).chain([p.at]).collect()
        };
        path(self) > path(other)
    }
    fn is(&self, other: &Position<'_>) -> bool {
        self.at == other.at && std::ptr::eq(self.leaf, other.leaf)
    }
}

/// The objects between two positions, in order.
pub struct Range<'t> {
    front: Position<'t>,
    back: Position<'t>,
    keypos: usize,
}

/// Where a range begins or ends.
pub(super) enum Limit<'a> {
    Edge(Edge<'a>),
    /// The end of the table.
    None,
}

impl<'t> Range<'t> {
    pub(super) fn new(
        root: &'t Node,
        nowhere: &'t Leaf,
        (from, to): (Limit<'_>, Limit<'_>),
        keypos: usize,
    ) -> Range<'t> {
        let at = |limit: Limit<'_>, is_last| match limit {
            Limit::Edge(edge) => Position::at_edge(root, nowhere, &edge, keypos),
            Limit::None => Position::at_end_of(root, nowhere, is_last),
        };
        let (mut front, back) = (at(from, false), at(to, true));
        if front.is_behind(&back) {
            front = back.clone();
        }
        Range { front, back, keypos }
    }
    fn row(&self, object: &'t OwnedTerm) -> TreeRow<'t> {
        TreeRow { object: object.term(), keypos: self.keypos }
    }
}

impl<'t> Iterator for Range<'t> {
    type Item = TreeRow<'t>;

    fn next(&mut self) -> Option<TreeRow<'t>> {
        if self.front.is(&self.back) {
            return None;
        }
        let object = self.front.leaf.object(self.front.at)?;
        self.front.at += 1;
        self.front.leave_end();
        Some(self.row(object))
    }
    /// Passes whole leaves.
    fn nth(&mut self, n: usize) -> Option<TreeRow<'t>> {
        let mut n = n;
        while !std::ptr::eq(self.front.leaf, self.back.leaf) {
            let left = self.front.leaf.len() - self.front.at;
            if n < left {
                break;
            }
            n -= left;
            self.front.at = self.front.leaf.len();
            self.front.leave_end();
        }
        let last = match std::ptr::eq(self.front.leaf, self.back.leaf) {
            true => self.back.at,
            false => self.front.leaf.len(),
        };
        self.front.at = (self.front.at + n).min(last);
        self.next()
    }
}

impl<'t> DoubleEndedIterator for Range<'t> {
    fn next_back(&mut self) -> Option<TreeRow<'t>> {
        if self.front.is(&self.back) {
            return None;
        }
        self.back.leave_start();
        self.back.at = self.back.at.checked_sub(1)?;
        Some(self.row(self.back.leaf.object(self.back.at)?))
    }
}

/// All objects of a tree, which is freed on the way.
pub(crate) struct IntoObjects {
    /// Those still to come, the first ones last.
    nodes: Vec<Node>,
    rows: std::vec::IntoIter<Row>,
}

impl IntoObjects {
    pub(super) fn new(root: Node) -> IntoObjects {
        IntoObjects { nodes: vec![root], rows: Vec::new().into_iter() }
    }
}

impl Iterator for IntoObjects {
    type Item = OwnedTerm;

    fn next(&mut self) -> Option<OwnedTerm> {
        loop {
            if let Some(row) = self.rows.next() {
                return Some(row.into_object());
            }
            match self.nodes.pop()?.into_parts() {
                Parts::Rows(rows) => self.rows = rows,
                Parts::Nodes(nodes) => self.nodes.extend(nodes.into_iter().rev()),
            }
        }
    }
}
