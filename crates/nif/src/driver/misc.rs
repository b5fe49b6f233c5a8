//! Further driver functions: time, error names, libraries, system information, driver entries, port
//! creation.

use std::collections::HashMap;
use std::ffi::{c_char, c_int, c_ulong, c_void, CString};
use std::ptr;
use std::sync::Mutex;

use kvik_env::Errno;
use kvik_port::{host, Port, PortOptions};
use kvik_proc::clock;

use crate::abi::SysInfo;

use crate::ddll::table;
use crate::driver::callback::{failure, with, Linked};
use crate::driver::interface::{port_pointer, Data, Entry};
use crate::driver::ports::{self, MessageQueueLimits, DISABLED, READ_ONLY};
use crate::lock::lock;
use crate::pointers::{CStrPtr, CTerm, InOut};
use crate::process::is_alive;

crate::address::by_address! {
    add_driver_entry,
    driver_create_port,
    driver_dl_close,
    driver_dl_error,
    driver_dl_open,
    driver_dl_sym,
    driver_get_now,
    driver_lock_driver,
    driver_system_info,
    erl_drv_busy_msgq_limits,
    erl_drv_consume_timeslice,
    erl_drv_convert_time_unit,
    erl_drv_init_ack,
    erl_drv_monotonic_time,
    erl_drv_set_os_pid,
    erl_drv_time_offset,
    erl_errno_id,
    get_port_flags,
    null_func,
    remove_driver_entry,
}

#[no_mangle]
pub extern "C" fn null_func() -> c_int {
    0
}

/// An error's name, such as `enoent`; the string is never freed.
#[no_mangle]
pub extern "C" fn erl_errno_id(error: c_int) -> *const c_char {
    static NAMES: Mutex<Option<HashMap<&'static str, CString>>> = Mutex::new(None);
    let name = Errno(error).name();
    let mut all = lock(&NAMES);
    let new = || CString::new(name).unwrap_or_default();
    all.get_or_insert_default().entry(name).or_insert_with(new).as_ptr()
}

#[no_mangle]
pub extern "C" fn erl_drv_monotonic_time(unit: c_int) -> i64 {
    crate::misc::enif_monotonic_time(unit)
}
#[no_mangle]
pub extern "C" fn erl_drv_time_offset(unit: c_int) -> i64 {
    crate::misc::enif_time_offset(unit)
}
#[no_mangle]
pub extern "C" fn erl_drv_convert_time_unit(time: i64, from: c_int, to: c_int) -> i64 {
    crate::misc::enif_convert_time_unit(time, from, to)
}

/// `ErlDrvNowData`
#[repr(C)]
pub struct Now {
    mega: c_ulong,
    seconds: c_ulong,
    micro: c_ulong,
}
#[no_mangle]
pub extern "C" fn driver_get_now(mut to: InOut<Now>) -> c_int {
    let Some(to) = to.get() else { return -1 };
    let us = clock::unique_us().max(0) as c_ulong;
    let seconds = us / 1_000_000;
    *to = Now { mega: seconds / 1_000_000, seconds: seconds % 1_000_000, micro: us % 1_000_000 };
    0
}

#[no_mangle]
pub extern "C" fn driver_system_info(to: *mut SysInfo, size: usize) {
    crate::misc::enif_system_info(to, size)
}

/// `path` has no `.so`.
#[no_mangle]
pub extern "C" fn driver_dl_open(path: CStrPtr) -> *mut c_void {
    crate::misc::enif_dlopen(path, None, ptr::null_mut())
}
#[no_mangle]
pub extern "C" fn driver_dl_sym(handle: *mut c_void, name: CStrPtr) -> *mut c_void {
    crate::misc::enif_dlsym(handle, name, None, ptr::null_mut())
}
#[no_mangle]
pub extern "C" fn driver_dl_close(handle: *mut c_void) -> c_int {
    // SAFETY: the interface's contract: `driver_dl_open` gave it.
    unsafe { libc::dlclose(handle) }
}
#[no_mangle]
pub extern "C" fn driver_dl_error() -> *mut c_char {
    // SAFETY: a plain call; null, or a string that stays until the next one on this thread.
    unsafe { libc::dlerror() }
}

