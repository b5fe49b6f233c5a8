//! The room for later appends, which copies of a binary need not keep: a message or a table would hold
//! it for good, and rows of a few bytes would take 256.
//!
//! | the copied part | goes as |
//! |---|---|
//! | whole bytes, few enough for the heap, of a binary that was appended to | a binary on the heap |
//! | all bytes of a binary | a reference to its storage, with no sub-binary |
//! | other parts | a sub-binary of such a reference |
//!
//! Storage with much room is exchanged for storage without, once, so that further copies share that.
//! The old one is kept until the next collection, as a slice or a match context may point into it; until
//! then its address takes the place of the flags of its `REFC_BIN`.

use std::mem::ManuallyDrop;
use std::sync::atomic::Ordering::Relaxed;

use kvik_term::word::*;

use crate::binary::{BinRef, Binary};
use crate::bits::{SPARE, WRITABLE};

/// Beyond that, what is not in use is mostly pages that nobody touched.
const MOST_BYTES: usize = 64 << 10;
const MUCH_ROOM: usize = 32;

/// What the copy of a sub-binary is, where it is not a sub-binary.
pub(crate) enum Part {
    /// A binary of so many bytes on the heap.
    OnHeap(usize),
    /// A `REFC_BIN` like the original.
    Whole,
}

impl Part {
    /// # Safety
    /// `p` is a live SUB_BIN.
    #[inline]
    pub(crate) unsafe fn of(p: *const u64) -> Option<Part> {
        // SAFETY: as the caller says, with the layouts of `word`.
        unsafe {
            let (whole, from, bits) = ((*p.add(1) - TAG_BOXED) as *const u64, *p.add(2), *p.add(3));
            if header_subtag(*whole) != REFC_BIN || (from | bits) & small(7) != small(0) {
                return None;
            }
            let bytes = small_value(bits) as usize / 8;
            if bytes <= HEAP_BIN_LIMIT && *whole.add(5) != 0 {
                return Some(Part::OnHeap(bytes));
            }
            (bytes == *whole.add(1) as usize).then_some(Part::Whole)
        }
    }
    /// Words that the copy takes.
    pub(crate) fn words(&self) -> usize {
        match self {
            Part::OnHeap(bytes) => 2 + bytes.div_ceil(8),
            Part::Whole => REFC_BIN_WORDS,
        }
    }
}

/// Makes a binary at `q` of the `bytes` bytes of a sub-binary.
///
/// # Safety
/// `Part::of(p)` is `OnHeap(bytes)`, and `q` has room for its words.
pub(crate) unsafe fn copy_to_heap(p: *const u64, bytes: usize, q: *mut u64) {
    let words = Part::OnHeap(bytes).words();
    // SAFETY: as the caller says: the bytes are within the storage.
    unsafe {
        let whole = (*p.add(1) - TAG_BOXED) as *const u64;
        let data = (*whole.add(4) as *const u8).add(small_value(*p.add(2)) as usize / 8);
        *q = header(HEAP_BIN, words - 1);
        *q.add(words - 1) = 0;
        *q.add(1) = bytes as u64;
        std::ptr::copy_nonoverlapping(data, q.add(2).cast(), bytes);
    }
}

