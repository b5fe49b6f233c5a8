//! The nodes of a tree: leaves hold the objects in the order of their keys, inner nodes say in which of
//! their children a key is. All leaves are equally far from the root.

use std::cmp::Ordering;

use kvik_heap::OwnedTerm;
use kvik_term::Term;
use smallvec::SmallVec;

use super::guess::Guess;
use super::key_code::{End, KeyCode};
use super::TreeBound;
use crate::linear_hash::key_of;
use crate::order;

/// Objects in a leaf, and children of an inner node, at most.
const FULL: usize = 32;
/// A node with fewer is joined with a neighbour, if the two then have no more than `JOINED`.
const FEW: usize = 8;
const JOINED: usize = 24;

/// What keys are compared with: a key, or before or behind all keys that a pattern may match.
pub(super) struct Target<'a> {
    bound: TreeBound<'a>,
    code: KeyCode,
    /// The bits of a key's code that count.
    mask: u128,
}

impl<'a> Target<'a> {
    #[inline]
    pub fn key(key: Term<'a>) -> Target<'a> {
        Target { bound: TreeBound::Key(key), code: KeyCode::of_key(key), mask: u128::MAX }
    }
    pub fn new(bound: TreeBound<'a>) -> Target<'a> {
        match bound {
            TreeBound::Key(key) => Target::key(key),
            TreeBound::Before(p) | TreeBound::Behind(p) => {
                let code = KeyCode::of_pattern(p);
                let unused = u128::MAX.checked_shr(code.used).unwrap_or(0);
                Target { bound, code, mask: !unused }
            }
        }
    }
    /// Compares a key whose code does not differ.
    fn order_of(&self, key: Term<'_>) -> Ordering {
        if self.code.end != End::Cut {
            return Ordering::Equal;
        }
        match self.bound {
            TreeBound::Key(k) => order::order(key, k),
            TreeBound::Before(p) | TreeBound::Behind(p) => order::partial(p, key).reverse(),
        }
    }
    /// How many of these keys are less, and how many are less or equal.
    #[inline]
    fn place<'t, T: Coded>(&self, all: &[T], key: impl Fn(usize) -> Term<'t>) -> (usize, usize) {
        let is_key = matches!(self.bound, TreeBound::Key(_));
        let (less, alike) = match is_key {
            true => self.alike(all, |c| c),
            false => self.alike(all, |c| c & self.mask),
        };
        if alike == 0 || self.code.end != End::Cut {
            return (less, less + alike);
        }
        let order = |i: usize| self.order_of(key(i));
        match self.bound {
            TreeBound::Before(_) => (first(less, less + alike, |i| order(i).is_ge()), less + alike),
            TreeBound::Behind(_) => (less, first(less, less + alike, |i| order(i).is_gt())),
            TreeBound::Key(_) => only(less, less + alike, order),
        }
    }
    /// How many codes are less, and how many after those are the same.
    #[inline(always)]
    fn alike<T: Coded>(&self, all: &[T], part: impl Fn(u128) -> u128) -> (usize, usize) {
        let wanted = self.code.bits;
        // Keys that only rise, or only fall, are beside all others.
        match all {
            [.., last] if part(last.code()) < wanted => return (all.len(), 0),
            [first, ..] if wanted < part(first.code()) => return (0, 0),
            _ => {}
        }
        let less = all.partition_point(|c| part(c.code()) < wanted);
        let others = all.get(less..).unwrap_or(&[]);
        let is_same = |c: &T| part(c.code()) == wanted;
        match others {
            [one, ..] if !is_same(one) => (less, 0),
            [_, next, ..] if is_same(next) => (less, others.partition_point(is_same)),
            _ => (less, others.len().min(1)),
        }
    }
    /// Whether this is the key, whose code this is.
    fn is(&self, code: u128, key: Term<'_>) -> bool {
        code == self.code.bits && self.order_of(key).is_eq()
    }
}

/// The first index from which on it is true.
fn first(mut from: usize, mut to: usize, is: impl Fn(usize) -> bool) -> usize {
    while from < to {
        let middle = from.midpoint(to);
        match is(middle) {
            true => to = middle,
            false => from = middle + 1,
        }
    }
    from
}
/// The indices of the one that is equal; or where it would be, twice.
fn only(mut from: usize, mut to: usize, order: impl Fn(usize) -> Ordering) -> (usize, usize) {
    while from < to {
        let middle = from.midpoint(to);
        match order(middle) {
            Ordering::Less => from = middle + 1,
            Ordering::Equal => return (middle, middle + 1),
            Ordering::Greater => to = middle,
        }
    }
    (from, from)
}

/// A position between the keys of a tree: before or behind those that are equal to the target.
pub(super) struct Edge<'a> {
    target: Target<'a>,
    is_behind: bool,
}

