//! Codes against the order of terms, and trees against a sorted list.

use std::cmp::Ordering;
use std::ops::Bound;

use kvik_heap::{Heap, OwnedTerm};
use kvik_term::{cmp, Atom, Term};

use super::key_code::{End, KeyCode};
use super::{Tree, TreeBound};
use crate::linear_hash::{key_of, Edit};
use crate::order;

/// Numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}

/// Terms that differ late, or by little.
fn term<'h>(h: &'h Heap, n: &mut Numbers, depth: u64) -> Term<'h> {
    const NAMES: [&str; 8] =
        ["", "a", "a\0", "ab", "b", "session_of_a_user", "session_of_a_uses", "\u{e5}"];
    match n.below(if depth == 0 { 9 } else { 14 }) {
        0 => h.integer(n.below(5) as i64 - 2),
        1 => integer(h, n),
        2 => float(h, n),
        3 => Atom::intern(n.one_of(&NAMES)).expect("an atom").into(),
        4 | 5 => bit_string(h, n),
        6 => h.make_ref(),
        7 => Term::NIL,
        8 => Term::local_pid(n.below(3) as u32 + 1),
        9 | 10 => {
            let all: Vec<_> = (0..n.below(4)).map(|_| term(h, n, depth - 1)).collect();
            h.tuple(&all)
        }
        11 => h.cons(term(h, n, depth - 1), term(h, n, depth - 1)),
        12 => {
            let text: Vec<_> = (0..n.below(9)).map(|_| h.integer(97 + n.below(2) as i64)).collect();
            h.list(&text)
        }
        _ => {
            let keys = (0..n.below(3)).map(|i| h.integer(i as i64));
            let pairs: Vec<_> = keys.map(|k| (k, h.integer(n.below(2) as i64))).collect();
            h.map(&pairs)
        }
    }
}
/// Around the powers of two.
fn integer<'h>(h: &'h Heap, n: &mut Numbers) -> Term<'h> {
    let (power, near) = (n.below(150), n.below(3));
    let all = match near {
        0 => (1u128 << power.min(127)).wrapping_sub(1),
        1 => 1u128 << power.min(127),
        _ => (1u128 << power.min(127)) + 1,
    };
    h.big(n.below(2) == 0, &[all as u64, (all >> 64) as u64, u64::from(power > 140)])
}
fn float<'h>(h: &'h Heap, n: &mut Numbers) -> Term<'h> {
    let f = match n.below(6) {
        // Neighbours, and what is close to them.
        4 => f64::from_bits(((n.below(400) as f64 - 200.0) / 97.0).to_bits() + n.below(3)),
        5 => f64::from_bits((-(0.5f64.powi(n.below(80) as i32))).to_bits() - n.below(3)),
        0 => n.one_of(&[0.0, -0.0, 0.5, 1e-20, -1e-20, 1.5, 1e308, -1e308, 0.1, 0.100_000_000_1]),
        1 => 2f64.powi(n.below(150) as i32),
        2 => -(2f64.powi(n.below(150) as i32)),
        _ => n.below(5) as f64 - 2.0,
    };
    h.float(f)
}
fn bit_string<'h>(h: &'h Heap, n: &mut Numbers) -> Term<'h> {
    let bytes: Vec<u8> = (0..n.below(20)).map(|_| n.one_of(&[0, 0, 0, 1, 128])).collect();
    let bits = (bytes.len() * 8).saturating_sub(n.one_of(&[0, 0, 1, 7, 9]));
    h.bitstring(&bytes, bits)
}

#[test]
fn codes_come_in_the_order_of_terms() {
    let h = Heap::detached();
    let mut n = Numbers(88_172_645_463_325_252);
    let all: Vec<_> = (0..2_000).map(|_| term(&h, &mut n, 3)).collect();
    let codes: Vec<_> = all.iter().map(|t| KeyCode::of_key(*t)).collect();
    for (a, x) in all.iter().zip(&codes) {
        for (b, y) in all.iter().zip(&codes) {
            let order = cmp::compare(*a, *b);
            match x.bits.cmp(&y.bits) {
                Ordering::Equal if x.end == End::Whole => assert!(order.is_eq(), "{a:?} {b:?}"),
                Ordering::Equal => assert!(y.end == End::Cut, "{a:?} {b:?}"),
                different => assert_eq!(different, order, "{a:?} {b:?}"),
            }
        }
    }
}

