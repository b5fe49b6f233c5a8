//! Frames, moves, lists and tuples.

use kvik_beam::{Arg, Op, Opcode, MAX_TUPLE};
use kvik_term::am;
use kvik_term::word::{header, NIL, TAG_BOXED, TAG_LIST, TUPLE};

use crate::checked::POISON;
use crate::compiler::{Compiler, EmitResult};
use crate::x86_64::asm::*;
use crate::x86_64::operands::kind_byte;
use crate::x86_64::{HTOP, STACK};

impl<'m> Compiler<'m> {
    pub fn data(&mut self, op: &Op) -> EmitResult {
        match (op.opcode, self.args(op)) {
            (Opcode::Allocate, [Arg::U(k), Arg::U(v)]) => self.frame(*k, 0, *v, false),
            (Opcode::AllocateZero, [Arg::U(k), Arg::U(v)]) => self.frame(*k, 0, *v, true),
            (Opcode::AllocateHeap, [Arg::U(k), h, Arg::U(v)]) => {
                self.frame(*k, self.heap_words(*h), *v, false)
            }
            (Opcode::AllocateHeapZero, [Arg::U(k), h, Arg::U(v)]) => {
                self.frame(*k, self.heap_words(*h), *v, true)
            }
            (Opcode::TestHeap, [h, Arg::U(v)]) => {
                self.need(self.heap_words(*h), *v);
                Ok(())
            }
            (Opcode::Init, [y]) => self.clear(&[*y]),
            (Opcode::InitYregs, _) => self.clear(self.list(op)),
            (Opcode::Deallocate, [Arg::U(k)]) => {
                self.pop_frame(*k);
                Ok(())
            }
            (Opcode::Trim, [Arg::U(k), _]) => {
                self.pop_frame(*k);
                Ok(())
            }
            (Opcode::Move, [s, d]) => self.copy(*s, *d),
            (Opcode::Swap, [a, b]) => {
                self.load(*a, RAX)?;
                let r = self.src(*b, RCX)?;
                self.store(*a, r)?;
                self.store(*b, RAX)
            }
            (Opcode::GetList, [s, h, t]) => {
                let r = self.cell(*s)?;
                self.a.mov_rm(RDX, r, -(TAG_LIST as i32));
                self.a.mov_rm(RSI, r, 8 - TAG_LIST as i32);
                self.store(*h, RDX)?;
                self.store(*t, RSI)
            }
            (Opcode::GetHd, [s, d]) => self.part(*s, *d, 0),
            (Opcode::GetTl, [s, d]) => self.part(*s, *d, 8),
            (Opcode::GetTupleElement, [_, Arg::U(MAX_TUPLE..), _])
            | (Opcode::SetTupleElement, [_, _, Arg::U(MAX_TUPLE..)]) => {
                self.trap();
                Ok(())
            }
            (Opcode::GetTupleElement, [s, Arg::U(n), d]) => self.element(*s, *n, *d),
            (Opcode::SetTupleElement, [v, t, Arg::U(n)]) => {
                let r = self.tuple_of(*t, *n)?;
                let s = self.src(*v, RDX)?;
                self.a.mov_mr(r, 8 * (*n as i32 + 1) - TAG_BOXED as i32, s);
                Ok(())
            }
            (Opcode::PutList, [h, t, d]) => {
                let r = self.src(*h, RAX)?;
                self.a.mov_mr(HTOP, 0, r);
                let r = self.src(*t, RAX)?;
                self.a.mov_mr(HTOP, 8, r);
                let into = self.dst(*d, RAX);
                self.a.lea(into, HTOP, TAG_LIST as i32);
                self.a.alu_ri(Alu::Add, HTOP, 16);
                self.store(*d, into)
            }
            (Opcode::PutTuple2, [d, ..]) => self.tuple(*d, self.list(op)),
            (Opcode::UpdateRecord, [hint, Arg::U(n), s, d, _]) => {
                let reuse = self.constant(*hint) == Some(am::reuse.word());
                self.update_record(*s, *n as usize, *d, self.list(op), reuse)
            }
            _ => Err(self.refuse("data instruction")),
        }
    }

