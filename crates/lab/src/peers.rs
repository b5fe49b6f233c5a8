//! The peers: kvik and OTP, each on one scheduler and by default, and programs in other languages.
//!
//! A peer that runs the Erlang programs is a command with flags; a peer in another language has its
//! programs in `lab/peers/`, which `programs` builds.

use crate::jdk;
use crate::options::LabOptions;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PeerKind {
    Kvik,
    Otp,
    /// Plain system calls and stdio; pipes use one thread with epoll.
    C,
    /// Pipes use a thread for each ring, with blocking system calls.
    CBlocking,
    /// Goroutines and channels.
    Go,
    /// Rust: tasks and mpsc channels.
    Tokio,
    JavaVirtual,
    /// An operating system thread for each process.
    JavaThreads,
}

impl PeerKind {
    pub fn is_erlang(self) -> bool {
        matches!(self, PeerKind::Kvik | PeerKind::Otp)
    }
    /// Whether `self` runs the same as `kind`, in another way: kvik is compared with the better.
    pub fn stands_for(self, kind: PeerKind) -> bool {
        self == kind || (self, kind) == (PeerKind::CBlocking, PeerKind::C)
    }
    /// The package to install if it is missing.
    fn package(self) -> &'static str {
        match self {
            PeerKind::Kvik => "kvik",
            PeerKind::Otp => "apt-get install erlang-base",
            PeerKind::C | PeerKind::CBlocking => "apt-get install gcc libc6-dev",
            PeerKind::Go => "apt-get install golang",
            PeerKind::Tokio => "cargo: https://rustup.rs",
            PeerKind::JavaVirtual => "a JDK of version 21 or later",
            PeerKind::JavaThreads => "apt-get install default-jdk-headless",
        }
    }
}

#[derive(Debug, Clone)]
pub struct Peer {
    pub id: String,
    pub label: String,
    pub kind: PeerKind,
    /// On one scheduler: compared with kvik on one scheduler.
    pub single: bool,
    /// What was found: the machine itself, or the tool that builds its programs.
    pub tool: PathBuf,
    /// The program to run; below its arguments, which precede the experiment's.
    pub program: PathBuf,
    pub flags: Vec<String>,
    pub env: Vec<(String, String)>,
    /// Of a peer that runs the Erlang programs: its OTP release, and the folder of the `.beam` files.
    pub release: String,
    pub beams: PathBuf,
    pub version: String,
}

struct Row {
    id: &'static str,
    label: &'static str,
    kind: PeerKind,
    single: bool,
    flags: &'static [&'static str],
    env: &'static [(&'static str, &'static str)],
    /// Part of quick mode.
    quick: bool,
}

const fn row(id: &'static str, label: &'static str, kind: PeerKind, quick: bool) -> Row {
    Row { id, label, kind, single: false, flags: &[], env: &[], quick }
}

const TABLE: &[Row] = &[
    Row { single: true, flags: &["+S", "1"], ..row("kvik1", "kvik +S 1", PeerKind::Kvik, true) },
    Row { single: true, flags: &["+S", "1"], ..row("otp1", "OTP +S 1", PeerKind::Otp, true) },
    row("kvik", "kvik", PeerKind::Kvik, true),
    row("otp", "OTP", PeerKind::Otp, true),
    Row {
        single: true,
        env: &[("GOMAXPROCS", "1")],
        ..row("go1", "Go, 1 thread", PeerKind::Go, false)
    },
    row("go", "Go", PeerKind::Go, true),
    Row {
        single: true,
        flags: &["current"],
        ..row("tokio1", "tokio, 1 thread", PeerKind::Tokio, false)
    },
    Row { flags: &["multi"], ..row("tokio", "tokio", PeerKind::Tokio, true) },
    Row {
        flags: &["VirtualThreads"],
        ..row("jvirtual", "Java virtual", PeerKind::JavaVirtual, true)
    },
    Row {
        flags: &["PlatformThreads"],
        ..row("jthreads", "Java threads", PeerKind::JavaThreads, false)
    },
    row("c", "C", PeerKind::C, true),
    row("cblocking", "C, blocking", PeerKind::CBlocking, true),
];

#[derive(Default)]
pub struct LineUp {
    pub peers: Vec<Peer>,
    pub missing: Vec<String>,
    /// The program that drives servers, if one of the jobs is to.
    pub load_generator: PathBuf,
}

impl LineUp {
    /// Names the release of each OTP if there are several.
    pub fn label_releases(&mut self) {
        let is_otp = |p: &&mut Peer| p.kind == PeerKind::Otp;
        let mut known: Vec<(bool, String)> = Vec::new();
        for peer in self.peers.iter_mut().filter(is_otp) {
            let of = (peer.single, peer.release.clone());
            let release = format!("OTP {}", peer.release);
            peer.label = match peer.id.rsplit_once('-') {
                Some((_, number)) if !known.contains(&of) => {
                    peer.label.replacen(&format!("OTP ({number})"), &release, 1)
                }
                _ => peer.label.replacen("OTP", &release, 1),
            };
            known.push(of);
        }
    }

