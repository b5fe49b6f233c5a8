//! Calls, returns, funs.

use std::mem::offset_of;

use kvik_beam::{Arg, Op, Opcode};
use kvik_term::word::{small, FUN, NONE, TAG_ATOM, TAG_BOXED};
use kvik_term::CodeAddress;
use kvik_term::{am, Export};

use crate::compiler::{Compiler, EmitResult};
use crate::rt;
use crate::x86_64::asm::*;
use crate::x86_64::operands::{kind_byte, FUN_CODE};
use crate::x86_64::stubs::terms::NO_ROOM;
use crate::x86_64::{REGS, XREGS};
use kvik_heap::Regs;

impl<'m> Compiler<'m> {
    pub fn calls(&mut self, op: &Op) -> EmitResult {
        // A tail call that never returns is made as a call: the frame size that it names may be
        // wrong.
        let trap = self.proof.trap_after(self.at);
        match (op.opcode, self.args(op)) {
            (Opcode::Call, [_, Arg::Label(l)]) => self.local(*l, None),
            (Opcode::CallLast, [_, Arg::Label(l), Arg::U(_)]) if trap => self.local(*l, None),
            (Opcode::CallLast, [_, Arg::Label(l), Arg::U(k)]) => self.local(*l, Some(*k)),
            (Opcode::CallOnly, [_, Arg::Label(l)]) => self.local(*l, Some(0)),
            (Opcode::CallExt, [_, Arg::U(i)]) => self.remote(*i, None),
            (Opcode::CallExtLast, [_, Arg::U(i), Arg::U(_)]) if trap => self.remote(*i, None),
            (Opcode::CallExtLast, [_, Arg::U(i), Arg::U(k)]) => self.remote(*i, Some(*k)),
            (Opcode::CallExtOnly, [_, Arg::U(i)]) => self.remote(*i, Some(0)),
            (Opcode::Apply, [Arg::U(n)]) => self.apply(*n, None),
            (Opcode::ApplyLast, [Arg::U(n), Arg::U(k)]) => self.apply(*n, Some(*k)),
            (Opcode::CallFun, [Arg::U(n)]) => {
                self.call_fun(*n, Arg::X(*n as u16, 0), self.frame_to_drop(trap))
            }
            (Opcode::CallFun2, [_, Arg::U(n), f]) => {
                self.call_fun(*n, *f, self.frame_to_drop(trap))
            }
            (Opcode::MakeFun2, [Arg::U(i)]) => {
                let free = self.lambdas.get(*i as usize).map_or(0, |e| e.num_free);
                let env: Vec<Arg> = (0..free).map(|i| Arg::X(i as u16, 0)).collect();
                self.make_fun(*i, Arg::X(0, 0), &env)
            }
            (Opcode::MakeFun3, [Arg::U(i), dst, ..]) => {
                let env = self.list(op);
                self.make_fun(*i, *dst, env)
            }
            (Opcode::Return, _) => {
                self.return_();
                Ok(())
            }
            _ => Err(self.refuse("call")),
        }
    }

    /// `frame`: for a tail call, the frame words to drop.
    fn local(&mut self, l: u32, frame: Option<u64>) -> EmitResult {
        let to = self.label(l)?;
        match frame {
            Some(k) => {
                self.pop_frame(k);
                self.a.jmp(to);
            }
            None => {
                let back = self.push_continuation();
                self.a.jmp(to);
                self.come_back(back);
            }
        }
        Ok(())
    }

    fn remote(&mut self, import: u64, frame: Option<u64>) -> EmitResult {
        let e = *self.imports.get(import as usize).ok_or_else(|| self.refuse("import"))?;
        if e.extra.get() == crate::APPLY {
            return self.apply_to_list(e.arity, frame);
        }
        match (e.module, e.function, e.arity) {
            (am::erlang, am::setelement, 3) => self.set_element(e, frame),
            (am::erlang, am::put, 2) => self.put_in_dictionary(e, frame),
            (am::erlang, am::hibernate, 0) if kvik_release::current().has_hibernate_0() => {
                self.hibernate(frame);
                Ok(())
            }
            _ => self.call_export(e, frame),
        }
    }
    fn call_export(&mut self, e: &'static Export, frame: Option<u64>) -> EmitResult {
        match frame {
            // A BIF in tail position keeps its caller's frame, so that a stack trace shows it.
            Some(k) if e.extra.get() > crate::APPLY => {
                let back = self.push_continuation();
                self.jump_export(e);
                self.come_back(back);
                self.pop_frame(k);
                self.return_();
            }
            Some(k) => {
                self.pop_frame(k);
                self.jump_export(e);
            }
            None => {
                let back = self.push_continuation();
                self.jump_export(e);
                self.come_back(back);
            }
        }
        Ok(())
    }

