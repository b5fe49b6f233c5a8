//! The hash for large maps. In OTP 25 it is Jenkins' mix over a term's parts, with OTP's words for
//! small integers and `[]`, so that maps whose keys are numbers, strings and binaries list their
//! keys in OTP's order; `hash_wide.rs` has the one of later releases. Atoms and pids are hashed by
//! their number here, which differs from OTP's.

use kvik_release::KeyHash;

use crate::hash_wide;
use crate::map_node::{child, MapChild};
use crate::stack::Stack;
use crate::word::*;
use crate::zero::exact_bits;
use crate::{Bits, Fun, Map, Ref, Term, View};

const K: u32 = 0x9e37_79b9;
const SALT: u32 = 3_432_918_353;

pub(crate) const fn k(n: u32) -> u32 {
    K.wrapping_mul(n)
}

fn mix(mut a: u32, mut b: u32, mut c: u32) -> u32 {
    let mut round = |x: u32, y: u32, z: u32| {
        a = a.wrapping_sub(b).wrapping_sub(c) ^ (c >> x);
        b = b.wrapping_sub(c).wrapping_sub(a) ^ (a << y);
        c = c.wrapping_sub(a).wrapping_sub(b) ^ (b >> z);
    };
    round(13, 8, 13);
    round(12, 16, 5);
    round(3, 10, 15);
    c
}

pub(crate) fn two(hash: u32, x: u32, y: u32, by: u32) -> u32 {
    mix(by.wrapping_add(x), by.wrapping_add(y), hash)
}

/// Jenkins' hash of bytes.
pub fn block(bytes: &[u8], initial: u32) -> u32 {
    let mut hash = BlockHash::new(initial);
    let (blocks, rest) = bytes.split_at(bytes.len() - bytes.len() % BlockHash::BYTES);
    hash.add(blocks);
    hash.finish(rest)
}

/// Jenkins' hash of bytes that are given in parts.
#[derive(Copy, Clone)]
pub(crate) struct BlockHash {
    state: (u32, u32, u32),
    len: usize,
}

impl BlockHash {
    /// Bytes hashed at once.
    pub const BYTES: usize = 12;

    pub fn new(initial: u32) -> BlockHash {
        BlockHash { state: (K, K, initial), len: 0 }
    }
    /// Adds whole blocks.
    pub fn add(&mut self, bytes: &[u8]) {
        let (mut a, mut b, mut c) = self.state;
        for [x, y, z] in bytes.as_chunks::<4>().0.as_chunks::<3>().0 {
            a = a.wrapping_add(u32::from_le_bytes(*x));
            b = b.wrapping_add(u32::from_le_bytes(*y));
            c = c.wrapping_add(u32::from_le_bytes(*z));
            (a, b, c) = mix3(a, b, c);
        }
        self.state = (a, b, c);
        self.len += bytes.len();
    }
    /// The hash, with the bytes behind the last whole block.
    pub fn finish(self, rest: &[u8]) -> u32 {
        let word = |i: usize| {
            (0..4).map(|j| rest.get(i + j).map_or(0, |b| (*b as u32) << (8 * j))).sum::<u32>()
        };
        let (a, b, c) = self.state;
        let c = c.wrapping_add((self.len + rest.len()) as u32);
        mix3(a.wrapping_add(word(0)), b.wrapping_add(word(4)), c.wrapping_add(word(8) << 8)).2
    }
}

fn mix3(mut a: u32, mut b: u32, mut c: u32) -> (u32, u32, u32) {
    for (x, y, z) in [(13, 8, 13), (12, 16, 5), (3, 10, 15)] {
        a = a.wrapping_sub(b).wrapping_sub(c) ^ (c >> x);
        b = b.wrapping_sub(c).wrapping_sub(a) ^ (a << y);
        c = c.wrapping_sub(a).wrapping_sub(b) ^ (b >> z);
    }
    (a, b, c)
}

/// An immediate's word in OTP, for immediates that are the same in every run.
pub(crate) fn immediate_word(w: u64) -> u64 {
    match w & 15 {
        0 => w | 15,
        TAG_ATOM => (w >> 4) << 6 | 0xB,
        TAG_PID => (w >> 4) << 4 | 3,
        TAG_PORT => (w >> 4) << 4 | 7,
        _ => 0x3B,
    }
}

