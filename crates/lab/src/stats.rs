//! Medians with their spread, and ratios computed pair by pair from interleaved runs.

use crate::experiments::Better;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    pub median: f64,
    pub min: f64,
    pub max: f64,
    pub count: usize,
}

impl Spread {
    pub fn of(values: &[f64]) -> Option<Spread> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        Some(Spread { median: median(&sorted), min, max, count: sorted.len() })
    }
}

fn median(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    match sorted.len() % 2 {
        0 => (sorted[middle - 1] + sorted[middle]) / 2.0,
        _ => sorted[middle],
    }
}

/// How many times better kvik is than the other: above 1 is better, whatever the unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    pub median: f64,
    pub low: f64,
    pub high: f64,
    /// Number of rounds.
    pub rounds: usize,
}

/// Minimum rounds for a verdict; with fewer, their variation is unknown.
pub const TELLING: usize = 3;

impl Ratio {
    /// Better by more than the rounds vary.
    pub fn is_better(&self) -> bool {
        self.rounds >= TELLING && self.low > 1.0
    }
    pub fn is_worse(&self) -> bool {
        self.rounds >= TELLING && self.high < 1.0
    }
    pub fn of(ours: &[Option<f64>], theirs: &[Option<f64>], better: Better) -> Option<Ratio> {
        interval(&pairs(ours, theirs, better))
    }
}

/// Ratios run by run, for runs that both have.
pub fn pairs(ours: &[Option<f64>], theirs: &[Option<f64>], better: Better) -> Vec<f64> {
    if better == Better::Unrated {
        return Vec::new();
    }
    let pair = |(a, b): (&Option<f64>, &Option<f64>)| {
        let (a, b) = ((*a)?, (*b)?);
        Some(if better == Better::More { a / b } else { b / a })
    };
    ours.iter().zip(theirs).filter_map(pair).collect()
}

/// The geometric mean of the medians of several rows, each a list of pairs. Its interval is that of
/// the means of each round, over the rounds that all rows have.
pub fn geometric_mean(rows: &[Vec<f64>]) -> Option<Ratio> {
    let all: Option<Vec<Spread>> = rows.iter().map(|row| Spread::of(row)).collect();
    let medians: Vec<f64> = all?.iter().map(|s| s.median).collect();
    let mean =
        |values: &[f64]| (values.iter().map(|v| v.ln()).sum::<f64>() / values.len() as f64).exp();
    // Rows of a round are correlated (one disturbance slows several), so they are not resampled
    // independently.
    let rounds = rows.iter().map(Vec::len).min()?;
    let of_round = |i: usize| mean(&rows.iter().map(|row| row[i]).collect::<Vec<_>>());
    let Ratio { low, high, .. } = interval(&(0..rounds).map(of_round).collect::<Vec<_>>())?;
    let median = mean(&medians);
    Some(Ratio { median, low: low.min(median), high: high.max(median), rounds })
}

/// The median and its confidence interval.
pub fn interval(values: &[f64]) -> Option<Ratio> {
    let spread = Spread::of(values)?;
    let (low, high) = bootstrap(values);
    let (least, most) = by_order(values);
    let (low, high) = (low.min(least), high.max(most));
    Some(Ratio { median: spread.median, low, high, rounds: values.len() })
}

/// Distribution-free 95% confidence interval of the median from order statistics: the median is
/// below the lowest of `n` values with probability 2^-n. For fewer than nine values that is their
/// whole range (six: 97%, five: 94%, three: 75%), whose ends resampling alone leaves out.
fn by_order(values: &[f64]) -> (f64, f64) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    // Probability that exactly that many values are below the median.
    let (mut likely, mut outside, mut left_out) = (0.5f64.powi(n as i32), 0.0, 0);
    while outside + likely <= 0.025 && 2 * left_out < n {
        outside += likely;
        likely *= (n - left_out) as f64 / (left_out + 1) as f64;
        left_out += 1;
    }
    let first = left_out.saturating_sub(1);
    (sorted[first], sorted[n - 1 - first])
}

const DRAWS: usize = 2000;

/// Random draws of runs, from a fixed seed: the same data give the same interval.
struct Draw(u64);

impl Default for Draw {
    fn default() -> Draw {
        Draw(0x9e37_79b9_7f4a_7c15)
    }
}

