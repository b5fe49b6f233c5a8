//! The hash of keys since OTP 27: the steps of MurmurHash3 (128 bits, folded to 64) over the parts
//! of a term. Where no atom, pid, port or reference is in a term its hash is OTP's, so that large
//! maps list their keys in OTP's order.

use kvik_release::KeyHash;

use crate::hash::{immediate_word, node_index};
use crate::map_node::{child, MapChild, MapNode, COLLISION};
use crate::object::Ext;
use crate::stack::Stack;
use crate::{Bits, Fun, Map, NativeRecord, PidTerm, PortTerm, Ref, Term, Tuple, View};

/// The kinds of parts, which are mixed in before what a part holds.
mod kind {
    pub const IMMEDIATE: u64 = 1;
    /// An element that is hashed later.
    pub const ELEMENT: u64 = 2;
    pub const HEAD: u64 = 3;
    pub const TAIL: u64 = 4;
    pub const STRING: u64 = 5;
    pub const TUPLE: u64 = 6;
    /// Only in releases with native records. There the numbers of those below are one higher.
    pub const RECORD: u64 = 7;
    pub const FLAT_MAP: u64 = 7;
    /// The root of a large map, with all children and with some.
    pub const FULL_ROOT: u64 = 8;
    pub const ROOT: u64 = 9;
    pub const NODE: u64 = 10;
    pub const BITS: u64 = 11;
    pub const LOCAL_FUN: u64 = 12;
    pub const EXPORT: u64 = 13;
    pub const NEGATIVE: u64 = 14;
    pub const POSITIVE: u64 = 15;
    pub const LOCAL_REF: u64 = 16;
    pub const EXTERNAL_REF: u64 = 17;
    pub const EXTERNAL_PID: u64 = 18;
    pub const EXTERNAL_PORT: u64 = 19;
    pub const FLOAT: u64 = 20;
}

const C1: u64 = 0x87C3_7B91_1142_53D5;
const C2: u64 = 0x4CF5_AD43_2745_937F;
/// Bytes hashed at once.
const BLOCK: usize = 16;
/// Bitmap of a node with all children.
const FULL: u32 = 0xFFFF;

/// MurmurHash3's last mix.
#[inline(always)]
fn mix64(mut h: u64) -> u64 {
    h = (h ^ h >> 33).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    h = (h ^ h >> 33).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    h ^ h >> 33
}

/// The hash of a term.
#[inline]
pub fn of(t: Term<'_>, salt: u64) -> u64 {
    match t.is_immediate() {
        true => mix64(immediate_word(t.word()).wrapping_add(salt)),
        false => of_object(t, salt),
    }
}

fn of_object(t: Term<'_>, salt: u64) -> u64 {
    let with_records = kvik_release::key_hash() == KeyHash::MurmurWithRecords;
    let mut m = Mixer { alpha: salt, beta: salt, ticks: 0, shift: with_records as u64 };
    if m.flat_tuple(t) {
        return m.finish();
    }
    let mut todo = Stack::new();
    let mut next = Some(t);
    while let Some(t) = next {
        next = m.part(t, &mut todo).or_else(|| m.pop(&mut todo));
    }
    m.finish()
}

#[derive(Copy, Clone)]
enum Task<'h> {
    Term(Term<'h>),
    /// The term that follows is the last tail of a list.
    Tail,
}

type Todo<'h> = Stack<Task<'h>>;

/// The state of the hash: two halves, and how many words were mixed in.
struct Mixer {
    alpha: u64,
    beta: u64,
    ticks: u64,
    /// Added to the kinds after [`kind::TUPLE`].
    shift: u64,
}

fn scrambled_alpha(x: u64) -> u64 {
    x.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2)
}
fn scrambled_beta(x: u64) -> u64 {
    x.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1)
}

impl Mixer {
    #[inline]
    fn alpha(&mut self, x: u64) {
        let h = (self.alpha ^ scrambled_alpha(x)).rotate_left(27).wrapping_add(self.beta);
        self.alpha = h.wrapping_mul(5).wrapping_add(0x52DC_E729);
        self.ticks += 1;
    }
    #[inline]
    fn beta(&mut self, x: u64) {
        let h = (self.beta ^ scrambled_beta(x)).rotate_left(31).wrapping_add(self.alpha);
        self.beta = h.wrapping_mul(5).wrapping_add(0x3849_5AB5);
        self.ticks += 1;
    }
    /// A kind after `TUPLE`, with 32 bits more.
    #[inline]
    fn kind(&mut self, kind: u64, more: u32) {
        self.alpha((kind + self.shift) | u64::from(more) << 32);
    }
    #[inline]
    fn immediate(&mut self, t: Term<'_>) {
        self.alpha(kind::IMMEDIATE);
        self.beta(immediate_word(t.word()));
    }
    /// Mixes in a tuple of immediates, the most common compound key; false for another term.
    fn flat_tuple(&mut self, t: Term<'_>) -> bool {
        let Some(elements) = t.as_tuple().map(Tuple::elements) else { return false };
        let flat = elements.iter().all(|e| e.is_immediate());
        if flat {
            self.alpha(kind::TUPLE);
            self.beta(elements.len() as u64);
            elements.iter().for_each(|e| self.immediate(*e));
        }
        flat
    }
    fn finish(self) -> u64 {
        let (mut a, mut b) = (self.alpha ^ self.ticks, self.beta ^ self.ticks);
        a = a.wrapping_add(b);
        b = b.wrapping_add(a);
        (a, b) = (mix64(a), mix64(b));
        a = a.wrapping_add(b);
        b = b.wrapping_add(a);
        a ^ b
    }

