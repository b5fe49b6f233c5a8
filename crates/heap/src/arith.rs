//! Arithmetic on any two numbers: small integers directly, bignums by [`digits`] from the digits of
//! the operands to those of the result, floats with a check that the result is finite.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use num_bigint::{BigInt, Sign};

use kvik_term::{Big, Term, View};

use crate::big_build::FEW_WORDS;
use crate::{digits, Heap};

/// Reductions of an operation on large integers that works on so many words.
#[inline(always)]
pub fn operation_cost(words: u64) -> u64 {
    match WORDS_PER_REDUCTION.load(Relaxed) {
        0 => 0,
        per if words < per => 1,
        per => (words / per + 1).min(MAX_CHARGE),
    }
}

/// Why an operation has no result.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum ArithError {
    /// `badarith`
    BadArith,
    /// An integer of more bits than allowed: `system_limit`.
    SystemLimit,
}

pub type Number<'h> = Result<Term<'h>, ArithError>;

kvik_state::vm_state! {
    /// Bits of the largest integers. Since OTP 27 there are fewer than in releases before.
    static MAX_BITS: AtomicU64 = AtomicU64::new(((1 << 19) - 1) * 64);
    /// Words of a large integer that are worth a reduction; none if 0.
    static WORDS_PER_REDUCTION: AtomicU64 = AtomicU64::new(0);
}

/// Integers of so many words are never too large.
const LIMITED_WORDS: usize = 64;

/// An operation counts no more reductions than a time slice has.
const MAX_CHARGE: u64 = 4000;

/// Maximum size of an integer, in bits.
#[inline]
pub fn max_bits() -> u64 {
    MAX_BITS.load(Relaxed)
}
/// Changes [`max_bits`], before the first integer is made.
pub fn set_max_words(words: u32) {
    MAX_BITS.store(u64::from(words) * 64, Relaxed);
}
/// From now on arithmetic on large integers counts reductions.
pub fn set_words_per_reduction(words: u32) {
    WORDS_PER_REDUCTION.store(u64::from(words), Relaxed);
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum ArithOp {
    Add,
    Sub,
    Mul,
}
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum BitOp {
    And,
    Or,
    Xor,
}

/// A bignum's value.
pub fn big_value(b: Big<'_>) -> BigInt {
    let sign = if b.is_negative() { Sign::Minus } else { Sign::Plus };
    BigInt::from_biguint(sign, digits::natural(b.digits()))
}

/// An integer's value.
pub fn integer_value(t: Term<'_>) -> Option<BigInt> {
    match t.view() {
        View::Small(i) => Some(BigInt::from(i)),
        View::Big(b) => Some(big_value(b)),
        _ => None,
    }
}

/// An integer operand: its sign and its digits, of which a small one's is in `room`.
type Operand<'a> = (bool, &'a [u64]);

#[inline(always)]
fn operand<'a>(t: Term<'a>, room: &'a mut [u64; 1]) -> Option<Operand<'a>> {
    if let Some(i) = t.as_small() {
        *room = [i.unsigned_abs()];
        return Some((i < 0, &room[usize::from(i == 0)..]));
    }
    t.as_big().map(|b| (b.is_negative(), b.digits()))
}

/// The value as a float; `None` for a term that is no number, or beyond the range of floats.
pub fn float_value(t: Term<'_>) -> Option<f64> {
    if let Some(i) = t.as_small() {
        return Some(i as f64);
    }
    t.as_float().or_else(|| t.as_big().and_then(Big::to_f64))
}

