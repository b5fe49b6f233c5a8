//! Guard BIFs that are inlined in the usual case: type tests, parts of terms, sizes, division,
//! logic. Unusual operands and errors go to the function.

use kvik_beam::{Arg, Opcode};
use kvik_term::word::*;
use kvik_term::{am, Atom, Export};

use crate::compiler::{Compiler, EmitResult};
use crate::rt;
use crate::x86_64::asm::*;
use crate::x86_64::operands::kind_byte;
use crate::x86_64::stubs::none_to;
use crate::LoadError;

/// Offset from a tagged pointer to the word behind the header.
const FIRST: i32 = 8 - TAG_BOXED as i32;
/// Offset to a sub-binary's size in bits.
const SUB_SIZE: i32 = 24 - TAG_BOXED as i32;

/// A call of a guard BIF.
#[derive(Copy, Clone)]
pub(super) struct Guard<'a> {
    pub e: &'static Export,
    pub fail: Option<Label>,
    pub args: &'a [Arg],
    pub dst: Arg,
    /// Live x registers; `None` for a call that must not end the time slice.
    pub live: Option<u64>,
}

/// The type test equivalent to the BIF.
fn question(f: Atom) -> Option<Opcode> {
    Some(match f {
        am::is_atom => Opcode::IsAtom,
        am::is_binary => Opcode::IsBinary,
        am::is_bitstring => Opcode::IsBitstr,
        am::is_boolean => Opcode::IsBoolean,
        am::is_float => Opcode::IsFloat,
        am::is_function => Opcode::IsFunction,
        am::is_integer => Opcode::IsInteger,
        am::is_list => Opcode::IsList,
        am::is_map => Opcode::IsMap,
        am::is_number => Opcode::IsNumber,
        am::is_pid => Opcode::IsPid,
        am::is_port => Opcode::IsPort,
        am::is_reference => Opcode::IsReference,
        am::is_tuple => Opcode::IsTuple,
        _ => return None,
    })
}