impl Draw {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
    /// The median of a resample of the same size, drawn with replacement.
    fn median(&mut self, values: &[f64]) -> f64 {
        let mut drawn: Vec<f64> = values.iter().map(|_| values[self.below(values.len())]).collect();
        drawn.sort_by(f64::total_cmp);
        median(&drawn)
    }
}

/// The middle 95% of the medians of resamples.
fn bootstrap(values: &[f64]) -> (f64, f64) {
    let mut draw = Draw::default();
    let mut medians: Vec<f64> = (0..DRAWS).map(|_| draw.median(values)).collect();
    middle(&mut medians)
}

fn middle(values: &mut [f64]) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    (values[DRAWS / 40], values[DRAWS - 1 - DRAWS / 40])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(Spread::of(&[3.0, 1.0, 2.0]).unwrap().median, 2.0);
        assert_eq!(Spread::of(&[4.0, 1.0, 2.0, 3.0]).unwrap().median, 2.5);
        assert_eq!(Spread::of(&[]), None);
    }

    #[test]
    fn ratios_pair_rounds_and_know_what_is_better() {
        let ours = [Some(20.0), None, Some(40.0)];
        let theirs = [Some(10.0), Some(1.0), Some(10.0)];
        assert_eq!(Ratio::of(&ours, &theirs, Better::More).unwrap().median, 3.0);
        let less = Ratio::of(&theirs, &ours, Better::Less).unwrap();
        assert_eq!(less.median, 3.0);
        assert!(less.low <= less.median && less.median <= less.high);
        assert_eq!(Ratio::of(&[], &theirs, Better::More), None);
    }

    #[test]
    fn no_round_is_dropped_when_there_are_few() {
        let ends = |n: i32| {
            let values: Vec<f64> = (1..=n).map(f64::from).collect();
            by_order(&values)
        };
        assert_eq!(ends(1), (1.0, 1.0));
        assert_eq!([ends(3), ends(6), ends(8)], [(1.0, 3.0), (1.0, 6.0), (1.0, 8.0)]);
        assert_eq!([ends(9), ends(11), ends(12)], [(2.0, 8.0), (2.0, 10.0), (3.0, 10.0)]);
        let seven = interval(&[1.0, 2.0, 2.0, 2.0, 2.0, 2.0, 9.0]).unwrap();
        assert_eq!((seven.low, seven.median, seven.high), (1.0, 2.0, 9.0));
    }

    #[test]
    fn two_rounds_say_nothing() {
        let of = |values: &[f64]| interval(values).unwrap();
        assert!(of(&[2.0; 3]).is_better() && of(&[0.5; 3]).is_worse());
        assert!(!of(&[2.0; 2]).is_better() && !of(&[0.5; 1]).is_worse());
        assert!(!geometric_mean(&[vec![2.0; 5], vec![2.0; 2]]).unwrap().is_better());
    }

    #[test]
    fn means_are_geometric() {
        let mean = geometric_mean(&[vec![2.0, 2.0, 2.0], vec![8.0, 8.0, 8.0]]).unwrap();
        assert!((mean.median - 4.0).abs() < 1e-9 && (mean.low - 4.0).abs() < 1e-9);
        let wide = geometric_mean(&[vec![1.0, 2.0, 4.0], vec![2.0, 2.0, 2.0]]).unwrap();
        assert!(wide.low < wide.median && wide.median < wide.high);
        // Opposite variations cancel: the means of the rounds are constant.
        let steady = geometric_mean(&[vec![1.0, 2.0, 4.0], vec![4.0, 2.0, 1.0]]).unwrap();
        assert!((steady.low - 2.0).abs() < 1e-9 && (steady.high - 2.0).abs() < 1e-9);
        assert_eq!(geometric_mean(&[]), None);
        assert_eq!(geometric_mean(&[vec![1.0], vec![]]), None);
    }

    #[test]
    fn a_peer_twice_as_slow_shows_as_two() {
        let ours: Vec<_> = (0..7).map(|i| Some(100.0 + f64::from(i))).collect();
        let slow: Vec<_> = ours.iter().map(|v| v.map(|v| v / 2.0)).collect();
        let ratio = Ratio::of(&ours, &slow, Better::More).unwrap();
        assert!((ratio.median - 2.0).abs() < 1e-9 && (ratio.high - ratio.low).abs() < 1e-9);
    }
}
