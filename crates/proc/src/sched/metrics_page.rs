//! The metrics page: each scheduler's counters and histograms, in words that it alone writes, with
//! plain stores. Any thread may read them at any time, and so may other programs of the same user
//! (the file behind them is sealed and has no name; see `kvik_env::shared_memory`). Reading stops
//! and wakes no scheduler.
//!
//! | words | |
//! |---|---|
//! | 0..64 | the head: [`Head`]; from 32 on the system calls of threads that are no schedulers |
//! | for each scheduler 32 | counters: [`MetricsCounter`]; the last 16 count its system calls |
//! | then 7 times 48 | histograms: [`HistogramKind`]; the sum, then the buckets |

use std::array::from_fn;
use std::os::fd::OwnedFd;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Relaxed, Release},
};
use std::sync::OnceLock;

use kvik_sys::syscall_counters::{self, SyscallCounter};
use kvik_sys::METERED;

use super::histogram::{self, Histogram};

/// The name that the file is shown under in `/proc/PID/fd`.
pub const NAME: &str = "kvik-meter-2";
const MAGIC: u64 = u64::from_le_bytes(*b"kvikmtr2");
const HEAD: usize = 64;
const COUNTS: usize = 32;
/// Offset of the `kvik_sys::syscall_counters` words within the counters, and within the head.
const CALLS: usize = 16;
const OTHERS: usize = 32;
const PAGE: usize = COUNTS + KINDS.len() * histogram::WORDS;
/// Upper bound on the words of a metrics page.
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
pub enum MetricsCounter {
    /// Time slices of processes.
    Switches = 0,
    Reductions = 1,
    /// Processes given to other schedulers.
    Given = 2,
    /// Number of sleeps, and how many of these another thread ended.
    Sleeps = 3,
    Woken = 4,
    /// Checks of timers and events without sleeping.
    Checks = 5,
    Slept = 6,
    /// When the current sleep began, counted from the start of the VM; 0 while awake.
    Asleep = 7,
    Started = 8,
    /// Queued processes at the last check.
    Queued = 9,
}

/// Counters that are shown, with their names.
const SHOWN: [(&str, MetricsCounter); 6] = [
    ("switches", MetricsCounter::Switches),
    ("reductions", MetricsCounter::Reductions),
    ("given", MetricsCounter::Given),
    ("sleeps", MetricsCounter::Sleeps),
    ("woken", MetricsCounter::Woken),
    ("checks", MetricsCounter::Checks),
];

/// Bytes read and written, and bytes received and sent through ports.
const BYTES: [(&str, SyscallCounter); 4] = [
    ("read", SyscallCounter::ReadBytes),
    ("written", SyscallCounter::WrittenBytes),
    ("input", SyscallCounter::Input),
    ("output", SyscallCounter::Output),
];

/// Histograms of a scheduler. A round is the time between the time slices of two processes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum HistogramKind {
    /// Rounds without a sleep.
    Round = 0,
    /// Rounds with a sleep: all of their time.
    Slept = 1,
    /// The same, without the time asleep.
    Awake = 2,
    /// How long a runnable process waited for its time slice.
    Wait = 3,
    /// Length of time slices.
    Run = 4,
    /// Collections.
    Gc = 5,
    /// How long a message lay in the mailbox, from its sending until it was taken; sampled.
    Mail = 6,
}

pub const KINDS: [HistogramKind; 7] = [
    HistogramKind::Round,
    HistogramKind::Slept,
    HistogramKind::Awake,
    HistogramKind::Wait,
    HistogramKind::Run,
    HistogramKind::Gc,
    HistogramKind::Mail,
];

