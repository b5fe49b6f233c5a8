//! How each server is started, unmodified: from Debian's packages, or as `lab/elixir/web/build` made it.

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerKind {
    Cowboy,
    CowboyTls,
    Inets,
    /// Plug on Bandit.
    Bandit,
    /// Phoenix on Bandit.
    Phoenix,
    RabbitMq,
    Ejabberd,
    /// Two nodes that talk.
    Nodes,
    Mnesia,
}

/// Where a run happens.
pub struct Place {
    /// A folder that is empty before.
    pub dir: PathBuf,
    /// The `.beam` files of `lab/erlang`.
    pub beams: PathBuf,
    /// The Erlang machine with its flags.
    pub machine: Vec<OsString>,
    pub port: u16,
    /// How long a phase lasts of a program that makes its load itself.
    pub phase_ms: u128,
}

/// The command that starts a server, or what is missing for it.
pub fn command(server: ServerKind, place: &Place) -> Result<Command, String> {
    match server {
        ServerKind::Cowboy => web(place, "cowboy", &cowboy()?),
        ServerKind::CowboyTls => web(place, "cowboy_tls", &cowboy()?),
        ServerKind::Inets => {
            installed("inets", "erlang-inets")?;
            web(place, "inets", &[])
        }
        ServerKind::Bandit => elixir(place, "bandit"),
        ServerKind::Phoenix => elixir(place, "phoenix"),
        ServerKind::RabbitMq => rabbitmq(place),
        ServerKind::Ejabberd => ejabberd(place),
        ServerKind::Nodes => node(place, "a").map(|mut command| {
            let time = place.phase_ms.to_string();
            command.args(["-run", "lab_phases", "nodes", &time, &place.node("b")]);
            command
        }),
        ServerKind::Mnesia => {
            installed("mnesia", "erlang-mnesia")?;
            let mut command = place.erl();
            let dir = format!("\"{}\"", place.dir.join("mnesia").display());
            command.args(["-noshell", "-pa"]).arg(&place.beams).args(["-mnesia", "dir", &dir]);
            command.args(["-run", "lab_phases", "mnesia", &place.phase_ms.to_string()]);
            Ok(command)
        }
    }
}

/// One of the servers in `lab_server.erl`.
fn web(place: &Place, name: &str, libraries: &[PathBuf]) -> Result<Command, String> {
    let mut command = place.erl();
    command.args(["-noshell", "-noinput", "+Q", "65536", "-pa"]).arg(&place.beams).args(libraries);
    command.args(["-run", "lab_server", name, &place.port.to_string()]);
    Ok(command)
}

/// One of the servers in `lab_web.ex`.
fn elixir(place: &Place, name: &str) -> Result<Command, String> {
    let built = std::env::var_os("KVIK_BENCH_PHOENIX").map(PathBuf::from);
    let built = built.filter(|dir| dir.join("lab_web/ebin").is_dir());
    let built = built.ok_or("Phoenix (KVIK_BENCH_PHOENIX names what lab/elixir/web/build made)")?;
    let mut command = place.erl();
    command.args(["-noshell", "-noinput", "+Q", "65536", "-pa"]);
    command.args(starting(&built, "").map(|library| library.join("ebin")));
    command.args(["-run", "Elixir.LabWeb", name, &place.port.to_string()]);
    Ok(command)
}

/// The node that the first of two talks to.
pub fn second_node(place: &Place) -> Result<Command, String> {
    let mut command = node(place, "b")?;
    command.args(["-noinput", "-run", "lab_phases", "wait"]);
    Ok(command)
}

fn node(place: &Place, name: &str) -> Result<Command, String> {
    let mut command = place.erl();
    command.args(["-noshell", "-pa"]).arg(&place.beams);
    command.args(["-name", &place.node(name), "-setcookie", "lab"]);
    // An epmd of its own, which ends with the run.
    command.env("ERL_EPMD_PORT", free_port(u32::from(place.port))?.to_string());
    command.env("ERL_EPMD_ADDRESS", "127.0.0.1");
    Ok(command)
}

