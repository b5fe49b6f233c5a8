//! The first pass: every operand of every instruction, reachable or not, is of an allowed kind,
//! every index is in its table, every label in its function.

use super::What;
use crate::bs_match::match_commands;
use crate::code::{Arg, Code, Function, Op, RecordEntry};
use crate::module::Module;
use crate::old_bits::SEGMENT_TYPES;
use kvik_isa::{Opcode, OperandKind};

/// Maximum of live registers, and of a frame's size.
const MAX_LIVE: u64 = 1023;
const MAX_FRAME: u64 = 1023;
/// Maximum of words that one instruction may reserve.
const MAX_HEAP: u64 = 1 << 24;
/// Maximum of elements that one instruction lists, so that headers fit 31 bits.
const MAX_ELEMENTS: u64 = (1 << 23) - 1;
/// Maximum of operands that one runtime call gets on the thread's stack.
const MAX_OPERANDS: usize = 1 << 15;

const NO_RECORD_ID: What = "not the name of a native record";

/// The tables that the checks look things up in.
pub(crate) struct Tables<'a> {
    pub(crate) module: &'a Module<'a>,
    pub(crate) code: &'a Code,
    /// For each label the index of the function that it is the entry of, or
    /// [`Code::UNPLACED_LABEL`].
    pub(crate) entries: Vec<u32>,
}

impl<'a> Tables<'a> {
    pub(crate) fn new(module: &'a Module, code: &'a Code) -> Self {
        let mut entries = vec![Code::UNPLACED_LABEL; code.labels.len()];
        for (index, function) in code.functions.iter().enumerate() {
            if let Some(slot) = entries.get_mut(function.entry_label as usize) {
                *slot = index as u32;
            }
        }
        Tables { module, code, entries }
    }

    /// The function that has this label as its entry.
    pub(crate) fn function_at(&self, label: u32) -> Option<(usize, &'a Function)> {
        let index = self.entries.get(label as usize).filter(|i| **i != Code::UNPLACED_LABEL)?;
        self.code.functions.get(*index as usize).map(|f| (*index as usize, f))
    }

    /// Exports and funs must name entries of functions with their arity.
    pub(crate) fn check_tables(&self) -> Result<(), What> {
        for export in &self.module.exports {
            match self.function_at(export.label) {
                Some((_, f)) if f.arity == export.arity && f.name == export.function => {}
                _ => return Err("an export has no function"),
            }
        }
        for lambda in &self.module.lambdas {
            match self.function_at(lambda.label) {
                Some((_, f)) if f.arity == lambda.arity => {}
                _ => return Err("a fun has no function"),
            }
        }
        Ok(())
    }

    pub(crate) fn check_op(&self, function: &Function, op: &Op) -> Result<(), What> {
        for (kind, arg) in op.opcode.info().kinds.iter().zip(self.code.args(op)) {
            if !is_plain(*kind, *arg) {
                self.check_arg(function, *kind, *arg)?;
            }
        }
        self.check_more(function, op)
    }

    /// Checks beyond operand kinds: elements of lists, and a few numbers.
    fn check_more(&self, function: &Function, op: &Op) -> Result<(), What> {
        let list = self.code.list(op);
        match op.opcode {
            Opcode::SelectVal => self.pairs(list, |value, label| {
                is_constant(value)?;
                self.local(function, label)
            }),
            // Here and below any size and index is allowed: the template knows which ones no tuple has.
            Opcode::SelectTupleArity => self.pairs(list, |value, label| match value {
                Arg::U(_) => self.local(function, label),
                _ => Err("a tuple size is not a number"),
            }),
            Opcode::PutTuple2 | Opcode::MakeFun3 | Opcode::HasMapFields => {
                at_most(list.len() as u64, MAX_ELEMENTS, "too many elements")?;
                list.iter().try_for_each(|arg| source(*arg))
            }
            Opcode::PutMapAssoc | Opcode::PutMapExact => {
                at_most(list.len() as u64, MAX_OPERANDS as u64, "too many pairs")?;
                self.pairs(list, |key, value| source(key).and(source(value)))?;
                self.unique_keys(list)
            }
            Opcode::GetMapElements => {
                self.pairs(list, |key, to| source(key).and(register(to)))?;
                self.unique_keys(list)
            }
            Opcode::InitYregs => list.iter().try_for_each(|arg| match arg {
                Arg::Y(..) => Ok(()),
                _ => Err("not a y register"),
            }),
            Opcode::UpdateRecord => self.updates(op, list),
            Opcode::BsMatch => match_commands(self.module, list).map(drop),
            Opcode::BsCreateBin
            | Opcode::BsInit2
            | Opcode::BsInitBits
            | Opcode::BsAppend
            | Opcode::BsPrivateAppend => self.segments(list),
            Opcode::Bif1 => self.part_of_constant(op),
            Opcode::BsMatchString => self.string(op),
            Opcode::Line | Opcode::ExecutableLine => self.line(op),
            Opcode::BsTestUnit => match self.code.args(op) {
                [_, _, Arg::U(1..=256)] => Ok(()),
                _ => Err("a unit out of range"),
            },
            Opcode::BsGetInteger2 | Opcode::BsGetFloat2 | Opcode::BsGetBinary2 => {
                match self.code.args(op) {
                    [_, _, _, _, Arg::U(0..=256), Arg::U(0..=255), _] => Ok(()),
                    _ => Err("a unit out of range"),
                }
            }
            Opcode::BsSkipBits2 => match self.code.args(op) {
                [_, _, _, Arg::U(0..=256), _] => Ok(()),
                _ => Err("a unit out of range"),
            },
            Opcode::IsNativeRecord | Opcode::GetRecordElements | Opcode::PutRecord => {
                self.record(op, list)
            }
            Opcode::GetRecordField => match self.code.args(op) {
                [_, _, Arg::Atom(_) | Arg::Literal(_), ..] => Ok(()),
                _ => Err(NO_RECORD_ID),
            },
            // It is called without arguments.
            Opcode::OnLoad if function.arity != 0 => Err("not in a function without arguments"),
            _ => Ok(()),
        }
    }

