//! Medians with their spread, and ratios computed pair by pair, of runs made one after the other.

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
}

impl Ratio {
    pub fn of(ours: &[Option<f64>], theirs: &[Option<f64>], better: Better) -> Option<Ratio> {
        let pairs: Vec<f64> = ours
            .iter()
            .zip(theirs)
            .filter_map(|(a, b)| {
                let (a, b) = ((*a)?, (*b)?);
                Some(if better == Better::More { a / b } else { b / a })
            })
            .collect();
        let spread = Spread::of(&pairs)?;
        let (low, high) = bootstrap(&pairs);
        Some(Ratio { median: spread.median, low, high })
    }
}

/// The middle 95% of the medians of resampled pairs. The draw is fixed: the same data give the
/// same interval.
fn bootstrap(pairs: &[f64]) -> (f64, f64) {
    const DRAWS: usize = 2000;
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    let mut medians: Vec<f64> = (0..DRAWS)
        .map(|_| {
            let mut draw: Vec<f64> = pairs.iter().map(|_| pairs[next(pairs.len())]).collect();
            draw.sort_by(f64::total_cmp);
            median(&draw)
        })
        .collect();
    medians.sort_by(f64::total_cmp);
    (medians[DRAWS / 40], medians[DRAWS - 1 - DRAWS / 40])
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
    fn a_peer_twice_as_slow_shows_as_two() {
        let ours: Vec<_> = (0..7).map(|i| Some(100.0 + f64::from(i))).collect();
        let slow: Vec<_> = ours.iter().map(|v| v.map(|v| v / 2.0)).collect();
        let ratio = Ratio::of(&ours, &slow, Better::More).unwrap();
        assert!((ratio.median - 2.0).abs() < 1e-9 && (ratio.high - ratio.low).abs() < 1e-9);
    }
}
