//! Tuples built without first collecting their elements.

use kvik_term::word::{header, TAG_BOXED, TUPLE};
use kvik_term::Term;

use crate::Heap;

impl Heap {
    /// A tuple of `n` times the same element.
    pub fn tuple_filled<'h>(&'h self, n: usize, element: Term<'h>) -> Term<'h> {
        let p = self.alloc(1 + n);
        // SAFETY: `alloc` gave that many words; a term is one word.
        unsafe {
            *p = header(TUPLE, n);
            (1..=n).for_each(|i| *p.add(i) = element.word());
            Term::from_word(p as u64 + TAG_BOXED)
        }
    }
    /// A tuple of a list's elements. `None`: the list is improper or has more than `most`.
    pub fn tuple_of_list<'h>(&'h self, list: Term<'h>, most: usize) -> Option<Term<'h>> {
        let mut cells = list.list();
        let n = cells.by_ref().count();
        if n > most || !cells.rest.is_nil() {
            return None;
        }
        let p = self.alloc(1 + n);
        // SAFETY: `alloc` gave that many words, as many as the list still has: terms do not change.
        unsafe {
            *p = header(TUPLE, n);
            list.list().zip(1..=n).for_each(|(t, i)| *p.add(i) = t.word());
            Some(Term::from_word(p as u64 + TAG_BOXED))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_elements_of_list_in_order() {
        let h = Heap::new(100);
        let ints: Vec<_> = (0..50).map(Term::int).collect();
        for n in [0, 1, 50] {
            let t = h.tuple_of_list(h.list(&ints[..n]), 50).and_then(|t| t.as_tuple());
            assert!(t.is_some_and(
                |t| t.elements().iter().zip(&ints).all(|(a, b)| a.same(*b)) && t.len() == n
            ));
        }
        assert!(h.tuple_of_list(h.list(&ints), 49).is_none());
        assert!(h.tuple_of_list(h.cons(ints[0], ints[1]), 49).is_none());
        assert!(h.tuple_of_list(ints[0], 49).is_none());
        let t = h.tuple_filled(30, ints[7]).as_tuple();
        assert!(t.is_some_and(|t| t.len() == 30 && t.elements().iter().all(|e| e.same(ints[7]))));
        assert!(h.tuple_filled(0, ints[7]).as_tuple().is_some_and(|t| t.elements().is_empty()));
    }
}
