//! `bs_match`: the number of bits is checked once, so that the following commands need no bounds
//! checks.

use kvik_beam::{Arg, MatchCommand};
use kvik_term::word::*;

use super::pack;
use crate::compiler::{Compiler, EmitResult};
use crate::rt::bits;
use crate::x86_64::asm::*;
use crate::x86_64::operands::kind_byte;
use crate::x86_64::stubs::bits::*;

/// The most bits that are compared at once.
const COMPARED: u64 = 32;

impl<'m> Compiler<'m> {
    pub(super) fn match_commands(&mut self, f: Arg, c: Arg, list: &'m [Arg]) -> EmitResult {
        let fail = self.fail(f)?.ok_or_else(|| self.refuse("bs_match without a label"))?;
        if self.proof.checked_needed(self.at) {
            self.surely_context(c)?;
        }
        let commands = kvik_beam::match_commands(self.module, list);
        for command in commands.map_err(|what| self.refuse(what))? {
            self.match_command(command, fail, c)?;
        }
        Ok(())
    }

    fn match_command(&mut self, command: MatchCommand, fail: Label, c: Arg) -> EmitResult {
        use MatchCommand::*;
        match command {
            EnsureAtLeast { bits, unit } => self.ensure_at_least(c, bits, unit, fail),
            EnsureExactly { bits } => {
                self.bits_left(c)?;
                self.alu_bits(Alu::Cmp, bits);
                self.a.jcc(Cc::Ne, fail);
                Ok(())
            }
            Integer { flags, bits, to, .. } => {
                let flags = self.segment_flags(flags);
                if self.get_integer(None, c, bits, flags, to)? {
                    return Ok(());
                }
                let extra = pack(1, flags as u64);
                self.call_rt(bits::get_integer, &[c, Arg::Int(bits as i64)], extra)?;
                self.none_fails_or_traps(None);
                self.store(to, RAX)
            }
            Binary { live, bits, to } => {
                self.need(BITS_WORDS, live);
                self.load(c, RDI)?;
                self.a.mov_ri(RSI, bits);
                self.a.call_abs(self.stubs.get_bits);
                self.store(to, RAX)
            }
            Tail { live, to } => {
                self.need(BITS_WORDS, live);
                self.load(c, RDI)?;
                self.a.call_abs(self.stubs.get_tail);
                self.store(to, RAX)
            }
            Skip { bits } => {
                let r = self.context(c)?;
                self.a.mov_ri(RSI, bits);
                self.a.alu_mr(Alu::Add, r, CTX_POS, RSI);
                Ok(())
            }
            Equal { bits, value } => self.equal_bits(c, bits, value, fail),
        }
    }

    /// Traps unless the register holds a match context.
    fn surely_context(&mut self, c: Arg) -> EmitResult {
        let bad = self.a.label();
        let r = self.context(c)?;
        self.a.lea(RAX, r, -(TAG_BOXED as i32));
        self.a.test8_ri(RAX, 3);
        self.a.jcc(Cc::Ne, bad);
        self.a.cmp8_mi(r, -(TAG_BOXED as i32), kind_byte(MATCH_CTX) as u8);
        self.a.jcc(Cc::Ne, bad);
        self.impossible(bad);
        Ok(())
    }

    /// `rax` and a number of bits, which may be wider than an immediate operand.
    fn alu_bits(&mut self, op: Alu, bits: u64) {
        match i32::try_from(bits) {
            Ok(bits) => self.a.alu_ri(op, RAX, bits),
            Err(_) => {
                self.a.mov_ri(RSI, bits);
                self.a.alu_rr(op, RAX, RSI);
            }
        }
    }

    /// How many bits are left, in `rax`.
    fn bits_left(&mut self, c: Arg) -> EmitResult {
        let r = self.context(c)?;
        self.a.mov_rm(RAX, r, CTX_END);
        self.a.alu_rm(Alu::Sub, RAX, r, CTX_POS);
        Ok(())
    }

    fn ensure_at_least(&mut self, c: Arg, bits: u64, unit: u64, fail: Label) -> EmitResult {
        self.bits_left(c)?;
        // A negative remainder means too few bits.
        self.alu_bits(Alu::Sub, bits);
        self.a.jcc(Cc::B, fail);
        if unit.is_power_of_two() {
            self.odd_bits(RAX, unit, fail);
            return Ok(());
        }
        self.call_rt(bits::test_rest, &[c, Arg::Int(bits as i64)], unit)?;
        self.none_fails(Some(fail));
        Ok(())
    }

    /// Compares the next bits with this number.
    fn equal_bits(&mut self, c: Arg, bits: u64, value: u64, fail: Label) -> EmitResult {
        if bits < 64 && value >> bits != 0 {
            self.a.jmp(fail);
            return Ok(());
        }
        let mut left = bits;
        while left > 0 {
            let n = left.min(COMPARED);
            left -= n;
            let r = self.context(c)?;
            self.bounds(r, n, None);
            self.peek_bits(r, n);
            self.a.mov_mr(r, CTX_POS, RSI);
            self.cmp_word(RAX, value >> left << (64 - n));
            self.a.jcc(Cc::Ne, fail);
        }
        Ok(())
    }
}
