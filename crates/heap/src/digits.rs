//! Arithmetic on magnitudes: natural numbers as 64-bit digits, the least significant first. It works
//! on slices, so that a bignum is computed from the digits of terms straight into a process's heap.
//!
//! Operands have no leading zeros unless a function says otherwise; 0 has no digits. Results may have
//! leading zeros.

use std::cmp::Ordering;

use num_bigint::BigUint;

mod divide;
mod multiply;
mod parse;

pub use divide::{quotient, remainder};
pub use multiply::{mul, product_of_two};
pub use parse::{len_of_text, parse};

#[inline]
pub fn bits(x: &[u64]) -> u64 {
    x.last().map_or(0, |high| 64 * x.len() as u64 - u64::from(high.leading_zeros()))
}

#[inline]
pub fn compare(x: &[u64], y: &[u64]) -> Ordering {
    x.len().cmp(&y.len()).then_with(|| x.iter().rev().cmp(y.iter().rev()))
}

/// Digits that the loops take at a time: within a block the carry stays in the processor's flag, and
/// multiplications run ahead of the additions that wait for it.
const BLOCK: usize = 4;

/// Digits up to which a loop copies faster than a call.
const FEW_DIGITS: usize = 8;

#[inline(always)]
fn add_carry(x: u64, y: u64, carry: bool) -> (u64, bool) {
    let (s, over) = x.overflowing_add(y);
    let (s, over_again) = s.overflowing_add(u64::from(carry));
    (s, over | over_again)
}
#[inline(always)]
fn sub_borrow(x: u64, y: u64, borrow: bool) -> (u64, bool) {
    let (s, under) = x.overflowing_sub(y);
    let (s, under_again) = s.overflowing_sub(u64::from(borrow));
    (s, under | under_again)
}
/// `r += y`, of equal length; answers the carry.
fn add_to(r: &mut [u64], y: &[u64]) -> bool {
    let mut carry = false;
    for (r, y) in r.iter_mut().zip(y) {
        (*r, carry) = add_carry(*r, *y, carry);
    }
    carry
}

/// `r -= y`, where `r` is not less and not shorter.
fn sub_from(r: &mut [u64], y: &[u64]) {
    let (low, high) = r.split_at_mut(y.len());
    let mut borrow = false;
    for (r, y) in low.iter_mut().zip(y) {
        (*r, borrow) = sub_borrow(*r, *y, borrow);
    }
    for r in high {
        if !borrow {
            return;
        }
        (*r, borrow) = sub_borrow(*r, 0, true);
    }
}

/// `r = x + y` or `r = x - y`; `r` has the length of `x`, `y` at most that. Answers the carry.
#[inline(always)]
fn combine(
    r: &mut [u64],
    x: &[u64],
    y: &[u64],
    step: impl Fn(u64, u64, bool) -> (u64, bool),
) -> bool {
    let (low, high) = r.split_at_mut(y.len());
    let (x_low, x_high) = x.split_at(y.len());
    let mut carry = false;
    // In blocks, so that the carry stays in the flag.
    let (mut r, mut x, mut y) =
        (low.chunks_exact_mut(BLOCK), x_low.chunks_exact(BLOCK), y.chunks_exact(BLOCK));
    for ((r, x), y) in r.by_ref().zip(x.by_ref()).zip(y.by_ref()) {
        let (Ok(x), Ok(y)) = (<&[u64; BLOCK]>::try_from(x), <&[u64; BLOCK]>::try_from(y)) else {
            continue;
        };
        let mut block = [0; BLOCK];
        for i in 0..BLOCK {
            (block[i], carry) = step(x[i], y[i], carry);
        }
        r.copy_from_slice(&block);
    }
    for ((r, x), y) in r.into_remainder().iter_mut().zip(x.remainder()).zip(y.remainder()) {
        (*r, carry) = step(*x, *y, carry);
    }
    let mut rest = high.iter_mut().zip(x_high);
    // Few are not worth a call that copies them.
    let few = x_high.len() <= FEW_DIGITS;
    for (r, x) in rest.by_ref() {
        (*r, carry) = step(*x, 0, carry);
        if !carry && !few {
            break;
        }
    }
    let done = x_high.len() - rest.len();
    if done < x_high.len() {
        high[done..].copy_from_slice(&x_high[done..]);
    }
    carry
}

