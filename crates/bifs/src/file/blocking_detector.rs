//! Detects whether calls on a file block on its disk.
//!
//! A read from the page cache takes less time than a switch to another thread, and a write is a
//! copy into the page cache. But a read may miss the cache, and a write may be throttled until
//! earlier writes have reached the disk; neither is known before the call. So the first reads of
//! a file are cache-only (they fail instead of waiting for the disk). After enough hits in a row
//! reads are plain ones, because the check costs a tenth of a small read.
//!
//! After each call a coarse clock is read, which is almost free. If the last call on the file
//! ended long ago, this one may have waited for the disk or for a CPU, or may just have started
//! late. So the next calls are measured one by one (and reads are cache-only again). If one of
//! them was slow and its thread slept, the file's calls go to other threads for a while. Writes
//! also do so while the file is being synced and for a while afterwards.

use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::sync::OnceLock;

use kvik_env::clock;

/// Cache hits in a row before reads are no longer cache-only.
const CACHED_READS_TO_TRUST: u32 = 8;
/// In place of a number of reads: this file does not support cache-only reads.
const CANT_ASK: u32 = u32::MAX;
/// Number of calls that are measured one by one after a slow call.
const WATCHED_CALLS_AFTER_SLOW: u32 = 256;
/// How long (nanoseconds) calls go to other threads after a slow call.
const OFFLOAD_AFTER_SLOW_NS: i64 = 100_000_000;

pub struct BlockingDetector {
    /// Cache hits still needed until reads are no longer cache-only.
    to_prove: AtomicU32,
    /// Calls still to be measured one by one.
    watched: AtomicU32,
    /// Calls are expected to block until this time. 0: they are not.
    slow_until: AtomicI64,
    /// The same for writes alone.
    writes_slow_until: AtomicI64,
    /// When a call on a scheduler ended last.
    ended: AtomicI64,
}

impl BlockingDetector {
    pub fn new(regular: bool) -> BlockingDetector {
        let to_prove = if regular { CACHED_READS_TO_TRUST } else { CANT_ASK };
        BlockingDetector {
            to_prove: AtomicU32::new(to_prove),
            watched: AtomicU32::new(0),
            slow_until: AtomicI64::new(0),
            writes_slow_until: AtomicI64::new(0),
            ended: AtomicI64::new(clock::coarse_nanos()),
        }
    }
    /// Whether the next read should be cache-only.
    #[inline]
    pub fn asks(&self) -> bool {
        !matches!(self.to_prove.load(Ordering::Relaxed), 0 | CANT_ASK)
    }
    /// Records the outcome of a cache-only read: whether the file supports it, and whether it hit.
    pub fn asked(&self, can_ask: bool, in_memory: bool) {
        match self.to_prove.load(Ordering::Relaxed) {
            _ if !can_ask => self.to_prove.store(CANT_ASK, Ordering::Relaxed),
            0 | CANT_ASK => {}
            n if in_memory => self.to_prove.store(n - 1, Ordering::Relaxed),
            _ => self.ask_again(),
        }
    }
    fn ask_again(&self) {
        if self.to_prove.load(Ordering::Relaxed) != CANT_ASK {
            self.to_prove.store(CACHED_READS_TO_TRUST, Ordering::Relaxed);
        }
    }
    /// Whether calls are expected to block.
    #[inline]
    pub fn slow(&self) -> bool {
        ahead(&self.slow_until)
    }
    /// Whether writes are expected to block.
    pub fn writes_slow(&self) -> bool {
        self.slow() || ahead(&self.writes_slow_until)
    }
    /// Makes a call that syncs the file to disk. Writes are expected to block during the call, and
    /// for a while afterwards because a program that syncs once usually syncs again.
    pub fn syncing<R>(&self, call: impl FnOnce() -> R) -> R {
        self.writes_slow_until.store(i64::MAX, Ordering::Relaxed);
        let r = call();
        self.writes_slow_until
            .store(clock::coarse_nanos() + OFFLOAD_AFTER_SLOW_NS, Ordering::Relaxed);
        r
    }
    /// Makes a call on a scheduler, and starts measuring calls if this one may have been slow.
    #[inline]
    pub fn timed<R>(&self, call: impl FnOnce() -> R) -> R {
        let watched = self.watched.load(Ordering::Relaxed);
        if watched > 0 {
            self.watched.store(watched - 1, Ordering::Relaxed);
            return self.watched(call);
        }
        let r = call();
        let now = clock::coarse_nanos();
        if now - self.ended.load(Ordering::Relaxed) > long() {
            self.watch();
        }
        self.ended.store(now, Ordering::Relaxed);
        r
    }
    /// From now on measures calls one by one, and makes reads cache-only again.
    #[cold]
    fn watch(&self) {
        self.watched.store(WATCHED_CALLS_AFTER_SLOW, Ordering::Relaxed);
        self.ask_again();
    }
    /// Makes a call and measures it. If it was slow and the thread slept, later calls go elsewhere.
    pub fn watched<R>(&self, call: impl FnOnce() -> R) -> R {
        let sleeps = clock::thread_sleeps();
        let (r, long_until) = self.took(call);
        if let Some(now) = long_until.filter(|_| clock::thread_sleeps() > sleeps) {
            self.slow_until.store(now + OFFLOAD_AFTER_SLOW_NS, Ordering::Relaxed);
        }
        r
    }
    /// Makes a call. Also returns the time of its end if it was slow.
    fn took<R>(&self, call: impl FnOnce() -> R) -> (R, Option<i64>) {
        let before = clock::coarse_nanos();
        let r = call();
        let now = clock::coarse_nanos();
        self.ended.store(now, Ordering::Relaxed);
        if now - before <= long() {
            return (r, None);
        }
        self.watch();
        (r, Some(now))
    }
}

