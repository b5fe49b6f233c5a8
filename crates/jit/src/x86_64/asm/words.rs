//! Words that may differ from VM to VM.

use super::{Alu, Asm, CodeWord, WordKind, R};

/// Where a word that differs from VM to VM stands in the code: of an atom its low four bytes, the
/// rest being zero; eight bytes of another.
#[derive(Copy, Clone, Debug)]
pub struct WordAt {
    pub at: u32,
    pub kind: WordKind,
}

impl Asm {
    /// A word that is not [`CodeWord::is_fixed`] is encoded in the same length in every VM: an atom in
    /// four bytes, another in eight.
    pub fn mov_word(&mut self, d: R, w: impl Into<CodeWord>) {
        let w = w.into();
        if w.is_fixed() {
            return self.mov_ri(d, w.value);
        }
        if w.kind == WordKind::Atom {
            self.rex(false, R(0), 0, d);
            self.b(0xB8 | d.0 & 7);
            self.word_here(w.kind);
            return self.d32(w.value as u32 as i32);
        }
        self.rex(true, R(0), 0, d);
        self.b(0xB8 | d.0 & 7);
        self.word_here(w.kind);
        self.d64(w.value)
    }
    fn word_here(&mut self, kind: WordKind) {
        let at = self.pos();
        self.words.push(WordAt { at, kind });
    }
    /// Writes an atom to memory.
    pub fn mov_m_atom(&mut self, base: R, disp: i32, atom: CodeWord) {
        self.mov_mi(base, disp, atom.value as i32);
        self.short_before(atom)
    }
    /// Compares with an atom.
    pub fn cmp_r_atom(&mut self, r: R, atom: CodeWord) {
        self.alu_ri(Alu::Cmp, r, atom.value as i32);
        self.short_before(atom)
    }
    /// The four bytes before here are an atom. One that is not fixed has a number too large for the
    /// encoding in one byte.
    fn short_before(&mut self, atom: CodeWord) {
        if !atom.is_fixed() {
            let at = self.pos() - 4;
            self.words.push(WordAt { at, kind: WordKind::Atom });
        }
    }
}
