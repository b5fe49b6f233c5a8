//! Fragments: blocks of words beside a process's heap, and [`OwnedTerm`], a term in a fragment of
//! its own, which is what messages, table rows and timers hold.

use std::alloc::{alloc, dealloc, handle_alloc_error, Layout};
use std::ptr::{self, NonNull};

use kvik_term::word::*;
use kvik_term::Term;

use crate::binary::{each_resource, release_off_heap, MagicResource};
use crate::copy;
use crate::literal::{Leaving, Sharing};
use crate::spoil::spoil;
use crate::Heap;

/// A fragment's header; its words follow it in the same allocation.
#[repr(C)]
pub struct Frag {
    pub(crate) next: *mut Frag,
    /// Words that fit (a [`crate::StoredRow`] keeps something else here), words in use.
    pub(crate) cap: usize,
    pub(crate) used: usize,
    /// Off-heap objects within, while the fragment is not part of a heap.
    pub(crate) off_heap: *mut u64,
}

const HEAD: usize = size_of::<Frag>() / 8;

impl Frag {
    fn layout(cap: usize) -> Layout {
        Layout::array::<u64>(HEAD + cap).unwrap_or_else(|_| Layout::new::<Frag>())
    }
    pub(crate) fn new(cap: usize) -> NonNull<Frag> {
        let layout = Frag::layout(cap);
        // SAFETY: the layout has at least the header's size.
        unsafe {
            let p = alloc(layout) as *mut Frag;
            let Some(p) = NonNull::new(p) else { handle_alloc_error(layout) };
            p.write(Frag { next: ptr::null_mut(), cap, used: 0, off_heap: ptr::null_mut() });
            p
        }
    }
    /// # Safety
    /// `p` came from `new`, nobody uses its words any more, its off-heap objects were taken care
    /// of.
    pub(crate) unsafe fn free(p: *mut Frag) {
        // SAFETY: as the caller says.
        unsafe {
            spoil(Frag::words(p), (*p).cap);
            dealloc(p.cast(), Frag::layout((*p).cap))
        }
    }
    /// # Safety
    /// `p` is live.
    pub(crate) unsafe fn words(p: *mut Frag) -> *mut u64 {
        // SAFETY: the words follow the header.
        unsafe { p.cast::<u64>().add(HEAD) }
    }
}

/// A term that owns the memory it lives in, so that it may be kept or sent to another thread.
pub struct OwnedTerm {
    pub(crate) root: u64,
    pub(crate) frag: *mut Frag,
}

// SAFETY: the fragment is owned alone; what it points to outside (literals, off-heap binaries,
// entries) is shared by atomic counts or never freed.
unsafe impl Send for OwnedTerm {}
// SAFETY: a shared OwnedTerm only gives out reads of words nobody writes.
unsafe impl Sync for OwnedTerm {}

