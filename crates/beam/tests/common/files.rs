//! Files with damage that a body of `f/1` cannot express, each for one reason.

use super::asm;
use kvik_beam::Opcode;

/// Opcodes of `label`, `int_code_end`, `return` and `move`.
const LABEL: u8 = 1;
const END: u8 = 3;
const RETURN: u8 = 19;
const MOVE: u8 = 64;

/// An operand: x0.
const X0: u8 = 3;
/// Operands before the list: no label, the map x0, the target x0, one live register.
const PUT_MAP: [u8; 4] = [0x05, X0, X0, 0x10];
/// No label, no words, one live register, unit 8, the target x0.
const CREATE: [u8; 5] = [0x05, 0x00, 0x10, 0x80, X0];
/// Version 0, no flags, 2 `line` instructions, 2 items (lines 1 and 2), no names of files.
const TWO_LINES: &[u8] = &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 0, 0x11, 0x21];
/// Version 3, one entry: every type.
const ONE_TYPE: &[u8] = &[0, 0, 0, 3, 0, 0, 0, 1, 0x0F, 0xFF];

/// Name and contents.
pub fn all() -> Vec<(&'static str, Vec<u8>)> {
    let body = "label 5; return";
    let whole = |code: &[u8]| asm::with_code(code, &asm::EXPORTS, &asm::FUNS);
    // Bytes in place of the code's end.
    let raw = |bytes: &[u8]| {
        let mut code = asm::code("return");
        code.pop();
        code.extend(bytes);
        whole(&code)
    };
    let mut typed = asm::code("return");
    typed.pop();
    typed.extend([MOVE, 0x57, X0, 0x70, X0, END]);
    let typed = asm::with_code_and_chunk(&typed, b"Type", ONE_TYPE);
    vec![
        ("an export of no function", asm::with_tables(body, &[(2, 1, 9)], &asm::FUNS)),
        ("a fun of no function", asm::with_tables(body, &asm::EXPORTS, &[[3, 3, 11, 0, 1, 0]])),
        ("no end", raw(&[])),
        ("opcode 255", raw(&[255])),
        ("an instruction without operands", raw(&[MOVE])),
        ("a list without a length", raw(&[LABEL, 0x17])),
        ("a typed register without more", raw(&[LABEL, 0x57])),
        ("a register's number of nine bytes", raw(&[MOVE, 0xFB, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1])),
        ("an operand with tag 6", raw(&[LABEL, 0x16])),
        ("an extended operand of kind 9", raw(&[LABEL, 0x97])),
        ("a list before another operand", raw(&[MOVE, 0x17, 0x00, 0x03])),
        ("a list of 15 operands in no bytes", raw(&[LABEL, 0x17, 0xF0])),
        ("an allocation list of an unknown kind", raw(&[LABEL, 0x37, 0x10, 0xF0, 0x10, END])),
        ("a type of a number", raw(&[LABEL, 0x57, 0x10, 0x10, END])),
        ("return before the first function", whole(&before_functions())),
        ("a header that announces no function", without_functions(whole(&only_labels()))),
        ("300 ways that join 1,023 registers", asm::module(&wide())),
        ("line 7 of a `Line` chunk with 2", asm::with_chunk("line 7; return", b"Line", TWO_LINES)),
        ("type 7 of a `Type` chunk with 1", typed),
        ("a tuple of 8,388,608 elements", raw(&long(Opcode::PutTuple2, &[X0], 1 << 23))),
        ("a map update of 32,770 operands", raw(&long(Opcode::PutMapAssoc, &PUT_MAP, 32_770))),
        ("a bit string of 32,772 operands", raw(&long(Opcode::BsCreateBin, &CREATE, 32_772))),
        ("a header that announces 268,435,456 labels", many_labels()),
    ]
}

/// The code of a whole module behind a `return`.
fn before_functions() -> Vec<u8> {
    let mut code = vec![RETURN];
    code.extend(asm::code("return"));
    code
}

fn only_labels() -> Vec<u8> {
    (1..10).flat_map(|n| [LABEL, n << 4]).chain([END]).collect()
}

/// Sets the number of functions in the code chunk's header to 0.
fn without_functions(mut file: Vec<u8>) -> Vec<u8> {
    let chunk = file.windows(4).position(|id| id == b"Code").expect("a code chunk");
    // Identifier, size, and four words of the header come before it.
    file[chunk + 24..chunk + 28].fill(0);
    file
}

fn wide() -> String {
    let ways: String = (0..300).map(|n| format!("#{n} f5 ")).collect();
    format!("move x0 x1022; select_val x0 f1 {{ {ways}}}; label 5; return")
}

/// An instruction whose list has that many operands `[]`.
fn long(opcode: Opcode, operands: &[u8], count: u32) -> Vec<u8> {
    let mut code = vec![opcode as u8];
    code.extend(operands);
    // The list's tag, and its length in four bytes.
    code.extend([0x17, 2 << 5 | 0x18]);
    code.extend(count.to_be_bytes());
    code.resize(code.len() + count as usize, 0x02);
    code.push(END);
    code
}

/// A file whose code has room for that many labels, and nothing else. Most of it is never touched.
fn many_labels() -> Vec<u8> {
    const LABELS: u32 = 1 << 28;
    const HEADER: [u32; 5] = [16, 0, 180, LABELS, 1];
    let code = LABELS + 4 * HEADER.len() as u32;
    let mut file = vec![0; 20 + code as usize];
    let words = [code + 12, u32::from_be_bytes(*b"BEAM"), u32::from_be_bytes(*b"Code"), code];
    let start = [u32::from_be_bytes(*b"FOR1")].into_iter().chain(words).chain(HEADER);
    for (place, word) in file.chunks_exact_mut(4).zip(start) {
        place.copy_from_slice(&word.to_be_bytes());
    }
    file
}