    /// Names of native records and of their fields.
    fn record(&self, op: &Op, list: &[Arg]) -> Result<(), What> {
        match self.code.args(op) {
            [_, _, Arg::Atom(_), Arg::Atom(_)] | [_, _, Arg::List(_)] => {}
            [Arg::Label(0), Arg::Atom(name), Arg::Nil, ..] => {
                let named = |r: &RecordEntry| r.name == *name;
                self.code.records.iter().find(|r| named(r)).ok_or("no such native record")?;
            }
            [Arg::Label(0), Arg::Literal(_), Arg::Nil, ..]
            | [Arg::Label(0), Arg::Atom(_) | Arg::Literal(_), Arg::X(..) | Arg::Y(..), ..] => {}
            _ => return Err(NO_RECORD_ID),
        }
        at_most(list.len() as u64, MAX_OPERANDS as u64, "too many pairs")?;
        self.pairs(list, |key, value| match (op.opcode, key) {
            (Opcode::GetRecordElements, Arg::Atom(_)) => register(value),
            (_, Arg::Atom(_)) => source(value),
            _ => Err("a field's name is not an atom"),
        })?;
        if op.opcode == Opcode::PutRecord && list.is_empty() {
            return Ok(());
        }
        match op.opcode {
            Opcode::IsNativeRecord => Ok(()),
            _ => self.unique_keys(list),
        }
    }

    /// Positions (counted from 1, each once, in order) and values of `update_record`.
    fn updates(&self, op: &Op, list: &[Arg]) -> Result<(), What> {
        let [_, Arg::U(size), ..] = *self.code.args(op) else {
            return Err("an operand of the wrong kind");
        };
        at_most(size, MAX_ELEMENTS - 1, "a tuple too large")?;
        let mut last = 0;
        self.pairs(list, |position, value| {
            source(value)?;
            matches!(position, Arg::U(_)).then_some(()).ok_or("a position is not a number")
        })?;
        for pair in list.chunks_exact(2) {
            match pair {
                [Arg::U(position), _] if *position > last && *position <= size => last = *position,
                _ => return Err("positions out of order or outside the tuple"),
            }
        }
        Ok(())
    }

    /// OTP's loader turns `hd/1` with a label into `get_hd`, and `tl/1` into `get_tl`. These take
    /// registers, so it refuses files that name a constant there.
    fn part_of_constant(&self, op: &Op) -> Result<(), What> {
        let [Arg::Label(1..), Arg::U(import), of, _] = *self.code.args(op) else { return Ok(()) };
        if matches!(of, Arg::X(..) | Arg::Y(..) | Arg::Nil) {
            return Ok(());
        }
        let import = self.module.imports.get(import as usize);
        let name = |atom| self.module.atom(atom).unwrap_or_default();
        match import.map(|i| (name(i.module), name(i.function), i.arity)) {
            Some(("erlang", "hd" | "tl", 1)) => Err("a part of a constant"),
            _ => Ok(()),
        }
    }

