//! Damage to modules that knows what a module is: chunks are changed inside and their lengths put
//! right, literals are changed as they were before they were compressed, and code is changed by
//! instructions and operands. So most damage gets past what is read first.

use std::io::{Read, Write};
use std::ops::Range;

use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use kvik_isa::{Opcode, OperandKind};

/// Bytes that one change of the fuzzer's own may add.
pub const GROWTH: usize = 64;
/// Literals are not unpacked beyond this.
const MAX_LITERALS: u64 = 1 << 20;
/// Instructions that are near each other: mostly of one function.
const NEAR: usize = 12;

/// The fuzzer's own changes of bytes.
pub type Bytes<'a> = &'a mut dyn FnMut(&mut Vec<u8>);
type Chunk = ([u8; 4], Vec<u8>);

/// xorshift: small, and the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize
    }
    fn below(&mut self, limit: usize) -> usize {
        self.next() % limit.max(1)
    }
}

/// A damaged file of at most `most` bytes.
pub fn module(file: &[u8], most: usize, seed: u32, bytes: Bytes) -> Vec<u8> {
    let mut r = Random(u64::from(seed) << 1 | 1);
    for _ in 0..4 {
        r.next();
    }
    let mut out = match chunks(file) {
        Some(mut all) if r.below(25) > 0 => {
            for _ in 0..=r.below(3) * r.below(2) {
                one_change(&mut all, &mut r, bytes);
            }
            assemble(&all)
        }
        _ => {
            let mut out = file.to_vec();
            bytes(&mut out);
            out
        }
    };
    if out.len() > most {
        out = file.to_vec();
    }
    out.truncate(most);
    out
}

fn one_change(all: &mut Vec<Chunk>, r: &mut Random, bytes: Bytes) {
    let find = |all: &[Chunk], id: &[u8; 4]| all.iter().position(|c| c.0 == *id);
    let any = r.below(all.len());
    match r.below(20) {
        0..12 => {
            if let Some(i) = find(all, b"Code") {
                code(&mut all[i].1, r, bytes);
            }
        }
        12..15 => {
            if let Some(i) = find(all, b"LitT") {
                literals(&mut all[i].1, bytes);
            }
        }
        15 if all.len() > 1 => {
            all.swap_remove(any);
        }
        16 if all.len() > 1 => {
            let other = r.below(all.len());
            all[any].1 = all[other].1.clone();
        }
        _ => {
            if let Some(chunk) = all.get_mut(any) {
                bytes(&mut chunk.1);
            }
        }
    }
}

// ---- the container ----

fn word(b: &[u8], at: usize) -> Option<usize> {
    Some(u32::from_be_bytes(b.get(at..at + 4)?.try_into().ok()?) as usize)
}

fn chunks(file: &[u8]) -> Option<Vec<Chunk>> {
    let mut all = Vec::new();
    let mut at = 12;
    if !file.starts_with(b"FOR1") {
        return None;
    }
    while at < file.len() {
        let id = file.get(at..at + 4)?.try_into().ok()?;
        let size = word(file, at + 4)?;
        at += 8;
        all.push((id, file.get(at..at.checked_add(size)?)?.to_vec()));
        at += size.next_multiple_of(4);
    }
    (!all.is_empty()).then_some(all)
}

fn assemble(all: &[Chunk]) -> Vec<u8> {
    let mut out = b"FOR1\0\0\0\0BEAM".to_vec();
    for (id, data) in all {
        out.extend_from_slice(id);
        out.extend_from_slice(&(data.len() as u32).to_be_bytes());
        out.extend_from_slice(data);
        out.resize(out.len().next_multiple_of(4), 0);
    }
    let size = (out.len() - 8) as u32;
    out[4..8].copy_from_slice(&size.to_be_bytes());
    out
}

// ---- literals ----

fn literals(chunk: &mut Vec<u8>, bytes: Bytes) {
    let Some(packed) = chunk.get(4..) else { return };
    let mut plain = Vec::new();
    if ZlibDecoder::new(packed).take(MAX_LITERALS).read_to_end(&mut plain).is_err() {
        return;
    }
    bytes(&mut plain);
    let mut out = (plain.len() as u32).to_be_bytes().to_vec();
    let mut z = ZlibEncoder::new(&mut out, flate2::Compression::fast());
    if z.write_all(&plain).is_ok() && z.finish().is_ok() {
        *chunk = out;
    }
}

// ---- code ----

/// An instruction's bytes, and those of its operands (the elements of a list too).
struct Instruction {
    all: Range<usize>,
    operands: Vec<Range<usize>>,
}

/// The end of a tagged number that begins there.
fn number(b: &[u8], at: usize) -> Option<usize> {
    let first = *b.get(at)?;
    let length = match (first & 8, first & 16, first >> 5) {
        (0, ..) => 1,
        (_, 0, _) => 2,
        (_, _, 7) => {
            let length = *b.get(at + 1)?;
            if length & 8 != 0 {
                return None;
            }
            2 + 9 + (length >> 4) as usize
        }
        (_, _, n) => 3 + n as usize,
    };
    (at + length <= b.len()).then_some(at + length)
}

