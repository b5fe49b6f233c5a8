//! The event loop of a scheduler's poll set: waits for events and calls the descriptors' owners.

use std::os::fd::RawFd;
use std::sync::OnceLock;
use std::time::Duration;

use kvik_env::cpu_affinity;
use kvik_proc::sched::microstate_timing::{during, Microstate};

use crate::affinity::{pinned_child, policy, scheduler_load};
use crate::driver::Ready;
use crate::poll::{Source, BUFFERS};
use crate::{poll, signals, stop_the_world, table, tty, write_coalescing};

/// Called for a library's descriptors: number, readable, writable, hung up.
type Library = fn(RawFd, bool, bool, bool);
kvik_state::vm_state! {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
}

pub fn set_library(f: Library) {
    let _ = LIBRARY.set(f);
}

/// Serves a scheduler's poll set: waits for events at most this long (`None`: until one comes or
/// [`poll::wake`] is called), calls `woken`, serves the events, and returns how many there were.
pub fn check_io(scheduler: usize, timeout: Option<Duration>, woken: &mut dyn FnMut()) -> usize {
    let (Some(s), Some(keeps)) = (poll::set(scheduler), pinned_child::pinned_children(scheduler))
    else {
        woken();
        return 0;
    };
    write_coalescing::write();
    let ring = |buffer: &mut [u8]| {
        let due = s.due();
        for (_, number, tag) in &due {
            if let Some(port) = table::get(*number) {
                during(Microstate::Port, || port.ready(Ready::Timer(*tag), buffer));
            }
        }
        due.len()
    };
    let served = BUFFERS.with_borrow_mut(|(events, buffer)| {
        // As in OTP, a timer that is due by now rings before anything that the system has to tell.
        let rung = ring(buffer);
        let pending = s.any_ready();
        let at_once = pending || rung > 0;
        let timeout = if at_once { Some(Duration::ZERO) } else { s.until_timer(timeout) };
        let mut n = keeps.wait(&s.poller, events, timeout).unwrap_or(0);
        policy::heard(scheduler, n, timeout.is_none_or(|t| !t.is_zero()));
        scheduler_load::runs_on(scheduler, cpu_affinity::cpu().unwrap_or(usize::MAX));
        woken();
        for e in events.iter() {
            during(Microstate::Port, || {
                serve(scheduler, e.token, e.read, e.write, e.hangup, buffer)
            });
        }
        n += rung + ring(buffer);
        if pending {
            let tokens = s.take_ready();
            n += tokens.len();
            for t in tokens {
                during(Microstate::Port, || serve(scheduler, t, true, true, false, buffer));
            }
        }
        n
    });
    stop_the_world::point(scheduler, signals::dispatch);
    served
}

fn serve(home: usize, token: u64, read: bool, write: bool, hangup: bool, buffer: &mut [u8]) {
    let number = token as u32;
    let run = |why, buffer: &mut [u8]| {
        if let Some(port) = table::get(number) {
            port.ready(why, buffer);
        }
    };
    match token >> 32 {
        0 => run(Ready::Input { hangup }, buffer),
        1 => run(Ready::Output, buffer),
        2 => run(Ready::Child, buffer),
        3 => poll::reap_orphan(home, number as i32),
        4 => signals::dispatch(),
        7 => run(Ready::Fetch, buffer),
        8 => run(Ready::Driver, buffer),
        9 => tty::reader::ready(),
        6 => LIBRARY.get().into_iter().for_each(|f| f(number as RawFd, read, write, hangup)),
        _ => {
            if write {
                run(Ready::Output, buffer);
            }
            if read {
                run(Ready::Input { hangup }, buffer);
            }
        }
    }
}

/// Counts of the descriptors in all poll sets, as the kernel reports them.
#[derive(Default)]
pub struct DescriptorCounts {
    /// Of ports and their programs.
    pub ports: usize,
    /// That libraries selected.
    pub libraries: usize,
    /// Those of a port that no longer exists.
    pub strays: usize,
}
pub fn watched() -> DescriptorCounts {
    let mut w = DescriptorCounts::default();
    for t in poll::tokens() {
        let (source, number) = (t >> 32, t as u32);
        let of = |s: Source| source == s as u64;
        if of(Source::Library) {
            w.libraries += 1;
        } else if of(Source::Orphan) || of(Source::Terminal) || table::get(number).is_some() {
            w.ports += 1;
        } else if !of(Source::Signals) {
            w.strays += 1;
        }
    }
    w
}
