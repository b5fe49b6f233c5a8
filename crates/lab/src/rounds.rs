//! Rounds: every job on every peer in turn, A B C D B C D A, each in a fresh process. The first
//! peer rotates, so that no peer always runs after the same other one (and its dirty pages).

use crate::experiments::{Ask, Job};
use crate::memory_warmup::{Need, Warm};
use crate::options::LabOptions;
use crate::peers::{LineUp, Peer, PeerKind};
use crate::programs::Folder;
use crate::progress::{one_too_many, Progress};
use crate::run::{interrupted, run, tail, RunResult};
use crate::summary::fills;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::time::{Duration, Instant};

/// A job is not repeated for a peer after this many failures.
const MAX_FAILURES: usize = 2;
/// Maximum repeats of a disturbed run.
const REPEATS: usize = 2;
/// Maximum fraction of the time spent on repeats.
const REPEATING: f64 = 0.2;

#[derive(Default)]
pub struct Results {
    /// row, then peer (index in the line-up), then a value for each run.
    pub values: BTreeMap<String, BTreeMap<usize, Vec<Option<f64>>>>,
    /// job and peer, and why it failed.
    pub faults: BTreeMap<(String, usize), Vec<String>>,
    pub rounds: usize,
    /// job and peer, and the missing requirement.
    pub missing: BTreeMap<(String, usize), String>,
    /// What programs said of their rows beside the figures.
    pub notes: BTreeSet<String>,
    /// job and peer, and the resources used by each run that counts.
    pub runs: BTreeMap<(String, usize), Vec<Run>>,
    /// job and peer, and the command.
    pub commands: BTreeMap<(String, usize), String>,
    pub seconds: f64,
    /// Part of that spent on repeating disturbed runs.
    pub repeating_seconds: f64,
    /// Part of that spent on memory warm-up.
    pub warming_seconds: f64,
    pub interrupted: bool,
}

impl Results {
    /// Missing requirements of jobs, without duplicates.
    pub fn lacks(&self) -> Vec<String> {
        let mut all: Vec<String> =
            self.missing.iter().map(|((job, _), what)| format!("{job}: {what}")).collect();
        all.dedup();
        all
    }
}

/// A run without its output.
pub struct Run {
    pub wall_seconds: f64,
    pub cpu_seconds: f64,
    pub peak_kb: u64,
    pub switches: u64,
    pub outside_cores: f64,
    pub disturbed: bool,
    pub repeats: usize,
}

/// A scheduled run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RoundStep {
    pub round: usize,
    /// Index among the runs of this job.
    time: usize,
    pub job: usize,
    pub peer: usize,
}

#[cfg(test)]
impl RoundStep {
    pub fn new(round: usize, job: usize, peer: usize) -> RoundStep {
        RoundStep { round, time: round, job, peer }
    }
}

/// All runs in order.
fn plan(line_up: &LineUp, jobs: &[Job], rounds: usize) -> Vec<RoundStep> {
    let mut steps = Vec::new();
    for round in 0..rounds {
        for (index, job) in jobs.iter().enumerate().filter(|(_, job)| round < job.rounds) {
            let able = |peer: &usize| {
                let peer = &line_up.peers[*peer];
                job.ask(peer).is_some()
            };
            let peers: Vec<usize> = (0..line_up.peers.len()).filter(able).collect();
            for time in round * job.times..(round + 1) * job.times {
                let mut order = peers.clone();
                // The first round tells the others what saturates OTP.
                order.sort_by_key(|peer| job.driven && line_up.peers[*peer].kind != PeerKind::Otp);
                order.rotate_left(time % peers.len().max(1));
                steps.extend(order.iter().map(|&peer| RoundStep { round, time, job: index, peer }));
            }
        }
    }
    steps
}

/// State shared by all runs.
struct Lab<'a> {
    line_up: &'a LineUp,
    jobs: &'a [Job],
    work: &'a Folder,
    limit: Option<u64>,
    begin: Instant,
}

