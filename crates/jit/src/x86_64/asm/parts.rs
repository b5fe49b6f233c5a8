//! Accesses to parts of a word, for bytes inside bit strings.

use super::{Alu, Asm, R};

impl Asm {
    pub fn movzx16_rm(&mut self, d: R, base: R, disp: i32) {
        self.rex(false, d, 0, base);
        self.b(0x0F);
        self.b(0xB7);
        self.modrm_mem(d, base, disp)
    }
    pub fn mov32_mr(&mut self, base: R, disp: i32, s: R) {
        self.rex(false, s, 0, base);
        self.b(0x89);
        self.modrm_mem(s, base, disp)
    }
    pub fn mov16_mr(&mut self, base: R, disp: i32, s: R) {
        self.b(0x66);
        self.mov32_mr(base, disp, s)
    }
    /// Swaps the bytes of the low 32 bits; the rest becomes zero.
    pub fn bswap32(&mut self, r: R) {
        self.rex(false, R(0), 0, r);
        self.b(0x0F);
        self.b(0xC8 | r.0 & 7)
    }
    /// Swaps the two low bytes; the rest stays.
    pub fn swap16(&mut self, r: R) {
        self.b(0x66);
        self.rex(false, R(0), 0, r);
        self.b(0xC1);
        self.modrm_rr(R(0), r);
        self.b(8)
    }
    /// Makes the next instruction, which changes memory, atomic.
    pub fn lock(&mut self) {
        self.b(0xF0)
    }
    /// Applies the operation to a word in memory.
    pub fn alu_mr(&mut self, op: Alu, base: R, disp: i32, s: R) {
        self.rex(true, s, 0, base);
        self.b((op as u8) << 3 | 1);
        self.modrm_mem(s, base, disp)
    }
    /// Converts the single-precision float in the low 32 bits to a double.
    pub fn single_to_double(&mut self, x: u8, r: R) {
        self.b(0x66);
        self.rex(false, R(x), 0, r);
        self.b(0x0F);
        self.b(0x6E);
        self.modrm_rr(R(x), r);
        self.sse(0xF3, 0x5A, x, x)
    }
    /// Converts a double to single precision, into the low 32 bits.
    pub fn double_to_single(&mut self, r: R, x: u8) {
        self.sse(0xF2, 0x5A, x, x);
        self.b(0x66);
        self.rex(false, R(x), 0, r);
        self.b(0x0F);
        self.b(0x7E);
        self.modrm_rr(R(x), r)
    }
}
