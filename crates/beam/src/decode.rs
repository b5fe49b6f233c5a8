//! Decodes the instructions of a module.

use std::mem::take;

use kvik_isa::{highest_opcode, Opcode};

use crate::code::DebugInfo;
use crate::code::{AllocList, Arg, BigInt, Code, Op, RecordEntry};
use crate::compact::{self, Number, TAG_A, TAG_F, TAG_I, TAG_U, TAG_X, TAG_Y, TAG_Z};
use crate::error::BeamError;
use crate::module::Module;
use crate::read_buffers::ReadBuffers;
use crate::reader::Reader;
use crate::{functions, old_bits};

/// Registers of each kind are numbered below this; x1023 is reserved for the VM.
const MAX_REG: u64 = 1024;
const MAX_X: u64 = MAX_REG - 1;
/// Integers of more bytes than this are too large for any system limit.
const MAX_INTEGER: usize = 4 << 20;
/// Maximum of each count in an allocation list.
const MAX_ALLOC: u32 = 1 << 24;

impl Code {
    /// Decodes the code of a module and finds its functions.
    pub fn decode(module: &Module) -> Result<Code, BeamError> {
        Code::decode_in(module, &mut ReadBuffers::default())
    }

    /// The same, in memory taken from `buffers`; [`ReadBuffers::reclaim`] takes it back.
    pub fn decode_in(module: &Module, buffers: &mut ReadBuffers) -> Result<Code, BeamError> {
        let mut decoder = Decoder::new(module, buffers);
        decoder.run()?;
        let Decoder { ops, args, bigs, .. } = decoder;
        let records = records(module).ok_or(BeamError::Chunk("Recs"))?;
        let debug_info = DebugInfo::decode(module).ok_or(BeamError::Chunk("DbgB"))?;
        let (functions, labels) = (vec![], vec![]);
        let mut code = Code { ops, args, bigs, functions, records, debug_info, labels };
        functions::find(&mut code, module)?;
        Ok(code)
    }
}

/// Empties a vector and gives it room for that many elements. One that is too small isn't copied.
fn with_room<T>(mut from: Vec<T>, many: usize) -> Vec<T> {
    if from.capacity() < many {
        return Vec::with_capacity(many);
    }
    from.clear();
    from
}

/// The decoder's state.
pub(crate) struct Decoder<'m> {
    module: &'m Module<'m>,
    pub(crate) r: Reader<'m>,
    ops: Vec<Op>,
    pub(crate) args: Vec<Arg>,
    pub(crate) bigs: Vec<BigInt>,
    /// The bit string that a `bs_put_*` here would append to: its failure label and register.
    unfinished: Option<(Arg, Arg)>,
}

impl<'m> Decoder<'m> {
    fn new(module: &'m Module<'m>, buffers: &mut ReadBuffers) -> Self {
        let bytes = module.code.bytes;
        Decoder {
            module,
            r: Reader::new(bytes),
            // An upper bound by the number of bytes. Unused pages are never touched.
            ops: with_room(take(&mut buffers.ops), bytes.len() / 2),
            args: with_room(take(&mut buffers.args), bytes.len()),
            bigs: Vec::new(),
            unfinished: None,
        }
    }

    /// A decoder of operands in a chunk that is encoded like instructions.
    pub(crate) fn of_chunk(module: &'m Module<'m>, r: Reader<'m>) -> Self {
        let (ops, args, bigs) = (Vec::new(), Vec::new(), Vec::new());
        Decoder { module, r, ops, args, bigs, unfinished: None }
    }

