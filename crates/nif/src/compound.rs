//! Tuples, lists and maps.

use std::ffi::{c_int, c_uint, c_void};

use kvik_term::{map, Map, Term};

use crate::env::EnvPtr;
use crate::pointers::{to_c, Array, CTerm, In, InOut, OutPointer, Word};

#[no_mangle]
pub extern "C" fn enif_get_tuple(
    mut e: EnvPtr,
    t: CTerm,
    arity: OutPointer<c_int>,
    elements: OutPointer<*const Word>,
) -> c_int {
    let Some(t) = t.term().as_tuple() else { return 0 };
    arity.put(t.len() as c_int);
    elements.put(e.env().words_of(t.elements()));
    1
}
#[no_mangle]
pub extern "C" fn enif_make_tuple_from_array(e: EnvPtr, a: Array<CTerm>, n: c_uint) -> Word {
    e.heap().tuple(&a.terms(n as usize)).word()
}

#[no_mangle]
pub extern "C" fn enif_get_list_cell(
    _: EnvPtr,
    t: CTerm,
    head: OutPointer<Word>,
    tail: OutPointer<Word>,
) -> c_int {
    let Some(c) = t.term().as_cons() else { return 0 };
    head.put(to_c(c.head()));
    tail.put(to_c(c.tail()));
    1
}
#[no_mangle]
pub extern "C" fn enif_get_list_length(_: EnvPtr, t: CTerm, len: OutPointer<c_uint>) -> c_int {
    let mut it = t.term().list();
    let n = it.by_ref().count();
    if !it.rest.is_nil() {
        return 0;
    }
    len.put(n as c_uint);
    1
}
#[no_mangle]
pub extern "C" fn enif_make_list_cell(e: EnvPtr, head: CTerm, tail: CTerm) -> Word {
    e.heap().cons(head.term(), tail.term()).word()
}
#[no_mangle]
pub extern "C" fn enif_make_list_from_array(e: EnvPtr, a: Array<CTerm>, n: c_uint) -> Word {
    e.heap().list(&a.terms(n as usize)).word()
}
#[no_mangle]
pub extern "C" fn enif_make_reverse_list(e: EnvPtr, t: CTerm, to: OutPointer<Word>) -> c_int {
    let h = e.heap();
    let mut it = t.term().list();
    let reversed = it.by_ref().fold(Term::NIL, |tail, head| h.cons(head, tail));
    if !it.rest.is_nil() {
        return 0;
    }
    to.put(reversed.word());
    1
}

#[no_mangle]
pub extern "C" fn enif_get_map_size(_: EnvPtr, t: CTerm, size: OutPointer<usize>) -> c_int {
    let Some(m) = t.term().as_map() else { return 0 };
    size.put(m.len());
    1
}
#[no_mangle]
pub extern "C" fn enif_make_new_map(e: EnvPtr) -> Word {
    e.heap().map(&[]).word()
}
#[no_mangle]
pub extern "C" fn enif_make_map_from_arrays(
    e: EnvPtr,
    keys: Array<CTerm>,
    values: Array<CTerm>,
    n: usize,
    to: OutPointer<Word>,
) -> c_int {
    let pairs: Vec<_> =
        keys.slice(n).iter().zip(values.slice(n)).map(|(k, v)| (k.term(), v.term())).collect();
    let m = e.heap().map(&pairs);
    if m.as_map().is_none_or(|m| m.len() != n) {
        return 0;
    }
    to.put(m.word());
    1
}
fn put_map(e: EnvPtr, m: Map<'_>, key: CTerm, value: CTerm, to: OutPointer<Word>) -> c_int {
    to.put(e.heap().map_put(m, key.term(), value.term()).word());
    1
}
#[no_mangle]
pub extern "C" fn enif_make_map_put(
    e: EnvPtr,
    m: CTerm,
    key: CTerm,
    value: CTerm,
    to: OutPointer<Word>,
) -> c_int {
    m.term().as_map().map_or(0, |m| put_map(e, m, key, value, to))
}
#[no_mangle]
pub extern "C" fn enif_make_map_update(
    e: EnvPtr,
    m: CTerm,
    key: CTerm,
    value: CTerm,
    to: OutPointer<Word>,
) -> c_int {
    match m.term().as_map().filter(|m| map::contains(*m, key.term())) {
        Some(m) => put_map(e, m, key, value, to),
        None => 0,
    }
}
#[no_mangle]
pub extern "C" fn enif_make_map_remove(
    e: EnvPtr,
    m: CTerm,
    key: CTerm,
    to: OutPointer<Word>,
) -> c_int {
    let Some(m) = m.term().as_map() else { return 0 };
    to.put(e.heap().map_remove(m, key.term()).word());
    1
}
#[no_mangle]
pub extern "C" fn enif_get_map_value(
    _: EnvPtr,
    m: CTerm,
    key: CTerm,
    to: OutPointer<Word>,
) -> c_int {
    match m.term().as_map().and_then(|m| map::get(m, key.term())) {
        Some(v) => {
            to.put(to_c(v));
            1
        }
        None => 0,
    }
}