/// `PORT_FLAG_BINARY`, `PORT_FLAG_LINE`.
#[no_mangle]
pub extern "C" fn get_port_flags(port: Data) -> c_int {
    with(port, |_, core| core.binary as c_int | (core.line as c_int) << 1).unwrap_or(0)
}
#[no_mangle]
pub extern "C" fn erl_drv_set_os_pid(port: Data, pid: i64) {
    with(port, |running, _| running.os_pid = i32::try_from(pid).ok());
}
/// Acknowledges a start: with the driver's data, or a value that means failure.
#[no_mangle]
pub extern "C" fn erl_drv_init_ack(port: Data, result: Data) {
    let result = failure(result).map_or(Ok(result), Err);
    with(port, |running, _| running.acknowledged = Some(result));
}
/// Reports how much of a time slice the callback has taken, in percent; 1 if it is used up.
#[no_mangle]
pub extern "C" fn erl_drv_consume_timeslice(port: Data, percent: c_int) -> c_int {
    let used = with(port, |running, _| {
        running.time_slice_percent += percent.clamp(1, 100);
        running.time_slice_percent
    });
    used.is_some_and(|u| u >= 100) as c_int
}

/// Reads and sets the limits of the port's message queue. Signals to ports are handled at once
/// here, so there is no queue and no limit is ever reached.
#[no_mangle]
pub extern "C" fn erl_drv_busy_msgq_limits(
    port: Data,
    mut low: InOut<usize>,
    mut high: InOut<usize>,
) {
    const NO_BUSY_MSGQ: c_int = 4;
    let state = ports::get(port);
    let (low, high) = (low.get(), high.get());
    let wanted = |n: &Option<&mut usize>| n.as_ref().map_or(READ_ONLY, |n| **n);
    let current = match &state {
        None => MessageQueueLimits { low: DISABLED, high: DISABLED },
        Some(state) => {
            let mut limits = lock(&state.limits);
            if state.entry.flags & NO_BUSY_MSGQ != 0 {
                *limits = MessageQueueLimits { low: DISABLED, high: DISABLED };
            }
            limits.set(wanted(&low), wanted(&high));
            *limits
        }
    };
    if let Some(low) = low {
        *low = current.low;
    }
    if let Some(high) = high {
        *high = current.high;
    }
}

/// Makes a port's driver permanent.
#[no_mangle]
pub extern "C" fn driver_lock_driver(port: Data) -> c_int {
    let library = with(port, |running, _| running.library.clone());
    library.map_or(-1, |l| table::make_permanent(&l))
}
/// Adds a driver without a library of its own.
#[no_mangle]
pub extern "C" fn add_driver_entry(entry: *const Entry) {
    table::add(entry);
}
/// Returns 1 if it existed.
#[no_mangle]
pub extern "C" fn remove_driver_entry(entry: *const Entry) -> c_int {
    table::remove(entry) as c_int
}

/// The value for "no port".
const NO_PORT: isize = -1;
/// Opens a port with the same driver, owned by `pid`, without calling `start`.
#[no_mangle]
pub extern "C" fn driver_create_port(creator: Data, pid: CTerm, name: CStrPtr, data: Data) -> Data {
    let none = NO_PORT as Data;
    let from = with(creator, |running, core| (running.library.clone(), core.parallelism));
    let owner = pid.term().as_local_pid().filter(|p| is_alive(*p));
    let (Some((library, parallelism)), Some(owner)) = (from, owner) else { return none };
    let driver = Box::new(Linked::created(library, data));
    let options = PortOptions { parallelism, ..PortOptions::default() };
    let link = |port, make| {
        if let (Some(h), true) = (host::host(), make) {
            h.link(owner, port);
        }
    };
    match Port::with_driver(owner, name.bytes().to_vec(), &options, driver, link) {
        Ok(port) => port_pointer(port.id),
        Err(_) => none,
    }
}
