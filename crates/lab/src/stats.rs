//! Medians with their spread, and ratios computed pair by pair, of runs made one after the other.

use crate::experiments::{self, Better, Job, Subject};
use crate::peers::{Kind, LineUp};
use crate::rounds::Results;
use std::collections::BTreeMap;

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

/// One line of the report.
pub struct Row {
    pub id: String,
    pub label: String,
    pub subject: &'static Subject,
    /// For each peer of the line-up.
    pub cells: Vec<Cell>,
    /// kvik's ratio to OTP on one scheduler, and by default.
    pub single: Option<Ratio>,
    pub default: Option<Ratio>,
    /// By default to the program in C, where there is one.
    pub c: Option<Ratio>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    Value(Spread),
    Failed(String),
    NotRun,
}

pub struct Summary {
    pub peers: Vec<(&'static str, &'static str, Kind)>,
    pub rows: Vec<Row>,
    pub rounds: usize,
    pub seconds: f64,
}

impl Summary {
    pub fn of(line_up: &LineUp, jobs: &[Job], results: &Results) -> Summary {
        let mut rows: Vec<Row> = results
            .values
            .iter()
            .filter_map(|(id, cells)| row(line_up, jobs, results, id, cells))
            .collect();
        for (job, _) in results.faults.keys() {
            add_failed(&mut rows, line_up, jobs, results, job);
        }
        rows.sort_by_key(|r| order(&r.id));
        let peers = line_up.peers.iter().map(|p| (p.id, p.label, p.kind)).collect();
        Summary { peers, rows, rounds: results.rounds, seconds: results.seconds }
    }
    /// Is there anything to compare with C?
    pub fn beside_c(&self) -> bool {
        self.rows.iter().any(|row| row.c.is_some())
    }
    pub fn kvik_failed(&self) -> bool {
        self.rows.iter().any(|row| {
            let cells = row.cells.iter().zip(&self.peers);
            cells.into_iter().any(|(c, p)| p.2 == Kind::Kvik && matches!(c, Cell::Failed(_)))
        })
    }
}

/// Experiments in their own order, numbers as numbers.
fn order(id: &str) -> (usize, Vec<(String, u64)>) {
    let first = id.split('/').next().unwrap_or_default();
    let place = experiments::SUBJECTS.iter().position(|s| s.id == first).unwrap_or(usize::MAX);
    let rank = |p: &str| {
        ["ordinary", "raw", "read_ahead", "delayed_write"]
            .iter()
            .position(|h| *h == p)
            .map_or_else(|| p.to_owned(), |i| i.to_string())
    };
    (
        place,
        id.split('/')
            .map(|p| match p.parse() {
                Ok(n) => (String::new(), n),
                Err(_) => (rank(p), 0),
            })
            .collect(),
    )
}

fn row(
    line_up: &LineUp,
    jobs: &[Job],
    results: &Results,
    id: &str,
    values: &BTreeMap<usize, Vec<Option<f64>>>,
) -> Option<Row> {
    let subject = experiments::subject(id.split('/').next()?)?;
    let cells = (0..line_up.peers.len())
        .map(|peer| {
            let known: Vec<f64> =
                values.get(&peer).into_iter().flatten().flatten().copied().collect();
            match Spread::of(&known) {
                Some(spread) => Cell::Value(spread),
                None => fault_of(jobs, results, id, peer).map_or(Cell::NotRun, Cell::Failed),
            }
        })
        .collect();
    let ratio = |kind: Kind, single: bool| {
        let ours = line_up.position(Kind::Kvik, single)?;
        let theirs = line_up.position(kind, single)?;
        Ratio::of(values.get(&ours)?, values.get(&theirs)?, subject.better)
    };
    let label = experiments::label(id);
    Some(Row {
        id: id.to_owned(),
        label,
        subject,
        cells,
        single: ratio(Kind::Otp, true),
        default: ratio(Kind::Otp, false),
        c: ratio(Kind::C, false),
    })
}

fn fault_of(jobs: &[Job], results: &Results, id: &str, peer: usize) -> Option<String> {
    let job = jobs.iter().find(|j| fills(j, id))?;
    results.faults.get(&(job.name(), peer))?.first().cloned()
}

/// Whether that job is the one that gives that row.
fn fills(job: &Job, row: &str) -> bool {
    let (first, rest) = row.split_once('/').unwrap_or((row, ""));
    let experiment = if first == "spawn" { "ring" } else { first };
    experiment == job.experiment && (job.detail.is_empty() || job.detail == rest)
}

/// A row for a job that nobody finished: otherwise its failure would not be seen.
fn add_failed(rows: &mut Vec<Row>, line_up: &LineUp, jobs: &[Job], results: &Results, job: &str) {
    let Some(job) = jobs.iter().find(|j| j.name() == job) else { return };
    if rows.iter().any(|r| fills(job, &r.id)) {
        return;
    }
    let id = match job.detail.as_str() {
        "" => job.experiment.to_owned(),
        detail => format!("{}/{detail}", job.experiment),
    };
    rows.extend(row(line_up, jobs, results, &id, &BTreeMap::new()));
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

    #[test]
    fn rows_stand_in_order() {
        let mut ids = ["spawn/1000", "ring/1000", "files/a/raw/8", "ring/10", "oneway"];
        ids.sort_by_key(|id| order(id));
        assert_eq!(ids, ["oneway", "ring/10", "ring/1000", "spawn/1000", "files/a/raw/8"]);
    }
}
