//! Arithmetic on magnitudes: natural numbers as 64-bit digits, the least significant first. It works
//! on slices, so that a bignum is computed from the digits of terms straight into a process's heap.
//!
//! Operands have no leading zeros unless a function says otherwise; 0 has no digits. Results may have
//! leading zeros.

use std::cmp::Ordering;

use num_bigint::BigUint;
use smallvec::SmallVec;

/// From so many digits in both factors on, Karatsuba's and Toom's methods pay for the conversion to
/// the crate's numbers.
const SUBQUADRATIC_DIGITS: usize = 40;
/// The same for divisor and quotient.
const SUBQUADRATIC_QUOTIENT_DIGITS: usize = 256;

/// Whether the crate divides the faster.
fn divides_long(x: &[u64], y: &[u64]) -> bool {
    x.len().saturating_sub(y.len()).min(y.len()) >= SUBQUADRATIC_QUOTIENT_DIGITS
}

pub fn bits(x: &[u64]) -> u64 {
    x.last().map_or(0, |high| 64 * x.len() as u64 - u64::from(high.leading_zeros()))
}

pub fn compare(x: &[u64], y: &[u64]) -> Ordering {
    x.len().cmp(&y.len()).then_with(|| x.iter().rev().cmp(y.iter().rev()))
}

/// Digits that the loops take at a time: within a block the carry stays in the processor's flag, and
/// multiplications run ahead of the additions that wait for it.
const BLOCK: usize = 4;

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
    let mut done = 0;
    while carry && done < high.len() {
        (high[done], carry) = step(x_high[done], 0, true);
        done += 1;
    }
    high[done..].copy_from_slice(&x_high[done..]);
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

/// `r = x * y`; `r` has as many digits as both, all zero.
pub fn mul(r: &mut [u64], x: &[u64], y: &[u64]) {
    let (x, y) = if x.len() >= y.len() { (x, y) } else { (y, x) };
    if y.len() >= SUBQUADRATIC_DIGITS {
        return put_natural(r, &(natural(x) * natural(y)));
    }
    let Some((first, others)) = y.split_first() else { return };
    r[x.len()] = mul_digit(&mut r[..x.len()], x, *first);
    for (i, d) in others.iter().enumerate() {
        let r = &mut r[i + 1..];
        r[x.len()] = mul_add(&mut r[..x.len()], x, *d);
    }
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

/// A divisor with its highest bit set, and its reciprocal: division by two multiplications, after
/// Möller and Granlund, "Improved division by invariant integers" (2011).
struct Divisor {
    d: u64,
    reciprocal: u64,
}

impl Divisor {
    fn new(d: u64) -> Divisor {
        Divisor { d, reciprocal: (u128::MAX / u128::from(d)) as u64 }
    }
    /// Quotient and remainder of two digits, the higher of which is less than the divisor.
    #[inline(always)]
    fn divide(&self, high: u64, low: u64) -> (u64, u64) {
        let q = u128::from(self.reciprocal) * u128::from(high)
            + (u128::from(high) << 64 | u128::from(low));
        let fraction = q as u64;
        let mut q = ((q >> 64) as u64).wrapping_add(1);
        let mut r = low.wrapping_sub(q.wrapping_mul(self.d));
        if r > fraction {
            q = q.wrapping_sub(1);
            r = r.wrapping_add(self.d);
        }
        if r >= self.d {
            q = q.wrapping_add(1);
            r -= self.d;
        }
        (q, r)
    }
}

/// The upper digit of two that are shifted left by less than 64 bits.
#[inline(always)]
fn shifted(high: u64, low: u64, by: u32) -> u64 {
    ((u128::from(high) << 64 | u128::from(low)) << by >> 64) as u64
}

/// Calls `each` for the digits of `x / d` from the highest down, with their places; answers `x rem d`.
/// `d` is not 0.
fn div_digit(x: &[u64], d: u64, mut each: impl FnMut(usize, u64)) -> u64 {
    let by = d.leading_zeros();
    let divisor = Divisor::new(d << by);
    let Some(high) = x.last() else { return 0 };
    let mut r = shifted(0, *high, by);
    for i in (0..x.len()).rev() {
        let low = if i > 0 { x[i - 1] } else { 0 };
        let (q, rest) = divisor.divide(r, shifted(x[i], low, by));
        r = rest;
        each(i, q);
    }
    r >> by
}

/// Digits of a dividend, with one more in front, shifted left.
type Dividend = SmallVec<[u64; 36]>;

/// Divides by Knuth's algorithm D (The Art of Computer Programming 4.3.1). `y` has at least two
/// digits, `x` no fewer. Calls `each` for the quotient's digits with their places; answers the
/// remainder and by how many bits it is shifted left.
fn div_long(x: &[u64], y: &[u64], mut each: impl FnMut(usize, u64)) -> (Dividend, u32) {
    let n = y.len();
    let by = y[n - 1].leading_zeros();
    let mut u = Dividend::from_elem(0, x.len() + 1);
    shift_left(&mut u, x, u64::from(by));
    let mut normal = Dividend::from_elem(0, n);
    shift_left(&mut normal, y, u64::from(by));
    let y = &normal[..];
    let (high, second) = (y[n - 1], y[n - 2]);
    let divisor = Divisor::new(high);
    for place in (0..=x.len() - n).rev() {
        let (top, u1, u0) = (u[place + n], u[place + n - 1], u[place + n - 2]);
        // The digit that the two highest suggest, made exact or one too large by the third.
        let (mut q, mut rest, mut certain) = match top < high {
            true => {
                let (q, rest) = divisor.divide(top, u1);
                (q, rest, false)
            }
            false => {
                let (rest, over) = u1.overflowing_add(high);
                (u64::MAX, rest, over)
            }
        };
        while !certain
            && u128::from(q) * u128::from(second) > (u128::from(rest) << 64 | u128::from(u0))
        {
            q -= 1;
            (rest, certain) = rest.overflowing_add(high);
        }
        let window = &mut u[place..=place + n];
        let borrow = mul_sub(&mut window[..n], y, q);
        let (left, under) = window[n].overflowing_sub(borrow);
        window[n] = left;
        if under {
            q -= 1;
            let carry = add_to(&mut window[..n], y);
            window[n] = left.wrapping_add(u64::from(carry));
        }
        each(place, q);
    }
    u.truncate(n);
    (u, by)
}

/// `q = x / y`, where `y` is not 0; `q` has the length of `x`, all zero.
pub fn quotient(q: &mut [u64], x: &[u64], y: &[u64]) {
    match *y {
        [] => {}
        [d] => {
            div_digit(x, d, |i, digit| q[i] = digit);
        }
        _ if x.len() < y.len() => {}
        _ if divides_long(x, y) => put_natural(q, &(natural(x) / natural(y))),
        _ => {
            div_long(x, y, |i, digit| q[i] = digit);
        }
    }
}

/// `r = x rem y`, where `y` is not 0; `r` has as many digits as the shorter, all zero.
pub fn remainder(r: &mut [u64], x: &[u64], y: &[u64]) {
    match *y {
        [] => {}
        [d] => {
            if let Some(r) = r.first_mut() {
                *r = div_digit(x, d, |_, _| {});
            }
        }
        _ if x.len() < y.len() => r.copy_from_slice(x),
        _ if divides_long(x, y) => put_natural(r, &(natural(x) % natural(y))),
        _ => {
            let (rest, by) = div_long(x, y, |_, _| {});
            shift_right(r, &rest, u64::from(by));
        }
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
