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
/// Flag: an environment frees it.
const OWNED: c_int = 2;

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
/// Fills in the C structure at `to`, or allocates one if that is null, or too small for OTP. C frees
/// it.
pub fn make(to: &mut *mut Vector, parts: Vec<Part>) {
    fill(to, parts, 0);
}
fn fill(to: &mut *mut Vector, parts: Vec<Part>, flags: c_int) -> &mut Vector {
    // SAFETY: all zero is such a structure: numbers, and pointers that are null.
    let new = || Box::into_raw(Box::new(unsafe { std::mem::zeroed::<Vector>() }));
    let made = to.is_null() || parts.len() >= SMALL;
    if made {
        *to = new();
    }
    // SAFETY: the interface's contract: a structure of the caller's, or else the new one.
    let v = unsafe { &mut **to };
    v.fill(parts, flags | if made { MADE } else { 0 });
    v
}

/// What an environment frees of a vector. C's own structure may be gone before that: it mostly is a
/// local variable of the native function.
struct Filled {
    parts: *mut Parts,
    /// Null: the structure is C's.
    made: *mut Vector,
}
impl Drop for Filled {
    fn drop(&mut self) {
        // SAFETY: `fill` has allocated them, and `enif_free_iovec` leaves them to the environment.
        unsafe {
            drop(Box::from_raw(self.parts));
            if !self.made.is_null() {
                drop(Box::from_raw(self.made));
            }
        }
    }
}

/// Vectors that an environment must free.
#[derive(Default)]
pub struct Vectors(Vec<Filled>);
impl Vectors {
    /// Like [`make`], for one that lives as long as the environment.
    pub fn make(&mut self, to: &mut *mut Vector, parts: Vec<Part>) {
        let v = fill(to, parts, OWNED);
        let made = if v.flags & MADE != 0 { ptr::from_mut(v) } else { ptr::null_mut() };
        self.0.push(Filled { parts: v.parts, made });
    }
}

/// Frees a vector that no environment owns.
#[no_mangle]
pub extern "C" fn enif_free_iovec(mut v: InOut<Vector>) {
    let Some(v) = v.get().filter(|v| v.flags & OWNED == 0) else { return };
    let (parts, made) = (std::mem::replace(&mut v.parts, ptr::null_mut()), v.flags & MADE != 0);
    let v = ptr::from_mut(v);
    // SAFETY: the interface's contract: `enif_inspect_iovec` has filled it in, and C gives it up.
    unsafe {
        if !parts.is_null() {
            drop(Box::from_raw(parts));
        }
        if made {
            drop(Box::from_raw(v));
        }
    }
}
