//! The compact encoding of operands: a three-bit tag and a number of any length.

use crate::reader::Reader;

pub(crate) const TAG_U: u8 = 0;
pub(crate) const TAG_I: u8 = 1;
pub(crate) const TAG_A: u8 = 2;
pub(crate) const TAG_X: u8 = 3;
pub(crate) const TAG_Y: u8 = 4;
pub(crate) const TAG_F: u8 = 5;
pub(crate) const TAG_Z: u8 = 7;

/// A decoded number, by size.
pub(crate) enum Number<'a> {
    /// Not negative (for tag i also when it was, as the two's complement of 64 bits).
    Word(u64),
    /// More than eight bytes, big-endian; two's complement for tag i.
    Long(&'a [u8]),
}

/// Reads one tagged number.
#[inline]
pub(crate) fn read<'a>(r: &mut Reader<'a>) -> Option<(u8, Number<'a>)> {
    let first = r.u8()?;
    let tag = first & 7;
    if first & 8 == 0 {
        return Some((tag, Number::Word(u64::from(first >> 4))));
    }
    if first & 16 == 0 {
        let low = u64::from(r.u8()?);
        return Some((tag, Number::Word(u64::from(first >> 5) << 8 | low)));
    }
    let count = match usize::from(first >> 5) {
        7 => long_length(r)?,
        code => code + 2,
    };
    let bytes = r.bytes(count)?;
    if count > 8 {
        return Some((tag, Number::Long(bytes)));
    }
    let negative = tag == TAG_I && bytes.first().is_some_and(|b| b & 0x80 != 0);
    let start = if negative { u64::MAX } else { 0 };
    let word = bytes.iter().fold(start, |n, b| n << 8 | u64::from(*b));
    Some((tag, Number::Word(word)))
}

/// The length of a number of nine bytes or more. Lengths that are such numbers themselves don't
/// occur.
fn long_length(r: &mut Reader) -> Option<usize> {
    let first = r.u8()?;
    let rest = match first {
        b if b & 7 != TAG_U => return None,
        b if b & 8 == 0 => u64::from(b >> 4),
        b if b & 16 == 0 => u64::from(b >> 5) << 8 | u64::from(r.u8()?),
        b => {
            let count = usize::from(b >> 5) + 2;
            let bytes = r.bytes(count)?;
            bytes.iter().try_fold(0u64, |n, b| (n >> 48 == 0).then_some(n << 8 | u64::from(*b)))?
        }
    };
    usize::try_from(rest).ok()?.checked_add(9)
}

/// Reads an untagged number that fits 32 bits.
#[inline]
pub(crate) fn read_u32(r: &mut Reader) -> Option<u32> {
    match read(r)? {
        (TAG_U, Number::Word(n)) => u32::try_from(n).ok(),
        _ => None,
    }
}