#[test]
fn codes_of_patterns_come_in_the_order_of_keys() {
    let h = Heap::detached();
    let mut n = Numbers(1_234_567);
    let wild = |h: &'static str| Term::from(Atom::intern(h).expect("an atom"));
    for _ in 0..200_000 {
        let (a, b, d) = (term(&h, &mut n, 2), term(&h, &mut n, 1), term(&h, &mut n, 1));
        let c = n.one_of(&[b, wild("_"), wild("$1"), d]);
        let pattern = h.tuple(&[a, c, b]);
        let same = n.below(4) > 0;
        let first = if same { a } else { term(&h, &mut n, 2) };
        let key = h.tuple(&[first, term(&h, &mut n, 1), b]);
        let code = KeyCode::of_pattern(pattern);
        let mask = !u128::MAX.checked_shr(code.used).unwrap_or(0);
        let order = order::partial(pattern, key);
        match code.bits.cmp(&(KeyCode::of_key(key).bits & mask)) {
            Ordering::Equal if code.end == End::Cut => {}
            found => assert_eq!(found, order, "{pattern:?} {key:?}"),
        }
    }
}

/// The objects of a tree, and the same in a sorted list.
struct Both {
    tree: Tree,
    list: Vec<OwnedTerm>,
}

impl Both {
    fn place(&self, key: Term<'_>) -> Result<usize, usize> {
        self.list.binary_search_by(|o| cmp::compare(key_of(o.term(), 1), key))
    }
    fn put(&mut self, object: Term<'_>) {
        self.tree.put(object, false);
        match self.place(key_of(object, 1)) {
            Ok(i) => self.list[i] = OwnedTerm::new(object),
            Err(i) => self.list.insert(i, OwnedTerm::new(object)),
        }
    }
    fn take(&mut self, key: Term<'_>) {
        let taken = self.tree.take(key).map(|o| o.words());
        let wanted = self.place(key).ok().map(|i| self.list.remove(i).words());
        assert_eq!(taken, wanted);
    }
    /// Compares look-ups, steps in both directions, and a walk from one key to another.
    fn compare(&self, key: Term<'_>, to: Term<'_>) {
        let at = self.place(key);
        let same = |found: Option<Term<'_>>, i: Option<usize>| {
            let wanted = i.and_then(|i| self.list.get(i)).map(|o| key_of(o.term(), 1));
            match (found, wanted) {
                (Some(a), Some(b)) => cmp::eq_exact(a, b),
                (None, None) => true,
                _ => false,
            }
        };
        let (before, behind) = match at {
            Ok(i) => (i.checked_sub(1), Some(i + 1)),
            Err(i) => (i.checked_sub(1), Some(i)),
        };
        assert!(same(self.tree.get(key).map(|o| key_of(o, 1)), at.ok()));
        assert!(same(self.tree.next(key), behind), "next of {key:?}");
        assert!(same(self.tree.prev(key), before), "before {key:?}");
        let (from, end) = (at.unwrap_or_else(|i| i), self.place(to).unwrap_or_else(|i| i));
        let wanted = self.list.get(from..end).unwrap_or(&[]);
        let bounds = (Bound::Included(TreeBound::Key(key)), Bound::Excluded(TreeBound::Key(to)));
        let forward = self.tree.between(bounds.0, bounds.1).map(|r| r.object());
        assert!(forward.eq_by_exact(wanted.iter()));
        let back = self.tree.between(bounds.0, bounds.1).rev().map(|r| r.object());
        assert!(back.eq_by_exact(wanted.iter().rev()));
    }
    fn compare_all(&self) {
        assert_eq!(self.tree.len(), self.list.len());
        let words: usize = self.list.iter().map(OwnedTerm::words).sum();
        assert_eq!(self.tree.words(), words);
        let all = self.tree.between(Bound::Unbounded, Bound::Unbounded).map(|r| r.object());
        assert!(all.eq_by_exact(self.list.iter()));
        for i in (0..self.list.len() + 2).step_by(7) {
            let (found, wanted) = (self.tree.nth(i), self.list.get(i).map(OwnedTerm::term));
            let is_same = found.zip(wanted).is_none_or(|(a, b)| cmp::eq_exact(a, b));
            assert!(is_same && found.is_some() == wanted.is_some(), "{i}");
        }
    }
}
/// Equality of two sequences of objects.
trait SameObjects<'t>: Iterator<Item = Term<'t>> + Sized {
    fn eq_by_exact<'l>(mut self, mut other: impl Iterator<Item = &'l OwnedTerm>) -> bool {
        loop {
            match (self.next(), other.next()) {
                (Some(a), Some(b)) if cmp::eq_exact(a, b.term()) => {}
                (None, None) => return true,
                _ => return false,
            }
        }
    }
}
impl<'t, I: Iterator<Item = Term<'t>>> SameObjects<'t> for I {}

