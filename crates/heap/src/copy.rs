//! Deep copies between heaps. Literals may be shared, off-heap objects get another count; sharing
//! within a term is lost (as in OTP).

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::ptr;

use kvik_term::word::*;
use kvik_term::{Bits, Term};
use smallvec::SmallVec;

use crate::binary::{BinRef, Binary, MagicResource};
use crate::literal::{is_literal, Sharing};
use crate::spare_room::{copy_to_heap, give_back_room, Part};

/// Words of the object at `p`, header included.
#[inline(always)]
pub(crate) fn object_words(h: u64) -> usize {
    1 + header_words(h)
}

/// Whether the collector scans the words after this header.
#[inline(always)]
pub(crate) fn has_terms(h: u64) -> bool {
    matches!(header_subtag(h), TUPLE | FUN | EXPORT | SUB_BIN | FLAT_MAP | HAMT | RECORD)
}

/// Words a copy of the term takes.
pub fn size(t: Term<'_>, s: &Sharing) -> usize {
    if t.is_immediate() {
        return 0;
    }
    copied_size(t, |p| s.shares(p))
}

/// Words of a copy that has each shared part once and shares no literals.
pub(crate) fn shared_size(t: Term<'_>, seen: &RefCell<AddressMap>) -> usize {
    copied_size(t, |p| {
        let mut seen = seen.borrow_mut();
        std::mem::replace(seen.at(p as u64), SEEN) != 0
    })
}

/// Marks an address that was visited and has no copy.
const SEEN: u64 = 1;

/// Maps each word of memory that a term lies in to a value, 0 at first. Terms fill their pages, so
/// the values are grouped by page.
#[derive(Default)]
pub(crate) struct AddressMap {
    pages: HashMap<u64, usize>,
    values: Vec<Box<[u64; PAGE / 8]>>,
    /// The page of the last look-up, plus one, and its index among the values.
    last: (u64, usize),
}
const PAGE: usize = 4096;

impl AddressMap {
    fn at(&mut self, address: u64) -> &mut u64 {
        let page = address / PAGE as u64;
        if self.last.0 != page + 1 {
            let new = self.values.len();
            let at = *self.pages.entry(page).or_insert(new);
            if at == new {
                self.values.push(Box::new([0; PAGE / 8]));
            }
            self.last = (page + 1, at);
        }
        &mut self.values[self.last.1][address as usize % PAGE / 8]
    }
}

/// The words of a small tuple of immediates, as most messages are.
#[inline]
pub(crate) fn flat(t: Term<'_>) -> Option<&[u64]> {
    const MOST: usize = 8;
    let w = t.word();
    if !is_boxed(w) {
        return None;
    }
    // SAFETY: the term is borrowed; an object has as many words as its header says.
    let words = unsafe {
        let p = (w - TAG_BOXED) as *const u64;
        if header_subtag(*p) != TUPLE || object_words(*p) > MOST || is_literal(p) {
            return None;
        }
        std::slice::from_raw_parts(p, object_words(*p))
    };
    words[1..].iter().all(|w| is_immediate(*w)).then_some(words)
}

