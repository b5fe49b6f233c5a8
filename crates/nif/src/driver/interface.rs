//! What OTP's `erl_driver.h` lays down: the structures that drivers and the machine share. To C a port
//! is a number, so that one that is gone does no harm.

use std::ffi::{c_char, c_int, c_uint, c_void};

use crate::driver::binaries::Binary;

/// `ErlDrvData`, and `ErlDrvPort`.
pub type Data = *mut c_void;

/// `ErlIOVec`
#[repr(C)]
pub struct IoVec {
    pub vsize: c_int,
    pub size: usize,
    pub iov: *mut libc::iovec,
    pub binv: *mut *mut Binary,
}

pub type Control =
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
    pub name: *const c_char,
    pub finish: Option<unsafe extern "C" fn()>,
    handle: *mut c_void,
    pub control: Option<Control>,
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
