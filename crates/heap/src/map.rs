//! Building maps: flat up to 32 keys, a tree above. `kvik_term::map` describes the layout.

use std::cmp::Ordering;

use kvik_term::map::{self, child, MapChild, MapNode, Path, COLLISION};
use kvik_term::word::FLAT_MAP_LIMIT;
use kvik_term::{cmp, Atom, Map, Term, Tuple};

use crate::map_build::MapBuilder;
use crate::Heap;

type Pair<'h> = (Term<'h>, Term<'h>);

/// Children of a node.
pub(crate) const WIDTH: usize = 16;

/// An insertion into a large map.
pub(crate) struct Put<'h> {
    pub key: Term<'h>,
    pub value: Term<'h>,
    pub leaf: Term<'h>,
}

/// The keys and values of a flat map being merged.
struct Merged<'h> {
    keys: [Term<'h>; FLAT_MAP_LIMIT],
    values: [Term<'h>; FLAT_MAP_LIMIT],
    n: usize,
}

impl Default for Merged<'_> {
    fn default() -> Self {
        Merged { keys: [Term::NIL; FLAT_MAP_LIMIT], values: [Term::NIL; FLAT_MAP_LIMIT], n: 0 }
    }
}

impl<'h> Merged<'h> {
    /// `None` if there is no room.
    fn add(&mut self, keys: &[Term<'h>], values: &[Term<'h>]) -> Option<()> {
        let to = self.n..self.n + keys.len();
        self.keys.get_mut(to.clone())?.copy_from_slice(keys);
        self.values.get_mut(to.clone())?.copy_from_slice(values);
        self.n = to.end;
        Some(())
    }
}

