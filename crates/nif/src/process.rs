//! Processes and ports: messages, names, liveness.

use std::borrow::Cow;
use std::ffi::c_int;

use kvik_heap::OwnedTerm;
use kvik_proc::{process, registry, sched, signal};
use kvik_term::{am, Term};

use crate::abi::NifPid;

use crate::env::EnvPtr;
use crate::pointers::{CTerm, In, OutPointer, Word};

/// A pid that C holds.
pub fn pid_of(pid: In<CTerm>) -> Option<u32> {
    pid.get().and_then(|t| t.term().as_local_pid())
}
pub fn is_alive(pid: u32) -> bool {
    let guard = kvik_sync::pin();
    process::table().get(pid, &guard).is_some()
}

#[no_mangle]
pub extern "C" fn enif_self(mut e: EnvPtr, to: OutPointer<NifPid>) -> OutPointer<NifPid> {
    let Some(pid) = e.env().pid else { return OutPointer::NULL };
    to.put(Term::local_pid(pid).word());
    to
}
#[no_mangle]
pub extern "C" fn enif_set_pid_undefined(to: OutPointer<NifPid>) {
    to.put(am::undefined.word())
}
#[no_mangle]
pub extern "C" fn enif_is_pid_undefined(pid: In<CTerm>) -> c_int {
    pid.get().is_some_and(|t| t.word() == am::undefined.word()) as c_int
}
#[no_mangle]
pub extern "C" fn enif_is_process_alive(_: EnvPtr, pid: In<CTerm>) -> c_int {
    pid_of(pid).is_some_and(is_alive) as c_int
}
#[no_mangle]
pub extern "C" fn enif_is_current_process_alive(mut e: EnvPtr) -> c_int {
    e.env().pid.is_some_and(is_alive) as c_int
}
#[no_mangle]
pub extern "C" fn enif_is_port_alive(_: EnvPtr, port: In<CTerm>) -> c_int {
    let port = port.get().and_then(|t| t.term().as_local_port());
    port.is_some_and(|p| kvik_port::table::get(p).is_some()) as c_int
}
fn whereis(name: CTerm, to: OutPointer<Word>, wanted: impl Fn(Term<'_>) -> bool) -> c_int {
    let found = name.term().as_atom().and_then(registry::whereis).filter(|t| wanted(*t));
    found.map(|t| to.put(t.word())).is_some() as c_int
}
#[no_mangle]
pub extern "C" fn enif_whereis_pid(_: EnvPtr, name: CTerm, to: OutPointer<NifPid>) -> c_int {
    whereis(name, to, |t| t.as_local_pid().is_some())
}
#[no_mangle]
pub extern "C" fn enif_whereis_port(_: EnvPtr, name: CTerm, to: OutPointer<Word>) -> c_int {
    whereis(name, to, |t| t.as_local_port().is_some())
}

/// Sends a message; on success clears `from`, unless that is null. 0: there is no such process.
#[no_mangle]
pub extern "C" fn enif_send(_: EnvPtr, to: In<CTerm>, mut from: EnvPtr, message: CTerm) -> c_int {
    let Some(pid) = pid_of(to) else { return 0 };
    let m = OwnedTerm::message(message.term());
    let sent = is_alive(pid) && signal::deliver(pid, signal::Signal::Message(m));
    if let Some(from) = from.get().filter(|_| sent) {
        from.clear();
    }
    sent as c_int
}
/// `port_command/2`. 0: there is no such port, or the term is no I/O list.
#[no_mangle]
pub extern "C" fn enif_port_command(
    mut e: EnvPtr,
    to: In<CTerm>,
    mut from: EnvPtr,
    message: CTerm,
) -> c_int {
    let port = to.get().and_then(|t| t.term().as_local_port());
    let bytes = kvik_port::iodata::bytes(message.term()).map(Cow::into_owned);
    let (Some(port), Some(bytes)) = (port, bytes) else { return 0 };
    let Some(port) = kvik_port::table::get(port) else { return 0 };
    // A destructor belongs to no process; its output counts as the port's owner's.
    let Some(me) = e.env().pid.or_else(|| port.owner()) else { return 0 };
    let command = move || {
        port.command(me, &bytes, true);
    };
    match sched::may_send() {
        true => command(),
        // The port's driver may answer.
        false => sched::call_between_slices(command),
    }
    if let Some(from) = from.get() {
        from.clear();
    }
    1
}
