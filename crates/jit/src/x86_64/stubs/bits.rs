//! Stubs of the templates for bit strings: match contexts and bit strings made by native code.
//!
//! All of them preserve x0–x3 and may use `rax rcx rdx rsi rdi`. Callers of a stub that builds a
//! term have reserved the heap words.

use kvik_heap::bits::WRITABLE;
use kvik_heap::Heap;
use kvik_term::word::*;

use super::{load_x, save_x, Maker, HTOP, P, REDS};
use crate::rt;
use crate::x86_64::asm::*;
use crate::x86_64::operands::kind_byte;

const BOXED: i32 = TAG_BOXED as i32;
/// Offsets of a match context's fields from its tagged pointer.
pub const CTX_ORIG: i32 = 8 - BOXED;
pub const CTX_BASE: i32 = 16 - BOXED;
pub const CTX_POS: i32 = 24 - BOXED;
pub const CTX_END: i32 = 32 - BOXED;
/// The most words that `get_bits` takes: a binary of 64 bytes.
pub const BITS_WORDS: usize = 2 + HEAP_BIN_LIMIT / 8;

impl Maker {
    /// Calls the `rt::Lean` in `rax` with `rsi rdx rcx`.
    pub(super) fn lean(&mut self) -> Label {
        let lean = self.entry();
        save_x(&mut self.a);
        self.call_lean();
        load_x(&mut self.a);
        self.a.ret();
        lean
    }
    fn call_lean(&mut self) {
        self.a.mov_rr(RDI, P);
        self.a.alu_ri(Alu::Sub, RSP, 8);
        self.a.call_r(RAX);
        self.a.alu_ri(Alu::Add, RSP, 8);
    }
    /// The same for a function that builds terms.
    pub(super) fn lean_alloc(&mut self) -> Label {
        let lean = self.entry();
        super::save_state(&mut self.a);
        self.call_lean();
        load_x(&mut self.a);
        self.a.mov_rm(HTOP, P, Heap::HTOP as i32);
        self.a.mov_rm(REDS, P, Heap::FCALLS as i32);
        self.a.ret();
        lean
    }

    /// Makes a match context on the bit string in `rdi`, whose kind is in `eax`; result in `rax`.
    pub(super) fn start_match(&mut self) -> Label {
        let start = self.entry();
        let a = &mut self.a;
        let (sub, refc, on_heap, make) = (a.label(), a.label(), a.label(), a.label());
        a.alu32_ri(Alu::Cmp, RAX, kind_byte(SUB_BIN));
        a.jcc(Cc::E, sub);
        a.mov_rm(RDX, RDI, 8 - BOXED);
        a.shl(RDX, 3);
        a.mov_ri(RCX, 0);
        a.mov_rr(RSI, RDI);
        a.alu32_ri(Alu::Cmp, RAX, kind_byte(HEAP_BIN));
        a.jcc(Cc::E, on_heap);
        // From now on the bytes must not move: appending copies them. A literal must not be written
        // to, and is never writable.
        a.place(refc);
        a.mov_rm(RAX, RSI, 32 - BOXED);
        a.alu_mi(Alu::Cmp, RSI, 40 - BOXED, 0);
        a.jcc(Cc::E, make);
        a.alu_mi(Alu::And, RSI, 40 - BOXED, !(WRITABLE as i32));
        a.jmp(make);
        a.place(sub);
        a.mov_rm(RSI, RDI, 8 - BOXED);
        a.mov_rm(RCX, RDI, 16 - BOXED);
        a.shr(RCX, 4);
        a.mov_rm(RDX, RDI, 24 - BOXED);
        a.shr(RDX, 4);
        a.alu_rr(Alu::Add, RDX, RCX);
        a.cmp8_mi(RSI, -BOXED, kind_byte(REFC_BIN) as u8);
        a.jcc(Cc::E, refc);
        a.place(on_heap);
        a.lea(RAX, RSI, 16 - BOXED);
        a.place(make);
        a.mov_mi(HTOP, 0, header(MATCH_CTX, MATCH_CTX_WORDS - 1) as i32);
        for (i, r) in [RSI, RAX, RCX, RDX].into_iter().enumerate() {
            a.mov_mr(HTOP, 8 * (i as i32 + 1), r);
        }
        a.lea(RAX, HTOP, BOXED);
        a.alu_ri(Alu::Add, HTOP, 8 * MATCH_CTX_WORDS as i32);
        a.ret();
        start
    }

