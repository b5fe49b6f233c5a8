//! Bit strings: `heap::bits` and `heap::bits_build` with operands as templates give them.

use kvik_heap::bits::{self, segment_bits};
use kvik_heap::bits_build::{segment_size, utf16_len, utf8_len, Seg, MAX_BITS};
use kvik_heap::limit::fits;
use kvik_heap::roots::Root;
use kvik_heap::Regs;
use kvik_proc::Proc;
use kvik_term::am;
use kvik_term::word::{is_boxed, small, small_value, NONE};
use kvik_term::Term;

use super::{Operands, Pair};

fn flag(ok: bool) -> u64 {
    if ok {
        0
    } else {
        NONE
    }
}
fn unit(extra: u64) -> u32 {
    extra as u32
}
fn flags(extra: u64) -> u32 {
    (extra >> 32) as u32
}
/// Operand 0 if it is a match context. The verifier has proved that it is, but the test is free.
fn context(args: Operands) -> Option<u64> {
    let w = args.word(0);
    // SAFETY: an operand is a live term or match context.
    let t: Term<'_> = unsafe { Term::from_word(w) };
    (is_boxed(w) && bits::is_context(t)).then_some(w)
}

pub extern "C" fn get_integer(p: &Proc, _: &Regs, args: Operands, extra: u64) -> u64 {
    let (Some(c), Some(n)) = (context(args), segment_bits(args.word(1), unit(extra))) else {
        return NONE;
    };
    // SAFETY: a match context. So below.
    unsafe { p.heap.bs_get_integer(c, n, flags(extra)) }
}

pub extern "C" fn get_float(p: &Proc, _: &Regs, args: Operands, extra: u64) -> u64 {
    let (Some(c), Some(n)) = (context(args), segment_bits(args.word(1), unit(extra))) else {
        return NONE;
    };
    // SAFETY: a match context.
    unsafe { p.heap.bs_get_float(c, n, flags(extra)) }
}

pub extern "C" fn get_binary(p: &Proc, _: &Regs, args: Operands, extra: u64) -> u64 {
    let Some(c) = context(args) else { return NONE };
    // SAFETY: a match context.
    unsafe {
        if args.word(1) == am::all.word() {
            return p.heap.bs_get_binary_all(c, unit(extra) as usize);
        }
        match segment_bits(args.word(1), unit(extra)) {
            Some(n) => p.heap.bs_get_binary(c, n),
            None => NONE,
        }
    }
}

/// Takes `n` bits from a context.
pub extern "C" fn take_bits(p: &Proc, c: u64, n: u64, _: u64) -> u64 {
    // SAFETY: a match context.
    unsafe { p.heap.bs_get_binary(c, n as usize) }
}

/// Takes the next UTF-8 character.
pub extern "C" fn take_utf8(_: &Proc, c: u64, _: u64, _: u64) -> u64 {
    // SAFETY: a match context.
    unsafe { bits::bs_get_utf8(c) }
}

pub extern "C" fn skip(_: &Proc, _: &Regs, args: Operands, extra: u64) -> u64 {
    let Some(c) = context(args) else { return NONE };
    // SAFETY: a match context.
    unsafe {
        if args.word(1) == am::all.word() {
            return flag(bits::bs_skip_all(c, unit(extra) as usize));
        }
        match segment_bits(args.word(1), unit(extra)) {
            Some(n) => flag(bits::bs_skip(c, n)),
            None => NONE,
        }
    }
}

pub extern "C" fn test_tail(_: &Proc, _: &Regs, args: Operands, n: u64) -> u64 {
    // SAFETY: a match context.
    context(args).map_or(NONE, |c| flag(unsafe { bits::bs_test_tail(c, n as usize) }))
}
pub extern "C" fn test_unit(_: &Proc, _: &Regs, args: Operands, n: u64) -> u64 {
    // SAFETY: a match context.
    context(args).map_or(NONE, |c| flag(unsafe { bits::bs_test_unit(c, n as usize) }))
}
/// Operand 1 is the number of bits that precede the part whose size must be a multiple of the unit.
pub extern "C" fn test_rest(_: &Proc, _: &Regs, args: Operands, unit: u64) -> u64 {
    let bits = small_value(args.word(1)) as usize;
    // SAFETY: a match context.
    context(args).map_or(NONE, |c| flag(unsafe { bits::bs_test_rest(c, bits, unit as usize) }))
}
pub extern "C" fn match_string(_: &Proc, _: &Regs, args: Operands, s: u64) -> u64 {
    let n = small_value(args.word(1)) as usize;
    // SAFETY: a match context; the template has checked that the string has `n` bits.
    context(args).map_or(NONE, |c| flag(unsafe { bits::bs_match_string(c, s as *const u8, n) }))
}
pub extern "C" fn get_tail(p: &Proc, _: &Regs, args: Operands, _: u64) -> u64 {
    // SAFETY: a match context.
    context(args).map_or(NONE, |c| unsafe { p.heap.bs_get_tail(c) })
}
pub extern "C" fn get_position(_: &Proc, _: &Regs, args: Operands, _: u64) -> u64 {
    // SAFETY: a match context.
    context(args).map_or(NONE, |c| unsafe { bits::bs_get_position(c) })
}
pub extern "C" fn set_position(_: &Proc, _: &Regs, args: Operands, _: u64) -> u64 {
    if let Some(c) = context(args) {
        // SAFETY: a match context.
        unsafe { bits::bs_set_position(c, args.word(1)) }
    }
    0
}
pub extern "C" fn get_utf8(_: &Proc, _: &Regs, args: Operands, _: u64) -> u64 {
    // SAFETY: a match context.
    context(args).map_or(NONE, |c| unsafe { bits::bs_get_utf8(c) })
}
pub extern "C" fn get_utf16(_: &Proc, _: &Regs, args: Operands, fl: u64) -> u64 {
    // SAFETY: a match context.
    context(args).map_or(NONE, |c| unsafe { bits::bs_get_utf16(c, fl as u32) })
}
pub extern "C" fn get_utf32(_: &Proc, _: &Regs, args: Operands, fl: u64) -> u64 {
    // SAFETY: a match context.
    context(args).map_or(NONE, |c| unsafe { bits::bs_get_utf32(c, fl as u32) })
}
pub extern "C" fn init_writable(p: &Proc, _: &Regs, args: Operands, _: u64) -> u64 {
    p.heap.bs_init_writable(args.word(0))
}

