//! The hashes that Erlang programs see and that must never change: `erlang:phash2` ([`phash2`]) and
//! the older `erlang:phash` ([`phash`]). Both walk a term's parts with a work list instead of
//! recursion.

use crate::hash::{block, k, two, BlockHash};
use crate::stack::Stack;
use crate::{map, Atom, Bits, Ext, Fun, PidTerm, PortTerm, Ref, Term, Tuple, View};

#[derive(Copy, Clone)]
enum Task<'h> {
    Term(Term<'h>),
    /// The rest of a list after a run of bytes.
    Tail(Term<'h>),
    /// A key and its value are hashed.
    Pair,
    /// All pairs of a map are hashed: the state from before them.
    MapEnd {
        hash: u32,
        pairs: u32,
    },
    /// The rest of a long bit string.
    Bits(Bits<'h>, BlockHash),
}

/// `erlang:phash2/1` before its range is applied.
pub fn phash2(t: Term<'_>) -> u32 {
    let mut h = Phash2::new(t);
    loop {
        if let Some(hash) = h.run(&mut { usize::MAX }) {
            return hash;
        }
    }
}

/// Elements of a tuple, and bytes of a binary, that are hashed at once: too few for a reduction.
const FEW: usize = 32;

/// The same for an immediate, a small tuple of immediates, or a small bit string: common keys that
/// need no work list.
#[inline]
pub fn phash2_of_small(t: Term<'_>) -> Option<u32> {
    let few = &mut Stack::new();
    if let Some(elements) = t.as_tuple().map(Tuple::elements) {
        let flat = elements.len() <= FEW && elements.iter().all(|e| e.is_immediate());
        let first = two(0, elements.len() as u32, 0, k(9));
        return flat.then(|| elements.iter().fold(first, |hash, e| one(*e, hash, few)));
    }
    let small = t.is_immediate() || t.as_bits().is_some_and(|b| b.byte_size() <= FEW);
    small.then(|| one(t, 0, few))
}

/// The same for a tuple of these atoms, which need not exist as a term.
pub fn phash2_of_atoms(elements: &[Atom]) -> u32 {
    let first = two(0, elements.len() as u32, 0, k(9));
    elements.iter().fold(first, |hash, a| match hash {
        0 => a.name_hash(),
        _ => two(hash, a.name_hash(), 0, k(3)),
    })
}

/// Bytes of a list that are hashed at once; a multiple of four.
const RUN: usize = 64;

/// Bytes of a binary that count as one step.
const BYTES_A_STEP: usize = BlockHash::BYTES;
/// Longer binaries are hashed in several goes, each of up to so many bytes.
const LONG_BYTES: usize = 256 * BYTES_A_STEP;

/// Steps for the nodes of a large map, per pair, in tenths. A pair itself takes four.
const NODES_A_PAIR: usize = 7;

/// An `erlang:phash2/1` in progress.
pub struct Phash2<'h> {
    hash: u32,
    pairs: u32,
    todo: Stack<Task<'h>>,
}

impl<'h> Phash2<'h> {
    pub fn new(t: Term<'h>) -> Phash2<'h> {
        let mut todo = Stack::new();
        todo.push(Task::Term(t));
        Phash2 { hash: 0, pairs: 0, todo }
    }
    /// Continues for about that many steps, and subtracts those it used. Returns the hash at the
    /// end. The steps are those of OTP, of which 64 are a reduction.
    pub fn run(&mut self, steps: &mut usize) -> Option<u32> {
        while let Some(task) = self.todo.pop() {
            if *steps == 0 {
                self.todo.push(task);
                return None;
            }
            *steps = steps.saturating_sub(self.step(task, *steps));
        }
        Some(self.hash)
    }
    /// Does one thing, and returns its cost in steps, of which there are so many left.
    fn step(&mut self, task: Task<'h>, left: usize) -> usize {
        let mut cost = 1;
        match task {
            Task::Pair => {
                self.pairs ^= self.hash;
                self.hash = 0;
            }
            Task::MapEnd { hash: before, pairs: outer } => {
                self.hash = two(before, self.pairs, 0, k(19));
                self.pairs = outer;
            }
            Task::Tail(t) => (self.hash, cost) = list(t, self.hash, &mut self.todo),
            Task::Bits(b, hash) => cost = self.long_bits(b, hash, left),
            Task::Term(t) => match t.view() {
                View::Bits(b) if b.byte_size() > LONG_BYTES => {
                    let hash = BlockHash::new(k(13).wrapping_add(self.hash));
                    cost = self.long_bits(b, hash, left);
                }
                View::Cons(_) => (self.hash, cost) = list(t, self.hash, &mut self.todo),
                View::Map(m) if m.len() > 0 => {
                    let before = two(self.hash, m.len() as u32, 0, k(16));
                    self.todo.push(Task::MapEnd { hash: before, pairs: self.pairs });
                    (self.hash, self.pairs) = (0, 0);
                    cost =
                        m.len() + if m.flat().is_some() { 0 } else { m.len() * NODES_A_PAIR / 10 };
                    for (key, v) in map::iter(m) {
                        self.todo.extend([Task::Pair, Task::Term(v), Task::Term(key)].into_iter());
                    }
                }
                v => {
                    cost = match v {
                        View::Tuple(e) => e.len().max(1),
                        View::Bits(b) => (b.byte_size() / BYTES_A_STEP).max(1),
                        _ => 1,
                    };
                    self.hash = one(t, self.hash, &mut self.todo);
                }
            },
        }
        cost
    }
    /// Hashes some more of a long bit string.
    fn long_bits(&mut self, b: Bits<'h>, mut hash: BlockHash, left: usize) -> usize {
        let whole = b.bit_len() / 8;
        let go = left.clamp(1, LONG_BYTES / BYTES_A_STEP);
        let steps = go.min(whole / BYTES_A_STEP);
        let n = steps * BYTES_A_STEP;
        hash.add(&b.slice(0, n * 8).to_bytes());
        let rest = b.slice(n * 8, b.bit_len());
        if whole - n >= BYTES_A_STEP {
            self.todo.push(Task::Bits(rest, hash));
        } else {
            let bytes = rest.to_bytes();
            self.hash = with_last_bits(hash.finish(&bytes[..whole - n]), rest, &bytes);
        }
        steps
    }
}

/// Adds the bits behind the last whole byte to a hash.
fn with_last_bits(hash: u32, b: Bits<'_>, bytes: &[u8]) -> u32 {
    match (b.bit_len() / 8, b.bit_len() % 8) {
        (_, 0) => hash,
        (at, n) => two(hash, n as u32, (bytes[at] >> (8 - n)) as u32, k(15)),
    }
}

fn one<'h>(t: Term<'h>, hash: u32, todo: &mut Stack<Task<'h>>) -> u32 {
    match t.view() {
        View::Small(i) => small(i, hash),
        View::Atom(a) if hash == 0 => a.name_hash(),
        View::Atom(a) => two(hash, a.name_hash(), 0, k(3)),
        View::Nil if hash == 0 => 3_468_870_702,
        View::Nil => two(hash, NIL_KIND, 0, k(2)),
        View::Cons(_) => list(t, hash, todo).0,
        View::Tuple(e) => {
            todo.extend(e.elements().iter().rev().map(|t| Task::Term(*t)));
            two(hash, e.len() as u32, 0, k(9))
        }
        View::Record(r) => {
            todo.extend(r.values().iter().rev().map(|t| Task::Term(*t)));
            two(hash, r.values().len() as u32, r.definition().hash(), k(23))
        }
        View::Map(m) => two(hash, m.len() as u32, 0, k(16)),
        View::Bits(b) => bits(b, hash),
        View::Big(b) => {
            let by = k(if b.is_negative() { 10 } else { 11 });
            b.digits().iter().fold(hash, |h, d| two(h, *d as u32, (*d >> 32) as u32, by))
        }
        View::Float(f) => {
            let w = if f == 0.0 { 0 } else { f.to_bits() };
            two(hash, (w >> 32) as u32, w as u32, k(12))
        }
        View::Fun(f) => fun(f, hash, todo),
        View::Ref(r) => two(hash, first_number(r), 0, k(7)),
        View::Pid(p) => two(hash, pid_number(p), 0, k(5)),
        View::Port(p) => {
            let n = port_number(p);
            two(hash, n as u32, (n >> 32) as u32, k(6))
        }
    }
}

/// OTP's number for `[]` among the kinds of terms.
const NIL_KIND: u32 = 2;

fn small(i: i64, hash: u32) -> u32 {
    if !(-(1 << 27)..1 << 27).contains(&i) {
        let (n, by) = (i.unsigned_abs(), k(if i < 0 { 10 } else { 11 }));
        return two(hash, n as u32, (n >> 32) as u32, by);
    }
    let i = i as i32;
    let hash = if i < 0 { two(hash, i.wrapping_neg() as u32, 0, k(1)) } else { hash };
    two(hash, i as u32, 0, k(1))
}

/// Hashes a list: bytes four at a time, then the first element that is no byte; the rest starts
/// over. Returns also what this cost in steps.
fn list<'h>(t: Term<'h>, mut hash: u32, todo: &mut Stack<Task<'h>>) -> (u32, usize) {
    let (mut t, mut run, mut n) = (t, 0u32, 0);
    let mut cost = 0;
    for _ in 0..RUN {
        let Some(c) = t.as_cons() else { break };
        let Some(byte) = c.head().as_small().and_then(|i| u8::try_from(i).ok()) else {
            todo.extend([Task::Term(c.tail()), Task::Term(c.head())].into_iter());
            return (if n > 0 { two(hash, run, 0, k(4)) } else { hash }, cost + 1);
        };
        cost += 1;
        run = run << 8 | byte as u32;
        n += 1;
        if n == 4 {
            hash = two(hash, run, 0, k(4));
            (run, n) = (0, 0);
        }
        t = c.tail();
    }
    if n > 0 {
        hash = two(hash, run, 0, k(4));
    }
    todo.push(if t.as_cons().is_some() { Task::Tail(t) } else { Task::Term(t) });
    (hash, cost)
}

