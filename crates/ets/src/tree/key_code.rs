//! Codes of keys: 128 bits that come in the order of the keys, as far as they reach.
//!
//! Where two keys' codes differ, the lower one belongs to the lesser key in the standard order, in which
//! `1 == 1.0`. Where they are the same, the keys are equal if a code is [`End::Whole`]; else the keys must
//! be compared. So most comparisons in a tree need no access to an object.
//!
//! A term is written as its kind and its contents, from the highest bit on, such that no term's bits are
//! the beginning of another's, and what comes after two equal beginnings has the same form in both:
//!
//! | kind | bits, after four for the kind |
//! |---|---|
//! | integer | 5 for the sign and the number of bytes, the bytes, a 0 |
//! | float | as the integer below it; a 1, 64 bits of what is above it, and a 0; or a 1, if it has more; nothing more then |
//! | integer or float of more than 64 bits | 5 that say so, 16 for its size, 96 of its highest; nothing more |
//! | atom | 9 for each byte of its name: a 1 and the byte; a 0 |
//! | bit string | groups of eight bytes, filled with 0; after each 7: how many bits are used, or 65: another follows |
//! | list | its head, its tail |
//! | tuple | 8 for its size, or 255: larger; its elements |
//! | map | 16 for its size, or the most; nothing more |
//! | pid | its serial and its number; nothing more |
//! | reference, fun, port, record | nothing more |
//!
//! "Nothing more" ends the code of the whole key, as what would follow depends on more than is written.

use kvik_term::{Atom, Big, Bits, Term, View};

use crate::order;

/// Bits of a code.
pub(super) const WIDTH: u32 = u128::BITS;

/// Why a code has ended.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum End {
    /// All of the key is in it.
    Whole,
    /// There is more of the key.
    Cut,
    /// All of a pattern is in it up to its first variable.
    Variable,
}

#[derive(Copy, Clone, Debug)]
pub(super) struct KeyCode {
    pub bits: u128,
    /// Of which so many are used. The others are 0.
    pub used: u32,
    pub end: End,
}

impl KeyCode {
    #[inline]
    pub fn of_key(key: Term<'_>) -> KeyCode {
        match key.as_small() {
            Some(i) => {
                let mut code = KeyCode::new();
                code.kind(NUMBER);
                code.integer(i);
                code
            }
            None => KeyCode::encode(key, false),
        }
    }
    /// Of a pattern, up to its first variable; or map, which in some releases matches larger maps.
    pub fn of_pattern(pattern: Term<'_>) -> KeyCode {
        KeyCode::encode(pattern, true)
    }
    fn encode(t: Term<'_>, is_pattern: bool) -> KeyCode {
        let mut code = KeyCode::new();
        code.term(t, is_pattern);
        code
    }
    fn new() -> KeyCode {
        KeyCode { bits: 0, used: 0, end: End::Whole }
    }

    /// Appends the lowest `n` bits of `bits`, or as many of the highest of them as there is room for.
    #[inline(always)]
    fn push(&mut self, bits: u64, n: u32) {
        let room = WIDTH - self.used;
        let wide = u128::from(bits);
        if n <= room {
            self.bits |= wide << (room - n);
            self.used += n;
        } else {
            self.bits |= wide >> (n - room);
            self.used = WIDTH;
            self.end = End::Cut;
        }
    }
    fn kind(&mut self, kind: u64) {
        self.push(kind, 4);
    }

    /// Appends a term, of which each part takes four bits at least: so this recurses at most 32 times.
    fn term(&mut self, t: Term<'_>, is_pattern: bool) {
        let mut t = t;
        while self.end == End::Whole {
            match t.view() {
                View::Small(i) => {
                    self.kind(NUMBER);
                    self.integer(i);
                }
                View::Big(i) => {
                    self.kind(NUMBER);
                    self.big(i);
                }
                View::Float(f) => {
                    self.kind(NUMBER);
                    self.float(f);
                }
                View::Atom(_) if is_pattern && order::wild(t).is_some() => {
                    self.end = End::Variable;
                }
                View::Atom(a) => self.atom(a),
                View::Bits(b) => self.bit_string(b),
                View::Nil => self.kind(NIL),
                View::Cons(c) => {
                    self.kind(CONS);
                    self.term(c.head(), is_pattern);
                    t = c.tail();
                    continue;
                }
                View::Tuple(u) => {
                    self.kind(TUPLE);
                    self.push(u.len().min(LARGE_TUPLE) as u64, 8);
                    if u.len() >= LARGE_TUPLE {
                        self.end = End::Cut;
                    }
                    for e in u.elements() {
                        if self.end != End::Whole {
                            break;
                        }
                        self.term(*e, is_pattern);
                    }
                }
                View::Map(_) if is_pattern => self.end = End::Cut,
                View::Map(m) => {
                    self.kind(MAP);
                    self.push(m.len().min(LARGE_MAP) as u64, 16);
                    self.end = End::Cut;
                }
                View::Pid(p) => {
                    let (number, serial) = p.numbers();
                    self.kind(PID);
                    self.push(u64::from(serial) << 32 | u64::from(number), 64);
                    self.end = End::Cut;
                }
                View::Ref(_) => self.only_kind(REFERENCE),
                View::Fun(_) => self.only_kind(FUN),
                View::Port(_) => self.only_kind(PORT),
                View::Record(_) => self.only_kind(RECORD),
            }
            return;
        }
    }
    fn only_kind(&mut self, kind: u64) {
        self.kind(kind);
        self.end = End::Cut;
    }

