//! The chunks that are plain tables: atoms, imports, exports, funs, literals.

use crate::compact::read_u32;
use crate::reader::Reader;
use flate2::{Decompress, FlushDecompress, Status};
use std::ops::Range;

/// The most arguments a function can have.
pub(crate) const MAX_ARITY: u32 = 255;
/// Literals of one module take less than this, uncompressed.
const MAX_LITERALS: u32 = 1 << 30;
/// The highest compression ratio of zlib.
const MAX_RATIO: usize = 1040;

/// A function of another module (or a BIF) that the code calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Import {
    /// Atom index of the module.
    pub module: u32,
    /// Atom index of the function.
    pub function: u32,
    /// Number of arguments.
    pub arity: u8,
}

/// A function that has an entry label: exported (`ExpT`) or local (`LocT`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FunctionEntry {
    /// Atom index of the function.
    pub function: u32,
    /// Number of arguments.
    pub arity: u8,
    /// Its entry label.
    pub label: u32,
}

/// A fun that the code makes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lambda {
    /// Atom index of the function that implements it.
    pub function: u32,
    /// Arguments of that function: those of the fun and then the free variables.
    pub arity: u8,
    /// Entry label of that function.
    pub label: u32,
    /// The fun's index among those of the module.
    pub index: u32,
    /// Number of free variables.
    pub free: u8,
    /// Source of the former `erlang:fun_info(F, uniq)`.
    pub old_uniq: u32,
}

/// The literals, each a slice in external term format.
#[derive(Default)]
pub struct Literals {
    data: Vec<u8>,
    ranges: Vec<Range<usize>>,
}

impl Literals {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// A literal, in external term format with its version byte.
    pub fn get(&self, index: u32) -> Option<&[u8]> {
        let range = self.ranges.get(usize::try_from(index).ok()?)?;
        self.data.get(range.clone())
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.ranges.iter().filter_map(|range| self.data.get(range.clone()))
    }
}

/// Atoms in UTF-8. Index 0 stands for `[]` in code, so the first atom is number 1.
pub(crate) fn atoms(chunk: &[u8]) -> Option<Vec<&str>> {
    let mut r = Reader::new(chunk);
    // A negative count: lengths are tagged numbers (since OTP 28), since atoms may have more bytes.
    let count = r.u32()? as i32;
    let tagged = count < 0 && kvik_release::current().writes_plain_chunks();
    if count < 0 && !tagged {
        return None;
    }
    let count = usize::try_from(count.unsigned_abs()).ok().filter(|count| *count <= r.len())?;
    let mut atoms = Vec::with_capacity(count + 1);
    atoms.push("");
    for _ in 0..count {
        let length = if tagged { read_u32(&mut r)? as usize } else { usize::from(r.u8()?) };
        let text = std::str::from_utf8(r.bytes(length)?).ok()?;
        atoms.push(text);
    }
    (count >= 1).then_some(atoms)
}

fn atom_index(r: &mut Reader, atoms: usize) -> Option<u32> {
    let index = r.u32()?;
    (index >= 1 && usize::try_from(index).ok()? < atoms).then_some(index)
}

fn arity(r: &mut Reader) -> Option<u8> {
    r.u32().filter(|n| *n <= MAX_ARITY).map(|n| n as u8)
}

pub(crate) fn imports(chunk: &[u8], atoms: usize) -> Option<Vec<Import>> {
    let mut r = Reader::new(chunk);
    let count = r.count(12)?;
    (0..count)
        .map(|_| {
            Some(Import {
                module: atom_index(&mut r, atoms)?,
                function: atom_index(&mut r, atoms)?,
                arity: arity(&mut r)?,
            })
        })
        .collect()
}

pub(crate) fn exports(chunk: &[u8], atoms: usize, labels: u32) -> Option<Vec<FunctionEntry>> {
    let mut r = Reader::new(chunk);
    let count = r.count(12)?;
    (0..count)
        .map(|_| {
            Some(FunctionEntry {
                function: atom_index(&mut r, atoms)?,
                arity: arity(&mut r)?,
                label: r.u32().filter(|l| *l < labels)?,
            })
        })
        .collect()
}

pub(crate) fn lambdas(chunk: &[u8], atoms: usize, labels: u32) -> Option<Vec<Lambda>> {
    let mut r = Reader::new(chunk);
    let count = r.count(24)?;
    let lambdas: Option<Vec<Lambda>> = (0..count)
        .map(|_| {
            let function = atom_index(&mut r, atoms)?;
            let arity = arity(&mut r)?;
            let label = r.u32().filter(|l| *l < labels)?;
            let index = r.u32()?;
            let free = r.u32().filter(|n| *n <= u32::from(arity))? as u8;
            Some(Lambda { function, arity, label, index, free, old_uniq: r.u32()? })
        })
        .collect();
    lambdas.filter(|_| r.is_empty())
}

/// A decompressor, reused from chunk to chunk.
#[derive(Default)]
pub(crate) struct Inflate(Option<Decompress>);

impl Inflate {
    /// Inflates a zlib stream of exactly that many bytes; trailing data is ignored.
    fn exactly(&mut self, stream: &[u8], wanted: usize) -> Option<Vec<u8>> {
        let inflate = self.0.get_or_insert_with(|| Decompress::new(true));
        inflate.reset(true);
        let mut data = Vec::with_capacity(wanted + 1);
        let status = inflate.decompress_vec(stream, &mut data, FlushDecompress::Finish).ok()?;
        (status == Status::StreamEnd && data.len() == wanted).then_some(data)
    }
}

/// Inflates the literals: their size uncompressed comes first and must be right.
pub(crate) fn literals(chunk: &[u8], inflate: &mut Inflate) -> Option<Literals> {
    let mut r = Reader::new(chunk);
    let size = r.u32().filter(|n| *n < MAX_LITERALS)?;
    let wanted = usize::try_from(size).ok()?;
    if wanted / MAX_RATIO > r.len() {
        return None;
    }
    // Since OTP 28 literals are not compressed; their size is given as 0.
    let data = match wanted {
        0 if kvik_release::current().writes_plain_chunks() => r.rest().to_vec(),
        _ => inflate.exactly(r.rest(), wanted)?,
    };
    let ranges = literal_ranges(&data)?;
    Some(Literals { data, ranges })
}

fn literal_ranges(data: &[u8]) -> Option<Vec<Range<usize>>> {
    let mut r = Reader::new(data);
    let count = r.count(4)?;
    (0..count)
        .map(|_| {
            let size = usize::try_from(r.u32()?).ok()?;
            let start = data.len() - r.len();
            r.bytes(size)?;
            Some(start..start + size)
        })
        .collect()
}