    fn run(&mut self) -> Result<(), BeamError> {
        // Indexes of operands are kept in 32 bits.
        if self.r.len() > (u32::MAX / 2) as usize {
            return Err(BeamError::Chunk("Code"));
        }
        let highest = highest_opcode(kvik_release::current().number);
        loop {
            let start = self.module.code.bytes.len() - self.r.len();
            let error = |what| BeamError::Code { offset: start, what };
            let number = self.r.u8().ok_or_else(|| error("the code has no end"))?;
            let opcode = Opcode::from_number(number).filter(|_| number <= highest);
            let opcode = opcode.ok_or_else(|| error("unknown opcode"))?;
            let info = opcode.info();
            if info.obsolete {
                return Err(BeamError::TooOld(info.name));
            }
            let first = self.args.len();
            for position in 1..=info.arity {
                let arg = self.arg(position == info.arity).map_err(error)?;
                // The elements of a list are pushed already.
                if !matches!(arg, Arg::List(_)) {
                    self.args.push(arg);
                }
            }
            if old_bits::appends(opcode) && self.append_segment(opcode, first).map_err(error)? {
                continue;
            }
            if old_bits::begins(opcode) {
                let args = self.args.get(first..).unwrap_or_default();
                self.unfinished = old_bits::unfinished(args);
                let begun = old_bits::first(opcode, args);
                self.args.extend(begun.into_iter().flatten());
            } else if let Some((_, target)) = self.unfinished {
                let args = self.args.get(first..).unwrap_or_default();
                if !old_bits::may_interrupt(opcode) || args.contains(&target) {
                    self.unfinished = None;
                }
            }
            let count = (self.args.len() - first) as u32;
            self.ops.push(Op { opcode, first: first as u32, count });
            if opcode == Opcode::IntCodeEnd {
                return Ok(());
            }
        }
    }

    /// Turns an instruction that appends to the unfinished bit string into a segment of the
    /// instruction that began it, or, if another instruction is in between, of a
    /// `bs_private_append`.
    fn append_segment(&mut self, opcode: Opcode, first: usize) -> Result<bool, &'static str> {
        let operands = self.args.get(first..).unwrap_or_default();
        let Some((segment, fail)) = old_bits::appended(opcode, operands) else {
            return Ok(false);
        };
        let (label, target) = self.unfinished.ok_or("appends to no bit string")?;
        if fail.is_some_and(|f| f != label) {
            return Err("fails to another label than what began the bit string");
        }
        self.args.truncate(first);
        match self.ops.last_mut() {
            Some(begun) if old_bits::begins(begun.opcode) => {
                begun.count += segment.len() as u32;
                self.args.extend(segment);
            }
            _ => {
                self.args.extend(old_bits::resumed(label, target).into_iter().chain(segment));
                let count = (self.args.len() - first) as u32;
                self.ops.push(Op { opcode: Opcode::BsPrivateAppend, first: first as u32, count });
            }
        }
        Ok(true)
    }

    #[inline]
    pub(crate) fn arg(&mut self, last: bool) -> Result<Arg, &'static str> {
        let (tag, number) = compact::read(&mut self.r).ok_or("an operand is cut off")?;
        let word = match number {
            Number::Word(word) => word,
            Number::Long(bytes) => return self.long(tag, bytes),
        };
        match tag {
            TAG_X if word < MAX_X => Ok(Arg::X(word as u16, 0)),
            TAG_X => Err("no such register"),
            TAG_Y => Ok(Arg::Y(register(word)?, 0)),
            TAG_A if word == 0 => Ok(Arg::Nil),
            TAG_A => index(word, self.module.atoms.len(), "no such atom").map(Arg::Atom),
            TAG_F => index(word, self.module.code.labels as usize, "no such label").map(Arg::Label),
            TAG_U if word > i64::MAX as u64 => Ok(Arg::Overflow),
            TAG_U => Ok(Arg::U(word)),
            TAG_I => Ok(Arg::Int(word as i64)),
            TAG_Z => self.extended(word, last),
            _ => Err("unknown operand tag"),
        }
    }

    /// Numbers of nine bytes and more: only integers may be that long.
    fn long(&mut self, tag: u8, bytes: &[u8]) -> Result<Arg, &'static str> {
        match tag {
            TAG_U => Ok(Arg::Overflow),
            TAG_I if bytes.len() > MAX_INTEGER => Ok(Arg::Overflow),
            TAG_I => match big_integer(bytes) {
                Ok(small) => Ok(Arg::Int(small)),
                Err(big) => {
                    self.bigs.push(big);
                    Ok(Arg::Big(self.bigs.len() as u32 - 1))
                }
            },
            _ => Err("an index is too large"),
        }
    }

    fn extended(&mut self, kind: u64, last: bool) -> Result<Arg, &'static str> {
        const CUT: &str = "an operand is cut off";
        match kind {
            1 if last => self.list(),
            1 => Err("a list is not the last operand"),
            2 => {
                let number = compact::read_u32(&mut self.r).ok_or(CUT)?;
                Ok(Arg::Float(register(u64::from(number))?))
            }
            3 => alloc_list(&mut self.r).map(Arg::Alloc).ok_or("bad allocation list"),
            4 => {
                let number = compact::read_u32(&mut self.r).ok_or(CUT)?;
                let count = self.module.literals.len();
                index(u64::from(number), count, "no such literal").map(Arg::Literal)
            }
            5 => self.typed_register(),
            _ => Err("unknown extended operand"),
        }
    }

    /// Pushes the list's length and its elements.
    fn list(&mut self) -> Result<Arg, &'static str> {
        let count = compact::read_u32(&mut self.r).ok_or("a list is cut off")?;
        if count as usize > self.r.len() {
            return Err("a list is longer than the code");
        }
        self.args.push(Arg::List(count));
        for _ in 0..count {
            let arg = self.arg(false)?;
            self.args.push(arg);
        }
        Ok(Arg::List(count))
    }

    /// A register and the index of its type. Without a `BeamType` chunk the index is meaningless.
    fn typed_register(&mut self) -> Result<Arg, &'static str> {
        const CUT: &str = "a typed register is cut off";
        let (tag, number) = compact::read(&mut self.r).ok_or(CUT)?;
        let Number::Word(word) = number else {
            return Err(CUT);
        };
        let register = register(word)?;
        let number = compact::read_u32(&mut self.r).ok_or(CUT)?;
        let types = &self.module.types;
        let ty =
            if types.fallback { 0 } else { index(u64::from(number), types.len(), "no such type")? };
        match tag {
            TAG_X if word < MAX_X => Ok(Arg::X(register, ty)),
            TAG_Y => Ok(Arg::Y(register, ty)),
            _ => Err("a type without a register"),
        }
    }
}

