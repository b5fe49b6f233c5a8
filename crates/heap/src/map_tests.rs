//! Keys whose hashes are the same on all levels, and keys that nest deeply.

use kvik_term::map::{self, Path, COLLISION, LAST_LEVEL};
use kvik_term::object::ExtKind;
use kvik_term::{cmp, hash, print, Atom, Term};

use crate::map_build::MapBuilder;
use crate::{Heap, OwnedTerm};

/// Keys that differ and have the same hash under every salt: the digits of integers in a row may
/// belong to the first or to the second.
pub(crate) fn colliding(h: &Heap, n: usize) -> Vec<Term<'_>> {
    let top = 1 << 60;
    let one = |bit: bool| match bit {
        true => [h.big(false, &[top + 1, top + 2]), h.big(false, &[top + 3])],
        false => [h.big(false, &[top + 1]), h.big(false, &[top + 2, top + 3])],
    };
    let bits = n.next_power_of_two().trailing_zeros();
    let key = |i: usize| {
        let parts: Vec<_> = (0..bits).flat_map(|b| one(i >> b & 1 == 1)).collect();
        h.tuple(&parts)
    };
    (0..n).map(key).collect()
}

fn built<'h>(h: &'h Heap, keys: &[Term<'h>], steps: usize) -> Term<'h> {
    let mut b = MapBuilder::default();
    for (i, k) in keys.iter().enumerate() {
        b.add(*k, Term::int(i as i32));
    }
    loop {
        if let Some(t) = b.finish(h, &mut steps.clone()) {
            return t;
        }
    }
}

#[test]
fn keys_made_to_collide_collide() {
    let h = Heap::new(64);
    let keys = colliding(&h, 8);
    for salt in 0..LAST_LEVEL {
        assert!(keys.iter().all(|k| hash::internal(*k, salt) == hash::internal(keys[0], salt)));
    }
    assert!(keys.iter().skip(1).all(|k| !cmp::eq_exact(*k, keys[0])));
}

#[test]
fn colliding_keys_are_put_found_and_removed() {
    let h = Heap::new(64);
    for n in [2, 3, 31, 33, 100].into_iter().take(if cfg!(miri) { 1 } else { 5 }) {
        let mut keys = colliding(&h, n);
        keys.extend((0..40).map(|i| h.tuple(&[Term::int(i)])));
        let at_once =
            h.map(&keys.iter().zip(0..).map(|(k, i)| (*k, Term::int(i))).collect::<Vec<_>>());
        let mut m = h.map(&[]);
        for (i, k) in keys.iter().enumerate().rev() {
            m = h.map_put(m.as_map().unwrap(), *k, Term::int(i as i32));
        }
        assert!(cmp::eq_exact(m, at_once) && cmp::eq(m, at_once));
        assert!(cmp::compare(m, at_once).is_eq());
        assert_eq!(map::iter(m.as_map().unwrap()).count(), keys.len());
        for (i, k) in keys.iter().enumerate() {
            let of = m.as_map().unwrap();
            assert_eq!(map::get(of, *k).and_then(Term::as_small), Some(i as i64));
            let again = h.map_put(of, *k, Term::int(-1));
            assert_eq!(again.as_map().unwrap().len(), of.len());
            m = h.map_remove(of, *k);
            assert!(map::get(m.as_map().unwrap(), *k).is_none());
        }
        assert_eq!(m.as_map().unwrap().len(), 0);
        let with_root = built(&h, &keys, 7);
        let owned = OwnedTerm::new(with_root);
        assert!(cmp::eq_exact(owned.term(), at_once));
        assert_eq!(print::display(owned.term()), print::display(at_once));
    }
}

#[test]
fn many_colliding_keys_are_built_in_sorting_time() {
    let h = Heap::new(64);
    let keys = colliding(&h, if cfg!(miri) { 40 } else { 30_000 });
    let twice: Vec<_> = keys.iter().chain(&keys).copied().collect();
    let m = built(&h, &twice, usize::MAX).as_map().unwrap();
    assert_eq!(m.len(), keys.len());
    for (i, k) in keys.iter().enumerate().step_by(97) {
        let last = (keys.len() + i) as i64;
        assert_eq!(map::get(m, *k).and_then(Term::as_small), Some(last));
    }
    let mut node = m.root().unwrap();
    let mut path = Path::new(keys[0]);
    while let Some(next) = node.children.first().and_then(|c| c.as_map()?.node()) {
        (node, path) = (next, path.down());
    }
    assert!(path.is_collision() && node.bitmap & COLLISION != 0);
    assert_eq!(node.children.len(), keys.len());
}

#[test]
fn keys_that_differ_in_one_field_hash_differently() {
    let h = Heap::new(64);
    let (a, b) = (Atom::intern("a@b").unwrap(), Atom::intern("b@b").unwrap());
    let mut all = Vec::new();
    for node in [a, b] {
        for creation in [0, 1, 7] {
            for data in [1, 5, 5 << 32, 5 | 5 << 32] {
                all.push(h.external(ExtKind::Pid, node, creation, &[data], 0));
                all.push(h.external(ExtKind::Port, node, creation, &[data], 0));
                for n in 3..=4 {
                    all.push(h.external(ExtKind::Ref, node, creation, &[data, 9], n));
                }
            }
        }
    }
    for (i, x) in all.iter().enumerate() {
        for y in all[i + 1..].iter().step_by(if cfg!(miri) { 23 } else { 1 }) {
            let same = hash::internal(*x, 0) == hash::internal(*y, 0);
            assert_eq!(same, cmp::eq_exact(*x, *y), "{x:?} {y:?}");
        }
    }
}

/// Nests a term so often.
type Nest = for<'h> fn(&'h Heap, Term<'h>) -> Term<'h>;
const NESTS: &[(&str, Nest, usize)] = &[
    ("head", |h, t| h.cons(t, Term::NIL), 200_000),
    ("tail", |h, t| h.cons(Term::int(1000), t), 200_000),
    ("tuple", |h, t| h.tuple(&[t]), 200_000),
    ("map value", |h, t| h.map(&[(Term::int(1), t)]), 200_000),
    ("map key", |h, t| h.map(&[(t, Term::int(1))]), 200_000),
    ("large map value", |h, t| large(h, Term::int(7), t), 5000),
    ("large map key", |h, t| large(h, t, Term::int(1)), 500),
];
fn large<'h>(h: &'h Heap, key: Term<'h>, value: Term<'h>) -> Term<'h> {
    let pairs: Vec<_> =
        (0..40).map(|i| (Term::int(i), Term::int(i))).chain([(key, value)]).collect();
    h.map(&pairs)
}

#[test]
#[cfg_attr(miri, ignore = "the stack is Miri's own, and the depth takes hours")]
fn no_walk_needs_stack_for_depth() {
    let walk = || {
        for (name, nest, depth) in NESTS {
            let h = Heap::new(64);
            let deep = |t: i32| (0..*depth).fold(Term::int(t), |t, _| nest(&h, t));
            let (a, b, c) = (deep(1000), deep(1000), deep(1001));
            assert!(cmp::eq_exact(a, b) && cmp::eq(a, b) && !cmp::eq_exact(a, c), "{name}");
            assert!(cmp::compare(a, c).is_lt() && cmp::compare_exact(a, b).is_eq(), "{name}");
            assert_eq!(hash::internal(a, 1), hash::internal(b, 1), "{name}");
            let owned = OwnedTerm::new(a);
            assert!(cmp::eq_exact(h.copy(owned.term()), b), "{name}");
            let shown = print::display(a).len();
            assert!(shown > *depth && shown == print::display(b).len(), "{name}");
        }
    };
    std::thread::Builder::new().stack_size(128 << 10).spawn(walk).unwrap().join().unwrap();
}
