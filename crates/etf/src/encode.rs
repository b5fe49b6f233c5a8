//! Terms to bytes, the same ones that OTP 25 writes.

use std::mem::MaybeUninit;

use kvik_sys::zlib::{Code, Output, Stream};
use kvik_term::{map, Atom, Ext, Fun, Map, Pid, Port, Ref, Term, View};

use crate::hooks::hooks;
use crate::tag;

#[derive(Copy, Clone, Default)]
pub struct EncodeOpts<'a> {
    /// All atoms in UTF-8 (`minor_version` 2, and distribution); else Latin-1 where they fit it.
    pub utf8_atoms: bool,
    /// Floats as text (`minor_version` 0).
    pub text_floats: bool,
    /// Maps in the order of their keys.
    pub deterministic: bool,
    /// References into a distribution message's atom cache.
    pub cache: Option<&'a (dyn Fn(Atom) -> Option<u8> + Sync)>,
}

/// The most bytes a list may have to be written as a string.
const MAX_STRING: usize = 0xFFFF;

/// A term after a version byte, compressed at that level (0 to 9) where that makes it smaller.
pub fn encode(t: Term<'_>, opts: EncodeOpts<'_>, level: u32) -> Vec<u8> {
    let mut e = Encoding::new(t, opts);
    while !e.run(&mut { usize::MAX }) {}
    e.finish(level)
}

/// zlib's method, window, memory and strategy as `compress2` sets them.
const DEFLATE: (i32, i32, i32, i32) = (8, 15, 8, 0);
const FINISH: i32 = 4;

/// `None` where it would not get smaller.
fn deflate(plain: &[u8], level: u32) -> Option<Vec<u8>> {
    let size = u32::try_from(plain.len()).ok()?;
    let mut room = vec![MaybeUninit::uninit(); plain.len().checked_sub(5)?];
    let mut to = Output::new(&mut room);
    let (method, window, memory, strategy) = DEFLATE;
    let mut z = Stream::deflate(level as i32, method, window, memory, strategy).ok()?;
    if z.step(plain, &mut to, FINISH).code != Code::StreamEnd {
        return None;
    }
    let mut out = vec![tag::VERSION, tag::COMPRESSED];
    out.extend_from_slice(&size.to_be_bytes());
    out.extend_from_slice(to.written());
    Some(out)
}

/// What is still to be written.
enum Todo<'h> {
    Term(Term<'h>),
    Terms(&'h [Term<'h>]),
    Pairs(std::vec::IntoIter<(Term<'h>, Term<'h>)>),
    /// The rest of a list: where its length goes, and the length so far.
    List(Term<'h>, usize, u32),
    /// Where a fun's size goes.
    FunSize(usize),
}

/// Bytes written in one step besides what each term takes.
const BYTES_A_STEP: usize = 256;

/// A term being written.
pub struct Encoding<'a, 'h> {
    out: Vec<u8>,
    opts: EncodeOpts<'a>,
    todo: Vec<Todo<'h>>,
    /// Where bytes are only counted: those that were let go.
    counted: Option<usize>,
}

/// Bytes kept where they are only counted.
const PIECE: usize = 1 << 16;

impl<'a, 'h> Encoding<'a, 'h> {
    pub fn new(t: Term<'h>, opts: EncodeOpts<'a>) -> Encoding<'a, 'h> {
        Encoding { out: vec![tag::VERSION], opts, todo: vec![Todo::Term(t)], counted: None }
    }
    /// Only to know its length.
    pub fn counting(t: Term<'h>, opts: EncodeOpts<'a>) -> Encoding<'a, 'h> {
        Encoding { counted: Some(0), ..Encoding::new(t, opts) }
    }
    /// Writes until that many steps are done, and takes those it did from them. Is all written?
    pub fn run(&mut self, steps: &mut usize) -> bool {
        while let Some(next) = self.todo.pop() {
            let before = self.out.len();
            self.step(next);
            let used = 1 + self.out.len().saturating_sub(before) / BYTES_A_STEP;
            *steps = steps.saturating_sub(used);
            if let Some(n) = self.counted.as_mut().filter(|_| self.out.len() > PIECE) {
                // What is still to be filled in there is lost, which changes no length.
                *n += self.out.len();
                self.out.clear();
            }
            if *steps == 0 {
                break;
            }
        }
        self.todo.is_empty()
    }
    /// How many bytes there are so far.
    pub fn len(&self) -> usize {
        self.counted.unwrap_or(0) + self.out.len()
    }
    /// Bytes of memory it takes to end up with those: they are copied once.
    pub fn held(&self) -> usize {
        self.out.len().saturating_mul(2)
    }
    pub fn is_empty(&self) -> bool {
        false
    }
    /// What was written, compressed at that level where that makes it smaller.
    pub fn finish(self, level: u32) -> Vec<u8> {
        let out = self.out;
        let z = (level > 0 && out.len() > 6).then(|| deflate(&out[1..], level));
        z.flatten().unwrap_or(out)
    }

