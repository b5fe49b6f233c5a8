//! Parsers for the programs' output. A program that does not print the expected lines, or reports a
//! different message count, yields no rows, which is a failure.

use super::jobs::Job;

/// Parses a job's output into row ids and values. The number is the message count that it must
/// report; 0 if it reports none.
pub type Reader = fn(&Job, u64, &str) -> Vec<(String, f64)>;

pub fn read_nothing(_: &Job, _: u64, _: &str) -> Vec<(String, f64)> {
    Vec::new()
}

/// `row ID VALUE` of a driver.
pub fn read_driven(_: &Job, _: u64, text: &str) -> Vec<(String, f64)> {
    let row = |line: &str| {
        let (id, value) = line.strip_prefix("row ")?.split_once(' ')?;
        Some((id.to_owned(), value.parse().ok()?))
    };
    text.lines().filter_map(row).collect()
}

pub fn read_number(job: &Job, _: u64, text: &str) -> Vec<(String, f64)> {
    let value = text.lines().rev().find_map(|l| l.trim().parse().ok());
    value.map(|v| (job.experiment.to_owned(), v)).into_iter().collect()
}

/// `NAME COUNT in SECONDS s`: a rate for each name.
pub fn read_rates(_: &Job, count: u64, text: &str) -> Vec<(String, f64)> {
    let rows: Option<Vec<_>> = text.lines().map(|line| read_rate(line, count)).collect();
    rows.unwrap_or_default()
}

/// The same lines, as milliseconds in total.
pub fn read_times(_: &Job, count: u64, text: &str) -> Vec<(String, f64)> {
    let ms = |line: &str| read_span(line, count).map(|(name, _, s)| (name, s * 1000.0));
    let rows: Option<Vec<_>> = text.lines().map(ms).collect();
    rows.unwrap_or_default()
}

/// The time to load the modules.
pub fn read_loading(job: &Job, _: u64, text: &str) -> Vec<(String, f64)> {
    read_times(job, 0, text)
}

/// `codesize BYTES bytes N modules`, as KB.
pub fn read_size(job: &Job, _: u64, text: &str) -> Vec<(String, f64)> {
    let bytes = number_before(text, "codesize ", " bytes");
    bytes.map(|b| (job.experiment.to_owned(), b / 1024.0)).into_iter().collect()
}

/// A row's name, its count, and its seconds.
fn read_span(line: &str, count: u64) -> Option<(String, f64, f64)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [name, passed, "in", seconds, "s"] = words.as_slice() else { return None };
    let (passed, seconds): (u64, f64) = (passed.parse().ok()?, seconds.parse().ok()?);
    (count == 0 || passed == count).then(|| ((*name).to_owned(), passed as f64, seconds))
}

fn read_rate(line: &str, count: u64) -> Option<(String, f64)> {
    read_span(line, count).map(|(name, passed, seconds)| (name, passed / seconds))
}

/// The number before ` UNIT` in a line that starts with `start`.
fn number_before(text: &str, start: &str, unit: &str) -> Option<f64> {
    let line = text.lines().find(|l| l.starts_with(start))?;
    let (before, _) = line.split_once(unit)?;
    let digits =
        before.rsplit(|c: char| !(c.is_ascii_alphanumeric() || ".-+".contains(c))).next()?;
    digits.parse().ok()
}

pub fn read_zog(job: &Job, count: u64, text: &str) -> Vec<(String, f64)> {
    let passed = number_before(text, "Run :", " msgs)");
    let spawned = number_before(text, "Setup :", " spawns)").map(|n| n.to_string());
    if passed != Some(count as f64) || spawned.as_ref() != Some(&job.detail) {
        return Vec::new();
    }
    let message = number_before(text, "Run :", " us per msg");
    let spawn = number_before(text, "Setup :", " us per spawn");
    let mut rows = Vec::new();
    rows.extend(message.map(|v| (format!("ring/{}", job.detail), v)));
    // For a few processes the start time is dominated by clock resolution.
    if job.detail.len() > 2 {
        rows.extend(spawn.map(|v| (format!("spawn/{}", job.detail), v)));
    }
    rows
}

pub fn read_waiting(_: &Job, count: u64, text: &str) -> Vec<(String, f64)> {
    let bytes = number_before(text, "waiting ", " bytes");
    let processes = number_before(text, "waiting ", " processes");
    let bytes = bytes.filter(|_| processes == Some(count as f64));
    bytes.map(|v| ("memory".to_owned(), v)).into_iter().collect()
}