    /// The peer of that kind on one scheduler or by default.
    pub fn position(&self, kind: PeerKind, single: bool) -> Option<usize> {
        self.peers.iter().position(|p| p.kind == kind && p.single == single)
    }
    /// Removes the peers of these kinds and records why.
    pub fn dismiss(&mut self, kinds: &[PeerKind], why: &str) {
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
    /// The command that runs this peer, for the report.
    pub fn line(&self) -> String {
        let set = self.env.iter().map(|(name, value)| format!("{name}={value}"));
        let words = set.chain([self.program.display().to_string()]).chain(self.flags.clone());
        words.collect::<Vec<_>>().join(" ")
    }
}

/// All possible peers, as if all were installed.
#[cfg(test)]
pub fn everybody() -> LineUp {
    let found = |row: &Row| peer(row, (PathBuf::from("/opt").join(row.id), Vec::new()));
    LineUp {
        peers: TABLE.iter().map(found).collect(),
        missing: vec!["nobody".to_owned()],
        ..LineUp::default()
    }
}

/// How to run a peer: its tool and the environment that this needs.
type Found = (PathBuf, Vec<(String, String)>);

pub fn find(options: &LabOptions) -> Result<LineUp, String> {
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
    let mut line_up = LineUp::default();
    for row in TABLE.iter().filter(wanted) {
        let found: Option<Found> = match row.kind {
            PeerKind::Kvik => plain(Some(kvik.clone())),
            PeerKind::Otp => {
                let named = options.erl.first().cloned();
                plain(named.or_else(|| on_path("erl"))).or_else(|| unpacked(&kvik))
            }
            PeerKind::C | PeerKind::CBlocking => plain(on_path("cc")),
            PeerKind::Go => plain(on_path("go").or_else(|| existing("/usr/local/go/bin/go"))),
            PeerKind::Tokio => plain(on_path("cargo")),
            PeerKind::JavaThreads => plain(jdk.as_ref().map(jdk::Jdk::compiler)),
            PeerKind::JavaVirtual => {
                plain(jdk.as_ref().filter(|j| j.has_virtual()).map(jdk::Jdk::compiler))
            }
        };
        match found {
            Some(found) => {
                line_up.peers.push(peer(row, found));
                if row.kind == PeerKind::Otp {
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

/// Additional versions of OTP named on the command line, each a peer of its own. `programs`
/// determines the version.
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
        release: String::new(),
        beams: PathBuf::new(),
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

/// OTP as unpacked by `make deps`, the newest release, started as its `erl` script does.
fn unpacked(kvik: &Path) -> Option<Found> {
    let here = std::env::current_dir().ok();
    let above = kvik.ancestors().skip(1).map(Path::to_path_buf);
    let releases = here.into_iter().chain(above).flat_map(|dir| entries(&dir.join(".otp")));
    let number = |dir: &PathBuf| dir.file_name()?.to_str()?.parse::<u32>().ok();
    let newest = releases.filter(|d| number(d).is_some()).max_by_key(number)?;
    let root = newest.join("usr/lib/erlang").canonicalize().ok()?;
    let is_erts =
        |p: &PathBuf| p.file_name().is_some_and(|n| n.as_encoded_bytes().starts_with(b"erts-"));
    let bindir = entries(&root).into_iter().find(is_erts)?.join("bin");
    let env = [
        ("ROOTDIR", root.display().to_string()),
        ("BINDIR", bindir.display().to_string()),
        ("EMU", "beam".to_owned()),
        ("PROGNAME", "erl".to_owned()),
    ];
    Some((bindir.join("erlexec"), env.map(|(k, v)| (k.to_owned(), v)).to_vec()))
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    let found = std::fs::read_dir(dir).into_iter().flatten().flatten();
    found.map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(line: &str) -> Vec<String> {
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let options = LabOptions::parse(&args).unwrap();
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
    fn columns_of_several_releases_name_them() {
        let line = "--peers otp,otp1 --erl /bin/a --erl /bin/b --erl /bin/c";
        let args: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let mut line_up = find(&LabOptions::parse(&args).unwrap()).unwrap();
        for (peer, release) in line_up.peers.iter_mut().zip(["29", "27", "29"].iter().cycle()) {
            peer.release = (*release).to_owned();
        }
        line_up.label_releases();
        let labels: Vec<&str> = line_up.peers.iter().map(|p| p.label.as_str()).collect();
        assert_eq!(labels[..3], ["OTP 29 +S 1", "OTP 27 +S 1", "OTP 29 (3) +S 1"]);
        assert_eq!(labels[3..], ["OTP 29", "OTP 27", "OTP 29 (3)"]);
    }

    #[test]
    fn an_unknown_peer_is_refused() {
        let options = LabOptions { peers: vec!["perl".to_owned()], ..LabOptions::default() };
        assert!(find(&options).is_err_and(|fault| fault.contains("perl")));
    }

    #[test]
    fn reports_missing_peers() {
        let options = LabOptions {
            peers: vec!["kvik".to_owned(), "kvik1".to_owned()],
            ..LabOptions::default()
        };
        let mut line_up = find(&options).unwrap();
        line_up.dismiss(&[PeerKind::Kvik], "because");
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
