//! [`StoredTuple`]: a tuple with memory of its own that is copied more often than it is built, as the
//! rows of tables are.

use std::borrow::Borrow;
use std::collections::BTreeSet;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use kvik_term::word::{header_words, is_header, is_immediate, TAG_BOXED};
use kvik_term::Term;

use crate::frag::Frag;
use crate::literal::Sharing;
use crate::{copy, Heap, OwnedTerm};

/// The tuple, a bitmap of its internal pointers, and its owner's extra data: 12 bytes and the
/// latter.
pub struct StoredTuple<T> {
    /// Owned; its first object is the tuple.
    frag: NonNull<Frag>,
    /// Bit `i` is set if word `i` is an internal pointer; or `ANY_POINTERS`.
    inner: u32,
    pub extra: T,
}

// SAFETY: as for `OwnedTerm`, which this is in fewer bytes.
unsafe impl<T: Send> Send for StoredTuple<T> {}
// SAFETY: as for `OwnedTerm`.
unsafe impl<T: Sync> Sync for StoredTuple<T> {}

/// No bitmap: the tuple has more words than bits, or shares something.
const ANY_POINTERS: u32 = 1 << 31;
const BITMAP_WORDS: usize = 31;

/// The word for the first object of a fragment.
///
/// # Safety
/// `f` is live.
unsafe fn first_object(f: *mut Frag) -> u64 {
    // SAFETY: as the caller says.
    unsafe { Frag::words(f) as u64 + TAG_BOXED }
}

impl<T> StoredTuple<T> {
    /// `None` if the term is no tuple.
    pub fn new(term: OwnedTerm, extra: T) -> Option<StoredTuple<T>> {
        term.term().as_tuple()?;
        // SAFETY: a fragment that is not null is live.
        let is_first =
            |t: &OwnedTerm| !t.frag.is_null() && unsafe { first_object(t.frag) } == t.root;
        let term = if is_first(&term) { term } else { OwnedTerm::new(term.term()) };
        // A copy has its root first.
        let frag = NonNull::new(term.frag).filter(|_| is_first(&term))?;
        let inner = inner(&term).unwrap_or(ANY_POINTERS);
        std::mem::forget(term);
        Some(StoredTuple { frag, inner, extra })
    }
    /// The same as an `OwnedTerm`, which the caller does not drop.
    #[inline]
    fn as_owned(&self) -> ManuallyDrop<OwnedTerm> {
        let frag = self.frag.as_ptr();
        // SAFETY: the fragment lives as long as self.
        ManuallyDrop::new(OwnedTerm { root: unsafe { first_object(frag) }, frag })
    }
    #[inline]
    pub fn term(&self) -> Term<'_> {
        // SAFETY: the fragment lives as long as self and does not change; the tuple is first in it.
        unsafe { Term::from_word(first_object(self.frag.as_ptr())) }
    }
    /// Fetches what follows the tuple's first words, which a comparison of keys reads after them:
    /// both cache misses at once instead of one after the other.
    #[inline(always)]
    pub fn prefetch(&self) {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        {
            use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
            const LINE: usize = 64;
            let next = self.frag.as_ptr().cast::<i8>().wrapping_add(LINE);
            // SAFETY: a prefetch reads nothing that the program sees, whatever the address.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(next) }
        }
    }
    #[inline]
    pub fn words(&self) -> usize {
        // SAFETY: the fragment lives as long as self.
        unsafe { (*self.frag.as_ptr()).used }
    }
    /// Replaces it by a copy of another tuple with as many words, in the same memory. False if that
    /// is not possible.
    pub fn replace(&mut self, t: Term<'_>) -> bool {
        let (f, apart) = (self.frag.as_ptr(), &Sharing::Nothing);
        // SAFETY: the fragment lives as long as self.
        let free = unsafe { (*f).off_heap.is_null() };
        if !free || t.as_tuple().is_none() || copy::size(t, apart) != self.words() {
            return false;
        }
        // SAFETY: the fragment has room for the copy, which `t`, borrowed from elsewhere, is no
        // part of; nobody looks at what was there, since `self` is borrowed alone. The copy's root
        // is its first object.
        unsafe {
            let mut top = Frag::words(f);
            copy::copy(t, apart, &mut top, &mut (*f).off_heap);
        }
        self.inner = inner(&self.as_owned()).unwrap_or(ANY_POINTERS);
        true
    }
    /// See [`OwnedTerm::change_element`].
    pub fn change_element<'s>(
        &mut self,
        i: usize,
        f: impl FnOnce(Term<'static>) -> Option<Term<'s>>,
    ) -> Option<Term<'static>> {
        self.as_owned().change_element(i, f)
    }
}

