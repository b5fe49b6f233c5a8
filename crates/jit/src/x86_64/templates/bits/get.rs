//! Match contexts, and the values taken from them: integers, floats, characters, bit strings.
//!
//! A template that may collect checks first that it cannot fail, because code behind a failure
//! label may use registers that a collection would not preserve; after a collection it restarts.

use kvik_beam::{Arg, Op, Opcode};
use kvik_heap::bits::{LITTLE, NATIVE, SIGNED};
use kvik_term::am;
use kvik_term::word::*;

use super::pack;
use crate::compiler::{same_register, Compiler, EmitResult};
use crate::rt::{self, bits};
use crate::x86_64::asm::*;
use crate::x86_64::operands::kind_byte;
use crate::x86_64::stubs::bits::*;
use crate::x86_64::stubs::none_to;
use crate::x86_64::{HTOP, STACK};
use crate::LoadError;

/// The most bits that `peek_bits` takes: with the bits before the first in its byte they fit in a
/// word.
const PEEK: u64 = 57;

impl<'m> Compiler<'m> {
    /// Emits the frequent cases inline; false for any other instruction.
    pub(super) fn bits_inline(&mut self, op: &Op) -> Result<bool, LoadError> {
        use Opcode::*;
        match (op.opcode, self.args(op)) {
            (BsGetInteger2, [j, c, _, Arg::Int(size), Arg::U(u), Arg::U(fl), d]) => {
                let n = u64::try_from(*size).ok().and_then(|s| s.checked_mul(*u)).unwrap_or(0);
                let Some(fail) = self.fail(*j)? else { return Ok(false) };
                self.get_integer(Some(fail), *c, n, *fl as u32, *d)
            }
            (BsGetFloat2, [j, c, Arg::U(v), Arg::Int(size), Arg::U(u), Arg::U(fl), d]) => {
                let n = u64::try_from(*size).ok().and_then(|s| s.checked_mul(*u)).unwrap_or(0);
                self.get_float(*j, *c, *v, n, *fl as u32, *d)
            }
            (BsGetBinary2, [j, c, Arg::U(v), size, Arg::U(u), _, d]) => {
                self.get_binary(*j, *c, *v, *size, *u, *d)
            }
            (BsGetTail, [c, d, Arg::U(v)]) => self.get_tail(*c, *v, *d),
            (BsGetUtf8, [j, c, _, _, d]) => self.get_utf8(*j, *c, Some(*d)),
            (BsSkipUtf8, [j, c, _, _]) => self.get_utf8(*j, *c, None),
            _ => self.test_inline(op),
        }
    }

    pub(super) fn start_match(&mut self, j: Arg, s: Arg, live: u64, d: Arg) -> EmitResult {
        let fail = self.fail(j)?;
        let (other, done) = (self.a.label(), self.a.label());
        let bad = fail.unwrap_or_else(|| self.a.label());
        let r = self.src(s, RDI)?;
        if fail.is_some() || self.proof.checked_needed(self.at) {
            self.a.lea(RAX, r, -(TAG_BOXED as i32));
            self.a.test8_ri(RAX, 3);
            self.a.jcc(Cc::Ne, bad);
        }
        self.a.cmp8_mi(r, -(TAG_BOXED as i32), kind_byte(MATCH_CTX) as u8);
        self.a.jcc(Cc::Ne, other);
        self.store(d, r)?;
        self.a.place(done);
        if fail.is_none() {
            // `no_fail` and `resume` promise a bit string; the promise is checked.
            self.impossible(bad);
        }
        self.later(move |c| {
            c.a.place(other);
            let (found, ready, full) = (c.a.label(), c.a.label(), c.a.label());
            let r = c.src(s, RDI)?;
            c.a.movzx8_rm(RAX, r, -(TAG_BOXED as i32));
            for k in [REFC_BIN, SUB_BIN] {
                c.a.alu32_ri(Alu::Cmp, RAX, kind_byte(k));
                c.a.jcc(Cc::E, found);
            }
            c.a.alu32_ri(Alu::Cmp, RAX, kind_byte(HEAP_BIN));
            c.a.jcc(Cc::Ne, bad);
            c.a.place(found);
            c.room(MATCH_CTX_WORDS, full);
            c.a.place(ready);
            c.load(s, RDI)?;
            c.a.movzx8_rm(RAX, RDI, -(TAG_BOXED as i32));
            c.a.call_abs(c.stubs.start_match);
            c.store(d, RAX)?;
            c.a.jmp(done);
            c.collect_at(full, MATCH_CTX_WORDS, live, s, ready);
            Ok(())
        });
        Ok(())
    }