fn bits(b: Bits<'_>, hash: u32) -> u32 {
    let con = k(13).wrapping_add(hash);
    if b.bit_len() == 0 {
        return con;
    }
    let bytes = b.to_bytes();
    with_last_bits(block(&bytes[..b.bit_len() / 8], con), b, &bytes)
}

fn fun<'h>(f: Fun<'h>, hash: u32, todo: &mut Stack<Task<'h>>) -> u32 {
    if let Some(e) = f.entry() {
        todo.extend(f.env().iter().rev().map(|t| Task::Term(*t)));
        let h = two(hash, f.env().len() as u32, e.module.name_hash(), k(1));
        return two(h, e.index, e.old_uniq, k(1));
    }
    let Some(e) = f.export() else { return hash };
    let h = two(hash, e.arity, e.module.name_hash(), k(1));
    two(h, e.function.name_hash(), 0, k(14))
}

fn first_number(r: Ref<'_>) -> u32 {
    match r {
        Ref::Local(l) => l.numbers()[0],
        Ref::External(e) => e.ref_numbers().first().copied().unwrap_or(0),
    }
}
fn pid_number(p: PidTerm<'_>) -> u32 {
    p.numbers().0
}
fn port_number(p: PortTerm<'_>) -> u64 {
    match p {
        PortTerm::Local(n) => n,
        PortTerm::External(e) => Ext::data(e),
    }
}