/// Decodes the `Recs` chunk (since OTP 29). Each definition is encoded like the instruction
/// `call_last` with a name, the atom `true` if the record is exported, and a list of keys and
/// default values.
fn records(module: &Module) -> Option<Vec<RecordEntry>> {
    /// An instruction, its three operands and the list's length take a byte each.
    const LEAST: usize = 5;
    if module.records.is_empty() {
        return Some(Vec::new());
    }
    let mut r = Reader::new(module.records);
    let (version, count, _fields) = (r.u32()?, usize::try_from(r.u32()?).ok()?, r.u32()?);
    if version != 0 || count > r.len() / LEAST {
        return None;
    }
    let mut d = Decoder::of_chunk(module, r);
    (0..count).map(|_| d.record()).collect()
}

/// A default value; the number 0 stands for none.
fn default_value(arg: Arg) -> Option<Option<Arg>> {
    match arg {
        Arg::U(_) => Some(None),
        Arg::Nil | Arg::Atom(_) | Arg::Int(_) | Arg::Literal(_) => Some(Some(arg)),
        _ => None,
    }
}

impl Decoder<'_> {
    fn record(&mut self) -> Option<RecordEntry> {
        self.args.clear();
        if self.r.u8()? != Opcode::CallLast as u8 {
            return None;
        }
        let [Arg::Atom(name), Arg::Atom(exported), Arg::List(_)] =
            [self.arg(false).ok()?, self.arg(false).ok()?, self.arg(true).ok()?]
        else {
            return None;
        };
        let exported = match self.module.atom(exported)? {
            "true" => true,
            "false" => false,
            _ => return None,
        };
        // The list's length, then its elements.
        let (pairs, rest) = self.args.get(1..)?.as_chunks::<2>();
        let field = |[key, value]: &[Arg; 2]| match *key {
            Arg::Atom(key) => Some((key, default_value(*value)?)),
            _ => None,
        };
        let fields = pairs.iter().map(field).collect::<Option<Vec<_>>>();
        let fields = fields.filter(|_| rest.is_empty())?;
        let mut keys: Vec<u32> = fields.iter().map(|(key, _)| *key).collect();
        keys.sort_unstable();
        let twice = keys.windows(2).any(|two| two.first() == two.last());
        (!twice).then_some(RecordEntry { name, exported, fields })
    }
}

