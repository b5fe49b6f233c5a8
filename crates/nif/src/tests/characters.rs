//! Atoms and strings in their encodings.

use std::ffi::c_uint;

use super::{answer, array, c, written, Allocated};
use crate::abi::{LATIN1, UTF8};
use crate::characters::*;
use crate::compound::enif_make_list_cell;
use crate::env::enif_is_exception;
use crate::pointers::{OutPointer, Word};
use crate::terms::enif_make_int;

#[test]
fn atoms_have_names_in_latin1() {
    let e = Allocated::new();
    let a = enif_make_atom(e.ptr(), c"caf\xe9".into());
    assert_eq!(a, enif_make_atom_len(e.ptr(), array(b"caf\xe9..."), 4));
    let length = |w| answer::<c_uint>(|to| enif_get_atom_length(e.ptr(), c(w), to, LATIN1));
    assert_eq!(length(a), Some(4));
    let get = |size| written(size, |to| enif_get_atom(e.ptr(), c(a), to, size as c_uint, LATIN1));
    assert_eq!(get(5), (5, b"caf\xe9\0".to_vec()));
    assert_eq!(get(4), (0, vec![0xff; 4]), "no room for the zero");
    let existing = |name| answer(|to| enif_make_existing_atom(e.ptr(), name, to, LATIN1));
    assert_eq!(existing(c"caf\xe9".into()), Some(a));
    assert_eq!(existing(c"nif: no such atom".into()), None);
    let long = enif_make_atom_len(e.ptr(), array(&[b'x'; 256]), 256);
    assert_eq!(enif_is_exception(e.ptr(), c(long)), 1);
    assert_eq!(length(enif_make_int(e.ptr(), 1)), None);
}

#[test]
fn atoms_have_names_in_utf8() {
    let e = Allocated::new();
    let new = |name, encoding| answer(|to| enif_make_new_atom(e.ptr(), name, to, encoding));
    let a = new(c"\u{20ac}uro".into(), UTF8).unwrap();
    let same =
        |to| enif_make_new_atom_len(e.ptr(), array("\u{20ac}uro...".as_bytes()), 6, to, UTF8);
    assert_eq!(answer(same), Some(a));
    let existing = |name| answer(|to| enif_make_existing_atom(e.ptr(), name, to, UTF8));
    assert_eq!(existing(c"\u{20ac}uro".into()), Some(a));
    let length = |w, encoding| answer(|to| enif_get_atom_length(e.ptr(), c(w), to, encoding));
    assert_eq!((length(a, UTF8), length(a, LATIN1)), (Some(6), None));
    let get = |size| written(size, |to| enif_get_atom(e.ptr(), c(a), to, size as c_uint, UTF8));
    assert_eq!(get(7), (7, b"\xe2\x82\xacuro\0".to_vec()));
    assert_eq!(get(6).0, 0);
    let cafe = new(c"caf\u{e9}".into(), UTF8);
    assert_eq!(cafe, new(c"caf\xe9".into(), LATIN1));
    assert!(cafe.is_some());
    for (bad, encoding) in [(c"caf\xe9", UTF8), (c"x", 3)] {
        assert_eq!(new(bad.into(), encoding), None);
    }
    let long = vec![b'x'; 256];
    let new_len = |n, to| enif_make_new_atom_len(e.ptr(), array(&long), n, to, UTF8);
    assert!(answer::<Word>(|to| new_len(255, to)).is_some());
    assert_eq!(answer::<Word>(|to| new_len(256, to)), None);
}

#[test]
fn atoms_have_entries_in_caches() {
    let e = Allocated::new();
    let index = |w| answer::<c_uint>(|to| enif_get_atom_cache_index(e.ptr(), c(w), to));
    let a = enif_make_atom(e.ptr(), c"ok".into());
    assert!(index(a).is_some_and(|i| i <= enif_max_atom_cache_index()));
    assert_eq!(index(enif_make_int(e.ptr(), 1)), None);
    assert_eq!(enif_get_atom_cache_index(e.ptr(), c(a), OutPointer::NULL), 0);
}

#[test]
fn strings_are_cut_to_their_room() {
    let e = Allocated::new();
    let s = enif_make_string(e.ptr(), c"abc".into(), LATIN1);
    let get =
        |w, size| written(size, |to| enif_get_string(e.ptr(), c(w), to, size as c_uint, LATIN1));
    assert_eq!(get(s, 4), (4, b"abc\0".to_vec()));
    assert_eq!(get(s, 3), (-3, b"ab\0".to_vec()));
    assert_eq!(get(s, 1), (-1, b"\0".to_vec()));
    assert_eq!(get(s, 0), (0, vec![]));
    let no_string = enif_make_list_cell(e.ptr(), c(enif_make_int(e.ptr(), 256)), c(s));
    assert_eq!(get(no_string, 2), (0, b"\0\xff".to_vec()));
    let none = enif_make_string_len(e.ptr(), array(&[]), 0, LATIN1);
    assert_eq!(get(none, 1), (1, b"\0".to_vec()));
}

#[test]
fn strings_have_characters_of_their_encoding() {
    let e = Allocated::new();
    let s = enif_make_string(e.ptr(), c"a\u{e9}\u{20ac}\u{1f600}".into(), UTF8);
    let length = |w, encoding| answer(|to| enif_get_string_length(e.ptr(), c(w), to, encoding));
    assert_eq!((length(s, UTF8), length(s, LATIN1)), (Some(10), None));
    let get =
        |w, size| written(size, |to| enif_get_string(e.ptr(), c(w), to, size as c_uint, UTF8));
    let all = b"a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\0".to_vec();
    assert_eq!(get(s, 11), (11, all));
    // No character is cut.
    assert_eq!(get(s, 10), (-7, b"a\xc3\xa9\xe2\x82\xac\0\xff\xff\xff".to_vec()));
    assert_eq!(get(s, 3), (-2, b"a\0\xff".to_vec()));
    let surrogate = enif_make_int(e.ptr(), 0xd800);
    let no_string = enif_make_list_cell(e.ptr(), c(surrogate), c(s));
    assert_eq!((get(no_string, 20).0, length(no_string, UTF8)), (0, None));
    let improper = enif_make_list_cell(e.ptr(), c(enif_make_int(e.ptr(), 97)), c(surrogate));
    assert_eq!((get(improper, 20).0, length(improper, UTF8)), (0, None));
    let latin1 = enif_make_string_len(e.ptr(), array(b"caf\xe9"), 4, LATIN1);
    assert_eq!((length(latin1, LATIN1), length(latin1, UTF8)), (Some(4), Some(5)));
    let bad = enif_make_string(e.ptr(), c"caf\xe9".into(), UTF8);
    assert_eq!(enif_is_exception(e.ptr(), c(bad)), 1);
}
