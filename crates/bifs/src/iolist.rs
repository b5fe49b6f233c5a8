//! `erlang`: binaries, bit strings and I/O lists made into each other.

use kvik_heap::Heap;
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{Bits, Term, View};

pub const BIFS: &[BifEntry] = &[
    bif!("erlang", "list_to_binary", 1, list_to_binary_1),
    bif!("erlang", "iolist_to_binary", 1, iolist_to_binary_1),
    bif!("erlang", "iolist_size", 1, iolist_size_1),
    bif!("erlang", "iolist_to_iovec", 1, iolist_to_iovec_1),
    bif!("erlang", "list_to_bitstring", 1, list_to_bitstring_1),
    bif!("erlang", "bitstring_to_list", 1, bitstring_to_list_1),
    bif!("erlang", "binary_to_list", 1, binary_to_list_1),
    bif!("erlang", "binary_to_list", 3, binary_to_list_3),
    bif!("erlang", "split_binary", 2, split_binary_2),
    bif!("erlang", "binary_part", 2, binary_part_2),
    bif!("erlang", "binary_part", 3, binary_part_3),
];

/// Bytes moved for one reduction.
pub(crate) const BYTES_PER_REDUCTION: usize = 1024;

/// Binaries of fewer bytes are gathered when a vector is made.
const VECTOR_LIMIT: usize = 256;

/// Something in a list that is neither byte, binary nor list.
pub struct BadList;

/// What an I/O list is made of.
pub enum Piece<'h> {
    Byte(u8),
    Bits(Bits<'h>, Term<'h>),
}

/// Visits the pieces of an I/O list (or a lone binary) in order.
pub fn pieces<'h>(
    t: Term<'h>,
    mut visit: impl FnMut(Piece<'h>) -> Result<(), BadList>,
) -> Result<(), BadList> {
    let mut later = Vec::new();
    let mut t = t;
    loop {
        match t.view() {
            View::Cons(c) => {
                let (head, tail) = (c.head(), c.tail());
                match head.view() {
                    View::Small(i) => visit(Piece::Byte(u8::try_from(i).map_err(|_| BadList)?))?,
                    View::Bits(b) => visit(Piece::Bits(b, head))?,
                    View::Nil => {}
                    View::Cons(_) => {
                        if !tail.is_nil() {
                            later.push(tail);
                        }
                        t = head;
                        continue;
                    }
                    _ => return Err(BadList),
                }
                t = tail;
                continue;
            }
            View::Bits(b) => visit(Piece::Bits(b, t))?,
            View::Nil => {}
            _ => return Err(BadList),
        }
        match later.pop() {
            Some(next) => t = next,
            None => return Ok(()),
        }
    }
}

/// The bytes of an I/O list. Bit strings that are not whole bytes are refused.
pub fn bytes_of(t: Term<'_>) -> Result<Vec<u8>, BadList> {
    let mut out = Vec::new();
    pieces(t, |p| {
        match p {
            Piece::Byte(b) => out.push(b),
            Piece::Bits(b, _) if b.is_binary() => out.extend_from_slice(&b.to_bytes()),
            Piece::Bits(..) => return Err(BadList),
        }
        Ok(())
    })?;
    Ok(out)
}

/// The bytes of an I/O list that has been looked through, part by part.
fn each_part(t: Term<'_>, mut part: impl FnMut(&[u8])) {
    let _ = pieces(t, |piece| {
        match piece {
            Piece::Byte(b) => part(&[b]),
            Piece::Bits(b, _) => part(&b.to_bytes()),
        }
        Ok(())
    });
}

/// A lone binary of at least so many bytes in a list is not copied where it is at least half of
/// what it would keep alive.
const SHARED: usize = 512;

/// The same as a binary, charged to the process.
pub(crate) fn binary_of<'h>(p: &'h Proc, t: Term<'h>) -> BifResult<'h> {
    let (mut size, mut lone, mut n) = (0usize, None, 0usize);
    pieces(t, |piece| {
        let bytes = match piece {
            Piece::Byte(_) => 1,
            Piece::Bits(b, _) if b.is_binary() => b.byte_size(),
            Piece::Bits(..) => return Err(BadList),
        };
        if bytes > 0 {
            n += 1;
            size += bytes;
            lone = if let Piece::Bits(_, t) = piece { Some(t) } else { None };
        }
        Ok(())
    })
    .map_err(|_| p.badarg())?;
    if let (Some(t), 1, SHARED..) = (lone, n, size) {
        if p.heap.off_heap_of(t).is_some_and(|(b, _, _)| b.capacity() / 2 <= size) {
            return Ok(t);
        }
    }
    charge(p, size);
    Ok(p.heap.gathered(size, |g| each_part(t, |bytes| g.push(bytes))))
}
pub(crate) fn charge(p: &Proc, bytes: usize) {
    p.heap.bump_reductions((bytes / BYTES_PER_REDUCTION) as i64);
}

fn list_to_binary_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    if !a[0].is_list() {
        return Err(p.badarg());
    }
    binary_of(p, a[0])
}

fn iolist_to_binary_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    match a[0].as_bits() {
        Some(b) if b.is_binary() => Ok(a[0]),
        Some(_) => Err(p.badarg()),
        None => binary_of(p, a[0]),
    }
}

fn iolist_size_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let mut n = 0usize;
    let mut seen = 0usize;
    pieces(a[0], |piece| {
        seen += 1;
        n += match piece {
            Piece::Byte(_) => 1,
            Piece::Bits(b, _) if b.is_binary() => b.byte_size(),
            Piece::Bits(..) => return Err(BadList),
        };
        Ok(())
    })
    .map_err(|_| p.badarg())?;
    p.heap.bump_reductions((seen / 64) as i64);
    Ok(p.heap.unsigned(n as u64))
}

