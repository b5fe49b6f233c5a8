//! Snapshot tests of the native code of each instruction: function bodies in `snapshots/*.txt`,
//! each with its disassembled code. A body is written for the assembler of the verifier's tests.
//!
//! `SNAPSHOTS=write cargo test -p kvik-jit snapshots` regenerates the code; review the difference
//! like any other change.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use iced_x86::{
    Decoder, DecoderOptions, Formatter, Instruction, IntelFormatter, OpKind, SymbolResolver,
    SymbolResult,
};
use kvik_beam::{verify, Code, Container, Module, Opcode};
use kvik_term::{am, hash, word, Term};

use crate::compiler::{CompiledModule, Compiler, Scratch, Tables};
use crate::load::compile;
use crate::stubs;
use crate::x86_64::asm::Reloc;
use crate::LoadError;

#[path = "../../../beam/tests/common/asm.rs"]
#[allow(dead_code)]
mod asm;

/// Operands above this are pointers; stand-ins for call targets.
const POINTERS: u64 = 1 << 32;
const OUTSIDE: u64 = 0x4000_0000;

/// Instructions without a template: a file that contains one is refused. `on_load` makes no code,
/// and is not allowed in a function with arguments.
const WITHOUT: &[Opcode] = &[Opcode::OnLoad];

/// A body of `f/1` and the code it became.
struct Case {
    title: String,
    body: String,
    code: String,
}

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/x86_64/snapshots")
}
fn files() -> Vec<PathBuf> {
    let all = std::fs::read_dir(directory()).expect("the folder of snapshots");
    let mut all: Vec<PathBuf> = all.map(|e| e.expect("an entry").path()).collect();
    all.sort();
    all
}

/// `## title`, lines of the body, `--`, lines of code.
fn cases(text: &str) -> Vec<Case> {
    let part = |part: &str| {
        let (title, rest) = part.split_once('\n').expect("a title");
        let (body, code) = rest.split_once("--\n").expect("a body and its code");
        Case { title: title.into(), body: body.into(), code: code.into() }
    };
    text.split("## ").skip(1).map(part).collect()
}
fn text(cases: &[Case]) -> String {
    cases.iter().map(|c| format!("## {}\n{}--\n{}", c.title, c.body, c.code)).collect()
}

/// Symbolic names for operand values.
struct Names {
    /// Atoms, literals, exports and other addresses.
    numbers: HashMap<u64, String>,
    /// Locations in the code, and targets outside of it.
    targets: HashMap<u64, String>,
}

impl SymbolResolver for Names {
    fn symbol(
        &mut self,
        i: &Instruction,
        _: u32,
        operand: Option<u32>,
        value: u64,
        _: u32,
    ) -> Option<SymbolResult<'_>> {
        let name = match i.op_kind(operand?) {
            OpKind::NearBranch64 => self.targets.get(&value)?,
            OpKind::Memory if i.is_ip_rel_memory_operand() => self.targets.get(&value)?,
            OpKind::Memory => return None,
            _ if value >= POINTERS && !self.numbers.contains_key(&value) => {
                let name = self.with_flags(value).or_else(|| function_at(value))?;
                self.numbers.entry(value).or_insert(name)
            }
            OpKind::Immediate32 | OpKind::Immediate32to64 | OpKind::Immediate64 => {
                self.numbers.get(&value)?
            }
            _ => return None,
        };
        Some(SymbolResult::with_str(value, name))
    }
}

impl Names {
    /// An address with something in its low bits.
    fn with_flags(&self, value: u64) -> Option<String> {
        let name = self.numbers.get(&(value & !7))?;
        Some(format!("{name} | {}", value & 7))
    }
}

/// The Rust function that begins at an address, without the crate's name.
fn function_at(address: u64) -> Option<String> {
    let mut name = None;
    // `resolve` looks up the instruction before the address, as for a return address.
    backtrace::resolve((address + 1) as *mut _, |s| name = s.name().map(|n| format!("{n:#}")));
    Some(name?.trim_start_matches("kvik_jit::").to_string())
}