/// Lines per second, and for eighty ports the machine's own cost per line.
pub fn read_pipes(job: &Job, count: u64, text: &str) -> Vec<(String, f64)> {
    if passed(text) != Some(count) {
        return Vec::new();
    }
    let rate = number_before(text, "(total run", "/s)");
    let rate = rate.map(|v| (job.experiment.to_owned(), v));
    let ms = number_before(text, "cpu ", " ms").filter(|_| job.experiment == "pipes");
    let cost = ms.map(|ms| ("portcpu".to_owned(), ms * 1000.0 / count as f64));
    rate.into_iter().chain(cost).collect()
}

/// Lines passed on by all rings together.
fn passed(text: &str) -> Option<u64> {
    let run = text.lines().find_map(|l| l.strip_prefix("(total run (N:"))?;
    let (_, rest) = run.split_once("K:")?;
    let (lines, rest) = rest.split_once(" Par:")?;
    let (rings, _) = rest.split_once(')')?;
    Some(lines.parse::<u64>().ok()? * rings.parse::<u64>().ok()?)
}

/// `COUNT in SECONDS s`: a rate per second.
pub fn read_opens(job: &Job, _: u64, text: &str) -> Vec<(String, f64)> {
    let id = match job.detail.as_str() {
        "" => job.experiment.to_owned(),
        detail => format!("{}/{detail}", job.experiment),
    };
    let row = |line: &str| read_rate(&format!("{id} {line}"), 0);
    text.lines().next_back().and_then(row).into_iter().collect()
}

/// `NAME RATE MB/s`: a row of that name.
pub fn read_bandwidths(_: &Job, _: u64, text: &str) -> Vec<(String, f64)> {
    let row = |line: &str| {
        let (name, rate) = line.strip_suffix(" MB/s")?.split_once(' ')?;
        Some((name.to_owned(), rate.parse().ok()?))
    };
    text.lines().filter_map(row).collect()
}

/// Cost of a context switch and, if reported, the histogram of times between time slices
/// (`histogram NS RATE /s`).
pub fn read_switches(_: &Job, _: u64, text: &str) -> Vec<(String, f64)> {
    let line = text.lines().find(|l| l.starts_with("switches "));
    let value = line.and_then(|l| l.rsplit(' ').next()?.parse().ok());
    let bucket = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let ["histogram", shortest, rate, "/s"] = words.as_slice() else { return None };
        Some((format!("histogram/{shortest}"), rate.parse().ok()?))
    };
    let rows = value.map(|v| ("scheduling".to_owned(), v)).into_iter();
    rows.chain(text.lines().filter_map(bucket)).collect()
}

/// `(sequential_read raw 64KB: 19 ms 5249 MB/s)`
pub fn read_files(_: &Job, _: u64, text: &str) -> Vec<(String, f64)> {
    text.lines().filter_map(read_file_cell).collect()
}

/// The same with other flags, as separate rows.
pub fn read_tuned_files(job: &Job, count: u64, text: &str) -> Vec<(String, f64)> {
    let own = |(row, value): (String, f64)| {
        let (front, block) = row.rsplit_once('/').unwrap_or((&row, ""));
        (format!("{front} {}/{block}", job.detail), value)
    };
    read_files(job, count, text).into_iter().map(own).collect()
}

