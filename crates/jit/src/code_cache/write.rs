//! Makes an entry of a compiled module.

use std::collections::HashMap;

use kvik_beam::{Arg, Code, Module, Opcode};
use kvik_code::FuncRange;
use kvik_etf::EncodeOpts;
use kvik_term::{Atom, Export, Term};

use super::format::{put, EntryWriter};
use super::{text, KEY_ATOM, KEY_INTEGER, KEY_LITERAL, KEY_NIL, KINDS, KIND_BITS, OF_LITERAL};
use super::{STATIC, TO_STUB, TO_TEXT};
use crate::compiler::{AtomSearch, CompiledModule, Tables};
use crate::stubs::Stubs;
use crate::target::{Label, WordAt};
use crate::words::WordKind;

/// A module before its code has an address.
pub struct Kept<'a> {
    pub module: &'a Module<'a>,
    pub code: &'a Code,
    pub tables: &'a Tables,
    pub made: &'a CompiledModule,
    pub functions: &'a [FuncRange],
    /// The label of the `on_load` function.
    pub on_load: Option<u32>,
    pub stubs: &'static Stubs,
}

/// The entry; `None` if the code is good for this VM only. Labels are resolved already.
pub fn write(kept: &Kept) -> Option<Vec<u8>> {
    let made = kept.made;
    if made.is_private || made.coverage.is_some() || !kept.tables.records.is_empty() {
        return None;
    }
    Writing::new(kept).entry()
}

struct Writing<'a> {
    kept: &'a Kept<'a>,
    out: EntryWriter,
    atoms: HashMap<Atom, u32>,
    /// Literals by their word.
    literals: HashMap<u64, u32>,
    /// Exports that the code names, by their address, and the same in the order of their numbers.
    exports: HashMap<u64, u32>,
    named: Vec<&'static Export>,
    funs: HashMap<u64, u32>,
}

