//! The poll sets, one for each scheduler. `event_loop.rs` serves their events.

use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use kvik_env::clock::monotonic_nanos;
use kvik_env::poll::{Interest, PollEvents, Poller};
use kvik_env::process::{reap, ChildProcess};
use kvik_env::{signal, Errno, Result};

/// The kind of owner of a descriptor in a poll set. With a number it makes the token.
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
    /// A port has trace events to get as a tracer.
    Events = 7,
    /// A linked-in driver has events that it is to be called for.
    Driver = 8,
    /// Standard input, for `prim_tty`.
    Terminal = 9,
}

/// The most bytes of one read.
pub const BUFFER: usize = 64 * 1024;

pub(crate) struct PollSet {
    pub poller: Poller,
    /// Tokens that are ready without a kernel event: ordinary files, and input with more data than
    /// one time slice reads.
    ready: Mutex<Vec<u64>>,
    ready_count: AtomicUsize,
    timers: Mutex<BinaryHeap<Reverse<Timer>>>,
    /// When the first timer fires, in nanoseconds of the monotonic clock; `i64::MAX` for never.
    first_timer: AtomicI64,
}

/// Deadline in nanoseconds, port, and the driver's tag.
type Timer = (i64, u32, u64);

kvik_state::vm_state! {
    static SETS: OnceLock<Vec<PollSet>> = OnceLock::new();
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    static ORPHANS: Mutex<Option<HashMap<i32, ChildProcess>>> = Mutex::new(None);
}

/// Makes the poll sets. The first call counts; without one there is one set.
pub fn init(schedulers: usize) -> Result<()> {
    if SETS.get().is_some() {
        return Ok(());
    }
    let sets = (0..schedulers.max(1))
        .map(|_| {
            Ok(PollSet {
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

fn sets() -> &'static [PollSet] {
    if SETS.get().is_none() {
        let _ = init(1);
    }
    SETS.get().map_or(&[], |v| v)
}

pub(crate) fn set(i: usize) -> Option<&'static PollSet> {
    let all = sets();
    all.get(i % all.len().max(1))
}

/// A poll set's size: its descriptors, how many tokens are ready, and its memory in bytes.
pub struct Size {
    pub descriptors: usize,
    pub ready: usize,
    pub memory: usize,
}
/// The size of each poll set.
pub fn sizes() -> Vec<Size> {
    let of = |s: &PollSet| Size {
        descriptors: s.poller.len(),
        ready: s.ready_count.load(Ordering::Relaxed),
        memory: size_of::<PollSet>(),
    };
    sets().iter().map(of).collect()
}

/// The tokens of all descriptors that the kernel watches.
pub fn tokens() -> impl Iterator<Item = u64> {
    sets().iter().flat_map(|s| s.poller.tokens())
}

/// Picks the poll set of a new port, round robin.
pub fn choose() -> usize {
    NEXT.fetch_add(1, Ordering::Relaxed) % sets().len().max(1)
}

pub fn token(source: Source, number: u32) -> u64 {
    (source as u64) << 32 | number as u64
}

/// Adds a descriptor. Returns true for one that is always ready (an ordinary file) and so not
/// added: its token is now ready once, and its driver calls [`again`] while it has more to do.
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

/// Makes a port's token ready again, for the next time slice.
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
pub fn orphan(home: usize, child: ChildProcess) {
    let (pid, fd) = (child.pid, child.pidfd.as_raw_fd());
    let i = Interest { read: true, ..Interest::default() };
    let mut all = ORPHANS.lock().unwrap_or_else(|e| e.into_inner());
    all.get_or_insert_default().insert(pid, child);
    drop(all);
    if modify(home, fd, Source::Orphan, pid as u32, i).is_err() {
        let _ = add(home, fd, Source::Orphan, pid as u32, i);
    }
}

/// Sets a timer, which calls a driver with [`Ready::Timer`]. It cannot be cancelled: a driver knows
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

impl PollSet {
    pub fn any_ready(&self) -> bool {
        self.ready_count.load(Ordering::Acquire) > 0
    }
    /// Takes the tokens that are ready without a kernel event.
    pub fn take_ready(&self) -> Vec<u64> {
        let mut v = self.ready.lock().unwrap_or_else(|e| e.into_inner());
        let tokens = std::mem::take(&mut *v);
        self.ready_count.store(0, Ordering::Release);
        tokens
    }
    /// Takes the timers that are due.
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
    /// The timeout, limited to the first timer.
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
    pub(crate) static BUFFERS: RefCell<(Box<PollEvents>, Box<[u8]>)> =
        RefCell::new((Box::default(), vec![0; BUFFER].into_boxed_slice()));
}

/// How many poll sets there are: one for each scheduler.
pub fn count() -> usize {
    sets().len()
}

/// Calls `f` with a read buffer: the thread's own, or a new one if that is in use.
pub(crate) fn with_buffer(f: impl FnOnce(&mut [u8])) {
    BUFFERS.with(|room| match room.try_borrow_mut() {
        Ok(mut room) => f(&mut room.1),
        Err(_) => f(&mut vec![0; BUFFER]),
    })
}

/// Reaps an ended program whose port is gone.
pub(crate) fn reap_orphan(home: usize, pid: i32) {
    if reap(pid).is_some() {
        let mut all = ORPHANS.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(c) = all.as_mut().and_then(|m| m.remove(&pid)) {
            remove(home, c.pidfd.as_raw_fd());
        }
    }
}
