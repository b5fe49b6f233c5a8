//! The page: for each experiment its question, the result, a chart and a table.

use super::escape::escape;
use super::{charts, dots, Report};
use crate::compare::Comparison;
use crate::experiments::{grouped, Better, Chart, Experiment, SUBJECTS};
use crate::peers::PeerKind;
use crate::stats::{Ratio, Spread, TELLING};
use crate::summary::{Cell, Summary, SummaryRow};
use crate::table::{self, number, TextTable};
use std::fmt::Write;

const STYLE: &str = include_str!("style.css");

pub fn page(report: &Report, changes: Option<&Comparison>) -> String {
    let summary = report.summary;
    let mut out = String::from(
        "<!doctype html><html lang='en'><meta charset='utf-8'>\
         <meta name='viewport' content='width=device-width, initial-scale=1'>\
         <meta name='color-scheme' content='light dark'><title>kvik bench</title>",
    );
    let _ = write!(out, "<style>{STYLE}</style><main><h1>kvik <span>beside others</span></h1>");
    let _ = write!(out, "<p class='lead'>{}</p>", escape(&super::lead(report)));
    headline(&mut out, summary);
    changed(&mut out, changes);
    within(&mut out, summary);
    for subject in SUBJECTS {
        let rows: Vec<&SummaryRow> =
            summary.rows.iter().filter(|r| r.subject.id == subject.id).collect();
        if !rows.is_empty() {
            section(&mut out, report, subject, &rows);
        }
    }
    failures(&mut out, summary);
    notes(&mut out, report);
    colophon(&mut out, report);
    out.push_str("</main></html>\n");
    out
}

/// The summary table: ratios only.
fn headline(out: &mut String, summary: &Summary) {
    if summary.headline.is_empty() {
        return;
    }
    out.push_str(
        "<div class='wide'><table class='headline'><thead><tr><th>kvik's speed as a multiple of",
    );
    summary.columns.iter().for_each(|c| out.push_str(&format!("<th>{}", whole(c.label))));
    out.push_str("</thead><tbody>");
    for line in &summary.headline {
        let _ = write!(out, "<tr><th>{}", escape(&line.label));
        line.ratios.iter().for_each(|r| out.push_str(&format!("<td>{}", ratio(*r))));
    }
    out.push_str("</tbody></table></div>");
}

/// What programs said of their rows beside the figures.
fn notes(out: &mut String, report: &Report) {
    let all = &report.results.notes;
    if !all.is_empty() {
        out.push_str("<section id='notes'><h2>Notes</h2><ul>");
        all.iter().for_each(|note| out.push_str(&format!("<li>{}", escape(note))));
        out.push_str("</ul></section>");
    }
}

fn changed(out: &mut String, changes: Option<&Comparison>) {
    let Some(changes) = changes else { return };
    let _ = write!(
        out,
        "<section id='changes'><h2>What changed</h2><p>{}</p>",
        escape(&changes.sentence())
    );
    plain(out, &changes.table());
    out.push_str("<ul>");
    changes.notes.iter().for_each(|note| out.push_str(&format!("<li>{}", escape(note))));
    out.push_str("</ul></section>");
}

/// A peer's name in a heading, without a line break before its flag.
fn whole(label: &str) -> String {
    escape(label).replace("+S 1", "+S\u{a0}1")
}

/// How each peer scales with processes, messages and schedulers.
fn within(out: &mut String, summary: &Summary) {
    let some = |peer: &usize| summary.itself.iter().any(|i| i.cells[*peer].is_some());
    let peers: Vec<usize> = (0..summary.peers.len()).filter(some).collect();
    if peers.is_empty() {
        return;
    }
    out.push_str(
        "<h2>Each beside itself</h2><p class='question'>What becomes of a speed when there is more \
         of something?</p><div class='wide'><table class='itself'><thead><tr><th>",
    );
    peers.iter().for_each(|p| out.push_str(&format!("<th>{}", whole(&summary.peers[*p].1))));
    out.push_str("</thead><tbody>");
    for itself in &summary.itself {
        let _ = write!(out, "<tr><th>{}", escape(&itself.label));
        for peer in &peers {
            let _ = match itself.cells[*peer] {
                None => write!(out, "<td class='none'>–"),
                Some(r) => {
                    write!(out, "<td>{:.2} <small>{:.2}–{:.2}</small>", r.median, r.low, r.high)
                }
            };
        }
    }
    out.push_str("</tbody></table></div>");
}

