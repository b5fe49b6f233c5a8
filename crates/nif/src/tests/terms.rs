//! Conversion of terms to C and back.

use std::ffi::{c_int, c_uint};

use super::{answer, array, c, Allocated};
use crate::abi::LATIN1;
use crate::characters::{enif_make_atom, enif_make_string};
use crate::compound::*;
use crate::env::enif_is_exception;
use crate::pointers::{OutPointer, Word};
use crate::terms::*;

#[test]
fn integers_come_back_where_they_fit() {
    let e = Allocated::new();
    let int = |w| answer::<c_int>(|to| enif_get_int(e.ptr(), c(w), to));
    let uint = |w| answer::<c_uint>(|to| enif_get_uint(e.ptr(), c(w), to));
    let long = |w| answer(|to| enif_get_long(e.ptr(), c(w), to));
    let ulong = |w| answer(|to| enif_get_ulong(e.ptr(), c(w), to));
    for i in [0, 1, -1, c_int::MIN, c_int::MAX] {
        assert_eq!(int(enif_make_int(e.ptr(), i)), Some(i));
    }
    let max = enif_make_uint(e.ptr(), c_uint::MAX);
    assert_eq!((int(max), uint(max)), (None, Some(c_uint::MAX)));
    assert_eq!(uint(enif_make_int(e.ptr(), -1)), None);
    for i in [i64::MIN, i64::MIN + 1, 1 << 59, -1 << 60, i64::MAX] {
        let w = enif_make_long(e.ptr(), i);
        assert_eq!((long(w), int(w)), (Some(i), None));
    }
    let max = enif_make_ulong(e.ptr(), u64::MAX);
    assert_eq!((long(max), ulong(max)), (None, Some(u64::MAX)));
    assert_eq!(ulong(enif_make_long(e.ptr(), -1)), None);
    assert_eq!(enif_get_int(e.ptr(), c(enif_make_int(e.ptr(), 7)), OutPointer::NULL), 1);
}

#[test]
fn floats_are_finite() {
    let e = Allocated::new();
    let w = enif_make_double(e.ptr(), 1.5);
    assert_eq!(answer(|to| enif_get_double(e.ptr(), c(w), to)), Some(1.5));
    assert_eq!(
        answer::<f64>(|to| enif_get_double(e.ptr(), c(enif_make_int(e.ptr(), 1)), to)),
        None
    );
    let w = enif_make_double(e.ptr(), f64::NAN);
    assert_eq!(enif_is_exception(e.ptr(), c(w)), 1);
}

#[test]
fn tuples_and_lists_keep_their_elements() {
    let e = Allocated::new();
    let words: Vec<Word> = (0..5).map(|i| enif_make_int(e.ptr(), i)).collect();
    let items: Vec<_> = words.iter().map(|w| c(*w)).collect();
    let tuple = enif_make_tuple_from_array(e.ptr(), array(&items), 5);
    let (mut n, mut at) = (0, std::ptr::null());
    // SAFETY: both are there for the call.
    let (arity, elements) = unsafe { (OutPointer::new(&mut n), OutPointer::new(&mut at)) };
    assert_eq!(enif_get_tuple(e.ptr(), c(tuple), arity, elements), 1);
    // SAFETY: the tuple's elements, in an environment that is there.
    assert_eq!(unsafe { std::slice::from_raw_parts(at, n as usize) }, words);

    let mut list = enif_make_list_from_array(e.ptr(), array(&items), 5);
    let length = |w| answer::<c_uint>(|to| enif_get_list_length(e.ptr(), c(w), to));
    assert_eq!(length(list), Some(5));
    let reversed = answer(|to| enif_make_reverse_list(e.ptr(), c(list), to)).unwrap();
    let head = |w| answer::<Word>(|to| enif_get_list_cell(e.ptr(), c(w), to, OutPointer::NULL));
    assert_eq!(head(reversed), Some(words[4]));
    for w in &words {
        assert_eq!(head(list), Some(*w));
        list = answer(|to| enif_get_list_cell(e.ptr(), c(list), OutPointer::NULL, to)).unwrap();
    }
    assert_eq!((enif_is_empty_list(e.ptr(), c(list)), head(list)), (1, None));
    let improper = enif_make_list_cell(e.ptr(), items[0], items[1]);
    assert_eq!(length(improper), None);
    assert_eq!(answer::<Word>(|to| enif_make_reverse_list(e.ptr(), c(improper), to)), None);
}

