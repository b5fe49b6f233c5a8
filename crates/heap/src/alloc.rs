//! [`Heap`]: a process's block, its registers as native code sees them, and allocation.

use std::alloc::{alloc, dealloc, handle_alloc_error, Layout};
use std::cell::Cell;
use std::mem::offset_of;
use std::ptr;

use kvik_sync::InlineHeap;
use kvik_term::word::*;
use kvik_term::{CodeAddress, Term};

use crate::binary::{release_off_heap, release_until};
use crate::frag::Frag;
use crate::literal::{is_literal, Sharing};
use crate::memory_counters::BLOCKS;
use crate::root_pairs::RootPairs;
use crate::roots::{Root, ROOTS};
use crate::spoil::spoil;

/// Smallest block that is allocated, in words, heap and stack together.
pub const LEAST_WORDS: usize = 62;
/// Words kept free below the stack at all times, so that a call pushes its continuation without a
/// check.
pub const STACK_SLACK: usize = 2;
/// A block with less room than for so many words is full.
const FULL: usize = 64;
/// Words of off-heap binaries before a collection is due (OTP's min_bin_vheap_size).
pub const MIN_VHEAP: u32 = 46_422;

/// A process's memory. Native code reads and writes the first fields at the offsets below.
#[repr(C)]
pub struct Heap {
    pub(crate) htop: Cell<*mut u64>,
    /// The top of the stack, which is its lowest word.
    pub(crate) stop: Cell<*mut u64>,
    /// Reductions left in this time slice.
    pub(crate) fcalls: Cell<i64>,
    /// Where the process continues when it runs again.
    pub(crate) ip: Cell<usize>,
    /// Set when a collection is due at the next safepoint.
    pub(crate) gc_due: Cell<bool>,
    pub(crate) exc_class: Cell<u8>,
    /// Number of x registers saved on top of the stack while the process does not run.
    pub(crate) saved: Cell<u16>,
    pub(crate) minor_count: Cell<u16>,
    pub(crate) fullsweep_after: Cell<u16>,
    pub(crate) start: Cell<*mut u64>,
    pub(crate) end: Cell<*mut u64>,
    pub(crate) high_water: Cell<*mut u64>,
    /// Words allocated at `start`: at least `end - start`, or 0 for the inline heap.
    pub(crate) cap: Cell<usize>,
    pub(crate) old_start: Cell<*mut u64>,
    pub(crate) old_top: Cell<*mut u64>,
    /// The end of the old block's objects. The block has one word more there: see `old_off_heap.rs`.
    pub(crate) old_end: Cell<*mut u64>,
    pub(crate) frags: Cell<*mut Frag>,
    pub(crate) frag_words: Cell<usize>,
    /// The memory of `Root::Lent`, while it is not part of the heap yet.
    pub(crate) lent: Cell<*mut Frag>,
    pub(crate) off_heap: Cell<*mut u64>,
    pub(crate) vheap: Cell<usize>,
    pub(crate) roots: [Cell<u64>; ROOTS],
    /// The process dictionary, if any.
    pub(crate) pairs: Cell<Option<Box<RootPairs>>>,
    /// State of a suspended BIF of the process; see `suspended_bif.rs`.
    pub(crate) pinned: Cell<Option<Box<crate::suspended_bif::Suspended>>>,
    pub(crate) min_words: Cell<u32>,
    /// Distance of a noted heap top from `start`, in words: see `nursery_reset.rs`.
    pub(crate) mark: Cell<u32>,
    /// `max_heap_size` in words, 0 for none.
    pub(crate) max_words: Cell<usize>,
    /// Collections so far; only whether it is 0 matters.
    pub(crate) gc_count: Cell<u16>,
    /// Frequency of recent collections: see `gc.rs`.
    pub(crate) often: Cell<u8>,
    /// Calls to skip before the next attempt to free: see `nursery_reset.rs`.
    pub(crate) rest: Cell<u8>,
    /// Words outside the heap at which a collection is due.
    pub(crate) vheap_limit: Cell<u32>,
}

// SAFETY: a heap is used by the thread that runs its process, one at a time; handing it over
// synchronises.
unsafe impl Send for Heap {}

