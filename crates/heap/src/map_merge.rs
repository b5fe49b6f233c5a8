//! Merging two large maps: their trees are walked in parallel, a child at a time. Subtrees that
//! only one of them has are shared, and so is a node to which the other adds nothing.

use std::cmp::Ordering;

use kvik_term::map::{child, find_below, MapChild, MapNode, Path, COLLISION};
use kvik_term::{cmp, Map, Term};

use crate::map::{Put, WIDTH};
use crate::Heap;

/// Two nodes at the same position, and the results for their children so far.
struct Frame<'h> {
    /// The nodes as terms; for roots the maps.
    terms: [Term<'h>; 2],
    nodes: [MapNode<'h>; 2],
    /// Bitmap of the indices still to be merged.
    todo: u32,
    children: [Term<'h>; WIDTH],
    n: usize,
    /// It lies in a subtree that both maps share, which OTP does not enter.
    shared: bool,
}

impl<'h> Frame<'h> {
    fn new(terms: [Term<'h>; 2], nodes: [MapNode<'h>; 2]) -> Frame<'h> {
        let todo = (nodes[0].bitmap | nodes[1].bitmap) & ((1 << WIDTH) - 1);
        let shared = terms[0].same(terms[1]);
        Frame { terms, nodes, todo, children: [Term::NIL; WIDTH], n: 0, shared }
    }
    fn add(&mut self, t: Term<'h>) {
        self.children[self.n] = t;
        self.n += 1;
    }
    /// The next index, and the children there.
    fn next(&mut self) -> Option<[Option<Term<'h>>; 2]> {
        if self.todo == 0 {
            return None;
        }
        let index = self.todo.trailing_zeros();
        self.todo &= self.todo - 1;
        Some(self.nodes.map(|n| {
            let (place, there) = n.place(index);
            n.children.get(place).filter(|_| there).copied()
        }))
    }
    /// The node of all children: one of the two if its children are the same.
    fn finish(&self, h: &'h Heap, root_of: Option<usize>) -> Term<'h> {
        let children = &self.children[..self.n];
        let is = |n: &MapNode<'h>| {
            n.children.len() == self.n && n.children.iter().zip(children).all(|(a, b)| a.same(*b))
        };
        match self.nodes.iter().rposition(is) {
            Some(i) => self.terms[i],
            None => h.hamt_node(self.nodes[0].bitmap | self.nodes[1].bitmap, root_of, &[children]),
        }
    }
}

/// A merge of two large maps; for keys in both the second map's value wins.
pub struct MapMerge<'h> {
    frames: Vec<Frame<'h>>,
    /// The level of the last frame's children.
    levels: Vec<Path<'h>>,
    /// Number of distinct keys of both maps, as far as known.
    keys: usize,
    /// Steps as OTP counts them.
    charged: usize,
}

impl<'h> MapMerge<'h> {
    /// `None` if one of them is no large map.
    pub fn new(a: Map<'h>, b: Map<'h>) -> Option<MapMerge<'h>> {
        let root = Frame::new([a.term(), b.term()], [a.root()?, b.root()?]);
        let levels = vec![Path::at_first_level().down()];
        Some(MapMerge { frames: vec![root], levels, keys: a.len() + b.len(), charged: 1 })
    }
    /// Steps that count as in OTP, of which `rate` make a reduction: takes all whole reductions.
    pub fn take_reductions(&mut self, rate: usize) -> usize {
        let all = self.charged / rate;
        self.charged %= rate;
        all
    }

    /// Continues for about that many steps, one for a child and more for two, and subtracts those
    /// it used. Returns the map when it is finished. These steps measure time, of which a child
    /// that only one map has takes some too; in OTP it counts nothing.
    pub fn run(&mut self, h: &'h Heap, steps: &mut usize) -> Option<Term<'h>> {
        while *steps > 0 {
            *steps -= 1;
            let level = *self.levels.last()?;
            let top = self.frames.last_mut()?;
            let done = match top.next() {
                Some([Some(a), Some(b)]) => match (child(a), child(b)) {
                    (MapChild::Node(x), MapChild::Node(y)) if !level.is_collision() => {
                        let mut frame = Frame::new([a, b], [x, y]);
                        self.charged += !frame.shared as usize;
                        frame.shared |= top.shared;
                        self.frames.push(frame);
                        self.levels.push(level.down());
                        continue;
                    }
                    _ => {
                        *steps = steps.saturating_sub(LOOKED_AT);
                        if !top.shared {
                            self.charged += charge([a, b], level);
                        }
                        let (t, both) = together(h, [a, b], level, steps);
                        self.keys -= both;
                        t
                    }
                },
                Some([a, b]) => a.or(b)?,
                None => {
                    let root_of = (self.frames.len() == 1).then_some(self.keys);
                    let node = self.frames.pop()?.finish(h, root_of);
                    self.levels.pop();
                    let Some(parent) = self.frames.last() else { return Some(node) };
                    self.charged += !parent.shared as usize;
                    node
                }
            };
            self.frames.last_mut()?.add(done);
        }
        None
    }
}

