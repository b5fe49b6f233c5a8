//! The type of a register: a set of types, the minimum size of a tuple, the handler of a tag.
//!
//! One word, so that states are compared and copied quickly: bits 0..18 the set, 18 whether it may
//! be a part of a message that isn't taken, 20..36 the minimum number of elements if it is a tuple,
//! 19 whether that number is exact, 36..64 the label of the handler if it is a catch tag.

use crate::code::Arg;
use kvik_isa::Opcode;

const ARITY_SHIFT: u32 = 20;
const ARITY_BITS: u64 = 0xffff << ARITY_SHIFT;
const LABEL_SHIFT: u32 = 36;
const EXACT: u64 = 1 << 19;
const LENT: u64 = 1 << 18;
const SET: u64 = LENT - 1;
/// Labels are numbered below this: a module with more is refused (`module.rs`).
pub(crate) const MAX_LABELS: u32 = 1 << 28;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ty(u64);

impl Ty {
    pub(crate) const ATOM: Ty = Ty(1 << 0);
    pub(crate) const BITSTRING: Ty = Ty(1 << 1);
    pub(crate) const CONS: Ty = Ty(1 << 2);
    pub(crate) const FLOAT: Ty = Ty(1 << 3);
    pub(crate) const FUN: Ty = Ty(1 << 4);
    pub(crate) const SMALL: Ty = Ty(1 << 5);
    pub(crate) const BIG: Ty = Ty(1 << 6);
    pub(crate) const MAP: Ty = Ty(1 << 7);
    pub(crate) const NIL: Ty = Ty(1 << 8);
    pub(crate) const PID: Ty = Ty(1 << 9);
    pub(crate) const PORT: Ty = Ty(1 << 10);
    pub(crate) const REF: Ty = Ty(1 << 11);
    pub(crate) const TUPLE: Ty = Ty(1 << 12);
    /// A match context: a value that only the bs instructions may see.
    pub(crate) const CONTEXT: Ty = Ty(1 << 13);
    /// Perhaps never written.
    pub(crate) const UNINIT: Ty = Ty(1 << 14);
    /// The tag that `catch` left in a y register.
    pub(crate) const CATCH: Ty = Ty(1 << 15);
    /// The tag that `try` left in a y register.
    pub(crate) const TRY: Ty = Ty(1 << 16);
    /// A native record.
    pub(crate) const RECORD: Ty = Ty(1 << 17);

    /// Any Erlang term.
    pub(crate) const TERM: Ty = Ty(((1 << 13) - 1) | Ty::RECORD.0);
    pub(crate) const INTEGER: Ty = Ty(Ty::SMALL.0 | Ty::BIG.0);
    pub(crate) const NUMBER: Ty = Ty(Ty::INTEGER.0 | Ty::FLOAT.0);
    pub(crate) const LIST: Ty = Ty(Ty::CONS.0 | Ty::NIL.0);
    pub(crate) const TAG: Ty = Ty(Ty::CATCH.0 | Ty::TRY.0);
    /// The types that `bs_start_match` accepts.
    pub(crate) const MATCHABLE: Ty = Ty(Ty::BITSTRING.0 | Ty::CONTEXT.0);

    /// Types of immediates, which are not pointers.
    const IMMEDIATE: Ty = Ty(Ty::ATOM.0 | Ty::SMALL.0 | Ty::NIL.0);

    /// The same type, of a part of a message that the process looks at and hasn't taken: it must
    /// not outlive that look.
    pub(crate) fn borrowed(self) -> Ty {
        Ty(self.0 | LENT)
    }

    /// Whether it may be a part of a message that isn't taken.
    #[inline]
    pub(crate) fn is_borrowed(self) -> bool {
        self.0 & LENT != 0 && !self.is(Ty::IMMEDIATE)
    }

    /// The same type once the message is taken.
    pub(crate) fn taken(self) -> Ty {
        Ty(self.0 & !LENT)
    }

