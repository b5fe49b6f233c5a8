//! The board: what the schedulers say of themselves, in words that each writes for itself with plain
//! stores and anybody may read at any time, other programs of the same user too (the file behind them
//! is sealed and has no name; see `kvik_env::shared`). Nobody is asked, stopped or woken for it.
//!
//! | words | |
//! |---|---|
//! | 0..64 | the head: [`Head`]; from 32 on what threads that are no schedulers ask of the system |
//! | for each scheduler 32 | counters: [`Count`]; the last 16 what it asks of the system |
//! | then 7 times 48 | histograms: [`Kind`]; the sum, then the buckets |

use std::array::from_fn;
use std::os::fd::OwnedFd;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Relaxed, Release},
};
use std::sync::OnceLock;

use kvik_sys::count::{self, What};
use kvik_sys::METERED;

use super::histogram::{self, Histogram};

/// The name that the file is shown under in `/proc/PID/fd`.
pub const NAME: &str = "kvik-meter-2";
const MAGIC: u64 = u64::from_le_bytes(*b"kvikmtr2");
const HEAD: usize = 64;
const COUNTS: usize = 32;
/// Where in the counters, and in the head, `kvik_sys::count` has its words.
const CALLS: usize = 16;
const OTHERS: usize = 32;
const PAGE: usize = COUNTS + KINDS.len() * histogram::WORDS;
/// More words than any board has.
pub const MOST_WORDS: usize = HEAD + 1024 * PAGE;

#[derive(Copy, Clone)]
enum Head {
    Magic = 0,
    Schedulers = 1,
    /// When the VM began, on the system's monotonic clock.
    Began = 2,
}

/// Counters of a scheduler. Times are in nanoseconds.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Count {
    /// Turns of processes.
    Switches = 0,
    Reductions = 1,
    /// Processes that it gave to others.
    Given = 2,
    /// Times it slept, and how many of these another thread ended.
    Sleeps = 3,
    Woken = 4,
    /// Times it looked at timers and asked the system for events without sleeping.
    Checks = 5,
    Slept = 6,
    /// Since when it sleeps, counted from when the VM began; 0 while it doesn't.
    Asleep = 7,
    Started = 8,
    /// Runnable processes that wait, when it last looked.
    Queued = 9,
}

/// Those that are shown, with their names.
const SHOWN: [(&str, Count); 6] = [
    ("switches", Count::Switches),
    ("reductions", Count::Reductions),
    ("given", Count::Given),
    ("sleeps", Count::Sleeps),
    ("woken", Count::Woken),
    ("checks", Count::Checks),
];

/// Bytes that were read and written, and those that came and went through ports.
const BYTES: [(&str, What); 4] = [
    ("read", What::ReadBytes),
    ("written", What::WrittenBytes),
    ("input", What::Input),
    ("output", What::Output),
];

/// Histograms of a scheduler. A round is what lies between the turns of two processes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Rounds in which it did not sleep.
    Round = 0,
    /// Rounds in which it slept: all of their time.
    Slept = 1,
    /// The same, less the time it slept.
    Awake = 2,
    /// How long a runnable process waited for its turn.
    Wait = 3,
    /// How long its turn was.
    Run = 4,
    /// Collections.
    Gc = 5,
    /// How long a message lay in the mailbox, from when it was sent until it was taken: of some.
    Mail = 6,
}

pub const KINDS: [Kind; 7] =
    [Kind::Round, Kind::Slept, Kind::Awake, Kind::Wait, Kind::Run, Kind::Gc, Kind::Mail];