impl Heap {
    /// An integer of any size.
    pub fn big_integer(&self, i: &BigInt) -> Term<'_> {
        let digits: Vec<u64> = i.iter_u64_digits().collect();
        self.big(i.sign() == Sign::Minus, &digits)
    }
    /// A new integer, unless it is too large.
    #[inline(always)]
    fn limited<'h>(&self, new: Term<'h>) -> Number<'h> {
        match new.as_big().map(|b| b.digits()) {
            Some(d) if d.len() > LIMITED_WORDS && digits::bits(d) > max_bits() => {
                Err(ArithError::SystemLimit)
            }
            _ => Ok(new),
        }
    }
    fn finite(&self, f: f64) -> Number<'_> {
        if f.is_finite() {
            Ok(self.float(f))
        } else {
            Err(ArithError::BadArith)
        }
    }

    /// Counts the reductions of an operation that works on so many words, of integers of which one at
    /// least is large.
    #[inline(always)]
    fn charge(&self, words: u64) {
        match operation_cost(words) {
            0 => {}
            n => self.bump_reductions(n as i64),
        }
    }
    /// `+ - *`
    #[inline]
    pub fn arith<'h>(&'h self, op: ArithOp, a: Term<'h>, b: Term<'h>) -> Number<'h> {
        let small = a.as_small().zip(b.as_small());
        if let Some((x, y)) = small {
            let r = match op {
                ArithOp::Add => Some(x + y),
                ArithOp::Sub => Some(x - y),
                ArithOp::Mul => x.checked_mul(y),
            };
            if let Some(r) = r {
                return Ok(self.integer(r));
            }
        }
        let rooms = &mut [[0]; 2];
        let Ok((x, y)) = integers(a, b, rooms) else { return self.float_arith(op, a, b) };
        if small.is_none() {
            let (m, n) = (words(x.1), words(y.1));
            self.charge(match op {
                ArithOp::Add => m.max(n) + 2,
                ArithOp::Sub => m.max(n) + 1,
                ArithOp::Mul => m.saturating_mul(n),
            });
        }
        match op {
            ArithOp::Add => self.add(x, y),
            ArithOp::Sub => self.add(x, (!y.0, y.1)),
            ArithOp::Mul => self.multiply(x, y),
        }
    }
    fn float_arith<'h>(&'h self, op: ArithOp, a: Term<'h>, b: Term<'h>) -> Number<'h> {
        let (x, y) = floats(a, b)?;
        self.finite(match op {
            ArithOp::Add => x + y,
            ArithOp::Sub => x - y,
            ArithOp::Mul => x * y,
        })
    }
    fn multiply(&self, (x_negative, x): Operand<'_>, (y_negative, y): Operand<'_>) -> Number<'_> {
        if let ([d], [e]) = (x, y) {
            let product = u128::from(*d) * u128::from(*e);
            return Ok(self.big_wide(x_negative != y_negative, product, false));
        }
        let negative = x_negative != y_negative;
        let (x, y) = if x.len() >= y.len() { (x, y) } else { (y, x) };
        match (x, y) {
            (_, []) => return Ok(Term::int(0)),
            ([_, _, ..], [d]) if x.len() <= FEW_WORDS => {
                return Ok(self.big_times_digit(negative, x, *d))
            }
            ([x0, x1], [y0, y1]) => {
                let product = digits::product_of_two([*x0, *x1], [*y0, *y1]);
                return Ok(self.big_of_few(negative, &product));
            }
            _ if x.len() + y.len() <= FEW_WORDS => return Ok(self.big_product(negative, x, y)),
            _ => {}
        }
        if x.len() + y.len() > LIMITED_WORDS && digits::bits(x) + digits::bits(y) > max_bits() + 1 {
            return Err(ArithError::SystemLimit);
        }
        self.limited(self.big_with(x.len() + y.len(), |r| {
            digits::mul(r, x, y);
            negative
        }))
    }
    fn add(&self, (x_negative, x): Operand<'_>, (y_negative, y): Operand<'_>) -> Number<'_> {
        if let (Some(x), Some(y)) = (wide(x), wide(y)) {
            return Ok(if x_negative == y_negative {
                let (sum, over) = x.overflowing_add(y);
                self.big_wide(x_negative, sum, over)
            } else if x < y {
                self.big_wide(y_negative, y - x, false)
            } else {
                self.big_wide(x_negative, x - y, false)
            });
        }
        if x_negative == y_negative {
            let (x, y) = if x.len() >= y.len() { (x, y) } else { (y, x) };
            if x.len() <= FEW_WORDS {
                return Ok(self.big_sum(x_negative, x, y));
            }
            return self.limited(self.big_with(x.len() + 1, |r| {
                digits::add(r, x, y);
                x_negative
            }));
        }
        let (negative, x, y) = match digits::compare(x, y).is_lt() {
            true => (y_negative, y, x),
            false => (x_negative, x, y),
        };
        Ok(match x.len() <= FEW_WORDS {
            true => self.big_difference(negative, x, y),
            false => self.big_with(x.len(), |r| {
                digits::sub(r, x, y);
                negative
            }),
        })
    }
    /// `/`
    pub fn divide<'h>(&'h self, a: Term<'h>, b: Term<'h>) -> Number<'h> {
        let (x, y) = floats(a, b)?;
        if y == 0.0 {
            return Err(ArithError::BadArith);
        }
        self.finite(x / y)
    }
    /// `div` and `rem`
    pub fn int_divide<'h>(&'h self, a: Term<'h>, b: Term<'h>, rem: bool) -> Number<'h> {
        if let (Some(x), Some(y)) = (a.as_small(), b.as_small()) {
            if y == 0 {
                return Err(ArithError::BadArith);
            }
            return Ok(self.integer(if rem { x % y } else { x / y }));
        }
        let rooms = &mut [[0]; 2];
        let ((x_negative, x), (y_negative, y)) = integers(a, b, rooms)?;
        let (m, n) = (words(x), words(y));
        self.charge((m + 1).saturating_sub(n).saturating_mul(n));
        if y.is_empty() {
            return Err(ArithError::BadArith);
        }
        Ok(match rem {
            true => self.big_with(x.len().min(y.len()), |r| {
                digits::remainder(r, x, y);
                x_negative
            }),
            false => self.big_with(x.len(), |q| {
                digits::quotient(q, x, y);
                x_negative != y_negative
            }),
        })
    }
    /// `-X`
    pub fn negate<'h>(&'h self, a: Term<'h>) -> Number<'h> {
        match a.view() {
            View::Small(i) => Ok(self.integer(-i)),
            View::Float(f) => Ok(self.float(-f)),
            View::Big(b) => {
                self.charge(words(b.digits()) + 1);
                Ok(match b.digits().len() <= FEW_WORDS {
                    true => self.big_of_few(!b.is_negative(), b.digits()),
                    false => self.big(!b.is_negative(), b.digits()),
                })
            }
            _ => Err(ArithError::BadArith),
        }
    }
    pub fn bitwise<'h>(&'h self, op: BitOp, a: Term<'h>, b: Term<'h>) -> Number<'h> {
        if let (Some(x), Some(y)) = (a.as_small(), b.as_small()) {
            return Ok(self.integer(match op {
                BitOp::And => x & y,
                BitOp::Or => x | y,
                BitOp::Xor => x ^ y,
            }));
        }
        let rooms = &mut [[0]; 2];
        let (x, y) = integers(a, b, rooms)?;
        self.charge(words(x.1).max(words(y.1)) + 2);
        let len = x.1.len().max(y.1.len()) + 1;
        if !x.0 && !y.0 && len <= FEW_WORDS {
            return Ok(match op {
                BitOp::And => self.big_bitwise(x.1, y.1, |x, y| x & y),
                BitOp::Or => self.big_bitwise(x.1, y.1, |x, y| x | y),
                BitOp::Xor => self.big_bitwise(x.1, y.1, |x, y| x ^ y),
            });
        }
        self.limited(match op {
            BitOp::And => self.big_with(len, |r| digits::bitwise(r, x, y, |x, y| x & y)),
            BitOp::Or => self.big_with(len, |r| digits::bitwise(r, x, y, |x, y| x | y)),
            BitOp::Xor => self.big_with(len, |r| digits::bitwise(r, x, y, |x, y| x ^ y)),
        })
    }
    /// `bnot`
    pub fn complement<'h>(&'h self, a: Term<'h>) -> Number<'h> {
        let Some(b) = a.as_big() else {
            return a.as_small().map(|i| self.integer(!i)).ok_or(ArithError::BadArith);
        };
        self.charge(words(b.digits()) + 2);
        // It is -A - 1.
        let (negative, x) = (b.is_negative(), b.digits());
        self.limited(self.big_with(x.len() + 1, |r| {
            match negative {
                true => digits::sub(&mut r[..x.len()], x, &[1]),
                false => digits::add(r, x, &[1]),
            }
            !negative
        }))
    }
    /// `bsl`; shifts right if the count is negative.
    pub fn shift_left<'h>(&'h self, a: Term<'h>, by: Term<'h>) -> Number<'h> {
        self.shift(a, by, false)
    }
    /// `bsr`
    pub fn shift_right<'h>(&'h self, a: Term<'h>, by: Term<'h>) -> Number<'h> {
        self.shift(a, by, true)
    }
    fn shift<'h>(&'h self, a: Term<'h>, by: Term<'h>, right: bool) -> Number<'h> {
        if let (Some(i), Some(n)) = (a.as_small(), by.as_small()) {
            let left = if right { -n } else { n };
            if left <= 0 {
                return Ok(self.integer(i >> left.unsigned_abs().min(63)));
            }
            if left < 64 && (i << left) >> left == i {
                return Ok(self.integer(i << left));
            }
        }
        let room = &mut [0];
        let Some((negative, x)) = operand(a, room) else { return Err(ArithError::BadArith) };
        if let (Some(n), Some(b)) = (by.as_small(), a.as_big()) {
            let (left, words) = ((n > 0) != right, n.unsigned_abs() / 64);
            let len = b.digits().len() as u64;
            self.charge(if left {
                len.saturating_add(words + 2)
            } else {
                len.saturating_sub(words) + 2
            });
        }
        if let Some(n) = by.as_small().filter(|n| n.abs() < 256 && x.len() <= FEW_WORDS - 5) {
            match (n > 0) != right {
                true => return Ok(self.big_shifted_left(negative, x, n.unsigned_abs() as usize)),
                false if !negative => {
                    return Ok(self.big_shifted_right(x, n.unsigned_abs() as usize))
                }
                false => {}
            }
        }
        let zero = x.is_empty();
        let n = match by.view() {
            View::Small(n) => n,
            View::Big(b) if b.is_negative() != right || zero => {
                // Everything is shifted out: only the sign remains.
                return Ok(Term::int(if negative { -1 } else { 0 }));
            }
            View::Big(_) => return Err(ArithError::SystemLimit),
            _ => return Err(ArithError::BadArith),
        };
        let left = if right { -n } else { n };
        let n = left.unsigned_abs();
        if left > 0 {
            if zero {
                return Ok(Term::int(0));
            }
            if n > max_bits() || digits::bits(x) + n > max_bits() {
                return Err(ArithError::SystemLimit);
            }
            return Ok(self.big_with(x.len() + (n / 64) as usize + 1, |r| {
                digits::shift_left(r, x, n);
                negative
            }));
        }
        let words = usize::try_from(n / 64).map_or(x.len(), |w| w.min(x.len()));
        Ok(self.big_with(x.len() - words + 1, |r| {
            digits::shift_right_signed(r, negative, x, n);
            negative
        }))
    }

    /// The integer that a text is in a base of whose characters it consists; for short texts.
    pub fn parse_integer(&self, negative: bool, text: &[u8], base: u32) -> Number<'_> {
        self.limited(self.big_with(digits::len_of_text(text.len(), base), |r| {
            digits::parse(r, text, base);
            negative
        }))
    }

    /// The integer nearest to a whole float.
    pub fn integer_of_float(&self, f: f64) -> Term<'_> {
        let f = f.trunc();
        if f.abs() < 9.0e18 {
            return self.integer(f as i64);
        }
        let bits = f.to_bits();
        let exponent = ((bits >> 52) & 0x7FF) - 1075;
        let mantissa = (bits & ((1 << 52) - 1)) | 1 << 52;
        let i = BigInt::from(mantissa) << exponent;
        self.big_integer(&if f < 0.0 { -i } else { i })
    }
}