impl<T> Drop for StoredTuple<T> {
    fn drop(&mut self) {
        drop(ManuallyDrop::into_inner(self.as_owned()))
    }
}

impl OwnedTerm {
    /// Replaces element `i` of the tuple by the immediate that `f` returns. `None`: the term is no
    /// tuple in memory of its own, the element is missing or no immediate, or `f` returns `None`.
    pub fn change_element<'s>(
        &mut self,
        i: usize,
        f: impl FnOnce(Term<'static>) -> Option<Term<'s>>,
    ) -> Option<Term<'static>> {
        // SAFETY: `self` is borrowed alone.
        unsafe { self.change_unshared(i, f) }
    }
    /// # Safety
    /// Nobody else looks at the term meanwhile.
    unsafe fn change_unshared<'s>(
        &self,
        i: usize,
        f: impl FnOnce(Term<'static>) -> Option<Term<'s>>,
    ) -> Option<Term<'static>> {
        let new = f(self.term().as_tuple()?.get(i)?.immediate()?)?.immediate()?;
        if !self.block().as_ptr_range().contains(&(self.root as *const u64)) {
            return None;
        }
        // SAFETY: the tuple is in memory that is the term's alone, and has that element; nobody
        // looks at it, as the caller says.
        unsafe { *((self.root - TAG_BOXED) as *mut u64).add(1 + i) = new.word() };
        Some(new)
    }
}

/// See [`OwnedTerm::change_element`]: changes an object in a set, where it stays, since the element is
/// no part of its key. `object` gives the one that an item of the set contains.
pub fn change_in_set<'s, R, Q: Ord + ?Sized>(
    set: &mut BTreeSet<R>,
    key: &Q,
    object: impl for<'r> FnOnce(&'r R) -> Option<&'r OwnedTerm>,
    i: usize,
    f: impl FnOnce(Term<'static>) -> Option<Term<'s>>,
) -> Option<Term<'static>>
where
    R: Ord + Borrow<Q>,
{
    let item = set.get(key)?;
    let object = object(item)?;
    let (at, item) = (std::ptr::from_ref(object) as usize, std::ptr::from_ref(item) as usize);
    let is_inside = at >= item && at + size_of::<OwnedTerm>() <= item + size_of::<R>();
    if !is_inside {
        return None;
    }
    // SAFETY: the object is a part of an item of the set, which is borrowed alone.
    unsafe { object.change_unshared(i, f) }
}

fn inner(t: &OwnedTerm) -> Option<u32> {
    let words = t.block();
    // SAFETY: a fragment that is not null is live.
    let alone = !t.frag.is_null() && unsafe { (*t.frag).off_heap.is_null() };
    let own = words.as_ptr_range();
    let is_own = |w: u64| (own.start as u64..own.end as u64).contains(&w);
    if !alone || words.len() > BITMAP_WORDS || !is_own(t.root) {
        return None;
    }
    let (mut all, mut i) = (0, 0);
    while let Some(w) = words.get(i) {
        if is_header(*w) && !copy::has_terms(*w) {
            i += header_words(*w);
        } else if !is_header(*w) && !is_immediate(*w) {
            if !is_own(*w) {
                return None;
            }
            all |= 1 << i;
        }
        i += 1;
    }
    Some(all)
}