/// Words that a copy takes in OTP, literals included: the empty tuple takes none, and a part of a
/// heap binary becomes a binary of its own.
pub fn flat_size(t: Term<'_>) -> usize {
    let otp = kvik_release::current().term_words();
    let saved = Cell::new(0);
    let save =
        |ours: usize, theirs: usize| saved.set(saved.get() + ours as isize - theirs as isize);
    let outside = otp.part.unwrap_or_default();
    // Words of a bit string where these are either on the heap or part of a binary outside.
    let bits_words = |bits: usize| match bits > HEAP_BIN_LIMIT * 8 {
        true => outside,
        false => 2 + bits.div_ceil(64),
    };
    let all = size_where(t, |p| {
        // SAFETY: `size_where` asks about objects of a term that is borrowed.
        let h = unsafe { *p };
        if !is_header(h) {
            return false;
        }
        match header_subtag(h) {
            TUPLE if header_words(h) == 0 => return true,
            FUN => save(LOCAL_FUN_WORDS, otp.local_fun),
            EXPORT => save(object_words(h), otp.external_fun),
            // SAFETY: as above; the words of a binary or a part of one follow the header.
            REFC_BIN | SUB_BIN if otp.part.is_some() => unsafe {
                // What it is part of is counted too, where it is asked about.
                let original = match header_subtag(h) {
                    SUB_BIN => {
                        let real = (*p.add(1) - TAG_BOXED) as *const u64;
                        match header_subtag(*real) {
                            REFC_BIN => bits_words(Bits::from_raw(real).bit_len()),
                            _ => object_words(*real),
                        }
                    }
                    _ => 0,
                };
                save(object_words(h) + original, bits_words(Bits::from_raw(p).bit_len()));
            },
            MAGIC_REF => saved.set(saved.get() + (MAGIC_REF_WORDS - REF_WORDS) as isize),
            // SAFETY: as above; the original follows the header.
            SUB_BIN => unsafe {
                let original = *p.add(1);
                let real = *((original - TAG_BOXED) as *const u64);
                let bits = Bits::from_raw(p);
                let (skip, over) = (bits.bit_offset() as usize, bits.bit_len() % 8);
                if header_subtag(real) == HEAP_BIN {
                    // What `size_where` adds for this one, minus what OTP adds.
                    let ours = SUB_BIN_WORDS + object_words(real);
                    let extra = (skip + over).div_ceil(8);
                    let sub = if extra > 0 { SUB_BIN_WORDS } else { 0 };
                    let theirs = sub + 2 + (bits.bit_len() / 8 + extra).div_ceil(8);
                    saved.set(saved.get() + ours as isize - theirs as isize);
                } else if skip + over == 0 {
                    saved.set(saved.get() + SUB_BIN_WORDS as isize);
                }
            },
            _ => {}
        }
        false
    });
    (all as isize - saved.get()).max(0) as usize
}

/// Words of a reference to a binary, in OTP where all bit strings that do not fit the heap are parts
/// of binaries: those of one binary share it.
const OTP_BINARY_REF_WORDS: usize = 3;

/// Words that a term takes in OTP, each object counted once and literals not at all.
pub fn size_shared(t: Term<'_>) -> usize {
    let part = kvik_release::current().term_words().part;
    let (seen, binaries) = (RefCell::new(HashSet::new()), RefCell::new(HashSet::new()));
    let bit_strings = Cell::new(0);
    let others = size_where(t, |p| {
        if is_literal(p) || !seen.borrow_mut().insert(p) {
            return true;
        }
        // SAFETY: `size_where` asks about objects of a term that is borrowed.
        let h = unsafe { *p };
        let (true, Some(part)) = (is_header(h), part) else { return false };
        // SAFETY: as above; the words of a binary or a part of one follow the header.
        let (bits, binary) = unsafe {
            match header_subtag(h) {
                REFC_BIN => (Bits::from_raw(p).bit_len(), p),
                SUB_BIN => (Bits::from_raw(p).bit_len(), (*p.add(1) - TAG_BOXED) as *const u64),
                // The empty tuple is a literal.
                TUPLE if header_words(h) == 0 => return true,
                _ => return false,
            }
        };
        let words = match bits > HEAP_BIN_LIMIT * 8 {
            true if binaries.borrow_mut().insert(binary) => part,
            true => part - OTP_BINARY_REF_WORDS,
            false => 2 + bits.div_ceil(64),
        };
        bit_strings.set(bit_strings.get() + words);
        true
    });
    others + bit_strings.get()
}

