//! The page: for each experiment its question, what came out, a chart and a table.

use super::svg::{bars, lines, Bar, Line};
use crate::experiments::{Better, Chart, Subject, SUBJECTS};
use crate::machine::Machine;
use crate::options::Options;
use crate::peers::{Kind, LineUp, Peer};
use crate::stats::{Cell, Ratio, Row, Spread, Summary};
use crate::table::{faults, number};
use std::fmt::Write;

const STYLE: &str = include_str!("style.css");

pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('\'', "&#39;")
}

pub fn page(options: &Options, machine: &Machine, line_up: &LineUp, summary: &Summary) -> String {
    let mut out = String::from(
        "<!doctype html><html lang='en'><meta charset='utf-8'>\
         <meta name='viewport' content='width=device-width, initial-scale=1'>\
         <meta name='color-scheme' content='light dark'><title>kvik bench</title>",
    );
    let _ = write!(out, "<style>{STYLE}</style><main><h1>kvik <span>beside OTP</span></h1>");
    let _ = write!(
        out,
        "<p class='lead'>{} rounds of everything in turn, each run in a fresh process. Bars and \
         points are medians, thin lines the span from the lowest round to the highest. Ratios are \
         computed round by round, with the middle 95% of resampled medians; above 1 kvik is \
         better.{}</p>",
        summary.rounds,
        if options.quick { " This is the quick form: smaller counts and sizes." } else { "" }
    );
    headline(&mut out, summary);
    for subject in SUBJECTS {
        let rows: Vec<&Row> = summary.rows.iter().filter(|r| r.subject.id == subject.id).collect();
        if !rows.is_empty() {
            section(&mut out, line_up, summary, subject, &rows);
        }
    }
    failures(&mut out, summary);
    colophon(&mut out, options, machine, line_up, summary);
    out.push_str("</main></html>\n");
    out
}

/// The one table to look at: ratios only.
fn headline(out: &mut String, summary: &Summary) {
    let rows: Vec<&Row> =
        summary.rows.iter().filter(|r| r.single.is_some() || r.default.is_some()).collect();
    if rows.is_empty() {
        return;
    }
    out.push_str(
        "<div class='wide'><table class='headline'><thead><tr><th>kvik's speed as a multiple of \
         OTP's<th>one scheduler<th>default</thead><tbody>",
    );
    for row in rows.iter().filter(|r| r.subject.chart != Chart::Files) {
        let _ = write!(
            out,
            "<tr><th>{}<td>{}<td>{}",
            escape(&row.label),
            ratio(row.single),
            ratio(row.default)
        );
    }
    out.push_str("</tbody></table></div>");
}

fn ratio(ratio: Option<Ratio>) -> String {
    match ratio {
        None => "<span class='none'>–</span>".to_owned(),
        Some(r) => {
            let class = if r.low > 1.0 {
                "better"
            } else if r.high < 1.0 {
                "worse"
            } else {
                "even"
            };
            format!(
                "<b class='{class}'>{:.2}</b> <small>{:.2}–{:.2}</small>",
                r.median, r.low, r.high
            )
        }
    }
}

fn section(
    out: &mut String,
    line_up: &LineUp,
    summary: &Summary,
    subject: &Subject,
    rows: &[&Row],
) {
    let _ = write!(
        out,
        "<section id='{}'><h2>{}</h2><p class='question'>{}</p><p>{}</p>",
        subject.id,
        escape(subject.title),
        escape(subject.question),
        escape(&came_out(subject, rows))
    );
    match subject.chart {
        Chart::Bars => rows.iter().for_each(|row| out.push_str(&bar_chart(summary, subject, row))),
        Chart::Lines => out.push_str(&line_chart(summary, subject, rows)),
        Chart::Files => file_charts(out, line_up, summary, rows),
    }
    table(out, summary, rows);
    out.push_str("</section>");
}

