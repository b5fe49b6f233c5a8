//! The buckets of a hash table, in segments: a table that grows gets another, and none moves. One block
//! for all of them would be copied whenever it is full, in a large table for tens of milliseconds.

use std::ops::{Index, IndexMut};

use smallvec::SmallVec;

use crate::linear_hash::StoredRow;

/// Up to two objects are stored inline: of the keys of a full table, three quarters are in such a
/// bucket.
pub(crate) type Bucket = SmallVec<[StoredRow; 2]>;

const SEGMENT: usize = 2048;

pub(crate) struct Buckets {
    /// All but the last have `SEGMENT` buckets. The first takes room as it grows.
    segments: Vec<Vec<Bucket>>,
}

impl Buckets {
    /// So many empty buckets.
    pub fn new(n: usize) -> Buckets {
        let mut all = Buckets { segments: Vec::new() };
        all.segments.push(Vec::with_capacity(n.min(SEGMENT)));
        (0..n).for_each(|_| all.push(Bucket::new()));
        all
    }
    pub fn len(&self) -> usize {
        let last = self.segments.last().map_or(0, Vec::len);
        self.segments.len().saturating_sub(1) * SEGMENT + last
    }
    #[inline]
    pub fn get(&self, i: usize) -> Option<&Bucket> {
        self.segments.get(i / SEGMENT)?.get(i % SEGMENT)
    }
    #[inline]
    pub fn get_mut(&mut self, i: usize) -> Option<&mut Bucket> {
        self.segments.get_mut(i / SEGMENT)?.get_mut(i % SEGMENT)
    }
    pub fn push(&mut self, b: Bucket) {
        match self.segments.last_mut() {
            Some(last) if last.len() < SEGMENT => last.push(b),
            _ => {
                let mut next = Vec::with_capacity(SEGMENT);
                next.push(b);
                self.segments.push(next);
            }
        }
    }
    pub fn pop(&mut self) -> Option<Bucket> {
        let last = self.segments.last_mut()?;
        let b = last.pop();
        if last.is_empty() {
            self.segments.pop();
        }
        b
    }
    pub fn iter(&self) -> impl Iterator<Item = &Bucket> {
        self.segments.iter().flatten()
    }
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Bucket> {
        self.segments.iter_mut().flatten()
    }
}

impl Index<usize> for Buckets {
    type Output = Bucket;
    #[inline]
    fn index(&self, i: usize) -> &Bucket {
        &self.segments[i / SEGMENT][i % SEGMENT]
    }
}
impl IndexMut<usize> for Buckets {
    #[inline]
    fn index_mut(&mut self, i: usize) -> &mut Bucket {
        &mut self.segments[i / SEGMENT][i % SEGMENT]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_come_and_go_at_the_end() {
        let mut all = Buckets::new(3 * SEGMENT + 1);
        assert_eq!((all.len(), all.iter().count()), (3 * SEGMENT + 1, 3 * SEGMENT + 1));
        for n in (0..3 * SEGMENT + 1).rev() {
            assert!(all.get(n).is_some() && all.get(n + 1).is_none());
            assert!(all.pop().is_some());
            assert_eq!(all.len(), n);
        }
        assert!(all.pop().is_none() && all.get(0).is_none());
        for n in 0..2 * SEGMENT + 1 {
            all.push(Bucket::new());
            assert_eq!(all.len(), n + 1);
        }
        assert!(all[2 * SEGMENT].is_empty() && all.get(2 * SEGMENT + 1).is_none());
        assert_eq!(all.iter_mut().count(), 2 * SEGMENT + 1);
    }
}
