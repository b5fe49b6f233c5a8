//! What is run. A `Job` is one start of one program; it may fill several rows.

use super::read::Reader;
use super::read::{read_bandwidths, read_files, read_nothing, read_number, read_opens, read_pipes};
use super::read::{read_driven, read_loading, read_rates, read_size, read_switches, read_times};
use super::read::{read_tuned_files, read_waiting, read_zog};
use super::sizes::{pace, ExperimentSizes, PortSizes, NAMED, QUICK, WHOLE};
use super::subject;
use crate::options::LabOptions;
use crate::peers::{Peer, PeerKind};
use crate::servers;

#[derive(Clone)]
pub struct Job {
    pub experiment: &'static str,
    /// Distinguishes this job from the others of its experiment.
    pub detail: String,
    /// Arguments of the Erlang machines; `COUNT` is replaced by the number of messages.
    args: Vec<String>,
    read: Reader,
    /// The equivalent for programs in other languages.
    task: Task,
    /// Number of messages, unless the peer is slow; 0 if not applicable.
    count: u64,
    /// The output must report this multiple of `count`; 0 if it reports none.
    told: u64,
    pub limit_seconds: u64,
    /// Runs in each round: several if runs are short and have many rows.
    pub times: usize,
    /// Maximum rounds: few if a run is long and its result stable.
    pub rounds: usize,
    /// Skip for peers limited to one scheduler.
    unbound: bool,
    /// Limit of open descriptors (`ulimit -n`); 0 for the lab's own limit.
    pub descriptors: u64,
    /// The result is the program's run time.
    pub whole: bool,
    /// The row for peak memory.
    pub memory: Option<&'static str>,
    /// Memory estimate before the first run, and below memory not counted as the program's own
    /// (page cache, page tables, pipes): that much is made available before it starts.
    pub expected_mb: u64,
    pub beside_mb: u64,
    /// The load generator (`servers`) starts the machine, and measures it.
    pub driven: bool,
}

#[derive(Clone)]
enum Task {
    /// Erlang only.
    None,
    /// The C program with these arguments.
    InC(Vec<String>),
    /// Message passing, with the number of processes if that matters.
    Talk { size: Option<u64> },
}

/// One start of one peer: its arguments, the parser of its output, and the count it must report.
pub struct Ask {
    pub args: Vec<String>,
    pub read: Reader,
    pub count: u64,
}

/// Operating system threads: a number that every system allows.
const MOST_THREADS: u64 = 1000;
/// Placeholder in arguments for the number of messages.
const COUNT: &str = "COUNT";

