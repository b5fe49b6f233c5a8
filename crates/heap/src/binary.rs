//! Off-heap, reference-counted objects: binaries of more than 64 bytes, and resources behind magic
//! references. The heap objects that hold a count are chained through their `next` word, so that
//! the collector can release the counts of those that died.

use std::alloc::{alloc, dealloc, handle_alloc_error, realloc, Layout};
use std::any::Any;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};
use std::sync::atomic::{fence, AtomicUsize, Ordering};
use std::sync::Arc;

use kvik_term::word::*;

use crate::copy_alignment::goes_by_lines;
use crate::memory_counters::BINARIES;
use crate::spare_room::release_exchanged;

/// The header of an off-heap binary; its bytes follow it, 16-aligned.
#[repr(C, align(16))]
pub struct Binary {
    refs: AtomicUsize,
    /// Capacity in bytes; with [`OWNED`] if a pointer to an object that they keep alive follows the
    /// bytes.
    cap: usize,
    /// Bytes in use by the appending process (changed by that one writer only).
    pub(crate) used: AtomicUsize,
    /// Length of the prefix known to be UTF-8 (`text.rs`).
    pub(crate) text: AtomicUsize,
}

impl Binary {
    pub const REFS: usize = std::mem::offset_of!(Binary, refs);
    /// Larger than any capacity, and so negative, if an owner follows the bytes.
    pub const CAP: usize = std::mem::offset_of!(Binary, cap);
    pub const USED: usize = std::mem::offset_of!(Binary, used);
}

const HEAD: usize = size_of::<Binary>();
const LINE: usize = 64;
/// Flag in a binary's `cap`: the address of a boxed [`MagicResource`] follows the bytes, 8-aligned.
const OWNED: usize = 1 << 63;

/// Memory behind the bytes of a binary that C writes. OTP's have 7 bytes there, and there are
/// libraries that write to them: p1_sha has `sprintf` write a hash as digits, the last two of which
/// are followed by a zero.
pub const SPARE_BYTES: usize = 8;

/// A counted reference to an off-heap binary.
pub struct BinRef(NonNull<Binary>);

// SAFETY: the count is atomic and the bytes below `used` are never written again.
unsafe impl Send for BinRef {}
// SAFETY: as above.
unsafe impl Sync for BinRef {}

/// Writes a binary piece by piece: where the next piece goes.
pub struct Gather {
    at: *mut u8,
    left: usize,
}

impl Gather {
    /// Fills these bytes; must be dropped before they are used otherwise.
    pub(crate) fn over(room: &mut [u8]) -> Gather {
        Gather { at: room.as_mut_ptr(), left: room.len() }
    }
    #[inline]
    pub fn push_byte(&mut self, byte: u8) {
        if self.left > 0 {
            // SAFETY: as below.
            unsafe {
                *self.at = byte;
                self.at = self.at.add(1);
            }
            self.left -= 1;
        }
    }
    /// Adds as much as there is room for.
    #[inline]
    pub fn push(&mut self, bytes: &[u8]) {
        let n = bytes.len().min(self.left);
        // SAFETY: `left` bytes from `at` on are fresh memory that only this writes.
        unsafe {
            copy_piece(bytes.as_ptr(), self.at, n);
            self.at = self.at.add(n);
        }
        self.left -= n;
    }
}

/// Copies bytes, mostly few: as two words that may overlap, which is faster than a call.
///
/// # Safety
/// As for `ptr::copy_nonoverlapping`.
#[inline(always)]
pub(crate) unsafe fn copy_piece(from: *const u8, to: *mut u8, n: usize) {
    // SAFETY: as the caller says.
    unsafe {
        match n {
            0 => {}
            1..4 => {
                *to = *from;
                *to.add(n / 2) = *from.add(n / 2);
                *to.add(n - 1) = *from.add(n - 1);
            }
            4..8 => copy_ends::<u32>(from, to, n),
            8..=16 => copy_ends::<u64>(from, to, n),
            _ => ptr::copy_nonoverlapping(from, to, n),
        }
    }
}

