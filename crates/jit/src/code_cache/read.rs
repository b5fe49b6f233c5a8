//! Makes a module of an entry.

use std::sync::atomic::AtomicUsize;

use kvik_code::{FuncRange, NifCell, ReturnSite};
use kvik_etf::DecodeOpts;
use kvik_heap::bits_build::{Seg, SegKind};
use kvik_heap::Heap;
use kvik_term::word::fits_small;
use kvik_term::{cmp, hash, Atom, Export, Term};

use super::format::{put, EntryReader};
use super::{text, KEY_ATOM, KEY_INTEGER, KEY_LITERAL, KEY_NIL, KINDS, KIND_BITS, OF_LITERAL};
use super::{STATIC, TO_STUB, TO_TEXT};
use crate::compiler::Tables;
use crate::mem::NativeCode;
use crate::rt::call::apply_cell;
use crate::stubs::Stubs;
use crate::words::WordKind;

/// What an entry has besides the file's literals: terms behind them, and which elements of these are
/// literals of the file.
pub struct KeptLiterals<'h> {
    pub terms: Vec<Term<'h>>,
    /// The number of a tuple, an element, and a literal.
    pub shared: Vec<(usize, usize, usize)>,
}

/// An entry whose beginning has been read.
pub struct CacheEntry<'e> {
    pub md5: [u8; 16],
    pub has_debug_info: bool,
    reader: EntryReader<'e>,
}

pub fn read(entry: &[u8]) -> Option<CacheEntry<'_>> {
    let mut reader = EntryReader::new(entry);
    let md5 = *reader.bytes(16)?.first_chunk()?;
    let has_debug_info = reader.number()? != 0;
    Some(CacheEntry { md5, has_debug_info, reader })
}

/// A module in place.
pub struct PlacedCode {
    pub memory: NativeCode,
    pub size: usize,
    pub functions: Vec<FuncRange>,
    pub places: Vec<ReturnSite>,
    /// Offsets of exported functions and funs, of those that are anywhere.
    pub exports: Vec<Option<u32>>,
    pub funs: Vec<Option<u32>>,
    pub on_load: Option<u32>,
    pub nifs: Vec<NifCell>,
    pub segments: Vec<Box<[Seg]>>,
}

/// The number that an atom has in the entry, as this VM's atom.
fn atom(atoms: &[Atom], n: u32) -> Option<Atom> {
    match n & STATIC != 0 {
        true => Atom::from_index(n & !STATIC).filter(|a| a.is_static()),
        false => atoms.get(n as usize).copied().filter(|_| n > 0),
    }
}

impl CacheEntry<'_> {
    /// Reads the terms behind the file's literals; `None` too if keys of maps are in another order
    /// here than where the code was made.
    pub fn literals<'h>(
        &mut self,
        h: &'h Heap,
        file: &[Term<'h>],
        atoms: &[Atom],
    ) -> Option<KeptLiterals<'h>> {
        let mut made = KeptLiterals { terms: Vec::new(), shared: Vec::new() };
        for _ in 0..self.reader.number()? {
            let (t, _) = kvik_etf::decode(self.reader.blob()?, h, DecodeOpts::default()).ok()?;
            made.terms.push(t);
        }
        for _ in 0..self.reader.number()? {
            let mut keys = Vec::new();
            for [kind, low, high, place] in self.reader.list::<4>()? {
                let term = match kind {
                    KEY_NIL => Term::NIL,
                    KEY_ATOM => atom(atoms, low)?.into(),
                    KEY_INTEGER => {
                        let i = (u64::from(high) << 32 | u64::from(low)) as i64;
                        h.integer(Some(i).filter(|i| fits_small(*i))?)
                    }
                    KEY_LITERAL => *file.get(low as usize)?,
                    _ => return None,
                };
                keys.push((term, place as usize, (kind == KEY_LITERAL).then_some(low as usize)));
            }
            keys.sort_by(|a, b| cmp::key_order(a.0, b.0));
            if keys.iter().enumerate().any(|(at, key)| key.1 != at) {
                return None;
            }
            let tuple = file.len() + made.terms.len();
            let literals = keys.iter().filter_map(|key| Some((tuple, key.1, key.2?)));
            made.shared.extend(literals);
            made.terms.push(h.tuple(&keys.iter().map(|key| key.0).collect::<Vec<_>>()));
        }
        Some(made)
    }

    /// Puts the code in place; `code` is room in which to complete it.
    pub fn place(self, tables: &Tables, stubs: &Stubs, code: &mut Vec<u8>) -> Option<PlacedCode> {
        let mut r = self.reader;
        let known = |n: u32| atom(&tables.atoms, n);
        let symbols = r.list::<2>()?;
        let branches = r.list::<3>()?;
        code.clear();
        code.extend_from_slice(r.blob()?);
        let searches: Option<Vec<_>> =
            (0..r.number()?).map(|_| Some((r.list::<4>()?, r.list::<2>()?))).collect();
        let named = r.list::<3>()?.map(|[m, f, arity]| Some((known(m)?, known(f)?, arity)));
        let named = kvik_code::exports_of(&named.collect::<Option<Vec<_>>>()?);
        let functions = r.list::<4>()?.map(|[start, function, arity, line]| {
            Some(FuncRange { start, function: known(function)?, arity, line })
        });
        let functions = functions.collect::<Option<_>>()?;
        let places = r.list::<2>()?.map(|[offset, line]| ReturnSite { offset, line }).collect();
        let offset = |n: u32| n.checked_sub(1).filter(|o| (*o as usize) < code.len());
        let exports = r.list::<1>()?.map(|[n]| offset(n)).collect();
        let funs = r.list::<1>()?.map(|[n]| offset(n)).collect();
        let on_load = offset(r.number()?);
        let nifs = r.list::<2>()?.map(|[function, arity]| {
            let entry = Box::new(AtomicUsize::new(0));
            Some(NifCell { function: known(function)?, arity, entry })
        });
        let nifs = nifs.collect::<Option<_>>()?;
        let segments = (0..r.number()?).map(|_| segments(&mut r, &tables.strings));
        let segments = segments.collect::<Option<_>>()?;
        if !r.is_at_end() {
            return None;
        }
        let size = code.len();
        let memory = NativeCode::alloc(size)?;
        let start = memory.address();
        let placed =
            PlacedCode { memory, size, functions, places, exports, funs, on_load, nifs, segments };
        for [at, symbol] in symbols {
            let kind = *KINDS.get((at & ((1 << KIND_BITS) - 1)) as usize)?;
            let word = placed.word(kind, symbol, tables, &named)?;
            fill(code, (at >> KIND_BITS) as usize, kind, word)?;
        }
        for (choices, splits) in searches? {
            order(code, choices, splits, &tables.atoms)?;
        }
        for [at, base, offset] in branches {
            let base = match base {
                TO_STUB => stubs.range().start,
                TO_TEXT => text(),
                _ => return None,
            };
            let target = base as i64 + i64::from(offset as i32);
            let distance = i32::try_from(target - (start as i64 + i64::from(at) + 4)).ok()?;
            put(code, at, distance as u32)?;
        }
        placed.memory.write(code);
        Some(placed)
    }
}

