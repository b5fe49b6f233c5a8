//! A binary that is written from its first byte on, of which nobody knows how long it will be.

use std::alloc::{handle_alloc_error, Layout};
use std::sync::atomic::Ordering;

use kvik_term::word::HEAP_BIN_LIMIT;
use kvik_term::Term;

use crate::binary::{copy_piece, BinRef};
use crate::Heap;

/// What is finished may leave so large a part of its memory unused, which the allocator does not take
/// back from a block: a quarter.
const MOST_UNUSED: usize = 4;
/// Bytes there is room for at first.
const FIRST: usize = 224;

pub struct Writer {
    /// Held by nobody else. What is written is not noted in it before the end.
    binary: BinRef,
    /// Its first byte, and how many there is room for.
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
    /// For about so many bytes.
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
    /// The same of so many bytes that the compiler knows how many.
    #[inline]
    pub fn push_all<const N: usize>(&mut self, bytes: [u8; N]) {
        self.room(N);
        // SAFETY: as in `push`.
        unsafe { self.data.add(self.len).cast::<[u8; N]>().write(bytes) };
        self.len += N;
    }
    /// Room for `n` bytes behind those written, for who writes them in pieces.
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
    /// Other bytes in the place of some that are written; nothing where that is not so.
    pub fn set(&mut self, at: usize, bytes: &[u8]) {
        if at.checked_add(bytes.len()).is_some_and(|end| end <= self.len) {
            // SAFETY: these bytes are there, and nobody else has them.
            unsafe { copy_piece(bytes.as_ptr(), self.data.add(at), bytes.len()) };
        }
    }
    /// Leaves the first `n` bytes.
    pub fn truncate(&mut self, n: usize) {
        self.len = self.len.min(n);
    }
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: so many bytes are written.
        unsafe { std::slice::from_raw_parts(self.data, self.len) }
    }
    /// What was written, in the memory it was written to.
    pub fn into_binary(self) -> BinRef {
        let n = self.len;
        // SAFETY: nobody else holds it, and it was made without an owner.
        let b = unsafe { self.binary.moved(n) }.unwrap_or_else(|b| b);
        b.header().used.store(n, Ordering::Relaxed);
        b
    }
    /// What was written, as a binary. It is copied only where it is small,
    /// or much smaller than its memory.
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
