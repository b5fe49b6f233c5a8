//! Terms that are not containers: their types, their values, and construction. Atoms and strings
//! are in `characters`.

use std::ffi::{c_double, c_int, c_long, c_uint, c_ulong};

use kvik_term::{cmp, PidTerm, PortTerm, Term, View};

use crate::env::EnvPtr;
use crate::pointers::{to_c, CTerm, OutPointer, Word};

macro_rules! tests {
    ($($name:ident: $f:expr;)*) => {
        $(#[no_mangle]
        pub extern "C" fn $name(_: EnvPtr, t: CTerm) -> c_int {
            let f: fn(Term<'_>) -> bool = $f;
            f(t.term()) as c_int
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
pub extern "C" fn enif_term_type(_: EnvPtr, t: CTerm) -> c_int {
    match t.term().view() {
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
        // `erl_nif.h` has no kind for them: what it reserves for a missing one.
        View::Record(_) => -1,
    }
}

#[no_mangle]
pub extern "C" fn enif_is_identical(a: CTerm, b: CTerm) -> c_int {
    cmp::eq_exact(a.term(), b.term()) as c_int
}
#[no_mangle]
pub extern "C" fn enif_compare(a: CTerm, b: CTerm) -> c_int {
    cmp::compare(a.term(), b.term()) as c_int
}

/// Bytes that a copy of the term takes, without those of binaries outside the heap.
#[no_mangle]
pub extern "C" fn enif_term_size(t: CTerm) -> usize {
    kvik_heap::copy::flat_size(t.term()) * size_of::<Word>()
}

/// `ERL_NIF_INTERNAL_HASH` is 1, `ERL_NIF_PHASH2` 2.
#[no_mangle]
pub extern "C" fn enif_hash(kind: c_int, t: CTerm, salt: u64) -> u64 {
    match kind {
        1 => kvik_term::hash::salted(t.term(), salt),
        _ => (kvik_term::phash::phash2(t.term()) & ((1 << 27) - 1)) as u64,
    }
}

/// Writes a value if there is one; returns whether there was.
pub fn answer<T>(to: OutPointer<T>, value: Option<T>) -> c_int {
    value.map(|v| to.put(v)).is_some() as c_int
}
#[no_mangle]
pub extern "C" fn enif_get_int(_: EnvPtr, t: CTerm, to: OutPointer<c_int>) -> c_int {
    answer(to, t.term().as_small().and_then(|i| i.try_into().ok()))
}
#[no_mangle]
pub extern "C" fn enif_get_uint(_: EnvPtr, t: CTerm, to: OutPointer<c_uint>) -> c_int {
    answer(to, t.term().as_small().and_then(|i| i.try_into().ok()))
}
#[no_mangle]
pub extern "C" fn enif_get_long(_: EnvPtr, t: CTerm, to: OutPointer<c_long>) -> c_int {
    answer(to, t.term().as_i64())
}
#[no_mangle]
pub extern "C" fn enif_get_ulong(_: EnvPtr, t: CTerm, to: OutPointer<c_ulong>) -> c_int {
    answer(to, t.term().as_u64())
}
#[no_mangle]
pub extern "C" fn enif_get_double(_: EnvPtr, t: CTerm, to: OutPointer<c_double>) -> c_int {
    answer(to, t.term().as_float())
}
#[no_mangle]
pub extern "C" fn enif_get_local_pid(_: EnvPtr, t: CTerm, to: OutPointer<Word>) -> c_int {
    answer(to, matches!(t.term().view(), View::Pid(PidTerm::Local(_))).then_some(t.word()))
}
#[no_mangle]
pub extern "C" fn enif_get_local_port(_: EnvPtr, t: CTerm, to: OutPointer<Word>) -> c_int {
    answer(to, matches!(t.term().view(), View::Port(PortTerm::Local(_))).then_some(t.word()))
}

#[no_mangle]
pub extern "C" fn enif_make_int(_: EnvPtr, i: c_int) -> Word {
    to_c(Term::int(i))
}
#[no_mangle]
pub extern "C" fn enif_make_uint(e: EnvPtr, i: c_uint) -> Word {
    to_c(e.heap().integer(i as i64))
}
#[no_mangle]
pub extern "C" fn enif_make_long(e: EnvPtr, i: c_long) -> Word {
    to_c(e.heap().integer(i))
}
#[no_mangle]
pub extern "C" fn enif_make_ulong(e: EnvPtr, i: c_ulong) -> Word {
    to_c(e.heap().unsigned(i))
}
/// Rejects numbers that are not finite.
#[no_mangle]
pub extern "C" fn enif_make_double(e: EnvPtr, d: c_double) -> Word {
    match d.is_finite() {
        true => e.heap().float(d).word(),
        false => crate::env::enif_make_badarg(e),
    }
}
#[no_mangle]
pub extern "C" fn enif_make_ref(e: EnvPtr) -> Word {
    e.heap().make_ref().word()
}
