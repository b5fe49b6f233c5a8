//! Tables as text, for the terminal and the Markdown report.

use crate::experiments::Job;
use crate::peers::LineUp;
use crate::rounds::{Results, Run};
use crate::stats::{Ratio, Spread};
use crate::summary::{Cell, Summary, SummaryRow};

/// The first line is the heading.
pub struct TextTable(pub Vec<Vec<String>>);

/// Medians alone, or with their ranges.
#[derive(Clone, Copy, PartialEq)]
pub enum Detail {
    Median,
    Spread,
}

pub fn text(summary: &Summary) -> String {
    let mut out = String::new();
    for rows in blocks(summary) {
        out.push_str(&figures(summary, &rows, Detail::Median).aligned(2));
        out.push('\n');
    }
    let mut part = |title: &str, table: TextTable| {
        if table.0.len() > 1 {
            out.push_str(&format!("{title}\n{}\n", table.aligned(1)));
        }
    };
    part("kvik's speed as a multiple of", ratios(summary, &all(summary), Detail::Median));
    part("a peer's speed as a multiple of its own", itself(summary, Detail::Median));
    part("in short, kvik's speed as a multiple of", headline(summary, Detail::Median));
    out.push_str(&format!(
        "{} rounds in {:.0} s. Medians; ratios are computed run by run; beside a peer that was run \
         in two ways kvik stands beside the better.\n",
        summary.rounds, summary.seconds
    ));
    if let Some(note) = disturbed(summary) {
        out.push_str(&format!("{note}\n"));
    }
    for fault in &summary.faults {
        out.push_str(&format!("failed: {}: {}\n", fault.name, fault.why));
    }
    out
}

pub fn disturbed(summary: &Summary) -> Option<String> {
    let (disturbed, all) = summary.disturbed;
    (disturbed > 0).then(|| {
        format!(
            "{disturbed} of {all} runs count although other programs took more than a tenth of a \
             core meanwhile."
        )
    })
}

pub fn all(summary: &Summary) -> Vec<&SummaryRow> {
    summary.rows.iter().collect()
}

/// Consecutive rows that the same peers have values for.
fn blocks(summary: &Summary) -> Vec<Vec<&SummaryRow>> {
    let mut blocks: Vec<Vec<&SummaryRow>> = Vec::new();
    for row in &summary.rows {
        // Threads are missing in large rings; that does not start a new table.
        let fits = blocks.last().is_some_and(|block| {
            let (here, before) = (summary.present(&[row]), summary.present(block));
            here.iter().all(|peer| before.contains(peer)) && here.len() * 2 > before.len()
        });
        match blocks.last_mut() {
            Some(block) if fits => block.push(row),
            _ => blocks.push(vec![row]),
        }
    }
    blocks
}

/// The measured values, for the peers that have any.
pub fn figures(summary: &Summary, rows: &[&SummaryRow], detail: Detail) -> TextTable {
    let peers = summary.present(rows);
    let mut heading = vec![String::new(), "unit".to_owned()];
    heading.extend(peers.iter().map(|p| summary.peers[*p].1.to_owned()));
    let line = |row: &&SummaryRow| {
        let mut line = vec![row.label.clone(), row.subject.unit.to_owned()];
        line.extend(peers.iter().map(|p| cell(&row.cells[*p], detail)));
        line
    };
    TextTable(std::iter::once(heading).chain(rows.iter().map(line)).collect())
}

/// kvik's ratios to the others.
pub fn ratios(summary: &Summary, rows: &[&SummaryRow], detail: Detail) -> TextTable {
    let mut heading = vec![String::new()];
    heading.extend(summary.columns.iter().map(|c| c.label.to_owned()));
    let known = rows.iter().filter(|r| r.ratios.iter().any(Option::is_some));
    let line = |row: &&SummaryRow| {
        let ratios = row.ratios.iter().map(|r| ratio(*r, detail));
        std::iter::once(row.label.clone()).chain(ratios).collect()
    };
    TextTable(std::iter::once(heading).chain(known.map(line)).collect())
}

/// The summary table.
pub fn headline(summary: &Summary, detail: Detail) -> TextTable {
    let mut heading = vec![String::new()];
    heading.extend(summary.columns.iter().map(|c| c.label.to_owned()));
    let line = |line: &crate::headline::HeadlineRow| {
        let ratios = line.ratios.iter().map(|r| ratio(*r, detail));
        std::iter::once(line.label.clone()).chain(ratios).collect()
    };
    TextTable(std::iter::once(heading).chain(summary.headline.iter().map(line)).collect())
}

/// Each peer's ratios to itself.
pub fn itself(summary: &Summary, detail: Detail) -> TextTable {
    let some = |peer: &usize| summary.itself.iter().any(|i| i.cells[*peer].is_some());
    let peers: Vec<usize> = (0..summary.peers.len()).filter(some).collect();
    let mut heading = vec![String::new()];
    heading.extend(peers.iter().map(|p| summary.peers[*p].1.to_owned()));
    let line = |i: &crate::summary::Itself| {
        let cells = peers.iter().map(|p| ratio(i.cells[*p], detail));
        std::iter::once(i.label.clone()).chain(cells).collect()
    };
    TextTable(std::iter::once(heading).chain(summary.itself.iter().map(line)).collect())
}

