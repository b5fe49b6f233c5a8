//! `=:=`: what is decided without the general walk over two terms.

use super::{bits, same, Mode};
use crate::object::Bits;
use crate::word::{
    header_subtag, BIG_NEG, BIG_POS, FLAT_MAP, FLOAT, HEAP_BIN, REFC_BIN, SUB_BIN, TUPLE,
};
use crate::zero::exact_bits;
use crate::{Cons, Term, Tuple};

/// `=:=`
#[inline]
pub fn eq_exact<'a>(a: Term<'a>, b: Term<'a>) -> bool {
    a.same(b) || (!a.is_immediate() && !b.is_immediate() && same_pointers(a, b))
}
/// Bit strings, which many maps have as keys, come first.
#[inline]
fn same_pointers<'a>(a: Term<'a>, b: Term<'a>) -> bool {
    match (a.as_bits(), b.as_bits()) {
        (Some(x), Some(y)) => same_bits(x, y),
        (None, None) => same_objects(NESTED, a, b),
        _ => false,
    }
}
/// `=:=` of tuples.
#[inline]
pub fn same_tuples<'a>(x: Tuple<'a>, y: Tuple<'a>) -> bool {
    x.len() == y.len() && same_elements(NESTED, x.elements(), y.elements())
}

/// Depth of nested tuples up to which they are compared by recursion.
const NESTED: usize = 4;

/// `=:=` of two different words that are both pointers.
fn same_objects<'a>(depth: usize, a: Term<'a>, b: Term<'a>) -> bool {
    let (Some((h, _)), Some((g, _))) = (a.boxed(), b.boxed()) else {
        return match (a.as_cons(), b.as_cons()) {
            (Some(x), Some(y)) => same_lists(x, y).unwrap_or_else(|| same(a, b, Mode::Exact)),
            _ => false,
        };
    };
    match header_subtag(h) {
        // The header has the size.
        TUPLE | FLOAT | BIG_POS | BIG_NEG if h != g => false,
        TUPLE if depth > 0 => match (a.as_tuple(), b.as_tuple()) {
            (Some(x), Some(y)) => same_elements(depth - 1, x.elements(), y.elements()),
            _ => false,
        },
        FLOAT => a.as_float().map(exact_bits) == b.as_float().map(exact_bits),
        BIG_POS | BIG_NEG => a.as_big().map(|x| x.digits()) == b.as_big().map(|y| y.digits()),
        REFC_BIN | HEAP_BIN | SUB_BIN => match (a.as_bits(), b.as_bits()) {
            (Some(x), Some(y)) => same_bits(x, y),
            _ => false,
        },
        FLAT_MAP if small_maps_differ(a, b) => false,
        _ => match (a.as_local_ref(), b.as_local_ref()) {
            (Some(x), Some(y)) => x.numbers() == y.numbers(),
            _ => same(a, b, Mode::Exact),
        },
    }
}
fn same_bits(x: Bits<'_>, y: Bits<'_>) -> bool {
    x.bit_len() == y.bit_len()
        && match (x.as_bytes(), y.as_bytes()) {
            (Some(x), Some(y)) => x == y,
            _ => bits(x, y).is_eq(),
        }
}
/// Compares elements without parts first: most tuples that differ do so there.
fn same_elements<'a>(depth: usize, x: &[Term<'a>], y: &[Term<'a>]) -> bool {
    let mut deeper = false;
    for (p, q) in x.iter().zip(y) {
        if !p.same(*q) {
            if p.is_immediate() || q.is_immediate() {
                return false;
            }
            deeper = true;
        }
    }
    !deeper || x.iter().zip(y).all(|(p, q)| p.same(*q) || same_objects(depth, *p, *q))
}
/// `=:=` of lists as far as some elements decide it that are the same words or immediates.
fn same_lists<'a>(mut x: Cons<'a>, mut y: Cons<'a>) -> Option<bool> {
    const MOST: usize = 32;
    for _ in 0..MOST {
        let (h, k, t, u) = (x.head(), y.head(), x.tail(), y.tail());
        if differ(h, k) || differ(t, u) {
            return Some(false);
        }
        if !h.same(k) {
            return None;
        }
        if t.same(u) {
            return Some(true);
        }
        (x, y) = (t.as_cons()?, u.as_cons()?);
    }
    None
}
/// Whether two terms are different words of which one is an immediate at least.
fn differ(a: Term<'_>, b: Term<'_>) -> bool {
    !a.same(b) && (a.is_immediate() || b.is_immediate())
}
/// Whether small maps have different sizes, or keys or values that are different immediates.
fn small_maps_differ<'a>(a: Term<'a>, b: Term<'a>) -> bool {
    let flat = |t: Term<'a>| t.as_map().and_then(|m| m.flat());
    let (Some((keys, values)), Some((others, theirs))) = (flat(a), flat(b)) else { return true };
    let any = |x: &[Term<'a>], y: &[Term<'a>]| x.iter().zip(y).any(|(p, q)| differ(*p, *q));
    keys.len() != others.len()
        || (!std::ptr::eq(keys, others) && any(keys, others))
        || any(values, theirs)
}