impl Heap {
    /// A map of any pairs; the last of equal keys wins.
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
        let mut leaves: Vec<_> =
            pairs.iter().map(|(k, v)| (Path::new(*k), self.cons(*k, *v))).collect();
        self.branch(&mut leaves, Some(pairs.len()))
    }

    /// A node with all these leaves below it, which it may reorder. `root_of`: the number of keys,
    /// for a root.
    pub(crate) fn branch<'h>(
        &'h self,
        leaves: &mut [(Path<'h>, Term<'h>)],
        root_of: Option<usize>,
    ) -> Term<'h> {
        if leaves.first().is_some_and(|l| l.0.is_collision()) {
            leaves.sort_unstable_by(|a, b| cmp::compare_exact(a.0.key(), b.0.key()));
            let cells: Vec<_> = leaves.iter().map(|l| l.1).collect();
            return self.hamt_node(COLLISION, root_of, &[&cells]);
        }
        leaves.sort_unstable_by_key(|l| l.0.index());
        let (mut bitmap, mut children, mut n) = (0, [Term::NIL; WIDTH], 0);
        for group in leaves.chunk_by_mut(|a, b| a.0.index() == b.0.index()) {
            bitmap |= 1 << group[0].0.index();
            children[n] = match group {
                [(_, only)] => *only,
                _ => {
                    group.iter_mut().for_each(|l| l.0 = l.0.down());
                    self.branch(group, None)
                }
            };
            n += 1;
        }
        self.hamt_node(bitmap, root_of, &[&children[..n]])
    }

    pub(crate) fn flat_map<'h>(&'h self, mut pairs: Vec<Pair<'h>>) -> Term<'h> {
        // A stable sort: the last of equal keys wins.
        pairs.sort_by(|a, b| cmp::key_order(a.0, b.0));
        pairs.dedup_by(|later, kept| {
            let same = cmp::eq_exact(later.0, kept.0);
            if same {
                kept.1 = later.1;
            }
            same
        });
        let (mut keys, mut values) = ([Term::NIL; FLAT_MAP_LIMIT], [Term::NIL; FLAT_MAP_LIMIT]);
        for (i, (k, v)) in pairs.iter().enumerate() {
            (keys[i], values[i]) = (*k, *v);
        }
        let n = pairs.len();
        self.flat_map_sorted(self.tuple(&keys[..n]), &values[..n])
    }

    /// A map of at most 32 pairs whose keys are in order, and the tuple of its keys, which is
    /// shared with a map made before if the keys are the same. `None` if they are not in order.
    pub fn map_of_sorted<'h>(
        &'h self,
        pairs: &[[Term<'h>; 2]],
        before: Term<'h>,
    ) -> Option<(Term<'h>, Term<'h>)> {
        let (mut keys, mut values) = ([Term::NIL; FLAT_MAP_LIMIT], [Term::NIL; FLAT_MAP_LIMIT]);
        let (keys, values) = (keys.get_mut(..pairs.len())?, values.get_mut(..pairs.len())?);
        let known = before.as_tuple().map_or(&[][..], Tuple::elements);
        let mut same = known.len() == pairs.len();
        for (i, [key, value]) in pairs.iter().enumerate() {
            same = same && known[i].same(*key);
            (keys[i], values[i]) = (*key, *value);
        }
        let keys = if same {
            before
        } else if keys.is_sorted_by(|a, b| cmp::key_order(*a, *b) == Ordering::Less) {
            self.tuple(keys)
        } else {
            return None;
        };
        Some((self.flat_map_sorted(keys, values), keys))
    }

    /// A map of at most 32 atoms, all different, and their values.
    pub fn map_of_atoms<'h>(&'h self, pairs: &[(Atom, Term<'h>)]) -> Term<'h> {
        self.flat_map(pairs.iter().map(|(key, value)| (Term::atom(*key), *value)).collect())
    }

    /// Adds a key to the map, or replaces its value.
    pub fn map_put<'h>(&'h self, m: Map<'h>, key: Term<'h>, value: Term<'h>) -> Term<'h> {
        if let Some((keys, values)) = m.flat() {
            return self.flat_put(m, keys, values, key, value);
        }
        let Some(root) = m.root() else { return m.term() };
        let leaf = self.cons(key, value);
        let put = Put { key, value, leaf };
        self.node_put(root, Path::new(key), &put, Some(m.len())).map_or(m.term(), |(node, _)| node)
    }

    fn flat_put<'h>(
        &'h self,
        m: Map<'h>,
        keys: &[Term<'h>],
        values: &[Term<'h>],
        key: Term<'h>,
        value: Term<'h>,
    ) -> Term<'h> {
        if let Some(i) = map::place_of(keys, key) {
            if values[i].same(value) {
                return m.term();
            }
            let names = m.flat_keys_term().unwrap_or(Term::NIL);
            return self.flat_map_of(names, &[&values[..i], &[value], &values[i + 1..]]);
        }
        if keys.len() == FLAT_MAP_LIMIT {
            let mut pairs: Vec<Pair<'h>> = map::iter(m).collect();
            pairs.push((key, value));
            return self.map_of_unique(pairs);
        }
        let i = keys.partition_point(|k| cmp::key_order(*k, key) == Ordering::Less);
        let names = self.tuple_of(&[&keys[..i], &[key], &keys[i..]]);
        self.flat_map_of(names, &[&values[..i], &[value], &values[i..]])
    }

    /// Replaces several values of a flat map at once. `None` if it does not have all the keys.
    pub fn flat_update<'h>(&'h self, m: Map<'h>, pairs: &[Pair<'h>]) -> Option<Term<'h>> {
        let (keys, values) = m.flat()?;
        let mut new = [Term::NIL; FLAT_MAP_LIMIT];
        let new = &mut new[..values.len()];
        new.copy_from_slice(values);
        let mut changed = false;
        for (key, value) in pairs {
            let i = map::place_of(keys, *key)?;
            changed |= !new[i].same(*value);
            new[i] = *value;
        }
        Some(if changed { self.flat_map_sorted(m.flat_keys_term()?, new) } else { m.term() })
    }

    /// Adds or replaces several keys of a flat map at once; may reorder the pairs. `None` if the
    /// result is no flat map.
    pub fn flat_put_all<'h>(&'h self, m: Map<'h>, pairs: &mut [Pair<'h>]) -> Option<Term<'h>> {
        let (keys, values) = m.flat()?;
        // Stable: the last of equal keys wins.
        pairs.sort_by(|a, b| cmp::key_order(a.0, b.0));
        let mut merged = Merged::default();
        let mut from = 0;
        for (i, (key, value)) in pairs.iter().enumerate() {
            if pairs.get(i + 1).is_some_and(|next| cmp::eq_exact(next.0, *key)) {
                continue;
            }
            let rest = &keys[from..];
            let less = |k: &Term<'_>| cmp::key_order(*k, *key) == Ordering::Less;
            let at = from + rest.iter().position(|k| !less(k)).unwrap_or(rest.len());
            merged.add(&keys[from..at], &values[from..at])?;
            merged.add(&[*key], &[*value])?;
            from = at + keys.get(at).is_some_and(|k| cmp::eq_exact(*k, *key)) as usize;
        }
        merged.add(&keys[from..], &values[from..])?;
        let n = merged.n;
        Some(self.flat_map_sorted(self.tuple(&merged.keys[..n]), &merged.values[..n]))
    }

    /// A node with a leaf put below it, and whether its key is new; `None` if nothing changes.
    /// `root_of`: the number of keys so far, for a root.
    pub(crate) fn node_put<'h>(
        &'h self,
        n: MapNode<'h>,
        path: Path<'h>,
        put: &Put<'h>,
        root_of: Option<usize>,
    ) -> Option<(Term<'h>, bool)> {
        let (place, there, bit) = place(n, path);
        let all = n.children;
        if !there {
            let children = [&all[..place], &[put.leaf], &all[place..]];
            let root_of = root_of.map(|keys| keys + 1);
            return Some((self.hamt_node(n.bitmap | bit, root_of, &children), true));
        }
        let (new, added) = match child(all[place]) {
            MapChild::Leaf(k, v) if cmp::eq_exact(k, put.key) => {
                if v.same(put.value) {
                    return None;
                }
                (put.leaf, false)
            }
            MapChild::Leaf(k, _) => {
                let down = path.down();
                let mut two = [(Path::at_level_of(k, down), all[place]), (down, put.leaf)];
                (self.branch(&mut two, None), true)
            }
            MapChild::Node(sub) => self.node_put(sub, path.down(), put, None)?,
        };
        let root_of = root_of.map(|keys| keys + added as usize);
        Some((self.with_child(n, place, new, root_of), added))
    }
    fn with_child<'h>(
        &'h self,
        n: MapNode<'h>,
        place: usize,
        new: Term<'h>,
        root_of: Option<usize>,
    ) -> Term<'h> {
        let t = self.hamt_node(n.bitmap, root_of, &[n.children]);
        self.set_child(t, root_of.is_some(), place, new);
        t
    }

    /// The map without a key.
    pub fn map_remove<'h>(&'h self, m: Map<'h>, key: Term<'h>) -> Term<'h> {
        if let Some((keys, values)) = m.flat() {
            let Some(i) = map::place_of(keys, key) else { return m.term() };
            let names = self.tuple_of(&[&keys[..i], &keys[i + 1..]]);
            return self.flat_map_of(names, &[&values[..i], &values[i + 1..]]);
        }
        if !map::contains(m, key) {
            return m.term();
        }
        if m.len() == FLAT_MAP_LIMIT + 1 {
            return self.map_of_unique(map::iter(m).filter(|p| !cmp::eq_exact(p.0, key)).collect());
        }
        let Some(root) = m.root() else { return m.term() };
        let rest = self.node_remove(root, Path::new(key), Some(m.len() - 1));
        rest.unwrap_or(m.term())
    }

    /// A node without a leaf that is below it: a single remaining leaf moves up. `None` if the node
    /// becomes empty.
    fn node_remove<'h>(
        &'h self,
        n: MapNode<'h>,
        path: Path<'h>,
        root_of: Option<usize>,
    ) -> Option<Term<'h>> {
        let (place, _, bit) = place(n, path);
        let all = n.children;
        let rest = match child(all[place]) {
            MapChild::Leaf(..) => None,
            MapChild::Node(sub) => self.node_remove(sub, path.down(), None),
        };
        match (rest, all) {
            (None, [_]) => None,
            (None, [a, b]) if root_of.is_none() => {
                let other = if place == 0 { *b } else { *a };
                match child(other) {
                    MapChild::Leaf(..) => Some(other),
                    MapChild::Node(_) => Some(self.hamt_node(n.bitmap & !bit, None, &[&[other]])),
                }
            }
            (None, _) => {
                let children = [&all[..place], &all[place + 1..]];
                Some(self.hamt_node(n.bitmap & !bit, root_of, &children))
            }
            // The only child of an inner node has become a leaf.
            (Some(only), [_]) if root_of.is_none() && only.as_cons().is_some() => Some(only),
            (Some(new), _) => Some(self.with_child(n, place, new, root_of)),
        }
    }
}

