//! The target-independent part of the compiler: constants, labels, cold code that goes behind a
//! function, and the positions that stack traces know.

use std::collections::HashMap;
use std::sync::Arc;

use kvik_beam::{Arg, Code, Module, Op, Opcode, Proof};
use kvik_code::{
    Coverage, DebugTable, DebuggerSwitches, NifCell, RecordLiteral, RecordSite, ReturnSite,
};
use kvik_heap::bits_build::Seg;
use kvik_heap::LiteralArea;
use kvik_term::word::{self, NIL};
use kvik_term::{am, Atom, Export, FunEntry};

use crate::checked::{self, Checkpoints, LabelAddresses};
use crate::coverage::{record_for, LinesMet};
use crate::stubs::Stubs;
use crate::target::{Asm, Label};
use crate::LoadError;

type Cold<'m> = Box<dyn FnOnce(&mut Compiler<'m>) -> Result<(), LoadError> + 'm>;

pub struct Compiler<'m> {
    pub a: Asm,
    pub module: &'m Module<'m>,
    pub code: &'m Code,
    pub proof: &'m Proof,
    pub stubs: &'static Stubs,
    pub atoms: &'m [Atom],
    pub literals: &'m LiteralArea,
    /// Index of the first of the module's own big integers among the literals.
    pub first_big: usize,
    /// For each instruction that makes a map of known keys: the literal that holds the keys.
    pub key_tuples: &'m HashMap<usize, usize>,
    pub records: &'m [RecordLiteral],
    /// Index of the record that an instruction tested for last, as a guess of what is read next.
    pub tested_record: Option<usize>,
    /// Inline caches of fields of records.
    pub record_sites: Vec<Arc<RecordSite>>,
    pub imports: &'m [&'static Export],
    pub lambdas: &'m [&'static FunEntry],
    /// The string table; its address does not change.
    pub strings: &'m [u8],
    pub labels: Vec<Label>,
    pub lambda_labels: Vec<Label>,
    pub segments: Vec<Box<[Seg]>>,
    pub places: Vec<ReturnSite>,
    /// The current source location, an index of the module's lines.
    pub line: u32,
    /// Index of the current instruction.
    pub at: usize,
    /// Float registers, as bits, that machine registers hold here: see the target's templates.
    pub held_floats: u16,
    /// Name and arity of the current function.
    pub function: Atom,
    pub arity: u32,
    /// Whether a NIF may replace any function: if the module loads some and names none.
    pub any_nif: bool,
    /// Whether the module names the functions that a NIF may replace, by `nif_start`.
    pub has_nif_marks: bool,
    pub nifs: Vec<NifCell>,
    /// What has run, if that is recorded.
    pub coverage: Option<Coverage>,
    pub lines_met: LinesMet,
    /// For the debugger.
    pub debug: DebugTable,
    /// Index of the current function.
    pub function_index: usize,
    /// Whether the code asserts the verifier's claims.
    pub checked: bool,
    /// The assertions, if so.
    pub checkpoints: Checkpoints,
    pub label_addresses: LabelAddresses,
    cold: Vec<Cold<'m>>,
    /// Where a `loop_rec` behind a label has its message.
    pub messages_got: HashMap<u32, Label>,
    /// Keys of maps, as words, whose hash ends before an offset.
    pub hashed_keys: Vec<(u32, u64)>,
    /// Searches among atoms in the order of their numbers.
    pub atom_searches: Vec<AtomSearch>,
    /// How many calls by `apply` there are so far.
    pub apply_sites: u32,
    /// The code is good for this VM only.
    pub is_private: bool,
}

/// A module's tables, resolved to addresses and terms of this VM.
pub struct Tables {
    pub atoms: Vec<Atom>,
    /// The literals in order, then big integers of the code, then integers beyond 60 bits, then the
    /// keys of new maps, then descriptions of native records, then those for the debugger.
    pub literals: LiteralArea,
    /// For each instruction that makes a map of known keys: the literal that holds the keys.
    pub key_tuples: HashMap<usize, usize>,
    /// The module's native records.
    pub records: Vec<RecordLiteral>,
    /// The debugger's switches when this was made.
    pub debugger_switches: DebuggerSwitches,
    /// Index of the first literal for the debugger, if it wants line breakpoints.
    pub first_debug_item: usize,
    pub imports: Vec<&'static Export>,
    pub lambdas: Vec<&'static FunEntry>,
    /// The string table; its address does not change.
    pub strings: Box<[u8]>,
}

