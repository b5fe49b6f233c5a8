//! The experiments: how they are shown (here), what they start (`jobs`), their sizes (`sizes`), and
//! the parsers of their output (`read`).

mod jobs;
mod read;
mod sizes;

pub use jobs::{chosen, Ask, Job};
pub use sizes::SLOW_PEERS;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    More,
    Less,
    /// Shown, and not compared.
    Unrated,
}

/// How the rows of an experiment are shown. A row's id is `EXPERIMENT/detail`.
pub struct Experiment {
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
    /// A line for each peer over the number in the row's detail; the string names what it counts.
    Lines(&'static str),
    /// Four charts, one for each pattern, by block size.
    Files,
    /// Frequencies by duration, of kvik alone.
    Histogram,
    /// A dot for each row: kvik's ratio to OTP.
    Ratios,
    /// Figures alone.
    None,
}

pub const SUBJECTS: &[Experiment] = &[
    Experiment {
        id: "oneway",
        title: "One-way messages",
        question: "How many messages a second does one process take from another?",
        unit: "messages/s",
        better: Better::More,
        chart: Chart::Bars,
    },
    Experiment {
        id: "pingpong",
        title: "Ping-pong",
        question: "How many round trips a second, and are all schedulers as fast as one?",
        unit: "round trips/s",
        better: Better::More,
        chart: Chart::Bars,
    },
    Experiment {
        id: "ring",
        title: "A message in a ring of processes",
        question: "Does a message cost the same however many processes there are?",
        unit: "µs/message",
        better: Better::Less,
        chart: Chart::Lines("processes"),
    },
    Experiment {
        id: "spawn",
        title: "Starting processes",
        question: "Does a process cost the same to start however many there are?",
        unit: "µs/spawn",
        better: Better::Less,
        chart: Chart::Lines("processes"),
    },
    Experiment {
        id: "memory",
        title: "A process that waits",
        question: "How much memory does a process hold that only waits?",
        unit: "bytes",
        better: Better::Less,
        chart: Chart::Bars,
    },
    Experiment {
        id: "calls",
        title: "gen_server:call",
        question: "How many calls a second are answered, and does it matter that 100,000 messages \
                   wait in the caller's mailbox?",
        unit: "calls/s",
        better: Better::More,
        chart: Chart::Bars,
    },
    Experiment {
        id: "senders",
        title: "Eight senders, one receiver",
        question: "How many messages a second does a process take from eight others, on two \
                   schedulers?",
        unit: "messages/s",
        better: Better::More,
        chart: Chart::Bars,
    },
    Experiment {
        id: "pairs",
        title: "Pairs that do not know each other",
        question: "Do two pairs at ping-pong on two schedulers make twice the round trips of one?",
        unit: "round trips/s",
        better: Better::More,
        chart: Chart::Bars,
    },
    Experiment {
        id: "lives",
        title: "Short lives",
        question: "How many processes a second can be started with a link, spoken to, and seen to \
                   end, one after the other?",
        unit: "lives/s",
        better: Better::More,
        chart: Chart::Bars,
    },
    Experiment {
        id: "pipes",
        title: "Ports under load",
        question: "How many lines a second pass through eighty programs in eight rings?",
        unit: "lines/s",
        better: Better::More,
        chart: Chart::Bars,
    },
    Experiment {
        id: "portcpu",
        title: "What a line through a port costs",
        question: "How much processor time does the machine itself take for each of those lines?",
        unit: "µs/line",
        better: Better::Less,
        chart: Chart::Bars,
    },
    Experiment {
        id: "oneport",
        title: "One port",
        question: "How many lines a second pass through one program, one at a time?",
        unit: "lines/s",
        better: Better::More,
        chart: Chart::Bars,
    },
    Experiment {
        id: "portlines",
        title: "Lines of other lengths",
        question: "How much passes through one program and back, in lines of each length?",
        unit: "MB/s",
        better: Better::More,
        chart: Chart::Lines("bytes in a line"),
    },
    Experiment {
        id: "portopen",
        title: "Opening and closing ports",
        question:
            "How many programs a second are started, and does it matter how many descriptors \
                   may be open?",
        unit: "ports/s",
        better: Better::More,
        chart: Chart::Bars,
    },
    Experiment {
        id: "manyports",
        title: "A thousand ports at once",
        question: "How many lines a second pass through a thousand programs that all answer?",
        unit: "lines/s",
        better: Better::More,
        chart: Chart::Bars,
    },
    Experiment {
        id: "files",
        title: "File I/O",
        question: "How fast do blocks of each size pass through ordinary and raw files?",
        unit: "MB/s",
        better: Better::More,
        chart: Chart::Files,
    },
    Experiment {
        id: "readfile",
        title: "Whole files",
        question: "How many files of that size does file:read_file/1 read a second?",
        unit: "files/s",
        better: Better::More,
        chart: Chart::Bars,
    },
    Experiment {
        id: "lines",
        title: "Text line by line",
        question: "How many lines a second are read and written one by one?",
        unit: "lines/s",
        better: Better::More,
        chart: Chart::Bars,
    },
    Experiment {
        id: "compile",
        title: "Compiling a module",
        question: "How long does it take to start, compile OTP's lists.erl, and end?",
        unit: "ms",
        better: Better::Less,
        chart: Chart::Bars,
    },
    Experiment {
        id: "scheduling",
        title: "Switching between processes",
        question: "What does it cost to switch, counted from inside during ping-pong?",
        unit: "ns/switch",
        better: Better::Less,
        chart: Chart::Bars,
    },
    Experiment {
        id: "histogram",
        title: "What lies between two turns",
        question: "How long is it from the end of one process's turn to the next one's, and how \
                   often?",
        unit: "times/s",
        better: Better::More,
        chart: Chart::Histogram,
    },
    Experiment {
        id: "start",
        title: "Start and halt",
        question: "How long until a machine has booted OTP and ended again?",
        unit: "ms",
        better: Better::Less,
        chart: Chart::Bars,
    },
    Experiment {
        id: "startmemory",
        title: "Memory for start and halt",
        question: "How much memory does a machine hold at most that boots OTP and ends again?",
        unit: "MB",
        better: Better::Less,
        chart: Chart::Bars,
    },
    Experiment {
        id: "loading",
        title: "Loading stdlib",
        question: "How long does it take to load all of stdlib's modules?",
        unit: "ms",
        better: Better::Less,
        chart: Chart::Bars,
    },
    Experiment {
        id: "codesize",
        title: "Native code of stdlib",
        question: "How much native code have those modules become?",
        unit: "KB",
        better: Better::Less,
        chart: Chart::Bars,
    },
    Experiment {
        id: "work",
        title: "Other work: small programs",
        question: "Are ordinary things as fast as on OTP, when messages are not what they do?",
        unit: "times/s",
        better: Better::More,
        chart: Chart::Ratios,
    },
    Experiment {
        id: "programs",
        title: "Other work: whole programs",
        question: "And programs that somebody might want the result of? (Of stdlib as many \
                   modules, evenly taken, as the command says; 0 are all.)",
        unit: "ms",
        better: Better::Less,
        chart: Chart::Ratios,
    },
    server("servers", "Servers: requests a second", "req/s", Better::More,
        "How many requests a second does a server answer at most, on one CPU of its own?"),
    server("servercpu", "Servers: CPU time", "µs/request", Better::Less,
        "How much CPU time do all processes of the server take for a request, when it is saturated \
         and at half the rate that saturates OTP?"),
    server("serverlatency", "Servers: waiting for an answer", "µs", Better::Less,
        "How long after a request was due is it answered, at half the rate that saturates OTP?"),
    server("servermemory", "Servers: memory", "KB", Better::Less,
        "How much memory do the server's processes take at rest, for an idle connection, and at most?"),
    server("serverstart", "Servers: start", "ms", Better::Less,
        "How long until a server that was started gives its first answer, and in how much CPU time?"),
    server("serverload", "Servers: who was busy", "% of a CPU", Better::Unrated,
        "How busy were the server and the load generator when the server was saturated?"),
];

const fn server(
    id: &'static str,
    title: &'static str,
    unit: &'static str,
    better: Better,
    question: &'static str,
) -> Experiment {
    let chart = if matches!(better, Better::Unrated) { Chart::None } else { Chart::Ratios };
    Experiment { id, title, question, unit, better, chart }
}

/// Single figures published for an experiment: experiment, source, and the figure in the
/// experiment's unit.
pub const PUBLISHED_ONCE: &[(&str, &str, f64)] = &[
    ("oneway", "Pentium 4, 2006", 3.4e6),
    ("pingpong", "Pentium 4, 2006", 1.4e6),
    ("pingpong", "R13B, no SMP", 2_801_110.0),
    ("pingpong", "R13B, 2 cores", 709_320.0),
    ("pingpong", "R15B, 16 cores", 832_296.0),
    ("memory", "Erlang in 1998", 1024.0),
    ("memory", "Java in 1998", 8192.0),
    ("pipes", "published", 34_546.0),
    ("scheduling", "published", 500.0),
    ("histogram", "published: 0.5 µs", 500.0),
    ("histogram", "under its probe: 3 µs", 3000.0),
];

/// C's speed with stdio as a percentage of a handle's, as published: pattern, ordinary files, raw
/// files.
pub const PUBLISHED_FILES: &[(&str, f64, f64)] = &[
    ("sequential_read", 5076.0, 191.0),
    ("sequential_write", 92.0, 194.0),
    ("random_read", 2556.0, 125.0),
    ("random_write", 128.0, 62.0),
];

/// Figures published for these experiments in 1998, on FreeBSD: experiment, label, and microseconds
/// by number of processes.
#[allow(clippy::type_complexity)]
pub const PUBLISHED: &[(&str, &str, &[(f64, f64)])] = &[
    (
        "ring",
        "Erlang in 1998",
        &[
            (1.0, 3.96),
            (10.0, 6.75),
            (100.0, 6.93),
            (1e3, 9.07),
            (2e3, 9.46),
            (1e4, 9.52),
            (2e4, 9.57),
        ],
    ),
    ("ring", "Java in 1998", &[(1.0, 9.4), (10.0, 28.4), (100.0, 34.3), (1e3, 36.5)]),
    ("spawn", "Erlang in 1998", &[(1e3, 16.0), (2e3, 16.0), (1e4, 16.0), (2e4, 16.0)]),
    ("spawn", "Java in 1998", &[(100.0, 1100.0), (1e3, 270.0)]),
];

pub fn subject(id: &str) -> Option<&'static Experiment> {
    SUBJECTS.iter().find(|s| s.id == id)
}

