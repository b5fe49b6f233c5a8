//! Running as an executable that `kvik build` made: what it carries, and the command line that it
//! starts with. The notes, each words that end in NUL, are written by `build/plan.erl`:
//!
//! | note | what it is |
//! |---|---|
//! | `kind` | `program`, `application`, or `release` with commands |
//! | `name`, `version` | of the program or release |
//! | `otp`, `erts` | release of OTP, version of its `erts` |
//! | `args` | arguments of `erl` before the user's, for a program |
//! | `script` | what `escript:script_name/0` answers, if not the name it was started by |
//! | `command.NAME` | the same for a command of a release |
//! | `style` | `mix` or `relx`: what the release's variables are |
//! | `libraries_of_epmd` | names of the libraries that epmd depends on |
//! | `env.sh` | shell commands that set variables |
//! | `template` | files `F` that are made of `F.src` by putting in variables |
//! | `writes_config` | there if the system writes its configuration and starts again with it |
//!
//! In arguments `{root}` and the like stand for what is known when it runs.

use std::ffi::{CString, OsStr, OsString};
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use kvik_env::embedded;
use kvik_env::process::{self, Command, Stdio};

use crate::build::libraries::OF_EPMD;
use crate::launch::{self, complain};
use crate::otp_root::Otp;
use crate::{env_args, front, template};

/// Runs what this executable carries. `None`: it carries nothing.
pub fn run(name: &Path, args: &[OsString]) -> Option<i32> {
    match embedded::mount(template::fill) {
        Ok(false) => return None,
        Ok(true) => {}
        Err(fault) => return Some(complain(&format!("{}: {fault}", name.display()))),
    }
    Some(match act_as(name) {
        Some(tool) => match front::named(&tool) {
            Some(front_end) => launch::tool(Path::new(&tool), front_end(args.to_vec())),
            None => launch::erl(name, args.to_vec()),
        },
        None => start(name, args),
    })
}

/// The name in the tree by which it was started: `erl` for a node beside this one.
fn act_as(name: &Path) -> Option<String> {
    if let Some(tool) = std::env::var_os(embedded::ACT_AS) {
        std::env::remove_var(embedded::ACT_AS);
        return tool.into_string().ok();
    }
    let inside = name.strip_prefix(embedded::own_path()?).ok()?;
    inside.file_name()?.to_str().map(str::to_owned)
}

/// The OTP in this executable, if one is.
pub fn otp() -> Option<Otp> {
    let release = kvik_release::by_name(text("otp")?)?;
    let erts = text("erts")?.to_owned();
    let root = embedded::path("root")?;
    let of_erts = |dir: &str| root.join(format!("erts-{erts}")).join(dir);
    let (bindir, preloaded) = (of_erts("bin"), of_erts("ebin"));
    Some(Otp { release, bindir, preloaded, erts, root, reason: "part of this executable" })
}

/// The words of a note.
fn words(note: &str) -> Option<impl Iterator<Item = &'static str>> {
    Some(embedded::note(note)?.split_terminator('\0'))
}
fn text(note: &str) -> Option<&'static str> {
    words(note)?.next()
}

fn start(name: &Path, args: &[OsString]) -> i32 {
    // A name that was found by the path says nothing about where the file is.
    let is_bare = !name.as_os_str().as_bytes().contains(&b'/');
    let name = embedded::own_path().filter(|_| is_bare).unwrap_or(name);
    let result = match text("kind") {
        Some(kind @ ("program" | "application")) => arguments("args", None).map(|mut v| {
            v.push("-extra".into());
            if kind == "program" {
                v.push(text("script").map_or(name.into(), placed));
            }
            v.extend(args.iter().cloned());
            v
        }),
        Some("release") => match command(args) {
            Ok(Some(v)) => Ok(v),
            Ok(None) => return 0,
            Err(e) => Err(e),
        },
        _ => Err("it was made by another kvik".into()),
    };
    std::env::set_var("ESCRIPT_NAME", name);
    match result {
        Ok(v) => launch::erl(name, v),
        Err(e) => complain(&format!("{}: {e}", name.display())),
    }
}