impl<'a> Writing<'a> {
    fn new(kept: &'a Kept<'a>) -> Writing<'a> {
        let Tables { atoms, literals, lambdas, .. } = kept.tables;
        let atoms = atoms.iter().zip(0..).skip(1).map(|(a, i)| (*a, i)).collect();
        let roots = (0..literals.len()).filter_map(|i| Some((literals.get(i)?.word(), i as u32)));
        let roots = roots.collect();
        let funs =
            lambdas.iter().zip(0..).map(|(f, i)| (std::ptr::from_ref(*f) as u64, i)).collect();
        Writing {
            kept,
            out: EntryWriter::default(),
            atoms,
            literals: roots,
            exports: HashMap::new(),
            named: Vec::new(),
            funs,
        }
    }

    fn entry(mut self) -> Option<Vec<u8>> {
        let Kept { module, made, .. } = *self.kept;
        self.out.bytes.extend(module.md5);
        self.out.number(made.debug.has_info as u32);
        self.literals()?;
        self.code()?;
        self.tables()?;
        Some(self.out.bytes)
    }

    /// What the literals of the file are followed by.
    fn literals(&mut self) -> Option<()> {
        let Kept { module, code, tables, .. } = *self.kept;
        let literals = &tables.literals;
        let first_tuple = tables.key_tuples.values().min().copied().unwrap_or(literals.len());
        let integers = module.literals.len()..first_tuple;
        self.out.number(integers.len() as u32);
        for i in integers {
            let bytes = kvik_etf::encode(literals.get(i)?, EncodeOpts::default(), 0);
            self.out.blob(&bytes)?;
        }
        self.out.number(tables.key_tuples.len() as u32);
        for (at, op) in code.ops.iter().enumerate() {
            let Some(tuple) = tables.key_tuples.get(&at) else { continue };
            debug_assert!(op.opcode == Opcode::PutMapAssoc);
            let sorted = literals.get(*tuple)?;
            let sorted = sorted.as_tuple()?.elements();
            let keys = code.list(op).iter().step_by(2);
            let keys: Vec<_> = keys.map(|key| self.key(*key, sorted)).collect();
            self.out.list(keys.into_iter())?;
        }
        Some(())
    }
    /// A key as a constant, and its place among the sorted ones.
    fn key(&self, key: Arg, sorted: &[Term<'_>]) -> Option<[u32; 4]> {
        let (kind, [low, high], term) = match key {
            Arg::Nil => (KEY_NIL, [0, 0], Term::NIL),
            Arg::Atom(i) => {
                let atom = *self.kept.tables.atoms.get(i as usize)?;
                (KEY_ATOM, [self.atom(atom)?, 0], atom.into())
            }
            Arg::Int(i) => {
                let word = kvik_term::word::small(i);
                // SAFETY: a small integer.
                let term = unsafe { Term::from_word(word) };
                (KEY_INTEGER, [i as u32, (i >> 32) as u32], term)
            }
            Arg::Literal(i) => (KEY_LITERAL, [i, 0], self.kept.tables.literals.get(i as usize)?),
            _ => return None,
        };
        let place = sorted.iter().position(|k| kvik_term::cmp::eq_exact(*k, term))?;
        Some([kind, low, high, place as u32])
    }

    /// The choices of each search, atoms in the order of the module's list: the same entry comes of
    /// the same file, whatever numbers atoms have here.
    fn searches(&self) -> Option<Vec<Vec<[u32; 4]>>> {
        let made = self.kept.made;
        let one = |search: &AtomSearch| {
            let choices = search.choices.iter();
            let choices = choices.map(|c| Some((self.atom_word(c.atom)?, made.a.offset(c.to)?)));
            let mut choices: Vec<(u32, u32)> = choices.collect::<Option<_>>()?;
            // Those that every VM has come first, and stay where they are.
            let own = choices.iter().position(|c| c.0 & STATIC == 0).unwrap_or(choices.len());
            choices[own..].sort_unstable();
            let places = search.choices.iter().map(|c| (c.compared, c.branch));
            let placed = choices.into_iter().zip(places);
            Some(
                placed
                    .map(|((atom, to), (compared, branch))| [atom, to, compared, branch])
                    .collect(),
            )
        };
        made.atom_searches.iter().map(one).collect()
    }

    /// The code with its words and branches as symbols.
    fn code(&mut self) -> Option<()> {
        let made = self.kept.made;
        let mut code = made.a.buf.clone();
        let hashed: HashMap<u32, u64> = made.hashed_keys.iter().copied().collect();
        let searches = self.searches()?;
        let mut moved: HashMap<u32, u32> = HashMap::new();
        for (choices, search) in searches.iter().zip(&made.atom_searches) {
            for [atom, to, compared, branch] in choices {
                moved.insert(*compared, *atom);
                put(&mut code, *branch, to.wrapping_sub(branch + 4))?;
            }
            for (i, at) in &search.splits {
                moved.insert(*at, choices.get(*i)?[0]);
            }
        }
        let mut symbols = Vec::with_capacity(made.a.words.len());
        for word in &made.a.words {
            let symbol = match moved.get(&word.at) {
                Some(atom) => *atom,
                None => self.symbol(word, &code, &hashed)?,
            };
            let kind = KINDS.iter().position(|k| *k == word.kind)? as u32;
            if word.at >> (32 - KIND_BITS) != 0 {
                return None;
            }
            symbols.push(Some([word.at << KIND_BITS | kind, symbol]));
            let flags = match word.kind {
                WordKind::Export => code.get(word.at as usize)? & 7,
                _ => 0,
            };
            let length = if word.kind == WordKind::Atom { 4 } else { 8 };
            code.get_mut(word.at as usize..)?.get_mut(..length)?.fill(0);
            *code.get_mut(word.at as usize)? = flags;
        }
        self.out.list(symbols.into_iter())?;
        let stubs = self.kept.stubs.range();
        let branches = made.a.relocs.iter().map(|branch| {
            let (base, from) = match stubs.contains(&branch.target) {
                true => (TO_STUB, stubs.start),
                false => (TO_TEXT, text()),
            };
            let offset = i32::try_from(branch.target as i64 - from as i64).ok()?;
            Some([branch.at, base, offset as u32])
        });
        self.out.list(branches)?;
        self.out.blob(&code)?;
        self.out.number(searches.len() as u32);
        for (choices, search) in searches.iter().zip(&made.atom_searches) {
            self.out.list(choices.iter().map(|choice| Some(*choice)))?;
            self.out.list(search.splits.iter().map(|(i, at)| Some([*i as u32, *at])))?;
        }
        Some(())
    }
    /// What a word of the code stands for.
    fn symbol(&mut self, word: &WordAt, code: &[u8], hashed: &HashMap<u32, u64>) -> Option<u32> {
        let at = word.at as usize;
        if word.kind == WordKind::Atom {
            let short = u32::from_le_bytes(*code.get(at..)?.first_chunk()?);
            return self.atom_word(short.into());
        }
        let value = u64::from_le_bytes(*code.get(at..)?.first_chunk()?);
        match word.kind {
            WordKind::Literal => self.literals.get(&value).copied(),
            WordKind::Hash => {
                let key = *hashed.get(&(word.at + 8))?;
                match self.literals.get(&key) {
                    Some(literal) => Some(literal | OF_LITERAL),
                    None => self.atom_word(key),
                }
            }
            WordKind::Export => Some(self.export(value & !7)),
            WordKind::Fun => self.funs.get(&value).copied(),
            WordKind::String => self.string(value),
            WordKind::Segments => {
                let mut segments = self.kept.made.segments.iter();
                segments.position(|s| s.as_ptr() as u64 == value).map(|i| i as u32)
            }
            WordKind::NifEntry => {
                let nifs = &self.kept.made.nifs;
                nifs.iter().position(|n| n.entry.as_ptr() as u64 == value).map(|i| i as u32)
            }
            WordKind::ApplyCell => crate::rt::call::apply_cell_number(value),
            WordKind::Runtime => {
                let offset = value as i64 - text() as i64;
                i32::try_from(offset).ok().map(|offset| offset as u32)
            }
            WordKind::Atom | WordKind::Number | WordKind::Private => None,
        }
    }
    fn export(&mut self, address: u64) -> u32 {
        let next = self.named.len() as u32;
        *self.exports.entry(address).or_insert_with(|| {
            // SAFETY: the word was emitted as the address of an export, which are never freed.
            self.named.push(unsafe { &*(address as *const Export) });
            next
        })
    }
    /// The place of a string in the module's table.
    fn string(&self, address: u64) -> Option<u32> {
        let strings = &self.kept.tables.strings;
        let offset = address.checked_sub(strings.as_ptr() as u64)?;
        (offset <= strings.len() as u64).then_some(offset as u32)
    }
    fn atom_word(&self, word: u64) -> Option<u32> {
        // SAFETY: the word was emitted as an atom's.
        let term: Term<'_> = unsafe { Term::from_word(word) };
        self.atom(term.as_atom()?)
    }
    fn atom(&self, atom: Atom) -> Option<u32> {
        match atom.is_static() {
            true => Some(atom.index() | STATIC),
            false => self.atoms.get(&atom).copied(),
        }
    }

    fn tables(&mut self) -> Option<()> {
        let Kept { module, made, functions, on_load, .. } = *self.kept;
        let named = std::mem::take(&mut self.named);
        let named: Vec<_> = named
            .iter()
            .map(|e| Some([self.atom(e.module)?, self.atom(e.function)?, e.arity]))
            .collect();
        self.out.list(named.into_iter())?;
        let functions: Vec<_> = functions
            .iter()
            .map(|f| Some([f.start, self.atom(f.function)?, f.arity, f.line]))
            .collect();
        self.out.list(functions.into_iter())?;
        self.out.list(made.places.iter().map(|p| Some([p.offset, p.line])))?;
        // One more than the offset; 0: it is nowhere.
        let offset = |l: Label| made.a.offset(l).map_or(0, |o| o + 1);
        let entry = |label: u32| made.labels.get(label as usize).map_or(0, |l| offset(*l));
        self.out.list(module.exports.iter().map(|e| Some([entry(e.label)])))?;
        self.out.list(made.lambda_labels.iter().map(|l| Some([offset(*l)])))?;
        self.out.number(on_load.map_or(0, entry));
        let nifs: Vec<_> =
            made.nifs.iter().map(|n| Some([self.atom(n.function)?, n.arity])).collect();
        self.out.list(nifs.into_iter())?;
        self.out.number(made.segments.len() as u32);
        for segments in &made.segments {
            let fields: Vec<_> = segments
                .iter()
                .map(|s| {
                    let string = match s.string.is_null() {
                        true => 0,
                        false => self.string(s.string as u64)? + 1,
                    };
                    Some([s.kind as u32, s.number, s.unit, s.flags, string])
                })
                .collect();
            self.out.list(fields.into_iter())?;
        }
        Some(())
    }
}

/// The words and the branches of an entry, for tests.
#[cfg(test)]
pub fn symbols_of(entry: &[u8]) -> (Vec<[u32; 2]>, Vec<[u32; 3]>) {
    let mut r = super::format::EntryReader::new(entry);
    r.bytes(16 + 4).expect("the checksum and the flag");
    for _ in 0..r.number().expect("integers") {
        r.blob().expect("an integer");
    }
    for _ in 0..r.number().expect("tuples") {
        assert!(r.list::<4>().is_some());
    }
    (r.list().expect("words").collect(), r.list().expect("branches").collect())
}
