//! The program's allocator: mimalloc without its slow aligned-allocation path.
//!
//! For an explicit alignment of 8 or 16, mimalloc takes a slow path for every size that is not a
//! power of two, and uses the next larger block size. Its blocks have that alignment anyway: all
//! are aligned to a word, those larger than a word to two.
//!
//! By default mimalloc returns memory to the system from within an allocation, which delays the
//! calling thread, and never if no thread allocates. Here [`give_back`] alone does that.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::Relaxed};
use std::sync::OnceLock;

use libmimalloc_sys as mi;

pub use crate::large_alloc::Ballast;
use crate::size_class_cache::{self, SizeClass};
use crate::{large_alloc, slab};

pub struct Allocator;

/// Alignment of every block of mimalloc. Blocks larger than a word are aligned to two words.
const WORD: usize = size_of::<usize>();

/// Largest size of a short block. Most blocks are short: they come from mimalloc's fast path,
/// without a check of the result. Failures are reported to [`short_failed`].
const SMALL_BYTES: usize = 512;
const _: () = assert!(
    SMALL_BYTES < slab::BLOCK
        && SMALL_BYTES <= size_class_cache::MIN_BYTES
        && SMALL_BYTES < large_alloc::MIN_BYTES
);

#[inline]
fn is_short(l: &Layout) -> bool {
    l.size() <= SMALL_BYTES && aligned(l)
}
/// Whether every block of that size has the requested alignment.
#[inline]
fn aligned(l: &Layout) -> bool {
    l.align() <= WORD || l.align() <= 2 * WORD && l.size() > WORD
}

/// `mi_option_arena_purge_mult` of mimalloc.h, which the bindings do not name: memory returns to
/// the system after it was free for this multiple of `purge_delay`.
const ARENA_PURGE_MULT: mi::mi_option_t = 24;

/// Bytes at the start of the first region that use small pages. Huge pages pay off for large heaps,
/// but each block size has pages of its own: of 81 MB present after startup, 50 MB were never
/// touched. mimalloc spreads eight threads over as many regions.
const SMALL_PAGES: usize = 8 * REGION;
/// Alignment of mimalloc's regions.
const REGION: usize = 32 << 20;

/// Runs before `main`. Rust's runtime allocates the first blocks before mimalloc's region is known;
/// with huge pages they would lie in 2 MB pages that are present as a whole.
#[cfg(not(miri))]
#[used]
#[link_section = ".init_array"]
static BEFORE_MAIN: extern "C" fn() = {
    extern "C" fn no_huge_pages() {
        // SAFETY: asks for and sets whether there are huge pages, which changes nothing that a
        // program could see.
        unsafe {
            if libc::prctl(libc::PR_GET_THP_DISABLE, 0, 0, 0, 0) == 0
                && libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0) == 0
            {
                PUT_OFF.store(true, Relaxed);
            }
        }
    }
    no_huge_pages
};
/// Huge pages were enabled at the start and are to be enabled again later.
static PUT_OFF: AtomicBool = AtomicBool::new(false);

/// Leaves returning memory to [`give_back`], and begins with small pages. Must be called before
/// there are threads or other programs.
pub fn prepare() {
    reserve();
    // SAFETY: sets numbers; asks for a block and frees it; the advice, and whether there are huge
    // pages, changes nothing that a program could see, whatever lies there.
    unsafe {
        mi::mi_register_error(Some(short_failed), std::ptr::null_mut());
        mi::mi_option_set(ARENA_PURGE_MULT, 10_000_000);
        let block = mi::mi_malloc(1);
        let region = (block as usize & !(REGION - 1)) as *mut libc::c_void;
        libc::madvise(region, SMALL_PAGES, libc::MADV_NOHUGEPAGE);
        mi::mi_free(block);
        if PUT_OFF.swap(false, Relaxed) {
            libc::prctl(libc::PR_SET_THP_DISABLE, 0, 0, 0, 0);
        }
    }
}
/// Address space reserved for writing a crash dump when no more memory can be had. None of it is
/// present.
const RESERVE: usize = 3 * REGION;
static RESERVED: AtomicUsize = AtomicUsize::new(0);