/// Accumulates a size (compilers before OTP 25): `a + b * unit`.
pub extern "C" fn add_sizes(p: &Proc, _: &Regs, args: Operands, unit: u64) -> u64 {
    let unit = u32::try_from(unit).unwrap_or(u32::MAX);
    let sum = segment_size(args.word(0), 1).and_then(|a| {
        let b = segment_size(args.word(1), unit)?;
        Ok(small((a + b) as i64))
    });
    sum.unwrap_or_else(|limit| {
        p.error(if limit { am::system_limit } else { am::badarg });
        NONE
    })
}
pub extern "C" fn utf8_size(_: &Proc, _: &Regs, args: Operands, _: u64) -> u64 {
    small(utf8_len(args.word(0)) as i64)
}
pub extern "C" fn utf16_size(_: &Proc, _: &Regs, args: Operands, _: u64) -> u64 {
    small(utf16_len(args.word(0)) as i64)
}

/// A binary extended by `bytes`, and the address of the new bytes. `NONE` if that is impossible:
/// `create_bin` then gives the reason.
pub extern "C" fn append(p: &Proc, bin: u64, bytes: u64, private: u64) -> Pair {
    let none = Pair(NONE, 0);
    // SAFETY: an operand is a live term.
    let Some(bits) = unsafe { Term::from_word(bin) }.as_bits() else { return none };
    let Some(more) = (bytes as usize).checked_mul(8).filter(|_| bits.is_binary()) else {
        return none;
    };
    // SAFETY: as above; the template fills the room at once.
    let answer = unsafe {
        match private {
            0 => p.heap.bs_append(bin, more, 8),
            _ => p.heap.bs_private_append(bin, more, 8),
        }
    };
    let Ok((w, b)) = answer else { return none };
    collect_soon(p);
    Pair(w, b.base.wrapping_add(b.pos / 8) as u64)
}
/// A new binary of that many bytes, more than a heap binary holds, and the address of its bytes.
pub extern "C" fn new_binary(p: &Proc, bytes: u64, _: u64, _: u64) -> Pair {
    let bits = (bytes as usize).checked_mul(8).filter(|n| *n <= MAX_BITS && fits(*n / 8));
    // SAFETY: the template fills the room at once.
    match bits.and_then(|n| unsafe { p.heap.bs_init_bits(n) }) {
        Some((w, b)) => {
            collect_soon(p);
            Pair(w, b.base as u64)
        }
        None => Pair(NONE, 0),
    }
}
pub extern "C" fn copy_bytes(_: &Proc, to: u64, from: u64, n: u64) -> u64 {
    // SAFETY: the template has reserved room for the bytes of a live binary; the destination does
    // not overlap with it.
    unsafe { std::ptr::copy_nonoverlapping(from as *const u8, to as *mut u8, n as usize) };
    0
}
/// Requests a collection if one is due: ends the time slice at the next function entry.
fn collect_soon(p: &Proc) {
    if p.heap.gc_due() {
        p.heap.set_reductions(0);
    }
}

/// Operands: the number of segments, the words to keep free, then value and size of each segment;
/// `extra` is the segments' table.
pub extern "C" fn create_bin(p: &Proc, _: &Regs, args: Operands, extra: u64) -> u64 {
    let n = small_value(args.word(0)) as usize;
    let (n, words) = (n & 0xFFFF_FFFF, n >> 32);
    // SAFETY: the template passes its table, with two operands for each of its entries.
    let segs = unsafe { std::slice::from_raw_parts(extra as *const Seg, n) };
    let values = args.pairs_behind_first(p, n);
    // SAFETY: the operands are live terms.
    match p.heap.keep_room(words, || unsafe { p.heap.bs_create_bin(segs, values) }) {
        Ok(w) => {
            collect_soon(p);
            w
        }
        Err(f) => {
            let info = p.heap.bs_fail_info(&f);
            p.error(if f.system_limit { am::system_limit } else { am::badarg });
            let u = am::undefined.into();
            let first = p.heap.tuple(&[u, u, info, am::error_info.into()]);
            p.heap.set_root(Root::Spare, first);
            NONE
        }
    }
}