/// `ErlNifMapIterator`
#[repr(C)]
pub struct MapIterator {
    map: Word,
    size: u64,
    /// 0 before the first pair, `size + 1` after the last one.
    index: u64,
    /// The map's pairs in order, behind a further indirection.
    pairs: *mut Vec<(Word, Word)>,
    unused: *mut c_void,
    spare: [*mut c_void; 2],
}

/// `entry`: 1 starts at the first pair, 2 at the last.
#[no_mangle]
pub extern "C" fn enif_map_iterator_create(
    _: EnvPtr,
    m: CTerm,
    it: OutPointer<MapIterator>,
    entry: c_int,
) -> c_int {
    let Some(map) = m.term().as_map() else { return 0 };
    let pairs: Vec<_> = map::iter(map).map(|(k, v)| (to_c(k), to_c(v))).collect();
    let size = pairs.len() as u64;
    let null = std::ptr::null_mut();
    let index = match entry {
        1 => 1,
        2 => size,
        _ => return 0,
    };
    let pairs = Box::into_raw(Box::new(pairs));
    it.put(MapIterator { map: m.word(), size, index, pairs, unused: null, spare: [null; 2] });
    1
}
#[no_mangle]
pub extern "C" fn enif_map_iterator_destroy(_: EnvPtr, mut it: InOut<MapIterator>) {
    let Some(it) = it.get() else { return };
    let pairs = std::mem::replace(&mut it.pairs, std::ptr::null_mut());
    if !pairs.is_null() {
        // SAFETY: `create` put a box there.
        drop(unsafe { Box::from_raw(pairs) })
    }
}
#[no_mangle]
pub extern "C" fn enif_map_iterator_is_head(_: EnvPtr, it: In<MapIterator>) -> c_int {
    it.get().is_some_and(|it| it.index == 0) as c_int
}
#[no_mangle]
pub extern "C" fn enif_map_iterator_is_tail(_: EnvPtr, it: In<MapIterator>) -> c_int {
    it.get().is_some_and(|it| it.index > it.size) as c_int
}
#[no_mangle]
pub extern "C" fn enif_map_iterator_next(_: EnvPtr, mut it: InOut<MapIterator>) -> c_int {
    let Some(it) = it.get() else { return 0 };
    it.index = (it.index + 1).min(it.size + 1);
    (it.index <= it.size) as c_int
}
#[no_mangle]
pub extern "C" fn enif_map_iterator_prev(_: EnvPtr, mut it: InOut<MapIterator>) -> c_int {
    let Some(it) = it.get() else { return 0 };
    it.index = it.index.saturating_sub(1);
    (it.index > 0) as c_int
}
#[no_mangle]
pub extern "C" fn enif_map_iterator_get_pair(
    _: EnvPtr,
    it: In<MapIterator>,
    key: OutPointer<Word>,
    value: OutPointer<Word>,
) -> c_int {
    let Some(it) = it.get() else { return 0 };
    // SAFETY: null, or the box that `create` put there.
    let pairs = unsafe { it.pairs.as_ref() };
    let at = (it.index as usize).checked_sub(1);
    match pairs.zip(at).and_then(|(p, i)| p.get(i)) {
        Some((k, v)) => {
            key.put(*k);
            value.put(*v);
            1
        }
        None => 0,
    }
}
