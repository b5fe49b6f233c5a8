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