    /// `erlang:hibernate/0`, which is an instruction in OTP too: its caller keeps its frame, and
    /// calls of it are not traced.
    fn hibernate(&mut self, frame: Option<u64>) {
        let awake = self.a.label();
        self.a.lea_label(RAX, awake);
        self.a.mov_ri(RCX, 1);
        self.a.jmp_abs(self.stubs.hibernate);
        self.come_back(awake);
        self.end_tail_call(frame);
    }

    /// `setelement/3` inline, unless it would fail or is traced.
    fn set_element(&mut self, e: &'static Export, frame: Option<u64>) -> EmitResult {
        let (call, other, back) = (self.a.label(), self.a.label(), self.a.label());
        self.unless_bif(e, self.stubs.bif, call);
        self.count_call(3);
        let retry = self.a.here();
        self.a.call_abs(self.stubs.set_element);
        self.a.test_rr(RAX, RAX);
        self.a.jcc(Cc::Ne, other);
        self.a.place(back);
        self.end_tail_call(frame);
        self.later(move |c| {
            c.a.place(other);
            c.a.alu_ri(Alu::Cmp, RAX, NO_ROOM);
            c.a.jcc(Cc::Ne, call);
            // A word for each element, and the header.
            c.a.mov32_rm(RCX, XREGS[1], -(TAG_BOXED as i32));
            c.a.shr(RCX, 8);
            c.a.shl(RCX, 16);
            c.a.alu_ri(Alu::Add, RCX, (1 << 16) + 3);
            c.rt(rt::stop::collect);
            c.none_fails(None);
            c.a.jmp(retry);
            c.a.place(call);
            c.call_export(e, frame)?;
            c.a.jmp(back);
            Ok(())
        });
        Ok(())
    }

    /// `put/2` inline, unless it is traced.
    fn put_in_dictionary(&mut self, e: &'static Export, frame: Option<u64>) -> EmitResult {
        let (call, back) = (self.a.label(), self.a.label());
        self.unless_bif(e, self.stubs.uncounted_bif, call);
        self.a.mov_rr(RSI, XREGS[0]);
        self.a.mov_rr(RDX, XREGS[1]);
        self.a.call_abs(self.stubs.dictionary_put);
        self.a.mov_rr(XREGS[0], RAX);
        self.a.place(back);
        self.end_tail_call(frame);
        self.later(move |c| {
            c.a.place(call);
            c.call_export(e, frame)?;
            c.a.jmp(back);
            Ok(())
        });
        Ok(())
    }
    /// Jumps to the label unless the export leads straight to its BIF.
    fn unless_bif(&mut self, e: &'static Export, stub: CodeAddress, otherwise: Label) {
        self.a.mov_word(RAX, e);
        self.a.lea_abs(RCX, stub);
        self.a.alu_rm(Alu::Cmp, RCX, RAX, std::mem::offset_of!(Export, code) as i32);
        self.a.jcc(Cc::Ne, otherwise);
    }
    /// Returns after a stub in tail position; the result is in x0.
    fn end_tail_call(&mut self, frame: Option<u64>) {
        if let Some(k) = frame {
            self.pop_frame(k);
            self.return_();
        }
    }

