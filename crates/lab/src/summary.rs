//! The results as rows: a cell for each peer, kvik's ratios to the others, and each peer's ratios
//! to itself.

use crate::experiments::{self, Better, Experiment, Job};
use crate::headline;
use crate::peers::{LineUp, Peer, PeerKind};
use crate::rounds::Results;
use crate::stats::{self, interval, Ratio, Spread};
use std::collections::BTreeMap;

/// One line of the report.
pub struct SummaryRow {
    pub id: String,
    pub label: String,
    pub subject: &'static Experiment,
    /// One for each peer of the line-up.
    pub cells: Vec<Cell>,
    /// kvik's ratio, for each of the summary's columns.
    pub ratios: Vec<Option<Ratio>>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    Value(Spread),
    Failed(String),
    NotRun,
}

/// What kvik is compared with: of several ways to run the same peer, the better one; of several
/// OTPs, that of the release kvik runs.
#[derive(PartialEq)]
pub struct Column {
    pub label: &'static str,
    kind: PeerKind,
    /// Restricts the column to one scheduler, for kvik too.
    single: Option<bool>,
}

const fn column(label: &'static str, kind: PeerKind) -> Column {
    Column { label, kind, single: None }
}

const COLUMNS: &[Column] = &[
    Column { single: Some(true), ..column("OTP, both +S 1", PeerKind::Otp) },
    Column { single: Some(false), ..column("OTP", PeerKind::Otp) },
    column("Go", PeerKind::Go),
    column("tokio", PeerKind::Tokio),
    column("Java virtual", PeerKind::JavaVirtual),
    column("Java threads", PeerKind::JavaThreads),
    column("C", PeerKind::C),
];

/// A peer's speed in one row as a multiple of its speed in another.
pub struct Itself {
    pub label: String,
    /// One for each peer of the line-up.
    pub cells: Vec<Option<Ratio>>,
}

pub struct Summary {
    /// Id, label and kind.
    pub peers: Vec<(String, String, PeerKind)>,
    pub columns: Vec<&'static Column>,
    pub headline: Vec<headline::HeadlineRow>,
    pub rows: Vec<SummaryRow>,
    pub itself: Vec<Itself>,
    pub rounds: usize,
    pub seconds: f64,
    /// Disturbed runs that counted, and all runs.
    pub disturbed: (usize, usize),
    pub interrupted: bool,
    pub faults: Vec<PeerFailure>,
}

/// A job that a peer failed at.
pub struct PeerFailure {
    pub name: String,
    pub why: String,
    kind: PeerKind,
}

impl Summary {
    pub fn of(line_up: &LineUp, jobs: &[Job], results: &Results) -> Summary {
        let mut rows: Vec<SummaryRow> = results
            .values
            .iter()
            .filter_map(|(id, cells)| row(line_up, jobs, results, id, cells))
            .collect();
        for (job, _) in results.faults.keys() {
            add_failed(&mut rows, line_up, jobs, results, job);
        }
        rows.sort_by_key(|r| order(&r.id));
        let used: Vec<usize> = (0..COLUMNS.len())
            .filter(|column| rows.iter().any(|row| row.ratios[*column].is_some()))
            .collect();
        for row in &mut rows {
            row.ratios = used.iter().map(|column| row.ratios[*column]).collect();
        }
        let columns: Vec<&Column> = used.iter().map(|column| &COLUMNS[*column]).collect();
        let runs = || results.runs.values().flatten();
        Summary {
            peers: line_up.peers.iter().map(|p| (p.id.clone(), p.label.clone(), p.kind)).collect(),
            headline: headline::of(line_up, results, &rows, &columns),
            columns,
            itself: itself(line_up, results, &rows),
            rows,
            rounds: results.rounds,
            seconds: results.seconds,
            disturbed: (runs().filter(|r| r.disturbed).count(), runs().count()),
            interrupted: results.interrupted,
            faults: results
                .faults
                .iter()
                .map(|(key, why)| fault(line_up, results, key, why))
                .collect(),
        }
    }
    pub fn kvik_failed(&self) -> bool {
        self.faults.iter().any(|f| f.kind == PeerKind::Kvik)
    }
    /// The peers with a value in any of these rows.
    pub fn present(&self, rows: &[&SummaryRow]) -> Vec<usize> {
        let some = |peer: &usize| rows.iter().any(|r| r.cells[*peer] != Cell::NotRun);
        (0..self.peers.len()).filter(some).collect()
    }
}