/// The body with numbers in place of `erlang:F/A`, and the imports that these stand for.
fn named_imports(body: &str) -> (String, Vec<(&str, u32)>) {
    let mut imports = Vec::new();
    let mut numbered = String::new();
    for word in body.split_inclusive([' ', ';', '\n']) {
        let Some((name, rest)) = word.strip_prefix("erlang:").and_then(|f| f.rsplit_once('/'))
        else {
            numbered.push_str(word);
            continue;
        };
        let (arity, end) = rest.split_at(1);
        numbered.push_str(&format!("{}{end}", asm::IMPORTS.len() + imports.len()));
        imports.push((name, arity.parse().expect("an arity")));
    }
    (numbered, imports)
}

/// The code of the body's function from its entry on, or from its beginning if the title says so.
fn native_code(case: &Case) -> Result<String, LoadError> {
    let (body, imports) = named_imports(&case.body);
    let bytes = asm::with_imports(&body, &imports);
    let container = Container::parse(&bytes)?;
    let module = Module::parse(&container)?;
    let code = Code::decode(&module)?;
    let proof = verify(&module, &code)?;
    let stubs = stubs::get().ok_or(LoadError::Full("code"))?;
    let tables = Tables::new(&module, &code, stubs.no_fun)?;
    let mut c = Compiler::new(&module, &code, &proof, stubs, &tables, Scratch::default());
    c.checked = false;
    let (functions, _) = compile(&mut c)?;
    let mut made = c.finish();
    assert!(made.a.resolve(), "a label was not placed");
    let entry = made.a.offset(made.labels[2]).expect("the entry");
    let from = if case.title.contains("func_info") { functions[0].start } else { entry };
    let mut names = names(&tables, &made);
    let relocations = std::mem::take(&mut made.a.relocs);
    for (i, Reloc { at, target }) in relocations.iter().enumerate() {
        let stand_in = OUTSIDE + i as u64;
        let distance = (stand_in as i64 - (*at as i64 + 4)) as i32;
        made.a.buf[*at as usize..*at as usize + 4].copy_from_slice(&distance.to_le_bytes());
        let name = stubs.name(*target).expect("calls go to stubs");
        names.targets.insert(stand_in, format!("stub {name}"));
    }
    let end = functions.get(1).map_or(made.a.buf.len() as u32, |f| f.start);
    Ok(disassembly(&made.a.buf[..end as usize], from, names))
}

fn names(tables: &Tables, made: &CompiledModule) -> Names {
    // The templates' own atoms: their numbers change whenever the VM adds a predefined one.
    let own = [am::false_, am::true_];
    let atoms = tables.atoms.iter().skip(1).chain(&own);
    let atoms = atoms.map(|a| (a.word(), format!("'{}'", a.name())));
    // The hash depends on the atom's index, which changes whenever the VM adds a predefined atom.
    let hashes = tables
        .atoms
        .iter()
        .skip(1)
        .map(|a| (hash::of_key(Term::atom(*a)), format!("hash '{}'", a.name())));
    let imports = tables.imports.iter().map(|e| {
        let name = format!("{}:{}/{}", e.module.name(), e.function.name(), e.arity);
        (*e as *const _ as u64, name)
    });
    let literals = (0..tables.literals.len())
        .filter_map(|i| Some((tables.literals.get(i)?.word(), format!("literal {i}"))));
    let lambdas = tables.lambdas.iter().enumerate();
    let lambdas = lambdas.map(|(i, f)| (*f as *const _ as u64, format!("fun {i}")));
    let segments = made.segments.iter().enumerate();
    let segments = segments.map(|(i, s)| (s.as_ptr() as u64, format!("segments {i}")));
    let sites = made.record_sites.iter().enumerate();
    let sites = sites.map(|(i, s)| (Arc::as_ptr(s) as u64, format!("record site {i}")));
    // The entry of a record is an address, and an operand as a small integer.
    let record = |t: Term<'_>| {
        let [module, name] = t.as_tuple_n()?;
        let e = kvik_code::record_entry(module.as_atom()?, name.as_atom()?);
        let (address, name) = (e as *const _ as u64, "record entry".to_string());
        Some([(address, name.clone()), (word::small(address as i64), name)])
    };
    let records = (0..tables.literals.len()).filter_map(|i| record(tables.literals.get(i)?));
    let nifs = made.nifs.iter().map(|n| (n.entry.as_ptr() as u64, "NIF entry".to_string()));
    let numbers = atoms
        .chain(hashes)
        .chain(imports)
        .chain(literals)
        .chain(lambdas)
        .chain(segments)
        .chain(sites)
        .chain(records.flatten())
        .chain(nifs);
    Names { numbers: numbers.collect(), targets: HashMap::new() }
}