/// The part of the page that one scheduler writes.
#[derive(Copy, Clone)]
pub(super) struct Page(&'static [AtomicU64]);

impl Page {
    /// To be called on the scheduler's thread: its system calls are counted here from now on.
    pub fn begin(self) {
        syscall_counters::here(calls(self.0, CALLS));
    }
    #[inline]
    pub fn set(self, c: MetricsCounter, to: u64) {
        if let Some(w) = self.0.get(c as usize) {
            w.store(to, Relaxed);
        }
    }
    pub fn add(self, c: MetricsCounter, n: u64) {
        if let Some(w) = self.0.get(c as usize).filter(|_| METERED) {
            histogram::add(w, n);
        }
    }
    /// Notes a duration that stands for `weight` of its kind.
    pub fn note(self, k: HistogramKind, ns: u64, weight: u64) {
        if !METERED {
            return;
        }
        let from = COUNTS + k as usize * histogram::WORDS;
        histogram::note(self.0.get(from..from + histogram::WORDS).unwrap_or(&[]), ns, weight);
    }
}

struct MetricsPage {
    words: &'static [AtomicU64],
    /// Makes the words visible to other programs; `None` if the system has no such files.
    _file: Option<OwnedFd>,
}
kvik_state::vm_state! {
    static METRICS: OnceLock<MetricsPage> = OnceLock::new();
}

/// Creates the page. Later calls do nothing.
pub(super) fn publish(schedulers: usize) {
    METRICS.get_or_init(|| {
        let n = HEAD + schedulers * PAGE;
        let name = std::ffi::CString::new(NAME).unwrap_or_default();
        let (words, file) = match kvik_env::shared_memory::words(&name, n) {
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
                // The release store pairs with a reader's acquire: a reader that sees the last word
                // sees the others.
                w.store(to, Release);
            }
        }
        syscall_counters::others(calls(words, OTHERS));
        MetricsPage { words, _file: file }
    });
}
/// The words that `kvik_sys::syscall_counters` writes.
fn calls(words: &[AtomicU64], from: usize) -> &[AtomicU64] {
    words.get(from..from + syscall_counters::WORDS).unwrap_or(&[])
}
/// The part of the page that scheduler `id`, from 0, writes.
pub(super) fn page(id: usize) -> Page {
    let words = METRICS.get().map_or(&[][..], |b| b.words);
    let from = HEAD + id * PAGE;
    Page(words.get(from..from + PAGE).unwrap_or(&[]))
}

/// Metrics read from one scheduler, or the sum of several.
#[derive(Clone, Default, Debug)]
pub struct SchedulerMetrics {
    counts: [u64; COUNTS],
    calls: [u64; syscall_counters::WORDS],
    histograms: [Histogram; KINDS.len()],
    /// Nanoseconds since it started, and nanoseconds asleep.
    pub time: u64,
    pub asleep: u64,
}

impl SchedulerMetrics {
    /// From words read at `now`, counted from the start of the VM.
    fn of(words: &[u64], now: u64) -> SchedulerMetrics {
        let mut v = SchedulerMetrics::default();
        v.counts.iter_mut().zip(words).for_each(|(to, n)| *to = *n);
        v.calls = calls_of(words, CALLS);
        v.time = match v.count(MetricsCounter::Started) {
            0 => 0,
            then => now.saturating_sub(then),
        };
        let since = v.count(MetricsCounter::Asleep);
        let sleeps = if since == 0 { 0 } else { now.saturating_sub(since) };
        v.asleep = v.count(MetricsCounter::Slept).saturating_add(sleeps);
        let rest = words.get(COUNTS..).unwrap_or(&[]);
        let all = rest.chunks(histogram::WORDS).map(Histogram::of);
        v.histograms.iter_mut().zip(all).for_each(|(to, h)| *to = h);
        v
    }
    fn with(&self, other: &SchedulerMetrics, f: fn(u64, u64) -> u64, h: Join) -> SchedulerMetrics {
        let mut v = self.clone();
        v.calls = from_fn(|i| f(self.calls[i], other.calls[i]));
        v.counts.iter_mut().zip(other.counts).for_each(|(to, n)| *to = f(*to, n));
        v.histograms.iter_mut().zip(&other.histograms).for_each(|(to, n)| *to = h(to, n));
        (v.time, v.asleep) = (f(self.time, other.time), f(self.asleep, other.asleep));
        v
    }
    /// The sum of both.
    #[must_use]
    pub fn and(&self, other: &SchedulerMetrics) -> SchedulerMetrics {
        self.with(other, u64::saturating_add, Histogram::and)
    }
    /// The difference from an earlier reading.
    #[must_use]
    pub fn since(&self, before: &SchedulerMetrics) -> SchedulerMetrics {
        self.with(before, u64::saturating_sub, Histogram::since)
    }
    pub fn count(&self, c: MetricsCounter) -> u64 {
        self.counts.get(c as usize).copied().unwrap_or(0)
    }
    /// The counters that are shown, by name.
    pub fn counts(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        SHOWN.into_iter().map(|(name, c)| (name, self.count(c)))
    }
    /// One of the system call counters, in calls or bytes.
    pub fn asked(&self, w: SyscallCounter) -> u64 {
        self.calls.get(w as usize).copied().unwrap_or(0)
    }
    /// System calls by kind, with their names.
    pub fn calls(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        syscall_counters::CALLS.into_iter().map(|(name, w)| (name, self.asked(w)))
    }
    /// Counters of bytes, with their names.
    pub fn bytes(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        BYTES.into_iter().map(|(name, w)| (name, self.asked(w)))
    }
    pub fn histogram(&self, k: HistogramKind) -> Histogram {
        self.histograms.get(k as usize).cloned().unwrap_or_default()
    }
    /// The time between the time slices of two processes, including or excluding the time asleep.
    pub fn schedule(&self, asleep: bool) -> Histogram {
        let slept = if asleep { HistogramKind::Slept } else { HistogramKind::Awake };
        self.histogram(HistogramKind::Round).and(&self.histogram(slept))
    }
}
fn calls_of(words: &[u64], from: usize) -> [u64; syscall_counters::WORDS] {
    from_fn(|i| words.get(from + i).copied().unwrap_or(0))
}
type Join = fn(&Histogram, &Histogram) -> Histogram;

