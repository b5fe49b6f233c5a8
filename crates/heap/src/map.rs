//! Making maps: flat up to 32 keys, a tree above. The layout stands in `kvik_term::map`.

use kvik_term::map::{self, child, Child, Node, Path, ROOT};
use kvik_term::word::FLAT_MAP_LIMIT;
use kvik_term::{cmp, Map, Term};

use crate::map_build::MapBuilder;
use crate::Heap;

type Pair<'h> = (Term<'h>, Term<'h>);

impl Heap {
    /// A map of any pairs; of equal keys the last one counts.
    pub fn map<'h>(&'h self, pairs: &[Pair<'h>]) -> Term<'h> {
        let mut b = MapBuilder::default();
        for (k, v) in pairs {
            b.add(*k, *v);
        }
        loop {
            if let Some(t) = b.finish(self, &mut { usize::MAX }) {
                return t;
            }
        }
    }

    /// A map of pairs with different keys, in any order.
    pub fn map_of_unique<'h>(&'h self, pairs: Vec<Pair<'h>>) -> Term<'h> {
        if pairs.len() <= FLAT_MAP_LIMIT {
            return self.flat_map(pairs);
        }
        let n = pairs.len();
        let leaves = pairs.iter().map(|(k, v)| (Path::new(*k), self.cons(*k, *v))).collect();
        let (bitmap, mut words) = self.branch(leaves);
        words.insert(0, Term::int(n as i32));
        self.hamt_node(bitmap | ROOT, &words)
    }

    /// A node's children from leaves that are all below it.
    pub(crate) fn branch<'h>(&'h self, leaves: Vec<(Path<'h>, Term<'h>)>) -> (u32, Vec<Term<'h>>) {
        let mut buckets: [Vec<(Path<'h>, Term<'h>)>; 16] = Default::default();
        for l in leaves {
            buckets[l.0.index() as usize].push(l);
        }
        let (mut bitmap, mut words) = (0, Vec::new());
        for (i, bucket) in buckets.into_iter().enumerate() {
            if bucket.is_empty() {
                continue;
            }
            bitmap |= 1 << i;
            words.push(if bucket.len() == 1 {
                bucket[0].1
            } else {
                let (b, w) = self.branch(bucket.into_iter().map(|(p, l)| (p.down(), l)).collect());
                self.hamt_node(b, &w)
            });
        }
        (bitmap, words)
    }

    pub(crate) fn flat_map<'h>(&'h self, mut pairs: Vec<Pair<'h>>) -> Term<'h> {
        // A stable sort: of equal keys the last one is the one that counts.
        pairs.sort_by(|a, b| cmp::compare_exact(a.0, b.0));
        let mut unique: Vec<Pair<'h>> = Vec::with_capacity(pairs.len());
        for p in pairs {
            match unique.last_mut() {
                Some(last) if cmp::eq_exact(last.0, p.0) => last.1 = p.1,
                _ => unique.push(p),
            }
        }
        let keys: Vec<_> = unique.iter().map(|p| p.0).collect();
        let values: Vec<_> = unique.iter().map(|p| p.1).collect();
        self.flat_map_sorted(self.tuple(&keys), &values)
    }

    /// The map with a key set: added, or its value replaced.
    pub fn map_put<'h>(&'h self, m: Map<'h>, key: Term<'h>, value: Term<'h>) -> Term<'h> {
        if let Some((keys, values)) = m.flat() {
            return self.flat_put(m, keys, values, key, value);
        }
        let Some(root) = m.root() else { return m.term() };
        let leaf = self.cons(key, value);
        match self.node_put(root, Path::new(key), key, leaf) {
            Some((node, added)) => self.root_of(node, m.len() + added as usize),
            None => m.term(),
        }
    }

    fn flat_put<'h>(
        &'h self,
        m: Map<'h>,
        keys: &[Term<'h>],
        values: &[Term<'h>],
        key: Term<'h>,
        value: Term<'h>,
    ) -> Term<'h> {
        match keys.binary_search_by(|k| cmp::compare_exact(*k, key)) {
            Ok(i) => {
                if values[i].same(value) {
                    return m.term();
                }
                let mut v = values.to_vec();
                v[i] = value;
                self.flat_map_sorted(m.flat_keys_term().unwrap_or(Term::NIL), &v)
            }
            Err(_) if keys.len() == FLAT_MAP_LIMIT => {
                let mut pairs: Vec<Pair<'h>> = map::iter(m).collect();
                pairs.push((key, value));
                self.map_of_unique(pairs)
            }
            Err(i) => {
                let (mut k, mut v) = (keys.to_vec(), values.to_vec());
                k.insert(i, key);
                v.insert(i, value);
                self.flat_map_sorted(self.tuple(&k), &v)
            }
        }
    }

