//! Arithmetic on any two numbers: small integers directly, bignums by a crate's digit routines,
//! floats with a check that the result is finite.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use num_bigint::{BigInt, Sign};

use kvik_term::word::{fits_small, SMALL_BITS};
use kvik_term::{Big, Term, View};

use crate::Heap;

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
    let halves = b.digits().iter().flat_map(|d| [*d as u32, (*d >> 32) as u32]).collect();
    BigInt::from_biguint(
        if b.is_negative() { Sign::Minus } else { Sign::Plus },
        num_bigint::BigUint::new(halves),
    )
}

/// An integer's value.
pub fn integer_value(t: Term<'_>) -> Option<BigInt> {
    match t.view() {
        View::Small(i) => Some(BigInt::from(i)),
        View::Big(b) => Some(big_value(b)),
        _ => None,
    }
}

/// An integer of up to 127 bits and a sign: enough for values just too large for a small one.
fn wide(t: Term<'_>) -> Option<i128> {
    match t.view() {
        View::Small(i) => Some(i as i128),
        View::Big(b) => {
            let value = match *b.digits() {
                [low] => low as i128,
                [low, high] => i128::try_from((high as u128) << 64 | low as u128).ok()?,
                _ => return None,
            };
            Some(if b.is_negative() { -value } else { value })
        }
        _ => None,
    }
}
fn both_wide(a: Term<'_>, b: Term<'_>) -> Option<(i128, i128)> {
    wide(a).zip(wide(b))
}

/// The value as a float; `None` for a term that is no number, or beyond the range of floats.
pub fn float_value(t: Term<'_>) -> Option<f64> {
    match t.view() {
        View::Small(i) => Some(i as f64),
        View::Float(f) => Some(f),
        View::Big(b) => b.to_f64(),
        _ => None,
    }
}

