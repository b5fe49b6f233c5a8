//! Encodes terms to the same bytes as OTP.

use kvik_heap::{Heap, Writer};
use kvik_term::{
    atom, map, Atom, Bits, Ext, Fun, Map, NativeRecord, PidTerm, PortTerm, Ref, Term, View,
};

use crate::atom_cache::AtomRefs;
use crate::deflate::Deflation;
use crate::iovec::SharedBinaries;
use crate::local::{secret, this_node};
use crate::tag;

#[derive(Copy, Clone, Default)]
pub struct EncodeOpts {
    /// All atoms in UTF-8 (`minor_version` 2, and distribution); else in Latin-1 if possible.
    pub utf8_atoms: bool,
    /// Floats as text (`minor_version` 0).
    pub text_floats: bool,
    /// Maps in the order of their keys.
    pub deterministic: bool,
    /// Only readable by this start of the node (`local`).
    pub local: bool,
}

/// Longest list, in bytes, that can be encoded as a string.
pub(crate) const MAX_STRING: usize = 0xFFFF;

/// Encodes a term after a version byte, compressed at that level (0 to 9) if that makes it smaller.
pub fn encode(t: Term<'_>, opts: EncodeOpts, level: u32) -> Vec<u8> {
    let mut e = Encoding::new(t, opts);
    while !e.run(&mut { usize::MAX }) {}
    match e.deflation(level) {
        Ok(mut d) => {
            d.run(&mut { usize::MAX });
            d.shorter().to_vec()
        }
        Err(plain) => plain.bytes().to_vec(),
    }
}