impl<'a> Edge<'a> {
    /// `is_behind` says on which side of its equal a key is; of a pattern the bound itself says it.
    pub fn new(bound: TreeBound<'a>, is_behind: bool) -> Edge<'a> {
        let is_behind = match bound {
            TreeBound::Key(_) => is_behind,
            TreeBound::Before(_) => false,
            TreeBound::Behind(_) => true,
        };
        Edge { target: Target::new(bound), is_behind }
    }
    pub fn target(&self) -> &Target<'a> {
        &self.target
    }
    fn side(&self, (less, equal): (usize, usize)) -> usize {
        if self.is_behind {
            equal
        } else {
            less
        }
    }
}

/// Has a key, whose code this is.
trait Coded {
    fn code(&self) -> u128;
}
impl Coded for Row {
    #[inline(always)]
    fn code(&self) -> u128 {
        self.code
    }
}
impl Coded for u128 {
    #[inline(always)]
    fn code(&self) -> u128 {
        *self
    }
}

/// An object and the code of its key.
pub(super) struct Row {
    code: u128,
    object: OwnedTerm,
}

impl Row {
    pub fn into_object(self) -> OwnedTerm {
        self.object
    }
}

#[derive(Default)]
pub(super) struct Leaf {
    rows: Vec<Row>,
}

impl Leaf {
    pub fn len(&self) -> usize {
        self.rows.len()
    }
    #[inline]
    pub fn object(&self, i: usize) -> Option<&OwnedTerm> {
        self.rows.get(i).map(|row| &row.object)
    }
    fn key(&self, i: usize, keypos: usize) -> Term<'_> {
        self.object(i).map_or(Term::NIL, |o| key_of(o.term(), keypos))
    }
    #[inline]
    fn place(&self, target: &Target<'_>, keypos: usize) -> (usize, usize) {
        target.place(&self.rows, |i| self.key(i, keypos))
    }
    /// The index of the first object behind the edge.
    pub fn edge(&self, edge: &Edge<'_>, keypos: usize) -> usize {
        edge.side(self.place(&edge.target, keypos))
    }
    fn find(&self, target: &Target<'_>, keypos: usize) -> Option<usize> {
        let (at, behind) = self.place(target, keypos);
        (at < behind).then_some(at)
    }
    fn insert(&mut self, at: usize, row: Row, keypos: usize) -> Option<Split> {
        if self.len() < FULL {
            self.rows.insert(at, row);
            return None;
        }
        let mut rows = Vec::with_capacity(FULL);
        let middle = middle(at);
        rows.extend(self.rows.drain(middle..));
        match at.checked_sub(middle).filter(|_| middle > 0) {
            Some(at) => rows.insert(at, row),
            None => self.rows.insert(at, row),
        }
        let behind = Leaf { rows };
        let (code, separator) = (behind.rows.first()?.code, OwnedTerm::new(behind.key(0, keypos)));
        Some((code, Child { separator, node: Node::Leaf(behind) }))
    }
}

/// Where a full node is split that grows at an index. One that grows at an end stays full: keys often
/// only rise, or only fall.
fn middle(at: usize) -> usize {
    match at {
        0 => 0,
        FULL => FULL,
        _ => FULL / 2,
    }
}

