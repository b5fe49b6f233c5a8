//! Segments of bit strings under construction: their descriptions in instructions, their sizes, and
//! the reasons why they fail.

use kvik_term::word::*;
use kvik_term::{am, Atom, Term};

use crate::Heap;

/// The longest bit string, in bits: more than any memory, and small enough that sums do not
/// overflow.
pub const MAX_BITS: usize = 1 << 43;

/// Why a construction failed.
#[derive(Copy, Clone, Debug)]
pub struct BsFail {
    /// `system_limit`, else `badarg`.
    pub system_limit: bool,
    /// Number of the segment, from 1.
    pub segment: u32,
    /// Its type: `binary`, `integer`, `float`, `utf8`, `utf16` or `utf32`.
    pub op: Atom,
    /// What is wrong: `type`, `size`, `unit`, `short`, `invalid` or `no_float`.
    pub info: Atom,
    /// The value that is wrong, as a word.
    pub value: u64,
}

impl BsFail {
    /// There is not enough memory, whatever the segments are.
    pub(crate) fn no_memory() -> BsFail {
        let (op, value) = (am::binary, small(0));
        BsFail { system_limit: true, segment: 1, op, info: am::size, value }
    }
}

impl Heap {
    /// The `error_info` map for a failed construction, from which `erl_erts_errors` explains it.
    pub fn bs_fail_info(&self, f: &BsFail) -> Term<'_> {
        // SAFETY: the value came from the instruction's operands or is a small integer.
        let value = unsafe { Term::from_word(f.value) };
        let cause = self.tuple(&[Term::int(f.segment as i32), f.op.into(), f.info.into(), value]);
        let explains = [(am::function, am::format_bs_fail), (am::module, am::erl_erts_errors)];
        let [function, module] = explains.map(|(key, name)| (key, Term::atom(name)));
        self.map_of_atoms(&[(am::cause, cause), function, module])
    }
}

/// Kinds of segments of `bs_create_bin`.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum SegKind {
    Append,
    PrivateAppend,
    Binary,
    Integer,
    Float,
    String,
    Utf8,
    Utf16,
    Utf32,
}

impl SegKind {
    /// By number.
    pub const ALL: [SegKind; 9] = [
        SegKind::Append,
        SegKind::PrivateAppend,
        SegKind::Binary,
        SegKind::Integer,
        SegKind::Float,
        SegKind::String,
        SegKind::Utf8,
        SegKind::Utf16,
        SegKind::Utf32,
    ];

    /// The kind with the name that the instruction uses.
    pub fn from_name(name: &str) -> Option<SegKind> {
        Some(match name {
            "append" => SegKind::Append,
            "private_append" => SegKind::PrivateAppend,
            "binary" => SegKind::Binary,
            "integer" => SegKind::Integer,
            "float" => SegKind::Float,
            "string" => SegKind::String,
            "utf8" => SegKind::Utf8,
            "utf16" => SegKind::Utf16,
            "utf32" => SegKind::Utf32,
            _ => return None,
        })
    }
    fn op(self) -> Atom {
        match self {
            SegKind::Integer => am::integer,
            SegKind::Float => am::float,
            SegKind::Utf8 => am::utf8,
            SegKind::Utf16 => am::utf16,
            SegKind::Utf32 => am::utf32,
            _ => am::binary,
        }
    }
}

/// A segment's description in an instruction, known at load time.
#[derive(Copy, Clone, Debug)]
pub struct Seg {
    pub kind: SegKind,
    pub number: u32,
    pub unit: u32,
    pub flags: u32,
    /// A string segment's bytes; else null.
    pub string: *const u8,
}

// SAFETY: the string belongs to the module's string table, which lives as long as the code.
unsafe impl Send for Seg {}
// SAFETY: as above; nothing writes to it.
unsafe impl Sync for Seg {}