pub(crate) fn block(words: usize) -> *mut u64 {
    let layout = block_layout(words);
    // SAFETY: the size is never zero.
    let p = unsafe { alloc(layout) } as *mut u64;
    if p.is_null() {
        handle_alloc_error(layout)
    }
    BLOCKS.add(words * 8);
    p
}
fn block_layout(words: usize) -> Layout {
    Layout::array::<u64>(words.max(1)).unwrap_or_else(|_| Layout::new::<u64>())
}
/// # Safety
/// `p` came from `block(words)`, and nobody uses it any more; or `words` is 0.
pub(crate) unsafe fn free_block(p: *mut u64, words: usize) {
    if words > 0 {
        BLOCKS.sub(words * 8);
        // SAFETY: as the caller says.
        unsafe {
            spoil(p, words);
            dealloc(p.cast(), block_layout(words))
        }
    }
}

impl Heap {
    pub const HTOP: usize = offset_of!(Heap, htop);
    pub const STOP: usize = offset_of!(Heap, stop);
    pub const FCALLS: usize = offset_of!(Heap, fcalls);
    pub const IP: usize = offset_of!(Heap, ip);
    pub const GC_DUE: usize = offset_of!(Heap, gc_due);
    pub const VHEAP: usize = offset_of!(Heap, vheap);
    pub const PAIRS: usize = offset_of!(Heap, pairs);
    pub const VHEAP_LIMIT: usize = offset_of!(Heap, vheap_limit);

    /// A heap with a block of that many words.
    pub fn new(words: usize) -> Heap {
        let words = words.max(LEAST_WORDS);
        Heap::over(block(words), words, words)
    }
    /// The same, in the inline heap if that is large enough.
    #[inline]
    pub fn within(room: InlineHeap, words: usize) -> Heap {
        let (at, n) = room.into_words();
        // A single call, so that it is inlined.
        let least = words.max(LEAST_WORDS);
        let (start, words, cap) =
            if words > n { (block(least), least, least) } else { (at.as_ptr(), n, 0) };
        Heap::over(start, words, cap)
    }
    /// A heap without a block: everything is allocated in fragments. For building terms outside
    /// processes.
    pub fn detached() -> Heap {
        Heap::over(ptr::null_mut(), 0, 0)
    }
    /// Inlined, so that a process's heap is built in place.
    #[inline(always)]
    fn over(start: *mut u64, words: usize, cap: usize) -> Heap {
        let end = start.wrapping_add(words);
        Heap {
            htop: Cell::new(start),
            stop: Cell::new(end),
            fcalls: Cell::new(0),
            ip: Cell::new(0),
            gc_due: Cell::new(false),
            exc_class: Cell::new(0),
            saved: Cell::new(0),
            minor_count: Cell::new(0),
            start: Cell::new(start),
            end: Cell::new(end),
            high_water: Cell::new(start),
            cap: Cell::new(cap),
            old_start: Cell::new(ptr::null_mut()),
            old_top: Cell::new(ptr::null_mut()),
            old_end: Cell::new(ptr::null_mut()),
            frags: Cell::new(ptr::null_mut()),
            frag_words: Cell::new(0),
            lent: Cell::new(ptr::null_mut()),
            off_heap: Cell::new(ptr::null_mut()),
            vheap: Cell::new(0),
            roots: {
                let roots = [const { Cell::new(NIL) }; ROOTS];
                roots[Root::Message as usize].set(NONE);
                roots
            },
            pairs: Cell::new(None),
            pinned: Cell::new(None),
            min_words: Cell::new(LEAST_WORDS as u32),
            fullsweep_after: Cell::new(u16::MAX),
            mark: Cell::new(Heap::NO_MARK),
            max_words: Cell::new(0),
            gc_count: Cell::new(0),
            often: Cell::new(0),
            rest: Cell::new(0),
            vheap_limit: Cell::new(MIN_VHEAP),
        }
    }

    /// Room for `n` words (at least one), not yet written. Never moves anything.
    #[inline]
    pub fn alloc(&self, n: usize) -> *mut u64 {
        let p = self.htop.get();
        let room = (self.stop.get() as usize).wrapping_sub(p as usize) as isize;
        if room >= ((n + STACK_SLACK) * 8) as isize {
            self.htop.set(p.wrapping_add(n));
            p
        } else {
            self.alloc_in_fragment(n)
        }
    }

