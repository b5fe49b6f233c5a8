//! The collector: copying, in two generations. See `docs/internals/gc.md`.
//!
//! Objects that survive one collection are mature, and the next moves them to the old heap. A minor
//! collection looks at the young block and the fragments only. Literals never move.

use std::ptr;
use std::sync::Arc;

use kvik_term::word::*;

use crate::alloc::{block, free_block, Heap, MIN_VHEAP};
use crate::binary::{next_word, release_one};
use crate::block_size::{
    is_worth_moving, next_size, BUSY_WORDS, COLLECTION, FIT_IDLE, MINOR_PER_FULL,
};
use crate::copy::{copy_once, copy_words, has_terms, object_words, AddressMap};
use crate::frag::Frag;
use crate::literal::{is_literal, Leaving};
use crate::memory_counters::ShardedCounter;
use crate::spare_room::release_exchanged;

/// Words of the first block of OTP's processes. kvik's begin with less; collections that only lead
/// up to this size are not counted.
const FIRST_BLOCK: usize = 233;

/// What a collection did, in words.
#[derive(Copy, Clone, Debug, Default)]
pub struct GcStats {
    pub full: bool,
    pub live: usize,
    pub reclaimed: usize,
    /// The total with the requested words, and the limit, if there is a `max_heap_size`.
    pub over: Option<Limited>,
}

/// A heap's words and its `max_heap_size`.
#[derive(Copy, Clone, Debug)]
pub struct Limited {
    pub used: usize,
    pub max: usize,
}

/// Where objects go, and how to tell which ones move.
#[derive(Copy, Clone)]
struct Spaces {
    /// Next free word of the young and old to-spaces.
    top: *mut u64,
    old_top: *mut u64,
    /// Objects in `[mature_lo, mature_hi)` go to the old to-space.
    mature_lo: usize,
    mature_len: usize,
    /// Objects in this range stay (the old heap, in a minor collection).
    stay_lo: usize,
    stay_len: usize,
}

/// A collection under way.
struct Mover {
    to: Spaces,
    /// Literals that are to be freed; those the heap refers to are copied.
    leaving: Option<Box<Copies>>,
}

struct Copies {
    of: Arc<Leaving>,
    /// New addresses of the copied objects. (Other processes use the originals too, so no
    /// forwarding mark can be written there.)
    all: AddressMap,
    off_heap: *mut u64,
}

impl Copies {
    /// The word for an object that does not move: itself, or its copy if it is a literal to be
    /// freed.
    ///
    /// # Safety
    /// As for `Spaces::word`.
    unsafe fn literal(&mut self, to: &mut Spaces, w: u64) -> u64 {
        if !self.of.has(w) {
            return w;
        }
        // SAFETY: as the caller says; each object is copied once, and there is room for all.
        unsafe { copy_once(w, &mut self.all, &mut to.top, &mut self.off_heap) }
    }
}

