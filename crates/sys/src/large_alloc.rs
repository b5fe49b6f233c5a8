//! Very large allocations: mappings of their own, which grow and shrink without being copied.
//!
//! The system clears pages before it hands them out, which takes longer than filling them. So freed
//! blocks are kept for later large allocations, up to [`MAX_CACHED_BYTES`], until [`give_back`] has
//! found them twice.

use std::ptr;
use std::sync::{Mutex, MutexGuard};

use libc::c_void;

/// Smallest block that is allocated here.
pub const MIN_BYTES: usize = 16 << 20;
/// Alignment of the blocks.
pub const ALIGN: usize = 4096;
/// Sizes are multiples of this, the size of a huge page.
const HUGE_PAGE_BYTES: usize = 2 << 20;
/// Most bytes that are kept in total.
const MAX_CACHED_BYTES: usize = 512 << 20;

/// A free block that is kept.
struct Free {
    at: usize,
    size: usize,
    /// It was already kept at the previous `give_back`.
    seen: bool,
}

static FREE: Mutex<Vec<Free>> = Mutex::new(Vec::new());

fn free_blocks() -> MutexGuard<'static, Vec<Free>> {
    FREE.lock().unwrap_or_else(|e| e.into_inner())
}

/// `None` if the size is larger than any memory.
fn whole_units(size: usize) -> Option<usize> {
    Some(size.checked_add(HUGE_PAGE_BYTES - 1)? & !(HUGE_PAGE_BYTES - 1))
}

/// Takes the smallest kept block that is large enough, else the largest.
fn take(size: usize) -> Option<Free> {
    let mut free = free_blocks();
    let best = (0..free.len()).min_by_key(|i| match free[*i].size {
        n if n >= size => n - size,
        n => usize::MAX - n,
    })?;
    Some(free.swap_remove(best))
}

/// New memory, not yet present, to be backed by huge pages; null if there is none.
fn map(size: usize) -> *mut c_void {
    let (prot, flags) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping that replaces nothing; the advice changes nothing a program could see.
    unsafe {
        let p = libc::mmap(ptr::null_mut(), size, prot, flags, -1, 0);
        if p == libc::MAP_FAILED {
            return ptr::null_mut();
        }
        libc::madvise(p, size, libc::MADV_HUGEPAGE);
        p
    }
}
/// Memory that is present and unused. When its holder reduces it, the pages are available to others
/// at once. Started programs do not inherit it.
pub struct Ballast {
    at: usize,
    room: usize,
    size: usize,
}

impl Ballast {
    /// Empty, with room for `room` bytes, or for none if the system gives no addresses.
    pub fn new(room: usize) -> Ballast {
        let room = whole_units(room).unwrap_or(0);
        let at = map(room);
        if at.is_null() {
            return Ballast { at: 0, room: 0, size: 0 };
        }
        // SAFETY: the advice changes only what a program has that is started.
        unsafe { libc::madvise(at, room, libc::MADV_DONTFORK) };
        Ballast { at: at as usize, room, size: 0 }
    }
    pub fn size(&self) -> usize {
        self.size
    }
    /// Holds `size` bytes from now on, or as many as there is room for.
    pub fn resize(&mut self, size: usize) {
        let size = whole_units(size).unwrap_or(self.room).min(self.room);
        let advice = if size > self.size { libc::MADV_POPULATE_WRITE } else { libc::MADV_DONTNEED };
        let at = (self.at + size.min(self.size)) as *mut c_void;
        // SAFETY: a part of the mapping, in which nothing is kept; an advice that the system does
        // not take changes nothing.
        unsafe { libc::madvise(at, size.abs_diff(self.size), advice) };
        self.size = size;
    }
}

impl Drop for Ballast {
    fn drop(&mut self) {
        // SAFETY: nobody else knows the mapping.
        unsafe { unmap(self.at, self.room) }
    }
}

/// Whether the system would give a block of `size` bytes now.
pub fn is_obtainable(size: usize) -> bool {
    let Some(size) = whole_units(size) else { return false };
    let p = map(size);
    if !p.is_null() {
        // SAFETY: nobody else knows the mapping.
        unsafe { unmap(p as usize, size) }
    }
    !p.is_null()
}

