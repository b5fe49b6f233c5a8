//! What all modules share of looking into maps and of updating flat ones. A template calls these
//! with a map in `rsi` and a key in `rdx`; they change the scratch registers only (`rsi` stays where
//! no Rust function was called). Layouts: `term/src/word.rs`.

use kvik_heap::alloc::STACK_SLACK;
use kvik_term::word::{FLAT_MAP, HAMT, NONE, TAG_BOXED};

use crate::rt::maps;
use crate::x86_64::asm::*;
use crate::x86_64::operands::kind_byte;
use crate::x86_64::stubs::terms::{call, entry, NO_ROOM};
use crate::x86_64::{HTOP, STACK};

/// From a tagged pointer: a map's number of keys (a small integer), and its tuple of keys.
const SIZE: i32 = 8 - TAG_BOXED as i32;
const KEYS: i32 = 16 - TAG_BOXED as i32;
/// Words of a flat map besides its values.
const HEAD: i32 = 3;

/// Each answers `NONE` in `rax` where it says "otherwise".
pub struct MapStubs {
    /// The value of any key. Otherwise: it is no map, or has no such key.
    pub find: Label,
    /// The same of an immediate key whose hash is in `ecx`.
    pub find_hashed: Label,
    /// The same of a key that is no immediate.
    pub find_deep: Label,
    /// Copies a flat map to the heap's top, without taking its words; 0, or `NO_ROOM`. Otherwise: it
    /// is no flat map.
    pub copy: Label,
    /// Puts the value in `rcx` for an immediate key into that copy; notes in `rbp` whether it is
    /// another. Otherwise: it has no such key.
    pub set: Label,
    /// The copy, or the map itself where `rbp` says that nothing has changed.
    pub done: Label,
}

pub fn make(a: &mut Asm) -> MapStubs {
    let none = a.here();
    a.mov_ri(RAX, NONE);
    a.ret();
    let find = finding(a, none);
    let (find_hashed, find_deep) = finding_hashed(a, none);
    let copy = copying(a, none);
    let set = setting(a, none);
    let done = finishing(a);
    MapStubs { find, find_hashed, find_deep, copy, set, done }
}

/// Goes on where `rsi` is a flat map; to `large` with another kind of boxed term in `eax`.
fn flat_or(a: &mut Asm, large: Label, none: Label) {
    a.mov32_rr(RAX, RSI);
    a.alu32_ri(Alu::And, RAX, 3);
    a.alu32_ri(Alu::Cmp, RAX, TAG_BOXED as i32);
    a.jcc(Cc::Ne, none);
    a.movzx8_rm(RAX, RSI, -(TAG_BOXED as i32));
    a.alu32_ri(Alu::Cmp, RAX, kind_byte(FLAT_MAP));
    a.jcc(Cc::Ne, large);
}
fn deep_to(a: &mut Asm, deep: Label) {
    a.lea(RDI, RDX, 1);
    a.test8_ri(RDI, 2);
    a.jcc(Cc::Ne, deep);
}

/// Looks for an immediate key; falls through with its value's offset less 16 in `rax`.
fn search(a: &mut Asm, none: Label) {
    a.mov_rm(RDI, RSI, KEYS);
    a.mov32_rm(RAX, RSI, SIZE);
    a.test_rr(RAX, RAX);
    a.jcc(Cc::E, none);
    a.shr(RAX, 1);
    let (found, second) = (a.label(), a.label());
    // Two a round, from behind; the word before the first is a header, which no key is.
    let next = a.here();
    a.alu_r_idx(Alu::Cmp, RDX, RDI, RAX, 0, -(TAG_BOXED as i32));
    a.jcc(Cc::E, found);
    a.alu_r_idx(Alu::Cmp, RDX, RDI, RAX, 0, -8 - TAG_BOXED as i32);
    a.jcc(Cc::E, second);
    a.alu_ri(Alu::Sub, RAX, 16);
    a.jcc(Cc::G, next);
    a.jmp(none);
    a.place(second);
    a.alu_ri(Alu::Sub, RAX, 8);
    a.place(found);
}
/// The value that `search` found.
fn value(a: &mut Asm, into: R) {
    a.mov_r_idx(into, RSI, RAX, 0, KEYS);
}

/// Answers for a flat map and for what is no map; goes on with a large one.
fn flat_map(a: &mut Asm, none: Label) {
    let large = a.label();
    flat_or(a, large, none);
    search(a, none);
    value(a, RAX);
    a.ret();
    a.place(large);
    a.alu32_ri(Alu::Cmp, RAX, kind_byte(HAMT));
    a.jcc(Cc::Ne, none);
}

fn finding(a: &mut Asm, none: Label) -> Label {
    let (find, deep) = (entry(a), a.label());
    deep_to(a, deep);
    flat_map(a, none);
    a.place(deep);
    call(a, maps::find as maps::Find as usize);
    find
}

fn finding_hashed(a: &mut Asm, none: Label) -> (Label, Label) {
    let find = entry(a);
    flat_map(a, none);
    let deep = a.here();
    call(a, maps::find_hashed as maps::Find as usize);
    (find, deep)
}

fn copying(a: &mut Asm, none: Label) -> Label {
    let (copy, full) = (entry(a), a.label());
    flat_or(a, none, none);
    a.mov32_rm(RAX, RSI, SIZE);
    a.shr(RAX, 1);
    a.lea_idx(RDI, HTOP, RAX, 0, 8 * (HEAD + STACK_SLACK as i32));
    a.alu_rr(Alu::Cmp, RDI, STACK);
    a.jcc(Cc::A, full);
    a.mov_rm(RCX, RSI, -(TAG_BOXED as i32));
    a.mov_mr(HTOP, 0, RCX);
    // Two words a round, from behind, down to the word behind the header or to the header again.
    let next = a.here();
    a.movups_idx_load(0, RSI, RAX, SIZE);
    a.movups_idx_store(HTOP, RAX, 8, 0);
    a.alu_ri(Alu::Sub, RAX, 16);
    a.alu_ri(Alu::Cmp, RAX, -8);
    a.jcc(Cc::Ge, next);
    a.mov_ri(RAX, 0);
    a.ret();
    a.place(full);
    a.mov_ri(RAX, NO_ROOM as u64);
    a.ret();
    copy
}

fn setting(a: &mut Asm, none: Label) -> Label {
    let set = entry(a);
    deep_to(a, none);
    search(a, none);
    value(a, RDI);
    a.mov_idx_r(HTOP, RAX, 0, 16, RCX);
    a.alu_rr(Alu::Xor, RDI, RCX);
    a.alu_rr(Alu::Or, RBP, RDI);
    a.ret();
    set
}

fn finishing(a: &mut Asm) -> Label {
    let (done, same) = (entry(a), a.label());
    a.test_rr(RBP, RBP);
    a.jcc(Cc::E, same);
    a.mov32_rm(RCX, HTOP, 8);
    a.shr(RCX, 1);
    a.lea(RAX, HTOP, TAG_BOXED as i32);
    a.lea_idx(HTOP, HTOP, RCX, 0, 8 * HEAD);
    a.ret();
    a.place(same);
    a.mov_rr(RAX, RSI);
    a.ret();
    done
}
