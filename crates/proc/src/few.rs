//! [`Few`]: an ordered map for what most processes have little of, links and monitors. A handful
//! stands in a vector that keeps its room, so that a call of a server, which sets up a monitor and
//! takes it down, allocates nothing.

use std::collections::BTreeMap;

/// More than that move to a tree.
const FEW: usize = 16;

pub struct Few<K, V> {
    few: Vec<(K, V)>,
    /// Everything, once there were more than a few.
    many: Option<BTreeMap<K, V>>,
}

impl<K, V> Default for Few<K, V> {
    fn default() -> Self {
        Few { few: Vec::new(), many: None }
    }
}

impl<K: Ord + Copy, V> Few<K, V> {
    fn find(&self, k: &K) -> Result<usize, usize> {
        self.few.binary_search_by(|(key, _)| key.cmp(k))
    }
    pub fn get(&self, k: &K) -> Option<&V> {
        match &self.many {
            Some(m) => m.get(k),
            None => self.find(k).ok().map(|i| &self.few[i].1),
        }
    }
    pub fn get_mut(&mut self, k: &K) -> Option<&mut V> {
        let few = self.find(k);
        match &mut self.many {
            Some(m) => m.get_mut(k),
            None => few.ok().map(|i| &mut self.few[i].1),
        }
    }
    /// Puts a value in; gives the one that was there.
    pub fn insert(&mut self, k: K, v: V) -> Option<V> {
        if let Some(m) = &mut self.many {
            return m.insert(k, v);
        }
        match self.find(&k) {
            Ok(i) => Some(std::mem::replace(&mut self.few[i].1, v)),
            Err(i) if self.few.len() < FEW => {
                self.few.insert(i, (k, v));
                None
            }
            Err(_) => {
                let all = std::mem::take(&mut self.few);
                self.many = Some(all.into_iter().chain([(k, v)]).collect());
                None
            }
        }
    }
    pub fn remove(&mut self, k: &K) -> Option<V> {
        let Some(m) = &mut self.many else {
            return self.find(k).ok().map(|i| self.few.remove(i).1);
        };
        let v = m.remove(k);
        if m.is_empty() {
            self.many = None;
        }
        v
    }
    /// Takes out what comes first.
    pub fn pop_first(&mut self) -> Option<(K, V)> {
        match &mut self.many {
            Some(m) => m.pop_first(),
            None if self.few.is_empty() => None,
            None => Some(self.few.remove(0)),
        }
    }
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        let few = self.few.iter().map(|(k, v)| (k, v));
        few.chain(self.many.iter().flat_map(|m| m.iter()))
    }
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, v)| v)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_and_many() {
        let mut m: Few<u32, u32> = Few::default();
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
        let mut m: Few<u32, u32> = Few::default();
        m.insert(2, 2);
        m.insert(1, 1);
        assert_eq!(m.pop_first(), Some((1, 1)));
        m.insert(1, 1);
        *m.get_mut(&1).unwrap() = 2;
        assert_eq!(m.remove(&1), Some(2));
    }
}