    #[cold]
    pub(crate) fn alloc_in_fragment(&self, n: usize) -> *mut u64 {
        let f = self.frags.get();
        // SAFETY: fragments in the chain are live and ours.
        unsafe {
            if !f.is_null() && (*f).cap - (*f).used >= n {
                let p = Frag::words(f).add((*f).used);
                (*f).used += n;
                self.frag_words.set(self.frag_words.get() + n);
                return p;
            }
            let f = Frag::new(n.max(64).max(self.frag_words.get().min(32_768))).as_ptr();
            (*f).used = n;
            self.link(f, n);
            if self.is_large() && !self.has_room(FULL) {
                // The next test for room would collect, in the middle of a time slice.
                self.gc_due.set(true);
            }
            Frag::words(f)
        }
    }

    /// Returns the last `words` words of the latest `alloc_in_fragment`.
    pub(crate) fn give_back(&self, words: usize) {
        let f = self.frags.get();
        // SAFETY: fragments in the chain are live and ours.
        if let Some(f) = unsafe { f.as_mut() } {
            f.used = f.used.saturating_sub(words);
            self.frag_words.set(self.frag_words.get().saturating_sub(words));
        }
    }

    /// Returns the words behind the first `used` of the latest allocation, the `n` words at `p`.
    #[inline]
    pub(crate) fn free_last(&self, p: *mut u64, n: usize, used: usize) {
        if used == n {
            return;
        }
        // A fragment may end where the block begins.
        if p >= self.start.get() && p < self.end.get() {
            self.htop.set(p.wrapping_add(used));
        } else {
            self.give_back(n - used);
        }
    }

    /// # Safety
    /// `f` is a live fragment nobody else holds.
    pub(crate) unsafe fn link(&self, f: *mut Frag, words: usize) {
        // SAFETY: as the caller says.
        unsafe { (*f).next = self.frags.get() };
        self.frags.set(f);
        let total = self.frag_words.get() + words;
        self.frag_words.set(total);
        if total > self.block_words() {
            self.gc_due.set(true);
        }
    }
    /// Words of the block, as far as it is used.
    #[inline]
    pub(crate) fn block_words(&self) -> usize {
        (self.end.get() as usize - self.start.get() as usize) / 8
    }

    /// Keeps `words` free words of the block unused while `f` allocates.
    pub fn keep_room<R>(&self, words: usize, f: impl FnOnce() -> R) -> R {
        let stop = self.stop.get();
        self.stop.set(stop.wrapping_sub(words));
        let r = f();
        self.stop.set(stop);
        r
    }

    /// Keeps all free words of the block unused while `f` allocates.
    pub fn in_fragments<R>(&self, f: impl FnOnce() -> R) -> R {
        let top = self.htop.replace(self.stop.get());
        let r = f();
        self.htop.set(top);
        r
    }

    /// Words free between heap and stack, without the slack below the stack.
    pub fn room(&self) -> usize {
        ((self.stop.get() as usize).saturating_sub(self.htop.get() as usize) / 8)
            .saturating_sub(STACK_SLACK)
    }

    /// A deep copy of a term of some other heap.
    pub fn copy<'h>(&'h self, t: Term<'_>) -> Term<'h> {
        self.copy_with(t, &Sharing::now())
    }
    fn copy_with<'h>(&'h self, t: Term<'_>, sharing: &Sharing) -> Term<'h> {
        if let Some(t) = t.immediate() {
            return t;
        }
        let n = crate::copy::size(t, sharing);
        if n == 0 {
            // SAFETY: a literal lives for as long as a process may reach it.
            return unsafe { Term::from_word(t.word()) };
        }
        let mut top = self.alloc(n);
        let others = self.off_heap.get();
        let mut off = others;
        // SAFETY: there is room for `n` words at `top`; the copy is on this heap.
        unsafe {
            let w = crate::copy::copy(t, sharing, &mut top, &mut off);
            self.take_copied(off, others);
            Term::from_word(w)
        }
    }

    /// The same, with literals copied too.
    pub fn copy_all<'h>(&'h self, t: Term<'_>) -> Term<'h> {
        self.copy_with(t, &Sharing::Nothing)
    }