    fn check_arg(&self, function: &Function, kind: OperandKind, arg: Arg) -> Result<(), What> {
        let ok = match (kind, arg) {
            (OperandKind::X, Arg::X(..)) | (OperandKind::Y, Arg::Y(..)) => return register(arg),
            (OperandKind::Reg | OperandKind::Dst, _) => return register(arg),
            (OperandKind::Src, _) => return source(arg),
            (OperandKind::FloatReg | OperandKind::FloatOrTerm, Arg::Float(_)) => true,
            (OperandKind::FloatOrTerm, Arg::Literal(_)) => true,
            (OperandKind::FloatOrTerm, _) => return register(arg),
            (OperandKind::Atom, Arg::Atom(_)) => true,
            (OperandKind::Import, Arg::U(n)) => n < self.module.imports.len() as u64,
            (OperandKind::Lambda | OperandKind::FunTag, Arg::U(n)) => {
                n < self.module.lambdas.len() as u64
            }
            (OperandKind::FunTag, Arg::Atom(a)) => {
                matches!(self.module.atom(a), Some("safe" | "unsafe"))
            }
            (OperandKind::Label, _) => return self.local(function, arg),
            (OperandKind::Fail | OperandKind::MatchFail, Arg::Label(0)) => true,
            (OperandKind::Fail | OperandKind::MatchFail, Arg::Label(_)) => {
                return self.local(function, arg)
            }
            (OperandKind::MatchFail, Arg::Atom(a)) => {
                matches!(self.module.atom(a), Some("no_fail" | "resume"))
            }
            (OperandKind::Entry, Arg::Label(l)) => self.function_at(l).is_some(),
            (OperandKind::LabelDef, Arg::U(_)) | (OperandKind::StrOffset, Arg::U(_)) => true,
            (OperandKind::Number, Arg::U(_)) => true,
            (OperandKind::Frame, Arg::U(n)) => n <= MAX_FRAME,
            (OperandKind::Live, Arg::U(n)) => n <= MAX_LIVE,
            (OperandKind::HeapNeed, Arg::U(n)) => n <= MAX_HEAP,
            (OperandKind::HeapNeed, Arg::Alloc(_)) => true,
            (OperandKind::BitSize, Arg::U(_) | Arg::Overflow) => true,
            (OperandKind::BitSize, _) => return source(arg),
            (OperandKind::List, Arg::List(_)) => true,
            _ => false,
        };
        ok.then_some(()).ok_or("an operand of the wrong kind")
    }

    /// A label of the same function, but not 0.
    fn local(&self, function: &Function, arg: Arg) -> Result<(), What> {
        match arg {
            Arg::Label(l) if l != 0 => match self.code.label(l) {
                Some(at) if function.ops.contains(&at) => Ok(()),
                Some(_) => Err("a label of another function"),
                None => Err("a label that isn't placed"),
            },
            _ => Err("not a label"),
        }
    }

    fn pairs(
        &self,
        list: &[Arg],
        check: impl Fn(Arg, Arg) -> Result<(), What>,
    ) -> Result<(), What> {
        let pairs = list.chunks_exact(2);
        if !pairs.remainder().is_empty() {
            return Err("a list of pairs has an odd length");
        }
        pairs.into_iter().try_for_each(|pair| match pair {
            [a, b] => check(*a, *b),
            _ => Ok(()),
        })
    }

    /// If there are several keys, all must be constants, and no two the same.
    fn unique_keys(&self, list: &[Arg]) -> Result<(), What> {
        if list.is_empty() {
            return Err("no keys");
        }
        if list.len() == 2 {
            return Ok(());
        }
        let keys: Vec<Arg> = list.iter().step_by(2).copied().collect();
        keys.iter().try_for_each(|key| is_constant(*key).map_err(|_| "a key is not a constant"))?;
        let mut encoded: Vec<Key> = keys.iter().map(|key| self.encoded(*key)).collect();
        encoded.sort_unstable();
        let twice = encoded.windows(2).any(|w| w.first() == w.last());
        if twice {
            Err("the same key twice")
        } else {
            Ok(())
        }
    }

