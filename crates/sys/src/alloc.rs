//! The program's allocator: mimalloc, asked in the way that is cheap.
//!
//! Asked for memory "aligned to 8", mimalloc takes a slow path for every size that is no power of
//! two, and the next larger size of block with it. Each of its blocks is aligned to a word anyway.

use std::alloc::{GlobalAlloc, Layout};

use libmimalloc_sys as mi;

pub struct Allocator;

/// What every block of mimalloc is aligned to.
const WORD: usize = size_of::<usize>();

// SAFETY: mimalloc's blocks are at least as large as asked for, its own until they are freed, and
// aligned as `WORD` and its own arguments say.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, l: Layout) -> *mut u8 {
        // SAFETY: any size will do; `Layout` holds a power of two.
        unsafe {
            match l.align() <= WORD {
                true => mi::mi_malloc(l.size()).cast(),
                false => mi::mi_malloc_aligned(l.size(), l.align()).cast(),
            }
        }
    }
    #[inline]
    unsafe fn alloc_zeroed(&self, l: Layout) -> *mut u8 {
        // SAFETY: as above.
        unsafe {
            match l.align() <= WORD {
                true => mi::mi_zalloc(l.size()).cast(),
                false => mi::mi_zalloc_aligned(l.size(), l.align()).cast(),
            }
        }
    }
    #[inline]
    unsafe fn dealloc(&self, p: *mut u8, _: Layout) {
        // SAFETY: the caller got it here.
        unsafe { mi::mi_free(p.cast()) }
    }
    #[inline]
    unsafe fn realloc(&self, p: *mut u8, l: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller got it here.
        unsafe {
            match l.align() <= WORD {
                true => mi::mi_realloc(p.cast(), size).cast(),
                false => mi::mi_realloc_aligned(p.cast(), size, l.align()).cast(),
            }
        }
    }
}