/// What one scheduler writes to.
#[derive(Copy, Clone)]
pub(super) struct Page(&'static [AtomicU64]);

impl Page {
    /// This thread is the scheduler: what it asks of the system is counted here.
    pub fn begin(self) {
        count::here(calls(self.0, CALLS));
    }
    #[inline]
    pub fn set(self, c: Count, to: u64) {
        if let Some(w) = self.0.get(c as usize) {
            w.store(to, Relaxed);
        }
    }
    pub fn add(self, c: Count, n: u64) {
        if let Some(w) = self.0.get(c as usize).filter(|_| METERED) {
            histogram::add(w, n);
        }
    }
    /// Notes a duration that stands for `weight` of its kind.
    pub fn note(self, k: Kind, ns: u64, weight: u64) {
        if !METERED {
            return;
        }
        let from = COUNTS + k as usize * histogram::WORDS;
        histogram::note(self.0.get(from..from + histogram::WORDS).unwrap_or(&[]), ns, weight);
    }
}

struct Board {
    words: &'static [AtomicU64],
    /// Shows them to others; `None` where the system has no such files.
    _file: Option<OwnedFd>,
}
kvik_state::vm_state! {
    static BOARD: OnceLock<Board> = OnceLock::new();
}

/// Puts it up. The first call counts.
pub(super) fn put_up(schedulers: usize) {
    BOARD.get_or_init(|| {
        let n = HEAD + schedulers * PAGE;
        let name = std::ffi::CString::new(NAME).unwrap_or_default();
        let (words, file) = match kvik_env::shared::words(&name, n) {
            Ok((words, file)) => (words, Some(file)),
            Err(_) => (&*Vec::from_iter((0..n).map(|_| AtomicU64::new(0))).leak(), None),
        };
        let head = [
            (Head::Schedulers, schedulers as u64),
            (Head::Began, crate::clock::began()),
            (Head::Magic, MAGIC),
        ];
        for (at, to) in head {
            if let Some(w) = words.get(at as usize) {
                // Who sees the last of them has the others.
                w.store(to, Release);
            }
        }
        count::others(calls(words, OTHERS));
        Board { words, _file: file }
    });
}
/// What `kvik_sys::count` writes to, there.
fn calls(words: &[AtomicU64], from: usize) -> &[AtomicU64] {
    words.get(from..from + count::WORDS).unwrap_or(&[])
}
/// What that scheduler, from 0, writes to.
pub(super) fn page(id: usize) -> Page {
    let words = BOARD.get().map_or(&[][..], |b| b.words);
    let from = HEAD + id * PAGE;
    Page(words.get(from..from + PAGE).unwrap_or(&[]))
}

/// What was read of one scheduler, or of several together.
#[derive(Clone, Default, Debug)]
pub struct View {
    counts: [u64; COUNTS],
    calls: [u64; count::WORDS],
    histograms: [Histogram; KINDS.len()],
    /// Nanoseconds it has been there, and of these asleep.
    pub time: u64,
    pub asleep: u64,
}

impl View {
    /// Read at that time, counted from when the VM began.
    fn of(words: &[u64], now: u64) -> View {
        let mut v = View::default();
        v.counts.iter_mut().zip(words).for_each(|(to, n)| *to = *n);
        v.calls = calls_of(words, CALLS);
        v.time = match v.count(Count::Started) {
            0 => 0,
            then => now.saturating_sub(then),
        };
        let since = v.count(Count::Asleep);
        let sleeps = if since == 0 { 0 } else { now.saturating_sub(since) };
        v.asleep = v.count(Count::Slept).saturating_add(sleeps);
        let rest = words.get(COUNTS..).unwrap_or(&[]);
        let all = rest.chunks(histogram::WORDS).map(Histogram::of);
        v.histograms.iter_mut().zip(all).for_each(|(to, h)| *to = h);
        v
    }
    fn with(&self, other: &View, f: fn(u64, u64) -> u64, h: Join) -> View {
        let mut v = self.clone();
        v.calls = from_fn(|i| f(self.calls[i], other.calls[i]));
        v.counts.iter_mut().zip(other.counts).for_each(|(to, n)| *to = f(*to, n));
        v.histograms.iter_mut().zip(&other.histograms).for_each(|(to, n)| *to = h(to, n));
        (v.time, v.asleep) = (f(self.time, other.time), f(self.asleep, other.asleep));
        v
    }
    /// Both together.
    #[must_use]
    pub fn and(&self, other: &View) -> View {
        self.with(other, u64::saturating_add, Histogram::and)
    }
    /// What came since it was like that.
    #[must_use]
    pub fn since(&self, before: &View) -> View {
        self.with(before, u64::saturating_sub, Histogram::since)
    }
    pub fn count(&self, c: Count) -> u64 {
        self.counts.get(c as usize).copied().unwrap_or(0)
    }
    /// The counters that are shown, by name.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        SHOWN.into_iter().map(|(name, c)| (name, self.count(c)))
    }
    /// What was asked of the system; bytes.
    pub fn asked(&self, w: What) -> u64 {
        self.calls.get(w as usize).copied().unwrap_or(0)
    }
    /// System calls by kind, with their names.
    pub fn calls(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        count::CALLS.into_iter().map(|(name, w)| (name, self.asked(w)))
    }
    /// Counters of bytes, with their names.
    pub fn bytes(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        BYTES.into_iter().map(|(name, w)| (name, self.asked(w)))
    }
    pub fn histogram(&self, k: Kind) -> Histogram {
        self.histograms.get(k as usize).cloned().unwrap_or_default()
    }
    /// The time between the turns of two processes; with the time asleep in it, or without.
    pub fn schedule(&self, asleep: bool) -> Histogram {
        let slept = if asleep { Kind::Slept } else { Kind::Awake };
        self.histogram(Kind::Round).and(&self.histogram(slept))
    }
}
fn calls_of(words: &[u64], from: usize) -> [u64; count::WORDS] {
    from_fn(|i| words.get(from + i).copied().unwrap_or(0))
}
type Join = fn(&Histogram, &Histogram) -> Histogram;

