//! Stubs of the templates that build bit strings. `rbp` is the address of the next byte.

use kvik_heap::binary::Binary;
use kvik_heap::bits::{SPARE, WRITABLE};
use kvik_heap::Heap;
use kvik_term::word::*;

use super::{Maker, HTOP, P};
use crate::rt::{self, bits};
use crate::x86_64::asm::*;
use crate::x86_64::operands::kind_byte;
use crate::x86_64::REDS;

const BOXED: i32 = TAG_BOXED as i32;

impl Maker {
    /// Appends `rsi` bytes to the binary in `rdi` if its storage has room: the new binary in `rax`,
    /// the address of the new bytes in `rdx`. Everything else is the runtime's; `NONE` if
    /// impossible.
    pub(super) fn append(&mut self, lean_alloc: Label, private: bool) -> Label {
        let append = self.entry();
        let a = &mut self.a;
        let (slow, full) = (a.label(), a.label());
        writable(a, slow);
        a.mov_rm(RCX, RDI, 24 - BOXED);
        a.test8_ri(RCX, 0x7F);
        a.jcc(Cc::Ne, slow);
        a.shr(RCX, 7);
        // The bytes in use afterwards.
        a.alu_rr(Alu::Add, RSI, RCX);
        a.alu_rm(Alu::Cmp, RSI, RAX, Binary::CAP as i32);
        a.jcc(Cc::G, full);
        a.alu_rm(Alu::Cmp, RSI, RDX, 8 - BOXED);
        a.jcc(Cc::Le, full);
        a.push(RAX);
        a.mov_rm(RAX, P, Heap::VHEAP as i32);
        a.alu_rr(Alu::Add, RAX, RSI);
        a.alu_rm(Alu::Sub, RAX, RDX, 8 - BOXED);
        a.push(RAX);
        a.shr(RAX, 3);
        a.push(RDI);
        a.mov32_rm(RDI, P, Heap::VHEAP_LIMIT as i32);
        a.alu_rr(Alu::Cmp, RAX, RDI);
        a.pop(RDI);
        a.pop(RAX);
        let due = a.label();
        a.jcc(Cc::A, due);
        a.mov_mr(P, Heap::VHEAP as i32, RAX);
        a.pop(RAX);
        a.mov_mr(RAX, Binary::USED as i32, RSI);
        a.mov_mr(RDX, 8 - BOXED, RSI);
        a.shl(RSI, 7);
        if private {
            a.mov_mr(RDI, 24 - BOXED, RSI);
            a.mov_rr(RAX, RDI);
        } else {
            // The new binary takes over the right to append.
            a.mov_mi(RDI, 32 - BOXED, small(0) as i32);
            a.mov_mi(HTOP, 0, header(SUB_BIN, SUB_BIN_WORDS - 1) as i32);
            a.mov_mr(HTOP, 8, RDX);
            a.mov_mi(HTOP, 16, small(0) as i32);
            a.mov_mr(HTOP, 24, RSI);
            a.mov_mi(HTOP, 32, small(1) as i32);
            a.lea(RAX, HTOP, BOXED);
            a.alu_ri(Alu::Add, HTOP, 8 * SUB_BIN_WORDS as i32);
        }
        a.mov_rm(RDX, RDX, 32 - BOXED);
        a.alu_rr(Alu::Add, RDX, RCX);
        a.ret();
        a.place(due);
        a.alu_ri(Alu::Add, RSP, 8);
        a.place(full);
        a.alu_rr(Alu::Sub, RSI, RCX);
        a.place(slow);
        a.mov_rr(RDX, RSI);
        a.mov_rr(RSI, RDI);
        a.mov_ri(RCX, private as u64);
        a.mov_ri(RAX, bits::append as rt::LeanPair as usize as u64);
        a.jmp(lean_alloc);
        append
    }

    /// Copies the binary in `rdi`, which begins and ends at a byte boundary, to `rbp` and advances
    /// `rbp`.
    pub(super) fn put_binary(&mut self, lean: Label) -> Label {
        let put = self.entry();
        let a = &mut self.a;
        bytes_of(a);
        let (large, few, done) = (a.label(), a.label(), a.label());
        a.alu_ri(Alu::Cmp, RSI, 128);
        a.jcc(Cc::A, large);
        a.alu_ri(Alu::Cmp, RSI, 8);
        a.jcc(Cc::B, few);
        // The last word overlaps the one before.
        a.lea_idx(RDI, RDX, RSI, 0, -8);
        a.mov_rm(RDI, RDI, 0);
        a.alu_rr(Alu::Add, RSI, RBP);
        let more = a.here();
        a.mov_rm(RCX, RDX, 0);
        a.mov_mr(RBP, 0, RCX);
        a.alu_ri(Alu::Add, RDX, 8);
        a.alu_ri(Alu::Add, RBP, 8);
        a.lea(RCX, RBP, 8);
        a.alu_rr(Alu::Cmp, RCX, RSI);
        a.jcc(Cc::Be, more);
        a.mov_rr(RBP, RSI);
        a.mov_mr(RBP, -8, RDI);
        a.ret();
        a.place(few);
        let byte = a.here();
        a.test_rr(RSI, RSI);
        a.jcc(Cc::E, done);
        a.movzx8_rm(RCX, RDX, 0);
        a.mov8_mr(RBP, 0, RCX);
        a.alu_ri(Alu::Add, RDX, 1);
        a.alu_ri(Alu::Add, RBP, 1);
        a.alu_ri(Alu::Sub, RSI, 1);
        a.jmp(byte);
        a.place(done);
        a.ret();
        a.place(large);
        a.mov_rr(RCX, RSI);
        charge_copy(a);
        a.mov_rr(RSI, RBP);
        a.alu_rr(Alu::Add, RBP, RCX);
        a.mov_ri(RAX, bits::copy_bytes as rt::Lean as usize as u64);
        a.jmp(lean);
        put
    }

