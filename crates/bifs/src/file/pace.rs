//! Whether the calls on a file have to wait for its disk.
//!
//! What is in the page cache is read in less time than a switch to another thread takes, and a
//! write is a copy into the page cache; but a read may find nothing there, and a write may be held
//! up until others have reached the disk. Nobody tells before. So the first reads of a file ask
//! for what is in memory only; once that has gone well for a while, reads are made without asking
//! (asking costs a tenth of a small read).
//!
//! After each call a clock is read that costs next to nothing. Where the last call on the file has
//! ended long ago this one may have waited, for the disk or for a processor that others had, or just
//! have come late; so the next ones are looked at more closely (reads ask again), and if one was slow
//! and has slept, the file's calls go to other threads for a while. So do writes to a file that is
//! being synced, or was a moment ago.

use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};
use std::sync::OnceLock;

use kvik_env::clock;

/// So many reads in a row have to come from memory before one is made without asking.
const PROOF: u32 = 8;
/// Instead of a number of reads: this file can't be asked.
const CANT_ASK: u32 = u32::MAX;
/// After a call that took long so many are looked at closely.
const WATCH: u32 = 256;
/// Calls go to other threads for so long (nanoseconds) after one was slow.
const SLOW: i64 = 100_000_000;

pub struct Pace {
    /// Reads that have to come from memory yet.
    to_prove: AtomicU32,
    /// Calls to be looked at closely yet.
    watched: AtomicU32,
    /// Until then calls are expected to wait. 0: they are not.
    slow_until: AtomicI64,
    /// The same for writes alone.
    writes_slow_until: AtomicI64,
    /// When a call on a scheduler ended last.
    ended: AtomicI64,
}

impl Pace {
    pub fn new(regular: bool) -> Pace {
        let to_prove = if regular { PROOF } else { CANT_ASK };
        Pace {
            to_prove: AtomicU32::new(to_prove),
            watched: AtomicU32::new(0),
            slow_until: AtomicI64::new(0),
            writes_slow_until: AtomicI64::new(0),
            ended: AtomicI64::new(clock::coarse_nanos()),
        }
    }
    /// Should the next read ask for what is in memory only?
    #[inline]
    pub fn asks(&self) -> bool {
        !matches!(self.to_prove.load(Ordering::Relaxed), 0 | CANT_ASK)
    }
    /// A read has asked: could it, and was all in memory?
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
            self.to_prove.store(PROOF, Ordering::Relaxed);
        }
    }
    /// Are calls expected to wait?
    #[inline]
    pub fn slow(&self) -> bool {
        ahead(&self.slow_until)
    }
    /// Are writes expected to wait?
    pub fn writes_slow(&self) -> bool {
        self.slow() || ahead(&self.writes_slow_until)
    }
    /// Makes a call that has the file written to the disk. Who asks for that once will again, and
    /// what is written meanwhile may have to wait for it.
    pub fn syncing<R>(&self, call: impl FnOnce() -> R) -> R {
        self.writes_slow_until.store(i64::MAX, Ordering::Relaxed);
        let r = call();
        self.writes_slow_until.store(clock::coarse_nanos() + SLOW, Ordering::Relaxed);
        r
    }
    /// Makes a call on a scheduler, and takes note if it may have been slow.
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
    /// The next calls are to be looked at closely.
    #[cold]
    fn watch(&self) {
        self.watched.store(WATCH, Ordering::Relaxed);
        self.ask_again();
    }
    /// Looks closely at a call.
    pub fn watched<R>(&self, call: impl FnOnce() -> R) -> R {
        let sleeps = clock::thread_sleeps();
        let (r, long_until) = self.took(call);
        if let Some(now) = long_until.filter(|_| clock::thread_sleeps() > sleeps) {
            self.slow_until.store(now + SLOW, Ordering::Relaxed);
        }
        r
    }
    /// Makes a call. When it ended, if it took long.
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

/// Is that time still to come? Once it is not, it is 0.
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

/// A call that took longer was slow. Two ticks: a short call may see one pass.
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
        let pace = Pace::new(true);
        for _ in 0..PROOF {
            assert!(pace.asks());
            pace.asked(true, true);
        }
        assert!(!pace.asks());
        pace.ask_again();
        pace.asked(true, true);
        pace.asked(true, false);
        assert_eq!(pace.to_prove.load(Ordering::Relaxed), PROOF);
        pace.asked(false, true);
        pace.ask_again();
        assert!(!pace.asks());
    }

    #[test]
    fn is_slow_for_a_while_after_a_call_that_took_long() {
        let pace = Pace::new(true);
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
        // Who stops the whole program has it sleep.
        assert!(!pace.slow() || clock::thread_sleeps() > sleeps);
        assert!(pace.asks());
        let before = clock::coarse_nanos();
        pace.timed(sleep);
        // This thread may have been kept from running since.
        assert!(pace.slow() || clock::coarse_nanos() - before >= SLOW);
        std::thread::sleep(Duration::from_nanos(SLOW as u64 + 2 * long() as u64));
        assert!(!pace.slow());
    }
}