/// RabbitMQ's own script, which takes `erl` from the path.
fn rabbitmq(place: &Place) -> Result<Command, String> {
    let versions = starting(Path::new("/usr/lib/rabbitmq/lib"), "rabbitmq_server-");
    let script = versions.map(|at| at.join("sbin/rabbitmq-server")).find(|at| at.is_file());
    let script = script.ok_or("RabbitMQ (apt-get install rabbitmq-server)")?;
    let mut command = Command::new(script);
    place.own_erl(&mut command)?;
    fs::write(place.dir.join("plugins"), "[].\n").map_err(|e| e.to_string())?;
    let distribution = free_port(u32::from(place.port))?;
    command.env("RABBITMQ_NODENAME", format!("kvik_bench_{}@localhost", place.port));
    command.env("RABBITMQ_NODE_IP_ADDRESS", "127.0.0.1");
    command.env("RABBITMQ_NODE_PORT", place.port.to_string());
    command.env("RABBITMQ_DIST_PORT", distribution.to_string());
    command.env("RABBITMQ_CONFIG_FILE", place.dir.join("none"));
    for (variable, name) in [
        ("RABBITMQ_MNESIA_BASE", "mnesia"),
        ("RABBITMQ_LOG_BASE", "log"),
        ("RABBITMQ_PID_FILE", "pid"),
        ("RABBITMQ_ENABLED_PLUGINS_FILE", "plugins"),
    ] {
        command.env(variable, place.dir.join(name));
    }
    Ok(command)
}

/// The settings of ejabberd that are not Debian's: where it listens, that clients may register and
/// log in without TLS, and no limits of traffic. The modules are those that a chat needs.
const EJABBERD: &str = "\
loglevel: error
hosts: [localhost]
listen:
  - {port: PORT, ip: \"127.0.0.1\", module: ejabberd_c2s, access: all, shaper: none, backlog: 1000}
registration_timeout: infinity
modules:
  mod_caps: {}
  mod_carboncopy: {}
  mod_client_state: {}
  mod_disco: {}
  mod_last: {}
  mod_mam: {}
  mod_offline: {}
  mod_ping: {}
  mod_privacy: {}
  mod_register: {ip_access: all}
  mod_roster: {versioning: true}
  mod_stream_mgmt: {}
";

/// ejabberd's own script, which a file of settings tells where `erl` is. It runs as the user
/// `ejabberd` alone, and asks `id` for that.
fn ejabberd(place: &Place) -> Result<Command, String> {
    let script = Path::new("/usr/sbin/ejabberdctl");
    if !script.is_file() {
        return Err("ejabberd (apt-get install ejabberd)".to_owned());
    }
    let mut command = Command::new(script);
    place.own_erl(&mut command)?;
    let own = |name: &str| place.dir.join(name);
    let distribution = free_port(u32::from(place.port))?;
    let settings = format!(
        "ERL='{}'\nERL_DIST_PORT={distribution}\nERL_OPTIONS='-setcookie lab'\n\
         ERLANG_NODE=kvik_bench_{}@localhost\n",
        own("bin/erl").display(),
        place.port,
    );
    let files = [
        ("bin/id", "#!/bin/sh\necho ejabberd\n".to_owned()),
        ("ejabberd.yml", EJABBERD.replace("PORT", &place.port.to_string())),
        ("ejabberdctl.cfg", settings),
    ];
    for (name, text) in files {
        fs::write(own(name), text).map_err(|e| format!("{name}: {e}"))?;
    }
    fs::set_permissions(own("bin/id"), Permissions::from_mode(0o755)).map_err(|e| e.to_string())?;
    command.arg("--config-dir").arg(&place.dir).arg("--config").arg(own("ejabberd.yml"));
    command.arg("--ctl-config").arg(own("ejabberdctl.cfg")).arg("--logs").arg(own("log"));
    command.arg("--spool").arg(own("spool")).arg("foreground-quiet");
    command.env("EJABBERD_PID_PATH", own("pid"));
    Ok(command)
}

impl Place {
    fn node(&self, name: &str) -> String {
        format!("kvik_bench_{}_{name}@127.0.0.1", self.port)
    }
    /// For a program that takes `erl` from the path: that is this machine, with a home and an epmd
    /// of its own.
    fn own_erl(&self, command: &mut Command) -> Result<(), String> {
        let bin = self.dir.join("bin");
        let quoted =
            |word: &OsString| format!("'{}'", word.to_string_lossy().replace('\'', "'\\''"));
        let words: Vec<String> = self.machine.iter().map(quoted).collect();
        let fault = |e: std::io::Error| format!("{}: {e}", bin.display());
        fs::create_dir_all(&bin).map_err(fault)?;
        fs::write(bin.join("erl"), format!("#!/bin/sh\nexec {} \"$@\"\n", words.join(" ")))
            .and_then(|()| fs::set_permissions(bin.join("erl"), Permissions::from_mode(0o755)))
            .map_err(fault)?;
        let path = std::env::var_os("PATH").unwrap_or_default();
        let all = std::iter::once(bin.clone()).chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(all).map_err(|e| e.to_string())?);
        command.env("HOME", &self.dir).env("ERL_EPMD_PORT", free_port(7)?.to_string());
        command.env("ERL_EPMD_ADDRESS", "127.0.0.1");
        Ok(())
    }
    /// What the server prints.
    pub fn log(&self) -> PathBuf {
        self.dir.join("output")
    }
    /// The Erlang machine.
    pub fn erl(&self) -> Command {
        let mut command = Command::new(&self.machine[0]);
        command.args(&self.machine[1..]);
        command
    }
}