/// What was read of a board.
#[derive(Clone, Default, Debug)]
pub struct Picture {
    pub schedulers: Vec<View>,
    /// What all other threads together have asked of the system; the rest of it is empty.
    pub others: View,
}

impl Picture {
    /// From the words of a board, read at that time of the system's monotonic clock. `None` where
    /// they are something else.
    pub fn of(words: &[u64], now: u64) -> Option<Picture> {
        let head = |h: Head| words.get(h as usize).copied();
        let n = usize::try_from(head(Head::Schedulers)?).ok()?;
        let pages = words.get(HEAD..).unwrap_or(&[]);
        if head(Head::Magic)? != MAGIC || pages.len() / PAGE < n {
            return None;
        }
        let now = now.saturating_sub(head(Head::Began)?);
        let schedulers = pages.chunks_exact(PAGE).take(n).map(|p| View::of(p, now)).collect();
        let others = View { calls: calls_of(words, OTHERS), ..View::default() };
        Some(Picture { schedulers, others })
    }
    /// All schedulers together, and with them what other threads asked of the system.
    pub fn all(&self) -> View {
        self.schedulers.iter().fold(self.others.clone(), |a, v| a.and(v))
    }
}
/// The board of this VM.
pub fn picture() -> Picture {
    let words = BOARD.get().map_or(&[][..], |b| b.words);
    let words: Vec<u64> = words.iter().map(|w| w.load(Relaxed)).collect();
    let now = kvik_env::clock::monotonic_nanos();
    Picture::of(&words, now.unsigned_abs()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_board_is_read_as_it_was_written() {
        let words = Vec::from_iter((0..HEAD + 2 * PAGE).map(|_| AtomicU64::new(0))).leak();
        words[Head::Magic as usize].store(MAGIC, Relaxed);
        words[Head::Schedulers as usize].store(2, Relaxed);
        let page = Page(&words[HEAD + PAGE..]);
        page.set(Count::Switches, 7);
        page.add(Count::Switches, 1);
        page.set(Count::Slept, 100);
        page.set(Count::Asleep, 50);
        page.note(Kind::Round, 20, 4);
        page.note(Kind::Slept, 1000, 1);
        page.note(Kind::Awake, 30, 1);
        words[OTHERS].store(5, Relaxed);
        words[HEAD + PAGE + CALLS].store(7, Relaxed);
        let read: Vec<u64> = words.iter().map(|w| w.load(Relaxed)).collect();
        let p = Picture::of(&read, 60).unwrap();
        let [a, b] = &p.schedulers[..] else { panic!("two schedulers") };
        assert_eq!((a.count(Count::Switches), b.count(Count::Switches)), (0, 8));
        assert_eq!((b.asleep, a.asleep, p.all().asleep), (110, 0, 110));
        assert_eq!((b.schedule(true).sum, b.schedule(false).sum), (1080, 110));
        assert_eq!((b.schedule(true).count(), b.schedule(false).count()), (5, 5));
        let polls = [a, b, &p.all()].map(|v| v.asked(What::Poll));
        assert_eq!(polls, [0, 7, 12]);
        assert!(Picture::of(&read[..HEAD + PAGE], 0).is_none());
        assert!(Picture::of(&[], 0).is_none() && Picture::of(&[1; 400], 0).is_none());
    }
}
