//! Starting the VM as `erl`.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};

use kvik_env::process::{self, Command, Stdio};
use kvik_env::{embedded, fs};
use kvik_vm::VmOptions;

use crate::build::libraries::OF_EPMD;
use crate::front::Start;
use crate::otp_root::Otp;
use crate::{built, command_line, env_args, otp_root};

pub fn complain(text: &str) -> i32 {
    kvik_sys::complain!("{text}");
    1
}

/// `kvik ARGS`, equivalent to `erl ARGS`; `name` is the name that the program was started by.
/// As `erl` it has no flags of its own.
pub fn erl(name: &Path, args: Vec<OsString>) -> i32 {
    let selects = !matches!(name.file_name().and_then(|n| n.to_str()), Some("erl" | "erlexec"));
    let parse = |args: Vec<OsString>, release| {
        let env = |n: &str| std::env::var_os(n);
        let all = env_args::gather(args, env, release)?;
        command_line::parse(all, selects)
    };
    let mut line = match parse(args.clone(), None) {
        Ok(l) => l,
        Err(e) => return complain(&e),
    };
    let otp = match otp_root::find(line.root.as_ref(), line.otp.as_ref(), name) {
        Ok(o) => o,
        Err(e) => return complain(&format!("kvik: {e}")),
    };
    // Once the release is known: its flags are added, and it decides on `-S` and on `--` behind `-extra`.
    line = match parse(args, Some(otp.release)) {
        Ok(l) => l,
        Err(e) => return complain(&e),
    };
    if line.version || line.vm.iter().any(|f| f.0 == "V") {
        let version = format!("Erlang (SMP,ASYNC_THREADS) (BEAM) emulator version {}\n", otp.erts);
        kvik_sys::complain_as_emulator(version.as_bytes());
        return 0;
    }
    let init_args = init_args(&otp, &line.init);
    if line.print_args {
        for (flag, value) in &line.vm {
            kvik_sys::say!("-{flag}");
            value.iter().for_each(|v| kvik_sys::say!("{v}"));
        }
        init_args.iter().for_each(|a| kvik_sys::say!("{}", a.to_string_lossy()));
        return 0;
    }
    if line.show_args {
        show_args(&line, &init_args);
    }
    if line.detached {
        return detach(&line, &otp);
    }
    kvik_release::select(otp.release, &otp.erts);
    set_environment(&otp, &line.env);
    if line.needs_epmd {
        start_epmd(&otp);
    }
    kvik_vm::run(VmOptions {
        root: otp.root,
        preloaded: otp.preloaded,
        vm_flags: line.vm,
        init_args,
    })
}

/// Prints the command that `erl` would execute, on one line. Only to a terminal: other output of
/// `erl` is buffered and lost when it executes the emulator.
fn show_args(line: &command_line::CommandLine, init_args: &[OsString]) {
    if !std::io::stdout().is_terminal() {
        return;
    }
    let mut words =
        vec![std::env::current_exe().unwrap_or_default().to_string_lossy().into_owned()];
    for (flag, value) in &line.vm {
        let mut flag = command_line::words(flag, value.as_deref());
        if let Some(sign) = flag.first_mut() {
            sign.replace_range(..1, "-");
        }
        words.append(&mut flag);
    }
    words.extend(init_args.iter().map(|a| a.to_string_lossy().into_owned()));
    kvik_sys::say!("Executing: {}\n", words.join(" "));
}

/// The program that `peer` and `slave` start nodes with: `erl` if the first one in their path is
/// kvik, else the path of this program.
fn progname(otp: &Otp) -> OsString {
    if let Some(own) = embedded::path("root/bin/erl") {
        return own.into();
    }
    let given = std::env::var_os("PROGNAME").filter(|p| !p.is_empty());
    let exe = || std::env::current_exe().ok();
    // Only OTP's own directory contains OTP's emulator.
    let ours = || fs::exists(otp.bindir.join("erl")) && !fs::exists(otp.bindir.join("beam.smp"));
    given.unwrap_or_else(|| match exe() {
        Some(exe) if !ours() => exe.into(),
        _ => "erl".into(),
    })
}

/// Starts the node name daemon (epmd); a running one is kept.
fn start_epmd(otp: &Otp) {
    let epmd = otp.bindir.join("epmd");
    let mut command = Command::new(built::program(epmd.clone()));
    command.arg0("epmd").arg("-daemon");
    let carries_libraries = embedded::note(OF_EPMD).is_some();
    if carries_libraries {
        // Where the loader would complain if the system lacks some of them.
        command.stderr(Stdio::null());
    }
    let mut started = process::status(&mut command);
    let status = started.as_ref().ok().and_then(|status| status.code());
    if carries_libraries && status == Some(LIBRARY_MISSING) {
        command.stderr(Stdio::inherit()).env("LD_PRELOAD", built::libraries_of_epmd());
        started = process::status(&mut command);
    }
    if let Err(e) = started {
        complain(&format!("Error spawning {}: {e}", epmd.to_string_lossy()));
    }
}

