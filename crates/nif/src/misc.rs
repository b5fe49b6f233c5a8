//! Memory, time, libraries, and system information.

use std::ffi::{c_char, c_int, c_void, CString};
use std::sync::OnceLock;

use kvik_proc::clock;

use crate::abi::SysInfo;

use crate::env::EnvPtr;
use crate::pointers::{to_c, CStrPtr, InOut, OutBuffer, Word};

/// As in OTP, the first word of new memory is not zero: `ets_cache` of ejabberd reads from there how
/// many counters it may have, and sets it nowhere.
#[no_mangle]
pub extern "C" fn enif_alloc(size: usize) -> *mut c_void {
    // SAFETY: a plain call.
    let p = unsafe { libc::malloc(size) };
    if !p.is_null() && size >= size_of::<usize>() {
        // SAFETY: the block is new, as large, and aligned for any type.
        unsafe { p.cast::<usize>().write(p as usize) }
    }
    p
}
/// Returns memory for size 0 too.
#[no_mangle]
pub extern "C" fn enif_realloc(p: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: the interface's contract: `enif_alloc` gave it.
    unsafe { libc::realloc(p, size.max(1)) }
}
#[no_mangle]
pub extern "C" fn enif_free(p: *mut c_void) {
    // SAFETY: as above.
    unsafe { libc::free(p) }
}

/// Error callback.
type Handler = Option<unsafe extern "C" fn(*mut c_void, *const c_char)>;
fn checked(p: *mut c_void, handler: Handler, arg: *mut c_void) -> *mut c_void {
    if let (true, Some(f)) = (p.is_null(), handler) {
        // SAFETY: the caller's function, with the text of the last error.
        unsafe { f(arg, libc::dlerror()) }
    }
    p
}
/// Opens a library by its name without `.so`; a null name is the program itself.
#[no_mangle]
pub extern "C" fn enif_dlopen(lib: CStrPtr, handler: Handler, arg: *mut c_void) -> *mut c_void {
    let file = CString::new([lib.bytes(), b".so"].concat()).unwrap_or_default();
    let file = (!lib.is_null()).then_some(&*file);
    checked(crate::shared_object::open(file), handler, arg)
}
#[no_mangle]
pub extern "C" fn enif_dlsym(
    handle: *mut c_void,
    symbol: CStrPtr,
    handler: Handler,
    arg: *mut c_void,
) -> *mut c_void {
    // SAFETY: the handle came from `enif_dlopen`.
    checked(unsafe { libc::dlsym(handle, symbol.as_ptr()) }, handler, arg)
}

/// The versions of `erts` and of the release.
fn versions() -> &'static [CString; 2] {
    kvik_state::vm_state! {
        static VERSIONS: OnceLock<[CString; 2]> = OnceLock::new();
    }
    let text = |s: &str| CString::new(s).unwrap_or_default();
    let [erts, name] = [kvik_release::erts_version(), kvik_release::current().name];
    VERSIONS.get_or_init(|| [text(erts), text(name)])
}

