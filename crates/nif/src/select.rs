//! `enif_select`: a message when a descriptor is ready, once for each call.

use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use kvik_heap::OwnedTerm;
use kvik_port::poll::{self, Source};
use kvik_proc::signal::{self, Signal};
use kvik_sys::poll::Interest;
use kvik_term::{Atom, Term};

use crate::abi::{Pid, Word};
use crate::env::{env, heap, term, Env};
use crate::process::pid_of;
use crate::resources::{enif_make_resource, kept, Resource};

/// `enum ErlNifSelectFlags`
const READ: c_int = 1;
const WRITE: c_int = 2;
const STOP: c_int = 4;
const CANCEL: c_int = 8;
const CUSTOM: c_int = 16;
const ERROR: c_int = 32;
/// What a call answers.
const STOP_CALLED: c_int = 1;
const INVALID: c_int = 4;
const FAILED: c_int = 8;
const READ_CANCELLED: c_int = 16;
const WRITE_CANCELLED: c_int = 32;
const ERROR_CANCELLED: c_int = 64;
/// A call that fails answers a negative number.
const NEGATIVE: c_int = c_int::MIN;

/// Who is to get what.
type Waiting = Option<(u32, OwnedTerm)>;

/// A descriptor that some resource has selected.
struct Selected {
    by: Arc<Resource>,
    read: Waiting,
    write: Waiting,
    error: Waiting,
    /// Is it in the poll set?
    polled: bool,
}

fn selected() -> MutexGuard<'static, HashMap<c_int, Selected>> {
    static SELECTED: OnceLock<Mutex<HashMap<c_int, Selected>>> = OnceLock::new();
    SELECTED.get_or_init(Mutex::default).lock().unwrap_or_else(|e| e.into_inner())
}

impl Selected {
    /// Has the poll set watch for what is waited for. False: the descriptor cannot be watched.
    fn watch(&mut self, fd: c_int) -> bool {
        let (read, write) = (self.read.is_some(), self.write.is_some());
        let i = Interest { read, write, ..Interest::default() };
        // Always in the set with that number: sets are taken modulo their count.
        let home = fd as usize;
        // Errors are told of without being asked for.
        let wanted = read || write || self.error.is_some();
        let fine = match (self.polled, wanted) {
            (false, true) => match poll::add(home, fd, Source::Library, fd as u32, i) {
                Ok(false) => true,
                Ok(true) | Err(_) => return false,
            },
            (true, true) => poll::modify(home, fd, Source::Library, fd as u32, i).is_ok(),
            (true, false) => {
                poll::remove(home, fd);
                true
            }
            (false, false) => true,
        };
        self.polled = wanted;
        fine
    }
}

/// The poll set tells of a descriptor.
pub fn ready(fd: c_int, read: bool, write: bool, hangup: bool) {
    let mut all = selected();
    let Some(s) = all.get_mut(&fd) else { return };
    let r = s.read.take_if(|_| read || hangup);
    let w = s.write.take_if(|_| write || hangup);
    let e = s.error.take_if(|_| hangup);
    s.watch(fd);
    drop(all);
    for (pid, message) in r.into_iter().chain(w).chain(e) {
        signal::deliver(pid, Signal::Message(message));
    }
}

#[no_mangle]
pub extern "C" fn enif_select(
    e: *mut Env,
    fd: c_int,
    flags: c_int,
    obj: *mut c_void,
    pid: *const Pid,
    reference: Word,
) -> c_int {
    enif_select_x(e, fd, flags & !CUSTOM, obj, pid, reference, ptr::null_mut())
}

/// With a message of the caller's own, in `from` or in the environment of the call.
#[no_mangle]
pub extern "C" fn enif_select_x(
    e: *mut Env,
    fd: c_int,
    flags: c_int,
    obj: *mut c_void,
    pid: *const Pid,
    message: Word,
    from: *mut Env,
) -> c_int {
    let r = kept(obj);
    if flags & STOP != 0 {
        return stop(e, fd, r);
    }
    if fd < 0 {
        return NEGATIVE | INVALID;
    }
    steal(fd, &r);
    let mut all = selected();
    if flags & CANCEL != 0 {
        let Some(s) = all.get_mut(&fd) else { return 0 };
        let read = s.read.take_if(|_| flags & READ != 0).map_or(0, |_| READ_CANCELLED);
        let write = s.write.take_if(|_| flags & WRITE != 0).map_or(0, |_| WRITE_CANCELLED);
        let error = s.error.take_if(|_| flags & ERROR != 0).map_or(0, |_| ERROR_CANCELLED);
        s.watch(fd);
        return read | write | error;
    }
    let to = if pid.is_null() { env(e).pid } else { pid_of(pid) };
    // One that has ended is as good: nobody hears then.
    let Some(to) = to.filter(|_| flags & (READ | WRITE | ERROR) != 0) else {
        return NEGATIVE | FAILED;
    };
    let of = |direction: &str| -> Waiting {
        let m = if flags & CUSTOM != 0 {
            OwnedTerm::message(term(message))
        } else {
            ready_message(e, obj, message, direction)
        };
        Some((to, m))
    };
    let new = || Selected { by: r, read: None, write: None, error: None, polled: false };
    let s = all.entry(fd).or_insert_with(new);
    if flags & READ != 0 {
        s.read = of("ready_input");
    }
    if flags & WRITE != 0 {
        s.write = of("ready_output");
    }
    if flags & ERROR != 0 {
        s.error = of("ready_error");
    }
    if !s.watch(fd) {
        all.remove(&fd);
        return NEGATIVE | INVALID;
    }
    if !from.is_null() {
        env(from).clear();
    }
    0
}

/// Takes a descriptor from another resource, which has closed it, and somebody has opened another
/// with its number. The other is not told.
fn steal(fd: c_int, by: &Arc<Resource>) {
    drop(forget(fd, |s| !Arc::ptr_eq(&s.by, by)))
}
/// Nobody waits for it any more, if it is one to forget. What is forgotten is dropped with the table
/// unlocked: a resource may go with that.
fn forget(fd: c_int, which: impl Fn(&Selected) -> bool) -> Option<Selected> {
    let mut all = selected();
    let polled = all.get(&fd).filter(|s| which(s))?.polled;
    if polled {
        poll::remove(fd as usize, fd);
    }
    all.remove(&fd)
}

/// `{select, Resource, Ref, Direction}`
fn ready_message(e: *mut Env, obj: *mut c_void, reference: Word, direction: &str) -> OwnedTerm {
    let name = |s| Atom::intern(s).map_or(Term::NIL, Term::atom);
    let resource = term(enif_make_resource(e, obj));
    let m = [name("select"), resource, term(reference), name(direction)];
    OwnedTerm::message(heap(e).tuple(&m))
}

/// The descriptor is not used any more: `stop` may close it.
fn stop(e: *mut Env, fd: c_int, r: Arc<Resource>) -> c_int {
    drop(forget(fd, |_| true));
    match call_stop(e, fd, &r) {
        true => STOP_CALLED,
        false => NEGATIVE | FAILED,
    }
}

/// False where the type has no `stop`.
fn call_stop(e: *mut Env, fd: c_int, r: &Resource) -> bool {
    let (calls, keep) = r.ty.calls();
    let Some(f) = calls.stop else { return false };
    let before = std::mem::replace(&mut env(e).lib, keep.as_ref().map_or(ptr::null(), Arc::as_ptr));
    // SAFETY: the type's function, whose library is kept, as the resource is.
    unsafe { f(e, r.data(), fd, 1) };
    env(e).lib = before;
    true
}
