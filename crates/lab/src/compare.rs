//! Compares two reports by their `report.json`.
//!
//! A row is compared by kvik's ratio to the same peer in both reports, so that a slower machine
//! makes no difference; if no other peer took part, by kvik's own figures. There is a verdict only
//! if the two intervals do not overlap.

use crate::experiments::{subject, Better, Chart};
use crate::stats::{interval, Ratio, TELLING};
use crate::table::TextTable;
use serde_json::Value;
use std::path::Path;

/// The version of `report.json` that this lab writes and reads.
pub const FORMAT: u64 = 2;

pub struct Comparison {
    changes: Vec<Change>,
    agreement: Agreement,
    /// Caveats about comparing the two reports.
    pub notes: Vec<String>,
}

/// Whether two reports of the same code agree: by kvik's ratio to each other peer in each row.
#[derive(Default)]
struct Agreement {
    /// Number of ratios that both have.
    all: usize,
    /// Ratios whose intervals do not overlap.
    apart: Vec<String>,
}

/// A row that both reports have, for one kvik.
struct Change {
    label: String,
    beside: String,
    then: Ratio,
    now: Ratio,
    /// Above 1 it is better now, whatever the unit.
    factor: f64,
    verdict: Verdict,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Faster,
    Slower,
    /// No verdict: the intervals overlap.
    None,
}

pub fn read(path: &Path) -> Result<Value, String> {
    let fault = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
    let text = std::fs::read_to_string(path).map_err(|e| fault(&e))?;
    let report: Value = serde_json::from_str(&text).map_err(|e| fault(&e))?;
    match report["format"].as_u64() {
        Some(FORMAT) => Ok(report),
        _ => Err(fault(&"not a report of this kvik bench (its report.json is asked for)")),
    }
}

impl Comparison {
    pub fn of(then: &Value, now: &Value) -> Comparison {
        let mut changes = Vec::new();
        let mut agreement = Agreement::default();
        let mut notes = differences(then, now);
        for row in list(&now["rows"]) {
            let Some(old) = list(&then["rows"]).iter().find(|r| r["id"] == row["id"]) else {
                continue;
            };
            // A bucket of the histogram is neither better nor worse.
            let subject = text(row, "id").split('/').next().and_then(subject);
            if subject.is_none_or(|s| s.chart == Chart::Histogram || s.better == Better::Unrated) {
                continue;
            }
            match row["work"] == old["work"] {
                true => {
                    changes.extend(row_changes(old, row));
                    agreement.take(old, row);
                }
                false => {
                    notes.push(format!("not compared, other work then: {}", text(row, "label")))
                }
            }
        }
        Comparison { changes, agreement, notes }
    }

    pub fn table(&self) -> TextTable {
        let heading = ["", "kvik beside", "then", "now", "change", "verdict"];
        let line = |c: &Change| {
            let verdict = match c.verdict {
                Verdict::Faster => "better",
                Verdict::Slower => "worse",
                Verdict::None => "–",
            };
            vec![
                c.label.clone(),
                c.beside.clone(),
                shown(&c.then),
                shown(&c.now),
                format!("{:.2}", c.factor),
                verdict.to_owned(),
            ]
        };
        let lines = self.changes.iter().map(line);
        TextTable(std::iter::once(heading.map(str::to_owned).to_vec()).chain(lines).collect())
    }

    pub fn sentence(&self) -> String {
        let count = |v| self.changes.iter().filter(|c| c.verdict == v).count();
        match self.changes.len() {
            0 => "Nothing that both reports have can be compared.".to_owned(),
            all => format!(
                "Of {all} figures that both have, {} are better now, {} worse, and {} differ by no \
                 more than the spread of their rounds.",
                count(Verdict::Faster),
                count(Verdict::Slower),
                count(Verdict::None)
            ),
        }
    }

    pub fn text(&self) -> String {
        let mut out = format!("{}\n{}\n", self.table().aligned(2), self.sentence());
        let agreement = self.agreement.sentence().into_iter();
        let apart = self.agreement.apart.iter().map(|line| format!("apart: {line}"));
        let lines = agreement.chain(apart).chain(self.notes.iter().cloned());
        lines.for_each(|line| out.push_str(&format!("{line}\n")));
        out
    }
}

impl Agreement {
    /// The ratios of a row that both have, with enough rounds.
    fn take(&mut self, then: &Value, now: &Value) {
        for (column, value) in now["beside"].as_object().into_iter().flatten() {
            let both = ratio(&then["beside"][column]).zip(ratio(value));
            let Some((then, now_is)) = both else { continue };
            if then.rounds.min(now_is.rounds) < TELLING {
                continue;
            }
            self.all += 1;
            if now_is.low > then.high || now_is.high < then.low {
                let row = text(now, "label");
                let (then, now) = (shown(&then), shown(&now_is));
                self.apart.push(format!("{row} beside {column}: {then} then, {now} now"));
            }
        }
    }

