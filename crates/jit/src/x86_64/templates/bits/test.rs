//! Tests and skips of a match, which take no value.

use kvik_beam::{Arg, Op, Opcode};
use kvik_term::am;

use crate::compiler::{Compiler, EmitResult};
use crate::rt::bits;
use crate::x86_64::asm::*;
use crate::x86_64::stubs::bits::*;
use crate::x86_64::templates::bits::string_word;
use crate::LoadError;

impl<'m> Compiler<'m> {
    /// Emits the frequent cases inline; false for any other instruction.
    pub(super) fn test_inline(&mut self, op: &Op) -> Result<bool, LoadError> {
        use Opcode::*;
        let (j, rest) = match self.args(op) {
            [j @ Arg::Label(1..), rest @ ..] => (*j, rest),
            rest => (Arg::Nil, rest),
        };
        match (op.opcode, self.fail(j)?, rest) {
            (BsSkipBits2, Some(fail), [c, size, Arg::U(u), _]) => self.skip(*c, *size, *u, fail),
            (BsTestTail2, Some(fail), [c, Arg::U(n @ 0..0x1000_0000)]) => {
                let r = self.context(*c)?;
                self.a.mov_rm(RAX, r, CTX_END);
                if *n == 0 {
                    self.a.alu_rm(Alu::Cmp, RAX, r, CTX_POS);
                } else {
                    self.a.alu_rm(Alu::Sub, RAX, r, CTX_POS);
                    self.a.alu_ri(Alu::Cmp, RAX, *n as i32);
                }
                self.a.jcc(Cc::Ne, fail);
                Ok(true)
            }
            (BsTestUnit, Some(fail), [c, Arg::U(n)]) if n.is_power_of_two() && *n <= 256 => {
                let r = self.context(*c)?;
                self.a.mov_rm(RAX, r, CTX_END);
                self.a.alu_rm(Alu::Sub, RAX, r, CTX_POS);
                self.odd_bits(RAX, *n, fail);
                Ok(true)
            }
            (BsMatchString, Some(fail), [c, Arg::U(n @ 1..=64), Arg::U(at)]) => {
                self.match_string(*c, *n, *at, fail)
            }
            (BsGetPosition, _, [c, d, _]) => {
                let r = self.context(*c)?;
                // Loading straight into the register is slower.
                self.a.mov_rm(RDX, r, CTX_POS);
                let into = self.dst(*d, RAX);
                self.a.mov_rr(into, RDX);
                self.a.shl(into, 4);
                self.store(*d, into)?;
                Ok(true)
            }
            (BsSetPosition, _, [c, p]) => {
                let r = self.context(*c)?;
                self.load(*p, RAX)?;
                self.a.shr(RAX, 4);
                // The position may be another context's, so it is clamped to the end.
                self.a.mov_rm(RCX, r, CTX_END);
                self.a.alu_rr(Alu::Cmp, RAX, RCX);
                self.a.cmov(Cc::A, RAX, RCX);
                self.a.mov_mr(r, CTX_POS, RAX);
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Jumps to `fail` unless the number of bits is a multiple of `unit`, a power of two up to 256.
    pub(super) fn odd_bits(&mut self, r: R, unit: u64, fail: Label) {
        if unit > 1 {
            self.a.test8_ri(r, (unit - 1) as u8);
            self.a.jcc(Cc::Ne, fail);
        }
    }
    /// A segment's bits, `size * unit`, in `rsi`; an invalid size fails.
    pub(super) fn bits_of(&mut self, size: Arg, unit: u64, fail: Label) -> EmitResult {
        let known = match size {
            Arg::Int(n) => u64::try_from(n).ok().and_then(|n| n.checked_mul(unit)),
            _ => None,
        };
        if let Some(n) = known {
            self.a.mov_ri(RSI, n);
            return Ok(());
        }
        self.load(size, RSI)?;
        self.a.test8_ri(RSI, 15);
        self.a.jcc(Cc::Ne, fail);
        self.a.test_rr(RSI, RSI);
        self.a.jcc(Cc::S, fail);
        match unit {
            1..=16 if unit.is_power_of_two() => self.a.shr(RSI, 4 - unit.ilog2() as u8),
            _ => {
                self.a.shr(RSI, 4);
                self.a.mov_ri(RCX, unit);
                self.a.imul_rr(RSI, RCX);
                self.a.jcc(Cc::O, fail);
            }
        }
        Ok(())
    }

    fn skip(&mut self, c: Arg, size: Arg, unit: u64, fail: Label) -> Result<bool, LoadError> {
        if self.constant(size) == Some(am::all.word()) {
            return Ok(false);
        }
        if let Arg::Int(n) = size {
            let n = u64::try_from(n).ok().and_then(|n| n.checked_mul(unit));
            if let Some(n @ 0..0x1000_0000) = n {
                let r = self.context(c)?;
                self.bounds(r, n, Some(fail));
                self.a.mov_mr(r, CTX_POS, RSI);
                return Ok(true);
            }
        }
        let r = self.bits_there(c, size, unit, fail)?;
        self.a.alu_mr(Alu::Add, r, CTX_POS, RSI);
        Ok(true)
    }

    /// Matches a short constant bit string.
    fn match_string(&mut self, c: Arg, n: u64, at: u64, fail: Label) -> Result<bool, LoadError> {
        let bytes = n.div_ceil(8);
        let string = self.string(at, bytes)?;
        let from = at as usize;
        let Some(known) = self.strings.get(from..from + bytes as usize) else { return Ok(false) };
        let word = known.iter().fold(0u64, |w, b| w << 8 | *b as u64) << (64 - 8 * bytes);
        let word = word & (!0 << (64 - n));
        if !n.is_multiple_of(8) {
            if n > 57 {
                return Ok(false);
            }
            self.same_bits(c, n, word, fail)?;
            return Ok(true);
        }
        let (uneven, done) = (self.a.label(), self.a.label());
        let r = self.context(c)?;
        self.bounds(r, n, Some(fail));
        self.byte_address(r, uneven);
        self.same_bytes(bytes, word, fail);
        self.a.mov_mr(r, CTX_POS, RSI);
        self.a.place(done);
        let string = string_word(string);
        self.later(move |s| {
            s.a.place(uneven);
            if n <= 57 {
                s.same_bits(c, n, word, fail)?;
            } else {
                s.call_rt(bits::match_string, &[c, Arg::U(n)], string)?;
                s.none_fails(Some(fail));
            }
            s.a.jmp(done);
            Ok(())
        });
        Ok(true)
    }
    /// Compares bits at any position with those at the top of `word`.
    fn same_bits(&mut self, c: Arg, n: u64, word: u64, fail: Label) -> EmitResult {
        let r = self.context(c)?;
        self.bounds(r, n, Some(fail));
        self.peek_bits(r, n);
        self.cmp_word(RAX, word);
        self.a.jcc(Cc::Ne, fail);
        self.a.mov_mr(r, CTX_POS, RSI);
        Ok(())
    }
    /// Compares the bytes at `rdx` with those at the top of `word`.
    fn same_bytes(&mut self, bytes: u64, word: u64, fail: Label) {
        let part = |at: u64, k: u64| (word << (8 * at)) >> (64 - 8 * k);
        let mut at = 0;
        while at < bytes {
            let (left, to) = (bytes - at, at as i32);
            let k = [8, 4, 2, 1].into_iter().find(|k| *k <= left).unwrap_or(1);
            match k {
                8 => {
                    self.a.mov_rm(RAX, RDX, to);
                    self.cmp_word(RAX, part(at, 8).swap_bytes());
                }
                4 => {
                    self.a.mov32_rm(RAX, RDX, to);
                    self.a.alu32_ri(Alu::Cmp, RAX, (part(at, 4) as u32).swap_bytes() as i32);
                }
                2 => {
                    self.a.movzx16_rm(RAX, RDX, to);
                    self.a.alu32_ri(Alu::Cmp, RAX, (part(at, 2) as u16).swap_bytes() as i32);
                }
                _ => self.a.cmp8_mi(RDX, to, part(at, 1) as u8),
            }
            self.a.jcc(Cc::Ne, fail);
            at += k;
        }
    }
}
