//! The scavenger: a thread that returns unused memory to the system, so that no scheduler pays for
//! the system calls.
//!
//! A thread that has freed a megabyte wakes it (`kvik_sys::alloc`). Freed memory stays with the
//! program for a second at least, as it is likely reused, and longer while threads go on to free
//! much: a server under load would get back at once what it gave, as pages that the system has to
//! clear. Then schedulers are asked to release the memory that only they can free: each does so
//! before its next sleep, or in its next check if it was busy all along. On an idle node nothing is
//! freed, so the scavenger sleeps.
//!
//! Before its first round it prefaults the memory of the first processes.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::OnceLock;
use std::time::Duration;

use kvik_env::thread::{self, Thread};

const INTERVAL: Duration = Duration::from_secs(1);
/// A round begins once no thread has freed much for a tick.
const TICK: Duration = Duration::from_millis(200);
/// Least and most ticks from the wake-up to the round.
const TICKS: RangeInclusive<usize> = 5..=20;
/// Delays after which idle schedulers, and busy ones, have released their memory.
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
/// Called when much memory was freed.
fn call() {
    if !CALLED.load(Relaxed) && !CALLED.swap(true, Relaxed) {
        if let Some(t) = THREAD.get() {
            t.unpark();
        }
    }
}
/// Number of rounds started. In each, every scheduler releases its own memory, which only it can;
/// it does so when it is about to sleep, or at a check.
pub(super) fn rounds() -> u32 {
    ROUNDS.load(Relaxed)
}
/// Starts a round, and returns free memory to the system: twice, as busy schedulers take longer.
fn give_back() {
    ROUNDS.fetch_add(1, Relaxed);
    (0..super::all().len()).for_each(super::wake_up);
    for moment in MOMENTS {
        thread::sleep(moment);
        kvik_heap::literal::give_back();
        kvik_sys::alloc::give_back();
    }
}
/// Waits until memory that is free now will probably stay free.
fn wait_for_calm() {
    for tick in 1..=*TICKS.end() {
        CALLED.store(false, Relaxed);
        thread::sleep(TICK);
        if !CALLED.load(Relaxed) && TICKS.contains(&tick) {
            return;
        }
    }
}
fn work() {
    kvik_sys::slab::prepare();
    loop {
        while !CALLED.load(Relaxed) {
            thread::park();
        }
        wait_for_calm();
        // Memory freed from here on warrants another call.
        CALLED.store(false, Relaxed);
        give_back();
        while kvik_sys::alloc::give_back_large() {
            thread::sleep(INTERVAL);
        }
    }
}
