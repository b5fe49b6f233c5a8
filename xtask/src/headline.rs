//! The published results: the table of docs/PERFORMANCE.md and its five-line summary in the README,
//! both generated from a report of `kvik bench`, and screenshots of that report.
//!
//! `cargo xtask headline report` copies what it needs from `report/report.json` to
//! docs/headline.json, generates the marked section of each page from that, and lets a browser, if
//! there is one, draw `report/index.html`. It refuses a report that must not be quoted.

use crate::view::{installed, View};
use serde_json::{json, Value};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

type Generate = fn(&Value) -> Result<String, String>;
/// The pages that hold a generated section, and what generates it.
const PAGES: [(&str, Generate); 2] = [("README.md", summary), ("docs/PERFORMANCE.md", full)];
const DATA: &str = "docs/headline.json";
const BEGIN: &str = "<!-- headline:begin -->\n";
const END: &str = "<!-- headline:end -->";
/// Light and dark, as the page is with each.
const PICTURES: [(&str, &str); 2] =
    [("light", "docs/report-light.png"), ("dark", "docs/report-dark.png")];
const WIDTH: u32 = 900;
const HEIGHT: u32 = 1500;

/// The lines and columns of the README's summary: one line for each experiment, and whole programs.
const SUMMARY_LINES: [&str; 5] = [
    "ping-pong",
    "starting a process, of 1,000",
    "lines through 80 ports",
    "raw files",
    "whole programs",
];
const SUMMARY_COLUMNS: [&str; 5] = ["OTP, both +S 1", "OTP", "Go", "tokio", "C"];

/// The fewest rounds that are quoted, and the most runs of a hundred that others may have disturbed.
const ROUNDS: u64 = 5;
const DISTURBED_PERCENT: usize = 5;

/// Writes the data, the generated sections and the pictures.
pub fn write(root: &Path, report: &Path) -> Result<(), String> {
    let file = report.join("report.json");
    let data: Value = parse(&file)?;
    quotable(&data).map_err(|why| format!("{}: {why}", file.display()))?;
    let short = short(&data);
    for (page, generate) in PAGES {
        let old = read(root, page)?;
        save(&root.join(page), with_section(page, &old, &generate(&short)?)?)?;
    }
    let text = serde_json::to_string_pretty(&short).map_err(|e| e.to_string())?;
    save(&root.join(DATA), text + "\n")?;
    match installed() {
        Some(program) => draw(root, &program, &report.join("index.html")),
        None => {
            eprintln!("no chromium: the pictures stay as they are");
            Ok(())
        }
    }
}

/// Whether each page's section is what the data generate.
pub fn check(root: &Path) -> Result<(), String> {
    let file = root.join(DATA);
    let data = file.exists().then(|| parse(&file)).transpose()?;
    for (page, generate) in PAGES {
        let section = match &data {
            Some(data) => generate(data)?,
            None => "No figures of this state have been taken on a quiet machine yet.\n".to_owned(),
        };
        let old = read(root, page)?;
        if with_section(page, &old, &section)? != old {
            return Err(format!(
                "{page}: its results are not those of {DATA}: cargo xtask headline DIR"
            ));
        }
    }
    Ok(())
}

fn read(root: &Path, page: &str) -> Result<String, String> {
    fs::read_to_string(root.join(page)).map_err(|e| format!("{page}: {e}"))
}

fn parse(file: &Path) -> Result<Value, String> {
    let text = fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
    serde_json::from_str(&text).map_err(|e| format!("{}: {e}", file.display()))
}

fn save(file: &Path, text: impl AsRef<[u8]>) -> Result<(), String> {
    fs::write(file, text).map_err(|e| format!("{}: {e}", file.display()))
}

