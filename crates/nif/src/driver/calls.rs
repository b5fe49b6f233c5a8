//! Functions that linked-in drivers call. A driver that needs any other function is not loaded.

use std::ffi::{c_int, c_ulong, c_void};
use std::time::Duration;

use kvik_env::clock::Instant;
use kvik_env::Errno;
use kvik_port::driver::Exit;
use kvik_port::env;
use kvik_port::poll;
use kvik_term::Term;

use crate::driver::callback::{new_timer, with};

use crate::driver::interface::Data;
use crate::pointers::{CStrPtr, InOut, OutBuffer, OutPointer};

crate::address::by_address! {
    driver_alloc,
    driver_caller,
    driver_cancel_timer,
    driver_connected,
    driver_exit,
    driver_failure,
    driver_failure_atom,
    driver_failure_eof,
    driver_failure_posix,
    driver_free,
    driver_read_timer,
    driver_realloc,
    driver_set_timer,
    erl_drv_getenv,
    erl_drv_putenv,
    set_busy_port,
    set_port_control_flags,
}

/// Returns zeroed memory: OTP's `trace_ip_drv` assumes its newly allocated queue to be empty.
#[no_mangle]
pub extern "C" fn driver_alloc(size: usize) -> *mut c_void {
    // SAFETY: a plain call.
    unsafe { libc::calloc(size, 1) }
}
#[no_mangle]
pub extern "C" fn driver_realloc(p: *mut c_void, size: usize) -> *mut c_void {
    crate::misc::enif_realloc(p, size)
}
#[no_mangle]
pub extern "C" fn driver_free(p: *mut c_void) {
    // SAFETY: as above.
    unsafe { libc::free(p) }
}

fn done(r: Option<()>) -> c_int {
    r.map_or(-1, |()| 0)
}
fn ends(port: Data, exit: Exit) -> c_int {
    done(with(port, |r, _| r.exit = Some(exit)))
}

/// Error 0: end of input.
#[no_mangle]
pub extern "C" fn driver_failure(port: Data, error: c_int) -> c_int {
    match error {
        0 => driver_failure_eof(port),
        n => ends(port, Exit::Number(n)),
    }
}
#[no_mangle]
pub extern "C" fn driver_failure_atom(port: Data, name: CStrPtr) -> c_int {
    ends(port, Exit::Reason(name.atom()))
}
#[no_mangle]
pub extern "C" fn driver_failure_posix(port: Data, error: c_int) -> c_int {
    ends(port, Exit::Posix(Errno(error)))
}
#[no_mangle]
pub extern "C" fn driver_failure_eof(port: Data) -> c_int {
    done(with(port, |r, core| {
        if let Err(exit) = core.end_of_input() {
            r.exit = Some(exit);
        }
    }))
}
#[no_mangle]
pub extern "C" fn driver_exit(port: Data, error: c_int) -> c_int {
    with(port, |_, core| core.unlink_owner());
    ends(port, if error == 0 { Exit::Normal } else { Exit::Posix(Errno(error)) })
}

#[no_mangle]
pub extern "C" fn set_busy_port(port: Data, on: c_int) {
    with(port, |_, core| core.set_busy(on != 0));
}
/// `PORT_CONTROL_FLAG_BINARY` is one of them; the other, for long calls, has no effect.
#[no_mangle]
pub extern "C" fn set_port_control_flags(port: Data, flags: c_int) {
    with(port, |r, _| r.binaries = flags & 1 != 0);
}
/// `ErlDrvTermData`, a term: nil in callbacks that no process has caused.
#[no_mangle]
pub extern "C" fn driver_caller(port: Data) -> u64 {
    let pid = with(port, |r, core| r.by_process.then(|| Term::local_pid(core.caller)));
    pid.flatten().unwrap_or(Term::NIL).word()
}
#[no_mangle]
pub extern "C" fn driver_connected(port: Data) -> u64 {
    with(port, |_, core| Term::local_pid(core.owner())).unwrap_or(Term::NIL).word()
}

/// A port has one timer: setting it replaces the previous one.
#[no_mangle]
pub extern "C" fn driver_set_timer(port: Data, ms: c_ulong) -> c_int {
    let set = with(port, |r, core| {
        r.library.entry.timeout?;
        r.timer = new_timer();
        let after = Duration::from_millis(ms);
        r.timer_due = Some(Instant::now() + after);
        poll::set_timer(core.home, core.id, after, r.timer);
        Some(())
    });
    done(set.flatten())
}
#[no_mangle]
pub extern "C" fn driver_cancel_timer(port: Data) -> c_int {
    done(with(port, |r, _| (r.timer, r.timer_due) = (0, None)))
}
/// The milliseconds left, rounded up as in OTP.
#[no_mangle]
pub extern "C" fn driver_read_timer(port: Data, to: OutPointer<c_ulong>) -> c_int {
    let Some(due) = with(port, |r, _| r.timer_due) else { return -1 };
    let left = due.map_or(Duration::ZERO, |due| due.saturating_duration_since(Instant::now()));
    to.put(left.as_nanos().div_ceil(1_000_000) as c_ulong);
    0
}

/// Returns 0 if it fits; positive if it does not, with the needed size in `size`; negative if it is
/// unset.
#[no_mangle]
pub extern "C" fn erl_drv_getenv(name: CStrPtr, to: OutBuffer, size: InOut<usize>) -> c_int {
    crate::misc::enif_getenv(name, to, size)
}
#[no_mangle]
pub extern "C" fn erl_drv_putenv(name: CStrPtr, value: CStrPtr) -> c_int {
    env::write().insert(name.bytes().to_vec(), value.bytes().to_vec());
    0
}