impl Spaces {
    /// Whether all objects but literals move to the young to-space: in a full collection, and in a
    /// process's first.
    fn is_single(&self) -> bool {
        self.mature_len == 0 && self.stay_len == 0
    }
    #[inline(always)]
    fn stays<const SINGLE: bool>(&self, p: *const u64) -> bool {
        is_literal(p) || !SINGLE && (p as usize).wrapping_sub(self.stay_lo) < self.stay_len
    }
    /// Room for the `n` words of the object at `p`.
    #[inline(always)]
    fn room<const SINGLE: bool>(&mut self, p: *const u64, n: usize) -> *mut u64 {
        let mature = !SINGLE && (p as usize).wrapping_sub(self.mature_lo) < self.mature_len;
        let q = if mature { self.old_top } else { self.top };
        let next = q.wrapping_add(n);
        if mature {
            self.old_top = next;
        } else {
            self.top = next;
        }
        q
    }
    /// The word to use after the object it points to has moved; `literal` says it for an object that
    /// does not move.
    ///
    /// # Safety
    /// `w` is a term of the heap under collection; the to-spaces have room. `SINGLE` is as
    /// `is_single` says, or false.
    #[inline(always)]
    unsafe fn word<const SINGLE: bool>(
        &mut self,
        w: u64,
        literal: &mut impl FnMut(&mut Spaces, u64) -> u64,
    ) -> u64 {
        // SAFETY: as the caller says.
        unsafe {
            if is_list(w) {
                let p = (w - TAG_LIST) as *mut u64;
                if self.stays::<SINGLE>(p) {
                    return literal(self, w);
                }
                if *p == NONE {
                    return *p.add(1);
                }
                let q = self.room::<SINGLE>(p, 2);
                *q = *p;
                *q.add(1) = *p.add(1);
                let new = q as u64 + TAG_LIST;
                *p = NONE;
                *p.add(1) = new;
                new
            } else if is_boxed(w) {
                let p = (w - TAG_BOXED) as *mut u64;
                if self.stays::<SINGLE>(p) {
                    return literal(self, w);
                }
                let h = *p;
                if is_boxed(h) {
                    return h;
                }
                let n = object_words(h);
                let q = self.room::<SINGLE>(p, n);
                copy_words(p, q, n);
                let new = q as u64 + TAG_BOXED;
                *p = new;
                new
            } else {
                w
            }
        }
    }
    /// Scans a to-space, the old one if `OLD`, from `from` on; returns the end of the scan.
    ///
    /// # Safety
    /// `from` is the start of an object or cell in the to-space, or its top. `SINGLE` as for `word`.
    #[inline(always)]
    unsafe fn scan<const OLD: bool, const SINGLE: bool>(
        &mut self,
        mut from: *mut u64,
        mut literal: impl FnMut(&mut Spaces, u64) -> u64,
    ) -> *mut u64 {
        // A copy of its own stays in registers: each object's place depends on the one before.
        let mut to = *self;
        // SAFETY: between `from` and the top there are whole objects and cells.
        unsafe {
            while from < if OLD { to.old_top } else { to.top } {
                let w = *from;
                if is_header(w) {
                    if header_subtag(w) == MATCH_CTX {
                        let orig = to.word::<SINGLE>(*from.add(1), &mut literal);
                        *from.add(1) = orig;
                        *from.add(2) = first_byte(orig);
                    }
                    if !has_terms(w) {
                        from = from.add(header_words(w));
                    }
                } else if !is_immediate(w) {
                    *from = to.word::<SINGLE>(w, &mut literal);
                }
                from = from.add(1);
            }
        }
        *self = to;
        from
    }
}

impl Mover {
    /// # Safety
    /// As for `Spaces::word`.
    #[inline(always)]
    unsafe fn word(&mut self, w: u64) -> u64 {
        let leaving = &mut self.leaving;
        let mut literal = |to: &mut Spaces, w| match leaving {
            None => w,
            // SAFETY: as the caller says.
            Some(all) => unsafe { all.literal(to, w) },
        };
        // SAFETY: as the caller says.
        unsafe { self.to.word::<false>(w, &mut literal) }
    }
    /// # Safety
    /// The words are terms (or code addresses) of the heap under collection.
    unsafe fn words(&mut self, p: *mut u64, n: usize) {
        // SAFETY: as the caller says.
        unsafe {
            for i in 0..n {
                let w = *p.add(i);
                if !is_immediate(w) {
                    *p.add(i) = self.word(w);
                }
            }
        }
    }
    /// # Safety
    /// As for `Spaces::scan`.
    unsafe fn scan(&mut self, from: *mut u64, old: bool) -> *mut u64 {
        let to = &mut self.to;
        // SAFETY: as the caller says.
        unsafe {
            match (&mut self.leaving, old) {
                (None, false) if to.is_single() => to.scan::<false, true>(from, |_, w| w),
                (None, false) => to.scan::<false, false>(from, |_, w| w),
                (None, true) => to.scan::<true, false>(from, |_, w| w),
                (Some(all), false) => to.scan::<false, false>(from, |to, w| all.literal(to, w)),
                (Some(all), true) => to.scan::<true, false>(from, |to, w| all.literal(to, w)),
            }
        }
    }
}

/// # Safety
/// `orig` is a heap or off-heap binary.
unsafe fn first_byte(orig: u64) -> u64 {
    // SAFETY: the layouts of `word`.
    unsafe {
        let p = (orig - TAG_BOXED) as *const u64;
        match header_subtag(*p) {
            REFC_BIN => *p.add(4),
            _ => p.add(2) as u64,
        }
    }
}

pub(crate) fn distance(a: *mut u64, b: *mut u64) -> usize {
    (b as usize).saturating_sub(a as usize) / 8
}

kvik_state::vm_state! {
    static COLLECTIONS: ShardedCounter = ShardedCounter::new();
    static RECLAIMED: ShardedCounter = ShardedCounter::new();
}

/// Collections of all heaps so far, and the words they freed.
pub fn totals() -> (u64, u64) {
    (COLLECTIONS.sum() as u64, RECLAIMED.sum() as u64)
}