    /// Takes the next `rsi` bits, known to be available, of the context in `rdi`; result in `rax`.
    /// Few whole bytes are copied, everything else is shared.
    pub(super) fn get_bits(&mut self, lean_alloc: Label) -> Label {
        let get = self.entry();
        let a = &mut self.a;
        let (share, uneven) = (a.label(), a.label());
        a.mov_rm(RDX, RDI, CTX_POS);
        a.test8_ri(RSI, 7);
        a.jcc(Cc::Ne, share);
        a.alu_ri(Alu::Cmp, RSI, 8 * HEAP_BIN_LIMIT as i32);
        a.jcc(Cc::A, share);
        a.test8_ri(RDX, 7);
        a.jcc(Cc::Ne, uneven);
        a.alu_mr(Alu::Add, RDI, CTX_POS, RSI);
        a.shr(RSI, 3);
        a.shr(RDX, 3);
        a.alu_rm(Alu::Add, RDX, RDI, CTX_BASE);
        a.lea(RCX, RSI, 7);
        a.shr(RCX, 3);
        a.lea(RAX, RCX, 1);
        a.shl(RAX, 8);
        a.alu_ri(Alu::Or, RAX, kind_byte(HEAP_BIN));
        a.mov_mr(HTOP, 0, RAX);
        a.mov_mr(HTOP, 8, RSI);
        a.lea(RAX, HTOP, BOXED);
        a.lea(RDI, HTOP, 16);
        a.lea_idx(HTOP, RDI, RCX, 3, 0);
        copy_words(a);
        a.place(share);
        a.mov_mi(HTOP, 0, header(SUB_BIN, SUB_BIN_WORDS - 1) as i32);
        a.mov_rm(RCX, RDI, CTX_ORIG);
        a.mov_mr(HTOP, 8, RCX);
        a.mov_rr(RCX, RDX);
        a.shl(RCX, 4);
        a.mov_mr(HTOP, 16, RCX);
        a.alu_mr(Alu::Add, RDI, CTX_POS, RSI);
        a.shl(RSI, 4);
        a.mov_mr(HTOP, 24, RSI);
        a.mov_mi(HTOP, 32, small(0) as i32);
        a.lea(RAX, HTOP, BOXED);
        a.alu_ri(Alu::Add, HTOP, 8 * SUB_BIN_WORDS as i32);
        a.ret();
        a.place(uneven);
        a.mov_rr(RDX, RSI);
        a.mov_rr(RSI, RDI);
        a.mov_ri(RAX, rt::bits::take_bits as rt::Lean as usize as u64);
        a.jmp(lean_alloc);
        get
    }

    /// The remaining bits of the context in `rdi`, which does not change.
    pub(super) fn get_tail(&mut self, get_bits: Label) -> Label {
        let tail = self.entry();
        let a = &mut self.a;
        a.mov_rm(RSI, RDI, CTX_END);
        a.alu_rm(Alu::Sub, RSI, RDI, CTX_POS);
        a.push(RDI);
        a.mov_rm(RDX, RDI, CTX_POS);
        a.push(RDX);
        a.alu_ri(Alu::Sub, RSP, 8);
        a.call(get_bits);
        a.alu_ri(Alu::Add, RSP, 8);
        a.pop(RDX);
        a.pop(RDI);
        a.mov_mr(RDI, CTX_POS, RDX);
        a.ret();
        tail
    }

