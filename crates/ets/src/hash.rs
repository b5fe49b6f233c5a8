//! The hash of keys. It gives OTP's values for keys made of integers, strings, binaries, floats
//! and atoms on their own, so that small tables list their objects in OTP's order. (OTP's values
//! for atoms and pids inside other terms depend on its table indexes.)

use kvik_term::{Atom, Big, Bits, Cons, Ext, Fun, Pid, Port, Ref, Term, View};

const GOLDEN: u32 = 0x9e37_79b9;
const SALT: u32 = 3_432_918_353;

/// The n-th multiple of the golden ratio: what sets the kinds of terms apart.
const fn salt(n: u32) -> u32 {
    GOLDEN.wrapping_mul(n)
}

fn mix(mut a: u32, mut b: u32, mut c: u32) -> (u32, u32, u32) {
    for (right, left, last) in [(13, 8, 13), (12, 16, 5), (3, 10, 15)] {
        a = a.wrapping_sub(b).wrapping_sub(c) ^ (c >> right);
        b = b.wrapping_sub(c).wrapping_sub(a) ^ (a << left);
        c = c.wrapping_sub(a).wrapping_sub(b) ^ (b >> last);
    }
    (a, b, c)
}

/// Two further 32-bit values.
fn two(hash: u32, x: u32, y: u32, k: u32) -> u32 {
    mix(k.wrapping_add(x), k.wrapping_add(y), hash).2
}
fn word(hash: u32, w: u64, k: u32) -> u32 {
    two(hash, w as u32, (w >> 32) as u32, k)
}

/// A constant: which part of a list cell comes.
fn mark(hash: u32, k: u32) -> u32 {
    (hash ^ k).rotate_left(17)
}

/// Bytes in steps of twelve.
fn block(bytes: &[u8], init: u32) -> u32 {
    let le =
        |b: &[u8]| b.iter().take(4).enumerate().fold(0u32, |n, (i, b)| n | (*b as u32) << (8 * i));
    let (mut a, mut b, mut c) = (GOLDEN, GOLDEN, init);
    let mut steps = bytes.chunks_exact(12);
    for s in steps.by_ref() {
        a = a.wrapping_add(le(s));
        b = b.wrapping_add(le(&s[4..]));
        c = c.wrapping_add(le(&s[8..]));
        (a, b, c) = mix(a, b, c);
    }
    let rest = steps.remainder();
    c = c.wrapping_add(bytes.len() as u32);
    a = a.wrapping_add(le(rest));
    b = b.wrapping_add(le(rest.get(4..).unwrap_or(&[])));
    // The lowest byte of `c` is the length's.
    c = c.wrapping_add(le(rest.get(8..).unwrap_or(&[])) << 8);
    mix(a, b, c).2
}

/// An atom's hash goes by its name.
fn atom(a: Atom) -> u32 {
    let mut h = 0u32;
    for c in a.name().chars() {
        let mut utf8 = [0; 4];
        let mut step = |v: u32| {
            h = (h << 4).wrapping_add(v);
            let g = h & 0xf000_0000;
            h ^= g >> 24;
            h ^= g;
        };
        match u8::try_from(c as u32) {
            Ok(b) => step(b as u32),
            Err(_) => c.encode_utf8(&mut utf8).bytes().for_each(|b| step(b as u32)),
        }
    }
    h
}

/// The word OTP has for an immediate (atoms: our index, not its).
fn immediate(t: Term<'_>) -> u64 {
    match t.view() {
        View::Small(i) => (i as u64) << 4 | 0xF,
        View::Atom(a) => (a.index() as u64) << 6 | 0xB,
        View::Pid(Pid::Local(n)) => (n as u64) << 4 | 0x3,
        View::Port(Port::Local(n)) => (n as u64) << 4 | 0x7,
        _ => 0x3B,
    }
}

/// The hash of a key: 31 bits.
pub fn of_key(t: Term<'_>) -> u32 {
    let h = match t.as_atom() {
        Some(a) => atom(a),
        None => of_term(t),
    };
    h & 0x7FFF_FFFF
}

enum Todo<'h> {
    Term(Term<'h>),
    /// The tail of a list cell, where it is no list, is set apart.
    Tail,
}

/// The hash of any term; terms that match (`=:=`) have the same.
pub fn of_term(t: Term<'_>) -> u32 {
    let mut hash = SALT;
    if t.is_immediate() {
        return word(hash, immediate(t), GOLDEN);
    }
    let mut todo = vec![Todo::Term(t)];
    while let Some(next) = todo.pop() {
        hash = match next {
            Todo::Tail => mark(hash, salt(18)),
            Todo::Term(t) => step(t, hash, &mut todo),
        };
    }
    hash
}