/// The index in a node of the child on a path, or where it would be inserted; whether it is there;
/// its bit.
fn place(n: MapNode<'_>, path: Path<'_>) -> (usize, bool, u32) {
    if path.is_collision() {
        let place = n.place_in_collision(path.key());
        return (place.unwrap_or_else(|before| before), place.is_ok(), 0);
    }
    let (place, there) = n.place(path.index());
    (place, there, 1 << path.index())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_maps_keep_what_is_put() {
        let h = Heap::new(64);
        let mut m = h.map(&[]);
        let n = if cfg!(miri) { 100 } else { 2000 };
        for i in 0..n {
            m = h.map_put(m.as_map().unwrap(), Term::int(i * 7), Term::int(i));
        }
        for i in 0..n {
            let map = m.as_map().unwrap();
            assert_eq!(map.len(), (n - i) as usize);
            assert_eq!(map::get(map, Term::int(i * 7)).and_then(Term::as_small), Some(i as i64));
            m = h.map_remove(map, Term::int(i * 7));
        }
        assert_eq!(m.as_map().unwrap().len(), 0);
    }

    #[test]
    fn one_build_equals_many_puts() {
        let h = Heap::new(64);
        let pairs: Vec<_> = (0..if cfg!(miri) { 50 } else { 500 })
            .map(|i| (h.string(&i.to_string()), h.float(i as f64)))
            .collect();
        let at_once = h.map(&pairs);
        let one_by_one =
            pairs.iter().rev().fold(h.map(&[]), |m, p| h.map_put(m.as_map().unwrap(), p.0, p.1));
        assert!(cmp::eq_exact(at_once, one_by_one));
        assert_eq!(cmp::compare(at_once, one_by_one), std::cmp::Ordering::Equal);
    }

    #[test]
    fn puts_at_once_equal_puts_in_turn() {
        let h = Heap::new(64);
        let key = |i: i32| if i % 3 == 0 { h.float(i as f64) } else { Term::int(i) };
        for had in if cfg!(miri) { vec![30] } else { vec![0, 1, 5, 20, 30, 32] } {
            for new in 1..6 {
                for step in [1i32, 3, 7, 11] {
                    let pairs: Vec<_> = (0..had).map(|i| (key(2 * i), Term::int(i))).collect();
                    let m = h.map(&pairs).as_map().unwrap();
                    let mut add: Vec<_> = (0..new)
                        .map(|i| (key((29 - i * step).rem_euclid(31)), Term::int(100 + i)))
                        .chain([(key(4), Term::int(7)), (key(4), Term::int(8))])
                        .collect();
                    let want =
                        add.iter().fold(m.term(), |t, p| h.map_put(t.as_map().unwrap(), p.0, p.1));
                    let got = h.flat_put_all(m, &mut add);
                    let is_flat = want.as_map().is_some_and(|m| m.is_flat());
                    assert_eq!(got.is_some(), is_flat);
                    assert!(got.is_none_or(|t| cmp::eq_exact(t, want)), "{had} {new} {step}");
                }
            }
        }
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