/// Exchanges the storage of a binary that is about to be copied, if it has much room and nobody else
/// holds it.
///
/// # Safety
/// `p` is a live `REFC_BIN` in the heap of the running process, if it has flags; no other thread
/// reads it.
#[inline]
pub(crate) unsafe fn give_back_room(p: *mut u64) {
    // SAFETY: as the caller says.
    unsafe {
        if *p.add(5) & SPARE != 0 {
            exchange_storage(p)
        }
    }
}
/// # Safety
/// As for `give_back_room`.
#[inline(never)]
unsafe fn exchange_storage(p: *mut u64) {
    // SAFETY: as the caller says; the new storage has room for the bytes.
    unsafe {
        let bytes = *p.add(1) as usize;
        let old = ManuallyDrop::new(BinRef::from_raw(*p.add(3) as *mut Binary));
        let room = old.capacity().saturating_sub(bytes);
        if bytes > MOST_BYTES || room < MUCH_ROOM.max(bytes / 8) || old.refs() != 1 {
            return;
        }
        let Some(new) = BinRef::try_allocate(bytes) else { return };
        std::ptr::copy_nonoverlapping(old.data(), new.data(), bytes);
        new.header().used.store(bytes, Relaxed);
        new.header().text.store(old.header().text.load(Relaxed).min(bytes), Relaxed);
        *p.add(4) = new.data() as u64;
        *p.add(5) = *p.add(3);
        *p.add(3) = new.into_raw() as u64;
    }
}

/// Releases the storage that a `REFC_BIN` has exchanged.
///
/// # Safety
/// `p` is a live `REFC_BIN`; nothing points into the old storage any more.
#[inline]
pub(crate) unsafe fn release_exchanged(p: *mut u64) {
    // SAFETY: as the caller says: what is no flag is the address of a storage with our count.
    unsafe {
        let old = *p.add(5);
        if old > WRITABLE | SPARE {
            *p.add(5) = 0;
            drop(BinRef::from_raw(old as *mut Binary));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Heap;
    use kvik_term::cmp::eq_exact;
    use kvik_term::Term;

    fn append<'h>(h: &'h Heap, t: Term<'h>, byte: u8) -> Term<'h> {
        // SAFETY: the byte is written before anything reads the binary.
        unsafe {
            let Ok((w, b)) = h.bs_append(t.word(), 8, 8) else { panic!("no memory") };
            b.base.add(b.pos / 8).write(byte);
            Term::from_word(w)
        }
    }
    fn appended(h: &Heap, bytes: usize) -> Term<'_> {
        (0..bytes).fold(h.binary(&[]), |t, i| append(h, t, i as u8))
    }
    /// Bytes and capacity of the storage outside the heap
    fn outside(h: &Heap, t: Term<'_>) -> Option<(usize, usize)> {
        h.off_heap_info(t).map(|i| (i.size, i.capacity))
    }

    #[test]
    fn copies_have_no_room_and_share_storage() {
        let (from, to) = (Heap::new(10_000), Heap::new(10_000));
        for n in [1, 8, 64, 65, 100, 128, 200, 255, 256] {
            let t = appended(&from, n);
            let pair = from.tuple(&[t, t]);
            let Some([a, b]) = to.copy(pair).as_tuple_n() else { panic!("no pair") };
            assert!(eq_exact(a, t) && eq_exact(b, t));
            match n {
                0..=64 => assert_eq!(outside(&to, a), None),
                _ => {
                    let Some((size, capacity)) = outside(&to, a) else { panic!("on the heap") };
                    assert!(size == n && capacity - n < MUCH_ROOM, "{n}: {capacity}");
                    assert_eq!(outside(&from, t), Some((n, capacity)));
                    let longer = append(&from, t, 1);
                    assert!(eq_exact(to.copy(t), t) && !eq_exact(longer, t));
                }
            }
        }
    }

    #[test]
    fn old_bytes_stay_until_a_collection() {
        let (from, to) = (Heap::new(1000), Heap::new(1000));
        let t = appended(&from, 100);
        let Some(bits) = t.as_bits() else { panic!("no bits") };
        let before = bits.storage();
        let (first, copy) = (before[0], to.copy(t));
        assert_eq!((first, before[99]), (0, 99));
        let mut x = [t.word()];
        for full in [false, false, true] {
            // SAFETY: the only term in use is in `x`.
            unsafe { from.collect(x.as_mut_ptr(), 1, 0, full) };
            // SAFETY: the collection put it there.
            assert!(eq_exact(unsafe { Term::from_word(x[0]) }, copy));
        }
        drop(from);
        assert_eq!(to.off_heap_binaries()[0].2, 1);
    }
}
