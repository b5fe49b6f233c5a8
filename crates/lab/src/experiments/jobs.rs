//! What is started. A `Job` is one start of one program; it may fill several rows.

use super::read::Reader;
use super::read::{read_bandwidths, read_files, read_nothing, read_number, read_opens, read_pipes};
use super::read::{
    read_rates, read_switches, read_times, read_tuned_files, read_waiting, read_zog,
};
use super::subject;
use crate::options::Options;
use crate::peers::{Kind, Peer};

#[derive(Clone)]
pub struct Job {
    pub experiment: &'static str,
    /// Short text that tells this job from the others of its experiment.
    pub detail: String,
    /// What the Erlang machines are started with.
    args: Vec<String>,
    read: Reader,
    /// What a program in another language is asked for.
    task: Task,
    /// How many messages are to be passed, where the output says how many were; otherwise 0.
    count: u64,
    pub limit_seconds: u64,
    /// How often it is run in each round: more than once where a run is short and its rows many.
    pub times: usize,
    /// In how many rounds at most: fewer where it takes long and differs little.
    pub rounds: usize,
    /// Not for peers held to one scheduler.
    unbound: bool,
    /// Descriptors it may have open (`ulimit -n`); 0 for as many as the lab may.
    pub descriptors: u64,
    /// The result is how long the program runs.
    pub whole: bool,
}

#[derive(Clone)]
enum Task {
    /// Only Erlang has it.
    None,
    /// The same in C, with these arguments.
    InC(Vec<String>),
    /// Messages, among that many processes where it matters how many.
    Talk { size: Option<u64> },
}

/// One start of one peer: its arguments, how what it prints is read, and what count it must say.
pub struct Ask {
    pub args: Vec<String>,
    pub read: Reader,
    pub count: u64,
}

/// Threads of the operating system: as many as every system allows, and fewer messages, for each
/// takes a switch in the kernel.
const MOST_THREADS: u64 = 1000;
const THREADS_PASS: u64 = 10;

