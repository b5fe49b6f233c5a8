//! Atoms and strings, in the encodings of the interface.

use std::borrow::Cow;
use std::ffi::{c_int, c_uint};

use kvik_term::{Atom, Term};

use crate::abi::{LATIN1, UTF8};
use crate::env::{enif_make_badarg, EnvPtr};
use crate::pointers::{latin1, Array, CStrPtr, CTerm, OutBuffer, OutPointer, Word};
use crate::terms::answer;

/// `ErlNifCharEncoding`
#[derive(Copy, Clone)]
enum Encoding {
    Latin1,
    Utf8,
}

impl Encoding {
    fn from_c(n: c_int) -> Option<Encoding> {
        match n {
            LATIN1 => Some(Encoding::Latin1),
            UTF8 => Some(Encoding::Utf8),
            _ => None,
        }
    }
    /// The text that these bytes encode.
    fn decode(self, bytes: &[u8]) -> Option<Cow<'_, str>> {
        match self {
            Encoding::Latin1 => Some(latin1(bytes).into()),
            Encoding::Utf8 => std::str::from_utf8(bytes).ok().map(Cow::from),
        }
    }
    fn encode(self, text: &str) -> Option<Cow<'_, [u8]>> {
        match self {
            Encoding::Latin1 => text.chars().map(|c| u8::try_from(c).ok()).collect(),
            Encoding::Utf8 => Some(text.as_bytes().into()),
        }
    }
    /// The bytes of a character, which is an element of a string.
    fn encode_char<'a>(self, element: Term<'_>, room: &'a mut [u8; 4]) -> Option<&'a [u8]> {
        let c = char::from_u32(u32::try_from(element.as_small()?).ok()?)?;
        match self {
            Encoding::Latin1 => {
                room[0] = u8::try_from(c).ok()?;
                Some(&room[..1])
            }
            Encoding::Utf8 => Some(c.encode_utf8(room).as_bytes()),
        }
    }
}

fn intern(name: &[u8], encoding: c_int) -> Option<Atom> {
    let name = Encoding::from_c(encoding)?.decode(name)?;
    Atom::intern(&name).ok()
}
fn make_atom(e: EnvPtr, name: &[u8]) -> Word {
    match intern(name, LATIN1) {
        Some(a) => a.word(),
        None => enif_make_badarg(e),
    }
}
#[no_mangle]
pub extern "C" fn enif_make_atom(e: EnvPtr, name: CStrPtr) -> Word {
    make_atom(e, name.bytes())
}
#[no_mangle]
pub extern "C" fn enif_make_atom_len(e: EnvPtr, name: Array<u8>, len: usize) -> Word {
    make_atom(e, name.slice(len))
}
#[no_mangle]
pub extern "C" fn enif_make_new_atom(
    _: EnvPtr,
    name: CStrPtr,
    to: OutPointer<Word>,
    encoding: c_int,
) -> c_int {
    answer(to, intern(name.bytes(), encoding).map(|a| a.word()))
}
#[no_mangle]
pub extern "C" fn enif_make_new_atom_len(
    _: EnvPtr,
    name: Array<u8>,
    len: usize,
    to: OutPointer<Word>,
    encoding: c_int,
) -> c_int {
    answer(to, intern(name.slice(len), encoding).map(|a| a.word()))
}

fn existing(name: &[u8], to: OutPointer<Word>, encoding: c_int) -> c_int {
    let name = Encoding::from_c(encoding).and_then(|e| e.decode(name));
    answer(to, name.and_then(|name| Atom::existing(&name)).map(|a| a.word()))
}
#[no_mangle]
pub extern "C" fn enif_make_existing_atom(
    _: EnvPtr,
    name: CStrPtr,
    to: OutPointer<Word>,
    encoding: c_int,
) -> c_int {
    existing(name.bytes(), to, encoding)
}
#[no_mangle]
pub extern "C" fn enif_make_existing_atom_len(
    _: EnvPtr,
    name: Array<u8>,
    len: usize,
    to: OutPointer<Word>,
    encoding: c_int,
) -> c_int {
    existing(name.slice(len), to, encoding)
}

