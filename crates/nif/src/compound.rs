//! Tuples, lists and maps.

use std::ffi::{c_int, c_uint};

use kvik_term::{map, Map, Term};

use crate::abi::MapIterator;
use crate::env::{heap, Env};
use crate::pointers::{put, term, terms, Word};

#[no_mangle]
pub extern "C" fn enif_get_tuple(
    _: *mut Env,
    t: Word,
    arity: *mut c_int,
    elements: *mut *const Word,
) -> c_int {
    let Some(t) = term(t).as_tuple() else { return 0 };
    put(arity, t.len() as c_int);
    put(elements, t.elements().as_ptr().cast());
    1
}
#[no_mangle]
pub extern "C" fn enif_make_tuple_from_array(e: *mut Env, a: *const Word, n: c_uint) -> Word {
    heap(e).tuple(terms(a, n as usize)).word()
}

#[no_mangle]
pub extern "C" fn enif_get_list_cell(
    _: *mut Env,
    t: Word,
    head: *mut Word,
    tail: *mut Word,
) -> c_int {
    let Some(c) = term(t).as_cons() else { return 0 };
    put(head, c.head().word());
    put(tail, c.tail().word());
    1
}
#[no_mangle]
pub extern "C" fn enif_get_list_length(_: *mut Env, t: Word, len: *mut c_uint) -> c_int {
    let mut it = term(t).list();
    let n = it.by_ref().count();
    if !it.rest.is_nil() {
        return 0;
    }
    put(len, n as c_uint);
    1
}
#[no_mangle]
pub extern "C" fn enif_make_list_cell(e: *mut Env, head: Word, tail: Word) -> Word {
    heap(e).cons(term(head), term(tail)).word()
}
#[no_mangle]
pub extern "C" fn enif_make_list_from_array(e: *mut Env, a: *const Word, n: c_uint) -> Word {
    heap(e).list(terms(a, n as usize)).word()
}
#[no_mangle]
pub extern "C" fn enif_make_reverse_list(e: *mut Env, t: Word, to: *mut Word) -> c_int {
    let h = heap(e);
    let mut it = term(t).list();
    let reversed = it.by_ref().fold(Term::NIL, |tail, head| h.cons(head, tail));
    if !it.rest.is_nil() {
        return 0;
    }
    put(to, reversed.word());
    1
}

#[no_mangle]
pub extern "C" fn enif_get_map_size(_: *mut Env, t: Word, size: *mut usize) -> c_int {
    let Some(m) = term(t).as_map() else { return 0 };
    put(size, m.len());
    1
}
#[no_mangle]
pub extern "C" fn enif_make_new_map(e: *mut Env) -> Word {
    heap(e).map(&[]).word()
}
#[no_mangle]
pub extern "C" fn enif_make_map_from_arrays(
    e: *mut Env,
    keys: *const Word,
    values: *const Word,
    n: usize,
    to: *mut Word,
) -> c_int {
    let pairs = terms(keys, n).iter().copied().zip(terms(values, n).iter().copied());
    let pairs: Vec<_> = pairs.collect();
    let m = heap(e).map(&pairs);
    if m.as_map().is_none_or(|m| m.len() != n) {
        return 0;
    }
    put(to, m.word());
    1
}
fn put_map(e: *mut Env, m: Map<'_>, key: Word, value: Word, to: *mut Word) -> c_int {
    put(to, heap(e).map_put(m, term(key), term(value)).word());
    1
}
#[no_mangle]
pub extern "C" fn enif_make_map_put(
    e: *mut Env,
    m: Word,
    key: Word,
    value: Word,
    to: *mut Word,
) -> c_int {
    term(m).as_map().map_or(0, |m| put_map(e, m, key, value, to))
}
#[no_mangle]
pub extern "C" fn enif_make_map_update(
    e: *mut Env,
    m: Word,
    key: Word,
    value: Word,
    to: *mut Word,
) -> c_int {
    match term(m).as_map().filter(|m| map::contains(*m, term(key))) {
        Some(m) => put_map(e, m, key, value, to),
        None => 0,
    }
}
#[no_mangle]
pub extern "C" fn enif_make_map_remove(e: *mut Env, m: Word, key: Word, to: *mut Word) -> c_int {
    let Some(m) = term(m).as_map() else { return 0 };
    put(to, heap(e).map_remove(m, term(key)).word());
    1
}
#[no_mangle]
pub extern "C" fn enif_get_map_value(_: *mut Env, m: Word, key: Word, to: *mut Word) -> c_int {
    match term(m).as_map().and_then(|m| map::get(m, term(key))) {
        Some(v) => {
            put(to, v.word());
            1
        }
        None => 0,
    }
}

/// `entry`: 1 to begin at the first pair, 2 at the last one.
#[no_mangle]
pub extern "C" fn enif_map_iterator_create(
    _: *mut Env,
    m: Word,
    it: *mut MapIterator,
    entry: c_int,
) -> c_int {
    let Some(map) = term(m).as_map() else { return 0 };
    let pairs: Vec<_> = map::iter(map).map(|(k, v)| (k.word(), v.word())).collect();
    let size = pairs.len() as u64;
    let null = std::ptr::null_mut();
    let index = match entry {
        1 => 1,
        2 => size,
        _ => return 0,
    };
    let pairs = Box::into_raw(Box::new(pairs));
    put(it, MapIterator { map: m, size, index, pairs, unused: null, spare: [null; 2] });
    1
}
#[no_mangle]
pub extern "C" fn enif_map_iterator_destroy(_: *mut Env, it: *mut MapIterator) {
    let pairs = std::mem::replace(&mut iterator(it).pairs, std::ptr::null_mut());
    if !pairs.is_null() {
        // SAFETY: `create` put a box there.
        drop(unsafe { Box::from_raw(pairs) })
    }
}
fn iterator<'a>(it: *mut MapIterator) -> &'a mut MapIterator {
    // SAFETY: the interface's contract: an iterator that `create` has filled in.
    unsafe { &mut *it }
}
#[no_mangle]
pub extern "C" fn enif_map_iterator_is_head(_: *mut Env, it: *mut MapIterator) -> c_int {
    (iterator(it).index == 0) as c_int
}
#[no_mangle]
pub extern "C" fn enif_map_iterator_is_tail(_: *mut Env, it: *mut MapIterator) -> c_int {
    let it = iterator(it);
    (it.index > it.size) as c_int
}
#[no_mangle]
pub extern "C" fn enif_map_iterator_next(_: *mut Env, it: *mut MapIterator) -> c_int {
    let it = iterator(it);
    it.index = (it.index + 1).min(it.size + 1);
    (it.index <= it.size) as c_int
}
#[no_mangle]
pub extern "C" fn enif_map_iterator_prev(_: *mut Env, it: *mut MapIterator) -> c_int {
    let it = iterator(it);
    it.index = it.index.saturating_sub(1);
    (it.index > 0) as c_int
}
#[no_mangle]
pub extern "C" fn enif_map_iterator_get_pair(
    _: *mut Env,
    it: *mut MapIterator,
    key: *mut Word,
    value: *mut Word,
) -> c_int {
    let it = iterator(it);
    // SAFETY: null, or the box that `create` put there.
    let pairs = unsafe { it.pairs.as_ref() };
    let at = (it.index as usize).checked_sub(1);
    match pairs.zip(at).and_then(|(p, i)| p.get(i)) {
        Some((k, v)) => {
            put(key, *k);
            put(value, *v);
            1
        }
        None => 0,
    }
}
