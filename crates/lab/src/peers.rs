//! Who takes part: kvik and OTP, each on one scheduler and by default, and programs in C.
//!
//! A peer that runs the Erlang programs is a command with flags; a peer in another language is a
//! `Kind` of its own, with its programs under `lab/`.

use crate::options::Options;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Kvik,
    Otp,
    /// What the experiment's program in C does.
    C,
}

#[derive(Debug, Clone)]
pub struct Peer {
    pub id: &'static str,
    pub label: &'static str,
    pub kind: Kind,
    /// On one scheduler: compared with the other machine on one scheduler.
    pub single: bool,
    /// What runs the programs; in C what compiles them.
    pub program: PathBuf,
    pub flags: Vec<String>,
    pub env: Vec<(String, String)>,
}

/// The table of peers: id, label, kind, single scheduler, flags.
const TABLE: &[(&str, &str, Kind, bool, &[&str])] = &[
    ("kvik1", "kvik +S 1", Kind::Kvik, true, &["+S", "1"]),
    ("otp1", "OTP +S 1", Kind::Otp, true, &["+S", "1"]),
    ("kvik", "kvik", Kind::Kvik, false, &[]),
    ("otp", "OTP", Kind::Otp, false, &[]),
    ("c", "C", Kind::C, false, &[]),
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
}

impl Peer {
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.flags).envs(self.env.iter().cloned());
        command
    }
    /// What to type to run this peer, for the report.
    pub fn line(&self) -> String {
        let mut line = self.program.display().to_string();
        for flag in &self.flags {
            line.push(' ');
            line.push_str(flag);
        }
        line
    }
}

pub fn find(options: &Options) -> Result<LineUp, String> {
    let kvik = match &options.vm {
        Some(path) => path.clone(),
        None => std::env::current_exe().map_err(|e| format!("where am I? {e}"))?,
    };
    let erl = match &options.erl {
        Some(path) => Some((path.clone(), Vec::new())),
        None => on_path("erl").map(|p| (p, Vec::new())).or_else(|| unpacked(&kvik)),
    };
    let wanted = |id: &str| options.peers.is_empty() || options.peers.iter().any(|p| p == id);
    let mut line_up = LineUp { peers: Vec::new(), missing: Vec::new() };
    for &(id, label, kind, single, flags) in TABLE.iter().filter(|row| wanted(row.0)) {
        let (found, package) = match kind {
            Kind::Kvik => (Some((kvik.clone(), Vec::new())), ""),
            Kind::Otp => (erl.clone(), "erlang-base"),
            Kind::C => (on_path("cc").map(|cc| (cc, Vec::new())), "gcc"),
        };
        let Some((program, env)) = found else {
            line_up.missing.push(format!("{label} (apt-get install {package})"));
            continue;
        };
        let flags = flags.iter().map(|f| (*f).to_owned()).collect();
        line_up.peers.push(Peer { id, label, kind, single, program, flags, env });
    }
    if line_up.peers.is_empty() {
        return Err("no peer left to measure".to_owned());
    }
    Ok(line_up)
}

pub fn on_path(name: &str) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    std::env::split_paths(&paths).map(|dir| dir.join(name)).find(|p| p.is_file())
}

/// OTP as `make deps` unpacks it, started as its `erl` script would.
fn unpacked(kvik: &Path) -> Option<(PathBuf, Vec<(String, String)>)> {
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