fn ratio(ratio: Option<Ratio>) -> String {
    match ratio {
        None => "<span class='none'>–</span>".to_owned(),
        Some(r) => format!(
            "<b class='{}'>{:.2}</b> <small>{:.2}–{:.2}</small>",
            dots::judged(&r),
            r.median,
            r.low,
            r.high
        ),
    }
}

fn section(out: &mut String, report: &Report, subject: &Experiment, rows: &[&SummaryRow]) {
    let summary = report.summary;
    let _ = write!(
        out,
        "<section id='{}'><h2>{}</h2><p class='question'>{}</p><p>{}</p>",
        subject.id,
        escape(subject.title),
        escape(subject.question),
        escape(&came_out(summary, subject, rows))
    );
    match subject.chart {
        Chart::Bars => {
            for row in rows {
                if rows.len() > 1 {
                    let _ = write!(out, "<p class='caption'>{}</p>", escape(&row.label));
                }
                out.push_str(&charts::bar(summary, subject, row));
            }
            figures(out, summary, rows, "kvik's speed as a multiple of others'", &[]);
        }
        Chart::Lines(what) => {
            out.push_str(&charts::line(summary, subject, rows, what));
            by_peer(out, summary, rows, what);
        }
        Chart::None => figures(out, summary, rows, "All figures", &summary.present(rows)),
        Chart::Histogram => out.push_str(&charts::histogram(summary, subject, rows)),
        Chart::Ratios => {
            out.push_str(&charts::beside_otp(summary, subject, rows));
            figures(out, summary, rows, "All figures", &summary.present(rows));
        }
        Chart::Files => {
            charts::files(out, report.line_up, summary, rows);
            out.push_str(
                "<p class='note'>Raw files dashed, raw with read_ahead or delayed_write (in C \
                 stdio) dotted. \u{201c}Then\u{201d} is as far from C's stdio here as was published.</p>",
            );
            figures(out, summary, rows, "All figures", &summary.present(rows));
        }
    }
    let used = table::usage(report.line_up, &report.jobs_of(subject.id), report.results);
    if used.0.len() > 1 {
        out.push_str("<details><summary>What the runs used</summary>");
        plain(out, &used);
        out.push_str("</details>");
    }
    out.push_str("</section>");
}

/// A table of text.
fn plain(out: &mut String, table: &TextTable) {
    out.push_str("<div class='wide'><table>");
    for (i, line) in table.0.iter().enumerate() {
        out.push_str(if i == 0 { "<thead><tr>" } else { "<tr>" });
        for (column, word) in line.iter().enumerate() {
            let tag = if i == 0 || column == 0 { "th" } else { "td" };
            let _ = write!(out, "<{tag}>{}", escape(word));
        }
        out.push_str(if i == 0 { "</thead><tbody>" } else { "" });
    }
    out.push_str("</tbody></table></div>");
}

