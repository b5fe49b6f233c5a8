//! Binaries. A `ErlNifBinary` either owns an off-heap binary, or points to the bytes of a term (or
//! to bytes that its environment keeps) for as long as the environment lives.

use std::ffi::{c_int, c_uint};
use std::ptr;

use kvik_etf::{DecodeOpts, EncodeOpts};
use kvik_heap::BinRef;

use crate::abi::Binary;
use crate::env::{env, heap, Env};
use crate::pointers::{c_bytes, put, term, Word};

const SAFE: c_uint = 0x2000_0000;

fn binary<'a>(b: *mut Binary) -> &'a mut Binary {
    // SAFETY: the interface's contract: a structure that one of the functions here has filled in.
    unsafe { &mut *b }
}
fn pointing(data: *mut u8, size: usize) -> Binary {
    Binary { size, data, owned: ptr::null_mut(), spare: [ptr::null_mut(); 2] }
}
fn owning(b: BinRef, size: usize) -> Binary {
    let data = b.data();
    Binary { size, data, owned: b.into_raw(), spare: [ptr::null_mut(); 2] }
}

#[no_mangle]
pub extern "C" fn enif_inspect_binary(e: *mut Env, t: Word, to: *mut Binary) -> c_int {
    let Some(bits) = term(t).as_bits().filter(|b| b.is_binary()) else { return 0 };
    let b = match bits.as_bytes() {
        Some(b) => pointing(b.as_ptr().cast_mut(), b.len()),
        None => {
            let moved = bits.to_bytes().into_owned();
            let size = moved.len();
            pointing(env(e).keep(moved), size)
        }
    };
    put(to, b);
    1
}
#[no_mangle]
pub extern "C" fn enif_inspect_iolist_as_binary(e: *mut Env, t: Word, to: *mut Binary) -> c_int {
    if term(t).as_bits().is_some() {
        return enif_inspect_binary(e, t, to);
    }
    if !term(t).is_list() {
        return 0;
    }
    let Ok(bytes) = kvik_bifs::iolist::bytes_of(term(t)) else { return 0 };
    let size = bytes.len();
    put(to, pointing(env(e).keep(bytes), size));
    1
}

#[no_mangle]
pub extern "C" fn enif_alloc_binary(size: usize, to: *mut Binary) -> c_int {
    let Some(b) = BinRef::for_writing(size) else { return 0 };
    put(to, owning(b, size));
    1
}
/// The off-heap binary that a structure owned; it owns nothing afterwards.
pub fn take(b: &mut Binary) -> Option<BinRef> {
    let owned = std::mem::replace(&mut b.owned, ptr::null_mut());
    // SAFETY: what stands there came from `into_raw`, and is taken once.
    (!owned.is_null()).then(|| unsafe { BinRef::from_raw(owned) })
}
#[no_mangle]
pub extern "C" fn enif_realloc_binary(b: *mut Binary, size: usize) -> c_int {
    let b = binary(b);
    let before = c_bytes(b.data, b.size.min(size));
    let (done, new) = match take(b).map(|r| r.resize(size)) {
        Some(Ok(r)) => (true, Some(r)),
        old => {
            let new = BinRef::for_writing(size);
            if let Some(n) = &new {
                // SAFETY: fresh memory of `size` bytes; `before` is not longer, and still there.
                unsafe { ptr::copy_nonoverlapping(before.as_ptr(), n.data(), before.len()) }
            }
            match new {
                Some(n) => (true, Some(n)),
                None => (false, old.and_then(Result::err)),
            }
        }
    };
    match new {
        Some(r) if done => *b = owning(r, size),
        Some(r) => b.owned = r.into_raw(),
        None => {}
    }
    done as c_int
}
#[no_mangle]
pub extern "C" fn enif_release_binary(b: *mut Binary) {
    let b = binary(b);
    drop(take(b));
    b.data = ptr::null_mut();
    b.size = 0;
}
/// A term with the bytes; what the structure owned belongs to the term, and can still be read.
#[no_mangle]
pub extern "C" fn enif_make_binary(e: *mut Env, b: *mut Binary) -> Word {
    let b = binary(b);
    match take(b) {
        Some(r) => heap(e).refc_binary(r, b.size).word(),
        None => heap(e).binary(c_bytes(b.data, b.size)).word(),
    }
}
#[no_mangle]
pub extern "C" fn enif_make_new_binary(e: *mut Env, size: usize, to: *mut Word) -> *mut u8 {
    let h = heap(e);
    let t = if size > kvik_term::word::HEAP_BIN_LIMIT {
        let Some(b) = BinRef::for_writing(size) else { return ptr::null_mut() };
        h.refc_binary(b, size)
    } else {
        h.binary_with(size, |_| ()).0
    };
    put(to, t.word());
    t.as_bytes().map_or(ptr::null_mut(), |b| b.as_ptr().cast_mut())
}
#[no_mangle]
pub extern "C" fn enif_make_sub_binary(e: *mut Env, t: Word, pos: usize, size: usize) -> Word {
    let bits = pos.checked_mul(8).zip(size.checked_mul(8));
    let part = bits.and_then(|(pos, size)| heap(e).sub_binary(term(t), pos, size));
    part.map_or_else(|| crate::env::enif_make_badarg(e), |t| t.word())
}

#[no_mangle]
pub extern "C" fn enif_term_to_binary(_: *mut Env, t: Word, to: *mut Binary) -> c_int {
    let bytes = kvik_etf::encode(term(t), EncodeOpts::default(), 0);
    put(to, owning(BinRef::from_bytes(&bytes), bytes.len()));
    1
}
/// How many bytes the term took, 0 for a failure.
#[no_mangle]
pub extern "C" fn enif_binary_to_term(
    e: *mut Env,
    data: *const u8,
    size: usize,
    to: *mut Word,
    opts: c_uint,
) -> usize {
    if opts & !SAFE != 0 {
        return 0;
    }
    let opts = DecodeOpts { safe: opts & SAFE != 0, ..DecodeOpts::default() };
    match kvik_etf::decode(c_bytes(data, size), heap(e), opts) {
        Ok((t, n)) => {
            put(to, t.word());
            n
        }
        Err(_) => 0,
    }
}