/// Copies the first and the last `T`, which together cover all bytes.
///
/// # Safety
/// `n` bytes, at least a `T` and at most two, may be read and written.
#[inline(always)]
unsafe fn copy_ends<T: Copy>(from: *const u8, to: *mut u8, n: usize) {
    let end = n - size_of::<T>();
    // SAFETY: as the caller says.
    unsafe {
        let (a, b) =
            (from.cast::<T>().read_unaligned(), from.add(end).cast::<T>().read_unaligned());
        to.cast::<T>().write_unaligned(a);
        to.add(end).cast::<T>().write_unaligned(b);
    }
}

/// Layout of a binary's memory: the allocator's blocks mostly begin at cache lines.
#[derive(Copy, Clone)]
struct Block {
    layout: Layout,
    /// Bytes before the header.
    lead: usize,
}

/// Binaries of these sizes have their bytes begin at a cache line: reading a kilobyte of a file to
/// there takes a sixth less, with Intel's instruction for copying. From 2 KB on it takes a tenth
/// more if the file is in the last-level cache (file-memory.md).
const LINED: std::ops::Range<usize> = 512..2048;
/// On some processors also those of at least this size: see [`goes_by_lines`].
const COPY_BY_LINES_BYTES: usize = 16 << 10;

#[inline]
fn is_lined(cap: usize) -> bool {
    LINED.contains(&cap) || cap >= COPY_BY_LINES_BYTES && goes_by_lines()
}

/// `None`: no memory is that large.
fn block(cap: usize) -> Option<Block> {
    let lead = if is_lined(cap) { LINE - HEAD } else { 0 };
    let layout = Layout::from_size_align((lead + HEAD).checked_add(cap)?, 16).ok()?;
    Some(Block { layout, lead })
}
/// The layout of a binary with that word as its `cap`.
fn block_of(word: usize) -> Block {
    let cap = match word & OWNED {
        0 => word,
        _ => owner_at(word & !OWNED) + size_of::<*mut MagicResource>(),
    };
    block(cap).unwrap_or(Block { layout: Layout::new::<Binary>(), lead: 0 })
}
/// Offset of the owner's address, behind so many bytes.
fn owner_at(cap: usize) -> usize {
    cap.next_multiple_of(align_of::<*mut MagicResource>())
}