/// The computed result of an experiment: claims only what the intervals support.
fn came_out(summary: &Summary, subject: &Experiment, rows: &[&SummaryRow]) -> String {
    if subject.better == Better::Unrated {
        return String::new();
    }
    if subject.chart == Chart::Histogram {
        return counted(summary, rows);
    }
    // Group the peers with the same result.
    let mut said: Vec<(Vec<&str>, String)> = Vec::new();
    for (column, c) in summary.columns.iter().enumerate() {
        let ratios: Vec<Ratio> = rows.iter().filter_map(|r| r.ratios[column]).collect();
        let Some(text) = beside(subject, &ratios) else { continue };
        match said.iter_mut().find(|(_, known)| *known == text) {
            Some((labels, _)) => labels.push(c.label),
            None => said.push((vec![c.label], text)),
        }
    }
    let part = |(labels, text): &(Vec<&str>, String)| format!("{}: {text}", labels.join(" and "));
    match said.as_slice() {
        [] => "Nobody to compare with.".to_owned(),
        all => format!("kvik beside {}.", all.iter().map(part).collect::<Vec<_>>().join("; ")),
    }
}

/// The text of the histogram, for each kvik.
fn counted(summary: &Summary, rows: &[&SummaryRow]) -> String {
    let of = |peer: usize| {
        let buckets = charts::points(summary, rows, peer);
        let all: f64 = buckets.iter().map(|b| b.1.median).sum();
        let mut sum = 0.0;
        let half = buckets.iter().find(|b| {
            sum += b.1.median;
            sum >= all / 2.0
        });
        let shortest = half?.0;
        let times = number(all);
        let label = &summary.peers[peer].1;
        Some(format!(
            "{label}: {times} times a second, half of them in less than {} ns",
            shortest * 2.0
        ))
    };
    let said: Vec<String> = summary.present(rows).into_iter().filter_map(of).collect();
    format!("{}. No other machine tells.", said.join("; "))
}

fn beside(subject: &Experiment, ratios: &[Ratio]) -> Option<String> {
    let medians: Vec<f64> = ratios.iter().map(|r| r.median).collect();
    let spread = Spread::of(&medians)?;
    let what = if subject.better == Better::More { "times the rate" } else { "times as cheap" };
    Some(match ratios {
        [one] if one.is_better() || one.is_worse() => format!("{:.2} {what}", one.median),
        [one] if one.rounds < TELLING => format!("{:.2} {what} in too few rounds", one.median),
        [_] => "no difference beyond the spread of the rounds".to_owned(),
        all => {
            let mean = medians.iter().map(|m| m.ln()).sum::<f64>() / all.len() as f64;
            let mean = match all.len() {
                n if n > 3 => format!(" (in the mean {:.2})", mean.exp()),
                _ => String::new(),
            };
            format!("{:.2} to {:.2} {what}{mean}{}", spread.min, spread.max, verdict(all))
        }
    })
}

/// Number of rows in which the intervals show a difference.
fn verdict(ratios: &[Ratio]) -> String {
    let better = ratios.iter().filter(|r| r.is_better()).count();
    let worse = ratios.iter().filter(|r| r.is_worse()).count();
    if ratios.iter().all(|r| r.rounds < TELLING) {
        return " in too few rounds".to_owned();
    }
    match (better, worse) {
        (0, 0) => ", within the spread of the rounds".to_owned(),
        (n, _) if n == ratios.len() => String::new(),
        (_, n) if n == ratios.len() => String::new(),
        (n, 0) => format!(", better in {n} of {} rows", ratios.len()),
        (0, n) => format!(", worse in {n} of {} rows", ratios.len()),
        (n, m) => format!(", better in {n} and worse in {m} of {} rows", ratios.len()),
    }
}

/// A line for each peer, a column for each number.
fn by_peer(out: &mut String, summary: &Summary, rows: &[&SummaryRow], what: &str) {
    out.push_str("<div class='wide'><table><thead><tr><th>");
    let _ = write!(out, "{}, by {what}", rows.first().map_or("", |r| r.subject.unit));
    for row in rows {
        let number = row.id.rsplit('/').next().unwrap_or_default();
        let _ = write!(out, "<th>{}", grouped(number));
    }
    out.push_str("</thead><tbody>");
    for peer in summary.present(rows) {
        let _ = write!(out, "<tr><th>{}", escape(&summary.peers[peer].1));
        rows.iter().for_each(|row| out.push_str(&table_cell(&row.cells[peer])));
    }
    out.push_str("</tbody></table></div>");
}

