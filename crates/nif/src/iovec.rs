//! `ErlNifIOVec`: parts of binaries as vectors of bytes.

use std::ffi::c_int;
use std::ptr;

use kvik_heap::BinRef;
use libc::iovec;

use crate::pointers::InOut;

/// A part of an off-heap binary.
pub struct Part {
    pub binary: BinRef,
    pub at: usize,
    pub len: usize,
}
impl Part {
    pub fn vector(&self) -> iovec {
        let base = self.binary.data().wrapping_add(self.at);
        iovec { iov_base: base.cast(), iov_len: self.len }
    }
}

const SMALL: usize = 16;
/// Flag: the structure was allocated here.
const MADE: c_int = 1;

/// `ErlNifIOVec`. `parts` keeps the bytes alive; `iov` points to their addresses.
#[repr(C)]
pub struct Vector {
    count: c_int,
    size: usize,
    iov: *mut iovec,
    parts: *mut Parts,
    flags: c_int,
    small_iov: [iovec; SMALL],
    small_ref: [*mut u8; SMALL],
}
struct Parts {
    parts: Vec<Part>,
    vectors: Vec<iovec>,
}

impl Vector {
    /// The parts and their total size. `None`: it was freed.
    pub fn parts(&self) -> Option<(&[Part], usize)> {
        // SAFETY: null, or what `fill` has put there.
        let parts = unsafe { self.parts.as_ref() }?;
        debug_assert_eq!(parts.vectors.len(), parts.parts.len());
        Some((&parts.parts, self.size))
    }
    fn fill(&mut self, parts: Vec<Part>, flags: c_int) {
        let mut vectors: Vec<iovec> = parts.iter().map(Part::vector).collect();
        self.flags = flags;
        self.count = vectors.len() as c_int;
        self.size = parts.iter().map(|p| p.len).sum();
        self.iov = vectors.as_mut_ptr();
        self.parts = Box::into_raw(Box::new(Parts { parts, vectors }));
    }
}
/// Fills in the C structure at `to`, or allocates one if that is null.
pub fn make(to: &mut *mut Vector, parts: Vec<Part>) -> Filled {
    // SAFETY: the interface's contract: null, or a structure of the caller's.
    match unsafe { to.as_mut() } {
        Some(v) => v.fill(parts, 0),
        None => {
            // SAFETY: all zero is such a structure: numbers, and pointers that are null.
            let mut v = Box::new(unsafe { std::mem::zeroed::<Vector>() });
            v.fill(parts, MADE);
            *to = Box::into_raw(v);
        }
    }
    Filled(*to)
}
/// A vector that [`make`] has filled in.
pub struct Filled(*mut Vector);

/// Vectors that an environment must free.
#[derive(Default)]
pub struct Vectors(pub Vec<Filled>);
impl Drop for Vectors {
    fn drop(&mut self) {
        // SAFETY: `make` has filled them in; the interface's contract: C frees none of those, and its
        // own structures live as long as the environment.
        self.0.iter().for_each(|v| unsafe { free(v.0) })
    }
}

/// # Safety
/// [`make`] has filled it in, and there are no other users any more.
unsafe fn free(v: *mut Vector) {
    // SAFETY: as the caller says.
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

/// Frees a vector that no environment owns.
#[no_mangle]
pub extern "C" fn enif_free_iovec(mut v: InOut<Vector>) {
    if let Some(v) = v.get() {
        // SAFETY: the interface's contract: `enif_inspect_iovec` has filled it in, and C gives it up.
        unsafe { free(v) }
    }
}