impl BinRef {
    /// Room for `cap` bytes, zeroed if `zero`; otherwise they must be written before they are read.
    pub(crate) fn allocate(cap: usize, used: usize) -> BinRef {
        let Some(b) = BinRef::try_allocate(cap) else { handle_alloc_error(block_of(cap).layout) };
        b.header().used.store(used, Ordering::Relaxed);
        b
    }
    /// The same, with no bytes in use; `None` if there is no memory.
    #[inline]
    pub(crate) fn try_allocate(cap: usize) -> Option<BinRef> {
        let Block { layout, lead } = block(cap)?;
        // SAFETY: the layout is larger than what comes before the bytes.
        unsafe {
            let p = NonNull::new(alloc(layout))?.add(lead).cast::<Binary>();
            p.write(Binary {
                refs: AtomicUsize::new(1),
                cap,
                used: AtomicUsize::new(0),
                text: AtomicUsize::new(0),
            });
            BINARIES.add(layout.size());
            Some(BinRef(p))
        }
    }
    pub fn from_bytes(bytes: &[u8]) -> BinRef {
        let b = BinRef::allocate(bytes.len(), bytes.len());
        // SAFETY: fresh memory of that many bytes.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), b.data(), bytes.len()) };
        b
    }
    /// A copy of bytes that keeps `owner` alive for as long as it lives.
    pub fn with_owner(bytes: &[u8], owner: MagicResource) -> BinRef {
        let at = owner_at(bytes.len());
        let b = BinRef::allocate(at + size_of::<*mut MagicResource>(), bytes.len());
        // SAFETY: fresh memory, of that many bytes and an address, which nobody else has.
        unsafe {
            ptr::copy_nonoverlapping(bytes.as_ptr(), b.data(), bytes.len());
            b.data().add(at).cast::<*mut MagicResource>().write(Box::into_raw(Box::new(owner)));
            (*b.0.as_ptr()).cap = bytes.len() | OWNED;
        }
        b
    }
    /// The object that it keeps alive.
    pub fn owner(&self) -> Option<&MagicResource> {
        // SAFETY: where the mark is there is the address of a box, which is ours.
        self.is_owned().then(|| unsafe { &*self.owner_box() })
    }
    fn is_owned(&self) -> bool {
        self.header().cap & OWNED != 0
    }
    /// # Safety
    /// It is owned.
    unsafe fn owner_box(&self) -> *mut MagicResource {
        // SAFETY: as the caller says.
        unsafe { self.data().add(owner_at(self.capacity())).cast::<*mut MagicResource>().read() }
    }
    /// A binary of `len` bytes that `fill` writes (it finds zeros).
    pub fn with<R>(len: usize, fill: impl FnOnce(&mut [u8]) -> R) -> (BinRef, R) {
        let b = BinRef::allocate(len, len);
        // SAFETY: fresh memory of that many bytes, nobody else has it.
        let r = unsafe {
            ptr::write_bytes(b.data(), 0, len);
            fill(std::slice::from_raw_parts_mut(b.data(), len))
        };
        (b, r)
    }
    /// A binary that `fill` assembles from pieces; the first `len` bytes of them.
    pub fn gather<R>(len: usize, fill: impl FnOnce(&mut Gather) -> R) -> (BinRef, R) {
        BinRef::allocate(len, 0).gathered(len, fill)
    }
    /// The same in memory for at least so many bytes, none of them in use.
    pub(crate) fn gathered<R>(
        self,
        len: usize,
        fill: impl FnOnce(&mut Gather) -> R,
    ) -> (BinRef, R) {
        debug_assert!(len <= self.capacity() && self.bytes().is_empty());
        let mut g = Gather { at: self.data(), left: len };
        let r = fill(&mut g);
        self.header().used.store(len - g.left, Ordering::Relaxed);
        (self, r)
    }
    /// A binary of at most `cap` bytes. `fill` gets uninitialised memory and returns the part it
    /// has written, which is the binary if it begins at the start of the memory (else the binary is
    /// empty). `None` if there is no memory.
    #[inline]
    pub fn fill<E>(
        cap: usize,
        fill: impl for<'a> FnOnce(&'a mut [MaybeUninit<u8>]) -> Result<&'a mut [u8], E>,
    ) -> Option<Result<BinRef, E>> {
        Some(BinRef::try_allocate(cap)?.filled(0, cap, fill))
    }
    /// Fills this one, of which nothing is in use, with what `fill` writes to `cap` bytes that
    /// begin `copy_alignment` bytes behind the start: there must be room for both.
    #[inline]
    pub(crate) fn filled<E>(
        self,
        aside: usize,
        cap: usize,
        fill: impl for<'a> FnOnce(&'a mut [MaybeUninit<u8>]) -> Result<&'a mut [u8], E>,
    ) -> Result<BinRef, E> {
        debug_assert!(aside + cap <= self.capacity() && self.bytes().is_empty());
        // SAFETY: fresh memory of that many bytes, nobody else has it.
        let (start, room) = unsafe {
            let start = self.data().add(aside);
            (start, std::slice::from_raw_parts_mut(start.cast(), cap))
        };
        let part = fill(room)?;
        // A reference to bytes at that address can only be to bytes that were written.
        let n = if ptr::eq(part.as_ptr(), start) { part.len().min(cap) } else { 0 };
        if aside > 0 {
            // SAFETY: they were written, to this memory.
            unsafe { ptr::copy(start, self.data(), n) };
        }
        self.header().used.store(n, Ordering::Relaxed);
        Ok(self)
    }
    /// The same, with the bytes of `front` before what `fill` writes (at most `cap` bytes).
    pub fn fill_behind<'b, E>(
        front: impl Iterator<Item = &'b [u8]> + Clone,
        cap: usize,
        fill: impl for<'a> FnOnce(&'a mut [MaybeUninit<u8>]) -> Result<&'a mut [u8], E>,
    ) -> Option<Result<BinRef, E>> {
        let had = front.clone().map(<[u8]>::len).sum::<usize>();
        let b = BinRef::try_allocate(had.checked_add(cap)?)?;
        let mut g = Gather { at: b.data(), left: had };
        front.for_each(|piece| g.push(piece));
        // SAFETY: the memory behind the pieces is fresh and ours; `g` has left off before it.
        let room = unsafe { std::slice::from_raw_parts_mut(g.at.cast::<MaybeUninit<u8>>(), cap) };
        let start: *const u8 = g.at;
        Some(fill(room).map(|part| {
            let n = if ptr::eq(part.as_ptr(), start) { part.len().min(cap) } else { 0 };
            b.header().used.store(had - g.left + n, Ordering::Relaxed);
            b
        }))
    }
    /// A binary with spare room behind `used` bytes, for appending (`bs_append` and its kin).
    pub fn with_capacity(cap: usize) -> BinRef {
        let b = BinRef::allocate(cap, 0);
        // SAFETY: fresh memory; zeroed because bits are or-ed into it.
        unsafe { ptr::write_bytes(b.data(), 0, cap) };
        b
    }
    /// A binary of `len` uninitialised bytes that C writes, and [`SPARE_BYTES`] behind them.
    pub fn for_foreign_code(len: usize) -> Option<BinRef> {
        let b = BinRef::try_allocate(len.checked_add(SPARE_BYTES)?)?;
        b.header().used.store(len, Ordering::Relaxed);
        Some(b)
    }
    /// The same binary with `len` bytes for C, in memory for so many, if this is the only
    /// reference. Additional bytes are uninitialised.
    pub fn resize_for_foreign_code(self, len: usize) -> Result<BinRef, BinRef> {
        let Some(cap) = len.checked_add(SPARE_BYTES) else { return Err(self) };
        if self.refs() != 1 || self.is_owned() {
            return Err(self);
        }
        // SAFETY: it is, as was just seen.
        let b = if cap == self.capacity() { self } else { unsafe { self.moved(cap)? } };
        b.header().used.store(len, Ordering::Relaxed);
        Ok(b)
    }
    #[inline]
    pub fn data(&self) -> *mut u8 {
        // SAFETY: the bytes follow the header.
        unsafe { self.0.as_ptr().cast::<u8>().add(HEAD) }
    }
    #[inline]
    pub fn capacity(&self) -> usize {
        self.header().cap & !OWNED
    }
    /// The bytes in use.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: bytes below `used` were written and do not change.
        unsafe {
            std::slice::from_raw_parts(self.data(), self.header().used.load(Ordering::Relaxed))
        }
    }
    #[inline]
    pub(crate) fn header(&self) -> &Binary {
        // SAFETY: we hold a count.
        unsafe { self.0.as_ref() }
    }
    pub fn refs(&self) -> usize {
        self.header().refs.load(Ordering::Relaxed)
    }
    /// Grows a binary if this is the only reference; otherwise, or if there is no memory, it is
    /// unchanged.
    pub fn grow(self, cap: usize) -> Result<BinRef, BinRef> {
        let shared = self.header().refs.load(Ordering::Acquire) != 1 || self.is_owned();
        if shared || cap <= self.capacity() {
            return Err(self);
        }
        let old = self.capacity();
        // SAFETY: we hold the only count; the new bytes are zeroed.
        unsafe {
            let b = self.moved(cap)?;
            ptr::write_bytes(b.data().add(old), 0, cap - old);
            Ok(b)
        }
    }
    /// The same binary moved to memory for `cap` bytes; the additional ones are uninitialised.
    ///
    /// # Safety
    /// This is the only reference, and nothing follows the bytes.
    pub(crate) unsafe fn moved(self, cap: usize) -> Result<BinRef, BinRef> {
        let (from, Some(to)) = (block_of(self.capacity()), block(cap)) else { return Err(self) };
        if from.lead != to.lead {
            return self.copied(cap);
        }
        // SAFETY: the memory is ours alone, as the caller says, and laid out so.
        unsafe {
            let p = self.0.as_ptr().cast::<u8>().sub(from.lead);
            let q = realloc(p, from.layout, to.layout.size());
            let Some(q) = NonNull::new(q) else { return Err(self) };
            let q = q.add(to.lead).cast::<Binary>();
            std::mem::forget(self);
            BINARIES.sub(from.layout.size());
            BINARIES.add(to.layout.size());
            (*q.as_ptr()).cap = cap;
            Ok(BinRef(q))
        }
    }
    /// The same if the bytes begin at another offset in the memory.
    fn copied(self, cap: usize) -> Result<BinRef, BinRef> {
        let Some(b) = BinRef::try_allocate(cap) else { return Err(self) };
        let n = cap.min(self.capacity());
        // SAFETY: both have so many bytes, and the new ones are nobody else's.
        unsafe { ptr::copy_nonoverlapping(self.data(), b.data(), n) };
        let (from, to) = (self.header(), b.header());
        to.used.store(from.used.load(Ordering::Relaxed), Ordering::Relaxed);
        to.text.store(from.text.load(Ordering::Relaxed), Ordering::Relaxed);
        Ok(b)
    }
    /// Transfers the count to a raw pointer.
    pub fn into_raw(self) -> *mut Binary {
        let p = self.0.as_ptr();
        std::mem::forget(self);
        p
    }
    /// # Safety
    /// `p` carries a count that `into_raw` gave.
    pub unsafe fn from_raw(p: *mut Binary) -> BinRef {
        // SAFETY: into_raw never gives null.
        BinRef(unsafe { NonNull::new_unchecked(p) })
    }
    /// Another reference to a binary that is already referenced.
    /// # Safety
    /// `p` is live.
    pub unsafe fn retain(p: *mut Binary) -> BinRef {
        // SAFETY: as the caller says.
        unsafe {
            (*p).refs.fetch_add(1, Ordering::Relaxed);
            BinRef::from_raw(p)
        }
    }
}

