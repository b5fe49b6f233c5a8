//! The buckets of a hash table, in blocks of memory: a table that grows gets another, and none moves.
//! One for all of them would be copied whenever it is full, in a large table for tens of milliseconds.

use std::ops::{Index, IndexMut};

use smallvec::SmallVec;

use crate::linear_hash::StoredRow;

/// Up to two objects are stored inline: of the keys of a full table, three quarters are in such a
/// bucket.
pub(crate) type Bucket = SmallVec<[StoredRow; 2]>;

/// Buckets of a block of memory, which is not one of OTP's segments: the first of those is smaller.
const BLOCK: usize = 2048;

pub(crate) struct Buckets {
    /// All but the last have `BLOCK` buckets. The first takes room as it grows.
    blocks: Vec<Vec<Bucket>>,
}

impl Buckets {
    /// So many empty buckets.
    pub fn new(n: usize) -> Buckets {
        let mut all = Buckets { blocks: Vec::new() };
        all.blocks.push(Vec::with_capacity(n.min(BLOCK)));
        (0..n).for_each(|_| all.push(Bucket::new()));
        all
    }
    pub fn len(&self) -> usize {
        let last = self.blocks.last().map_or(0, Vec::len);
        self.blocks.len().saturating_sub(1) * BLOCK + last
    }
    #[inline]
    pub fn get(&self, i: usize) -> Option<&Bucket> {
        self.blocks.get(i / BLOCK)?.get(i % BLOCK)
    }
    #[inline]
    pub fn get_mut(&mut self, i: usize) -> Option<&mut Bucket> {
        self.blocks.get_mut(i / BLOCK)?.get_mut(i % BLOCK)
    }
    pub fn push(&mut self, b: Bucket) {
        match self.blocks.last_mut() {
            Some(last) if last.len() < BLOCK => last.push(b),
            _ => {
                let mut next = Vec::with_capacity(BLOCK);
                next.push(b);
                self.blocks.push(next);
            }
        }
    }
    pub fn pop(&mut self) -> Option<Bucket> {
        let last = self.blocks.last_mut()?;
        let b = last.pop();
        if last.is_empty() {
            self.blocks.pop();
        }
        b
    }
    pub fn iter(&self) -> impl Iterator<Item = &Bucket> {
        self.blocks.iter().flatten()
    }
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Bucket> {
        self.blocks.iter_mut().flatten()
    }
}

impl Index<usize> for Buckets {
    type Output = Bucket;
    #[inline]
    fn index(&self, i: usize) -> &Bucket {
        &self.blocks[i / BLOCK][i % BLOCK]
    }
}
impl IndexMut<usize> for Buckets {
    #[inline]
    fn index_mut(&mut self, i: usize) -> &mut Bucket {
        &mut self.blocks[i / BLOCK][i % BLOCK]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_come_and_go_at_the_end() {
        let mut all = Buckets::new(3 * BLOCK + 1);
        assert_eq!((all.len(), all.iter().count()), (3 * BLOCK + 1, 3 * BLOCK + 1));
        for n in (0..3 * BLOCK + 1).rev() {
            assert!(all.get(n).is_some() && all.get(n + 1).is_none());
            assert!(all.pop().is_some());
            assert_eq!(all.len(), n);
        }
        assert!(all.pop().is_none() && all.get(0).is_none());
        for n in 0..2 * BLOCK + 1 {
            all.push(Bucket::new());
            assert_eq!(all.len(), n + 1);
        }
        assert!(all[2 * BLOCK].is_empty() && all.get(2 * BLOCK + 1).is_none());
        assert_eq!(all.iter_mut().count(), 2 * BLOCK + 1);
    }
}