    fn encoded(&self, key: Arg) -> Key<'a> {
        match key {
            Arg::Atom(a) => Key::Atom(a),
            Arg::Int(n) => Key::Int(n),
            Arg::Big(n) => match self.code.bigs.get(n as usize) {
                Some(big) => Key::Big(big.negative, &big.digits),
                None => Key::Nil,
            },
            Arg::Literal(l) => Key::Literal(self.module.literals.get(l).unwrap_or_default()),
            _ => Key::Nil,
        }
    }

    /// Six operands each: type, serial number, unit, flags, value, size.
    fn segments(&self, list: &[Arg]) -> Result<(), What> {
        at_most(list.len() as u64, MAX_OPERANDS as u64, "too many segments")?;
        let segments = list.chunks_exact(6);
        if !segments.remainder().is_empty() {
            return Err("a segment is cut off");
        }
        for segment in segments {
            let [ty, Arg::U(_) | Arg::Int(_), Arg::U(unit), flags, value, size] = segment else {
                return Err("an operand of a segment is of the wrong kind");
            };
            let ty = match ty {
                Arg::Atom(ty) => self.module.atom(*ty).unwrap_or_default(),
                Arg::U(ty) => SEGMENT_TYPES.get(*ty as usize).copied().unwrap_or_default(),
                _ => return Err("an operand of a segment is of the wrong kind"),
            };
            let least = match ty {
                "utf8" | "utf16" | "utf32" => 0,
                "append" | "private_append" | "binary" | "float" | "integer" | "string" => 1,
                _ => return Err("an unknown type of segment"),
            };
            if !(least..=256).contains(unit) {
                return Err("a unit out of range");
            }
            if !matches!(flags, Arg::Nil | Arg::Literal(_) | Arg::U(0..=255)) {
                return Err("flags of the wrong kind");
            }
            match (ty, value, size) {
                ("string", Arg::U(offset), Arg::U(bytes)) => self.in_strings(*offset, *bytes)?,
                ("string", Arg::U(offset), Arg::Int(bytes)) => {
                    self.in_strings(*offset, u64::try_from(*bytes).unwrap_or(u64::MAX))?
                }
                ("string", ..) => return Err("a string segment of the wrong kind"),
                _ => source(*value).and(source(*size))?,
            }
        }
        Ok(())
    }

    fn string(&self, op: &Op) -> Result<(), What> {
        match (op.opcode, self.code.args(op)) {
            (_, [_, _, Arg::U(bits), Arg::U(offset)]) => self.in_strings(*offset, bits.div_ceil(8)),
            _ => Err("an operand of the wrong kind"),
        }
    }

    fn in_strings(&self, offset: u64, bytes: u64) -> Result<(), What> {
        match offset.checked_add(bytes) {
            Some(end) if end <= self.module.strings.len() as u64 => Ok(()),
            _ => Err("outside the string table"),
        }
    }

    fn line(&self, op: &Op) -> Result<(), What> {
        let items = self.module.lines.items.len() as u64;
        match self.code.args(op) {
            // Without a Line chunk (it may have been stripped) the index is meaningless.
            [Arg::U(n), ..] if *n < items || items == 0 => Ok(()),
            _ => Err("no such line"),
        }
    }
}

/// A constant key of a map, to find duplicates.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Key<'a> {
    Nil,
    Atom(u32),
    Int(i64),
    Big(bool, &'a [u64]),
    Literal(&'a [u8]),
}

/// The common case, decided by a table: a register, constant or number in a position that allows
/// any of these.
#[inline]
fn is_plain(kind: OperandKind, arg: Arg) -> bool {
    const REGISTER: u32 = bit(OperandKind::Reg) | bit(OperandKind::Dst) | SOURCE;
    const SOURCE: u32 = bit(OperandKind::Src) | bit(OperandKind::BitSize);
    const NUMBER: u32 =
        bit(OperandKind::Number) | bit(OperandKind::LabelDef) | bit(OperandKind::StrOffset);
    const fn bit(kind: OperandKind) -> u32 {
        1 << kind as u32
    }
    /// The positions that allow an operand, by its index in the declaration of `Arg`.
    const POSITIONS: [u32; 16] = {
        let mut places = [0; 16];
        places[Arg::Nil.tag()] = SOURCE;
        places[Arg::Atom(0).tag()] = SOURCE | bit(OperandKind::Atom);
        places[Arg::Int(0).tag()] = SOURCE;
        places[Arg::Big(0).tag()] = SOURCE;
        places[Arg::Literal(0).tag()] = SOURCE;
        places[Arg::X(0, 0).tag()] = REGISTER | bit(OperandKind::X);
        places[Arg::Y(0, 0).tag()] = REGISTER | bit(OperandKind::Y);
        places[Arg::U(0).tag()] = NUMBER;
        places[Arg::List(0).tag()] = bit(OperandKind::List);
        places
    };
    POSITIONS[arg.tag() % 16] & bit(kind) != 0
}

fn register(arg: Arg) -> Result<(), What> {
    match arg {
        Arg::X(..) | Arg::Y(..) => Ok(()),
        _ => Err("not a register"),
    }
}

fn is_constant(arg: Arg) -> Result<(), What> {
    match arg {
        Arg::Nil | Arg::Atom(_) | Arg::Int(_) | Arg::Big(_) | Arg::Literal(_) => Ok(()),
        _ => Err("not a constant"),
    }
}

fn at_most(n: u64, most: u64, what: What) -> Result<(), What> {
    if n <= most {
        Ok(())
    } else {
        Err(what)
    }
}

fn source(arg: Arg) -> Result<(), What> {
    is_constant(arg).or_else(|_| register(arg))
}
