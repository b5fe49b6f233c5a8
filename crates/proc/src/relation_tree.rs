//! [`RelationTree`]: a process's links, its monitors of others, and the processes it suspends, each
//! in a red-black tree with the shape of OTP's (which keeps the last two in one tree).
//!
//! A process that ends notifies its links, and then the processes it monitors, from the leaves of
//! OTP's trees to the root; `process_info/2` lists them in reverse. Both orders are observable: the
//! process notified first is runnable first. So insertion and deletion are the textbook's, as in
//! OTP, and the order follows the tree's shape, which depends on its history.
//!
//! One entry is stored inline, so that neither a server call, which sets up a monitor and takes it
//! down, nor a process with one link allocates. More entries are in a vector that keeps its
//! capacity, and refer to each other by index.

use std::cmp::Ordering;

pub enum RelationTree<K, V> {
    One(Option<(K, V)>),
    Many(Box<Nodes<K, V>>),
}

pub struct Nodes<K, V> {
    root: u32,
    nodes: Vec<Node<K, V>>,
}

struct Node<K, V> {
    key: K,
    value: V,
    parent: u32,
    /// Left and right child.
    child: [u32; 2],
    red: bool,
}

/// No node.
const NIL: u32 = u32::MAX;
const LEFT: usize = 0;
const RIGHT: usize = 1;
/// Capacity that an empty tree keeps, in nodes.
const KEPT_NODES: usize = 16;

impl<K, V> Default for RelationTree<K, V> {
    fn default() -> Self {
        RelationTree::One(None)
    }
}

impl<K: Ord + Copy, V> RelationTree<K, V> {
    #[inline]
    pub fn get(&self, k: &K) -> Option<&V> {
        match self {
            RelationTree::One(one) => one.as_ref().filter(|(key, _)| key == k).map(|(_, v)| v),
            RelationTree::Many(t) => t.find(k).ok().map(|i| &t.nodes[i as usize].value),
        }
    }
    #[inline]
    pub fn get_mut(&mut self, k: &K) -> Option<&mut V> {
        match self {
            RelationTree::One(one) => one.as_mut().filter(|(key, _)| key == k).map(|(_, v)| v),
            RelationTree::Many(t) => t.find(k).ok().map(|i| &mut t.nodes[i as usize].value),
        }
    }
    #[inline]
    pub fn contains_key(&self, k: &K) -> bool {
        self.get(k).is_some()
    }
    /// Inserts a value; returns the one that was there.
    #[inline]
    pub fn insert(&mut self, k: K, v: V) -> Option<V> {
        if let RelationTree::One(one @ None) = self {
            *one = Some((k, v));
            return None;
        }
        self.insert_further(k, v)
    }
    fn insert_further(&mut self, k: K, v: V) -> Option<V> {
        if let RelationTree::One(one) = self {
            match one {
                Some((key, old)) if *key == k => return Some(std::mem::replace(old, v)),
                _ => (),
            }
            let mut t = Nodes { root: NIL, nodes: Vec::new() };
            one.take().into_iter().for_each(|(k, v)| drop(t.insert(k, v)));
            *self = RelationTree::Many(Box::new(t));
        }
        match self {
            RelationTree::One(_) => None,
            RelationTree::Many(t) => t.insert(k, v),
        }
    }
    #[inline]
    pub fn remove(&mut self, k: &K) -> Option<V> {
        match self {
            RelationTree::One(one) => one.take_if(|(key, _)| key == k).map(|(_, v)| v),
            RelationTree::Many(_) => self.remove_further(k),
        }
    }
    fn remove_further(&mut self, k: &K) -> Option<V> {
        let RelationTree::Many(t) = self else { return None };
        let i = t.find(k).ok()?;
        let (_, v) = t.remove(i);
        if t.nodes.is_empty() && t.nodes.capacity() > KEPT_NODES {
            *self = RelationTree::default();
        }
        Some(v)
    }
    /// Removes the first entry in the order of [`RelationTree::iter`]. Must be called until none is
    /// left: the tree is no longer balanced.
    pub fn pop_first(&mut self) -> Option<(K, V)> {
        match self {
            RelationTree::One(one) => one.take(),
            RelationTree::Many(t) => {
                let i = t.first_leaf()?;
                let [parent, side] = [t.nodes[i as usize].parent, t.side(i) as u32];
                t.set_child(parent, side as usize, NIL);
                Some(t.take(i))
            }
        }
    }
    /// All entries in post-order, left before right.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        let (one, many) = match self {
            RelationTree::One(one) => (one.as_ref(), None),
            RelationTree::Many(t) => (None, Some(t)),
        };
        let many = many.into_iter().flat_map(|t| {
            t.order().into_iter().rev().map(|i| &t.nodes[i as usize]).map(|n| (&n.key, &n.value))
        });
        one.map(|(k, v)| (k, v)).into_iter().chain(many)
    }
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> {
        self.iter().map(|(_, v)| v)
    }
}