    /// Jumps to `full` if there is no room for that many words.
    pub(in crate::x86_64::templates) fn room(&mut self, words: usize, full: Label) {
        use kvik_heap::alloc::STACK_SLACK;
        self.a.lea(RAX, HTOP, ((words + STACK_SLACK) * 8) as i32);
        self.a.alu_rr(Alu::Cmp, RAX, STACK);
        self.a.jcc(Cc::A, full);
    }
    /// At `full`: collects and continues at `again`. A register that is used afterwards need not be
    /// live: it is then swapped with the first one that is not live.
    fn collect_at(&mut self, full: Label, words: usize, live: u64, keep: Arg, again: Label) {
        self.later(move |c| {
            c.a.place(full);
            let live_x = Arg::X(live as u16, 0);
            let moved = matches!(keep, Arg::X(n, _) if n as u64 > live);
            let more = matches!(keep, Arg::X(n, _) if n as u64 >= live);
            if moved {
                c.exchange(keep, live_x)?;
            }
            c.a.mov_ri(RCX, (words as u64) << 16 | (live + more as u64));
            c.rt(rt::stop::collect);
            let too_large = c.a.label();
            none_to(&mut c.a, too_large);
            if moved {
                c.exchange(keep, live_x)?;
            }
            c.a.jmp(again);
            c.a.place(too_large);
            c.raise_here();
            Ok(())
        });
    }

    fn exchange(&mut self, a: Arg, b: Arg) -> EmitResult {
        self.load(a, RAX)?;
        self.load(b, RDX)?;
        self.store(a, RDX)?;
        self.store(b, RAX)
    }

    /// The register of a match context: its own, or `rdi`.
    pub(super) fn context(&mut self, c: Arg) -> Result<R, LoadError> {
        self.src(c, RDI)
    }
    /// Loads the start and end of the next `n` bits into `rdx` and `rsi`. Without a label an
    /// earlier instruction has checked that they exist.
    pub(super) fn bounds(&mut self, r: R, n: u64, fail: Option<Label>) {
        self.a.mov_rm(RDX, r, CTX_POS);
        self.a.lea(RSI, RDX, n as i32);
        if let Some(fail) = fail {
            self.a.alu_rm(Alu::Cmp, RSI, r, CTX_END);
            self.a.jcc(Cc::A, fail);
        }
    }
    /// The address of the byte at the position in `rdx`; jumps to `uneven` if the position is
    /// inside a byte.
    pub(super) fn byte_address(&mut self, r: R, uneven: Label) {
        self.a.test8_ri(RDX, 7);
        self.a.jcc(Cc::Ne, uneven);
        self.a.shr(RDX, 3);
        self.a.alu_rm(Alu::Add, RDX, r, CTX_BASE);
    }
    /// The `n` bits (1 to 57) before the position in `rsi`, at the top of `rax`; the bits below are
    /// 0. Reads the eight bytes that end with them: a binary's first byte is always preceded by its
    /// header.
    pub(super) fn peek_bits(&mut self, r: R, n: u64) {
        self.a.lea(RAX, RSI, -1);
        self.a.shr(RAX, 3);
        self.a.alu_rm(Alu::Add, RAX, r, CTX_BASE);
        self.a.mov_rm(RAX, RAX, -7);
        self.a.bswap(RAX);
        self.a.mov32_rr(RCX, RSI);
        self.a.neg(RCX);
        self.a.alu32_ri(Alu::And, RCX, 7);
        self.a.shr_cl(RAX);
        self.a.shl(RAX, (64 - n) as u8);
    }
    /// The `k` bytes (1 to 8) at `rdx`, as a number in `to`.
    fn load_bytes(&mut self, k: u64, little: bool, to: R) {
        let width = if k >= 4 { k & 4 | k & 8 } else { k.min(2) };
        let width = if k == 1 { 1 } else { width } as i32;
        let over = k as i32 - width;
        let load = |a: &mut Asm, r, at| match width {
            1 => a.movzx8_rm(r, RDX, at),
            2 => {
                a.movzx16_rm(r, RDX, at);
                if !little {
                    a.swap16(r)
                }
            }
            4 => {
                a.mov32_rm(r, RDX, at);
                if !little {
                    a.bswap32(r)
                }
            }
            _ => {
                a.mov_rm(r, RDX, at);
                if !little {
                    a.bswap(r)
                }
            }
        };
        // Two overlapping parts, if no single width fits.
        let (high, low) = if little { (over, 0) } else { (0, over) };
        load(&mut self.a, to, high);
        if over > 0 {
            load(&mut self.a, RCX, low);
            self.a.shl(to, 8 * over as u8);
            self.a.alu_rr(Alu::Or, to, RCX);
        }
    }

