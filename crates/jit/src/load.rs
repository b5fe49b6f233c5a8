//! Turns a `.beam` file's bytes into code that can be committed.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use kvik_beam::{verify_in, Arg, Code as Generic, Container, Module, Op, Opcode, RecordEntry};
use kvik_code::{
    fun_entry, CoverageMode, DebugTable, DebuggerSwitches, FunKey, FuncRange, LoadedModule,
    RecordLiteral,
};
use kvik_etf::DecodeOpts;
use kvik_heap::bits_build::Seg;
use kvik_heap::{Heap, LiteralArea};
use kvik_term::atom::{order_is_missed, without_ranks};
use kvik_term::word::{fits_small, FLAT_MAP_LIMIT};
use kvik_term::{cmp, Atom, CodeAddress, Export, FunEntry, Term};

use crate::checked::{Checkpoints, CHECKED};
use crate::code_cache::{self, Kept, PlacedCode};
use crate::compiler::{CompiledModule, Compiler, EmitResult, Scratch, Tables};
use crate::debug_items::debug_items;
use crate::load_buffers::LoadBuffers;
use crate::mem::NativeCode;
use crate::stubs::{self, Stubs};

/// Why a file can't be loaded.
#[derive(Debug)]
pub enum LoadError {
    /// Not a well-formed or not a safe file: `badfile`.
    Bad(kvik_beam::BeamError),
    /// Malformed literals or a malformed operand: `badfile`.
    Malformed(&'static str),
    /// An instruction that has no template.
    Unsupported(&'static str),
    /// Its maps depend on the order of atoms that the program has not named yet.
    TooEarly,
    /// No room for atoms, literals or code: `system_limit`.
    Full(&'static str),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Bad(e) => e.fmt(f),
            LoadError::Malformed(what) => write!(f, "damaged: {what}"),
            LoadError::Unsupported(what) => write!(f, "not supported: {what}"),
            LoadError::TooEarly => f.write_str("its atoms are not named yet"),
            LoadError::Full(what) => write!(f, "no room for {what}"),
        }
    }
}

impl From<kvik_beam::BeamError> for LoadError {
    fn from(e: kvik_beam::BeamError) -> Self {
        LoadError::Bad(e)
    }
}

/// Data that must live as long as the code's memory.
struct Memory {
    _code: NativeCode,
    _segments: Vec<Box<[Seg]>>,
    _strings: Box<[u8]>,
    _checkpoints: Checkpoints,
}

/// Compiles a `.beam` file to native code. None of it can be called before it is committed.
pub fn prepare(file: &[u8]) -> Result<LoadedModule, LoadError> {
    let mut buffers = LoadBuffers::take();
    let made = prepare_in(file, &mut buffers);
    buffers.give_back();
    made
}

/// Creates the atoms of a module and of its literals, in the order in which loading creates them.
pub fn name_atoms(file: &[u8]) -> Result<(), LoadError> {
    let container = Container::parse(file)?;
    let module = Module::parse_known(&container, &mut Default::default(), Some([0; 16]))?;
    Atom::intern_all(&module.atoms).map_err(|_| LoadError::Full("atoms"))?;
    own_literals(&module, &Heap::detached()).map(|_| ())
}

fn prepare_in(file: &[u8], buffers: &mut LoadBuffers) -> Result<LoadedModule, LoadError> {
    let stubs = stubs::get().ok_or(LoadError::Full("code"))?;
    let container = Container::parse(file)?;
    let cache = code_cache::current().map(|cache| (cache, code_cache::key(&container)));
    if let Some((cache, key)) = &cache {
        let mut room = std::mem::take(&mut buffers.entry);
        let entry = cache.find(key, &mut room);
        let made = entry.and_then(|e| from_cache(&container, e, stubs, buffers));
        buffers.entry = room;
        if let Some(made) = made {
            return Ok(made);
        }
        if order_is_missed() {
            return Err(LoadError::TooEarly);
        }
    }
    let module = Module::parse_in(&container, &mut buffers.reading)?;
    let code = Generic::decode_in(&module, &mut buffers.reading)?;
    let proof = verify_in(&module, &code, &mut buffers.reading)?;
    let attributes = [module.attributes, module.compile_info];
    // They are decoded on demand.
    if !without_ranks(|| attributes.into_iter().all(is_external)).made {
        return Err(LoadError::Malformed("attributes"));
    }
    let tables = Tables::new(&module, &code, stubs.no_fun)?;
    if order_is_missed() {
        return Err(LoadError::TooEarly);
    }
    let made_in_mode = CoverageMode::current();
    let scratch = std::mem::take(&mut buffers.compiling);
    let mut c = Compiler::new(&module, &code, &proof, stubs, &tables, scratch);
    let (functions, on_load) = compile(&mut c)?;
    let mut made = c.finish();
    let memory = NativeCode::alloc(made.a.buf.len()).ok_or(LoadError::Full("code"))?;
    let start = memory.address();
    if !made.a.resolve() {
        return Err(LoadError::Malformed("labels"));
    }
    if let Some((cache, key)) = cache {
        let (module, code, tables, made, functions) = (&module, &code, &tables, &made, &functions);
        let kept = Kept { module, code, tables, made, functions, on_load, stubs };
        if let Some(entry) = code_cache::write(&kept) {
            cache.add(key, entry);
        }
    }
    let CompiledModule { mut a, segments, places, labels, lambda_labels, nifs, .. } = made;
    let CompiledModule { record_sites, coverage, debug, checkpoints, label_addresses, .. } = made;
    buffers.reading.reclaim(code);
    if !a.relocate(start) {
        return Err(LoadError::Malformed("labels"));
    }
    memory.write(&a.buf);
    let offset = |label: u32| labels.get(label as usize).and_then(|l| a.offset(*l));
    if CHECKED {
        let address = |l| offset(l).map_or(0, |o| start + o as usize);
        let _ = label_addresses.set((0..labels.len() as u32).map(address).collect());
    }
    let entries = Entries {
        start,
        exports: module.exports.iter().map(|e| offset(e.label)).collect(),
        funs: lambda_labels.iter().map(|l| a.offset(*l)).collect(),
        on_load: on_load.and_then(offset),
    };
    let size = a.buf.len();
    buffers.compiling = Scratch { a, places };
    let owned = (memory, segments, checkpoints);
    let mut m = loaded(&module, tables, entries, owned)?;
    (m.size, m.functions, m.places) = (size, functions, buffers.compiling.places.to_vec());
    (m.record_sites, m.nifs, m.debug) = (record_sites, nifs, debug);
    (m.coverage, m.made_in_mode) = (coverage, made_in_mode);
    Ok(m)
}

/// Makes the module of an entry of the cache. `None` if the entry is not good for this VM.
fn from_cache(
    file: &Container,
    entry: &[u8],
    stubs: &Stubs,
    buffers: &mut LoadBuffers,
) -> Option<LoadedModule> {
    let mut entry = code_cache::read(entry)?;
    let module = Module::parse_known(file, &mut buffers.reading, Some(entry.md5)).ok()?;
    let atoms = Atom::intern_all(&module.atoms).ok()?;
    let h = Heap::detached();
    let mut terms = own_literals(&module, &h).ok()?;
    let kept = entry.literals(&h, &terms, &atoms)?;
    terms.extend(kept.terms);
    let area = area(&terms, kept.shared)?;
    let (key_tuples, records) = (HashMap::new(), Vec::new());
    let literals = Literals { area, key_tuples, records, first_debug_item: terms.len() };
    let tables = Tables::of_literals(&module, atoms, literals, stubs.no_fun).ok()?;
    let has_info = entry.has_debug_info;
    let placed = entry.place(&tables, stubs, &mut buffers.compiling.a.buf)?;
    let PlacedCode { memory, size, functions, places, exports, funs, on_load, nifs, segments } =
        placed;
    let entries = Entries { start: memory.address(), exports, funs, on_load };
    let owned = (memory, segments, Checkpoints::new());
    let debug =
        DebugTable { has_info, first_item: tables.first_debug_item, ..DebugTable::default() };
    let mut m = loaded(&module, tables, entries, owned).ok()?;
    (m.size, m.functions, m.places) = (size, functions, places);
    (m.nifs, m.debug) = (nifs, debug);
    Some(m)
}

/// Where a module's code is entered: offsets from `start`, of those that are anywhere.
struct Entries {
    start: usize,
    /// As the file lists them.
    exports: Vec<Option<u32>>,
    funs: Vec<Option<u32>>,
    on_load: Option<u32>,
}

/// What follows from the file's tables. The caller fills in what describes the code.
fn loaded(
    module: &Module,
    tables: Tables,
    entries: Entries,
    (code, segments, checkpoints): (NativeCode, Vec<Box<[Seg]>>, Checkpoints),
) -> Result<LoadedModule, LoadError> {
    let name = tables.module_name()?;
    let start = entries.start;
    // SAFETY: offsets of functions and funs are where they begin; `purge` ends what leads here
    // first.
    let address = |offset: u32| unsafe { CodeAddress::new(start + offset as usize) };
    let (exports, natives) =
        exports(module, &tables.atoms, name, |i| entries.exports.get(i)?.map(address));
    let funs = tables.lambdas.iter().zip(&entries.funs);
    let funs = funs.filter_map(|(f, offset)| Some((*f, address((*offset)?)))).collect();
    Ok(LoadedModule {
        name,
        md5: module.md5,
        attributes: module.attributes.to_vec(),
        compile: module.compile_info.to_vec(),
        start,
        size: 0,
        functions: Vec::new(),
        places: Vec::new(),
        lines: module.lines.items.iter().map(|l| (l.file, l.line)).collect(),
        files: source_files(module, name),
        exports,
        natives,
        imports: tables.imports,
        funs,
        on_load: entries.on_load.map(address),
        enabled: Default::default(),
        replaces: Default::default(),
        literals: tables.literals,
        records: tables.records,
        record_sites: Vec::new(),
        coverage: None,
        made_in_mode: CoverageMode::None,
        debug: DebugTable::default(),
        nifs: Vec::new(),
        library: Default::default(),
        memory: Box::new(Memory {
            _code: code,
            _segments: segments,
            _strings: tables.strings,
            _checkpoints: checkpoints,
        }),
    })
}

type Exported = (Vec<(&'static Export, CodeAddress)>, Vec<&'static Export>);

/// The exports with their addresses, and those that the VM implements.
fn exports(
    module: &Module,
    atoms: &[Atom],
    name: Atom,
    entry: impl Fn(usize) -> Option<CodeAddress>,
) -> Exported {
    let (mut exports, mut natives) = (Vec::new(), Vec::new());
    for (i, e) in module.exports.iter().enumerate() {
        let x = kvik_code::export(name, atoms[e.function as usize], e.arity as u32);
        match (x.extra.get(), entry(i)) {
            (0, Some(address)) => exports.push((x, address)),
            (0, None) => {}
            _ => natives.push(x),
        }
    }
    (exports, natives)
}

/// The names of the files that lines refer to. The first name, and any empty one, stands for the
/// module's own.
fn source_files(module: &Module, name: Atom) -> Vec<Arc<str>> {
    let mut files: Vec<Arc<str>> = module.lines.files.iter().map(|f| (*f).into()).collect();
    let own: Arc<str> = format!("{}.erl", name.name()).into();
    files.iter_mut().filter(|f| f.is_empty()).for_each(|f| *f = own.clone());
    if files.is_empty() {
        files.push(own);
    }
    files
}

impl Tables {
    /// `no_fun`: the target of fun entries without code.
    pub fn new(module: &Module, code: &Generic, no_fun: CodeAddress) -> Result<Tables, LoadError> {
        let atoms = Atom::intern_all(&module.atoms).map_err(|_| LoadError::Full("atoms"))?;
        let for_debugger = DebuggerSwitches::current().has_line_breakpoints();
        let literals = literals(module, code, &atoms, for_debugger)?;
        Tables::of_literals(module, atoms, literals, no_fun)
    }
    fn of_literals(
        module: &Module,
        atoms: Vec<Atom>,
        literals: Literals,
        no_fun: CodeAddress,
    ) -> Result<Tables, LoadError> {
        let name = *atoms.get(1).ok_or(LoadError::Malformed("name"))?;
        let debugger_switches = DebuggerSwitches::current();
        let Literals { area: literals, key_tuples, records, first_debug_item } = literals;
        let import = |i: &kvik_beam::Import| {
            (atoms[i.module as usize], atoms[i.function as usize], i.arity as u32)
        };
        let imports = kvik_code::exports_of(&module.imports.iter().map(import).collect::<Vec<_>>());
        let lambdas = lambdas(module, &atoms, name, no_fun);
        let strings = module.strings.into();
        Ok(Tables {
            atoms,
            literals,
            key_tuples,
            records,
            debugger_switches,
            first_debug_item,
            imports,
            lambdas,
            strings,
        })
    }
    fn module_name(&self) -> Result<Atom, LoadError> {
        self.atoms.get(1).copied().ok_or(LoadError::Malformed("name"))
    }
}

/// Whether the bytes are empty or a term in external format.
fn is_external(bytes: &[u8]) -> bool {
    bytes.is_empty() || kvik_etf::decode(bytes, &Heap::detached(), DecodeOpts::default()).is_ok()
}

/// See [`Tables`].
struct Literals {
    area: LiteralArea,
    key_tuples: HashMap<usize, usize>,
    records: Vec<RecordLiteral>,
    first_debug_item: usize,
}

fn literals(
    module: &Module,
    code: &Generic,
    atoms: &[Atom],
    for_debugger: bool,
) -> Result<Literals, LoadError> {
    let h = Heap::detached();
    let mut terms = own_literals(module, &h)?;
    terms.extend(code.bigs.iter().map(|b| h.big(b.negative, &b.digits)));
    for arg in code.operands() {
        match arg {
            Arg::Int(i) if !fits_small(*i) => terms.push(h.integer(*i)),
            _ => {}
        }
    }
    let (mut key_tuples, mut shared_keys) = (HashMap::new(), Vec::new());
    let new_maps = code.ops.iter().enumerate().filter(|(_, op)| op.opcode == Opcode::PutMapAssoc);
    for (at, op) in new_maps {
        if let Some(keys) = keys_of_new(&h, code, op, &terms, atoms) {
            key_tuples.insert(at, terms.len());
            let literals = keys.iter().enumerate();
            shared_keys.extend(literals.filter_map(|(i, key)| Some((terms.len(), i, key.1?))));
            terms.push(h.tuple(&keys.iter().map(|key| key.0).collect::<Vec<_>>()));
        }
    }
    let mut records = Vec::with_capacity(code.records.len());
    for r in &code.records {
        let described = describe_record(&h, r, &terms, atoms);
        let (name, info) = described.ok_or(LoadError::Malformed("records"))?;
        records.push(RecordLiteral { name, literal: terms.len() });
        terms.push(info);
    }
    let items = debug_items(&h, &code.debug_info, &terms, atoms);
    let items = items.ok_or(LoadError::Malformed("debug information"))?;
    let first_debug_item = terms.len();
    if for_debugger {
        terms.extend(items);
    }
    let area = area(&terms, shared_keys).ok_or(LoadError::Full("literals"))?;
    Ok(Literals { area, key_tuples, records, first_debug_item })
}

/// The literals of the file.
fn own_literals<'h>(module: &Module, h: &'h Heap) -> Result<Vec<Term<'h>>, LoadError> {
    let one = |bytes: &[u8]| {
        // The chunk is compressed as a whole; a literal in it is not compressed again.
        let t = kvik_etf::decode(bytes, h, DecodeOpts::default());
        let t = t.ok().filter(|_| !bytes.starts_with(&[131, 80]));
        t.map(|(t, _)| t).ok_or(LoadError::Malformed("literals"))
    };
    module.literals.iter().map(one).collect()
}