/// One sentence, computed: never more than the intervals carry.
fn came_out(subject: &Subject, rows: &[&Row]) -> String {
    let ratios: Vec<Ratio> = rows.iter().filter_map(|r| r.default.or(r.single)).collect();
    let medians: Vec<f64> = ratios.iter().map(|r| r.median).collect();
    let Some(spread) = Spread::of(&medians) else {
        return "No pair of runs to compare.".to_owned();
    };
    let what =
        if subject.better == Better::More { "times OTP's rate" } else { "times as cheap as OTP" };
    let sure = ratios.iter().filter(|r| r.low > 1.0).count();
    let below = ratios.iter().filter(|r| r.high < 1.0).count();
    match ratios.as_slice() {
        [one] if one.low > 1.0 || one.high < 1.0 => format!("kvik: {:.2} {what}.", one.median),
        [_] => "No difference beyond the spread of the rounds.".to_owned(),
        all => format!(
            "kvik: {:.2} to {:.2} {what}; better in {sure} of {} rows, worse in {below}.",
            spread.min,
            spread.max,
            all.len()
        ),
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
        .map(|(i, spread)| Bar { peer: summary.peers[i].0, label: summary.peers[i].1, spread })
        .collect();
    bars(subject.title, subject.unit, &shown)
}

fn number_of(id: &str) -> Option<f64> {
    id.rsplit('/').next()?.parse().ok()
}

fn line_chart(summary: &Summary, subject: &Subject, rows: &[&Row]) -> String {
    let series: Vec<Line> = summary
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
    lines(subject.title, "processes", subject.unit, &series)
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

fn table(out: &mut String, summary: &Summary, rows: &[&Row]) {
    let long = rows.len() > 12;
    out.push_str(if long { "<details><summary>All figures</summary>" } else { "" });
    out.push_str("<div class='wide'><table><thead><tr><th>");
    out.push_str(rows.first().map_or("", |r| r.subject.unit));
    for (_, label, _) in &summary.peers {
        let _ = write!(out, "<th>{}", escape(label));
    }
    out.push_str("<th>× at +S 1<th>× default");
    let beside_c = rows.iter().any(|r| r.c.is_some());
    out.push_str(if beside_c { "<th>× C" } else { "" });
    out.push_str("</thead><tbody>");
    for row in rows {
        let _ = write!(out, "<tr><th>{}", escape(&row.label));
        for cell in &row.cells {
            out.push_str(&table_cell(cell));
        }
        let _ = write!(out, "<td>{}<td>{}", ratio(row.single), ratio(row.default));
        if beside_c {
            let _ = write!(out, "<td>{}", ratio(row.c));
        }
    }
    out.push_str("</tbody></table></div>");
    out.push_str(if long { "</details>" } else { "" });
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
    let faults = faults(summary);
    if faults.is_empty() {
        return;
    }
    out.push_str("<section><h2>What failed</h2><ul>");
    for (name, why) in faults {
        let _ = write!(out, "<li>{}: <code>{}</code>", escape(&name), escape(&why));
    }
    out.push_str("</ul></section>");
}

fn colophon(
    out: &mut String,
    options: &Options,
    machine: &Machine,
    line_up: &LineUp,
    summary: &Summary,
) {
    let _ = write!(
        out,
        "<section><h2>How this was measured</h2><p>{} ({} cores, {:.1} GB), Linux {}, load {} \
         before; {} rounds in {:.0} s. No warm-up, nothing pinned; one program at a time.</p><ul>",
        escape(&machine.model),
        machine.cores,
        machine.memory_mb as f64 / 1024.0,
        escape(&machine.kernel),
        escape(&machine.load),
        summary.rounds,
        summary.seconds
    );
    for peer in &line_up.peers {
        let class = if peer.kind == Kind::Kvik { "ours" } else { "theirs" };
        let _ = write!(
            out,
            "<li class='{class}'>{}: <code>{}</code>",
            escape(peer.label),
            escape(&peer.line())
        );
    }
    for missing in &line_up.missing {
        let _ = write!(out, "<li>missing: {}", escape(missing));
    }
    let quick = if options.quick { " --quick" } else { "" };
    let _ = write!(
        out,
        "</ul><p>Again: <code>kvik bench{quick} --rounds {}</code>. Every round's value is in \
         <code>report.json</code>.</p></section>",
        summary.rounds
    );
}