/// Steps for two children that are compared, which may not be in the CPU's cache.
const LOOKED_AT: usize = 2;
/// Steps for inserting a single leaf into a node of the other map.
const PUT: usize = 8;

/// OTP's steps for two children of which one is a leaf, or two collision nodes: one for the result,
/// and two for each node that both paths enter.
fn charge<'h>([a, b]: [Term<'h>; 2], mut level: Path<'h>) -> usize {
    let (key, mut other) = match (child(a), child(b)) {
        _ if a.same(b) => return 1,
        (MapChild::Leaf(k, _), _) => (k, b),
        (_, MapChild::Leaf(k, _)) => (k, a),
        (MapChild::Node(x), MapChild::Node(y)) => return x.children.len() + y.children.len(),
    };
    let mut steps = 0;
    loop {
        let path = Path::at_level_of(key, level);
        steps += 2;
        match child(other) {
            MapChild::Leaf(k, _) if cmp::eq_exact(k, key) => return steps - 1,
            MapChild::Leaf(k, _) if Path::at_level_of(k, level).index() != path.index() => {
                return steps
            }
            MapChild::Leaf(..) => {}
            MapChild::Node(node) => {
                let (place, there) = node.place(path.index());
                match node.children.get(place).filter(|_| there) {
                    Some(t) => other = *t,
                    None => return steps,
                }
            }
        }
        if path.is_collision() {
            return steps;
        }
        level = level.down();
    }
}

/// Merges two children of which one is a leaf, or two collision nodes; returns also how many keys
/// both have.
fn together<'h>(
    h: &'h Heap,
    [a, b]: [Term<'h>; 2],
    level: Path<'h>,
    steps: &mut usize,
) -> (Term<'h>, usize) {
    let put = |key, value, leaf| Put { key, value, leaf };
    match (child(a), child(b)) {
        (MapChild::Leaf(k, _), MapChild::Leaf(l, _)) if cmp::eq_exact(k, l) => (b, 1),
        (MapChild::Leaf(k, _), MapChild::Leaf(l, _)) => {
            let mut two = [(Path::at_level_of(k, level), a), (Path::at_level_of(l, level), b)];
            (h.branch(&mut two, None), 0)
        }
        (MapChild::Leaf(k, v), MapChild::Node(n)) => {
            *steps = steps.saturating_sub(PUT);
            let path = Path::at_level_of(k, level);
            match find_below(n, path) {
                Some(_) => (b, 1),
                None => (h.node_put(n, path, &put(k, v, a), None).map_or(b, |(t, _)| t), 0),
            }
        }
        (MapChild::Node(n), MapChild::Leaf(k, v)) => {
            *steps = steps.saturating_sub(PUT);
            match h.node_put(n, Path::at_level_of(k, level), &put(k, v, b), None) {
                Some((t, added)) => (t, !added as usize),
                None => (a, 1),
            }
        }
        (MapChild::Node(x), MapChild::Node(y)) => collisions(h, x.children, y.children, steps),
    }
}