fn reserve() {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new mapping that replaces nothing.
    let p = unsafe { libc::mmap(std::ptr::null_mut(), RESERVE, libc::PROT_NONE, flags, -1, 0) };
    if p != libc::MAP_FAILED {
        RESERVED.store(p as usize, Relaxed);
    }
}
/// Releases the reserve: for a program that ends.
pub fn release_reserve() {
    match RESERVED.swap(0, Relaxed) {
        0 => {}
        // SAFETY: the mapping made by `reserve`, in which there is nothing.
        p => drop(unsafe { libc::munmap(p as *mut libc::c_void, RESERVE) }),
    }
}

/// Returns free memory to the system, except blocks that had mappings of their own. Any thread may
/// call it; the others keep running.
pub fn give_back() {
    // SAFETY: what is freed was got here. A thread that has never had memory collects nothing.
    unsafe {
        mi::mi_free(mi::mi_malloc(1));
        mi::mi_collect(true)
    }
    slab::give_back();
}
/// Returns very large blocks that were already free at the previous call. True if some are still
/// kept.
pub fn give_back_large() -> bool {
    large_alloc::give_back()
}

/// mimalloc's version.
pub fn version() -> [u32; 3] {
    // SAFETY: returns a constant.
    let v = unsafe { mi::mi_version() }.unsigned_abs();
    if v >= 10_000 {
        [v / 10_000, v / 100 % 100, v % 100]
    } else {
        [v / 100, v / 10 % 10, v % 10]
    }
}

/// Bytes that a thread frees between two calls of the scavenger.
const FREED_PER_CALL: isize = 1 << 20;
/// Number of collections for which mimalloc keeps an empty page of more than 64 KB for reuse.
const RETIRE_CYCLES: usize = 4;

thread_local! {
    /// Bytes that this thread may free until it calls the scavenger.
    static UNTIL_CALL: Cell<isize> = const { Cell::new(FREED_PER_CALL) };
}
static SCAVENGER: OnceLock<fn()> = OnceLock::new();

/// `wake` is called when a thread has freed much, from within the call that frees: it must neither
/// allocate nor take a lock. Only the first call of this function has an effect.
pub fn on_much_freed(wake: fn()) {
    let _ = SCAVENGER.set(wake);
}
/// Counts freed bytes, of this allocator or of another that the scavenger looks after.
#[inline]
pub fn count_freed(bytes: usize) {
    let left = UNTIL_CALL.get().wrapping_sub(bytes as isize);
    UNTIL_CALL.set(left);
    if left < 0 {
        call_scavenger();
    }
}
/// Memory was freed that is in no count: that of a thread that ends.
#[cold]
pub fn call_scavenger() {
    UNTIL_CALL.set(FREED_PER_CALL);
    if let Some(wake) = SCAVENGER.get() {
        wake();
    }
}

/// Collects the blocks of this thread that other threads have freed, which are unusable until their
/// owner collects them, and the thread's cached blocks; [`give_back`] finds them then. This makes
/// no system call and walks only the pages that the thread owns, so a scheduler may do it between
/// two time slices. If `idle`, it repeats the walk until pages that mimalloc retains for its next
/// block are free, too.
pub fn tidy(idle: bool) {
    // SAFETY: what is kept came from mimalloc and is free; nothing that is in use is touched.
    size_class_cache::release_all(|p| unsafe { mi::mi_free(p.cast()) });
    for _ in 0..if idle { RETIRE_CYCLES } else { 1 } {
        // SAFETY: the same. Not forced: that would purge what all threads have freed from here.
        unsafe { mi::mi_collect(false) }
    }
}
/// `n` words that are 0; only those that are written become present.
pub fn zeroes(n: usize) -> Box<[AtomicU32]> {
    let words = Box::new_zeroed_slice(n);
    // SAFETY: 0 is such a word.
    unsafe { words.assume_init() }
}
/// Zeroes the words by returning their whole pages to the system. Words in the partial pages at
/// both ends keep their values.
pub fn clear(words: &[AtomicU32]) {
    const PAGE: usize = 4096;
    let all = words.as_ptr_range();
    let (start, end) =
        ((all.start as usize).next_multiple_of(PAGE), all.end as usize & !(PAGE - 1));
    if start < end {
        // SAFETY: whole pages of words that may change at any time, in memory of this program
        // alone, which is zero when it is there again.
        unsafe {
            libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_DONTNEED);
        }
    }
}
/// Marks this thread as one that creates and ends processes until the program ends.
pub fn attach() {
    slab::attach();
    size_class_cache::attach();
}
/// Whether the layout is a process's, whose memory comes from the slabs.
#[inline]
fn is_of_slab(l: Layout) -> bool {
    l.size() == slab::BLOCK && l.align() <= slab::ALIGN
}
/// Size class of this layout in the threads' caches. Its block is as large as all of that class.
#[inline]
fn class(l: &Layout) -> Option<SizeClass> {
    SizeClass::of(l.size()).filter(|_| aligned(l))
}
/// Bytes to request from mimalloc.
#[inline]
fn whole(l: &Layout) -> usize {
    class(l).map_or(l.size(), |c| c.size)
}
/// Whether such a block gets a mapping of its own.
#[inline]
fn is_huge(l: Layout) -> bool {
    l.size() >= large_alloc::MIN_BYTES && l.align() <= large_alloc::ALIGN
}