impl Heap {
    /// A copy of a stored tuple.
    #[inline]
    pub fn copy_stored<'h, T>(&'h self, k: &StoredTuple<T>) -> Term<'h> {
        let owned = k.as_owned();
        if k.inner == ANY_POINTERS {
            return self.copy_owned(&owned);
        }
        let from = owned.block();
        let to = self.alloc(from.len());
        let by = (to as u64).wrapping_sub(from.as_ptr() as u64);
        let mut inner = k.inner;
        // SAFETY: there is room for as many words. Those that point to others of them, which are
        // all that are no immediates or an object's own, point to the same place in the copy.
        unsafe {
            for (i, w) in from.iter().enumerate() {
                // Volatile, or the compiler turns the loop into a call.
                to.add(i).write_volatile(*w);
            }
            while inner != 0 {
                let w = to.add(inner.trailing_zeros() as usize);
                *w = (*w).wrapping_add(by);
                inner &= inner - 1;
            }
            Term::from_word(owned.root.wrapping_add(by))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kvik_term::cmp::eq_exact;

    fn stored(t: Term<'_>) -> StoredTuple<()> {
        StoredTuple::new(OwnedTerm::new(t), ()).unwrap()
    }
    fn copies<'h>(h: &'h Heap, t: Term<'_>) -> (Term<'h>, bool) {
        let k = stored(t);
        (h.copy_stored(&k), k.inner != ANY_POINTERS)
    }

    #[test]
    fn only_tuples_are_stored() {
        let h = Heap::new(64);
        let others = [Term::int(1), Term::NIL, h.float(0.5), h.list(&[Term::int(1)]), h.map(&[])];
        assert!(others.iter().all(|t| StoredTuple::new(OwnedTerm::new(*t), ()).is_none()));
        // A tuple that is not first in its memory is copied.
        let last = OwnedTerm::build(8, |h| h.tuple(&[h.float(0.5), h.tuple(&[])]));
        assert!(eq_exact(
            StoredTuple::new(last, ()).unwrap().term(),
            h.tuple(&[h.float(0.5), h.tuple(&[])])
        ));
    }
    #[test]
    fn immediates_change_in_place() {
        let h = Heap::new(64);
        let mut k = stored(h.tuple(&[Term::int(1), h.float(0.5)]));
        let more = |t: Term<'static>| Term::small(t.as_small()? + 1);
        assert_eq!(k.change_element(0, more).and_then(|t| t.as_small()), Some(2));
        for i in 1..3 {
            assert!(k.change_element(i, more).is_none());
        }
        assert!(k.change_element(0, |_| Some(h.float(1.0))).is_none());
        assert!(eq_exact(k.term(), h.tuple(&[Term::int(2), h.float(0.5)])));
    }
    #[test]
    fn others_take_its_memory() {
        let (h, to) = (Heap::new(256), Heap::new(256));
        let flat = h.tuple(&[Term::int(1), Term::int(2), Term::int(3)]);
        let deep = h.tuple(&[h.tuple(&[Term::int(4)])]);
        let large = h.binary(&[7; 100]);
        let mut k = stored(flat);
        let last = h.tuple(&[h.list(&[Term::int(1)])]);
        for t in [deep, h.tuple(&[Term::int(5); 3]), last] {
            assert!(k.replace(t));
            assert!(eq_exact(to.copy_stored(&k), t));
        }
        for t in [Term::int(1), h.tuple(&[flat]), h.list(&[Term::int(1); 2]), large] {
            assert!(!k.replace(t));
            assert!(eq_exact(k.term(), last));
        }
        // Off-heap objects are released once.
        let holds = |b| h.tuple(&[b]);
        let mut k = stored(h.tuple(&[Term::int(0); 7]));
        assert!(k.replace(holds(large)));
        assert!(!k.replace(h.tuple(&[Term::int(0); 7])));
        assert!(eq_exact(to.copy_stored(&k), holds(large)));
    }
    #[test]
    fn copies_equal_the_stored_tuple() {
        let (h, to) = (Heap::new(64), Heap::new(512));
        let inner = h.tuple(&[Term::int(2), h.binary(b"value"), h.float(0.5)]);
        let list = h.list(&[inner, Term::NIL, h.tuple(&[])]);
        let long = h.list(&[Term::int(1); 16]);
        let large = h.binary(&[7; 100]);
        // Bytes of a binary that look like a header or a pointer are not treated as one.
        let odd = h.binary(&[0x14, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]);
        for (t, known) in [
            (inner, true),
            (h.tuple(&[list]), true),
            (h.tuple(&[odd, odd]), true),
            (h.tuple(&[long]), false),
            (h.tuple(&[large]), false),
        ] {
            let (copy, by_words) = copies(&to, t);
            assert!(eq_exact(copy, t));
            assert_eq!(by_words, known);
        }
    }
}