    /// A tuple of at least that many elements.
    pub(crate) fn tuple(arity: usize) -> Ty {
        Ty(Ty::TUPLE.0 | (arity.min(0xffff) as u64) << ARITY_SHIFT)
    }

    /// A tuple of exactly that many elements.
    pub(crate) fn exactly(arity: usize) -> Ty {
        Ty(Ty::tuple(arity).0 | if arity < 0xffff { EXACT } else { 0 })
    }

    /// Whether the minimum number of elements is exact, if it is a tuple.
    pub(crate) fn is_exact(self) -> bool {
        self.0 & EXACT != 0
    }

    /// Whether it is certainly a tuple of exactly that many elements.
    pub(crate) fn is_exactly(self, arity: u64) -> bool {
        self.is(Ty::TUPLE) && self.0 & EXACT != 0 && self.arity() as u64 == arity
    }

    /// A catch tag (`CATCH` or `TRY`) with its handler.
    pub(crate) fn tag(kind: Ty, handler: u32) -> Ty {
        Ty(kind.0 | u64::from(handler) << LABEL_SHIFT)
    }

    /// The handler of a tag; 0 if there may be several.
    pub(crate) fn handler(self) -> u32 {
        (self.0 >> LABEL_SHIFT) as u32
    }

    /// The minimum number of elements, if it is a tuple at all.
    pub(crate) fn arity(self) -> usize {
        ((self.0 & ARITY_BITS) >> ARITY_SHIFT) as usize
    }

    /// No value has this type.
    pub(crate) fn is_none(self) -> bool {
        self.0 & SET == 0
    }

    /// Whether it may be one of these.
    #[inline]
    pub(crate) fn has(self, types: Ty) -> bool {
        self.0 & types.0 & SET != 0
    }

    /// Whether it is certainly one of these.
    #[inline]
    pub(crate) fn is(self, types: Ty) -> bool {
        self.0 & SET & !types.0 == 0
    }

    /// Whether it is certainly a tuple with an element at this index (counted from 0).
    pub(crate) fn is_tuple_with(self, index: u64) -> bool {
        self.is(Ty::TUPLE) && index < self.arity() as u64
    }

    pub(crate) fn or(self, types: Ty) -> Ty {
        Ty(self.0 | types.0 & SET)
    }

    pub(crate) fn without(self, types: Ty) -> Ty {
        let left = Ty(self.0 & !(types.0 & SET));
        if left.has(Ty::TUPLE) {
            left
        } else {
            Ty(left.0 & !(ARITY_BITS | EXACT))
        }
    }

    /// The type after a test for `types` succeeded.
    pub(crate) fn meet(self, types: Ty) -> Ty {
        let both = self.0 & types.0 & SET | self.0 & LENT;
        if both & Ty::TUPLE.0 == 0 {
            return Ty(both);
        }
        let arity = self.arity().max(types.arity());
        Ty(both | (self.0 | types.0) & EXACT | (arity as u64) << ARITY_SHIFT)
    }

    /// The join of two paths. `widen`: this isn't the first join, so drop sizes, or a loop might
    /// shrink them one by one.
    #[inline]
    pub(crate) fn join(self, other: Ty, widen: bool) -> Ty {
        if self == other {
            return self;
        }
        let set = (self.0 | other.0) & (SET | LENT);
        let (arity, exact) = match (self.has(Ty::TUPLE), other.has(Ty::TUPLE)) {
            (true, true) if self.arity() == other.arity() => (self.arity(), self.0 & other.0),
            (true, true) if widen => (0, 0),
            (true, true) => (self.arity().min(other.arity()), 0),
            (true, false) => (self.arity(), self.0),
            (false, _) => (other.arity(), other.0),
        };
        let handler = if self.handler() == other.handler() { self.0 >> LABEL_SHIFT } else { 0 };
        Ty(set | exact & EXACT | (arity as u64) << ARITY_SHIFT | handler << LABEL_SHIFT)
    }