/// Metrics read from a metrics page.
#[derive(Clone, Default, Debug)]
pub struct Metrics {
    pub schedulers: Vec<SchedulerMetrics>,
    /// System calls of all other threads; the other fields are empty.
    pub others: SchedulerMetrics,
}

impl Metrics {
    /// Parses the words of a metrics page, read at `now` on the system's monotonic clock. `None` if
    /// they have another format.
    pub fn of(words: &[u64], now: u64) -> Option<Metrics> {
        let head = |h: Head| words.get(h as usize).copied();
        let n = usize::try_from(head(Head::Schedulers)?).ok()?;
        let pages = words.get(HEAD..).unwrap_or(&[]);
        if head(Head::Magic)? != MAGIC || pages.len() / PAGE < n {
            return None;
        }
        let now = now.saturating_sub(head(Head::Began)?);
        let schedulers =
            pages.chunks_exact(PAGE).take(n).map(|p| SchedulerMetrics::of(p, now)).collect();
        let others =
            SchedulerMetrics { calls: calls_of(words, OTHERS), ..SchedulerMetrics::default() };
        Some(Metrics { schedulers, others })
    }
    /// The sum of all schedulers, including the system calls of other threads.
    pub fn all(&self) -> SchedulerMetrics {
        self.schedulers.iter().fold(self.others.clone(), |a, v| a.and(v))
    }
}
/// The metrics page of this VM.
pub fn read() -> Metrics {
    let words = METRICS.get().map_or(&[][..], |b| b.words);
    let words: Vec<u64> = words.iter().map(|w| w.load(Relaxed)).collect();
    let now = kvik_env::clock::monotonic_nanos();
    Metrics::of(&words, now.unsigned_abs()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_read_as_written() {
        let words = Vec::from_iter((0..HEAD + 2 * PAGE).map(|_| AtomicU64::new(0))).leak();
        words[Head::Magic as usize].store(MAGIC, Relaxed);
        words[Head::Schedulers as usize].store(2, Relaxed);
        let page = Page(&words[HEAD + PAGE..]);
        page.set(MetricsCounter::Switches, 7);
        page.add(MetricsCounter::Switches, 1);
        page.set(MetricsCounter::Slept, 100);
        page.set(MetricsCounter::Asleep, 50);
        page.note(HistogramKind::Round, 20, 4);
        page.note(HistogramKind::Slept, 1000, 1);
        page.note(HistogramKind::Awake, 30, 1);
        words[OTHERS].store(5, Relaxed);
        words[HEAD + PAGE + CALLS].store(7, Relaxed);
        let read: Vec<u64> = words.iter().map(|w| w.load(Relaxed)).collect();
        let p = Metrics::of(&read, 60).unwrap();
        let [a, b] = &p.schedulers[..] else { panic!("two schedulers") };
        assert_eq!((a.count(MetricsCounter::Switches), b.count(MetricsCounter::Switches)), (0, 8));
        assert_eq!((b.asleep, a.asleep, p.all().asleep), (110, 0, 110));
        assert_eq!((b.schedule(true).sum, b.schedule(false).sum), (1080, 110));
        assert_eq!((b.schedule(true).count(), b.schedule(false).count()), (5, 5));
        let polls = [a, b, &p.all()].map(|v| v.asked(SyscallCounter::Poll));
        assert_eq!(polls, [0, 7, 12]);
        assert!(Metrics::of(&read[..HEAD + PAGE], 0).is_none());
        assert!(Metrics::of(&[], 0).is_none() && Metrics::of(&[1; 400], 0).is_none());
    }
}
