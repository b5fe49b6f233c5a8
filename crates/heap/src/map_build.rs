//! Building a large map of many pairs in steps.

use kvik_term::map::{child, MapChild, Path};
use kvik_term::word::FLAT_MAP_LIMIT;
use kvik_term::{cmp, hash, Term};

use crate::map::WIDTH;
use crate::Heap;

type Pair<'h> = (Term<'h>, Term<'h>);
/// Pairs with the hash of their key.
type Bucket<'h> = Vec<(u64, Pair<'h>)>;

/// Number of grandchildren of the root.
const BUCKETS: usize = WIDTH * WIDTH;
/// Up to this many pairs are built at once.
const SINGLE_PASS_PAIRS: usize = 1000;

/// A map under construction: pairs are added, then it is finished.
#[derive(Default)]
pub struct MapBuilder<'h> {
    /// All pairs while there are few.
    few: Vec<Pair<'h>>,
    /// Pairs by their path on the first two levels.
    buckets: Vec<Bucket<'h>>,
    /// How many buckets have been deduplicated, and the number of keys in them.
    checked: usize,
    keys: usize,
    /// Nodes built from the first buckets.
    children: Vec<Option<Term<'h>>>,
}

impl<'h> MapBuilder<'h> {
    /// The last of equal keys wins.
    pub fn add(&mut self, key: Term<'h>, value: Term<'h>) {
        if !self.buckets.is_empty() {
            return self.put((key, value));
        }
        self.few.push((key, value));
        if self.few.len() > SINGLE_PASS_PAIRS {
            self.buckets.resize_with(BUCKETS, Vec::new);
            for pair in std::mem::take(&mut self.few) {
                self.put(pair);
            }
        }
    }
    fn put(&mut self, pair: Pair<'h>) {
        let path = Path::new(pair.0);
        let at = path.index() as usize * WIDTH + path.down().index() as usize;
        self.buckets[at].push((path.hash(), pair));
    }

    /// Continues for about that many steps, one for each pair, and subtracts those it used. Returns
    /// the map when it is finished.
    pub fn finish(&mut self, h: &'h Heap, steps: &mut usize) -> Option<Term<'h>> {
        if self.buckets.is_empty() {
            return Some(h.small_map(std::mem::take(&mut self.few)));
        }
        while self.checked < BUCKETS {
            let b = &mut self.buckets[self.checked];
            take(steps, b.len())?;
            *b = unique(std::mem::take(b));
            self.keys += b.len();
            self.checked += 1;
        }
        if self.keys <= FLAT_MAP_LIMIT {
            let all = std::mem::take(&mut self.buckets);
            return Some(h.flat_map(all.into_iter().flatten().map(|(_, pair)| pair).collect()));
        }
        while let Some(b) = self.buckets.get_mut(self.children.len()) {
            take(steps, b.len())?;
            let leaf = |(hash, (k, v))| (Path::hashed(k, hash).down().down(), h.cons(k, v));
            let mut leaves: Vec<_> = std::mem::take(b).into_iter().map(leaf).collect();
            self.children.push(match leaves[..] {
                [] => None,
                [(_, one)] => Some(one),
                _ => Some(h.branch(&mut leaves, None)),
            });
        }
        let nodes = self.children.chunks(WIDTH).map(|c| {
            let (bitmap, words) = packed(c);
            match words[..] {
                [] => None,
                [one] if matches!(child(one), MapChild::Leaf(..)) => Some(one),
                _ => Some(h.hamt_node(bitmap, None, &[&words])),
            }
        });
        let nodes: Vec<_> = nodes.collect();
        let (bitmap, words) = packed(&nodes);
        Some(h.hamt_node(bitmap, Some(self.keys), &[&words]))
    }
}

impl Heap {
    fn small_map<'h>(&'h self, pairs: Vec<Pair<'h>>) -> Term<'h> {
        if pairs.len() <= FLAT_MAP_LIMIT {
            return self.flat_map(pairs);
        }
        let all = unique(pairs.into_iter().map(|pair| (hash::of_key(pair.0), pair)).collect());
        if all.len() <= FLAT_MAP_LIMIT {
            return self.flat_map(all.into_iter().map(|(_, pair)| pair).collect());
        }
        let n = all.len();
        let leaf = |(hash, (k, v))| (Path::hashed(k, hash), self.cons(k, v));
        self.branch(&mut all.into_iter().map(leaf).collect::<Vec<_>>(), Some(n))
    }
}

/// `None` if no steps are left.
fn take(steps: &mut usize, n: usize) -> Option<()> {
    let left = steps.checked_sub(1)?;
    *steps = left.saturating_sub(n);
    Some(())
}

/// The children that exist: their bitmap, and the terms.
fn packed<'h>(all: &[Option<Term<'h>>]) -> (u32, Vec<Term<'h>>) {
    let bit = |(i, c): (usize, &Option<Term<'h>>)| (c.is_some() as u32) << i;
    (all.iter().enumerate().map(bit).sum(), all.iter().flatten().copied().collect())
}

/// Each key once, with its last value.
fn unique(mut b: Bucket<'_>) -> Bucket<'_> {
    b.sort_by_key(|(hash, _)| *hash);
    let mut out: Bucket<'_> = Vec::with_capacity(b.len());
    for group in b.chunk_by_mut(|(p, _), (q, _)| p == q) {
        if group.len() > 1 {
            // Stable: the last of equal keys wins.
            group.sort_by(|(_, p), (_, q)| cmp::compare_exact(p.0, q.0));
        }
        for (i, (hash, pair)) in group.iter().enumerate() {
            let later = group.get(i + 1);
            if !later.is_some_and(|(_, next)| cmp::eq_exact(next.0, pair.0)) {
                out.push((*hash, *pair));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use kvik_term::map;

    /// Equals the map from putting the pairs one by one, for steps of any size.
    #[test]
    fn maps_are_built_in_steps() {
        let sizes = [0, 1, 31, 32, 33, 34, 100, 1000, 1001, 20_000];
        for n in sizes.into_iter().filter(|n| !cfg!(miri) || matches!(n, 0 | 1 | 33)) {
            for (step, distinct) in [(1, n), (7, 20), (100_000, n), (300, n / 2 + 1)] {
                let h = Heap::new(100);
                let mut b = MapBuilder::default();
                let mut want = h.map(&[]);
                for i in 0..n {
                    let (k, v) = (h.tuple(&[Term::int(i % distinct)]), Term::int(i));
                    b.add(k, v);
                    want = h.map_put(want.as_map().unwrap(), k, v);
                }
                let built = loop {
                    if let Some(t) = b.finish(&h, &mut step.clone()) {
                        break t;
                    }
                };
                assert!(cmp::eq_exact(built, want), "{n} {distinct}");
                let shape = |t: Term<'_>| {
                    let m = t.as_map().unwrap();
                    (m.len(), m.is_flat(), map::iter(m).map(|p| p.1.as_small()).collect::<Vec<_>>())
                };
                assert_eq!(shape(built), shape(want));
            }
        }
    }
}