/// Disassembles one instruction per line; jump targets are numbered.
fn disassembly(code: &[u8], from: u32, mut names: Names) -> String {
    let mut decoder = Decoder::with_ip(64, code, 0, DecoderOptions::NONE);
    decoder.set_position(from as usize).expect("a position");
    decoder.set_ip(u64::from(from));
    let all: Vec<Instruction> = decoder.into_iter().collect();
    let inside = u64::from(from)..code.len() as u64;
    let mentioned = |i: &Instruction| {
        [i.near_branch_target(), i.ip_rel_memory_address()].into_iter().filter(|t| *t != 0)
    };
    let targets: BTreeSet<u64> =
        all.iter().flat_map(mentioned).filter(|t| inside.contains(t)).collect();
    let places: BTreeMap<u64, usize> = targets.into_iter().zip(1..).collect();
    names.targets.extend(places.iter().map(|(at, n)| (*at, format!("L{n}"))));
    let mut formatter = IntelFormatter::with_options(Some(Box::new(names)), None);
    let options = formatter.options_mut();
    options.set_hex_prefix("0x");
    options.set_hex_suffix("");
    options.set_space_after_operand_separator(true);
    options.set_rip_relative_addresses(false);
    options.set_branch_leading_zeros(false);
    let mut out = String::new();
    for i in all.iter().filter(|i| i.mnemonic() != iced_x86::Mnemonic::Int3) {
        if let Some(n) = places.get(&i.ip()) {
            out.push_str(&format!("L{n}:\n"));
        }
        let mut line = String::new();
        formatter.format(i, &mut line);
        out.push_str(&format!("    {line}\n"));
    }
    out
}

#[test]
fn instructions_become_the_code_of_the_snapshots() {
    let write = std::env::var("SNAPSHOTS").is_ok_and(|v| v == "write");
    let mut different = Vec::new();
    for file in files() {
        let old = std::fs::read_to_string(&file).expect("a snapshot");
        let mut all = cases(&old);
        for case in &mut all {
            let now = native_code(case)
                .unwrap_or_else(|e| panic!("{}: {}: {e}", file.display(), case.title));
            if now != case.code {
                different.push(format!("{}: {}\n{now}", file.display(), case.title));
            }
            case.code = now;
        }
        if write && text(&all) != old {
            std::fs::write(&file, text(&all)).expect("to write the snapshot");
        }
    }
    assert!(write || different.is_empty(), "other code:\n{}", different.join("\n"));
}

/// Every instruction with a template occurs in a body.
#[test]
fn every_instruction_has_a_snapshot() {
    let files = files().into_iter().map(|f| std::fs::read_to_string(f).expect("a snapshot"));
    let bodies: Vec<String> =
        files.flat_map(|text| cases(&text)).map(|c| format!("{} {}", c.title, c.body)).collect();
    let shown: BTreeSet<&str> =
        bodies.iter().flat_map(|b| b.split(|c: char| c.is_whitespace() || c == ';')).collect();
    let all = (1..=255).filter_map(Opcode::from_number);
    let missing: Vec<&str> = all
        .filter(|o| !o.info().obsolete && !WITHOUT.contains(o) && !shown.contains(o.name()))
        .map(Opcode::name)
        .collect();
    assert!(missing.is_empty(), "without a snapshot: {}", missing.join(" "));
}