/// Work left on the encoder's stack.
enum Todo<'h> {
    Terms(&'h [Term<'h>]),
    /// A flat map's keys and values.
    Flat(&'h [Term<'h>], &'h [Term<'h>]),
    Pairs(std::vec::IntoIter<(Term<'h>, Term<'h>)>),
    /// The rest of a list, the position of its length, and the length so far.
    List(Term<'h>, usize, u32),
    /// Position of a fun's size field, and of the fun.
    FunSize(usize, usize),
    /// A term alone.
    Term(Term<'h>),
    /// A version byte.
    Version,
    /// The rest of a large binary.
    Bytes(&'h [u8]),
}

/// Bytes of a binary that may be written for each step left. They cost nothing if that is enough for
/// all of them, and else all that is left.
const BYTES_A_STEP: usize = 8;

/// Steps for the nodes of a large map, per pair, in hundredths.
const NODES_A_PAIR: usize = 35;

/// Longest binary that is written with its head.
const BINARY_PIECE: usize = 1 << 16;

/// Values of the size fields (of lists and funs) in the order in which they are written.
#[derive(Default)]
pub struct SizeFields {
    all: Vec<u32>,
    /// Number of values already used.
    used: usize,
}

/// A term being written.
pub struct Encoding<'h> {
    pub(crate) out: Writer,
    opts: EncodeOpts,
    todo: Vec<Todo<'h>>,
    /// Atoms written as cache references.
    atoms: Option<AtomRefs>,
    /// Size fields: recorded while counting, consumed while writing. With known sizes the output
    /// can be taken before the term is complete.
    sizes: Option<SizeFields>,
    /// While only counting: bytes already dropped.
    counted: Option<usize>,
    /// Bytes of `out` already taken.
    taken: usize,
    /// Steps left in the current `run`.
    left: usize,
    /// Binaries left out of the output, for `term_to_iovec`.
    pub(crate) shared: Option<SharedBinaries<'h>>,
}

/// Buffered bytes while only counting.
const BUFFER_BYTES: usize = 1 << 16;

impl<'h> Encoding<'h> {
    pub fn new(t: Term<'h>, opts: EncodeOpts) -> Encoding<'h> {
        let mut e = Encoding::empty(opts, None);
        e.todo.push(Todo::Term(t));
        e.out.push_all([tag::VERSION]);
        if opts.local {
            e.u8(tag::LOCAL);
            e.u32(secret());
        }
        e
    }
    /// Encodes only to determine the length.
    pub fn counting(t: Term<'h>, opts: EncodeOpts) -> Encoding<'h> {
        Encoding { counted: Some(0), ..Encoding::new(t, opts) }
    }
    /// An encoding without terms so far.
    pub fn empty(opts: EncodeOpts, atoms: Option<AtomRefs>) -> Encoding<'h> {
        let todo = Vec::with_capacity(8);
        let out = Writer::default();
        let (sizes, counted, shared) = (None, None, None);
        Encoding { out, opts, todo, atoms, sizes, counted, taken: 0, left: 0, shared }
    }
    pub fn is_counting(&self) -> bool {
        self.counted.is_some()
    }
    /// Determines the length of a term without its version byte, the atoms it refers to, and its
    /// size fields.
    pub fn measuring(t: Term<'h>, opts: EncodeOpts, atoms: Option<AtomRefs>) -> Encoding<'h> {
        let mut e = Encoding::empty(opts, atoms);
        e.todo.push(Todo::Term(t));
        (e.counted, e.sizes) = (Some(0), Some(SizeFields::default()));
        e
    }
    /// Writes a measured term; [`Encoding::take`] may take it in pieces.
    pub fn measured(
        t: Term<'h>,
        opts: EncodeOpts,
        (atoms, sizes): (Option<AtomRefs>, SizeFields),
    ) -> Encoding<'h> {
        let mut e = Encoding::empty(opts, atoms);
        e.todo.push(Todo::Term(t));
        e.sizes = Some(SizeFields { used: 0, ..sizes });
        e
    }
    /// Queues these terms, in this order, behind the output so far. No other work may be pending.
    pub fn then(&mut self, bytes: &[u8], terms: &[Term<'h>]) {
        self.out.push(bytes);
        self.todo.extend(terms.iter().rev().map(|t| Todo::Term(*t)));
    }
    /// Queues the last term, with an optional version byte.
    pub fn then_last(&mut self, t: Term<'h>, version: bool) {
        self.todo.insert(0, Todo::Term(t));
        if version {
            self.todo.insert(1, Todo::Version);
        }
    }
    /// Output that was not taken yet.
    pub fn bytes(&self) -> &[u8] {
        &self.out.bytes()[self.taken..]
    }
    /// Takes up to `n` bytes. Not allowed while size fields are still to be filled in.
    pub fn take(&mut self, n: usize) -> Vec<u8> {
        let first = self.bytes()[..n.min(self.bytes().len())].to_vec();
        self.taken += first.len();
        // Moves the rest only if it is the smaller part: each byte moves once on average.
        if self.taken > self.out.len() / 2 {
            let rest = self.bytes().to_vec();
            self.out.truncate(0);
            self.out.push(&rest);
            self.taken = 0;
        }
        first
    }
    /// The atom references and size fields.
    pub fn into_parts(self) -> (Option<AtomRefs>, SizeFields) {
        (self.atoms, self.sizes.unwrap_or_default())
    }
    /// Encodes for at most `steps` steps and subtracts those used. True when complete.
    pub fn run(&mut self, steps: &mut usize) -> bool {
        self.left = *steps;
        while self.left > 0 {
            let Some(next) = self.todo.pop() else { break };
            self.step(next);
            if let Some(n) = self.counted.as_mut().filter(|_| self.out.len() > BUFFER_BYTES) {
                // Unfilled size fields are dropped too; the length stays the same.
                *n += self.out.len();
                self.out.truncate(0);
            }
        }
        *steps = self.left;
        self.todo.is_empty()
    }
    /// Length so far.
    pub fn len(&self) -> usize {
        let shared = self.shared.as_ref().map_or(0, SharedBinaries::byte_size);
        self.counted.unwrap_or(0) + shared + self.out.len()
    }
    /// Memory held by the output.
    pub fn held(&self) -> usize {
        self.out.len().saturating_mul(2)
    }
    pub fn is_empty(&self) -> bool {
        false
    }
    pub fn finish(self, heap: &Heap) -> Term<'_> {
        self.out.finish(heap)
    }
    /// Starts compressing the output at that level; returns it as it is if compression does not
    /// pay.
    pub fn deflation(self, level: u32) -> Result<Deflation, Writer> {
        Deflation::new(self.out, level)
    }

    /// Writes terms up to one with parts, which is pushed before the rest.
    fn step(&mut self, next: Todo<'h>) {
        match next {
            Todo::Term(t) => {
                self.one(t, || None);
            }
            Todo::Version => self.u8(tag::VERSION),
            Todo::Bytes(all) => {
                let most = self.left.saturating_mul(BYTES_A_STEP);
                let (piece, rest) = all.split_at(all.len().min(most));
                self.out.room(all.len());
                self.out.push(piece);
                if !rest.is_empty() {
                    self.left = 0;
                    self.todo.push(Todo::Bytes(rest));
                }
            }
            Todo::Terms(all) => {
                let mut rest = all;
                while let [first, more @ ..] = rest {
                    rest = more;
                    if !self.one(*first, || (!more.is_empty()).then_some(Todo::Terms(more))) {
                        return;
                    }
                }
            }
            Todo::Flat(keys, values) => {
                let (mut keys, mut values) = (keys, values);
                while let ([key, more_keys @ ..], [value, more @ ..]) = (keys, values) {
                    (keys, values) = (more_keys, more);
                    if !self.simple(*key) {
                        self.todo.push(Todo::Flat(more_keys, more));
                        self.todo.push(Todo::Term(*value));
                        return self.todo.push(Todo::Term(*key));
                    }
                    if !self.one(*value, || Some(Todo::Flat(more_keys, more))) {
                        return;
                    }
                }
            }
            Todo::Pairs(mut it) => {
                if let Some((k, v)) = it.next() {
                    self.todo.push(Todo::Pairs(it));
                    self.todo.push(Todo::Term(v));
                    self.one(k, || None);
                }
            }
            Todo::List(rest, at, n) => {
                let (mut rest, mut n) = (rest, n);
                while let Some(c) = rest.as_cons() {
                    (rest, n) = (c.tail(), n + 1);
                    if !self.one(c.head(), || Some(Todo::List(rest, at, n))) {
                        return;
                    }
                }
                self.patch(at, n);
                self.one(rest, || None);
            }
            Todo::FunSize(at, from) => {
                let n = self.len().wrapping_sub(from);
                self.patch(at, n as u32);
            }
        }
    }
    /// Writes a term. If it has parts, or no step is left, pushes them before the work that `rest`
    /// returns. True if it is written and another term may follow.
    #[inline(always)]
    fn one(&mut self, t: Term<'h>, rest: impl FnOnce() -> Option<Todo<'h>>) -> bool {
        if self.simple(t) {
            if self.left > 0 {
                return true;
            }
            self.hold(rest());
            return false;
        }
        if t.is_list() {
            self.hold(rest());
            self.list(t);
            return false;
        }
        match t.view() {
            v @ (View::Tuple(_) | View::Record(_) | View::Map(_) | View::Fun(_)) => {
                self.hold(rest());
                self.parts_of(v);
                false
            }
            View::Bits(b) if self.shared.is_some() && SharedBinaries::takes(b) => {
                self.share(t, b);
                self.count(1);
                self.hold(rest());
                false
            }
            View::Bits(b) if self.is_written_in_pieces(b) => {
                self.hold(rest());
                self.bits(b);
                self.count(1);
                false
            }
            v => {
                self.object(v);
                if self.left == 0 {
                    self.hold(rest());
                }
                self.left > 0
            }
        }
    }
    #[inline]
    fn hold(&mut self, rest: Option<Todo<'h>>) {
        if let Some(rest) = rest {
            self.todo.push(rest);
        }
    }
    #[inline]
    fn u8(&mut self, b: u8) {
        self.out.push_all([b]);
    }
    fn u16(&mut self, n: u16) {
        self.out.push_all(n.to_be_bytes());
    }
    fn u32(&mut self, n: u32) {
        self.out.push_all(n.to_be_bytes());
    }
    /// Writes a size field, known from measuring or filled in later. Returns its position.
    fn size(&mut self) -> usize {
        let at = self.out.len();
        let Some(s) = &mut self.sizes else {
            self.u32(0);
            return at;
        };
        let (i, known) = (s.used, s.all.get(s.used).copied());
        s.used += 1;
        if known.is_none() {
            s.all.push(0);
        }
        self.u32(known.unwrap_or(0));
        i
    }
    fn patch(&mut self, at: usize, n: u32) {
        match &mut self.sizes {
            None => self.out.set(at, &n.to_be_bytes()),
            Some(s) if self.counted.is_some() => s.all[at] = n,
            Some(_) => {}
        }
    }

    #[inline]
    fn count(&mut self, steps: usize) {
        self.left = self.left.saturating_sub(steps);
    }
    /// Writes a small integer, an atom or `[]`; false for any other term.
    #[inline(always)]
    fn simple(&mut self, t: Term<'h>) -> bool {
        if let Some(i) = t.as_small() {
            self.integer(i);
        } else if let Some(a) = t.as_atom() {
            self.atom(a);
        } else if t.is_nil() {
            self.u8(tag::NIL);
        } else {
            return false;
        }
        self.count(1);
        true
    }
    /// Writes a term without parts.
    fn object(&mut self, v: View<'h>) {
        match v {
            View::Big(b) => self.big(b.is_negative(), b.digits()),
            View::Float(f) => self.float(f),
            View::Bits(b) => self.bits(b),
            View::Pid(p) => self.pid(p),
            View::Port(p) => self.port(p),
            View::Ref(r) => self.reference(r),
            _ => {}
        }
        self.count(1);
    }
    /// Writes the head of a compound term; its parts are still to be written.
    fn parts_of(&mut self, v: View<'h>) {
        match v {
            View::Tuple(tuple) => {
                match u8::try_from(tuple.len()) {
                    Ok(n) => self.out.push_all([tag::SMALL_TUPLE, n]),
                    Err(_) => self.tagged(tag::LARGE_TUPLE, (tuple.len() as u32).to_be_bytes()),
                }
                self.todo.push(Todo::Terms(tuple.elements()));
            }
            View::Record(r) => self.record(r),
            View::Map(m) => self.map(m),
            View::Fun(f) => self.fun(f),
            _ => {}
        }
        self.count(1);
    }
    /// Writes what comes before the bytes of a bit string.
    pub(crate) fn bits_head(&mut self, b: Bits<'h>) {
        let size = (b.byte_size() as u32).to_be_bytes();
        match (b.bit_len() % 8) as u8 {
            0 => self.tagged(tag::BINARY, size),
            last => {
                self.tagged(tag::BIT_BINARY, size);
                self.u8(last);
            }
        }
    }
    fn bits(&mut self, b: Bits<'h>) {
        self.bits_head(b);
        match b.as_bytes().filter(|_| self.is_written_in_pieces(b)) {
            Some(_) if self.counted.is_some() => self.skip(b.byte_size()),
            Some(all) => self.todo.push(Todo::Bytes(all)),
            None => self.out.push(&b.to_bytes()),
        }
    }
    /// Whether the binary's head is written first and its bytes in later steps.
    fn is_written_in_pieces(&self, b: Bits<'h>) -> bool {
        b.byte_size() > BINARY_PIECE && b.as_bytes().is_some()
    }
    /// Counts bytes without writing them.
    fn skip(&mut self, n: usize) {
        if let Some(counted) = &mut self.counted {
            *counted += n;
        }
    }
    /// Writes a tag and four bytes.
    #[inline]
    fn tagged(&mut self, tag: u8, [a, b, c, d]: [u8; 4]) {
        self.out.push_all([tag, a, b, c, d]);
    }

    #[inline]
    fn integer(&mut self, i: i64) {
        if let Ok(b) = u8::try_from(i) {
            self.out.push_all([tag::SMALL_INTEGER, b]);
        } else if let Ok(i) = i32::try_from(i) {
            self.tagged(tag::INTEGER, i.to_be_bytes());
        } else {
            self.big(i < 0, &[i.unsigned_abs()]);
        }
    }
    fn big(&mut self, negative: bool, digits: &[u64]) {
        let top = digits.last().copied().unwrap_or(0);
        let n = digits.len() * 8 - top.leading_zeros() as usize / 8;
        match u8::try_from(n) {
            Ok(n) => self.out.push_all([tag::SMALL_BIG, n]),
            Err(_) => {
                self.u8(tag::LARGE_BIG);
                self.u32(n as u32);
            }
        }
        self.u8(negative as u8);
        let start = self.out.len();
        for d in digits {
            self.out.push_all(d.to_le_bytes());
        }
        self.out.truncate(start + n);
    }
    fn float(&mut self, f: f64) {
        if !self.opts.text_floats {
            let mut room = [tag::NEW_FLOAT; 9];
            room[1..].copy_from_slice(&f.to_bits().to_be_bytes());
            return self.out.push_all(room);
        }
        let text = format!("{f:.20e}");
        let (m, e) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, e) = e.strip_prefix('-').map_or(('+', e), |e| ('-', e));
        let mut text = format!("{m}e{sign}{e:0>2}").into_bytes();
        text.resize(31, 0);
        self.u8(tag::FLOAT);
        self.out.push(&text);
    }

    fn atom(&mut self, a: Atom) {
        if let Some(i) = self.atoms.as_mut().and_then(|c| c.index(a)) {
            self.out.push_all([tag::ATOM_CACHE_REF, i]);
            return;
        }
        let name = a.name();
        if !self.opts.utf8_atoms && name.is_ascii() {
            let [hi, lo] = (name.len() as u16).to_be_bytes();
            self.out.push_all([tag::ATOM, hi, lo]);
            return self.out.push(name.as_bytes());
        }
        if !self.opts.utf8_atoms && name.chars().all(|c| (c as u32) < 256) {
            self.u8(tag::ATOM);
            self.u16(name.chars().count() as u16);
            return name.chars().for_each(|c| self.u8(c as u8));
        }
        match u8::try_from(name.len()) {
            Ok(n) => self.out.push_all([tag::SMALL_ATOM_UTF8, n]),
            Err(_) => {
                self.u8(tag::ATOM_UTF8);
                self.u16(name.len() as u16);
            }
        }
        self.out.push(name.as_bytes());
    }

    fn list(&mut self, t: Term<'h>) {
        let start = self.out.len();
        self.out.push_all([tag::STRING, 0, 0]);
        let mut rest = t;
        let mut n = 0;
        while let Some(c) = rest.as_cons() {
            let Some(b) = c.head().as_small().and_then(|i| u8::try_from(i).ok()) else {
                break;
            };
            self.u8(b);
            rest = c.tail();
            n += 1;
            if n > MAX_STRING {
                break;
            }
        }
        let whole = n <= MAX_STRING && rest.is_nil();
        // OTP sizes and writes a term in two passes. Both look for bytes, two in a step; the second
        // takes a step to write each.
        self.count(1 + if whole { n * 3 / 4 } else { n / 2 });
        if whole {
            self.out.set(start + 1, &(n as u16).to_be_bytes());
            return;
        }
        self.out.truncate(start);
        self.u8(tag::LIST);
        let at = self.size();
        self.todo.push(Todo::List(t, at, 0));
    }

    fn map(&mut self, m: Map<'h>) {
        self.tagged(tag::MAP, (m.len() as u32).to_be_bytes());
        let in_order = !self.opts.deterministic || !atom::keys_are_by_rank();
        if let Some((keys, values)) = m.flat().filter(|_| in_order) {
            return self.todo.push(Todo::Flat(keys, values));
        }
        self.count(m.len() * NODES_A_PAIR / 100);
        let entries = match self.opts.deterministic {
            true => map::sorted_pairs(m),
            false => {
                let mut all: Vec<_> = map::iter(m).collect();
                // A tree's branches are pushed last first.
                all.reverse();
                all
            }
        };
        self.todo.push(Todo::Pairs(entries.into_iter()));
    }

    /// Writes all but the values, which follow as declared.
    fn record(&mut self, r: NativeRecord<'h>) {
        let (definition, all) = (r.definition(), r.fields().rev());
        self.tagged(tag::RECORD, (r.values().len() as u32).to_be_bytes());
        self.u8(definition.is_exported() as u8);
        self.atom(definition.module());
        self.atom(definition.name());
        for key in r.fields().filter_map(|(k, _)| k.as_atom()) {
            self.atom(key);
        }
        self.todo.extend(all.map(|(_, value)| Todo::Term(value)));
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
        let from = self.len();
        let at = self.size();
        self.todo.push(Todo::FunSize(at, from));
        self.u8(f.arity() as u8);
        self.out.push(&e.uniq);
        self.u32(e.index);
        self.u32(f.env().len() as u32);
        self.atom(e.module);
        let numbers = self.len();
        self.integer(e.old_index as i64);
        self.integer(e.old_uniq as i64);
        // When only the size is computed, old releases count each as a four-byte integer.
        let less = (2 * 5usize).saturating_sub(self.len() - numbers);
        if let (Some(counted), None) = (&mut self.counted, &self.sizes) {
            if !kvik_release::current().sizes_funs_exactly() {
                *counted += less;
            }
        }
        self.todo.push(Todo::Terms(f.env()));
        self.todo.push(Todo::Term(creator));
    }

    fn node(&mut self, node: Option<Atom>) {
        match node {
            Some(node) => self.atom(node),
            None => self.u8(tag::NIL),
        }
    }
    fn pid(&mut self, p: PidTerm<'h>) {
        let (node, creation) = match p {
            PidTerm::Local(_) => this_node(self.opts.local),
            PidTerm::External(e) => (Some(e.node()), e.creation()),
        };
        let (num, ser) = p.numbers();
        self.u8(tag::NEW_PID);
        self.node(node);
        self.u32(num);
        self.u32(ser);
        self.u32(creation);
    }
    fn port(&mut self, p: PortTerm<'h>) {
        let (node, creation, num) = match p {
            PortTerm::Local(n) => {
                let (node, creation) = this_node(self.opts.local);
                (node, creation, n)
            }
            PortTerm::External(e) => (Some(e.node()), e.creation(), e.data()),
        };
        if num < 1 << 28 && !kvik_release::current().encodes_ports_with_64_bits() {
            self.u8(tag::NEW_PORT);
            self.node(node);
            self.u32(num as u32);
        } else {
            self.u8(tag::V4_PORT);
            self.node(node);
            self.out.push_all(num.to_be_bytes());
        }
        self.u32(creation);
    }
    fn reference(&mut self, r: Ref<'h>) {
        let (node, creation, numbers) = match r {
            Ref::Local(r) => {
                let (node, creation) = this_node(self.opts.local);
                kvik_heap::written_refs::remember(r);
                (node, creation, r.written_numbers())
            }
            Ref::External(e) => {
                let (node, creation, numbers) = ext_ref(e);
                (Some(node), creation, numbers)
            }
        };
        self.u8(tag::NEWER_REFERENCE);
        self.u16(numbers.len() as u16);
        self.node(node);
        self.u32(creation);
        for n in numbers {
            self.u32(n);
        }
    }
}

fn ext_ref(e: Ext<'_>) -> (Atom, u32, Vec<u32>) {
    (e.node(), e.creation(), e.ref_numbers())
}
