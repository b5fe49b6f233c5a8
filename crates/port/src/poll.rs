//! The poll sets, one for each scheduler, and the loop that serves what they tell.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use kvik_proc::sched::meter::{during, State};
use kvik_sys::clock::monotonic_nanos;
use kvik_sys::place;
use kvik_sys::poll::{Events, Interest, Poller};
use kvik_sys::spawn::{reap, Child};
use kvik_sys::{signal, Errno, Result};

use crate::driver::Ready;
use crate::held::{self, Slot};
use crate::kept::Keeps;
use crate::{beside, pause, signals, table, tty};

/// What a descriptor in a poll set belongs to. With a number it makes the token.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Source {
    Input = 0,
    Output = 1,
    Child = 2,
    /// A program whose port is gone; the number is its process id.
    Orphan = 3,
    Signals = 4,
    /// One descriptor for both directions.
    Both = 5,
    /// A library has selected the descriptor, which is the number.
    Library = 6,
    /// It has to hear of events that it traces.
    Events = 7,
    /// A linked-in driver has events that it is to be called for.
    Driver = 8,
    /// Standard input, for `prim_tty`.
    Terminal = 9,
}

/// Hears of a library's descriptors: number, readable, writable, hung up.
type Library = fn(RawFd, bool, bool, bool);
static LIBRARY: OnceLock<Library> = OnceLock::new();
pub fn set_library(f: Library) {
    let _ = LIBRARY.set(f);
}

/// Bytes that one read can bring.
pub const BUFFER: usize = 64 * 1024;

struct Set {
    poller: Poller,
    /// Tokens that are ready without being told again: ordinary files, and input of which more is
    /// there than one turn takes.
    ready: Mutex<Vec<u64>>,
    ready_count: AtomicUsize,
    timers: Mutex<BinaryHeap<Reverse<Timer>>>,
    held: Slot,
    keeps: Keeps,
    /// The processor its scheduler ran on when it was served last.
    cpu: AtomicUsize,
    /// Programs that are to be heard of here, answer each write, and have not answered the last.
    owed: AtomicUsize,
    /// When the first timer fires, in nanoseconds of the monotonic clock; `i64::MAX` for never.
    first_timer: AtomicI64,
}

/// When, which port, and the driver's tag.
type Timer = (i64, u32, u64);

static SETS: OnceLock<Vec<Set>> = OnceLock::new();
static NEXT: AtomicUsize = AtomicUsize::new(0);
static ORPHANS: Mutex<Option<HashMap<i32, Child>>> = Mutex::new(None);

/// Makes the poll sets. The first call counts; without one there is one set.
pub fn init(schedulers: usize) -> Result<()> {
    if SETS.get().is_some() {
        return Ok(());
    }
    let sets = (0..schedulers.max(1))
        .map(|i| {
            Ok(Set {
                poller: Poller::new()?,
                ready: Mutex::default(),
                ready_count: AtomicUsize::new(0),
                timers: Mutex::default(),
                held: Slot::default(),
                keeps: Keeps::of(i),
                cpu: AtomicUsize::new(usize::MAX),
                owed: AtomicUsize::new(0),
                first_timer: AtomicI64::new(i64::MAX),
            })
        })
        .collect::<Result<Vec<_>>>()?;
    if let Ok(fd) = signal::event_fd() {
        let i = Interest { read: true, ..Interest::default() };
        sets[0].poller.add(fd, token(Source::Signals, 0), i)?;
    }
    let _ = SETS.set(sets);
    Ok(())
}

fn sets() -> &'static [Set] {
    if SETS.get().is_none() {
        let _ = init(1);
    }
    SETS.get().map_or(&[], |v| v)
}

fn set(i: usize) -> Option<&'static Set> {
    let all = sets();
    all.get(i % all.len().max(1))
}

/// What the scheduler of a set holds back.
pub(crate) fn held(scheduler: usize) -> Option<&'static Slot> {
    sets().get(scheduler).map(|s| &s.held)
}

/// The programs that the scheduler of a set keeps where it runs.
pub(crate) fn keeps(scheduler: usize) -> Option<&'static Keeps> {
    set(scheduler).map(|s| &s.keeps)
}