/// A binary search: which atom is compared where depends on the order of their numbers.
#[derive(Default)]
pub struct AtomSearch {
    /// In that order.
    pub choices: Vec<AtomChoice>,
    /// Where else a choice, by its index, is compared, as four bytes at an offset.
    pub splits: Vec<(usize, u32)>,
}
pub struct AtomChoice {
    /// Its word.
    pub atom: u64,
    pub to: Label,
    /// The offsets of the four bytes with which it is compared, and of those of the branch.
    pub compared: u32,
    pub branch: u32,
}

/// Buffers of a compiler, for the next one to reuse.
#[derive(Default)]
pub struct Scratch {
    pub a: Asm,
    pub places: Vec<ReturnSite>,
}

/// The result of a compilation.
pub struct CompiledModule {
    pub a: Asm,
    pub segments: Vec<Box<[Seg]>>,
    pub places: Vec<ReturnSite>,
    pub labels: Vec<Label>,
    pub lambda_labels: Vec<Label>,
    pub nifs: Vec<NifCell>,
    pub record_sites: Vec<Arc<RecordSite>>,
    pub coverage: Option<Coverage>,
    pub debug: DebugTable,
    pub checkpoints: Checkpoints,
    pub label_addresses: LabelAddresses,
    pub hashed_keys: Vec<(u32, u64)>,
    pub atom_searches: Vec<AtomSearch>,
    pub is_private: bool,
}

pub type EmitResult = Result<(), LoadError>;

fn loads_nif(imports: &[&Export]) -> bool {
    let loads = |e: &&Export| (e.module, e.function, e.arity) == (am::erlang, am::load_nif, 2);
    imports.iter().any(loads)
}