/// Reductions of a collection that moved so many words; at least one, as in OTP.
fn cost(live: usize) -> i64 {
    (live / 10).max(1) as i64
}

impl GcStats {
    /// Reductions that it costs the process.
    pub fn reductions(&self) -> u64 {
        cost(self.live) as u64
    }
}

impl Heap {
    /// Collects the heap of a process that is not running.
    pub fn collect_parked(&mut self, full: bool) -> GcStats {
        let none = ptr::NonNull::<u64>::dangling().as_ptr();
        // SAFETY: `self` is borrowed exclusively, so no term of it is in use elsewhere; a process
        // that is not running has its registers on its stack.
        unsafe { self.collect(none, 0, 0, full) }
    }
    /// Collects the heap, copying what it holds of these literals; `None` if it holds none.
    pub fn copy_literals(&mut self, leaving: &Arc<Leaving>) -> Option<GcStats> {
        if !self.may_refer(leaving) {
            return None;
        }
        self.keep_borrowed_message();
        let mature = distance(self.start.get(), self.high_water.get());
        let none = ptr::NonNull::<u64>::dangling().as_ptr();
        let copies =
            Copies { of: leaving.clone(), all: AddressMap::default(), off_heap: ptr::null_mut() };
        let need = crate::alloc::STACK_SLACK;
        // SAFETY: as for `collect_parked`.
        Some(unsafe { self.run(none, 0, need, false, mature, Some(Box::new(copies))) })
    }
    /// Scans all words conservatively, whatever they are.
    fn may_refer(&self, to: &Leaving) -> bool {
        let pairs = self.pairs.take();
        let found = pairs.iter().flat_map(|p| &p.all).flatten().any(|w| to.has(*w));
        self.pairs.set(pairs);
        found
            || self.roots.iter().any(|r| to.has(r.get()))
            || self.any_block(&mut |words| words.iter().any(|w| to.has(*w)))
    }
    /// Passes each range of words in use to `f`: those of objects, and the stack. Stops when `f`
    /// returns true.
    pub fn any_block(&self, f: &mut dyn FnMut(&[u64]) -> bool) -> bool {
        let blocks = [
            (self.start.get(), self.htop.get()),
            (self.stop.get(), self.end.get()),
            (self.old_start.get(), self.old_top.get()),
        ];
        // SAFETY: these words are in use, so were written; fragments are live.
        unsafe {
            let mut see = |p: *const u64, n| n > 0 && f(std::slice::from_raw_parts(p, n));
            let mut in_frag = |f: *mut Frag| !f.is_null() && see(Frag::words(f), (*f).used);
            let mut f = self.frags.get();
            while !f.is_null() {
                if in_frag(f) {
                    return true;
                }
                f = (*f).next;
            }
            in_frag(self.lent.get()) || blocks.iter().any(|(p, end)| see(*p, distance(*p, *end)))
        }
    }
    /// Least words of a block; minor collections before a full one; most words in total (0: no
    /// limit).
    pub fn set_limits(&self, min: usize, fullsweep_after: usize, max: usize) {
        self.min_words.set(min.min(FIT_IDLE as usize - 1) as u32);
        self.fullsweep_after.set(fullsweep_after.min(u16::MAX as usize) as u16);
        self.max_words.set(max);
    }
    /// The most words that the settings allow; 0 for no limit.
    #[inline]
    pub fn max_words(&self) -> usize {
        self.max_words.get()
    }
    /// Minor collections since the last full one.
    pub fn minor_collections(&self) -> u32 {
        self.minor_count.get() as u32
    }