/// The status of a program whose libraries the system's loader does not find.
const LIBRARY_MISSING: i32 = 127;

/// The complete arguments of `init`.
fn init_args(otp: &Otp, rest: &[OsString]) -> Vec<OsString> {
    let mut v: Vec<OsString> = vec!["--".into(), "-root".into(), otp.root.clone().into()];
    v.extend([
        "-bindir".into(),
        otp.bindir.clone().into(),
        "-progname".into(),
        progname(otp),
        "--".into(),
    ]);
    if let Some(home) = std::env::var_os("HOME").filter(|h| !h.is_empty()) {
        v.extend(["-home".into(), home]);
    }
    if let Some(port) = std::env::var_os("ERL_EPMD_PORT") {
        v.extend(["-epmd_port".into(), port]);
    }
    v.push("--".into());
    v.extend(rest.iter().cloned());
    v
}

/// The directory whose `erl` is this program, if it was started from there or is of a package that has
/// one. Programs that are started by name are looked for there before OTP's own directory, which
/// `erlexec` puts first: what a program starts as `erl` is the same machine.
fn own_directory(otp: &Otp) -> Option<PathBuf> {
    if embedded::path("root/bin/erl").is_some() {
        return None;
    }
    let exe = std::env::current_exe().ok()?;
    let called = PathBuf::from(std::env::args_os().next()?);
    let packaged = exe.parent().map(|bin| bin.join("../lib/kvik/bin"));
    let known = otp_root::directory_of(&called).into_iter().chain(packaged);
    known.filter_map(|dir| fs::canonicalize(dir).ok()).find(|dir| {
        let erl = fs::canonicalize(dir.join("erl"));
        *dir != otp.bindir
            && erl.is_ok_and(|erl| fs::canonicalize(&exe).is_ok_and(|exe| erl == exe))
    })
}

/// Sets the environment variables that `erlexec` sets.
fn set_environment(otp: &Otp, extra: &[(OsString, OsString)]) {
    let bin = otp.bindir.clone();
    let old = std::env::var_os("PATH").unwrap_or_default();
    let mut path: Vec<PathBuf> = own_directory(otp).into_iter().chain([bin]).collect();
    let first = path.clone();
    if !std::env::split_paths(&old).any(|p| p.starts_with(&otp.root)) {
        path.push(otp.root.join("bin"));
    }
    path.extend(std::env::split_paths(&old).filter(|p| !first.contains(p)));
    if let Ok(p) = std::env::join_paths(path) {
        std::env::set_var("PATH", p);
    }
    std::env::set_var("ROOTDIR", &otp.root);
    std::env::set_var("BINDIR", &otp.bindir);
    std::env::set_var("EMU", "beam");
    std::env::set_var("PROGNAME", progname(otp));
    for (name, value) in extra {
        std::env::set_var(name, value);
    }
}

/// Starts this program again without a terminal, in a new session.
fn detach(line: &command_line::CommandLine, otp: &Otp) -> i32 {
    let Ok(exe) = std::env::current_exe() else {
        return 1;
    };
    let mut c = Command::new(exe);
    match embedded::path("root/bin/erl") {
        Some(own) => drop(c.arg0(own)),
        // The `--` leaves to the program what looks alike among its own arguments.
        None => drop(
            c.arg0("kvik").args(["--otp", otp.release.name]).arg("--root").arg(&otp.root).arg("--"),
        ),
    }
    for (flag, value) in &line.vm {
        c.args(command_line::words(flag, value.as_deref()));
    }
    c.args(&line.init).envs(line.env.iter().cloned());
    for name in ["ERL_AFLAGS", "ERL_FLAGS", "ERL_ZFLAGS"] {
        c.env_remove(name);
    }
    c.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    process::in_its_own_session(&mut c);
    match process::start(&mut c) {
        Ok(_) => 0,
        Err(e) => complain(&format!("kvik: {e}")),
    }
}

/// Runs one of OTP's front ends, as in `kvik erlc …`; `name` is the front end's name.
pub fn tool(name: &Path, start: Result<Start, String>) -> i32 {
    let start = match start {
        Ok(s) => s,
        Err(e) => return complain(&e),
    };
    std::env::set_var("ESCRIPT_NAME", start.script.as_deref().unwrap_or(name.as_os_str()));
    erl(name, start.args)
}