/// Fills in the fields that fit into `size` bytes.
#[no_mangle]
pub extern "C" fn enif_system_info(to: *mut SysInfo, size: usize) {
    let release = kvik_release::current();
    let [erts, name] = versions();
    let info = SysInfo {
        driver_major: release.driver.0.into(),
        driver_minor: release.driver.1.into(),
        erts_version: erts.as_ptr(),
        otp_release: name.as_ptr(),
        thread_support: 1,
        smp_support: 1,
        async_threads: 1,
        scheduler_threads: kvik_proc::sched::all().len() as c_int,
        nif_major: release.nif.0.into(),
        nif_minor: release.nif.1.into(),
        dirty_schedulers: 1,
    };
    // SAFETY: there is room for `size` bytes.
    unsafe {
        let n = size.min(size_of::<SysInfo>());
        std::ptr::copy_nonoverlapping((&raw const info).cast::<u8>(), to.cast(), n)
    }
}
/// Copies a value into a buffer of `size` bytes and sets `size` to its length. Returns 1 if the
/// buffer is too small; `size` is then the size needed.
pub fn copy_value(value: &[u8], mut to: OutBuffer, mut size: InOut<usize>) -> c_int {
    let Some(size) = size.get() else { return 1 };
    let room = std::mem::replace(size, value.len());
    if value.len() >= room {
        *size += 1;
        return 1;
    }
    to.put_string(value, room);
    0
}
/// Like `getenv`: 0 if the value fits, 1 if not (`size` is then the size needed), -1 if it is
/// unset. The environment is that of `os:getenv/1`, which is not C's.
#[no_mangle]
pub extern "C" fn enif_getenv(key: CStrPtr, to: OutBuffer, size: InOut<usize>) -> c_int {
    match kvik_port::env::read().get(key.bytes()) {
        Some(value) => copy_value(value, to, size),
        None => -1,
    }
}

const TIME_ERROR: i64 = i64::MIN;
/// Units per second of an `ErlNifTimeUnit`.
pub fn parts(unit: c_int) -> Option<i64> {
    [1, 1000, 1_000_000, 1_000_000_000].get(usize::try_from(unit).ok()?).copied()
}
pub fn converted(time: i64, from: Option<i64>, to: Option<i64>) -> i64 {
    let (Some(from), Some(to)) = (from, to) else { return TIME_ERROR };
    i64::try_from((time as i128 * to as i128).div_euclid(from as i128)).unwrap_or(TIME_ERROR)
}
const NANO: Option<i64> = Some(1_000_000_000);
#[no_mangle]
pub extern "C" fn enif_monotonic_time(unit: c_int) -> i64 {
    match crate::env::enif_thread_type() {
        0 => TIME_ERROR,
        _ => converted(clock::monotonic(), NANO, parts(unit)),
    }
}
#[no_mangle]
pub extern "C" fn enif_time_offset(unit: c_int) -> i64 {
    match crate::env::enif_thread_type() {
        0 => TIME_ERROR,
        _ => converted(clock::offset(), NANO, parts(unit)),
    }
}
#[no_mangle]
pub extern "C" fn enif_convert_time_unit(time: i64, from: c_int, to: c_int) -> i64 {
    converted(time, parts(from), parts(to))
}
fn triple(e: EnvPtr, micros: i64) -> Word {
    let h = e.heap();
    let (s, us) = (micros.div_euclid(1_000_000), micros.rem_euclid(1_000_000));
    h.tuple(&[h.integer(s / 1_000_000), h.integer(s % 1_000_000), h.integer(us)]).word()
}
/// `erlang:now/0`
#[no_mangle]
pub extern "C" fn enif_now_time(e: EnvPtr) -> Word {
    triple(e, clock::unique_us())
}
/// Processor time of the program, as `{MegaSecs, Secs, MicroSecs}`.
#[no_mangle]
pub extern "C" fn enif_cpu_time(e: EnvPtr) -> Word {
    triple(e, kvik_env::clock::cpu_nanos() / 1000)
}
/// `properties`: 1 for positive, 2 for monotonic.
#[no_mangle]
pub extern "C" fn enif_make_unique_integer(e: EnvPtr, properties: c_int) -> Word {
    let (positive, monotonic) = (properties & 1 != 0, properties & 2 != 0);
    to_c(kvik_proc::unique::integer(e.heap(), monotonic, positive))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_memory_does_not_begin_with_zero() {
        let blocks: Vec<_> = (0..100).map(|_| enif_alloc(24)).collect();
        for p in &blocks {
            // SAFETY: `enif_alloc` has set the first word.
            assert_ne!(unsafe { p.cast::<u32>().read() }, 0);
        }
        blocks.into_iter().for_each(|p| enif_free(p));
        enif_free(enif_alloc(0));
    }
}