/// A node of the cells of both, merged in key order.
fn collisions<'h>(
    h: &'h Heap,
    mut a: &[Term<'h>],
    mut b: &[Term<'h>],
    steps: &mut usize,
) -> (Term<'h>, usize) {
    let key = |t: &Term<'h>| t.as_cons().map_or(Term::NIL, |c| c.head());
    let (mut cells, mut both) = (Vec::with_capacity(a.len() + b.len()), 0);
    while let ([x, xs @ ..], [y, ys @ ..]) = (a, b) {
        match cmp::compare_exact(key(x), key(y)) {
            Ordering::Less => {
                cells.push(*x);
                a = xs;
            }
            order => {
                cells.push(*y);
                b = ys;
                if order == Ordering::Equal {
                    a = xs;
                    both += 1;
                }
            }
        }
    }
    cells.extend_from_slice(a);
    cells.extend_from_slice(b);
    *steps = steps.saturating_sub(cells.len());
    (h.hamt_node(COLLISION, None, &[&cells]), both)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map_tests::colliding;
    use kvik_term::map;

    fn merged<'h>(h: &'h Heap, a: Term<'h>, b: Term<'h>, step: usize) -> Term<'h> {
        let mut m = MapMerge::new(a.as_map().unwrap(), b.as_map().unwrap()).unwrap();
        loop {
            if let Some(t) = m.run(h, &mut step.clone()) {
                return t;
            }
        }
    }
    fn of<'h>(h: &'h Heap, keys: &[Term<'h>], value: i32) -> Term<'h> {
        h.map(&keys.iter().map(|k| (*k, Term::int(value))).collect::<Vec<_>>())
    }

    /// Equals the map, of the same shape, from putting the pairs one by one, for steps of any size.
    #[test]
    fn merging_equals_many_puts() {
        let h = Heap::new(64);
        let n = if cfg!(miri) { 150 } else { 20_000 };
        let mut all: Vec<_> = (0..n).map(|i| Term::int(i as i32)).collect();
        all.extend(colliding(&h, 200));
        let cases = [
            (1, 0..100, 50..150),
            (7, 0..n, 100..140),
            (1000, 100..140, 0..n),
            (usize::MAX, 0..n / 2, n / 2..n + 200),
            (50, n / 4..n + 150, n / 4 * 3..n + 200),
            (3, n..n + 100, n + 50..n + 200),
            (3, n..n + 100, n + 150..n + 200),
            (9, 0..n / 40, 0..n / 40),
        ];
        for (step, a, b) in cases.into_iter().step_by(if cfg!(miri) { 8 } else { 1 }) {
            let (a, b) = (&all[a], &all[b]);
            let (x, y) = (of(&h, a, 1), of(&h, b, 2));
            let want = b.iter().fold(x, |m, k| h.map_put(m.as_map().unwrap(), *k, Term::int(2)));
            let got = merged(&h, x, y, step);
            assert!(cmp::eq_exact(got, want));
            let shape = |t: Term<'_>| {
                let m = t.as_map().unwrap();
                (
                    m.len(),
                    map::iter(m).map(|p| (p.0.as_small(), p.1.as_small())).collect::<Vec<_>>(),
                )
            };
            assert_eq!(shape(got), shape(want));
        }
    }

    #[test]
    fn merging_a_few_keys_makes_few_words() {
        let h = Heap::new(64);
        let keys: Vec<_> = (0..if cfg!(miri) { 100 } else { 100_000 }).map(Term::int).collect();
        let (large, few) = (of(&h, &keys, 1), of(&h, &keys[50..90], 2));
        let before = h.sizes().used;
        let merged_both = [merged(&h, large, few, usize::MAX), merged(&h, few, large, usize::MAX)];
        assert!(h.sizes().used - before < 40 * 200);
        assert!(merged_both[1].same(large));
        assert_eq!(merged_both[0].as_map().unwrap().len(), keys.len());
    }
}