impl Job {
    pub fn name(&self) -> String {
        if self.detail.is_empty() {
            self.experiment.to_owned()
        } else {
            format!("{} {}", self.experiment, self.detail)
        }
    }
    /// The Erlang command line in one line, independent of where the files are.
    pub fn work(&self) -> String {
        let of = |kind| self.erlang_args(kind).join(" ");
        let (ours, theirs) = (of(PeerKind::Kvik), of(PeerKind::Otp));
        let work = if ours == theirs { ours } else { format!("{ours} | {theirs}") };
        work.replace(&std::env::temp_dir().display().to_string(), "TMPDIR")
    }
    /// Number of messages for a peer of that kind.
    fn count_of(&self, kind: PeerKind) -> u64 {
        self.count / pace(self.experiment, kind)
    }
    fn erlang_args(&self, kind: PeerKind) -> Vec<String> {
        let count = self.count_of(kind).to_string();
        self.args.iter().map(|arg| arg.replace(COUNT, &count)).collect()
    }
    /// Time limit of a cell in the files experiment, if any: `40ms`.
    pub fn cell_limit(&self) -> Option<&str> {
        let is_limit =
            |arg: &&String| arg.strip_suffix("ms").is_some_and(|n| n.parse::<u64>().is_ok());
        self.args.iter().find(is_limit).filter(|_| self.experiment == "files").map(String::as_str)
    }
    /// How that peer does this job, if it can.
    pub fn ask(&self, peer: &Peer) -> Option<Ask> {
        let count = self.count_of(peer.kind);
        if peer.kind.is_erlang() {
            let args = self.erlang_args(peer.kind);
            let able = !(self.unbound && peer.single);
            return able.then_some(Ask { args, read: self.read, count: count * self.told });
        }
        match (&self.task, peer.kind) {
            (Task::InC(args), PeerKind::CBlocking) => {
                let (first, rest) = args.split_first().filter(|(first, _)| *first == "pipes")?;
                let name = first.replace("pipes", "blocking");
                let args = std::iter::once(name).chain(rest.iter().cloned()).collect();
                Some(Ask { args, read: self.read, count })
            }
            (Task::InC(args), PeerKind::C) => {
                Some(Ask { args: args.clone(), read: self.read, count })
            }
            (Task::Talk { size }, PeerKind::Go | PeerKind::Tokio | PeerKind::JavaVirtual) => {
                Some(self.talk(*size, count))
            }
            (Task::Talk { size }, PeerKind::JavaThreads) => match (self.experiment, size) {
                ("memory", _) => Some(self.talk(Some(MOST_THREADS), count)),
                (_, Some(size)) if *size > MOST_THREADS => None,
                (_, size) => Some(self.talk(*size, count)),
            },
            _ => None,
        }
    }
    fn talk(&self, size: Option<u64>, count: u64) -> Ask {
        let waiting = self.experiment == "memory";
        let what = if waiting { "waiting" } else { self.experiment };
        let numbers = size.into_iter().chain((!waiting).then_some(count));
        let args = [what.to_owned()].into_iter().chain(numbers.map(|n| n.to_string())).collect();
        let read =
            if matches!(self.experiment, "ring" | "memory") { self.read } else { read_rates };
        Ask { args, read, count: size.filter(|_| waiting).unwrap_or(count) }
    }
}

pub fn chosen(options: &LabOptions) -> Result<Vec<Job>, String> {
    for name in &options.experiments {
        if subject(name).is_none() && !is_workload(name) {
            return Err(unknown(name));
        }
    }
    let wanted = |job: &Job| {
        (options.experiments.is_empty() && !job.driven)
            || options.experiments.iter().any(|e| {
                e == job.experiment || (job.experiment == "ring" && e == "spawn") || names(job, e)
            })
    };
    let sizes = match (options.quick, options.experiments.is_empty()) {
        (true, _) => &QUICK,
        (_, true) => &WHOLE,
        _ => &NAMED,
    };
    let driven = servers::names().map(|name| workload(name, options.quick));
    let mut jobs: Vec<Job> = all(sizes).into_iter().chain(driven).filter(wanted).collect();
    if !options.experiments.is_empty() {
        // Experiments named on the command line run in every round.
        for job in &mut jobs {
            job.rounds = usize::MAX;
        }
    }
    Ok(jobs)
}

fn unknown(name: &str) -> String {
    let full = format!("servers/{name}");
    let hint = match name.starts_with("servers/") {
        true => format!("; there are {}", servers::names().collect::<Vec<_>>().join(" ")),
        false if is_workload(&full) => format!("; did you mean {full}?"),
        false => "; `kvik bench --help` lists them".to_owned(),
    };
    format!("no experiment named {name}{hint}")
}