    /// The same, if the copy has at most `most` words and fits into the block.
    #[inline]
    pub fn copy_small<'h>(&'h self, t: Term<'_>, most: usize) -> Option<Term<'h>> {
        if let Some(t) = t.immediate() {
            return Some(t);
        }
        let start = self.htop.get();
        if let Some(words) = crate::copy::flat(t).filter(|w| w.len() <= most.min(self.room())) {
            // SAFETY: these words of the block are free.
            unsafe {
                crate::copy::copy_words(words.as_ptr(), start, words.len());
                self.htop.set(start.add(words.len()));
                return Some(Term::from_word(start as u64 + TAG_BOXED));
            }
        }
        let sharing = &Sharing::now();
        let mut top = start;
        let (end, others) = (start.wrapping_add(most.min(self.room())), self.off_heap.get());
        let mut off = others;
        // SAFETY: the room's words are free; the copy is on this heap, or its off-heap objects are
        // given back.
        unsafe {
            let copy = crate::copy::copy_up_to(t, sharing, &mut top, end, &mut off);
            match copy {
                Some(_) if off == others => {}
                Some(_) => self.take_copied(off, others),
                None => release_until(off, others),
            }
            let w = copy?;
            self.htop.set(top);
            Some(Term::from_word(w))
        }
    }
    /// Takes over the off-heap objects of a copy, which precede the heap's own.
    ///
    /// # Safety
    /// They are live and become ours.
    unsafe fn take_copied(&self, copied: *mut u64, own: *mut u64) {
        let (mut p, mut bytes) = (copied, 0);
        // SAFETY: as the caller says, with the layouts of `word`.
        unsafe {
            while p != own {
                if header_subtag(*p) == REFC_BIN {
                    bytes += *p.add(1) as usize;
                }
                p = *crate::binary::next_word(p) as *mut u64;
            }
        }
        self.off_heap.set(copied);
        self.count_off_heap(bytes);
    }

    /// Prepends a chain of off-heap objects to the heap's own.
    ///
    /// # Safety
    /// The chain's objects are live and become ours.
    pub(crate) unsafe fn take_chain(&self, chain: *mut u64) {
        if chain.is_null() {
            return;
        }
        // SAFETY: as the caller says.
        unsafe {
            let mut p = chain;
            loop {
                if header_subtag(*p) == REFC_BIN {
                    self.count_off_heap(*p.add(1) as usize);
                }
                let next = crate::binary::next_word(p);
                if *next == 0 {
                    *next = self.off_heap.get() as u64;
                    break;
                }
                p = *next as *mut u64;
            }
        }
        self.off_heap.set(chain);
    }

    /// Counts bytes outside the heap that this heap keeps alive.
    pub(crate) fn count_off_heap(&self, bytes: usize) {
        let v = self.vheap.get() + bytes;
        self.vheap.set(v);
        if v / 8 > self.vheap_limit.get() as usize {
            self.gc_due.set(true);
        }
    }

    /// Whether to collect before something of `bytes` bytes is made, because that would free room
    /// for it. The memory of dead objects is then reused while it is in the CPU's cache.
    pub fn worth_collecting(&self, bytes: usize) -> bool {
        const MUCH: usize = 128 << 10;
        let young = (self.htop.get() as usize).wrapping_sub(self.start.get() as usize);
        bytes >= MUCH
            && self.vheap.get() > 0
            && self.vheap.get().saturating_add(bytes) / 8 > self.vheap_limit.get() as usize
            && young <= bytes
    }
    /// Raises the limit, so that `bytes` more off-heap bytes, up to a maximum, make no collection
    /// due.
    pub fn expect_off_heap(&self, bytes: usize) {
        const MOST: usize = 4 << 20;
        self.allow_off_heap((self.vheap.get() + bytes.min(MOST)) / 8 + MIN_VHEAP as usize);
    }
    /// Raises the limit to `words`, if it is lower. A collection sets it anew.
    pub fn allow_off_heap(&self, words: usize) {
        let words = u32::try_from(words).unwrap_or(u32::MAX);
        self.vheap_limit.set(words.max(self.vheap_limit.get()));
    }