    fn pop<'h>(&mut self, todo: &mut Todo<'h>) -> Option<Term<'h>> {
        loop {
            match todo.pop()? {
                Task::Term(t) => return Some(t),
                Task::Tail => self.beta(kind::TAIL),
            }
        }
    }
    /// Immediates at once, other elements later.
    #[inline]
    fn element<'h>(&mut self, t: Term<'h>, todo: &mut Todo<'h>) {
        match t.is_immediate() {
            true => self.immediate(t),
            false => {
                self.alpha(kind::ELEMENT);
                todo.push(Task::Term(t));
            }
        }
    }
    /// All but the last, which is to be hashed next.
    fn elements<'h>(&mut self, all: &[Term<'h>], todo: &mut Todo<'h>) -> Option<Term<'h>> {
        let (last, before) = all.split_last()?;
        before.iter().for_each(|t| self.element(*t, todo));
        Some(*last)
    }

    /// Mixes in a term up to a part that is returned, and is to be hashed next.
    fn part<'h>(&mut self, t: Term<'h>, todo: &mut Todo<'h>) -> Option<Term<'h>> {
        if t.is_immediate() {
            self.immediate(t);
            return None;
        }
        match t.view() {
            View::Cons(_) => return self.list(t, todo),
            View::Tuple(e) => {
                self.alpha(kind::TUPLE);
                self.beta(e.len() as u64);
                return self.elements(e.elements(), todo);
            }
            View::Record(r) => return self.record(r, todo),
            View::Map(m) => return self.map(m, todo),
            View::Fun(f) => return self.fun(f, todo),
            View::Bits(b) => self.bits(b),
            View::Big(b) => {
                let kind = if b.is_negative() { kind::NEGATIVE } else { kind::POSITIVE };
                self.digits(kind, b.digits());
            }
            View::Float(f) => {
                self.kind(kind::FLOAT, 0);
                self.beta(f.to_bits());
            }
            View::Ref(Ref::Local(r)) => {
                let [a, b, c, ..] = r.numbers();
                self.kind(kind::LOCAL_REF, a);
                self.beta(u64::from(b) | u64::from(c) << 32);
            }
            View::Ref(Ref::External(e)) => self.external_ref(e),
            View::Pid(PidTerm::External(e)) => self.external(kind::EXTERNAL_PID, e),
            View::Port(PortTerm::External(e)) => self.external(kind::EXTERNAL_PORT, e),
            _ => {}
        }
        None
    }

    /// Runs of bytes four at a time, then one cell.
    fn list<'h>(&mut self, mut t: Term<'h>, todo: &mut Todo<'h>) -> Option<Term<'h>> {
        let (mut run, mut n) = (0u64, 0);
        let cell = loop {
            let Some(c) = t.as_cons() else { break None };
            let Some(byte) = c.head().as_small().and_then(|i| u8::try_from(i).ok()) else {
                break Some(c);
            };
            (run, n) = (run << 8 | u64::from(byte), n + 1);
            if n == 4 {
                self.alpha(kind::STRING | 4 << 8 | run << 32);
                (run, n) = (0, 0);
            }
            t = c.tail();
        };
        if n > 0 {
            self.alpha(kind::STRING | n << 8 | run << 32);
        }
        let Some(cell) = cell else { return Some(t) };
        let (head, tail) = (cell.head(), cell.tail());
        let ends = tail.as_cons().is_none();
        if head.is_immediate() {
            self.alpha(kind::IMMEDIATE | kind::HEAD << 32);
            self.beta(immediate_word(head.word()));
            if ends {
                self.alpha(kind::TAIL);
            }
            return Some(tail);
        }
        todo.push(Task::Term(tail));
        if ends {
            todo.push(Task::Tail);
        }
        self.alpha(kind::HEAD);
        Some(head)
    }

    fn record<'h>(&mut self, r: NativeRecord<'h>, todo: &mut Todo<'h>) -> Option<Term<'h>> {
        self.alpha(kind::RECORD);
        self.beta(r.values().len() as u64 + 1);
        self.immediate(Term::int(r.definition().hash() as i32));
        self.elements(r.values(), todo)
    }

    fn map<'h>(&mut self, m: Map<'h>, todo: &mut Todo<'h>) -> Option<Term<'h>> {
        let Some((keys, values)) = m.flat() else {
            return m.node().and_then(|node| self.node(m, node, todo));
        };
        self.kind(kind::FLAT_MAP, 0);
        self.beta(keys.len() as u64);
        let (last, before) = keys.split_last()?;
        for (key, value) in before.iter().zip(values) {
            self.element(*value, todo);
            self.element(*key, todo);
        }
        self.element(*values.last()?, todo);
        Some(*last)
    }
    fn node<'h>(&mut self, m: Map<'h>, node: MapNode<'h>, todo: &mut Todo<'h>) -> Option<Term<'h>> {
        if node.bitmap & COLLISION != 0 {
            self.alpha(kind::TUPLE);
            self.beta(node.children.len() as u64);
            return self.elements(node.children, todo);
        }
        match (m.is_node(), node.bitmap & FULL == FULL) {
            (true, _) => self.kind(kind::NODE, 0),
            (false, true) => self.kind(kind::FULL_ROOT, 0),
            (false, false) => self.kind(kind::ROOT, 0),
        }
        if !m.is_node() {
            self.beta(m.len() as u64);
        }
        for c in node.children {
            match child(*c) {
                MapChild::Leaf(key, value) => {
                    self.element(value, todo);
                    self.element(key, todo);
                }
                MapChild::Node(_) => todo.push(Task::Term(*c)),
            }
        }
        None
    }

    fn fun<'h>(&mut self, f: Fun<'h>, todo: &mut Todo<'h>) -> Option<Term<'h>> {
        if let Some(e) = f.entry() {
            self.kind(kind::LOCAL_FUN, f.env().len() as u32);
            self.beta(u64::from(e.index) | u64::from(e.old_uniq) << 32);
            self.immediate(e.module.into());
            return self.elements(f.env(), todo);
        }
        if let Some(e) = f.export() {
            self.kind(kind::EXPORT, e.arity);
            self.beta(u64::from(e.module.index()) | u64::from(e.function.index()) << 32);
        }
        None
    }

    fn bits(&mut self, b: Bits<'_>) {
        self.kind(kind::BITS, 0);
        self.beta(b.bit_len() as u64);
        let bytes = b.to_bytes();
        let (whole, tail_bits) = (b.bit_len() / 8, b.bit_len() % 8);
        let mut blocks = bytes[..whole].chunks_exact(BLOCK);
        for block in &mut blocks {
            self.alpha(little_endian(&block[..8]));
            self.beta(little_endian(&block[8..]));
        }
        let rest = blocks.remainder();
        if rest.len() > 8 {
            self.beta ^= scrambled_beta(little_endian(&rest[8..]));
        }
        if !rest.is_empty() {
            self.alpha ^= scrambled_alpha(little_endian(&rest[..rest.len().min(8)]));
        }
        if tail_bits > 0 {
            self.alpha(u64::from(bytes[whole] >> (8 - tail_bits)));
        }
    }

    fn digits(&mut self, kind: u64, digits: &[u64]) {
        self.kind(kind, digits.len() as u32);
        let mut pairs = digits.chunks_exact(2);
        for pair in &mut pairs {
            self.alpha(pair[0]);
            self.beta(pair[1]);
        }
        pairs.remainder().iter().for_each(|d| self.beta(*d));
    }

    /// The node of a pid, port or reference: two nodes, or two runs of one, use the same numbers.
    fn node_of(&mut self, e: Ext<'_>) {
        self.alpha(u64::from(node_index(e)) | u64::from(e.creation()) << 32);
    }
    fn external(&mut self, kind: u64, e: Ext<'_>) {
        self.kind(kind, 0);
        self.node_of(e);
        self.beta(e.data());
    }
    fn external_ref(&mut self, e: Ext<'_>) {
        // References that differ only in trailing zeros are equal.
        let numbers = e.ref_numbers();
        let used = numbers.iter().rposition(|n| *n != 0).map_or(0, |last| last + 1);
        self.kind(kind::EXTERNAL_REF, 0);
        numbers[..used].iter().for_each(|n| self.beta(u64::from(*n)));
        self.node_of(e);
    }
}

/// Up to eight bytes as a number, the first lowest.
fn little_endian(bytes: &[u8]) -> u64 {
    match bytes.first_chunk::<8>() {
        Some(all) => u64::from_le_bytes(*all),
        None => bytes.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values that OTP gives for `{internal_hash, T}`; `tests/diff/terms/since27_key_order` has
    /// many more.
    #[test]
    fn immediates_hash_as_in_otp() {
        let known = [
            (Term::int(0), 15_677_855_740_172_624_429),
            (Term::int(1), 7_938_660_269_479_274_665),
            (Term::int(-1), 7_256_831_767_414_464_289),
            (Term::NIL, 16_046_243_290_777_390_298),
        ];
        for (t, hash) in known {
            assert_eq!(of(t, 0), hash, "{t:?}");
            assert_ne!(of(t, 1), hash, "{t:?}");
        }
    }

    #[test]
    fn partial_words_are_read_lowest_byte_first() {
        assert_eq!(little_endian(&[1, 2]), 0x0201);
        assert_eq!(little_endian(&[1, 0, 0, 0, 0, 0, 0, 2, 9]), 1 | 2 << 56);
    }
}
