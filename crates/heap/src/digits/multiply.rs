//! Multiplication: row by row for short factors, by Karatsuba's method for longer ones, by the crate
//! for very long ones.

use super::{add_to, mul_add, mul_digit, natural, put_natural, sub_from};

/// From so many digits in both factors on, Karatsuba's method is the fastest.
const KARATSUBA_DIGITS: usize = 32;
/// From so many digits in both factors on, Toom's method pays for the conversion to the crate's
/// numbers.
const CRATE_DIGITS: usize = 700;

/// `r = x * y`; `r` has as many digits as both, all zero.
#[inline]
pub fn mul(r: &mut [u64], x: &[u64], y: &[u64]) {
    let (x, y) = if x.len() >= y.len() { (x, y) } else { (y, x) };
    match *y {
        [] => {}
        [d] => r[x.len()] = mul_digit(&mut r[..x.len()], x, d),
        _ if y.len() < KARATSUBA_DIGITS => rows(r, x, y),
        _ if y.len() < CRATE_DIGITS => pieces(r, x, y),
        _ => put_natural(r, &(natural(x) * natural(y))),
    }
}

/// `x * y`
#[inline(always)]
pub fn product_of_two(x: [u64; 2], y: [u64; 2]) -> [u64; 4] {
    let product = |i: usize, j: usize| u128::from(x[i]) * u128::from(y[j]);
    let (low, high) = (product(0, 0), product(1, 1));
    // No sum of a product and two digits has more than two digits.
    let middle = product(0, 1) + (low >> 64);
    let other = product(1, 0) + u128::from(middle as u64);
    let high = high + (middle >> 64) + (other >> 64);
    [low as u64, other as u64, high as u64, (high >> 64) as u64]
}

/// `r = x * y`, a row for each digit of `y`; `r` is all zero.
fn rows(r: &mut [u64], x: &[u64], y: &[u64]) {
    let carries_twice = x.len() >= 4 && carry_chains::available();
    for (i, d) in y.iter().enumerate() {
        let row = &mut r[i..][..=x.len()];
        let (high, low) = match row.split_last_mut() {
            Some(row) => row,
            None => return,
        };
        *high = if carries_twice { carry_chains::mul_add(low, x, *d) } else { mul_add(low, x, *d) };
    }
}

/// `r = x * y`, where `x` is not shorter: `x` in pieces of `y`'s length; `r` is all zero.
fn pieces(r: &mut [u64], x: &[u64], y: &[u64]) {
    let n = y.len();
    let mut scratch = vec![0; scratch_len(n) + 2 * n];
    let (product, scratch) = scratch.split_at_mut(2 * n);
    for (i, piece) in x.chunks(n).enumerate() {
        let r = &mut r[i * n..];
        if i == 0 {
            karatsuba(&mut r[..2 * n], piece, y, scratch);
            continue;
        }
        let product = &mut product[..piece.len() + n];
        product.fill(0);
        match piece.len() == n {
            true => karatsuba(product, piece, y, scratch),
            false => mul(product, piece, y),
        }
        add_into(r, product);
    }
}

/// How many digits `karatsuba` wants for factors of `n`.
fn scratch_len(n: usize) -> usize {
    // Each level takes four halves and one digit, and at most one more for odd lengths.
    4 * n + 8 * usize::BITS as usize
}

/// `r = x * y`, both of the same length; `r` has twice that, `scratch` what `scratch_len` says.
fn karatsuba(r: &mut [u64], x: &[u64], y: &[u64], scratch: &mut [u64]) {
    let n = x.len();
    if n < KARATSUBA_DIGITS {
        r.fill(0);
        return rows(r, x, y);
    }
    let half = n.div_ceil(2);
    let ((x0, x1), (y0, y1)) = (x.split_at(half), y.split_at(half));
    let (product, scratch) = scratch.split_at_mut(2 * half);
    // (x0 - x1) * (y0 - y1), of which the middle part lacks only the sign.
    let (dx, dy) = r[..2 * half].split_at_mut(half);
    let negative = difference(dx, x0, x1) != difference(dy, y0, y1);
    karatsuba(product, dx, dy, scratch);
    let (low, high) = r.split_at_mut(2 * half);
    karatsuba(low, x0, y0, scratch);
    karatsuba(high, x1, y1, scratch);
    let middle = &mut scratch[..=2 * half];
    middle[..2 * half].copy_from_slice(low);
    middle[2 * half] = 0;
    add_into(middle, high);
    match negative {
        true => add_into(middle, product),
        false => sub_from(middle, product),
    }
    let used = middle.iter().rposition(|d| *d != 0).map_or(0, |i| i + 1);
    add_into(&mut r[half..], &middle[..used]);
}