    /// Collects, so that afterwards `need` words are free in the block; does nothing while a BIF is
    /// suspended.
    ///
    /// # Safety
    /// `x` points to `live` terms of this heap; no other term of it is held anywhere but on its
    /// stack and in its roots.
    pub unsafe fn collect(&self, x: *mut u64, live: usize, need: usize, full: bool) -> GcStats {
        self.keep_borrowed_message();
        if self.is_suspended() {
            return self.not_now();
        }
        let need = need + crate::alloc::STACK_SLACK;
        let minor = self.would_be_minor(full);
        if full {
            // That would let the block grow to the size of the old heap, whatever survives.
            self.often.set(0);
        }
        // SAFETY: as the caller says.
        unsafe { self.run(x, live, need, minor, self.mature(), None) }
    }
    /// Whether a collection would leave the old heap alone.
    pub fn would_be_minor(&self, full: bool) -> bool {
        let has_old = !self.old_start.get().is_null();
        let fits = !has_old || distance(self.old_top.get(), self.old_end.get()) >= self.mature();
        let few = self.minor_count.get() < self.fullsweep_after.get();
        !full && fits && few && !self.holds_much_by_old()
    }
    pub(crate) fn mature(&self) -> usize {
        distance(self.start.get(), self.high_water.get())
    }
    unsafe fn run(
        &self,
        x: *mut u64,
        live: usize,
        need: usize,
        minor: bool,
        mature: usize,
        leaving: Option<Box<Copies>>,
    ) -> GcStats {
        let young = distance(self.start.get(), self.htop.get());
        let stack = distance(self.stop.get(), self.end.get());
        let old_used = distance(self.old_start.get(), self.old_top.get());
        let before = young + self.frag_words.get() + if minor { 0 } else { old_used };
        if minor && mature > 0 && self.old_start.get().is_null() {
            // Extra room delays the next time it is full, which would take a full collection: one in
            // so many, as each matures about as much.
            let more = if young > BUSY_WORDS { young.min(mature * MINOR_PER_FULL) } else { 0 };
            self.make_old_block((mature * 2).max(more), young);
        }
        let copied = leaving.as_ref().map_or(0, |l| l.of.words());
        let worst = before - if minor { mature } else { 0 } + need + stack + copied;
        let fit = self.min_words.get() >= FIT_IDLE;
        let size = distance(self.start.get(), self.end.get());
        let cap = self.to_space_words(worst);
        let to = block(cap);
        let scan_old = self.old_top.get();
        let old = (self.old_start.get() as usize, self.old_end.get() as usize);
        let spaces = Spaces {
            top: to,
            old_top: scan_old,
            mature_lo: self.start.get() as usize,
            mature_len: if minor { mature * 8 } else { 0 },
            stay_lo: old.0,
            stay_len: if minor { old.1 - old.0 } else { 0 },
        };
        let mut m = Mover { to: spaces, leaving };
        // SAFETY: the to-spaces have room for all that can survive; the roots are all references
        // into the heap.
        unsafe {
            self.move_roots(&mut m, x, live, stack);
            let (mut young_scan, mut old_scan) = (to, scan_old);
            loop {
                young_scan = m.scan(young_scan, false);
                old_scan = m.scan(old_scan, true);
                if young_scan == m.to.top && old_scan == m.to.old_top {
                    break;
                }
            }
            let was_old = (scan_old as usize).wrapping_sub(m.to.stay_lo);
            let matured = self.sweep_off_heap(&m.to, if minor { was_old } else { 0 });
            self.count_old_off_heap(matured);
            if let Some(l) = &m.leaving {
                self.take_chain(l.off_heap);
            }
        }
        let survived = distance(to, m.to.top);
        // In a block of OTP's first size this collection would not have happened.
        let first = size < FIRST_BLOCK;
        self.often.set(self.often.get().saturating_add(COLLECTION));
        let old_now = distance(self.old_start.get(), m.to.old_top);
        let wanted = self.wanted_words(survived, stack + need, old_now, minor);
        let least = survived + stack + need;
        // SAFETY: all live objects have left the old spaces, and fit as they did here.
        unsafe {
            self.settle(to, cap, wanted.max(least).min(cap), &m.to, stack, minor);
            if fit && wanted < cap {
                self.move_block(x, live, wanted, wanted);
            } else if !fit && (wanted > cap || is_worth_moving(survived, wanted, cap)) {
                self.move_block(x, live, next_size(wanted), wanted);
            }
        }
        let grown = distance(scan_old, m.to.old_top);
        let live_now = survived + if minor { grown } else { 0 };
        // A process pays in reductions for what was moved, as in OTP (erl_gc.c); otherwise one that
        // collects much would delay others.
        self.bump_reductions(cost(live_now));
        let minors = self.minor_count.get().saturating_add(!first as u16);
        self.minor_count.set(if minor { minors } else { 0 });
        self.gc_count.set(self.gc_count.get().saturating_add(1));
        self.gc_due.set(false);
        COLLECTIONS.add(1);
        RECLAIMED.add(before.saturating_sub(live_now));
        let total = survived + stack + distance(self.old_start.get(), self.old_top.get());
        GcStats {
            full: !minor,
            live: live_now,
            reclaimed: before.saturating_sub(live_now),
            over: match self.max_words.get() {
                0 => None,
                max => Some(Limited { used: total + need, max }),
            },
        }
    }

