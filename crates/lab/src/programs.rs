//! The programs, embedded in the lab and built into a cache: the Erlang ones once for each OTP
//! release among the peers, by that release's compiler; those in other languages with each
//! language's build tool.
//!
//! A build's folder is named after a hash of its sources, its commands and the compiler's version.
//! So each version is built once, and a reported program can be run again.

use crate::peers::{on_path, LineUp, Peer, PeerKind};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

type Sources = &'static [(&'static str, &'static str)];

/// The Erlang programs, and the sources of an Elixir project that one of them compiles.
const ERLANG: Sources = &[
    ("ipctest.erl", include_str!("../../../experiments/ipctest.erl")),
    ("zog.erl", include_str!("../../../experiments/zog.erl")),
    ("pipe_ring.erl", include_str!("../../../experiments/pipe_ring.erl")),
    ("file_matrix.erl", include_str!("../../../experiments/file_matrix.erl")),
    ("waiting.erl", include_str!("../../../lab/erlang/waiting.erl")),
    ("switches.erl", include_str!("../../../lab/erlang/switches.erl")),
    ("calls.erl", include_str!("../../../lab/erlang/calls.erl")),
    ("crowd.erl", include_str!("../../../lab/erlang/crowd.erl")),
    ("lives.erl", include_str!("../../../lab/erlang/lives.erl")),
    ("ports.erl", include_str!("../../../lab/erlang/ports.erl")),
    ("readfile.erl", include_str!("../../../lab/erlang/readfile.erl")),
    ("lines.erl", include_str!("../../../lab/erlang/lines.erl")),
    ("work.erl", include_str!("../../../lab/erlang/work.erl")),
    ("work_numbers.erl", include_str!("../../../lab/erlang/work_numbers.erl")),
    ("work_lists.erl", include_str!("../../../lab/erlang/work_lists.erl")),
    ("work_binaries.erl", include_str!("../../../lab/erlang/work_binaries.erl")),
    ("work_data.erl", include_str!("../../../lab/erlang/work_data.erl")),
    ("work_control.erl", include_str!("../../../lab/erlang/work_control.erl")),
    ("programs.erl", include_str!("../../../lab/erlang/programs.erl")),
    ("programs_math.erl", include_str!("../../../lab/erlang/programs_math.erl")),
    ("programs_search.erl", include_str!("../../../lab/erlang/programs_search.erl")),
    ("programs_data.erl", include_str!("../../../lab/erlang/programs_data.erl")),
    ("programs_text.erl", include_str!("../../../lab/erlang/programs_text.erl")),
    ("programs_tools.erl", include_str!("../../../lab/erlang/programs_tools.erl")),
    ("lab_json.erl", include_str!("../../../lab/erlang/lab_json.erl")),
    ("compiles.erl", include_str!("../../../lab/erlang/compiles.erl")),
    ("lab_phases.erl", include_str!("../../../lab/erlang/lab_phases.erl")),
    ("lab_server.erl", include_str!("../../../lab/erlang/lab_server.erl")),
    ("loading.erl", include_str!("../../../lab/erlang/loading.erl")),
    ("shop_rules.ex", include_str!("../../../lab/elixir/shop_rules.ex")),
    ("shop_store.ex", include_str!("../../../lab/elixir/shop_store.ex")),
    ("shop_text.ex", include_str!("../../../lab/elixir/shop_text.ex")),
];

/// How to build the programs of a language.
struct Recipe {
    name: &'static str,
    kinds: &'static [PeerKind],
    /// Arguments that make the compiler print its version.
    version: &'static [&'static str],
    sources: Sources,
    /// The compiler's arguments.
    build: &'static [&'static str],
    env: &'static [(&'static str, &'static str)],
    /// The file to keep: its name after the build, and in the cache.
    keep: Option<(&'static str, &'static str)>,
}