impl Clone for BinRef {
    fn clone(&self) -> BinRef {
        // SAFETY: we hold a count.
        unsafe { BinRef::retain(self.0.as_ptr()) }
    }
}

impl Drop for BinRef {
    #[inline]
    fn drop(&mut self) {
        let refs = &self.header().refs;
        // The only reference needs no atomic decrement: others could only be cloned from it.
        if refs.load(Ordering::Acquire) == 1 || refs.fetch_sub(1, Ordering::Release) == 1 {
            fence(Ordering::Acquire);
            let Block { layout, lead } = block_of(self.header().cap);
            BINARIES.sub(layout.size());
            // SAFETY: that was the last count; the box goes with its binary.
            unsafe {
                let owner = self.is_owned().then(|| Box::from_raw(self.owner_box()));
                dealloc(self.0.as_ptr().cast::<u8>().sub(lead), layout);
                drop(owner);
            }
        }
    }
}

/// What a magic reference stands for: an atomics array, a file, a compiled pattern …
pub type MagicResource = Arc<dyn Any + Send + Sync>;

/// Releases the counts of a whole chain of off-heap objects.
///
/// # Safety
/// `p` is null or a chain of live off-heap objects that nobody uses any more.
pub(crate) unsafe fn release_off_heap(p: *mut u64) {
    // SAFETY: as the caller says.
    unsafe { release_until(p, ptr::null_mut()) }
}

