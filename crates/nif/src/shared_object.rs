//! Opens shared objects of C code.
//!
//! Libraries made for OTP's emulator may call zlib without naming it as a dependency, since that
//! emulator is linked with `libz.so`. This program has its own zlib with hidden symbols, so the
//! system's is loaded the first time a library lacks a symbol.

use std::ffi::{c_int, c_void, CStr, CString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::ptr;
use std::sync::{Once, OnceLock};

use kvik_env::embedded;

use crate::pointers::CStrPtr;

/// Libraries that the OTP emulator itself depends on.
const DEPENDENCIES: [&CStr; 1] = [c"libz.so.1"];

fn dlopen(file: Option<&CStr>, flags: c_int) -> *mut c_void {
    // SAFETY: loading a library runs what code it wants: that is what was asked for.
    unsafe { libc::dlopen(file.map_or(ptr::null(), CStr::as_ptr), flags) }
}

/// Has the C library read and write characters as the environment says, as OTP does at its start:
/// libraries rely on that (`mbstowcs`, `nl_langinfo`). Other categories stay as in C.
fn set_character_type() {
    static SET: Once = Once::new();
    SET.call_once(|| {
        // SAFETY: the string is static. No other thread reads the locale: Rust does not, and this
        // comes before the first library that could.
        unsafe { libc::setlocale(libc::LC_CTYPE, c"".as_ptr()) };
    });
}

/// Opens a library, or the program itself, with all symbols resolved; null with `dlerror` set where that fails.
pub fn open(file: Option<&CStr>) -> *mut c_void {
    set_character_type();
    // One of this executable's own files is loaded from memory.
    let own = file.and_then(embedded::real_path).and_then(Result::ok);
    if let Some(own) = own {
        return open_carried(&own);
    }
    open_from_disk(file)
}

/// Opens a library that this executable carries. What it depends on and the system lacks may be
/// carried, too: a loaded library is found by its name.
fn open_carried(file: &CStr) -> *mut c_void {
    let mut tried = Vec::new();
    loop {
        let handle = open_from_disk(Some(file));
        if !handle.is_null() {
            return handle;
        }
        match lacking(&last_error()).filter(|name| !tried.contains(name)).and_then(|name| {
            let library = embedded::path(&format!("libraries/{name}"))?;
            tried.push(name);
            let library = CString::new(library.into_os_string().into_vec()).ok()?;
            embedded::real_path(&library)?.ok()
        }) {
            Some(library) => drop(dlopen(Some(&library), libc::RTLD_NOW | libc::RTLD_GLOBAL)),
            // To set `dlerror` again.
            None => return dlopen(Some(file), libc::RTLD_NOW),
        }
    }
}

/// The name of a library that a loader's message says is not there, or is there and too old.
fn lacking(why: &str) -> Option<String> {
    let at = [": cannot open shared object", ": version `"];
    let (path, _) = at.iter().find_map(|text| why.split_once(text))?;
    Some(path.rsplit('/').next()?.to_owned())
}

fn open_from_disk(file: Option<&CStr>) -> *mut c_void {
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

/// Why a library does not open, if it does not.
pub fn opens(file: &Path) -> Result<(), String> {
    let name = CString::new(file.as_os_str().as_bytes()).map_err(|e| e.to_string())?;
    match open(Some(&name)).is_null() {
        true => Err(last_error()),
        false => Ok(()),
    }
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
