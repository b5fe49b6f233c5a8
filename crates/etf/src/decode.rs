//! Decodes bytes to terms.

use kvik_heap::arith::max_bits;
use kvik_heap::records::NewDefinition;
use kvik_heap::{limit, BinRef, Heap, TermBuilder};
use kvik_term::word::FLAT_MAP_LIMIT;
use kvik_term::{Atom, ExtKind, PidTerm, RecordDef, Term};

use crate::hooks::{hooks, FunId};
use crate::inflate::Inflation;
use crate::local::secret;
use crate::reader::Reader;
use crate::{tag, EtfError};

#[derive(Copy, Clone, Default)]
pub struct DecodeOpts<'a> {
    /// Reject unknown atoms and functions.
    pub safe: bool,
    /// Atoms that a distribution message's references stand for.
    pub atoms: &'a [Atom],
    /// Let records refer to the definitions of loaded modules, which are literals. For the heap of
    /// a process only.
    pub definitions: bool,
    /// The binary that holds the bytes: large binaries become parts of it.
    pub source: Option<&'a BinRef>,
}

/// Maximum numbers in a reference.
const REF_NUMBERS: usize = 5;
/// A local reference has 18 bits in its first number.
const LOCAL_REF_MAX: u32 = 1 << 18;
const MAX_FREE: u32 = 255;
/// A binary of that size may share the memory it was received in instead of being copied...
const SHARED_BINARY: usize = 1 << 15;
/// ...if it is at least this fraction of that memory, which stays allocated as long as the binary.
const SHARED_PART: usize = 8;

/// Decodes a term after its version byte, compressed or not. Also returns the bytes consumed.
pub fn decode<'h>(
    bytes: &[u8],
    heap: &'h Heap,
    opts: DecodeOpts<'_>,
) -> Result<(Term<'h>, usize), EtfError> {
    let mut d = Decoding::new(bytes, opts)?;
    loop {
        if let Some(done) = d.run(bytes, heap, &mut { usize::MAX })? {
            return Ok(done);
        }
    }
}

/// A compound term whose parts follow.
enum Making {
    /// Alternating keys and values.
    Map,
    /// Creator and environment.
    Fun(FunId),
    /// The values of a native record.
    Record(RecordHead),
}

/// What precedes a native record's values.
struct RecordHead {
    /// Its module and name.
    names: [Atom; 2],
    exported: bool,
    /// The keys as declared.
    keys: Vec<Atom>,
}

/// A decoding in progress.
pub struct Decoding<'a, 'h> {
    opts: DecodeOpts<'a>,
    /// The decompressed form of a compressed term, possibly incomplete.
    plain: Option<Box<Inflation>>,
    /// Read position (in the decompressed bytes, if compressed).
    pos: usize,
    parts: Parts<'h>,
}

/// The partially decoded term.
struct Parts<'h> {
    term: TermBuilder<'h>,
    making: Vec<Making>,
    /// Parts that must still follow. Each takes at least a byte, so memory requests are bounded by
    /// the input.
    owed: usize,
    /// The key tuple of the last small map: successive maps often share it.
    keys: Term<'h>,
    /// In this term `[]` stands for this node's name.
    local: bool,
}

impl Default for Parts<'_> {
    fn default() -> Self {
        Parts {
            term: TermBuilder::default(),
            making: Vec::new(),
            owed: 1,
            keys: Term::NIL,
            local: false,
        }
    }
}

/// Steps for a part: one to look for its size, as OTP does before it decodes, and one to decode it.
const PART: usize = 2;

/// Bytes of a binary that count as one step.
const BYTES_A_STEP: usize = 8;