fn all(sizes: &ExperimentSizes) -> Vec<Job> {
    let says = |call: &str| format!("io:format(\"~p~n\", [{call}({COUNT})]), halt().");
    let talk = Task::Talk { size: None };
    let mut jobs = vec![
        Job {
            task: talk.clone(),
            count: sizes.oneway,
            expected_mb: sizes.oneway * TAKEN_BY_MILLION_MESSAGES / 1_000_000,
            ..eval("oneway", &says("ipctest:oneway"))
        },
        Job { task: talk, count: sizes.pingpong, ..eval("pingpong", &says("ipctest:pingpong")) },
    ];
    jobs.extend(sizes.ring.iter().map(|&n| ring(n, sizes.ring_messages)));
    let waiting = Job {
        task: Task::Talk { size: Some(sizes.waiting) },
        count: sizes.waiting,
        ..start("memory", &["waiting", "start", COUNT], read_waiting)
    };
    jobs.push(Job { rounds: STABLE_ROUNDS, ..crowded(waiting, sizes.waiting) });
    let calls = start("calls", &["calls", "start", COUNT, "100000"], read_rates);
    jobs.push(Job { count: sizes.calls, ..calls });
    jobs.extend(crowd(sizes));
    jobs.push(Job { count: sizes.lives, ..start("lives", &["lives", "start", COUNT], read_rates) });
    jobs.push(pipes("pipes", [10, sizes.lines, 8]));
    jobs.push(pipes("oneport", [1, sizes.lines_of_one, 1]));
    jobs.extend(sizes.ports.iter().flat_map(ports));
    jobs.push(files(sizes.files));
    jobs.extend(sizes.tuned.then(|| tuned(files(sizes.files))));
    let ms = sizes.switching_ms.to_string();
    jobs.push(start("scheduling", &["switches", "start", &ms], read_switches));
    jobs.extend(whole_files(sizes));
    jobs.push(Job {
        read: read_nothing,
        whole: true,
        memory: Some("startmemory"),
        ..eval("start", "halt().")
    });
    jobs.extend(loading());
    jobs.extend(FAMILIES.iter().map(|family| work(family, sizes.work)));
    jobs.extend(sizes.programs.iter().map(|&(name, size)| program(name, size)));
    jobs
}

