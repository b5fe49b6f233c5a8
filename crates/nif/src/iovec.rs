//! `ErlNifIOVec`: parts of binaries as vectors of bytes.

use std::ffi::c_int;
use std::ptr;

use kvik_heap::BinRef;
use libc::iovec;

/// A part of an off-heap binary.
pub struct Part {
    pub binary: BinRef,
    pub at: usize,
    pub len: usize,
}
impl Part {
    pub fn vector(&self) -> iovec {
        // SAFETY: the part lies within the binary.
        let base = unsafe { self.binary.data().add(self.at) };
        iovec { iov_base: base.cast(), iov_len: self.len }
    }
}

const SMALL: usize = 16;
/// The structure was made here.
pub const MADE: c_int = 1;

/// `ErlNifIOVec`. `parts` keeps the bytes; `iov` points to where it says the bytes are.
#[repr(C)]
pub struct Vector {
    pub count: c_int,
    pub size: usize,
    pub iov: *mut iovec,
    pub parts: *mut Parts,
    pub flags: c_int,
    small_iov: [iovec; SMALL],
    small_ref: [*mut u8; SMALL],
}
pub struct Parts {
    pub parts: Vec<Part>,
    pub vectors: Vec<iovec>,
}

/// The vectors that an environment has to free.
#[derive(Default)]
pub struct Vectors(pub Vec<*mut Vector>);
impl Drop for Vectors {
    fn drop(&mut self) {
        self.0.iter().for_each(|v| free(*v))
    }
}

pub fn free(v: *mut Vector) {
    // SAFETY: `enif_inspect_iovec` has filled it in, and it is freed once.
    unsafe {
        let parts = std::mem::replace(&mut (*v).parts, ptr::null_mut());
        if !parts.is_null() {
            drop(Box::from_raw(parts));
        }
        if (*v).flags & MADE != 0 {
            drop(Box::from_raw(v));
        }
    }
}