/// The primes of `phash`, numbered as in the description of `erlang:phash`.
const P: [u32; 16] = [
    0, 268440163, 268439161, 268435459, 268436141, 268438633, 268437017, 268438039, 268437511,
    268439627, 268440479, 268440577, 268440581, 268440593, 268440611, 268440629,
];

enum Old<'h> {
    Term(Term<'h>),
    /// The rest of a list after an element.
    Tail(Term<'h>),
    ListEnd,
    /// The prime and the number of parts of a tuple or record.
    TupleEnd(u32, u32),
}

/// `erlang:phash/2` before its range is applied.
pub fn phash(t: Term<'_>) -> u32 {
    let mut hash = 0u32;
    let mut todo = vec![Old::Term(t)];
    while let Some(task) = todo.pop() {
        hash = match task {
            Old::ListEnd => hash.wrapping_mul(P[8]),
            Old::TupleEnd(prime, n) => step(hash, prime, n),
            Old::Tail(t) if t.as_cons().is_none() => {
                todo.extend([Old::ListEnd, Old::Term(t)]);
                hash
            }
            Old::Tail(t) => old_list(t, hash, &mut todo),
            Old::Term(t) => old_one(t, hash, &mut todo),
        };
    }
    hash
}

fn step(hash: u32, prime: u32, n: u32) -> u32 {
    hash.wrapping_mul(prime).wrapping_add(n)
}
fn word(hash: u32, n: u32, prime: u32) -> u32 {
    n.to_le_bytes().iter().fold(hash, |h, b| step(h, prime, *b as u32))
}

fn old_one<'h>(t: Term<'h>, hash: u32, todo: &mut Vec<Old<'h>>) -> u32 {
    match t.view() {
        View::Nil => step(hash, P[3], 1),
        View::Atom(a) => step(hash, P[1], a.name_hash()),
        View::Small(i) => old_integer(&[i.unsigned_abs()], i < 0, hash),
        View::Big(b) => old_integer(b.digits(), b.is_negative(), hash),
        View::Bits(b) => old_bits(b, hash),
        View::Fun(f) => old_fun(f, hash, todo),
        View::Pid(p) => word(hash, pid_number(p), P[5]).wrapping_mul(P[6]),
        View::Port(p) => {
            let n = port_number(p);
            let h = if n >> 32 != 0 { word(hash, (n >> 32) as u32, P[11]) } else { hash };
            word(h, n as u32, P[9]).wrapping_mul(P[10])
        }
        View::Ref(r) => word(hash, first_number(r), P[9]).wrapping_mul(P[10]),
        View::Float(f) => {
            let w = if f == 0.0 { 0 } else { f.to_bits() };
            step(hash, P[6], w as u32 ^ (w >> 32) as u32)
        }
        View::Cons(_) => old_list(t, hash, todo),
        View::Map(_) => step(hash, P[13], P[14].wrapping_add(phash2(t))),
        View::Tuple(e) => {
            todo.push(Old::TupleEnd(P[9], e.len() as u32));
            todo.extend(e.elements().iter().rev().map(|t| Old::Term(*t)));
            hash
        }
        // With the definition, and in the order of its keys, as in OTP.
        View::Record(r) => {
            todo.push(Old::TupleEnd(P[15], r.words().len() as u32));
            todo.extend(r.words().iter().rev().map(|t| Old::Term(*t)));
            hash
        }
    }
}

