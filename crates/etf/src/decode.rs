//! Bytes to terms.

use std::io::Read;

use kvik_heap::Heap;
use kvik_term::{Atom, ExtKind, Term};

use crate::hooks::{hooks, FunId};
use crate::reader::Reader;
use crate::{tag, Error};

#[derive(Copy, Clone, Default)]
pub struct DecodeOpts<'a> {
    /// Make no new atoms and name no functions that do not exist.
    pub safe: bool,
    /// What a distribution message's atom references stand for.
    pub atoms: &'a [Atom],
}

/// The most numbers a reference has.
const REF_NUMBERS: usize = 5;
/// Local references keep 18 bits in their first number.
const LOCAL_REF_MAX: u32 = 1 << 18;
const LOCAL_PORT_MAX: u64 = (1 << 28) - 1;
const MAX_FREE: u32 = 255;

/// Decodes a term after its version byte, compressed or not. Also says how many bytes it took.
pub fn decode<'h>(
    bytes: &[u8],
    heap: &'h Heap,
    opts: DecodeOpts<'_>,
) -> Result<(Term<'h>, usize), Error> {
    let mut d = Decoding::new(bytes, opts)?;
    loop {
        if let Some(done) = d.run(bytes, heap, &mut { usize::MAX })? {
            return Ok(done);
        }
    }
}

/// The plain form of a compressed term (size, then zlib data), and how many bytes that took.
pub fn inflate(bytes: &[u8]) -> Result<(Vec<u8>, usize), Error> {
    let mut r = Reader::new(bytes);
    let size = r.u32()? as usize;
    let mut z = flate2::bufread::ZlibDecoder::new(&bytes[4..]);
    let mut plain = Vec::with_capacity(size.min(64 * bytes.len()));
    z.by_ref().take(size as u64 + 1).read_to_end(&mut plain).map_err(|_| Error::Malformed)?;
    if plain.len() != size {
        return Err(Error::Malformed);
    }
    Ok((plain, 4 + z.total_in() as usize))
}

/// What waits for terms that follow.
enum Open {
    /// Elements and tail.
    List,
    Tuple,
    /// Keys and values in turn.
    Map,
    /// Creator and environment.
    Fun(FunId),
}

struct Frame {
    what: Open,
    /// Where its terms begin among `values`, and how many it needs.
    base: usize,
    need: usize,
}

/// A term being read.
pub struct Decoding<'a, 'h> {
    opts: DecodeOpts<'a>,
    /// What a compressed term was, and the bytes it took.
    plain: Option<(Vec<u8>, usize)>,
    /// How far the bytes (the plain ones) are read.
    pos: usize,
    values: Vec<Term<'h>>,
    open: Vec<Frame>,
}

/// Bytes read in one step besides what each term takes.
const BYTES_A_STEP: usize = 256;

impl<'a, 'h> Decoding<'a, 'h> {
    /// A term after its version byte, compressed or not.
    pub fn new(bytes: &[u8], opts: DecodeOpts<'a>) -> Result<Decoding<'a, 'h>, Error> {
        let (plain, pos) = match bytes {
            [tag::VERSION, tag::COMPRESSED, rest @ ..] => (Some(inflate(rest)?), 0),
            [tag::VERSION, ..] => (None, 1),
            _ => return Err(Error::Malformed),
        };
        Ok(Decoding { opts, plain, pos, values: Vec::new(), open: Vec::new() })
    }
    /// Reads on in the same bytes, for the same heap, until that many steps are done, and takes those it did from them.
    /// The term, and how many bytes it took, where it is whole.
    pub fn run(
        &mut self,
        bytes: &[u8],
        heap: &'h Heap,
        steps: &mut usize,
    ) -> Result<Option<(Term<'h>, usize)>, Error> {
        let plain = self.plain.take();
        let from = plain.as_ref().map_or(bytes, |p| &p.0);
        let r = Reader::at(from, self.pos).ok_or(Error::Malformed)?;
        let (values, open) = (std::mem::take(&mut self.values), std::mem::take(&mut self.open));
        let mut d = Decoder { r, heap, opts: self.opts, values, open };
        let term = d.run(steps)?;
        (self.pos, self.values, self.open) = (d.r.pos(), d.values, d.open);
        let Some(t) = term else {
            self.plain = plain;
            return Ok(None);
        };
        match plain {
            Some((plain, _)) if self.pos != plain.len() => Err(Error::Malformed),
            Some((_, used)) => Ok(Some((t, used + 2))),
            None => Ok(Some((t, self.pos))),
        }
    }
}