fn read_file_cell(line: &str) -> Option<(String, f64)> {
    let mut words = line.strip_prefix('(')?.split(' ');
    let (pattern, handle, block) = (words.next()?, words.next()?, words.next()?);
    let block = block.strip_suffix("KB:")?;
    let rate = line.strip_suffix(" MB/s)")?.rsplit(' ').next()?.parse().ok()?;
    Some((format!("files/{pattern}/{handle}/{block}"), rate))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::chosen;
    use crate::options::LabOptions;

    fn job(name: &str) -> Job {
        let all = chosen(&LabOptions::default()).unwrap();
        all.into_iter().find(|j| j.name() == name).unwrap()
    }

    fn row(id: &str, value: f64) -> Vec<(String, f64)> {
        vec![(id.to_owned(), value)]
    }

    const ZOG: &str = "Setup : 0.002203 s (2.203 us per spawn) (1000 spawns)\n\
                       Run : 0.506515 s (0.506515 us per msg) (1000000 msgs)\n";

    #[test]
    fn reads_the_printed_lines() {
        let rows = read_zog(&job("ring 1000"), 1_000_000, ZOG);
        assert_eq!(rows, [row("ring/1000", 0.506515), row("spawn/1000", 2.203)].concat());
        let small = "Setup : 8.0e-6 s (8.0e-1 us per spawn) (1 spawns)\n";
        assert_eq!(number_before(small, "Setup :", " us per spawn"), Some(0.8));
        let pipes = "(total run (N:10 K:10000 Par:8) 873ms 91583/s)\n";
        assert_eq!(read_pipes(&job("pipes"), 80_000, pipes), row("pipes", 91583.0));
        let costs = format!("{pipes}cpu 400 ms\n");
        let rows = [row("pipes", 91583.0), row("portcpu", 5.0)].concat();
        assert_eq!(read_pipes(&job("pipes"), 80_000, &costs), rows);
        assert_eq!(read_pipes(&job("oneport"), 80_000, &costs), row("oneport", 91583.0));
        assert_eq!(
            read_opens(&job("portopen most"), 0, "30 in 2.0 s\n"),
            row("portopen/most", 15.0)
        );
        let lines = "portlines/128 10.5 MB/s\nportlines/4096 20.0 MB/s\n";
        let rows = [row("portlines/128", 10.5), row("portlines/4096", 20.0)].concat();
        assert_eq!(read_bandwidths(&job("portlines"), 0, lines), rows);
        let cell = "(random_write raw 1KB: 1078 ms 97 MB/s)";
        assert_eq!(read_file_cell(cell), Some(("files/random_write/raw/1".to_owned(), 97.0)));
        let switches = "switches 4.0e6 /s reductions 9.1e7 /s ns 240.5\n";
        assert_eq!(read_switches(&job("scheduling"), 0, switches), row("scheduling", 240.5));
        let picture = format!("{switches}histogram 8 5.0e5 /s\nhistogram 16 12 /s\n");
        let buckets = [row("histogram/8", 5e5), row("histogram/16", 12.0)].concat();
        assert_eq!(read_switches(&job("scheduling"), 0, &picture)[1..], buckets);
        let waiting = "waiting 540.672 bytes 1000000 processes\n";
        assert_eq!(read_waiting(&job("memory"), 1_000_000, waiting), row("memory", 540.672));
        assert_eq!(read_number(&job("oneway"), 5, "1234.5\n"), row("oneway", 1234.5));
    }

    #[test]
    fn reads_rates() {
        let calls = "calls/0 300000 in 0.5 s\ncalls/100000 300000 in 6.0e-1 s\n";
        let rows = [row("calls/0", 600_000.0), row("calls/100000", 500_000.0)].concat();
        assert_eq!(read_rates(&job("calls"), 300_000, calls), rows);
        assert_eq!(read_rates(&job("calls"), 0, calls), rows);
        let program = "programs/json 300 in 0.25 s\n";
        assert_eq!(read_times(&job("programs json"), 300, program), row("programs/json", 250.0));
        assert!(read_times(&job("programs json"), 301, program).is_empty());
        let all = "programs/dialyzer 0 in 2.5 s\n";
        assert_eq!(read_times(&job("programs json"), 0, all), row("programs/dialyzer", 2500.0));
        let loaded = "loading 87 in 0.25 s\n";
        assert_eq!(read_loading(&job("loading"), 0, loaded), row("loading", 250.0));
        let size = "codesize 2048 bytes 87 modules\n";
        assert_eq!(read_size(&job("codesize"), 0, size), row("codesize", 2.0));
    }

    #[test]
    fn a_wrong_count_is_no_result() {
        assert!(read_zog(&job("ring 1000"), 999_999, ZOG).is_empty());
        assert!(read_zog(&job("ring 100"), 1_000_000, ZOG).is_empty());
        let pipes = "(total run (N:10 K:10000 Par:8) 873ms 91583/s)\n";
        assert!(read_pipes(&job("pipes"), 80_001, pipes).is_empty());
        let waiting = "waiting 540.672 bytes 1000 processes\n";
        assert!(read_waiting(&job("memory"), 1_000_000, waiting).is_empty());
        assert!(read_rates(&job("pingpong"), 10, "pingpong 9 in 1.0 s\n").is_empty());
        assert!(read_rates(&job("pingpong"), 10, "pingpong 10 in 1.0 s\nerror\n").is_empty());
    }

    #[test]
    fn a_ring_of_one_says_nothing_of_spawning() {
        let text = "Setup : 8.0e-6 s (8.0 us per spawn) (1 spawns)\n\
                    Run : 0.17595 s (0.17595 us per msg) (1000000 msgs)\n";
        assert_eq!(read_zog(&job("ring 1"), 1_000_000, text).len(), 1);
    }
}