/// A line for each row, a column for each of these peers and for each peer compared with kvik.
fn figures(
    out: &mut String,
    summary: &Summary,
    rows: &[&SummaryRow],
    title: &str,
    peers: &[usize],
) {
    let compared = |c: &usize| rows.iter().any(|row| row.ratios[*c].is_some());
    let columns: Vec<usize> = (0..summary.columns.len()).filter(compared).collect();
    if peers.is_empty() && columns.is_empty() {
        return;
    }
    let unit = rows.first().map_or("", |r| r.subject.unit);
    let corner = if peers.is_empty() { "" } else { unit };
    let _ = write!(
        out,
        "<details><summary>{}</summary><div class='wide'><table><thead><tr><th>{corner}",
        escape(title)
    );
    for peer in peers {
        let _ = write!(out, "<th>{}", escape(&summary.peers[*peer].1));
    }
    for column in &columns {
        let _ = write!(out, "<th>× {}", summary.columns[*column].label);
    }
    out.push_str("</thead><tbody>");
    for row in rows {
        let _ = write!(out, "<tr><th>{}", escape(&row.label));
        peers.iter().for_each(|peer| out.push_str(&table_cell(&row.cells[*peer])));
        for column in &columns {
            let _ = write!(out, "<td>{}", ratio(row.ratios[*column]));
        }
    }
    out.push_str("</tbody></table></div></details>");
}

fn table_cell(cell: &Cell) -> String {
    match cell {
        Cell::Value(s) => {
            format!("<td>{} <small>{}–{}</small>", number(s.median), number(s.min), number(s.max))
        }
        Cell::Failed(_) => "<td class='worse'>failed".to_owned(),
        Cell::NotRun => "<td class='none'>–".to_owned(),
    }
}

fn failures(out: &mut String, summary: &Summary) {
    if summary.faults.is_empty() {
        return;
    }
    out.push_str("<section><h2>What failed</h2><ul>");
    for fault in &summary.faults {
        let _ = write!(out, "<li>{}: <code>{}</code>", escape(&fault.name), escape(&fault.why));
    }
    out.push_str("</ul></section>");
}

/// The commands that reproduce the results.
fn again(report: &Report) -> String {
    let options = report.options;
    let mut words = vec!["kvik bench".to_owned()];
    words.extend(options.experiments.iter().cloned());
    words.extend(options.quick.then(|| "--quick".to_owned()));
    words.extend(
        (!options.peers.is_empty()).then(|| format!("--peers {}", options.peers.join(","))),
    );
    words.push(format!("--rounds {}", report.summary.rounds.max(1)));
    words.join(" ")
}

fn colophon(out: &mut String, report: &Report) {
    let _ = write!(
        out,
        "<section><h2>How this was measured</h2><p>{}</p><ul>",
        escape(&super::machine(report))
    );
    for peer in &report.line_up.peers {
        let class = if peer.kind == PeerKind::Kvik { "ours" } else { "theirs" };
        let _ = write!(
            out,
            "<li class='{class}'>{}: <code>{}</code>, {}",
            escape(&peer.label),
            escape(&peer.line()),
            escape(&peer.version)
        );
    }
    for missing in report.missing() {
        let _ = write!(out, "<li>missing: {}", escape(&missing));
    }
    let _ = write!(
        out,
        "</ul><p>Again: <code>{}</code>. Every round's value is in <code>report.json</code>.</p>\
         <details><summary>Each run by itself</summary><ul>",
        escape(&again(report))
    );
    for ((job, peer), command) in &report.results.commands {
        let label = &report.line_up.peers[*peer].label;
        let _ = write!(out, "<li>{job} on {}: <code>{}</code>", escape(label), escape(command));
    }
    out.push_str("</ul></details></section>");
}