/// Large binaries stay as they are; what lies between them is gathered.
fn iolist_to_iovec_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    if a[0].as_bits().is_some_and(|b| b.is_binary() && b.bit_len() > 0) {
        return Ok(p.heap.cons(a[0], Term::NIL));
    }
    let (mut out, mut small) = (Vec::new(), Vec::new());
    pieces(a[0], |piece| {
        match piece {
            Piece::Byte(b) => small.push(b),
            Piece::Bits(b, _) if !b.is_binary() => return Err(BadList),
            Piece::Bits(b, t) if b.byte_size() >= VECTOR_LIMIT => {
                if !small.is_empty() {
                    out.push(p.heap.binary(&small));
                    small.clear();
                }
                out.push(t);
            }
            Piece::Bits(b, _) => small.extend_from_slice(&b.to_bytes()),
        }
        Ok(())
    })
    .map_err(|_| p.badarg())?;
    if !small.is_empty() {
        out.push(p.heap.binary(&small));
    }
    Ok(p.heap.list(&out))
}

/// Appends bits behind `len` bits.
fn push_bits(out: &mut Vec<u8>, len: &mut usize, b: Bits<'_>) {
    let bytes = b.to_bytes();
    let shift = *len % 8;
    *len += b.bit_len();
    if shift == 0 {
        out.extend_from_slice(&bytes);
        return;
    }
    for x in bytes.iter() {
        if let Some(last) = out.last_mut() {
            *last |= x >> shift;
        }
        out.push(x << (8 - shift));
    }
    out.truncate(len.div_ceil(8));
}

fn list_to_bitstring_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    if !a[0].is_list() {
        return Err(p.badarg());
    }
    let (mut out, mut len) = (Vec::new(), 0);
    pieces(a[0], |piece| {
        match piece {
            Piece::Byte(b) => push_bits(&mut out, &mut len, Bits::of_bytes(&[b])),
            Piece::Bits(b, _) => push_bits(&mut out, &mut len, b),
        }
        Ok(())
    })
    .map_err(|_| p.badarg())?;
    charge(p, out.len());
    Ok(p.heap.bitstring(&out, len))
}

fn byte_list<'h>(h: &'h Heap, bytes: &[u8], tail: Term<'h>) -> Term<'h> {
    let items: Vec<Term<'h>> = bytes.iter().map(|b| Term::int(*b as i32)).collect();
    h.list_with_tail(&items, tail)
}

fn binary_to_list_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let b = a[0].as_bits().filter(|b| b.is_binary()).ok_or_else(|| p.badarg())?;
    charge(p, b.byte_size() * 8);
    Ok(byte_list(&p.heap, &b.to_bytes(), Term::NIL))
}

fn binary_to_list_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let part = || {
        let b = a[0].as_bits()?;
        let (start, stop) = (a[1].as_usize()?, a[2].as_usize()?);
        let size = b.bit_len() / 8;
        (start >= 1 && start <= stop && stop <= size)
            .then(|| b.slice((start - 1) * 8, (stop - start + 1) * 8))
    };
    let b = part().ok_or_else(|| p.badarg())?;
    charge(p, b.byte_size() * 8);
    Ok(byte_list(&p.heap, &b.to_bytes(), Term::NIL))
}

fn bitstring_to_list_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let b = a[0].as_bits().ok_or_else(|| p.badarg())?;
    let (whole, rest) = (b.bit_len() / 8, b.bit_len() % 8);
    let mut tail = Term::NIL;
    if rest > 0 {
        let last = p.heap.sub_binary(a[0], whole * 8, rest).ok_or_else(|| p.badarg())?;
        tail = p.heap.cons(last, Term::NIL);
    }
    let bytes = b.to_bytes();
    Ok(byte_list(&p.heap, bytes.get(..whole).unwrap_or(&[]), tail))
}

fn split_binary_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let split = || {
        let b = a[0].as_bits()?;
        let at = a[1].as_usize()?.checked_mul(8)?;
        let left = p.heap.sub_binary(a[0], 0, at)?;
        let right = p.heap.sub_binary(a[0], at, b.bit_len().checked_sub(at)?)?;
        Some(p.heap.tuple(&[left, right]))
    };
    split().ok_or_else(|| p.badarg())
}

/// `pos` and `len` (which may be negative) as a range of bytes within `size`.
pub(crate) fn byte_range(pos: Term<'_>, len: Term<'_>, size: usize) -> Option<(usize, usize)> {
    let pos = pos.as_usize()?;
    let len = len.as_small()?;
    let (from, n) = if len < 0 {
        let n = usize::try_from(len.unsigned_abs()).ok()?;
        (pos.checked_sub(n)?, n)
    } else {
        (pos, usize::try_from(len).ok()?)
    };
    (pos <= size && from.checked_add(n)? <= size).then_some((from, n))
}

/// A part of a binary, by bytes.
pub(crate) fn part<'h>(
    h: &'h Heap,
    bin: Term<'h>,
    pos: Term<'h>,
    len: Term<'h>,
) -> Option<Term<'h>> {
    let size = bin.as_bits()?.bit_len() / 8;
    let (from, n) = byte_range(pos, len, size)?;
    h.sub_binary(bin, from * 8, n * 8)
}

fn binary_part_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    a[1].as_tuple_n::<2>()
        .and_then(|[pos, len]| part(&p.heap, a[0], pos, len))
        .ok_or_else(|| p.badarg())
}
fn binary_part_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    part(&p.heap, a[0], a[1], a[2]).ok_or_else(|| p.badarg())
}
