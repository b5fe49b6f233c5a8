//! The page in a real browser: everything is there and fits, it loads nothing from the network, and
//! logs no errors. The figures are made up.

#[path = "../../../../xtask/src/browser.rs"]
#[allow(clippy::module_inception)]
mod browser;
#[path = "../../../../xtask/src/view.rs"]
mod view;

use super::Report;
use crate::experiments::{chosen, Chart, Job, PUBLISHED, SUBJECTS};
use crate::machine::Machine;
use crate::options::LabOptions;
use crate::peers::{self, LineUp};
use crate::rounds::{Results, Run};
use crate::summary::{fills, Summary};
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use view::View;

/// Height of the screenshots written to $KVIK_PICTURES.
const HIGH: u32 = 1800;
const CHECK: &str = include_str!("check.js");

/// The rows that the jobs would fill.
fn row_ids(jobs: &[Job]) -> Vec<String> {
    let with = |front: &str, parts: &[&str]| -> Vec<String> {
        parts.iter().map(|part| format!("{front}/{part}")).collect()
    };
    let mut rows: Vec<String> = Vec::new();
    for job in jobs {
        let detail = job.detail.as_str();
        rows.extend(match job.experiment {
            "ring" if detail.len() > 2 => vec![format!("ring/{detail}"), format!("spawn/{detail}")],
            "ring" | "portopen" | "programs" => with(job.experiment, &[detail]),
            "calls" => with("calls", &["0", "100000"]),
            "pairs" => with("pairs", &["1", "2"]),
            "pipes" => vec!["pipes".to_owned(), "portcpu".to_owned()],
            "portlines" => with("portlines", &["1", "128", "4096", "65536"]),
            "readfile" => with("readfile", &["1", "1024", "102400"]),
            "lines" => with("lines", &["get_line_list", "put_chars", "read_line_raw"]),
            "work" => with(&format!("work/{detail}"), &["one_thing", "another", "a_third"]),
            "files" => files(detail),
            "servers" => SERVER_ROWS.iter().map(|row| row.replace('*', detail)).collect(),
            "start" => vec!["start".to_owned(), "startmemory".to_owned()],
            "scheduling" => {
                let buckets = (2..24).map(|i| format!("histogram/{}", 1u64 << i));
                buckets.chain(["scheduling".to_owned()]).collect()
            }
            other => vec![other.to_owned()],
        });
    }
    rows
}

/// A row of each kind that a workload fills.
const SERVER_ROWS: &[&str] = &[
    "servers/*/64",
    "servercpu/*/64/full",
    "serverlatency/*/64/p99.9",
    "servermemory/*/rest",
    "serverstart/*/time",
    "serverload/*/64/client",
];

fn files(flags: &str) -> Vec<String> {
    let flags = if flags.is_empty() { String::new() } else { format!(" {flags}") };
    let mut rows = Vec::new();
    for (pattern, third) in [
        ("sequential_read", "read_ahead"),
        ("sequential_write", "delayed_write"),
        ("random_read", ""),
        ("random_write", ""),
    ] {
        for handle in ["ordinary", "raw", third].iter().filter(|h| !h.is_empty()) {
            let blocks = (0..11).map(|power| 1 << power);
            rows.extend(blocks.map(|kb| format!("files/{pattern}/{handle}{flags}/{kb}")));
        }
    }
    rows
}

/// A distinct number for each row and peer, varying slightly by round.
fn value(row: &str, peer: usize, round: usize) -> f64 {
    let sum: u32 = row.bytes().map(u32::from).sum();
    let size = row.rsplit('/').next().and_then(|n| n.parse::<f64>().ok()).unwrap_or(1.0);
    let base = match row.split('/').next() {
        Some("oneway" | "pingpong" | "senders" | "histogram") => 9e6 / size,
        Some("ring" | "spawn") => 0.05 * (1.0 + size.log10()),
        Some("files" | "portlines") => 300.0 * size.sqrt(),
        Some("memory") => 700.0,
        _ => 100.0 + f64::from(sum % 90),
    };
    base * (1.0 + peer as f64 * 0.4) * (1.0 + 0.02 * round as f64)
}

fn results(line_up: &LineUp, jobs: &[Job]) -> Results {
    let mut results = Results { rounds: 5, seconds: 600.0, ..Results::default() };
    for row in row_ids(jobs) {
        let Some(job) = jobs.iter().find(|job| fills(job, &row)) else { panic!("{row}: no job") };
        for (index, peer) in line_up.peers.iter().enumerate() {
            // Only kvik reports histograms of switches, and only Erlang reports CPU time.
            let tells = match row.split('/').next() {
                Some("histogram") => peer.kind == peers::PeerKind::Kvik,
                Some("portcpu") => peer.kind.is_erlang(),
                _ => true,
            };
            if job.ask(peer).is_none() || !tells {
                continue;
            }
            let rounds = (0..5).map(|round| Some(value(&row, index, round))).collect();
            results.values.entry(row.clone()).or_default().insert(index, rounds);
            let key = (job.name(), index);
            results.commands.insert(key.clone(), format!("{} a b 'c <d>'", peer.line()));
            let run = |_| Run {
                wall_seconds: 1.25,
                cpu_seconds: 1.5,
                peak_kb: 51_200,
                switches: 1234,
                outside_cores: 0.01,
                disturbed: false,
                repeats: 0,
            };
            results.runs.insert(key, (0..5).map(run).collect());
        }
    }
    let fault = "exit status: 3: <so> & \"that\"".to_owned();
    results.faults.insert(("manyports".to_owned(), 3), vec![fault]);
    results
}

