//! Raising and catching. An exception arrives with x0 = NONE, x1 = class, x2 = reason, x3 = raw
//! stack trace.

use kvik_beam::{Arg, Op, Opcode};
use kvik_term::am;
use kvik_term::word::{NIL, NONE, TAG_CATCH};

use crate::compiler::{Compiler, EmitResult};
use crate::rt::raise;
use crate::x86_64::asm::*;
use crate::x86_64::XREGS;

impl<'m> Compiler<'m> {
    pub fn exceptions(&mut self, op: &Op) -> EmitResult {
        let tagged = |tag: kvik_term::Atom| tag.index() as u64;
        match (op.opcode, self.args(op)) {
            (Opcode::Badmatch, [s]) => self.raise_by(raise::tagged, &[*s], tagged(am::badmatch)),
            (Opcode::CaseEnd, [s]) => self.raise_by(raise::tagged, &[*s], tagged(am::case_clause)),
            (Opcode::TryCaseEnd, [s]) => {
                self.raise_by(raise::tagged, &[*s], tagged(am::try_clause))
            }
            (Opcode::Badrecord, [s]) => self.raise_by(raise::tagged, &[*s], tagged(am::badrecord)),
            (Opcode::IfEnd, _) => self.raise_by(raise::tagged, &[], tagged(am::if_clause)),
            (Opcode::Catch | Opcode::Try, [y, Arg::Label(l)]) => {
                let l = self.label(*l)?;
                self.a.lea_label(RAX, l);
                self.a.shl(RAX, 16);
                self.a.alu_ri(Alu::Or, RAX, TAG_CATCH as i32);
                self.store(*y, RAX)
            }
            (Opcode::TryEnd, [y]) => self.forget(*y),
            (Opcode::TryCase, [y]) => {
                self.forget(*y)?;
                for i in 0..3 {
                    self.a.mov_rr(XREGS[i], XREGS[i + 1]);
                }
                Ok(())
            }
            (Opcode::CatchEnd, [y]) => {
                self.forget(*y)?;
                let (caught, back) = (self.a.label(), self.a.label());
                self.a.alu_ri(Alu::Cmp, XREGS[0], NONE as i32);
                self.a.jcc(Cc::E, caught);
                self.a.place(back);
                self.later(move |c| {
                    c.a.place(caught);
                    c.call_rt(raise::catch_end, &[], 0)?;
                    c.a.mov_rr(XREGS[0], RAX);
                    c.a.jmp(back);
                    Ok(())
                });
                Ok(())
            }
            (Opcode::Raise, [trace, reason]) => self.raise_by(raise::again, &[*trace, *reason], 0),
            (Opcode::BuildStacktrace, _) => {
                self.call_rt(raise::build_stacktrace, &[Arg::X(0, 0)], 0)?;
                self.a.mov_rr(XREGS[0], RAX);
                Ok(())
            }
            (Opcode::RawRaise, _) => {
                let x = |n| Arg::X(n, 0);
                self.call_rt(raise::raw_raise, &[x(0), x(1), x(2)], 0)?;
                self.none_fails(None);
                self.a.mov_rr(XREGS[0], RAX);
                Ok(())
            }
            _ => Err(self.refuse("exception instruction")),
        }
    }

    fn forget(&mut self, y: Arg) -> EmitResult {
        self.a.mov_ri(RAX, NIL);
        self.store(y, RAX)
    }
}
