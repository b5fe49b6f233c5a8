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

    /// The process goes on here, whatever woke it, and asks again.
    fn wait_timeout(&mut self, f: u32, t: Arg, wait: usize) -> Done {
        // A receive without clauses waits here itself: messages don't end it.
        let alone = self.code.label(f).is_some_and(|first| {
            let between = self.code.ops.get(first..self.at).unwrap_or_default();
            between.iter().all(|op| matches!(op.opcode, Opcode::Label | Opcode::Line))
        });
        let f = self.label(f)?;
        let again = self.a.here();
        let over = self.a.label();
        self.call_rt(receive::wait_timeout, &[t], alone as u64)?;
        self.none_fails(None);
        self.a.alu_ri(Alu::Cmp, RAX, receive::MESSAGES as i32);
        self.a.jcc(Cc::E, f);
        self.a.alu_ri(Alu::Cmp, RAX, receive::TIMED_OUT as i32);
        self.a.jcc(Cc::E, over);
        self.a.lea_label(RAX, again);
        self.a.jmp_abs(wait);
        self.a.place(over);
        Ok(())
    }
}
