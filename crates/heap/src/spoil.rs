//! With the feature `tight`, what is freed is overwritten: `docs/internals/gc.md`, "Stress".

use kvik_term::word::TAG_BOXED;

/// Overwrites words that are about to be freed, so that a later use of them shows: an address that
/// is none, tagged as an object.
///
/// # Safety
/// The words are writable, and nobody reads them any more.
#[inline]
pub(crate) unsafe fn spoil(p: *mut u64, words: usize) {
    if cfg!(feature = "tight") {
        // SAFETY: as the caller says.
        unsafe { std::slice::from_raw_parts_mut(p, words).fill(0xDEAD_DEAD_DEAD_DEA8 | TAG_BOXED) }
    }
}