const RECIPES: &[Recipe] = &[
    Recipe {
        name: "c",
        kinds: &[PeerKind::C, PeerKind::CBlocking],
        version: &["--version"],
        sources: &[
            ("main.c", include_str!("../../../lab/peers/c/main.c")),
            ("files.c", include_str!("../../../lab/peers/c/files.c")),
            ("pipes.c", include_str!("../../../lab/peers/c/pipes.c")),
        ],
        build: &["-O2", "-pthread", "-o", "c", "main.c", "files.c", "pipes.c"],
        env: &[],
        keep: None,
    },
    Recipe {
        name: "go",
        kinds: &[PeerKind::Go],
        version: &["version"],
        sources: &[
            ("go.mod", include_str!("../../../lab/peers/go/go.mod")),
            ("talk.go", include_str!("../../../lab/peers/go/talk.go")),
        ],
        build: &["build", "-o", "talk", "."],
        env: &[("GOTOOLCHAIN", "local"), ("GOWORK", "off"), ("GO111MODULE", "on")],
        keep: None,
    },
    Recipe {
        name: "java",
        kinds: &[PeerKind::JavaThreads],
        version: &["-version"],
        sources: &[TALK_JAVA, PLATFORM_JAVA],
        build: &["-d", ".", "Talk.java", "PlatformThreads.java"],
        env: &[],
        keep: None,
    },
    Recipe {
        name: "java-virtual",
        kinds: &[PeerKind::JavaVirtual],
        version: &["-version"],
        sources: &[TALK_JAVA, VIRTUAL_JAVA],
        build: &["-d", ".", "Talk.java", "VirtualThreads.java"],
        env: &[],
        keep: None,
    },
    Recipe {
        name: "tokio",
        kinds: &[PeerKind::Tokio],
        version: &["--version"],
        sources: &[
            ("Cargo.toml", include_str!("../../../lab/peers/tokio/Cargo.toml")),
            ("Cargo.lock", include_str!("../../../lab/peers/tokio/Cargo.lock")),
            ("src/main.rs", include_str!("../../../lab/peers/tokio/src/main.rs")),
        ],
        build: &["build", "--release", "--locked", "--quiet", "--target-dir", "target"],
        env: &CARGO_ENV,
        keep: Some(("target/release/talk", "talk")),
    },
];

const TALK_JAVA: (&str, &str) = ("Talk.java", include_str!("../../../lab/peers/java/Talk.java"));
const PLATFORM_JAVA: (&str, &str) =
    ("PlatformThreads.java", include_str!("../../../lab/peers/java/PlatformThreads.java"));
const VIRTUAL_JAVA: (&str, &str) =
    ("VirtualThreads.java", include_str!("../../../lab/peers/java/VirtualThreads.java"));

/// The program that drives servers, with the files of kvik that it shares.
const LOAD: Recipe = Recipe {
    name: "load",
    kinds: &[],
    version: &["--version"],
    sources: &[
        ("lab/load/Cargo.toml", include_str!("../../../lab/load/Cargo.toml")),
        ("lab/load/Cargo.lock", include_str!("../../../lab/load/Cargo.lock")),
        ("lab/load/src/amqp.rs", include_str!("../../../lab/load/src/amqp.rs")),
        ("lab/load/src/driver.rs", include_str!("../../../lab/load/src/driver.rs")),
        ("lab/load/src/handshakes.rs", include_str!("../../../lab/load/src/handshakes.rs")),
        ("lab/load/src/http.rs", include_str!("../../../lab/load/src/http.rs")),
        ("lab/load/src/load.rs", include_str!("../../../lab/load/src/load.rs")),
        ("lab/load/src/main.rs", include_str!("../../../lab/load/src/main.rs")),
        ("lab/load/src/phases.rs", include_str!("../../../lab/load/src/phases.rs")),
        ("lab/load/src/start.rs", include_str!("../../../lab/load/src/start.rs")),
        ("lab/load/src/tls.rs", include_str!("../../../lab/load/src/tls.rs")),
        ("lab/load/src/websocket.rs", include_str!("../../../lab/load/src/websocket.rs")),
        ("lab/load/src/wire.rs", include_str!("../../../lab/load/src/wire.rs")),
        ("lab/load/src/workloads.rs", include_str!("../../../lab/load/src/workloads.rs")),
        ("lab/load/src/xmpp.rs", include_str!("../../../lab/load/src/xmpp.rs")),
        ("lab/load/sys/Cargo.toml", include_str!("../../../lab/load/sys/Cargo.toml")),
        ("lab/load/sys/lib.rs", include_str!("../../../lab/load/sys/lib.rs")),
        ("crates/lab/src/machine.rs", include_str!("machine.rs")),
        ("crates/lab/src/servers/processes.rs", include_str!("servers/processes.rs")),
        ("crates/sys/src/cpu_affinity.rs", include_str!("../../sys/src/cpu_affinity.rs")),
        ("crates/sys/src/errno.rs", include_str!("../../sys/src/errno.rs")),
        ("crates/sys/src/poll.rs", include_str!("../../sys/src/poll.rs")),
        ("crates/sys/src/say.rs", include_str!("../../sys/src/say.rs")),
        ("crates/sys/src/signal.rs", include_str!("../../sys/src/signal.rs")),
        ("crates/sys/src/syscall_counters.rs", include_str!("../../sys/src/syscall_counters.rs")),
        ("crates/sys/src/usage.rs", include_str!("../../sys/src/usage.rs")),
    ],
    build: &[
        "build",
        "--release",
        "--locked",
        "--quiet",
        "--manifest-path",
        "lab/load/Cargo.toml",
        "--target-dir",
        "target",
    ],
    env: &CARGO_ENV,
    keep: Some(("target/release/kvik-load", "kvik-load")),
};