impl<'a, 'h> Decoding<'a, 'h> {
    /// Begins a term after its version byte, compressed or not.
    pub fn new(bytes: &[u8], opts: DecodeOpts<'a>) -> Result<Decoding<'a, 'h>, EtfError> {
        let (plain, pos) = match bytes {
            [tag::VERSION, tag::COMPRESSED, rest @ ..] => (Some(Inflation::new(rest)?.into()), 0),
            [tag::VERSION, ..] => (None, 1),
            _ => return Err(EtfError::Malformed),
        };
        Ok(Decoding { opts, plain, pos, parts: Parts::default() })
    }
    /// Begins a term at a position, without a version byte.
    pub fn bare(pos: usize, opts: DecodeOpts<'a>) -> Decoding<'a, 'h> {
        Decoding { opts, plain: None, pos, parts: Parts::default() }
    }
    /// Continues in the same bytes, for the same heap, for at most that many steps, and subtracts
    /// those used, of which OTP counts 128 as a reduction. Returns the complete term and the bytes consumed.
    pub fn run(
        &mut self,
        bytes: &[u8],
        heap: &'h Heap,
        steps: &mut usize,
    ) -> Result<Option<(Term<'h>, usize)>, EtfError> {
        let mut plain = self.plain.take();
        if let Some(p) = &mut plain {
            if !p.run(bytes.get(2..).ok_or(EtfError::Malformed)?, steps)? {
                self.plain = plain;
                return Ok(None);
            }
        }
        let from = plain.as_ref().map_or(bytes, |p| p.plain());
        let r = Reader::at(from, self.pos).ok_or(EtfError::Malformed)?;
        let mut d =
            Decoder { r, heap, opts: self.opts, parts: std::mem::take(&mut self.parts), cost: 0 };
        let term = d.run(steps)?;
        (self.pos, self.parts) = (d.r.pos(), d.parts);
        let Some(t) = term else {
            self.plain = plain;
            return Ok(None);
        };
        match plain {
            Some(p) if self.pos != p.plain().len() => Err(EtfError::Malformed),
            Some(p) => Ok(Some((t, p.used() + 2))),
            None => Ok(Some((t, self.pos))),
        }
    }
}

struct Decoder<'b, 'h> {
    r: Reader<'b>,
    heap: &'h Heap,
    opts: DecodeOpts<'b>,
    parts: Parts<'h>,
    /// Steps for the present part.
    cost: usize,
}

