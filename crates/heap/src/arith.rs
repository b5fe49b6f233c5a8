//! Arithmetic on any two numbers: small integers directly, bignums by [`digits`] from the digits of
//! the operands to those of the result, floats with a check that the result is finite.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use num_bigint::{BigInt, Sign};

use kvik_term::{Big, Term, View};

use crate::{digits, Heap};

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

fn operand<'a>(t: Term<'a>, room: &'a mut [u64; 1]) -> Option<Operand<'a>> {
    match t.view() {
        View::Small(0) => Some((false, &[])),
        View::Small(i) => {
            *room = [i.unsigned_abs()];
            Some((i < 0, &room[..]))
        }
        View::Big(b) => Some((b.is_negative(), b.digits())),
        _ => None,
    }
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
    /// A new integer, unless it is too large.
    fn limited<'h>(&self, new: Term<'h>) -> Number<'h> {
        if let View::Big(b) = new.view() {
            if digits::bits(b.digits()) > max_bits() {
                return Err(ArithError::SystemLimit);
            }
        }
        Ok(new)
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
        if a.as_float().is_some() || b.as_float().is_some() {
            let (x, y) = floats(a, b)?;
            return self.finite(match op {
                ArithOp::Add => x + y,
                ArithOp::Sub => x - y,
                ArithOp::Mul => x * y,
            });
        }
        let rooms = &mut [[0]; 2];
        let ((x_negative, x), (y_negative, y)) = integers(a, b, rooms)?;
        let bits = digits::bits(x) + digits::bits(y);
        if op == ArithOp::Mul && bits > max_bits() + 1 {
            return Err(ArithError::SystemLimit);
        }
        self.bump_reductions((bits >> 12) as i64);
        let y_negative = y_negative != (op == ArithOp::Sub);
        self.limited(if op == ArithOp::Mul {
            self.big_with(x.len() + y.len(), |r| {
                digits::mul(r, x, y);
                x_negative != y_negative
            })
        } else if x_negative == y_negative {
            self.big_with(x.len().max(y.len()) + 1, |r| {
                digits::add(r, x, y);
                x_negative
            })
        } else if digits::compare(x, y).is_lt() {
            self.big_with(y.len(), |r| {
                digits::sub(r, y, x);
                y_negative
            })
        } else {
            self.big_with(x.len(), |r| {
                digits::sub(r, x, y);
                x_negative
            })
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
        let rooms = &mut [[0]; 2];
        let ((x_negative, x), (y_negative, y)) = integers(a, b, rooms)?;
        if y.is_empty() {
            return Err(ArithError::BadArith);
        }
        self.bump_reductions(((digits::bits(x) + digits::bits(y)) >> 12) as i64);
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
        let rooms = &mut [[0]; 2];
        let (x, y) = integers(a, b, rooms)?;
        let len = x.1.len().max(y.1.len()) + 1;
        self.limited(match op {
            BitOp::And => self.big_with(len, |r| digits::bitwise(r, x, y, |x, y| x & y)),
            BitOp::Or => self.big_with(len, |r| digits::bitwise(r, x, y, |x, y| x | y)),
            BitOp::Xor => self.big_with(len, |r| digits::bitwise(r, x, y, |x, y| x ^ y)),
        })
    }
    /// `bnot`
    pub fn complement<'h>(&'h self, a: Term<'h>) -> Number<'h> {
        self.charge(a, a, |x, _| x + 2);
        let View::Big(b) = a.view() else {
            return a.as_small().map(|i| self.integer(!i)).ok_or(ArithError::BadArith);
        };
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
        if let Some(n) = by.as_small() {
            let words = n.unsigned_abs() / 64;
            self.charge(a, by, |x, _| match (n > 0) == right {
                true => x.saturating_sub(words) + 2,
                false => x.saturating_add(words + 2),
            });
        }
        let room = &mut [0];
        let (negative, x) = operand(a, room).ok_or(ArithError::BadArith)?;
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
fn integers<'a>(
    a: Term<'a>,
    b: Term<'a>,
    [x, y]: &'a mut [[u64; 1]; 2],
) -> Result<(Operand<'a>, Operand<'a>), ArithError> {
    operand(a, x).zip(operand(b, y)).ok_or(ArithError::BadArith)
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
