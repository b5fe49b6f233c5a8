//! Decoded instructions: one flat array of instructions, one of operands.

use std::ops::Range;

use kvik_isa::Opcode;

/// One operand. Sixteen bytes; lists and big integers are kept outside.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Arg {
    /// `[]`.
    Nil,
    /// An atom, by its index in [`Module::atoms`]; never 0.
    Atom(u32),
    /// An integer that fits 64 bits (it need not fit a small integer).
    Int(i64),
    /// A larger integer, by its index in [`Code::bigs`].
    Big(u32),
    /// A literal, by its index in [`Module::literals`].
    Literal(u32),
    /// An x register, and its type in [`Module::types`] (0: nothing known).
    X(u16, u32),
    /// A y register, and its type.
    Y(u16, u32),
    /// A float register.
    Float(u16),
    /// A label; 0 is no label.
    Label(u32),
    /// A bare number.
    U(u64),
    /// A bare number of more than 63 bits.
    Overflow,
    /// A heap reservation.
    Alloc(AllocList),
    /// A list of that many operands: see [`Code::list`].
    List(u32),
}

impl Arg {
    /// Its position in the declaration above (the compiler makes this a load).
    #[inline]
    pub(crate) const fn tag(self) -> usize {
        match self {
            Arg::Nil => 0,
            Arg::Atom(_) => 1,
            Arg::Int(_) => 2,
            Arg::Big(_) => 3,
            Arg::Literal(_) => 4,
            Arg::X(..) => 5,
            Arg::Y(..) => 6,
            Arg::Float(_) => 7,
            Arg::Label(_) => 8,
            Arg::U(_) => 9,
            Arg::Overflow => 10,
            Arg::Alloc(_) => 11,
            Arg::List(_) => 12,
        }
    }
}

/// A heap reservation: words, and objects whose size is up to the VM.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct AllocList {
    /// Words.
    pub words: u32,
    /// Boxed floats.
    pub floats: u32,
    /// Funs (the free variables are counted in `words`).
    pub funs: u32,
}

/// An integer of more than 64 bits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BigInt {
    /// Below zero.
    pub negative: bool,
    /// The absolute value, least significant digit first; the last is not zero.
    pub digits: Vec<u64>,
}

/// One instruction: its operands are `count` entries of the operand array from `first` on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Op {
    /// Which instruction.
    pub opcode: Opcode,
    pub(crate) first: u32,
    pub(crate) count: u32,
}

/// A function of the module. Instructions are named by their index in [`Code::ops`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// Atom index of its name.
    pub name: u32,
    /// Number of arguments.
    pub arity: u8,
    /// Label of its `func_info`.
    pub info_label: u32,
    /// Its entry label.
    pub entry_label: u32,
    /// Location of the `func_info`, an index in the `LineEntry` chunk; 0 if there is none.
    pub line: u32,
    /// All its instructions, from the first label on.
    pub ops: Range<usize>,
    /// Index of the entry label's instruction.
    pub entry: usize,
}

/// The definition of a native record. Atoms are indexes of the module's.
#[derive(Clone, PartialEq, Debug)]
pub struct RecordEntry {
    pub name: u32,
    /// Whether other modules may use it.
    pub exported: bool,
    /// Keys as declared, each with the constant that is its default value, if it has one.
    pub fields: Vec<(u32, Option<Arg>)>,
}

/// The frame at a `debug_line`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DebugFrame {
    None,
    /// At the function's entry: there is no frame yet.
    Entry,
    Size(u32),
}

/// A call that follows a `debug_line`. Names are atoms, or literals with a variable's name.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum DebugCall {
    Remote { module: Arg, function: Arg, arity: u8 },
    Local { function: Arg, arity: u8 },
    Fun(Arg),
}

/// What is known at a `debug_line`.
#[derive(Clone, PartialEq, Debug)]
pub struct DebugItem {
    pub frame: DebugFrame,
    /// The names of variables (at an entry, numbers of arguments), and where each is: a register or
    /// a constant.
    pub variables: Vec<[Arg; 2]>,
    pub calls: Vec<DebugCall>,
}

/// What a debugger is told about a module's code.
#[derive(Default)]
pub struct DebugInfo {
    /// In the order of the numbers by which `debug_line` names them, the first of which is 1.
    pub items: Vec<DebugItem>,
    /// The integers that [`Arg::Big`] names here.
    pub bigs: Vec<BigInt>,
}

/// A module's code, decoded: every index in it has been checked against its table.
pub struct Code {
    /// The instructions.
    pub ops: Vec<Op>,
    pub(crate) args: Vec<Arg>,
    /// Integers that don't fit [`Arg::Int`].
    pub bigs: Vec<BigInt>,
    /// The functions, in order.
    pub functions: Vec<Function>,
    /// Definitions of native records.
    pub records: Vec<RecordEntry>,
    /// What a debugger is told about the code.
    pub debug_info: DebugInfo,
    /// The position of each label, as an index of `ops`; [`Code::UNPLACED_LABEL`] if it has none.
    pub labels: Vec<u32>,
}

impl Code {
    /// In [`Code::labels`]: the label isn't placed.
    pub const UNPLACED_LABEL: u32 = u32::MAX;

    /// All operands of all instructions, in order.
    pub fn operands(&self) -> &[Arg] {
        &self.args
    }

    /// The operands of an instruction, as many as its arity; a list is the last one.
    #[inline]
    pub fn args(&self, op: &Op) -> &[Arg] {
        self.all_args(op).get(..op.opcode.arity()).unwrap_or_default()
    }

    /// The elements of the list that is the last operand; empty if there is none.
    #[inline]
    pub fn list(&self, op: &Op) -> &[Arg] {
        self.all_args(op).get(op.opcode.arity()..).unwrap_or_default()
    }

    #[inline]
    fn all_args(&self, op: &Op) -> &[Arg] {
        let first = op.first as usize;
        self.args.get(first..first + op.count as usize).unwrap_or_default()
    }

    /// The position of a label, as an index of `ops`.
    #[inline]
    pub fn label(&self, label: u32) -> Option<usize> {
        self.labels
            .get(label as usize)
            .filter(|at| **at != Code::UNPLACED_LABEL)
            .map(|at| *at as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operand_takes_two_words() {
        assert_eq!(size_of::<Arg>(), 16);
    }
}
