//! Terms that are no containers: what they are, their values, and making them.

use std::ffi::{c_char, c_double, c_int, c_long, c_uint, c_ulong};

use kvik_term::{cmp, Atom, Pid, Port, Term, View};

use crate::abi::LATIN1;
use crate::env::{heap, Env};
use crate::pointers::{c_bytes, c_str, put, term, Word};

macro_rules! tests {
    ($($name:ident: $f:expr;)*) => {
        $(#[no_mangle]
        pub extern "C" fn $name(_: *mut Env, t: Word) -> c_int {
            let f: fn(Term<'_>) -> bool = $f;
            f(term(t)) as c_int
        })*
    };
}
tests! {
    enif_is_atom: |t| t.as_atom().is_some();
    enif_is_binary: |t| t.as_bits().is_some_and(|b| b.is_binary());
    enif_is_ref: |t| t.as_ref().is_some();
    enif_is_fun: |t| t.as_fun().is_some();
    enif_is_pid: |t| t.as_pid().is_some();
    enif_is_port: |t| matches!(t.view(), View::Port(_));
    enif_is_list: |t| t.is_list();
    enif_is_tuple: |t| t.as_tuple().is_some();
    enif_is_map: |t| t.as_map().is_some();
    enif_is_empty_list: |t| t.is_nil();
    enif_is_number: |t| t.is_integer() || t.as_float().is_some();
}

/// `ErlNifTermType`
#[no_mangle]
pub extern "C" fn enif_term_type(_: *mut Env, t: Word) -> c_int {
    match term(t).view() {
        View::Atom(_) => 1,
        View::Bits(_) => 2,
        View::Float(_) => 3,
        View::Fun(_) => 4,
        View::Small(_) | View::Big(_) => 5,
        View::Nil | View::Cons(_) => 6,
        View::Map(_) => 7,
        View::Pid(_) => 8,
        View::Port(_) => 9,
        View::Ref(_) => 10,
        View::Tuple(_) => 11,
    }
}

#[no_mangle]
pub extern "C" fn enif_is_identical(a: Word, b: Word) -> c_int {
    cmp::eq_exact(term(a), term(b)) as c_int
}
#[no_mangle]
pub extern "C" fn enif_compare(a: Word, b: Word) -> c_int {
    cmp::compare(term(a), term(b)) as c_int
}

/// `ERL_NIF_INTERNAL_HASH` is 1, `ERL_NIF_PHASH2` 2.
#[no_mangle]
pub extern "C" fn enif_hash(kind: c_int, t: Word, salt: u64) -> u64 {
    match kind {
        1 => kvik_term::hash::internal(term(t), (salt ^ salt >> 32) as u32) as u64,
        _ => (kvik_term::phash::phash2(term(t)) & ((1 << 27) - 1)) as u64,
    }
}

/// Writes a value that is there; was it?
fn answer<T>(to: *mut T, value: Option<T>) -> c_int {
    value.map(|v| put(to, v)).is_some() as c_int
}
#[no_mangle]
pub extern "C" fn enif_get_int(_: *mut Env, t: Word, to: *mut c_int) -> c_int {
    answer(to, term(t).as_small().and_then(|i| i.try_into().ok()))
}
#[no_mangle]
pub extern "C" fn enif_get_uint(_: *mut Env, t: Word, to: *mut c_uint) -> c_int {
    answer(to, term(t).as_small().and_then(|i| i.try_into().ok()))
}
#[no_mangle]
pub extern "C" fn enif_get_long(_: *mut Env, t: Word, to: *mut c_long) -> c_int {
    answer(to, term(t).as_i64())
}
#[no_mangle]
pub extern "C" fn enif_get_ulong(_: *mut Env, t: Word, to: *mut c_ulong) -> c_int {
    answer(to, term(t).as_u64())
}
#[no_mangle]
pub extern "C" fn enif_get_double(_: *mut Env, t: Word, to: *mut c_double) -> c_int {
    answer(to, term(t).as_float())
}
#[no_mangle]
pub extern "C" fn enif_get_local_pid(_: *mut Env, t: Word, to: *mut Word) -> c_int {
    answer(to, matches!(term(t).view(), View::Pid(Pid::Local(_))).then_some(t))
}
#[no_mangle]
pub extern "C" fn enif_get_local_port(_: *mut Env, t: Word, to: *mut Word) -> c_int {
    answer(to, matches!(term(t).view(), View::Port(Port::Local(_))).then_some(t))
}

#[no_mangle]
pub extern "C" fn enif_make_int(_: *mut Env, i: c_int) -> Word {
    Term::int(i).word()
}
#[no_mangle]
pub extern "C" fn enif_make_uint(e: *mut Env, i: c_uint) -> Word {
    heap(e).integer(i as i64).word()
}
#[no_mangle]
pub extern "C" fn enif_make_long(e: *mut Env, i: c_long) -> Word {
    heap(e).integer(i).word()
}
#[no_mangle]
pub extern "C" fn enif_make_ulong(e: *mut Env, i: c_ulong) -> Word {
    heap(e).unsigned(i).word()
}
/// What is no finite number is an error.
#[no_mangle]
pub extern "C" fn enif_make_double(e: *mut Env, d: c_double) -> Word {
    match d.is_finite() {
        true => heap(e).float(d).word(),
        false => crate::env::enif_make_badarg(e),
    }
}
#[no_mangle]
pub extern "C" fn enif_make_ref(e: *mut Env) -> Word {
    heap(e).make_ref().word()
}

/// The characters of an atom or string in Latin-1.
fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|b| *b as char).collect()
}
fn to_latin1(s: &str) -> Option<Vec<u8>> {
    s.chars().map(|c| u8::try_from(c as u32).ok()).collect()
}

