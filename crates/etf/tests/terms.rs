//! Random terms of all kinds: order, equality, hashes, copies, the external format and text must agree
//! with each other.

use std::cmp::Ordering;

use kvik_etf::{decode, encode, DecodeOpts, EncodeOpts};
use kvik_heap::{Heap, OwnedTerm};
use kvik_term::cmp::{compare, compare_exact, eq, eq_exact};
use kvik_term::{am, hash, map, print, Atom, ExtKind, Term};

/// Numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
    fn bytes(&mut self, most: u64) -> Vec<u8> {
        (0..self.below(most + 1)).map(|_| self.below(3) as u8).collect()
    }
}

/// From small ranges, so that equal ones are frequent.
fn flat<'h>(h: &'h Heap, n: &mut Numbers) -> Term<'h> {
    let i = n.below(7) as i64 - 3;
    match n.below(14) {
        0 | 1 => h.integer(i),
        2 => h.float(i as f64),
        3 => h.float(i as f64 + 0.5),
        4 => h.integer((1 << 59) + i),
        5 => h.big(n.below(2) == 0, &[n.below(3), 1 + n.below(2)]),
        6 => h.float((1u64 << 60) as f64),
        7 => [am::ok, am::error, am::true_, Atom::intern("żółw").expect("room")]
            [n.below(4) as usize]
            .into(),
        8 => Term::local_pid(n.below(3) as u32),
        9 => h.ref_of_numbers([n.below(2) as u32, n.below(2) as u32, 1]),
        10 => h.binary(&n.bytes(4)),
        11 => h.binary(&n.bytes(100)),
        12 => {
            let whole = h.binary(&n.bytes(90));
            let bits = whole.as_bits().map_or(0, |b| b.bit_len());
            let from = n.below(bits as u64 + 1) as usize;
            let len = n.below((bits - from) as u64 + 1) as usize;
            h.sub_binary(whole, from, len).expect("a part of it")
        }
        _ => {
            let node = [am::ok, am::error][n.below(2) as usize];
            h.external(ExtKind::Pid, node, 1 + n.below(2) as u32, &[n.below(2)], 1)
        }
    }
}
fn term<'h>(h: &'h Heap, n: &mut Numbers, depth: u64) -> Term<'h> {
    let parts = |n: &mut Numbers, most| -> Vec<Term<'h>> {
        (0..n.below(most)).map(|_| term(h, n, depth - 1)).collect()
    };
    match n.below(if depth == 0 { 1 } else { 6 }) {
        0 | 1 => flat(h, n),
        2 => h.tuple(&parts(n, 4)),
        3 => h.list(&parts(n, 4)),
        4 => {
            let items = parts(n, 4);
            h.list_with_tail(&items, flat(h, n))
        }
        _ => {
            let most = [4, 4, 4, 60][n.below(4) as usize];
            let keys = parts(n, most);
            let pairs: Vec<_> = keys.iter().map(|k| (*k, flat(h, n))).collect();
            h.map(&pairs)
        }
    }
}

fn same_in_every_way(a: Term<'_>, b: Term<'_>) {
    assert!(eq_exact(a, b) && eq(a, b), "{}", text(a));
    assert!(compare(a, b).is_eq() && compare_exact(a, b).is_eq());
    assert_eq!(hash::internal(a, 7), hash::internal(b, 7));
    assert_eq!(text(a), text(b));
}
fn text(t: Term<'_>) -> String {
    String::from_utf8_lossy(&print::display(t)).into_owned()
}

#[test]
fn a_copy_and_a_decoded_term_are_the_same() {
    let mut n = Numbers(0x1234_5678_9ABC_DEF1);
    for _ in 0..3000 {
        let h = Heap::new(1 << 10);
        let t = term(&h, &mut n, 4);
        same_in_every_way(t, t);
        let other = Heap::new(64);
        same_in_every_way(t, other.copy(t));
        same_in_every_way(t, OwnedTerm::new(t).term());
        for level in [0, 1] {
            let bytes = encode(t, EncodeOpts { utf8_atoms: true, ..EncodeOpts::default() }, level);
            let (again, used) = decode(&bytes, &other, DecodeOpts::default()).expect("a term");
            assert_eq!(used, bytes.len());
            same_in_every_way(t, again);
        }
    }
}

#[test]
fn order_and_equality_agree() {
    let mut n = Numbers(0xFEED_5EED_1234_0001);
    for _ in 0..20_000 {
        let h = Heap::new(1 << 10);
        let [a, b, c] = [(); 3].map(|_| term(&h, &mut n, 2));
        for order in [compare, compare_exact] {
            assert_eq!(order(a, b), order(b, a).reverse(), "{} {}", text(a), text(b));
            if order(a, b) != Ordering::Greater && order(b, c) != Ordering::Greater {
                assert!(order(a, c) != Ordering::Greater, "{} {} {}", text(a), text(b), text(c));
            }
        }
        assert_eq!(compare(a, b).is_eq(), eq(a, b));
        assert_eq!(compare_exact(a, b).is_eq(), eq_exact(a, b));
        if eq_exact(a, b) {
            same_in_every_way(a, b);
        }
    }
}

/// Maps of the same pairs, whatever way they came to be, and what is found in them.
#[test]
fn maps_of_the_same_pairs_are_the_same() {
    let mut n = Numbers(0xABCD_EF01_2345_6789);
    for _ in 0..500 {
        let h = Heap::new(1 << 12);
        let pairs: Vec<_> =
            (0..n.below(80)).map(|_| (term(&h, &mut n, 1), flat(&h, &mut n))).collect();
        let whole = h.map(&pairs);
        let mut grown = h.map(&[]);
        for (k, v) in &pairs {
            grown = h.map_put(grown.as_map().expect("a map"), *k, *v);
        }
        same_in_every_way(whole, grown);
        let (key, m) = (term(&h, &mut n, 1), whole.as_map().expect("a map"));
        let last = pairs.iter().rev().find(|(k, _)| eq_exact(*k, key)).map(|(_, v)| *v);
        let found = map::get(m, key);
        assert!(match (last, found) {
            (Some(v), Some(w)) => eq_exact(v, w),
            (None, None) => true,
            _ => false,
        });
        let removed = h.map_remove(m, key).as_map().expect("a map");
        assert_eq!(removed.len(), m.len() - found.is_some() as usize);
        assert_eq!(map::iter(m).count(), m.len());
    }
}
