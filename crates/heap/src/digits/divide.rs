//! Division: by one digit, by Knuth's algorithm for more, by the crate where divisor and quotient are
//! both long.

use super::{add_to, mul_sub, natural, put_natural, shift_left, shift_right};

/// From so many digits in divisor and quotient on, the crate divides the faster.
const CRATE_DIGITS: usize = 256;

fn divides_long(x: &[u64], y: &[u64]) -> bool {
    x.len().saturating_sub(y.len()).min(y.len()) >= CRATE_DIGITS
}

/// `floor((2^128 - 1) / d) - 2^64`, where the highest bit of `d` is set.
#[inline(always)]
fn reciprocal(d: u64) -> u64 {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        let q;
        debug_assert!(d >> 63 == 1);
        // SAFETY: the dividend's higher digit is less than `d`, so the quotient is one digit.
        unsafe {
            std::arch::asm!(
                "div {}",
                in(reg) d,
                inout("rdx") !d => _,
                inout("rax") u64::MAX => q,
                options(pure, nomem, nostack),
            );
        }
        q
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    {
        (u128::MAX / u128::from(d)) as u64
    }
}

#[inline(always)]
fn wide(high: u64, low: u64) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

/// A divisor with its highest bit set, and its reciprocal: division by two multiplications, after
/// Möller and Granlund, "Improved division by invariant integers" (2011).
struct Divisor {
    d: u64,
    reciprocal: u64,
}

impl Divisor {
    #[inline(always)]
    fn new(d: u64) -> Divisor {
        Divisor { d, reciprocal: reciprocal(d) }
    }
    /// Quotient and remainder of two digits, the higher of which is less than the divisor.
    #[inline(always)]
    fn divide(&self, high: u64, low: u64) -> (u64, u64) {
        let q = u128::from(self.reciprocal) * u128::from(high) + wide(high, low);
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

/// The same with two digits.
struct TwoDigitDivisor {
    d: u128,
    reciprocal: u64,
}

impl TwoDigitDivisor {
    #[inline(always)]
    fn new(high: u64, low: u64) -> TwoDigitDivisor {
        let mut v = reciprocal(high);
        let mut p = high.wrapping_mul(v).wrapping_add(low);
        if p < low {
            v -= 1;
            if p >= high {
                v -= 1;
                p -= high;
            }
            p = p.wrapping_sub(high);
        }
        let t = u128::from(v) * u128::from(low);
        let (p, over) = p.overflowing_add((t >> 64) as u64);
        if over {
            v -= 1;
            if wide(p, t as u64) >= wide(high, low) {
                v -= 1;
            }
        }
        TwoDigitDivisor { d: wide(high, low), reciprocal: v }
    }
    /// Quotient and remainder of three digits, the higher two of which are less than the divisor.
    #[inline(always)]
    fn divide(&self, u2: u64, u1: u64, u0: u64) -> (u64, u128) {
        let (d1, d0) = ((self.d >> 64) as u64, self.d as u64);
        let q = u128::from(self.reciprocal) * u128::from(u2) + wide(u2, u1);
        let fraction = q as u64;
        let q = (q >> 64) as u64;
        let r1 = u1.wrapping_sub(q.wrapping_mul(d1));
        let t = u128::from(d0) * u128::from(q);
        let mut r = wide(r1, u0).wrapping_sub(t).wrapping_sub(self.d);
        let mut q = q.wrapping_add(1);
        if (r >> 64) as u64 >= fraction {
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
    (wide(high, low) << by >> 64) as u64
}

/// Calls `each` for the digits of `x / d` from the highest down, with their places; answers `x rem d`.
/// `d` is not 0.
#[inline(always)]
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

/// Calls `f` with so many digits, all zero.
#[inline(always)]
fn with_digits<R>(n: usize, f: impl FnOnce(&mut [u64]) -> R) -> R {
    match n {
        0..=16 => f(&mut [0; 16][..n]),
        17..=96 => f(&mut [0; 96][..n]),
        _ => f(&mut vec![0; n]),
    }
}

/// Divides by Knuth's algorithm D (The Art of Computer Programming 4.3.1), with quotient digits from
/// the two highest of the divisor. `y` has at least two digits, `x` no fewer. Calls `each` for the
/// quotient's digits with their places, then `end` with the remainder and by how many bits it is
/// shifted left.
#[inline(always)]
fn div_long(x: &[u64], y: &[u64], mut each: impl FnMut(usize, u64), end: impl FnOnce(&[u64], u32)) {
    let n = y.len();
    let by = y[n - 1].leading_zeros();
    with_digits(x.len() + 1 + n, |digits| {
        let (u, normal) = digits.split_at_mut(x.len() + 1);
        shift_left(u, x, u64::from(by));
        shift_left(normal, y, u64::from(by));
        let divisor = TwoDigitDivisor::new(normal[n - 1], normal[n - 2]);
        for place in (0..=x.len() - n).rev() {
            each(place, quotient_digit(&mut u[place..=place + n], normal, &divisor));
        }
        end(&u[..n], by);
    });
}

/// Divides the window, which has one digit more than `y` and whose higher ones are less than it, and
/// leaves the remainder there.
#[inline(always)]
fn quotient_digit(window: &mut [u64], y: &[u64], divisor: &TwoDigitDivisor) -> u64 {
    let n = y.len();
    let (low, top) = window.split_at_mut(n - 2);
    let [u0, u1, u2] = top else { return 0 };
    if wide(*u2, *u1) >= divisor.d {
        // They are equal, and the digit is the largest there is.
        mul_sub(&mut window[..n], y, u64::MAX);
        window[n] = 0;
        return u64::MAX;
    }
    let (mut q, r) = divisor.divide(*u2, *u1, *u0);
    let borrow = mul_sub(low, &y[..n - 2], q);
    let (mut r, under) = r.overflowing_sub(u128::from(borrow));
    if under {
        q -= 1;
        let carry = add_to(low, &y[..n - 2]);
        r = r.wrapping_add(divisor.d).wrapping_add(u128::from(carry));
    }
    (*u0, *u1, *u2) = (r as u64, (r >> 64) as u64, 0);
    q
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
        _ => div_long(x, y, |i, digit| q[i] = digit, |_, _| {}),
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
        _ => div_long(
            x,
            y,
            |_, _| {},
            |rest, by| {
                shift_right(r, rest, u64::from(by));
            },
        ),
    }
}
