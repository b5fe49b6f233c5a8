//! `ErlDrvBinary`: a size followed by the bytes, with a reference count.

use std::ffi::{c_char, c_long};
use std::mem::offset_of;
use std::ptr;
use std::sync::atomic::{AtomicIsize, Ordering};

use kvik_heap::binary::SPARE_BYTES;

/// `ErlDrvBinary`, as C sees it: the count is stored in front of it.
#[repr(C)]
pub struct DriverBinary {
    size: c_long,
    bytes: [c_char; 0],
}
#[repr(C)]
struct Counted {
    references: AtomicIsize,
    binary: DriverBinary,
}

crate::address::by_address! {
    driver_alloc_binary,
    driver_binary_dec_refc,
    driver_binary_get_refc,
    driver_binary_inc_refc,
    driver_free_binary,
    driver_realloc_binary,
}

/// `ErlDrvBinary *`: null, or a binary of ours to which C or a [`BinaryRef`] has a reference.
#[derive(Copy, Clone)]
#[repr(transparent)]
pub struct BinaryPtr(*mut DriverBinary);

/// Bytes to allocate: some to spare behind those of the binary, as OTP's have.
fn whole(size: usize) -> Option<usize> {
    size.checked_add(size_of::<Counted>() + SPARE_BYTES).filter(|n| *n <= isize::MAX as usize)
}
/// Stores the size in allocated memory; returns the pointer for C.
fn placed(c: *mut Counted, size: usize) -> BinaryPtr {
    if c.is_null() {
        return BinaryPtr::NULL;
    }
    // SAFETY: memory of that size, which nobody else has yet. The pointer is one to all of it.
    unsafe {
        (&raw mut (*c).binary.size).write(size as c_long);
        BinaryPtr(c.cast::<u8>().add(offset_of!(Counted, binary)).cast())
    }
}

impl BinaryPtr {
    pub const NULL: BinaryPtr = BinaryPtr(ptr::null_mut());

    pub fn is_null(&self) -> bool {
        self.0.is_null()
    }
    fn counted(self) -> *mut Counted {
        self.0.cast::<u8>().wrapping_sub(offset_of!(Counted, binary)).cast()
    }
    fn references(&self) -> &AtomicIsize {
        // SAFETY: the interface's contract: one of ours, to which the caller has a reference.
        unsafe { &(*self.counted()).references }
    }
    /// Address of its bytes.
    pub fn data(&self) -> *mut u8 {
        self.0.cast::<u8>().wrapping_add(offset_of!(DriverBinary, bytes))
    }
    /// Its bytes; empty for null.
    pub fn bytes(&self) -> &[u8] {
        if self.is_null() {
            return &[];
        }
        // SAFETY: as for `references`; so many bytes are there.
        unsafe {
            let n = usize::try_from((*self.0).size).unwrap_or(0);
            std::slice::from_raw_parts(self.data(), n)
        }
    }
    /// Adds a reference; `None` for null.
    pub fn keep(self) -> Option<BinaryRef> {
        if self.is_null() {
            return None;
        }
        driver_binary_inc_refc(self);
        Some(BinaryRef(self))
    }
    /// # Safety
    /// Null, or a binary of ours for as long as this is used.
    pub unsafe fn new(b: *mut DriverBinary) -> BinaryPtr {
        BinaryPtr(b)
    }
    /// Takes over the reference that the caller was given.
    ///
    /// # Safety
    /// The reference exists and has no other owner.
    pub unsafe fn take(self) -> Option<BinaryRef> {
        (!self.is_null()).then(|| BinaryRef(self))
    }
}

/// A counted reference to a live binary.
pub struct BinaryRef(BinaryPtr);
// SAFETY: binaries are counted atomically, and drivers use them from any thread.
unsafe impl Send for BinaryRef {}
impl Drop for BinaryRef {
    fn drop(&mut self) {
        driver_binary_dec_refc(self.0);
    }
}
impl BinaryRef {
    pub fn pointer(&self) -> BinaryPtr {
        self.0
    }
    /// A binary with these bytes; `None` if out of memory.
    pub fn of_bytes(from: &[u8]) -> Option<BinaryRef> {
        // SAFETY: it is new, with one reference.
        let b = unsafe { driver_alloc_binary(from.len()).take() }?;
        // SAFETY: that long.
        unsafe { ptr::copy_nonoverlapping(from.as_ptr(), b.0.data(), from.len()) };
        Some(b)
    }
}

#[no_mangle]
pub extern "C" fn driver_alloc_binary(size: usize) -> BinaryPtr {
    let Some(n) = whole(size) else { return BinaryPtr::NULL };
    // SAFETY: a plain call.
    let c: *mut Counted = unsafe { libc::malloc(n) }.cast();
    if !c.is_null() {
        // SAFETY: as above, of that size.
        unsafe { (&raw mut (*c).references).write(AtomicIsize::new(1)) };
    }
    placed(c, size)
}
#[no_mangle]
pub extern "C" fn driver_realloc_binary(b: BinaryPtr, size: usize) -> BinaryPtr {
    if b.is_null() {
        return driver_alloc_binary(size);
    }
    let Some(n) = whole(size) else { return BinaryPtr::NULL };
    // SAFETY: the interface's contract: one of ours, that nobody else refers to.
    placed(unsafe { libc::realloc(b.counted().cast(), n) }.cast(), size)
}
#[no_mangle]
pub extern "C" fn driver_free_binary(b: BinaryPtr) {
    // SAFETY: the interface's contract: C gives a reference up.
    drop(unsafe { b.take() });
}
#[no_mangle]
pub extern "C" fn driver_binary_get_refc(b: BinaryPtr) -> c_long {
    b.references().load(Ordering::Acquire) as c_long
}
#[no_mangle]
pub extern "C" fn driver_binary_inc_refc(b: BinaryPtr) -> c_long {
    b.references().fetch_add(1, Ordering::AcqRel) as c_long + 1
}
#[no_mangle]
pub extern "C" fn driver_binary_dec_refc(b: BinaryPtr) -> c_long {
    let left = b.references().fetch_sub(1, Ordering::AcqRel) - 1;
    if left == 0 {
        // SAFETY: it was the last reference.
        unsafe { libc::free(b.counted().cast()) };
    }
    left as c_long
}