/// The words of an own layout, with a predicate for what is shared (`|_| false`: nothing).
pub fn size_where(t: Term<'_>, shared: impl Fn(*const u64) -> bool) -> usize {
    words_where::<false>(t, shared)
}
/// The same of a copy, in which a part may take less.
fn copied_size(t: Term<'_>, shared: impl Fn(*const u64) -> bool) -> usize {
    words_where::<true>(t, shared)
}
#[inline(always)]
fn words_where<const COPIED: bool>(t: Term<'_>, shared: impl Fn(*const u64) -> bool) -> usize {
    let mut total = 0;
    let mut todo: SmallVec<[u64; 16]> = SmallVec::new();
    let mut w = t.word();
    // Counts the words of an object; those in it are still to be looked at.
    //
    // SAFETY: every pointer comes from a term that is borrowed.
    let object = |w: u64, todo: &mut SmallVec<[u64; 16]>| unsafe {
        let p = (w - TAG_BOXED) as *const u64;
        if shared(p) {
            return 0;
        }
        let n = object_words(*p);
        if has_terms(*p) {
            if COPIED && header_subtag(*p) == SUB_BIN {
                if let Some(part) = Part::of(p) {
                    return part.words();
                }
            }
            for i in 1..n {
                let e = *p.add(i);
                if !is_immediate(e) {
                    todo.push(e);
                }
            }
        }
        n
    };
    loop {
        if is_list(w) {
            let p = (w - TAG_LIST) as *const u64;
            if !shared(p) {
                total += 2;
                // SAFETY: as above.
                let (head, tail) = unsafe { (*p, *p.add(1)) };
                if is_boxed(head) {
                    total += object(head, &mut todo);
                } else if is_list(head) {
                    todo.push(head);
                }
                w = tail;
                continue;
            }
        } else if is_boxed(w) {
            total += object(w, &mut todo);
        }
        match todo.pop() {
            Some(next) => w = next,
            None => return total,
        }
    }
}

/// Copies a term to `*top`, which moves on; off-heap objects are chained to `*off_heap`.
///
/// # Safety
/// `*top` has room for `size(t, s)` words that nobody else uses.
pub(crate) unsafe fn copy(
    t: Term<'_>,
    s: &Sharing,
    top: &mut *mut u64,
    off_heap: &mut *mut u64,
) -> u64 {
    // SAFETY: each object is copied once for each pointer to it, as `size` counted, so the end is
    // not reached.
    unsafe { copy_up_to(t, s, top, NO_END, off_heap) }.unwrap_or(NIL)
}

const NO_END: *mut u64 = ptr::without_provenance_mut(usize::MAX);

/// The same, with each shared part copied once (looked up in `seen`) and no literals shared.
///
/// # Safety
/// `*top` has room for `shared_size(t)` words that nobody else uses.
pub(crate) unsafe fn copy_shared(
    t: Term<'_>,
    seen: &mut AddressMap,
    top: &mut *mut u64,
    off_heap: &mut *mut u64,
) -> u64 {
    if t.is_immediate() {
        return t.word();
    }
    // SAFETY: each object is copied once, as `shared_size` counted; the words between `scan` and
    // `*top` are whole objects and list cells.
    unsafe {
        let mut scan = *top;
        let root = copy_once(t.word(), seen, top, off_heap);
        while scan < *top {
            let w = *scan;
            if is_header(w) {
                if !has_terms(w) {
                    scan = scan.add(header_words(w));
                }
            } else if !is_immediate(w) {
                *scan = copy_once(w, seen, top, off_heap);
            }
            scan = scan.add(1);
        }
        root
    }
}

/// The copy of one object, made unless `seen` has it.
///
/// # Safety
/// There is room for it at the top.
pub(crate) unsafe fn copy_once(
    w: u64,
    seen: &mut AddressMap,
    top: &mut *mut u64,
    off_heap: &mut *mut u64,
) -> u64 {
    let copied = seen.at(w - if is_list(w) { TAG_LIST } else { TAG_BOXED });
    if *copied <= SEEN {
        // SAFETY: as the caller says.
        let copy = unsafe { copy_one(w, &Sharing::Nothing, top, NO_END, off_heap) };
        *copied = copy.unwrap_or(NIL);
    }
    *copied
}

