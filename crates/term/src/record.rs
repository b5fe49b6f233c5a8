//! Native records (since OTP 29): instances, and the definitions that they refer to.
//!
//! A definition is a tuple, so that the collector and copies need not know it. Erlang code never
//! sees one. Its keys are in the order of a small map's keys ([`crate::cmp::key_order`]); the order
//! in which the source declares them is a permutation of that.
//!
//! | element | what |
//! |---|---|
//! | 0 | a tuple: for each field as declared, its index among the keys (small) |
//! | 1 | `phash2` of `{Module, Name, IsExported, Key…}` with the keys as declared: 32 bits (small) |
//! | 2, 3 | module and name |
//! | 4 | `true` if other modules may use it |
//! | 5… | the keys |

use std::cmp::Ordering;

use crate::word::header_words;
use crate::{am, Atom, Term};

/// Elements of a definition before its keys.
pub const FIRST_KEY: usize = 5;

/// What an object that violates the layout reads as.
const NO_DEFINITION: [Term<'static>; FIRST_KEY] = [Term::NIL; FIRST_KEY];

/// A definition: the elements of its tuple.
#[derive(Copy, Clone)]
pub struct RecordDef<'h>(&'h [Term<'h>]);

impl<'h> RecordDef<'h> {
    /// `None` if the term cannot be a definition.
    pub fn of(t: Term<'h>) -> Option<RecordDef<'h>> {
        t.as_tuple().map(|t| t.elements()).filter(|e| e.len() >= FIRST_KEY).map(RecordDef)
    }
    fn atom(self, i: usize) -> Atom {
        self.0[i].as_atom().unwrap_or(am::undefined)
    }
    pub fn module(self) -> Atom {
        self.atom(2)
    }
    pub fn name(self) -> Atom {
        self.atom(3)
    }
    pub fn is_exported(self) -> bool {
        self.0[4].is_atom(am::true_)
    }
    pub fn hash(self) -> u32 {
        self.0[1].as_small().unwrap_or(0) as u32
    }
    /// The keys, sorted by `key_order`.
    pub fn keys(self) -> &'h [Term<'h>] {
        &self.0[FIRST_KEY..]
    }
    /// The index of each field's key, as declared.
    pub fn order(self) -> impl DoubleEndedIterator<Item = usize> + ExactSizeIterator + 'h {
        let order = self.0[0].as_tuple().map_or(&[][..], |t| t.elements());
        order.iter().map(|i| i.as_usize().unwrap_or(0))
    }
    /// The index of a key.
    #[inline]
    pub fn index_of(self, key: Term<'_>) -> Option<usize> {
        self.keys().iter().position(|k| k.same(key))
    }
    /// Whether both say the same.
    pub fn same(self, other: RecordDef<'_>) -> bool {
        std::ptr::eq(self.0.as_ptr(), other.0.as_ptr().cast())
            || self.0.len() == other.0.len()
                && self.0.iter().zip(other.0).skip(1).all(|(a, b)| a.same(*b))
                && self.order().eq(other.order())
    }
    /// The order of definitions: module, name, visibility, number of fields, keys as declared.
    pub(crate) fn compare(self, other: RecordDef<'_>) -> Ordering {
        let keys = |d: RecordDef<'_>| -> Vec<Atom> {
            let key = |i| d.keys().get(i).and_then(|k: &Term<'_>| k.as_atom());
            d.order().map(|i| key(i).unwrap_or(am::undefined)).collect()
        };
        (self.module().order(other.module()))
            .then_with(|| self.name().order(other.name()))
            .then(self.is_exported().cmp(&other.is_exported()))
            .then(self.0.len().cmp(&other.0.len()))
            .then_with(|| {
                let (x, y) = (keys(self), keys(other));
                let mut differ = x.iter().zip(&y).map(|(a, b)| a.order(*b));
                differ.find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
            })
    }
}

/// An instance: its definition, then its values in the order of the definition's keys.
#[derive(Copy, Clone)]
pub struct NativeRecord<'h>(&'h [Term<'h>]);

impl<'h> NativeRecord<'h> {
    /// # Safety
    /// `p` points to a RECORD object that stays as it is for `'h`.
    #[inline]
    pub unsafe fn from_raw(p: *const u64) -> NativeRecord<'h> {
        // SAFETY: the header's size many terms follow it; Term is one word.
        NativeRecord(unsafe { std::slice::from_raw_parts(p.add(1).cast(), header_words(*p)) })
    }
    /// The definition and the values.
    pub fn words(self) -> &'h [Term<'h>] {
        self.0
    }
    pub fn definition_term(self) -> Term<'h> {
        self.0.first().copied().unwrap_or(Term::NIL)
    }
    #[inline]
    pub fn definition(self) -> RecordDef<'h> {
        RecordDef::of(self.definition_term()).unwrap_or(RecordDef(&NO_DEFINITION))
    }
    #[inline]
    pub fn values(self) -> &'h [Term<'h>] {
        self.0.get(1..).unwrap_or(&[])
    }
    /// The value of a field.
    #[inline]
    pub fn get(self, key: Term<'_>) -> Option<Term<'h>> {
        self.values().get(self.definition().index_of(key)?).copied()
    }
    /// Keys and values as declared.
    pub fn fields(self) -> impl DoubleEndedIterator<Item = (Term<'h>, Term<'h>)> + 'h {
        let (keys, values) = (self.definition().keys(), self.values());
        self.definition().order().filter_map(move |i| Some((*keys.get(i)?, *values.get(i)?)))
    }
}
