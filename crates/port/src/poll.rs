//! The poll sets, one for each scheduler. `event_loop.rs` serves what they tell.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use kvik_env::clock::monotonic_nanos;
use kvik_env::poll::{Events, Interest, Poller};
use kvik_env::process::{reap, Child};
use kvik_env::{signal, Errno, Result};

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

/// Bytes that one read can bring.
pub const BUFFER: usize = 64 * 1024;

pub(crate) struct Set {
    pub poller: Poller,
    /// Tokens that are ready without being told again: ordinary files, and input of which more is
    /// there than one turn takes.
    ready: Mutex<Vec<u64>>,
    ready_count: AtomicUsize,
    timers: Mutex<BinaryHeap<Reverse<Timer>>>,
    /// When the first timer fires, in nanoseconds of the monotonic clock; `i64::MAX` for never.
    first_timer: AtomicI64,
}

/// When, which port, and the driver's tag.
type Timer = (i64, u32, u64);

kvik_state::vm_state! {
    static SETS: OnceLock<Vec<Set>> = OnceLock::new();
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    static ORPHANS: Mutex<Option<HashMap<i32, Child>>> = Mutex::new(None);
}

/// Makes the poll sets. The first call counts; without one there is one set.
pub fn init(schedulers: usize) -> Result<()> {
    if SETS.get().is_some() {
        return Ok(());
    }
    let sets = (0..schedulers.max(1))
        .map(|_| {
            Ok(Set {
                poller: Poller::new()?,
                ready: Mutex::default(),
                ready_count: AtomicUsize::new(0),
                timers: Mutex::default(),
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

pub(crate) fn set(i: usize) -> Option<&'static Set> {
    let all = sets();
    all.get(i % all.len().max(1))
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

/// The tokens of all descriptors that the kernel watches.
pub fn tokens() -> impl Iterator<Item = u64> {
    sets().iter().flat_map(|s| s.poller.tokens())
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

impl Set {
    pub fn any_ready(&self) -> bool {
        self.ready_count.load(Ordering::Acquire) > 0
    }
    /// The tokens that are ready without being told again.
    pub fn take_ready(&self) -> Vec<u64> {
        let mut v = self.ready.lock().unwrap_or_else(|e| e.into_inner());
        let tokens = std::mem::take(&mut *v);
        self.ready_count.store(0, Ordering::Release);
        tokens
    }
    /// The timers that are due.
    pub fn due(&self) -> Vec<Timer> {
        let first = self.first_timer.load(Ordering::Acquire);
        if first == i64::MAX || first > monotonic_nanos() {
            return Vec::new();
        }
        let now = monotonic_nanos();
        let mut t = self.timers.lock().unwrap_or_else(|e| e.into_inner());
        let mut out = Vec::new();
        while t.peek().is_some_and(|Reverse(t)| t.0 <= now) {
            out.extend(t.pop().map(|Reverse(t)| t));
        }
        let next = t.peek().map_or(i64::MAX, |Reverse(t)| t.0);
        self.first_timer.store(next, Ordering::Release);
        out
    }
    /// A wait cut at the first timer.
    pub fn until_timer(&self, timeout: Option<Duration>) -> Option<Duration> {
        let first = self.first_timer.load(Ordering::Acquire);
        if first == i64::MAX {
            return timeout;
        }
        let left = Duration::from_nanos(first.saturating_sub(monotonic_nanos()).max(0) as u64);
        Some(timeout.map_or(left, |t| t.min(left)))
    }
}

/// Ends a scheduler's wait.
pub fn wake(scheduler: usize) {
    if let Some(s) = set(scheduler) {
        s.poller.wake();
    }
}

thread_local! {
    pub(crate) static ROOM: RefCell<(Box<Events>, Box<[u8]>)> =
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

/// A program has ended whose port is gone.
pub(crate) fn reap_orphan(home: usize, pid: i32) {
    if reap(pid).is_some() {
        let mut all = ORPHANS.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(c) = all.as_mut().and_then(|m| m.remove(&pid)) {
            remove(home, c.pidfd.as_raw_fd());
        }
    }
}
