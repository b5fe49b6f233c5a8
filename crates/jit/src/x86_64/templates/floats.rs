//! Float registers.

use kvik_beam::{Arg, Op, Opcode};
use kvik_heap::Regs;
use kvik_term::word::{header, FLOAT, TAG_BOXED};

use crate::compiler::{Compiler, EmitResult};
use crate::rt;
use crate::x86_64::asm::*;
use crate::x86_64::operands::kind_byte;
use crate::x86_64::{HTOP, REGS};

fn f_offset(n: u16) -> i32 {
    (Regs::F + 8 * n as usize) as i32
}

impl<'m> Compiler<'m> {
    pub fn floats(&mut self, op: &Op) -> EmitResult {
        match (op.opcode, self.args(op)) {
            (Opcode::Fmove, [Arg::Float(n), d]) => {
                self.a.mov_rm(RCX, REGS, f_offset(*n));
                if let Arg::Float(m) = d {
                    self.a.mov_mr(REGS, f_offset(*m), RCX);
                    return Ok(());
                }
                self.a.mov_mi(HTOP, 0, header(FLOAT, 1) as i32);
                self.a.mov_mr(HTOP, 8, RCX);
                let into = self.dst(*d, RAX);
                self.a.lea(into, HTOP, TAG_BOXED as i32);
                self.a.alu_ri(Alu::Add, HTOP, 16);
                self.store(*d, into)
            }
            (Opcode::Fmove, [s, Arg::Float(n)]) => {
                let r = self.src(*s, RDX)?;
                if self.proof.checked_needed(self.at) {
                    let bad = self.a.label();
                    self.boxed_kind(r, bad);
                    self.a.alu32_ri(Alu::Cmp, RAX, kind_byte(FLOAT));
                    self.a.jcc(Cc::Ne, bad);
                    self.impossible(bad);
                }
                self.a.mov_rm(RAX, r, 8 - TAG_BOXED as i32);
                self.a.mov_mr(REGS, f_offset(*n), RAX);
                Ok(())
            }
            (Opcode::Fconv, [s, Arg::Float(n)]) => self.convert(*s, *n),
            (Opcode::Fnegate, [_, Arg::Float(a), Arg::Float(d)]) => {
                if kvik_release::current().distinguishes_zeros() {
                    self.a.mov_rm(RAX, REGS, f_offset(*a));
                    self.a.mov_ri(RCX, 1 << 63);
                    self.a.alu_rr(Alu::Xor, RAX, RCX);
                    self.a.mov_mr(REGS, f_offset(*d), RAX);
                    return Ok(());
                }
                // Like OTP before 27, subtracts, which gives no negative zero.
                self.a.mov_ri(RAX, 0);
                self.a.movq_xr(0, RAX);
                self.a.movsd_load(1, REGS, f_offset(*a));
                self.a.sd(0x5C, 0, 1);
                self.a.movsd_store(REGS, f_offset(*d), 0);
                Ok(())
            }
            (o, [j, Arg::Float(a), Arg::Float(b), Arg::Float(d)]) => {
                let sse = match o {
                    Opcode::Fadd => 0x58,
                    Opcode::Fsub => 0x5C,
                    Opcode::Fmul => 0x59,
                    _ => 0x5E,
                };
                let fail = self.fail(*j)?;
                self.operate(sse, *a, *b, *d, fail)
            }
            _ => Err(self.refuse("float instruction")),
        }
    }

    fn convert(&mut self, s: Arg, n: u16) -> EmitResult {
        let (slow, back) = (self.a.label(), self.a.label());
        let r = self.src(s, RDX)?;
        self.a.mov_rr(RAX, r);
        self.a.test8_ri(RAX, 15);
        self.a.jcc(Cc::Ne, slow);
        self.a.sar(RAX, 4);
        self.a.cvtsi2sd(0, RAX);
        self.a.movsd_store(REGS, f_offset(n), 0);
        self.a.place(back);
        self.later(move |c| {
            c.a.place(slow);
            c.call_rt(rt::compare::to_float, &[s], n as u64)?;
            c.none_fails(None);
            c.a.jmp(back);
            Ok(())
        });
        Ok(())
    }

    fn operate(&mut self, sse: u8, a: u16, b: u16, d: u16, fail: Option<Label>) -> EmitResult {
        self.a.movsd_load(0, REGS, f_offset(a));
        self.a.movsd_load(1, REGS, f_offset(b));
        self.a.sd(sse, 0, 1);
        self.a.movsd_store(REGS, f_offset(d), 0);
        // An exponent of all ones: NaN or infinity.
        self.a.movq_rx(RAX, 0);
        self.a.shl(RAX, 1);
        self.a.shr(RAX, 53);
        self.a.alu32_ri(Alu::Cmp, RAX, 0x7FF);
        let bad = match fail {
            Some(l) => l,
            None => {
                let bad = self.a.label();
                self.later(move |c| {
                    c.a.place(bad);
                    c.raise_by(rt::raise::badarith, &[], 0)
                });
                bad
            }
        };
        self.a.jcc(Cc::E, bad);
        Ok(())
    }
}
