//! Type tests.

use kvik_beam::{Arg, Op, Opcode};
use kvik_term::am;
use kvik_term::word::*;

use crate::compiler::{Compiler, EmitResult};
use crate::rt;
use crate::x86_64::asm::*;
use crate::x86_64::operands::kind_byte;

impl<'m> Compiler<'m> {
    pub fn type_test(&mut self, op: &Op) -> EmitResult {
        let &[Arg::Label(f), s, ref rest @ ..] = self.args(op) else {
            return Err(self.refuse("type test"));
        };
        let fail = self.label(f)?;
        self.test_type(op.opcode, fail, s, rest)
    }

    /// Jumps to `fail` unless the term passes the instruction's test.
    pub(super) fn test_type(
        &mut self,
        test: Opcode,
        fail: Label,
        s: Arg,
        rest: &[Arg],
    ) -> EmitResult {
        match (test, rest) {
            (Opcode::IsFunction2, [arity]) => {
                return self.ask(fail, rt::compare::is_function, &[s, *arity])
            }
            (Opcode::IsReference, _) => return self.ask(fail, rt::compare::is_reference, &[s]),
            _ => {}
        }
        let r = self.src(s, RDX)?;
        match (test, rest) {
            (Opcode::IsBinary, _) => self.whole_bytes(r, fail),
            (Opcode::IsNil, _) => {
                self.a.alu_ri(Alu::Cmp, r, NIL as i32);
                self.a.jcc(Cc::Ne, fail)
            }
            (Opcode::IsNonemptyList, _) => self.low_bits(r, 3, TAG_LIST, fail),
            (Opcode::IsList, _) => {
                let ok = self.a.label();
                self.a.alu_ri(Alu::Cmp, r, NIL as i32);
                self.a.jcc(Cc::E, ok);
                self.low_bits(r, 3, TAG_LIST, fail);
                self.a.place(ok)
            }
            (Opcode::IsAtom, _) => self.low_bits(r, 15, TAG_ATOM, fail),
            (Opcode::IsBoolean, _) => {
                let ok = self.a.label();
                self.cmp_word(r, am::true_.word());
                self.a.jcc(Cc::E, ok);
                self.cmp_word(r, am::false_.word());
                self.a.jcc(Cc::Ne, fail);
                self.a.place(ok)
            }
            (Opcode::IsInteger, _) => self.small_or(r, &[BIG_POS, BIG_NEG], fail),
            (Opcode::IsNumber, _) => self.small_or(r, &[BIG_POS, BIG_NEG, FLOAT], fail),
            (Opcode::IsPid, _) => self.local_or_external(s, r, TAG_PID, 0, fail)?,
            (Opcode::IsPort, _) => self.local_or_external(s, r, TAG_PORT, 1, fail)?,
            (Opcode::IsFloat, _) => self.one_of(r, &[FLOAT], fail),
            (Opcode::IsTuple, _) => self.one_of(r, &[TUPLE], fail),
            (Opcode::IsBitstr, _) => {
                self.one_of(r, &[REFC_BIN, HEAP_BIN, SUB_BIN, MATCH_CTX], fail)
            }
            (Opcode::IsFunction, _) => self.one_of(r, &[FUN, EXPORT], fail),
            (Opcode::IsAnyNativeRecord, _) => self.one_of(r, &[RECORD], fail),
            (Opcode::IsNativeRecord, &[module, name]) => {
                self.is_record_of(r, [module, name], fail)?
            }
            (Opcode::IsMap, _) => self.one_of(r, &[FLAT_MAP, HAMT], fail),
            (Opcode::TestArity, [Arg::U(n)]) => {
                if self.proof.checked_needed(self.at) {
                    self.low_bits(r, 3, TAG_BOXED, fail);
                }
                self.arity_is(r, *n, fail)
            }
            // No tuple has a tag but no elements.
            (Opcode::IsTaggedTuple, [Arg::U(0), _]) => self.a.jmp(fail),
            (Opcode::IsTaggedTuple, [Arg::U(n), tag]) => {
                self.low_bits(r, 3, TAG_BOXED, fail);
                self.arity_is(r, *n, fail);
                let w = self.constant(*tag).ok_or_else(|| self.refuse("tag"))?;
                self.a.mov_rm(RAX, r, 8 - TAG_BOXED as i32);
                self.cmp_word(RAX, CodeWord::constant(w));
                self.a.jcc(Cc::Ne, fail)
            }
            _ => return Err(self.refuse("type test")),
        }
        Ok(())
    }