pub fn measure(line_up: &LineUp, jobs: &[Job], work: &Folder, options: &LabOptions) -> Results {
    let begin = Instant::now();
    let lab = Lab { line_up, jobs, work, limit: options.limit, begin };
    let mut warm = Warm::new();
    let mut results = Results::default();
    let steps = plan(line_up, jobs, options.rounds);
    let mut progress = Progress::new(&steps, options.rounds, options.budget);
    for (index, step) in steps.iter().enumerate() {
        if index > 0 && steps[index - 1].round != step.round {
            results.rounds = step.round;
            let end = begin.elapsed() + progress.takes(step.round);
            let budget = options.budget.map(Duration::from_secs);
            if budget.is_some_and(|budget| one_too_many(step.round, end, budget)) {
                break;
            }
        }
        progress.show(index, &jobs[step.job].name(), &line_up.peers[step.peer].label);
        let wall = Instant::now();
        one(&lab, &mut results, &mut warm, step);
        progress.took(step, wall.elapsed());
        if interrupted() {
            results.interrupted = true;
            break;
        }
        if index + 1 == steps.len() {
            results.rounds = options.rounds;
        }
    }
    progress.clear();
    results.seconds = begin.elapsed().as_secs_f64();
    results.warming_seconds = warm.time.as_secs_f64();
    results
}

/// A shell that sets the descriptor limit (capped at the hard limit) and then executes the program.
const LIMITED: &str = r#"ulimit -n "$0" 2>/dev/null || ulimit -n "$(ulimit -Hn)"; exec "$@""#;

fn command(lab: &Lab, job: &Job, peer: &Peer, ask: &Ask, rates: &[String]) -> Command {
    let mut command = if job.driven { driver(lab, peer, ask, rates) } else { peer.command() };
    if job.descriptors > 0 {
        let plain = command;
        command = Command::new("sh");
        command.args(["-c", LIMITED, &job.descriptors.to_string()]).arg(plain.get_program());
        command.args(plain.get_args()).envs(peer.env.iter().cloned());
    }
    if job.driven {
        return command;
    }
    if peer.kind.is_erlang() {
        command.arg("-pa").arg(&peer.beams);
    }
    command.args(&ask.args);
    command
}

/// The load generator, which starts the server.
fn driver(lab: &Lab, peer: &Peer, ask: &Ask, rates: &[String]) -> Command {
    let mut command = Command::new(&lab.line_up.load_generator);
    command.args(&ask.args).arg("--beams").arg(&peer.beams);
    command.args(rates).arg("--").arg(&peer.program).args(&peer.flags);
    command.envs(peer.env.iter().cloned());
    command
}

/// What saturated OTP in the first round, for each row of a driven job: `ROW=RATE`.
fn otp_rates(lab: &Lab, results: &Results, job: &Job) -> Vec<String> {
    let Some(otp) = lab.line_up.position(PeerKind::Otp, false) else { return Vec::new() };
    let rate = |(row, values): (&String, &BTreeMap<usize, Vec<Option<f64>>>)| {
        let name = row.strip_prefix("servers/").filter(|_| job.driven && fills(job, row))?;
        let rate = values.get(&otp)?.iter().flatten().next()?;
        Some(format!("{name}={rate:.0}"))
    };
    results.values.iter().filter_map(rate).collect()
}

/// The command as typed in a shell.
fn typed(command: &Command, peer: &Peer) -> String {
    let quoted =
        |word: &str| match word.chars().all(|c| c.is_alphanumeric() || "+-_./:=".contains(c)) {
            true => word.to_owned(),
            false => format!("'{}'", word.replace('\'', "'\\''")),
        };
    let set = peer.env.iter().map(|(name, value)| format!("{name}={value}"));
    let program = [command.get_program().to_string_lossy().into_owned()];
    let args = command.get_args().map(|a| quoted(&a.to_string_lossy()));
    set.chain(program).chain(args).collect::<Vec<_>>().join(" ")
}

