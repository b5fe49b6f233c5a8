//! Processes that a linked-in driver's port monitors.

use std::collections::HashMap;
use std::ffi::c_int;
use std::sync::Mutex;

use kvik_proc::signal::{self, Control};
use kvik_proc::RefId;
use kvik_term::Term;

use crate::abi::Monitor;

use crate::driver::interface::Data;
use crate::driver::ports::{self, Event, PortState};
use crate::lock::lock;
use crate::pointers::{CTerm, In, Out, Word};
use crate::process::is_alive;

crate::address::by_address! {
    driver_compare_monitors,
    driver_demonitor_process,
    driver_get_monitored_process,
    driver_monitor_process,
}

kvik_state::vm_state! {
    /// The port that monitors by a reference.
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

/// A process has ended. False: no port monitors by that reference.
pub fn down(id: RefId) -> bool {
    let Some(port) = port_of(id) else { return false };
    if let Some(state) = ports::by_id(port) {
        // A port whose driver has stopped has no monitors any more.
        let _ = state.post(Event::ProcessExit(id));
    }
    true
}
/// The port that monitors by a reference, as a term.
pub fn port_term(id: RefId) -> Option<Term<'static>> {
    port_of(id).map(Term::local_port)
}
/// `process_exit` is to be called: what it gets, unless the driver has given the monitor up.
pub fn fired(state: &PortState, id: RefId) -> Option<Monitor> {
    lock(&state.monitors).contains_key(&id).then(|| monitor(id))
}
/// Behind that call.
pub fn remove(state: &PortState, id: RefId) {
    lock(&state.monitors).remove(&id);
    forget(id);
}
/// A port goes, and all its monitors with it.
pub fn remove_all(state: &PortState) {
    let all = std::mem::take(&mut *lock(&state.monitors));
    for (id, pid) in all {
        forget(id);
        signal::control(pid, Control::Demonitor { id });
    }
}
fn monitor(id: RefId) -> Monitor {
    Monitor { numbers: id.0, spare: [0; 5] }
}
fn reference(m: In<Monitor>) -> RefId {
    // A null pointer has the numbers of no monitor.
    RefId(m.get().map_or([0; 3], |m| m.numbers))
}

/// 0; negative where the driver has no `process_exit`, positive where there is no such process.
#[no_mangle]
pub extern "C" fn driver_monitor_process(port: Data, pid: CTerm, to: Out<Monitor>) -> c_int {
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
/// 0 where the monitor was there.
#[no_mangle]
pub extern "C" fn driver_demonitor_process(port: Data, m: In<Monitor>) -> c_int {
    let Some(state) = ports::get(port) else { return -1 };
    let id = reference(m);
    let Some(pid) = lock(&state.monitors).remove(&id) else { return 1 };
    forget(id);
    signal::control(pid, Control::Demonitor { id });
    0
}
/// The process, or nil.
#[no_mangle]
pub extern "C" fn driver_get_monitored_process(port: Data, m: In<Monitor>) -> Word {
    let of = |state: &PortState| lock(&state.monitors).get(&reference(m)).copied();
    let pid = ports::get(port).and_then(|state| of(&state));
    pid.map_or(Term::NIL, Term::local_pid).word()
}
#[no_mangle]
pub extern "C" fn driver_compare_monitors(a: In<Monitor>, b: In<Monitor>) -> c_int {
    reference(a).0.cmp(&reference(b).0) as c_int
}
