//! Sending and receiving.

use kvik_beam::{Arg, Op, Opcode};

use crate::asm::*;
use crate::compiler::{Compiler, Done};
use crate::rt::receive;
use crate::stubs::XREGS;

impl<'m> Compiler<'m> {
    pub(super) fn receive(&mut self, op: &Op) -> Done {
        let wait = self.stubs.wait;
        match (op.opcode, self.args(op)) {
            (Opcode::Send, _) => {
                self.call_rt(receive::send, &[Arg::X(0, 0), Arg::X(1, 0)], 0)?;
                self.none_fails(None);
                self.a.mov_rr(XREGS[0], RAX);
                Ok(())
            }
            (Opcode::LoopRec, [Arg::Label(f), d]) => {
                let f = self.label(*f)?;
                self.call_rt(receive::peek, &[], 0)?;
                self.none_fails(Some(f));
                self.store(*d, RAX)
            }
            (Opcode::LoopRecEnd, [Arg::Label(f)]) => {
                let f = self.label(*f)?;
                self.call_rt(receive::next, &[], 0)?;
                self.a.jmp(f);
                Ok(())
            }
            (Opcode::RemoveMessage, _) => self.call_rt(receive::remove, &[], 0),
            (Opcode::Timeout, _) => self.call_rt(receive::timeout, &[], 0),
            (Opcode::Wait, [Arg::Label(f)]) => {
                let f = self.label(*f)?;
                self.a.lea_label(RAX, f);
                self.a.jmp_abs(wait);
                Ok(())
            }
            (Opcode::WaitTimeout, [Arg::Label(f), t]) => self.wait_timeout(*f, *t, wait),
            (Opcode::RecvMarkerReserve, [d]) => {
                self.call_rt(receive::marker_reserve, &[], 0)?;
                self.store(*d, RAX)
            }
            (Opcode::RecvMarkerBind, [m, r]) => self.call_rt(receive::marker_bind, &[*m, *r], 0),
            (Opcode::RecvMarkerClear, [r]) => self.call_rt(receive::marker_clear, &[*r], 0),
            (Opcode::RecvMarkerUse, [r]) => self.call_rt(receive::marker_use, &[*r], 0),
            // What compilers before OTP 24 made of markers is a hint that need not be taken.
            (Opcode::RecvMark | Opcode::RecvSet, _) => Ok(()),
            _ => Err(self.refuse("receive instruction")),
        }
    }

    /// A process that is woken goes on at `f`, where it looks for messages and then comes here
    /// again, or here itself where the receive has no clauses. The time counts from the first call.
    fn wait_timeout(&mut self, f: u32, t: Arg, wait: usize) -> Done {
        let f = self.label(f)?;
        let over = self.a.label();
        self.call_rt(receive::wait_timeout, &[t], 0)?;
        self.none_fails(None);
        self.a.alu_ri(Alu::Cmp, RAX, receive::TIMED_OUT as i32);
        self.a.jcc(Cc::E, over);
        // The wait is noted already: bit 48 says so.
        self.a.mov_ri(RAX, 1 << 48);
        self.a.lea_label(RCX, f);
        self.a.alu_rr(Alu::Or, RAX, RCX);
        self.a.jmp_abs(wait);
        self.a.place(over);
        Ok(())
    }
}