#[test]
fn maps_are_walked_both_ways() {
    let e = Allocated::new();
    let int = |i| c(enif_make_int(e.ptr(), i));
    let (keys, values): (Vec<_>, Vec<_>) = (0..40).map(|i| (int(i), int(i * i))).unzip();
    let make = |keys: &[_]| {
        answer::<Word>(|to| enif_make_map_from_arrays(e.ptr(), array(keys), array(&values), 40, to))
    };
    let m = make(&keys).unwrap();
    assert_eq!(make(&[keys[0]; 40]), None, "a key that is there twice");
    let value = |m, k| answer::<Word>(|to| enif_get_map_value(e.ptr(), c(m), int(k), to));
    assert_eq!(value(m, 7), Some(int(49).word()));
    let less = answer(|to| enif_make_map_remove(e.ptr(), c(m), int(7), to)).unwrap();
    assert_eq!((value(less, 7), value(less, 8)), (None, Some(int(64).word())));
    let update = |m| answer::<Word>(|to| enif_make_map_update(e.ptr(), c(m), int(7), int(1), to));
    assert_eq!((update(less), value(update(m).unwrap(), 7)), (None, Some(int(1).word())));

    let walk = |entry, next: fn(_, _) -> c_int| {
        let mut it = std::mem::MaybeUninit::<MapIterator>::uninit();
        // SAFETY: a place for it, and from there on what was written there.
        let (to, it) = unsafe { (OutPointer::new(it.as_mut_ptr()), &mut *it.as_mut_ptr()) };
        assert_eq!(enif_map_iterator_create(e.ptr(), c(m), to, entry), 1);
        let mut seen = Vec::new();
        let pair = |it: &MapIterator| {
            let get = |to, v| enif_map_iterator_get_pair(e.ptr(), super::input(it), to, v);
            answer::<Word>(|to| get(to, OutPointer::NULL))
                .zip(answer::<Word>(|to| get(OutPointer::NULL, to)))
        };
        while let Some((k, v)) = pair(it) {
            assert_eq!(answer::<Word>(|to| enif_get_map_value(e.ptr(), c(m), c(k), to)), Some(v));
            seen.push(k);
            next(e.ptr(), super::in_out(it));
        }
        enif_map_iterator_destroy(e.ptr(), super::in_out(it));
        assert_eq!(pair(it), None, "destroyed");
        seen
    };
    let forwards = walk(1, |e, it| enif_map_iterator_next(e, it));
    let mut backwards = walk(2, |e, it| enif_map_iterator_prev(e, it));
    backwards.reverse();
    assert_eq!((forwards.len(), forwards), (40, backwards));
}

#[test]
fn kinds_are_told_apart() {
    let e = Allocated::new();
    let all = [
        (enif_make_atom(e.ptr(), c"ok".into()), 1),
        (enif_make_double(e.ptr(), 0.5), 3),
        (enif_make_ulong(e.ptr(), u64::MAX), 5),
        (enif_make_string(e.ptr(), c"".into(), LATIN1), 6),
        (enif_make_new_map(e.ptr()), 7),
        (enif_make_ref(e.ptr()), 10),
        (enif_make_tuple_from_array(e.ptr(), array(&[]), 0), 11),
    ];
    for (i, (w, kind)) in all.into_iter().enumerate() {
        assert_eq!(enif_term_type(e.ptr(), c(w)), kind);
        for (j, (other, _)) in all.into_iter().enumerate() {
            assert_eq!(enif_is_identical(c(w), c(other)), (i == j) as c_int);
            assert_eq!(enif_compare(c(w), c(other)), -enif_compare(c(other), c(w)));
        }
    }
}

#[test]
fn sizes_are_those_of_a_copy() {
    let e = Allocated::new();
    assert_eq!(enif_term_size(c(enif_make_int(e.ptr(), 1))), 0);
    let s = enif_make_string(e.ptr(), c"abc".into(), LATIN1);
    assert_eq!(enif_term_size(c(s)), 3 * 2 * size_of::<Word>());
    assert_eq!(enif_term_size(c(enif_make_double(e.ptr(), 0.5))), 2 * size_of::<Word>());
}