fn step<'h>(t: Term<'h>, hash: u32, todo: &mut Vec<Todo<'h>>) -> u32 {
    let mut push_all = |ts: &[Term<'h>]| todo.extend(ts.iter().rev().map(|t| Todo::Term(*t)));
    match t.view() {
        View::Cons(c) => list(c, hash, todo),
        View::Tuple(t) => {
            push_all(t.elements());
            two(hash, t.len() as u32, 0, salt(9))
        }
        View::Map(m) => {
            let pairs = crate::order::map_pairs(m);
            for (k, v) in pairs.iter().rev() {
                push_all(&[*k, *v]);
            }
            two(hash, pairs.len() as u32, 0, salt(16))
        }
        View::Fun(f) => {
            push_all(f.env());
            fun(f, hash)
        }
        View::Bits(b) => bits(b, hash),
        View::Big(b) => big(b, hash),
        View::Float(f) => word(hash, if f == 0.0 { 0 } else { f.to_bits() }, salt(12)),
        View::Ref(Ref::Local(r)) => {
            let [a, b, c] = r.numbers();
            two(two(hash, a, 0, salt(7)), b, c, salt(8))
        }
        View::Ref(Ref::External(e)) => {
            e.ref_numbers().iter().fold(external(e, hash), |h, n| two(h, *n, 0, salt(7)))
        }
        View::Pid(Pid::External(e)) | View::Port(Port::External(e)) => {
            word(external(e, hash), e.data(), salt(5))
        }
        _ => word(hash, immediate(t), GOLDEN),
    }
}

/// Leading bytes go four at a time; then one element.
fn list<'h>(mut cell: Cons<'h>, mut hash: u32, todo: &mut Vec<Todo<'h>>) -> u32 {
    let (mut n, mut four) = (0, 0u32);
    let mut rest;
    loop {
        rest = Some(cell);
        let Some(byte) = cell.head().as_small().and_then(|i| u8::try_from(i).ok()) else {
            break;
        };
        four = (four << 8).wrapping_add(byte as u32);
        n += 1;
        if n == 4 {
            hash = two(hash, four, 0, salt(4));
            (n, four) = (0, 0);
        }
        match cell.tail().as_cons() {
            Some(c) => cell = c,
            None => {
                todo.push(Todo::Term(cell.tail()));
                rest = None;
                break;
            }
        }
    }
    if n > 0 {
        hash = two(hash, four, n, salt(22));
    }
    if let Some(c) = rest {
        hash = mark(hash, salt(17));
        todo.push(Todo::Term(c.tail()));
        if c.tail().as_cons().is_none() {
            todo.push(Todo::Tail);
        }
        todo.push(Todo::Term(c.head()));
    }
    hash
}

fn bits(b: Bits<'_>, hash: u32) -> u32 {
    let con = salt(13).wrapping_add(hash);
    if b.bit_len() == 0 {
        return con;
    }
    let bytes = b.to_bytes();
    let whole = b.bit_len() / 8;
    let h = block(&bytes[..whole.min(bytes.len())], con);
    let left = (b.bit_len() % 8) as u32;
    if left == 0 {
        return h;
    }
    let last = bytes.get(whole).map_or(0, |x| *x as u32) >> (8 - left);
    two(h, left, last, salt(15))
}

fn big(b: Big<'_>, hash: u32) -> u32 {
    let k = salt(if b.is_negative() { 10 } else { 11 });
    b.digits().iter().fold(hash, |h, d| word(h, *d, k))
}

fn fun(f: Fun<'_>, hash: u32) -> u32 {
    if let Some(e) = f.entry() {
        let h = two(hash, f.env().len() as u32, e.module.index(), salt(20));
        return two(h, e.index, e.old_uniq, salt(21));
    }
    match f.export() {
        Some(e) => {
            let h = two(hash, e.module.index(), e.function.index(), salt(14));
            two(h, e.arity, 0, salt(14))
        }
        None => hash,
    }
}

fn external(e: Ext<'_>, hash: u32) -> u32 {
    two(hash, e.node().index(), e.creation(), salt(6))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kvik_heap::Heap;

    #[test]
    fn equal_terms_hash_alike() {
        let h = Heap::new(64);
        let a = h.tuple(&[h.string("abcdefg"), h.binary(b"0123456789abc"), Term::int(7)]);
        let b = h.copy(a);
        assert_eq!(of_key(a), of_key(b));
        let off = h.sub_binary(h.binary(b"x0123456789abc"), 8, 104);
        assert_eq!(of_key(off.unwrap()), of_key(h.binary(b"0123456789abc")));
        assert_ne!(of_key(h.float(1.0)), of_key(Term::int(1)));
    }
}