impl Job {
    pub fn name(&self) -> String {
        if self.detail.is_empty() {
            self.experiment.to_owned()
        } else {
            format!("{} {}", self.experiment, self.detail)
        }
    }
    /// What the Erlang machines are started with, in one line; where the files are does not matter.
    pub fn work(&self) -> String {
        self.args.join(" ").replace(&std::env::temp_dir().display().to_string(), "TMPDIR")
    }
    /// How that peer does this job, if it does.
    pub fn ask(&self, peer: &Peer) -> Option<Ask> {
        if peer.kind.is_erlang() {
            let args = self.args.clone();
            let able = !(self.unbound && peer.single);
            return able.then_some(Ask { args, read: self.read, count: self.count });
        }
        match (&self.task, peer.kind) {
            (Task::InC(args), Kind::CBlocking) => {
                let (first, rest) = args.split_first().filter(|(first, _)| *first == "pipes")?;
                let name = first.replace("pipes", "blocking");
                let args = std::iter::once(name).chain(rest.iter().cloned()).collect();
                Some(Ask { args, read: self.read, count: self.count })
            }
            (Task::InC(args), Kind::C) => {
                Some(Ask { args: args.clone(), read: self.read, count: self.count })
            }
            (Task::Talk { size }, Kind::Go | Kind::Tokio | Kind::JavaVirtual) => {
                Some(self.talk(*size, self.count))
            }
            (Task::Talk { size }, Kind::JavaThreads) => {
                let switching = self.experiment != "oneway";
                let count = if switching { self.count / THREADS_PASS } else { self.count };
                match (self.experiment, size) {
                    ("memory", _) => Some(self.talk(Some(MOST_THREADS), count)),
                    (_, Some(size)) if *size > MOST_THREADS => None,
                    (_, size) => Some(self.talk(*size, count)),
                }
            }
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

/// Their numbers, in the quick form and in the whole.
struct Sizes {
    oneway: u64,
    pingpong: u64,
    ring: &'static [u64],
    ring_messages: u64,
    waiting: u64,
    calls: u64,
    senders: u64,
    pairs: u64,
    lives: u64,
    lines: u64,
    /// Through one port.
    lines_of_one: u64,
    ports: Option<Ports>,
    /// Megabytes, and blocks in KB.
    files: &'static [&'static str],
    /// How many files of 1 KB, 1 MB and 100 MB are read.
    read_files: [&'static str; 3],
    text_lines: u64,
    /// The files with other flags as well.
    tuned: bool,
    switching_ms: u64,
    /// How often each small program of the other work does its work.
    work: u64,
    programs: &'static [(&'static str, u64)],
    /// The text whose words are counted, in megabytes.
    words_mb: u64,
}

/// What else ports are asked for.
struct Ports {
    megabytes: u64,
    opened: u64,
    /// Lines through each of many.
    rounds: u64,
}

const QUICK: Sizes = Sizes {
    oneway: 2_000_000,
    pingpong: 500_000,
    ring: &[10, 1_000, 100_000],
    ring_messages: 300_000,
    waiting: 100_000,
    calls: 150_000,
    senders: 100_000,
    pairs: 1_000_000,
    lives: 100_000,
    lines: 4_000,
    lines_of_one: 5_000,
    ports: None,
    files: &["8", "1", "8", "64", "1024"],
    read_files: ["5000", "100", "1"],
    text_lines: 20_000,
    tuned: false,
    switching_ms: 500,
    work: 10,
    programs: &[
        ("nbody", 50_000),
        ("spectral_norm", 300),
        ("mandelbrot", 300),
        ("binary_trees", 14),
        ("sudoku", 2),
        ("json", 1_000),
    ],
    words_mb: 2,
};

const WHOLE: Sizes = Sizes {
    oneway: 10_000_000,
    pingpong: 2_000_000,
    ring: &[1, 10, 100, 1_000, 10_000, 1_000_000],
    ring_messages: 1_000_000,
    waiting: 1_000_000,
    calls: 500_000,
    senders: 250_000,
    pairs: 3_000_000,
    lives: 300_000,
    lines: 25_000,
    lines_of_one: 40_000,
    ports: Some(Ports { megabytes: 256, opened: 600, rounds: 50 }),
    files: &["100", "1", "4", "16", "64", "256", "1024"],
    read_files: ["50000", "1000", "8"],
    text_lines: 200_000,
    tuned: false,
    switching_ms: 1_000,
    work: 50,
    programs: PROGRAMS,
    words_mb: 20,
};

/// Whole programs with their sizes.
const PROGRAMS: &[(&str, u64)] = &[
    ("nbody", 500_000),
    ("spectral_norm", 1_000),
    ("mandelbrot", 1_000),
    ("binary_trees", 17),
    ("sudoku", 20),
    ("json", 10_000),
    ("compile_stdlib", 1),
];

/// Of experiments that are named, all there is.
const NAMED: Sizes =
    Sizes { files: &["100"], text_lines: 1_000_000, tuned: true, words_mb: 100, ..WHOLE };

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
    let sizes = match (options.quick, options.experiments.is_empty()) {
        (true, _) => &QUICK,
        (_, true) => &WHOLE,
        _ => &NAMED,
    };
    let mut jobs: Vec<Job> = all(sizes).into_iter().filter(wanted).collect();
    if !options.experiments.is_empty() {
        // Who names experiments wants them in every round.
        jobs.iter_mut().for_each(|job| job.rounds = usize::MAX);
    }
    Ok(jobs)
}

fn all(sizes: &Sizes) -> Vec<Job> {
    let says = |call: String| format!("io:format(\"~p~n\", [{call}]), halt().");
    let mut jobs = vec![
        Job {
            task: Task::Talk { size: None },
            count: sizes.oneway,
            ..eval("oneway", &says(format!("ipctest:oneway({})", sizes.oneway)))
        },
        Job {
            task: Task::Talk { size: None },
            count: sizes.pingpong,
            ..eval("pingpong", &says(format!("ipctest:pingpong({})", sizes.pingpong)))
        },
    ];
    jobs.extend(sizes.ring.iter().map(|&n| ring(n, sizes.ring_messages)));
    jobs.push(Job {
        task: Task::Talk { size: Some(sizes.waiting) },
        count: sizes.waiting,
        rounds: 3,
        ..start("memory", &["waiting", "start", &sizes.waiting.to_string()], read_waiting)
    });
    jobs.push(Job {
        count: sizes.calls,
        ..start("calls", &["calls", "start", &sizes.calls.to_string(), "100000"], read_rates)
    });
    jobs.extend(crowd(sizes));
    jobs.push(Job {
        count: sizes.lives,
        ..start("lives", &["lives", "start", &sizes.lives.to_string()], read_rates)
    });
    jobs.push(pipes("pipes", [10, sizes.lines, 8]));
    jobs.push(pipes("oneport", [1, sizes.lines_of_one, 1]));
    jobs.extend(sizes.ports.iter().flat_map(ports));
    jobs.push(files(sizes.files));
    jobs.extend(sizes.tuned.then(|| tuned(files(sizes.files))));
    let ms = sizes.switching_ms.to_string();
    jobs.push(start("scheduling", &["switches", "start", &ms], read_switches));
    jobs.extend(whole_files(sizes));
    jobs.push(Job { read: read_nothing, whole: true, ..eval("start", "halt().") });
    jobs.extend(FAMILIES.iter().map(|family| work(family, sizes.work)));
    let words = [("words", sizes.words_mb)];
    jobs.extend(sizes.programs.iter().chain(&words).map(|&(name, size)| program(name, size)));
    jobs
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
        limit_seconds: 120,
        times: 1,
        rounds: usize::MAX,
        unbound: false,
        descriptors: 0,
        whole: false,
    }
}