/// The same in one pass, without computing the size first. `None`: it does not fit before `end`;
/// the caller has to release what was chained to `*off_heap` by then.
///
/// # Safety
/// The words from `*top` to `end` are nobody else's.
#[inline]
pub(crate) unsafe fn copy_up_to(
    t: Term<'_>,
    s: &Sharing,
    top: &mut *mut u64,
    end: *mut u64,
    off_heap: &mut *mut u64,
) -> Option<u64> {
    let (mut root, mut scan, mut free) = (t.word(), *top, *top);
    // Pointers from this address up to `free` point to copies: the cells of a run have been linked.
    let start = *top as u64;
    // The longest run of cells ahead of `scan`, which need not be scanned.
    let mut seen = NO_END..NO_END;
    // The word whose object is copied next.
    let mut at: *mut u64 = &mut root;
    // SAFETY: the words between `scan` and `free` are whole objects and list cells.
    unsafe {
        loop {
            if is_list(*at) {
                let run = free;
                at = copy_run(at, s, &mut free, end)?;
                if scan == run {
                    scan = free;
                } else if distance(run, free) > distance(seen.start, seen.end) {
                    seen = run..free;
                }
            }
            *at = copy_one(*at, s, &mut free, end, off_heap)?;
            let mut stop = free.min(seen.start);
            loop {
                if scan >= stop {
                    if scan == free {
                        *top = free;
                        return Some(root);
                    }
                    scan = seen.end;
                    seen = NO_END..NO_END;
                    stop = free;
                    continue;
                }
                let w = *scan;
                if is_header(w) {
                    if !has_terms(w) {
                        scan = scan.add(header_words(w));
                    }
                } else if !is_immediate(w) && !(start..free as u64).contains(&w) {
                    break;
                }
                scan = scan.add(1);
            }
            at = scan;
            scan = scan.add(1);
        }
    }
}

fn distance(a: *mut u64, b: *mut u64) -> usize {
    b as usize - a as usize
}

/// Copies the cells of the list at `*at` up to one whose head is no immediate, as in text. Returns
/// the address of the word that is still to be copied.
///
/// # Safety
/// As for `copy_up_to`.
#[inline(always)]
unsafe fn copy_run(
    mut at: *mut u64,
    s: &Sharing,
    top: &mut *mut u64,
    end: *mut u64,
) -> Option<*mut u64> {
    // SAFETY: as the caller says; `p` goes on to where the last tail points only.
    unsafe {
        while is_list(*at) {
            let mut p = (*at - TAG_LIST) as *const u64;
            // In a list built in one go the distance between cells is constant. So the next cell's
            // address is predicted, without a load that the following step would wait for.
            let second = *p.add(1);
            let step = if is_list(second) { second.wrapping_sub(*at) as isize } else { 0 };
            loop {
                if s.shares(p) || !is_immediate(*p) {
                    return Some(at);
                }
                let q = *top;
                *top = fits(q, 2, end)?;
                let tail = *p.add(1);
                *q = *p;
                *q.add(1) = tail;
                *at = q as u64 + TAG_LIST;
                at = q.add(1);
                p = p.wrapping_byte_offset(step);
                if tail != p as u64 + TAG_LIST {
                    break;
                }
            }
        }
    }
    Some(at)
}