    pub fn gc_due(&self) -> bool {
        self.gc_due.get()
    }
    pub fn ask_for_gc(&self) {
        self.gc_due.set(true)
    }
    pub fn reductions_left(&self) -> i64 {
        self.fcalls.get()
    }
    pub fn set_reductions(&self, n: i64) {
        self.fcalls.set(n)
    }
    /// Uses reductions, but no more than are left: as in OTP the rest costs nothing.
    pub fn bump_reductions(&self, n: i64) {
        let left = self.fcalls.get();
        self.fcalls.set(if n < left { left - n } else { left.min(0) })
    }
    pub fn exc_class(&self) -> u8 {
        self.exc_class.get()
    }
    pub fn set_exc_class(&self, c: u8) {
        self.exc_class.set(c)
    }
    pub fn ip(&self) -> usize {
        self.ip.get()
    }
    /// Sets where the process continues when it runs next.
    pub fn set_ip(&self, ip: CodeAddress) {
        self.ip.set(ip.get())
    }

    /// Whether this word is a pointer into literals.
    pub fn is_literal_term(t: Term<'_>) -> bool {
        !t.is_immediate() && is_literal((t.word() & !7) as *const u64)
    }

    /// Sizes in words.
    pub fn sizes(&self) -> HeapSizes {
        let words = |a: *mut u64, b: *mut u64| (b as usize).saturating_sub(a as usize) / 8;
        HeapSizes {
            block: words(self.start.get(), self.end.get()),
            used: words(self.start.get(), self.htop.get()),
            stack: words(self.stop.get(), self.end.get()),
            old_block: words(self.old_start.get(), self.old_end.get()),
            old_used: words(self.old_start.get(), self.old_top.get()),
            fragments: self.frag_words.get(),
            off_heap: self.vheap.get() / 8,
            off_heap_limit: self.vheap_limit.get() as usize,
        }
    }
    /// Number of x registers saved while the process does not run.
    pub fn saved_x(&self) -> usize {
        self.saved.get() as usize
    }
    /// The x registers saved while the process does not run.
    ///
    /// # Safety
    /// The process does not run, and its heap is not collected while they are borrowed.
    pub unsafe fn saved<'h>(&'h self) -> &'h [Term<'h>] {
        // SAFETY: so many words were saved there, which are terms; a term is one word.
        unsafe { std::slice::from_raw_parts(self.stop.get().cast(), self.saved_x()) }
    }
    /// Saves `args` as the x registers of a process that starts or continues with them.
    ///
    /// # Panics
    /// Without `has_room` for them.
    pub fn save_args<'h>(&'h self, args: &[Term<'h>]) {
        assert!(self.has_room(args.len()) && self.saved.get() == 0);
        for t in args.iter().rev() {
            // SAFETY: there is room, and it is a term.
            unsafe { self.push_stack(t.word()) };
        }
        self.saved.set(args.len() as u16);
    }
    /// Saves x registers when the process stops running.
    ///
    /// # Safety
    /// `x` points to `n` terms of this heap; there is room for them.
    pub unsafe fn save_x(&self, x: *const u64, n: usize) {
        let stop = self.stop.get().wrapping_sub(n);
        // SAFETY: as the caller says.
        unsafe { ptr::copy_nonoverlapping(x, stop, n) };
        self.stop.set(stop);
        self.saved.set(n as u16);
    }
    /// Restores the saved x registers.
    ///
    /// # Safety
    /// `x` has room for all x registers.
    #[inline]
    pub unsafe fn load_x(&self, x: *mut u64) {
        self.often.set(self.often.get().min(crate::block_size::CARRIED_OVER).saturating_sub(1));
        let n = self.saved.replace(0) as usize;
        if n > 0 {
            let stop = self.stop.get();
            // SAFETY: so many words were saved there.
            unsafe { ptr::copy_nonoverlapping(stop, x, n) };
            self.stop.set(stop.wrapping_add(n));
        }
    }
    /// The stack, from its top (the word last pushed) to its bottom, without x registers.
    ///
    /// # Safety
    /// Native code is not changing it meanwhile.
    pub unsafe fn stack(&self) -> &[u64] {
        let top = self.stop.get().wrapping_add(self.saved_x());
        let n = (self.end.get() as usize - top as usize) / 8;
        // SAFETY: the words between stop and end are the stack.
        unsafe { std::slice::from_raw_parts(top, n) }
    }
    /// Pushes a word on the stack.
    ///
    /// # Safety
    /// There is room for it, and it is a term or a code address.
    pub unsafe fn push_stack(&self, w: u64) {
        let p = self.stop.get().wrapping_sub(1);
        // SAFETY: as the caller says.
        unsafe { *p = w };
        self.stop.set(p);
    }
    /// Whether `words` words are free between heap and stack, beyond what calls may take.
    pub fn has_room(&self, words: usize) -> bool {
        self.has_words(words + STACK_SLACK)
    }
    /// Whether there are so many words at all.
    pub fn has_words(&self, words: usize) -> bool {
        let room = self.stop.get() as isize - self.htop.get() as isize;
        room >= (words * 8) as isize
    }
    /// Cuts the stack to `left` words from its bottom (when an exception is caught).
    ///
    /// # Safety
    /// There are so many words, and the first of them is a continuation, or the start of a frame of
    /// the code that continues; or `left` is 0, and nothing returns.
    pub unsafe fn cut_stack(&self, left: usize) {
        self.stop.set(self.end.get().wrapping_sub(left));
    }
}

