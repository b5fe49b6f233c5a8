//! Who takes part: kvik and OTP, each on one scheduler and by default, and programs in other
//! languages.
//!
//! A peer that runs the Erlang programs is a command with flags; a peer in another language has its
//! programs under `lab/peers/`, which `programs` builds.

use crate::jdk;
use crate::options::Options;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Kvik,
    Otp,
    /// Plain system calls and stdio; for pipes one thread with epoll.
    C,
    /// For pipes a thread for each ring, which waits in its system calls.
    CBlocking,
    /// Goroutines and channels.
    Go,
    /// Rust: tasks and mpsc channels.
    Tokio,
    JavaVirtual,
    /// A thread of the operating system for each process.
    JavaThreads,
}

impl Kind {
    pub fn is_erlang(self) -> bool {
        matches!(self, Kind::Kvik | Kind::Otp)
    }
    /// Whether that is another way to run the same: kvik stands beside the better.
    pub fn stands_for(self, kind: Kind) -> bool {
        self == kind || (self, kind) == (Kind::CBlocking, Kind::C)
    }
    /// What to install where it is missing.
    fn package(self) -> &'static str {
        match self {
            Kind::Kvik => "kvik",
            Kind::Otp => "apt-get install erlang-base",
            Kind::C | Kind::CBlocking => "apt-get install gcc libc6-dev",
            Kind::Go => "apt-get install golang",
            Kind::Tokio => "cargo: https://rustup.rs",
            Kind::JavaVirtual => "a JDK of version 21 or later",
            Kind::JavaThreads => "apt-get install default-jdk-headless",
        }
    }
}

#[derive(Debug, Clone)]
pub struct Peer {
    pub id: String,
    pub label: String,
    pub kind: Kind,
    /// On one scheduler: compared with kvik on one scheduler.
    pub single: bool,
    /// What was found: the machine itself, or what builds its programs.
    pub tool: PathBuf,
    /// What is run, and its arguments before the experiment's own.
    pub program: PathBuf,
    pub flags: Vec<String>,
    pub env: Vec<(String, String)>,
    pub version: String,
}

struct Row {
    id: &'static str,
    label: &'static str,
    kind: Kind,
    single: bool,
    flags: &'static [&'static str],
    env: &'static [(&'static str, &'static str)],
    /// Part of the quick form.
    quick: bool,
}

const fn row(id: &'static str, label: &'static str, kind: Kind, quick: bool) -> Row {
    Row { id, label, kind, single: false, flags: &[], env: &[], quick }
}

const TABLE: &[Row] = &[
    Row { single: true, flags: &["+S", "1"], ..row("kvik1", "kvik +S 1", Kind::Kvik, true) },
    Row { single: true, flags: &["+S", "1"], ..row("otp1", "OTP +S 1", Kind::Otp, true) },
    row("kvik", "kvik", Kind::Kvik, true),
    row("otp", "OTP", Kind::Otp, true),
    Row {
        single: true,
        env: &[("GOMAXPROCS", "1")],
        ..row("go1", "Go, 1 thread", Kind::Go, false)
    },
    row("go", "Go", Kind::Go, true),
    Row {
        single: true,
        flags: &["current"],
        ..row("tokio1", "tokio, 1 thread", Kind::Tokio, false)
    },
    Row { flags: &["multi"], ..row("tokio", "tokio", Kind::Tokio, true) },
    Row { flags: &["VirtualThreads"], ..row("jvirtual", "Java virtual", Kind::JavaVirtual, true) },
    Row {
        flags: &["PlatformThreads"],
        ..row("jthreads", "Java threads", Kind::JavaThreads, false)
    },
    row("c", "C", Kind::C, true),
    row("cblocking", "C, blocking", Kind::CBlocking, true),
];

pub struct LineUp {
    pub peers: Vec<Peer>,
    pub missing: Vec<String>,
}

impl LineUp {
    pub fn kvik(&self) -> Option<&Peer> {
        self.peers.iter().find(|p| p.kind == Kind::Kvik)
    }
    /// The peer of that kind on one scheduler or by default.
    pub fn position(&self, kind: Kind, single: bool) -> Option<usize> {
        self.peers.iter().position(|p| p.kind == kind && p.single == single)
    }
    /// Those of that kind leave, and why.
    pub fn dismiss(&mut self, kinds: &[Kind], why: &str) {
        let gone = |p: &&Peer| kinds.contains(&p.kind);
        self.missing.extend(self.peers.iter().filter(gone).map(|p| format!("{} ({why})", p.label)));
        self.peers.retain(|p| !kinds.contains(&p.kind));
    }
}

impl Peer {
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.flags).envs(self.env.iter().cloned());
        command
    }
    /// What to type to run this peer, for the report.
    pub fn line(&self) -> String {
        let set = self.env.iter().map(|(name, value)| format!("{name}={value}"));
        let words = set.chain([self.program.display().to_string()]).chain(self.flags.clone());
        words.collect::<Vec<_>>().join(" ")
    }
}

/// All there may be, as if all were installed.
#[cfg(test)]
pub fn everybody() -> LineUp {
    let found = |row: &Row| peer(row, (PathBuf::from("/opt").join(row.id), Vec::new()));
    LineUp { peers: TABLE.iter().map(found).collect(), missing: vec!["nobody".to_owned()] }
}

/// What a peer is run with: its tool and the environment that needs.
type Found = (PathBuf, Vec<(String, String)>);