/// The set whose scheduler runs on a processor: `home`, if that does, or else the first.
pub(crate) fn on(cpu: usize, home: usize) -> Option<usize> {
    let is_there = |s: &Set| s.cpu.load(Ordering::Relaxed) == cpu;
    if set(home).is_some_and(is_there) {
        return Some(home);
    }
    sets().iter().position(is_there)
}

/// One program more of this set owes an answer, until this is dropped.
pub(crate) struct Owed(Option<&'static Set>);
impl Owed {
    pub fn to(home: usize) -> Owed {
        let s = set(home);
        if let Some(s) = s {
            s.owed.fetch_add(1, Ordering::Relaxed);
        }
        Owed(s)
    }
}
impl Drop for Owed {
    fn drop(&mut self) {
        if let Some(s) = self.0 {
            s.owed.fetch_sub(1, Ordering::Relaxed);
        }
    }
}
/// How many answers a set is owed now.
pub(crate) fn owed(home: usize) -> usize {
    set(home).map_or(0, |s| s.owed.load(Ordering::Relaxed))
}

/// What a poll set holds: how many descriptors, how many of them wait to be served, and how many
/// bytes it takes.
pub struct Size {
    pub descriptors: usize,
    pub ready: usize,
    pub memory: usize,
}
/// That of each.
pub fn sizes() -> Vec<Size> {
    let of = |s: &Set| Size {
        descriptors: s.poller.len(),
        ready: s.ready_count.load(Ordering::Relaxed),
        memory: size_of::<Set>(),
    };
    sets().iter().map(of).collect()
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
    for t in sets().iter().flat_map(|s| s.poller.tokens()) {
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

/// The poll set of a new port: each in turn, so that they are spread.
pub fn choose() -> usize {
    NEXT.fetch_add(1, Ordering::Relaxed) % sets().len().max(1)
}

pub fn token(source: Source, number: u32) -> u64 {
    (source as u64) << 32 | number as u64
}

/// Adds a descriptor. Answers whether it is always ready instead (an ordinary file); it is then
/// served at each turn until [`remove`].
pub fn add(home: usize, fd: RawFd, source: Source, number: u32, i: Interest) -> Result<bool> {
    let s = set(home).ok_or(Errno::INVAL)?;
    let t = token(source, number);
    match s.poller.add(fd, t, i) {
        Err(Errno::PERM) => {
            again(home, source, number);
            Ok(true)
        }
        r => r.map(|()| false),
    }
}

pub fn modify(home: usize, fd: RawFd, source: Source, number: u32, i: Interest) -> Result<()> {
    let s = set(home).ok_or(Errno::INVAL)?;
    s.poller.modify(fd, token(source, number), i)
}

pub fn remove(home: usize, fd: RawFd) {
    if let Some(s) = set(home) {
        let _ = s.poller.remove(fd);
    }
}

/// Has a port served again at the next turn.
pub fn again(home: usize, source: Source, number: u32) {
    if let Some(s) = set(home) {
        let mut v = s.ready.lock().unwrap_or_else(|e| e.into_inner());
        v.push(token(source, number));
        s.ready_count.store(v.len(), Ordering::Release);
        drop(v);
        s.poller.wake();
    }
}

/// A program that outlives its port: it is reaped when it ends.
pub fn orphan(home: usize, child: Child) {
    let (pid, fd) = (child.pid, child.pidfd.as_raw_fd());
    let i = Interest { read: true, ..Interest::default() };
    let mut all = ORPHANS.lock().unwrap_or_else(|e| e.into_inner());
    all.get_or_insert_default().insert(pid, child);
    drop(all);
    if modify(home, fd, Source::Orphan, pid as u32, i).is_err() {
        let _ = add(home, fd, Source::Orphan, pid as u32, i);
    }
}

/// Has a driver called with [`Ready::Timer`] after a time. There is no cancelling: a driver knows
/// which tags it still waits for.
pub fn set_timer(home: usize, number: u32, after: Duration, tag: u64) {
    let Some(s) = set(home) else { return };
    let after = i64::try_from(after.as_nanos()).unwrap_or(i64::MAX);
    let at = monotonic_nanos().saturating_add(after);
    let mut t = s.timers.lock().unwrap_or_else(|e| e.into_inner());
    t.push(Reverse((at, number, tag)));
    if s.first_timer.fetch_min(at, Ordering::AcqRel) > at {
        drop(t);
        s.poller.wake();
    }
}

/// The timers that are due.
fn due(s: &Set) -> Vec<Timer> {
    let first = s.first_timer.load(Ordering::Acquire);
    if first == i64::MAX || first > monotonic_nanos() {
        return Vec::new();
    }
    let now = monotonic_nanos();
    let mut t = s.timers.lock().unwrap_or_else(|e| e.into_inner());
    let mut out = Vec::new();
    while t.peek().is_some_and(|Reverse(t)| t.0 <= now) {
        out.extend(t.pop().map(|Reverse(t)| t));
    }
    let next = t.peek().map_or(i64::MAX, |Reverse(t)| t.0);
    s.first_timer.store(next, Ordering::Release);
    out
}

/// A wait cut at the first timer.
fn until_timer(s: &Set, timeout: Option<Duration>) -> Option<Duration> {
    let first = s.first_timer.load(Ordering::Acquire);
    if first == i64::MAX {
        return timeout;
    }
    let left = Duration::from_nanos(first.saturating_sub(monotonic_nanos()).max(0) as u64);
    Some(timeout.map_or(left, |t| t.min(left)))
}

/// Ends a scheduler's wait.
pub fn wake(scheduler: usize) {
    if let Some(s) = set(scheduler) {
        s.poller.wake();
    }
}

thread_local! {
    static ROOM: RefCell<(Box<Events>, Box<[u8]>)> =
        RefCell::new((Box::default(), vec![0; BUFFER].into_boxed_slice()));
}

/// How many poll sets there are: one for each scheduler.
pub fn count() -> usize {
    sets().len()
}

/// Calls it with room for one read, which is the thread's own where nobody has that.
pub(crate) fn with_buffer(f: impl FnOnce(&mut [u8])) {
    ROOM.with(|room| match room.try_borrow_mut() {
        Ok(mut room) => f(&mut room.1),
        Err(_) => f(&mut vec![0; BUFFER]),
    })
}

/// Serves a scheduler's poll set: waits for events at most this long (`None`: until one comes or
/// [`wake`] is called), calls `woken`, serves them, and answers how many there were.
pub fn check_io(scheduler: usize, timeout: Option<Duration>, woken: &mut dyn FnMut()) -> usize {
    let Some(s) = set(scheduler) else {
        woken();
        return 0;
    };
    held::write();
    let pending = s.ready_count.load(Ordering::Acquire) > 0;
    let timeout = if pending { Some(Duration::ZERO) } else { until_timer(s, timeout) };
    let served = ROOM.with_borrow_mut(|(events, buffer)| {
        let mut n = s.keeps.wait(&s.poller, events, timeout).unwrap_or(0);
        beside::heard(scheduler, n, timeout.is_none_or(|t| !t.is_zero()));
        s.cpu.store(place::cpu().unwrap_or(usize::MAX), Ordering::Relaxed);
        woken();
        for e in events.iter() {
            during(State::Port, || serve(scheduler, e.token, e.read, e.write, e.hangup, buffer));
        }
        for (_, number, tag) in due(s) {
            n += 1;
            if let Some(port) = table::get(number) {
                during(State::Port, || port.ready(Ready::Timer(tag), buffer));
            }
        }
        if pending {
            let mut v = s.ready.lock().unwrap_or_else(|e| e.into_inner());
            let tokens = std::mem::take(&mut *v);
            s.ready_count.store(0, Ordering::Release);
            drop(v);
            n += tokens.len();
            for t in tokens {
                during(State::Port, || serve(scheduler, t, true, true, false, buffer));
            }
        }
        n
    });
    pause::point(scheduler);
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
        3 => reap_orphan(home, number as i32),
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

fn reap_orphan(home: usize, pid: i32) {
    if reap(pid).is_some() {
        let mut all = ORPHANS.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(c) = all.as_mut().and_then(|m| m.remove(&pid)) {
            remove(home, c.pidfd.as_raw_fd());
        }
    }
}
