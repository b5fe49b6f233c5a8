//! Bit string construction by compilers before OTP 25: one instruction begins a bit string, and the
//! instructions right behind it append to it. The decoder turns these into segments of the first,
//! so that later stages see the form of `bs_create_bin`: a single instruction, never a half-built
//! bit string.
//!
//! The compilers of OTP 22 to 24 may restore and read a match context between two segments (if the
//! value of the second is the rest of the match). The bit string is then finished before that, and
//! the following segments are appended by a `bs_private_append`.

use crate::code::Arg;
use kvik_isa::Opcode;

/// Segment types. For an old instruction, an index of this replaces the atom that `bs_create_bin`
/// has.
pub const SEGMENT_TYPES: [&str; 9] =
    ["append", "private_append", "binary", "integer", "float", "string", "utf8", "utf16", "utf32"];

/// The operands of a segment: type, serial number, unit, flags, value, size.
pub(crate) type Segment = [Arg; 6];

/// Whether an instruction begins a bit string, so that others may append to it.
pub(crate) fn begins(opcode: Opcode) -> bool {
    use Opcode::*;
    matches!(opcode, BsInit2 | BsInitBits | BsAppend | BsPrivateAppend)
}

/// Whether an instruction appends to a bit string.
pub(crate) fn appends(opcode: Opcode) -> bool {
    use Opcode::*;
    matches!(
        opcode,
        BsPutBinary | BsPutInteger | BsPutFloat | BsPutString | BsPutUtf8 | BsPutUtf16 | BsPutUtf32
    )
}

/// Whether the segments of a bit string may continue after an instruction that doesn't name it.
pub(crate) fn may_interrupt(opcode: Opcode) -> bool {
    use Opcode::*;
    matches!(opcode, BsSetPosition | BsGetPosition | BsGetTail | Move | Swap | Line)
}

/// The failure label and the register of a bit string: the first and the last operand of the
/// instruction that begins it.
pub(crate) fn unfinished(args: &[Arg]) -> Option<(Arg, Arg)> {
    args.first().copied().zip(args.last().copied())
}

/// The operands of the `bs_private_append` that continues a bit string, and its first segment.
pub(crate) fn resumed(label: Arg, target: Arg) -> Vec<Arg> {
    let (none, bit) = (Arg::U(0), Arg::U(1));
    let operands = [label, none, bit, target, none, target];
    operands.into_iter().chain(segment(1, bit, Arg::Nil, target)).collect()
}

/// The segment that an instruction begins with.
pub(crate) fn first(opcode: Opcode, args: &[Arg]) -> Option<Segment> {
    match (opcode, args) {
        (Opcode::BsAppend, [_, _, _, _, unit, bits, ..]) => {
            Some(segment(0, *unit, Arg::Nil, *bits))
        }
        (Opcode::BsPrivateAppend, [_, _, unit, bits, ..]) => {
            Some(segment(1, *unit, Arg::Nil, *bits))
        }
        _ => None,
    }
}

/// The segment that an instruction appends, and its failure label.
pub(crate) fn appended(opcode: Opcode, args: &[Arg]) -> Option<(Segment, Option<Arg>)> {
    use Opcode::*;
    let sized = |kind, size, unit, flags, value| {
        let mut s = segment(kind, unit, flags, value);
        s[5] = size;
        s
    };
    let one = Arg::U(1);
    Some(match (opcode, args) {
        (BsPutBinary, &[fail, size, unit, _, s]) => (sized(2, size, unit, Arg::Nil, s), Some(fail)),
        (BsPutInteger, &[fail, size, unit, flags, s]) => {
            (sized(3, size, unit, flags, s), Some(fail))
        }
        (BsPutFloat, &[fail, size, unit, flags, s]) => (sized(4, size, unit, flags, s), Some(fail)),
        (BsPutString, &[bytes, offset]) => (sized(5, bytes, Arg::U(8), Arg::Nil, offset), None),
        (BsPutUtf8, &[fail, _, s]) => (segment(6, one, Arg::Nil, s), Some(fail)),
        (BsPutUtf16, &[fail, flags, s]) => (segment(7, one, flags, s), Some(fail)),
        (BsPutUtf32, &[fail, flags, s]) => (segment(8, one, flags, s), Some(fail)),
        _ => return None,
    })
}

fn segment(kind: u64, unit: Arg, flags: Arg, value: Arg) -> Segment {
    [Arg::U(kind), Arg::U(1), unit, flags, value, Arg::Nil]
}
