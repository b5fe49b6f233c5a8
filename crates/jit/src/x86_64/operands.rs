//! Common to all templates: operands in registers and memory, runtime calls, frames and
//! continuations.

use std::sync::atomic::AtomicUsize;

use kvik_beam::Arg;
use kvik_heap::alloc::STACK_SLACK;
use kvik_heap::Regs;
use kvik_term::word;
use kvik_term::{Export, FunEntry};

use super::asm::*;
use super::stubs::align_continuation;
use super::{HTOP, REDS, REGS, STACK, XREGS};
use crate::compiler::{Compiler, EmitResult};
use crate::{rt, LoadError};

impl<'m> Compiler<'m> {
    fn x_offset(n: u16) -> i32 {
        (Regs::X + 8 * n as usize) as i32
    }
    /// Puts an operand's word into a register.
    pub fn load(&mut self, arg: Arg, r: R) -> EmitResult {
        match arg {
            Arg::X(n, _) => match XREGS.get(n as usize) {
                Some(x) => self.a.mov_rr(r, *x),
                None => self.a.mov_rm(r, REGS, Self::x_offset(n)),
            },
            Arg::Y(n, _) => self.a.mov_rm(r, STACK, 8 * n as i32),
            _ => {
                let w = self.constant(arg).ok_or_else(|| self.refuse("operand"))?;
                self.a.mov_word(r, CodeWord::constant(w))
            }
        }
        Ok(())
    }
    /// The register an operand is in, or `scratch` after loading it there.
    pub fn src(&mut self, arg: Arg, scratch: R) -> Result<R, LoadError> {
        if let Arg::X(n, _) = arg {
            if let Some(x) = XREGS.get(n as usize) {
                return Ok(*x);
            }
        }
        self.load(arg, scratch)?;
        Ok(scratch)
    }
    pub fn store(&mut self, dst: Arg, r: R) -> EmitResult {
        match dst {
            Arg::X(n, _) => match XREGS.get(n as usize) {
                Some(x) => self.a.mov_rr(*x, r),
                None => self.a.mov_mr(REGS, Self::x_offset(n), r),
            },
            Arg::Y(n, _) => self.a.mov_mr(STACK, 8 * n as i32, r),
            _ => return Err(self.refuse("destination")),
        }
        Ok(())
    }
    /// The machine register of a destination, or `scratch`, to be stored afterwards.
    pub fn dst(&self, dst: Arg, scratch: R) -> R {
        match dst {
            Arg::X(n, _) => XREGS.get(n as usize).copied().unwrap_or(scratch),
            _ => scratch,
        }
    }
    /// `dst := src`
    pub fn copy(&mut self, src: Arg, dst: Arg) -> EmitResult {
        let into = self.dst(dst, RAX);
        let from = if into == RAX { self.src(src, RAX)? } else { into };
        if from == into {
            self.load(src, into)?;
        }
        if into == RAX {
            self.store(dst, from)?;
        }
        Ok(())
    }
    /// Compares a register with an operand's word.
    pub fn cmp_arg(&mut self, r: R, arg: Arg) -> EmitResult {
        match self.constant(arg) {
            Some(w) => self.cmp_word(r, CodeWord::constant(w)),
            None => {
                let s = self.src(arg, RCX)?;
                self.a.alu_rr(Alu::Cmp, r, s)
            }
        }
        Ok(())
    }
    pub fn cmp_word(&mut self, r: R, w: impl Into<CodeWord>) {
        let w = w.into();
        match i32::try_from(w.value as i64) {
            Ok(_) if w.kind == WordKind::Atom => self.a.cmp_r_atom(r, w),
            Ok(i) if w.is_fixed() => self.a.alu_ri(Alu::Cmp, r, i),
            _ => {
                self.a.mov_word(RCX, w);
                self.a.alu_rr(Alu::Cmp, r, RCX)
            }
        }
    }

