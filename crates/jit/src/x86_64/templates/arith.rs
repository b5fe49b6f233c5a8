//! Guard BIFs: frequent ones are inlined for small integers, the rest call their function.

use kvik_beam::{Arg, Op, Opcode};
use kvik_proc::Proc;
use kvik_term::word::{fits_small, TAG_PID};
use kvik_term::{am, Atom, Export};

use crate::compiler::{Compiler, EmitResult};
use crate::rt;
use crate::x86_64::asm::*;
use crate::x86_64::templates::guards::Guard;
use crate::x86_64::P;

impl<'m> Compiler<'m> {
    pub fn guard_bif(&mut self, op: &Op) -> EmitResult {
        let (fail, live, import, operands, dst) = match (op.opcode, self.args(op)) {
            (Opcode::Bif0, [m, d]) => (Arg::Label(0), None, *m, vec![], *d),
            (Opcode::Bif1 | Opcode::Bif2 | Opcode::Bif3, [j, m, s @ .., d]) => {
                (*j, None, *m, s.to_vec(), *d)
            }
            (_, [j, Arg::U(live), m, s @ .., d]) => (*j, Some(*live), *m, s.to_vec(), *d),
            _ => return Err(self.refuse("guard BIF")),
        };
        let Arg::U(i) = import else { return Err(self.refuse("import")) };
        let e = *self.imports.get(i as usize).ok_or_else(|| self.refuse("import"))?;
        let fail = self.fail(fail)?;
        if self.proof.clear_target(self.at) {
            self.copy(Arg::Nil, dst)?;
        }
        // Like OTP, adds 0 (visible for -0.0); since OTP 26 only for the unary operator.
        let subtracts = !kvik_release::current().has_increments();
        let (e, operands) = match (e.module == am::erlang, e.function, &operands[..]) {
            (true, am::op_minus, [..]) if subtracts => (e, operands),
            (true, am::op_plus, [a])
            | (true, am::op_minus, [a @ (Arg::X(..) | Arg::Y(..)), Arg::Int(0)]) => {
                (kvik_code::export(am::erlang, am::op_plus, 2), vec![*a, Arg::Int(0)])
            }
            _ => (e, operands),
        };
        if e.module == am::erlang {
            if operands.is_empty() && e.function == am::self_ {
                self.a.mov32_rm(RAX, P, Proc::PID as i32);
                self.a.shl(RAX, 4);
                self.a.alu_ri(Alu::Or, RAX, TAG_PID as i32);
                return self.store(dst, RAX);
            }
            if self.native_guard(Guard { e, fail, args: &operands, dst, live })? {
                return Ok(());
            }
            if let [a, b] = operands[..] {
                match e.function {
                    am::map_get => return self.map_get(e, fail, a, b, dst),
                    am::is_map_key => return self.is_map_key(e, fail, a, b, dst),
                    _ => {}
                }
                if self.binary_operation(e, fail, a, b, dst)? {
                    return Ok(());
                }
            }
        }
        self.by_function(e, fail, &operands, dst)
    }

    pub(super) fn by_function(
        &mut self,
        e: &'static Export,
        fail: Option<Label>,
        args: &[Arg],
        dst: Arg,
    ) -> EmitResult {
        let fails_to = if fail.is_some() { rt::call::FAILS_TO_LABEL } else { 0 };
        let no_line = if leaves_no_line(e, args) { rt::call::NO_LINE } else { 0 };
        let extra = CodeWord::from(e).with_flags(fails_to | no_line);
        let operator =
            rt::arith::operator(e.function).filter(|_| e.module == am::erlang && args.len() == 2);
        self.call_rt(operator.unwrap_or(rt::call::guard_bif), args, extra)?;
        self.none_fails(fail);
        self.store(dst, RAX)
    }

    /// Arithmetic on small integers. Operands or results that don't fit go to the function.
    fn binary_operation(
        &mut self,
        e: &'static Export,
        fail: Option<Label>,
        a: Arg,
        b: Arg,
        dst: Arg,
    ) -> Result<bool, crate::LoadError> {
        const OPS: [Atom; 7] =
            [am::op_plus, am::op_minus, am::op_times, am::band, am::bor, am::bxor, am::bsr];
        if !OPS.contains(&e.function) {
            return Ok(false);
        }
        if e.function == am::bsr && !matches!(b, Arg::Int(0..=59)) {
            return Ok(false);
        }
        let (slow, back) = (self.a.label(), self.a.label());
        let r = self.src(a, RDX)?;
        let s = self.src(b, RSI)?;
        self.a.mov32_rr(RAX, r);
        self.a.alu32_rr(Alu::Or, RAX, s);
        self.a.test8_ri(RAX, 15);
        self.a.jcc(Cc::Ne, slow);
        self.a.mov_rr(RAX, r);
        let overflow = match e.function {
            am::op_plus => self.alu(Alu::Add, s, true),
            am::op_minus => self.alu(Alu::Sub, s, true),
            am::band => self.alu(Alu::And, s, false),
            am::bor => self.alu(Alu::Or, s, false),
            am::bxor => self.alu(Alu::Xor, s, false),
            am::bsr => {
                let n = if let Arg::Int(n) = b { n as u8 } else { 0 };
                self.a.sar(RAX, n);
                self.a.alu_ri(Alu::And, RAX, !15);
                false
            }
            _ => {
                self.a.sar(RAX, 4);
                self.a.imul_rr(RAX, s);
                true
            }
        };
        if overflow {
            self.a.jcc(Cc::O, slow);
        }
        self.store(dst, RAX)?;
        self.a.place(back);
        self.later(move |c| {
            c.a.place(slow);
            c.by_function(e, fail, &[a, b], dst)?;
            c.a.jmp(back);
            Ok(())
        });
        Ok(true)
    }

    fn alu(&mut self, op: Alu, s: R, overflow: bool) -> bool {
        self.a.alu_rr(op, RAX, s);
        overflow
    }
}

/// Whether OTP's loader, before OTP 26, made an increment of this: a register and a small integer.
/// A failing increment adds no line of `erlang` to the trace.
fn leaves_no_line(e: &Export, args: &[Arg]) -> bool {
    let register = |a: &Arg| matches!(a, Arg::X(..) | Arg::Y(..));
    let small = |a: &Arg| matches!(a, Arg::Int(i) if fits_small(*i));
    // A subtraction is an increment only if the constant is not negative.
    let negated = |a: &Arg| matches!(a, Arg::Int(i) if fits_small(*i) && *i >= 0);
    kvik_release::current().has_increments()
        && e.module == am::erlang
        && match (e.function, args) {
            (am::op_plus, [a, b]) => register(a) && small(b) || small(a) && register(b),
            (am::op_minus, [a, b]) => register(a) && negated(b),
            _ => false,
        }
}
