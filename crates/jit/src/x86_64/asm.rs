//! A small x86-64 encoder: bytes into a buffer, labels, and fix-ups that are resolved at the end.

mod parts;
mod words;

use kvik_term::CodeAddress;

pub use crate::words::{CodeWord, WordKind};
pub use words::WordAt;

/// A machine register by its number.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct R(pub u8);

pub const RAX: R = R(0);
pub const RCX: R = R(1);
pub const RDX: R = R(2);
pub const RBX: R = R(3);
pub const RSP: R = R(4);
pub const RBP: R = R(5);
pub const RSI: R = R(6);
pub const RDI: R = R(7);
pub const R8: R = R(8);
pub const R9: R = R(9);
pub const R10: R = R(10);
pub const R11: R = R(11);
pub const R12: R = R(12);
pub const R13: R = R(13);
pub const R14: R = R(14);
pub const R15: R = R(15);

/// Conditions, as the machine numbers them.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Cc {
    O = 0,
    No = 1,
    B = 2,
    Ae = 3,
    E = 4,
    Ne = 5,
    Be = 6,
    A = 7,
    S = 8,
    Ns = 9,
    P = 10,
    Np = 11,
    L = 12,
    Ge = 13,
    Le = 14,
    G = 15,
}

impl Cc {
    /// The opposite condition.
    pub fn inverse(self) -> Cc {
        const ALL: [Cc; 16] = [
            Cc::O,
            Cc::No,
            Cc::B,
            Cc::Ae,
            Cc::E,
            Cc::Ne,
            Cc::Be,
            Cc::A,
            Cc::S,
            Cc::Ns,
            Cc::P,
            Cc::Np,
            Cc::L,
            Cc::Ge,
            Cc::Le,
            Cc::G,
        ];
        ALL[(self as usize) ^ 1]
    }
}

/// Two-operand arithmetic, by the number in its opcode.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Alu {
    Add = 0,
    Or = 1,
    And = 4,
    Sub = 5,
    Xor = 6,
    Cmp = 7,
}

#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub struct Label(pub u32);

const UNPLACED: u32 = u32::MAX;

/// A rel32 to an absolute address, filled in once the code's address is known.
#[derive(Copy, Clone, Debug)]
pub struct Reloc {
    pub at: u32,
    pub target: usize,
}

#[derive(Default)]
pub struct Asm {
    pub buf: Vec<u8>,
    labels: Vec<u32>,
    fixups: Vec<(u32, Label)>,
    pub relocs: Vec<Reloc>,
    pub words: Vec<WordAt>,
}

impl Asm {
    pub fn new() -> Asm {
        Asm::default()
    }
    /// Reserves capacity for that many bytes of code. Unused pages are never touched.
    pub fn with_room(bytes: usize) -> Asm {
        Asm {
            buf: Vec::with_capacity(bytes),
            labels: Vec::with_capacity(bytes / 16),
            fixups: Vec::with_capacity(bytes / 16),
            relocs: Vec::with_capacity(bytes / 16),
            words: Vec::with_capacity(bytes / 32),
        }
    }
    /// Clears everything but keeps the buffers.
    pub fn clear(&mut self) {
        self.buf.clear();
        self.labels.clear();
        self.fixups.clear();
        self.relocs.clear();
        self.words.clear();
    }
    pub fn pos(&self) -> u32 {
        self.buf.len() as u32
    }
    pub fn label(&mut self) -> Label {
        self.labels.push(UNPLACED);
        Label(self.labels.len() as u32 - 1)
    }
    pub fn here(&mut self) -> Label {
        let l = self.label();
        self.place(l);
        l
    }
    pub fn place(&mut self, l: Label) {
        self.labels[l.0 as usize] = self.pos();
    }
    pub fn offset(&self, l: Label) -> Option<u32> {
        Some(self.labels[l.0 as usize]).filter(|o| *o != UNPLACED)
    }

    fn b(&mut self, b: u8) {
        self.buf.push(b)
    }
    pub fn d32(&mut self, v: i32) {
        self.buf.extend(v.to_le_bytes())
    }
    pub fn d64(&mut self, v: u64) {
        self.buf.extend(v.to_le_bytes())
    }