/// Fail fast without a network.
const CARGO_ENV: [(&str, &str); 2] = [("CARGO_NET_RETRY", "1"), ("CARGO_HTTP_TIMEOUT", "15")];

/// A folder that is deleted when this is dropped.
pub struct Folder(PathBuf);

impl Folder {
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A leftover in the system's temporary folder is harmless.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Builds the peers' programs, and makes the working directory of all runs. A peer whose program does
/// not build is dismissed; without the Erlang programs nothing can be measured.
pub fn prepare(line_up: &mut LineUp) -> Result<Folder, String> {
    let cache = cache();
    erlang(line_up, &cache)?;
    for recipe in RECIPES {
        let Some(first) = line_up.peers.iter().find(|p| recipe.kinds.contains(&p.kind)) else {
            continue;
        };
        let tool = first.tool.clone();
        match other(recipe, &tool, &cache) {
            Ok((folder, version)) => {
                let ours = |p: &&mut Peer| recipe.kinds.contains(&p.kind);
                line_up.peers.iter_mut().filter(ours).for_each(|p| equip(p, &folder, &version));
            }
            Err(fault) => line_up.dismiss(recipe.kinds, &one_line(&fault)),
        }
    }
    let work = Folder(std::env::temp_dir().join(format!("kvik-bench.{}", std::process::id())));
    std::fs::create_dir_all(work.path()).map_err(|e| format!("{}: {e}", work.path().display()))?;
    Ok(work)
}

/// Builds the load generator for servers.
pub fn load_generator() -> Result<PathBuf, String> {
    let cargo = on_path("cargo").ok_or("servers need a load generator, which cargo builds")?;
    let (folder, _) = other(&LOAD, &cargo, &cache())
        .map_err(|fault| format!("the load generator: {}", one_line(&fault)))?;
    Ok(folder.join("kvik-load"))
}

/// Sets how to run a peer in another language, after its program was built.
fn equip(peer: &mut Peer, folder: &Path, version: &str) {
    peer.version = version.to_owned();
    let program = match peer.kind {
        PeerKind::C | PeerKind::CBlocking => folder.join("c"),
        PeerKind::JavaThreads | PeerKind::JavaVirtual => {
            let path = folder.display().to_string();
            peer.flags.splice(0..0, ["-cp".to_owned(), path]);
            peer.tool.with_file_name("java")
        }
        _ => folder.join("talk"),
    };
    peer.program = program;
}

fn cache() -> PathBuf {
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let named = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|p| p.is_absolute());
    named.or_else(home).unwrap_or_else(std::env::temp_dir).join("kvik-bench")
}