fn start(experiment: &'static str, what: &[&str], read: Reader) -> Job {
    let mut args = words(&["+P", "2000000", "-noshell", "-noinput", "-s"]);
    args.extend(words(what));
    Job { args, read, limit_seconds: 180, ..eval(experiment, "") }
}

fn ring(n: u64, messages: u64) -> Job {
    let mut job = eval("ring", &format!("zog:start({n}, {messages}), halt()."));
    job.args.splice(0..0, words(&["+P", "2000000"]));
    let task = Task::Talk { size: Some(n) };
    Job { detail: n.to_string(), task, count: messages, read: read_zog, ..job }
}

/// What takes two schedulers. One pair makes half as many round trips as two: no count to check.
fn crowd(sizes: &Sizes) -> [Job; 2] {
    ["senders", "pairs"].map(|which| {
        let count = if which == "senders" { sizes.senders } else { sizes.pairs };
        let what = ["crowd", which, &count.to_string()];
        let job = start(which, &what, read_rates);
        let args = [words(&["+S", "2:2"]), job.args].concat();
        let count = if which == "senders" { 8 * count } else { 0 };
        Job { args, count, unbound: true, ..job }
    })
}

fn pipes(experiment: &'static str, size: [u64; 3]) -> Job {
    let [_, lines, rings] = size;
    let size = size.map(|n| n.to_string());
    let size: Vec<&str> = size.iter().map(String::as_str).collect();
    let job = start(experiment, &[&["ports", "ring"], &size[..]].concat(), read_pipes);
    Job { task: Task::InC(words(&[&["pipes"], &size[..]].concat())), count: lines * rings, ..job }
}

/// As many descriptors as a system may allow: what the lab may have, if that is less.
const MOST_DESCRIPTORS: u64 = 1 << 20;

fn ports(sizes: &Ports) -> [Job; 4] {
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
            ..start("manyports", &["ports", "many", "1000", &rounds], read_opens)
        },
    ]
}

fn files(sizes: &[&str]) -> Job {
    let dir = std::env::temp_dir().display().to_string();
    let matrix = [&[dir.as_str()], sizes].concat();
    let job = start("files", &[&["file_matrix", "start"], &matrix[..]].concat(), read_files);
    let task = Task::InC(words(&[&["files"], &matrix[..]].concat()));
    Job { task, limit_seconds: 400, rounds: 3, ..job }
}

/// The same with the flags that were once said to make files fast.
fn tuned(job: Job) -> Job {
    let args = [words(&["+K", "true", "+A", "32"]), job.args].concat();
    Job { args, detail: "+A 32".to_owned(), read: read_tuned_files, task: Task::None, ..job }
}

/// Of the small programs: those of a family run one after the other.
const FAMILIES: &[&str] = &["numbers", "lists", "binaries", "data", "control"];

fn work(family: &str, times: u64) -> Job {
    let job = start("work", &["work", "start", family, &times.to_string()], read_rates);
    Job { detail: family.to_owned(), count: times, unbound: true, ..job }
}

fn program(name: &str, size: u64) -> Job {
    let job = start("programs", &["programs", "start", name, &size.to_string()], read_times);
    // It takes the longest and differs little.
    let rounds = if name == "compile_stdlib" { 3 } else { usize::MAX };
    Job { detail: name.to_owned(), count: size, unbound: true, rounds, ..job }
}