pub fn find(options: &Options) -> Result<LineUp, String> {
    let kvik = match &options.vm {
        Some(path) => path.clone(),
        None => std::env::current_exe().map_err(|e| format!("where am I? {e}"))?,
    };
    for id in &options.peers {
        if !TABLE.iter().any(|row| row.id == id) {
            let known: Vec<&str> = TABLE.iter().map(|row| row.id).collect();
            return Err(format!("no peer named {id}; there are {}", known.join(" ")));
        }
    }
    let jdk = jdk::newest();
    let wanted = |row: &&Row| match options.peers.as_slice() {
        [] => row.quick || !options.quick,
        named => named.iter().any(|id| id == row.id),
    };
    let plain = |found: Option<PathBuf>| found.map(|path| (path, Vec::new()));
    let mut line_up = LineUp { peers: Vec::new(), missing: Vec::new() };
    for row in TABLE.iter().filter(wanted) {
        let found: Option<Found> = match row.kind {
            Kind::Kvik => plain(Some(kvik.clone())),
            Kind::Otp => {
                let named = options.erl.first().cloned();
                plain(named.or_else(|| on_path("erl"))).or_else(|| unpacked(&kvik))
            }
            Kind::C | Kind::CBlocking => plain(on_path("cc")),
            Kind::Go => plain(on_path("go").or_else(|| existing("/usr/local/go/bin/go"))),
            Kind::Tokio => plain(on_path("cargo")),
            Kind::JavaThreads => plain(jdk.as_ref().map(jdk::Jdk::compiler)),
            Kind::JavaVirtual => {
                plain(jdk.as_ref().filter(|j| j.has_virtual()).map(jdk::Jdk::compiler))
            }
        };
        match found {
            Some(found) => {
                line_up.peers.push(peer(row, found));
                if row.kind == Kind::Otp {
                    line_up.peers.extend(others(row, &options.erl));
                }
            }
            None => line_up.missing.push(format!("{} ({})", row.label, row.kind.package())),
        }
    }
    if line_up.peers.is_empty() {
        return Err("no peer left to measure".to_owned());
    }
    Ok(line_up)
}

/// Further versions of OTP that were named, each a peer of its own. `programs` finds out which.
fn others<'a>(row: &'a Row, erls: &'a [PathBuf]) -> impl Iterator<Item = Peer> + 'a {
    erls.iter().enumerate().skip(1).map(move |(i, erl)| {
        let first = peer(row, (erl.clone(), Vec::new()));
        let label = row.label.replacen("OTP", &format!("OTP ({})", i + 1), 1);
        Peer { id: format!("{}-{}", row.id, i + 1), label, ..first }
    })
}

fn peer(row: &Row, (tool, mut env): Found) -> Peer {
    env.extend(row.env.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())));
    Peer {
        id: row.id.to_owned(),
        label: row.label.to_owned(),
        kind: row.kind,
        single: row.single,
        program: tool.clone(),
        tool,
        flags: row.flags.iter().map(|f| (*f).to_owned()).collect(),
        env,
        version: String::new(),
    }
}

pub fn on_path(name: &str) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    std::env::split_paths(&paths).map(|dir| dir.join(name)).find(|p| p.is_file())
}

fn existing(path: &str) -> Option<PathBuf> {
    Some(PathBuf::from(path)).filter(|p| p.is_file())
}

/// OTP as `make deps` unpacks it, started as its `erl` script would.
fn unpacked(kvik: &Path) -> Option<Found> {
    let here = std::env::current_dir().ok();
    let above = kvik.ancestors().skip(1).map(Path::to_path_buf);
    let root = here
        .into_iter()
        .chain(above)
        .map(|d| d.join(".otp/usr/lib/erlang"))
        .find(|d| d.is_dir())?
        .canonicalize()
        .ok()?;
    let bindir = std::fs::read_dir(&root)
        .ok()?
        .filter_map(|e| Some(e.ok()?.path()))
        .find(|p| p.file_name().is_some_and(|n| n.to_string_lossy().starts_with("erts-")))?
        .join("bin");
    let env = [
        ("ROOTDIR", root.display().to_string()),
        ("BINDIR", bindir.display().to_string()),
        ("EMU", "beam".to_owned()),
        ("PROGNAME", "erl".to_owned()),
    ];
    Some((bindir.join("erlexec"), env.map(|(k, v)| (k.to_owned(), v)).to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(line: &str) -> Vec<String> {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let options = Options::parse(&args).unwrap();
        find(&options).unwrap().peers.iter().map(|p| p.id.clone()).collect()
    }

    #[test]
    fn named_peers_take_part_and_no_others() {
        assert_eq!(ids("--peers kvik,kvik1"), ["kvik1", "kvik"]);
        assert_eq!(ids("--quick --peers kvik1"), ["kvik1"]);
    }

    #[test]
    fn several_versions_of_otp_stand_side_by_side() {
        let line = "--peers otp,otp1 --erl /bin/a --erl /bin/b";
        assert_eq!(ids(line), ["otp1", "otp1-2", "otp", "otp-2"]);
    }

    #[test]
    fn an_unknown_peer_is_refused() {
        let options = Options { peers: vec!["perl".to_owned()], ..Options::default() };
        assert!(find(&options).is_err_and(|fault| fault.contains("perl")));
    }

    #[test]
    fn those_who_leave_are_named_as_missing() {
        let options =
            Options { peers: vec!["kvik".to_owned(), "kvik1".to_owned()], ..Options::default() };
        let mut line_up = find(&options).unwrap();
        line_up.dismiss(&[Kind::Kvik], "because");
        assert!(line_up.peers.is_empty());
        assert_eq!(line_up.missing, ["kvik +S 1 (because)", "kvik (because)"]);
    }

    #[test]
    fn a_command_can_be_typed() {
        let env = vec![("A".to_owned(), "1".to_owned())];
        let row = &TABLE[0];
        assert_eq!(peer(row, (PathBuf::from("/x/kvik"), env)).line(), "A=1 /x/kvik +S 1");
    }
}
