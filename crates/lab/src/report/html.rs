//! The page: for each experiment its question, what came out, a chart and a table.

use super::dots;
use super::svg::{bars, lines, Bar, Line};
use super::Report;
use crate::compare::Comparison;
use crate::experiments::{grouped, Better, Chart, Subject, SUBJECTS};
use crate::experiments::{PUBLISHED, PUBLISHED_FILES, PUBLISHED_ONCE};
use crate::peers::{Kind, LineUp, Peer};
use crate::stats::{Ratio, Spread};
use crate::summary::{Cell, Row, Summary};
use crate::table::{self, number, Table};
use std::fmt::Write;

const STYLE: &str = include_str!("style.css");

pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('\'', "&#39;")
}

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
        let rows: Vec<&Row> = summary.rows.iter().filter(|r| r.subject.id == subject.id).collect();
        if !rows.is_empty() {
            section(&mut out, report, subject, &rows);
        }
    }
    failures(&mut out, summary);
    colophon(&mut out, report);
    out.push_str("</main></html>\n");
    out
}

/// The one table to look at: ratios only.
fn headline(out: &mut String, summary: &Summary) {
    if summary.headline.is_empty() {
        return;
    }
    out.push_str(
        "<div class='wide'><table class='headline'><thead><tr><th>kvik's speed as a multiple of",
    );
    summary.columns.iter().for_each(|c| out.push_str(&format!("<th>{}", c.label)));
    out.push_str("</thead><tbody>");
    for line in &summary.headline {
        let _ = write!(out, "<tr><th>{}", escape(&line.label));
        line.ratios.iter().for_each(|r| out.push_str(&format!("<td>{}", ratio(*r))));
    }
    out.push_str("</tbody></table></div>");
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

/// What each peer makes of more processes, messages, schedulers.
fn within(out: &mut String, summary: &Summary) {
    let some = |peer: &usize| summary.itself.iter().any(|i| i.cells[*peer].is_some());
    let peers: Vec<usize> = (0..summary.peers.len()).filter(some).collect();
    if peers.is_empty() {
        return;
    }
    out.push_str(
        "<h2>Each beside itself</h2><p class='question'>What becomes of a speed when there is more \
         of something?</p><div class='wide'><table><thead><tr><th>",
    );
    peers.iter().for_each(|p| out.push_str(&format!("<th>{}", escape(&summary.peers[*p].1))));
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

fn section(out: &mut String, report: &Report, subject: &Subject, rows: &[&Row]) {
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
                out.push_str(&bar_chart(summary, subject, row));
            }
            figures(out, summary, rows);
        }
        Chart::Lines(what) => {
            out.push_str(&line_chart(summary, subject, rows, what));
            by_peer(out, summary, rows, what);
        }
        Chart::Histogram => out.push_str(&histogram(summary, subject, rows)),
        Chart::Ratios => {
            out.push_str(&beside_otp(summary, subject, rows));
            figures(out, summary, rows);
        }
        Chart::Files => {
            file_charts(out, report.line_up, summary, rows);
            figures(out, summary, rows);
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

/// A table of words.
fn plain(out: &mut String, table: &Table) {
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

/// What is said of each, computed: never more than the intervals carry.
fn came_out(summary: &Summary, subject: &Subject, rows: &[&Row]) -> String {
    if subject.chart == Chart::Histogram {
        return counted(summary, rows);
    }
    let said: Vec<String> = summary
        .columns
        .iter()
        .enumerate()
        .filter_map(|(column, c)| {
            let ratios: Vec<Ratio> = rows.iter().filter_map(|r| r.ratios[column]).collect();
            Some(format!("{}: {}", c.label, beside(subject, &ratios)?))
        })
        .collect();
    match said.as_slice() {
        [] => "Nobody to compare with.".to_owned(),
        all => format!("kvik beside {}.", all.join("; ")),
    }
}

/// What the histogram says, of each kvik.
fn counted(summary: &Summary, rows: &[&Row]) -> String {
    let of = |peer: usize| {
        let buckets = points(summary, rows, peer);
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

fn beside(subject: &Subject, ratios: &[Ratio]) -> Option<String> {
    let medians: Vec<f64> = ratios.iter().map(|r| r.median).collect();
    let spread = Spread::of(&medians)?;
    let what = if subject.better == Better::More { "times the rate" } else { "times as cheap" };
    Some(match ratios {
        [one] if one.low > 1.0 || one.high < 1.0 => format!("{:.2} {what}", one.median),
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

/// In how many rows the intervals say which is better.
fn verdict(ratios: &[Ratio]) -> String {
    let better = ratios.iter().filter(|r| r.low > 1.0).count();
    let worse = ratios.iter().filter(|r| r.high < 1.0).count();
    match (better, worse) {
        (0, 0) => ", within the spread of the rounds".to_owned(),
        (n, _) if n == ratios.len() => String::new(),
        (_, n) if n == ratios.len() => String::new(),
        (n, 0) => format!(", better in {n} of {} rows", ratios.len()),
        (0, n) => format!(", worse in {n} of {} rows", ratios.len()),
        (n, m) => format!(", better in {n} and worse in {m} of {} rows", ratios.len()),
    }
}

fn values<'a>(summary: &'a Summary, row: &'a Row) -> impl Iterator<Item = (usize, Spread)> + 'a {
    let known = row.cells.iter().enumerate().take(summary.peers.len());
    known.filter_map(|(i, c)| match c {
        Cell::Value(spread) => Some((i, *spread)),
        _ => None,
    })
}

fn bar_chart(summary: &Summary, subject: &Subject, row: &Row) -> String {
    let shown: Vec<Bar> = values(summary, row)
        .map(|(i, spread)| Bar { peer: &summary.peers[i].0, label: &summary.peers[i].1, spread })
        .collect();
    bars(subject.title, subject.unit, &shown, &once(subject))
}

/// What was published as one figure.
fn once(subject: &Subject) -> Vec<(&'static str, f64)> {
    let of = PUBLISHED_ONCE.iter().filter(|p| p.0 == subject.id);
    of.map(|(_, label, value)| (*label, *value)).collect()
}

/// Of kvik by default, or on one scheduler where it only ran so.
fn histogram(summary: &Summary, subject: &Subject, rows: &[&Row]) -> String {
    let ours = |id: &str| summary.peers.iter().position(|p| p.0 == id);
    let known = |peer: usize| (peer, points(summary, rows, peer));
    let shown = ["kvik", "kvik1"].into_iter().filter_map(ours).map(known);
    let Some((peer, buckets)) = shown.into_iter().find(|(_, b)| !b.is_empty()) else {
        return String::new();
    };
    let title = format!("{}, {}", subject.title, summary.peers[peer].1);
    dots::histogram(&title, subject.unit, &summary.peers[peer].0, &buckets, &once(subject))
}

/// Each row beside OTP.
fn beside_otp(summary: &Summary, subject: &Subject, rows: &[&Row]) -> String {
    let Some(column) = summary.columns.iter().position(|c| c.label == "OTP") else {
        return String::new();
    };
    let of = |row: &&'_ &Row| Some((row.label.clone(), row.ratios[column]?));
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

fn line_chart(summary: &Summary, subject: &Subject, rows: &[&Row], what: &str) -> String {
    let mut series: Vec<Line> = summary
        .peers
        .iter()
        .enumerate()
        .map(|(peer, (id, label, _))| Line {
            class: format!("p-{id}"),
            label,
            points: points(summary, rows, peer),
        })
        .filter(|l| !l.points.is_empty())
        .collect();
    series.extend(then(subject, rows));
    lines(subject.title, what, subject.unit, &series)
}

/// The figures published long ago, as far as the chart reaches.
fn then<'a>(subject: &Subject, rows: &[&Row]) -> Vec<Line<'a>> {
    let numbers = || rows.iter().filter_map(|row| number_of(&row.id));
    let (low, high) = (numbers().fold(f64::MAX, f64::min), numbers().fold(0.0, f64::max));
    let of = |(id, label, values): &(&str, &'a str, &[(f64, f64)])| {
        let shown = values.iter().filter(|(n, _)| (low..=high).contains(n));
        let spread = |v| Spread { median: v, min: v, max: v, count: 1 };
        let points: Vec<_> = shown.map(|&(n, v)| (n, spread(v))).collect();
        (*id == subject.id && points.len() > 1).then(|| Line {
            class: "p-then".to_owned(),
            label,
            points,
        })
    };
    PUBLISHED.iter().filter_map(of).collect()
}

fn points(summary: &Summary, rows: &[&Row], peer: usize) -> Vec<(f64, Spread)> {
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

/// The lines of a file chart: a colour for the peer, a pattern for the handle.
fn file_charts(out: &mut String, line_up: &LineUp, summary: &Summary, rows: &[&Row]) {
    out.push_str("<div class='four'>");
    for (pattern, title) in PATTERNS {
        let mut labels = Vec::new();
        // Four handles for each: those on one scheduler stand in the table.
        let many = line_up.peers.iter().enumerate().filter(|(_, p)| !p.single);
        for (peer, Peer { id, label, .. }) in many {
            for handle in ["ordinary", "raw", "read_ahead", "delayed_write"] {
                let prefix = format!("files/{pattern}/{handle}/");
                let some: Vec<&Row> =
                    rows.iter().filter(|r| r.id.starts_with(&prefix)).copied().collect();
                let points = points(summary, &some, peer);
                if !points.is_empty() {
                    let name = format!("{label} {}", handle.replace('_', " "));
                    labels.push((format!("p-{id} h-{handle}"), name, points));
                }
            }
        }
        labels.extend(files_then(line_up, summary, rows, pattern));
        let series: Vec<Line> = labels
            .iter()
            .map(|(class, label, points)| Line {
                class: class.clone(),
                label,
                points: points.clone(),
            })
            .collect();
        let chart = lines(title, "block, KB", "MB/s", &series);
        let _ = write!(out, "<figure><figcaption>{title}</figcaption>{chart}</figure>");
    }
    out.push_str("</div>");
}

/// As far from C's speed here, with stdio, as handles were from C's when that was published.
fn files_then(
    line_up: &LineUp,
    summary: &Summary,
    rows: &[&Row],
    pattern: &str,
) -> Vec<(String, String, Vec<(f64, Spread)>)> {
    let prefix = format!("files/{pattern}/ordinary/");
    let stdio: Vec<&Row> = rows.iter().filter(|r| r.id.starts_with(&prefix)).copied().collect();
    let c = line_up.position(Kind::C, false).map(|c| points(summary, &stdio, c));
    let (Some(c), Some(published)) = (c, PUBLISHED_FILES.iter().find(|p| p.0 == pattern)) else {
        return Vec::new();
    };
    let line = |(name, percent): (&str, f64)| {
        let median = |s: Spread| s.median * 100.0 / percent;
        let spread = |v| Spread { median: v, min: v, max: v, count: 1 };
        let points: Vec<_> = c.iter().map(|(x, s)| (*x, spread(median(*s)))).collect();
        (format!("p-then h-{name}"), format!("{name}, published"), points)
    };
    let lines = [("ordinary", published.1), ("raw", published.2)].map(line);
    lines.into_iter().filter(|l| !l.2.is_empty()).collect()
}

/// A line for each peer, a column for each number.
fn by_peer(out: &mut String, summary: &Summary, rows: &[&Row], what: &str) {
    out.push_str("<div class='wide'><table><thead><tr><th>");
    out.push_str(rows.first().map_or("", |r| r.subject.unit));
    for row in rows {
        let number = row.id.rsplit('/').next().unwrap_or_default();
        let _ = write!(out, "<th>{} {what}", grouped(number));
    }
    out.push_str("</thead><tbody>");
    for peer in summary.present(rows) {
        let _ = write!(out, "<tr><th>{}", escape(&summary.peers[peer].1));
        rows.iter().for_each(|row| out.push_str(&table_cell(&row.cells[peer])));
    }
    out.push_str("</tbody></table></div>");
}

/// A line for each row, a column for each peer and each it is compared with.
fn figures(out: &mut String, summary: &Summary, rows: &[&Row]) {
    let peers = summary.present(rows);
    let compared = |c: &usize| rows.iter().any(|row| row.ratios[*c].is_some());
    let columns: Vec<usize> = (0..summary.columns.len()).filter(compared).collect();
    out.push_str("<details><summary>All figures</summary><div class='wide'><table><thead><tr><th>");
    out.push_str(rows.first().map_or("", |r| r.subject.unit));
    for peer in &peers {
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

fn colophon(out: &mut String, report: &Report) {
    let _ = write!(
        out,
        "<section><h2>How this was measured</h2><p>{}</p><ul>",
        escape(&super::machine(report))
    );
    for peer in &report.line_up.peers {
        let class = if peer.kind == Kind::Kvik { "ours" } else { "theirs" };
        let _ = write!(
            out,
            "<li class='{class}'>{}: <code>{}</code>, {}",
            escape(&peer.label),
            escape(&peer.line()),
            escape(&peer.version)
        );
    }
    for missing in &report.line_up.missing {
        let _ = write!(out, "<li>missing: {}", escape(missing));
    }
    let quick = if report.options.quick { " --quick" } else { "" };
    let _ = write!(
        out,
        "</ul><p>Again: <code>kvik bench{quick} --rounds {}</code>. Every round's value is in \
         <code>report.json</code>.</p><details><summary>Each run by itself</summary><ul>",
        report.summary.rounds
    );
    for ((job, peer), command) in &report.results.commands {
        let label = &report.line_up.peers[*peer].label;
        let _ = write!(out, "<li>{job} on {}: <code>{}</code>", escape(label), escape(command));
    }
    out.push_str("</ul></details></section>");
}
