//! Binaries. A `ErlNifBinary` either owns an off-heap binary, or points to the bytes of a term (or
//! to bytes that its environment keeps) for as long as the environment lives.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr;

use kvik_etf::DecodeOpts;
use kvik_heap::BinRef;
use kvik_sys::alloc::may_fail;
use kvik_term::word::HEAP_BIN_LIMIT;

use crate::env::EnvPtr;
use crate::pointers::{to_c, Array, CTerm, InOut, OutPointer, Word};

const SAFE: c_uint = 0x2000_0000;

impl NifBinary {
    /// The bytes that it owns or points to.
    pub fn bytes(&self) -> &[u8] {
        if self.data.is_null() {
            return &[];
        }
        // SAFETY: the interface's contract: one of the functions here has filled it in, and so many
        // bytes are there.
        unsafe { std::slice::from_raw_parts(self.data, self.size) }
    }
}
/// `ErlNifBinary`
#[repr(C)]
pub struct NifBinary {
    size: usize,
    data: *mut u8,
    /// The off-heap binary that it owns, or null.
    owned: *mut kvik_heap::binary::Binary,
    spare: [*mut c_void; 2],
}

fn pointing(data: *mut u8, size: usize) -> NifBinary {
    NifBinary { size, data, owned: ptr::null_mut(), spare: [ptr::null_mut(); 2] }
}
fn owning(b: BinRef, size: usize) -> NifBinary {
    let data = b.data();
    NifBinary { size, data, owned: b.into_raw(), spare: [ptr::null_mut(); 2] }
}

#[no_mangle]
pub extern "C" fn enif_inspect_binary(mut e: EnvPtr, t: CTerm, to: OutPointer<NifBinary>) -> c_int {
    let Some(bits) = t.term().as_bits().filter(|b| b.is_binary()) else { return 0 };
    let b = match bits.as_bytes() {
        Some(b) => pointing(b.as_ptr().cast_mut(), b.len()),
        None => {
            let moved = bits.to_bytes().into_owned();
            let size = moved.len();
            pointing(e.env().keep(moved), size)
        }
    };
    to.put(b);
    1
}
#[no_mangle]
pub extern "C" fn enif_inspect_iolist_as_binary(
    mut e: EnvPtr,
    t: CTerm,
    to: OutPointer<NifBinary>,
) -> c_int {
    if t.term().as_bits().is_some() {
        return enif_inspect_binary(e, t, to);
    }
    if !t.term().is_list() {
        return 0;
    }
    let Ok(bytes) = kvik_bifs::iolist::bytes_of(t.term()) else { return 0 };
    let size = bytes.len();
    to.put(pointing(e.env().keep(bytes), size));
    1
}

/// Memory for C to write to; `None` if there is no more.
fn writable(size: usize) -> Option<BinRef> {
    may_fail(|| BinRef::for_foreign_code(size))
}

#[no_mangle]
pub extern "C" fn enif_alloc_binary(size: usize, to: OutPointer<NifBinary>) -> c_int {
    let Some(b) = writable(size) else { return 0 };
    to.put(owning(b, size));
    1
}
/// Takes the off-heap binary out of a structure.
pub fn take(b: &mut NifBinary) -> Option<BinRef> {
    let owned = std::mem::replace(&mut b.owned, ptr::null_mut());
    // SAFETY: what stands there came from `into_raw`, and is taken once.
    (!owned.is_null()).then(|| unsafe { BinRef::from_raw(owned) })
}
#[no_mangle]
pub extern "C" fn enif_realloc_binary(mut b: InOut<NifBinary>, size: usize) -> c_int {
    let Some(b) = b.get() else { return 0 };
    let (done, new) = match take(b).map(|r| may_fail(|| r.resize_for_foreign_code(size))) {
        Some(Ok(r)) => (true, Some(r)),
        old => {
            let new = writable(size);
            if let Some(n) = &new {
                let before = &b.bytes()[..b.bytes().len().min(size)];
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
pub extern "C" fn enif_release_binary(mut b: InOut<NifBinary>) {
    let Some(b) = b.get() else { return };
    // What has become a term stays readable, as in OTP.
    if take(b).is_some() {
        b.data = ptr::null_mut();
    }
}
/// Makes a term of the bytes. A binary that the structure owned passes to the term, and stays
/// readable. A small one is copied, as in OTP, so that what C writes to it later is not in the term;
/// the environment keeps it.
#[no_mangle]
pub extern "C" fn enif_make_binary(e: EnvPtr, mut b: InOut<NifBinary>) -> Word {
    let Some(b) = b.get() else { return crate::env::enif_make_badarg(e) };
    match take(b) {
        Some(r) if b.size <= HEAP_BIN_LIMIT => {
            let t = e.heap().binary(b.bytes());
            e.heap().refc_binary(r, b.size);
            t.word()
        }
        Some(r) => e.heap().refc_binary(r, b.size).word(),
        None => e.heap().binary(b.bytes()).word(),
    }
}
#[no_mangle]
pub extern "C" fn enif_make_new_binary(e: EnvPtr, size: usize, to: OutPointer<Word>) -> *mut u8 {
    let h = e.heap();
    let t = if size > HEAP_BIN_LIMIT {
        let Some(b) = BinRef::for_foreign_code(size) else { return ptr::null_mut() };
        h.refc_binary(b, size)
    } else {
        h.binary_with(size, |_| ()).0
    };
    to.put(t.word());
    t.as_bytes().map_or(ptr::null_mut(), |b| b.as_ptr().cast_mut())
}
#[no_mangle]
pub extern "C" fn enif_make_sub_binary(e: EnvPtr, t: CTerm, pos: usize, size: usize) -> Word {
    let bits = pos.checked_mul(8).zip(size.checked_mul(8));
    let part = bits.and_then(|(pos, size)| e.heap().sub_binary(t.term(), pos, size));
    match part.map(|t| t.word()) {
        Some(w) => w,
        None => crate::env::enif_make_badarg(e),
    }
}

#[no_mangle]
pub extern "C" fn enif_term_to_binary(_: EnvPtr, t: CTerm, to: OutPointer<NifBinary>) -> c_int {
    let bytes = kvik_etf::encode(t.term(), kvik_bifs::etf::default_options(), 0);
    let Some(b) = writable(bytes.len()) else { return 0 };
    // SAFETY: fresh memory of that many bytes.
    unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), b.data(), bytes.len()) };
    to.put(owning(b, bytes.len()));
    1
}
/// Returns the bytes consumed, or 0 on failure.
#[no_mangle]
pub extern "C" fn enif_binary_to_term(
    e: EnvPtr,
    data: Array<u8>,
    size: usize,
    to: OutPointer<Word>,
    opts: c_uint,
) -> usize {
    if opts & !SAFE != 0 {
        return 0;
    }
    let opts = DecodeOpts { safe: opts & SAFE != 0, ..DecodeOpts::default() };
    match kvik_etf::decode(data.slice(size), e.heap(), opts) {
        Ok((t, n)) => {
            to.put(to_c(t));
            n
        }
        Err(_) => 0,
    }
}
