//! The README's table of what kvik's speed is, from a report of `kvik bench`, and pictures of it.
//!
//! `cargo xtask headline report` takes what it needs from `report/report.json` into
//! docs/headline.json, writes the README's section from that, and lets a browser, where there is
//! one, draw `report/index.html`. It takes only a report that can be quoted.

use crate::view::{installed, View};
use serde_json::{json, Value};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const README: &str = "README.md";
const DATA: &str = "docs/headline.json";
const BEGIN: &str = "<!-- headline:begin -->\n";
const END: &str = "<!-- headline:end -->";
/// Light and dark, as the page is with each.
const PICTURES: [(&str, &str); 2] =
    [("light", "docs/report-light.png"), ("dark", "docs/report-dark.png")];
const WIDTH: u32 = 900;
const HEIGHT: u32 = 1500;

/// The fewest rounds that are quoted, and the most runs of a hundred that others may have disturbed.
const ROUNDS: u64 = 5;
const DISTURBED_PERCENT: usize = 5;

/// Writes the data, the section and the pictures anew.
pub fn write(root: &Path, report: &Path) -> Result<(), String> {
    let file = report.join("report.json");
    let data: Value = parse(&file)?;
    quotable(&data).map_err(|why| format!("{}: {why}", file.display()))?;
    let short = short(&data);
    let text = serde_json::to_string_pretty(&short).map_err(|e| e.to_string())?;
    save(&root.join(DATA), text + "\n")?;
    match installed() {
        Some(program) => draw(root, &program, &report.join("index.html"))?,
        None => eprintln!("no chromium: the pictures stay as they are"),
    }
    save(&root.join(README), with_section(root)?.1)
}

/// Is the section what the data say?
pub fn check(root: &Path) -> Result<(), String> {
    let (old, new) = with_section(root)?;
    if old == new {
        Ok(())
    } else {
        Err(format!("{README}: its headline is not what {DATA} says: cargo xtask headline DIR"))
    }
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

/// The README as it is and as it should be.
fn with_section(root: &Path) -> Result<(String, String), String> {
    let file = root.join(README);
    let old = fs::read_to_string(&file).map_err(|e| format!("{README}: {e}"))?;
    let lacks = || format!("{README}: lacks the markers of the headline");
    let (head, rest) = old.split_once(BEGIN).ok_or_else(lacks)?;
    let (_, tail) = rest.split_once(END).ok_or_else(lacks)?;
    let data = root.join(DATA);
    let section = match data.exists() {
        true => section(&parse(&data)?),
        false => "No figures of this state have been taken on a quiet machine yet.\n".to_owned(),
    };
    let new = [head, BEGIN, &section, END, tail].concat();
    Ok((old, new))
}

fn section(data: &Value) -> String {
    let columns: Vec<&str> = list(&data["columns"]).iter().filter_map(Value::as_str).collect();
    let mut out = String::from("| kvik's speed as a multiple of |");
    columns.iter().for_each(|c| out += &format!(" {c} |"));
    out += &format!("\n|---|{}\n", "---:|".repeat(columns.len()));
    for line in list(&data["headline"]) {
        out += &format!("| {} |", word(&line["label"]));
        columns.iter().for_each(|c| out += &format!(" {} |", ratio(&line["beside"][c])));
        out += "\n";
    }
    out += &format!("\n{}\n", origin(data));
    let [(_, light), (_, dark)] = PICTURES;
    out + &format!(
        "\n<picture><source media=\"(prefers-color-scheme: dark)\" srcset=\"{dark}\"><img \
         src=\"{light}\" alt=\"The top of the report: the same table, and charts\"></picture>\n"
    )
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
    fn the_headline_is_what_was_measured() {
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
        let text = section(&short(&report()));
        assert!(text.starts_with("| kvik's speed as a multiple of | OTP | Go |\n|---|---:|---:|\n"));
        let line = "| ping-pong | 5.00 <sub>4.90–5.10</sub> | ≈ 1.01 <sub>0.98–1.03</sub> |";
        assert!(text.contains(line) && text.contains("| memory | 4.00 <sub>4.00–4.00</sub> | – |"));
        let rounds = "7 rounds (of 5: memory; of 3: ping-pong beside Go) on M (2 cores, Linux 6.1)";
        assert!(text.contains(rounds) && text.contains("2026-01-02"), "{text}");
        assert!(text.contains("OTP: 25.") && !text.contains("+S 1"), "{text}");
    }
}
