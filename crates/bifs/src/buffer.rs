//! `prim_buffer`: a byte queue behind a magic reference. Large binaries are queued without copying,
//! small writes are coalesced.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use kvik_heap::{BinRef, Heap};
use kvik_proc::{bif, BifEntry, BifResult, Proc, Raised};
use kvik_sync::{SpinLock, SpinLockGuard};
use kvik_term::{am, Term};

pub const BIFS: &[BifEntry] = &[
    bif!("prim_buffer", "new", 0, new_0),
    bif!("prim_buffer", "size", 1, size_1),
    bif!("prim_buffer", "peek_head", 1, peek_head_1),
    bif!("prim_buffer", "copying_read", 2, copying_read_2),
    bif!("prim_buffer", "read", 2, read_2),
    bif!("prim_buffer", "write", 2, write_2),
    bif!("prim_buffer", "skip", 2, skip_2),
    bif!("prim_buffer", "find_byte_index", 2, find_byte_index_2),
    bif!("prim_buffer", "try_lock", 1, try_lock_1),
    bif!("prim_buffer", "unlock", 1, unlock_1),
];

/// Reads above this size share the piece that they come from, as in OTP.
const SHARED: usize = 512;
/// Writes below this size are coalesced into one piece.
const GATHER: usize = 2048;

enum Piece {
    /// Part of a binary that was written: start, length.
    Shared(BinRef, usize, usize),
    /// Bytes that the buffer owns, and how many of them were read.
    Own(Vec<u8>, usize),
}

impl Piece {
    fn bytes(&self) -> &[u8] {
        match self {
            Piece::Shared(b, from, n) => b.bytes().get(*from..from + n).unwrap_or(&[]),
            Piece::Own(v, from) => &v[*from..],
        }
    }
    fn advance(&mut self, k: usize) {
        match self {
            Piece::Shared(_, from, n) => {
                *from += k;
                *n -= k;
            }
            Piece::Own(_, from) => *from += k,
        }
    }
}

#[derive(Default)]
pub(crate) struct Queue {
    pieces: VecDeque<Piece>,
    size: usize,
}

impl Queue {
    pub(crate) fn len(&self) -> usize {
        self.size
    }
    pub(crate) fn pieces(&self) -> impl Iterator<Item = &[u8]> + Clone {
        self.pieces.iter().map(Piece::bytes)
    }
    /// Appends a binary and its bytes; `gather`: coalesce small ones.
    pub(crate) fn push(&mut self, p: &Proc, t: Term<'_>, bytes: &[u8], gather: bool) {
        if bytes.is_empty() {
            return;
        }
        self.size += bytes.len();
        if gather && bytes.len() < GATHER {
            match self.pieces.back_mut() {
                Some(Piece::Own(v, _)) if v.len() + bytes.len() <= 4 * GATHER => {
                    v.extend_from_slice(bytes)
                }
                _ => self.pieces.push_back(Piece::Own(bytes.to_vec(), 0)),
            }
            return;
        }
        self.pieces.push_back(match p.heap.off_heap_of(t) {
            Some((b, bit, _)) if bit % 8 == 0 && b.bytes().len() >= bit / 8 + bytes.len() => {
                Piece::Shared(b, bit / 8, bytes.len())
            }
            _ => Piece::Own(bytes.to_vec(), 0),
        });
    }
    /// Appends bytes `from ..` of a binary, without copying.
    pub(crate) fn push_shared(&mut self, b: BinRef, from: usize) {
        let n = b.bytes().len().saturating_sub(from);
        if n > 0 {
            self.size += n;
            self.pieces.push_back(Piece::Shared(b, from, n));
        }
    }
    /// Removes the first `n` bytes (or as many as there are) and returns them as a binary.
    pub(crate) fn take<'h>(&mut self, h: &'h Heap, n: usize) -> Term<'h> {
        let n = n.min(self.size);
        let t = match self.pieces.front() {
            Some(Piece::Shared(b, from, len)) if n > SHARED && n <= *len => {
                h.binary_part(b.clone(), *from, n)
            }
            Some(p) => p.bytes().get(..n).map(|b| h.binary(b)),
            None => None,
        };
        let t = t.unwrap_or_else(|| h.gathered(n, |g| self.pieces().for_each(|b| g.push(b))));
        self.skip(n);
        t
    }
    /// Removes the first line in the common case: it is short, in one piece, and ends in a lone LF.
    #[inline]
    pub(crate) fn take_line<'h>(&mut self, h: &'h Heap) -> Option<Term<'h>> {
        let first = self.pieces.front_mut()?;
        let bytes = first.bytes();
        let n = memchr::memchr(b'\n', bytes)? + 1;
        let line = &bytes[..n];
        if n > SHARED || n == bytes.len() || line.ends_with(b"\r\n") {
            return None;
        }
        let t = h.binary(line);
        first.advance(n);
        self.size -= n;
        Some(t)
    }
    /// The first position of that byte, skipping the first `known` bytes.
    pub(crate) fn find(&self, byte: u8, known: usize) -> Option<usize> {
        let mut before = 0;
        for b in self.pieces() {
            let from = known.saturating_sub(before).min(b.len());
            if let Some(i) = memchr::memchr(byte, &b[from..]) {
                return Some(before + from + i);
            }
            before += b.len();
        }
        None
    }
    pub(crate) fn clear(&mut self) {
        self.pieces.clear();
        self.size = 0;
    }
    /// Drops the first `n` bytes.
    pub(crate) fn skip(&mut self, mut n: usize) {
        self.size -= n;
        while let Some(p) = self.pieces.front_mut() {
            let len = p.bytes().len();
            if n < len {
                return p.advance(n);
            }
            n -= len;
            self.pieces.pop_front();
        }
    }
}

