//! Sending and receiving.

use kvik_beam::{Arg, Op, Opcode};
use kvik_heap::{Heap, Regs};
use kvik_proc::process::flag;
use kvik_proc::receive::LOOK;
use kvik_proc::Proc;
use kvik_term::word::NONE;
use kvik_term::CodeAddress;

use crate::compiler::{Compiler, EmitResult};
use crate::rt::receive;
use crate::x86_64::asm::*;
use crate::x86_64::stubs::{load_own, save_own};
use crate::x86_64::{P, REDS, REGS, XREGS};

impl<'m> Compiler<'m> {
    /// Ends the time slice here if its reductions are used up. x0 is live.
    fn end_if_used_up(&mut self) {
        let (out, on) = (self.a.label(), self.a.label());
        self.a.alu_ri(Alu::Cmp, REDS, 0);
        self.a.jcc(Cc::Le, out);
        self.a.place(on);
        self.later(move |c| {
            c.a.place(out);
            c.yield_to(on, 1);
            Ok(())
        });
    }
    /// Counts a reduction for a call that is made here. The last one ends the time slice before.
    pub fn count_call(&mut self, live: u64) {
        let (here, last) = (self.a.label(), self.a.label());
        self.waits_here();
        self.a.place(here);
        self.a.dec(REDS);
        self.a.jcc(Cc::Le, last);
        self.later(move |c| {
            c.a.place(last);
            c.yield_to(here, live);
            Ok(())
        });
    }
    pub fn receive(&mut self, op: &Op) -> EmitResult {
        let wait = self.stubs.wait;
        match (op.opcode, self.args(op)) {
            (Opcode::Send, _) => {
                self.count_call(2);
                self.call_rt(receive::send, &[Arg::X(0, 0), Arg::X(1, 0)], 0)?;
                self.none_fails(None);
                self.a.mov_rr(XREGS[0], RAX);
                self.end_if_used_up();
                Ok(())
            }
            (Opcode::LoopRec, [Arg::Label(f), d]) => {
                let f = self.label(*f)?;
                self.loop_rec(f, *d)
            }
            (Opcode::LoopRecEnd, [Arg::Label(f)]) => self.loop_rec_end(*f),
            (Opcode::RemoveMessage, _) => self.remove_message(),
            (Opcode::Timeout, _) => self.call_rt(receive::timeout, &[], 0),
            (Opcode::Wait, [Arg::Label(f)]) => {
                let f = self.label(*f)?;
                self.waits_here();
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
            // Receive markers of compilers before OTP 24 are hints that may be ignored.
            (Opcode::RecvMark | Opcode::RecvSet, _) => Ok(()),
            _ => Err(self.refuse("receive instruction")),
        }
    }

    /// Records the location of a waiting process, unless a return address is recorded here already.
    fn waits_here(&mut self) {
        if self.places.last().is_none_or(|p| p.offset != self.a.pos()) {
            self.place();
        }
    }
    /// The next message, for which `loop_rec` need not look if it is in the mailbox. The time slice
    /// may end here, so that scanning a long mailbox is preemptible.
    fn loop_rec_end(&mut self, f: u32) -> EmitResult {
        let (start, last) = (self.label(f)?, self.a.label());
        self.a.dec(REDS);
        self.a.jcc(Cc::Le, last);
        self.call_receive(receive::advance);
        match self.messages_got.get(&f).copied() {
            Some(got) => {
                self.a.alu_ri(Alu::Cmp, RAX, NONE as i32);
                self.a.jcc(Cc::Ne, got);
                self.a.jmp(start);
            }
            None => self.a.jmp(start),
        }
        self.later(move |c| {
            c.a.place(last);
            c.call_rt(receive::next, &[], 0)?;
            c.yield_to(start, 0);
            Ok(())
        });
        Ok(())
    }
    /// Calls a function without operands where no x register is live.
    fn call_receive(&mut self, f: extern "C" fn(&Proc, &Regs) -> u64) {
        save_own(&mut self.a);
        self.a.mov_rr(RDI, P);
        self.a.mov_rr(RSI, REGS);
        self.a.mov_word(RAX, CodeWord::runtime(f as usize));
        self.a.call_r(RAX);
        load_own(&mut self.a);
    }
    /// The label that the instruction stands behind, if it does.
    fn label_before(&self) -> Option<u32> {
        let before = self.code.ops.get(self.at.checked_sub(1)?)?;
        match self.args(before) {
            [Arg::U(n)] if before.opcode == Opcode::Label => u32::try_from(*n).ok(),
            _ => None,
        }
    }
    /// The message that the sender has put on the heap, or one from the mailbox.
    fn loop_rec(&mut self, f: Label, dst: Arg) -> EmitResult {
        let (look, mailbox, got) = (self.a.label(), self.a.label(), self.a.label());
        if let Some(label) = self.label_before() {
            self.messages_got.insert(label, got);
        }
        self.waits_here();
        self.a.place(look);
        self.a.mov_rm(RAX, P, Heap::MESSAGE as i32);
        self.a.alu_ri(Alu::Cmp, RAX, NONE as i32);
        self.a.jcc(Cc::E, mailbox);
        self.a.alu_ri(Alu::Sub, REDS, LOOK as i32);
        self.a.place(got);
        self.store(dst, RAX)?;
        self.later(move |c| {
            c.a.place(mailbox);
            c.call_receive(receive::peek);
            c.none_fails(Some(f));
            c.a.alu_ri(Alu::Cmp, RAX, receive::LATER as i32);
            c.a.jcc(Cc::Ne, got);
            c.yield_to(look, 0);
            Ok(())
        });
        Ok(())
    }
    fn remove_message(&mut self) -> EmitResult {
        let (mailbox, done) = (self.a.label(), self.a.label());
        self.a.alu_mi(Alu::Cmp, P, Heap::MESSAGE as i32, NONE as i32);
        self.a.jcc(Cc::E, mailbox);
        self.a.mov_mi(P, Heap::MESSAGE as i32, NONE as i32);
        self.a.mov_mi(P, Proc::DEADLINE as i32, 0);
        self.a.alu32_mi(Alu::And, P, Proc::FLAGS as i32, !(flag::RECEIVING as i32));
        self.a.place(done);
        self.later(move |c| {
            c.a.place(mailbox);
            c.call_rt(receive::remove, &[], 0)?;
            c.a.jmp(done);
            Ok(())
        });
        Ok(())
    }

    /// A woken process continues at `f`, where it looks for messages and then comes here again; or
    /// right here if the receive has no clauses. The timeout counts from the first call.
    fn wait_timeout(&mut self, f: u32, t: Arg, wait: CodeAddress) -> EmitResult {
        let f = self.label(f)?;
        let over = self.a.label();
        self.waits_here();
        self.call_rt(receive::wait_timeout, &[t], 0)?;
        self.none_fails(None);
        self.a.alu_ri(Alu::Cmp, RAX, receive::TIMED_OUT as i32);
        self.a.jcc(Cc::E, over);
        // Bit 48 says that the wait is registered already.
        self.a.mov_ri(RAX, 1 << 48);
        self.a.lea_label(RCX, f);
        self.a.alu_rr(Alu::Or, RAX, RCX);
        self.a.jmp_abs(wait);
        self.a.place(over);
        Ok(())
    }
}
