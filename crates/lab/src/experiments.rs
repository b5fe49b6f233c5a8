//! What is run, and how its output is read.
//!
//! A `Job` is one start of a machine; it may fill several rows. A row's id is `EXPERIMENT/detail`.

use crate::options::Options;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    More,
    Less,
}

/// What a job's output says: row id and value.
pub type Reader = fn(&Job, &str) -> Vec<(String, f64)>;

#[derive(Clone)]
pub struct Job {
    pub experiment: &'static str,
    /// Short text that tells this job from the others of its experiment.
    pub detail: String,
    pub args: Vec<String>,
    pub read: Reader,
    pub limit_seconds: u64,
    /// The program in C that does the same, and its arguments.
    pub in_c: Option<(&'static str, Vec<String>)>,
    /// How often it is run in each round: more than once where a run is short and its rows many.
    pub times: usize,
}

impl Job {
    pub fn name(&self) -> String {
        if self.detail.is_empty() {
            self.experiment.to_owned()
        } else {
            format!("{} {}", self.experiment, self.detail)
        }
    }
}

/// How the rows of an experiment are shown.
pub struct Subject {
    pub id: &'static str,
    pub title: &'static str,
    pub question: &'static str,
    pub unit: &'static str,
    pub better: Better,
    pub chart: Chart,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chart {
    /// A bar for each peer and row.
    Bars,
    /// A line for each peer over the number in the row's detail.
    Lines,
    /// Four charts, one for each pattern, by block size.
    Files,
}

pub const SUBJECTS: &[Subject] = &[
    Subject {
        id: "oneway",
        title: "One-way messages",
        question: "How many messages a second does one process take from another?",
        unit: "messages/s",
        better: Better::More,
        chart: Chart::Bars,
    },
    Subject {
        id: "pingpong",
        title: "Ping-pong",
        question: "How many round trips a second, and are all schedulers as fast as one?",
        unit: "round trips/s",
        better: Better::More,
        chart: Chart::Bars,
    },
    Subject {
        id: "ring",
        title: "A message in a ring of processes",
        question: "Does a message cost the same however many processes there are?",
        unit: "µs/message",
        better: Better::Less,
        chart: Chart::Lines,
    },
    Subject {
        id: "spawn",
        title: "Starting processes",
        question: "Does a process cost the same to start however many there are?",
        unit: "µs/spawn",
        better: Better::Less,
        chart: Chart::Lines,
    },
    Subject {
        id: "memory",
        title: "A process that waits",
        question: "How much memory does a process hold that only waits?",
        unit: "bytes",
        better: Better::Less,
        chart: Chart::Bars,
    },
    Subject {
        id: "pipes",
        title: "Ports under load",
        question: "How many lines a second pass through eighty programs in eight rings?",
        unit: "lines/s",
        better: Better::More,
        chart: Chart::Bars,
    },
    Subject {
        id: "files",
        title: "File I/O",
        question: "How fast do blocks of each size pass through ordinary and raw files?",
        unit: "MB/s",
        better: Better::More,
        chart: Chart::Files,
    },
    Subject {
        id: "scheduling",
        title: "Switching between processes",
        question: "What does it cost to switch, counted from inside during ping-pong?",
        unit: "ns/switch",
        better: Better::Less,
        chart: Chart::Bars,
    },
    Subject {
        id: "start",
        title: "Start and halt",
        question: "How long until a machine has booted OTP and ended again?",
        unit: "ms",
        better: Better::Less,
        chart: Chart::Bars,
    },
];

pub fn subject(id: &str) -> Option<&'static Subject> {
    SUBJECTS.iter().find(|s| s.id == id)
}

pub fn chosen(options: &Options) -> Result<Vec<Job>, String> {
    for name in &options.experiments {
        if subject(name).is_none() {
            return Err(format!("no experiment named {name}"));
        }
    }
    let wanted = |job: &Job| {
        options.experiments.is_empty()
            || options
                .experiments
                .iter()
                .any(|e| e == job.experiment || (job.experiment == "ring" && e == "spawn"))
    };
    Ok(all(options.quick).into_iter().filter(wanted).collect())
}

fn all(quick: bool) -> Vec<Job> {
    let rounds = if quick { "3000000" } else { "" };
    let mut jobs = vec![
        eval("oneway", "io:format(\"~p~n\", [ipctest:oneway()]), halt()."),
        eval("pingpong", &format!("io:format(\"~p~n\", [ipctest:pingpong({rounds})]), halt().")),
    ];
    let sizes: &[usize] = if quick {
        &[1, 1_000, 100_000, 1_000_000]
    } else {
        &[1, 10, 100, 1_000, 10_000, 100_000, 1_000_000]
    };
    jobs.extend(sizes.iter().map(|&n| ring(n)));
    jobs.push(start("memory", "", &["waiting", "start", "200000"], read_waiting));
    let lines = if quick { "10000" } else { "100000" };
    jobs.push(start("pipes", "", &["pipe_ring", "start", "10", lines, "8"], read_pipes));
    jobs.push(files(quick));
    jobs.push(start("scheduling", "", &["switches", "start", "1500"], read_switches));
    jobs.push(Job { read: read_nothing, ..eval("start", "halt().") });
    jobs
}

fn eval(experiment: &'static str, code: &str) -> Job {
    Job {
        experiment,
        detail: String::new(),
        args: ["-noshell", "-noinput", "-eval", code].map(str::to_owned).to_vec(),
        read: read_number,
        limit_seconds: 120,
        in_c: None,
        times: 1,
    }
}

fn start(experiment: &'static str, detail: &str, what: &[&str], read: Reader) -> Job {
    let mut args: Vec<String> =
        ["+P", "2000000", "-noshell", "-noinput", "-s"].map(str::to_owned).to_vec();
    args.extend(what.iter().map(|w| (*w).to_owned()));
    Job {
        experiment,
        detail: detail.to_owned(),
        args,
        read,
        limit_seconds: 180,
        in_c: None,
        times: 1,
    }
}

fn ring(n: usize) -> Job {
    let code = format!("zog:start({n}), halt().");
    let mut job = eval("ring", &code);
    job.args.splice(0..0, ["+P".to_owned(), "2000000".to_owned()]);
    job.detail = n.to_string();
    job.read = read_zog;
    job
}

fn files(quick: bool) -> Job {
    let dir = std::env::temp_dir().display().to_string();
    let sizes: &[&str] = if quick { &["16", "1", "8", "64", "1024"] } else { &["100"] };
    let matrix = [&[dir.as_str()], sizes].concat();
    let mut job =
        start("files", "", &[&["file_matrix", "start"], &matrix[..]].concat(), read_files);
    job.in_c = Some(("files", matrix.iter().map(|a| (*a).to_owned()).collect()));
    job.limit_seconds = 400;
    job.times = if quick { 2 } else { 1 };
    job
}

// ---- reading what the programs print ---------------------------------------

fn read_nothing(_: &Job, _: &str) -> Vec<(String, f64)> {
    Vec::new()
}

fn read_number(job: &Job, text: &str) -> Vec<(String, f64)> {
    let value = text.lines().rev().find_map(|l| l.trim().parse().ok());
    value.map(|v| (job.experiment.to_owned(), v)).into_iter().collect()
}

/// The number before ` UNIT` in a line that begins with `start`.
fn number_before(text: &str, start: &str, unit: &str) -> Option<f64> {
    let line = text.lines().find(|l| l.starts_with(start))?;
    let (before, _) = line.split_once(unit)?;
    let digits =
        before.rsplit(|c: char| !(c.is_ascii_alphanumeric() || ".-+".contains(c))).next()?;
    digits.parse().ok()
}

fn read_zog(job: &Job, text: &str) -> Vec<(String, f64)> {
    let message = number_before(text, "Run :", " us per msg");
    let spawn = number_before(text, "Setup :", " us per spawn");
    let mut rows = Vec::new();
    rows.extend(message.map(|v| (format!("ring/{}", job.detail), v)));
    // Starting a single process measures the clock more than the process.
    if job.detail.len() > 2 {
        rows.extend(spawn.map(|v| (format!("spawn/{}", job.detail), v)));
    }
    rows
}

fn read_waiting(_: &Job, text: &str) -> Vec<(String, f64)> {
    let bytes = number_before(text, "waiting ", " bytes");
    bytes.map(|v| ("memory".to_owned(), v)).into_iter().collect()
}

fn read_pipes(_: &Job, text: &str) -> Vec<(String, f64)> {
    let rate = number_before(text, "(total run", "/s)");
    rate.map(|v| ("pipes".to_owned(), v)).into_iter().collect()
}

fn read_switches(_: &Job, text: &str) -> Vec<(String, f64)> {
    let line = text.lines().find(|l| l.starts_with("switches "));
    let value = line.and_then(|l| l.rsplit(' ').next()?.parse().ok());
    value.map(|v| ("scheduling".to_owned(), v)).into_iter().collect()
}

/// `(sequential_read raw 64KB: 19 ms 5249 MB/s)`
fn read_files(_: &Job, text: &str) -> Vec<(String, f64)> {
    text.lines().filter_map(read_file_cell).collect()
}

fn read_file_cell(line: &str) -> Option<(String, f64)> {
    let mut words = line.strip_prefix('(')?.split(' ');
    let (pattern, handle, block) = (words.next()?, words.next()?, words.next()?);
    let block = block.strip_suffix("KB:")?;
    let rate = line.strip_suffix(" MB/s)")?.rsplit(' ').next()?.parse().ok()?;
    Some((format!("files/{pattern}/{handle}/{block}"), rate))
}

/// A row's id as people read it.
pub fn label(row: &str) -> String {
    let parts: Vec<&str> = row.split('/').collect();
    match parts.as_slice() {
        ["ring", n] => format!("ring message, N = {}", grouped(n)),
        ["spawn", n] => format!("spawn, N = {}", grouped(n)),
        ["files", pattern, handle, block] => {
            format!("{} {handle} {block} KB", pattern.replace('_', " "))
        }
        ["oneway"] => "one-way".to_owned(),
        ["pingpong"] => "ping-pong".to_owned(),
        ["memory"] => "a waiting process".to_owned(),
        ["pipes"] => "pipe ring".to_owned(),
        ["scheduling"] => "a switch".to_owned(),
        ["start"] => "start and halt".to_owned(),
        _ => row.to_owned(),
    }
}

/// `1000000` as `1,000,000`.
pub fn grouped(digits: &str) -> String {
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_printed_lines() {
        let text = "Setup : 0.002203 s (2.203 us per spawn) (1000 spawns)\n\
                    Run : 0.506515 s (0.506515 us per msg) (1000000 msgs)\n";
        let rows = read_zog(&ring(1000), text);
        assert_eq!(rows, [("ring/1000".to_owned(), 0.506515), ("spawn/1000".to_owned(), 2.203)]);
        let small = "Setup : 8.0e-6 s (8.0e-1 us per spawn) (1 spawns)\n";
        assert_eq!(number_before(small, "Setup :", " us per spawn"), Some(0.8));
        let pipes = "(total run (N:10 K:10000 Par:8) 873ms 91583/s)\n";
        let job = start("pipes", "", &[], read_pipes);
        assert_eq!(read_pipes(&job, pipes), [("pipes".to_owned(), 91583.0)]);
        let cell = "(random_write raw 1KB: 1078 ms 97 MB/s)";
        assert_eq!(read_file_cell(cell), Some(("files/random_write/raw/1".to_owned(), 97.0)));
        let switches = "switches 4.0e6 /s reductions 9.1e7 /s ns 240.5\n";
        assert_eq!(read_switches(&job, switches), [("scheduling".to_owned(), 240.5)]);
    }

    #[test]
    fn a_ring_of_one_says_nothing_of_spawning() {
        let text = "Setup : 8.0e-6 s (8.0 us per spawn) (1 spawns)\n\
                    Run : 0.17595 s (0.17595 us per msg) (1000000 msgs)\n";
        assert_eq!(read_zog(&ring(1), text).len(), 1);
    }

    #[test]
    fn groups_digits() {
        assert_eq!(grouped("1000000"), "1,000,000");
        assert_eq!(grouped("100"), "100");
    }
}
