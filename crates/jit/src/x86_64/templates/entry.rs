//! Function entries.

use std::sync::atomic::AtomicUsize;

use kvik_code::NifCell;

use crate::compiler::{Compiler, EmitResult};
use crate::x86_64::asm::*;
use crate::x86_64::breakpoint::CALL_LENGTH;
use crate::x86_64::REDS;

impl Compiler<'_> {
    /// Places the entry and counts a reduction. The last one ends the time slice; the next time slice
    /// continues behind it.
    pub fn enter_function(&mut self, l: Label) {
        // The call that a breakpoint jumps to (see `breakpoint.rs`); the address behind it is the
        // entry.
        self.a.align_before(16, CALL_LENGTH);
        self.a.call_abs(self.stubs.break_call);
        self.a.place(l);
        let (out, on) = (self.a.label(), self.a.label());
        self.a.dec(REDS);
        self.a.jcc(Cc::Le, out);
        self.a.place(on);
        let live = self.arity as u64;
        self.later(move |c| {
            c.a.place(out);
            c.yield_to(on, live);
            Ok(())
        });
    }

    /// Ends the time slice, to continue at a label where `live` x registers are live.
    pub fn yield_to(&mut self, l: Label, live: u64) {
        self.a.lea_label(RAX, l);
        self.a.mov_ri(RCX, live);
        self.a.jmp_abs(self.stubs.yield_);
    }

    /// Jumps to the NIF's entry once there is one.
    pub fn nif_start(&mut self) -> EmitResult {
        let entry = Box::new(AtomicUsize::new(0));
        let address = entry.as_ptr() as u64;
        self.a.mov_word(RAX, CodeWord { value: address, kind: WordKind::NifEntry });
        self.a.mov_rm(RAX, RAX, 0);
        self.a.test_rr(RAX, RAX);
        let native = self.a.label();
        self.a.jcc(Cc::Ne, native);
        self.later(move |c| {
            c.a.place(native);
            c.a.jmp_m(RAX, 0);
            Ok(())
        });
        self.nifs.push(NifCell { function: self.function, arity: self.arity, entry });
        Ok(())
    }
}
