//! [`StoredRow`]: a row of a hash table, which is a tuple with memory of its own, linked to the next one
//! of its bucket.
//!
//! A row is a pointer: all else is in the header of its fragment, so a search reads the bucket and then
//! rows, and nothing beside them.

use std::mem::ManuallyDrop;
use std::ptr::{self, NonNull};

use kvik_term::word::{header_words, is_header, is_immediate, TAG_BOXED};
use kvik_term::Term;

use crate::frag::Frag;
use crate::literal::Sharing;
use crate::{copy, Heap, OwnedTerm};

/// A tuple with memory of its own, the hash of its key, a mark for rows that are dead, a bitmap of its
/// internal pointers, and the next row of a chain, which it owns.
#[repr(transparent)]
pub struct StoredRow {
    /// Owned. Its first object is the tuple; it is full, so `cap` holds what [`Label`] packs, and
    /// `next` is the next row.
    frag: NonNull<Frag>,
}

// SAFETY: as for `OwnedTerm`, which this is, with others in a chain.
unsafe impl Send for StoredRow {}
// SAFETY: as for `OwnedTerm`.
unsafe impl Sync for StoredRow {}

/// A hash has 31 bits.
const DEAD: u32 = 1 << 31;

/// Bit `i` of a bitmap is set if word `i` is an internal pointer. Without one: the tuple has more words
/// than bits, or shares something.
const ANY_POINTERS: u32 = 1 << 31;
const BITMAP_WORDS: usize = 31;

/// What a row knows of its tuple: in the lower half the bitmap, in the upper half the hash with its mark.
#[derive(Clone, Copy)]
struct Label(usize);

impl Label {
    fn new(hash: u32, inner: u32) -> Label {
        Label((hash as usize) << 32 | inner as usize)
    }
    fn hash(self) -> u32 {
        (self.0 >> 32) as u32
    }
    fn inner(self) -> u32 {
        self.0 as u32
    }
}

/// The word for the first object of a fragment.
///
/// # Safety
/// `f` is live.
unsafe fn first_object(f: *mut Frag) -> u64 {
    // SAFETY: as the caller says.
    unsafe { Frag::words(f) as u64 + TAG_BOXED }
}

/// The term in a fragment of its own of which it is the first object and that it fills, or a copy in
/// such a one. `None` if it is no tuple.
fn full_fragment(term: OwnedTerm) -> Option<OwnedTerm> {
    term.term().as_tuple()?;
    // SAFETY: a fragment that is not null is live.
    let fits = |t: &OwnedTerm| unsafe {
        !t.frag.is_null() && first_object(t.frag) == t.root && (*t.frag).cap == (*t.frag).used
    };
    let term = if fits(&term) { term } else { OwnedTerm::new(term.term()) };
    // A copy has its root first, and no room to spare.
    fits(&term).then_some(term)
}

impl StoredRow {
    /// `None` if the term is no tuple. `hash`: of its key, in 31 bits.
    pub fn new(term: OwnedTerm, hash: u32) -> Option<StoredRow> {
        let term = full_fragment(term)?;
        let frag = NonNull::new(term.frag)?;
        let inner = inner(&term).unwrap_or(ANY_POINTERS);
        std::mem::forget(term);
        let mut row = StoredRow { frag };
        row.set_label(Label::new(hash & !DEAD, inner));
        Some(row)
    }
    #[inline]
    fn label(&self) -> Label {
        // SAFETY: the fragment lives as long as self.
        Label(unsafe { (*self.frag.as_ptr()).cap })
    }
    fn set_label(&mut self, label: Label) {
        // SAFETY: the fragment lives as long as self, which is borrowed alone.
        unsafe { (*self.frag.as_ptr()).cap = label.0 }
    }
    #[inline]
    pub fn hash(&self) -> u32 {
        self.label().hash() & !DEAD
    }
    #[inline]
    pub fn is_dead(&self) -> bool {
        self.label().hash() & DEAD != 0
    }
    pub fn kill(&mut self) {
        let label = self.label();
        self.set_label(Label::new(label.hash() | DEAD, label.inner()));
    }
    pub fn revive(&mut self) {
        let label = self.label();
        self.set_label(Label::new(label.hash() & !DEAD, label.inner()));
    }
    /// The next row of the chain.
    #[inline]
    pub fn next(&self) -> &Option<StoredRow> {
        // SAFETY: a row is a pointer that is not null, and no row is a null pointer: `next` is null or
        // a row's, which belongs to this one. It lives as long as self.
        unsafe { &*ptr::addr_of!((*self.frag.as_ptr()).next).cast() }
    }
    /// The same, to be changed.
    #[inline]
    pub fn link(&mut self) -> &mut Option<StoredRow> {
        // SAFETY: as in `next`; self is borrowed alone.
        unsafe { &mut *ptr::addr_of_mut!((*self.frag.as_ptr()).next).cast() }
    }
    /// The same as an `OwnedTerm`, which the caller does not drop.
    #[inline]
    fn as_owned(&self) -> ManuallyDrop<OwnedTerm> {
        let frag = self.frag.as_ptr();
        // SAFETY: the fragment lives as long as self.
        ManuallyDrop::new(OwnedTerm { root: unsafe { first_object(frag) }, frag })
    }
    #[inline]
    pub fn object(&self) -> Term<'_> {
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
    /// Replaces the tuple by a copy of another with as many words, in the same memory. False if that
    /// is not possible.
    pub fn overwrite(&mut self, t: Term<'_>) -> bool {
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
        let inner = inner(&self.as_owned()).unwrap_or(ANY_POINTERS);
        self.set_label(Label::new(self.label().hash(), inner));
        true
    }
    /// Replaces the tuple by another, if it is one. Hash, mark and place in the chain stay.
    pub fn replace(&mut self, object: OwnedTerm) {
        let Some(mut row) = StoredRow::new(object, self.hash()) else { return };
        if self.is_dead() {
            row.kill();
        }
        *row.link() = self.link().take();
        *self = row;
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

impl Drop for StoredRow {
    /// Frees the rows behind it too, in a loop: there may be many.
    fn drop(&mut self) {
        let mut f = self.frag.as_ptr();
        while !f.is_null() {
            // SAFETY: the fragment belongs to this row or to one behind it, and nobody looks at
            // them any more. What a row kept in the header is put back before it is freed.
            unsafe {
                let next = (*f).next;
                ((*f).next, (*f).cap) = (ptr::null_mut(), (*f).used);
                drop(OwnedTerm { root: first_object(f), frag: f });
                f = next;
            }
        }
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
        let new = f(self.term().as_tuple()?.get(i)?.immediate()?)?.immediate()?;
        if !self.block().as_ptr_range().contains(&(self.root as *const u64)) {
            return None;
        }
        // SAFETY: the tuple is in memory that is the term's alone, and has that element; nobody
        // looks at it, as `self` is borrowed alone.
        unsafe { *((self.root - TAG_BOXED) as *mut u64).add(1 + i) = new.word() };
        Some(new)
    }
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
    /// A copy of a row's tuple.
    #[inline]
    pub fn copy_row<'h>(&'h self, row: &StoredRow) -> Term<'h> {
        let owned = row.as_owned();
        let mut inner = row.label().inner();
        if inner == ANY_POINTERS {
            return self.copy_owned(&owned);
        }
        let from = owned.block();
        let to = self.alloc(from.len());
        let by = (to as u64).wrapping_sub(from.as_ptr() as u64);
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

    fn stored(t: Term<'_>) -> StoredRow {
        StoredRow::new(OwnedTerm::new(t), 7).unwrap()
    }
    fn copies<'h>(h: &'h Heap, t: Term<'_>) -> (Term<'h>, bool) {
        let k = stored(t);
        (h.copy_row(&k), k.label().inner() != ANY_POINTERS)
    }

