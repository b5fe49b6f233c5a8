//! A queue of output bytes.

use std::collections::VecDeque;
use std::io::IoSlice;

/// Pieces smaller than this are merged.
const GATHER: usize = 4096;

#[derive(Default)]
pub struct OutQueue {
    pieces: VecDeque<Vec<u8>>,
    /// Bytes of the first piece that have been written.
    done: usize,
    len: usize,
}

impl OutQueue {
    pub fn len(&self) -> usize {
        self.len
    }
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    pub fn push(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        self.len += bytes.len();
        match self.pieces.back_mut() {
            Some(last) if last.len() + bytes.len() <= GATHER => last.extend_from_slice(bytes),
            _ => self.pieces.push_back(bytes.to_vec()),
        }
    }
    /// Like [`OutQueue::push`], without a copy.
    pub fn push_vec(&mut self, bytes: Vec<u8>) {
        if bytes.len() <= GATHER {
            return self.push(&bytes);
        }
        self.len += bytes.len();
        self.pieces.push_back(bytes);
    }
    /// Drops bytes that have been written.
    pub fn advance(&mut self, n: usize) {
        let n = n.min(self.len);
        self.len -= n;
        self.done += n;
        while let Some(first) = self.pieces.front() {
            if self.done < first.len() {
                return;
            }
            self.done -= first.len();
            self.pieces.pop_front();
        }
    }
    pub fn clear(&mut self) {
        *self = OutQueue::default();
    }
    /// The first bytes, at most `limit` of them.
    pub fn front(&self, limit: usize) -> &[u8] {
        let b = self.pieces.front().map_or(&[][..], |p| &p[self.done..]);
        &b[..b.len().min(limit)]
    }
    /// Calls `f` with the slices to write next.
    pub fn slices<R>(&self, f: impl FnOnce(&[IoSlice<'_>]) -> R) -> R {
        let mut v: [IoSlice<'_>; 32] = std::array::from_fn(|_| IoSlice::new(&[]));
        let mut n = 0;
        for (i, p) in self.pieces.iter().take(v.len()).enumerate() {
            v[i] = IoSlice::new(if i == 0 { &p[self.done..] } else { p });
            n += 1;
        }
        f(&v[..n])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_order() {
        let mut q = OutQueue::default();
        q.push(b"abc");
        q.push(&[b'x'; 5000]);
        q.push(b"z");
        q.advance(2);
        assert_eq!(q.len(), 5002);
        q.slices(|s| assert_eq!(&*s[0], b"c"));
        q.advance(5001);
        q.slices(|s| assert_eq!(&*s[0], b"z"));
        q.advance(1);
        assert!(q.is_empty());
    }
}
