//! Processes and ports: messages, names, who is alive.

use std::ffi::c_int;

use kvik_heap::OwnedTerm;
use kvik_proc::{process, registry, signal};
use kvik_term::{am, Term};

use crate::abi::Pid;
use crate::env::{env, Env};
use crate::pointers::{put, term, Word};

/// A pid that C holds.
pub fn pid_of(pid: *const Pid) -> Option<u32> {
    // SAFETY: null, or a pid that one of the functions here has filled in.
    unsafe { pid.as_ref() }.and_then(|w| term(*w).as_local_pid())
}
pub fn is_alive(pid: u32) -> bool {
    let guard = kvik_sync::pin();
    process::table().get(pid, &guard).is_some()
}

#[no_mangle]
pub extern "C" fn enif_self(e: *mut Env, to: *mut Pid) -> *mut Pid {
    let Some(pid) = env(e).pid else { return std::ptr::null_mut() };
    put(to, Term::local_pid(pid).word());
    to
}
#[no_mangle]
pub extern "C" fn enif_set_pid_undefined(to: *mut Pid) {
    put(to, am::undefined.word())
}
#[no_mangle]
pub extern "C" fn enif_is_pid_undefined(pid: *const Pid) -> c_int {
    // SAFETY: as for `pid_of`.
    unsafe { pid.as_ref() }.is_some_and(|w| *w == am::undefined.word()) as c_int
}
#[no_mangle]
pub extern "C" fn enif_is_process_alive(_: *mut Env, pid: *const Pid) -> c_int {
    pid_of(pid).is_some_and(is_alive) as c_int
}
#[no_mangle]
pub extern "C" fn enif_is_current_process_alive(e: *mut Env) -> c_int {
    env(e).pid.is_some_and(is_alive) as c_int
}
#[no_mangle]
pub extern "C" fn enif_is_port_alive(_: *mut Env, port: *const Word) -> c_int {
    // SAFETY: as for `pid_of`.
    let port = unsafe { port.as_ref() }.and_then(|w| term(*w).as_local_port());
    port.is_some_and(|p| kvik_port::table::get(p).is_some()) as c_int
}
fn whereis(name: Word, to: *mut Word, wanted: impl Fn(Term<'_>) -> bool) -> c_int {
    let found = term(name).as_atom().and_then(registry::whereis).filter(|t| wanted(*t));
    found.map(|t| put(to, t.word())).is_some() as c_int
}
#[no_mangle]
pub extern "C" fn enif_whereis_pid(_: *mut Env, name: Word, to: *mut Pid) -> c_int {
    whereis(name, to, |t| t.as_local_pid().is_some())
}
#[no_mangle]
pub extern "C" fn enif_whereis_port(_: *mut Env, name: Word, to: *mut Word) -> c_int {
    whereis(name, to, |t| t.as_local_port().is_some())
}

/// Sends a message, and with that takes what `from` holds, where that is not null. 0: there is no
/// such process.
#[no_mangle]
pub extern "C" fn enif_send(_: *mut Env, to: *const Pid, from: *mut Env, message: Word) -> c_int {
    let Some(pid) = pid_of(to) else { return 0 };
    let m = OwnedTerm::message(term(message));
    let sent = is_alive(pid) && signal::deliver(pid, signal::Signal::Message(m));
    if !from.is_null() && sent {
        env(from).clear();
    }
    sent as c_int
}
/// `port_command/2`. 0: there is no such port, or that is no I/O list.
#[no_mangle]
pub extern "C" fn enif_port_command(
    e: *mut Env,
    to: *const Word,
    from: *mut Env,
    message: Word,
) -> c_int {
    // SAFETY: as for `pid_of`.
    let port = unsafe { to.as_ref() }.and_then(|w| term(*w).as_local_port());
    let bytes = kvik_port::iodata::bytes(term(message));
    let (Some(port), Some(me), Some(bytes)) = (port, env(e).pid, bytes) else { return 0 };
    let Some(port) = kvik_port::table::get(port) else { return 0 };
    port.command(me, &bytes, true);
    if !from.is_null() {
        env(from).clear();
    }
    1
}
