//! Resources that monitor processes.

use std::ffi::c_int;
use std::ptr;
use std::sync::{Arc, Weak};

use kvik_heap::Heap;
use kvik_proc::signal::{self, Control};
use kvik_proc::RefId;
use kvik_term::Term;

use crate::abi::NifMonitor;
use crate::resources::{watchers, watching};

use crate::env::{EnvPtr, NifEnv};
use crate::pointers::{CTerm, In, OutPointer, Word};
use crate::process::{is_alive, pid_of};
use crate::resources::{self, ResourcePtr};

/// Handles the end of a process that a resource may monitor: calls `down`.
pub fn down(dead: u32, id: RefId) {
    let Some(r) = watchers().remove(&id).and_then(|r| r.upgrade()) else { return };
    if watching(&r).remove(&id).is_none() {
        return;
    }
    let (calls, keep) = r.ty.calls();
    if let Some(f) = calls.down {
        let mut e = NifEnv::alone(keep.as_ref().map_or(ptr::null(), Arc::as_ptr));
        let (mut pid, mut m) = (Term::local_pid(dead).word(), monitor(id));
        // SAFETY: the type's function, whose library is kept, as the resource is.
        unsafe { f(&mut e, r.data(), &mut pid, &mut m) }
    }
}
/// The resource that monitors by a reference.
pub fn watcher(heap: &Heap, id: RefId) -> Option<Term<'_>> {
    let r = watchers().get(&id).and_then(Weak::upgrade)?;
    Some(resources::term_of(heap, r))
}
fn monitor(id: RefId) -> NifMonitor {
    NifMonitor { numbers: id.0, spare: [0; 5] }
}

/// Numbers of a monitor; for a null pointer those of no monitor.
fn numbers(m: &In<NifMonitor>) -> [u32; 3] {
    m.get().map_or([0; 3], |m| m.numbers)
}

/// Returns 0, a negative value for a type without `down`, a positive one if there is no such
/// process.
#[no_mangle]
pub extern "C" fn enif_monitor_process(
    _: EnvPtr,
    obj: ResourcePtr,
    pid: In<CTerm>,
    to: OutPointer<NifMonitor>,
) -> c_int {
    let r = obj.keep();
    if r.ty.calls().0.down.is_none() {
        return -1;
    }
    let Some(pid) = pid_of(pid).filter(|p| is_alive(*p)) else { return 1 };
    let id = RefId::next();
    watchers().insert(id, Arc::downgrade(&r));
    watching(&r).insert(id, pid);
    to.put(monitor(id));
    let m = Control::Monitor { from: signal::LIBRARY, id, name: None };
    if signal::try_control(pid, m).is_err() {
        // It has ended meanwhile. `down` is not called for a monitor that never existed.
        watchers().remove(&id);
        watching(&r).remove(&id);
        return 1;
    }
    0
}
/// Returns 0 if the monitor existed.
#[no_mangle]
pub extern "C" fn enif_demonitor_process(_: EnvPtr, obj: ResourcePtr, m: In<NifMonitor>) -> c_int {
    let Some(id) = m.get().map(|m| RefId(m.numbers)) else { return 1 };
    let Some(pid) = watching(obj.resource()).remove(&id) else { return 1 };
    watchers().remove(&id);
    signal::control(pid, Control::Demonitor { id });
    0
}
#[no_mangle]
pub extern "C" fn enif_compare_monitors(a: In<NifMonitor>, b: In<NifMonitor>) -> c_int {
    numbers(&a).cmp(&numbers(&b)) as c_int
}
#[no_mangle]
pub extern "C" fn enif_make_monitor_term(e: EnvPtr, m: In<NifMonitor>) -> Word {
    e.heap().ref_of_numbers(numbers(&m)).word()
}