fn whole_files(sizes: &Sizes) -> [Job; 3] {
    let [kb, mb, large] = sizes.read_files;
    let lines = sizes.text_lines.to_string();
    let compiles = Job { read: read_nothing, ..eval("compile", "compiles:start().") };
    [
        Job { rounds: 3, ..start("readfile", &["readfile", "start", kb, mb, large], read_rates) },
        Job {
            count: sizes.text_lines,
            rounds: 3,
            ..start("lines", &["lines", "start", &lines], read_rates)
        },
        Job { whole: true, rounds: 5, ..compiles },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn peer(kind: Kind, single: bool) -> Peer {
        Peer {
            id: "x".to_owned(),
            label: "x".to_owned(),
            kind,
            single,
            tool: PathBuf::new(),
            program: PathBuf::new(),
            flags: Vec::new(),
            env: Vec::new(),
            version: String::new(),
        }
    }

    fn args(job: &Job, kind: Kind) -> Option<String> {
        job.ask(&peer(kind, false)).map(|ask| ask.args.join(" "))
    }

    #[test]
    fn other_languages_are_asked_for_the_same() {
        assert_eq!(args(&ring(1000, 5000), Kind::Go).unwrap(), "ring 1000 5000");
        assert_eq!(args(&ring(1_000_000, 5000), Kind::Tokio).unwrap(), "ring 1000000 5000");
        assert_eq!(args(&ring(10, 5), Kind::C), None);
        let all = all(&QUICK);
        let find = |name: &str| all.iter().find(|j| j.experiment == name).unwrap();
        assert_eq!(args(find("pingpong"), Kind::JavaVirtual).unwrap(), "pingpong 500000");
        assert_eq!(args(find("memory"), Kind::Go).unwrap(), "waiting 100000");
        assert_eq!(args(find("lives"), Kind::Go), None);
        assert!(args(find("files"), Kind::C).unwrap().ends_with(" 8 1 8 64 1024"));
    }

    #[test]
    fn ports_in_c_are_asked_for_the_same() {
        let all = all(&WHOLE);
        let find = |name: &str| all.iter().find(|j| j.experiment == name).unwrap();
        assert_eq!(args(find("pipes"), Kind::C).unwrap(), "pipes 10 25000 8");
        assert!(args(find("pipes"), Kind::Otp).unwrap().ends_with("-s ports ring 10 25000 8"));
        assert_eq!(args(find("oneport"), Kind::C).unwrap(), "pipes 1 40000 1");
        assert_eq!(args(find("portlines"), Kind::C).unwrap(), "lines 256");
        assert_eq!(args(find("portlines"), Kind::CBlocking), None);
        assert_eq!(args(find("oneport"), Kind::CBlocking).unwrap(), "blocking 1 40000 1");
        assert_eq!(args(find("files"), Kind::CBlocking), None);
        let opens: Vec<_> = all.iter().filter(|j| j.experiment == "portopen").collect();
        assert_eq!(opens.iter().map(|j| j.descriptors).collect::<Vec<_>>(), [1024, 1 << 20]);
    }

    #[test]
    fn threads_are_spared() {
        assert_eq!(args(&ring(1000, 5000), Kind::JavaThreads).unwrap(), "ring 1000 500");
        assert_eq!(ring(1000, 5000).ask(&peer(Kind::JavaThreads, false)).unwrap().count, 500);
        assert_eq!(args(&ring(10_000, 5000), Kind::JavaThreads), None);
        let all = all(&WHOLE);
        let memory = all.iter().find(|j| j.experiment == "memory").unwrap();
        assert_eq!(args(memory, Kind::JavaThreads).unwrap(), "waiting 1000");
    }

    #[test]
    fn two_schedulers_are_not_for_one() {
        let [senders, _] = crowd(&QUICK);
        assert!(senders.ask(&peer(Kind::Otp, true)).is_none());
        assert!(senders.ask(&peer(Kind::Otp, false)).is_some());
        assert!(senders.ask(&peer(Kind::Go, false)).is_none());
    }

    #[test]
    fn files_by_name_are_all_of_it() {
        let options = |names: &[&str], quick| Options {
            experiments: words(names),
            quick,
            ..Options::default()
        };
        let jobs = chosen(&options(&["files"], false)).unwrap();
        let args: Vec<_> = jobs.iter().map(|j| args(j, Kind::Kvik).unwrap()).collect();
        assert!(args.iter().all(|a| a.ends_with(" 100")));
        assert!(args.len() == 2 && args[1].starts_with("+K true +A 32 "));
        assert!(super::Job::ask(&jobs[1], &peer(Kind::C, false)).is_none());
        assert_eq!(chosen(&options(&["files"], true)).unwrap().len(), 1);
    }

    #[test]
    fn named_experiments_run_in_every_round() {
        let options = |names: &[&str]| Options { experiments: words(names), ..Options::default() };
        let jobs = chosen(&options(&["memory"])).unwrap();
        assert!(jobs.len() == 1 && jobs[0].rounds == usize::MAX);
        let all = chosen(&options(&[])).unwrap();
        assert!(all.iter().any(|j| j.experiment == "memory" && j.rounds == 3));
        assert!(chosen(&options(&["chess"])).is_err());
        assert!(chosen(&options(&["spawn"])).unwrap().iter().all(|j| j.experiment == "ring"));
    }
}
