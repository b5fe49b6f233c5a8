//! Conversion of file names between Erlang terms and the system's bytes.
//!
//! A name is a (possibly nested) list of code points, an atom, or a raw binary. Names from the
//! system that are not valid in the encoding stay binaries.

use std::sync::atomic::{AtomicU8, Ordering};

use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{am, Term, View};

pub const BIFS: &[BifEntry] = &[
    bif!("prim_file", "internal_name2native", 1, name2native_1),
    bif!("prim_file", "internal_native2name", 1, native2name_1),
    bif!("prim_file", "internal_normalize_utf8", 1, normalize_utf8_1),
    bif!("prim_file", "is_translatable", 1, is_translatable_1),
    bif!("file", "native_name_encoding", 0, native_name_encoding_0),
];

const UNKNOWN: u8 = 0;
const LATIN1: u8 = 1;
const UTF8: u8 = 2;
kvik_state::vm_state! {
    static ENCODING: AtomicU8 = AtomicU8::new(UNKNOWN);
}

/// Sets the encoding of names (`+fnl`, `+fnu`); the default comes from the locale.
pub fn set_utf8_names(utf8: bool) {
    ENCODING.store(if utf8 { UTF8 } else { LATIN1 }, Ordering::Relaxed);
}

/// Whether file names, arguments and the environment are UTF-8.
pub fn utf8_names() -> bool {
    match ENCODING.load(Ordering::Relaxed) {
        UNKNOWN => {
            let utf8 = locale_is_utf8();
            set_utf8_names(utf8);
            utf8
        }
        e => e == UTF8,
    }
}

fn locale_is_utf8() -> bool {
    ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .filter_map(|v| std::env::var(v).ok())
        .find(|v| !v.is_empty())
        .is_some_and(|v| {
            let v = v.to_ascii_lowercase();
            v.contains("utf-8") || v.contains("utf8")
        })
}

fn put_char(c: i64, utf8: bool, out: &mut Vec<u8>) -> Option<()> {
    let c = char::from_u32(u32::try_from(c).ok()?).filter(|c| *c != '\0')?;
    if utf8 {
        out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    } else {
        out.push(u8::try_from(c as u32).ok()?);
    }
    Some(())
}

fn put_list(list: Term<'_>, utf8: bool, out: &mut Vec<u8>) -> Option<()> {
    // An explicit stack: lists may nest as deep as memory allows.
    let mut rests = vec![list];
    while let Some(mut t) = rests.pop() {
        while let Some(c) = t.as_cons() {
            let head = c.head();
            t = c.tail();
            match head.view() {
                View::Small(n) => put_char(n, utf8, out)?,
                View::Nil => {}
                View::Cons(_) => {
                    rests.push(t);
                    t = head;
                }
                _ => return None,
            }
        }
        if !t.is_nil() {
            return None;
        }
    }
    Some(())
}

/// A name's bytes, without a NUL at the end. `None`: not a name.
pub fn native(t: Term<'_>) -> Option<Vec<u8>> {
    let utf8 = utf8_names();
    let mut out = Vec::new();
    match t.view() {
        View::Atom(a) => {
            a.name().chars().try_for_each(|c| put_char(c as i64, utf8, &mut out).ok_or(())).ok()?
        }
        View::Bits(b) if b.is_binary() => {
            let b = b.to_bytes();
            if b.contains(&0) {
                return None;
            }
            out.extend_from_slice(&b);
        }
        View::Nil | View::Cons(_) => put_list(t, utf8, &mut out)?,
        _ => return None,
    }
    Some(out)
}

/// The name for the system's bytes, as a list; `None` if they are not valid.
pub fn from_native<'h>(p: &'h Proc, bytes: &[u8]) -> Option<Term<'h>> {
    if utf8_names() {
        Some(p.heap.string(std::str::from_utf8(bytes).ok()?))
    } else {
        Some(p.heap.charlist(bytes.iter().map(|b| *b as u32)))
    }
}

fn name2native_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    if a[0].as_atom().is_some() {
        return Err(p.badarg());
    }
    let mut bytes = native(a[0]).ok_or_else(|| p.badarg())?;
    bytes.push(0);
    Ok(p.heap.binary(&bytes))
}

fn native2name_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let b = a[0].as_bits().filter(|b| b.is_binary());
    let b = b.ok_or_else(|| p.badarg())?.to_bytes();
    match from_native(p, &b) {
        Some(t) => Ok(t),
        None => Ok(p.heap.tuple(&[am::error.into(), am::warning.into()])),
    }
}

fn normalize_utf8_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let b = a[0].as_bits().filter(|b| b.is_binary());
    let b = b.ok_or_else(|| p.badarg())?.to_bytes();
    let s = std::str::from_utf8(&b).map_err(|_| p.badarg())?;
    let all: Vec<u32> = crate::compose::composed(s).into_iter().map(u32::from).collect();
    Ok(p.heap.charlist(all.into_iter()))
}

fn is_translatable_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let b = a[0].as_bits().filter(|b| b.is_binary());
    let b = b.ok_or_else(|| p.badarg())?.to_bytes();
    Ok(Term::bool(!utf8_names() || std::str::from_utf8(&b).is_ok()))
}

fn native_name_encoding_0<'h>(_: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    Ok(if utf8_names() { am::utf8 } else { am::latin1 }.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_to_bytes_and_back() {
        set_utf8_names(true);
        let p = Proc::new(1, 1000);
        let h = &p.heap;
        let nested = h.list(&[h.string("a/"), Term::int('å' as i32), h.string("x")]);
        assert_eq!(native(nested).unwrap(), "a/åx".as_bytes());
        assert_eq!(native(h.binary(b"raw\xff")).unwrap(), b"raw\xff");
        assert!(native(h.binary(b"a\0b")).is_none());
        assert!(native(h.list(&[Term::int(0)])).is_none());
        assert!(native(h.list(&[Term::int(0xD800)])).is_none());
        assert!(from_native(&p, b"\xff").is_none());
        let back = from_native(&p, "åx".as_bytes()).unwrap();
        assert_eq!(back.list().next().unwrap().as_small(), Some('å' as i64));
    }
}