fn other(recipe: &Recipe, tool: &Path, cache: &Path) -> Result<(PathBuf, String), String> {
    let asked = said_well(Command::new(tool).args(recipe.version).output())?;
    let version = asked.lines().next().unwrap_or_default().trim().to_owned();
    let recipe_words = (recipe.build, &version, tool);
    let folder = built(cache, recipe.name, recipe.sources, &recipe_words, |folder| {
        eprint!("\r\x1b[Kbuilding the programs for {}", recipe.name);
        let mut command = Command::new(tool);
        command.args(recipe.build).current_dir(folder).envs(recipe.env.iter().copied());
        let outcome = said_well(command.output());
        eprint!("\r\x1b[K");
        outcome?;
        if let Some((from, to)) = recipe.keep {
            let fault = |e: std::io::Error| format!("{from}: {e}");
            std::fs::rename(folder.join(from), folder.join(to)).map_err(fault)?;
            let _ = std::fs::remove_dir_all(folder.join("target"));
        }
        Ok(())
    })?;
    Ok((folder, version))
}

/// What an Erlang machine says of itself.
#[derive(Clone, Hash)]
struct Installation {
    release: String,
    root: String,
    version: String,
}

impl Installation {
    fn of(peer: &Peer) -> Result<Installation, String> {
        let code = r#"[io:format("~ts~n", [S]) || S <- [erlang:system_info(otp_release),
            code:root_dir(), erlang:system_info(system_version)]], halt()."#;
        let said = said_well(peer.command().args(EVALUATE).arg(code).output());
        let said = said.map_err(|fault| format!("{}: {}", peer.line(), one_line(&fault)))?;
        let mut lines = said.lines().map(str::to_owned);
        let mut next = || lines.next().ok_or_else(|| format!("{}: {said}", peer.line()));
        Ok(Installation { release: next()?, root: next()?, version: next()?.trim().to_owned() })
    }
}

const EVALUATE: [&str; 3] = ["-noshell", "-noinput", "-eval"];

/// Finds what release each Erlang peer runs and has the programs built for it. kvik runs on the
/// libraries of the first OTP, unless the environment selects others.
fn erlang(line_up: &mut LineUp, cache: &Path) -> Result<(), String> {
    let ask = |kind| move |p: &&mut Peer| p.kind == kind;
    let mut asked: Vec<(PathBuf, Installation)> = Vec::new();
    for peer in line_up.peers.iter_mut().filter(ask(PeerKind::Otp)) {
        install(peer, &mut asked)?;
    }
    if asked.len() > 1 {
        line_up.label_releases();
    }
    let root = asked.first().map(|(_, first)| first.root.clone());
    let selected = ["KVIK_OTP_ROOT", "KVIK_OTP"].iter().any(|n| std::env::var_os(n).is_some());
    for peer in line_up.peers.iter_mut().filter(ask(PeerKind::Kvik)) {
        let root = root.iter().filter(|_| !selected);
        peer.env.extend(root.map(|root| ("KVIK_OTP_ROOT".to_owned(), root.clone())));
        install(peer, &mut asked)?;
    }
    // OTP's compiler if there is one, so that the files are the same whatever the state of kvik.
    for i in 0..line_up.peers.len() {
        if !line_up.peers[i].kind.is_erlang() {
            continue;
        }
        let is_release = |p: &&Peer| p.kind.is_erlang() && p.release == line_up.peers[i].release;
        let of_release = || line_up.peers.iter().filter(is_release);
        let compiler = of_release().find(|p| p.kind == PeerKind::Otp).or(of_release().next());
        if let Some(compiler) = compiler {
            line_up.peers[i].beams = beams(compiler, cache)?;
        }
    }
    Ok(())
}

/// Sets an Erlang peer's release and version; each tool is asked once.
fn install(peer: &mut Peer, asked: &mut Vec<(PathBuf, Installation)>) -> Result<(), String> {
    let known = asked.iter().find(|(tool, _)| *tool == peer.tool).map(|(_, found)| found.clone());
    let found = match known {
        Some(found) => found,
        None => {
            let found = Installation::of(peer)?;
            asked.push((peer.tool.clone(), found.clone()));
            found
        }
    };
    (peer.release, peer.version) = (found.release, found.version);
    Ok(())
}