impl<'h> Decoder<'_, 'h> {
    /// `None` if the steps ran out.
    fn run(&mut self, steps: &mut usize) -> Result<Option<Term<'h>>, EtfError> {
        while *steps > 0 {
            self.cost = PART;
            let mut whole = self.one()?;
            *steps = steps.saturating_sub(self.cost);
            while whole {
                if self.parts.term.is_whole() {
                    return Ok(self.parts.term.parts().first().copied());
                }
                let t = self.make()?;
                whole = self.parts.term.made(t);
            }
        }
        Ok(None)
    }

    /// Reads the next part; returns as [`TermBuilder::put`] and its kin do.
    #[inline]
    fn one(&mut self) -> Result<bool, EtfError> {
        let tag = self.r.u8()?;
        let t = match tag {
            tag::SMALL_INTEGER => Term::int(self.r.u8()? as i32),
            tag::INTEGER => Term::int(self.r.u32()? as i32),
            tag::NIL => Term::NIL,
            tag::LOCAL => {
                self.local()?;
                return Ok(false);
            }
            tag::LIST => {
                let n = self.r.count(1)?;
                if n == 0 {
                    // An empty list in this form is its tail.
                    return Ok(false);
                }
                self.owe(n + 1, 16)?;
                self.cost += n;
                self.parts.term.list(self.heap, n);
                return Ok(false);
            }
            tag::SMALL_TUPLE => {
                let n = self.r.u8()? as usize;
                self.owe(n, 8)?;
                self.cost += n;
                return Ok(self.parts.term.tuple(self.heap, n));
            }
            tag::LARGE_TUPLE => {
                let n = self.r.count(1)?;
                self.owe(n, 8)?;
                self.cost += n;
                return Ok(self.parts.term.tuple(self.heap, n));
            }
            tag::MAP => {
                let n = self.r.count(2)?;
                return self.begin(Making::Map, 2 * n);
            }
            tag::NEW_FUN => {
                let id = self.fun_id()?;
                let n = 1 + id.num_free as usize;
                return self.begin(Making::Fun(id), n);
            }
            tag::RECORD if kvik_release::current().has_native_records() => {
                let head = self.record_head()?;
                let n = head.keys.len();
                return self.begin(Making::Record(head), n);
            }
            tag::STRING => {
                let n = self.r.u16()? as usize;
                let bytes = self.r.take(n)?;
                self.cost += n;
                self.heap.byte_list(bytes)
            }
            tag::BINARY => {
                let n = self.r.count(1)?;
                let from = self.r.pos();
                let bytes = self.r.take(n)?;
                self.cost += n / BYTES_A_STEP;
                let worth = |b: &&BinRef| n >= SHARED_BINARY.max(b.bytes().len() / SHARED_PART);
                let part = self.opts.source.filter(worth);
                match part.and_then(|b| self.heap.binary_part(b.clone(), from, n)) {
                    Some(part) => part,
                    None => self.heap.binary(bytes),
                }
            }
            tag::BIT_BINARY => self.bit_binary()?,
            tag::SMALL_BIG => {
                let n = self.r.u8()? as usize;
                self.big(n)?
            }
            tag::LARGE_BIG => {
                let n = self.r.count(1)?;
                self.big(n)?
            }
            tag::FLOAT | tag::NEW_FLOAT => self.float(tag)?,
            tag::PID | tag::NEW_PID => self.pid(tag)?,
            tag::PORT | tag::NEW_PORT | tag::V4_PORT => self.port(tag)?,
            tag::REFERENCE | tag::NEW_REFERENCE | tag::NEWER_REFERENCE => self.reference(tag)?,
            tag::EXPORT => self.export()?,
            _ => Term::atom(self.atom(tag)?),
        };
        self.parts.owed -= 1;
        Ok(self.parts.term.put(t))
    }

    /// Registers `need` more parts; memory of `bytes` for each is allocated at once.
    fn owe(&mut self, need: usize, bytes: usize) -> Result<(), EtfError> {
        self.parts.owed = self.parts.owed - 1 + need;
        if self.parts.owed > self.r.left() {
            return Err(EtfError::Malformed);
        }
        if !limit::fits(need * bytes) {
            return Err(EtfError::SystemLimit);
        }
        Ok(())
    }
    fn begin(&mut self, what: Making, need: usize) -> Result<bool, EtfError> {
        self.owe(need, 8)?;
        self.parts.making.push(what);
        Ok(self.parts.term.made_of(need))
    }

    /// Builds the compound term from its complete parts.
    fn make(&mut self) -> Result<Term<'h>, EtfError> {
        let parts = self.parts.term.parts();
        match self.parts.making.pop().ok_or(EtfError::Malformed)? {
            Making::Map => {
                let pairs = parts.as_chunks::<2>().0;
                if pairs.len() <= FLAT_MAP_LIMIT {
                    if let Some((map, keys)) = self.heap.map_of_sorted(pairs, self.parts.keys) {
                        self.parts.keys = keys;
                        return Ok(map);
                    }
                }
                let t = self.heap.map(&pairs.iter().map(|[k, v]| (*k, *v)).collect::<Vec<_>>());
                if t.as_map().is_none_or(|m| m.len() != pairs.len()) {
                    return Err(EtfError::Malformed);
                }
                Ok(t)
            }
            Making::Fun(id) => {
                let (creator, env) = parts.split_first().ok_or(EtfError::Malformed)?;
                if creator.as_pid().is_none() {
                    return Err(EtfError::Malformed);
                }
                let e = (hooks().fun)(&id).ok_or(EtfError::Malformed)?;
                if (e.arity, e.num_free) != (id.arity as u32, id.num_free) {
                    return Err(EtfError::Malformed);
                }
                Ok(self.heap.fun(e, id.arity as usize, *creator, env))
            }
            Making::Record(head) => self.record(&head, parts),
        }
    }

    fn record_head(&mut self) -> Result<RecordHead, EtfError> {
        // A key takes at least two bytes, a value one.
        let n = self.r.count(3)?;
        let exported = match self.r.u8()? {
            flags @ 0..=1 => flags == 1,
            _ => return Err(EtfError::Malformed),
        };
        let names = [self.next_atom()?, self.next_atom()?];
        let mut keys = Vec::with_capacity(n);
        for _ in 0..n {
            keys.push(self.next_atom()?);
        }
        Ok(RecordHead { names, exported, keys })
    }
    /// A record of values as declared.
    fn record(&self, head: &RecordHead, values: &[Term<'h>]) -> Result<Term<'h>, EtfError> {
        let [module, name] = head.names;
        let own = || self.heap.record_definition(head.names, head.exported, &head.keys);
        let mut new = own().ok_or(EtfError::Malformed)?;
        if self.opts.definitions {
            let loaded = (hooks().record)(self.heap, module, name);
            if let Some(d) = loaded.and_then(RecordDef::of).filter(|d| d.same(new.definition)) {
                new = NewDefinition { term: loaded.unwrap_or(new.term), definition: d };
            }
        }
        let mut sorted = vec![Term::NIL; values.len()];
        for (at, value) in new.definition.order().zip(values) {
            *sorted.get_mut(at).ok_or(EtfError::Malformed)? = *value;
        }
        self.heap.record(new.term, &sorted).ok_or(EtfError::Malformed)
    }

    /// The name of a node.
    fn node(&mut self) -> Result<Atom, EtfError> {
        match self.r.u8()? {
            tag::NIL if self.parts.local => Ok((hooks().node)().0),
            tag => self.atom(tag),
        }
    }
    /// Checks that the term is from this start of this node.
    fn local(&mut self) -> Result<(), EtfError> {
        if !kvik_release::current().has_local_format() || self.r.u32()? != secret() {
            return Err(EtfError::Malformed);
        }
        self.parts.local = true;
        Ok(())
    }
    fn next_atom(&mut self) -> Result<Atom, EtfError> {
        let tag = self.r.u8()?;
        self.atom(tag)
    }
    fn atom(&mut self, tag: u8) -> Result<Atom, EtfError> {
        let n = match tag {
            tag::ATOM_CACHE_REF => {
                let i = self.r.u8()? as usize;
                return self.opts.atoms.get(i).copied().ok_or(EtfError::Malformed);
            }
            tag::SMALL_ATOM | tag::SMALL_ATOM_UTF8 => self.r.u8()? as usize,
            tag::ATOM | tag::ATOM_UTF8 => self.r.u16()? as usize,
            _ => return Err(EtfError::Malformed),
        };
        let bytes = self.r.take(n)?;
        if matches!(tag, tag::SMALL_ATOM_UTF8 | tag::ATOM_UTF8) || bytes.is_ascii() {
            if let Some(a) = Atom::recent(bytes) {
                return Ok(a);
            }
        }
        let latin1;
        if !self.opts.safe && matches!(tag, tag::SMALL_ATOM_UTF8 | tag::ATOM_UTF8) {
            return utf8_atom(bytes);
        }
        let name = if matches!(tag, tag::SMALL_ATOM | tag::ATOM) {
            latin1 = bytes.iter().map(|b| *b as char).collect::<String>();
            &latin1
        } else {
            std::str::from_utf8(bytes).map_err(|_| EtfError::Malformed)?
        };
        if self.opts.safe {
            return Atom::existing(name).ok_or(EtfError::Unsafe);
        }
        intern(name)
    }

    fn bit_binary(&mut self) -> Result<Term<'h>, EtfError> {
        let n = self.r.u32()? as usize;
        let last = self.r.u8()? as usize;
        let none = n == 0 && !kvik_release::current().decodes_empty_bit_strings();
        if last > 8 || (last == 0) != (n == 0) || none {
            return Err(EtfError::Malformed);
        }
        let bytes = self.r.take(n)?;
        let bits = if n == 0 { 0 } else { (n - 1) * 8 + last };
        Ok(self.heap.bitstring(bytes, bits))
    }

    fn big(&mut self, n: usize) -> Result<Term<'h>, EtfError> {
        let negative = self.r.u8()? != 0;
        let bytes = self.r.take(n)?;
        let used = bytes.iter().rposition(|b| *b != 0).map_or(0, |last| last + 1);
        if used as u64 > max_bits() / 8 {
            return Err(EtfError::Malformed);
        }
        let digits: Vec<u64> =
            bytes.chunks(8).map(|c| c.iter().rev().fold(0, |d, b| d << 8 | *b as u64)).collect();
        Ok(self.heap.big(negative, &digits))
    }

    fn float(&mut self, tag: u8) -> Result<Term<'h>, EtfError> {
        let f = if tag == tag::NEW_FLOAT {
            f64::from_bits(self.r.u64()?)
        } else {
            let text = self.r.take(31)?;
            let end = text.iter().position(|b| *b == 0).unwrap_or(text.len());
            std::str::from_utf8(&text[..end])
                .ok()
                .and_then(|s| s.trim().parse().ok())
                .ok_or(EtfError::Malformed)?
        };
        if !f.is_finite() {
            return Err(EtfError::Malformed);
        }
        Ok(self.heap.float(f))
    }

    /// Reads a creation of one byte, which has two bits.
    fn tiny_creation(&mut self) -> Result<u32, EtfError> {
        let c = self.r.u8()?;
        if c > 3 {
            return Err(EtfError::Malformed);
        }
        Ok(c as u32)
    }

    fn pid(&mut self, tag: u8) -> Result<Term<'h>, EtfError> {
        let node = self.node()?;
        let (num, ser) = (self.r.u32()?, self.r.u32()?);
        let creation = match tag {
            tag::PID => self.tiny_creation()?,
            _ => self.r.u32()?,
        };
        if is_this_node(node, creation) {
            return PidTerm::local(num.into(), ser.into()).ok_or(EtfError::Malformed);
        }
        let data = num as u64 | (ser as u64) << 32;
        Ok(self.heap.external(ExtKind::Pid, node, creation, &[data], 1))
    }

    fn port(&mut self, tag: u8) -> Result<Term<'h>, EtfError> {
        let node = self.node()?;
        let num = match tag {
            tag::V4_PORT => self.r.u64()?,
            _ => self.r.u32()? as u64,
        };
        let creation = match tag {
            tag::PORT => self.tiny_creation()?,
            _ => self.r.u32()?,
        };
        if is_this_node(node, creation) {
            if num > kvik_release::current().max_port_number() {
                return Err(EtfError::Malformed);
            }
            return Ok(Term::port_of_number(num));
        }
        Ok(self.heap.external(ExtKind::Port, node, creation, &[num], 1))
    }

    fn reference(&mut self, tag: u8) -> Result<Term<'h>, EtfError> {
        let mut numbers = [0; REF_NUMBERS];
        let mut n = 1;
        if tag != tag::REFERENCE {
            n = self.r.u16()? as usize;
            if n == 0 || n > REF_NUMBERS {
                return Err(EtfError::Malformed);
            }
        }
        let node = self.node()?;
        let creation = match tag {
            tag::REFERENCE => {
                numbers[0] = self.r.u32()?;
                self.tiny_creation()?
            }
            tag::NEW_REFERENCE => self.tiny_creation()?,
            _ => self.r.u32()?,
        };
        if tag != tag::REFERENCE {
            for x in &mut numbers[..n] {
                *x = self.r.u32()?;
            }
        }
        let local = is_this_node(node, creation);
        if numbers[0] >= LOCAL_REF_MAX && (local || tag != tag::NEWER_REFERENCE) {
            return Err(EtfError::Malformed);
        }
        if local {
            return (hooks().local_ref)(self.heap, &numbers[..n.max(3)]).ok_or(EtfError::Malformed);
        }
        let data: Vec<u64> = numbers[..n]
            .chunks(2)
            .map(|c| c[0] as u64 | (c.get(1).copied().unwrap_or(0) as u64) << 32)
            .collect();
        Ok(self.heap.external(ExtKind::Ref, node, creation, &data, n))
    }

    /// A small integer among a fun's fields.
    fn field(&mut self) -> Result<u32, EtfError> {
        match self.r.u8()? {
            tag::SMALL_INTEGER => Ok(self.r.u8()? as u32),
            tag::INTEGER => self.r.u32(),
            tag::SMALL_BIG => {
                let n = self.r.u8()? as usize;
                let t = self.big(n)?;
                t.as_small().map(|i| i as u32).ok_or(EtfError::Malformed)
            }
            _ => Err(EtfError::Malformed),
        }
    }

    fn export(&mut self) -> Result<Term<'h>, EtfError> {
        let (module, function) = (self.next_atom()?, self.next_atom()?);
        let arity = u8::try_from(self.field()?).map_err(|_| EtfError::Malformed)?;
        if self.opts.safe && !(hooks().is_known)(module, function, arity) {
            return Err(EtfError::Unsafe);
        }
        let e = (hooks().export)(module, function, arity).ok_or(EtfError::Malformed)?;
        Ok(self.heap.export_fun(e))
    }

    fn fun_id(&mut self) -> Result<FunId, EtfError> {
        self.r.u32()?;
        let arity = self.r.u8()?;
        let uniq = self.r.array()?;
        let (index, num_free) = (self.r.u32()?, self.r.u32()?);
        if num_free > MAX_FREE {
            return Err(EtfError::Malformed);
        }
        let module = self.next_atom()?;
        let (old_index, old_uniq) = (self.field()?, self.field()?);
        Ok(FunId { module, arity, num_free, index, uniq, old_index, old_uniq })
    }
}

/// The atom with that name.
pub(crate) fn utf8_atom(bytes: &[u8]) -> Result<Atom, EtfError> {
    match Atom::recent(bytes) {
        Some(a) => Ok(a),
        None => intern(std::str::from_utf8(bytes).map_err(|_| EtfError::Malformed)?),
    }
}
fn intern(name: &str) -> Result<Atom, EtfError> {
    Atom::intern(name).map_err(|e| match e {
        kvik_term::atom::AtomError::TooLong => EtfError::Malformed,
        kvik_term::atom::AtomError::Full => EtfError::SystemLimit,
    })
}

/// A creation of zero matches any start of the node.
fn is_this_node(node: Atom, creation: u32) -> bool {
    let (this, now) = (hooks().node)();
    node == this && (creation == now || creation == 0)
}
