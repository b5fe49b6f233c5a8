//! What external and local funs point to. Entries are made by the `code` crate and never freed.

use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use crate::Atom;

/// A function as seen from other modules: calls jump through `code`.
#[repr(C)]
pub struct Export {
    /// Where a call goes now. Native code loads it at each remote call.
    pub code: AtomicUsize,
    /// A second cell for whoever owns the entry (the BIF's address, a breakpoint's return).
    pub extra: AtomicUsize,
    pub module: Atom,
    pub function: Atom,
    pub arity: u32,
    /// How many entries there were when this one was made.
    pub index: u32,
}

/// A place for an export that several threads read and change.
#[repr(transparent)]
pub struct ExportSlot(AtomicPtr<Export>);

impl ExportSlot {
    pub const fn new() -> ExportSlot {
        ExportSlot(AtomicPtr::new(std::ptr::null_mut()))
    }
    #[inline]
    pub fn get(&self) -> Option<&'static Export> {
        // SAFETY: `set` puts in what lives for good and is changed through its atomics only.
        unsafe { self.0.load(Ordering::Acquire).as_ref() }
    }
    pub fn set(&self, e: &'static Export) {
        self.0.store(std::ptr::from_ref(e).cast_mut(), Ordering::Release)
    }
}

impl Default for ExportSlot {
    fn default() -> Self {
        ExportSlot::new()
    }
}

/// A fun's code. Several loads of the same module share an entry (same index and `uniq`).
#[repr(C)]
pub struct FunEntry {
    pub code: AtomicUsize,
    pub module: Atom,
    pub arity: u32,
    pub num_free: u32,
    pub index: u32,
    /// The 27-bit hash that older formats carry.
    pub old_uniq: u32,
    pub old_index: u32,
    /// The module's MD5.
    pub uniq: [u8; 16],
    /// The local function (`-fun/2-fun-0-` and its kind) and its arity with the environment.
    pub function: Atom,
}

impl Export {
    pub fn address(&self) -> usize {
        self.code.load(Ordering::Acquire)
    }
}
impl FunEntry {
    pub fn address(&self) -> usize {
        self.code.load(Ordering::Acquire)
    }
}