    fn step(&mut self, next: Todo<'h>) {
        match next {
            Todo::Term(t) => self.term(t),
            Todo::Terms(ts) => {
                if let Some((first, rest)) = ts.split_first() {
                    if !rest.is_empty() {
                        self.todo.push(Todo::Terms(rest));
                    }
                    self.term(*first);
                }
            }
            Todo::Pairs(mut it) => {
                if let Some((k, v)) = it.next() {
                    self.todo.push(Todo::Pairs(it));
                    self.todo.push(Todo::Term(v));
                    self.term(k);
                }
            }
            Todo::List(rest, at, n) => match rest.as_cons() {
                Some(c) => {
                    self.todo.push(Todo::List(c.tail(), at, n + 1));
                    self.term(c.head());
                }
                None => {
                    self.patch(at, n);
                    self.term(rest);
                }
            },
            Todo::FunSize(at) => {
                let n = self.out.len().wrapping_sub(at);
                self.patch(at, n as u32);
            }
        }
    }
    fn u8(&mut self, b: u8) {
        self.out.push(b);
    }
    fn u16(&mut self, n: u16) {
        self.out.extend_from_slice(&n.to_be_bytes());
    }
    fn u32(&mut self, n: u32) {
        self.out.extend_from_slice(&n.to_be_bytes());
    }
    fn patch(&mut self, at: usize, n: u32) {
        if let Some(p) = self.out.get_mut(at..at + 4) {
            p.copy_from_slice(&n.to_be_bytes());
        }
    }

    fn term(&mut self, t: Term<'h>) {
        match t.view() {
            View::Small(i) => self.integer(i),
            View::Big(b) => self.big(b.is_negative(), b.digits()),
            View::Float(f) => self.float(f),
            View::Atom(a) => self.atom(a),
            View::Nil => self.u8(tag::NIL),
            View::Cons(_) => self.list(t),
            View::Tuple(tuple) => {
                match u8::try_from(tuple.len()) {
                    Ok(n) => self.out.extend_from_slice(&[tag::SMALL_TUPLE, n]),
                    Err(_) => {
                        self.u8(tag::LARGE_TUPLE);
                        self.u32(tuple.len() as u32);
                    }
                }
                self.todo.push(Todo::Terms(tuple.elements()));
            }
            View::Bits(b) => {
                let last = b.bit_len() % 8;
                if last == 0 {
                    self.u8(tag::BINARY);
                    self.u32(b.byte_size() as u32);
                } else {
                    self.u8(tag::BIT_BINARY);
                    self.u32(b.byte_size() as u32);
                    self.u8(last as u8);
                }
                self.out.extend_from_slice(&b.to_bytes());
            }
            View::Map(m) => self.map(m),
            View::Fun(f) => self.fun(f),
            View::Pid(p) => self.pid(p),
            View::Port(p) => self.port(p),
            View::Ref(r) => self.reference(r),
        }
    }