/// `None` if there is no room. `shared`: a tuple among the terms, an element of it, and the term
/// that this element equals.
fn area(terms: &[Term<'_>], shared: Vec<(usize, usize, usize)>) -> Option<LiteralArea> {
    let mut area = LiteralArea::new(terms)?;
    // A key that is looked up is then found by its address.
    for (tuple, element, literal) in shared {
        area.share(tuple, element, literal);
    }
    Some(area)
}

/// The literal for a native record.
fn describe_record<'h>(
    h: &'h Heap,
    r: &RecordEntry,
    terms: &[Term<'h>],
    atoms: &[Atom],
) -> Option<(Atom, Term<'h>)> {
    let atom = |i: u32| atoms.get(i as usize).copied();
    let (module, name) = (*atoms.get(1)?, atom(r.name)?);
    let keys: Vec<Atom> = r.fields.iter().map(|(key, _)| atom(*key)).collect::<Option<_>>()?;
    let new = h.record_definition([module, name], r.exported, &keys)?;
    let mut defaults = vec![Term::NIL; keys.len()];
    let mut required = Vec::new();
    for (at, (_, value)) in new.definition.order().zip(&r.fields) {
        match value {
            Some(value) => *defaults.get_mut(at)? = constant(h, *value, terms, atoms)?,
            None => required.push(at),
        }
    }
    required.sort_unstable();
    let required: Vec<_> = required.iter().map(|i| h.integer(*i as i64)).collect();
    Some((name, h.tuple(&[h.record(new.term, &defaults)?, h.list(&required)])))
}

/// The term of an operand that is a constant.
pub(crate) fn constant<'h>(
    h: &'h Heap,
    arg: Arg,
    terms: &[Term<'h>],
    atoms: &[Atom],
) -> Option<Term<'h>> {
    match arg {
        Arg::Nil => Some(Term::NIL),
        Arg::Atom(i) => atoms.get(i as usize).map(|a| Term::from(*a)),
        Arg::Int(i) => Some(h.integer(i)),
        Arg::Literal(i) => terms.get(i as usize).copied(),
        _ => None,
    }
}