/// A child of an inner node, and what is less than or equal to its keys and greater than those before
/// it. Of the first child that is of no use.
pub(super) struct Child {
    separator: OwnedTerm,
    node: Node,
}

pub(super) struct Inner {
    /// The codes of the separators.
    codes: Vec<u128>,
    children: Vec<Child>,
}

pub(super) enum Node {
    Leaf(Leaf),
    Inner(Box<Inner>),
}

impl Default for Node {
    fn default() -> Node {
        Node::Leaf(Leaf::default())
    }
}

/// A node that was split off, and its least key's code.
type Split = (u128, Child);

impl Inner {
    pub fn len(&self) -> usize {
        self.children.len()
    }
    #[inline]
    pub fn child(&self, i: usize) -> Option<&Node> {
        self.children.get(i).map(|c| &c.node)
    }
    #[inline]
    fn place(&self, target: &Target<'_>) -> (usize, usize) {
        let separators = self.codes.get(1..).unwrap_or(&[]);
        target.place(separators, |i| {
            self.children.get(i + 1).map_or(Term::NIL, |c| c.separator.term())
        })
    }
    /// The index of the child that may have the key.
    #[inline]
    fn place_of(&self, target: &Target<'_>) -> usize {
        self.place(target).1
    }
    /// The index of the child in which, or at whose end, the edge is.
    pub fn edge(&self, edge: &Edge<'_>) -> usize {
        edge.side(self.place(&edge.target))
    }
    fn insert(&mut self, at: usize, (code, child): Split) -> Option<Split> {
        self.codes.insert(at, code);
        self.children.insert(at, child);
        if self.len() <= FULL {
            return None;
        }
        let middle = if at == FULL { FULL } else { FULL / 2 };
        let (mut codes, mut children) =
            (Vec::with_capacity(FULL + 1), Vec::with_capacity(FULL + 1));
        codes.extend(self.codes.drain(middle..));
        children.extend(self.children.drain(middle..));
        let (code, first) = (*codes.first()?, children.first_mut()?);
        let separator = std::mem::replace(&mut first.separator, OwnedTerm::new(Term::NIL));
        Some((code, Child { separator, node: Node::Inner(Box::new(Inner { codes, children })) }))
    }
    /// Removes a child that became empty, or joins one that has few objects or children with a
    /// neighbour.
    fn settle(&mut self, i: usize) {
        let len = |i: usize| self.children.get(i).map(|c| c.node.len());
        match len(i) {
            Some(0) => {
                self.children.remove(i);
                self.codes.remove(i);
            }
            Some(n) if n < FEW => {
                let fits = |other: Option<usize>| other.is_some_and(|m| n + m <= JOINED);
                if fits(len(i + 1)) {
                    self.join(i);
                } else if i > 0 && fits(len(i - 1)) {
                    self.join(i - 1);
                }
            }
            _ => {}
        }
    }
    /// Joins a child with the one behind it.
    fn join(&mut self, i: usize) {
        let (code, next) = (self.codes.remove(i + 1), self.children.remove(i + 1));
        match (self.children.get_mut(i).map(|c| &mut c.node), next.node) {
            (Some(Node::Leaf(a)), Node::Leaf(mut b)) => {
                a.rows.append(&mut b.rows);
            }
            (Some(Node::Inner(a)), Node::Inner(mut b)) => {
                if let (Some(c), Some(first)) = (b.codes.first_mut(), b.children.first_mut()) {
                    (*c, first.separator) = (code, next.separator);
                }
                a.codes.append(&mut b.codes);
                a.children.append(&mut b.children);
            }
            _ => {}
        }
    }
}

