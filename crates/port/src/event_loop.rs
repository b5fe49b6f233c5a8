//! The loop of a scheduler's poll set: waits for events and has those called whose they are.

use std::os::fd::RawFd;
use std::sync::OnceLock;
use std::time::Duration;

use kvik_env::place;
use kvik_proc::sched::meter::{during, State};

use crate::affinity::{pinned_child, policy, scheduler_load};
use crate::driver::Ready;
use crate::poll::{Source, ROOM};
use crate::{pause, poll, signals, table, tty, write_coalescing};

/// Hears of a library's descriptors: number, readable, writable, hung up.
type Library = fn(RawFd, bool, bool, bool);
kvik_state::vm_state! {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
}

pub fn set_library(f: Library) {
    let _ = LIBRARY.set(f);
}

/// Serves a scheduler's poll set: waits for events at most this long (`None`: until one comes or
/// [`poll::wake`] is called), calls `woken`, serves them, and answers how many there were.
pub fn check_io(scheduler: usize, timeout: Option<Duration>, woken: &mut dyn FnMut()) -> usize {
    let (Some(s), Some(keeps)) = (poll::set(scheduler), pinned_child::keeps(scheduler)) else {
        woken();
        return 0;
    };
    write_coalescing::write();
    let pending = s.any_ready();
    let timeout = if pending { Some(Duration::ZERO) } else { s.until_timer(timeout) };
    let served = ROOM.with_borrow_mut(|(events, buffer)| {
        let mut n = keeps.wait(&s.poller, events, timeout).unwrap_or(0);
        policy::heard(scheduler, n, timeout.is_none_or(|t| !t.is_zero()));
        scheduler_load::runs_on(scheduler, place::cpu().unwrap_or(usize::MAX));
        woken();
        for e in events.iter() {
            during(State::Port, || serve(scheduler, e.token, e.read, e.write, e.hangup, buffer));
        }
        for (_, number, tag) in s.due() {
            n += 1;
            if let Some(port) = table::get(number) {
                during(State::Port, || port.ready(Ready::Timer(tag), buffer));
            }
        }
        if pending {
            let tokens = s.take_ready();
            n += tokens.len();
            for t in tokens {
                during(State::Port, || serve(scheduler, t, true, true, false, buffer));
            }
        }
        n
    });
    pause::point(scheduler, signals::dispatch);
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

/// Descriptors in all poll sets, by what the kernel says.
#[derive(Default)]
pub struct Watched {
    /// Of ports and their programs.
    pub ports: usize,
    /// That libraries selected.
    pub libraries: usize,
    /// That belong to a port which is not there any more.
    pub strays: usize,
}
pub fn watched() -> Watched {
    let mut w = Watched::default();
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