impl<'m> Compiler<'m> {
    /// Emits the call inline; `false` if there is no template for it.
    pub(super) fn native_guard(&mut self, g: Guard<'_>) -> Result<bool, LoadError> {
        match *g.args {
            [a] => match question(g.e.function) {
                Some(test) => self.answer(g.dst, |c, no| c.test_type(test, no, a, &[]))?,
                None => return self.native_unary(g, a),
            },
            [a, b] => return self.native_binary(g, a, b),
            [a, b, n] if g.e.function == am::binary_part => {
                self.or_function(g, |c, slow| c.binary_part(a, b, n, slow))?
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn native_unary(&mut self, g: Guard<'_>, a: Arg) -> Result<bool, LoadError> {
        match g.e.function {
            am::hd => self.or_badarg(g, |c, bad| c.part_of_cell(a, 0, bad)),
            am::tl => self.or_badarg(g, |c, bad| c.part_of_cell(a, 8, bad)),
            am::tuple_size => self.or_badarg(g, |c, bad| {
                let r = c.src(a, RDX)?;
                c.tuple_or(r, bad);
                // The subtag is 0, and a tuple's size has 24 bits.
                c.a.mov32_rm(RAX, r, -(TAG_BOXED as i32));
                c.a.shr(RAX, 4);
                Ok(())
            }),
            am::length => self.length(g, a),
            am::map_size => self.or_function(g, |c, slow| {
                let r = c.src(a, RDX)?;
                c.one_of(r, &[FLAT_MAP, HAMT], slow);
                c.a.mov_rm(RAX, r, FIRST);
                Ok(())
            }),
            am::byte_size => self.or_function(g, |c, slow| c.bytes_of(a, slow)),
            am::not => self.or_function(g, |c, slow| c.negated(a, slow)),
            am::bnot => self.or_function(g, |c, slow| {
                c.load(a, RAX)?;
                c.a.test8_ri(RAX, 15);
                c.a.jcc(Cc::Ne, slow);
                c.a.alu_ri(Alu::Xor, RAX, !15);
                Ok(())
            }),
            am::get => {
                self.load(a, RSI)?;
                self.a.call_abs(self.stubs.dictionary_get);
                self.store(g.dst, RAX)
            }
            am::op_minus => self.or_function(g, |c, slow| {
                c.load(a, RAX)?;
                c.a.test8_ri(RAX, 15);
                c.a.jcc(Cc::Ne, slow);
                c.a.neg(RAX);
                c.a.jcc(Cc::O, slow);
                Ok(())
            }),
            _ => return Ok(false),
        }?;
        Ok(true)
    }

    fn native_binary(&mut self, g: Guard<'_>, a: Arg, b: Arg) -> Result<bool, LoadError> {
        let d = g.dst;
        match g.e.function {
            am::op_exact_eq => self.answer(d, |c, no| c.equal_exact(no, a, b, true)),
            am::op_exact_ne => self.answer(d, |c, no| c.equal_exact(no, a, b, false)),
            am::op_eq => self.answer(d, |c, no| c.ordered(no, a, b, Cc::E)),
            am::op_ne => self.answer(d, |c, no| c.ordered(no, a, b, Cc::Ne)),
            am::op_lt => self.answer(d, |c, no| c.ordered(no, a, b, Cc::L)),
            am::op_ge => self.answer(d, |c, no| c.ordered(no, a, b, Cc::Ge)),
            am::op_gt => self.answer(d, |c, no| c.ordered(no, b, a, Cc::L)),
            am::op_le => self.answer(d, |c, no| c.ordered(no, b, a, Cc::Ge)),
            am::element => self.or_badarg(g, |c, bad| c.element_at(a, b, bad)),
            am::and => self.or_function(g, |c, slow| c.both(a, b, am::true_, slow)),
            am::or => self.or_function(g, |c, slow| c.both(a, b, am::false_, slow)),
            am::div | am::rem => {
                let rem = g.e.function == am::rem;
                match b {
                    Arg::Int(n) if n > 0 && n < 1 << 24 && n & (n - 1) == 0 => {
                        self.or_function(g, |c, slow| c.divide_by_power(a, n, rem, slow))
                    }
                    _ => self.or_function(g, |c, slow| c.divide(a, b, rem, slow)),
                }
            }
            am::bsl => match b {
                Arg::Int(n @ 0..=58) => {
                    self.or_function(g, |c, slow| c.shift_left(a, n as u8, slow))
                }
                Arg::X(..) | Arg::Y(..) => {
                    self.or_function(g, |c, slow| c.shift_by(a, b, true, slow))
                }
                _ => return Ok(false),
            },
            am::bsr if matches!(b, Arg::X(..) | Arg::Y(..)) => {
                self.or_function(g, |c, slow| c.shift_by(a, b, false, slow))
            }
            _ => return Ok(false),
        }?;
        Ok(true)
    }

    /// Leaves the BIF's value in `rax`, or jumps to the label, where the function is called.
    fn or_function(
        &mut self,
        g: Guard<'_>,
        usual: impl FnOnce(&mut Compiler<'m>, Label) -> EmitResult,
    ) -> EmitResult {
        let (slow, back) = (self.a.label(), self.a.label());
        usual(self, slow)?;
        self.store(g.dst, RAX)?;
        self.a.place(back);
        let (e, fail, args, dst) = (g.e, g.fail, g.args.to_vec(), g.dst);
        self.later(move |c| {
            c.a.place(slow);
            c.by_function(e, fail, &args, dst)?;
            c.a.jmp(back);
            Ok(())
        });
        Ok(())
    }
    /// The same if the function could only fail.
    fn or_badarg(
        &mut self,
        g: Guard<'_>,
        usual: impl FnOnce(&mut Compiler<'m>, Label) -> EmitResult,
    ) -> EmitResult {
        match g.fail {
            Some(fail) => {
                usual(self, fail)?;
                self.store(g.dst, RAX)
            }
            None => self.or_function(g, usual),
        }
    }
    /// `true`, or `false` if the test jumps to its label.
    fn answer(
        &mut self,
        dst: Arg,
        test: impl FnOnce(&mut Compiler<'m>, Label) -> EmitResult,
    ) -> EmitResult {
        let (no, over) = (self.a.label(), self.a.label());
        test(self, no)?;
        self.a.mov_ri(RAX, am::true_.word());
        self.a.jmp(over);
        self.a.place(no);
        self.a.mov_ri(RAX, am::false_.word());
        self.a.place(over);
        self.store(dst, RAX)
    }

    /// The time slice may end within `length/1`. The state to resume is kept in x registers above
    /// the live ones: the rest of the list, the length so far, and the list, for an exception.
    fn length(&mut self, g: Guard<'_>, list: Arg) -> EmitResult {
        let Some(live) = g.live.and_then(|n| u16::try_from(n).ok()) else {
            return Err(self.refuse("guard BIF"));
        };
        let [rest, so_far, whole] = [0, 1, 2].map(|n| Arg::X(live + n, 0));
        let (improper, failed, back) = (self.a.label(), self.a.label(), self.a.label());
        let (e, fail, dst, length) = (g.e, g.fail, g.dst, self.stubs.length);
        self.load(list, RSI)?;
        self.a.mov_ri(RAX, small(0));
        self.a.call_abs(length);
        none_to(&mut self.a, failed);
        self.a.place(back);
        self.store(dst, RAX)?;
        self.later(move |c| {
            let (bad, stopped, go_on) = (c.a.label(), c.a.label(), c.a.label());
            c.a.place(failed);
            c.low_bits(RSI, 3, TAG_LIST, bad);
            c.load(list, RAX)?;
            c.store(whole, RAX)?;
            c.a.place(stopped);
            c.store(rest, RSI)?;
            c.store(so_far, RDX)?;
            c.yield_to(go_on, live as u64 + 3);
            c.a.place(go_on);
            c.place();
            c.load(rest, RSI)?;
            c.load(so_far, RAX)?;
            c.a.call_abs(length);
            c.a.alu_ri(Alu::Cmp, RAX, NONE as i32);
            c.a.jcc(Cc::Ne, back);
            c.low_bits(RSI, 3, TAG_LIST, improper);
            c.a.jmp(stopped);
            c.a.place(improper);
            c.bad_argument(e, fail, whole)?;
            c.a.place(bad);
            c.bad_argument(e, fail, list)
        });
        Ok(())
    }
    /// Raises `badarg` without calling the function.
    fn bad_argument(&mut self, e: &'static Export, fail: Option<Label>, a: Arg) -> EmitResult {
        match fail {
            Some(fail) => self.a.jmp(fail),
            None => {
                self.call_rt(rt::call::bad_argument, &[a], e)?;
                self.raise_here();
            }
        }
        Ok(())
    }

    fn part_of_cell(&mut self, a: Arg, offset: i32, bad: Label) -> EmitResult {
        let r = self.src(a, RDX)?;
        self.low_bits(r, 3, TAG_LIST, bad);
        self.a.mov_rm(RAX, r, offset - TAG_LIST as i32);
        Ok(())
    }
    fn tuple_or(&mut self, r: R, bad: Label) {
        self.one_of(r, &[TUPLE], bad)
    }
    fn element_at(&mut self, index: Arg, tuple: Arg, bad: Label) -> EmitResult {
        let r = self.src(tuple, RDX)?;
        self.tuple_or(r, bad);
        self.a.mov32_rm(RAX, r, -(TAG_BOXED as i32));
        if let Arg::Int(n @ 1..=0xFF_FFFF) = index {
            self.a.alu32_ri(Alu::Cmp, RAX, header(TUPLE, n as usize) as i32);
            self.a.jcc(Cc::B, bad);
            self.a.mov_rm(RAX, r, 8 * n as i32 - TAG_BOXED as i32);
            return Ok(());
        }
        self.load(index, RCX)?;
        self.a.test8_ri(RCX, 15);
        self.a.jcc(Cc::Ne, bad);
        // Index and size as small integers; 0 and negative ones become large unsigned numbers.
        self.a.shr(RAX, 4);
        self.a.lea(RSI, RCX, -16);
        self.a.alu_rr(Alu::Cmp, RSI, RAX);
        self.a.jcc(Cc::Ae, bad);
        self.a.shr(RCX, 1);
        self.a.mov_r_idx(RAX, r, RCX, 0, -(TAG_BOXED as i32));
        Ok(())
    }
    /// A sub-binary of whole bytes, or another binary.
    fn bytes_of(&mut self, a: Arg, slow: Label) -> EmitResult {
        let r = self.src(a, RDX)?;
        let (sub, whole, over) = (self.a.label(), self.a.label(), self.a.label());
        self.boxed_kind(r, slow);
        self.a.alu32_ri(Alu::Cmp, RAX, kind_byte(HEAP_BIN));
        self.a.jcc(Cc::E, whole);
        self.a.alu32_ri(Alu::Cmp, RAX, kind_byte(SUB_BIN));
        self.a.jcc(Cc::E, sub);
        self.a.alu32_ri(Alu::Cmp, RAX, kind_byte(REFC_BIN));
        self.a.jcc(Cc::Ne, slow);
        self.a.place(whole);
        self.a.mov_rm(RAX, r, FIRST);
        self.a.shl(RAX, 4);
        self.a.jmp(over);
        self.a.place(sub);
        self.a.mov_rm(RAX, r, SUB_SIZE);
        self.a.test8_ri(RAX, 7 << 4);
        self.a.jcc(Cc::Ne, slow);
        self.a.shr(RAX, 3);
        self.a.place(over);
        Ok(())
    }

    /// `n` bytes from byte `at` on.
    fn binary_part(&mut self, a: Arg, at: Arg, n: Arg, slow: Label) -> EmitResult {
        self.room(crate::x86_64::stubs::bits::BITS_WORDS, slow);
        self.load(a, RDI)?;
        self.load(at, RSI)?;
        self.load(n, RDX)?;
        self.a.mov_rr(RAX, RSI);
        self.a.alu_rr(Alu::Or, RAX, RDX);
        self.a.test8_ri(RAX, 15);
        self.a.jcc(Cc::Ne, slow);
        // A negative length counts backwards.
        self.a.test_rr(RAX, RAX);
        self.a.jcc(Cc::S, slow);
        self.a.call_abs(self.stubs.binary_part);
        none_to(&mut self.a, slow);
        Ok(())
    }

    fn negated(&mut self, a: Arg, slow: Label) -> EmitResult {
        let r = self.src(a, RDX)?;
        let over = self.a.label();
        self.a.mov_ri(RAX, am::false_.word());
        self.cmp_word(r, am::true_.word());
        self.a.jcc(Cc::E, over);
        self.a.alu_rr(Alu::Cmp, r, RAX);
        self.a.jcc(Cc::Ne, slow);
        self.a.mov_ri(RAX, am::true_.word());
        self.a.place(over);
        Ok(())
    }
    /// `b` if `a` is `neutral`, else `a`; both must be booleans.
    fn both(&mut self, a: Arg, b: Arg, neutral: Atom, slow: Label) -> EmitResult {
        let other = if neutral == am::true_ { am::false_ } else { am::true_ };
        let s = self.src(b, RSI)?;
        let (fine, over) = (self.a.label(), self.a.label());
        self.cmp_word(s, neutral.word());
        self.a.jcc(Cc::E, fine);
        self.cmp_word(s, other.word());
        self.a.jcc(Cc::Ne, slow);
        self.a.place(fine);
        let r = self.src(a, RDX)?;
        self.a.mov_rr(RAX, s);
        self.cmp_word(r, neutral.word());
        self.a.jcc(Cc::E, over);
        self.cmp_word(r, other.word());
        self.a.jcc(Cc::Ne, slow);
        self.a.mov_rr(RAX, r);
        self.a.place(over);
        Ok(())
    }

    /// Divides small integers; divisors 0 and -1 go to `slow`.
    fn divide(&mut self, a: Arg, b: Arg, rem: bool, slow: Label) -> EmitResult {
        let s = self.src(b, RSI)?;
        self.load(a, RAX)?;
        self.a.mov32_rr(RCX, RAX);
        self.a.alu32_rr(Alu::Or, RCX, s);
        self.a.test8_ri(RCX, 15);
        self.a.jcc(Cc::Ne, slow);
        if !matches!(b, Arg::Int(n) if n > 0) {
            // 0 and -1 are the words that are unsigned below 1 after 1 is added.
            self.a.lea(RCX, s, 16);
            self.a.alu_ri(Alu::Cmp, RCX, 16);
            self.a.jcc(Cc::Be, slow);
        }
        // Both are scaled by 16: gives the quotient, and the remainder times 16.
        self.a.cqo();
        self.a.idiv(s);
        match rem {
            true => self.a.mov_rr(RAX, RDX),
            false => self.a.shl(RAX, 4),
        }
        Ok(())
    }
    fn divide_by_power(&mut self, a: Arg, n: i64, rem: bool, slow: Label) -> EmitResult {
        let mask = ((n - 1) << 4) as i32;
        self.load(a, RAX)?;
        self.a.test8_ri(RAX, 15);
        self.a.jcc(Cc::Ne, slow);
        // Rounds towards 0: the divisor less one is added to negative dividends.
        self.a.mov_rr(RDX, RAX);
        self.a.sar(RDX, 63);
        self.a.alu_ri(Alu::And, RDX, mask);
        self.a.alu_rr(Alu::Add, RAX, RDX);
        match rem {
            true => {
                self.a.alu_ri(Alu::And, RAX, mask);
                self.a.alu_rr(Alu::Sub, RAX, RDX);
            }
            false => {
                self.a.sar(RAX, n.trailing_zeros() as u8);
                self.a.alu_ri(Alu::And, RAX, !15);
            }
        }
        Ok(())
    }
    fn shift_left(&mut self, a: Arg, n: u8, slow: Label) -> EmitResult {
        self.load(a, RDX)?;
        self.a.test8_ri(RDX, 15);
        self.a.jcc(Cc::Ne, slow);
        self.a.mov_rr(RAX, RDX);
        self.a.shl(RAX, n);
        self.a.mov_rr(RCX, RAX);
        self.a.sar(RCX, n);
        self.a.alu_rr(Alu::Cmp, RCX, RDX);
        self.a.jcc(Cc::Ne, slow);
        Ok(())
    }
    /// Shifts by a register that holds 0 to 63, the processor's range. Other counts, which include
    /// negative ones in the unsigned comparison, are left to the function.
    fn shift_by(&mut self, a: Arg, b: Arg, left: bool, slow: Label) -> EmitResult {
        self.load(a, RDX)?;
        self.load(b, RCX)?;
        self.a.mov32_rr(RAX, RDX);
        self.a.alu32_rr(Alu::Or, RAX, RCX);
        self.a.test8_ri(RAX, 15);
        self.a.jcc(Cc::Ne, slow);
        self.a.alu_ri(Alu::Cmp, RCX, 63 << 4);
        self.a.jcc(Cc::A, slow);
        self.a.shr(RCX, 4);
        self.a.mov_rr(RAX, RDX);
        if !left {
            self.a.sar_cl(RAX);
            self.a.alu_ri(Alu::And, RAX, !15);
            return Ok(());
        }
        self.a.shl_cl(RAX);
        self.a.mov_rr(RSI, RAX);
        self.a.sar_cl(RSI);
        self.a.alu_rr(Alu::Cmp, RSI, RDX);
        self.a.jcc(Cc::Ne, slow);
        Ok(())
    }
}
