//! The report as Markdown: the same tables, for places that cannot show HTML.

use super::Report;
use crate::compare::Comparison;
use crate::experiments::SUBJECTS;
use crate::peers::PeerKind;
use crate::summary::SummaryRow;
use crate::table::{self, Detail, TextTable};
use std::fmt::Write;

pub fn page(report: &Report, changes: Option<&Comparison>) -> String {
    let summary = report.summary;
    let mut out = String::from("# kvik bench\n\n");
    let _ = writeln!(out, "{}\n", super::lead(report));
    let headline = table::headline(summary, Detail::Spread);
    part(&mut out, "kvik's speed as a multiple of others'", &headline);
    part(
        &mut out,
        "A peer's speed as a multiple of its own",
        &table::itself(summary, Detail::Spread),
    );
    if let Some(changes) = changes {
        part(&mut out, "What changed", &changes.table());
        let notes: String = changes.notes.iter().map(|note| format!("- {note}\n")).collect();
        let _ = writeln!(out, "{}\n\n{notes}", changes.sentence());
    }
    for subject in SUBJECTS {
        let rows: Vec<&SummaryRow> =
            summary.rows.iter().filter(|r| r.subject.id == subject.id).collect();
        if rows.is_empty() {
            continue;
        }
        let _ = writeln!(out, "## {}\n\n{}\n", subject.title, subject.question);
        let _ = writeln!(out, "{}", table::figures(summary, &rows, Detail::Spread).markdown());
        let ratios = table::ratios(summary, &rows, Detail::Spread);
        part(&mut out, "kvik's speed as a multiple of others'", &ratios);
        let jobs = report.jobs_of(subject.id);
        part(&mut out, "What the runs used", &table::usage(report.line_up, &jobs, report.results));
    }
    failures(&mut out, report);
    for note in &report.results.notes {
        let _ = writeln!(out, "- note: {note}");
    }
    let _ = writeln!(out, "## How this was measured\n\n{}\n", super::machine(report));
    for peer in &report.line_up.peers {
        let ours = if peer.kind == PeerKind::Kvik { " (ours)" } else { "" };
        let _ = writeln!(out, "- {}{ours}: `{}`, {}", peer.label, peer.line(), peer.version);
    }
    for missing in report.missing() {
        let _ = writeln!(out, "- missing: {missing}");
    }
    let _ = writeln!(out, "\nEach run again:\n\n```");
    for ((job, peer), command) in &report.results.commands {
        let _ = writeln!(out, "# {job} on {}\n{command}", report.line_up.peers[*peer].label);
    }
    out.push_str("```\n");
    out
}

fn part(out: &mut String, title: &str, table: &TextTable) {
    if table.0.len() > 1 {
        let _ = writeln!(out, "### {title}\n\n{}", table.markdown());
    }
}

fn failures(out: &mut String, report: &Report) {
    let faults = &report.summary.faults;
    if faults.is_empty() {
        return;
    }
    out.push_str("## What failed\n\n");
    for fault in faults {
        let _ = writeln!(out, "- {}: `{}`", fault.name, fault.why.replace('`', "'"));
    }
    out.push('\n');
}