    #[inline]
    fn integer(&mut self, i: i64) {
        self.whole_number(i);
        self.push(0, 1);
    }
    /// The sign and the number of bytes, and the bytes.
    #[inline]
    fn whole_number(&mut self, i: i64) {
        let is_negative = i < 0;
        let magnitude = if is_negative { !i } else { i } as u64;
        let bytes = (u64::BITS - magnitude.leading_zeros()).div_ceil(8);
        let low = if bytes == 8 { i as u64 } else { i as u64 & !(u64::MAX << (bytes * 8)) };
        let size = if is_negative { MIDDLE - 1 - bytes } else { MIDDLE + bytes };
        self.push(u64::from(size), 5);
        self.push(low, bytes * 8);
    }
    fn big(&mut self, i: Big<'_>) {
        if let Some(i) = i.as_i64() {
            return self.integer(i);
        }
        let digits = i.digits();
        let digit = |n: usize| digits.len().checked_sub(n).and_then(|n| digits.get(n)).copied();
        let (first, second) = (digit(1).unwrap_or(0), digit(2).unwrap_or(0));
        let zeros = first.leading_zeros();
        let highest = (u128::from(first) << 64 | u128::from(second)) << zeros;
        let size = digits.len() as u64 * 64 - u64::from(zeros);
        self.huge(i.is_negative(), size, highest);
    }
    fn float(&mut self, f: f64) {
        let below = f.floor();
        if (I64_MIN..-I64_MIN).contains(&below) {
            self.whole_number(below as i64);
            let (fraction, more) = fraction_above(f);
            let is_whole = fraction == 0 && !more;
            self.push(u64::from(!is_whole), 1);
            if !is_whole {
                self.push(fraction, 64);
                self.push(u64::from(more), 1);
                if more {
                    self.end = End::Cut;
                }
            }
        } else {
            let bits = f.to_bits();
            let exponent = (bits >> 52) & 0x7FF;
            self.huge(f < 0.0, exponent - 1022, u128::from(bits << 11 | 1 << 63) << 64);
        }
    }
    /// A number that 64 bits do not hold: how many its magnitude has, and its highest bits.
    fn huge(&mut self, is_negative: bool, size: u64, highest: u128) {
        let size = size.min(MOST_BITS);
        let highest = if size == MOST_BITS { 0 } else { highest };
        let (bytes, size, highest) = match is_negative {
            true => (MIDDLE - 1 - 9, MOST_BITS - size, !highest),
            false => (MIDDLE + 9, size, highest),
        };
        self.push(u64::from(bytes), 5);
        self.push(size, 16);
        self.push((highest >> 64) as u64, 64);
        self.push((highest >> 32) as u64 & u64::from(u32::MAX), 32);
        self.end = End::Cut;
    }

    fn atom(&mut self, a: Atom) {
        self.kind(ATOM);
        for byte in a.name().bytes() {
            self.push(0x100 | u64::from(byte), 9);
            if self.end != End::Whole {
                return;
            }
        }
        self.push(0, 1);
    }
    fn bit_string(&mut self, b: Bits<'_>) {
        self.kind(BITS);
        let mut from = 0;
        while self.end == End::Whole {
            let left = b.bit_len() - from * 8;
            let group = match b.as_bytes().and_then(|all| all.get(from..from + 8)) {
                Some(group) => group.try_into().map_or(0, u64::from_be_bytes),
                None => (from..from + 8).fold(0, |all, i| all << 8 | u64::from(b.byte(i))),
            };
            self.push(group, 64);
            if left <= 64 {
                return self.push(left as u64, 7);
            }
            self.push(MORE_BITS, 7);
            from += 8;
        }
    }
}

/// The kinds of terms in their order.
const NUMBER: u64 = 1;
const ATOM: u64 = 2;
const REFERENCE: u64 = 3;
const FUN: u64 = 4;
const PORT: u64 = 5;
const PID: u64 = 6;
const TUPLE: u64 = 7;
const RECORD: u64 = 8;
const MAP: u64 = 9;
const NIL: u64 = 10;
const CONS: u64 = 11;
const BITS: u64 = 12;

/// Sizes from which on they are not told apart.
const LARGE_TUPLE: usize = 255;
const LARGE_MAP: usize = 0xFFFF;
const MOST_BITS: u64 = 0xFFFF;
/// Negative numbers of more bytes are below it, others from it on.
const MIDDLE: u32 = 16;
/// In place of the number of bits in a group: there is another.
const MORE_BITS: u64 = 65;
const I64_MIN: f64 = i64::MIN as f64;

/// The first 64 binary places of what a number is above the integer below it, and whether there are more.
fn fraction_above(f: f64) -> (u64, bool) {
    const SHIFTED: f64 = 18_446_744_073_709_551_616.0;
    // Of the magnitude it is exact: less than 1, shifted by a power of two.
    let all = f.abs().fract() * SHIFTED;
    let (places, more) = (all as u64, all.fract() != 0.0);
    match f < 0.0 {
        true => (0u64.wrapping_sub(places).wrapping_sub(u64::from(more)), more),
        false => (places, more),
    }
}