/// Mixes in a constant that says which part of a list cell follows.
fn mark(hash: u32, k: u32) -> u32 {
    (hash ^ k).rotate_left(17)
}

#[derive(Copy, Clone)]
enum Task<'h> {
    Term(Term<'h>),
    Cdr,
    /// The pairs of a flat map from this index on.
    Flat(Map<'h>, usize),
    /// The rest of a large map's node.
    Children(&'h [Term<'h>]),
}

/// The hash of a key, as the release has it: 64 bits, or 32.
#[inline]
pub fn of_key(t: Term<'_>) -> u64 {
    match kvik_release::key_hash() {
        KeyHash::Jenkins => u64::from(internal(t, 0)),
        KeyHash::Murmur | KeyHash::MurmurWithRecords => hash_wide::of(t, 0),
    }
}
/// The same with a salt.
pub fn salted(t: Term<'_>, salt: u64) -> u64 {
    match kvik_release::key_hash() {
        KeyHash::Jenkins => u64::from(internal(t, (salt ^ salt >> 32) as u32)),
        KeyHash::Murmur | KeyHash::MurmurWithRecords => hash_wide::of(t, salt),
    }
}

/// OTP 25's hash of a map key at a level of the tree (the salt changes every eight levels).
#[inline]
pub fn internal(t: Term<'_>, salt: u32) -> u32 {
    match t.is_immediate() {
        true => immediate(t, salt ^ SALT),
        false => of_object(t, salt),
    }
}
fn of_object(t: Term<'_>, salt: u32) -> u32 {
    if let Some(elements) = t.as_tuple().map(|t| t.elements()) {
        let first = two(salt ^ SALT, elements.len() as u32, 0, k(9));
        let mut parts = elements.iter();
        let hash = parts.try_fold(first, |h, t| t.is_immediate().then(|| immediate(*t, h)));
        if let Some(hash) = hash {
            return hash;
        }
    }
    let mut todo = Stack::new();
    let mut hash = one(t, salt ^ SALT, &mut todo);
    while let Some(task) = todo.pop() {
        hash = match task {
            Task::Cdr => mark(hash, k(18)),
            Task::Term(t) => one(t, hash, &mut todo),
            Task::Flat(m, i) => flat(m, i, hash, &mut todo),
            Task::Children(c) => children(c, hash, &mut todo),
        };
    }
    hash
}

/// Hashes a flat map's pairs up to the first that is compound.
fn flat<'h>(m: Map<'h>, i: usize, mut hash: u32, todo: &mut Stack<Task<'h>>) -> u32 {
    let Some((keys, values)) = m.flat() else { return hash };
    for (i, (key, value)) in keys.iter().zip(values).enumerate().skip(i) {
        if !key.is_immediate() || !value.is_immediate() {
            todo.extend([Task::Flat(m, i + 1), Task::Term(*value)].into_iter());
            return one(*key, hash, todo);
        }
        hash = immediate(*value, immediate(*key, hash));
    }
    hash
}
/// Hashes a node's cells up to the first that is compound, or that is a further node.
fn children<'h>(all: &'h [Term<'h>], mut hash: u32, todo: &mut Stack<Task<'h>>) -> u32 {
    let mut rest = all;
    while let Some((first, more)) = rest.split_first() {
        rest = more;
        match child(*first) {
            MapChild::Node(n) => {
                todo.extend([Task::Children(rest), Task::Children(n.children)].into_iter());
                return hash;
            }
            MapChild::Leaf(key, value) if key.is_immediate() && value.is_immediate() => {
                hash = immediate(value, immediate(key, hash));
            }
            MapChild::Leaf(key, value) => {
                todo.extend([Task::Children(rest), Task::Term(value)].into_iter());
                return one(key, hash, todo);
            }
        }
    }
    hash
}

#[inline(always)]
fn immediate(t: Term<'_>, hash: u32) -> u32 {
    let w = immediate_word(t.word());
    two(hash, w as u32, (w >> 32) as u32, K)
}