/// Reported even if other rounds succeeded: occasional failures count.
fn fault(
    line_up: &LineUp,
    results: &Results,
    key: &(String, usize),
    why: &[String],
) -> PeerFailure {
    let peer = &line_up.peers[key.1];
    let good = results.runs.get(key).map_or(0, Vec::len);
    let (bad, all) = (why.len(), why.len() + good);
    let times = if good > 0 { format!(", {bad} of {all} runs") } else { String::new() };
    PeerFailure {
        name: format!("{} on {}{times}", key.0, peer.label),
        why: why.first().cloned().unwrap_or_default(),
        kind: peer.kind,
    }
}

/// Sort key: experiments in their own order, numbers numerically.
fn order(id: &str) -> (usize, Vec<(String, u64)>) {
    let first = id.split('/').next().unwrap_or_default();
    let place = experiments::SUBJECTS.iter().position(|s| s.id == first).unwrap_or(usize::MAX);
    let rank = |p: &str| {
        ["ordinary", "raw", "read_ahead", "delayed_write"]
            .iter()
            .position(|h| *h == p)
            .map_or_else(|| p.to_owned(), |i| i.to_string())
    };
    let part = |p: &str| p.parse().map_or_else(|_| (rank(p), 0), |n| (String::new(), n));
    (place, id.split('/').map(part).collect())
}

pub type Values = BTreeMap<usize, Vec<Option<f64>>>;

fn row(
    line_up: &LineUp,
    jobs: &[Job],
    results: &Results,
    id: &str,
    values: &Values,
) -> Option<SummaryRow> {
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
    let ratios = COLUMNS.iter().map(|c| to_column(line_up, values, c, subject.better)).collect();
    Some(SummaryRow { id: id.to_owned(), label: experiments::label(id), subject, cells, ratios })
}

/// kvik's ratio to the best of a column's peers.
fn to_column(line_up: &LineUp, values: &Values, column: &Column, better: Better) -> Option<Ratio> {
    interval(&pairs(line_up, values, column, better)?)
}

/// kvik's ratio to the best of a column's peers, run by run. Of several OTPs, that of kvik's own
/// release counts.
pub fn pairs(
    line_up: &LineUp,
    values: &Values,
    column: &Column,
    better: Better,
) -> Option<Vec<f64>> {
    let ours = match column.single {
        Some(single) => line_up.position(PeerKind::Kvik, single)?,
        None => line_up
            .position(PeerKind::Kvik, false)
            .or_else(|| line_up.position(PeerKind::Kvik, true))?,
    };
    let release = &line_up.peers[ours].release;
    let same_release = |p: &Peer| p.kind == PeerKind::Otp && p.release == *release;
    let among_them = line_up.peers.iter().any(same_release);
    let theirs = line_up.peers.iter().enumerate().filter(|(_, p)| {
        p.kind.stands_for(column.kind)
            && column.single.is_none_or(|single| p.single == single)
            && (p.kind != PeerKind::Otp || !among_them || same_release(p))
    });
    let with = |(theirs, _): (usize, &_)| {
        let pairs = stats::pairs(values.get(&ours)?, values.get(&theirs)?, better);
        Some((Spread::of(&pairs)?.median, pairs))
    };
    let best = theirs.filter_map(with).min_by(|a, b| a.0.total_cmp(&b.0));
    best.map(|(_, pairs)| pairs)
}

/// How many times better one peer is than another in a row.
pub fn ratio(values: &Values, ours: usize, theirs: usize, better: Better) -> Option<Ratio> {
    Ratio::of(values.get(&ours)?, values.get(&theirs)?, better)
}