/// Writes the page and loads it; returns what it contains.
fn page(folder: &Path) -> (PathBuf, Summary) {
    let options = LabOptions { out: folder.to_path_buf(), ..LabOptions::default() };
    let line_up = peers::everybody();
    let mut jobs = chosen(&options).unwrap();
    let servers = LabOptions { experiments: vec!["servers".to_owned()], ..LabOptions::default() };
    jobs.extend(chosen(&servers).unwrap());
    let results = results(&line_up, &jobs);
    let summary = Summary::of(&line_up, &jobs, &results);
    let report = Report {
        options: &options,
        machine: &Machine::look(),
        line_up: &line_up,
        jobs: &jobs,
        summary: &summary,
        results: &results,
    };
    (report.write(None).unwrap(), summary)
}

/// Each chart has a line, bar or dot for every value, with its name.
fn charts_are_whole(seen: &Value, summary: &Summary) {
    for subject in SUBJECTS {
        let rows: Vec<_> = summary.rows.iter().filter(|r| r.subject.id == subject.id).collect();
        let present: Vec<&str> =
            summary.present(&rows).iter().map(|p| summary.peers[*p].1.as_str()).collect();
        let all = seen["charts"].as_array().unwrap();
        let charts: Vec<&Value> = all.iter().filter(|c| c["section"] == subject.id).collect();
        if subject.chart == Chart::None {
            assert!(!rows.is_empty() && charts.is_empty(), "{} has a chart", subject.id);
            continue;
        }
        assert!(!rows.is_empty() && !charts.is_empty(), "{} has no chart", subject.id);
        for (index, chart) in charts.iter().enumerate() {
            let number = |name: &str| chart[name].as_u64().unwrap() as usize;
            let words = |name: &str| -> Vec<&str> {
                chart[name].as_array().unwrap().iter().filter_map(Value::as_str).collect()
            };
            match subject.chart {
                Chart::Bars => {
                    let of_row = summary.present(&rows[index..=index]);
                    let some =
                        |p: &usize| matches!(rows[index].cells[*p], crate::summary::Cell::Value(_));
                    let bars = of_row.iter().filter(|p| some(p)).count();
                    assert_eq!((number("bars"), words("names").len()), (bars, bars), "{chart}");
                    assert_eq!(words("units"), [subject.unit]);
                }
                Chart::Lines(what) => {
                    let then = PUBLISHED.iter().filter(|p| p.0 == subject.id).count();
                    assert_eq!(number("lines"), present.len() + then, "{chart}");
                    let ends = words("ends");
                    assert!(present.iter().all(|label| ends.contains(label)), "{chart}");
                    assert_eq!(ends.len(), number("lines"));
                    assert_eq!(words("units"), [subject.unit, what]);
                }
                Chart::Files => {
                    // Three peers (Erlang and C, not on one scheduler) with two or three handles,
                    // and two lines of published figures.
                    let handles = if index < 2 { 3 } else { 2 };
                    assert_eq!(number("lines"), 3 * handles + 2, "{chart}");
                    assert_eq!(words("ends").len(), number("lines"), "{chart}");
                }
                Chart::Histogram => {
                    assert_eq!((number("bars"), number("lines")), (rows.len(), 2), "{chart}");
                    assert_eq!(words("units"), [subject.unit]);
                }
                Chart::None => {}
                Chart::Ratios => {
                    let shown = (number("dots"), words("names").len());
                    assert_eq!(shown, (rows.len(), rows.len()), "{chart}");
                }
            }
            assert!(number("ticks") > 1 || subject.chart == Chart::Bars, "{chart}");
        }
    }
}

#[test]
fn the_page_in_a_browser() {
    let Some(program) = view::installed() else {
        // Written directly, as the test harness captures `eprintln!`.
        let _ = writeln!(std::io::stderr(), "\nlab/browser: skipped: no chromium is installed");
        return;
    };
    let folder = std::env::temp_dir().join(format!("kvik-page.{}", std::process::id()));
    let (page, summary) = page(&folder);
    let _one = crate::run::ONE.lock();
    let mut view = View::start(&program, "page-browser").unwrap();
    let url = format!("file://{}", page.display());
    let keep = std::env::var_os("KVIK_PICTURES").map(PathBuf::from);
    let mut papers = Vec::new();
    for (name, width, medium, scheme) in [
        ("light", 1000, "screen", "light"),
        ("dark", 1000, "screen", "dark"),
        ("narrow", 400, "screen", "light"),
        ("print", 760, "print", "light"),
    ] {
        view.width(width).unwrap();
        view.media(medium, scheme).unwrap();
        view.open(&url).unwrap();
        let seen = view.eval(CHECK).unwrap();
        if let Some(keep) = &keep {
            let height = view.height().unwrap();
            for (i, from) in (0..height).step_by(HIGH as usize).enumerate() {
                let picture = view.picture(from, width, HIGH.min(height - from)).unwrap();
                std::fs::write(keep.join(format!("{name}-{i:02}.png")), picture).unwrap();
            }
        }
        charts_are_whole(&seen, &summary);
        assert_eq!(seen["faults"], serde_json::json!([]), "{name}");
        assert_eq!(seen["cut"], serde_json::json!([]), "{name}");
        assert!(seen["wide"].as_i64().unwrap() <= 0, "{name}: wider than the window");
        papers.push((seen["paper"].clone(), seen["ink"].clone()));
    }
    assert!(papers[0] != papers[1], "dark is not light");
    assert_eq!(view.complaints, Vec::<String>::new());
    assert!(view.requests.iter().all(|r| *r == url), "{:?}", view.requests);
    assert_eq!(view.requests.len(), 4);
    view.end();
    let _ = std::fs::remove_dir_all(&folder);
}
