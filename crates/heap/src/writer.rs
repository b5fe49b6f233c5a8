//! A binary that is written sequentially, without its length being known in advance.

use std::alloc::{handle_alloc_error, Layout};
use std::sync::atomic::Ordering;

use kvik_term::word::HEAP_BIN_LIMIT;
use kvik_term::Term;

use crate::binary::{copy_piece, BinRef};
use crate::Heap;

/// A finished binary may leave this fraction of its memory unused, which the allocator does not
/// take back from a block: a quarter.
const MOST_UNUSED: usize = 4;
/// Initial capacity in bytes.
const FIRST: usize = 224;

pub struct Writer {
    /// The only reference to it. Its length is not updated before the end.
    binary: BinRef,
    /// Its first byte, and its capacity.
    data: *mut u8,
    cap: usize,
    len: usize,
}

// SAFETY: the bytes are the binary's, which may be sent and which nobody else holds.
unsafe impl Send for Writer {}

impl Default for Writer {
    fn default() -> Self {
        Writer::with_room(FIRST)
    }
}

impl Writer {
    /// A writer with capacity for about so many bytes.
    pub fn with_room(n: usize) -> Writer {
        let binary = BinRef::allocate(n, 0);
        Writer { data: binary.data(), cap: binary.capacity(), binary, len: 0 }
    }
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    #[inline]
    pub fn push(&mut self, bytes: &[u8]) {
        self.room(bytes.len());
        // SAFETY: there is room for the bytes behind those written, and nobody else has it.
        unsafe { copy_piece(bytes.as_ptr(), self.data.add(self.len), bytes.len()) };
        self.len += bytes.len();
    }
    /// The same for a number of bytes known at compile time.
    #[inline]
    pub fn push_all<const N: usize>(&mut self, bytes: [u8; N]) {
        self.room(N);
        // SAFETY: as in `push`.
        unsafe { self.data.add(self.len).cast::<[u8; N]>().write(bytes) };
        self.len += N;
    }
    /// Ensures room for `n` bytes behind those written, for callers that write them in pieces.
    #[inline]
    pub fn room(&mut self, n: usize) {
        if self.cap - self.len < n {
            self.grow(n);
        }
    }
    #[cold]
    fn grow(&mut self, n: usize) {
        let cap = self.len.saturating_add(n).saturating_add(self.len);
        let b = std::mem::replace(&mut self.binary, BinRef::allocate(0, 0));
        (self.data, self.cap) = (self.binary.data(), 0);
        // SAFETY: nobody else holds it, and it was made without an owner.
        match unsafe { b.moved(cap) } {
            Ok(b) => (self.data, self.cap, self.binary) = (b.data(), b.capacity(), b),
            Err(_) => handle_alloc_error(Layout::array::<u8>(cap).unwrap_or(Layout::new::<u8>())),
        }
    }
    /// Overwrites bytes that are written; without effect outside of those.
    pub fn set(&mut self, at: usize, bytes: &[u8]) {
        if at.checked_add(bytes.len()).is_some_and(|end| end <= self.len) {
            // SAFETY: these bytes are there, and nobody else has them.
            unsafe { copy_piece(bytes.as_ptr(), self.data.add(at), bytes.len()) };
        }
    }
    /// Keeps the first `n` bytes.
    pub fn truncate(&mut self, n: usize) {
        self.len = self.len.min(n);
    }
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: so many bytes are written.
        unsafe { std::slice::from_raw_parts(self.data, self.len) }
    }
    /// The written bytes, in the memory they were written to.
    pub fn into_binary(self) -> BinRef {
        let n = self.len;
        // SAFETY: nobody else holds it, and it was made without an owner.
        let b = unsafe { self.binary.moved(n) }.unwrap_or_else(|b| b);
        b.header().used.store(n, Ordering::Relaxed);
        b
    }
    /// The written bytes, as a binary. They are copied only if they are few, or much fewer than the
    /// memory holds.
    pub fn finish(self, heap: &Heap) -> Term<'_> {
        let (n, cap) = (self.len, self.cap);
        if n <= HEAP_BIN_LIMIT || cap - n > cap / MOST_UNUSED {
            return heap.binary(self.bytes());
        }
        // SAFETY: nobody else holds it, and it was made without an owner.
        let b = unsafe { self.binary.moved(n) }.unwrap_or_else(|b| b);
        b.header().used.store(n, Ordering::Relaxed);
        heap.refc_binary(b, n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_back_what_was_written() {
        let lengths = [0, 1, 64, 65, 200, 223, 224, 225, 500, 5000, 100_000];
        for n in lengths.into_iter().filter(|n| !cfg!(miri) || *n <= 500) {
            let h = Heap::new(64);
            let (mut w, mut want) = (Writer::default(), Vec::new());
            while want.len() < n {
                let piece = &b"0123456789abcdefghijklmnopqrstuvwxyz"
                    [..(n - want.len()).min(want.len() % 37)];
                w.push(piece);
                want.extend_from_slice(piece);
                if want.len() < n {
                    w.push_all([7]);
                    want.push(7);
                }
            }
            w.push_all([1, 2, 3, 4]);
            w.truncate(n);
            w.set(n / 2, b"xy");
            if n / 2 + 2 <= n {
                want[n / 2..n / 2 + 2].copy_from_slice(b"xy");
            }
            assert_eq!((w.len(), w.bytes()), (n, &want[..]));
            assert_eq!(w.finish(&h).as_bytes(), Some(&want[..]));
        }
    }
}