    /// REX prefix for `reg` and `rm`.
    fn rex(&mut self, w: bool, reg: R, index: u8, rm: R) {
        let b = 0x40 | (w as u8) << 3 | (reg.0 >> 3) << 2 | (index >> 3) << 1 | rm.0 >> 3;
        if b != 0x40 {
            self.b(b)
        }
    }
    fn modrm_rr(&mut self, reg: R, rm: R) {
        self.b(0xC0 | (reg.0 & 7) << 3 | rm.0 & 7)
    }
    fn modrm_mem(&mut self, reg: R, base: R, disp: i32) {
        let r = (reg.0 & 7) << 3;
        let low = base.0 & 7;
        let mode = if disp == 0 && low != 5 {
            0
        } else if (-128..128).contains(&disp) {
            0x40
        } else {
            0x80
        };
        self.b(mode | r | low);
        if low == 4 {
            self.b(0x24)
        }
        match mode {
            0x40 => self.b(disp as u8),
            0x80 => self.d32(disp),
            _ => {}
        }
    }
    fn modrm_sib(&mut self, reg: R, base: R, index: R, scale: u8, disp: i32) {
        let r = (reg.0 & 7) << 3;
        self.b(0x80 | r | 4);
        self.b(scale << 6 | (index.0 & 7) << 3 | base.0 & 7);
        self.d32(disp);
    }

    pub fn mov_rr(&mut self, d: R, s: R) {
        if d != s {
            self.rex(true, s, 0, d);
            self.b(0x89);
            self.modrm_rr(s, d)
        }
    }
    /// The low 32 bits; the rest becomes zero.
    pub fn mov32_rr(&mut self, d: R, s: R) {
        self.rex(false, s, 0, d);
        self.b(0x89);
        self.modrm_rr(s, d)
    }
    pub fn mov_rm(&mut self, d: R, base: R, disp: i32) {
        self.rex(true, d, 0, base);
        self.b(0x8B);
        self.modrm_mem(d, base, disp)
    }
    pub fn mov32_rm(&mut self, d: R, base: R, disp: i32) {
        self.rex(false, d, 0, base);
        self.b(0x8B);
        self.modrm_mem(d, base, disp)
    }
    pub fn movzx8_rm(&mut self, d: R, base: R, disp: i32) {
        self.rex(false, d, 0, base);
        self.b(0x0F);
        self.b(0xB6);
        self.modrm_mem(d, base, disp)
    }
    pub fn mov_mr(&mut self, base: R, disp: i32, s: R) {
        self.rex(true, s, 0, base);
        self.b(0x89);
        self.modrm_mem(s, base, disp)
    }
    pub fn mov8_mr(&mut self, base: R, disp: i32, s: R) {
        // Always a REX prefix, so that sil and dil are named.
        self.b(0x40 | (s.0 >> 3) << 2 | base.0 >> 3);
        self.b(0x88);
        self.modrm_mem(s, base, disp)
    }
    pub fn mov_ri(&mut self, d: R, v: u64) {
        if v <= u32::MAX as u64 {
            self.rex(false, R(0), 0, d);
            self.b(0xB8 | d.0 & 7);
            self.d32(v as u32 as i32)
        } else if v as i64 >= i32::MIN as i64 && (v as i64) < 0 {
            self.rex(true, R(0), 0, d);
            self.b(0xC7);
            self.modrm_rr(R(0), d);
            self.d32(v as i32)
        } else {
            self.rex(true, R(0), 0, d);
            self.b(0xB8 | d.0 & 7);
            self.d64(v)
        }
    }
    pub fn mov_mi(&mut self, base: R, disp: i32, v: i32) {
        self.rex(true, R(0), 0, base);
        self.b(0xC7);
        self.modrm_mem(R(0), base, disp);
        self.d32(v)
    }
    pub fn mov_r_idx(&mut self, d: R, base: R, index: R, scale: u8, disp: i32) {
        self.rex(true, d, index.0, base);
        self.b(0x8B);
        self.modrm_sib(d, base, index, scale, disp)
    }
    pub fn mov_idx_r(&mut self, base: R, index: R, scale: u8, disp: i32, s: R) {
        self.rex(true, s, index.0, base);
        self.b(0x89);
        self.modrm_sib(s, base, index, scale, disp)
    }
    pub fn lea(&mut self, d: R, base: R, disp: i32) {
        if disp == 0 {
            return self.mov_rr(d, base);
        }
        self.rex(true, d, 0, base);
        self.b(0x8D);
        self.modrm_mem(d, base, disp)
    }
    pub fn lea_idx(&mut self, d: R, base: R, index: R, scale: u8, disp: i32) {
        self.rex(true, d, index.0, base);
        self.b(0x8D);
        self.modrm_sib(d, base, index, scale, disp)
    }
    pub fn lea_label(&mut self, d: R, l: Label) {
        self.rex(true, d, 0, R(0));
        self.b(0x8D);
        self.b((d.0 & 7) << 3 | 5);
        self.rel32(l)
    }
    /// The address of something outside this code.
    pub fn lea_abs(&mut self, d: R, target: CodeAddress) {
        self.rex(true, d, 0, R(0));
        self.b(0x8D);
        self.b((d.0 & 7) << 3 | 5);
        self.abs_rel32(target)
    }

