//! Types of arguments from C: terms, strings, arrays, structures, and result pointers.
//!
//! Each type is `transparent`, with the ABI of one pointer or word, and its field is private: C
//! constructs it by calling a function, and safe Rust code cannot. So the interface's functions,
//! and those they pass arguments to, need not be `unsafe`. C promises by calling that each pointer
//! is null or, for the call, points to what its type says: this is the interface's contract.

use std::ffi::{c_char, CStr};
use std::ptr;

use kvik_heap::Heap;
use kvik_term::{am, Atom, Term};

/// `ERL_NIF_TERM`, from Rust to C: a term's word.
pub type Word = u64;

/// In place of the integer 0, whose word is 0: libraries take 0 for no term, as in OTP no term has that
/// word. It is no term itself.
const ZERO: Word = 0x2F;

/// A term's word for C.
#[inline]
pub fn to_c(t: Term<'_>) -> Word {
    match t.word() {
        0 => ZERO,
        word => word,
    }
}

/// A term's word that came from C.
///
/// # Safety
/// The interface's contract: terms come from us, and are used no longer than their environment lives.
#[inline]
pub unsafe fn from_c<'h>(word: Word) -> Term<'h> {
    // SAFETY: as the caller says.
    unsafe { Term::from_word(if word == ZERO { 0 } else { word }) }
}

/// `ERL_NIF_TERM`, from C to Rust: a term of a live environment, or an immediate one.
#[derive(Copy, Clone)]
#[repr(transparent)]
pub struct CTerm(Word);

impl CTerm {
    pub fn term(&self) -> Term<'_> {
        // SAFETY: as the interface says.
        unsafe { from_c(self.0) }
    }
    /// As a term with the lifetime of its heap.
    pub fn on<'h>(self, _: &'h Heap) -> Term<'h> {
        // SAFETY: as above.
        unsafe { from_c(self.0) }
    }
    /// # Safety
    /// The word of a term whose heap outlives its use, or the value that marks an exception.
    #[cfg(test)]
    pub unsafe fn new(w: Word) -> CTerm {
        CTerm(w)
    }
    /// The raw word: it may be the value that marks an exception, which is no term.
    pub fn word(self) -> Word {
        self.0
    }
}
impl From<Atom> for CTerm {
    fn from(a: Atom) -> CTerm {
        CTerm(a.word())
    }
}

/// A result pointer; null if C does not want the result.
#[repr(transparent)]
pub struct OutPointer<T>(*mut T);

impl<T> OutPointer<T> {
    pub const NULL: OutPointer<T> = OutPointer(ptr::null_mut());

    pub fn is_null(self) -> bool {
        self.0.is_null()
    }

    pub fn put(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: the interface's contract: a place for a value of that type. What was there is
            // not read, as C need not have set it.
            unsafe { self.0.write(value) }
        }
    }
    /// # Safety
    /// Null, or writable while this is used.
    #[cfg(test)]
    pub unsafe fn new(to: *mut T) -> OutPointer<T> {
        OutPointer(to)
    }
}

/// A structure that C lets Rust read; or null.
#[repr(transparent)]
pub struct In<T>(*const T);

impl<T> In<T> {
    pub fn get(&self) -> Option<&T> {
        // SAFETY: the interface's contract: null, or filled in, and not changed meanwhile.
        unsafe { self.0.as_ref() }
    }
    pub fn as_ptr(&self) -> *const T {
        self.0
    }
    /// # Safety
    /// Null, or a structure that does not change while this is used.
    #[cfg(test)]
    pub unsafe fn new(from: *const T) -> In<T> {
        In(from)
    }
}

/// Implements copying of a pointer type, whatever it points to.
macro_rules! copied {
    ($($name:ident)*) => {
        $(impl<T> Copy for $name<T> {}
        impl<T> Clone for $name<T> {
            fn clone(&self) -> Self {
                *self
            }
        })*
    };
}
copied! { OutPointer In Object Array }

/// A structure that C lets Rust modify, or an object that Rust allocated for C; or null.
#[repr(transparent)]
pub struct InOut<T>(*mut T);

impl<T> InOut<T> {
    pub const NULL: InOut<T> = InOut(ptr::null_mut());

    pub fn get(&mut self) -> Option<&mut T> {
        // SAFETY: the interface's contract: null, or filled in, and used by this call alone.
        unsafe { self.0.as_mut() }
    }
    /// # Safety
    /// Null, or a structure with no other users while this is used.
    #[cfg(test)]
    pub unsafe fn new(to: *mut T) -> InOut<T> {
        InOut(to)
    }
    /// Allocates an object for C to own.
    pub fn boxed(value: T) -> InOut<T> {
        InOut(Box::into_raw(Box::new(value)))
    }
    /// Takes back the object, which C gives up.
    ///
    /// # Safety
    /// Null, or an object from `boxed` without other users.
    pub unsafe fn unbox(self) -> Option<Box<T>> {
        // SAFETY: as the caller says.
        (!self.0.is_null()).then(|| unsafe { Box::from_raw(self.0) })
    }
}

