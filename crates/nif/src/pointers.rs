//! The types of what C passes: terms, strings, arrays, structures, and places for answers.
//!
//! Each is one pointer or word with the ABI of that (`transparent`), and its field is private: C makes
//! one by calling a function that takes it, and safe Rust code cannot. So the functions of the
//! interface, and those they hand their arguments to, need not be `unsafe`. What C promises by calling
//! is the interface's contract: each pointer is null or points to what its type says, for the call.

use std::ffi::{c_char, CStr};
use std::ptr;

use kvik_heap::Heap;
use kvik_term::{am, Atom, Term};

/// `ERL_NIF_TERM`, where Rust gives it to C: a term's own word.
pub type Word = u64;

/// `ERL_NIF_TERM`, where C gives it to Rust: a term of a live environment, or an immediate one.
#[derive(Copy, Clone)]
#[repr(transparent)]
pub struct CTerm(Word);

impl CTerm {
    pub fn term(&self) -> Term<'_> {
        // SAFETY: the interface's contract: terms come from us, and are used no longer than their
        // environment lives.
        unsafe { Term::from_word(self.0) }
    }
    /// As a term of the heap that it lies on, or an immediate one.
    pub fn on<'h>(self, _: &'h Heap) -> Term<'h> {
        // SAFETY: as above.
        unsafe { Term::from_word(self.0) }
    }
    /// # Safety
    /// A term's word, whose heap is there as long as this is used, or what stands for an exception.
    #[cfg(test)]
    pub unsafe fn new(w: Word) -> CTerm {
        CTerm(w)
    }
    /// The word as it is: it may be the value that stands for an exception, which is no term.
    pub fn word(self) -> Word {
        self.0
    }
}
impl From<Atom> for CTerm {
    fn from(a: Atom) -> CTerm {
        CTerm(a.word())
    }
}

/// A place for an answer, or null where C wants none.
#[repr(transparent)]
pub struct OutPointer<T>(*mut T);

impl<T> OutPointer<T> {
    pub const NULL: OutPointer<T> = OutPointer(ptr::null_mut());

    #[cfg(test)]
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
    /// Null, or a place that can be written to for as long as this is used.
    #[cfg(test)]
    pub unsafe fn new(to: *mut T) -> OutPointer<T> {
        OutPointer(to)
    }
}

/// A structure that C lets Rust read, or null.
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
    /// Null, or a structure that stays as it is as long as this is used.
    #[cfg(test)]
    pub unsafe fn new(from: *const T) -> In<T> {
        In(from)
    }
}

/// Copies of a pointer, whatever it points to.
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

/// A structure that C lets Rust change, or an object that Rust made for C; or null.
#[repr(transparent)]
pub struct InOut<T>(*mut T);

impl<T> InOut<T> {
    pub const NULL: InOut<T> = InOut(ptr::null_mut());

    pub fn get(&mut self) -> Option<&mut T> {
        // SAFETY: the interface's contract: null, or filled in, and used by this call alone.
        unsafe { self.0.as_mut() }
    }
    /// # Safety
    /// Null, or a structure that nobody else uses as long as this is used.
    #[cfg(test)]
    pub unsafe fn new(to: *mut T) -> InOut<T> {
        InOut(to)
    }
    /// An object for C to keep.
    pub fn boxed(value: T) -> InOut<T> {
        InOut(Box::into_raw(Box::new(value)))
    }
    /// The object, which C gives up.
    ///
    /// # Safety
    /// Null, or what `boxed` has made and nobody else uses.
    pub unsafe fn unbox(self) -> Option<Box<T>> {
        // SAFETY: as the caller says.
        (!self.0.is_null()).then(|| unsafe { Box::from_raw(self.0) })
    }
}

/// An object that Rust makes, C keeps, and several threads may use; or null.
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
    /// The object, which C gives up.
    ///
    /// # Safety
    /// Nobody uses it any more.
    pub unsafe fn unbox(self) -> Option<Box<T>> {
        // SAFETY: as the caller says; `boxed` has made it.
        (!self.0.is_null()).then(|| unsafe { Box::from_raw(self.0) })
    }
}

/// An array whose length is another argument, or null where that is 0.
#[repr(transparent)]
pub struct Array<T>(*const T);

impl<T> Array<T> {
    pub fn slice(&self, n: usize) -> &[T] {
        if self.0.is_null() || n == 0 {
            return &[];
        }
        // SAFETY: the interface's contract: there are so many.
        unsafe { std::slice::from_raw_parts(self.0, n) }
    }
    /// # Safety
    /// Null, or an array as long as it is read.
    #[cfg(test)]
    pub unsafe fn new(from: *const T) -> Array<T> {
        Array(from)
    }
}
impl Array<CTerm> {
    pub fn terms(&self, n: usize) -> &[Term<'_>] {
        let words = self.slice(n);
        // SAFETY: both are one word, and each is a term as C says by passing it.
        unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), words.len()) }
    }
}

/// Room for bytes whose number is another argument, or null.
#[repr(transparent)]
pub struct OutBuffer(*mut c_char);

impl OutBuffer {
    /// # Safety
    /// Null, or room for as many bytes as are said with it.
    #[cfg(test)]
    pub unsafe fn new(to: *mut c_char) -> OutBuffer {
        OutBuffer(to)
    }
    /// Writes bytes behind the first `at`. To be called with bytes that fit into the size C has given.
    pub fn put_bytes(&mut self, at: usize, bytes: &[u8]) {
        if !self.0.is_null() {
            // SAFETY: the interface's contract: there is room, as the caller has compared it.
            unsafe {
                ptr::copy_nonoverlapping(bytes.as_ptr(), self.0.cast::<u8>().add(at), bytes.len())
            }
        }
    }
    /// Writes as many of the bytes as fit into `size` together with the zero that ends them.
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

/// A string that ends with a zero, or null.
#[derive(Copy, Clone)]
#[repr(transparent)]
pub struct CStrPtr(*const c_char);

impl CStrPtr {
    pub fn is_null(&self) -> bool {
        self.0.is_null()
    }
    /// The string without its zero; nothing for null.
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
    /// Its characters, which are Latin-1.
    pub fn latin1(&self) -> String {
        latin1(self.bytes())
    }
    /// An atom by its name.
    pub fn atom(&self) -> Atom {
        Atom::intern(&self.latin1()).unwrap_or(am::error)
    }
    /// # Safety
    /// Null, or a string that ends with a zero and stays for as long as this is used.
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