    /// `rdx` bytes from byte `rsi` on of the term in `rdi`, both non-negative small integers;
    /// `NONE` if out of range or not a binary. The words for `get_bits` are reserved.
    pub(super) fn binary_part(&mut self, get_bits: Label) -> Label {
        let part = self.entry();
        let a = &mut self.a;
        let (sub, found, some, on_heap, none) =
            (a.label(), a.label(), a.label(), a.label(), a.label());
        a.lea(RAX, RDI, -BOXED);
        a.test8_ri(RAX, 3);
        a.jcc(Cc::Ne, none);
        // From here on in bits.
        a.shr(RSI, 1);
        a.shr(RDX, 1);
        a.movzx8_rm(RAX, RDI, -BOXED);
        a.alu32_ri(Alu::Cmp, RAX, kind_byte(SUB_BIN));
        a.jcc(Cc::E, sub);
        a.mov_rm(RCX, RDI, 8 - BOXED);
        a.shl(RCX, 3);
        a.alu32_ri(Alu::Cmp, RAX, kind_byte(HEAP_BIN));
        a.jcc(Cc::E, found);
        a.alu32_ri(Alu::Cmp, RAX, kind_byte(REFC_BIN));
        a.jcc(Cc::Ne, none);
        a.jmp(found);
        a.place(sub);
        a.mov_rm(RCX, RDI, 24 - BOXED);
        a.shr(RCX, 4);
        if kvik_release::current().rejects_bitstrings() {
            a.test8_ri(RCX, 7);
            a.jcc(Cc::Ne, none);
        }
        a.place(found);
        a.mov_rr(RAX, RCX);
        a.alu_rr(Alu::Sub, RAX, RSI);
        a.jcc(Cc::B, none);
        a.alu_rr(Alu::Cmp, RAX, RDX);
        a.jcc(Cc::B, none);
        a.alu_rr(Alu::Cmp, RCX, RDX);
        a.jcc(Cc::Ne, some);
        a.mov_rr(RAX, RDI);
        a.ret();
        // The fields of a context that `get_bits` reads, on the thread's stack.
        a.place(some);
        a.alu_ri(Alu::Sub, RSP, 8 * MATCH_CTX_WORDS as i32);
        a.cmp8_mi(RDI, -BOXED, kind_byte(SUB_BIN) as u8);
        let whole = a.label();
        a.jcc(Cc::Ne, whole);
        a.mov_rm(RAX, RDI, 16 - BOXED);
        a.shr(RAX, 4);
        a.alu_rr(Alu::Add, RSI, RAX);
        a.mov_rm(RDI, RDI, 8 - BOXED);
        a.place(whole);
        a.lea(RAX, RDI, 16 - BOXED);
        a.cmp8_mi(RDI, -BOXED, kind_byte(REFC_BIN) as u8);
        a.jcc(Cc::Ne, on_heap);
        a.mov_rm(RAX, RDI, 32 - BOXED);
        a.place(on_heap);
        let at = |field: i32| field + BOXED;
        a.mov_mr(RSP, at(CTX_ORIG), RDI);
        a.mov_mr(RSP, at(CTX_BASE), RAX);
        a.mov_mr(RSP, at(CTX_POS), RSI);
        a.alu_rr(Alu::Add, RSI, RDX);
        a.mov_mr(RSP, at(CTX_END), RSI);
        a.mov_rr(RSI, RDX);
        a.lea(RDI, RSP, BOXED);
        a.call(get_bits);
        a.alu_ri(Alu::Add, RSP, 8 * MATCH_CTX_WORDS as i32);
        a.ret();
        a.place(none);
        a.mov_ri(RAX, NONE);
        a.ret();
        part
    }