    /// Writes the character in `eax`, beyond 16#7f, to `rbp` and advances `rbp`.
    pub(super) fn put_utf8(&mut self) -> Label {
        let put = self.entry();
        let a = &mut self.a;
        let (three, four) = (a.label(), a.label());
        a.mov32_rr(RCX, RAX);
        a.alu32_ri(Alu::Cmp, RAX, 0x800);
        a.jcc(Cc::Ae, three);
        a.shr(RCX, 6);
        a.alu32_ri(Alu::Or, RCX, 0xC0);
        a.mov8_mr(RBP, 0, RCX);
        last_parts(a, 1);
        a.place(three);
        a.alu32_ri(Alu::Cmp, RAX, 0x10000);
        a.jcc(Cc::Ae, four);
        a.shr(RCX, 12);
        a.alu32_ri(Alu::Or, RCX, 0xE0);
        a.mov8_mr(RBP, 0, RCX);
        last_parts(a, 2);
        a.place(four);
        a.shr(RCX, 18);
        a.alu32_ri(Alu::Or, RCX, 0xF0);
        a.mov8_mr(RBP, 0, RCX);
        last_parts(a, 3);
        put
    }
}

/// Charges a reduction for each kilobyte of the `rcx` bytes that are copied, as in OTP no more than
/// are left. Changes `rdi`.
fn charge_copy(a: &mut Asm) {
    let (uses_up, charged) = (a.label(), a.label());
    a.mov_rr(RDI, RCX);
    a.shr(RDI, 10);
    a.jcc(Cc::E, charged);
    a.alu_rr(Alu::Cmp, REDS, RDI);
    a.jcc(Cc::Le, uses_up);
    a.alu_rr(Alu::Sub, REDS, RDI);
    a.jmp(charged);
    a.place(uses_up);
    a.test_rr(REDS, REDS);
    a.jcc(Cc::Le, charged);
    a.mov_ri(REDS, 0);
    a.place(charged);
}

/// Writes the continuation bytes, six bits each, of the character in `eax` behind the byte at
/// `rbp`; and returns.
fn last_parts(a: &mut Asm, n: i32) {
    for i in 1..=n {
        a.mov32_rr(RCX, RAX);
        a.shr(RCX, 6 * (n - i) as u8);
        a.alu32_ri(Alu::And, RCX, 0x3F);
        a.alu32_ri(Alu::Or, RCX, 0x80);
        a.mov8_mr(RBP, i, RCX);
    }
    a.alu_ri(Alu::Add, RBP, n + 1);
    a.ret();
}

/// Jumps to `slow` unless `rdi` may be appended to: `rdx` is then its `REFC_BIN`, `rax` the
/// storage, to which there is no other reference.
fn writable(a: &mut Asm, slow: Label) {
    a.mov32_rr(RAX, RDI);
    a.alu32_ri(Alu::And, RAX, 3);
    a.alu32_ri(Alu::Cmp, RAX, BOXED);
    a.jcc(Cc::Ne, slow);
    a.cmp8_mi(RDI, -BOXED, kind_byte(SUB_BIN) as u8);
    a.jcc(Cc::Ne, slow);
    a.alu_mi(Alu::Cmp, RDI, 32 - BOXED, small(1) as i32);
    a.jcc(Cc::Ne, slow);
    a.mov_rm(RDX, RDI, 8 - BOXED);
    a.cmp8_mi(RDX, -BOXED, kind_byte(REFC_BIN) as u8);
    a.jcc(Cc::Ne, slow);
    a.alu_mi(Alu::Cmp, RDX, 40 - BOXED, (WRITABLE | SPARE) as i32);
    a.jcc(Cc::Ne, slow);
    a.mov_rm(RAX, RDX, 24 - BOXED);
    a.alu_mi(Alu::Cmp, RAX, Binary::REFS as i32, 1);
    a.jcc(Cc::Ne, slow);
}

/// Address and number of the bytes of the binary in `rdi`, into `rdx` and `rsi`.
fn bytes_of(a: &mut Asm) {
    let (whole, sub, refc, done) = (a.label(), a.label(), a.label(), a.label());
    a.cmp8_mi(RDI, -BOXED, kind_byte(SUB_BIN) as u8);
    a.jcc(Cc::E, sub);
    a.mov_rm(RSI, RDI, 8 - BOXED);
    a.mov_ri(RCX, 0);
    a.place(whole);
    a.cmp8_mi(RDI, -BOXED, kind_byte(REFC_BIN) as u8);
    a.jcc(Cc::E, refc);
    a.lea(RDX, RDI, 16 - BOXED);
    a.alu_rr(Alu::Add, RDX, RCX);
    a.jmp(done);
    a.place(refc);
    a.mov_rm(RDX, RDI, 32 - BOXED);
    a.alu_rr(Alu::Add, RDX, RCX);
    a.jmp(done);
    a.place(sub);
    a.mov_rm(RCX, RDI, 16 - BOXED);
    a.shr(RCX, 7);
    a.mov_rm(RSI, RDI, 24 - BOXED);
    a.shr(RSI, 7);
    a.mov_rm(RDI, RDI, 8 - BOXED);
    a.jmp(whole);
    a.place(done);
}