struct Decoder<'b, 'h> {
    r: Reader<'b>,
    heap: &'h Heap,
    opts: DecodeOpts<'b>,
    values: Vec<Term<'h>>,
    open: Vec<Frame>,
}

impl<'h> Decoder<'_, 'h> {
    /// `None` where the steps are done and the term is not.
    fn run(&mut self, steps: &mut usize) -> Result<Option<Term<'h>>, Error> {
        while *steps > 0 {
            let before = self.r.pos();
            let next = self.one()?;
            *steps = steps.saturating_sub(1 + (self.r.pos() - before) / BYTES_A_STEP);
            let Some(mut t) = next else { continue };
            loop {
                let Some(f) = self.open.last() else {
                    return Ok(Some(t));
                };
                self.values.push(t);
                if self.values.len() - f.base < f.need {
                    break;
                }
                t = self.close()?;
            }
        }
        Ok(None)
    }

    /// The next term where it is whole; else a frame was opened for its parts.
    fn one(&mut self) -> Result<Option<Term<'h>>, Error> {
        let tag = self.r.u8()?;
        let t = match tag {
            tag::SMALL_INTEGER => Term::int(self.r.u8()? as i32),
            tag::INTEGER => Term::int(self.r.u32()? as i32),
            tag::NIL => Term::NIL,
            tag::LIST => {
                let n = self.r.count(1)?;
                if n == 0 {
                    // An empty list of this form stands for its tail.
                    return Ok(None);
                }
                return self.begin(Open::List, n + 1);
            }
            tag::SMALL_TUPLE => {
                let n = self.r.u8()? as usize;
                return self.begin(Open::Tuple, n);
            }
            tag::LARGE_TUPLE => {
                let n = self.r.count(1)?;
                return self.begin(Open::Tuple, n);
            }
            tag::MAP => {
                let n = self.r.count(2)?;
                return self.begin(Open::Map, 2 * n);
            }
            tag::NEW_FUN => {
                let id = self.fun_id()?;
                return self.begin(Open::Fun(id), 1 + id.num_free as usize);
            }
            tag::STRING => {
                let n = self.r.u16()? as usize;
                let bytes = self.r.take(n)?;
                self.heap.charlist(bytes.iter().map(|b| *b as u32))
            }
            tag::BINARY => {
                let n = self.r.count(1)?;
                self.heap.binary(self.r.take(n)?)
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
        Ok(Some(t))
    }

    fn begin(&mut self, what: Open, need: usize) -> Result<Option<Term<'h>>, Error> {
        let base = self.values.len();
        self.open.push(Frame { what, base, need });
        if need == 0 {
            return self.close().map(Some);
        }
        Ok(None)
    }

    /// Makes the innermost open term, whose parts are all there.
    fn close(&mut self) -> Result<Term<'h>, Error> {
        let f = self.open.pop().ok_or(Error::Malformed)?;
        let parts = &self.values[f.base..];
        let t = match f.what {
            Open::List => {
                let (tail, items) = parts.split_last().ok_or(Error::Malformed)?;
                self.heap.list_with_tail(items, *tail)
            }
            Open::Tuple => self.heap.tuple(parts),
            Open::Map => {
                let pairs: Vec<_> =
                    parts.as_chunks::<2>().0.iter().map(|[k, v]| (*k, *v)).collect();
                let t = self.heap.map(&pairs);
                if t.as_map().is_none_or(|m| m.len() != pairs.len()) {
                    return Err(Error::Malformed);
                }
                t
            }
            Open::Fun(id) => {
                let (creator, env) = parts.split_first().ok_or(Error::Malformed)?;
                if creator.as_pid().is_none() {
                    return Err(Error::Malformed);
                }
                let e = (hooks().fun)(&id).ok_or(Error::Malformed)?;
                if (e.arity, e.num_free) != (id.arity as u32, id.num_free) {
                    return Err(Error::Malformed);
                }
                self.heap.fun(e, id.arity as usize, *creator, env)
            }
        };
        self.values.truncate(f.base);
        Ok(t)
    }

    fn next_atom(&mut self) -> Result<Atom, Error> {
        let tag = self.r.u8()?;
        self.atom(tag)
    }
    fn atom(&mut self, tag: u8) -> Result<Atom, Error> {
        let n = match tag {
            tag::ATOM_CACHE_REF => {
                let i = self.r.u8()? as usize;
                return self.opts.atoms.get(i).copied().ok_or(Error::Malformed);
            }
            tag::SMALL_ATOM | tag::SMALL_ATOM_UTF8 => self.r.u8()? as usize,
            tag::ATOM | tag::ATOM_UTF8 => self.r.u16()? as usize,
            _ => return Err(Error::Malformed),
        };
        let bytes = self.r.take(n)?;
        let latin1;
        let name = if matches!(tag, tag::SMALL_ATOM | tag::ATOM) {
            latin1 = bytes.iter().map(|b| *b as char).collect::<String>();
            &latin1
        } else {
            std::str::from_utf8(bytes).map_err(|_| Error::Malformed)?
        };
        if self.opts.safe {
            return Atom::existing(name).ok_or(Error::Unsafe);
        }
        Atom::intern(name).map_err(|e| match e {
            kvik_term::atom::AtomError::TooLong => Error::Malformed,
            kvik_term::atom::AtomError::Full => Error::SystemLimit,
        })
    }

    fn bit_binary(&mut self) -> Result<Term<'h>, Error> {
        let n = self.r.u32()? as usize;
        let last = self.r.u8()? as usize;
        if last > 8 || (last == 0) != (n == 0) {
            return Err(Error::Malformed);
        }
        let bytes = self.r.take(n)?;
        let bits = if n == 0 { 0 } else { (n - 1) * 8 + last };
        Ok(self.heap.bitstring(bytes, bits))
    }

    fn big(&mut self, n: usize) -> Result<Term<'h>, Error> {
        let negative = self.r.u8()? != 0;
        let bytes = self.r.take(n)?;
        let digits: Vec<u64> =
            bytes.chunks(8).map(|c| c.iter().rev().fold(0, |d, b| d << 8 | *b as u64)).collect();
        Ok(self.heap.big(negative, &digits))
    }

    fn float(&mut self, tag: u8) -> Result<Term<'h>, Error> {
        let f = if tag == tag::NEW_FLOAT {
            f64::from_bits(self.r.u64()?)
        } else {
            let text = self.r.take(31)?;
            let end = text.iter().position(|b| *b == 0).unwrap_or(text.len());
            std::str::from_utf8(&text[..end])
                .ok()
                .and_then(|s| s.trim().parse().ok())
                .ok_or(Error::Malformed)?
        };
        if !f.is_finite() {
            return Err(Error::Malformed);
        }
        Ok(self.heap.float(f))
    }

    /// A creation of one byte has two bits.
    fn tiny_creation(&mut self) -> Result<u32, Error> {
        let c = self.r.u8()?;
        if c > 3 {
            return Err(Error::Malformed);
        }
        Ok(c as u32)
    }

    fn pid(&mut self, tag: u8) -> Result<Term<'h>, Error> {
        let node = self.next_atom()?;
        let (num, ser) = (self.r.u32()?, self.r.u32()?);
        let creation = match tag {
            tag::PID => self.tiny_creation()?,
            _ => self.r.u32()?,
        };
        if is_this_node(node, creation) {
            if num >= 1 << 15 || ser >= 1 << 13 {
                return Err(Error::Malformed);
            }
            return Ok(Term::local_pid(ser << 15 | num));
        }
        let data = num as u64 | (ser as u64) << 32;
        Ok(self.heap.external(ExtKind::Pid, node, creation, &[data], 1))
    }

    fn port(&mut self, tag: u8) -> Result<Term<'h>, Error> {
        let node = self.next_atom()?;
        let num = match tag {
            tag::V4_PORT => self.r.u64()?,
            _ => self.r.u32()? as u64,
        };
        let creation = match tag {
            tag::PORT => self.tiny_creation()?,
            _ => self.r.u32()?,
        };
        if is_this_node(node, creation) {
            if num > LOCAL_PORT_MAX {
                return Err(Error::Malformed);
            }
            return Ok(Term::local_port(num as u32));
        }
        Ok(self.heap.external(ExtKind::Port, node, creation, &[num], 1))
    }

    fn reference(&mut self, tag: u8) -> Result<Term<'h>, Error> {
        let mut numbers = [0; REF_NUMBERS];
        let mut n = 1;
        if tag != tag::REFERENCE {
            n = self.r.u16()? as usize;
            if n == 0 || n > REF_NUMBERS {
                return Err(Error::Malformed);
            }
        }
        let node = self.next_atom()?;
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
            return Err(Error::Malformed);
        }
        if local {
            if n > 3 {
                return Err(Error::Malformed);
            }
            return Ok((hooks().local_ref)(self.heap, [numbers[0], numbers[1], numbers[2]]));
        }
        let data: Vec<u64> = numbers[..n]
            .chunks(2)
            .map(|c| c[0] as u64 | (c.get(1).copied().unwrap_or(0) as u64) << 32)
            .collect();
        Ok(self.heap.external(ExtKind::Ref, node, creation, &data, n))
    }

    /// A small integer among a fun's fields.
    fn field(&mut self) -> Result<u32, Error> {
        match self.r.u8()? {
            tag::SMALL_INTEGER => Ok(self.r.u8()? as u32),
            tag::INTEGER => self.r.u32(),
            tag::SMALL_BIG => {
                let n = self.r.u8()? as usize;
                let t = self.big(n)?;
                t.as_small().map(|i| i as u32).ok_or(Error::Malformed)
            }
            _ => Err(Error::Malformed),
        }
    }

    fn export(&mut self) -> Result<Term<'h>, Error> {
        let (module, function) = (self.next_atom()?, self.next_atom()?);
        let arity = u8::try_from(self.field()?).map_err(|_| Error::Malformed)?;
        if self.opts.safe && !(hooks().is_exported)(module, function, arity) {
            return Err(Error::Unsafe);
        }
        let e = (hooks().export)(module, function, arity).ok_or(Error::Malformed)?;
        Ok(self.heap.export_fun(e))
    }

    fn fun_id(&mut self) -> Result<FunId, Error> {
        self.r.u32()?;
        let arity = self.r.u8()?;
        let uniq = self.r.array()?;
        let (index, num_free) = (self.r.u32()?, self.r.u32()?);
        if num_free > MAX_FREE {
            return Err(Error::Malformed);
        }
        let module = self.next_atom()?;
        let (old_index, old_uniq) = (self.field()?, self.field()?);
        Ok(FunId { module, arity, num_free, index, uniq, old_index, old_uniq })
    }
}

/// A creation of zero stands for any start of the node.
fn is_this_node(node: Atom, creation: u32) -> bool {
    let (this, now) = (hooks().node)();
    node == this && (creation == now || creation == 0)
}