impl Heap {
    /// An integer of any size.
    pub fn big_integer(&self, i: &BigInt) -> Term<'_> {
        let digits: Vec<u64> = i.iter_u64_digits().collect();
        self.big(i.sign() == Sign::Minus, &digits)
    }
    fn wide_integer(&self, i: i128) -> Term<'_> {
        match i64::try_from(i) {
            Ok(i) => self.integer(i),
            Err(_) => {
                let n = i.unsigned_abs();
                self.big(i < 0, &[n as u64, (n >> 64) as u64])
            }
        }
    }
    fn limited(&self, i: &BigInt) -> Number<'_> {
        if i.bits() > max_bits() {
            return Err(ArithError::SystemLimit);
        }
        Ok(self.big_integer(i))
    }
    fn finite(&self, f: f64) -> Number<'_> {
        if f.is_finite() {
            Ok(self.float(f))
        } else {
            Err(ArithError::BadArith)
        }
    }

    /// Counts the reductions of an operation on integers, one of them large. `cost` says how many words
    /// it works on, given how many both have.
    fn charge(&self, a: Term<'_>, b: Term<'_>, cost: impl Fn(u64, u64) -> u64) {
        let per = WORDS_PER_REDUCTION.load(Relaxed);
        if per == 0 || !(is_big(a) || is_big(b)) {
            return;
        }
        if let (Some(x), Some(y)) = (integer_words(a), integer_words(b)) {
            self.bump_reductions((cost(x, y) / per + 1).min(MAX_CHARGE) as i64);
        }
    }

    /// `+ - *`
    pub fn arith<'h>(&'h self, op: ArithOp, a: Term<'h>, b: Term<'h>) -> Number<'h> {
        if let (Some(x), Some(y)) = (a.as_small(), b.as_small()) {
            let r = match op {
                ArithOp::Add => Some(x + y),
                ArithOp::Sub => Some(x - y),
                ArithOp::Mul => x.checked_mul(y),
            };
            if let Some(r) = r {
                return Ok(self.integer(r));
            }
        }
        self.charge(a, b, |x, y| match op {
            ArithOp::Add => x.max(y) + 2,
            ArithOp::Sub => x.max(y) + 1,
            ArithOp::Mul => x.saturating_mul(y),
        });
        if let Some((x, y)) = both_wide(a, b) {
            let r = match op {
                ArithOp::Add => x.checked_add(y),
                ArithOp::Sub => x.checked_sub(y),
                ArithOp::Mul => x.checked_mul(y),
            };
            if let Some(r) = r {
                return Ok(self.wide_integer(r));
            }
        }
        if a.as_float().is_some() || b.as_float().is_some() {
            let (x, y) = floats(a, b)?;
            return self.finite(match op {
                ArithOp::Add => x + y,
                ArithOp::Sub => x - y,
                ArithOp::Mul => x * y,
            });
        }
        let (x, y) = integers(a, b)?;
        if op == ArithOp::Mul && x.bits() + y.bits() > max_bits() + 1 {
            return Err(ArithError::SystemLimit);
        }
        self.bump_reductions(((x.bits() + y.bits()) >> 12) as i64);
        self.limited(&match op {
            ArithOp::Add => x + y,
            ArithOp::Sub => x - y,
            ArithOp::Mul => x * y,
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
        self.charge(a, b, |x, y| (x + 1).saturating_sub(y).saturating_mul(y));
        if let Some((x, y)) = both_wide(a, b) {
            let r = if rem { x.checked_rem(y) } else { x.checked_div(y) };
            if let Some(r) = r {
                return Ok(self.wide_integer(r));
            }
        }
        let (x, y) = integers(a, b)?;
        if y.sign() == Sign::NoSign {
            return Err(ArithError::BadArith);
        }
        self.bump_reductions(((x.bits() + y.bits()) >> 12) as i64);
        Ok(self.big_integer(&if rem { x % y } else { x / y }))
    }
    /// `-X`
    pub fn negate<'h>(&'h self, a: Term<'h>) -> Number<'h> {
        match a.view() {
            View::Small(i) => Ok(self.integer(-i)),
            View::Float(f) => Ok(self.float(-f)),
            View::Big(b) => {
                self.charge(a, a, |x, _| x + 1);
                Ok(self.big(!b.is_negative(), b.digits()))
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
        self.charge(a, b, |x, y| x.max(y) + 2);
        if let Some((x, y)) = both_wide(a, b) {
            return Ok(self.wide_integer(match op {
                BitOp::And => x & y,
                BitOp::Or => x | y,
                BitOp::Xor => x ^ y,
            }));
        }
        let (x, y) = integers(a, b)?;
        self.limited(&match op {
            BitOp::And => x & y,
            BitOp::Or => x | y,
            BitOp::Xor => x ^ y,
        })
    }
    /// `bnot`
    pub fn complement<'h>(&'h self, a: Term<'h>) -> Number<'h> {
        self.charge(a, a, |x, _| x + 2);
        match a.as_small() {
            Some(i) => Ok(self.integer(!i)),
            None => self.limited(&!integer_value(a).ok_or(ArithError::BadArith)?),
        }
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
        if let Some(n) = by.as_small() {
            let words = n.unsigned_abs() / 64;
            self.charge(a, by, |x, _| match (n > 0) == right {
                true => x.saturating_sub(words) + 2,
                false => x.saturating_add(words + 2),
            });
        }
        if let (Some(x), Some(n @ -126..=126)) = (wide(a), by.as_small()) {
            if (n > 0) == right || n == 0 {
                return Ok(self.wide_integer(x >> n.abs()));
            }
            if (x << n.abs()) >> n.abs() == x {
                return Ok(self.wide_integer(x << n.abs()));
            }
        }
        let x = integer_value(a).ok_or(ArithError::BadArith)?;
        let zero = x.sign() == Sign::NoSign;
        let n = match by.view() {
            View::Small(n) => n,
            View::Big(b) if b.is_negative() != right || zero => {
                // Everything is shifted out: only the sign remains.
                return Ok(Term::int(if x.sign() == Sign::Minus { -1 } else { 0 }));
            }
            View::Big(_) => return Err(ArithError::SystemLimit),
            _ => return Err(ArithError::BadArith),
        };
        let left = if right { -n } else { n };
        if left > 0 {
            if zero {
                return Ok(Term::int(0));
            }
            if left as u64 > max_bits() {
                return Err(ArithError::SystemLimit);
            }
            if let Some(i) = a.as_small() {
                if left < SMALL_BITS as i64 && fits_small(i << left) && (i << left) >> left == i {
                    return Ok(self.integer(i << left));
                }
            }
            return self.limited(&(x << left as u64));
        }
        let n = left.unsigned_abs();
        if let Some(i) = a.as_small() {
            return Ok(self.integer(i >> n.min(63)));
        }
        Ok(self.big_integer(&(x >> n)))
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

fn is_big(t: Term<'_>) -> bool {
    matches!(t.view(), View::Big(_))
}
fn integer_words(t: Term<'_>) -> Option<u64> {
    match t.view() {
        View::Small(_) => Some(1),
        View::Big(b) => Some(b.digits().len() as u64),
        _ => None,
    }
}

fn floats(a: Term<'_>, b: Term<'_>) -> Result<(f64, f64), ArithError> {
    float_value(a).zip(float_value(b)).ok_or(ArithError::BadArith)
}
fn integers(a: Term<'_>, b: Term<'_>) -> Result<(BigInt, BigInt), ArithError> {
    integer_value(a).zip(integer_value(b)).ok_or(ArithError::BadArith)
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
