//! Loads linked-in drivers: opens the library and gets the driver entry from it.

use std::ffi::{c_int, c_void, CStr, CString};
use std::sync::Arc;

use crate::driver::interface::Entry;
use crate::driver::library::DriverLibrary;
use crate::shared_object::{self, last_error};

/// Supported versions of the interface.
const MARKER: u32 = 0xfeee_eeed;
const MAJORS: [c_int; 2] = [2, 3];
const MINOR: c_int = 3;

/// Why a driver was not loaded.
#[derive(Debug, Clone)]
pub enum DriverLoadError {
    /// One of [`FAULTS`].
    Named(&'static str),
    /// The library could not be opened; the system's message.
    Open(String),
}
/// Faults of a library that could be opened, and their texts.
pub const FAULTS: [(&str, &str); 9] = [
    ("no_error", "No error"),
    ("no_driver_init", "No driver init in dynamic library"),
    ("driver_init_failed", "Driver init failed"),
    ("bad_driver_name", "Bad driver name"),
    ("driver_name_to_long", "Driver name to long"),
    ("driver_incorrect_version", "Driver compiled with incorrect version of erl_driver.h"),
    ("no_ddll_available", "DDLL functionality not available on this platform"),
    ("unspecified_error", "Unspecified dynamic library error"),
    ("symbol_not_found", "Symbol not found in dynamic library"),
];

/// Opens `path`, to which `.so` is added, and starts its driver.
pub fn load(
    path: &[u8],
    name: &str,
    on_close: fn(&str),
) -> Result<Arc<DriverLibrary>, DriverLoadError> {
    let file = CString::new([path, b".so"].concat());
    let file = file.map_err(|_| DriverLoadError::Open("a zero in the name".into()))?;
    let handle = shared_object::open(Some(&file));
    if handle.is_null() {
        return Err(DriverLoadError::Open(last_error()));
    }
    match start(handle, name) {
        Ok(entry) => Ok(Arc::new(DriverLibrary::new(handle, entry, name, on_close))),
        Err(what) => {
            // SAFETY: nothing of it is used.
            unsafe { libc::dlclose(handle) };
            Err(DriverLoadError::Named(what))
        }
    }
}

/// The driver entry of an open library, after checks.
fn start(handle: *mut c_void, name: &str) -> Result<&'static Entry, &'static str> {
    const INIT: &CStr = c"driver_init";
    // SAFETY: the handle is open.
    let init = unsafe { libc::dlsym(handle, INIT.as_ptr()) };
    if init.is_null() {
        return Err("no_driver_init");
    }
    type Init = unsafe extern "C" fn() -> *const Entry;
    // SAFETY: that is the function's type by the interface, and the library's own function.
    let entry = unsafe { std::mem::transmute::<*mut c_void, Init>(init)() };
    if entry.is_null() {
        return Err("driver_init_failed");
    }
    // SAFETY: the library's description of itself, as long as it is open.
    let entry: &'static Entry = unsafe { &*entry };
    let version = MAJORS.contains(&entry.major) && (entry.major < 3 || entry.minor <= MINOR);
    if entry.marker as u32 != MARKER || !version {
        return Err("driver_incorrect_version");
    }
    if entry.name.bytes() != name.as_bytes() {
        return Err("bad_driver_name");
    }
    // SAFETY: the library's own function.
    if entry.init.is_some_and(|f| unsafe { f() } != 0) {
        return Err("driver_init_failed");
    }
    Ok(entry)
}
