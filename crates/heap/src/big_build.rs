//! Integers of a few digits, computed straight into new objects: no zeros before, no calls.

use kvik_term::word::*;
use kvik_term::Term;

use crate::Heap;

/// Integers of up to so many words are computed here: for more a loop by blocks, and calls that zero
/// and copy memory, pay.
pub(crate) const FEW_WORDS: usize = 12;

impl Heap {
    /// An integer of two digits; of three, the highest of which is 1, if `over`.
    #[inline]
    pub(crate) fn big_wide(&self, negative: bool, low: u128, over: bool) -> Term<'_> {
        let digits = [low as u64, (low >> 64) as u64, 1];
        let n = if over { 3 } else { 1 + usize::from(digits[1] != 0) };
        if n == 1 && digits[0] <= SMALL_MAX as u64 + u64::from(negative) {
            let i = digits[0] as i64;
            return self.integer(if negative { -i } else { i });
        }
        let p = self.alloc(1 + n);
        // SAFETY: `alloc` gave that many words.
        unsafe {
            *p = header(if negative { BIG_NEG } else { BIG_POS }, n);
            *p.add(1) = digits[0];
            if n > 1 {
                *p.add(2) = digits[1];
            }
            if n > 2 {
                *p.add(3) = digits[2];
            }
            Term::from_word(p as u64 + TAG_BOXED)
        }
    }

    /// A new bignum of up to `len` digits, which `write` writes from the first on; it answers how many
    /// there are, and the last of them is not 0.
    ///
    /// # Safety
    /// `write` writes at least as many digits as it says, and no more than `len`.
    #[inline(always)]
    unsafe fn written(
        &self,
        negative: bool,
        len: usize,
        write: impl FnOnce(*mut u64) -> usize,
    ) -> Term<'_> {
        let p = self.alloc(1 + len);
        // SAFETY: `alloc` gave that many words.
        unsafe {
            let n = write(p.add(1));
            debug_assert!(0 < n && n <= len && *p.add(n) != 0);
            self.free_last(p, 1 + len, 1 + n);
            *p = header(if negative { BIG_NEG } else { BIG_POS }, n);
            Term::from_word(p as u64 + TAG_BOXED)
        }
    }

    /// `x + y`, where `x` is not shorter, has at least two digits, and no leading zeros.
    #[inline]
    pub(crate) fn big_sum(&self, negative: bool, x: &[u64], y: &[u64]) -> Term<'_> {
        let (low, high) = x.split_at(y.len());
        let write = |r: *mut u64| {
            let mut carry = false;
            for (i, (x, y)) in low.iter().zip(y).enumerate() {
                let (s, over) = x.overflowing_add(*y);
                let (s, over_again) = s.overflowing_add(u64::from(carry));
                // SAFETY: one of the first `x.len()` digits.
                unsafe { *r.add(i) = s };
                carry = over | over_again;
            }
            for (i, x) in high.iter().enumerate() {
                let (s, over) = x.overflowing_add(u64::from(carry));
                // SAFETY: as above.
                unsafe { *r.add(y.len() + i) = s };
                carry = over;
            }
            if carry {
                // SAFETY: there is one digit more.
                unsafe { *r.add(x.len()) = 1 };
            }
            x.len() + usize::from(carry)
        };
        // SAFETY: it writes what it says.
        unsafe { self.written(negative, x.len() + 1, write) }
    }

    /// `x * d`, where `x` has at least two digits and no leading zeros, and `d` is not 0.
    #[inline]
    pub(crate) fn big_times_digit(&self, negative: bool, x: &[u64], d: u64) -> Term<'_> {
        let write = |r: *mut u64| {
            let mut carry = 0;
            for (i, x) in x.iter().enumerate() {
                let t = u128::from(*x) * u128::from(d) + u128::from(carry);
                // SAFETY: one of the first `x.len()` digits.
                unsafe { *r.add(i) = t as u64 };
                carry = (t >> 64) as u64;
            }
            if carry != 0 {
                // SAFETY: there is one digit more.
                unsafe { *r.add(x.len()) = carry };
            }
            x.len() + usize::from(carry != 0)
        };
        // SAFETY: it writes what it says.
        unsafe { self.written(negative, x.len() + 1, write) }
    }

    /// The integer of these digits, which may have leading zeros.
    #[inline]
    pub(crate) fn big_of_few(&self, negative: bool, digits: &[u64]) -> Term<'_> {
        let mut n = digits.len();
        while n > 0 && digits[n - 1] == 0 {
            n -= 1;
        }
        let digits = &digits[..n];
        match *digits {
            [] => return Term::int(0),
            [d] => return self.big_wide(negative, d.into(), false),
            _ => {}
        }
        let write = |r: *mut u64| {
            for (i, d) in digits.iter().enumerate() {
                // SAFETY: one of the first `n` digits.
                unsafe { *r.add(i) = *d };
            }
            n
        };
        // SAFETY: it writes what it says.
        unsafe { self.written(negative, n, write) }
    }

    /// `x - y`, where `x` is not less and has at most `FEW_WORDS` digits.
    #[inline]
    pub(crate) fn big_difference(&self, negative: bool, x: &[u64], y: &[u64]) -> Term<'_> {
        let mut r = [0; FEW_WORDS];
        let mut borrow = false;
        for (i, (r, x)) in r.iter_mut().zip(x).enumerate() {
            let (d, under) = x.overflowing_sub(y.get(i).copied().unwrap_or(0));
            let (d, under_again) = d.overflowing_sub(u64::from(borrow));
            (*r, borrow) = (d, under | under_again);
        }
        self.big_of_few(negative, &r[..x.len()])
    }

    /// `x * y`, which have at most `FEW_WORDS` digits in all.
    #[inline]
    pub(crate) fn big_product(&self, negative: bool, x: &[u64], y: &[u64]) -> Term<'_> {
        let mut r = [0; FEW_WORDS];
        for (i, y) in y.iter().enumerate() {
            let mut carry = 0;
            let (row, high) = r[i..].split_at_mut(x.len());
            for (r, x) in row.iter_mut().zip(x) {
                let t = u128::from(*x) * u128::from(*y) + u128::from(*r) + u128::from(carry);
                (*r, carry) = (t as u64, (t >> 64) as u64);
            }
            if let Some(high) = high.first_mut() {
                *high = carry;
            }
        }
        self.big_of_few(negative, &r[..x.len() + y.len()])
    }

    /// `x op y` of numbers that are not negative, of less than `FEW_WORDS` digits.
    #[inline(always)]
    pub(crate) fn big_bitwise(
        &self,
        x: &[u64],
        y: &[u64],
        op: impl Fn(u64, u64) -> u64,
    ) -> Term<'_> {
        let mut r = [0; FEW_WORDS];
        let digit = |d: &[u64], i: usize| d.get(i).copied().unwrap_or(0);
        let n = x.len().max(y.len());
        for (i, r) in r.iter_mut().enumerate().take(n) {
            *r = op(digit(x, i), digit(y, i));
        }
        self.big_of_few(false, &r[..n])
    }

    /// `x * 2^by`, where `x` has at most `FEW_WORDS - 5` digits and `by` is less than 256.
    #[inline]
    pub(crate) fn big_shifted_left(&self, negative: bool, x: &[u64], by: usize) -> Term<'_> {
        let (words, by) = (by / 64, by % 64);
        let mut r = [0; FEW_WORDS];
        let mut low = 0;
        for (r, x) in r[words..].iter_mut().zip(x) {
            *r = x << by | low;
            low = x >> 1 >> (63 - by);
        }
        r[words + x.len()] = low;
        self.big_of_few(negative, &r[..=words + x.len()])
    }

    /// `x / 2^by`, where `x` is not negative and has at most `FEW_WORDS` digits.
    #[inline]
    pub(crate) fn big_shifted_right(&self, x: &[u64], by: usize) -> Term<'_> {
        let (words, by) = (by / 64, by % 64);
        let kept = x.get(words..).unwrap_or(&[]);
        let mut r = [0; FEW_WORDS];
        for (i, (r, x)) in r.iter_mut().zip(kept).enumerate() {
            let high = kept.get(i + 1).copied().unwrap_or(0);
            *r = x >> by | high << 1 << (63 - by);
        }
        self.big_of_few(false, &r[..kept.len()])
    }
}
