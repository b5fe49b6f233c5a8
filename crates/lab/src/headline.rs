//! The summary table: a line for each of kvik's goals, with kvik's ratio to each of the others. A
//! line that covers several rows shows their geometric mean.

use crate::peers::LineUp;
use crate::rounds::Results;
use crate::stats::{geometric_mean, Ratio};
use crate::summary::{pairs, Column, SummaryRow};

pub struct HeadlineRow {
    pub label: String,
    /// Number of rows covered, in the column that has most.
    pub rows: usize,
    /// One for each of the summary's columns.
    pub ratios: Vec<Option<Ratio>>,
}

/// A line's title, and the rows it covers: id parts, with `*` as a wildcard. `MOST` selects, among
/// rows that differ by a number, the one with the highest.
const LINES: &[(&str, &[&str])] = &[
    ("one-way messages", &["oneway"]),
    ("ping-pong", &["pingpong"]),
    ("a message in a ring of 1,000 processes", &["ring/1000"]),
    ("a message in the largest ring", &["ring/MOST"]),
    ("starting a process, of 1,000", &["spawn/1000"]),
    ("memory of a process that waits", &["memory"]),
    ("gen_server:call", &["calls/0"]),
    ("lines through 80 ports", &["pipes"]),
    ("lines through one port", &["oneport"]),
    ("raw files", &["files/*/raw/*"]),
    ("raw files with a buffer", &["files/*/read_ahead/*", "files/*/delayed_write/*"]),
    ("ordinary files", &["files/*/ordinary/*"]),
    ("switching between processes", &["scheduling"]),
    ("start and halt", &["start"]),
    ("memory for start and halt", &["startmemory"]),
    ("loading stdlib", &["loading"]),
    ("small programs", &["work/*/*"]),
    ("whole programs", &["programs/*", "compile"]),
];

pub fn of(
    line_up: &LineUp,
    results: &Results,
    rows: &[SummaryRow],
    columns: &[&Column],
) -> Vec<HeadlineRow> {
    LINES.iter().filter_map(|line| one(line_up, results, rows, columns, line)).collect()
}

fn one(
    line_up: &LineUp,
    results: &Results,
    rows: &[SummaryRow],
    columns: &[&Column],
    (label, patterns): &(&str, &[&str]),
) -> Option<HeadlineRow> {
    let meant: Vec<&SummaryRow> = patterns.iter().flat_map(|p| matching(rows, p)).collect();
    let of_column = |column: &&Column| -> Vec<Vec<f64>> {
        let pairs_of = |row: &&SummaryRow| {
            pairs(line_up, results.values.get(&row.id)?, column, row.subject.better)
        };
        meant.iter().filter_map(pairs_of).collect()
    };
    let known: Vec<Vec<Vec<f64>>> = columns.iter().map(of_column).collect();
    let rows = known.iter().map(Vec::len).max().filter(|n| *n > 0)?;
    let label = match rows {
        1 => (*label).to_owned(),
        n => format!("{label} ({n})"),
    };
    Some(HeadlineRow {
        label,
        rows,
        ratios: known.iter().map(|rows| geometric_mean(rows)).collect(),
    })
}

fn matching<'a>(rows: &'a [SummaryRow], pattern: &str) -> Vec<&'a SummaryRow> {
    if let Some(front) = pattern.strip_suffix("MOST") {
        let number = |row: &&SummaryRow| row.id.strip_prefix(front)?.parse::<u64>().ok();
        let with = rows.iter().filter_map(|row| Some((number(&row)?, row)));
        return with.max_by_key(|(n, _)| *n).map(|(_, row)| row).into_iter().collect();
    }
    let parts: Vec<&str> = pattern.split('/').collect();
    let fits = |row: &&SummaryRow| {
        let own: Vec<&str> = row.id.split('/').collect();
        own.len() == parts.len() && own.iter().zip(&parts).all(|(o, p)| *p == "*" || o == p)
    };
    rows.iter().filter(fits).collect()
}

#[cfg(test)]
mod tests {
    use crate::peers::PeerKind;
    use crate::summary::tests::{line_up, results};
    use crate::summary::Summary;

    #[test]
    fn a_line_is_the_mean_of_its_rows() {
        let line_up = line_up(&[(PeerKind::Kvik, false), (PeerKind::Otp, false)]);
        let results = results(&[
            ("files/random_read/raw/1", &[8.0, 1.0]),
            ("files/random_read/raw/64", &[2.0, 1.0]),
            ("ring/1000", &[1.0, 5.0]),
            ("ring/20", &[1.0, 7.0]),
            ("work/lists/sort", &[3.0, 1.0]),
        ]);
        let summary = Summary::of(&line_up, &[], &results);
        let found: Vec<(&str, f64)> = summary
            .headline
            .iter()
            .map(|l| (l.label.as_str(), l.ratios[0].unwrap().median))
            .collect();
        let expected = [
            ("a message in a ring of 1,000 processes", 5.0),
            ("a message in the largest ring", 5.0),
            ("raw files (2)", 4.0),
            ("small programs", 3.0),
        ];
        assert_eq!(found.len(), expected.len());
        for ((label, value), (name, wanted)) in found.iter().zip(expected) {
            assert!(*label == name && (value - wanted).abs() < 1e-9, "{found:?}");
        }
    }
}