    unsafe fn move_roots(&self, m: &mut Mover, x: *mut u64, live: usize, stack: usize) {
        // SAFETY: these are terms of this heap.
        unsafe {
            m.words(x, live);
            m.words(self.stop.get(), stack);
            for r in &self.roots {
                r.set(m.word(r.get()));
            }
            let mut pairs = self.pairs.take();
            for w in pairs.iter_mut().flat_map(|p| &mut p.all).flatten() {
                *w = m.word(*w);
            }
            self.pairs.set(pairs);
        }
    }

    /// Releases the counts of off-heap objects that did not move, and tells how many bytes became
    /// old. Objects that were old before come last in the chain.
    unsafe fn sweep_off_heap(&self, to: &Spaces, was_old: usize) -> usize {
        // SAFETY: a moved object's header is its new address; one that did not move is whole.
        unsafe {
            let mut p = self.off_heap.get();
            let mut head = ptr::null_mut();
            let mut link: *mut u64 = ptr::null_mut();
            let (mut bytes, mut matured) = (0, 0);
            while !p.is_null() {
                if (p as usize).wrapping_sub(to.stay_lo) < was_old {
                    break;
                }
                let h = *p;
                if !is_boxed(h) {
                    let next = *next_word(p) as *mut u64;
                    release_one(p);
                    p = next;
                    continue;
                }
                let q = (h - TAG_BOXED) as *mut u64;
                if header_subtag(*q) == REFC_BIN {
                    let size = *q.add(1) as usize;
                    bytes += size;
                    release_exchanged(q);
                    if (q as usize).wrapping_sub(to.stay_lo) < to.stay_len {
                        matured += size;
                    }
                }
                if link.is_null() {
                    head = q;
                } else {
                    *link = q as u64;
                }
                link = next_word(q);
                p = *link as *mut u64;
            }
            if link.is_null() {
                head = p;
            } else {
                *link = p as u64;
            }
            self.off_heap.set(head);
            let young = bytes - matured;
            self.vheap.set(young);
            let more = (MIN_VHEAP as usize).max(bytes / 16);
            self.vheap_limit.set(u32::try_from(young / 8 + more).unwrap_or(u32::MAX));
            matured
        }
    }

    /// Moves the block's contents to a block of `cap` words, of which `size` are to be used: the
    /// collection needed room for all that might have survived, and pages of a block may be present
    /// though never used. Cheap if little survived.
    ///
    /// # Safety
    /// As for `collect`, just after a collection; `size` is at most `cap`, and room for all.
    unsafe fn move_block(&self, x: *mut u64, live: usize, cap: usize, size: usize) {
        let stack = distance(self.stop.get(), self.end.get());
        let old = (self.old_start.get() as usize, self.old_end.get() as usize);
        let (vheap, limit) = (self.vheap.get(), self.vheap_limit.get());
        let to = block(cap);
        let spaces = Spaces {
            top: to,
            old_top: self.old_top.get(),
            mature_lo: 0,
            mature_len: 0,
            stay_lo: old.0,
            stay_len: old.1 - old.0,
        };
        let mut m = Mover { to: spaces, leaving: None };
        // SAFETY: as the caller says. Old objects do not point to young ones.
        unsafe {
            self.move_roots(&mut m, x, live, stack);
            m.scan(to, false);
            self.sweep_off_heap(&m.to, (m.to.old_top as usize) - old.0);
            self.settle(to, cap, size, &m.to, stack, true);
        }
        self.vheap.set(vheap);
        self.vheap_limit.set(limit);
    }
    /// Puts the new block of so many words into use, and moves the stack.
    unsafe fn settle(
        &self,
        to: *mut u64,
        cap: usize,
        size: usize,
        tops: &Spaces,
        stack: usize,
        minor: bool,
    ) {
        // SAFETY: size <= cap; heap and stack do not overlap as size >= used.
        unsafe {
            let end = to.add(size);
            let stop = end.sub(stack);
            ptr::copy_nonoverlapping(self.stop.get(), stop, stack);
            let mut f = self.frags.get();
            while !f.is_null() {
                let next = (*f).next;
                Frag::free(f);
                f = next;
            }
            self.frags.set(ptr::null_mut());
            self.frag_words.set(0);
            free_block(self.start.get(), self.cap.get());
            if minor {
                self.old_top.set(tops.old_top);
            } else {
                self.free_old_block();
                self.old_start.set(ptr::null_mut());
                self.old_top.set(ptr::null_mut());
                self.old_end.set(ptr::null_mut());
            }
            self.start.set(to);
            self.end.set(end);
            self.stop.set(stop);
            self.htop.set(tops.top);
            self.high_water.set(tops.top);
            self.cap.set(cap);
            self.mark.set(Heap::NO_MARK);
        }
    }
}
