//! The buckets of a hash table, in blocks of memory: a table that grows gets another, and none moves.
//! One for all of them would be copied whenever it is full, in a large table for tens of milliseconds.

use std::ops::{Index, IndexMut};

use crate::chain::{self, Chain};

/// Buckets of a block of memory, which is not one of OTP's segments: the first of those is smaller.
const BLOCK: usize = 2048;

pub(crate) struct Buckets {
    /// All but the last have `BLOCK` buckets. The first takes room as it grows.
    blocks: Vec<Vec<Chain>>,
}

impl Buckets {
    /// So many empty buckets.
    pub fn new(n: usize) -> Buckets {
        let block = |n| std::iter::repeat_with(|| None).take(n).collect();
        let whole = (0..n / BLOCK).map(|_| block(BLOCK));
        let rest = (!n.is_multiple_of(BLOCK) || n == 0).then(|| block(n % BLOCK));
        Buckets { blocks: whole.chain(rest).collect() }
    }
    pub fn len(&self) -> usize {
        let last = self.blocks.last().map_or(0, Vec::len);
        self.blocks.len().saturating_sub(1) * BLOCK + last
    }
    #[inline]
    pub fn get(&self, i: usize) -> Option<&Chain> {
        self.blocks.get(i / BLOCK)?.get(i % BLOCK)
    }
    #[inline]
    pub fn get_mut(&mut self, i: usize) -> Option<&mut Chain> {
        self.blocks.get_mut(i / BLOCK)?.get_mut(i % BLOCK)
    }
    pub fn push(&mut self, b: Chain) {
        match self.blocks.last_mut() {
            Some(last) if last.len() < BLOCK => last.push(b),
            _ => {
                let mut next = Vec::with_capacity(BLOCK);
                next.push(b);
                self.blocks.push(next);
            }
        }
    }
    pub fn pop(&mut self) -> Option<Chain> {
        let last = self.blocks.last_mut()?;
        let b = last.pop();
        if last.is_empty() {
            self.blocks.pop();
        }
        b
    }
    /// Removes so many buckets at the end; how many rows went with them.
    pub fn cut(&mut self, mut n: usize) -> usize {
        let mut rows = 0;
        while let Some(last) = self.blocks.last_mut().filter(|_| n > 0) {
            let from = last.len().saturating_sub(n);
            n -= last.len() - from;
            rows +=
                last.drain(from..).flatten().map(|r| chain::rows(&Some(r)).count()).sum::<usize>();
            if last.is_empty() {
                self.blocks.pop();
            }
        }
        rows
    }
    /// The first bucket from `i` on that has rows.
    pub fn used_from(&self, i: usize) -> Option<usize> {
        let mut skip = i % BLOCK;
        for (n, block) in self.blocks.iter().enumerate().skip(i / BLOCK) {
            if let Some(at) = block.iter().skip(skip).position(Option::is_some) {
                return Some(n * BLOCK + skip + at);
            }
            skip = 0;
        }
        None
    }
    pub fn iter(&self) -> impl Iterator<Item = &Chain> {
        self.blocks.iter().flatten()
    }
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Chain> {
        self.blocks.iter_mut().flatten()
    }
}

impl Index<usize> for Buckets {
    type Output = Chain;
    #[inline]
    fn index(&self, i: usize) -> &Chain {
        &self.blocks[i / BLOCK][i % BLOCK]
    }
}
impl IndexMut<usize> for Buckets {
    #[inline]
    fn index_mut(&mut self, i: usize) -> &mut Chain {
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
            all.push(None);
            assert_eq!(all.len(), n + 1);
        }
        assert_eq!((all.used_from(0), all.used_from(2 * BLOCK)), (None, None));
        assert!(all[2 * BLOCK].is_none() && all.get(2 * BLOCK + 1).is_none());
        assert_eq!(all.iter_mut().count(), 2 * BLOCK + 1);
        assert_eq!((all.cut(BLOCK + 3), all.len()), (0, BLOCK - 2));
        assert_eq!((all.cut(BLOCK), all.len()), (0, 0));
        for n in [0, 1, BLOCK, BLOCK + 1] {
            assert_eq!(Buckets::new(n).len(), n);
        }
    }
}