    fn frame(&mut self, words: u64, heap: usize, live: u64, clear: bool) -> EmitResult {
        // A call's continuation is pushed into the slack.
        self.need((words as usize + heap).max(1), live);
        if words > 0 {
            self.a.alu_ri(Alu::Sub, STACK, 8 * words as i32);
        }
        let filler = match clear || self.proof.fill_frame(self.at) {
            true => Some(NIL),
            // The verifier proved that they are not read before they are written.
            false => Some(POISON).filter(|_| self.checked),
        };
        for (i, word) in (0..words).zip(filler.into_iter().cycle()) {
            self.a.mov_mi(STACK, 8 * i as i32, word as i32);
        }
        Ok(())
    }

    fn clear(&mut self, registers: &[Arg]) -> EmitResult {
        for y in registers {
            if let Arg::Y(n, _) = y {
                self.a.mov_mi(STACK, 8 * *n as i32, NIL as i32);
            }
        }
        Ok(())
    }

    /// A register with a list cell, tested unless proved.
    fn cell(&mut self, s: Arg) -> Result<R, crate::LoadError> {
        let r = self.src(s, RDI)?;
        if self.proof.checked_needed(self.at) {
            let bad = self.a.label();
            self.a.mov32_rr(RAX, r);
            self.a.alu32_ri(Alu::And, RAX, 3);
            self.a.alu32_ri(Alu::Cmp, RAX, TAG_LIST as i32);
            self.a.jcc(Cc::Ne, bad);
            self.impossible(bad);
        }
        Ok(r)
    }
    fn part(&mut self, s: Arg, d: Arg, offset: i32) -> EmitResult {
        let r = self.cell(s)?;
        let into = self.dst(d, RAX);
        self.a.mov_rm(into, r, offset - TAG_LIST as i32);
        self.store(d, into)
    }
    /// A register with a tuple that has an element of that index (below `MAX_TUPLE`), tested unless
    /// proved.
    fn tuple_of(&mut self, s: Arg, n: u64) -> Result<R, crate::LoadError> {
        let r = self.src(s, RDI)?;
        if self.proof.checked_needed(self.at) {
            let bad = self.a.label();
            self.boxed_kind(r, bad);
            self.a.alu32_ri(Alu::Cmp, RAX, kind_byte(TUPLE));
            self.a.jcc(Cc::Ne, bad);
            self.a.mov_rm(RAX, r, -(TAG_BOXED as i32));
            self.cmp_word(RAX, header(TUPLE, n as usize + 1));
            self.a.jcc(Cc::B, bad);
            self.impossible(bad);
        }
        Ok(r)
    }
    fn element(&mut self, s: Arg, n: u64, d: Arg) -> EmitResult {
        let r = self.tuple_of(s, n)?;
        let into = self.dst(d, RAX);
        self.a.mov_rm(into, r, 8 * (n as i32 + 1) - TAG_BOXED as i32);
        self.store(d, into)
    }
    /// Handles a violated type assumption: no compiler makes such code.
    pub(super) fn impossible(&mut self, bad: Label) {
        self.later(move |c| {
            c.a.place(bad);
            c.trap();
            Ok(())
        });
    }

    fn tuple(&mut self, d: Arg, elements: &[Arg]) -> EmitResult {
        self.a.mov_mi(HTOP, 0, header(TUPLE, elements.len()) as i32);
        for (i, e) in elements.iter().enumerate() {
            self.put_word(8 * (i as i32 + 1), *e)?;
        }
        let into = self.dst(d, RAX);
        self.a.lea(into, HTOP, TAG_BOXED as i32);
        self.a.alu_ri(Alu::Add, HTOP, 8 * (elements.len() as i32 + 1));
        self.store(d, into)
    }