#[derive(Default)]
pub(crate) struct Buffer {
    queue: SpinLock<Queue>,
    /// False only if the queue is empty.
    used: AtomicBool,
    locked: AtomicBool,
}

impl Buffer {
    pub(crate) fn lock(&self) -> SpinLockGuard<'_, Queue> {
        self.used.store(true, Ordering::Relaxed);
        self.queue.lock()
    }
    /// Locks the queue unless it is empty. Most files never queue anything and skip the lock.
    #[inline]
    pub(crate) fn lock_filled(&self) -> Option<SpinLockGuard<'_, Queue>> {
        if !self.used.load(Ordering::Relaxed) {
            return None;
        }
        let q = self.lock();
        if q.size == 0 {
            self.used.store(false, Ordering::Relaxed);
            return None;
        }
        Some(q)
    }
}

#[inline]
pub(crate) fn buffer<'h>(p: &Proc, t: Term<'h>) -> Result<&'h Buffer, Raised> {
    let r = Heap::resource_ref(t).and_then(|r| r.downcast_ref::<Buffer>());
    r.ok_or_else(|| p.badarg())
}

fn with<R>(p: &Proc, t: Term<'_>, f: impl FnOnce(&mut Queue) -> R) -> Result<R, Raised> {
    Ok(f(&mut buffer(p, t)?.lock()))
}

fn new_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(p.heap.magic_ref(Arc::new(Buffer::default())))
}

fn size_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    with(p, a[0], |q| p.heap.unsigned(q.size as u64))
}

fn peek_head_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    with(p, a[0], |q| {
        let head = q.pieces.front_mut()?;
        if let Piece::Own(v, from) = head {
            // The piece is handed out; it is shared from now on.
            let b = BinRef::from_bytes(&v[*from..]);
            let n = b.bytes().len();
            *head = Piece::Shared(b, 0, n);
        }
        match head {
            Piece::Shared(b, from, n) if *n > 64 => {
                let whole = p.heap.refc_binary(b.clone(), b.bytes().len());
                p.heap.sub_binary(whole, *from * 8, *n * 8)
            }
            head => Some(p.heap.binary(head.bytes())),
        }
    })?
    .ok_or_else(|| p.badarg())
}

