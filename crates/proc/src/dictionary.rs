//! The process dictionary: pairs in a vector, and with many pairs a hash index.

use kvik_heap::root_pairs::Index;
use kvik_term::{am, Term};

use crate::Proc;

type Pairs<'h> = Vec<[Term<'h>; 2]>;

/// Number of pairs from which there is an index.
const INDEXED_PAIRS: usize = 16;

impl Proc {
    pub fn dict_get<'h>(&'h self, key: Term<'h>) -> Term<'h> {
        let found = self.heap.with_pairs(|v, index| find(v, index, key).map(|i| v[i][1]));
        found.unwrap_or(am::undefined.into())
    }
    /// Stores a value; returns the old one, or `undefined`.
    pub fn dict_put<'h>(&'h self, key: Term<'h>, value: Term<'h>) -> Term<'h> {
        self.heap.with_pairs(|v, index| match find(v, index, key) {
            Some(i) => std::mem::replace(&mut v[i][1], value),
            None => {
                v.push([key, value]);
                if !index.is_empty() {
                    index.push(hash(key));
                } else if v.len() >= INDEXED_PAIRS {
                    v.iter().for_each(|[k, _]| index.push(hash(*k)));
                }
                am::undefined.into()
            }
        })
    }
    pub fn dict_erase<'h>(&'h self, key: Term<'h>) -> Term<'h> {
        let old = self.heap.with_pairs(|v, index| {
            let i = find(v, index, key)?;
            if !index.is_empty() {
                index.swap_remove(i);
            }
            Some(v.swap_remove(i)[1])
        });
        old.unwrap_or(am::undefined.into())
    }
    pub fn dict_pairs(&self) -> Pairs<'_> {
        self.heap.with_pairs(|v, _| v.clone())
    }
    pub fn dict_clear(&self) {
        self.heap.with_pairs(|v, index| {
            v.clear();
            index.clear();
        });
    }
}

fn hash(key: Term<'_>) -> u32 {
    if key.is_immediate() {
        return (key.word().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as u32;
    }
    kvik_term::hash::internal(key, 0)
}

#[inline]
fn find<'h>(v: &Pairs<'h>, index: &Index, key: Term<'h>) -> Option<usize> {
    let is = |k: Term<'h>| kvik_term::cmp::eq_exact(k, key);
    match (index.is_empty(), key.is_immediate()) {
        (true, true) => v.iter().position(|[k, _]| k.same(key)),
        (true, false) => v.iter().position(|[k, _]| is(*k)),
        (false, true) => index.find(hash(key), |i| v[i][0].same(key)),
        (false, false) => index.find(hash(key), |i| is(v[i][0])),
    }
}