/// Whether figures of this report may stand where people will believe them.
fn quotable(report: &Value) -> Result<(), String> {
    if report["format"].as_u64() != Some(kvik_lab::FORMAT) {
        return Err("not a report of this kvik bench".to_owned());
    }
    if report["quick"] == true {
        return Err("the quick form is not quoted: make report".to_owned());
    }
    if report["interrupted"] == true {
        return Err("the measuring was interrupted".to_owned());
    }
    let rounds = report["rounds"].as_u64().unwrap_or(0);
    if rounds < ROUNDS {
        return Err(format!("{rounds} rounds are too few: at least {ROUNDS}"));
    }
    if let Some(fault) = list(&report["failed"]).first() {
        return Err(format!("something failed: {}", fault["what"]));
    }
    let runs: Vec<&Value> = list(&report["runs"]).iter().flat_map(|j| list(&j["runs"])).collect();
    let disturbed = runs.iter().filter(|r| r["disturbed"] == true).count();
    if disturbed * 100 > runs.len() * DISTURBED_PERCENT {
        return Err(format!("others disturbed {disturbed} of {} runs", runs.len()));
    }
    match list(&report["headline"]).len() {
        0 => Err("it has no headline".to_owned()),
        _ => Ok(()),
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// What the section is made of.
fn short(report: &Value) -> Value {
    let peers: Vec<Value> = list(&report["peers"])
        .iter()
        .map(|p| json!({"label": p["label"], "version": p["version"]}))
        .collect();
    json!({
        "day": report["day"], "machine": report["machine"], "peers": peers,
        "rounds": report["rounds"], "seconds": report["seconds"],
        "columns": report["columns"], "headline": report["headline"],
    })
}

/// A page with what is between its markers replaced.
fn with_section(page: &str, text: &str, section: &str) -> Result<String, String> {
    let lacks = || format!("{page}: lacks the markers of the results");
    let (head, rest) = text.split_once(BEGIN).ok_or_else(lacks)?;
    let (_, tail) = rest.split_once(END).ok_or_else(lacks)?;
    Ok([head, BEGIN, section, END, tail].concat())
}

/// The section of docs/PERFORMANCE.md: every line and column, their origin, and the pictures.
fn full(data: &Value) -> Result<String, String> {
    let columns: Vec<&str> = list(&data["columns"]).iter().filter_map(Value::as_str).collect();
    let lines: Vec<&Value> = list(&data["headline"]).iter().collect();
    let [light, dark] = PICTURES.map(|(_, file)| file.trim_start_matches("docs/"));
    Ok(format!(
        "{}\n{}\n\n<picture><source media=\"(prefers-color-scheme: dark)\" srcset=\"{dark}\"><img \
         src=\"{light}\" alt=\"The top of the report: the same table, and charts\"></picture>\n",
        table(&columns, &lines),
        origin(data)
    ))
}

/// The README's section. A report that lacks one of its lines is refused; one without a peer is not.
fn summary(data: &Value) -> Result<String, String> {
    let measured = |c: &&str| list(&data["columns"]).iter().any(|m| m.as_str() == Some(*c));
    let columns: Vec<&str> = SUMMARY_COLUMNS.into_iter().filter(measured).collect();
    let lines = SUMMARY_LINES.map(|name| {
        let named = |line: &&Value| name_of(line) == name;
        list(&data["headline"]).iter().find(named).ok_or_else(|| format!("{DATA}: lacks {name}"))
    });
    let lines = lines.into_iter().collect::<Result<Vec<&Value>, String>>()?;
    Ok(table(&columns, &lines))
}

/// A line's label without the number of rows that it is the mean of.
fn name_of(line: &Value) -> &str {
    let label = word(&line["label"]);
    label.split_once(" (").map_or(label, |(name, _)| name)
}

fn table(columns: &[&str], lines: &[&Value]) -> String {
    let mut out = String::from("| kvik's speed as a multiple of |");
    columns.iter().for_each(|c| out += &format!(" {c} |"));
    out += &format!("\n|---|{}\n", "---:|".repeat(columns.len()));
    for line in lines {
        out += &format!("| {} |", word(&line["label"]));
        columns.iter().for_each(|c| out += &format!(" {} |", ratio(&line["beside"][c])));
        out += "\n";
    }
    out
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or("?")
}

/// A ratio with its interval; one whose interval holds 1 says only that there is no difference to be
/// seen.
fn ratio(ratio: &Value) -> String {
    let number = |name: &str| ratio[name].as_f64();
    let (Some(median), Some(low), Some(high)) = (number("median"), number("low"), number("high"))
    else {
        return "–".to_owned();
    };
    let sign = if low > 1.0 || high < 1.0 { "" } else { "≈ " };
    format!("{sign}{median:.2} <sub>{low:.2}–{high:.2}</sub>")
}

/// Where the figures come from.
fn origin(data: &Value) -> String {
    let machine = &data["machine"];
    let versions: Vec<String> = list(&data["peers"])
        .iter()
        .filter(|p| !word(&p["label"]).contains("+S 1") && !word(&p["label"]).contains("1 thread"))
        .map(|p| format!("{}: {}", word(&p["label"]), word(&p["version"])))
        .collect();
    format!(
        "Medians of {} rounds{} on {} ({} cores, Linux {}), {}, by `kvik bench` in full, with the \
         middle 95% of resampled medians; above 1 kvik is better, and ≈ marks what is within the \
         spread of the rounds. A number in brackets is how many rows of the report a line is the \
         geometric mean of. {}.",
        data["rounds"],
        fewer(data),
        word(&machine["model"]),
        machine["cores"],
        word(&machine["kernel"]),
        word(&data["day"]),
        versions.join("; ")
    )
}

/// What is of fewer rounds than the rest, with how many: lines, or columns of lines.
fn fewer(data: &Value) -> String {
    let all = data["rounds"].as_u64().unwrap_or(0);
    let mut found: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for line in list(&data["headline"]) {
        let label = word(&line["label"]);
        let beside = line["beside"].as_object().into_iter().flatten();
        let cells: Vec<(&str, u64)> = beside
            .filter_map(|(column, r)| Some((column.as_str(), r["rounds"].as_u64()?)))
            .collect();
        let same = |n: u64| cells.iter().all(|(_, rounds)| *rounds == n);
        match cells.first() {
            Some((_, n)) if same(*n) => {
                (*n < all).then(|| found.entry(*n).or_default().push(label.to_owned()));
            }
            _ => cells.iter().filter(|(_, n)| *n < all).for_each(|(column, n)| {
                found.entry(*n).or_default().push(format!("{label} beside {column}"));
            }),
        }
    }
    let part = |(n, what): (u64, Vec<String>)| format!("{n}: {}", what.join(", "));
    let parts: Vec<String> = found.into_iter().rev().map(part).collect();
    match parts.len() {
        0 => String::new(),
        _ => format!(" (of {})", parts.join("; of ")),
    }
}

fn draw(root: &Path, program: &Path, page: &Path) -> Result<(), String> {
    let page = page.canonicalize().map_err(|e| format!("{}: {e}", page.display()))?;
    let mut view = View::start(program, "headline")?;
    view.width(WIDTH)?;
    for (colours, file) in PICTURES {
        view.media("screen", colours)?;
        view.open(&format!("file://{}", page.display()))?;
        let high = view.height()?.min(HEIGHT);
        save(&root.join(file), view.picture(0, WIDTH, high)?)?;
    }
    view.end();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_hold_the_results_of_the_report() {
        check(&crate::tidy::root()).unwrap();
    }

    fn report() -> Value {
        json!({
            "format": kvik_lab::FORMAT, "quick": false, "interrupted": false, "rounds": 7,
            "failed": [], "columns": ["OTP", "Go"], "day": "2026-01-02",
            "machine": {"model": "M", "cores": 2, "kernel": "6.1"},
            "peers": [{"label": "OTP", "version": "25"}, {"label": "OTP +S 1", "version": "25"}],
            "runs": [{"runs": vec![json!({"disturbed": false}); 40]}],
            "headline": [{"label": "ping-pong", "beside": {
                "OTP": {"median": 5.0, "low": 4.9, "high": 5.1, "rounds": 7},
                "Go": {"median": 1.01, "low": 0.98, "high": 1.03, "rounds": 3},
            }}, {"label": "memory", "beside": {
                "OTP": {"median": 4.0, "low": 4.0, "high": 4.0, "rounds": 5}, "Go": null,
            }}],
        })
    }

    #[test]
    fn only_what_can_be_quoted_is() {
        assert_eq!(quotable(&report()), Ok(()));
        for (name, value) in [
            ("format", json!(1)),
            ("quick", json!(true)),
            ("interrupted", json!(true)),
            ("rounds", json!(4)),
            ("failed", json!([{"what": "x"}])),
            ("headline", json!([])),
            ("runs", json!([{"runs": vec![json!({"disturbed": true}); 3]}])),
        ] {
            let mut bad = report();
            bad[name] = value;
            assert!(quotable(&bad).is_err(), "{name}");
        }
    }

    #[test]
    fn the_table_says_what_the_report_says() {
        let text = full(&short(&report())).unwrap();
        assert!(text.starts_with("| kvik's speed as a multiple of | OTP | Go |\n|---|---:|---:|\n"));
        let line = "| ping-pong | 5.00 <sub>4.90–5.10</sub> | ≈ 1.01 <sub>0.98–1.03</sub> |";
        assert!(text.contains(line) && text.contains("| memory | 4.00 <sub>4.00–4.00</sub> | – |"));
        let rounds = "7 rounds (of 5: memory; of 3: ping-pong beside Go) on M (2 cores, Linux 6.1)";
        assert!(text.contains(rounds) && text.contains("2026-01-02"), "{text}");
        assert!(text.contains("OTP: 25.") && !text.contains("+S 1"), "{text}");
    }

    #[test]
    fn summary_refuses_a_report_without_one_of_its_lines() {
        let mut data = short(&report());
        assert_eq!(summary(&data), Err(format!("{DATA}: lacks {}", SUMMARY_LINES[1])));
        let beside = json!({"OTP": {"median": 2.0, "low": 1.5, "high": 2.5}});
        let label = |name: &&str| match *name {
            "raw files" => "raw files (44)".to_owned(),
            name => name.to_owned(),
        };
        let lines =
            SUMMARY_LINES.iter().map(|name| json!({"label": label(name), "beside": beside}));
        data["headline"] = lines.collect();
        let text = summary(&data).unwrap();
        assert!(text.starts_with("| kvik's speed as a multiple of | OTP | Go |\n"), "{text}");
        assert!(text.contains("| raw files (44) | 2.00 <sub>1.50–2.50</sub> | – |"), "{text}");
        assert_eq!(text.lines().count(), 2 + SUMMARY_LINES.len());
    }

    #[test]
    fn only_what_is_between_the_markers_changes() {
        let page = format!("head\n{BEGIN}old\n{END}\ntail");
        let new = with_section("P", &page, "new\n").unwrap();
        assert_eq!(new, page.replace("old", "new"));
        assert!(with_section("P", "no markers", "new\n").is_err());
    }
}
