//! Float registers. Their values are in `Regs.f`; those of the first are held in machine registers as
//! well, as long as nothing but instructions of [`keeps_floats`] follow each other.

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

/// The machine register that holds a float register: `xmm2` to `xmm15`.
fn machine_register(n: u16) -> Option<u8> {
    (n < 14).then_some(n as u8 + 2)
}
/// Registers for values that are not held.
const SCRATCH: [u8; 2] = [0, 1];

/// Whether machine registers hold the same floats after an instruction as before: on its common path
/// it changes none but those of its operands, and behind a call it fetches all that are held.
pub fn keeps_floats(o: Opcode) -> bool {
    use Opcode::*;
    matches!(
        o,
        Fmove
            | Fconv
            | Fadd
            | Fsub
            | Fmul
            | Fdiv
            | Fnegate
            | Fclearerror
            | Fcheckerror
            | Line
            | Move
            | TestHeap
    )
}

impl<'m> Compiler<'m> {
    pub fn floats(&mut self, op: &Op) -> EmitResult {
        match (op.opcode, self.args(op)) {
            (Opcode::Fmove, [Arg::Float(n), Arg::Float(m)]) => {
                let x = self.float(*n, SCRATCH[0]);
                self.set_float(*m, x);
                Ok(())
            }
            (Opcode::Fmove, [Arg::Float(n), d]) => {
                let x = self.float(*n, SCRATCH[0]);
                self.a.mov_mi(HTOP, 0, header(FLOAT, 1) as i32);
                self.a.movsd_store(HTOP, 8, x);
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
                let x = machine_register(*n).unwrap_or(SCRATCH[0]);
                self.a.movsd_load(x, r, 8 - TAG_BOXED as i32);
                self.set_float(*n, x);
                Ok(())
            }
            (Opcode::Fconv, [s, Arg::Float(n)]) => self.convert(*s, *n),
            (Opcode::Fnegate, [_, Arg::Float(a), Arg::Float(d)]) => {
                let x = self.float(*a, SCRATCH[1]);
                if kvik_release::current().distinguishes_zeros() {
                    self.a.movq_rx(RAX, x);
                    self.a.mov_ri(RCX, 1 << 63);
                    self.a.alu_rr(Alu::Xor, RAX, RCX);
                    self.a.movq_xr(SCRATCH[0], RAX);
                } else {
                    // Like OTP before 27, subtracts, which gives no negative zero.
                    self.a.mov_ri(RAX, 0);
                    self.a.movq_xr(SCRATCH[0], RAX);
                    self.a.sd(0x5C, SCRATCH[0], x);
                }
                self.set_float(*d, SCRATCH[0]);
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

    /// The machine register that has a float register's value: its own, or `scratch`.
    fn float(&mut self, n: u16, scratch: u8) -> u8 {
        let x = machine_register(n).unwrap_or(scratch);
        if x == scratch || self.held_floats & 1 << n == 0 {
            self.a.movsd_load(x, REGS, f_offset(n));
        }
        self.hold_float(n);
        x
    }
    /// Sets a float register to what `x` has.
    fn set_float(&mut self, n: u16, x: u8) {
        self.a.movsd_store(REGS, f_offset(n), x);
        match machine_register(n) {
            Some(own) if own != x => self.a.movaps(own, x),
            _ => {}
        }
        self.hold_float(n);
    }
    fn hold_float(&mut self, n: u16) {
        if machine_register(n).is_some() {
            self.held_floats |= 1 << n;
        }
    }
    /// After a call: the float registers of a set, from memory.
    pub fn fetch_floats(&mut self, held: u16) {
        for n in (0..u16::BITS as u16).filter(|n| held & 1 << n != 0) {
            if let Some(x) = machine_register(n) {
                self.a.movsd_load(x, REGS, f_offset(n));
            }
        }
    }

    fn convert(&mut self, s: Arg, n: u16) -> EmitResult {
        let (slow, back) = (self.a.label(), self.a.label());
        let r = self.src(s, RDX)?;
        self.a.mov_rr(RAX, r);
        self.a.test8_ri(RAX, 15);
        self.a.jcc(Cc::Ne, slow);
        self.a.sar(RAX, 4);
        let x = machine_register(n).unwrap_or(SCRATCH[0]);
        self.a.cvtsi2sd(x, RAX);
        self.set_float(n, x);
        self.a.place(back);
        let held = self.held_floats;
        self.later(move |c| {
            c.a.place(slow);
            c.call_rt(rt::compare::to_float, &[s], n as u64)?;
            c.none_fails(None);
            c.fetch_floats(held);
            c.a.jmp(back);
            Ok(())
        });
        Ok(())
    }

    fn operate(&mut self, sse: u8, a: u16, b: u16, d: u16, fail: Option<Label>) -> EmitResult {
        let (x, y) = (self.float(a, SCRATCH[0]), self.float(b, SCRATCH[1]));
        // The result goes to where it belongs, unless the second operand is still there.
        let result = machine_register(d).filter(|r| *r != y || x == y).unwrap_or(SCRATCH[0]);
        if result != x {
            self.a.movaps(result, x);
        }
        self.a.sd(sse, result, y);
        self.set_float(d, result);
        // An exponent of all ones: NaN or infinity.
        self.a.movq_rx(RAX, result);
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