    pub fn alu_rr(&mut self, op: Alu, d: R, s: R) {
        self.rex(true, s, 0, d);
        self.b((op as u8) << 3 | 1);
        self.modrm_rr(s, d)
    }
    pub fn alu32_rr(&mut self, op: Alu, d: R, s: R) {
        self.rex(false, s, 0, d);
        self.b((op as u8) << 3 | 1);
        self.modrm_rr(s, d)
    }
    pub fn alu_rm(&mut self, op: Alu, d: R, base: R, disp: i32) {
        self.rex(true, d, 0, base);
        self.b((op as u8) << 3 | 3);
        self.modrm_mem(d, base, disp)
    }
    pub fn alu_r_idx(&mut self, op: Alu, d: R, base: R, index: R, scale: u8, disp: i32) {
        self.rex(true, d, index.0, base);
        self.b((op as u8) << 3 | 3);
        self.modrm_sib(d, base, index, scale, disp)
    }
    pub fn alu_ri(&mut self, op: Alu, d: R, v: i32) {
        self.rex(true, R(0), 0, d);
        self.alu_i(op, v, |a| a.modrm_rr(R(op as u8), d))
    }
    pub fn alu32_ri(&mut self, op: Alu, d: R, v: i32) {
        self.rex(false, R(0), 0, d);
        self.alu_i(op, v, |a| a.modrm_rr(R(op as u8), d))
    }
    pub fn alu_mi(&mut self, op: Alu, base: R, disp: i32, v: i32) {
        self.rex(true, R(0), 0, base);
        self.alu_i(op, v, |a| a.modrm_mem(R(op as u8), base, disp))
    }
    pub fn alu32_mi(&mut self, op: Alu, base: R, disp: i32, v: i32) {
        self.rex(false, R(0), 0, base);
        self.alu_i(op, v, |a| a.modrm_mem(R(op as u8), base, disp))
    }
    fn alu_i(&mut self, _op: Alu, v: i32, modrm: impl FnOnce(&mut Asm)) {
        if (-128..128).contains(&v) {
            self.b(0x83);
            modrm(self);
            self.b(v as u8)
        } else {
            self.b(0x81);
            modrm(self);
            self.d32(v)
        }
    }
    /// Compares the byte in memory.
    pub fn cmp8_mi(&mut self, base: R, disp: i32, v: u8) {
        self.rex(false, R(0), 0, base);
        self.b(0x80);
        self.modrm_mem(R(7), base, disp);
        self.b(v)
    }
    pub fn test_rr(&mut self, a: R, b: R) {
        self.rex(true, b, 0, a);
        self.b(0x85);
        self.modrm_rr(b, a)
    }
    /// Tests the low byte.
    pub fn test8_ri(&mut self, r: R, v: u8) {
        if r == RAX {
            self.b(0xA8)
        } else {
            self.b(0x40 | r.0 >> 3);
            self.b(0xF6);
            self.modrm_rr(R(0), r);
        }
        self.b(v)
    }
    fn shift(&mut self, ext: u8, r: R, n: u8) {
        if n == 0 {
            return;
        }
        self.rex(true, R(0), 0, r);
        self.b(0xC1);
        self.modrm_rr(R(ext), r);
        self.b(n)
    }
    pub fn shl(&mut self, r: R, n: u8) {
        self.shift(4, r, n)
    }
    pub fn shr(&mut self, r: R, n: u8) {
        self.shift(5, r, n)
    }
    pub fn sar(&mut self, r: R, n: u8) {
        self.shift(7, r, n)
    }
    pub fn shl_cl(&mut self, r: R) {
        self.rex(true, R(0), 0, r);
        self.b(0xD3);
        self.modrm_rr(R(4), r)
    }
    pub fn shr_cl(&mut self, r: R) {
        self.rex(true, R(0), 0, r);
        self.b(0xD3);
        self.modrm_rr(R(5), r)
    }
    pub fn sar_cl(&mut self, r: R) {
        self.rex(true, R(0), 0, r);
        self.b(0xD3);
        self.modrm_rr(R(7), r)
    }
    pub fn imul_rr(&mut self, d: R, s: R) {
        self.rex(true, d, 0, s);
        self.b(0x0F);
        self.b(0xAF);
        self.modrm_rr(d, s)
    }
    pub fn neg(&mut self, r: R) {
        self.rex(true, R(0), 0, r);
        self.b(0xF7);
        self.modrm_rr(R(3), r)
    }
    pub fn bswap(&mut self, r: R) {
        self.rex(true, R(0), 0, r);
        self.b(0x0F);
        self.b(0xC8 | r.0 & 7)
    }
    pub fn cqo(&mut self) {
        self.b(0x48);
        self.b(0x99)
    }
    pub fn idiv(&mut self, r: R) {
        self.rex(true, R(0), 0, r);
        self.b(0xF7);
        self.modrm_rr(R(7), r)
    }
    pub fn dec(&mut self, r: R) {
        self.rex(true, R(0), 0, r);
        self.b(0xFF);
        self.modrm_rr(R(1), r)
    }
    pub fn push(&mut self, r: R) {
        self.rex(false, R(0), 0, r);
        self.b(0x50 | r.0 & 7)
    }
    pub fn pop(&mut self, r: R) {
        self.rex(false, R(0), 0, r);
        self.b(0x58 | r.0 & 7)
    }
    pub fn ret(&mut self) {
        self.b(0xC3)
    }
    pub fn cmov(&mut self, cc: Cc, d: R, s: R) {
        self.rex(true, d, 0, s);
        self.b(0x0F);
        self.b(0x40 | cc as u8);
        self.modrm_rr(d, s)
    }