impl Node {
    fn len(&self) -> usize {
        match self {
            Node::Leaf(leaf) => leaf.len(),
            Node::Inner(inner) => inner.len(),
        }
    }
    /// The leaf that may have the key.
    #[inline]
    fn leaf_of(&self, target: &Target<'_>) -> Option<&Leaf> {
        let mut node = self;
        loop {
            match node {
                Node::Leaf(leaf) => return Some(leaf),
                Node::Inner(inner) => node = inner.child(inner.place_of(target))?,
            }
        }
    }
    #[inline]
    pub fn find(&self, target: &Target<'_>, keypos: usize) -> Option<&OwnedTerm> {
        let leaf = self.leaf_of(target)?;
        leaf.object(leaf.find(target, keypos)?)
    }
    pub fn find_mut(&mut self, target: &Target<'_>, keypos: usize) -> Option<&mut OwnedTerm> {
        let mut node = self;
        loop {
            match node {
                Node::Leaf(leaf) => {
                    let i = leaf.find(target, keypos)?;
                    return leaf.rows.get_mut(i).map(|row| &mut row.object);
                }
                Node::Inner(inner) => {
                    let i = inner.place_of(target);
                    node = &mut inner.children.get_mut(i)?.node;
                }
            }
        }
    }
    /// The first object, or the last one.
    pub fn outermost(&self, is_last: bool) -> Option<&OwnedTerm> {
        let mut node = self;
        let end = |n: usize| if is_last { n.wrapping_sub(1) } else { 0 };
        loop {
            match node {
                Node::Leaf(leaf) => return leaf.object(end(leaf.len())),
                Node::Inner(inner) => node = inner.child(end(inner.len()))?,
            }
        }
    }
    /// The object behind an edge, or the one before it.
    pub fn beside(&self, edge: &Edge<'_>, keypos: usize, is_before: bool) -> Option<&OwnedTerm> {
        let (mut node, mut neighbour, mut guess) = (self, None, Guess::new());
        let step = |i: usize| if is_before { i.wrapping_sub(1) } else { i + 1 };
        loop {
            match node {
                Node::Leaf(leaf) => {
                    let i = leaf.edge(edge, keypos);
                    let i = if is_before { i.wrapping_sub(1) } else { i };
                    guess.push(i);
                    guess.keep();
                    let here = leaf.object(i);
                    return here.or_else(|| Node::outermost(neighbour?, is_before));
                }
                Node::Inner(inner) => {
                    let i = inner.edge(edge);
                    guess.push(i);
                    neighbour = inner.child(step(i)).or(neighbour);
                    node = inner.child(i)?;
                }
            }
        }
    }
    /// The leaf that this thread's last step led to, and the index of the object there, if that is the
    /// key's.
    fn guessed(
        &self,
        guess: &mut Guess,
        key: &Target<'_>,
        keypos: usize,
    ) -> Option<(&Leaf, usize)> {
        let mut node = self;
        loop {
            match node {
                Node::Leaf(leaf) => {
                    let i = guess.next();
                    let is_here = key.is(leaf.rows.get(i)?.code, leaf.key(i, keypos));
                    return is_here.then_some((leaf, i));
                }
                Node::Inner(inner) => node = inner.child(guess.next())?,
            }
        }
    }
    /// What `beside` finds, for a key whose object is where this thread's last such step led, if the
    /// other one is in the same leaf.
    pub fn beside_guessed(
        &self,
        key: &Target<'_>,
        keypos: usize,
        is_before: bool,
    ) -> Option<&OwnedTerm> {
        let guess = Guess::kept();
        let mut rest = guess;
        let (leaf, i) = self.guessed(&mut rest, key, keypos)?;
        let object = leaf.object(if is_before { i.checked_sub(1)? } else { i + 1 })?;
        guess.moved(&rest, is_before).keep();
        Some(object)
    }
    /// What `find` finds, if this thread's last step led there, and no look-up has been elsewhere since.
    #[inline]
    pub fn find_guessed(&self, key: &Target<'_>, keypos: usize) -> Option<&OwnedTerm> {
        let mut guess = Guess::fresh()?;
        let found = self.guessed(&mut guess, key, keypos);
        if found.is_none() {
            Guess::spoil();
        }
        found.and_then(|(leaf, i)| leaf.object(i))
    }
    /// Where a key is, or would be inserted.
    pub fn path(&self, target: &Target<'_>, keypos: usize) -> Path {
        let (mut node, mut children) = (self, SmallVec::new());
        loop {
            match node {
                Node::Leaf(leaf) => {
                    let (at, behind) = leaf.place(target, keypos);
                    return Path { children, at, is_found: at < behind };
                }
                Node::Inner(inner) => {
                    let i = inner.place_of(target);
                    children.push(i);
                    let Some(child) = inner.child(i) else {
                        return Path { children, at: 0, is_found: false };
                    };
                    node = child;
                }
            }
        }
    }
    /// Inserts an object, or replaces that of its key, which is returned.
    pub fn put(&mut self, object: OwnedTerm, keypos: usize) -> Option<OwnedTerm> {
        let (path, code) = {
            let target = Target::key(key_of(object.term(), keypos));
            (self.path(&target, keypos), target.code.bits)
        };
        let row = Row { code, object };
        if path.is_found {
            return self.replace(row, &path);
        }
        if let Some(split) = self.insert(row, path.at, &path.children, keypos) {
            let first = Child { separator: OwnedTerm::new(Term::NIL), node: std::mem::take(self) };
            let (codes, children) = (vec![0, split.0], vec![first, split.1]);
            *self = Node::Inner(Box::new(Inner { codes, children }));
        }
        None
    }
    fn replace(&mut self, row: Row, path: &Path) -> Option<OwnedTerm> {
        let mut node = self;
        for i in &path.children {
            let Node::Inner(inner) = node else { return None };
            node = &mut inner.children.get_mut(*i)?.node;
        }
        let Node::Leaf(leaf) = node else { return None };
        Some(std::mem::replace(leaf.rows.get_mut(path.at)?, row).object)
    }
    /// What no longer fits is split off.
    fn insert(&mut self, row: Row, at: usize, children: &[usize], keypos: usize) -> Option<Split> {
        match (self, children) {
            (Node::Leaf(leaf), _) => leaf.insert(at, row, keypos),
            (Node::Inner(inner), [i, rest @ ..]) => {
                let node = &mut inner.children.get_mut(*i)?.node;
                let split = node.insert(row, at, rest, keypos)?;
                inner.insert(i + 1, split)
            }
            (Node::Inner(_), []) => None,
        }
    }
    /// Removes the object of a key.
    pub fn take(&mut self, target: &Target<'_>, keypos: usize) -> Option<OwnedTerm> {
        let path = self.path(target, keypos);
        if !path.is_found {
            return None;
        }
        let object = self.remove(path.at, &path.children);
        while let Node::Inner(inner) = self {
            match inner.len() {
                0 => *self = Node::default(),
                1 => *self = inner.children.pop()?.node,
                _ => break,
            }
        }
        object
    }
    fn remove(&mut self, at: usize, children: &[usize]) -> Option<OwnedTerm> {
        match (self, children) {
            (Node::Leaf(leaf), _) if at < leaf.len() => Some(leaf.rows.remove(at).object),
            (Node::Inner(inner), [i, rest @ ..]) => {
                let object = inner.children.get_mut(*i)?.node.remove(at, rest);
                inner.settle(*i);
                object
            }
            _ => None,
        }
    }
    /// Moves this node's objects or children out.
    pub fn into_parts(self) -> Parts {
        match self {
            Node::Leaf(leaf) => Parts::Rows(leaf.rows.into_iter()),
            Node::Inner(inner) => {
                Parts::Nodes(inner.children.into_iter().map(|c| c.node).collect())
            }
        }
    }
}

pub(super) enum Parts {
    Rows(std::vec::IntoIter<Row>),
    Nodes(Vec<Node>),
}

/// Which child of each inner node, and the index in the leaf.
pub(super) struct Path {
    children: SmallVec<[usize; 8]>,
    at: usize,
    is_found: bool,
}
