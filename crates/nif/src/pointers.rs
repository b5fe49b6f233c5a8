//! What C gives and takes: terms as words, strings, arrays, places for answers.

use std::ffi::{c_char, CStr};

use kvik_term::{am, Atom, Term};

/// `ERL_NIF_TERM`: a term's own word.
pub type Word = u64;

/// A term that C holds.
pub fn term<'a>(w: Word) -> Term<'a> {
    // SAFETY: the interface's contract: terms come from us, and are used no longer than their
    // environment lives.
    unsafe { Term::from_word(w) }
}
/// Writes where C wants an answer, if it does.
pub fn put<T>(to: *mut T, value: T) {
    if !to.is_null() {
        // SAFETY: a pointer C gave for the answer.
        unsafe { to.write(value) }
    }
}
/// Terms in an array of C's.
pub fn terms<'a>(from: *const Word, n: usize) -> &'a [Term<'a>] {
    if from.is_null() || n == 0 {
        return &[];
    }
    // SAFETY: an array of that many terms, which are words.
    unsafe { std::slice::from_raw_parts(from.cast(), n) }
}
/// Bytes of C's.
pub fn c_bytes<'a>(from: *const u8, n: usize) -> &'a [u8] {
    if from.is_null() || n == 0 {
        return &[];
    }
    // SAFETY: memory of that many bytes.
    unsafe { std::slice::from_raw_parts(from, n) }
}
/// A string of C's without its zero.
pub fn c_str<'a>(s: *const c_char) -> &'a [u8] {
    if s.is_null() {
        return &[];
    }
    // SAFETY: a string that ends with a zero.
    unsafe { CStr::from_ptr(s) }.to_bytes()
}

/// An atom by its name, as C has it.
pub fn atom(name: *const c_char) -> Atom {
    let name: String = c_str(name).iter().map(|b| *b as char).collect();
    Atom::intern(&name).unwrap_or(am::error)
}
