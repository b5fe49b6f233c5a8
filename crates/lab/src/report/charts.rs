//! The chart of each experiment: its data from the summary, and published figures.

use super::dots;
use super::svg::{bars, lines, Bar, ChartLine};
use crate::experiments::{Experiment, PUBLISHED, PUBLISHED_FILES, PUBLISHED_ONCE};
use crate::peers::{LineUp, Peer, PeerKind};
use crate::stats::{Ratio, Spread};
use crate::summary::{Cell, Summary, SummaryRow};
use std::fmt::Write;

fn values<'a>(
    summary: &'a Summary,
    row: &'a SummaryRow,
) -> impl Iterator<Item = (usize, Spread)> + 'a {
    let known = row.cells.iter().enumerate().take(summary.peers.len());
    known.filter_map(|(i, c)| match c {
        Cell::Value(spread) => Some((i, *spread)),
        _ => None,
    })
}

pub fn bar(summary: &Summary, subject: &Experiment, row: &SummaryRow) -> String {
    let shown: Vec<Bar> = values(summary, row)
        .map(|(i, spread)| Bar { peer: &summary.peers[i].0, label: &summary.peers[i].1, spread })
        .collect();
    bars(subject.title, subject.unit, &shown, &once(subject))
}

/// Figures published as a single number.
fn once(subject: &Experiment) -> Vec<(&'static str, f64)> {
    let of = PUBLISHED_ONCE.iter().filter(|p| p.0 == subject.id);
    of.map(|(_, label, value)| (*label, *value)).collect()
}

/// The histogram of kvik by default, or of kvik on one scheduler if only that ran.
pub fn histogram(summary: &Summary, subject: &Experiment, rows: &[&SummaryRow]) -> String {
    let ours = |id: &str| summary.peers.iter().position(|p| p.0 == id);
    let known = |peer: usize| (peer, points(summary, rows, peer));
    let shown = ["kvik", "kvik1"].into_iter().filter_map(ours).map(known);
    let Some((peer, buckets)) = shown.into_iter().find(|(_, b)| !b.is_empty()) else {
        return String::new();
    };
    let title = format!("{}, {}", subject.title, summary.peers[peer].1);
    dots::histogram(&title, subject.unit, &summary.peers[peer].0, &buckets, &once(subject))
}

/// Each row's ratio to OTP.
pub fn beside_otp(summary: &Summary, subject: &Experiment, rows: &[&SummaryRow]) -> String {
    let Some(column) = summary.columns.iter().position(|c| c.label == "OTP") else {
        return String::new();
    };
    let of = |row: &&'_ &SummaryRow| Some((row.label.clone(), row.ratios[column]?));
    let all: Vec<(String, Ratio)> = rows.iter().filter_map(|row| of(&row)).collect();
    let shown: Vec<(&str, Ratio)> = all.iter().map(|(label, r)| (label.as_str(), *r)).collect();
    format!(
        "<p class='caption'>kvik beside OTP: right of 1 is better</p>{}",
        dots::ratios(subject.title, &shown)
    )
}

fn number_of(id: &str) -> Option<f64> {
    id.rsplit('/').next()?.parse().ok()
}

pub fn line(summary: &Summary, subject: &Experiment, rows: &[&SummaryRow], what: &str) -> String {
    let mut series: Vec<ChartLine> = summary
        .peers
        .iter()
        .enumerate()
        .map(|(peer, (id, label, _))| ChartLine {
            class: format!("p-{id}"),
            label: label.clone(),
            points: points(summary, rows, peer),
        })
        .filter(|l| !l.points.is_empty())
        .collect();
    series.extend(then(subject, rows));
    lines(subject.title, what, subject.unit, &series)
}

