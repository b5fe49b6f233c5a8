//! A small assembler: modules of one or two functions, for code that no compiler would write.
//!
//! One instruction a line, operands as in `x0 y1 fr0 #5 (integer) 5 (number) @2 (atom) [] f3
//! (label) q0 (literal) {...} (list) h4,0,1 (heap words, floats and funs)`. The functions are `f/1` (labels 1 and 2) and `g/2` (the
//! last two labels), which just returns. Literal 0 is `{a}`, the string table is empty.

use kvik_beam::Opcode;

/// Labels of `g/2`: its `func_info` and its entry.
const G: (u32, u32) = (10, 11);
/// Imports: 0 `erlang:error/1`, 1 `erlang:setelement/3`, 2 `erlang:self/0`, 3 `erlang:'+'/2`,
/// 4 `m:h/1`, 5 `erlang:hd/1`, 6 `erlang:length/1`.
const ATOMS: [&str; 25] = [
    "m",
    "f",
    "g",
    "erlang",
    "error",
    "setelement",
    "self",
    "+",
    "h",
    "hd",
    "integer",
    "string",
    "unsafe",
    "length",
    "resume",
    "ensure_at_least",
    "ensure_exactly",
    "skip",
    "binary",
    "get_tail",
    "=:=",
    "copy",
    "all",
    "append",
    "true",
];
pub const IMPORTS: [(u32, u32, u32); 7] =
    [(4, 5, 1), (4, 6, 3), (4, 7, 0), (4, 8, 2), (1, 9, 1), (4, 10, 1), (4, 14, 1)];
/// Exports: name, arity, label.
pub const EXPORTS: [(u32, u32, u32); 1] = [(2, 1, 2)];
/// Funs: name, arity (with free variables), label, index, free variables, unique number.
pub const FUNS: [[u32; 6]; 1] = [[3, 2, G.1, 0, 1, 0]];
/// zlib stream of one literal, `{a}`, stored without compression.
const LITERALS: &[u8] = &[
    0, 0, 0, 14, 0x78, 0x01, 0x01, 14, 0, 0xf1, 0xff, 0, 0, 0, 1, 0, 0, 0, 6, 131, 104, 1, 119, 1,
    97, 0x05, 0x4a, 0x01, 0xc3,
];

/// A file whose `f/1` has this body.
pub fn module(body: &str) -> Vec<u8> {
    with_tables(body, &EXPORTS, &FUNS)
}

/// The same with other tables of exports and funs.
pub fn with_tables(body: &str, exports: &[(u32, u32, u32)], funs: &[[u32; 6]]) -> Vec<u8> {
    with_code(&code(body), exports, funs)
}

/// The instructions of a module whose `f/1` has this body.
pub fn code(body: &str) -> Vec<u8> {
    let mut code = Vec::new();
    let header = "label 1\nfunc_info @1 @2 1\nlabel 2\n";
    let rest = format!("label {}\nfunc_info @1 @3 2\nlabel {}\nreturn\nint_code_end", G.0, G.1);
    for line in [header, body, &rest].iter().flat_map(|text| text.split([';', '\n'])) {
        instruction(line.trim(), &mut code);
    }
    code
}

/// The same with further imports (from 7 on), functions of `erlang` by name and arity.
#[allow(dead_code)]
pub fn with_imports(body: &str, more: &[(&str, u32)]) -> Vec<u8> {
    file(&code(body), &EXPORTS, &FUNS, more)
}

/// The same with an additional chunk.
#[allow(dead_code)]
pub fn with_chunk(body: &str, id: &[u8; 4], contents: &[u8]) -> Vec<u8> {
    with_code_and_chunk(&code(body), id, contents)
}

/// A file with these bytes as its instructions, and an additional chunk.
#[allow(dead_code)]
pub fn with_code_and_chunk(code: &[u8], id: &[u8; 4], contents: &[u8]) -> Vec<u8> {
    let mut file = with_code(code, &EXPORTS, &FUNS);
    chunk(&mut file, id, contents);
    let size = file.len() as u32 - 8;
    file[4..8].copy_from_slice(&size.to_be_bytes());
    file
}

/// A file with these bytes as its instructions.
pub fn with_code(code: &[u8], exports: &[(u32, u32, u32)], funs: &[[u32; 6]]) -> Vec<u8> {
    file(code, exports, funs, &[])
}