fn make_atom(e: *mut Env, name: &[u8]) -> Word {
    match Atom::intern(&latin1(name)) {
        Ok(a) => a.word(),
        Err(_) => crate::env::enif_make_badarg(e),
    }
}
#[no_mangle]
pub extern "C" fn enif_make_atom(e: *mut Env, name: *const c_char) -> Word {
    make_atom(e, c_str(name))
}
#[no_mangle]
pub extern "C" fn enif_make_atom_len(e: *mut Env, name: *const c_char, len: usize) -> Word {
    make_atom(e, c_bytes(name.cast(), len))
}
fn existing(name: &[u8], to: *mut Word, encoding: c_int) -> c_int {
    let found = if encoding == LATIN1 { Atom::existing(&latin1(name)) } else { None };
    answer(to, found.map(|a| a.word()))
}
#[no_mangle]
pub extern "C" fn enif_make_existing_atom(
    _: *mut Env,
    name: *const c_char,
    to: *mut Word,
    encoding: c_int,
) -> c_int {
    existing(c_str(name), to, encoding)
}
#[no_mangle]
pub extern "C" fn enif_make_existing_atom_len(
    _: *mut Env,
    name: *const c_char,
    len: usize,
    to: *mut Word,
    encoding: c_int,
) -> c_int {
    existing(c_bytes(name.cast(), len), to, encoding)
}
#[no_mangle]
pub extern "C" fn enif_get_atom_length(
    _: *mut Env,
    t: Word,
    len: *mut c_uint,
    encoding: c_int,
) -> c_int {
    let name = term(t).as_atom().filter(|_| encoding == LATIN1);
    answer(len, name.and_then(|a| to_latin1(a.name())).map(|s| s.len() as c_uint))
}
/// The name and a zero; how many bytes that were, or 0 where they do not fit.
#[no_mangle]
pub extern "C" fn enif_get_atom(
    _: *mut Env,
    t: Word,
    to: *mut c_char,
    len: c_uint,
    encoding: c_int,
) -> c_int {
    let name = term(t).as_atom().filter(|_| encoding == LATIN1);
    match name.and_then(|a| to_latin1(a.name())) {
        Some(s) if s.len() < len as usize => put_string(to, &s),
        _ => 0,
    }
}
fn put_string(to: *mut c_char, s: &[u8]) -> c_int {
    // SAFETY: the callers have seen that there is room for the bytes and a zero.
    unsafe {
        std::ptr::copy_nonoverlapping(s.as_ptr(), to.cast(), s.len());
        to.add(s.len()).write(0);
    }
    s.len() as c_int + 1
}

/// A list of characters and a zero: how many bytes were written, negative where they were cut, 0
/// for what is no such list.
#[no_mangle]
pub extern "C" fn enif_get_string(
    _: *mut Env,
    t: Word,
    to: *mut c_char,
    len: c_uint,
    encoding: c_int,
) -> c_int {
    let len = len as usize;
    if len < 1 {
        return 0;
    }
    if encoding != LATIN1 {
        put(to, 0);
        return 0;
    }
    let mut it = term(t).list();
    let mut s = Vec::new();
    for c in it.by_ref() {
        let Some(c) = c.as_small().and_then(|c| u8::try_from(c).ok()) else {
            put(to, 0);
            return 0;
        };
        s.push(c);
        if s.len() == len {
            s.pop();
            put_string(to, &s);
            return -(len as c_int);
        }
    }
    if !it.rest.is_nil() {
        put(to, 0);
        return 0;
    }
    put_string(to, &s)
}
#[no_mangle]
pub extern "C" fn enif_make_string(e: *mut Env, s: *const c_char, encoding: c_int) -> Word {
    let s = c_str(s);
    enif_make_string_len(e, s.as_ptr().cast(), s.len(), encoding)
}
#[no_mangle]
pub extern "C" fn enif_make_string_len(
    e: *mut Env,
    s: *const c_char,
    len: usize,
    _: c_int,
) -> Word {
    heap(e).byte_list(c_bytes(s.cast(), len)).word()
}
