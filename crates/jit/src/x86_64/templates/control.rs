//! Jumps, comparisons, selection by value.

use kvik_beam::{Arg, Op, Opcode, MAX_TUPLE};
use kvik_term::word::{header, is_immediate, TAG_BOXED, TUPLE};
use kvik_term::CodeAddress;

use crate::compiler::{AtomChoice, AtomSearch, Compiler, EmitResult};
use crate::x86_64::asm::*;
use crate::x86_64::operands::kind_byte;

/// So many words are compared one after the other.
const FEW: usize = 5;

impl<'m> Compiler<'m> {
    pub fn control(&mut self, op: &Op) -> EmitResult {
        match (op.opcode, self.args(op)) {
            (Opcode::Jump, [Arg::Label(l)]) => {
                let l = self.label(*l)?;
                self.a.jmp(l);
                Ok(())
            }
            (Opcode::SelectVal, [s, Arg::Label(f), ..]) => self.select(*s, *f, self.list(op)),
            (Opcode::SelectTupleArity, [s, Arg::Label(f), ..]) => {
                self.select_arity(*s, *f, self.list(op))
            }
            (o, [Arg::Label(f), a, b]) => {
                let fail = self.label(*f)?;
                match o {
                    Opcode::IsEqExact => self.equal_exact(fail, *a, *b, true),
                    Opcode::IsNeExact => self.equal_exact(fail, *a, *b, false),
                    Opcode::IsLt => self.ordered(fail, *a, *b, Cc::L),
                    Opcode::IsGe => self.ordered(fail, *a, *b, Cc::Ge),
                    Opcode::IsEq => self.ordered(fail, *a, *b, Cc::E),
                    _ => self.ordered(fail, *a, *b, Cc::Ne),
                }
            }
            _ => Err(self.refuse("control instruction")),
        }
    }

    /// Jumps to `fail` unless `a =:= b` is `wanted`.
    pub(super) fn equal_exact(&mut self, fail: Label, a: Arg, b: Arg, wanted: bool) -> EmitResult {
        let (a, b) = if self.is_constant(a) { (b, a) } else { (a, b) };
        let r = self.src(a, RDX)?;
        self.cmp_arg(r, b)?;
        if self.constant(b).is_some_and(is_immediate) {
            self.a.jcc(if wanted { Cc::Ne } else { Cc::E }, fail);
            return Ok(());
        }
        let (ok, deep) = (self.a.label(), self.a.label());
        let (same, differ) = if wanted { (ok, fail) } else { (fail, ok) };
        self.a.jcc(Cc::E, same);
        // Two pointers of one kind may still be equal.
        let s = self.src(b, RCX)?;
        self.a.mov32_rr(RAX, r);
        self.a.alu32_rr(Alu::Xor, RAX, s);
        self.a.test8_ri(RAX, 3);
        self.a.jcc(Cc::Ne, differ);
        self.a.lea(RAX, r, 1);
        self.a.test8_ri(RAX, 2);
        self.a.jcc(Cc::Ne, deep);
        self.a.jmp(differ);
        self.later(move |c| {
            c.a.place(deep);
            c.ask_of_two(c.stubs.equal, a, b)?;
            c.a.jcc(Cc::Ne, same);
            c.a.jmp(differ);
            Ok(())
        });
        self.a.place(ok);
        Ok(())
    }

    /// Jumps to `fail` unless `a` and `b` compare as `cc` says.
    pub(super) fn ordered(&mut self, fail: Label, a: Arg, b: Arg, cc: Cc) -> EmitResult {
        let (slow, back) = (self.a.label(), self.a.label());
        let r = self.src(a, RDX)?;
        let s = self.src(b, RSI)?;
        self.a.mov32_rr(RAX, r);
        self.a.alu32_rr(Alu::Or, RAX, s);
        self.a.test8_ri(RAX, 15);
        self.a.jcc(Cc::Ne, slow);
        self.a.alu_rr(Alu::Cmp, r, s);
        self.a.jcc(cc.inverse(), fail);
        self.a.place(back);
        self.later(move |c| {
            c.a.place(slow);
            c.ask_of_two(c.stubs.compare, a, b)?;
            c.a.jcc(cc.inverse(), fail);
            c.a.jmp(back);
            Ok(())
        });
        Ok(())
    }