/// A row's id in readable form.
pub fn label(row: &str) -> String {
    let parts: Vec<&str> = row.split('/').collect();
    match parts.as_slice() {
        ["ring", n] => format!("ring message, N = {}", grouped(n)),
        ["spawn", n] => format!("spawn, N = {}", grouped(n)),
        ["calls", "0"] => "gen_server:call".to_owned(),
        ["calls", n] => format!("gen_server:call, {} waiting", grouped(n)),
        ["senders"] => "8 senders, 1 receiver".to_owned(),
        ["pairs", "1"] => "1 pair at ping-pong".to_owned(),
        ["pairs", n] => format!("{n} pairs at ping-pong"),
        ["lives"] => "spawn, link, message, exit".to_owned(),
        ["files", pattern, handle, block] => {
            format!("{} {handle} {block} KB", pattern.replace('_', " "))
        }
        ["readfile", kb] => format!("file:read_file, {} KB", grouped(kb)),
        ["lines", how] => how.replace("_list", ", lists").replace("_raw", ", raw"),
        ["compile"] => "compile lists.erl".to_owned(),
        ["oneway"] => "one-way".to_owned(),
        ["pingpong"] => "ping-pong".to_owned(),
        ["memory"] => "a waiting process".to_owned(),
        ["pipes"] => "pipe ring".to_owned(),
        ["portcpu"] => "pipe ring, processor time".to_owned(),
        ["oneport"] => "one ring with one port".to_owned(),
        ["portlines", n] => format!("lines of {} bytes", grouped(n)),
        ["portopen", "most"] => "open and close, highest ulimit -n".to_owned(),
        ["portopen", n] => format!("open and close, ulimit -n {}", grouped(n)),
        ["manyports"] => "1,000 ports at once".to_owned(),
        ["scheduling"] => "a switch".to_owned(),
        ["histogram", ns] => format!("{} ns and more", grouped(ns)),
        ["work", family] => format!("other work: {family}"),
        ["work", _, name] => name.replace('_', " "),
        ["programs", name] => program_label(name),
        ["start"] => "start and halt".to_owned(),
        ["startmemory"] => "start and halt, memory".to_owned(),
        ["loading"] => "load stdlib".to_owned(),
        [what, rest @ ..] if what.starts_with("server") => server_label(rest),
        ["codesize"] => "stdlib as native code".to_owned(),
        _ => row.to_owned(),
    }
}