/// The folder of the Erlang programs, compiled by this peer.
fn beams(compiler: &Peer, cache: &Path) -> Result<PathBuf, String> {
    // kvik's own compiler may change without a change of its version.
    let changed = std::fs::metadata(&compiler.tool).and_then(|m| m.modified()).ok();
    let with = (&compiler.tool, &compiler.version, changed);
    built(cache, "erlang", ERLANG, &with, |folder| {
        let erlang = ERLANG.iter().map(|(name, _)| name).filter(|name| name.ends_with(".erl"));
        let files = erlang.map(|name| format!("{name:?}")).collect::<Vec<_>>().join(",");
        let code = format!(
            "Failed = [F || F <- [{files}], compile:file(F, [report_errors]) =:= error], \
             halt(length(Failed))."
        );
        let mut compile = compiler.command();
        said_well(compile.args(EVALUATE).arg(code).current_dir(folder).output()).map(drop)
    })
}

/// The folder with these sources built. It is built under another name and renamed, so an existing
/// folder is complete.
fn built(
    cache: &Path,
    name: &str,
    sources: Sources,
    with: &impl Hash,
    build: impl Fn(&Path) -> Result<(), String>,
) -> Result<PathBuf, String> {
    let mut hasher = DefaultHasher::new();
    (sources, with).hash(&mut hasher);
    let folder = cache.join(format!("{name}-{:016x}", hasher.finish()));
    if folder.is_dir() {
        return Ok(folder);
    }
    let fault = |e: std::io::Error| format!("{}: {e}", folder.display());
    let draft = Folder(cache.join(format!("{name}.{}", std::process::id())));
    for (name, text) in sources {
        let file = draft.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap_or(cache)).map_err(fault)?;
        std::fs::write(file, text).map_err(fault)?;
    }
    build(draft.path())?;
    match std::fs::rename(draft.path(), &folder) {
        // A concurrent build was faster.
        Err(_) if folder.is_dir() => Ok(folder),
        renamed => renamed.map(|()| folder.clone()).map_err(fault),
    }
}

/// A command's output, or why it failed. `javac -version` prints to stdout or stderr.
fn said_well(output: std::io::Result<Output>) -> Result<String, String> {
    let output = output.map_err(|e| format!("the compiler does not start: {e}"))?;
    let said = [&output.stdout, &output.stderr].map(|s| String::from_utf8_lossy(s).into_owned());
    if output.status.success() {
        return Ok(said.concat());
    }
    Err(format!("the programs do not build:\n{}", said.concat()))
}

fn one_line(fault: &str) -> String {
    let words: Vec<&str> = fault.split_whitespace().collect();
    words.join(" ").chars().take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn built_programs_are_reused() {
        let cache = Folder(std::env::temp_dir().join(format!("kvik-lab.{}", std::process::id())));
        let count = Cell::new(0);
        let build = |folder: &Path| {
            count.set(count.get() + 1);
            std::fs::write(folder.join("out"), "built").map_err(|e| e.to_string())
        };
        let sources: Sources = &[("a/b.txt", "text")];
        let first = built(cache.path(), "x", sources, &1, build).unwrap();
        assert_eq!(std::fs::read_to_string(first.join("a/b.txt")).unwrap(), "text");
        assert_eq!(built(cache.path(), "x", sources, &1, build).unwrap(), first);
        assert_eq!(count.get(), 1);
        assert_ne!(built(cache.path(), "x", sources, &2, build).unwrap(), first);
        let fault = built(cache.path(), "x", sources, &3, |_| Err("no".to_owned()));
        assert_eq!(fault, Err("no".to_owned()));
        assert_eq!(std::fs::read_dir(cache.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_compiler_that_fails_says_why() {
        let _one = crate::run::ONE.lock();
        let fault = said_well(Command::new("sh").args(["-c", "echo bad; exit 1"]).output());
        assert!(fault.is_err_and(|f| f.contains("bad")));
        assert!(said_well(Command::new("/no/such/compiler").output()).is_err());
    }
}