/// The arguments of a command of a release. `None`: it is done.
fn command(args: &[OsString]) -> Result<Option<Vec<OsString>>, String> {
    let word = args.first().and_then(|a| a.to_str()).unwrap_or_default();
    if word == "version" {
        kvik_sys::say!(
            "{} {}",
            text("name").unwrap_or_default(),
            text("version").unwrap_or_default()
        );
        return Ok(None);
    }
    let note = format!("command.{word}");
    if embedded::note(&note).is_none() {
        let known: Vec<&str> = COMMANDS
            .iter()
            .filter(|(c, _)| *c == "version" || embedded::note(&format!("command.{c}")).is_some())
            .map(|(_, line)| *line)
            .collect();
        let wrong = match word {
            "" | "help" | "--help" | "-h" => String::new(),
            _ => format!("no command {word:?}\n"),
        };
        return Err(format!("{wrong}usage: COMMAND [ARGS]\n\n{}", known.join("\n")));
    }
    let takes_expression = embedded::note(&note).is_some_and(|w| w.contains("{expression}"));
    let expression = args.get(1);
    if takes_expression && expression.is_none() {
        return Err(format!("{word} needs an expression"));
    }
    environment(word)?;
    let mut v = arguments(&note, expression)?;
    if text("style") == Some("mix") {
        let own = std::env::var_os("ELIXIR_ERL_OPTIONS").unwrap_or_default();
        v.splice(0..0, env_args::split(own.as_bytes(), false));
    }
    let more = match word {
        "start" | "start_iex" | "foreground" | "console" => &args[1..],
        // Since Elixir 1.20 what follows the expression goes to it.
        "eval" if v.last().is_some_and(|a| a == "--") => &args[2..],
        _ => &[],
    };
    if !more.is_empty() && !v.iter().any(|a| a == "-extra") {
        v.push("-extra".into());
    }
    v.extend(more.iter().cloned());
    Ok(Some(v))
}

/// The commands of releases, with their lines of help.
const COMMANDS: &[(&str, &str)] = &[
    ("start", "  start          start the system"),
    ("start_iex", "  start_iex      start the system with a shell on it"),
    ("foreground", "  foreground     start the system"),
    ("console", "  console        start the system with a shell on it"),
    ("eval", "  eval EXPR      evaluate an expression (of mix: without the system)"),
    ("rpc", "  rpc EXPR       evaluate an expression in the running system"),
    ("remote", "  remote         a shell in the running system"),
    ("restart", "  restart        restart the running system"),
    ("stop", "  stop           stop the running system"),
    ("ping", "  ping           say whether the system is running"),
    ("pid", "  pid            process id of the running system"),
    ("version", "  version        name and version of the release"),
];

