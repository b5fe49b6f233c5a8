//! Resources that watch processes.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::sync::{Arc, Weak};

use kvik_heap::Heap;
use kvik_proc::signal::{self, Control};
use kvik_proc::RefId;
use kvik_term::Term;

use crate::abi::{Monitor, Pid};
use crate::env::{heap, Env};
use crate::pointers::{put, Word};
use crate::process::{is_alive, pid_of};
use crate::resources::{self, kept, of_pointer, watchers, watching};

/// A process has ended that a resource may watch: calls `down`.
pub fn down(dead: u32, id: RefId) {
    let Some(r) = watchers().remove(&id).and_then(|r| r.upgrade()) else { return };
    if watching(&r).remove(&id).is_none() {
        return;
    }
    let (calls, keep) = r.ty.calls();
    if let Some(f) = calls.down {
        let mut e = Env::alone(keep.as_ref().map_or(ptr::null(), Arc::as_ptr));
        let (mut pid, mut m) = (Term::local_pid(dead).word(), monitor(id));
        // SAFETY: the type's function, whose library is kept, as the resource is.
        unsafe { f(&mut e, r.data(), &mut pid, &mut m) }
    }
}
/// The resource that watches by a reference.
pub fn watcher(heap: &Heap, id: RefId) -> Option<Term<'_>> {
    let r = watchers().get(&id).and_then(Weak::upgrade)?;
    Some(resources::term_of(heap, r))
}
fn monitor(id: RefId) -> Monitor {
    Monitor { numbers: id.0, spare: [0; 5] }
}

/// 0, negative for a type without `down`, positive where there is no such process.
#[no_mangle]
pub extern "C" fn enif_monitor_process(
    _: *mut Env,
    obj: *mut c_void,
    pid: *const Pid,
    to: *mut Monitor,
) -> c_int {
    let r = kept(obj);
    if r.ty.calls().0.down.is_none() {
        return -1;
    }
    let Some(pid) = pid_of(pid).filter(|p| is_alive(*p)) else { return 1 };
    let id = RefId::next();
    watchers().insert(id, Arc::downgrade(&r));
    watching(&r).insert(id, pid);
    put(to, monitor(id));
    let m = Control::Monitor { from: signal::LIBRARY, id, name: None };
    if signal::try_control(pid, m).is_err() {
        // It has ended meanwhile. `down` is not called for what was never there.
        watchers().remove(&id);
        watching(&r).remove(&id);
        return 1;
    }
    0
}
/// 0 where the monitor was there.
#[no_mangle]
pub extern "C" fn enif_demonitor_process(
    _: *mut Env,
    obj: *mut c_void,
    m: *const Monitor,
) -> c_int {
    // SAFETY: a monitor that `enif_monitor_process` has filled in.
    let id = RefId(unsafe { (*m).numbers });
    let Some(pid) = watching(of_pointer(obj)).remove(&id) else { return 1 };
    watchers().remove(&id);
    signal::control(pid, Control::Demonitor { id });
    0
}
#[no_mangle]
pub extern "C" fn enif_compare_monitors(a: *const Monitor, b: *const Monitor) -> c_int {
    // SAFETY: as above.
    unsafe { (*a).numbers.cmp(&(*b).numbers) as c_int }
}
#[no_mangle]
pub extern "C" fn enif_make_monitor_term(e: *mut Env, m: *const Monitor) -> Word {
    // SAFETY: as above.
    heap(e).ref_of_numbers(unsafe { (*m).numbers }).word()
}