/// Comparisons within a peer: label, row, and the row it is a multiple of.
fn itself(line_up: &LineUp, results: &Results, rows: &[SummaryRow]) -> Vec<Itself> {
    let sizes = rows.iter().filter_map(|r| r.id.strip_prefix("ring/")?.parse::<u64>().ok());
    let most = sizes.max().unwrap_or(0);
    let number = |n: u64| experiments::grouped(&n.to_string());
    let pairs = [
        (
            "a call with 100,000 messages waiting : with none".to_owned(),
            "calls/100000".to_owned(),
            "calls/0",
        ),
        (
            "opening ports at the highest ulimit -n : at 1,024".to_owned(),
            "portopen/most".to_owned(),
            "portopen/1024",
        ),
        ("two pairs on two schedulers : one pair".to_owned(), "pairs/2".to_owned(), "pairs/1"),
        (
            format!("a message in a ring of {} : of 1,000", number(most)),
            format!("ring/{most}"),
            "ring/1000",
        ),
    ];
    let mut all: Vec<Itself> = pairs
        .into_iter()
        .filter(|(_, row, base)| row != base)
        .filter_map(|(label, row, base)| {
            let better = experiments::subject(base.split('/').next()?)?.better;
            let (row, base) = (results.values.get(&row)?, results.values.get(base)?);
            let within = |peer| Ratio::of(row.get(&peer)?, base.get(&peer)?, better);
            Some(Itself { label, cells: (0..line_up.peers.len()).map(within).collect() })
        })
        .collect();
    all.extend(schedulers(line_up, results));
    all.retain(|i| i.cells.iter().any(Option::is_some));
    all
}

/// Ping-pong on all schedulers relative to ping-pong on one.
fn schedulers(line_up: &LineUp, results: &Results) -> Option<Itself> {
    let values = results.values.get("pingpong")?;
    let cell = |(index, peer): (usize, &crate::peers::Peer)| {
        let single = line_up.position(peer.kind, true).filter(|_| !peer.single)?;
        ratio(values, index, single, Better::More)
    };
    let label = "ping-pong on all schedulers : on one".to_owned();
    Some(Itself { label, cells: line_up.peers.iter().enumerate().map(cell).collect() })
}

fn fault_of(jobs: &[Job], results: &Results, id: &str, peer: usize) -> Option<String> {
    let job = jobs.iter().find(|j| fills(j, id))?;
    results.faults.get(&(job.name(), peer))?.first().cloned()
}

/// Whether that job fills that row.
pub fn fills(job: &Job, row: &str) -> bool {
    let (first, rest) = row.split_once('/').unwrap_or((row, ""));
    let experiment = match first {
        "spawn" => "ring",
        "portcpu" => "pipes",
        "histogram" => "scheduling",
        "startmemory" => "start",
        name if name.starts_with("server") => "servers",
        _ => first,
    };
    let part = |detail: &str| match experiment {
        "files" => rest.contains(detail),
        "work" => rest.split('/').next() == Some(detail),
        "servers" => rest.strip_prefix(detail).is_some_and(|r| r.is_empty() || r.starts_with('/')),
        _ => rest == detail,
    };
    let plain = job.detail.is_empty() && !(experiment == "files" && rest.contains('+'));
    experiment == job.experiment && (plain || !job.detail.is_empty() && part(&job.detail))
}