/// Hashes byte by byte; the upper half of the highest digit only if it is not zero.
fn old_integer(digits: &[u64], negative: bool, hash: u32) -> u32 {
    let last = digits.len().saturating_sub(1);
    let h = digits.iter().enumerate().fold(hash, |h, (i, d)| {
        let bytes = if i == last && d >> 32 == 0 { 4 } else { 8 };
        d.to_le_bytes()[..bytes].iter().fold(h, |h, b| step(h, P[2], *b as u32))
    });
    h.wrapping_mul(if negative { P[4] } else { P[3] })
}

fn old_bits(b: Bits<'_>, hash: u32) -> u32 {
    let bytes = b.to_bytes();
    let (whole, rest) = (b.bit_len() / 8, b.bit_len() % 8);
    let mut h = bytes[..whole].iter().fold(hash, |h, b| step(h, P[1], *b as u32));
    if rest > 0 {
        h = step(step(h, P[1], (bytes[whole] >> (8 - rest)) as u32), P[12], rest as u32);
    }
    step(h, P[4], whole as u32)
}

fn old_fun<'h>(f: Fun<'h>, hash: u32, todo: &mut Vec<Old<'h>>) -> u32 {
    if let Some(e) = f.entry() {
        todo.extend(f.env().iter().rev().map(|t| Old::Term(*t)));
        let h = step(hash, P[10], f.env().len() as u32);
        return step(step(step(h, P[1], e.module.name_hash()), P[2], e.index), P[2], e.old_uniq);
    }
    let Some(e) = f.export() else { return hash };
    step(step(step(hash, P[11], e.arity), P[1], e.module.name_hash()), P[1], e.function.name_hash())
}

fn old_list<'h>(t: Term<'h>, mut hash: u32, todo: &mut Vec<Old<'h>>) -> u32 {
    let mut t = t;
    while let Some(c) = t.as_cons() {
        let Some(byte) = c.head().as_small().and_then(|i| u8::try_from(i).ok()) else {
            todo.extend([Old::Tail(c.tail()), Old::Term(c.head())]);
            return hash;
        };
        hash = step(hash, P[2], byte as u32);
        t = c.tail();
    }
    todo.extend([Old::ListEnd, Old::Term(t)]);
    hash
}