fn small(b: &[u8], at: usize) -> Option<usize> {
    let first = *b.get(at)?;
    match (first & 8, first & 16) {
        (0, _) => Some((first >> 4) as usize),
        (_, 0) => Some(((first >> 5) as usize) << 8 | *b.get(at + 1)? as usize),
        _ => None,
    }
}

/// The end of an operand; it and its elements are added to `out`.
fn operand(b: &[u8], at: usize, out: &mut Vec<Range<usize>>) -> Option<usize> {
    let first = *b.get(at)?;
    let mut end = number(b, at)?;
    match (first & 7, first >> 4) {
        (7, 1) => {
            let count = small(b, end)?;
            end = number(b, end)?;
            for _ in 0..count {
                end = operand(b, end, out)?;
            }
        }
        (7, 3) => {
            let count = small(b, end)?;
            end = number(b, end)?;
            for _ in 0..2 * count {
                end = number(b, end)?;
            }
        }
        (7, 5) => {
            end = number(b, end)?;
            end = number(b, end)?;
        }
        (7, _) => end = number(b, end)?,
        _ => {}
    }
    out.push(at..end);
    Some(end)
}

fn instructions(b: &[u8]) -> Vec<Instruction> {
    let mut all = Vec::new();
    let mut at = 0;
    while let Some(opcode) = b.get(at).copied().and_then(Opcode::from_number) {
        let mut operands = Vec::new();
        let end = (0..opcode.arity()).try_fold(at + 1, |at, _| operand(b, at, &mut operands));
        let Some(end) = end else { break };
        all.push(Instruction { all: at..end, operands });
        at = end;
    }
    all
}

fn code(chunk: &mut Vec<u8>, r: &mut Random, bytes: Bytes) {
    let Some(start) = word(chunk, 0).map(|n| n.saturating_add(4)) else { return };
    if start > chunk.len() {
        return bytes(chunk);
    }
    let mut b = chunk.split_off(start);
    let all = instructions(&b);
    if all.is_empty() || r.below(16) == 0 {
        bytes(&mut b);
    } else {
        change(&mut b, &all, r, bytes);
    }
    chunk.extend_from_slice(&b);
}

fn change(b: &mut Vec<u8>, all: &[Instruction], r: &mut Random, bytes: Bytes) {
    let i = r.below(all.len());
    let near = (i + r.below(2 * NEAR)).saturating_sub(NEAR).min(all.len() - 1);
    let other = &all[if r.below(4) == 0 { r.below(all.len()) } else { near }];
    let this = &all[i];
    let from_other = b[other.all.clone()].to_vec();
    let from_this = b[this.all.clone()].to_vec();
    let mut put = |range: Range<usize>, with: Vec<u8>| {
        b.splice(range, with);
    };
    match r.below(12) {
        0 => put(this.all.clone(), Vec::new()),
        1 => put(this.all.start..this.all.start, from_this),
        2 => put(this.all.start..this.all.start, from_other),
        3 => put(this.all.clone(), from_other),
        4 => {
            let (first, second) =
                if this.all.start < other.all.start { (this, other) } else { (other, this) };
            let both = first.all.start..second.all.end;
            let mut swapped = b[second.all.clone()].to_vec();
            if first.all != second.all {
                swapped.extend_from_slice(&b[first.all.end..second.all.start]);
                swapped.extend_from_slice(&b[first.all.clone()]);
            }
            b.splice(both, swapped);
        }
        5 => {
            if let Some(opcode) = alike(b[this.all.start], r) {
                b[this.all.start] = opcode;
            }
        }
        6..8 => {
            if let Some(range) = pick(&this.operands, r) {
                let mut operand = b[range.clone()].to_vec();
                bytes(&mut operand);
                b.splice(range, operand);
            }
        }
        8..10 => {
            let theirs = pick(&other.operands, r).map(|range| b[range].to_vec());
            if let (Some(range), Some(with)) = (pick(&this.operands, r), theirs) {
                b.splice(range, with);
            }
        }
        _ => {
            // The next number of the same kind: a neighbour among registers, labels, atoms, sizes.
            if let Some(range) = pick(&this.operands, r) {
                let step = if r.below(2) == 0 { 16u8 } else { 240 };
                let at = range.start + r.below(range.len());
                b[at] = b[at].wrapping_add(step);
            }
        }
    }
}

fn pick(ranges: &[Range<usize>], r: &mut Random) -> Option<Range<usize>> {
    ranges.get(r.below(ranges.len())).cloned()
}

/// Another instruction whose operands are of the same kinds, or at least as many.
fn alike(opcode: u8, r: &mut Random) -> Option<u8> {
    let kinds = |n: u8| Opcode::from_number(n).map_or(&[] as &[OperandKind], |o| o.info().kinds);
    let own = kinds(opcode);
    let strict = r.below(4) > 0;
    let fits = |n: &u8| match strict {
        true => kinds(*n) == own,
        false => kinds(*n).len() == own.len(),
    };
    let all: Vec<u8> = (1..=kvik_isa::MAX_OPCODE).filter(fits).collect();
    all.get(r.below(all.len())).copied()
}