    pub(super) fn get_integer(
        &mut self,
        fail: Option<Label>,
        c: Arg,
        n: u64,
        flags: u32,
        d: Arg,
    ) -> Result<bool, LoadError> {
        let little = flags & (LITTLE | NATIVE) != 0 && n > 8;
        let whole = n.is_multiple_of(8) && n <= 64;
        if n == 0 || n > PEEK && !whole || little && !whole {
            return Ok(false);
        }
        let signed = flags & SIGNED != 0;
        if !whole {
            self.few_bits(c, n, signed, d, fail)?;
            return Ok(true);
        }
        let (other, done) = (self.a.label(), self.a.label());
        let r = self.context(c)?;
        self.bounds(r, n, fail);
        self.byte_address(r, other);
        // A number that may be too large must not change a register yet; nor may one that replaces
        // the context.
        let to = if n == 64 || same_register(d, c) { RAX } else { self.dst(d, RAX) };
        self.load_bytes(n / 8, little, to);
        if n == 64 {
            self.fits_small(signed, other);
        }
        self.a.mov_mr(r, CTX_POS, RSI);
        if signed && n < 64 {
            self.a.shl(to, (64 - n) as u8);
            self.a.sar(to, (60 - n) as u8);
        } else {
            self.a.shl(to, 4);
        }
        self.store(d, to)?;
        self.a.place(done);
        self.later(move |s| {
            s.a.place(other);
            if n <= PEEK && !little {
                s.few_bits(c, n, signed, d, fail)?;
            } else {
                s.call_rt(bits::get_integer, &[c, Arg::Int(n as i64)], pack(1, flags as u64))?;
                s.none_fails_or_traps(fail);
                s.store(d, RAX)?;
            }
            s.a.jmp(done);
            Ok(())
        });
        Ok(true)
    }
    /// Bits at any position, the most significant first.
    fn few_bits(
        &mut self,
        c: Arg,
        n: u64,
        signed: bool,
        d: Arg,
        fail: Option<Label>,
    ) -> EmitResult {
        let r = self.context(c)?;
        self.bounds(r, n, fail);
        self.peek_bits(r, n);
        match signed {
            true => self.a.sar(RAX, (60 - n) as u8),
            false => self.a.shr(RAX, (60 - n) as u8),
        }
        self.a.mov_mr(r, CTX_POS, RSI);
        self.store(d, RAX)
    }
    /// Jumps to the label if a runtime function returned `NONE`; without a label that is impossible
    /// and traps.
    pub(super) fn none_fails_or_traps(&mut self, fail: Option<Label>) {
        match fail {
            Some(_) => self.none_fails(fail),
            None => {
                let bad = self.a.label();
                none_to(&mut self.a, bad);
                self.impossible(bad);
            }
        }
    }
    /// Jumps to `big` unless the number in `rax` fits a small integer.
    fn fits_small(&mut self, signed: bool, big: Label) {
        self.a.mov_rr(RCX, RAX);
        if signed {
            self.a.shl(RCX, 4);
            self.a.sar(RCX, 4);
            self.a.alu_rr(Alu::Cmp, RCX, RAX);
        } else {
            self.a.shr(RCX, SMALL_BITS as u8 - 1);
            self.a.test_rr(RCX, RCX);
        }
        self.a.jcc(Cc::Ne, big);
    }

    fn get_float(
        &mut self,
        j: Arg,
        c: Arg,
        live: u64,
        n: u64,
        flags: u32,
        d: Arg,
    ) -> Result<bool, LoadError> {
        let Some(fail) = self.fail(j)? else { return Ok(false) };
        if !matches!(n, 32 | 64) {
            return Ok(false);
        }
        let (other, done, full) = (self.a.label(), self.a.label(), self.a.label());
        let again = self.a.here();
        let r = self.context(c)?;
        self.bounds(r, n, Some(fail));
        self.byte_address(r, other);
        self.load_bytes(n / 8, flags & (LITTLE | NATIVE) != 0, RAX);
        // NaN and infinity do not match.
        let (place, all) = if n == 64 { (52, 0x7FF) } else { (23, 0xFF) };
        self.a.mov_rr(RCX, RAX);
        self.a.shr(RCX, place);
        self.a.alu32_ri(Alu::And, RCX, all);
        self.a.alu32_ri(Alu::Cmp, RCX, all);
        self.a.jcc(Cc::E, fail);
        if n == 32 {
            self.a.single_to_double(0, RAX);
            self.a.movq_rx(RAX, 0);
        }
        self.a.mov_rr(RDX, RAX);
        self.room(FLOAT_WORDS, full);
        self.a.mov_mr(r, CTX_POS, RSI);
        self.a.mov_mi(HTOP, 0, header(FLOAT, FLOAT_WORDS - 1) as i32);
        self.a.mov_mr(HTOP, 8, RDX);
        self.a.lea(RAX, HTOP, TAG_BOXED as i32);
        self.a.alu_ri(Alu::Add, HTOP, 8 * FLOAT_WORDS as i32);
        self.store(d, RAX)?;
        self.a.place(done);
        self.collect_at(full, FLOAT_WORDS, live, c, again);
        self.later(move |s| {
            s.a.place(other);
            s.call_rt(bits::get_float, &[c, Arg::Int(n as i64)], pack(1, flags as u64))?;
            s.none_fails(Some(fail));
            s.store(d, RAX)?;
            s.a.jmp(done);
            Ok(())
        });
        Ok(true)
    }