/// Runs a job on a peer and records the run that counts.
fn one(lab: &Lab, results: &mut Results, warm: &mut Warm, step: &RoundStep) {
    let (job, peer) = (&lab.jobs[step.job], &lab.line_up.peers[step.peer]);
    let key = (job.name(), step.peer);
    let tired = results.faults.get(&key).is_some_and(|f| f.len() >= MAX_FAILURES)
        || results.missing.contains_key(&key);
    let Some(ask) = job.ask(peer).filter(|_| !tired) else { return };
    let need = Need {
        own_kb: peak_kb(lab.line_up, results, &key).unwrap_or(job.expected_mb << 10),
        beside_kb: job.beside_mb << 10,
    };
    let rates = otp_rates(lab, results, job);
    let once = || {
        let mut command = command(lab, job, peer, &ask, &rates);
        let limit = Duration::from_secs(lab.limit.unwrap_or(job.limit_seconds));
        warm.make_room(need);
        let outcome = run(&mut command, lab.work.path(), limit);
        warm.take_again();
        let outcome = outcome.map_err(Unmeasured::Failed)?;
        rows(job, &ask, &outcome).map(|rows| (outcome, rows))
    };
    results
        .commands
        .entry(key.clone())
        .or_insert_with(|| typed(&command(lab, job, peer, &ask, &rates), peer));
    let (outcome, rows, repeats) = match least_disturbed(once, results, lab.begin) {
        Ok(best) => best,
        Err(_) if interrupted() => return,
        Err(Unmeasured::Failed(why)) => {
            return results.faults.entry(key).or_default().push(why);
        }
        Err(Unmeasured::Lacks(what)) => {
            results.missing.insert(key, what);
            return;
        }
    };
    let noted = outcome.output.lines().filter_map(|line| line.strip_prefix("note "));
    results.notes.extend(noted.map(|note| format!("{note} ({})", peer.label)));
    for (row, value) in rows {
        let cells = results.values.entry(row).or_default().entry(step.peer).or_default();
        cells.resize(step.time, None);
        cells.push(Some(value));
    }
    results.runs.entry(key).or_default().push(Run {
        wall_seconds: outcome.wall_seconds,
        cpu_seconds: outcome.usage.cpu_seconds,
        peak_kb: outcome.usage.peak_kb,
        switches: outcome.usage.switches,
        outside_cores: outcome.outside_cores,
        disturbed: outcome.disturbed(),
        repeats,
    });
}

/// Peak memory in earlier rounds; before the first, that of the same program in another
/// configuration.
fn peak_kb(line_up: &LineUp, results: &Results, (job, peer): &(String, usize)) -> Option<u64> {
    let most =
        |peer: usize| results.runs.get(&(job.clone(), peer))?.iter().map(|run| run.peak_kb).max();
    let peers = &line_up.peers;
    let alike = |other: &usize| peers[*other].kind == peers[*peer].kind;
    most(*peer).or_else(|| (0..peers.len()).filter(alike).filter_map(most).max())
}

type Rows = Vec<(String, f64)>;

/// Why a run has no rows.
#[derive(Debug, PartialEq)]
enum Unmeasured {
    Failed(String),
    /// It needs a tool that is not installed; this is not counted as a failure.
    Lacks(String),
}

/// Runs a job; if others disturbed it, returns the least disturbed of up to three runs, while time
/// allows.
fn least_disturbed(
    mut once: impl FnMut() -> Result<(RunResult, Rows), Unmeasured>,
    results: &mut Results,
    begin: Instant,
) -> Result<(RunResult, Rows, usize), Unmeasured> {
    let (mut best, mut rows) = once()?;
    let mut repeats = 0;
    while best.disturbed() && repeats < REPEATS && !interrupted() {
        let allowed = REPEATING * begin.elapsed().as_secs_f64();
        if results.repeating_seconds + best.wall_seconds > allowed {
            break;
        }
        let (again, its_rows) = once()?;
        results.repeating_seconds += again.wall_seconds;
        repeats += 1;
        if again.outside_cores < best.outside_cores {
            (best, rows) = (again, its_rows);
        }
    }
    Ok((best, rows, repeats))
}