/// Historical published figures, within the chart's range.
fn then(subject: &Experiment, rows: &[&SummaryRow]) -> Vec<ChartLine> {
    let numbers = || rows.iter().filter_map(|row| number_of(&row.id));
    let (low, high) = (numbers().fold(f64::MAX, f64::min), numbers().fold(0.0, f64::max));
    let of = |(id, label, values): &(&str, &str, &[(f64, f64)])| {
        let shown = values.iter().filter(|(n, _)| (low..=high).contains(n));
        let points: Vec<_> = shown.map(|&(n, v)| (n, exactly(v))).collect();
        (*id == subject.id && points.len() > 1).then(|| ChartLine {
            class: "p-then".to_owned(),
            label: (*label).to_owned(),
            points,
        })
    };
    PUBLISHED.iter().filter_map(of).collect()
}

pub fn points(summary: &Summary, rows: &[&SummaryRow], peer: usize) -> Vec<(f64, Spread)> {
    rows.iter()
        .filter_map(|row| {
            let x = number_of(&row.id)?;
            values(summary, row).find(|(i, _)| *i == peer).map(|(_, s)| (x, s))
        })
        .collect()
}

const PATTERNS: &[(&str, &str)] = &[
    ("sequential_read", "Sequential read"),
    ("sequential_write", "Sequential write"),
    ("random_read", "Random read"),
    ("random_write", "Random write"),
];

const HANDLES: [(&str, &str); 4] = [
    ("ordinary", "ordinary"),
    ("raw", "raw"),
    ("read_ahead", "buffered"),
    ("delayed_write", "buffered"),
];

/// The lines of a file chart: colour by peer, dash pattern by handle.
pub fn files(out: &mut String, line_up: &LineUp, summary: &Summary, rows: &[&SummaryRow]) {
    out.push_str("<div class='four'>");
    for (pattern, title) in PATTERNS {
        let mut series = Vec::new();
        // Four handles for each peer; peers on one scheduler are only in the table.
        let many = line_up.peers.iter().enumerate().filter(|(_, p)| !p.single);
        for (peer, Peer { id, label, .. }) in many {
            for (handle, name) in HANDLES {
                let points = of_handle(summary, rows, pattern, handle, peer);
                series.extend((!points.is_empty()).then(|| ChartLine {
                    class: format!("p-{id} h-{handle}"),
                    label: format!("{label} {name}"),
                    points,
                }));
            }
        }
        series.extend(files_then(line_up, summary, rows, pattern));
        let chart = lines(title, "block, KB", "MB/s", &series);
        let _ = write!(out, "<figure><figcaption>{title}</figcaption>{chart}</figure>");
    }
    out.push_str("</div>");
}

fn of_handle(
    summary: &Summary,
    rows: &[&SummaryRow],
    pattern: &str,
    handle: &str,
    peer: usize,
) -> Vec<(f64, Spread)> {
    let prefix = format!("files/{pattern}/{handle}/");
    let some: Vec<&SummaryRow> =
        rows.iter().filter(|r| r.id.starts_with(&prefix)).copied().collect();
    points(summary, &some, peer)
}

/// Published ratios of handles to C, scaled to C's speed here with stdio.
fn files_then(
    line_up: &LineUp,
    summary: &Summary,
    rows: &[&SummaryRow],
    pattern: &str,
) -> Vec<ChartLine> {
    let c = line_up.position(PeerKind::C, false);
    let c = c.map(|c| of_handle(summary, rows, pattern, "ordinary", c)).unwrap_or_default();
    let Some(published) = PUBLISHED_FILES.iter().find(|p| p.0 == pattern && !c.is_empty()) else {
        return Vec::new();
    };
    let line = |(name, percent): (&str, f64)| ChartLine {
        class: format!("p-then h-{name}"),
        label: format!("{name}, then"),
        points: c.iter().map(|(x, s)| (*x, exactly(s.median * 100.0 / percent))).collect(),
    };
    [("ordinary", published.1), ("raw", published.2)].map(line).into()
}

/// A figure without rounds.
fn exactly(value: f64) -> Spread {
    Spread { median: value, min: value, max: value, count: 1 }
}