/// A key, and which literal it is.
type ConstantKey<'h> = (Term<'h>, Option<usize>);

/// The sorted keys of a `put_map_assoc` that makes a flat map of distinct constant keys.
fn keys_of_new<'h>(
    h: &'h Heap,
    code: &Generic,
    op: &Op,
    terms: &[Term<'h>],
    atoms: &[Atom],
) -> Option<Vec<ConstantKey<'h>>> {
    let [_, Arg::Literal(i), ..] = code.args(op) else {
        return None;
    };
    let pairs = code.list(op);
    let empty = terms.get(*i as usize)?.as_map()?.len() == 0;
    if !empty || pairs.is_empty() || pairs.len() > 2 * FLAT_MAP_LIMIT {
        return None;
    }
    let key = |pair: &[Arg]| match pair[0] {
        // A bignum has a place of its own among the literals.
        Arg::Int(i) if !fits_small(i) => None,
        key => {
            let literal = if let Arg::Literal(i) = key { Some(i as usize) } else { None };
            Some((constant(h, key, terms, atoms)?, literal))
        }
    };
    let mut keys = pairs.chunks_exact(2).map(key).collect::<Option<Vec<_>>>()?;
    keys.sort_by(|a, b| cmp::key_order(a.0, b.0));
    keys.windows(2).all(|two| !cmp::eq_exact(two[0].0, two[1].0)).then_some(keys)
}