    /// A runtime call with operands; its result is in `rax`. All registers but the scratch ones
    /// (`rax rcx rdx rsi rdi`) are preserved.
    pub fn call_rt(&mut self, f: rt::Fun, args: &[Arg], extra: impl Into<CodeWord>) -> EmitResult {
        let bytes = (args.len() + args.len() % 2) as i32 * 8;
        if bytes > 0 {
            self.a.alu_ri(Alu::Sub, RSP, bytes);
            for (i, arg) in args.iter().enumerate() {
                let r = self.src(*arg, RAX)?;
                self.a.mov_mr(RSP, 8 * i as i32, r);
            }
        }
        self.a.mov_word(RCX, extra);
        self.rt(f);
        if bytes > 0 {
            self.a.alu_ri(Alu::Add, RSP, bytes);
        }
        Ok(())
    }
    /// A runtime call with one word in `rcx`.
    pub fn rt(&mut self, f: rt::Fun) {
        self.a.mov_word(RAX, CodeWord::runtime(f as usize));
        self.a.call_abs(self.stubs.runtime);
    }
    /// Raises the recorded exception at this location.
    pub fn raise_here(&mut self) {
        self.a.call_abs(self.stubs.raise);
        self.place();
    }
    /// A runtime call that records an exception, which is then raised.
    pub fn raise_by(&mut self, f: rt::Fun, args: &[Arg], extra: impl Into<CodeWord>) -> EmitResult {
        self.call_rt(f, args, extra)?;
        self.raise_here();
        Ok(())
    }
    /// Jumps to the failure label, or raises, if `rax` holds no term.
    pub fn none_fails(&mut self, fail: Option<Label>) {
        self.a.alu_ri(Alu::Cmp, RAX, word::NONE as i32);
        match fail {
            Some(l) => self.a.jcc(Cc::E, l),
            None => {
                let l = self.a.label();
                self.a.jcc(Cc::E, l);
                self.later(move |c| {
                    c.a.place(l);
                    c.raise_here();
                    Ok(())
                });
            }
        }
    }

    /// Ensures free heap and stack words; `live` x registers hold terms.
    pub fn need(&mut self, words: usize, live: u64) {
        if words == 0 {
            return;
        }
        let (slow, back) = (self.a.label(), self.a.label());
        self.a.lea(RAX, HTOP, ((words + STACK_SLACK) * 8) as i32);
        self.a.alu_rr(Alu::Cmp, RAX, STACK);
        self.a.jcc(Cc::A, slow);
        self.a.place(back);
        let held = self.held_floats;
        self.later(move |c| {
            c.a.place(slow);
            c.a.mov_ri(RCX, (words as u64) << 16 | live);
            c.rt(rt::stop::collect);
            let too_large = c.a.label();
            c.a.alu_ri(Alu::Cmp, RAX, word::NONE as i32);
            c.a.jcc(Cc::E, too_large);
            c.fetch_floats(held);
            c.a.jmp(back);
            c.a.place(too_large);
            c.raise_here();
            Ok(())
        });
    }
    /// Pushes a call's return address; place the label with `come_back`.
    pub fn push_continuation(&mut self) -> Label {
        let l = self.a.label();
        self.push_known(l);
        l
    }
    pub fn push_known(&mut self, l: Label) {
        self.a.lea_label(RCX, l);
        self.a.lea(STACK, STACK, -8);
        self.a.mov_mr(STACK, 0, RCX);
    }
    pub fn come_back(&mut self, l: Label) {
        align_continuation(&mut self.a);
        self.a.place(l);
        self.place();
    }
    /// Emits a trap: the verifier proved that control cannot arrive, or some code relies on that.
    pub fn trap(&mut self) {
        self.a.call_abs(self.stubs.trap);
        self.place();
    }
    pub fn pop_frame(&mut self, words: u64) {
        if words > 0 {
            self.a.alu_ri(Alu::Add, STACK, 8 * words as i32);
        }
    }
    /// Returns, which costs a reduction; the last one ends the time slice first.
    pub fn return_(&mut self) {
        self.a.dec(REDS);
        self.a.jcc_abs(Cc::L, self.stubs.late_return);
        self.a.mov_rm(RCX, STACK, 0);
        self.a.alu_ri(Alu::Add, STACK, 8);
        self.a.jmp_r(RCX);
    }
    /// Jumps through an export's cell; stubs behind it find the export in `rax`.
    pub fn jump_export(&mut self, e: &'static Export) {
        self.a.mov_word(RAX, e);
        self.a.jmp_m(RAX, std::mem::offset_of!(Export, code) as i32);
    }

    /// Branches to `fail` unless the word in `r` is boxed; then `eax` holds the low byte of its
    /// header.
    pub fn boxed_kind(&mut self, r: R, fail: Label) {
        self.a.lea(RAX, r, -(word::TAG_BOXED as i32));
        self.a.test8_ri(RAX, 3);
        self.a.jcc(Cc::Ne, fail);
        self.a.movzx8_rm(RAX, r, -(word::TAG_BOXED as i32));
    }
}

/// The header byte that identifies an object's kind.
pub const fn kind_byte(subtag: u64) -> i32 {
    (subtag << 4 | word::TAG_HEADER) as i32
}

/// Fun entries are reached through their first word, the code.
pub const FUN_CODE: i32 = std::mem::offset_of!(FunEntry, code) as i32;
const _: () = assert!(FUN_CODE == 0 && size_of::<AtomicUsize>() == 8);