#[inline]
fn register(word: u64) -> Result<u16, &'static str> {
    if word < MAX_REG {
        Ok(word as u16)
    } else {
        Err("no such register")
    }
}

#[inline]
fn index(word: u64, count: usize, what: &'static str) -> Result<u32, &'static str> {
    if word < count as u64 && word <= u64::from(u32::MAX) {
        Ok(word as u32)
    } else {
        Err(what)
    }
}

/// Pairs of kind and number, three at most.
fn alloc_list(r: &mut Reader) -> Option<AllocList> {
    let pairs = compact::read_u32(r).filter(|n| *n <= 3)?;
    let mut list = AllocList::default();
    for _ in 0..pairs {
        let kind = compact::read_u32(r)?;
        let number = compact::read_u32(r).filter(|n| *n <= MAX_ALLOC)?;
        let field = match kind {
            0 => &mut list.words,
            1 => &mut list.floats,
            2 => &mut list.funs,
            _ => return None,
        };
        *field += number;
    }
    Some(list)
}

/// Big-endian two's complement to sign and magnitude, or to 64 bits if they are enough.
fn big_integer(bytes: &[u8]) -> Result<i64, BigInt> {
    let negative = bytes.first().is_some_and(|b| b & 0x80 != 0);
    let fill = if negative { 0xff } else { 0 };
    let mut digits: Vec<u64> = bytes
        .rchunks(8)
        .map(|part| {
            let start = if fill == 0 { 0 } else { u64::MAX };
            part.iter().fold(start, |n, b| n << 8 | u64::from(*b))
        })
        .collect();
    if negative {
        let mut carry = true;
        for digit in &mut digits {
            (*digit, carry) = (!*digit).overflowing_add(u64::from(carry));
        }
        // The most negative number of this width: the magnitude needs one more digit.
        if carry {
            digits.push(1);
        }
    }
    while digits.len() > 1 && digits.last() == Some(&0) {
        digits.pop();
    }
    match (digits.as_slice(), negative) {
        ([only], false) if *only <= i64::MAX as u64 => Ok(*only as i64),
        ([only], true) if *only <= 1 << 63 => Ok((*only as i64).wrapping_neg()),
        _ => Err(BigInt { negative, digits }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_integers() {
        assert_eq!(big_integer(&[0; 9]), Ok(0));
        assert_eq!(big_integer(&[0xff; 12]), Ok(-1));
        let big = |negative, digits: &[u64]| Err(BigInt { negative, digits: digits.to_vec() });
        assert_eq!(big_integer(&[1, 0, 0, 0, 0, 0, 0, 0, 0]), big(false, &[0, 1]));
        assert_eq!(big_integer(&[0xff, 0, 0, 0, 0, 0, 0, 0, 0]), big(true, &[0, 1]));
        let mut lowest = [0; 16];
        lowest[0] = 0x80;
        assert_eq!(big_integer(&lowest), big(true, &[0, 1 << 63]));
        assert_eq!(big_integer(&[0xff, 0x80, 0, 0, 0, 0, 0, 0, 0]), Ok(i64::MIN));
    }
}
