//! Rounds: every job on every peer in turn, A B C D B C D A, each in a fresh process. Each time
//! another peer begins, so that nobody always has the same one before it (and its dirty pages).

use crate::experiments::Job;
use crate::options::Options;
use crate::peers::{Kind, LineUp, Peer};
use crate::run::{run, Outcome};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// A peer that failed this often at a job is not asked again.
const PATIENCE: usize = 2;

#[derive(Default)]
pub struct Results {
    /// row, then peer (index in the line-up), then a value for each time it was run.
    pub values: BTreeMap<String, BTreeMap<usize, Vec<Option<f64>>>>,
    /// job and peer, and why it failed.
    pub faults: BTreeMap<(String, usize), Vec<String>>,
    pub rounds: usize,
    pub peak_kb: BTreeMap<(String, usize), u64>,
    pub busy_cores: BTreeMap<(String, usize), Vec<f64>>,
    pub seconds: f64,
}

pub fn measure(line_up: &LineUp, jobs: &[Job], folder: &Path, options: &Options) -> Results {
    let begin = Instant::now();
    let mut results = Results::default();
    for round in 0..options.rounds {
        let round_begin = Instant::now();
        for (job, time) in jobs.iter().flat_map(|j| (0..j.times).map(move |t| (j, t))) {
            let time = round * job.times + time;
            let mut order: Vec<_> = line_up.peers.iter().enumerate().collect();
            order.rotate_left(time % line_up.peers.len());
            for (index, peer) in order {
                progress(round, options.rounds, &job.name(), peer, begin);
                one(&mut results, time, job, index, peer, folder);
            }
        }
        results.rounds = round + 1;
        if out_of_time(options, round + 1, begin.elapsed(), round_begin.elapsed()) {
            break;
        }
    }
    clear_progress();
    results.seconds = begin.elapsed().as_secs_f64();
    results
}

fn out_of_time(options: &Options, done: usize, spent: Duration, last: Duration) -> bool {
    options.budget.is_some_and(|budget| done >= 3 && (spent + last).as_secs() >= budget)
}

/// How that peer does that job, if it does.
fn command(job: &Job, peer: &Peer, folder: &Path) -> Option<Command> {
    if peer.kind == Kind::C {
        let (program, args) = job.in_c.as_ref()?;
        let mut command = Command::new(folder.join(program));
        command.args(args);
        return Some(command);
    }
    let mut command = peer.command();
    command.args(&job.args);
    Some(command)
}

/// The `time`-th run of a job by a peer.
fn one(results: &mut Results, time: usize, job: &Job, index: usize, peer: &Peer, folder: &Path) {
    let key = (job.name(), index);
    let tired = results.faults.get(&key).is_some_and(|f| f.len() >= PATIENCE);
    let Some(mut command) = command(job, peer, folder).filter(|_| !tired) else { return };
    let outcome = run(&mut command, folder, Duration::from_secs(job.limit_seconds));
    match outcome.and_then(|o| rows(job, &o).map(|rows| (o, rows))) {
        Ok((outcome, rows)) => {
            for (row, value) in rows {
                let cells = results.values.entry(row).or_default().entry(index).or_default();
                cells.resize(time, None);
                cells.push(Some(value));
            }
            let peak = results.peak_kb.entry(key.clone()).or_default();
            *peak = (*peak).max(outcome.peak_kb);
            results.busy_cores.entry(key).or_default().push(outcome.busy_cores);
        }
        Err(fault) => results.faults.entry(key).or_default().push(fault),
    }
}

fn rows(job: &Job, outcome: &Outcome) -> Result<Vec<(String, f64)>, String> {
    if job.experiment == "start" {
        return Ok(vec![("start".to_owned(), outcome.wall_ms)]);
    }
    let rows = (job.read)(job, &outcome.output);
    if rows.is_empty() || rows.iter().any(|(_, v)| !v.is_finite() || *v <= 0.0) {
        return Err(format!("printed something else: {}", outcome.output.trim()));
    }
    Ok(rows)
}

fn progress(round: usize, rounds: usize, job: &str, peer: &Peer, begin: Instant) {
    let seconds = begin.elapsed().as_secs();
    eprint!("\r\x1b[Kround {}/{rounds}  {job} on {}  ({seconds} s)", round + 1, peer.label);
    // A terminal that is gone does not concern the measurement.
    let _ = std::io::stderr().flush();
}

fn clear_progress() {
    eprint!("\r\x1b[K");
}