fn rows(job: &Job, ask: &Ask, outcome: &RunResult) -> Result<Rows, Unmeasured> {
    if let Some(what) = outcome.output.strip_prefix("missing ") {
        return Err(Unmeasured::Lacks(what.trim().to_owned()));
    }
    if job.whole {
        let time = (job.experiment.to_owned(), outcome.wall_seconds * 1000.0);
        let memory = job.memory.map(|row| (row.to_owned(), outcome.usage.peak_kb as f64 / 1024.0));
        return Ok(std::iter::once(time).chain(memory).collect());
    }
    let rows = (ask.read)(job, ask.count, &outcome.output);
    if rows.is_empty() || rows.iter().any(|(_, v)| !v.is_finite() || *v <= 0.0) {
        let output = tail(&outcome.output, "");
        let why = format!("printed something else than was asked for: {output}");
        return Err(Unmeasured::Failed(why));
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{experiments, peers};

    fn options(line: &str) -> LabOptions {
        LabOptions::parse(&line.split(' ').map(str::to_owned).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn starting_peer_rotates() {
        let options = options("oneway --peers kvik,kvik1");
        let line_up = peers::find(&options).unwrap();
        let jobs = experiments::chosen(&options).unwrap();
        let order: Vec<_> = plan(&line_up, &jobs, 3).iter().map(|s| (s.round, s.peer)).collect();
        assert_eq!(order, [(0, 0), (0, 1), (1, 1), (1, 0), (2, 0), (2, 1)]);
    }

    #[test]
    fn stable_results_take_fewer_rounds() {
        let options = options("--peers kvik,kvik1");
        let line_up = peers::find(&options).unwrap();
        let jobs = experiments::chosen(&options).unwrap();
        let steps = plan(&line_up, &jobs, 7);
        let rounds = |name: &str, id: &str| {
            let meant =
                |s: &&RoundStep| jobs[s.job].name() == name && line_up.peers[s.peer].id == id;
            steps.iter().filter(meant).count()
        };
        let of = |name| (rounds(name, "kvik"), rounds(name, "kvik1"));
        assert_eq!((of("memory"), of("oneway"), of("files")), ((3, 3), (7, 7), (7, 7)));
        assert_eq!((of("pairs"), of("codesize")), ((7, 0), (3, 0)));
    }

    fn outcome(outside_cores: f64) -> (RunResult, Rows) {
        let usage = kvik_sys::usage::Usage::default();
        let output = String::new();
        (RunResult { output, wall_seconds: 0.001, usage, outside_cores }, Vec::new())
    }

    #[test]
    fn disturbed_runs_are_repeated_and_the_calmest_counts() {
        let begin = Instant::now() - Duration::from_secs(100);
        let mut results = Results::default();
        let loads = std::cell::RefCell::new(vec![40.0, 50.0, 60.0]);
        let once = || Ok(outcome(loads.borrow_mut().pop().unwrap()));
        let (best, _, repeats) = least_disturbed(once, &mut results, begin).unwrap();
        assert_eq!((best.outside_cores, repeats), (40.0, 2));
        let (best, _, repeats) =
            least_disturbed(|| Ok(outcome(0.05)), &mut results, begin).unwrap();
        assert_eq!((best.outside_cores, repeats), (0.05, 0));
        let failed = || Unmeasured::Failed("no".to_owned());
        let found = least_disturbed(|| Err(failed()), &mut results, begin);
        assert_eq!(found.err(), Some(failed()));
    }
}
