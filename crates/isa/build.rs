//! Turns the `%generic` section of `ops.tab` into the `Opcode` enum and its table.
//!
//! An error in the table stops the build with the line number.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, process};

/// One line of the `%generic` section.
struct Generic<'a> {
    number: usize,
    name: &'a str,
    /// The first release that has it; 0: all of them.
    since: u16,
    obsolete: bool,
    arity: usize,
    operands: Vec<&'a str>,
    meaning: &'a str,
}

const KINDS: &str = "xylrdscamutfjepLnkvhgbz";

fn main() {
    println!("cargo::rerun-if-changed=ops.tab");
    println!("cargo::rerun-if-changed=build.rs");
    let text = fs::read_to_string("ops.tab").unwrap_or_else(|e| fail(0, &e.to_string()));
    let table = parse(&text);
    let out = env::var("OUT_DIR").unwrap_or_else(|e| fail(0, &e.to_string()));
    let path = Path::new(&out).join("opcodes.rs");
    fs::write(path, generate(&table)).unwrap_or_else(|e| fail(0, &e.to_string()));
}

fn fail(line: usize, what: &str) -> ! {
    println!("cargo::error=ops.tab, line {line}: {what}");
    process::exit(1)
}

fn parse(text: &str) -> Vec<Generic<'_>> {
    let mut table = Vec::new();
    let mut section = "";
    for (at, line) in text.lines().enumerate() {
        let line = line.trim_end();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(name) = line.strip_prefix('%') {
            section = name;
        } else if section == "generic" {
            let op = parse_generic(line, at + 1);
            if op.number != table.len() + 1 {
                fail(at + 1, "opcodes must follow one another");
            }
            if table.last().is_some_and(|last: &Generic| last.since > op.since) {
                fail(at + 1, "an older release than the opcode before");
            }
            table.push(op);
        }
    }
    table
}

fn parse_generic(line: &str, at: usize) -> Generic<'_> {
    let mut words = line.split_whitespace();
    let number = words.next().and_then(|w| w.parse().ok());
    let number = number.unwrap_or_else(|| fail(at, "no opcode number"));
    let name = words.next().unwrap_or_else(|| fail(at, "no name"));
    let first = words.next().unwrap_or_else(|| fail(at, "no operands"));
    if let Some(arity) = first.strip_prefix('/') {
        let arity = arity.parse().unwrap_or_else(|_| fail(at, "bad arity"));
        let name = name.strip_prefix('-').unwrap_or_else(|| fail(at, "not marked obsolete"));
        let obsolete = Generic {
            number,
            name,
            since: 0,
            obsolete: true,
            arity,
            operands: vec![],
            meaning: "",
        };
        return obsolete;
    }
    // Operands and meaning are separated by column: two blanks end the operands.
    let rest = line.split_once(name).map_or("", |(_, rest)| rest.trim_start());
    let (name, since) = name.split_once('@').unwrap_or((name, "0"));
    let since = since.parse().unwrap_or_else(|_| fail(at, "bad release"));
    let (kinds, text) = rest.split_once("  ").unwrap_or((rest, ""));
    let operands: Vec<&str> = kinds.split_whitespace().filter(|k| *k != ".").collect();
    if let Some(bad) = operands.iter().find(|k| k.len() != 1 || !KINDS.contains(**k)) {
        fail(at, &format!("unknown operand kind {bad}"));
    }
    let arity = operands.len();
    Generic { number, name, since, obsolete: false, arity, operands, meaning: text.trim() }
}

/// `get_tuple_element` becomes `GetTupleElement`.
fn camel(name: &str) -> String {
    let mut out = String::new();
    for part in name.split('_') {
        let (head, tail) = part.split_at(part.len().min(1));
        out.push_str(&head.to_uppercase());
        out.push_str(tail);
    }
    out
}

fn generate(table: &[Generic]) -> String {
    let mut out = String::from(
        "/// A generic instruction, as found in `.beam` files.\n\
         #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]\n#[repr(u8)]\npub enum Opcode {\n",
    );
    for op in table {
        let doc = if op.obsolete { "Too old for every release." } else { op.meaning };
        let (name, number) = (camel(op.name), op.number);
        let _ = writeln!(out, "    /// `{}/{}`: {doc}\n    {name} = {number},", op.name, op.arity);
    }
    let _ = writeln!(out, "}}\n\npub(crate) static INFO: [OpInfo; {}] = [", table.len());
    for op in table {
        let kinds: Vec<String> =
            op.operands.iter().map(|k| format!("OperandKind::{}", kind_name(k))).collect();
        let _ = writeln!(
            out,
            "    OpInfo {{ opcode: Opcode::{}, name: {:?}, arity: {}, since: {}, obsolete: {}, kinds: &[{}], meaning: {:?} }},",
            camel(op.name),
            op.name,
            op.arity,
            op.since,
            op.obsolete,
            kinds.join(", "),
            op.meaning
        );
    }
    out.push_str("];\n");
    out
}

fn kind_name(letter: &str) -> &'static str {
    match letter {
        "x" => "X",
        "y" => "Y",
        "l" => "FloatReg",
        "r" => "Reg",
        "d" => "Dst",
        "s" => "Src",
        "c" => "FloatOrTerm",
        "a" => "Atom",
        "m" => "Import",
        "u" => "Lambda",
        "t" => "FunTag",
        "f" => "Label",
        "j" => "Fail",
        "e" => "Entry",
        "p" => "MatchFail",
        "L" => "LabelDef",
        "n" => "Number",
        "k" => "Frame",
        "v" => "Live",
        "h" => "HeapNeed",
        "g" => "BitSize",
        "b" => "StrOffset",
        _ => "List",
    }
}
