//! Every reason for which code is refused has a test that produces it;
//! docs/internals/verifier-reasons.md lists them, and is regenerated if `KVIK_WRITE=1` is set.

#[path = "common/asm.rs"]
mod asm;
#[path = "common/files.rs"]
mod files;
#[path = "common/hostile.rs"]
mod hostile;

use kvik_beam::{verify, BeamError, Code, Container, Module};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Reasons that an earlier check makes impossible, with that check. The code states them all the
/// same, since it must return something there.
const SHADOWED: &[(&str, &str)] = &[
    ("a y register is not initialised", "frames are filled on a second walk instead"),
    ("an instruction not known here", "the decoder refuses opcodes without a rule"),
    ("not a heap need", "operand kinds (`operands.rs`)"),
    ("not a source", "operand kinds"),
    ("not a function", "operand kinds: the label is an entry"),
    ("no such import", "operand kinds"),
    ("no such fun", "operand kinds"),
    ("in the middle of a function", "each `func_info` begins a function (`functions.rs`)"),
    ("not a number", "operand kinds: what is live is a number"),
    ("too large", "operand limits: a heap need, a list of elements (`operands.rs`)"),
    ("too many arguments", "operand kinds: an arity is at most 1,023"),
];
/// Text in the sources that is not a reason.
const OTHER: &[&str] = &["the module"];

fn what(bytes: &[u8]) -> Option<&'static str> {
    let check = || -> Result<(), BeamError> {
        let file = Container::parse(bytes)?;
        let module = Module::parse(&file)?;
        let code = Code::decode(&module)?;
        verify(&module, &code).map(|_| ())
    };
    match check() {
        Err(BeamError::Unsafe(reason)) => Some(reason.what),
        Err(BeamError::Code { what, .. } | BeamError::Layout { what, .. }) => Some(what),
        _ => None,
    }
}

/// The string literals with a blank in a source file, without comments and tests.
fn literals(source: &str) -> Vec<String> {
    let code = source.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let strings = lines.flat_map(|line| line.split('"').skip(1).step_by(2));
    strings.filter(|s| s.contains(' ') && !s.contains('{')).map(str::to_owned).collect()
}

/// Where each reason is stated.
fn stated() -> BTreeMap<String, String> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let verifier = std::fs::read_dir(src.join("verify")).expect("the verifier's sources");
    let mut files: Vec<PathBuf> = verifier.map(|e| e.expect("an entry").path()).collect();
    let others = [
        "bs_match.rs",
        "decode.rs",
        "functions.rs",
        "module.rs",
        "old_bits.rs",
        "compact.rs",
        "reader.rs",
    ];
    files.extend(others.map(|name| src.join(name)));
    let mut all = BTreeMap::new();
    for path in files {
        let source = std::fs::read_to_string(&path).expect("a source file");
        let name = path.strip_prefix(&src).unwrap_or(&path).display().to_string();
        literals(&source).into_iter().for_each(|s| {
            all.entry(s).or_insert_with(|| name.clone());
        });
    }
    all
}

/// One test that produces each reason: a body of `f/1`, or the name of a damaged file.
fn produced() -> BTreeMap<&'static str, String> {
    let bodies = hostile::REFUSED.iter().chain(hostile::MALFORMED).chain(hostile::LAYOUT);
    let mut found = BTreeMap::new();
    for (body, _) in bodies {
        if let Some(reason) = what(&asm::module(body)) {
            found.entry(reason).or_insert_with(|| format!("`{body}`"));
        }
    }
    for (name, file) in files::all() {
        if let Some(reason) = what(&file) {
            found.entry(reason).or_insert_with(|| name.into());
        }
    }
    found
}

#[test]
fn every_reason_has_a_test() {
    let produced = produced();
    let shadowed = |reason: &str| SHADOWED.iter().find(|(r, _)| *r == reason).map(|(_, why)| *why);
    let mut table = String::from(
        "# Why code is refused\n\nWritten by `KVIK_WRITE=1 cargo test -p kvik-beam --test reasons`: \
         each reason, where it is stated, and a test that produces it (`crates/beam/tests/common/`).\n\n\
         | reason | stated in | produced by |\n|---|---|---|\n",
    );
    let mut without = Vec::new();
    for (reason, file) in stated() {
        if OTHER.contains(&reason.as_str()) {
            continue;
        }
        let by = match (produced.get(reason.as_str()), shadowed(&reason)) {
            (Some(test), _) => test.split_whitespace().collect::<Vec<_>>().join(" "),
            (None, Some(why)) => format!("nothing can: {why}"),
            (None, None) => {
                without.push(format!("{file}: {reason}"));
                continue;
            }
        };
        table += &format!("| {reason} | `{file}` | {by} |\n");
    }
    assert!(without.is_empty(), "no test produces:\n{}", without.join("\n"));
    let page =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/internals/verifier-reasons.md");
    if std::env::var_os("KVIK_WRITE").is_some() {
        std::fs::write(&page, &table).expect("a page that can be written");
    }
    let kept = std::fs::read_to_string(&page).unwrap_or_default();
    assert!(kept == table, "{} is out of date: set KVIK_WRITE=1", page.display());
}
