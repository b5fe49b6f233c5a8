//! Stubs for map lookups and updates of flat maps. A template calls them with a map in `rsi` and a
//! key in `rdx`; they change the scratch registers only (`rsi` is preserved unless a Rust function
//! was called). Layouts: `term/src/word.rs`.

use kvik_heap::alloc::STACK_SLACK;
use kvik_term::word::{FLAT_MAP, HAMT, NONE, TAG_BOXED};

use crate::rt::maps;
use crate::x86_64::asm::*;
use crate::x86_64::operands::kind_byte;
use crate::x86_64::stubs::terms::{call, entry, NO_ROOM};
use crate::x86_64::{HTOP, STACK};

/// Offsets from a tagged pointer: a map's number of keys (a small integer), and its tuple of keys.
const SIZE: i32 = 8 - TAG_BOXED as i32;
const KEYS: i32 = 16 - TAG_BOXED as i32;
/// Words of a flat map besides its values.
const HEAD: i32 = 3;

/// Each returns `NONE` in `rax` in the cases named by "otherwise".
pub struct MapStubs {
    /// The value of any key. Otherwise: not a map, or no such key.
    pub find: Label,
    /// The same for an immediate key whose hash is in `rcx`.
    pub find_hashed: Label,
    /// The same for a key that is not immediate.
    pub find_deep: Label,
    /// Copies a flat map to the heap's top, without claiming the words; 0, or `NO_ROOM`. Otherwise:
    /// not a flat map.
    pub copy: Label,
    /// Puts the value in `rcx` for an immediate key into that copy; records in `rbp` whether it
    /// differs from the old one. Otherwise: no such key.
    pub set: Label,
    /// The copy, or the map itself if `rbp` says that nothing has changed.
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

/// Falls through if `rsi` is a flat map; jumps to `large` for another boxed term, its kind in
/// `eax`, and to `none` for anything else.
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

/// Searches for an immediate key; falls through with its value's offset less 16 in `rax`.
fn search(a: &mut Asm, none: Label) {
    a.mov_rm(RDI, RSI, KEYS);
    a.mov32_rm(RAX, RSI, SIZE);
    a.test_rr(RAX, RAX);
    a.jcc(Cc::E, none);
    a.shr(RAX, 1);
    let (found, second) = (a.label(), a.label());
    // Two keys per iteration, backwards; the word before the first key is a header, which equals no
    // key.
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

/// Returns for a flat map and for a non-map; falls through for a large map.
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
    // Two words per iteration, backwards, down to the word behind the header or to the header
    // itself.
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