/// The same for the part of a chain before `end`.
///
/// # Safety
/// As above, for that part.
pub(crate) unsafe fn release_until(mut p: *mut u64, end: *mut u64) {
    while p != end {
        // SAFETY: as the caller says.
        unsafe {
            let next = *next_word(p) as *mut u64;
            release_one(p);
            p = next;
        }
    }
}

/// # Safety
/// `p` is a live REFC_BIN or MAGIC_REF whose count is given up.
pub(crate) unsafe fn release_one(p: *mut u64) {
    // SAFETY: the layouts of `word`.
    unsafe {
        match header_subtag(*p) {
            REFC_BIN => {
                release_exchanged(p);
                drop(BinRef::from_raw(*p.add(3) as *mut Binary))
            }
            MAGIC_REF => drop(Box::from_raw(*p.add(4) as *mut MagicResource)),
            _ => debug_assert!(false, "not an off-heap object"),
        }
    }
}

/// The word that links an off-heap object to the next.
///
/// # Safety
/// `p` is a REFC_BIN or MAGIC_REF.
pub(crate) unsafe fn next_word(p: *mut u64) -> *mut u64 {
    // SAFETY: as the caller says.
    unsafe {
        match header_subtag(*p) {
            REFC_BIN => p.add(2),
            _ => p.add(3),
        }
    }
}
/// Passes each resource that a magic reference of a chain keeps alive to `f`.
///
/// # Safety
/// `p` is null or a chain of live off-heap objects, which `f` does not change.
pub(crate) unsafe fn each_resource(mut p: *mut u64, f: &mut dyn FnMut(&MagicResource)) {
    while !p.is_null() {
        // SAFETY: as the caller says, with the layouts of `word`.
        unsafe {
            if header_subtag(*p) == MAGIC_REF {
                f(&*(*p.add(4) as *const MagicResource));
            }
            p = *next_word(p) as *mut u64;
        }
    }
}
impl crate::Heap {
    /// Passes the resources that its references keep alive to `f`, those of garbage included.
    pub fn each_resource(&self, f: &mut dyn FnMut(&MagicResource)) {
        // SAFETY: the chain's objects are live as long as nothing is collected, which takes the
        // heap for itself; what `f` may build is put before the chain and changes none of its
        // words.
        unsafe { each_resource(self.off_heap.get(), f) }
    }
    /// The off-heap binaries that it keeps alive: address, bytes, reference count.
    pub fn off_heap_binaries(&self) -> Vec<(usize, usize, usize)> {
        let mut all = Vec::new();
        let mut p = self.off_heap.get();
        while !p.is_null() {
            // SAFETY: the chain's objects are live, with the layouts of `word`.
            unsafe {
                if header_subtag(*p) == REFC_BIN {
                    let b = *p.add(3) as *const Binary;
                    all.push((b as usize, *p.add(1) as usize, (*b).refs.load(Ordering::Relaxed)));
                }
                p = *next_word(p) as *mut u64;
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_binary_keeps_its_owner() {
        let owner: MagicResource = Arc::new(7);
        for n in [0, 1, 8, 9, 100, 504, 512, 2039, 2040, 2048] {
            let b = BinRef::with_owner(&vec![3; n], owner.clone());
            assert_eq!((b.bytes(), b.capacity(), b.refs()), (&vec![3; n][..], n, 1));
            let b = b.grow(2 * n + 1).err().and_then(|b| b.resize_for_foreign_code(n / 2).err());
            let b = b.unwrap_or_else(|| BinRef::from_bytes(&[]));
            let c = b.clone();
            drop(b);
            assert_eq!(c.owner().and_then(|o| o.downcast_ref()), Some(&7));
            assert_eq!(Arc::strong_count(&owner), 2);
            drop(c);
            assert_eq!(Arc::strong_count(&owner), 1);
        }
    }

    #[test]
    fn bytes_stay_where_a_binary_grows() {
        let bytes: Vec<u8> = (0..40_000).map(|i| i as u8).collect();
        let mut b = BinRef::for_foreign_code(0).unwrap();
        for n in [
            1,
            400,
            511,
            512,
            600,
            2047,
            2048,
            2100,
            5000,
            COPY_BY_LINES_BYTES - 1,
            COPY_BY_LINES_BYTES,
            40_000,
        ] {
            let had = b.bytes().len();
            b = b.resize_for_foreign_code(n).ok().filter(|b| b.bytes().len() == n).unwrap();
            assert_eq!(b.capacity(), n + SPARE_BYTES);
            // SAFETY: nobody else has it, and it has so many bytes.
            unsafe { ptr::copy_nonoverlapping(bytes[had..].as_ptr(), b.data().add(had), n - had) };
            assert!(b.bytes() == &bytes[..n]);
            assert!((b.data() as usize).is_multiple_of(16));
        }
        drop(b);
    }
}