/// # Safety
/// As for `copy_up_to`, for one object.
#[inline(always)]
unsafe fn copy_one(
    w: u64,
    s: &Sharing,
    top: &mut *mut u64,
    end: *mut u64,
    off_heap: &mut *mut u64,
) -> Option<u64> {
    // SAFETY: as the caller says.
    unsafe {
        if is_list(w) {
            let p = (w - TAG_LIST) as *const u64;
            if s.shares(p) {
                return Some(w);
            }
            let q = *top;
            *top = fits(q, 2, end)?;
            *q = *p;
            *q.add(1) = *p.add(1);
            Some(q as u64 + TAG_LIST)
        } else if is_boxed(w) {
            let p = (w - TAG_BOXED) as *const u64;
            if s.shares(p) {
                return Some(w);
            }
            let q = *top;
            let h = *p;
            if header_subtag(h) == SUB_BIN {
                *top = copy_sub_bin(p, q, end, off_heap)?;
                return Some(q as u64 + TAG_BOXED);
            }
            let n = object_words(h);
            *top = fits(q, n, end)?;
            copy_words(p, q, n);
            if matches!(header_subtag(h), REFC_BIN | MAGIC_REF) {
                own_count(p, q, off_heap);
            }
            Some(q as u64 + TAG_BOXED)
        } else {
            Some(w)
        }
    }
}

/// The end of the copy of the sub-binary at `p` that was made at `q`.
///
/// # Safety
/// As for `copy_up_to`, for one object.
#[inline(never)]
unsafe fn copy_sub_bin(
    p: *const u64,
    q: *mut u64,
    end: *mut u64,
    off_heap: &mut *mut u64,
) -> Option<*mut u64> {
    // SAFETY: as the caller says.
    unsafe {
        let part = Part::of(p);
        let top = fits(q, part.as_ref().map_or(SUB_BIN_WORDS, Part::words), end)?;
        match part {
            Some(Part::OnHeap(bytes)) => copy_to_heap(p, bytes, q),
            Some(Part::Whole) => {
                let whole = (*p.add(1) - TAG_BOXED) as *const u64;
                copy_words(whole, q, REFC_BIN_WORDS);
                own_count(whole, q, off_heap);
            }
            None => {
                copy_words(p, q, SUB_BIN_WORDS);
                // Only its own process may append to a binary in place.
                *q.add(4) = small(0);
            }
        }
        Some(top)
    }
}

/// Gives the copy at `q` of an object at `p` a count of its own.
///
/// # Safety
/// `q` is a copy of the words of `p`.
#[inline(never)]
unsafe fn own_count(p: *const u64, q: *mut u64, off_heap: &mut *mut u64) {
    // SAFETY: as the caller says, and the layouts of `word`.
    unsafe {
        match header_subtag(*p) {
            REFC_BIN => {
                give_back_room(p as *mut u64);
                *q.add(3) = *p.add(3);
                *q.add(4) = *p.add(4);
                BinRef::retain(*p.add(3) as *mut Binary).into_raw();
                *q.add(2) = *off_heap as u64;
                *q.add(5) = 0;
                *off_heap = q;
            }
            MAGIC_REF => {
                let r = &*(*p.add(4) as *const MagicResource);
                *q.add(4) = Box::into_raw(Box::new(r.clone())) as u64;
                *q.add(3) = *off_heap as u64;
                *off_heap = q;
            }
            _ => {}
        }
    }
}

/// The end of `n` words from `q` on, if it is not behind `end`.
#[inline(always)]
fn fits(q: *mut u64, n: usize, end: *mut u64) -> Option<*mut u64> {
    let next = q.wrapping_add(n);
    (next <= end).then_some(next)
}

/// Objects are mostly small: a loop is faster than a call.
///
/// # Safety
/// As for `ptr::copy_nonoverlapping`.
#[inline(always)]
pub(crate) unsafe fn copy_words(from: *const u64, to: *mut u64, n: usize) {
    // SAFETY: as the caller says.
    unsafe {
        if n > 8 {
            return ptr::copy_nonoverlapping(from, to, n);
        }
        for i in 0..n {
            // Volatile, or the compiler turns the loop into a call.
            to.add(i).write_volatile(*from.add(i));
        }
    }
}