/// Adds an empty row for a job that no peer completed, so that the failure is visible.
fn add_failed(
    rows: &mut Vec<SummaryRow>,
    line_up: &LineUp,
    jobs: &[Job],
    results: &Results,
    job: &str,
) {
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
pub mod tests {
    use super::*;
    use crate::options::LabOptions;

    pub fn line_up(peers: &[(PeerKind, bool)]) -> LineUp {
        let peer = |&(kind, single): &(PeerKind, bool)| Peer {
            id: "x".to_owned(),
            label: "x".to_owned(),
            kind,
            single,
            tool: "".into(),
            program: "".into(),
            flags: Vec::new(),
            env: Vec::new(),
            release: String::new(),
            beams: "".into(),
            version: String::new(),
        };
        LineUp { peers: peers.iter().map(peer).collect(), ..LineUp::default() }
    }

    pub fn results(rows: &[(&str, &[f64])]) -> Results {
        let mut results = Results { rounds: 1, ..Results::default() };
        for (row, values) in rows {
            let cells = values.iter().enumerate().map(|(peer, v)| (peer, vec![Some(*v)]));
            results.values.insert((*row).to_owned(), cells.collect());
        }
        results
    }

    fn medians(ratios: &[Option<Ratio>]) -> Vec<Option<f64>> {
        ratios.iter().map(|r| r.map(|r| r.median)).collect()
    }

    #[test]
    fn kvik_stands_beside_the_better_of_each_kind() {
        let line_up = line_up(&[
            (PeerKind::Kvik, false),
            (PeerKind::Otp, false),
            (PeerKind::Tokio, true),
            (PeerKind::Tokio, false),
        ]);
        let jobs = experiments::chosen(&LabOptions::default()).unwrap();
        let results = results(&[("pingpong", &[60.0, 10.0, 30.0, 20.0])]);
        let summary = Summary::of(&line_up, &jobs, &results);
        let labels: Vec<_> = summary.columns.iter().map(|c| c.label).collect();
        assert_eq!(labels, ["OTP", "tokio"]);
        assert_eq!(medians(&summary.rows[0].ratios), [Some(6.0), Some(2.0)]);
        assert_eq!(medians(&summary.itself[0].cells), [None, None, None, Some(20.0 / 30.0)]);
    }

    #[test]
    fn kvik_stands_beside_the_otp_of_its_release() {
        let kinds = [PeerKind::Kvik, PeerKind::Otp, PeerKind::Otp, PeerKind::Tokio];
        let mut line_up = line_up(&kinds.map(|kind| (kind, false)));
        let results = results(&[("pingpong", &[60.0, 10.0, 20.0, 30.0])]);
        for (own, ratio) in [("29", 6.0), ("25", 3.0), ("27", 3.0)] {
            for (peer, release) in line_up.peers.iter_mut().zip([own, "29", "25", ""]) {
                peer.release = release.to_owned();
            }
            let summary = Summary::of(&line_up, &[], &results);
            assert_eq!(medians(&summary.rows[0].ratios), [Some(ratio), Some(2.0)]);
        }
    }

    #[test]
    fn one_scheduler_stands_beside_one() {
        let line_up = line_up(&[
            (PeerKind::Kvik, true),
            (PeerKind::Otp, true),
            (PeerKind::Kvik, false),
            (PeerKind::Otp, false),
        ]);
        let results = results(&[("ring/1000", &[1.0, 5.0, 2.0, 6.0]), ("ring/10", &[1.0; 4])]);
        let summary = Summary::of(&line_up, &[], &results);
        assert_eq!(summary.rows[1].id, "ring/1000");
        assert_eq!(medians(&summary.rows[1].ratios), [Some(5.0), Some(3.0)]);
    }

    #[test]
    fn rows_are_compared_within_a_peer() {
        let line_up = line_up(&[(PeerKind::Kvik, false)]);
        let results = results(&[
            ("calls/0", &[100.0]),
            ("calls/100000", &[90.0]),
            ("ring/1000", &[0.2]),
            ("ring/1000000", &[0.4]),
        ]);
        let summary = Summary::of(&line_up, &[], &results);
        let found: Vec<_> = summary.itself.iter().map(|i| i.cells[0].map(|r| r.median)).collect();
        assert_eq!(found, [Some(0.9), Some(0.5)]);
    }

    #[test]
    fn a_job_that_all_failed_has_a_row() {
        let line_up = line_up(&[(PeerKind::Kvik, false)]);
        let jobs = experiments::chosen(&LabOptions::default()).unwrap();
        let mut results = results(&[]);
        results.faults.insert(("ring 10".to_owned(), 0), vec!["it broke".to_owned()]);
        let summary = Summary::of(&line_up, &jobs, &results);
        assert_eq!(summary.rows[0].id, "ring/10");
        assert!(summary.kvik_failed());
    }

    #[test]
    fn rows_stand_in_order() {
        let mut ids = ["spawn/1000", "ring/1000", "files/a/raw/8", "ring/10", "oneway"];
        ids.sort_by_key(|id| order(id));
        assert_eq!(ids, ["oneway", "ring/10", "ring/1000", "spawn/1000", "files/a/raw/8"]);
    }
}