    #[test]
    fn only_tuples_are_stored() {
        let h = Heap::new(64);
        let others = [Term::int(1), Term::NIL, h.float(0.5), h.list(&[Term::int(1)]), h.map(&[])];
        assert!(others.iter().all(|t| StoredRow::new(OwnedTerm::new(*t), 0).is_none()));
        // A tuple that is not first in its memory, or does not fill it, is copied.
        let last = OwnedTerm::build(8, |h| h.tuple(&[h.float(0.5), h.tuple(&[])]));
        let row = StoredRow::new(last, 0).unwrap();
        assert!(eq_exact(row.object(), h.tuple(&[h.float(0.5), h.tuple(&[])])));
        let roomy = OwnedTerm::build(20, |h| h.tuple(&[Term::int(1)]));
        let row = StoredRow::new(roomy, 0).unwrap();
        assert!(eq_exact(row.object(), h.tuple(&[Term::int(1)])));
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
        assert!(eq_exact(k.object(), h.tuple(&[Term::int(2), h.float(0.5)])));
    }
    #[test]
    fn rows_keep_their_place_in_a_chain() {
        let h = Heap::new(256);
        let one = |n: i32| h.tuple(&[Term::int(n)]);
        let mut first = stored(one(1));
        *first.link() = Some(stored(one(2)));
        first.kill();
        first.replace(OwnedTerm::new(h.tuple(&[h.binary(&[7; 100]), Term::int(3)])));
        assert!(first.is_dead() && first.hash() == 7);
        first.revive();
        assert!(!first.is_dead() && first.hash() == 7);
        // What is no tuple replaces nothing.
        first.replace(OwnedTerm::new(Term::int(4)));
        assert_eq!(first.object().as_tuple().map(|t| t.len()), Some(2));
        let next = first.next().as_ref().map(StoredRow::object);
        assert!(next.is_some_and(|t| eq_exact(t, one(2))));
        assert!(first.next().as_ref().is_some_and(|second| second.next().is_none()));
    }
    #[test]
    fn long_chains_are_freed_in_a_loop() {
        let h = Heap::new(64);
        let mut chain = None;
        for _ in 0..if cfg!(miri) { 100 } else { 1_000_000 } {
            let mut row = stored(h.tuple(&[Term::int(1)]));
            *row.link() = chain;
            chain = Some(row);
        }
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
            assert!(k.overwrite(t));
            assert!(eq_exact(to.copy_row(&k), t));
        }
        for t in [Term::int(1), h.tuple(&[flat]), h.list(&[Term::int(1); 2]), large] {
            assert!(!k.overwrite(t));
            assert!(eq_exact(k.object(), last));
        }
        // Off-heap objects are released once.
        let holds = |b| h.tuple(&[b]);
        let mut k = stored(h.tuple(&[Term::int(0); 7]));
        assert!(k.overwrite(holds(large)));
        assert!(!k.overwrite(h.tuple(&[Term::int(0); 7])));
        assert!(eq_exact(to.copy_row(&k), holds(large)));
    }
    #[test]
    fn copies_equal_the_tuple() {
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
