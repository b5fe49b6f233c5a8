//! Monitors of processes by ports of linked-in drivers.

use std::collections::HashMap;
use std::ffi::c_int;
use std::sync::Mutex;

use kvik_proc::signal::{self, Control};
use kvik_proc::RefId;
use kvik_term::Term;

use crate::abi::NifMonitor;

use crate::driver::interface::Data;
use crate::driver::ports::{self, DriverEvent, PortState};
use crate::lock::lock;
use crate::pointers::{CTerm, In, OutPointer, Word};
use crate::process::is_alive;

crate::address::by_address! {
    driver_compare_monitors,
    driver_demonitor_process,
    driver_get_monitored_process,
    driver_monitor_process,
}

kvik_state::vm_state! {
    /// Ports by the reference of their monitor.
    static PORTS: Mutex<Option<HashMap<RefId, u32>>> = Mutex::new(None);
}

fn port_of(id: RefId) -> Option<u32> {
    lock(&PORTS).as_ref()?.get(&id).copied()
}
fn forget(id: RefId) {
    if let Some(all) = lock(&PORTS).as_mut() {
        all.remove(&id);
    }
}

/// Handles the end of a process. False: no port monitors by that reference.
pub fn down(id: RefId) -> bool {
    let Some(port) = port_of(id) else { return false };
    if let Some(state) = ports::by_id(port) {
        // A stopped driver's port has no monitors any more.
        let _ = state.post(DriverEvent::ProcessExit(id));
    }
    true
}
/// The port that monitors by a reference, as a term.
pub fn port_term(id: RefId) -> Option<Term<'static>> {
    port_of(id).map(Term::local_port)
}
/// The argument for `process_exit`, unless the driver has removed the monitor.
pub fn fired(state: &PortState, id: RefId) -> Option<NifMonitor> {
    lock(&state.monitors).contains_key(&id).then(|| monitor(id))
}
/// Removes the monitor after `process_exit`.
pub fn remove(state: &PortState, id: RefId) {
    lock(&state.monitors).remove(&id);
    forget(id);
}
/// Removes all monitors of a port that closes.
pub fn remove_all(state: &PortState) {
    let all = std::mem::take(&mut *lock(&state.monitors));
    for (id, pid) in all {
        forget(id);
        signal::control(pid, Control::Demonitor { id });
    }
}
fn monitor(id: RefId) -> NifMonitor {
    NifMonitor { numbers: id.0, spare: [0; 5] }
}
fn reference(m: In<NifMonitor>) -> RefId {
    // A null pointer has the numbers of no monitor.
    RefId(m.get().map_or([0; 3], |m| m.numbers))
}

/// Returns 0; negative without `process_exit`, positive if there is no such process.
#[no_mangle]
pub extern "C" fn driver_monitor_process(
    port: Data,
    pid: CTerm,
    to: OutPointer<NifMonitor>,
) -> c_int {
    let Some(state) = ports::get(port) else { return -1 };
    if state.entry.process_exit.is_none() {
        return -1;
    }
    let Some(pid) = pid.term().as_local_pid().filter(|p| is_alive(*p)) else { return 1 };
    let id = RefId::next();
    lock(&PORTS).get_or_insert_default().insert(id, state.id);
    lock(&state.monitors).insert(id, pid);
    let m = Control::Monitor { from: signal::LIBRARY, id, name: None };
    if signal::try_control(pid, m).is_err() {
        remove(&state, id);
        return 1;
    }
    to.put(monitor(id));
    0
}
/// Returns 0 if the monitor existed.
#[no_mangle]
pub extern "C" fn driver_demonitor_process(port: Data, m: In<NifMonitor>) -> c_int {
    let Some(state) = ports::get(port) else { return -1 };
    let id = reference(m);
    let Some(pid) = lock(&state.monitors).remove(&id) else { return 1 };
    forget(id);
    signal::control(pid, Control::Demonitor { id });
    0
}
/// The process, or nil.
#[no_mangle]
pub extern "C" fn driver_get_monitored_process(port: Data, m: In<NifMonitor>) -> Word {
    let of = |state: &PortState| lock(&state.monitors).get(&reference(m)).copied();
    let pid = ports::get(port).and_then(|state| of(&state));
    pid.map_or(Term::NIL, Term::local_pid).word()
}
#[no_mangle]
pub extern "C" fn driver_compare_monitors(a: In<NifMonitor>, b: In<NifMonitor>) -> c_int {
    reference(a).0.cmp(&reference(b).0) as c_int
}
