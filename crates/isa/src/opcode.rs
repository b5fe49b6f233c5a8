//! The generic opcodes, generated from `ops.tab`.

include!(concat!(env!("OUT_DIR"), "/opcodes.rs"));

/// The highest opcode of all releases.
pub const MAX_OPCODE: u8 = INFO.len() as u8;

/// The highest opcode of a release. A file that names a higher one was made for a later release.
pub fn highest_opcode(release: u16) -> u8 {
    INFO.iter().filter(|info| info.since <= release).count() as u8
}

/// The kinds of operands; the letters of `ops.tab`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperandKind {
    /// `x`: an x register.
    X,
    /// `y`: a y register.
    Y,
    /// `l`: a float register.
    FloatReg,
    /// `r`: an x or y register, read.
    Reg,
    /// `d`: an x or y register, written.
    Dst,
    /// `s`: register, integer, atom, `[]` or literal, read.
    Src,
    /// `c`: float register, x, y or literal (`fmove` only; either side may be the float register).
    FloatOrTerm,
    /// `a`: an atom, not `[]`.
    Atom,
    /// `m`: index of the import table.
    Import,
    /// `u`: index of the fun table.
    Lambda,
    /// `t`: index of the fun table, or atom `safe` or `unsafe`.
    FunTag,
    /// `f`: label in the same function.
    Label,
    /// `j`: label in the same function, or 0: raise an exception.
    Fail,
    /// `e`: entry label of a function of the module.
    Entry,
    /// `p`: as `j`, or atom `no_fail` or `resume`.
    MatchFail,
    /// `L`: the number of the label being placed.
    LabelDef,
    /// `n`: a number.
    Number,
    /// `k`: size of a frame in y registers.
    Frame,
    /// `v`: how many x registers are live, or an arity.
    Live,
    /// `h`: heap words, as a number or an allocation list.
    HeapNeed,
    /// `g`: `s` or a number, possibly too large for a word.
    BitSize,
    /// `b`: offset in the string table.
    StrOffset,
    /// `z`: a list; always the last operand.
    List,
}

/// One line of the `%generic` section.
#[derive(Debug)]
pub struct OpInfo {
    /// The instruction.
    pub opcode: Opcode,
    /// Its name in `ops.tab`.
    pub name: &'static str,
    /// The number of operands (a list counts as one).
    pub arity: u8,
    /// The first release that has it; 0: all of them.
    pub since: u16,
    /// Dropped by every release: a file that has it is refused.
    pub obsolete: bool,
    /// The kind of each operand; empty for obsolete instructions.
    pub kinds: &'static [OperandKind],
    /// A one-line description.
    pub meaning: &'static str,
}

impl Opcode {
    /// The opcode with this number, if there is one.
    #[inline]
    pub fn from_number(number: u8) -> Option<Opcode> {
        let at = usize::from(number).wrapping_sub(1);
        INFO.get(at).map(|info| info.opcode)
    }

    /// The opcode with this name (for tests and tools; a linear search).
    pub fn from_name(name: &str) -> Option<Opcode> {
        INFO.iter().find(|info| info.name == name).map(|info| info.opcode)
    }

    /// Its entry in `ops.tab`.
    #[inline]
    pub fn info(self) -> &'static OpInfo {
        &INFO[self as usize - 1]
    }

    /// Its name in `ops.tab`.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// The number of operands; a list counts as one.
    #[inline]
    pub fn arity(self) -> usize {
        usize::from(self.info().arity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_lead_back_to_the_opcode() {
        for number in 1..=MAX_OPCODE {
            let op = Opcode::from_number(number).expect("dense numbers");
            assert_eq!(op as u8, number);
            assert_eq!(Opcode::from_name(op.name()), Some(op));
            assert_eq!(
                op.info().obsolete,
                op.info().kinds.is_empty() && op.info().meaning.is_empty()
            );
        }
        assert_eq!(Opcode::from_number(0), None);
        assert_eq!(Opcode::from_number(MAX_OPCODE + 1), None);
    }

    #[test]
    fn each_release_has_the_opcodes_of_those_before() {
        // The numbers of OTP's `genop.tab`; an opcode of kvik's own would come behind all of them.
        assert_eq!([25, 26, 27, 28].map(highest_opcode), [180, 182, 183, 184]);
        assert!(highest_opcode(29) >= 191);
    }

    #[test]
    fn a_list_is_the_last_operand() {
        for number in 1..=MAX_OPCODE {
            let kinds = Opcode::from_number(number).expect("dense").info().kinds;
            let lists = kinds.iter().filter(|k| **k == OperandKind::List).count();
            assert!(lists == 0 || (lists == 1 && kinds.last() == Some(&OperandKind::List)));
        }
    }
}