/// `r = x + y`; `r` has one digit more than the longer.
pub fn add(r: &mut [u64], x: &[u64], y: &[u64]) {
    let (x, y) = if x.len() >= y.len() { (x, y) } else { (y, x) };
    let (high, low) = r.split_last_mut().unzip();
    if let (Some(high), Some(low)) = (high, low) {
        *high = u64::from(combine(low, x, y, add_carry));
    }
}

/// `r = x - y`, where `x` is not less than `y`; `r` has the length of `x`.
pub fn sub(r: &mut [u64], x: &[u64], y: &[u64]) {
    combine(r, x, y, sub_borrow);
}

/// `r += 1`; the caller knows that it fits.
fn increment(r: &mut [u64]) {
    for d in r {
        let (s, over) = d.overflowing_add(1);
        *d = s;
        if !over {
            return;
        }
    }
}

/// `x * d + carry` of a block, and the carry out of it.
#[inline(always)]
fn block_product(x: &[u64; BLOCK], d: u64, carry: u64) -> ([u64; BLOCK], u64) {
    let products = x.map(|x| u128::from(x) * u128::from(d));
    let (mut out, mut high, mut over) = ([0; BLOCK], carry, false);
    for i in 0..BLOCK {
        (out[i], over) = add_carry(products[i] as u64, high, over);
        high = (products[i] >> 64) as u64;
    }
    (out, high + u64::from(over))
}
/// Calls `block` and `single` for the digits of both, the blocks first, with the carry between them.
#[inline(always)]
fn in_blocks(
    r: &mut [u64],
    x: &[u64],
    block: impl Fn(&mut [u64; BLOCK], &[u64; BLOCK], u64) -> u64,
    single: impl Fn(&mut u64, u64, u64) -> u64,
) -> u64 {
    let (mut r, mut x) = (r.chunks_exact_mut(BLOCK), x.chunks_exact(BLOCK));
    let mut carry = 0;
    for (r, x) in r.by_ref().zip(x.by_ref()) {
        if let (Ok(r), Ok(x)) = (r.try_into(), x.try_into()) {
            carry = block(r, x, carry);
        }
    }
    for (r, x) in r.into_remainder().iter_mut().zip(x.remainder()) {
        carry = single(r, *x, carry);
    }
    carry
}

/// `r = x * d`, of equal length; answers the carry.
fn mul_digit(r: &mut [u64], x: &[u64], d: u64) -> u64 {
    let block = |r: &mut [u64; BLOCK], x: &[u64; BLOCK], carry| {
        let (product, carry) = block_product(x, d, carry);
        *r = product;
        carry
    };
    in_blocks(r, x, block, |r, x, carry| {
        let t = u128::from(x) * u128::from(d) + u128::from(carry);
        *r = t as u64;
        (t >> 64) as u64
    })
}
/// `r += x * d`, of equal length; answers the carry.
fn mul_add(r: &mut [u64], x: &[u64], d: u64) -> u64 {
    let block = |r: &mut [u64; BLOCK], x: &[u64; BLOCK], carry| {
        let (product, carry) = block_product(x, d, carry);
        let mut over = false;
        for i in 0..BLOCK {
            (r[i], over) = add_carry(r[i], product[i], over);
        }
        carry + u64::from(over)
    };
    in_blocks(r, x, block, |r, x, carry| {
        let t = u128::from(x) * u128::from(d) + u128::from(*r) + u128::from(carry);
        *r = t as u64;
        (t >> 64) as u64
    })
}
/// `r -= x * d`, of equal length; answers the borrow.
fn mul_sub(r: &mut [u64], x: &[u64], d: u64) -> u64 {
    let block = |r: &mut [u64; BLOCK], x: &[u64; BLOCK], borrow| {
        let (product, borrow) = block_product(x, d, borrow);
        let mut under = false;
        for i in 0..BLOCK {
            (r[i], under) = sub_borrow(r[i], product[i], under);
        }
        borrow + u64::from(under)
    };
    in_blocks(r, x, block, |r, x, borrow| {
        let t = u128::from(x) * u128::from(d) + u128::from(borrow);
        let (s, under) = r.overflowing_sub(t as u64);
        *r = s;
        (t >> 64) as u64 + u64::from(under)
    })
}