fn size_in(p: &Proc, t: Term<'_>, q: &Queue) -> Result<usize, Raised> {
    t.as_usize().filter(|n| *n <= q.size).ok_or_else(|| p.badarg())
}

fn copying_read_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    read_2(p, a)
}

/// Replaces the library function: one call instead of five. A large read that lies in one piece is
/// not copied.
fn read_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    with(p, a[0], |q| {
        let n = size_in(p, a[1], q)?;
        p.heap.bump_reductions(n as i64 / 1024);
        Ok(q.take(&p.heap, n))
    })?
}

fn write_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let items = a[1].list_to_vec().ok_or_else(|| p.badarg())?;
    if !items.iter().all(|t| t.as_bits().is_some_and(|b| b.is_binary())) {
        return Err(p.badarg());
    }
    with(p, a[0], |q| {
        for t in items {
            if let Some(b) = t.as_bits() {
                q.push(p, t, &b.to_bytes(), true);
            }
        }
        am::ok.into()
    })
}

fn skip_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    with(p, a[0], |q| {
        let n = size_in(p, a[1], q)?;
        q.skip(n);
        Ok(am::ok.into())
    })?
}

fn find_byte_index_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let byte = a[1].as_small().and_then(|n| u8::try_from(n).ok());
    let byte = byte.ok_or_else(|| p.badarg())?;
    with(p, a[0], |q| match q.find(byte, 0) {
        Some(i) => p.heap.tuple(&[am::ok.into(), p.heap.unsigned(i as u64)]),
        None => {
            p.heap.bump_reductions(q.size as i64 / 1024);
            am::not_found.into()
        }
    })
}

fn try_lock_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let was = buffer(p, a[0])?.locked.swap(true, Ordering::AcqRel);
    Ok(if was { am::busy } else { am::acquired }.into())
}

fn unlock_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    if buffer(p, a[0])?.locked.swap(false, Ordering::AcqRel) {
        Ok(am::ok.into())
    } else {
        Err(p.error(am::lock_order_violation))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_out_as_they_went_in() {
        let p = Proc::new(1, 1000);
        let b = new_0(&p, &[]).unwrap();
        let large = vec![b'x'; 5000];
        let list =
            p.heap.list(&[p.heap.binary(b"ab"), p.heap.binary(&large), p.heap.binary(b"\nz")]);
        write_2(&p, &[b, list]).unwrap();
        assert_eq!(size_1(&p, &[b]).unwrap().as_small(), Some(5004));
        let i = find_byte_index_2(&p, &[b, Term::int(10)]).unwrap();
        assert_eq!(i.as_tuple().unwrap().get(1).unwrap().as_small(), Some(5002));
        let t = copying_read_2(&p, &[b, Term::int(3)]).unwrap();
        assert_eq!(t.as_bytes().unwrap(), b"abx");
        let t = peek_head_1(&p, &[b]).unwrap();
        assert_eq!(t.as_bytes().unwrap(), &large[1..]);
        skip_2(&p, &[b, Term::int(4999)]).unwrap();
        let t = copying_read_2(&p, &[b, Term::int(2)]).unwrap();
        assert_eq!(t.as_bytes().unwrap(), b"\nz");
        let whole = p.heap.binary(&large);
        let list = p.heap.list(&[whole, p.heap.binary(b"tail"), whole]);
        write_2(&p, &[b, list]).unwrap();
        let t = read_2(&p, &[b, Term::int(5000)]).unwrap();
        assert!(t.as_bytes().unwrap() == large);
        let t = read_2(&p, &[b, Term::int(5)]).unwrap();
        assert_eq!(t.as_bytes().unwrap(), b"tailx");
        assert!(read_2(&p, &[b, Term::int(5000)]).is_err());
        skip_2(&p, &[b, Term::int(4999)]).unwrap();
        assert!(copying_read_2(&p, &[b, Term::int(1)]).is_err());
    }
}
