//! Histograms of durations: a bucket for each power of two in nanoseconds. They live in words that
//! one thread writes and any may read, also from another program (see [`super::metrics_page`]).

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The sum of all durations, and the buckets.
pub const WORDS: usize = 48;
const BUCKETS: usize = WORDS - 1;

/// Adds without an atomic read-modify-write: only for the one thread that writes the word.
#[inline]
pub(super) fn add(to: &AtomicU64, n: u64) {
    to.store(to.load(Relaxed).wrapping_add(n), Relaxed);
}

/// The bucket of a duration: 0 for no time at all; bucket `i` begins at 2^(i-1) ns. The last bucket
/// also holds all longer durations.
fn bucket(ns: u64) -> usize {
    ((u64::BITS - ns.leading_zeros()) as usize).min(BUCKETS - 1)
}
/// The shortest duration in a bucket.
fn least(bucket: usize) -> u64 {
    match bucket {
        0 => 0,
        i => 1 << (i - 1),
    }
}

/// Notes a duration that stands for `weight` of its kind.
pub(super) fn note(words: &[AtomicU64], ns: u64, weight: u64) {
    let [sum, buckets @ ..] = words else { return };
    add(sum, ns.saturating_mul(weight));
    if let Some(b) = buckets.get(bucket(ns)) {
        add(b, weight);
    }
}

/// A histogram read from the words of one, or the sum of several.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Histogram {
    /// The sum of all durations in nanoseconds.
    pub sum: u64,
    buckets: [u64; BUCKETS],
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram { sum: 0, buckets: [0; BUCKETS] }
    }
}

impl Histogram {
    /// From the words of a histogram.
    pub fn of(words: &[u64]) -> Histogram {
        let mut h = Histogram::default();
        if let [sum, buckets @ ..] = words {
            h.sum = *sum;
            h.buckets.iter_mut().zip(buckets).for_each(|(to, n)| *to = *n);
        }
        h
    }
    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }
    /// In nanoseconds; 0 if it is empty.
    pub fn average(&self) -> u64 {
        self.sum.checked_div(self.count()).unwrap_or(0)
    }
    fn with(&self, other: &Histogram, f: fn(u64, u64) -> u64) -> Histogram {
        let mut h = Histogram { sum: f(self.sum, other.sum), ..self.clone() };
        h.buckets.iter_mut().zip(other.buckets).for_each(|(to, n)| *to = f(*to, n));
        h
    }
    #[must_use]
    pub fn and(&self, other: &Histogram) -> Histogram {
        self.with(other, u64::saturating_add)
    }
    /// The difference from an earlier reading.
    #[must_use]
    pub fn since(&self, before: &Histogram) -> Histogram {
        self.with(before, u64::saturating_sub)
    }
    /// From the first non-empty bucket to the last: the shortest duration in it, the shortest of
    /// the next, the count.
    pub fn rows(&self) -> Vec<(u64, u64, u64)> {
        let some = |n: &u64| *n > 0;
        let Some(first) = self.buckets.iter().position(some) else { return Vec::new() };
        let last = self.buckets.iter().rposition(some).unwrap_or(first);
        let row = |(i, n): (usize, &u64)| (least(i), least(i + 1), *n);
        self.buckets.iter().enumerate().take(last + 1).skip(first).map(row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_go_to_the_power_of_two_below_them() {
        let words = [const { AtomicU64::new(0) }; WORDS];
        for (ns, weight) in [(0, 1), (1, 1), (2, 1), (3, 1), (4, 10), (u64::MAX, 1)] {
            note(&words, ns, weight);
        }
        let read: Vec<u64> = words.iter().map(|w| w.load(Relaxed)).collect();
        let h = Histogram::of(&read);
        let rows = h.rows();
        assert_eq!(rows[..4], [(0, 1, 1), (1, 2, 1), (2, 4, 2), (4, 8, 10)]);
        assert_eq!((rows.len(), h.count()), (BUCKETS, 15));
        assert_eq!(h.since(&h), Histogram::default());
        assert_eq!(h.and(&Histogram::default()), h);
        assert!(Histogram::of(&[]).rows().is_empty());
    }
}
