//! Building native records and their definitions ([`kvik_term::record`]).

use kvik_term::word::{header, RECORD, TAG_BOXED};
use kvik_term::{am, cmp, phash, Atom, RecordDef, Term};

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

    /// An instance of a definition with the values of `base`, in the order of the definition's keys,
    /// but for those given, which are sorted by [`cmp::key_order`]. Values at the indexes `required`,
    /// in ascending order, are to be given. `None` if the first term is no definition of so many
    /// keys.
    pub fn record_over<'h>(
        &'h self,
        definition: Term<'h>,
        base: &[Term<'h>],
        required: impl Iterator<Item = usize>,
        given: &[[Term<'h>; 2]],
    ) -> Option<Result<Term<'h>, FieldError<'h>>> {
        let mut required = required.peekable();
        let mut missing = None;
        let keys = RecordDef::of(definition)?.keys();
        let record = self.record(definition, base)?;
        let values = (record.word() - TAG_BOXED) as *mut Term<'h>;
        let mut next = 0;
        for [key, value] in given {
            let Some(at) = keys[next..].iter().position(|k| k.same(*key)) else {
                return Some(Err(FieldError::Unknown(*key)));
            };
            let at = next + at;
            missing = missing.or_else(|| required.next_if(|r| *r < at));
            required.next_if_eq(&at);
            next = at + 1;
            // SAFETY: `record` has a value for each key behind two words, and nobody else has seen
            // it yet.
            unsafe { values.add(1 + next).write(*value) };
        }
        match missing.or_else(|| required.next()).and_then(|r| keys.get(r)) {
            Some(key) => Some(Err(FieldError::NoValue(*key))),
            None => Some(Ok(record)),
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
    fn a_record_is_built_over_values() {
        let h = Heap::new(64);
        let m = atoms(&["m", "r"]);
        let new = h.record_definition([m[0], m[1]], false, &atoms(&["c", "a", "b"])).unwrap();
        let keys = new.definition.keys();
        let built = |given: &[usize]| {
            let given: Vec<_> = given.iter().map(|i| [keys[*i], Term::int(*i as i32)]).collect();
            let r = h.record_over(new.term, &[Term::NIL; 3], [].into_iter(), &given);
            let Some(Ok(r)) = r else { panic!("no record") };
            let values = r.as_record().unwrap().values().iter();
            values.map(|v| v.as_small().unwrap_or(-1)).collect::<Vec<_>>()
        };
        assert_eq!(built(&[]), [-1; 3]);
        assert_eq!(built(&[1]), [-1, 1, -1]);
        assert_eq!(built(&[0, 2]), [0, -1, 2]);
        let unknown = [[keys[1], Term::NIL], [Term::NIL; 2]];
        let fails = |required: &[usize], given: &[[Term<'_>; 2]]| {
            let required = required.iter().copied();
            match h.record_over(new.term, &[Term::NIL; 3], required, given) {
                Some(Ok(_)) => -1,
                Some(Err(FieldError::Unknown(_))) => -2,
                Some(Err(FieldError::NoValue(key))) => {
                    new.definition.index_of(key).map_or(-3, |i| i as i64)
                }
                None => -4,
            }
        };
        assert_eq!(fails(&[], &unknown), -2);
        assert_eq!(fails(&[0], &unknown), -2);
        let one = [[keys[1], Term::NIL]];
        assert_eq!([fails(&[1], &one), fails(&[0, 1], &one), fails(&[1, 2], &one)], [-1, 0, 2]);
        assert_eq!([fails(&[], &[]), fails(&[2], &[])], [-1, 2]);
        assert!(h.record_over(new.term, &[Term::NIL; 2], [].into_iter(), &[]).is_none());
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