thread_local! {
    /// The caller handles a failed allocation.
    static MAY_FAIL: Cell<bool> = const { Cell::new(false) };
    /// A request for a block that is not short is in progress: its caller checks the result.
    static LOOKED_AT: Cell<bool> = const { Cell::new(false) };
}
static OUT_OF_MEMORY: OnceLock<fn(&NoMemory) -> !> = OnceLock::new();

/// An allocation that the system refused.
pub struct NoMemory {
    /// The OTP allocator that would have made it, and its purpose.
    pub allocator: &'static str,
    pub kind: &'static str,
    pub bytes: usize,
}

/// Sets the function that ends the program when memory is exhausted. Only the first call counts.
pub fn on_no_memory(end: fn(&NoMemory) -> !) {
    let _ = OUT_OF_MEMORY.set(end);
}
/// Allocations within `f` return null if there is no memory, and the program goes on.
pub fn may_fail<R>(f: impl FnOnce() -> R) -> R {
    let before = MAY_FAIL.replace(true);
    let r = f();
    MAY_FAIL.set(before);
    r
}
/// Handles a failed allocation: returns null if the caller expects that.
#[cold]
fn no_memory(l: Layout) -> *mut u8 {
    if let (Some(end), false) = (OUT_OF_MEMORY.get(), MAY_FAIL.get()) {
        // Binaries alone are aligned like this; what else is large is a heap.
        let (allocator, kind) = match l.align() {
            16 => ("binary_alloc", "binary"),
            _ => ("eheap_alloc", "heap"),
        };
        end(&NoMemory { allocator, kind, bytes: l.size() })
    }
    std::ptr::null_mut()
}
/// mimalloc's error handler. If there was no memory for a short block, the program ends. mimalloc
/// does not pass the requested size; the one reported is that of a page of such blocks.
extern "C" fn short_failed(code: libc::c_int, _: *mut libc::c_void) {
    if code == libc::ENOMEM && !LOOKED_AT.get() {
        no_memory(Layout::new::<[u64; 8192]>());
    }
}
/// Requests a block that is not short from mimalloc.
#[inline]
fn look_at<P>(get: impl FnOnce() -> *mut P) -> *mut u8 {
    LOOKED_AT.set(true);
    let p = get();
    LOOKED_AT.set(false);
    p.cast()
}
#[inline]
fn had(p: *mut u8, l: Layout) -> *mut u8 {
    if p.is_null() {
        return no_memory(l);
    }
    p
}