/// Places where Debian's packages have Erlang libraries; a `*` is any version.
const LIBRARIES: &[(&str, &str)] =
    &[("/usr/lib/erlang/lib", ""), ("/usr/lib/rabbitmq/lib", "rabbitmq_server-")];

/// The code of a library of whatever version, of its own package or of RabbitMQ's.
fn library(name: &str) -> Option<PathBuf> {
    let versions = LIBRARIES.iter().flat_map(|(dir, inner)| match *inner {
        "" => vec![PathBuf::from(dir)],
        prefix => starting(Path::new(dir), prefix).map(|at| at.join("plugins")).collect(),
    });
    versions.flat_map(|dir| starting(&dir, &format!("{name}-")).collect::<Vec<_>>()).find_map(
        |at| {
            let ebin = at.join("ebin");
            ebin.is_dir().then_some(ebin)
        },
    )
}

/// The entries of a folder whose names start so.
fn starting(dir: &Path, prefix: &str) -> impl Iterator<Item = PathBuf> {
    let prefix = prefix.to_owned();
    let entries = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(move |path| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&prefix))
    })
}

fn installed(library: &str, package: &str) -> Result<(), String> {
    let found = starting(Path::new("/usr/lib/erlang/lib"), &format!("{library}-")).next();
    found.map(drop).ok_or_else(|| format!("{library} (apt-get install {package})"))
}

fn cowboy() -> Result<Vec<PathBuf>, String> {
    let all: Option<Vec<PathBuf>> =
        ["cowboy", "cowlib", "ranch"].map(library).into_iter().collect();
    all.ok_or_else(|| "cowboy (apt-get install rabbitmq-server, which has it)".to_owned())
}

/// A port that nobody uses, below those that the kernel gives to connections.
pub fn free_port(seed: u32) -> Result<u16, String> {
    let from = seed.wrapping_mul(2_654_435_761) % 10_000;
    let ports = (0..10_000).map(|n| 20_000 + ((from + n * 7) % 10_000) as u16);
    let mut free = ports.filter(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok());
    free.next().ok_or_else(|| "no port is free".to_owned())
}
