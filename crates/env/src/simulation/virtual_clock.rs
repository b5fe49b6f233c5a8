//! A clock that moves only when it is told to.
//!
//! A thread that waits for a time registers the time, then checks the clock once more. So an
//! advance either precedes that check, or finds the registration and wakes the thread.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::Thread;
use std::time::Duration;

/// A registered waiter.
enum Sleeper {
    Parked(Thread),
    Poller(Arc<kvik_sys::poll::Poller>),
}

impl Sleeper {
    fn wake(self) {
        match self {
            Sleeper::Parked(t) => t.unpark(),
            Sleeper::Poller(p) => p.wake(),
        }
    }
}

pub struct VirtualClock {
    stopped: AtomicBool,
    /// Nanoseconds of the monotonic clock and since 1970.
    now: AtomicI64,
    wall: AtomicI64,
    /// Sum of the jumps of the time of day, for either clock.
    jumps: AtomicI64,
    /// Waits begun so far.
    waits: AtomicUsize,
    sleepers: Mutex<Vec<(i64, Sleeper)>>,
    moved: Condvar,
}

/// How long a thread that waits for a condition sleeps before it checks the clock. The condition is
/// the caller's, so advancing the clock cannot signal it.
const LOOK: Duration = Duration::from_millis(1);

impl VirtualClock {
    pub(super) const fn new() -> VirtualClock {
        VirtualClock {
            stopped: AtomicBool::new(false),
            now: AtomicI64::new(0),
            wall: AtomicI64::new(0),
            jumps: AtomicI64::new(0),
            waits: AtomicUsize::new(0),
            sleepers: Mutex::new(Vec::new()),
            moved: Condvar::new(),
        }
    }
    fn sleepers(&self) -> MutexGuard<'_, Vec<(i64, Sleeper)>> {
        self.sleepers.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Stops time.
    pub fn stop(&self) {
        if !self.stopped.load(SeqCst) {
            self.now.store(kvik_sys::clock::monotonic_nanos(), SeqCst);
            self.wall.store(crate::clock::wall_nanos().saturating_sub(self.jumps()), SeqCst);
            self.stopped.store(true, SeqCst);
        }
    }
    /// Returns to the system's clock. All waiters check it.
    pub fn resume(&self) {
        self.stopped.store(false, SeqCst);
        self.wake(i64::MAX);
    }
    /// Advances time, and wakes the waiters whose time has come. False if the clock is not stopped.
    pub fn advance(&self, by: Duration) -> bool {
        if !self.stopped.load(SeqCst) {
            return false;
        }
        let by = i64::try_from(by.as_nanos()).unwrap_or(i64::MAX);
        let add = |clock: &AtomicI64| {
            let next = |t: i64| Some(t.saturating_add(by));
            clock.fetch_update(SeqCst, SeqCst, next).map_or_else(|t| t, |t| t.saturating_add(by))
        };
        add(&self.wall);
        self.wake(add(&self.now));
        true
    }
    fn wake(&self, now: i64) {
        let mut all = self.sleepers();
        let (due, later) = std::mem::take(&mut *all).into_iter().partition(|(at, _)| *at <= now);
        *all = later;
        self.moved.notify_all();
        drop(all);
        let due: Vec<(i64, Sleeper)> = due;
        due.into_iter().for_each(|(_, s)| s.wake());
    }

    pub(crate) fn monotonic(&self) -> Option<i64> {
        self.stopped.load(SeqCst).then(|| self.now.load(SeqCst))
    }
    pub(super) fn wall(&self) -> Option<i64> {
        self.stopped.load(SeqCst).then(|| self.wall.load(SeqCst))
    }
    pub(super) fn jumps(&self) -> i64 {
        self.jumps.load(SeqCst)
    }
    pub(super) fn jump(&self, nanos: i64) {
        self.jumps.fetch_add(nanos, SeqCst);
    }

    /// The moment when a wait ends.
    fn end(&self, time: Duration) -> Option<i64> {
        let nanos = i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
        let end = self.monotonic()?.saturating_add(nanos);
        self.waits.fetch_add(1, SeqCst);
        Some(end)
    }
    /// How many waits have begun: each of them ends by an advance that comes after this.
    pub fn waits(&self) -> usize {
        self.waits.load(SeqCst)
    }
    fn is_before(&self, end: i64) -> bool {
        self.monotonic().is_some_and(|now| now < end)
    }

    /// False if time is not stopped: there was no wait.
    pub(crate) fn sleep(&self, time: Duration) -> bool {
        let Some(end) = self.end(time) else { return false };
        let mut all = self.sleepers();
        while self.is_before(end) {
            all = self.moved.wait(all).unwrap_or_else(|e| e.into_inner());
        }
        true
    }
    /// `park_timeout`. May return early, as that may.
    pub(crate) fn park(&self, time: Duration) -> bool {
        let Some(end) = self.end(time) else { return false };
        let me = std::thread::current();
        let id = me.id();
        self.sleepers().push((end, Sleeper::Parked(me)));
        if self.is_before(end) {
            std::thread::park();
        }
        self.sleepers().retain(|(_, s)| !matches!(s, Sleeper::Parked(t) if t.id() == id));
        true
    }
    /// Waits for the condition until then. `Err`: time is not stopped.
    pub(crate) fn wait<'a, T>(
        &self,
        condition: &Condvar,
        guard: MutexGuard<'a, T>,
        time: Duration,
    ) -> Result<(MutexGuard<'a, T>, bool), MutexGuard<'a, T>> {
        let Some(end) = self.end(time) else { return Err(guard) };
        let mut guard = guard;
        while self.is_before(end) {
            let (g, r) = condition.wait_timeout(guard, LOOK).unwrap_or_else(|e| e.into_inner());
            guard = g;
            if !r.timed_out() {
                return Ok((guard, false));
            }
        }
        Ok((guard, true))
    }
    /// Calls `wait`, and ends it by the poller's `wake` when so much time has gone by. `None`: time
    /// is not stopped.
    pub(super) fn poll<R>(
        &self,
        poller: &Arc<kvik_sys::poll::Poller>,
        time: Duration,
        wait: impl FnOnce(Option<Duration>) -> R,
    ) -> Option<R> {
        let end = self.end(time)?;
        self.sleepers().push((end, Sleeper::Poller(poller.clone())));
        let r = wait(if self.is_before(end) { None } else { Some(Duration::ZERO) });
        let is_mine = |s: &Sleeper| matches!(s, Sleeper::Poller(p) if Arc::ptr_eq(p, poller));
        self.sleepers().retain(|(_, s)| !is_mine(s));
        Some(r)
    }
}
