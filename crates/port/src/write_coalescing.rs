//! Small output that is held back until the turn of who sent it is over, so that many lines cost one
//! system call.
//!
//! Held is only what the pipe takes: when the first of it came the pipe had room for all, somebody had
//! its other end open, and nobody else writes to it. So nothing tells it from output that was written
//! at once but the time, and that is short: the sender's scheduler writes it when the turn is over,
//! before it runs anybody else, and before it opens a port, does anything with another or calls a
//! library. It holds back for one port at a time, which keeps what programs hear in order. Whoever
//! ends the port, and who ends the machine, writes it first; what fails is no failure, since the
//! program had not ended when this was sent.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::OnceLock;

use kvik_proc::sched::meter::{during, State};
use kvik_proc::sched::{current, look_after_turn};

use crate::{poll, table};

/// Bytes held for a port at most: a pipe that can be written to takes that many.
pub(crate) const MOST: usize = 4096;

/// The port whose output a scheduler holds back: its number and one; 0 for none. Others only read it.
/// Each has cache lines of its own.
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

/// This scheduler holds output back for a port, which it did for no other.
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
            during(State::Port, || port.write_held());
        }
        // Not before: who ends the machine meanwhile looks at it.
        s.0.store(0, Relaxed);
    }
}
/// Writes what the scheduler that runs this holds back.
pub fn write() {
    current().and_then(slot).into_iter().for_each(write_of);
}
/// The same before something is done with this port, unless it is this one's.
pub(crate) fn write_but(port: u32) {
    let slot = current().and_then(slot);
    slot.filter(|s| s.0.load(Relaxed) != port + 1).into_iter().for_each(write_of);
}
/// Writes what all hold back: the machine ends.
pub(crate) fn write_all() {
    for s in slots() {
        if let Some(port) = s.0.load(Relaxed).checked_sub(1).and_then(table::get) {
            port.write_held();
        }
    }
}