    /// The type of a constant that stands in the code; `None` for registers and literals.
    pub(crate) fn of_constant(arg: Arg) -> Option<Ty> {
        match arg {
            Arg::Nil => Some(Ty::NIL),
            Arg::Atom(_) => Some(Ty::ATOM),
            Arg::Int(n) if is_small(n) => Some(Ty::SMALL),
            Arg::Int(_) | Arg::Big(_) => Some(Ty::BIG),
            _ => None,
        }
    }

    /// The type of a literal, from its external term format.
    pub(crate) fn of_literal(bytes: &[u8]) -> Ty {
        let body = bytes.get(1..).unwrap_or_default();
        let number = |from: usize, to: usize| {
            let digits = body.get(from..to).unwrap_or_default();
            digits.iter().fold(0usize, |n, d| n << 8 | usize::from(*d))
        };
        match body.first() {
            Some(104) => Ty::exactly(number(1, 2)),
            Some(105) => Ty::exactly(number(1, 5)),
            Some(106) => Ty::NIL,
            Some(107) if number(1, 3) > 0 => Ty::CONS,
            Some(108) if number(1, 5) > 0 => Ty::CONS,
            Some(116) => Ty::MAP,
            Some(70 | 99) => Ty::FLOAT,
            Some(109 | 77) => Ty::BITSTRING,
            Some(97 | 98 | 110 | 111) => Ty::INTEGER,
            Some(100 | 115 | 118 | 119) => Ty::ATOM,
            Some(112 | 113) => Ty::FUN,
            Some(67) => Ty::RECORD,
            _ => Ty::TERM,
        }
    }

    /// The type that passes a type test.
    pub(crate) fn of_test(op: Opcode) -> Option<Ty> {
        Some(match op {
            Opcode::IsInteger => Ty::INTEGER,
            Opcode::IsFloat => Ty::FLOAT,
            Opcode::IsNumber => Ty::NUMBER,
            Opcode::IsAtom => Ty::ATOM,
            Opcode::IsPid => Ty::PID,
            Opcode::IsReference => Ty::REF,
            Opcode::IsPort => Ty::PORT,
            Opcode::IsNil => Ty::NIL,
            Opcode::IsList => Ty::LIST,
            Opcode::IsNonemptyList => Ty::CONS,
            Opcode::IsTuple => Ty::TUPLE,
            Opcode::IsMap => Ty::MAP,
            Opcode::IsAnyNativeRecord => Ty::RECORD,
            Opcode::IsFunction => Ty::FUN,
            _ => return None,
        })
    }
}

/// Whether an integer fits the 60 bits of a small one.
pub(crate) fn is_small(n: i64) -> bool {
    (-(1 << 59)..1 << 59).contains(&n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joins_and_meets() {
        let pair = Ty::tuple(2);
        assert!(pair.join(Ty::tuple(3), false).is_tuple_with(1));
        assert!(!pair.join(Ty::tuple(3), true).is_tuple_with(1));
        assert!(pair.join(Ty::ATOM, false).meet(Ty::TUPLE).is_tuple_with(1));
        let just = Ty::exactly(2);
        assert!(just.is_exactly(2) && !pair.is_exactly(2));
        assert!(just.join(Ty::exactly(2), true).is_exactly(2));
        assert!(
            !just.join(pair, false).is_exactly(2)
                && !just.join(Ty::exactly(3), false).is_exactly(2)
        );
        assert!(just.join(Ty::ATOM, false).meet(Ty::TUPLE).is_exactly(2));
        assert!(Ty::TERM.meet(just).is_exactly(2));
        assert!(Ty::LIST.without(Ty::NIL).is(Ty::CONS));
        assert!(Ty::ATOM.meet(Ty::TUPLE).is_none());
        let (one, two) = (Ty::tag(Ty::TRY, 7), Ty::tag(Ty::TRY, 9));
        assert_eq!(one.handler(), 7);
        assert_eq!(one.join(two, false).handler(), 0);
        assert!(one.join(Ty::UNINIT, false).has(Ty::UNINIT));
    }
}