    fn rel32(&mut self, l: Label) {
        self.fixups.push((self.pos(), l));
        self.d32(0)
    }
    fn abs_rel32(&mut self, target: CodeAddress) {
        let target = target.get();
        let at = self.pos();
        self.relocs.push(Reloc { at, target });
        self.d32(0)
    }
    pub fn jmp(&mut self, l: Label) {
        if let Some(to) = self.offset(l) {
            let d = to as i64 - (self.pos() as i64 + 2);
            if d >= -128 {
                self.b(0xEB);
                return self.b(d as u8);
            }
        }
        self.b(0xE9);
        self.rel32(l)
    }
    pub fn jcc(&mut self, cc: Cc, l: Label) {
        if let Some(to) = self.offset(l) {
            let d = to as i64 - (self.pos() as i64 + 2);
            if d >= -128 {
                self.b(0x70 | cc as u8);
                return self.b(d as u8);
            }
        }
        self.b(0x0F);
        self.b(0x80 | cc as u8);
        self.rel32(l)
    }
    /// The same in the long encoding; returns where the distance stands.
    pub fn jcc_far(&mut self, cc: Cc, l: Label) -> u32 {
        self.b(0x0F);
        self.b(0x80 | cc as u8);
        self.rel32(l);
        self.pos() - 4
    }
    pub fn call(&mut self, l: Label) {
        self.b(0xE8);
        self.rel32(l)
    }
    pub fn call_abs(&mut self, target: CodeAddress) {
        self.b(0xE8);
        self.abs_rel32(target)
    }
    pub fn jmp_abs(&mut self, target: CodeAddress) {
        self.b(0xE9);
        self.abs_rel32(target)
    }
    pub fn jcc_abs(&mut self, cc: Cc, target: CodeAddress) {
        self.b(0x0F);
        self.b(0x80 | cc as u8);
        self.abs_rel32(target)
    }
    pub fn call_r(&mut self, r: R) {
        self.rex(false, R(0), 0, r);
        self.b(0xFF);
        self.modrm_rr(R(2), r)
    }
    pub fn jmp_r(&mut self, r: R) {
        self.rex(false, R(0), 0, r);
        self.b(0xFF);
        self.modrm_rr(R(4), r)
    }
    pub fn jmp_m(&mut self, base: R, disp: i32) {
        self.rex(false, R(0), 0, base);
        self.b(0xFF);
        self.modrm_mem(R(4), base, disp)
    }

    /// Padding that is never executed.
    pub fn align(&mut self, n: usize) {
        while !self.buf.len().is_multiple_of(n) {
            self.b(0xCC)
        }
    }
    /// Padding that is executed.
    pub fn nops_to(&mut self, n: usize) {
        /// The longest `nop` of each length up to four bytes.
        const NOPS: [&[u8]; 4] =
            [&[0x90], &[0x66, 0x90], &[0x0F, 0x1F, 0x00], &[0x0F, 0x1F, 0x40, 0x00]];
        while !self.buf.len().is_multiple_of(n) {
            let missing = n - self.buf.len() % n;
            self.bytes(NOPS[missing.min(NOPS.len()) - 1]);
        }
    }
    pub fn nop(&mut self) {
        self.b(0x90)
    }
    /// Code that is given.
    pub fn bytes(&mut self, code: &[u8]) {
        self.buf.extend_from_slice(code)
    }
    /// Padding that is never executed, so that the position after `ahead` more bytes is aligned.
    pub fn align_before(&mut self, n: usize, ahead: usize) {
        while !(self.buf.len() + ahead).is_multiple_of(n) {
            self.b(0xCC)
        }
    }