fn lambdas(
    module: &Module,
    atoms: &[Atom],
    name: Atom,
    no_fun: CodeAddress,
) -> Vec<&'static FunEntry> {
    let one = |(i, l): (usize, &kvik_beam::Lambda)| {
        let key = FunKey {
            module: name,
            uniq: module.md5,
            index: i as u32,
            old_uniq: l.old_uniq,
            arity: (l.arity - l.free) as u32,
            num_free: l.free as u32,
        };
        fun_entry(key, atoms[l.function as usize], l.index, no_fun)
    };
    module.lambdas.iter().enumerate().map(one).collect()
}

/// Compiles all functions. Also returns the label of the `on_load` function.
pub(crate) fn compile<'m>(
    c: &mut Compiler<'m>,
) -> Result<(Vec<FuncRange>, Option<u32>), LoadError> {
    let name = *c.atoms.get(1).ok_or(LoadError::Malformed("name"))?;
    let mut functions = Vec::with_capacity(c.code.functions.len());
    let mut on_load = None;
    for f in &c.code.functions {
        c.a.align(8);
        c.function_index = functions.len();
        let function = *c.atoms.get(f.name as usize).ok_or(LoadError::Malformed("function"))?;
        functions.push(FuncRange {
            start: c.a.pos(),
            function,
            arity: f.arity as u32,
            line: f.line,
        });
        let e = kvik_code::known_export(name, function, f.arity as u32);
        match e.filter(|e| e.extra.get() != 0) {
            Some(e) => native(c, f, e)?,
            None => c.function(f)?,
        }
        let ops = c.code.ops.get(f.ops.clone()).unwrap_or_default();
        if ops.iter().any(|op| op.opcode == Opcode::OnLoad) {
            on_load = Some(f.entry_label);
        }
    }
    for (i, l) in c.module.lambdas.iter().enumerate() {
        c.lambda_entry(i, l.arity as u32, l.free as u32, l.label)?;
    }
    Ok((functions, on_load))
}

/// Emits a function that the VM implements: the file's body is a stand-in.
fn native(c: &mut Compiler<'_>, f: &kvik_beam::Function, e: &'static Export) -> EmitResult {
    let ops = c.code.ops.get(f.ops.clone()).unwrap_or_default();
    for op in ops.iter().filter(|op| op.opcode == Opcode::Label) {
        if let [Arg::U(n)] = c.args(op) {
            let l = c.label(*n as u32)?;
            c.a.place(l);
        }
    }
    c.jump_export(e);
    Ok(())
}