/// Sets the variables that the start script of a mix release sets.
fn environment(command: &str) -> Result<(), String> {
    let set = |name: &str, value: OsString| {
        if std::env::var_os(name).is_none_or(|v| v.is_empty()) {
            std::env::set_var(name, value);
        }
    };
    let inside = |path: String| embedded::path(&path).unwrap_or_default().into_os_string();
    let (name, version) = (text("name").unwrap_or_default(), text("version").unwrap_or_default());
    if text("style") != Some("mix") {
        return running_node(version, &set);
    }
    std::env::set_var("RELEASE_ROOT", inside("root".into()));
    std::env::set_var("RELEASE_COMMAND", command);
    set("RELEASE_NAME", name.into());
    set("RELEASE_VSN", version.into());
    set("RELEASE_PROG", name.into());
    source_env_sh()?;
    let cookie = kvik_env::fs::read_to_string(inside("root/releases/COOKIE".into()));
    set("RELEASE_COOKIE", cookie.unwrap_or_default().trim().into());
    set("RELEASE_MODE", "embedded".into());
    set("RELEASE_NODE", name.into());
    set("RELEASE_TMP", std::env::temp_dir().join(name).into_os_string());
    set("RELEASE_VM_ARGS", inside(format!("root/releases/{version}/vm.args")));
    set("RELEASE_REMOTE_VM_ARGS", inside(format!("root/releases/{version}/remote.vm.args")));
    set("RELEASE_DISTRIBUTION", "sname".into());
    set("RELEASE_BOOT_SCRIPT", "start".into());
    set("RELEASE_BOOT_SCRIPT_CLEAN", "start_clean".into());
    if embedded::note("writes_config").is_some() && std::env::var_os("RELEASE_SYS_CONFIG").is_none()
    {
        let from = inside(format!("root/releases/{version}/sys.config"));
        let to = own_config(name, version, Path::new(&from));
        set("RELEASE_SYS_CONFIG", to.map_err(|e| format!("the configuration: {e}"))?);
    }
    set("RELEASE_SYS_CONFIG", inside(format!("root/releases/{version}/sys")));
    Ok(())
}

/// Copies the configuration to where it may be written, as the release's own script does.
fn own_config(name: &str, version: &str, from: &Path) -> std::io::Result<OsString> {
    let dir = PathBuf::from(std::env::var_os("RELEASE_TMP").unwrap_or_default());
    kvik_env::fs::create_dir_all(&dir)?;
    let random = kvik_env::random::number();
    let to = dir.join(format!("{name}-{version}-{random:016x}.runtime")).into_os_string();
    let mut file = to.clone();
    file.push(".config");
    kvik_env::fs::write_new(file, &kvik_env::fs::read(from)?)?;
    Ok(to)
}

/// Sets the variables of the node that a release of rebar3 runs as, from its `vm.args`.
fn running_node(version: &str, set: &dyn Fn(&str, OsString)) -> Result<(), String> {
    for name in ["REL_NAME", "RELEASE_NAME"] {
        set(name, text("name").unwrap_or_default().into());
    }
    for name in ["REL_VSN", "RELEASE_VSN"] {
        set(name, version.into());
    }
    set("RELEASE_ROOT_DIR", embedded::path("root").unwrap_or_default().into_os_string());
    let file = embedded::path(&format!("root/releases/{version}/vm.args")).unwrap_or_default();
    let text = kvik_env::fs::read(file).unwrap_or_default();
    let words = env_args::split(&text, true);
    let value = |flag: &str| words.windows(2).rfind(|w| w[0] == flag).map(|w| w[1].clone());
    for (flag, kind) in [("-sname", "sname"), ("-name", "name")] {
        if let Some(name) = value(flag) {
            set("RELEASE_NODE", name);
            set("RELEASE_DISTRIBUTION", kind.into());
        }
    }
    if let Some(cookie) = value("-setcookie") {
        set("RELEASE_COOKIE", cookie);
    }
    Ok(())
}

/// Runs the release's `env.sh` in a shell, and takes over the variables that it exports.
fn source_env_sh() -> Result<(), String> {
    let Some(script) = words("env.sh").and_then(|mut w| w.next()) else { return Ok(()) };
    let failed = |e: std::io::Error| format!("env.sh: {e}");
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "set -e; eval \"$(cat)\" >&2; env -0"]);
    shell.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = process::start(&mut shell).map_err(failed)?;
    if let Some(mut to) = child.stdin.take() {
        to.write_all(script.as_bytes()).map_err(failed)?;
    }
    let output = child.wait_with_output().map_err(failed)?;
    if !output.status.success() {
        return Err(format!("env.sh: {}", output.status));
    }
    for variable in output.stdout.split(|b| *b == 0) {
        let mut halves = variable.splitn(2, |b| *b == b'=');
        if let (Some(name), Some(value)) = (halves.next(), halves.next()) {
            if !name.is_empty() {
                std::env::set_var(OsStr::from_bytes(name), OsStr::from_bytes(value));
            }
        }
    }
    Ok(())
}

