//! `ErlDrvBinary`: a size and the bytes behind it, counted by who refers to it.

use std::ffi::{c_char, c_long};
use std::mem::offset_of;
use std::ptr;
use std::sync::atomic::{AtomicIsize, Ordering};

/// `ErlDrvBinary`, as C sees it: the count stands before it.
#[repr(C)]
pub struct Binary {
    size: c_long,
    bytes: [c_char; 0],
}
#[repr(C)]
struct Counted {
    references: AtomicIsize,
    binary: Binary,
}

crate::address::by_address! {
    driver_alloc_binary,
    driver_binary_dec_refc,
    driver_binary_get_refc,
    driver_binary_inc_refc,
    driver_free_binary,
    driver_realloc_binary,
}

fn counted(b: *mut Binary) -> *mut Counted {
    b.cast::<u8>().wrapping_sub(offset_of!(Counted, binary)).cast()
}
fn whole(size: usize) -> Option<usize> {
    size.checked_add(size_of::<Counted>()).filter(|n| *n <= isize::MAX as usize)
}
/// The size of one whose memory is there, and where it is for C.
fn placed(c: *mut Counted, size: usize) -> *mut Binary {
    if c.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: memory of that size, which nobody else has yet.
    unsafe {
        (*c).binary.size = size as c_long;
        &raw mut (*c).binary
    }
}

#[no_mangle]
pub extern "C" fn driver_alloc_binary(size: usize) -> *mut Binary {
    let Some(n) = whole(size) else { return ptr::null_mut() };
    // SAFETY: a plain call.
    let c: *mut Counted = unsafe { libc::malloc(n) }.cast();
    if !c.is_null() {
        // SAFETY: as above, of that size.
        unsafe { (&raw mut (*c).references).write(AtomicIsize::new(1)) };
    }
    placed(c, size)
}
#[no_mangle]
pub extern "C" fn driver_realloc_binary(b: *mut Binary, size: usize) -> *mut Binary {
    let Some(n) = whole(size) else { return ptr::null_mut() };
    // SAFETY: the interface's contract: one of ours, that nobody else refers to.
    placed(unsafe { libc::realloc(counted(b).cast(), n) }.cast(), size)
}
fn references<'a>(b: *mut Binary) -> &'a AtomicIsize {
    // SAFETY: the interface's contract: one of ours, to which the caller has a reference.
    unsafe { &(*counted(b)).references }
}
#[no_mangle]
pub extern "C" fn driver_free_binary(b: *mut Binary) {
    if !b.is_null() {
        driver_binary_dec_refc(b);
    }
}
#[no_mangle]
pub extern "C" fn driver_binary_get_refc(b: *mut Binary) -> c_long {
    references(b).load(Ordering::Acquire) as c_long
}
#[no_mangle]
pub extern "C" fn driver_binary_inc_refc(b: *mut Binary) -> c_long {
    references(b).fetch_add(1, Ordering::AcqRel) as c_long + 1
}
#[no_mangle]
pub extern "C" fn driver_binary_dec_refc(b: *mut Binary) -> c_long {
    let left = references(b).fetch_sub(1, Ordering::AcqRel) - 1;
    if left == 0 {
        // SAFETY: it was the last reference.
        unsafe { libc::free(counted(b).cast()) };
    }
    left as c_long
}

/// What is in it.
pub fn bytes<'a>(b: *mut Binary) -> &'a [u8] {
    // SAFETY: as for `references`; so many bytes are there.
    unsafe {
        let n = usize::try_from((*b).size).unwrap_or(0);
        std::slice::from_raw_parts((&raw const (*b).bytes).cast(), n)
    }
}

/// One with these bytes in it; null where there is no memory.
pub fn of_bytes(from: &[u8]) -> *mut Binary {
    let b = driver_alloc_binary(from.len());
    if !b.is_null() {
        // SAFETY: the binary is new and that long.
        unsafe {
            ptr::copy_nonoverlapping(from.as_ptr(), (&raw mut (*b).bytes).cast(), from.len())
        };
    }
    b
}
