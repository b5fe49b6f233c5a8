//! Builds a term from the outside in, as decoders need it: first a tuple of `n` elements, then the
//! elements. Each part is written to its final address, and no term is visible before it is
//! complete.

use kvik_term::word::*;
use kvik_term::Term;

use crate::Heap;

/// A term under construction. Each new part goes to the innermost open container.
pub struct TermBuilder<'h> {
    innermost: Open,
    around: Vec<Open>,
    /// The parts of containers that the caller assembles, and finally the whole term.
    parts: Vec<Term<'h>>,
}

// SAFETY: the places it points to are the heap's, as terms are; they are written to by `put` alone.
unsafe impl Send for TermBuilder<'_> {}

/// An open container that lacks so many parts.
struct Open {
    left: usize,
    kind: Kind,
}

#[derive(Copy, Clone)]
enum Kind {
    /// Address of the next part's word; the following ones are behind it.
    Words(*mut u64),
    /// The head of a list's cell; the word behind it becomes the tail in the last cell, else the
    /// next cell.
    Cells(*mut u64),
    /// The parts start at this index of `parts`.
    Parts(usize),
}

impl Default for TermBuilder<'_> {
    fn default() -> Self {
        TermBuilder {
            innermost: Open { left: 1, kind: Kind::Parts(0) },
            around: Vec::new(),
            parts: Vec::new(),
        }
    }
}

impl<'h> TermBuilder<'h> {
    /// Adds the next part. True if [`TermBuilder::parts`] are complete with it.
    #[inline]
    pub fn put(&mut self, t: Term<'h>) -> bool {
        self.place(t);
        self.innermost.left == 0 && self.settle()
    }
    #[inline(always)]
    fn place(&mut self, t: Term<'h>) {
        let open = &mut self.innermost;
        open.left = open.left.saturating_sub(1);
        match &mut open.kind {
            Kind::Parts(_) => self.parts.push(t),
            // SAFETY: the place was allocated for as many words as were left, and nobody else has
            // it; one that is whole is the innermost no more, see `settle`.
            Kind::Words(at) => unsafe {
                **at = t.word();
                *at = at.add(1);
            },
            // SAFETY: the same, with two words for each part but the last one.
            Kind::Cells(at) => unsafe {
                **at = t.word();
                let rest = at.add(1);
                match open.left {
                    1 => open.kind = Kind::Words(rest),
                    _ => {
                        *at = at.add(2);
                        *rest = *at as u64 + TAG_LIST;
                    }
                }
            },
        }
    }
    /// Closes complete containers. True if the caller has to take complete parts.
    #[inline]
    fn settle(&mut self) -> bool {
        while self.innermost.left == 0 {
            if let Kind::Parts(_) = self.innermost.kind {
                return true;
            }
            match self.around.pop() {
                Some(open) => self.innermost = open,
                None => return false,
            }
        }
        false
    }
    #[inline]
    fn open(&mut self, left: usize, kind: Kind) {
        self.around.push(std::mem::replace(&mut self.innermost, Open { left, kind }));
    }

    /// The next part is a tuple of the `n` parts that follow; result as for `put`.
    #[inline]
    pub fn tuple(&mut self, heap: &'h Heap, n: usize) -> bool {
        if n == 0 {
            return self.put(heap.tuple(&[]));
        }
        let p = heap.alloc(1 + n);
        // SAFETY: `alloc` gave that many words; the term is seen when they are all written, as
        // that is when this place is left and the one around it can become whole.
        let t = unsafe {
            *p = header(TUPLE, n);
            Term::from_word(p as u64 + TAG_BOXED)
        };
        self.hold(t, n, Kind::Words(p.wrapping_add(1)));
        false
    }
    /// The next part is a list of the following `n` parts (not 0), and then the tail.
    #[inline]
    pub fn list(&mut self, heap: &'h Heap, n: usize) {
        let n = n.max(1);
        let p = heap.alloc(2 * n);
        // SAFETY: as in `tuple`, with two words a cell; `place` writes each.
        let t = unsafe { Term::from_word(p as u64 + TAG_LIST) };
        self.hold(t, n + 1, Kind::Cells(p));
    }
    /// Opens a term whose parts follow. The containers around it stay open until it is complete,
    /// even if this was their last part.
    #[inline]
    fn hold(&mut self, t: Term<'h>, left: usize, kind: Kind) {
        self.place(t);
        self.open(left, kind);
    }
    /// The next part is assembled by the caller from the `n` parts that follow, when they are
    /// complete.
    #[inline]
    pub fn made_of(&mut self, n: usize) -> bool {
        let from = self.parts.len();
        self.open(n, Kind::Parts(from));
        n == 0
    }

    /// The complete parts, or the term itself.
    #[inline]
    pub fn parts(&self) -> &[Term<'h>] {
        match self.innermost {
            Open { left: 0, kind: Kind::Parts(from) } => self.parts.get(from..).unwrap_or(&[]),
            _ => &[],
        }
    }
    /// Whether the whole term is complete.
    #[inline]
    pub fn is_whole(&self) -> bool {
        self.around.is_empty() && self.innermost.left == 0
    }
    /// Replaces the complete parts by the term assembled from them. Result as for `put`.
    #[inline]
    pub fn made(&mut self, t: Term<'h>) -> bool {
        if let (Open { left: 0, kind: Kind::Parts(from) }, Some(around)) =
            (&self.innermost, self.around.pop())
        {
            self.parts.truncate(*from);
            self.innermost = around;
        }
        self.put(t)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kvik_term::cmp;

    /// `{1, [2, {} | 3], made of (4, [5])}`, and what can be seen of it before it is whole.
    #[test]
    fn terms_from_the_outside_in() {
        for words in [4, 100] {
            let h = Heap::new(words);
            let mut a = TermBuilder::default();
            assert!(!a.tuple(&h, 3) && !a.put(Term::int(1)));
            a.list(&h, 2);
            assert!(!a.put(Term::int(2)) && !a.tuple(&h, 0) && a.parts().is_empty());
            assert!(!a.put(Term::int(3)) && !a.made_of(2) && !a.put(Term::int(4)));
            a.list(&h, 1);
            assert!(!a.put(Term::int(5)) && a.parts().is_empty() && !a.is_whole());
            assert!(a.put(Term::NIL) && a.parts().len() == 2 && !a.is_whole());
            let [four, list] = *a.parts() else { panic!() };
            assert!(a.made(h.tuple(&[list, four])) && a.is_whole());
            let list = h.list_with_tail(&[Term::int(2), h.tuple(&[])], Term::int(3));
            let made = h.tuple(&[h.list(&[Term::int(5)]), Term::int(4)]);
            let want = h.tuple(&[Term::int(1), list, made]);
            assert!(a.parts().len() == 1 && cmp::eq_exact(a.parts()[0], want));
        }
    }

    #[test]
    fn an_immediate_is_whole_at_once() {
        let mut a = TermBuilder::default();
        assert!(!a.is_whole() && a.put(Term::NIL) && a.is_whole());
        let h = Heap::new(10);
        let mut a = TermBuilder::default();
        assert!(a.made_of(0) && a.parts().is_empty() && a.made(h.tuple(&[])) && a.is_whole());
    }
}