/// Resources used by the runs of some jobs: medians, and the highest memory.
pub fn usage(line_up: &LineUp, jobs: &[&Job], results: &Results) -> TextTable {
    let heading = ["", "peer", "time", "processor time", "memory", "context switches", "others"];
    let mut lines = vec![heading.map(str::to_owned).to_vec()];
    for job in jobs {
        for (index, peer) in line_up.peers.iter().enumerate() {
            if let Some(runs) = results.runs.get(&(job.name(), index)) {
                lines.push([vec![job.name(), peer.label.to_owned()], used(runs)].concat());
            }
        }
    }
    TextTable(lines)
}

fn used(runs: &[Run]) -> Vec<String> {
    let median = |of: fn(&Run) -> f64| {
        let values: Vec<f64> = runs.iter().map(of).collect();
        Spread::of(&values).map_or(0.0, |s| s.median)
    };
    let disturbed = runs.iter().filter(|r| r.disturbed).count();
    let mark = if disturbed > 0 { format!(" ({disturbed} disturbed)") } else { String::new() };
    vec![
        format!("{:.2} s", median(|r| r.wall_seconds)),
        format!("{:.2} s", median(|r| r.cpu_seconds)),
        format!("{:.0} MB", runs.iter().map(|r| r.peak_kb).max().unwrap_or(0) as f64 / 1024.0),
        number(median(|r| r.switches as f64)),
        format!("{:.2} cores{mark}", median(|r| r.outside_cores)),
    ]
}

fn cell(cell: &Cell, detail: Detail) -> String {
    match cell {
        Cell::Value(s) if detail == Detail::Spread => {
            format!("{} ({}–{})", number(s.median), number(s.min), number(s.max))
        }
        Cell::Value(s) => number(s.median),
        Cell::Failed(_) => "failed".to_owned(),
        Cell::NotRun => "–".to_owned(),
    }
}

fn ratio(ratio: Option<Ratio>, detail: Detail) -> String {
    match ratio {
        None => "–".to_owned(),
        Some(r) if detail == Detail::Spread => {
            format!("{:.2} ({:.2}–{:.2})", r.median, r.low, r.high)
        }
        Some(r) => format!("{:.2}", r.median),
    }
}

/// Formats with three or four significant digits.
pub fn number(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        v if v >= 1e6 => format!("{:.2} M", value / 1e6),
        v if v >= 10_000.0 => format!("{:.1} k", value / 1e3),
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

impl TextTable {
    /// Aligns the first columns left, figures right.
    pub fn aligned(&self, left: usize) -> String {
        let columns = self.0.iter().map(Vec::len).max().unwrap_or(0);
        let width =
            |c: usize| self.0.iter().filter_map(|l| l.get(c)).map(|s| s.chars().count()).max();
        let widths: Vec<usize> = (0..columns).map(|c| width(c).unwrap_or(0)).collect();
        let mut out = String::new();
        for line in &self.0 {
            let mut text = String::new();
            for (column, (value, width)) in line.iter().zip(&widths).enumerate() {
                let pad = " ".repeat(width - value.chars().count());
                match column < left {
                    true => text.push_str(&format!("{value}{pad}  ")),
                    false => text.push_str(&format!("{pad}{value}  ")),
                }
            }
            out.push_str(text.trim_end());
            out.push('\n');
        }
        out
    }

    pub fn markdown(&self) -> String {
        let mut out = String::new();
        for (i, line) in self.0.iter().enumerate() {
            let cells: Vec<String> = line.iter().map(|c| c.replace('|', "\\|")).collect();
            out.push_str(&format!("| {} |\n", cells.join(" | ")));
            if i == 0 {
                out.push_str(&format!("|---{}|\n", "|---:".repeat(line.len().saturating_sub(1))));
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(lines: &[[&str; 3]]) -> TextTable {
        TextTable(lines.iter().map(|l| l.map(str::to_owned).to_vec()).collect())
    }

    #[test]
    fn numbers_are_short() {
        let all = [18_400_000.0, 155_123.0, 2640.0, 89.27, 2.03, 0.2394].map(number);
        assert_eq!(all, ["18.40 M", "155.1 k", "2640", "89.3", "2.03", "0.239"]);
    }

    #[test]
    fn columns_line_up() {
        let table = table(&[["a", "u", "1"], ["bbb", "u", "222"]]);
        assert_eq!(table.aligned(2), "a    u    1\nbbb  u  222\n");
    }

    #[test]
    fn markdown_has_a_heading() {
        let table = table(&[["", "a", "b"], ["x|y", "1", "2"]]);
        assert_eq!(table.markdown(), "|  | a | b |\n|---|---:|---:|\n| x\\|y | 1 | 2 |\n");
    }

    #[test]
    fn usage_is_told_in_medians() {
        let run = |cpu_seconds, disturbed| Run {
            wall_seconds: 1.0,
            cpu_seconds,
            peak_kb: 2048,
            switches: 10,
            outside_cores: 0.5,
            disturbed,
            repeats: 0,
        };
        let words = used(&[run(1.0, false), run(3.0, true), run(2.0, false)]);
        assert_eq!(words, ["1.00 s", "2.00 s", "2 MB", "10.0", "0.50 cores (1 disturbed)"]);
    }
}