// SAFETY: mimalloc's blocks are at least as large as asked for, its own until they are freed, and
// aligned as `aligned` and its own arguments say.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, l: Layout) -> *mut u8 {
        if is_short(&l) {
            // SAFETY: less than mimalloc's own bound.
            return unsafe { mi::mi_malloc_small(l.size()).cast() };
        }
        if is_of_slab(l) {
            return had(slab::alloc(), l);
        }
        if is_huge(l) {
            return had(large_alloc::alloc(l.size()).0, l);
        }
        let class = class(&l);
        if let Some(p) = class.and_then(size_class_cache::take) {
            return p;
        }
        let size = class.map_or(l.size(), |c| c.size);
        // SAFETY: any size will do; `Layout` holds a power of two.
        let p = look_at(|| unsafe {
            match aligned(&l) {
                true => mi::mi_malloc(size),
                false => mi::mi_malloc_aligned(l.size(), l.align()),
            }
        });
        had(p, l)
    }
    #[inline]
    unsafe fn alloc_zeroed(&self, l: Layout) -> *mut u8 {
        if is_of_slab(l) {
            let p = slab::alloc();
            if !p.is_null() {
                // SAFETY: a block of that size.
                unsafe { p.write_bytes(0, slab::BLOCK) }
            }
            return had(p, l);
        }
        if is_huge(l) {
            let (p, zeros) = large_alloc::alloc(l.size());
            if !p.is_null() && !zeros {
                // SAFETY: a block of that size.
                unsafe { p.write_bytes(0, l.size()) }
            }
            return had(p, l);
        }
        // SAFETY: as above.
        let p = look_at(|| unsafe {
            match aligned(&l) {
                true => mi::mi_zalloc(whole(&l)),
                false => mi::mi_zalloc_aligned(l.size(), l.align()),
            }
        });
        had(p, l)
    }
    #[inline]
    unsafe fn dealloc(&self, p: *mut u8, l: Layout) {
        count_freed(l.size());
        // SAFETY: the caller got it here, with this layout.
        unsafe {
            match l {
                l if is_short(&l) => mi::mi_free(p.cast()),
                l if is_of_slab(l) => slab::free(p),
                l if is_huge(l) => large_alloc::free(p, l.size()),
                l if class(&l)
                    .is_some_and(|c| size_class_cache::keep(p, c, |p| mi::mi_free(p.cast()))) => {}
                _ => mi::mi_free(p.cast()),
            }
        }
    }
    #[inline]
    unsafe fn realloc(&self, p: *mut u8, l: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller got it here; the size is one that it may have.
        unsafe {
            let to = Layout::from_size_align_unchecked(size, l.align());
            if is_huge(l) && is_huge(to) {
                return had(large_alloc::resize(p, l.size(), size), to);
            }
            if [l, to].into_iter().any(|l| is_of_slab(l) || is_huge(l)) {
                let new = self.alloc(to);
                if !new.is_null() {
                    new.copy_from_nonoverlapping(p, size.min(l.size()));
                    self.dealloc(p, l);
                }
                return new;
            }
            count_freed(l.size());
            let new = look_at(|| match aligned(&l) && aligned(&to) {
                true => mi::mi_realloc(p.cast(), whole(&to)),
                false => mi::mi_realloc_aligned(p.cast(), size, l.align()),
            });
            had(new, to)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_zero_again() {
        let words = zeroes(10_000);
        words.iter().for_each(|w| w.store(7, Relaxed));
        clear(&words);
        let left = words.iter().filter(|w| w.load(Relaxed) != 0).count();
        // Words of the partial pages at both ends keep their values.
        assert!(left < 2048 && words.iter().all(|w| [0, 7].contains(&w.load(Relaxed))));
        clear(&words[..10]);
    }

    #[test]
    fn blocks_are_aligned_as_asked() {
        for size in (1..5000).chain((1..200).map(|n| n * 4099)) {
            for align in [1, 8, 16, 32] {
                let l = Layout::from_size_align(size, align).unwrap();
                // SAFETY: what is freed was got here, with these layouts.
                unsafe {
                    let p = Allocator.alloc(l);
                    assert!((p as usize).is_multiple_of(align));
                    let q = Allocator.realloc(p, l, size + 100);
                    assert!((q as usize).is_multiple_of(align));
                    Allocator.dealloc(q, Layout::from_size_align(size + 100, align).unwrap());
                }
            }
        }
    }

    #[test]
    fn the_option_is_the_one_that_is_meant() {
        // SAFETY: reads a number.
        let default = unsafe { mi::mi_option_get(ARENA_PURGE_MULT) };
        assert_eq!(default, 1);
    }
}