    pub fn sentence(&self) -> Option<String> {
        let same = self.all - self.apart.len();
        (self.all > 0).then(|| {
            format!(
                "Of {} ratios of kvik to others that both have, the intervals of {same} overlap: \
                 {:.1}%.",
                self.all,
                same as f64 * 100.0 / self.all as f64
            )
        })
    }
}

fn shown(r: &Ratio) -> String {
    let number = crate::table::number;
    format!("{} ({}–{})", number(r.median), number(r.low), number(r.high))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

/// Each kvik and the peer it is compared with.
const PAIRS: [(&str, &str); 2] = [("kvik1", "otp1"), ("kvik", "otp")];

/// A change for each kvik that has the row in both reports.
fn row_changes(then: &Value, now: &Value) -> Vec<Change> {
    PAIRS.iter().filter_map(|(ours, theirs)| change(then, now, ours, theirs)).collect()
}

fn change(then: &Value, now: &Value, ours: &str, theirs: &str) -> Option<Change> {
    let ratio_of = |row: &Value| ratio(&row["ratios"][ours][theirs]);
    let figures_of = |row: &Value| figures(&row["peers"][ours]);
    let (beside, better, then, now_is) = match (ratio_of(then), ratio_of(now)) {
        // A ratio above 1 is better, whatever the unit.
        (Some(then), Some(now)) => (format!("{ours} : {theirs}"), Better::More, then, now),
        _ => {
            let unit = text(now, "unit");
            let better = subject(text(now, "id").split('/').next()?)?.better;
            (format!("{ours}, {unit}"), better, figures_of(then)?, figures_of(now)?)
        }
    };
    Some(Change {
        label: text(now, "label").to_owned(),
        beside,
        then,
        now: now_is,
        factor: factor(then.median, now_is.median, better),
        verdict: verdict(then, now_is, better),
    })
}

fn ratio(value: &Value) -> Option<Ratio> {
    let number = |name: &str| value[name].as_f64();
    let (median, low, high) = (number("median")?, number("low")?, number("high")?);
    let rounds = usize::try_from(value["rounds"].as_u64()?).ok()?;
    Some(Ratio { median, low, high, rounds })
}

/// The median of a peer's rounds with its confidence interval.
fn figures(cell: &Value) -> Option<Ratio> {
    let rounds: Vec<f64> = list(&cell["rounds"]).iter().filter_map(Value::as_f64).collect();
    interval(&rounds)
}

fn factor(then: f64, now: f64, better: Better) -> f64 {
    match better {
        Better::More => now / then,
        Better::Less | Better::Unrated => then / now,
    }
}

fn verdict(then: Ratio, now: Ratio, better: Better) -> Verdict {
    let (up, down) = match better {
        Better::More => (Verdict::Faster, Verdict::Slower),
        Better::Less | Better::Unrated => (Verdict::Slower, Verdict::Faster),
    };
    if now.rounds.min(then.rounds) < TELLING {
        Verdict::None
    } else if now.low > then.high {
        up
    } else if now.high < then.low {
        down
    } else {
        Verdict::None
    }
}

/// Other differences between the reports, which may explain a change.
fn differences(then: &Value, now: &Value) -> Vec<String> {
    let mut notes = Vec::new();
    for (name, what) in [("model", "the processor"), ("cores", "cores"), ("kernel", "the kernel")] {
        let (old, new) = (&then["machine"][name], &now["machine"][name]);
        if old != new {
            notes.push(format!("not the same machine: {what} {old} then, {new} now"));
        }
    }
    for peer in list(&now["peers"]) {
        let before = list(&then["peers"]).iter().find(|p| p["id"] == peer["id"]);
        let other = before.filter(|b| b["version"] != peer["version"] && peer["id"] != "kvik");
        notes.extend(other.map(|b| {
            let (label, old, new) =
                (text(peer, "label"), text(b, "version"), text(peer, "version"));
            format!("another {label}: {old} then, {new} now")
        }));
    }
    for (report, when) in [(then, "then"), (now, "now")] {
        let runs = || list(&report["runs"]).iter().flat_map(|j| list(&j["runs"]));
        let disturbed = runs().filter(|r| r["disturbed"] == true).count();
        if disturbed > 0 {
            notes.push(format!("{when}, others disturbed {disturbed} of {} runs", runs().count()));
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn report(ratio: [f64; 3], rounds: [f64; 3], work: &str) -> Value {
        let ratio = json!({"median": ratio[1], "low": ratio[0], "high": ratio[2], "rounds": 3});
        json!({"format": FORMAT, "rows": [
            {"id": "pingpong", "label": "ping-pong", "unit": "x/s", "work": work,
             "ratios": {"kvik": {"otp": ratio.clone()}}, "beside": {"OTP": ratio}, "peers": {}},
            {"id": "ring/1000", "label": "ring", "unit": "µs", "work": "same", "ratios": null,
             "peers": {"kvik": {"rounds": rounds}, "kvik1": null}},
            {"id": "histogram/64", "label": "64 ns and more", "unit": "times/s", "work": "same",
             "ratios": null, "peers": {"kvik": {"rounds": rounds}}},
        ]})
    }

    fn verdicts(then: &Value, now: &Value) -> Vec<Verdict> {
        Comparison::of(then, now).changes.iter().map(|c| c.verdict).collect()
    }

    #[test]
    fn a_verdict_needs_intervals_apart() {
        let old = report([2.0, 2.1, 2.2], [0.2, 0.21, 0.22], "w");
        let same = report([2.15, 2.3, 2.4], [0.1, 0.15, 0.2], "w");
        assert_eq!(verdicts(&old, &same), [Verdict::None, Verdict::None]);
        let better = report([2.25, 2.31, 2.4], [0.1, 0.1, 0.19], "w");
        assert_eq!(verdicts(&old, &better), [Verdict::Faster, Verdict::Faster]);
        assert_eq!(verdicts(&better, &old), [Verdict::Slower, Verdict::Slower]);
    }

    #[test]
    fn two_reports_agree_in_a_share_of_their_ratios() {
        let old = report([2.0, 2.1, 2.2], [0.2; 3], "w");
        let said = |new: &Value| Comparison::of(&old, new).agreement;
        let same = said(&report([2.2, 2.3, 2.4], [0.2; 3], "w"));
        assert!(same.sentence().is_some_and(|s| s.ends_with("of 1 overlap: 100.0%.")));
        let mut other = report([2.3, 2.4, 2.5], [0.2; 3], "w");
        let apart = said(&other);
        assert!(apart.sentence().is_some_and(|s| s.ends_with("of 0 overlap: 0.0%.")));
        assert_eq!(
            apart.apart,
            ["ping-pong beside OTP: 2.10 (2.00–2.20) then, 2.40 (2.30–2.50) now"]
        );
        other["rows"][0]["beside"]["OTP"]["rounds"] = json!(2);
        assert_eq!(said(&other).sentence(), None);
    }

    #[test]
    fn a_verdict_needs_three_rounds() {
        let old = report([2.0; 3], [0.2; 3], "w");
        let mut new = report([3.0; 3], [0.2; 3], "w");
        assert_eq!(verdicts(&old, &new)[0], Verdict::Faster);
        new["rows"][0]["ratios"]["kvik"]["otp"]["rounds"] = json!(2);
        assert_eq!(verdicts(&old, &new)[0], Verdict::None);
    }

    #[test]
    fn the_change_is_of_speed_whatever_the_unit() {
        let old = report([2.0, 2.0, 2.0], [0.2; 3], "w");
        let new = report([3.0, 3.0, 3.0], [0.1; 3], "w");
        let comparison = Comparison::of(&old, &new);
        let factors: Vec<f64> = comparison.changes.iter().map(|c| c.factor).collect();
        assert_eq!(factors, [1.5, 2.0]);
        let text = comparison.text();
        assert!(
            text.contains("kvik : otp") && text.contains("kvik, µs") && text.contains("better")
        );
        assert!(text.contains("Of 2 figures that both have, 2 are better now, 0 worse"), "{text}");
    }

    #[test]
    fn other_work_is_not_compared() {
        let [old, new] = ["ten", "twenty"].map(|work| report([2.0; 3], [0.2; 3], work));
        let comparison = Comparison::of(&old, &new);
        assert_eq!(comparison.changes.len(), 1);
        assert_eq!(comparison.notes, ["not compared, other work then: ping-pong"]);
    }

    #[test]
    fn reports_other_changes() {
        let mut old = report([2.0; 3], [0.2; 3], "w");
        let mut new = old.clone();
        old["machine"] = json!({"model": "a", "cores": 2});
        new["machine"] = json!({"model": "b", "cores": 2});
        old["peers"] = json!([{"id": "otp", "label": "OTP", "version": "25"}]);
        new["peers"] = json!([{"id": "otp", "label": "OTP", "version": "26"}]);
        new["runs"] = json!([{"runs": [{"disturbed": true}, {"disturbed": false}]}]);
        let notes = Comparison::of(&old, &new).notes.join("\n");
        for part in ["processor \"a\" then, \"b\" now", "another OTP: 25 then", "1 of 2 runs"] {
            assert!(notes.contains(part), "{notes}");
        }
    }

    #[test]
    fn another_file_is_refused() {
        let file = std::env::temp_dir().join(format!("kvik-lab-old.{}", std::process::id()));
        for text in ["{}", "no JSON", "{\"format\": 1}"] {
            std::fs::write(&file, text).unwrap();
            assert!(read(&file).is_err());
        }
        std::fs::remove_file(&file).unwrap();
        assert!(read(&file).is_err());
    }
}