    /// Calls a stub of `stubs::terms` and tests the result.
    fn ask_of_two(&mut self, stub: CodeAddress, a: Arg, b: Arg) -> EmitResult {
        self.load(a, RDX)?;
        self.load(b, RSI)?;
        self.a.call_abs(stub);
        self.a.test_rr(RAX, RAX);
        Ok(())
    }

    fn select(&mut self, s: Arg, fail: u32, list: &[Arg]) -> EmitResult {
        let fail = self.label(fail)?;
        let mut words = Vec::new();
        let mut deep = Vec::new();
        for pair in list.chunks_exact(2) {
            let Arg::Label(l) = pair[1] else { return Err(self.refuse("select")) };
            let to = self.label(l)?;
            match self.constant(pair[0]) {
                Some(w) if is_immediate(w) => words.push((CodeWord::constant(w), to)),
                _ => deep.push((pair[0], to)),
            }
        }
        if words.len() > FEW {
            words.sort_by_key(|p| p.0.value);
        }
        let r = self.src(s, RDX)?;
        if deep.is_empty() {
            self.search(r, &words, fail);
            return Ok(());
        }
        let next = self.a.label();
        self.search(r, &words, next);
        self.a.place(next);
        for (value, to) in deep {
            self.ask_of_two(self.stubs.equal, s, value)?;
            self.a.jcc(Cc::Ne, to);
        }
        self.a.jmp(fail);
        Ok(())
    }

    /// Selects a jump target by a word: linear comparisons for a few, else a binary search.
    fn search(&mut self, r: R, words: &[(CodeWord, Label)], otherwise: Label) {
        let mut found = AtomSearch::default();
        self.search_part(r, words, otherwise, &mut found);
        // The order of other words is the same in every VM.
        let atoms = words.iter().filter(|p| p.0.kind == WordKind::Atom).count();
        match words.len() <= FEW || atoms == 0 {
            true => {}
            false if atoms == words.len() => self.atom_searches.push(found),
            false => self.is_private = true,
        }
    }
    fn search_part(
        &mut self,
        r: R,
        words: &[(CodeWord, Label)],
        otherwise: Label,
        found: &mut AtomSearch,
    ) {
        if words.len() <= FEW {
            for (w, to) in words {
                self.cmp_word(r, *w);
                let compared = self.a.pos() - 4;
                let branch = self.a.jcc_far(Cc::E, *to);
                found.choices.push(AtomChoice { atom: w.value, to: *to, compared, branch });
            }
            self.a.jmp(otherwise);
            return;
        }
        let (low, high) = words.split_at(words.len() / 2);
        let upper = self.a.label();
        self.cmp_word(r, high[0].0);
        found.splits.push((found.choices.len() + low.len(), self.a.pos() - 4));
        self.a.jcc(Cc::Ae, upper);
        self.search_part(r, low, otherwise, found);
        self.a.place(upper);
        self.search_part(r, high, otherwise, found);
    }

    fn select_arity(&mut self, s: Arg, fail: u32, list: &[Arg]) -> EmitResult {
        let fail = self.label(fail)?;
        let r = self.src(s, RDX)?;
        if self.proof.checked_needed(self.at) {
            self.boxed_kind(r, fail);
            self.a.alu32_ri(Alu::Cmp, RAX, kind_byte(TUPLE));
            self.a.jcc(Cc::Ne, fail);
        }
        self.a.mov_rm(RSI, r, -(TAG_BOXED as i32));
        let mut words: Vec<(CodeWord, Label)> = Vec::new();
        for pair in list.chunks_exact(2) {
            let [Arg::U(n), Arg::Label(l)] = *pair else { return Err(self.refuse("select")) };
            // The code may name a size that no tuple has.
            if n <= MAX_TUPLE {
                words.push((header(TUPLE, n as usize).into(), self.label(l)?));
            }
        }
        words.sort_by_key(|p| p.0.value);
        self.search(RSI, &words, fail);
        Ok(())
    }
}
