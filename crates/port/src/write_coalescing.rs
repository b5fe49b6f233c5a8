//! Coalesces small port writes until the end of the sender's time slice, so that many lines cost
//! one system call.
//!
//! Output is held only if the pipe can take it: at the first held byte the pipe had room for all,
//! its other end was open, and nothing else writes to it. So it differs from output written at once
//! only in time, and by little: the sender's scheduler writes it when the time slice ends, before
//! it runs another process, opens a port, uses another port or calls a library. A scheduler holds
//! output for one port at a time, which keeps the order in which programs get it. The end of the
//! port or of the VM writes it first; a failure of that write is ignored, since the program had not
//! ended when the output was sent.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::OnceLock;

use kvik_proc::sched::microstate_timing::{during, Microstate};
use kvik_proc::sched::{current, look_after_turn};

use crate::{poll, table};

/// The most bytes held for a port: a writable pipe takes that many.
pub(crate) const MAX_HELD_BYTES: usize = 4096;

/// The port whose output a scheduler holds, as its number plus one; 0 for none. Only that scheduler
/// writes it. Each has cache lines of its own.
#[derive(Default)]
#[repr(align(128))]
struct Slot(AtomicU32);

kvik_state::vm_state! {
    static SLOTS: OnceLock<Box<[Slot]>> = OnceLock::new();
}

fn slots() -> &'static [Slot] {
    SLOTS.get_or_init(|| (0..poll::count()).map(|_| Slot::default()).collect())
}
fn slot(scheduler: usize) -> Option<&'static Slot> {
    slots().get(scheduler)
}

/// Notes that this scheduler holds output for a port; it holds none for any other.
pub(crate) fn note(scheduler: usize, port: u32) {
    if let Some(s) = slot(scheduler) {
        s.0.store(port + 1, Relaxed);
        look_after_turn();
    }
}

fn write_of(s: &Slot) {
    let number = s.0.load(Relaxed);
    if number != 0 {
        if let Some(port) = table::get(number - 1) {
            during(Microstate::Port, || port.write_held());
        }
        // Cleared only now: another thread that ends the VM meanwhile reads it (`write_all`).
        s.0.store(0, Relaxed);
    }
}
/// Writes what the current scheduler holds.
pub fn write() {
    current().and_then(slot).into_iter().for_each(write_of);
}
/// The same before this port is used, unless the held output is this port's.
pub(crate) fn write_but(port: u32) {
    let slot = current().and_then(slot);
    slot.filter(|s| s.0.load(Relaxed) != port + 1).into_iter().for_each(write_of);
}
/// Writes what all schedulers hold: the VM ends.
pub(crate) fn write_all() {
    for s in slots() {
        if let Some(port) = s.0.load(Relaxed).checked_sub(1).and_then(table::get) {
            port.write_held();
        }
    }
}
