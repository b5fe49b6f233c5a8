//! `enif_select`: one message for each call when a descriptor is ready (see `kvik_port::select`).

use std::ffi::c_int;
use std::ptr;
use std::sync::Arc;

use kvik_heap::OwnedTerm;
use kvik_port::select::{self, EventMask};
use kvik_term::{Atom, Term};

use crate::env::EnvPtr;
use crate::pointers::{CTerm, In};
use crate::process::pid_of;
use crate::resources::{self, NifResource, ResourcePtr};

/// `enum ErlNifSelectFlags`
const READ: c_int = 1;
const WRITE: c_int = 2;
const STOP: c_int = 4;
const CANCEL: c_int = 8;
const CUSTOM: c_int = 16;
const ERROR: c_int = 32;
/// Results of a call.
const STOP_CALLED: c_int = 1;
const INVALID: c_int = 4;
const FAILED: c_int = 8;
const READ_CANCELLED: c_int = 16;
const WRITE_CANCELLED: c_int = 32;
const ERROR_CANCELLED: c_int = 64;
/// A failed call returns a negative number.
const NEGATIVE: c_int = c_int::MIN;

fn events(flags: c_int) -> EventMask {
    let is = |f| flags & f != 0;
    EventMask { read: is(READ), write: is(WRITE), error: is(ERROR) }
}
fn cancelled(e: EventMask) -> c_int {
    let bit = |there, flag| if there { flag } else { 0 };
    bit(e.read, READ_CANCELLED) | bit(e.write, WRITE_CANCELLED) | bit(e.error, ERROR_CANCELLED)
}

#[no_mangle]
pub extern "C" fn enif_select(
    e: EnvPtr,
    fd: c_int,
    flags: c_int,
    obj: ResourcePtr,
    pid: In<CTerm>,
    reference: CTerm,
) -> c_int {
    enif_select_x(e, fd, flags & !CUSTOM, obj, pid, reference, EnvPtr::NULL)
}

/// With a custom message, in `from` or in the environment of the call.
#[no_mangle]
pub extern "C" fn enif_select_x(
    mut e: EnvPtr,
    fd: c_int,
    flags: c_int,
    obj: ResourcePtr,
    pid: In<CTerm>,
    message: CTerm,
    mut from: EnvPtr,
) -> c_int {
    let r = obj.keep();
    if flags & STOP != 0 {
        return stop(e, fd, r);
    }
    if fd < 0 {
        return NEGATIVE | INVALID;
    }
    if flags & CANCEL != 0 {
        return cancelled(select::cancel(fd, &(r as kvik_heap::MagicResource), events(flags)));
    }
    let to = if pid.get().is_none() { e.env().pid } else { pid_of(pid) };
    // A process that has ended is accepted: no message is delivered then.
    let Some(to) = to.filter(|_| flags & (READ | WRITE | ERROR) != 0) else {
        return NEGATIVE | FAILED;
    };
    let r = r as kvik_heap::MagicResource;
    for (flag, direction) in
        [(READ, "ready_input"), (WRITE, "ready_output"), (ERROR, "ready_error")]
    {
        if flags & flag == 0 {
            continue;
        }
        let m = if flags & CUSTOM != 0 {
            OwnedTerm::message(message.term())
        } else {
            ready_message(&e, obj, message, direction)
        };
        if !select::select(fd, &r, events(flag), to, m) {
            return NEGATIVE | INVALID;
        }
    }
    if let Some(from) = from.get() {
        from.clear();
    }
    0
}

/// `{select, Resource, Ref, Direction}`
fn ready_message(e: &EnvPtr, obj: ResourcePtr, reference: CTerm, direction: &str) -> OwnedTerm {
    let name = |s| Atom::intern(s).map_or(Term::NIL, Term::atom);
    let resource = resources::term_of(e.heap(), obj.keep());
    let m = [name("select"), resource, reference.term(), name(direction)];
    OwnedTerm::message(e.heap().tuple(&m))
}

/// Ends the use of a descriptor: `stop` may close it.
fn stop(mut e: EnvPtr, fd: c_int, r: Arc<NifResource>) -> c_int {
    let there = select::stop(fd);
    match call_stop(&mut e, fd, &r) {
        true => STOP_CALLED | cancelled(there),
        false => NEGATIVE | FAILED,
    }
}

/// Calls the type's `stop`; false if it has none.
fn call_stop(e: &mut EnvPtr, fd: c_int, r: &NifResource) -> bool {
    let (calls, keep) = r.ty.calls();
    let Some(f) = calls.stop else { return false };
    let lib = keep.as_ref().map_or(ptr::null(), Arc::as_ptr);
    let before = e.get().map(|e| std::mem::replace(&mut e.lib, lib));
    // SAFETY: the type's function, whose library is kept, as the resource is.
    unsafe { f(e.as_ptr(), r.data(), fd, 1) };
    if let Some((e, before)) = e.get().zip(before) {
        e.lib = before;
    }
    true
}