/// An atom's name in that encoding.
fn name_of(t: Term<'_>, encoding: c_int) -> Option<Cow<'static, [u8]>> {
    Encoding::from_c(encoding)?.encode(t.as_atom()?.name())
}
#[no_mangle]
pub extern "C" fn enif_get_atom_length(
    _: EnvPtr,
    t: CTerm,
    len: OutPointer<c_uint>,
    encoding: c_int,
) -> c_int {
    answer(len, name_of(t.term(), encoding).map(|name| name.len() as c_uint))
}
/// Writes the name and a zero; returns the bytes written, or 0 if they do not fit.
#[no_mangle]
pub extern "C" fn enif_get_atom(
    _: EnvPtr,
    t: CTerm,
    mut to: OutBuffer,
    len: c_uint,
    encoding: c_int,
) -> c_int {
    match name_of(t.term(), encoding) {
        Some(name) if name.len() < len as usize => {
            to.put_string(&name, len as usize);
            name.len() as c_int + 1
        }
        _ => 0,
    }
}

/// The atom's entry in the atom caches of connections to other nodes.
#[no_mangle]
pub extern "C" fn enif_get_atom_cache_index(
    _: EnvPtr,
    t: CTerm,
    index: OutPointer<c_uint>,
) -> c_int {
    let atom = t.term().as_atom().filter(|_| !index.is_null());
    answer(index, atom.map(|a| kvik_etf::atom_cache_entry(a) as c_uint))
}
#[no_mangle]
pub extern "C" fn enif_max_atom_cache_index() -> c_uint {
    (kvik_etf::ATOM_CACHE_ENTRIES - 1) as c_uint
}

/// Writes a list of characters and a zero: returns the bytes written, negated if they were cut, or
/// 0 if it is no such list.
#[no_mangle]
pub extern "C" fn enif_get_string(
    _: EnvPtr,
    t: CTerm,
    mut to: OutBuffer,
    len: c_uint,
    encoding: c_int,
) -> c_int {
    let len = len as usize;
    if len < 1 {
        return 0;
    }
    let mut s = Vec::new();
    let (text, result): (&[u8], c_int) = match encoded(t.term(), encoding, len - 1, &mut s) {
        Some(true) => (&s, s.len() as c_int + 1),
        Some(false) => (&s, -(s.len() as c_int + 1)),
        None => (&[], 0),
    };
    to.put_string(text, len);
    result
}
/// Appends a string's characters. `None`: it is no string; `false`: not all of them fit into `room`
/// bytes.
fn encoded(t: Term<'_>, encoding: c_int, room: usize, to: &mut Vec<u8>) -> Option<bool> {
    let encoding = Encoding::from_c(encoding)?;
    let mut it = t.list();
    for element in it.by_ref() {
        let mut bytes = [0; 4];
        let c = encoding.encode_char(element, &mut bytes)?;
        if to.len() + c.len() > room {
            return Some(false);
        }
        to.extend_from_slice(c);
    }
    it.rest.is_nil().then_some(true)
}
/// Bytes of a string without a terminating zero.
#[no_mangle]
pub extern "C" fn enif_get_string_length(
    _: EnvPtr,
    t: CTerm,
    len: OutPointer<c_uint>,
    encoding: c_int,
) -> c_int {
    answer(len, encoded_length(t.term(), encoding))
}
fn encoded_length(t: Term<'_>, encoding: c_int) -> Option<c_uint> {
    let encoding = Encoding::from_c(encoding)?;
    let mut it = t.list();
    let mut bytes = 0;
    for element in it.by_ref() {
        bytes += encoding.encode_char(element, &mut [0; 4])?.len();
    }
    it.rest.is_nil().then_some(bytes as c_uint)
}

fn make_string(e: EnvPtr, bytes: &[u8], encoding: c_int) -> Word {
    match Encoding::from_c(encoding) {
        Some(Encoding::Latin1) => return e.heap().byte_list(bytes).word(),
        Some(Encoding::Utf8) => {
            if let Ok(text) = std::str::from_utf8(bytes) {
                return e.heap().string(text).word();
            }
        }
        None => {}
    }
    enif_make_badarg(e)
}
#[no_mangle]
pub extern "C" fn enif_make_string(e: EnvPtr, s: CStrPtr, encoding: c_int) -> Word {
    make_string(e, s.bytes(), encoding)
}
#[no_mangle]
pub extern "C" fn enif_make_string_len(
    e: EnvPtr,
    s: Array<u8>,
    len: usize,
    encoding: c_int,
) -> Word {
    make_string(e, s.slice(len), encoding)
}