/// A tree that grows to thousands of objects and shrinks again, three times.
fn churn(seed: u64, key: impl for<'h> Fn(&'h Heap, &mut Numbers) -> Term<'h>) {
    let mut n = Numbers(seed);
    let mut both = Both { tree: Tree::new(1), list: Vec::new() };
    for round in 0..30_000u64 {
        let h = Heap::detached();
        let k = key(&h, &mut n);
        let grows = round % 10_000 < 4_000;
        if n.below(10) < if grows { 8 } else { 2 } {
            both.put(h.tuple(&[k, h.integer(round as i64)]));
        } else {
            let i = n.below(both.list.len() as u64 + 1) as usize;
            let existing = both.list.get(i).cloned();
            both.take(existing.as_ref().map_or(k, |o| key_of(o.term(), 1)));
        }
        if round % 16 == 0 {
            let (a, b) = (key(&h, &mut n), key(&h, &mut n));
            both.compare(a, b);
            both.compare(b, a);
        }
        if round % 2_048 == 0 {
            both.compare_all();
        }
    }
    while let Some(o) = both.list.first().cloned() {
        both.take(key_of(o.term(), 1));
    }
    both.compare_all();
}

#[test]
fn trees_are_sorted_lists_of_small_integers() {
    churn(3, |h, n| h.integer(n.below(8_000) as i64));
}
#[test]
fn trees_are_sorted_lists_of_keys_with_long_common_beginnings() {
    churn(5, |h, n| {
        let name = format!("/a/path/that/all/share/{}", n.below(6_000));
        h.tuple(&[h.binary(name.as_bytes()), h.integer(1)])
    });
}
#[test]
fn trees_are_sorted_lists_of_any_keys() {
    churn(7, |h, n| term(h, n, 2));
}
#[test]
fn growing_and_falling_keys_fill_trees() {
    let h = Heap::detached();
    for falls in [false, true] {
        let mut both = Both { tree: Tree::new(1), list: Vec::new() };
        for i in 0..5_000 {
            let i = if falls { -i } else { i };
            both.put(h.tuple(&[h.integer(i), h.integer(i)]));
        }
        both.compare_all();
        both.compare(h.integer(-20), h.integer(20));
        let all = std::mem::replace(&mut both.tree, Tree::new(1)).into_objects();
        assert!(all.map(|o| o.words()).eq(both.list.iter().map(OwnedTerm::words)));
    }
}
#[test]
fn walks_end_at_what_a_pattern_may_match() {
    let h = Heap::detached();
    let mut tree = Tree::new(1);
    let atom = |name: &str| Term::from(Atom::intern(name).expect("an atom"));
    for a in ["session", "state_of_a_session", "state_of_a_sessiom"] {
        for i in 0..100 {
            tree.put(h.tuple(&[h.tuple(&[atom(a), h.integer(i)])]), false);
        }
    }
    for a in ["session", "state_of_a_session", "state_of_a_sessiom", "none"] {
        let pattern = h.tuple(&[atom(a), atom("_")]);
        let bounds = (
            Bound::Included(TreeBound::Before(pattern)),
            Bound::Included(TreeBound::Behind(pattern)),
        );
        let wanted = if a == "none" { 0 } else { 100 };
        assert_eq!(tree.between(bounds.0, bounds.1).count(), wanted);
        assert_eq!(tree.between(bounds.0, bounds.1).rev().count(), wanted);
        let mut seen = 0;
        let counted = tree.edit(bounds.0, bounds.1, &mut 1_000, |_| {
            seen += 1;
            if seen % 2 == 0 {
                Edit::Delete
            } else {
                Edit::Keep
            }
        });
        assert_eq!((counted.0, counted.1.is_none()), (wanted / 2, true));
    }
    assert_eq!(tree.len(), 150);
}