/// `["http", "plain", "1000", "p99"]` as `http plain 1,000 p99`.
fn server_label(parts: &[&str]) -> String {
    let Some((first, rest)) = parts.split_first() else { return String::new() };
    let part = |part: &&str| match *part {
        "full" | "half" | "client" | "server" | "rest" | "idle" | "peak" | "time" | "cpu"
        | "p50" | "p99" | "p99.9" => format!(" {part}"),
        n if n.parse::<u64>().is_ok() => format!(" {}", grouped(n)),
        // Charts on a telephone have room for so many letters.
        "websocket" => " ws".to_owned(),
        word => format!(" {}", word.replace('_', " ")),
    };
    rest.iter().fold((*first).to_owned(), |label, next| label + &part(next))
}

fn program_label(name: &str) -> String {
    match name {
        "nbody" => "N-body".to_owned(),
        "json" => "JSON both ways".to_owned(),
        "json_library" => "JSON by mochijson2".to_owned(),
        "words" => "counting words".to_owned(),
        "log" => "log by re".to_owned(),
        "cache" => "cache in ETS".to_owned(),
        "xml" => "XML by xmerl".to_owned(),
        "lua" => "Lua by Luerl".to_owned(),
        "xref" => "xref on stdlib".to_owned(),
        "compile_stdlib" => "compile stdlib".to_owned(),
        "dialyzer" => "dialyzer on stdlib".to_owned(),
        other => other.replace('_', " "),
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
    fn groups_digits() {
        assert_eq!(grouped("1000000"), "1,000,000");
        assert_eq!(grouped("100"), "100");
    }

    #[test]
    fn published_results_name_existing_experiments() {
        let names = PUBLISHED_ONCE.iter().map(|p| p.0).chain(PUBLISHED.iter().map(|p| p.0));
        assert!(names.into_iter().all(|id| subject(id).is_some()));
    }
}