impl<'m> Compiler<'m> {
    pub fn new(
        module: &'m Module<'m>,
        code: &'m Code,
        proof: &'m Proof,
        stubs: &'static Stubs,
        tables: &'m Tables,
        Scratch { mut a, mut places }: Scratch,
    ) -> Compiler<'m> {
        let Tables { atoms, literals, key_tuples, records, imports, lambdas, strings, .. } = tables;
        let Tables { debugger_switches, first_debug_item, .. } = tables;
        a.clear();
        places.clear();
        // About 22 bytes of native code for an instruction of about 4. Unused pages are never
        // touched.
        a.buf.reserve(8 * module.code.bytes.len());
        let labels = code.labels.iter().map(|_| a.label()).collect();
        let has_nif_marks = code.ops.iter().any(|op| op.opcode == Opcode::NifStart);
        let lambda_labels = lambdas.iter().map(|_| a.label()).collect();
        Compiler {
            a,
            module,
            code,
            proof,
            stubs,
            atoms,
            literals,
            key_tuples,
            records,
            tested_record: None,
            record_sites: Vec::new(),
            first_big: module.literals.len(),
            imports,
            lambdas,
            strings,
            labels,
            lambda_labels,
            segments: Vec::new(),
            places,
            line: 0,
            at: 0,
            held_floats: 0,
            function: am::undefined,
            arity: 0,
            any_nif: !has_nif_marks && loads_nif(imports),
            has_nif_marks,
            nifs: Vec::new(),
            coverage: record_for(module, code),
            lines_met: LinesMet::default(),
            debug: DebugTable {
                switches: *debugger_switches,
                has_info: !code.debug_info.items.is_empty(),
                first_item: *first_debug_item,
                points: Vec::new(),
            },
            function_index: 0,
            checked: checked::is_wanted(),
            checkpoints: Checkpoints::new(),
            label_addresses: LabelAddresses::default(),
            cold: Vec::new(),
            messages_got: HashMap::new(),
            hashed_keys: Vec::new(),
            atom_searches: Vec::new(),
            apply_sites: 0,
            is_private: false,
        }
    }

    /// Consumes the compiler and returns the code and its tables, which borrow nothing from the
    /// module.
    pub fn finish(self) -> CompiledModule {
        let Compiler { a, segments, places, labels, lambda_labels, nifs, .. } = self;
        let Compiler { record_sites, coverage, debug, checkpoints, label_addresses, .. } = self;
        let Compiler { hashed_keys, atom_searches, is_private, .. } = self;
        CompiledModule {
            a,
            segments,
            places,
            labels,
            lambda_labels,
            nifs,
            record_sites,
            coverage,
            debug,
            checkpoints,
            label_addresses,
            hashed_keys,
            atom_searches,
            is_private,
        }
    }
    pub fn refuse(&self, what: &'static str) -> LoadError {
        LoadError::Unsupported(what)
    }
    pub fn label(&self, n: u32) -> Result<Label, LoadError> {
        self.labels.get(n as usize).copied().ok_or_else(|| self.refuse("no such label"))
    }
    /// The label of an operand; `None` for 0 (raise an exception).
    pub fn fail(&self, arg: Arg) -> Result<Option<Label>, LoadError> {
        match arg {
            Arg::Label(0) => Ok(None),
            Arg::Label(n) => self.label(n).map(Some),
            _ => Ok(None),
        }
    }

    /// The word of an operand that is known at compile time.
    pub fn constant(&self, arg: Arg) -> Option<u64> {
        Some(match arg {
            Arg::Nil => NIL,
            Arg::Atom(i) => self.atoms.get(i as usize)?.word(),
            Arg::Int(i) if word::fits_small(i) => word::small(i),
            Arg::Int(i) => self.literal(self.big_index(i)?)?,
            Arg::Big(i) => self.literal(self.first_big + i as usize)?,
            Arg::Literal(i) => self.literal(i as usize)?,
            Arg::U(n) => word::small(n as i64),
            _ => return None,
        })
    }
    fn literal(&self, i: usize) -> Option<u64> {
        self.literals.get(i).map(|t| t.word())
    }
    /// One-digit integers beyond 60 bits follow the big ones among the literals.
    fn big_index(&self, i: i64) -> Option<usize> {
        let start = self.first_big + self.code.bigs.len();
        (start..self.literals.len())
            .find(|n| self.literals.get(*n).and_then(|t| t.as_i64()) == Some(i))
    }
    pub fn is_constant(&self, arg: Arg) -> bool {
        self.constant(arg).is_some()
    }

    /// Records the current position as one that stack traces know.
    pub fn place(&mut self) {
        self.places.push(ReturnSite { offset: self.a.pos(), line: self.line });
    }
    /// Defers the emission of cold code to the end of the function.
    pub fn later(&mut self, f: impl FnOnce(&mut Compiler<'m>) -> EmitResult + 'm) {
        let (line, at) = (self.line, self.at);
        self.cold.push(Box::new(move |c| {
            (c.line, c.at) = (line, at);
            f(c)
        }))
    }
    pub fn flush_cold(&mut self) -> EmitResult {
        let line = self.line;
        while !self.cold.is_empty() {
            for f in std::mem::take(&mut self.cold) {
                f(self)?;
            }
        }
        self.line = line;
        Ok(())
    }

    /// Heap words that an operand requests: an allocation list also counts floats and funs.
    pub fn heap_words(&self, arg: Arg) -> usize {
        match arg {
            Arg::U(n) => n as usize,
            Arg::Alloc(l) => l.words as usize + 2 * l.floats as usize + 4 * l.funs as usize,
            _ => 0,
        }
    }

    pub fn args(&self, op: &Op) -> &'m [Arg] {
        self.code.args(op)
    }
    pub fn list(&self, op: &Op) -> &'m [Arg] {
        self.code.list(op)
    }
}

pub fn same_register(a: Arg, b: Arg) -> bool {
    matches!((a, b), (Arg::X(n, _), Arg::X(m, _)) | (Arg::Y(n, _), Arg::Y(m, _)) if n == m)
}