fn file(
    code: &[u8],
    exports: &[(u32, u32, u32)],
    funs: &[[u32; 6]],
    more: &[(&str, u32)],
) -> Vec<u8> {
    // The instructions of every release are tried.
    if let Some(newest) = kvik_release::RELEASES.last() {
        kvik_release::select(newest, newest.erts_version);
    }
    let mut head = Vec::new();
    for word in [16u32, 0, 180, 12, 2] {
        head.extend(word.to_be_bytes());
    }
    head.extend(code);
    let mut imports = IMPORTS.to_vec();
    imports
        .extend((ATOMS.len() as u32 + 1..).zip(more).map(|(atom, (_, arity))| (4, atom, *arity)));
    let names = ATOMS.iter().copied().chain(more.iter().map(|(name, _)| *name));
    let mut atoms = (names.clone().count() as u32).to_be_bytes().to_vec();
    for atom in names {
        atoms.push(atom.len() as u8);
        atoms.extend(atom.bytes());
    }
    let mut file = b"BEAM".to_vec();
    let mut fun = (funs.len() as u32).to_be_bytes().to_vec();
    fun.extend(funs.iter().flatten().flat_map(|w| w.to_be_bytes()));
    chunk(&mut file, b"AtU8", &atoms);
    chunk(&mut file, b"Code", &head);
    chunk(&mut file, b"ImpT", &table(&imports));
    chunk(&mut file, b"ExpT", &table(exports));
    chunk(&mut file, b"FunT", &fun);
    chunk(&mut file, b"LitT", &literals());
    let mut out = b"FOR1".to_vec();
    out.extend((file.len() as u32).to_be_bytes());
    out.extend(file);
    out
}

/// The literal chunk with a correct checksum.
fn literals() -> Vec<u8> {
    let mut chunk = LITERALS.to_vec();
    let (mut a, mut b) = (1u32, 0u32);
    for byte in &LITERALS[11..25] {
        a = (a + u32::from(*byte)) % 65521;
        b = (b + a) % 65521;
    }
    chunk[25..].copy_from_slice(&(b << 16 | a).to_be_bytes());
    chunk
}

fn table(rows: &[(u32, u32, u32)]) -> Vec<u8> {
    let mut out = (rows.len() as u32).to_be_bytes().to_vec();
    for (a, b, c) in rows {
        out.extend([*a, *b, *c].iter().flat_map(|w| w.to_be_bytes()));
    }
    out
}

fn chunk(file: &mut Vec<u8>, id: &[u8; 4], contents: &[u8]) {
    file.extend(id);
    file.extend((contents.len() as u32).to_be_bytes());
    file.extend(contents);
    file.resize(file.len().next_multiple_of(4), 0);
}

fn instruction(line: &str, code: &mut Vec<u8>) {
    let mut words = line.split_whitespace();
    let Some(name) = words.next() else { return };
    let opcode = Opcode::from_name(name).unwrap_or_else(|| panic!("no instruction {name}"));
    code.push(opcode as u8);
    let words: Vec<&str> = words.collect();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        if *word == "{" {
            let end = at + words[at..].iter().position(|w| *w == "}").expect("the list's end");
            code.push(0x17);
            number(0, (end - at) as u32, code);
            words[at..end].iter().for_each(|w| operand(w, code));
            at = end + 1;
        } else {
            operand(word, code);
        }
    }
}

fn operand(word: &str, code: &mut Vec<u8>) {
    let value = |from: usize| word[from..].parse().unwrap_or_else(|_| panic!("operand {word}"));
    match word.as_bytes()[0] {
        b'x' => number(3, value(1), code),
        b'y' => number(4, value(1), code),
        b'#' => number(1, value(1), code),
        b'@' => number(2, value(1), code),
        b'[' => number(2, 0, code),
        b'q' => {
            code.push(0x47);
            number(0, value(1), code);
        }
        b'f' if word.starts_with("fr") => {
            code.push(0x27);
            number(0, value(2), code);
        }
        b'f' => number(5, value(1), code),
        b'h' => allocation(&word[1..], code),
        _ => number(0, value(0), code),
    }
}

fn allocation(counts: &str, code: &mut Vec<u8>) {
    code.push(0x37);
    number(0, counts.split(',').count() as u32, code);
    for (kind, count) in (0..).zip(counts.split(',')) {
        number(0, kind, code);
        number(0, count.parse().unwrap_or_else(|_| panic!("operand {counts}")), code);
    }
}

fn number(tag: u8, value: u32, code: &mut Vec<u8>) {
    if value < 16 {
        code.push((value as u8) << 4 | tag);
    } else if value < 2048 {
        code.push(((value >> 8) as u8) << 5 | 8 | tag);
        code.push(value as u8);
    } else {
        // Five bytes, of which the first has the sign.
        code.push(3 << 5 | 0x18 | tag);
        code.push(0);
        code.extend(value.to_be_bytes());
    }
}