/// `servers/http` means all workloads whose names begin so.
fn names(job: &Job, name: &str) -> bool {
    let workload = name.strip_prefix("servers/").filter(|_| job.driven);
    let rest = workload.and_then(|workload| job.detail.strip_prefix(workload));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn is_workload(name: &str) -> bool {
    servers::names().any(|workload_name| names(&workload(workload_name, true), name))
}

fn workload(name: &str, quick: bool) -> Job {
    let args = [words(&[name]), words(if quick { &["--quick"] } else { &[] })].concat();
    Job {
        detail: name.to_owned(),
        args,
        read: read_driven,
        unbound: true,
        descriptors: SERVER_DESCRIPTORS,
        limit_seconds: 300,
        expected_mb: 256,
        driven: true,
        ..eval("servers", "")
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|w| (*w).to_owned()).collect()
}

fn eval(experiment: &'static str, code: &str) -> Job {
    Job {
        experiment,
        detail: String::new(),
        args: words(&["-noshell", "-noinput", "-eval", code]),
        read: read_number,
        task: Task::None,
        count: 0,
        told: 1,
        limit_seconds: 120,
        times: 1,
        rounds: usize::MAX,
        unbound: false,
        descriptors: 0,
        whole: false,
        memory: None,
        expected_mb: 64,
        beside_mb: 128,
        driven: false,
    }
}

fn start(experiment: &'static str, what: &[&str], read: Reader) -> Job {
    let mut args = words(&["+P", "2000000", "-noshell", "-noinput", "-s"]);
    args.extend(words(what));
    Job { args, read, limit_seconds: 180, ..eval(experiment, "") }
}

/// Megabytes for a million processes in the peer that needs most, and for a million messages in a
/// mailbox.
const TAKEN_BY_MILLION: u64 = 2800;
const TAKEN_BY_MILLION_MESSAGES: u64 = 100;
/// Page cache of a rewritten file of 100 MB.
const BESIDE_FILE: u64 = 256;
/// The same for several files, and the memory of a thousand small programs.
const BESIDE_FILES: u64 = 512;
/// Rounds for results that hardly vary.
const STABLE_ROUNDS: usize = 3;

fn ring(n: u64, messages: u64) -> Job {
    let mut job = eval("ring", &format!("zog:start({n}, {COUNT}), halt()."));
    job.args.splice(0..0, words(&["+P", "2000000"]));
    let task = Task::Talk { size: Some(n) };
    let plain = Job { detail: n.to_string(), task, count: messages, read: read_zog, ..job };
    crowded(plain, n)
}

/// Reserves memory for that many processes.
fn crowded(job: Job, n: u64) -> Job {
    Job { expected_mb: job.expected_mb.max(TAKEN_BY_MILLION * n / 1_000_000), ..job }
}

/// Jobs that need two schedulers. One pair does half the round trips of two, so its count is not
/// checked.
fn crowd(sizes: &ExperimentSizes) -> [Job; 2] {
    [("senders", sizes.senders, 8), ("pairs", sizes.pairs, 0)].map(|(which, count, told)| {
        let job = start(which, &["crowd", which, COUNT], read_rates);
        let args = [words(&["+S", "2:2"]), job.args].concat();
        Job { args, count, told, unbound: true, ..job }
    })
}

fn pipes(experiment: &'static str, size: [u64; 3]) -> Job {
    let [_, lines, rings] = size;
    let size = size.map(|n| n.to_string());
    let size: Vec<&str> = size.iter().map(String::as_str).collect();
    let job = start(experiment, &[&["ports", "ring"], &size[..]].concat(), read_pipes);
    Job { task: Task::InC(words(&[&["pipes"], &size[..]].concat())), count: lines * rings, ..job }
}

/// Descriptors for thousands of connections.
const SERVER_DESCRIPTORS: u64 = 16_384;
/// Highest descriptor limit that systems allow; capped at the lab's own limit.
const MOST_DESCRIPTORS: u64 = 1 << 20;

fn ports(sizes: &PortSizes) -> [Job; 4] {
    let [megabytes, opened, rounds] =
        [sizes.megabytes, sizes.opened, sizes.rounds].map(|n| n.to_string());
    let opens = |detail: &str, descriptors| {
        let job = start("portopen", &["ports", "open", &opened], read_opens);
        Job { detail: detail.to_owned(), descriptors, ..job }
    };
    [
        Job {
            task: Task::InC(words(&["lines", &megabytes])),
            ..start("portlines", &["ports", "lines", &megabytes], read_bandwidths)
        },
        opens("1024", 1024),
        opens("most", MOST_DESCRIPTORS),
        Job {
            descriptors: MOST_DESCRIPTORS,
            beside_mb: BESIDE_FILES,
            ..start("manyports", &["ports", "many", "1000", &rounds], read_opens)
        },
    ]
}

fn files(sizes: &[&str]) -> Job {
    let dir = std::env::temp_dir().display().to_string();
    let matrix = [&[dir.as_str()], sizes].concat();
    let job = start("files", &[&["file_matrix", "start"], &matrix[..]].concat(), read_files);
    let task = Task::InC(words(&[&["files"], &matrix[..]].concat()));
    Job { task, limit_seconds: 400, beside_mb: BESIDE_FILE, ..job }
}

/// The same with flags once recommended for fast file access.
fn tuned(job: Job) -> Job {
    let args = [words(&["+K", "true", "+A", "32"]), job.args].concat();
    let detail = "+A 32".to_owned();
    Job { args, detail, read: read_tuned_files, task: Task::None, unbound: true, ..job }
}

/// Families of the small programs; those of one family run one after the other.
const FAMILIES: &[&str] = &["numbers", "lists", "binaries", "data", "control"];

fn work(family: &str, times: u64) -> Job {
    let job = start("work", &["work", "start", family, COUNT], read_rates);
    Job { detail: family.to_owned(), count: times, unbound: true, ..job }
}

fn program(name: &str, size: u64) -> Job {
    let job = start("programs", &["programs", "start", name, COUNT], read_times);
    let beside_mb = BESIDE_FILES;
    Job { detail: name.to_owned(), count: size, unbound: true, beside_mb, ..job }
}

/// Loads all of stdlib: the time, and the native code size, which is constant.
fn loading() -> [Job; 2] {
    let size = start("codesize", &["loading", "size"], read_size);
    let args = [words(&["+JPperf", "map"]), size.args].concat();
    [
        Job { unbound: true, ..start("loading", &["loading", "start"], read_loading) },
        Job { args, unbound: true, rounds: STABLE_ROUNDS, ..size },
    ]
}

fn whole_files(sizes: &ExperimentSizes) -> [Job; 3] {
    let [kb, mb, large] = sizes.read_files;
    let compiles = Job { read: read_nothing, ..eval("compile", "compiles:start().") };
    let readfile = start("readfile", &["readfile", "start", kb, mb, large], read_rates);
    let lines = start("lines", &["lines", "start", COUNT], read_rates);
    [
        Job { beside_mb: BESIDE_FILE, ..readfile },
        Job { count: sizes.text_lines, beside_mb: BESIDE_FILE, ..lines },
        Job { whole: true, ..compiles },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn peer(kind: PeerKind, single: bool) -> Peer {
        Peer {
            id: "x".to_owned(),
            label: "x".to_owned(),
            kind,
            single,
            tool: PathBuf::new(),
            program: PathBuf::new(),
            flags: Vec::new(),
            env: Vec::new(),
            release: String::new(),
            beams: PathBuf::new(),
            version: String::new(),
        }
    }

    fn args(job: &Job, kind: PeerKind) -> Option<String> {
        job.ask(&peer(kind, false)).map(|ask| ask.args.join(" "))
    }

    #[test]
    fn other_languages_are_asked_for_the_same() {
        assert_eq!(args(&ring(1000, 5000), PeerKind::Go).unwrap(), "ring 1000 5000");
        assert_eq!(args(&ring(1_000_000, 5000), PeerKind::Tokio).unwrap(), "ring 1000000 5000");
        assert_eq!(args(&ring(10, 5), PeerKind::C), None);
        let all = all(&QUICK);
        let find = |name: &str| all.iter().find(|j| j.experiment == name).unwrap();
        assert_eq!(args(find("pingpong"), PeerKind::Tokio).unwrap(), "pingpong 500000");
        assert_eq!(args(find("memory"), PeerKind::Go).unwrap(), "waiting 100000");
        assert_eq!(args(find("lives"), PeerKind::Go), None);
        assert!(args(find("files"), PeerKind::C).unwrap().ends_with(" 8 1 8 64 1024"));
        assert_eq!(find("files").cell_limit(), None);
    }

    #[test]
    fn ports_in_c_are_asked_for_the_same() {
        let all = all(&WHOLE);
        let find = |name: &str| all.iter().find(|j| j.experiment == name).unwrap();
        assert_eq!(args(find("pipes"), PeerKind::C).unwrap(), "pipes 10 12500 8");
        assert!(args(find("pipes"), PeerKind::Otp).unwrap().ends_with("-s ports ring 10 12500 8"));
        assert_eq!(args(find("oneport"), PeerKind::C).unwrap(), "pipes 1 12500 1");
        assert_eq!(args(find("portlines"), PeerKind::C).unwrap(), "lines 128");
        assert_eq!(args(find("portlines"), PeerKind::CBlocking), None);
        assert_eq!(args(find("oneport"), PeerKind::CBlocking).unwrap(), "blocking 1 12500 1");
        assert_eq!(args(find("files"), PeerKind::CBlocking), None);
        assert!(args(find("files"), PeerKind::C).unwrap().ends_with(" 100 40ms"));
        assert_eq!(find("files").cell_limit(), Some("40ms"));
        let opens: Vec<_> = all.iter().filter(|j| j.experiment == "portopen").collect();
        assert_eq!(opens.iter().map(|j| j.descriptors).collect::<Vec<_>>(), [1024, 1 << 20]);
    }

    #[test]
    fn threads_are_spared() {
        assert_eq!(args(&ring(1000, 5000), PeerKind::JavaThreads).unwrap(), "ring 1000 50");
        assert_eq!(ring(1000, 5000).ask(&peer(PeerKind::JavaThreads, false)).unwrap().count, 50);
        assert_eq!(args(&ring(10_000, 5000), PeerKind::JavaThreads), None);
        let all = all(&WHOLE);
        let memory = all.iter().find(|j| j.experiment == "memory").unwrap();
        assert_eq!(args(memory, PeerKind::JavaThreads).unwrap(), "waiting 1000");
    }

    #[test]
    fn slow_peers_run_fewer_operations_and_report_it() {
        let all = all(&WHOLE);
        let pingpong = all.iter().find(|j| j.experiment == "pingpong").unwrap();
        let told = |kind| args(pingpong, kind).unwrap();
        assert!(
            told(PeerKind::Kvik).contains("(2000000)") && told(PeerKind::Otp).contains("(1000000)")
        );
        assert_eq!(told(PeerKind::JavaVirtual), "pingpong 1000000");
        assert!(pingpong.work().contains("2000000") && pingpong.work().contains("1000000"));
        let pairs = all.iter().find(|j| j.experiment == "pairs").unwrap();
        let asked = pairs.ask(&peer(PeerKind::Otp, false)).unwrap();
        assert!(asked.args.ends_with(&words(&["crowd", "pairs", "1000000"])) && asked.count == 0);
        let senders = all.iter().find(|j| j.experiment == "senders").unwrap();
        assert_eq!(senders.ask(&peer(PeerKind::Kvik, false)).unwrap().count, 2_000_000);
    }

    #[test]
    fn two_schedulers_are_not_for_one() {
        let [senders, _] = crowd(&QUICK);
        assert!(senders.ask(&peer(PeerKind::Otp, true)).is_none());
        assert!(senders.ask(&peer(PeerKind::Otp, false)).is_some());
        assert!(senders.ask(&peer(PeerKind::Go, false)).is_none());
    }

    #[test]
    fn files_by_name_are_all_of_it() {
        let options = |names: &[&str], quick| LabOptions {
            experiments: words(names),
            quick,
            ..LabOptions::default()
        };
        let jobs = chosen(&options(&["files"], false)).unwrap();
        let args: Vec<_> = jobs.iter().map(|j| args(j, PeerKind::Kvik).unwrap()).collect();
        assert!(args.iter().all(|a| a.ends_with(" 100")));
        assert!(args.len() == 2 && args[1].starts_with("+K true +A 32 "));
        assert!(super::Job::ask(&jobs[1], &peer(PeerKind::C, false)).is_none());
        assert_eq!(chosen(&options(&["files"], true)).unwrap().len(), 1);
    }

    #[test]
    fn named_experiments_run_in_every_round() {
        let options =
            |names: &[&str]| LabOptions { experiments: words(names), ..LabOptions::default() };
        let jobs = chosen(&options(&["memory"])).unwrap();
        assert!(jobs.len() == 1 && jobs[0].rounds == usize::MAX);
        let all = chosen(&options(&[])).unwrap();
        assert!(all.iter().any(|j| j.experiment == "memory" && j.rounds == STABLE_ROUNDS));
        let unknown = |name: &str| chosen(&options(&[name])).err().unwrap();
        assert!(unknown("chess").ends_with("`kvik bench --help` lists them"));
        assert!(unknown("http/plain").ends_with("did you mean servers/http/plain?"));
        assert!(unknown("servers/http/plan").contains("there are http/plain http/json"));
        assert!(chosen(&options(&["spawn"])).unwrap().iter().all(|j| j.experiment == "ring"));
    }
}
