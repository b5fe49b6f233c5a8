//! The targets of external and local funs. Entries are made by the `code` crate and never freed.

use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};

use crate::Atom;

/// Address of native code that can be jumped to. Only code generators make one, so whatever is
/// stored in a cell can be called.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[repr(transparent)]
pub struct CodeAddress(usize);

impl CodeAddress {
    /// No code. A jump there ends the program; nothing has this value once there are stubs.
    pub const NONE: CodeAddress = CodeAddress(0);

    /// # Safety
    /// Native code begins there that expects the registers as calls leave them. It stays for as
    /// long as a cell leads there or a process may jump there.
    pub const unsafe fn new(address: usize) -> CodeAddress {
        CodeAddress(address)
    }
    pub const fn get(self) -> usize {
        self.0
    }
}

/// A cell that native code jumps through.
#[repr(transparent)]
pub struct CodeCell(AtomicUsize);

impl CodeCell {
    pub const fn new(to: CodeAddress) -> CodeCell {
        CodeCell(AtomicUsize::new(to.0))
    }
    #[inline]
    pub fn get(&self) -> CodeAddress {
        CodeAddress(self.0.load(Ordering::Acquire))
    }
    pub fn set(&self, to: CodeAddress) {
        self.0.store(to.0, Ordering::Release)
    }
    /// Replaces the target; returns the old one.
    pub fn swap(&self, to: CodeAddress) -> CodeAddress {
        CodeAddress(self.0.swap(to.0, Ordering::AcqRel))
    }
    /// Replaces the target if it is `from`; returns whether it was.
    pub fn redirect(&self, from: CodeAddress, to: CodeAddress) -> bool {
        self.0.compare_exchange(from.0, to.0, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }
}

/// The Rust function behind an export that the VM implements, as a number; 0 if there is none.
pub struct NativeCell(AtomicUsize);

impl NativeCell {
    pub const fn empty() -> NativeCell {
        NativeCell(AtomicUsize::new(0))
    }

    /// # Safety
    /// It is what the code in the export's cell takes it for.
    pub const unsafe fn new(what: usize) -> NativeCell {
        NativeCell(AtomicUsize::new(what))
    }
    #[inline]
    pub fn get(&self) -> usize {
        self.0.load(Ordering::Acquire)
    }
    /// # Safety
    /// As for `new`.
    pub unsafe fn set(&self, what: usize) {
        self.0.store(what, Ordering::Release)
    }
}

/// An export's number, and how far it is known to `binary_to_term/2` with `safe`, on which the `code`
/// crate decides.
#[repr(transparent)]
pub struct StagedIndex(AtomicU32);

impl StagedIndex {
    const STAGED: u32 = 1 << 30;
    const ACTIVE: u32 = 1 << 31;

    /// A number below 2^30.
    pub const fn new(index: u32) -> StagedIndex {
        StagedIndex(AtomicU32::new(index & (Self::STAGED - 1)))
    }
    pub fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed) & (Self::STAGED - 1)
    }
    /// Notes that it is to become active. True if it is not and this was not noted before.
    #[inline]
    pub fn stage(&self) -> bool {
        let known = Self::STAGED | Self::ACTIVE;
        self.0.load(Ordering::Acquire) & known == 0
            && self.0.fetch_or(Self::STAGED, Ordering::AcqRel) & known == 0
    }
    pub fn activate(&self) {
        self.0.fetch_or(Self::ACTIVE, Ordering::Release);
    }
    pub fn is_active(&self) -> bool {
        self.0.load(Ordering::Acquire) & Self::ACTIVE != 0
    }
}

/// A function as seen from other modules: calls jump through `code`.
#[repr(C)]
pub struct Export {
    /// Current target of calls. Native code loads it at each remote call.
    pub code: CodeCell,
    /// The BIF or NIF that `code` is to call.
    pub extra: NativeCell,
    pub module: Atom,
    pub function: Atom,
    pub arity: u32,
    /// Number of entries before this one.
    pub index: StagedIndex,
}

/// A slot for an export that several threads read and change.
#[repr(transparent)]
pub struct ExportSlot(AtomicPtr<Export>);

impl ExportSlot {
    pub const fn new() -> ExportSlot {
        ExportSlot(AtomicPtr::new(std::ptr::null_mut()))
    }
    #[inline]
    pub fn get(&self) -> Option<&'static Export> {
        // SAFETY: `set` stores only entries that live for ever and are changed through their
        // atomics only.
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

/// Code of a fun. Several loads of the same module share an entry (same index and `uniq`).
#[repr(C)]
pub struct FunEntry {
    pub code: CodeCell,
    pub module: Atom,
    pub arity: u32,
    pub num_free: u32,
    pub index: u32,
    /// The 27-bit hash in older formats.
    pub old_uniq: u32,
    pub old_index: u32,
    /// The module's MD5.
    pub uniq: [u8; 16],
    /// The local function (`-fun/2-fun-0-` and its kind) and its arity with the environment.
    pub function: Atom,
}

impl Export {
    pub fn address(&self) -> usize {
        self.code.get().get()
    }
}
impl FunEntry {
    pub fn address(&self) -> usize {
        self.code.get().get()
    }
}