    /// Writes an operand's word at byte offset `at` above the heap's top.
    pub(super) fn put_word(&mut self, at: i32, e: Arg) -> EmitResult {
        match self.constant(e).map(CodeWord::constant) {
            Some(w) if w.kind == WordKind::Atom => self.a.mov_m_atom(HTOP, at, w),
            Some(w) if w.is_fixed() && i32::try_from(w.value as i64).is_ok() => {
                self.a.mov_mi(HTOP, at, w.value as i32)
            }
            _ => {
                let r = self.src(e, RAX)?;
                self.a.mov_mr(HTOP, at, r)
            }
        }
        Ok(())
    }
}

/// Runs of words longer than this are copied by a loop.
const UNROLLED: usize = 16;

impl<'m> Compiler<'m> {
    /// Copies a tuple with some elements replaced. If the compiler expects it, a tuple that already
    /// has the one new value is returned as it is. The tuple is never updated in place, which OTP
    /// does where it may: the difference is not observable.
    fn update_record(
        &mut self,
        s: Arg,
        n: usize,
        d: Arg,
        updates: &[Arg],
        reuse: bool,
    ) -> EmitResult {
        let done = self.a.label();
        let r = self.src(s, RDI)?;
        if self.proof.checked_needed(self.at) {
            self.surely_tuple_of(r, n);
        }
        let field = |at: usize| 8 * at as i32 - TAG_BOXED as i32;
        if let (true, [Arg::U(at), value]) = (reuse, updates) {
            let same = self.a.label();
            self.a.mov_rm(RAX, r, field(*at as usize));
            self.cmp_arg(RAX, *value)?;
            self.a.jcc(Cc::E, same);
            self.later(move |c| {
                c.a.place(same);
                c.copy(s, d)?;
                c.a.jmp(done);
                Ok(())
            });
        }
        let mut copied = 0;
        for pair in updates.chunks_exact(2) {
            let &[Arg::U(at), value] = pair else { return Err(self.refuse("update_record")) };
            let at = at as usize;
            self.copy_words(r, copied, at - copied);
            self.put_word(8 * at as i32, value)?;
            copied = at + 1;
        }
        self.copy_words(r, copied, n + 1 - copied);
        let into = self.dst(d, RAX);
        self.a.lea(into, HTOP, TAG_BOXED as i32);
        self.a.alu_ri(Alu::Add, HTOP, 8 * (n as i32 + 1));
        self.store(d, into)?;
        self.a.place(done);
        Ok(())
    }

    /// Traps unless the register holds a tuple of that many elements.
    fn surely_tuple_of(&mut self, r: R, n: usize) {
        let bad = self.a.label();
        self.boxed_kind(r, bad);
        self.a.mov_rm(RAX, r, -(TAG_BOXED as i32));
        self.a.alu_ri(Alu::Cmp, RAX, header(TUPLE, n) as i32);
        self.a.jcc(Cc::Ne, bad);
        self.impossible(bad);
    }

    /// Copies words of a boxed object to the same index above the heap's top.
    fn copy_words(&mut self, r: R, from: usize, count: usize) {
        let start = 8 * from as i32;
        if count <= UNROLLED {
            for at in (0..count).map(|i| start + 8 * i as i32) {
                self.a.mov_rm(RAX, r, at - TAG_BOXED as i32);
                self.a.mov_mr(HTOP, at, RAX);
            }
            return;
        }
        let again = self.a.label();
        self.a.lea(RSI, r, start - TAG_BOXED as i32);
        self.a.lea(RDX, HTOP, start);
        self.a.mov_ri(RCX, count as u64);
        self.a.place(again);
        self.a.mov_rm(RAX, RSI, 0);
        self.a.mov_mr(RDX, 0, RAX);
        self.a.alu_ri(Alu::Add, RSI, 8);
        self.a.alu_ri(Alu::Add, RDX, 8);
        self.a.dec(RCX);
        self.a.jcc(Cc::Ne, again);
    }
}