    fn integer(&mut self, i: i64) {
        if let Ok(b) = u8::try_from(i) {
            self.out.extend_from_slice(&[tag::SMALL_INTEGER, b]);
        } else if let Ok(i) = i32::try_from(i) {
            self.u8(tag::INTEGER);
            self.u32(i as u32);
        } else {
            self.big(i < 0, &[i.unsigned_abs()]);
        }
    }
    fn big(&mut self, negative: bool, digits: &[u64]) {
        let top = digits.last().copied().unwrap_or(0);
        let n = digits.len() * 8 - top.leading_zeros() as usize / 8;
        match u8::try_from(n) {
            Ok(n) => self.out.extend_from_slice(&[tag::SMALL_BIG, n]),
            Err(_) => {
                self.u8(tag::LARGE_BIG);
                self.u32(n as u32);
            }
        }
        self.u8(negative as u8);
        let start = self.out.len();
        for d in digits {
            self.out.extend_from_slice(&d.to_le_bytes());
        }
        self.out.truncate(start + n);
    }
    fn float(&mut self, f: f64) {
        if !self.opts.text_floats {
            self.u8(tag::NEW_FLOAT);
            self.out.extend_from_slice(&f.to_bits().to_be_bytes());
            return;
        }
        let text = format!("{f:.20e}");
        let (m, e) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, e) = e.strip_prefix('-').map_or(('+', e), |e| ('-', e));
        let mut text = format!("{m}e{sign}{e:0>2}").into_bytes();
        text.resize(31, 0);
        self.u8(tag::FLOAT);
        self.out.extend_from_slice(&text);
    }

    fn atom(&mut self, a: Atom) {
        if let Some(i) = self.opts.cache.and_then(|c| c(a)) {
            self.out.extend_from_slice(&[tag::ATOM_CACHE_REF, i]);
            return;
        }
        let name = a.name();
        if !self.opts.utf8_atoms && name.chars().all(|c| (c as u32) < 256) {
            self.u8(tag::ATOM);
            self.u16(name.chars().count() as u16);
            self.out.extend(name.chars().map(|c| c as u8));
            return;
        }
        match u8::try_from(name.len()) {
            Ok(n) => self.out.extend_from_slice(&[tag::SMALL_ATOM_UTF8, n]),
            Err(_) => {
                self.u8(tag::ATOM_UTF8);
                self.u16(name.len() as u16);
            }
        }
        self.out.extend_from_slice(name.as_bytes());
    }

    fn list(&mut self, t: Term<'h>) {
        let start = self.out.len();
        self.out.extend_from_slice(&[tag::STRING, 0, 0]);
        let mut rest = t;
        let mut n = 0;
        while let Some(c) = rest.as_cons() {
            let Some(b) = c.head().as_small().and_then(|i| u8::try_from(i).ok()) else {
                break;
            };
            self.out.push(b);
            rest = c.tail();
            n += 1;
            if n > MAX_STRING {
                break;
            }
        }
        let whole = n <= MAX_STRING && rest.is_nil();
        if whole {
            self.out[start + 1..start + 3].copy_from_slice(&(n as u16).to_be_bytes());
            return;
        }
        self.out.truncate(start);
        self.u8(tag::LIST);
        self.u32(0);
        self.todo.push(Todo::List(t, start + 1, 0));
    }

    fn map(&mut self, m: Map<'h>) {
        let entries = match self.opts.deterministic {
            true => map::sorted_pairs(m),
            false => {
                let mut all: Vec<_> = map::iter(m).collect();
                // A tree goes last branch first.
                if !m.is_flat() {
                    all.reverse();
                }
                all
            }
        };
        self.u8(tag::MAP);
        self.u32(entries.len() as u32);
        self.todo.push(Todo::Pairs(entries.into_iter()));
    }

    fn fun(&mut self, f: Fun<'h>) {
        if let Some(e) = f.export() {
            self.u8(tag::EXPORT);
            self.atom(e.module);
            self.atom(e.function);
            self.integer(e.arity as i64);
            return;
        }
        let (Some(e), Some(creator)) = (f.entry(), f.creator()) else {
            return;
        };
        self.u8(tag::NEW_FUN);
        self.todo.push(Todo::FunSize(self.out.len()));
        self.u32(0);
        self.u8(f.arity() as u8);
        self.out.extend_from_slice(&e.uniq);
        self.u32(e.index);
        self.u32(f.env().len() as u32);
        self.atom(e.module);
        self.integer(e.old_index as i64);
        self.integer(e.old_uniq as i64);
        self.todo.push(Todo::Terms(f.env()));
        self.term(creator);
    }

    fn pid(&mut self, p: Pid<'h>) {
        let (node, creation, num, ser) = match p {
            Pid::Local(n) => {
                let (node, creation) = (hooks().node)();
                (node, creation, n & 0x7FFF, n >> 15)
            }
            Pid::External(e) => {
                let d = e.data();
                (e.node(), e.creation(), d as u32, (d >> 32) as u32)
            }
        };
        self.u8(tag::NEW_PID);
        self.atom(node);
        self.u32(num);
        self.u32(ser);
        self.u32(creation);
    }
    fn port(&mut self, p: Port<'h>) {
        let (node, creation, num) = match p {
            Port::Local(n) => {
                let (node, creation) = (hooks().node)();
                (node, creation, n as u64)
            }
            Port::External(e) => (e.node(), e.creation(), e.data()),
        };
        if num < 1 << 28 {
            self.u8(tag::NEW_PORT);
            self.atom(node);
            self.u32(num as u32);
        } else {
            self.u8(tag::V4_PORT);
            self.atom(node);
            self.out.extend_from_slice(&num.to_be_bytes());
        }
        self.u32(creation);
    }
    fn reference(&mut self, r: Ref<'h>) {
        let (node, creation, numbers) = match r {
            Ref::Local(r) => {
                let (node, creation) = (hooks().node)();
                (node, creation, r.numbers().to_vec())
            }
            Ref::External(e) => ext_ref(e),
        };
        self.u8(tag::NEWER_REFERENCE);
        self.u16(numbers.len() as u16);
        self.atom(node);
        self.u32(creation);
        for n in numbers {
            self.u32(n);
        }
    }
}

fn ext_ref(e: Ext<'_>) -> (Atom, u32, Vec<u32>) {
    (e.node(), e.creation(), e.ref_numbers())
}