    /// Takes the next UTF-8 character of the context in `rdi`; `rax` is a small integer or `NONE`.
    /// Characters of two to four bytes are decoded here, everything else by the runtime.
    pub(super) fn get_utf8(&mut self, lean: Label) -> Label {
        let get = self.entry();
        let a = &mut self.a;
        let (slow, three, four, done) = (a.label(), a.label(), a.label(), a.label());
        a.mov_rm(RDX, RDI, CTX_POS);
        a.test8_ri(RDX, 7);
        a.jcc(Cc::Ne, slow);
        a.mov_rr(RCX, RDX);
        a.shr(RCX, 3);
        a.alu_rm(Alu::Add, RCX, RDI, CTX_BASE);
        a.alu_ri(Alu::Add, RDX, 16);
        a.alu_rm(Alu::Cmp, RDX, RDI, CTX_END);
        a.jcc(Cc::A, slow);
        a.movzx8_rm(RAX, RCX, 0);
        a.alu32_ri(Alu::Cmp, RAX, 0xE0);
        a.jcc(Cc::Ae, three);
        a.alu32_ri(Alu::Cmp, RAX, 0xC2);
        a.jcc(Cc::B, slow);
        next_six(a, 1, slow);
        a.alu32_ri(Alu::And, RAX, 0x7FF);
        a.place(done);
        a.mov_mr(RDI, CTX_POS, RDX);
        a.shl(RAX, 4);
        a.ret();
        a.place(three);
        one_more(a, slow);
        a.alu32_ri(Alu::Cmp, RAX, 0xF0);
        a.jcc(Cc::Ae, four);
        next_six(a, 1, slow);
        next_six(a, 2, slow);
        a.alu32_ri(Alu::And, RAX, 0xFFFF);
        a.alu32_ri(Alu::Cmp, RAX, 0x800);
        a.jcc(Cc::B, slow);
        // Surrogates are not characters: 16#d800 to 16#dfff.
        a.mov32_rr(RCX, RAX);
        a.shr(RCX, 11);
        a.alu32_ri(Alu::Cmp, RCX, 0xD800 >> 11);
        a.jcc(Cc::Ne, done);
        a.jmp(slow);
        a.place(four);
        one_more(a, slow);
        a.alu32_ri(Alu::Cmp, RAX, 0xF5);
        a.jcc(Cc::Ae, slow);
        for i in 1..4 {
            next_six(a, i, slow);
        }
        a.alu32_ri(Alu::And, RAX, 0x1F_FFFF);
        a.alu32_ri(Alu::Cmp, RAX, 0x1_0000);
        a.jcc(Cc::B, slow);
        a.alu32_ri(Alu::Cmp, RAX, 0x11_0000);
        a.jcc(Cc::B, done);
        a.place(slow);
        a.mov_rr(RSI, RDI);
        a.mov_ri(RAX, rt::bits::take_utf8 as rt::Lean as usize as u64);
        a.jmp(lean);
        get
    }
}

/// Falls through if the context in `rdi` has at least a byte after the position in `rdx`.
fn one_more(a: &mut Asm, slow: Label) {
    a.alu_ri(Alu::Add, RDX, 8);
    a.alu_rm(Alu::Cmp, RDX, RDI, CTX_END);
    a.jcc(Cc::A, slow);
}
/// Appends six bits to `eax`, from the byte `i` behind `rcx`.
fn next_six(a: &mut Asm, i: i32, slow: Label) {
    a.movzx8_rm(RSI, RCX, i);
    a.alu32_ri(Alu::Xor, RSI, 0x80);
    a.alu32_ri(Alu::Cmp, RSI, 0x40);
    a.jcc(Cc::Ae, slow);
    a.shl(RAX, 6);
    a.alu32_rr(Alu::Or, RAX, RSI);
}

/// Copies `rsi` bytes from `rdx` to whole words at `rdi`, and returns. The last word is read so
/// that it ends with the last byte: a binary's first byte is always preceded by its header.
fn copy_words(a: &mut Asm) {
    let (last, done) = (a.label(), a.label());
    let more = a.here();
    a.alu_ri(Alu::Cmp, RSI, 8);
    a.jcc(Cc::B, last);
    a.mov_rm(RCX, RDX, 0);
    a.mov_mr(RDI, 0, RCX);
    a.alu_ri(Alu::Add, RDX, 8);
    a.alu_ri(Alu::Add, RDI, 8);
    a.alu_ri(Alu::Sub, RSI, 8);
    a.jmp(more);
    a.place(last);
    a.test_rr(RSI, RSI);
    a.jcc(Cc::E, done);
    a.alu_rr(Alu::Add, RDX, RSI);
    a.mov_rm(RDX, RDX, -8);
    a.mov_ri(RCX, 0);
    a.alu_rr(Alu::Sub, RCX, RSI);
    a.shl(RCX, 3);
    a.shr_cl(RDX);
    a.mov_mr(RDI, 0, RDX);
    a.place(done);
    a.ret();
}
