//! Starting the VM as `erl`, and OTP's tools on it.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use kvik_vm::Options;

use crate::otp_root::Otp;
use crate::{command_line, env_args, otp_root};

fn complain(text: &str) -> i32 {
    eprintln!("{text}");
    1
}

/// `kvik ARGS`, as `erl ARGS`.
pub fn erl(args: Vec<OsString>) -> i32 {
    let parsed = env_args::gather(args, |n| std::env::var_os(n)).and_then(command_line::parse);
    let line = match parsed {
        Ok(l) => l,
        Err(e) => return complain(&e),
    };
    let otp = match otp_root::find(line.root.as_ref()) {
        Ok(o) => o,
        Err(e) => return complain(&format!("kvik: {e}")),
    };
    if line.version {
        eprintln!("Erlang (SMP) (BEAM) emulator version {}", otp.erts);
        return 0;
    }
    let init_args = init_args(&otp, &line.init);
    if line.print_args {
        for (flag, value) in &line.vm {
            println!("-{flag}");
            value.iter().for_each(|v| println!("{v}"));
        }
        init_args.iter().for_each(|a| println!("{}", a.to_string_lossy()));
        return 0;
    }
    if line.detached {
        return detach(&line, &otp);
    }
    set_environment(&otp, &line.env);
    let Some(preloaded) = otp.preloaded() else {
        return complain("kvik: the preloaded modules are missing");
    };
    kvik_vm::run(Options { root: otp.root, preloaded, vm_flags: line.vm, init_args })
}

fn progname() -> OsString {
    // What `peer` and `slave` start further nodes with: under another name than erl, all of it.
    std::env::var_os("PROGNAME").filter(|p| !p.is_empty()).unwrap_or_else(|| {
        std::env::current_exe().map_or_else(|_| "kvik".into(), |p| p.into_os_string())
    })
}

/// The arguments as `init` gets them.
fn init_args(otp: &Otp, rest: &[OsString]) -> Vec<OsString> {
    let mut v: Vec<OsString> = vec!["--".into(), "-root".into(), otp.root.clone().into()];
    v.extend(["-bindir".into(), otp.bindir().into(), "-progname".into(), progname(), "--".into()]);
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

/// What `erlexec` leaves in the environment.
fn set_environment(otp: &Otp, extra: &[(OsString, OsString)]) {
    let bin = otp.bindir();
    let old = std::env::var_os("PATH").unwrap_or_default();
    let mut path: Vec<PathBuf> = vec![bin.clone()];
    if !std::env::split_paths(&old).any(|p| p.starts_with(&otp.root)) {
        path.push(otp.root.join("bin"));
    }
    path.extend(std::env::split_paths(&old).filter(|p| *p != bin));
    if let Ok(p) = std::env::join_paths(path) {
        std::env::set_var("PATH", p);
    }
    std::env::set_var("ROOTDIR", &otp.root);
    std::env::set_var("BINDIR", bin);
    std::env::set_var("EMU", "beam");
    std::env::set_var("PROGNAME", progname());
    for (name, value) in extra {
        std::env::set_var(name, value);
    }
}

/// Starts the same again without a terminal, and leaves it.
fn detach(line: &command_line::CommandLine, otp: &Otp) -> i32 {
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};
    let Ok(exe) = std::env::current_exe() else {
        return 1;
    };
    let mut c = Command::new(exe);
    for (flag, value) in &line.vm {
        c.arg(format!("+{flag}"));
        c.args(value);
    }
    c.arg("--root").arg(&otp.root).args(&line.init).envs(line.env.iter().cloned());
    for name in ["ERL_AFLAGS", "ERL_FLAGS", "ERL_ZFLAGS"] {
        c.env_remove(name);
    }
    c.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    match c.spawn() {
        Ok(_) => 0,
        Err(e) => complain(&format!("kvik: {e}")),
    }
}

/// `kvik erlc …`: OTP's own tools, which are Erlang programs behind a small starter each.
pub fn tool(name: &str, args: Vec<OsString>) -> i32 {
    match name {
        "erlc" => {
            std::env::set_var("ESCRIPT_NAME", "erlc");
            erl(erlc_args(args))
        }
        "escript" => escript(args),
        other => complain(&format!("kvik: {other} is not there yet")),
    }
}

/// `erlc` starts `erl` with the module that reads its options. Paths for the compiler itself go
/// before it; there is no compile server.
fn erlc_args(args: Vec<OsString>) -> Vec<OsString> {
    let mut v: Vec<OsString> = Vec::new();
    let mut rest = Vec::new();
    let mut it = args.into_iter();
    while let Some(a) = it.next() {
        let s = a.to_string_lossy();
        match &*s {
            "-pa" | "-pz" => {
                v.push(a.clone());
                v.extend(it.next());
            }
            _ if s.starts_with("-pa") || s.starts_with("-pz") => {
                v.push(s[..3].into());
                v.push(s[3..].into());
            }
            "-smp" | "-no-server" | "-server" => {}
            _ => rest.push(a),
        }
    }
    v.extend(["+S1", "+sbtu", "+A0", "-noinput", "-mode", "minimal"].map(OsString::from));
    v.extend(
        ["-boot", "no_dot_erlang", "-s", "erl_compile", "compile_cmdline"].map(OsString::from),
    );
    v.push("-extra".into());
    v.extend(rest);
    v
}

/// `escript FILE ARGS`.
fn escript(args: Vec<OsString>) -> i32 {
    let mut v: Vec<OsString> =
        vec!["+B".into(), "-boot".into(), "no_dot_erlang".into(), "-noshell".into()];
    let is_option = |a: &&OsString| a.to_string_lossy().starts_with('-');
    let options = args.iter().take_while(is_option).count();
    let script = args.get(options);
    if let Some(text) = script.and_then(|s| std::fs::read(s).ok()) {
        v.extend(emu_args(&text));
    }
    v.extend(["-run", "escript", "start"].map(OsString::from));
    v.extend(args[..options].iter().map(|o| {
        let o = o.to_string_lossy();
        OsString::from(o.trim_start_matches('-'))
    }));
    v.push("-extra".into());
    v.extend(args[options..].iter().cloned());
    if let Some(s) = script {
        std::env::set_var("ESCRIPT_NAME", s);
    }
    erl(v)
}

/// The `%%!` line of a script.
fn emu_args(text: &[u8]) -> Vec<OsString> {
    let head = text.split(|b| *b == b'\n').take(3);
    head.filter_map(|l| l.strip_prefix(b"%%!")).flat_map(|l| env_args::split(l, false)).collect()
}

/// `kvik shims DIR`: `erl`, `erlc` and `escript` that are kvik.
pub fn shims(args: &[OsString]) -> i32 {
    let [dir] = args else {
        return complain("usage: kvik shims DIR");
    };
    let Ok(exe) = std::env::current_exe() else {
        return 1;
    };
    let write = |name: &str| link(&exe, &Path::new(dir).join(name));
    let made = std::fs::create_dir_all(dir)
        .and_then(|()| ["erl", "erlc", "escript"].iter().try_for_each(|n| write(n)));
    match made {
        Ok(()) => 0,
        Err(e) => complain(&format!("kvik: {}: {e}", OsStr::new(dir).to_string_lossy())),
    }
}

fn link(to: &Path, at: &Path) -> std::io::Result<()> {
    match std::fs::remove_file(at) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    std::os::unix::fs::symlink(to, at)
}