/// Whether the time is in the future. Resets it to 0 once it has passed.
#[inline]
fn ahead(until: &AtomicI64) -> bool {
    until.load(Ordering::Relaxed) != 0 && still_ahead(until)
}
#[cold]
fn still_ahead(until: &AtomicI64) -> bool {
    match until.load(Ordering::Relaxed) {
        i64::MAX => true,
        t if clock::coarse_nanos() < t => true,
        _ => {
            until.store(0, Ordering::Relaxed);
            false
        }
    }
}

/// A call that took longer (nanoseconds) was slow. At least two clock ticks, because one may pass
/// during a short call.
fn long() -> i64 {
    static LONG: OnceLock<i64> = OnceLock::new();
    *LONG.get_or_init(|| (2 * clock::tick_nanos()).max(5_000_000))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn asks_until_it_has_gone_well_for_a_while() {
        let pace = BlockingDetector::new(true);
        for _ in 0..CACHED_READS_TO_TRUST {
            assert!(pace.asks());
            pace.asked(true, true);
        }
        assert!(!pace.asks());
        pace.ask_again();
        pace.asked(true, true);
        pace.asked(true, false);
        assert_eq!(pace.to_prove.load(Ordering::Relaxed), CACHED_READS_TO_TRUST);
        pace.asked(false, true);
        pace.ask_again();
        assert!(!pace.asks());
    }

    #[test]
    fn is_slow_for_a_while_after_a_call_that_took_long() {
        let pace = BlockingDetector::new(true);
        pace.timed(|| ());
        assert!(!pace.slow());
        let busy = || {
            let end = clock::monotonic_nanos() + 3 * long();
            while clock::monotonic_nanos() < end {}
        };
        let sleep = || std::thread::sleep(Duration::from_nanos(3 * long() as u64));
        let sleeps = clock::thread_sleeps();
        pace.timed(busy);
        pace.timed(busy);
        // Stopping the whole process counts as a sleep.
        assert!(!pace.slow() || clock::thread_sleeps() > sleeps);
        assert!(pace.asks());
        let before = clock::coarse_nanos();
        pace.timed(sleep);
        // This thread may have been preempted since.
        assert!(pace.slow() || clock::coarse_nanos() - before >= OFFLOAD_AFTER_SLOW_NS);
        std::thread::sleep(Duration::from_nanos(OFFLOAD_AFTER_SLOW_NS as u64 + 2 * long() as u64));
        assert!(!pace.slow());
    }
}