    pub(super) fn low_bits(&mut self, r: R, mask: i32, tag: u64, fail: Label) {
        self.a.mov32_rr(RAX, r);
        self.a.alu32_ri(Alu::And, RAX, mask);
        self.a.alu32_ri(Alu::Cmp, RAX, tag as i32);
        self.a.jcc(Cc::Ne, fail);
    }
    fn arity_is(&mut self, r: R, n: u64, fail: Label) {
        // The code may name a record size larger than any tuple.
        let wanted = header(TUPLE, n.min(u64::from(u32::MAX)) as usize);
        match i32::try_from(wanted) {
            Ok(wanted) => self.a.alu_mi(Alu::Cmp, r, -(TAG_BOXED as i32), wanted),
            Err(_) => {
                self.a.mov_ri(RAX, wanted);
                self.a.alu_mr(Alu::Cmp, r, -(TAG_BOXED as i32), RAX);
            }
        }
        self.a.jcc(Cc::Ne, fail);
    }
    /// Tests that the term is boxed and of one of these kinds.
    pub(super) fn one_of(&mut self, r: R, kinds: &[u64], fail: Label) {
        let ok = self.a.label();
        self.boxed_kind(r, fail);
        for (i, k) in kinds.iter().enumerate() {
            self.a.alu32_ri(Alu::Cmp, RAX, kind_byte(*k));
            if i + 1 == kinds.len() {
                self.a.jcc(Cc::Ne, fail);
            } else {
                self.a.jcc(Cc::E, ok);
            }
        }
        self.a.place(ok);
    }
    /// Tests for a whole number of bytes: only sub-binaries may end within a byte.
    fn whole_bytes(&mut self, r: R, fail: Label) {
        let ok = self.a.label();
        self.boxed_kind(r, fail);
        self.a.alu32_ri(Alu::Cmp, RAX, kind_byte(HEAP_BIN));
        self.a.jcc(Cc::E, ok);
        self.a.alu32_ri(Alu::Cmp, RAX, kind_byte(REFC_BIN));
        self.a.jcc(Cc::E, ok);
        self.a.alu32_ri(Alu::Cmp, RAX, kind_byte(SUB_BIN));
        self.a.jcc(Cc::Ne, fail);
        self.a.mov32_rm(RAX, r, 24 - TAG_BOXED as i32);
        self.a.test8_ri(RAX, 7 << 4);
        self.a.jcc(Cc::Ne, fail);
        self.a.place(ok);
    }
    fn small_or(&mut self, r: R, kinds: &[u64], fail: Label) {
        let ok = self.a.label();
        self.a.mov32_rr(RAX, r);
        self.a.test8_ri(RAX, 15);
        self.a.jcc(Cc::E, ok);
        self.one_of(r, kinds, fail);
        self.a.place(ok);
    }
    fn local_or_external(&mut self, s: Arg, r: R, tag: u64, kind: u64, fail: Label) -> EmitResult {
        let (ok, other) = (self.a.label(), self.a.label());
        self.low_bits(r, 15, tag, other);
        self.a.place(ok);
        self.later(move |c| {
            c.a.place(other);
            c.boxed_kind(r, fail);
            c.a.alu32_ri(Alu::Cmp, RAX, kind_byte(EXT));
            c.a.jcc(Cc::Ne, fail);
            c.call_rt(rt::compare::is_external, &[s], kind)?;
            c.a.test_rr(RAX, RAX);
            c.a.jcc(Cc::Ne, ok);
            c.a.jmp(fail);
            Ok(())
        });
        Ok(())
    }
    fn ask(&mut self, fail: Label, f: rt::Fun, args: &[Arg]) -> EmitResult {
        self.call_rt(f, args, 0)?;
        self.a.test_rr(RAX, RAX);
        self.a.jcc(Cc::E, fail);
        Ok(())
    }
}