    fn sse(&mut self, prefix: u8, op: u8, x: u8, rm: u8) {
        self.b(prefix);
        self.rex(false, R(x), 0, R(rm));
        self.b(0x0F);
        self.b(op);
        self.modrm_rr(R(x), R(rm))
    }
    /// addsd, subsd, mulsd, divsd, ucomisd by their opcodes.
    pub fn sd(&mut self, op: u8, x: u8, y: u8) {
        self.sse(0xF2, op, x, y)
    }
    pub fn ucomisd(&mut self, x: u8, y: u8) {
        self.sse(0x66, 0x2E, x, y)
    }
    /// Copies all of a register, which depends on nothing that was in the other.
    pub fn movaps(&mut self, x: u8, y: u8) {
        self.rex(false, R(x), 0, R(y));
        self.b(0x0F);
        self.b(0x28);
        self.modrm_rr(R(x), R(y))
    }
    pub fn movsd_load(&mut self, x: u8, base: R, disp: i32) {
        self.b(0xF2);
        self.rex(false, R(x), 0, base);
        self.b(0x0F);
        self.b(0x10);
        self.modrm_mem(R(x), base, disp)
    }
    pub fn movsd_store(&mut self, base: R, disp: i32, x: u8) {
        self.b(0xF2);
        self.rex(false, R(x), 0, base);
        self.b(0x0F);
        self.b(0x11);
        self.modrm_mem(R(x), base, disp)
    }
    /// Loads sixteen bytes, unaligned.
    pub fn movups_idx_load(&mut self, x: u8, base: R, index: R, disp: i32) {
        self.movups_idx(0x10, x, base, index, disp)
    }
    pub fn movups_idx_store(&mut self, base: R, index: R, disp: i32, x: u8) {
        self.movups_idx(0x11, x, base, index, disp)
    }
    fn movups_idx(&mut self, op: u8, x: u8, base: R, index: R, disp: i32) {
        self.rex(false, R(x), index.0, base);
        self.b(0x0F);
        self.b(op);
        self.modrm_sib(R(x), base, index, 0, disp)
    }
    /// Converts a 64-bit integer. The register is cleared first: the instruction keeps its upper half,
    /// and would wait for whatever was computed in it last.
    pub fn cvtsi2sd(&mut self, x: u8, r: R) {
        self.rex(false, R(x), 0, R(x));
        self.b(0x0F);
        self.b(0x57);
        self.modrm_rr(R(x), R(x));
        self.b(0xF2);
        self.rex(true, R(x), 0, r);
        self.b(0x0F);
        self.b(0x2A);
        self.modrm_rr(R(x), r)
    }
    pub fn movq_rx(&mut self, r: R, x: u8) {
        self.b(0x66);
        self.rex(true, R(x), 0, r);
        self.b(0x0F);
        self.b(0x7E);
        self.modrm_rr(R(x), r)
    }
    pub fn movq_xr(&mut self, x: u8, r: R) {
        self.b(0x66);
        self.rex(true, R(x), 0, r);
        self.b(0x0F);
        self.b(0x6E);
        self.modrm_rr(R(x), r)
    }

    /// Resolves labels; `false` if one was never placed.
    pub fn resolve(&mut self) -> bool {
        for (at, l) in self.fixups.drain(..) {
            let to = self.labels[l.0 as usize];
            if to == UNPLACED {
                return false;
            };
            let d = to as i64 - (at as i64 + 4);
            self.buf[at as usize..at as usize + 4].copy_from_slice(&(d as i32).to_le_bytes());
        }
        true
    }
    /// Fills in what depends on the code's address; `false` if a target is out of reach.
    pub fn relocate(&mut self, base: usize) -> bool {
        for Reloc { at, target } in self.relocs.drain(..) {
            let at = at as usize;
            let Ok(d) = i32::try_from(target as i64 - (base as i64 + at as i64 + 4)) else {
                return false;
            };
            self.buf[at..at + 4].copy_from_slice(&d.to_le_bytes());
        }
        true
    }
}
