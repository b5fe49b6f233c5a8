//! The process dictionary.

use kvik_term::{am, Term};

use crate::Proc;

impl Proc {
    pub fn dict_get<'h>(&'h self, key: Term<'h>) -> Term<'h> {
        let found = self.heap.with_pairs(|v| find(v, key).map(|i| v[i].1));
        found.unwrap_or(am::undefined.into())
    }
    /// The value before, or `undefined`.
    pub fn dict_put<'h>(&'h self, key: Term<'h>, value: Term<'h>) -> Term<'h> {
        self.heap.with_pairs(|v| match find(v, key) {
            Some(i) => std::mem::replace(&mut v[i].1, value),
            None => {
                v.push((key, value));
                am::undefined.into()
            }
        })
    }
    pub fn dict_erase<'h>(&'h self, key: Term<'h>) -> Term<'h> {
        let old = self.heap.with_pairs(|v| find(v, key).map(|i| v.swap_remove(i).1));
        old.unwrap_or(am::undefined.into())
    }
    pub fn dict_pairs(&self) -> Vec<(Term<'_>, Term<'_>)> {
        self.heap.with_pairs(|v| v.clone())
    }
    pub fn dict_clear(&self) {
        self.heap.with_pairs(|v| v.clear());
    }
}

fn find<'h>(v: &[(Term<'h>, Term<'h>)], key: Term<'h>) -> Option<usize> {
    if key.is_immediate() {
        v.iter().position(|(k, _)| k.same(key))
    } else {
        v.iter().position(|(k, _)| kvik_term::cmp::eq_exact(*k, key))
    }
}
