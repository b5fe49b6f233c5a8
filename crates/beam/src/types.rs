//! The `Type` chunk: what the compiler knows of operands. A hint, never trusted for safety.

use crate::reader::Reader;

/// The only version of the chunk that OTP 25 writes.
const VERSION: u32 = 1;
/// Bytes of one entry.
const ENTRY: usize = 18;

/// A set of types, and bounds if it is an integer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Type {
    /// Which types it may be: a union of the constants below.
    pub union: u16,
    /// Bounds of an integer; there are none if `min > max`.
    pub min: i64,
    /// See `min`.
    pub max: i64,
}

impl Type {
    /// Atom.
    pub const ATOM: u16 = 1 << 0;
    /// Bit string.
    pub const BITSTRING: u16 = 1 << 1;
    /// Match context.
    pub const MATCH_CONTEXT: u16 = 1 << 2;
    /// List cell.
    pub const CONS: u16 = 1 << 3;
    /// Float.
    pub const FLOAT: u16 = 1 << 4;
    /// Fun.
    pub const FUN: u16 = 1 << 5;
    /// Integer of any size.
    pub const INTEGER: u16 = 1 << 6;
    /// Map.
    pub const MAP: u16 = 1 << 7;
    /// `[]`.
    pub const NIL: u16 = 1 << 8;
    /// Pid.
    pub const PID: u16 = 1 << 9;
    /// Port.
    pub const PORT: u16 = 1 << 10;
    /// Reference.
    pub const REFERENCE: u16 = 1 << 11;
    /// Tuple.
    pub const TUPLE: u16 = 1 << 12;

    /// Nothing is known.
    pub const ANY: Type = Type { union: (1 << 13) - 1, min: 0, max: -1 };

    /// The bounds, if it is an integer and has any.
    pub fn bounds(&self) -> Option<(i64, i64)> {
        (self.union == Type::INTEGER && self.min <= self.max).then_some((self.min, self.max))
    }
}

/// The table; entry 0 is always [`Type::ANY`].
pub struct Types {
    entries: Vec<Type>,
    /// The chunk is missing or of another version: indexes in the code mean nothing.
    pub(crate) fallback: bool,
}

impl Types {
    /// The table of a file without (known) types.
    pub(crate) fn none() -> Types {
        Types { entries: vec![Type::ANY], fallback: true }
    }

    /// The type at an index, [`Type::ANY`] if there is none.
    pub fn get(&self, index: u32) -> Type {
        usize::try_from(index).ok().and_then(|i| self.entries.get(i)).copied().unwrap_or(Type::ANY)
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Never true: there is always entry 0.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn parse(chunk: &[u8]) -> Option<Types> {
        let mut r = Reader::new(chunk);
        if r.u32()? != VERSION {
            return Some(Types::none());
        }
        let count = r.count(ENTRY)?;
        let entries: Option<Vec<Type>> = (0..count)
            .map(|_| {
                let union = r.u16().filter(|u| *u != 0)?;
                Some(Type { union, min: r.i64()?, max: r.i64()? })
            })
            .collect();
        let entries = entries?;
        let first = entries.first()?;
        let any = first.union == Type::ANY.union && first.min > first.max;
        any.then_some(Types { entries, fallback: false })
    }
}