/// How many words an integer counts for; 0 counts for one.
#[inline(always)]
fn words(x: &[u64]) -> u64 {
    x.len().max(1) as u64
}

/// The value of at most two digits.
#[inline(always)]
fn wide(x: &[u64]) -> Option<u128> {
    match *x {
        [] => Some(0),
        [d] => Some(d.into()),
        [low, high] => Some(u128::from(high) << 64 | u128::from(low)),
        _ => None,
    }
}

fn floats(a: Term<'_>, b: Term<'_>) -> Result<(f64, f64), ArithError> {
    float_value(a).zip(float_value(b)).ok_or(ArithError::BadArith)
}
#[inline(always)]
fn integers<'a>(
    a: Term<'a>,
    b: Term<'a>,
    [x, y]: &'a mut [[u64; 1]; 2],
) -> Result<(Operand<'a>, Operand<'a>), ArithError> {
    match (operand(a, x), operand(b, y)) {
        (Some(x), Some(y)) => Ok((x, y)),
        _ => Err(ArithError::BadArith),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn big_and_small() {
        let h = Heap::new(64);
        let two64 = h.shift_left(Term::int(1), Term::int(64)).unwrap();
        let back = h.shift_right(two64, Term::int(64)).unwrap();
        assert_eq!(back.as_small(), Some(1));
        assert_eq!(float_value(two64), Some(18446744073709551616.0));
        let m = h.arith(ArithOp::Mul, two64, two64).unwrap();
        assert_eq!(digits(h.int_divide(m, two64, false).unwrap()), digits(two64));
        assert_eq!(h.int_divide(Term::int(-7), Term::int(2), true).unwrap().as_small(), Some(-1));
        assert_eq!(h.divide(Term::int(1), Term::int(0)).unwrap_err(), ArithError::BadArith);
        let f = h.integer_of_float(1e20);
        assert_eq!(float_value(f), Some(1e20));
    }

    #[test]
    fn two_digit_and_longer_integers_agree() {
        let h = Heap::new(64);
        let all: Vec<i128> =
            [0, 1, 7, 1 << 59, 1 << 63, (1 << 64) - 1, 1 << 64, 1 << 100, i128::MAX]
                .into_iter()
                .flat_map(|n| [n, -n, -n - 1])
                .collect();
        // Under Miri every two pairs take a second.
        let step = if cfg!(miri) { 7 } else { 1 };
        for &x in all.iter().step_by(step) {
            for &y in all.iter().step_by(step) {
                let (a, b) = (BigInt::from(x), BigInt::from(y));
                let (s, t) = (h.big_integer(&a), h.big_integer(&b));
                let value = |n: Number<'_>| n.ok().and_then(integer_value);
                assert_eq!(value(h.arith(ArithOp::Add, s, t)), Some(&a + &b));
                assert_eq!(value(h.arith(ArithOp::Sub, s, t)), Some(&a - &b));
                assert_eq!(value(h.arith(ArithOp::Mul, s, t)), Some(&a * &b));
                if y != 0 {
                    assert_eq!(value(h.int_divide(s, t, false)), Some(&a / &b));
                    assert_eq!(value(h.int_divide(s, t, true)), Some(&a % &b));
                }
                assert_eq!(value(h.bitwise(BitOp::And, s, t)), Some(&a & &b));
                assert_eq!(value(h.bitwise(BitOp::Xor, s, t)), Some(&a ^ &b));
                for n in [0, 1, 63, 64, 126, 127, 200] {
                    assert_eq!(value(h.shift_left(s, Term::int(n))), Some(&a << n));
                    assert_eq!(value(h.shift_right(s, Term::int(n))), Some(&a >> n));
                    assert_eq!(value(h.shift_left(s, Term::int(-n))), Some(&a >> n));
                }
            }
        }
    }

    fn digits(t: Term<'_>) -> Vec<u64> {
        match t.view() {
            View::Big(b) => b.digits().to_vec(),
            _ => vec![],
        }
    }
}