/// A block of `size` bytes, null where there is no memory; and whether it is all zeros.
pub fn alloc(size: usize) -> (*mut u8, bool) {
    let Some(size) = whole_units(size) else { return (ptr::null_mut(), false) };
    if let Some(kept) = take(size) {
        // SAFETY: nobody uses it, and it has that size.
        let p = unsafe { fit(kept.at as *mut u8, kept.size, size) };
        if !p.is_null() {
            return (p, false);
        }
        // SAFETY: the same.
        unsafe { unmap(kept.at, kept.size) };
    }
    let p = map(size);
    (p.cast(), !p.is_null())
}

/// # Safety
/// `p` came from here with that size, and nobody uses it any more.
pub unsafe fn free(p: *mut u8, size: usize) {
    let Some(size) = whole_units(size) else { return };
    let mut free = free_blocks();
    let kept: usize = free.iter().map(|f| f.size).sum();
    if kept + size <= MAX_CACHED_BYTES {
        return free.push(Free { at: p as usize, size, seen: false });
    }
    drop(free);
    // SAFETY: as the caller says.
    unsafe { unmap(p as usize, size) }
}

/// Resizes the block, which may move it. Null if there is no memory; the block is then unchanged.
///
/// # Safety
/// As for `free`; both sizes are at least `MIN_BYTES`.
pub unsafe fn resize(p: *mut u8, size: usize, to: usize) -> *mut u8 {
    match (whole_units(size), whole_units(to)) {
        // SAFETY: as the caller says.
        (Some(size), Some(to)) => unsafe { fit(p, size, to) },
        _ => ptr::null_mut(),
    }
}

/// # Safety
/// A block of whole units.
unsafe fn fit(p: *mut u8, size: usize, to: usize) -> *mut u8 {
    if size == to {
        return p;
    }
    // SAFETY: as the caller says.
    match unsafe { libc::mremap(p.cast::<c_void>(), size, to, libc::MREMAP_MAYMOVE) } {
        libc::MAP_FAILED => ptr::null_mut(),
        p => p.cast(),
    }
}

/// # Safety
/// A block that nobody uses.
unsafe fn unmap(at: usize, size: usize) {
    // SAFETY: as the caller says.
    unsafe { libc::munmap(at as *mut c_void, size) };
}

/// Returns to the system what was already kept at the previous call. True if some is still kept.
pub fn give_back() -> bool {
    let mut free = free_blocks();
    let old: Vec<Free> = free.extract_if(.., |f| std::mem::replace(&mut f.seen, true)).collect();
    let some = !free.is_empty();
    drop(free);
    for f in old {
        // SAFETY: it was unused when it was kept.
        unsafe { unmap(f.at, f.size) }
    }
    some
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ballast_is_present_as_far_as_it_is_held() {
        let present = || {
            let text = std::fs::read_to_string("/proc/self/statm").unwrap();
            text.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
        };
        const MUCH: usize = 512 << 20;
        let mut ballast = Ballast::new(MUCH);
        let before = present();
        ballast.resize(2 * MUCH);
        assert!(ballast.size() == MUCH && present() > before + MUCH / 2);
        ballast.resize(HUGE_PAGE_BYTES);
        assert!(ballast.size() == HUGE_PAGE_BYTES && present() < before + MUCH / 2);
    }

    #[test]
    fn blocks_are_used_again_until_they_were_given_back() {
        let size = MIN_BYTES + 5;
        let (p, zero) = alloc(size);
        assert!(!p.is_null() && zero && (p as usize).is_multiple_of(ALIGN));
        // SAFETY: blocks of those sizes, each freed once.
        unsafe {
            p.write_bytes(7, size);
            let q = resize(p, size, 3 * MIN_BYTES);
            assert_eq!((*q, *q.add(size - 1), *q.add(3 * MIN_BYTES - 1)), (7, 7, 0));
            let q = resize(q, 3 * MIN_BYTES, size);
            free(q, size);
            give_back();
            let (p, zero) = alloc(2 * MIN_BYTES);
            assert!(!zero && *p == 7);
            free(p, 2 * MIN_BYTES);
            give_back();
            give_back();
            let (p, zero) = alloc(MIN_BYTES);
            assert!(zero && *p == 0);
            free(p, MIN_BYTES);
        }
        assert!(alloc(usize::MAX - 5).0.is_null());
    }
}