/// `r = |x - y|`, where `y` is at most as long as `x`; answers whether `x` is less.
fn difference(r: &mut [u64], x: &[u64], y: &[u64]) -> bool {
    let (low, high) = x.split_at(y.len());
    let less = high.iter().all(|d| *d == 0) && low.iter().rev().lt(y.iter().rev());
    match less {
        true => {
            super::sub(&mut r[..y.len()], y, low);
            r[y.len()..].fill(0);
        }
        false => super::sub(r, x, y),
    }
    less
}

/// `r += x`, where `r` is not shorter and has room for the sum.
fn add_into(r: &mut [u64], x: &[u64]) {
    let (low, high) = r.split_at_mut(x.len());
    if add_to(low, x) {
        super::increment(high);
    }
}

/// Rows by two chains of carries, one for the product and one for the sum, which some processors
/// keep in two flags.
#[cfg(all(target_arch = "x86_64", not(miri)))]
mod carry_chains {
    #[inline]
    pub fn available() -> bool {
        std::arch::is_x86_feature_detected!("adx") && std::arch::is_x86_feature_detected!("bmi2")
    }

    /// `r += x * d`, of equal length; answers the carry. Call it only where `available`.
    #[inline]
    pub fn mul_add(r: &mut [u64], x: &[u64], d: u64) -> u64 {
        debug_assert!(r.len() == x.len() && available());
        let first = x.len() % 4;
        let ((r_first, r), (x_first, x)) = (r.split_at_mut(first), x.split_at(first));
        let mut carry = 0;
        for (r, x) in r_first.iter_mut().zip(x_first) {
            let t = u128::from(*x) * u128::from(d) + u128::from(*r) + u128::from(carry);
            (*r, carry) = (t as u64, (t >> 64) as u64);
        }
        if x.is_empty() {
            return carry;
        }
        // SAFETY: `r` and `x` have the same length, a multiple of four and not 0, of which the
        // instructions take four digits at a time; the caller knows that the processor has them.
        unsafe {
            std::arch::asm!(
                "xor {low:e}, {low:e}",
                "2:",
                "mulx {high}, {low}, [{x}]",
                "adcx {low}, {carry}",
                "adox {low}, [{r}]",
                "mov [{r}], {low}",
                "mulx {carry}, {low}, [{x} + 8]",
                "adcx {low}, {high}",
                "adox {low}, [{r} + 8]",
                "mov [{r} + 8], {low}",
                "mulx {high}, {low}, [{x} + 16]",
                "adcx {low}, {carry}",
                "adox {low}, [{r} + 16]",
                "mov [{r} + 16], {low}",
                "mulx {carry}, {low}, [{x} + 24]",
                "adcx {low}, {high}",
                "adox {low}, [{r} + 24]",
                "mov [{r} + 24], {low}",
                "lea {x}, [{x} + 32]",
                "lea {r}, [{r} + 32]",
                "lea rcx, [rcx - 1]",
                "jrcxz 3f",
                "jmp 2b",
                "3:",
                "mov {low:e}, 0",
                "adcx {carry}, {low}",
                "adox {carry}, {low}",
                x = inout(reg) x.as_ptr() => _,
                r = inout(reg) r.as_mut_ptr() => _,
                carry = inout(reg) carry,
                low = out(reg) _,
                high = out(reg) _,
                in("rdx") d,
                inout("rcx") x.len() / 4 => _,
                options(nostack),
            );
        }
        carry
    }
}
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
mod carry_chains {
    pub fn available() -> bool {
        false
    }
    pub(super) use super::mul_add;
}
