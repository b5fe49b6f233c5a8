//! Building native records and their definitions ([`kvik_term::record`]).

use kvik_term::word::{header, RECORD, TAG_BOXED};
use kvik_term::{am, cmp, phash, Atom, RecordDef, Term};
use smallvec::SmallVec;

use crate::Heap;

/// A definition that was just built.
#[derive(Copy, Clone)]
pub struct NewDefinition<'h> {
    pub term: Term<'h>,
    pub definition: RecordDef<'h>,
}

impl Heap {
    /// The definition with these keys, as declared. `None` if there are two of the same name.
    pub fn record_definition(
        &self,
        [module, name]: [Atom; 2],
        exported: bool,
        declared: &[Atom],
    ) -> Option<NewDefinition<'_>> {
        let mut sorted: Vec<usize> = (0..declared.len()).collect();
        let key = |i: usize| Term::atom(declared[i]);
        sorted.sort_unstable_by(|i, j| cmp::key_order(key(*i), key(*j)));
        if sorted.windows(2).any(|two| declared[two[0]] == declared[two[1]]) {
            return None;
        }
        let mut order = vec![Term::NIL; declared.len()];
        for (at, field) in sorted.iter().enumerate() {
            order[*field] = Term::small(at as i64)?;
        }
        let visible = if exported { am::true_ } else { am::false_ };
        let mut named = vec![module, name, visible];
        named.extend_from_slice(declared);
        let hash = self.integer(i64::from(phash::phash2_of_atoms(&named)));
        let first = [self.tuple(&order), hash, module.into(), name.into(), visible.into()];
        let keys: Vec<Term<'_>> = sorted.iter().map(|i| key(*i)).collect();
        let term = self.tuple_of(&[&first, &keys]);
        Some(NewDefinition { term, definition: RecordDef::of(term)? })
    }

    /// An instance of a definition with these values, in the order of the definition's keys. `None`
    /// if the first term is no definition of so many keys.
    pub fn record<'h>(&'h self, definition: Term<'h>, values: &[Term<'h>]) -> Option<Term<'h>> {
        if RecordDef::of(definition)?.keys().len() != values.len() {
            return None;
        }
        let p = self.alloc(2 + values.len());
        // SAFETY: `alloc` gave that many words; a term is one word.
        unsafe {
            *p = header(RECORD, 1 + values.len());
            *p.add(1) = definition.word();
            std::ptr::copy_nonoverlapping(values.as_ptr().cast(), p.add(2), values.len());
            Some(Term::from_word(p as u64 + TAG_BOXED))
        }
    }
}

/// Why a record cannot be made.
#[derive(Copy, Clone)]
pub enum FieldError<'h> {
    /// It has no such field.
    Unknown(Term<'h>),
    /// The field has no value.
    NoValue(Term<'h>),
}

/// The values of a record, in the order of its keys: those given, which are sorted by
/// [`cmp::key_order`], and for the other keys what `other` returns for their index, which it gets in
/// ascending order.
pub fn merge<'h>(
    d: RecordDef<'h>,
    given: &[[Term<'h>; 2]],
    mut other: impl FnMut(usize) -> Option<Term<'h>>,
) -> Result<SmallVec<[Term<'h>; 16]>, FieldError<'h>> {
    let mut given = given.iter().peekable();
    let mut values = SmallVec::with_capacity(d.keys().len());
    let mut missing = None;
    for (i, key) in d.keys().iter().enumerate() {
        let value = match given.next_if(|[k, _]| k.same(*key)) {
            Some([_, value]) => Some(*value),
            None => other(i),
        };
        values.push(value.unwrap_or_else(|| *missing.get_or_insert(*key)));
    }
    match (given.next(), missing) {
        (Some([key, _]), _) => Err(FieldError::Unknown(*key)),
        (None, Some(key)) => Err(FieldError::NoValue(key)),
        (None, None) => Ok(values),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn atoms(names: &[&str]) -> Vec<Atom> {
        names.iter().map(|n| Atom::intern(n).unwrap()).collect()
    }

    #[test]
    fn a_record_survives_collections_and_copies() {
        let h = Heap::new(64);
        let (name, keys) = (atoms(&["m", "r"]), atoms(&["zz", "aa", "mm"]));
        let new = h.record_definition([name[0], name[1]], true, &keys).unwrap();
        let d = new.definition;
        let declared: Vec<_> = d.order().map(|i| d.keys()[i].as_atom().unwrap()).collect();
        assert_eq!(declared, keys);
        let value = |i: usize| h.tuple(&[Term::int(i as i32)]);
        let values: Vec<_> = d.order().enumerate().map(|(i, _)| value(i)).collect();
        let mut x = [h.record(new.term, &values).unwrap().word()];
        for full in [false, true, false] {
            // SAFETY: `x` is the only way in.
            let t = unsafe {
                h.collect(x.as_mut_ptr(), 1, 100, full);
                Term::from_word(x[0])
            };
            let other = Heap::new(8);
            let copy = other.copy(t);
            assert!(cmp::eq_exact(t, copy) && !t.same(copy));
            assert_eq!(phash::phash2(t), phash::phash2(copy));
            let r = copy.as_record().unwrap();
            assert_eq!((r.definition().module(), r.definition().is_exported()), (name[0], true));
            let at = d_index(r, keys[1]);
            assert!(r.get(keys[1].into()).unwrap().same(r.values()[at]));
        }
    }
    fn d_index(r: kvik_term::NativeRecord<'_>, key: Atom) -> usize {
        r.definition().index_of(key.into()).unwrap()
    }

    #[test]
    fn values_are_merged_by_key() {
        let h = Heap::new(64);
        let m = atoms(&["m", "r"]);
        let keys = atoms(&["c", "a", "b"]);
        let d = h.record_definition([m[0], m[1]], false, &keys).unwrap().definition;
        let at = |i: usize| [d.keys()[i], Term::int(i as i32)];
        let merged = |given: &[[Term<'_>; 2]], has: usize| match merge(d, given, |i| {
            (i < has).then_some(Term::NIL)
        }) {
            Ok(values) => values.iter().map(|v| v.as_small().unwrap_or(-1)).collect(),
            Err(FieldError::Unknown(_)) => vec![-2],
            Err(FieldError::NoValue(key)) => vec![-3, d.index_of(key).unwrap() as i64],
        };
        assert_eq!(merged(&[at(0), at(2)], 3), [0, -1, 2]);
        assert_eq!(merged(&[], 3), [-1; 3]);
        assert_eq!(merged(&[at(2)], 1), [-3, 1]);
        assert_eq!(merged(&[at(0), [Term::NIL; 2]], 0), [-2]);
    }

    #[test]
    fn a_field_has_one_name() {
        let h = Heap::new(64);
        let m = atoms(&["m", "r"]);
        assert!(h.record_definition([m[0], m[1]], false, &atoms(&["a", "b", "a"])).is_none());
        let empty = h.record_definition([m[0], m[1]], false, &[]).unwrap();
        assert!(
            h.record(empty.term, &[]).is_some() && h.record(empty.term, &[Term::NIL]).is_none()
        );
        assert!(h.record(Term::NIL, &[]).is_none());
    }
}
