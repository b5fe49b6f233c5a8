//! [`SmallMap`]: an ordered map for links and monitors, of which most processes have few. One entry
//! is inline, so that neither a server call, which sets up a monitor and takes it down, nor a
//! process with one link allocates. A few more are in a vector that keeps its capacity.

use std::cmp::Ordering;
use std::collections::BTreeMap;

/// With more entries than this, a tree is used.
const VECTOR_CAPACITY: usize = 16;

pub enum SmallMap<K, V> {
    One(Option<(K, V)>),
    /// In order.
    Row(Vec<(K, V)>),
    Tree(BTreeMap<K, V>),
}

impl<K, V> Default for SmallMap<K, V> {
    fn default() -> Self {
        SmallMap::One(None)
    }
}

/// The key's position, or where to insert it. Searches from the end: references grow, and mostly
/// the newest is removed first.
#[inline]
fn find<K: Ord, V>(row: &[(K, V)], k: &K) -> Result<usize, usize> {
    let n = row.len();
    match row.last().map(|(last, _)| last.cmp(k)) {
        None | Some(Ordering::Less) => Err(n),
        Some(Ordering::Equal) => Ok(n - 1),
        Some(Ordering::Greater) => row.binary_search_by(|(key, _)| key.cmp(k)),
    }
}

impl<K: Ord + Copy, V> SmallMap<K, V> {
    #[inline]
    pub fn get(&self, k: &K) -> Option<&V> {
        match self {
            SmallMap::One(one) => one.as_ref().filter(|(key, _)| key == k).map(|(_, v)| v),
            SmallMap::Row(row) => find(row, k).ok().map(|i| &row[i].1),
            SmallMap::Tree(tree) => tree.get(k),
        }
    }
    #[inline]
    pub fn get_mut(&mut self, k: &K) -> Option<&mut V> {
        match self {
            SmallMap::One(one) => one.as_mut().filter(|(key, _)| key == k).map(|(_, v)| v),
            SmallMap::Row(row) => find(row, k).ok().map(|i| &mut row[i].1),
            SmallMap::Tree(tree) => tree.get_mut(k),
        }
    }
    /// Inserts a value; returns the one that was there.
    #[inline]
    pub fn insert(&mut self, k: K, v: V) -> Option<V> {
        if let SmallMap::One(one @ None) = self {
            *one = Some((k, v));
            return None;
        }
        self.insert_further(k, v)
    }
    fn insert_further(&mut self, k: K, v: V) -> Option<V> {
        if let Some(old) = self.get_mut(&k) {
            return Some(std::mem::replace(old, v));
        }
        match self {
            SmallMap::One(one) => *self = SmallMap::Row(one.take().into_iter().collect()),
            SmallMap::Row(row) if row.len() == VECTOR_CAPACITY => {
                *self = SmallMap::Tree(std::mem::take(row).into_iter().collect())
            }
            _ => (),
        }
        match self {
            SmallMap::One(one) => *one = Some((k, v)),
            SmallMap::Row(row) => {
                let i = find(row, &k).unwrap_or_else(|i| i);
                row.insert(i, (k, v));
            }
            SmallMap::Tree(tree) => {
                tree.insert(k, v);
            }
        }
        None
    }
    #[inline]
    pub fn remove(&mut self, k: &K) -> Option<V> {
        match self {
            SmallMap::One(one) => one.take_if(|(key, _)| key == k).map(|(_, v)| v),
            _ => self.remove_further(k),
        }
    }
    fn remove_further(&mut self, k: &K) -> Option<V> {
        match self {
            SmallMap::One(_) => None,
            SmallMap::Row(row) => find(row, k).ok().map(|i| row.remove(i).1),
            SmallMap::Tree(tree) => {
                let v = tree.remove(k);
                if tree.is_empty() {
                    *self = SmallMap::default();
                }
                v
            }
        }
    }
    /// Removes the first entry.
    pub fn pop_first(&mut self) -> Option<(K, V)> {
        match self {
            SmallMap::One(one) => one.take(),
            SmallMap::Row(row) => (!row.is_empty()).then(|| row.remove(0)),
            SmallMap::Tree(tree) => tree.pop_first(),
        }
    }
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        let (row, tree): (&[(K, V)], _) = match self {
            SmallMap::One(one) => (one.as_slice(), None),
            SmallMap::Row(row) => (row, None),
            SmallMap::Tree(tree) => (&[], Some(tree)),
        };
        row.iter().map(|(k, v)| (k, v)).chain(tree.into_iter().flatten())
    }
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, v)| v)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_order_in_each_representation() {
        let mut m: SmallMap<u32, u32> = SmallMap::default();
        for round in 0..2 {
            for i in (0..40).rev() {
                assert_eq!(m.insert(i * 7 % 40, round), None);
            }
            assert_eq!(m.insert(3, 9), Some(round));
            assert_eq!((m.get(&3), m.get(&40)), (Some(&9), None));
            assert!(m.iter().map(|(k, _)| *k).eq(0..40));
            assert!((0..40).all(|i| m.remove(&i).is_some() && m.remove(&i).is_none()));
            assert_eq!(m.values().count(), 0);
        }
        assert!((0..40).all(|i| m.insert(i, i).is_none()));
        assert!((0..40).all(|i| m.pop_first() == Some((i, i))) && m.pop_first().is_none());
        let mut m: SmallMap<u32, u32> = SmallMap::default();
        m.insert(2, 2);
        m.insert(1, 1);
        assert_eq!(m.pop_first(), Some((1, 1)));
        m.insert(1, 1);
        *m.get_mut(&1).unwrap() = 2;
        assert_eq!(m.remove(&1), Some(2));
    }
}