fn one<'h>(t: Term<'h>, hash: u32, todo: &mut Stack<Task<'h>>) -> u32 {
    if t.is_immediate() {
        return immediate(t, hash);
    }
    match t.view() {
        View::Cons(_) => list(t, hash, todo),
        View::Tuple(e) => {
            let mut hash = two(hash, e.len() as u32, 0, k(9));
            let mut rest = e.elements();
            while let Some((first, more)) = rest.split_first().filter(|(t, _)| t.is_immediate()) {
                hash = immediate(*first, hash);
                rest = more;
            }
            todo.extend(rest.iter().rev().map(|t| Task::Term(*t)));
            hash
        }
        View::Record(r) => {
            todo.extend(r.values().iter().rev().map(|t| Task::Term(*t)));
            two(hash, r.values().len() as u32, r.definition().hash(), k(23))
        }
        View::Map(m) => {
            todo.push(match m.node() {
                Some(root) => Task::Children(root.children),
                None => Task::Flat(m, 0),
            });
            two(hash, m.len() as u32, 0, k(16))
        }
        View::Bits(b) => bits(b, hash),
        View::Big(b) => {
            let by = k(if b.is_negative() { 10 } else { 11 });
            b.digits().iter().fold(hash, |h, d| two(h, *d as u32, (*d >> 32) as u32, by))
        }
        View::Float(f) => {
            let w = exact_bits(f);
            two(hash, w as u32, (w >> 32) as u32, k(12))
        }
        View::Fun(f) => fun(f, hash, todo),
        View::Ref(Ref::Local(r)) => {
            let n = r.numbers();
            two(two(hash, n[0], 0, k(7)), n[1], n[2], k(8))
        }
        View::Ref(Ref::External(e)) => {
            // References that differ only in trailing zeros are equal.
            let numbers = e.ref_numbers();
            let used = numbers.iter().rposition(|n| *n != 0).map_or(0, |last| last + 1);
            numbers[..used].iter().fold(node(e, hash), |h, n| two(h, *n, 0, k(7)))
        }
        View::Pid(crate::PidTerm::External(e)) => {
            two(node(e, hash), e.data() as u32, (e.data() >> 32) as u32, k(5))
        }
        View::Port(crate::PortTerm::External(e)) => {
            two(node(e, hash), e.data() as u32, (e.data() >> 32) as u32, k(6))
        }
        _ => hash,
    }
}

pub(crate) fn node_index(e: crate::Ext<'_>) -> u32 {
    e.node().index()
}
/// Mixes in the node of a pid, port or reference: two nodes, or two runs of one, use the same
/// numbers.
fn node(e: crate::Ext<'_>, hash: u32) -> u32 {
    two(hash, node_index(e), e.creation(), k(5))
}

/// Hashes a list: runs of bytes four at a time, then element by element.
fn list<'h>(t: Term<'h>, mut hash: u32, todo: &mut Stack<Task<'h>>) -> u32 {
    let (mut t, mut run, mut n) = (t, 0u32, 0);
    let cell = loop {
        let Some(c) = t.as_cons() else { break None };
        let Some(byte) = c.head().as_small().and_then(|i| u8::try_from(i).ok()) else {
            break Some(c);
        };
        run = run << 8 | byte as u32;
        n += 1;
        if n == 4 {
            hash = two(hash, run, 0, k(4));
            (run, n) = (0, 0);
        }
        t = c.tail();
    };
    if n > 0 {
        hash = two(hash, run, n, k(22));
    }
    match cell {
        Some(c) => {
            hash = mark(hash, k(17));
            todo.push(Task::Term(c.tail()));
            if c.tail().as_cons().is_none() {
                todo.push(Task::Cdr);
            }
            todo.push(Task::Term(c.head()));
            hash
        }
        None => one(t, hash, todo),
    }
}

fn bits(b: Bits<'_>, hash: u32) -> u32 {
    let con = k(13).wrapping_add(hash);
    if b.bit_len() == 0 {
        return con;
    }
    let bytes = b.to_bytes();
    let (whole, rest) = (b.bit_len() / 8, b.bit_len() % 8);
    let h = block(&bytes[..whole], con);
    if rest == 0 {
        h
    } else {
        two(h, rest as u32, (bytes[whole] >> (8 - rest)) as u32, k(15))
    }
}

fn fun<'h>(f: Fun<'h>, hash: u32, todo: &mut Stack<Task<'h>>) -> u32 {
    if let Some(e) = f.entry() {
        todo.extend(f.env().iter().rev().map(|t| Task::Term(*t)));
        let h = two(hash, f.env().len() as u32, e.module.index(), k(20));
        return two(h, e.index, e.old_uniq, k(21));
    }
    f.export().map_or(hash, |e| {
        two(two(hash, e.module.index(), e.function.index(), k(14)), e.arity, 0, k(14))
    })
}
