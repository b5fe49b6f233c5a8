//! The process dictionary. A template calls these stubs with a key in `rsi` (and a value in `rdx`);
//! they return the old value, or `undefined`, in `rax` and change only the scratch registers.
//! Immediate keys are searched here, as long as there is no index; everything else is left to Rust.

use kvik_heap::root_pairs::RootPairs;
use kvik_heap::Heap;
use kvik_term::am;

use crate::rt::dictionary;
use crate::rt::Lean;
use crate::x86_64::asm::*;
use crate::x86_64::stubs::terms::{call, entry};
use crate::x86_64::P;

pub struct DictionaryStubs {
    pub get: Label,
    pub put: Label,
}

pub fn make(a: &mut Asm) -> DictionaryStubs {
    DictionaryStubs { get: getting(a), put: putting(a) }
}

/// Searches for the key from the last pair on: a process's own entries follow those of `proc_lib`.
/// Falls through with the pair's end in `rdi + rax`.
fn search(a: &mut Asm, nothing: Label, absent: Label, other: Label) {
    a.lea(RAX, RSI, 1);
    a.test8_ri(RAX, 2);
    a.jcc(Cc::Ne, other);
    a.mov_rm(RDI, P, Heap::PAIRS as i32);
    a.test_rr(RDI, RDI);
    a.jcc(Cc::E, nothing);
    a.mov_rm(RAX, RDI, RootPairs::BYTES as i32);
    a.mov_rm(RDI, RDI, RootPairs::FIRST as i32);
    a.test_rr(RAX, RAX);
    a.jcc(Cc::E, other);
    let (next, found) = (a.here(), a.label());
    a.alu_r_idx(Alu::Cmp, RSI, RDI, RAX, 0, -16);
    a.jcc(Cc::E, found);
    a.alu_ri(Alu::Sub, RAX, 16);
    a.jcc(Cc::Ne, next);
    a.jmp(absent);
    a.place(found);
}

fn getting(a: &mut Asm) -> Label {
    let (get, absent, other) = (entry(a), a.label(), a.label());
    search(a, absent, absent, other);
    a.mov_r_idx(RAX, RDI, RAX, 0, -8);
    a.ret();
    a.place(absent);
    a.mov_ri(RAX, am::undefined.word());
    a.ret();
    a.place(other);
    call(a, dictionary::get as Lean as usize);
    get
}

fn putting(a: &mut Asm) -> Label {
    let (put, other) = (entry(a), a.label());
    search(a, other, other, other);
    a.mov_r_idx(RCX, RDI, RAX, 0, -8);
    a.mov_idx_r(RDI, RAX, 0, -8, RDX);
    a.mov_rr(RAX, RCX);
    a.ret();
    a.place(other);
    call(a, dictionary::put as Lean as usize);
    put
}
