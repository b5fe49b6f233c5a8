//! The scavenger: a thread that gives memory which nobody uses any more back to the system, so that
//! no scheduler pays for the system calls.
//!
//! A thread that has freed a megabyte calls it (`kvik_sys::alloc`). What was freed stays with the
//! program for a second at least, as it is likely taken again. Then schedulers are asked for what
//! only they can free: each does it when it would sleep next, or in its next check when it has been
//! busy all along. On an idle node nothing is freed, so nobody calls and the scavenger sleeps.
//! Before all that it makes the memory of the first processes present.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::OnceLock;
use std::time::Duration;

use kvik_env::thread::{self, Thread};

const PAUSE: Duration = Duration::from_secs(1);
/// Until schedulers that have nothing to do have tidied up, and those that are busy.
const MOMENTS: [Duration; 2] = [Duration::from_millis(50), Duration::from_millis(500)];

kvik_state::vm_state! {
    static THREAD: OnceLock<Thread> = OnceLock::new();
    static CALLED: AtomicBool = AtomicBool::new(false);
    static ROUNDS: AtomicU32 = AtomicU32::new(0);
}

pub(super) fn start() -> std::io::Result<()> {
    let t = thread::spawn("scavenger", None, work)?;
    let _ = THREAD.set(t.thread().clone());
    kvik_sys::alloc::on_much_freed(call);
    kvik_heap::literal::on_freed(kvik_sys::alloc::count_freed);
    Ok(())
}
/// Much was freed.
fn call() {
    if !CALLED.load(Relaxed) && !CALLED.swap(true, Relaxed) {
        if let Some(t) = THREAD.get() {
            t.unpark();
        }
    }
}
/// How often schedulers were asked to tidy up, each its own memory: only they can, and only those do
/// that are about to sleep.
pub(super) fn rounds() -> u32 {
    ROUNDS.load(Relaxed)
}
/// Asks for a round, and gives back what is free by then: twice, as schedulers that are busy take
/// longer.
fn give_back() {
    ROUNDS.fetch_add(1, Relaxed);
    (0..super::all().len()).for_each(super::wake_up);
    for moment in MOMENTS {
        thread::sleep(moment);
        kvik_heap::literal::give_back();
        kvik_sys::alloc::give_back();
    }
}
fn work() {
    kvik_sys::slab::prepare();
    loop {
        while !CALLED.load(Relaxed) {
            thread::park();
        }
        thread::sleep(PAUSE);
        // What is freed from here on is worth another call.
        CALLED.store(false, Relaxed);
        give_back();
        while kvik_sys::alloc::give_back_large() {
            thread::sleep(PAUSE);
        }
    }
}