/// The words of a note with what is known now in place of the names in braces.
fn arguments(note: &str, expression: Option<&OsString>) -> Result<Vec<OsString>, String> {
    let mut out: Vec<OsString> = Vec::new();
    let mut it = words(note).ok_or("it was made by another kvik")?;
    let distribution = std::env::var("RELEASE_DISTRIBUTION").unwrap_or_default();
    while let Some(word) = it.next() {
        match (word, distribution.as_str()) {
            ("-sname", "none") => drop(it.next()),
            ("-sname", "name") => out.push("-name".into()),
            ("{expression}", _) => out.extend(expression.cloned()),
            _ => out.push(placed(word)),
        }
    }
    Ok(out)
}

/// Names in braces, and the variable that each stands for.
const VARIABLES: &[(&str, &str)] = &[
    ("{cookie}", "RELEASE_COOKIE"),
    ("{node}", "RELEASE_NODE"),
    ("{mode}", "RELEASE_MODE"),
    ("{vm_args}", "RELEASE_VM_ARGS"),
    ("{remote_vm_args}", "RELEASE_REMOTE_VM_ARGS"),
    ("{sys_config}", "RELEASE_SYS_CONFIG"),
];

fn placed(word: &str) -> OsString {
    let root = || embedded::path("root").unwrap_or_default().into_os_string();
    let mut out = word.as_bytes().to_vec();
    let mut put = |name: &str, value: &dyn Fn() -> OsString| {
        if word.contains(name) {
            let value = value();
            let parts: Vec<&[u8]> = split(&out, name.as_bytes());
            out = parts.join(value.as_bytes());
        }
    };
    put("{root}", &root);
    put("{host}", &|| {
        let node = std::env::var("RELEASE_NODE").unwrap_or_default();
        node.find('@').map_or_else(OsString::new, |at| node[at..].into())
    });
    put("{random}", &|| format!("{:04x}", kvik_env::random::number() as u16).into());
    for (name, variable) in VARIABLES {
        put(name, &|| std::env::var_os(variable).unwrap_or_default());
    }
    OsString::from_vec(out)
}

fn split<'a>(text: &'a [u8], at: &[u8]) -> Vec<&'a [u8]> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(i) = rest.windows(at.len()).position(|w| w == at) {
        parts.push(&rest[..i]);
        rest = &rest[i + at.len()..];
    }
    parts.push(rest);
    parts
}

/// The carried libraries that epmd depends on, as `LD_PRELOAD` takes them.
pub fn libraries_of_epmd() -> OsString {
    let names = words(OF_EPMD).into_iter().flatten();
    let carried = names.filter_map(|name| {
        let path = embedded::path(&format!("libraries/{name}"))?;
        let path = CString::new(path.into_os_string().into_vec()).ok()?;
        embedded::real_path(&path)?.ok()
    });
    let paths: Vec<_> = carried.map(CString::into_bytes).collect();
    OsString::from_vec(paths.join(&b':'))
}

/// A program of the tree, or the executable itself, as the system starts it.
pub fn program(path: PathBuf) -> PathBuf {
    let name = CString::new(path.as_os_str().as_bytes()).ok();
    match name.and_then(|n| embedded::real_path(&n)) {
        Some(Ok(real)) => OsString::from_vec(real.into_bytes()).into(),
        _ => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_at_a_word() {
        let parts = |text: &str| -> Vec<String> {
            split(text.as_bytes(), b"{r}")
                .iter()
                .map(|p| String::from_utf8_lossy(p).into())
                .collect()
        };
        assert_eq!(parts("a{r}b{r}"), ["a", "b", ""]);
        assert_eq!(parts("ab"), ["ab"]);
    }
}