impl Seg {
    pub(crate) fn fail(&self, info: Atom, value: u64) -> BsFail {
        BsFail { system_limit: false, segment: self.number, op: self.kind.op(), info, value }
    }
    pub(crate) fn limit(&self, value: u64) -> BsFail {
        BsFail { system_limit: true, ..self.fail(am::size, value) }
    }
    pub(crate) fn is_append(&self) -> bool {
        matches!(self.kind, SegKind::Append | SegKind::PrivateAppend)
    }
    /// Bits the segment will take. Some segments are judged together with their sizes, before the
    /// values of those in front of them.
    pub(crate) fn bits(&self, value: u64, size: u64) -> Result<usize, BsFail> {
        match self.kind {
            SegKind::Append | SegKind::PrivateAppend => return Ok(0),
            SegKind::Utf8
                if !is_char(value) && kvik_release::current().judges_utf8_with_sizes() =>
            {
                return Err(self.fail(am::type_, value));
            }
            SegKind::Utf8 => return Ok(utf8_len(value) * 8),
            SegKind::Utf16 => return Ok(if small_value(value) < 0x10000 { 16 } else { 32 }),
            SegKind::Utf32 if is_char(value) => return Ok(32),
            SegKind::Utf32 => return Err(self.fail(am::type_, value)),
            _ => {}
        }
        if size == am::all.word() {
            // SAFETY: a live term.
            let bits = unsafe { Term::from_word(value) }.as_bits();
            return match bits {
                Some(b) => Ok(b.bit_len()),
                None => Err(self.fail(am::type_, value)),
            };
        }
        match segment_size(size, self.unit) {
            Ok(n) => Ok(n),
            Err(true) => Err(self.limit(size)),
            Err(false) => Err(self.fail(am::size, size)),
        }
    }
}

/// `size * unit` bits. The error is true for a system limit, and false for an invalid size.
pub fn segment_size(size: u64, unit: u32) -> Result<usize, bool> {
    if is_small(size) {
        let n = usize::try_from(small_value(size)).map_err(|_| false)?;
        return n.checked_mul(unit as usize).filter(|n| *n <= MAX_BITS).ok_or(true);
    }
    // SAFETY: a live term; a size that is a bignum is too large or negative.
    let h = unsafe { Term::from_word(size) }.boxed().map(|(h, _)| header_subtag(h));
    Err(h == Some(BIG_POS))
}

pub(crate) fn is_char(w: u64) -> bool {
    is_small(w) && u32::try_from(small_value(w)).is_ok_and(|c| char::from_u32(c).is_some())
}
/// Bytes of a character in UTF-8 (4 for a term that is no character).
pub fn utf8_len(w: u64) -> usize {
    match small_value(w) {
        _ if !is_small(w) => 4,
        i64::MIN..0x80 => 1,
        0x80..0x800 => 2,
        0x800..0x10000 => 3,
        _ => 4,
    }
}
/// Bytes of a character in UTF-16.
pub fn utf16_len(w: u64) -> usize {
    if is_small(w) && small_value(w) < 0x10000 {
        2
    } else {
        4
    }
}

pub(crate) fn char_of(w: u64) -> Option<char> {
    is_char(w).then(|| char::from_u32(small_value(w) as u32))?
}

/// Rounds a finite number to the nearest half, ties to even; too large values become infinite.
pub fn f64_to_half(f: f64) -> u16 {
    let b = f.to_bits();
    let sign = (b >> 48 & 0x8000) as u16;
    let e = (b >> 52 & 0x7FF) as i32 - 1023 + 15;
    let m = b & ((1 << 52) - 1);
    if e >= 31 {
        return sign | 0x7C00;
    }
    if e < -10 {
        return sign;
    }
    // A subnormal half shifts the hidden bit in.
    let (m, shift) = if e <= 0 { (m | 1 << 52, 43 - e) } else { (m | (e as u64) << 52, 42) };
    let (q, rest) = (m >> shift, m & ((1 << shift) - 1));
    let half = 1 << (shift - 1);
    let up = rest > half || rest == half && q & 1 == 1;
    sign | (q + up as u64) as u16
}