/// An object that Rust allocated, C owns, and several threads may use; or null.
#[repr(transparent)]
pub struct Object<T>(*mut T);

impl<T> Object<T> {
    pub fn boxed(value: T) -> Object<T> {
        Object(Box::into_raw(Box::new(value)))
    }
    pub fn get(&self) -> Option<&T> {
        // SAFETY: the interface's contract: null, or what `boxed` has made and nobody has unmade.
        unsafe { self.0.as_ref() }
    }
    /// Takes back the object, which C gives up.
    ///
    /// # Safety
    /// It has no other users any more.
    pub unsafe fn unbox(self) -> Option<Box<T>> {
        // SAFETY: as the caller says; `boxed` has made it.
        (!self.0.is_null()).then(|| unsafe { Box::from_raw(self.0) })
    }
}

/// An array whose length is another argument; null if that is 0.
#[repr(transparent)]
pub struct Array<T>(*const T);

impl<T> Array<T> {
    /// As `slice`; `None` for a null pointer.
    pub fn bytes(&self, n: usize) -> Option<&[T]> {
        (!self.0.is_null()).then(|| self.slice(n))
    }
    pub fn slice(&self, n: usize) -> &[T] {
        if self.0.is_null() || n == 0 {
            return &[];
        }
        // SAFETY: the interface's contract: there are so many.
        unsafe { std::slice::from_raw_parts(self.0, n) }
    }
    /// # Safety
    /// Null, or an array of the length that is read.
    #[cfg(test)]
    pub unsafe fn new(from: *const T) -> Array<T> {
        Array(from)
    }
}
impl Array<CTerm> {
    pub fn terms(&self, n: usize) -> Vec<Term<'_>> {
        self.slice(n).iter().map(CTerm::term).collect()
    }
}

/// A buffer whose size is another argument; or null.
#[repr(transparent)]
pub struct OutBuffer(*mut c_char);

impl OutBuffer {
    /// # Safety
    /// Null, or a buffer of the size passed with it.
    #[cfg(test)]
    pub unsafe fn new(to: *mut c_char) -> OutBuffer {
        OutBuffer(to)
    }
    /// Writes bytes at offset `at`. The caller checks that they fit into the size given by C.
    pub fn put_bytes(&mut self, at: usize, bytes: &[u8]) {
        if !self.0.is_null() {
            // SAFETY: the interface's contract: there is room, as the caller has compared it.
            unsafe {
                ptr::copy_nonoverlapping(bytes.as_ptr(), self.0.cast::<u8>().add(at), bytes.len())
            }
        }
    }
    /// Writes as many bytes as fit into `size`, and a terminating zero.
    pub fn put_string(&mut self, bytes: &[u8], size: usize) {
        let Some(last) = size.checked_sub(1).filter(|_| !self.0.is_null()) else { return };
        let n = bytes.len().min(last);
        // SAFETY: the interface's contract: there is room for `size` bytes, which `n` and a zero fit.
        unsafe {
            ptr::copy_nonoverlapping(bytes.as_ptr(), self.0.cast(), n);
            self.0.add(n).write(0);
        }
    }
}

/// A zero-terminated string; or null.
#[derive(Copy, Clone)]
#[repr(transparent)]
pub struct CStrPtr(*const c_char);

impl CStrPtr {
    pub fn is_null(&self) -> bool {
        self.0.is_null()
    }
    /// The string without its zero; empty for null.
    pub fn bytes(&self) -> &[u8] {
        if self.0.is_null() {
            return &[];
        }
        // SAFETY: the interface's contract: a string that ends with a zero.
        unsafe { CStr::from_ptr(self.0) }.to_bytes()
    }
    pub fn as_ptr(&self) -> *const c_char {
        self.0
    }
    /// The string decoded as Latin-1.
    pub fn latin1(&self) -> String {
        latin1(self.bytes())
    }
    /// The atom with that name.
    pub fn atom(&self) -> Atom {
        Atom::intern(&self.latin1()).unwrap_or(am::error)
    }
    /// # Safety
    /// Null, or a zero-terminated string that outlives its use.
    pub unsafe fn new(s: *const c_char) -> CStrPtr {
        CStrPtr(s)
    }
}
impl From<&'static CStr> for CStrPtr {
    fn from(s: &'static CStr) -> CStrPtr {
        CStrPtr(s.as_ptr())
    }
}

pub fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|b| *b as char).collect()
}
