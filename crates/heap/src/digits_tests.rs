//! Bignums of many lengths against the crate's numbers.

use num_bigint::BigInt;

use kvik_term::Term;

use crate::arith::{integer_value, ArithOp, BitOp, Number};
use crate::Heap;

/// Digits that carry far, divide badly, or are nothing special.
fn digit(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    match *seed >> 60 {
        0..=3 => 0,
        4..=7 => u64::MAX,
        8 => 1,
        9 => 1 << 63,
        10 => (1 << 63) - 1,
        _ => *seed,
    }
}

fn numbers(h: &Heap) -> Vec<Term<'_>> {
    let mut seed = 0x9E37_79B9_7F4A_7C15;
    let lengths: &[usize] = if cfg!(miri) {
        &[0, 1, 2, 3, 5]
    } else {
        &[0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 12, 16, 17, 31, 39, 40, 41, 64, 90, 270, 540]
    };
    let mut all = Vec::new();
    for &n in lengths {
        for negative in [false, true] {
            let mut digits: Vec<u64> = (0..n).map(|_| digit(&mut seed)).collect();
            all.push(h.big(negative, &digits));
            if let Some(high) = digits.last_mut() {
                *high >>= 5;
            }
            all.push(h.big(negative, &digits));
        }
    }
    all
}

fn value(n: Number<'_>) -> Option<BigInt> {
    n.ok().and_then(integer_value)
}

#[test]
fn bignums_agree_with_reference() {
    let h = Heap::new(64);
    let numbers = numbers(&h);
    for &s in &numbers {
        let a = integer_value(s).unwrap();
        assert_eq!(value(h.complement(s)), Some(!&a));
        assert_eq!(value(h.negate(s)), Some(-&a));
        for n in [0, 1, 7, 60, 63, 64, 65, 127, 128, 200, 640, 6000] {
            assert_eq!(value(h.shift_left(s, Term::int(n))), Some(&a << n), "{a} bsl {n}");
            assert_eq!(value(h.shift_right(s, Term::int(n))), Some(&a >> n), "{a} bsr {n}");
            assert_eq!(value(h.shift_left(s, Term::int(-n))), Some(&a >> n));
        }
        for &t in &numbers {
            let b = integer_value(t).unwrap();
            assert_eq!(value(h.arith(ArithOp::Add, s, t)), Some(&a + &b), "{a} + {b}");
            assert_eq!(value(h.arith(ArithOp::Sub, s, t)), Some(&a - &b), "{a} - {b}");
            assert_eq!(value(h.arith(ArithOp::Mul, s, t)), Some(&a * &b), "{a} * {b}");
            assert_eq!(value(h.bitwise(BitOp::And, s, t)), Some(&a & &b), "{a} band {b}");
            assert_eq!(value(h.bitwise(BitOp::Or, s, t)), Some(&a | &b), "{a} bor {b}");
            assert_eq!(value(h.bitwise(BitOp::Xor, s, t)), Some(&a ^ &b), "{a} bxor {b}");
            if b != BigInt::ZERO {
                assert_eq!(value(h.int_divide(s, t, false)), Some(&a / &b), "{a} div {b}");
                assert_eq!(value(h.int_divide(s, t, true)), Some(&a % &b), "{a} rem {b}");
                // Quotients near a power of two are those whose digits are guessed wrongly.
                for near in [&a * &b - 1, &a * &b, (&b << 64) - 1] {
                    let n = h.big_integer(&near);
                    assert_eq!(value(h.int_divide(n, t, false)), Some(&near / &b));
                    assert_eq!(value(h.int_divide(n, t, true)), Some(&near % &b));
                }
            }
        }
    }
}

/// A result shorter than its room returns the rest, in the block and in fragments.
#[test]
fn cancelled_digits_take_no_room() {
    let h = Heap::new(4096);
    let big = h.big(false, &[u64::MAX; 100]);
    let before = h.sizes().used;
    for _ in 0..1000 {
        assert_eq!(h.arith(ArithOp::Sub, big, big).unwrap().as_small(), Some(0));
        assert_eq!(h.int_divide(big, big, false).unwrap().as_small(), Some(1));
    }
    assert_eq!(h.sizes().used, before);
    let before = h.sizes().terms();
    h.in_fragments(|| {
        for _ in 0..1000 {
            assert_eq!(h.arith(ArithOp::Sub, big, big).unwrap().as_small(), Some(0));
        }
    });
    assert_eq!(h.sizes().terms(), before);
}

/// Products of lengths around those at which another method begins, each of which gives what the
/// crate says, and quotients of them.
#[test]
fn methods_agree_around_their_limits() {
    let lengths: &[usize] = if cfg!(miri) {
        &[3, 33]
    } else {
        &[
            2, 4, 5, 6, 7, 8, 30, 31, 32, 33, 34, 62, 63, 65, 67, 95, 127, 128, 129, 256, 699, 700,
            701,
        ]
    };
    let h = Heap::new(64);
    let mut seed = 0x1234_5678_9ABC_DEF1;
    for &m in lengths {
        for &n in lengths.iter().filter(|n| **n <= m) {
            for kind in 0..3 {
                let mut digits = |n: usize| -> Vec<u64> {
                    match kind {
                        0 => vec![u64::MAX; n],
                        1 => (0..n).map(|_| digit(&mut seed)).chain([7]).collect(),
                        _ => (0..n).map(|i| if i + 1 == n { 1 << 63 } else { 0 }).collect(),
                    }
                };
                let (s, t) = (h.big(false, &digits(m)), h.big(true, &digits(n)));
                let (a, b) = (integer_value(s).unwrap(), integer_value(t).unwrap());
                let product = h.arith(ArithOp::Mul, s, t).unwrap();
                assert_eq!(integer_value(product), Some(&a * &b), "{m} by {n}");
                assert_eq!(value(h.int_divide(product, t, false)), Some(a.clone()));
                assert_eq!(value(h.int_divide(product, s, false)), Some(b.clone()));
                let less = h.arith(ArithOp::Add, product, Term::int(1)).unwrap();
                assert_eq!(value(h.int_divide(less, t, false)), Some(&(&a * &b + 1) / &b));
                assert_eq!(value(h.int_divide(less, t, true)), Some(&(&a * &b + 1) % &b));
            }
        }
    }
}

/// Text of every base and many lengths.
#[test]
fn parses_what_is_printed() {
    let h = Heap::new(64);
    for base in 2..=36 {
        for n in (0..90).chain([300, 2048]).step_by(if cfg!(miri) { 40 } else { 1 }) {
            let highest = char::from_digit(base - 1, base).unwrap();
            for text in [format!("1{}", "0".repeat(n)), highest.to_string().repeat(n + 1)] {
                let parsed = value(h.parse_integer(true, text.as_bytes(), base));
                let expected = BigInt::parse_bytes(text.as_bytes(), base).map(|i| -i);
                assert_eq!(parsed, expected, "{text} of {base}");
            }
        }
    }
}