impl OwnedTerm {
    /// A copy of a term that may be kept for long, so literals are copied too; an immediate needs
    /// no memory.
    #[inline]
    pub fn new(t: Term<'_>) -> OwnedTerm {
        OwnedTerm::copied(t, || Sharing::Nothing)
    }
    /// A copy that shares literals. Only for messages, in transit or in a mailbox: freeing literals
    /// searches those.
    #[inline]
    pub fn message(t: Term<'_>) -> OwnedTerm {
        OwnedTerm::copied(t, Sharing::now)
    }
    #[inline]
    fn copied(t: Term<'_>, s: impl FnOnce() -> Sharing) -> OwnedTerm {
        match t.is_immediate() {
            true => OwnedTerm { root: t.word(), frag: ptr::null_mut() },
            false => OwnedTerm::copied_object(t, s),
        }
    }
    #[inline(never)]
    fn copied_object(t: Term<'_>, s: impl FnOnce() -> Sharing) -> OwnedTerm {
        if let Some(words) = copy::flat(t) {
            return OwnedTerm::of_object(words);
        }
        let s = &s();
        match copy::size(t, s) {
            0 => OwnedTerm { root: t.word(), frag: ptr::null_mut() },
            size => OwnedTerm::copied_words(t, s, size),
        }
    }
    /// A boxed object that points to nothing.
    fn of_object(words: &[u64]) -> OwnedTerm {
        let f = Frag::new(words.len()).as_ptr();
        // SAFETY: the new fragment has room for the words and is ours alone.
        unsafe {
            let at = Frag::words(f);
            copy::copy_words(words.as_ptr(), at, words.len());
            (*f).used = words.len();
            OwnedTerm { root: at as u64 + TAG_BOXED, frag: f }
        }
    }
    fn copied_words(t: Term<'_>, s: &Sharing, size: usize) -> OwnedTerm {
        let f = Frag::new(size).as_ptr();
        // SAFETY: the new fragment has room for `size` words and is ours alone.
        unsafe {
            let mut top = Frag::words(f);
            let root = copy::copy(t, s, &mut top, &mut (*f).off_heap);
            (*f).used = size;
            OwnedTerm { root, frag: f }
        }
    }
    /// A term that `f` builds in memory of its own. `words` is an estimate of its size; if it needs
    /// more, it is copied once more.
    pub fn build(words: usize, f: impl for<'h> FnOnce(&'h Heap) -> Term<'h>) -> OwnedTerm {
        let heap = Heap::detached();
        let first = Frag::new(words.max(1)).as_ptr();
        heap.frags.set(first);
        let root = f(&heap).word();
        // SAFETY: the chain is the heap's own; where it is one fragment it becomes the term's, with
        // all off-heap objects, and the heap keeps nothing.
        unsafe {
            if heap.frags.get() != first || !(*first).next.is_null() {
                return OwnedTerm::message(Term::from_word(root));
            }
            (*first).off_heap = heap.off_heap.replace(ptr::null_mut());
            heap.frags.set(ptr::null_mut());
        }
        OwnedTerm { root, frag: first }
    }
    /// A tuple of immediates.
    pub fn tuple<const N: usize>(elements: [Term<'static>; N]) -> OwnedTerm {
        let f = Frag::new(N + 1).as_ptr();
        // SAFETY: the new fragment has room for the header and the elements, and is ours alone.
        unsafe {
            let at = Frag::words(f);
            at.write(header(TUPLE, N));
            for (i, t) in elements.iter().enumerate() {
                at.add(1 + i).write(t.word());
            }
            (*f).used = N + 1;
            OwnedTerm { root: at as u64 + TAG_BOXED, frag: f }
        }
    }
    /// A term without memory.
    pub const fn immediate(t: Term<'static>) -> OwnedTerm {
        OwnedTerm { root: t.word(), frag: ptr::null_mut() }
    }
    /// The term itself, if it needs no memory.
    #[inline]
    pub fn as_immediate(&self) -> Option<Term<'static>> {
        self.term().immediate()
    }
    /// Prefetches the term's first words, which are used soon.
    #[inline]
    pub fn prefetch(&self) {
        use std::arch::x86_64::{_mm_prefetch, _MM_HINT_T0};
        // SAFETY: a hint, which does nothing for what is no address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(self.root as *const i8) }
    }
    #[inline]
    pub fn term(&self) -> Term<'_> {
        // SAFETY: the fragment lives as long as self and does not change.
        unsafe { Term::from_word(self.root) }
    }
    /// Whether it may point to one of these literals.
    pub fn may_refer(&self, to: &Leaving) -> bool {
        to.has(self.root) || self.block().iter().any(|w| to.has(*w))
    }
    /// The words of its objects.
    pub fn block(&self) -> &[u64] {
        let f = self.frag;
        if f.is_null() {
            return &[];
        }
        // SAFETY: the fragment is live, and its words in use were written.
        unsafe { std::slice::from_raw_parts(Frag::words(f), (*f).used) }
    }
    /// Passes the resources that its references keep alive to `f`.
    pub fn each_resource(&self, f: &mut dyn FnMut(&MagicResource)) {
        if !self.frag.is_null() {
            // SAFETY: a fragment that is not null is live, and its objects do not change.
            unsafe { each_resource((*self.frag).off_heap, f) }
        }
    }
    /// Words of the fragment (0 for an immediate).
    pub fn words(&self) -> usize {
        if self.frag.is_null() {
            0
        } else {
            // SAFETY: a fragment that is not null is live.
            unsafe { (*self.frag).used }
        }
    }
}

impl Heap {
    /// A copy of a term that has memory of its own. If it shares nothing with others, it is one run
    /// of words, and only its internal pointers change.
    #[inline]
    pub fn copy_owned<'h>(&'h self, o: &OwnedTerm) -> Term<'h> {
        // SAFETY: a fragment that is not null is live.
        if o.frag.is_null() || unsafe { !(*o.frag).off_heap.is_null() } {
            return self.copy(o.term());
        }
        let from = o.block();
        let own = from.as_ptr_range();
        let own = own.start as u64..own.end as u64;
        let is_own = |w: u64| own.contains(&w);
        if from.is_empty() || !is_own(o.root) {
            return self.copy(o.term());
        }
        let top = self.htop.get();
        let to = self.alloc(from.len());
        let by = (to as u64).wrapping_sub(own.start);
        let mut i = 0;
        // SAFETY: there is room for as many words; these are whole objects and list cells, as the
        // headers say, and what points into them points to the same place in the copy.
        unsafe {
            while i < from.len() {
                let w = *from.get_unchecked(i);
                if is_header(w) {
                    *to.add(i) = w;
                    if !copy::has_terms(w) {
                        let n = header_words(w).min(from.len() - 1 - i);
                        copy::copy_words(from.as_ptr().add(i + 1), to.add(i + 1), n);
                        i += n;
                    }
                } else if is_immediate(w) {
                    *to.add(i) = w;
                } else if is_own(w) {
                    *to.add(i) = w.wrapping_add(by);
                } else {
                    return self.copy_instead(o, top);
                }
                i += 1;
            }
            Term::from_word(o.root.wrapping_add(by))
        }
    }
    /// The same for one that shares literals. The previous allocation is undone if it is in the
    /// block, whose top was at `top`.
    #[cold]
    fn copy_instead<'h>(&'h self, o: &OwnedTerm, top: *mut u64) -> Term<'h> {
        self.htop.set(top);
        self.copy(o.term())
    }
}

impl Clone for OwnedTerm {
    fn clone(&self) -> OwnedTerm {
        OwnedTerm::new(self.term())
    }
}

impl Drop for OwnedTerm {
    #[inline]
    fn drop(&mut self) {
        if !self.frag.is_null() {
            // SAFETY: the fragment is ours alone; its off-heap objects give back their counts.
            unsafe {
                release_off_heap((*self.frag).off_heap);
                Frag::free(self.frag);
            }
        }
    }
}

impl Default for OwnedTerm {
    fn default() -> Self {
        OwnedTerm { root: NIL, frag: ptr::null_mut() }
    }
}