    /// `erlang:apply/2,3`; a failure is raised at the call.
    fn apply_to_list(&mut self, arity: u32, frame: Option<u64>) -> EmitResult {
        let fun = arity == 2;
        self.rt(if fun { rt::call::apply_fun } else { rt::call::apply_list });
        let known = self.a.label();
        if fun && frame.is_none() {
            self.none_fails_in_call(known);
        } else {
            self.none_fails(None);
        }
        let back = match frame {
            Some(k) => {
                if !fun {
                    self.keep_caller_of_raiser(k);
                }
                self.pop_frame(k);
                None
            }
            None => {
                self.a.mov_rr(RDX, RAX);
                self.push_known(known);
                self.a.mov_rr(RAX, RDX);
                Some(known)
            }
        };
        if fun {
            self.jump_prepared();
        } else {
            self.a.jmp_m(RAX, 0);
        }
        if let Some(l) = back {
            self.come_back(l);
        }
        Ok(())
    }

    /// Raises if `rax` is `NONE`. If the call has begun (scratch word 0), the return address is
    /// pushed first, so that the trace shows it as in OTP.
    fn none_fails_in_call(&mut self, back: Label) {
        let failed = self.a.label();
        self.a.alu_ri(Alu::Cmp, RAX, NONE as i32);
        self.a.jcc(Cc::E, failed);
        self.later(move |c| {
            let before = c.a.label();
            c.a.place(failed);
            c.a.alu_mi(Alu::Cmp, REGS, Regs::SCRATCH as i32, 0);
            c.a.jcc(Cc::E, before);
            c.push_known(back);
            c.a.place(before);
            c.raise_here();
            Ok(())
        });
    }

    /// Jumps to a fun's code at `rax`, with entry and fun loaded from the scratch words.
    fn jump_prepared(&mut self) {
        self.a.mov_rr(RDX, RAX);
        self.a.mov_rm(RAX, REGS, Regs::SCRATCH as i32);
        self.a.mov_rm(RDI, REGS, Regs::SCRATCH as i32 + 8);
        self.a.jmp_r(RDX);
    }

    /// `apply` with an inline cache: calls the export cached at this site directly if it matches.
    fn apply(&mut self, arity: u64, frame: Option<u64>) -> EmitResult {
        let (m, f) = (Arg::X(arity as u16, 0), Arg::X(arity as u16 + 1, 0));
        let (slow, call) = (self.a.label(), self.a.label());
        let module = self.atoms.get(1).copied().unwrap_or(self.function);
        let (site, cell) = rt::call::apply_site(module, self.apply_sites);
        self.apply_sites += 1;
        self.a.mov_word(RAX, CodeWord { value: cell, kind: WordKind::ApplyCell });
        self.a.mov_rm(RAX, RAX, 0);
        self.a.test_rr(RAX, RAX);
        self.a.jcc(Cc::E, slow);
        self.is_atom_of(m, offset_of!(Export, module), slow)?;
        self.is_atom_of(f, offset_of!(Export, function), slow)?;
        self.a.alu32_mi(Alu::Cmp, RAX, offset_of!(Export, arity) as i32, arity as i32);
        self.a.jcc(Cc::Ne, slow);
        self.a.place(call);
        match frame {
            Some(k) => {
                self.pop_frame(k);
                self.a.jmp_m(RAX, 0);
            }
            None => {
                let back = self.push_continuation();
                self.a.jmp_m(RAX, 0);
                self.come_back(back);
            }
        }
        self.later(move |c| {
            c.a.place(slow);
            c.call_rt(rt::call::apply_fixed, &[m, f], site << 8 | arity)?;
            c.none_fails(None);
            if let Some(k) = frame {
                c.keep_caller_of_raiser(k);
            }
            c.a.jmp(call);
            Ok(())
        });
        Ok(())
    }
    /// Branches unless the term is the atom at offset `at` of the export in `rax`.
    fn is_atom_of(&mut self, t: Arg, at: usize, other: Label) -> EmitResult {
        let r = self.src(t, RDX)?;
        self.a.mov32_rm(RCX, RAX, at as i32);
        self.a.shl(RCX, 4);
        self.a.alu_ri(Alu::Or, RCX, TAG_ATOM as i32);
        self.a.alu_rr(Alu::Cmp, RCX, r);
        self.a.jcc(Cc::Ne, other);
        Ok(())
    }