    fn get_binary(
        &mut self,
        j: Arg,
        c: Arg,
        live: u64,
        size: Arg,
        unit: u64,
        d: Arg,
    ) -> Result<bool, LoadError> {
        let Some(fail) = self.fail(j)? else { return Ok(false) };
        let all = self.constant(size) == Some(am::all.word());
        if all && !unit.is_power_of_two() {
            return Ok(false);
        }
        let full = self.a.label();
        let again = self.a.here();
        let words = match size {
            _ if all => {
                let r = self.context(c)?;
                self.a.mov_rm(RSI, r, CTX_END);
                self.a.alu_rm(Alu::Sub, RSI, r, CTX_POS);
                self.odd_bits(RSI, unit, fail);
                BITS_WORDS
            }
            _ => self.sized(c, size, unit, fail)?,
        };
        self.room(words, full);
        self.load(c, RDI)?;
        self.a.call_abs(self.stubs.get_bits);
        self.store(d, RAX)?;
        self.collect_at(full, words, live, c, again);
        Ok(true)
    }
    /// Loads the number of bits into `rsi` and checks that they exist. Returns the words that a bit
    /// string of that size may take.
    fn sized(&mut self, c: Arg, size: Arg, unit: u64, fail: Label) -> Result<usize, LoadError> {
        self.bits_there(c, size, unit, fail)?;
        Ok(BITS_WORDS)
    }
    /// Loads the number of bits into `rsi` and checks that they exist. Returns the context.
    pub(super) fn bits_there(
        &mut self,
        c: Arg,
        size: Arg,
        unit: u64,
        fail: Label,
    ) -> Result<R, LoadError> {
        self.bits_of(size, unit, fail)?;
        let r = self.context(c)?;
        self.a.mov_rm(RAX, r, CTX_END);
        self.a.alu_rm(Alu::Sub, RAX, r, CTX_POS);
        self.a.alu_rr(Alu::Cmp, RSI, RAX);
        self.a.jcc(Cc::A, fail);
        Ok(r)
    }

    fn get_tail(&mut self, c: Arg, live: u64, d: Arg) -> Result<bool, LoadError> {
        let full = self.a.label();
        let again = self.a.here();
        self.room(BITS_WORDS, full);
        self.load(c, RDI)?;
        self.a.call_abs(self.stubs.get_tail);
        self.store(d, RAX)?;
        self.collect_at(full, BITS_WORDS, live, c, again);
        Ok(true)
    }

    /// Takes a character of one byte; others are left to the runtime.
    fn get_utf8(&mut self, j: Arg, c: Arg, d: Option<Arg>) -> Result<bool, LoadError> {
        let Some(fail) = self.fail(j)? else { return Ok(false) };
        let (other, done) = (self.a.label(), self.a.label());
        let r = self.context(c)?;
        self.bounds(r, 8, Some(fail));
        self.byte_address(r, other);
        self.a.movzx8_rm(RAX, RDX, 0);
        self.a.alu32_ri(Alu::Cmp, RAX, 0x80);
        self.a.jcc(Cc::Ae, other);
        self.a.mov_mr(r, CTX_POS, RSI);
        if let Some(d) = d {
            self.a.shl(RAX, 4);
            self.store(d, RAX)?;
        }
        self.a.place(done);
        self.later(move |s| {
            s.a.place(other);
            s.load(c, RDI)?;
            s.a.call_abs(s.stubs.get_utf8);
            s.none_fails(Some(fail));
            if let Some(d) = d {
                s.store(d, RAX)?;
            }
            s.a.jmp(done);
            Ok(())
        });
        Ok(true)
    }
}
