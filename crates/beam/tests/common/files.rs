//! Files with damage that a body of `f/1` cannot express, each for one reason.

use super::asm;

/// Opcodes of `label`, `int_code_end`, `return` and `move`.
const LABEL: u8 = 1;
const END: u8 = 3;
const RETURN: u8 = 19;
const MOVE: u8 = 64;

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