pub fn natural(x: &[u64]) -> BigUint {
    let mut halves = vec![0; 2 * x.len()];
    for (h, d) in halves.chunks_exact_mut(2).zip(x) {
        (h[0], h[1]) = (*d as u32, (*d >> 32) as u32);
    }
    BigUint::new(halves)
}

/// Copies the digits of the crate's number.
fn put_natural(r: &mut [u64], n: &BigUint) {
    for (r, d) in r.iter_mut().zip(n.iter_u64_digits()) {
        *r = d;
    }
}

/// `r = x * 2^by`; `r` is long enough and all zero.
pub fn shift_left(r: &mut [u64], x: &[u64], by: u64) {
    let (words, by) = ((by / 64) as usize, (by % 64) as u32);
    let r = &mut r[words..];
    if by == 0 {
        r[..x.len()].copy_from_slice(x);
        return;
    }
    let (Some(first), Some(last)) = (x.first(), x.last()) else { return };
    r[0] = first << by;
    for (r, pair) in r[1..].iter_mut().zip(x.windows(2)) {
        *r = pair[1] << by | pair[0] >> (64 - by);
    }
    if let Some(r) = r.get_mut(x.len()) {
        *r = last >> (64 - by);
    }
}

/// `r = x / 2^by`; `r` has at least the digits that remain. Answers whether all bits that are shifted
/// out are 0. `x` may have leading zeros.
pub fn shift_right(r: &mut [u64], x: &[u64], by: u64) -> bool {
    let words = usize::try_from(by / 64).map_or(x.len(), |w| w.min(x.len()));
    let by = (by % 64) as u32;
    let (lost, kept) = x.split_at(words);
    let exact = lost.iter().all(|d| *d == 0);
    if by == 0 {
        r[..kept.len()].copy_from_slice(kept);
        return exact;
    }
    let (Some(first), Some(last)) = (kept.first(), kept.last()) else { return exact };
    for (r, pair) in r.iter_mut().zip(kept.windows(2)) {
        *r = pair[1] << (64 - by) | pair[0] >> by;
    }
    r[kept.len() - 1] = last >> by;
    exact && first << (64 - by) == 0
}

/// `r = floor(x / 2^by)` as a magnitude, for the number with `x`'s digits and that sign; `r` has one
/// digit more than remain, all zero.
pub fn shift_right_signed(r: &mut [u64], negative: bool, x: &[u64], by: u64) {
    if !shift_right(r, x, by) && negative {
        increment(r);
    }
}

/// The digits of a number in two's complement, without end.
struct TwosComplement<'a> {
    digits: std::slice::Iter<'a, u64>,
    negative: bool,
    carry: bool,
}

impl<'a> TwosComplement<'a> {
    fn new((negative, digits): (bool, &'a [u64])) -> TwosComplement<'a> {
        TwosComplement { digits: digits.iter(), negative, carry: negative }
    }
    #[inline(always)]
    fn next(&mut self) -> u64 {
        let d = self.digits.next().copied().unwrap_or(0);
        if !self.negative {
            return d;
        }
        let (d, carry) = (!d).overflowing_add(u64::from(self.carry));
        self.carry = carry;
        d
    }
}

/// `r = x op y` as a magnitude; `r` has one digit more than the longer. Answers whether the result is
/// negative.
#[inline(always)]
pub fn bitwise(
    r: &mut [u64],
    x: (bool, &[u64]),
    y: (bool, &[u64]),
    op: impl Fn(u64, u64) -> u64,
) -> bool {
    let sign = |negative: bool| if negative { u64::MAX } else { 0 };
    let negative = op(sign(x.0), sign(y.0)) != 0;
    if !x.0 && !y.0 {
        let ((_, long), (_, short)) = if x.1.len() >= y.1.len() { (x, y) } else { (y, x) };
        let (low, high) = long.split_at(short.len());
        for ((r, x), y) in r.iter_mut().zip(low).zip(short) {
            *r = op(*x, *y);
        }
        for (r, x) in r[short.len()..].iter_mut().zip(high) {
            *r = op(*x, 0);
        }
        r[long.len()] = 0;
        return false;
    }
    let (mut x, mut y) = (TwosComplement::new(x), TwosComplement::new(y));
    let mut carry = negative;
    for r in r {
        let d = op(x.next(), y.next());
        *r = d;
        if negative {
            (*r, carry) = (!d).overflowing_add(u64::from(carry));
        }
    }
    negative
}