#[derive(Copy, Clone, Debug, Default)]
pub struct HeapSizes {
    pub block: usize,
    pub used: usize,
    pub stack: usize,
    pub old_block: usize,
    pub old_used: usize,
    pub fragments: usize,
    /// What the young heap's binaries hold outside it, and at how much the next collection is due.
    pub off_heap: usize,
    pub off_heap_limit: usize,
}
impl HeapSizes {
    /// The words of terms, garbage included.
    pub fn terms(&self) -> usize {
        self.used + self.old_used + self.fragments
    }
}

impl Drop for Heap {
    fn drop(&mut self) {
        self.pinned.take();
        self.keep_borrowed_message();
        // SAFETY: the heap is being dropped, so no term of it is in use.
        unsafe {
            release_off_heap(self.off_heap.get());
            let mut f = self.frags.get();
            while !f.is_null() {
                let next = (*f).next;
                Frag::free(f);
                f = next;
            }
            free_block(self.start.get(), self.cap.get());
            self.free_old_block();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kvik_term::cmp::eq_exact;

    #[test]
    fn a_small_copy_holds_its_binaries_or_none() {
        let (from, to) = (Heap::new(1000), Heap::new(1000));
        let list = from.list(&[Term::int(1); 100]);
        let t = from.tuple(&[from.binary(&[7; 1000]), list]);
        let holders = || from.off_heap_binaries()[0].2;
        assert!(to.copy_small(t, 64).is_none() && to.off_heap_binaries().is_empty());
        assert_eq!((holders(), to.sizes().off_heap), (1, 0));
        assert!(to.copy_small(t, 500).is_some_and(|copy| copy.as_tuple().is_some()));
        assert_eq!((holders(), to.sizes().off_heap), (2, 1000 / 8));
        drop(to);
        assert_eq!(holders(), 1);
    }

    #[test]
    fn a_copy_of_lists_is_equal_however_they_lie() {
        let from = Heap::new(10_000);
        let ints: Vec<_> = (0..40).map(Term::int).collect();
        let backwards = ints.iter().fold(Term::NIL, |tail, n| from.cons(*n, tail));
        // Two lists with interleaved cells, and one that jumps after ten.
        let (mut a, mut b) = (Term::NIL, Term::int(9));
        for n in &ints {
            (a, b) = (from.cons(*n, a), from.cons(*n, b));
        }
        let jumps = ints[..10].iter().fold(a, |tail, n| from.cons(*n, tail));
        let improper = from.cons(Term::int(1), from.binary(&[1; 70]));
        let one = from.cons(Term::int(2), Term::NIL);
        let nested = from.list(&[one, jumps, from.tuple(&[b, improper]), backwards]);
        let lists = [from.list(&ints), backwards, a, b, jumps, improper, one, nested];
        let step = if cfg!(miri) { 3 } else { 1 };
        for x in lists.into_iter().step_by(step) {
            for y in lists.into_iter().rev().step_by(step) {
                let t = from.tuple(&[from.tuple(&[x, Term::NIL]), y, from.list(&[x, y]), one]);
                let to = Heap::new(4000);
                assert!(to.copy_small(t, 2000).is_some_and(|copy| eq_exact(copy, t)));
                assert!(eq_exact(to.copy(t), t));
                assert_eq!(to.sizes().used, 2 * crate::copy::size(t, &Sharing::Nothing));
            }
        }
    }
}
