//! The time warp modes (flag `+C`): whether and when the offset between monotonic and system time
//! changes, and how processes are notified.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use kvik_env::clock::ClockSetWatch;
use kvik_env::thread;
use kvik_proc::links_monitors::Target;
use kvik_proc::process::table;
use kvik_proc::signal::{deliver, post, Signal};
use kvik_proc::{clock, Proc};
use kvik_term::{am, Term};

kvik_state::vm_state! {
    static FINALIZED: AtomicBool = AtomicBool::new(false);
}

/// The value of `system_info(time_offset)`.
pub fn state() -> &'static str {
    match super::config().time_warp_mode {
        "multi_time_warp" => "volatile",
        "single_time_warp" if !FINALIZED.load(Relaxed) => "preliminary",
        _ => "final",
    }
}
/// Fixes the offset if it is not fixed yet; returns the previous state.
pub fn finalize() -> &'static str {
    let before = state();
    if before == "preliminary" && !FINALIZED.swap(true, Relaxed) {
        change();
    }
    before
}
/// Sets system time to the operating system's, and notifies the monitors of the offset.
fn change() {
    clock::warp();
    for pid in table().numbers() {
        deliver(pid, Signal::Run(Box::new(|p: Option<&Proc>| p.into_iter().for_each(tell))));
    }
}
fn tell(p: &Proc) {
    let watches = p.cold(|x| {
        let all = x.monitoring.iter().filter(|(_, m)| matches!(m.target, Target::TimeOffset));
        all.map(|(id, _)| *id).collect::<Vec<_>>()
    });
    for id in watches.unwrap_or_default() {
        post(p.pid(), |h| {
            let offset = h.integer(clock::offset());
            let id = h.ref_of_numbers(id.0);
            let clock = Term::atom(am::clock_service);
            h.tuple(&[am::CHANGE.into(), id, am::time_offset.into(), clock, offset])
        });
    }
}

/// Clock difference (nanoseconds) above which the offset changes. Slewing moves the monotonic clock
/// too, so a smaller one comes from reading the two clocks one after the other.
const STEP: i64 = 10_000_000;
/// Bytes of stack of a thread that waits for most of its life.
const STACK: usize = 64 << 10;

/// In the mode `multi_time_warp` the offset follows the operating system's time, in steps.
pub fn follow_system_time() -> io::Result<()> {
    if super::config().time_warp_mode != "multi_time_warp" {
        return Ok(());
    }
    let watch = ClockSetWatch::new()?;
    let follow = move || {
        while watch.wait().is_ok() {
            if clock::drift().abs() > STEP {
                change();
            }
        }
    };
    thread::spawn("time warp", Some(STACK), follow).map(drop)
}
