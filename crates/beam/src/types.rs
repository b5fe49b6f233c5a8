//! The `BeamType` chunk: the compiler's type information about operands. A hint, never trusted for
//! safety.

use crate::reader::Reader;

/// A version of the chunk: which bits of an entry's first word stand for which types, and whether
/// bounds and unit are present only if further bits say so.
struct Format {
    version: u32,
    /// The types by their bits, from bit 0 on.
    types: &'static [u16],
    /// The bits above the types are flags for what follows; otherwise two bounds follow.
    flags: bool,
}

/// Bytes of the shortest entry.
const SHORTEST_ENTRY: usize = 2;

/// The formats of OTP 25, of 26 and 27, and of 29. Chunks of other versions are ignored.
static FORMATS: &[Format] = &[
    Format { version: 1, types: &VERSION_1, flags: false },
    Format { version: 3, types: &VERSION_3, flags: true },
    Format { version: 4, types: &VERSION_4, flags: true },
];
const VERSION_1: [u16; 13] = {
    let mut types = [0; 13];
    let mut bit = 0;
    while bit < 13 {
        types[bit] = 1 << bit;
        bit += 1;
    }
    types
};
const VERSION_3: [u16; 12] = [
    BeamType::ATOM,
    BeamType::BITSTRING | BeamType::MATCH_CONTEXT,
    BeamType::CONS,
    BeamType::FLOAT,
    BeamType::FUN,
    BeamType::INTEGER,
    BeamType::MAP,
    BeamType::NIL,
    BeamType::PID,
    BeamType::PORT,
    BeamType::REFERENCE,
    BeamType::TUPLE,
];
const VERSION_4: [u16; 13] = {
    let mut types = [BeamType::RECORD; 13];
    let mut bit = 0;
    while bit < 12 {
        types[bit] = VERSION_3[bit];
        bit += 1;
    }
    types
};

impl Format {
    fn entry(&self, r: &mut Reader) -> Option<BeamType> {
        let word = r.u16().filter(|word| *word != 0)?;
        let has = |bit: usize| word >> bit & 1 != 0;
        let types = self.types.iter().zip(0..).filter(|(_, bit)| has(*bit));
        let union = types.fold(0, |union, (ty, _)| union | ty);
        // Before OTP 29 all types together do not include native records.
        let all = union | BeamType::RECORD == BeamType::ANY.union;
        let union = if all { BeamType::ANY.union } else { union };
        if !self.flags {
            return Some(BeamType { union, min: r.i64()?, max: r.i64()? });
        }
        let first = self.types.len();
        let [has_min, has_max, has_unit] = [first, first + 1, first + 2].map(has);
        let min = if has_min { Some(r.i64()?) } else { None };
        let max = if has_max { Some(r.i64()?) } else { None };
        if has_unit {
            r.u8()?;
        }
        let (min, max) = min.zip(max).unwrap_or((BeamType::ANY.min, BeamType::ANY.max));
        Some(BeamType { union, min, max })
    }
}

/// A set of types, and bounds if it is an integer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BeamType {
    /// Which types it may be: a union of the constants below.
    pub union: u16,
    /// Bounds of an integer; there are none if `min > max`.
    pub min: i64,
    /// See `min`.
    pub max: i64,
}

impl BeamType {
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

    /// Native record (since OTP 29).
    pub const RECORD: u16 = 1 << 13;

    /// Nothing is known.
    pub const ANY: BeamType = BeamType { union: (1 << 14) - 1, min: 0, max: -1 };

    /// The bounds, if it is an integer and has any.
    pub fn bounds(&self) -> Option<(i64, i64)> {
        (self.union == BeamType::INTEGER && self.min <= self.max).then_some((self.min, self.max))
    }
}

/// The table; entry 0 is always [`BeamType::ANY`].
pub struct Types {
    entries: Vec<BeamType>,
    /// The chunk is missing or of another version: type indexes in the code are meaningless.
    pub(crate) fallback: bool,
}

impl Types {
    /// The table of a file without (known) types.
    pub(crate) fn none() -> Types {
        Types { entries: vec![BeamType::ANY], fallback: true }
    }

    /// The type at an index, [`BeamType::ANY`] if there is none.
    pub fn get(&self, index: u32) -> BeamType {
        usize::try_from(index)
            .ok()
            .and_then(|i| self.entries.get(i))
            .copied()
            .unwrap_or(BeamType::ANY)
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
        let version = r.u32()?;
        let Some(format) = FORMATS.iter().find(|f| f.version == version) else {
            return Some(Types::none());
        };
        let count = r.count(SHORTEST_ENTRY)?;
        let entries: Option<Vec<BeamType>> = (0..count).map(|_| format.entry(&mut r)).collect();
        let entries = entries?;
        let first = entries.first()?;
        let any = first.union == BeamType::ANY.union && first.min > first.max;
        any.then_some(Types { entries, fallback: false })
    }
}
