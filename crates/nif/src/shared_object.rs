//! Opens shared objects of C code.
//!
//! Libraries made for OTP's emulator may call zlib without naming it as a dependency, since that
//! emulator is linked with `libz.so`. This program has its own zlib with hidden symbols, so the
//! system's is loaded the first time a library lacks a symbol.

use std::ffi::{c_int, c_void, CStr};
use std::ptr;
use std::sync::OnceLock;

use crate::pointers::CStrPtr;

/// Libraries that the OTP emulator itself depends on.
const DEPENDENCIES: [&CStr; 1] = [c"libz.so.1"];

fn dlopen(file: Option<&CStr>, flags: c_int) -> *mut c_void {
    // SAFETY: loading a library runs what code it wants: that is what was asked for.
    unsafe { libc::dlopen(file.map_or(ptr::null(), CStr::as_ptr), flags) }
}

/// Opens a library, or the program itself, with all symbols resolved; null with `dlerror` set where that fails.
pub fn open(file: Option<&CStr>) -> *mut c_void {
    static LOADED: OnceLock<bool> = OnceLock::new();
    let handle = dlopen(file, libc::RTLD_NOW);
    if !handle.is_null() || LOADED.get().is_some() {
        return handle;
    }
    if lacks_symbol() {
        let flags = libc::RTLD_NOW | libc::RTLD_GLOBAL;
        let load = |name: &CStr| !dlopen(Some(name), flags).is_null();
        LOADED.get_or_init(|| DEPENDENCIES.into_iter().all(load));
    }
    // Retry: with the new symbols, or to set `dlerror` again.
    dlopen(file, libc::RTLD_NOW)
}

fn lacks_symbol() -> bool {
    last_error().contains("undefined")
}
/// Error of the last failed call on this thread.
pub fn last_error() -> String {
    // SAFETY: null, or a string that stays until the next call of its kind on this thread.
    let why = unsafe { CStrPtr::new(libc::dlerror()) };
    String::from_utf8_lossy(why.bytes()).into_owned()
}
