//! Structures of OTP's `erl_driver.h`, shared with drivers. C sees a port as a number, so using a
//! closed port is harmless.

use std::ffi::{c_char, c_int, c_uint, c_void};

use crate::driver::binaries::BinaryPtr;
use crate::pointers::CStrPtr;

/// `ErlDrvData`, and `ErlDrvPort`.
pub type Data = *mut c_void;

/// `ErlIOVec`: parts, and the binaries that contain them, if any.
#[repr(C)]
pub struct IoVec {
    vsize: c_int,
    size: usize,
    iov: *mut libc::iovec,
    binv: *mut BinaryPtr,
}

impl IoVec {
    /// # Safety
    /// While this is used: both arrays have `vsize` elements, or `binv` is null. Each part is that
    /// many bytes, in the corresponding binary unless that is null.
    pub unsafe fn new(
        vsize: c_int,
        size: usize,
        iov: *mut libc::iovec,
        binv: *mut BinaryPtr,
    ) -> IoVec {
        IoVec { vsize, size, iov, binv }
    }
    /// Total size in bytes.
    pub fn size(&self) -> usize {
        self.size
    }
    /// The parts, with their binaries.
    pub fn parts(&self) -> impl Iterator<Item = (&[u8], BinaryPtr)> {
        (0..usize::try_from(self.vsize).unwrap_or(0)).map(|i| {
            // SAFETY: the interface's contract, as for `new`.
            unsafe {
                let part = &*self.iov.add(i);
                let binary = if self.binv.is_null() { BinaryPtr::NULL } else { *self.binv.add(i) };
                let bytes = match part.iov_len {
                    0 => &[][..],
                    n => std::slice::from_raw_parts(part.iov_base.cast(), n),
                };
                (bytes, binary)
            }
        })
    }
}

pub type ControlFn =
    unsafe extern "C" fn(Data, c_uint, *mut c_char, usize, *mut *mut c_char, usize) -> isize;
pub type Call = unsafe extern "C" fn(
    Data,
    c_uint,
    *mut c_char,
    usize,
    *mut *mut c_char,
    usize,
    *mut c_uint,
) -> isize;
pub type OfData = Option<unsafe extern "C" fn(Data)>;
pub type OfEvent = Option<unsafe extern "C" fn(Data, *mut c_void)>;

/// `ErlDrvEntry`
#[repr(C)]
pub struct Entry {
    pub init: Option<unsafe extern "C" fn() -> c_int>,
    pub start: Option<unsafe extern "C" fn(Data, *mut c_char) -> Data>,
    pub stop: OfData,
    pub output: Option<unsafe extern "C" fn(Data, *mut c_char, usize)>,
    pub ready_input: OfEvent,
    pub ready_output: OfEvent,
    pub name: CStrPtr,
    pub finish: Option<unsafe extern "C" fn()>,
    handle: *mut c_void,
    pub control: Option<ControlFn>,
    pub timeout: OfData,
    pub outputv: Option<unsafe extern "C" fn(Data, *mut IoVec)>,
    pub ready_async: OfEvent,
    pub flush: OfData,
    pub call: Option<Call>,
    unused: *mut c_void,
    pub marker: c_int,
    pub major: c_int,
    pub minor: c_int,
    pub flags: c_int,
    handle2: *mut c_void,
    pub process_exit: OfEvent,
    pub stop_select: OfEvent,
    pub emergency_close: OfData,
}

// SAFETY: the driver's description of itself, which nobody writes to once it is loaded.
unsafe impl Sync for Entry {}

pub fn port_pointer(id: u32) -> Data {
    ((id as usize + 1) << 3) as Data
}
/// The number of a port that [`port_pointer`] made.
pub fn port_number(port: Data) -> Option<u32> {
    let at = port as usize;
    (at.is_multiple_of(8)).then(|| u32::try_from((at >> 3).checked_sub(1)?).ok()).flatten()
}
