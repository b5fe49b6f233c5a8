//! The janitor: a thread that gives memory which nobody uses any more back to the system, so that
//! no scheduler has to do more than tidy up before it sleeps. What was freed stays with the program
//! for a second at least, as it is likely taken again; and where nothing is done the janitor sleeps.
//! Before all that it has the memory of the first processes made present.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::OnceLock;
use std::thread::{self, Thread};
use std::time::Duration;

/// How much a scheduler does before what it may have freed is worth a look: times that it looked at
/// timers and events, some 4,000 reductions each.
pub(super) const WORTH: u32 = 256;
const PAUSE: Duration = Duration::from_secs(1);
/// Until schedulers that have nothing to do have tidied up.
const MOMENT: Duration = Duration::from_millis(50);

static THREAD: OnceLock<Thread> = OnceLock::new();
static CALLED: AtomicBool = AtomicBool::new(false);
static ROUNDS: AtomicU32 = AtomicU32::new(0);

pub(super) fn start() -> std::io::Result<()> {
    let t = thread::Builder::new().name("janitor".into()).spawn(work)?;
    let _ = THREAD.set(t.thread().clone());
    Ok(())
}
/// Much was done.
pub(super) fn call() {
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
fn have_tidied() {
    ROUNDS.fetch_add(1, Relaxed);
    (0..super::all().len()).for_each(super::wake_up);
    thread::sleep(MOMENT);
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
        have_tidied();
        while kvik_sys::alloc::give_back() {
            thread::sleep(PAUSE);
        }
    }
}
