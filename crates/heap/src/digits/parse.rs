//! Numbers from text.

use super::{block_product, BLOCK};

/// How many characters of a base fit a digit for certain, and the base to that power.
fn per_digit(base: u32) -> (usize, u64) {
    if base == 10 {
        return (19, 10_000_000_000_000_000_000);
    }
    let (mut n, mut power) = (1, u64::from(base));
    while let Some(next) = power.checked_mul(u64::from(base)) {
        (n, power) = (n + 1, next);
    }
    (n, power)
}

/// Digits that are enough for so many characters of a base.
pub fn len_of_text(characters: usize, base: u32) -> usize {
    let bits = base.next_power_of_two().ilog2() as usize;
    characters * bits / 64 + 1
}

/// `r` = the number that the text is in that base; `r` has `len_of_text` digits, all zero, and the
/// text no characters but those of the base. It takes quadratic time.
pub fn parse(r: &mut [u64], text: &[u8], base: u32) {
    let (count, power) = per_digit(base);
    let (first, others) = text.split_at(text.len() % count);
    let mut len = 0;
    for characters in std::iter::once(first).chain(others.chunks(count)) {
        let value = characters.iter().fold(0, |value, c| {
            let digit = if base == 10 { u32::from(*c - b'0') } else { value_of(*c, base) };
            value * u64::from(base) + u64::from(digit)
        });
        let carry = mul_add_digit(&mut r[..len], power, value);
        if carry != 0 {
            r[len] = carry;
            len += 1;
        }
    }
}
fn value_of(c: u8, base: u32) -> u32 {
    char::from(c).to_digit(base).unwrap_or(0)
}

/// `r = r * d + carry`; answers the carry out of it.
fn mul_add_digit(r: &mut [u64], d: u64, mut carry: u64) -> u64 {
    let mut blocks = r.chunks_exact_mut(BLOCK);
    for block in blocks.by_ref() {
        if let Ok(block) = <&mut [u64; BLOCK]>::try_from(block) {
            (*block, carry) = block_product(block, d, carry);
        }
    }
    for r in blocks.into_remainder() {
        let t = u128::from(*r) * u128::from(d) + u128::from(carry);
        (*r, carry) = (t as u64, (t >> 64) as u64);
    }
    carry
}