impl PlacedCode {
    /// What a symbol is in this VM.
    fn word(
        &self,
        kind: WordKind,
        symbol: u32,
        tables: &Tables,
        named: &[&'static Export],
    ) -> Option<u64> {
        let i = symbol as usize;
        Some(match kind {
            WordKind::Atom => atom(&tables.atoms, symbol)?.word(),
            WordKind::Literal => tables.literals.get(i)?.word(),
            WordKind::Hash if symbol & OF_LITERAL != 0 && symbol & STATIC == 0 => {
                hash::of_key(tables.literals.get((symbol & !OF_LITERAL) as usize)?)
            }
            WordKind::Hash => hash::of_key(atom(&tables.atoms, symbol)?.into()),
            WordKind::Export => std::ptr::from_ref(*named.get(i)?) as u64,
            WordKind::Fun => std::ptr::from_ref(*tables.lambdas.get(i)?) as u64,
            WordKind::String => tables.strings.get(i..)?.as_ptr() as u64,
            WordKind::Segments => self.segments.get(i)?.as_ptr() as u64,
            WordKind::NifEntry => self.nifs.get(i)?.entry.as_ptr() as u64,
            WordKind::ApplyCell => apply_cell(i)?,
            WordKind::Runtime => (text() as i64 + i64::from(symbol as i32)) as u64,
            WordKind::Number | WordKind::Private => return None,
        })
    }
}

/// Writes a word to the code: atoms in four bytes, others in eight. What stands there are flags.
fn fill(code: &mut [u8], at: usize, kind: WordKind, word: u64) -> Option<()> {
    let place = code.get_mut(at..)?;
    if kind == WordKind::Atom {
        *place.first_chunk_mut()? = u32::try_from(word).ok()?.to_le_bytes();
        return Some(());
    }
    let place: &mut [u8; 8] = place.first_chunk_mut()?;
    *place = (u64::from_le_bytes(*place) | word).to_le_bytes();
    Some(())
}

/// Makes a search one among atoms in the order of their numbers here.
fn order(
    code: &mut [u8],
    choices: impl Iterator<Item = [u32; 4]>,
    splits: impl Iterator<Item = [u32; 2]>,
    atoms: &[Atom],
) -> Option<()> {
    let choices: Vec<[u32; 4]> = choices.collect();
    let sorted = choices.iter().map(|[n, to, ..]| Some((atom(atoms, *n)?, *to)));
    let mut sorted: Vec<(Atom, u32)> = sorted.collect::<Option<_>>()?;
    if sorted.is_sorted_by_key(|(a, _)| a.index()) {
        return Some(());
    }
    sorted.sort_by_key(|(a, _)| a.index());
    // Those that every VM has come first, and stay where they are.
    let moved = sorted.iter().zip(&choices).filter(|(choice, _)| !choice.0.is_static());
    for ((atom, to), [_, _, compared, branch]) in moved {
        put(code, *compared, atom.word() as u32)?;
        put(code, *branch, to.wrapping_sub(branch + 4))?;
    }
    for [i, at] in splits {
        let (atom, _) = *sorted.get(i as usize)?;
        if !atom.is_static() {
            put(code, at, atom.word() as u32)?;
        }
    }
    Some(())
}

fn segments(r: &mut EntryReader, strings: &[u8]) -> Option<Box<[Seg]>> {
    let one = |[kind, number, unit, flags, string]: [u32; 5]| {
        let string = match string.checked_sub(1) {
            None => std::ptr::null(),
            Some(at) => strings.get(at as usize..)?.as_ptr(),
        };
        let kind = *SegKind::ALL.get(kind as usize)?;
        Some(Seg { kind, number, unit, flags, string })
    };
    r.list::<5>()?.map(one).collect()
}