    /// If the export in `rax` does nothing but raise (first scratch word), turns the tail call into
    /// a call, so that a stack trace shows its caller.
    fn keep_caller_of_raiser(&mut self, frame: u64) {
        let raiser = self.a.label();
        self.a.alu_mi(Alu::Cmp, REGS, Regs::SCRATCH as i32, 0);
        self.a.jcc(Cc::Ne, raiser);
        self.later(move |c| {
            c.a.place(raiser);
            c.a.mov_rr(RDX, RAX);
            let back = c.push_continuation();
            c.a.mov_rr(RAX, RDX);
            c.a.jmp_m(RAX, 0);
            c.come_back(back);
            // `erlang:raise/3` returns a value if its arguments are bad.
            c.pop_frame(frame);
            c.return_();
            Ok(())
        });
    }

    /// A fun call followed by `deallocate` and `return` is a tail call, for which there is no
    /// instruction. Returns the frame's words.
    fn frame_to_drop(&self, trap: bool) -> Option<u64> {
        let [drop, ret] = self.code.ops.get(self.at + 1..self.at + 3)? else { return None };
        match (drop.opcode, self.args(drop), ret.opcode) {
            (Opcode::Deallocate, [Arg::U(k)], Opcode::Return) if !trap => Some(*k),
            _ => None,
        }
    }

    /// Calls a local fun of the right arity directly; anything else through the runtime.
    fn call_fun(&mut self, arity: u64, fun: Arg, frame: Option<u64>) -> EmitResult {
        let (slow, call) = (self.a.label(), self.a.label());
        self.load(fun, RDI)?;
        self.boxed_kind(RDI, slow);
        self.a.alu32_ri(Alu::Cmp, RAX, kind_byte(FUN));
        self.a.jcc(Cc::Ne, slow);
        self.a.alu_mi(Alu::Cmp, RDI, 16 - TAG_BOXED as i32, small(arity as i64) as i32);
        self.a.jcc(Cc::Ne, slow);
        self.a.mov_rm(RAX, RDI, 8 - TAG_BOXED as i32);
        self.a.mov_rm(RDX, RAX, FUN_CODE);
        self.a.place(call);
        let back = self.a.label();
        match frame {
            Some(k) => {
                self.pop_frame(k);
                self.a.jmp_r(RDX);
            }
            None => {
                self.push_known(back);
                self.a.jmp_r(RDX);
                self.come_back(back);
            }
        }
        self.later(move |c| {
            c.a.place(slow);
            c.call_rt(rt::call::fun, &[fun], arity)?;
            match frame {
                Some(_) => c.none_fails(None),
                None => {
                    // OTP has pushed the return address by now, so a trace shows it.
                    let fine = c.a.label();
                    c.a.alu_ri(Alu::Cmp, RAX, NONE as i32);
                    c.a.jcc(Cc::Ne, fine);
                    c.push_known(back);
                    c.raise_here();
                    c.a.place(fine);
                }
            }
            c.a.mov_rr(RDX, RAX);
            c.a.mov_rm(RAX, REGS, Regs::SCRATCH as i32);
            c.a.mov_rm(RDI, REGS, Regs::SCRATCH as i32 + 8);
            c.a.jmp(call);
            Ok(())
        });
        Ok(())
    }

    fn make_fun(&mut self, lambda: u64, dst: Arg, env: &[Arg]) -> EmitResult {
        let e = *self.lambdas.get(lambda as usize).ok_or_else(|| self.refuse("fun"))?;
        if env.len() != e.num_free as usize {
            return Err(self.refuse("fun environment"));
        }
        self.call_rt(rt::call::make_fun, env, e)?;
        self.store(dst, RAX)
    }

    /// Entry of a fun, which is in `rdi`: loads the environment and jumps to the function.
    pub fn lambda_entry(&mut self, index: usize, arity: u32, free: u32, label: u32) -> EmitResult {
        self.a.align(8);
        let l = self.lambda_labels[index];
        self.a.place(l);
        for i in 0..free {
            let x = Arg::X((arity - free + i) as u16, 0);
            let r = self.dst(x, RAX);
            self.a.mov_rm(r, RDI, 8 * (4 + i as i32) - TAG_BOXED as i32);
            self.store(x, r)?;
        }
        let to = self.label(label)?;
        self.a.jmp(to);
        Ok(())
    }
}