impl<K: Ord + Copy, V> Nodes<K, V> {
    /// The key's node; or the parent it would have, and on which side.
    fn find(&self, k: &K) -> Result<u32, (u32, usize)> {
        let (mut at, mut i) = ((NIL, LEFT), self.root);
        while i != NIL {
            let n = &self.nodes[i as usize];
            let side = match k.cmp(&n.key) {
                Ordering::Equal => return Ok(i),
                Ordering::Less => LEFT,
                Ordering::Greater => RIGHT,
            };
            (at, i) = ((i, side), n.child[side]);
        }
        Err(at)
    }
    fn insert(&mut self, key: K, value: V) -> Option<V> {
        let (parent, side) = match self.find(&key) {
            Ok(i) => return Some(std::mem::replace(&mut self.nodes[i as usize].value, value)),
            Err(at) => at,
        };
        let new = self.nodes.len() as u32;
        self.nodes.push(Node { key, value, parent, child: [NIL; 2], red: true });
        self.set_child(parent, side, new);
        self.part_reds(new);
        None
    }
    /// Restores balance after an insertion: `x` is red, and its parent may be too; moves that
    /// conflict up until it is resolved.
    fn part_reds(&mut self, mut x: u32) {
        while self.is_red(self.parent(x)) {
            let mut p = self.parent(x);
            // A red node is not the root, so `p` has a parent.
            let (g, side) = (self.parent(p), self.side(p));
            let uncle = self.child(g, 1 - side);
            if self.is_red(uncle) {
                self.set_red(p, false);
                self.set_red(uncle, false);
                self.set_red(g, true);
                x = g;
                continue;
            }
            if self.side(x) != side {
                self.rotate(p, side);
                p = x;
            }
            self.set_red(p, false);
            self.set_red(g, true);
            self.rotate(g, 1 - side);
            break;
        }
        self.set_red(self.root, false);
    }
    /// Removes a node and rebalances the tree.
    fn remove(&mut self, z: u32) -> (K, V) {
        let [left, right] = self.nodes[z as usize].child;
        // The node to unlink: one with at most one child.
        let mut y = z;
        if left != NIL && right != NIL {
            y = right;
            while self.child(y, LEFT) != NIL {
                y = self.child(y, LEFT);
            }
        }
        let x = self.nodes[y as usize].child.into_iter().find(|c| *c != NIL).unwrap_or(NIL);
        let (mut p, side, black) = (self.parent(y), self.side(y), !self.is_red(y));
        self.set_child(p, side, x);
        if y != z {
            // `y` takes the place of `z`, and its colour.
            let (above, side, red) = (self.parent(z), self.side(z), self.is_red(z));
            let children = self.nodes[z as usize].child;
            self.set_child(above, side, y);
            self.set_child(y, LEFT, children[LEFT]);
            self.set_child(y, RIGHT, children[RIGHT]);
            self.set_red(y, red);
            if p == z {
                p = y;
            }
        }
        if black {
            self.mend(x, p, side);
        }
        self.take(z)
    }
    /// Restores balance after a deletion: the paths through `x`, which is on that side of `p` and
    /// may be `NIL`, lack a black node.
    fn mend(&mut self, mut x: u32, mut p: u32, mut side: usize) {
        while p != NIL && !self.is_red(x) {
            let mut sibling = self.child(p, 1 - side);
            if self.is_red(sibling) {
                self.set_red(sibling, false);
                self.set_red(p, true);
                self.rotate(p, side);
                sibling = self.child(p, 1 - side);
            }
            let [near, far] = [self.child(sibling, side), self.child(sibling, 1 - side)];
            if !self.is_red(near) && !self.is_red(far) {
                self.set_red(sibling, true);
                x = p;
                (p, side) = (self.parent(x), self.side(x));
                continue;
            }
            if !self.is_red(far) {
                self.set_red(near, false);
                self.set_red(sibling, true);
                self.rotate(sibling, 1 - side);
                sibling = near;
            }
            self.set_red(sibling, self.is_red(p));
            self.set_red(p, false);
            self.set_red(self.child(sibling, 1 - side), false);
            self.rotate(p, side);
            return;
        }
        self.set_red(x, false);
    }
    /// Rotates: the child of `x` on the other side moves up, and `x` down to `side`.
    fn rotate(&mut self, x: u32, side: usize) {
        let y = self.child(x, 1 - side);
        if y == NIL {
            return;
        }
        let (above, at) = (self.parent(x), self.side(x));
        self.set_child(x, 1 - side, self.child(y, side));
        self.set_child(above, at, y);
        self.set_child(y, side, x);
    }
    /// Frees an unlinked node. The last one moves to its index.
    fn take(&mut self, i: u32) -> (K, V) {
        let n = self.nodes.swap_remove(i as usize);
        let moved = self.nodes.len() as u32;
        if let Some(m) = self.nodes.get(i as usize) {
            let ([left, right], parent) = (m.child, m.parent);
            let side =
                if parent != NIL && self.child(parent, RIGHT) == moved { RIGHT } else { LEFT };
            self.set_child(parent, side, i);
            self.set_child(i, LEFT, left);
            self.set_child(i, RIGHT, right);
        }
        (n.key, n.value)
    }
    /// The first leaf, left before right.
    fn first_leaf(&self) -> Option<u32> {
        let mut i = (self.root != NIL).then_some(self.root)?;
        while let Some(c) = self.nodes[i as usize].child.into_iter().find(|c| *c != NIL) {
            i = c;
        }
        Some(i)
    }
    /// All nodes in pre-order, right before left.
    fn order(&self) -> Vec<u32> {
        let mut order = Vec::with_capacity(self.nodes.len());
        let mut open = vec![self.root];
        while let Some(i) = open.pop() {
            if i != NIL {
                order.push(i);
                open.extend(self.nodes[i as usize].child);
            }
        }
        order
    }
    fn parent(&self, i: u32) -> u32 {
        self.nodes[i as usize].parent
    }
    fn child(&self, i: u32, side: usize) -> u32 {
        self.nodes[i as usize].child[side]
    }
    /// The side of its parent that it is on.
    fn side(&self, i: u32) -> usize {
        match self.parent(i) {
            NIL => LEFT,
            p => (self.child(p, RIGHT) == i) as usize,
        }
    }
    fn is_red(&self, i: u32) -> bool {
        self.nodes.get(i as usize).is_some_and(|n| n.red)
    }
    fn set_red(&mut self, i: u32, red: bool) {
        if let Some(n) = self.nodes.get_mut(i as usize) {
            n.red = red;
        }
    }
    /// A parent of `NIL` means the root.
    fn set_child(&mut self, i: u32, side: usize, child: u32) {
        match self.nodes.get_mut(i as usize) {
            Some(n) => n.child[side] = child,
            None => self.root = child,
        }
        if let Some(c) = self.nodes.get_mut(child as usize) {
            c.parent = i;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl<K: Ord + Copy, V> Nodes<K, V> {
        /// Checks the rules of a red-black tree; returns the number of black nodes on each path.
        fn check(&self) {
            assert!(!self.is_red(self.root));
            let mut depths = Vec::new();
            let mut open = vec![(self.root, NIL, 0, None, None)];
            while let Some((i, parent, blacks, low, high)) = open.pop() {
                if i == NIL {
                    depths.push(blacks);
                    continue;
                }
                let n = &self.nodes[i as usize];
                assert_eq!(n.parent, parent);
                assert!(low.is_none_or(|l| l < n.key) && high.is_none_or(|h| n.key < h));
                assert!(!n.red || n.child.iter().all(|c| !self.is_red(*c)));
                let blacks = blacks + !n.red as usize;
                open.push((n.child[LEFT], i, blacks, low, Some(n.key)));
                open.push((n.child[RIGHT], i, blacks, Some(n.key), high));
            }
            assert!(depths.iter().all(|d| *d == depths[0]));
        }
    }
    fn keys(t: &RelationTree<u32, u32>) -> Vec<u32> {
        t.iter().map(|(k, _)| *k).collect()
    }

    #[test]
    fn lists_keys_as_otp_does() {
        let mut t = RelationTree::default();
        // OTP's answers for that many links, in the order in which they were made.
        let lists: [&[u32]; 9] = [
            &[0],
            &[0, 1],
            &[1, 2, 0],
            &[1, 2, 3, 0],
            &[1, 3, 4, 2, 0],
            &[1, 3, 4, 5, 2, 0],
            &[1, 3, 5, 6, 4, 2, 0],
            &[3, 5, 6, 7, 4, 1, 2, 0],
            &[3, 5, 7, 8, 6, 4, 1, 2, 0],
        ];
        for (i, list) in (0..).zip(lists) {
            assert_eq!(t.insert(i, i), None);
            assert!(t.values().rev().eq(list));
        }
    }
    #[test]
    fn stays_balanced_under_random_changes() {
        let mut t: RelationTree<u32, u32> = RelationTree::default();
        let mut model = std::collections::BTreeMap::new();
        let mut x = 1u32;
        for round in 0..20_000u32 {
            x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let k = x >> 8 & if round / 5000 % 2 == 0 { 0xFF } else { 0xF };
            match x >> 24 & 1 {
                0 => assert_eq!(t.insert(k, round), model.insert(k, round)),
                _ => assert_eq!(t.remove(&k), model.remove(&k)),
            }
            assert_eq!(t.get(&k), model.get(&k));
            if let RelationTree::Many(n) = &t {
                n.check();
            }
        }
        let mut all = keys(&t);
        all.sort();
        assert!(all.iter().eq(model.keys()));
    }
    #[test]
    fn pops_in_the_order_it_lists() {
        for n in 0..40 {
            let mut t = RelationTree::default();
            (0..n).for_each(|i| assert!(t.insert(i * 7 % 41, i).is_none()));
            let all = keys(&t);
            let popped: Vec<u32> = std::iter::from_fn(|| t.pop_first()).map(|(k, _)| k).collect();
            assert_eq!(popped, all);
        }
    }
    #[test]
    fn empty_again() {
        let mut t: RelationTree<u32, u32> = RelationTree::default();
        for round in 0..2 {
            assert!((0..40).all(|i| t.insert(i, round).is_none()));
            assert_eq!(t.insert(3, 9), Some(round));
            assert!((0..40).all(|i| t.remove(&i).is_some() && t.remove(&i).is_none()));
            assert!(t.pop_first().is_none() && t.values().next().is_none());
        }
    }
}