    pub(crate) fn root_of<'h>(
        &'h self,
        (bitmap, mut words): (u32, Vec<Term<'h>>),
        size: usize,
    ) -> Term<'h> {
        words.insert(0, Term::int(size as i32));
        self.hamt_node(bitmap | ROOT, &words)
    }

    /// A node with a leaf put below it, and whether its key is new; `None` where it is there.
    fn node_put<'h>(
        &'h self,
        n: Node<'h>,
        path: Path<'h>,
        key: Term<'h>,
        leaf: Term<'h>,
    ) -> Option<((u32, Vec<Term<'h>>), bool)> {
        let index = path.index();
        let (place, there) = n.place(index);
        let mut words = n.children.to_vec();
        if !there {
            words.insert(place, leaf);
            return Some(((n.bitmap | 1 << index, words), true));
        }
        let value = leaf.as_cons().map(|c| c.tail());
        let (new, added) = match child(words[place]) {
            Child::Leaf(k, v) if cmp::eq_exact(k, key) => {
                if value.is_some_and(|new| new.same(v)) {
                    return None;
                }
                (leaf, false)
            }
            Child::Leaf(k, _) => {
                let down = path.down();
                let (b, w) =
                    self.branch(vec![(Path::at_level_of(k, down), words[place]), (down, leaf)]);
                (self.hamt_node(b, &w), true)
            }
            Child::Node(sub) => {
                let ((b, w), added) = self.node_put(sub, path.down(), key, leaf)?;
                (self.hamt_node(b, &w), added)
            }
        };
        words[place] = new;
        Some(((n.bitmap, words), added))
    }

    /// The map without a key.
    pub fn map_remove<'h>(&'h self, m: Map<'h>, key: Term<'h>) -> Term<'h> {
        if !map::contains(m, key) {
            return m.term();
        }
        if m.is_flat() || m.len() == FLAT_MAP_LIMIT + 1 {
            return self.map_of_unique(map::iter(m).filter(|p| !cmp::eq_exact(p.0, key)).collect());
        }
        let Some(root) = m.root() else { return m.term() };
        self.root_of(self.node_remove(root, Path::new(key)), m.len() - 1)
    }

    /// A node without a leaf that is below it.
    fn node_remove<'h>(&'h self, n: Node<'h>, path: Path<'h>) -> (u32, Vec<Term<'h>>) {
        let (place, _) = n.place(path.index());
        let mut words = n.children.to_vec();
        let without = |mut words: Vec<Term<'h>>| {
            words.remove(place);
            (n.bitmap & !(1 << path.index()), words)
        };
        match child(words[place]) {
            Child::Leaf(..) => without(words),
            Child::Node(sub) => {
                let (b, w) = self.node_remove(sub, path.down());
                match w[..] {
                    [] => without(words),
                    // A single leaf moves up.
                    [only] if only.as_cons().is_some() => {
                        words[place] = only;
                        (n.bitmap, words)
                    }
                    _ => {
                        words[place] = self.hamt_node(b, &w);
                        (n.bitmap, words)
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_maps_keep_what_is_put() {
        let h = Heap::new(64);
        let mut m = h.map(&[]);
        for i in 0..2000 {
            m = h.map_put(m.as_map().unwrap(), Term::int(i * 7), Term::int(i));
        }
        for i in 0..2000 {
            let map = m.as_map().unwrap();
            assert_eq!(map.len(), 2000 - i as usize);
            assert_eq!(map::get(map, Term::int(i * 7)).and_then(Term::as_small), Some(i as i64));
            m = h.map_remove(map, Term::int(i * 7));
        }
        assert_eq!(m.as_map().unwrap().len(), 0);
    }

    #[test]
    fn one_build_equals_many_puts() {
        let h = Heap::new(64);
        let pairs: Vec<_> =
            (0..500).map(|i| (h.string(&i.to_string()), h.float(i as f64))).collect();
        let at_once = h.map(&pairs);
        let one_by_one =
            pairs.iter().rev().fold(h.map(&[]), |m, p| h.map_put(m.as_map().unwrap(), p.0, p.1));
        assert!(cmp::eq_exact(at_once, one_by_one));
        assert_eq!(cmp::compare(at_once, one_by_one), std::cmp::Ordering::Equal);
    }

    #[test]
    fn integers_and_floats() {
        let h = Heap::new(64);
        let (one, f) = (Term::int(1), h.float(1.0));
        assert!(cmp::eq(one, f) && !cmp::eq_exact(one, f));
        let big = h.big(false, &[0, 1]);
        assert_eq!(cmp::compare(big, h.float(18446744073709551616.0)), std::cmp::Ordering::Equal);
        assert_eq!(cmp::compare(big, h.float(1.9e19)), std::cmp::Ordering::Less);
        assert_eq!(cmp::compare(Term::int(3), h.float(2.5)), std::cmp::Ordering::Greater);
    }
}
