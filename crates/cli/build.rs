//! Sets the symbols that the linker exports, and the commit that `kvik --version` prints.

use std::path::Path;
use std::process::Command;

/// Functions exported by the program for NIF libraries and linked-in drivers.
const EXPORTED: [&str; 9] = [
    "enif_*",
    "driver_*",
    "erl_drv_*",
    "erl_errno_id",
    "set_busy_port",
    "[gs]et_port_*flags",
    "add_driver_entry",
    "remove_driver_entry",
    "null_func",
];

fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// The commit, if the sources are a git checkout. HEAD's log grows with each commit.
fn commit() {
    let commit = git(&["rev-parse", "--short=12", "HEAD"]);
    let text = commit.map(|c| format!(" ({c})")).unwrap_or_default();
    println!("cargo:rustc-env=KVIK_COMMIT={text}");
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"]);
    if let Some(path) = log.filter(|path| Path::new(path).exists()) {
        println!("cargo:rerun-if-changed={path}");
    }
}

fn main() {
    for name in EXPORTED {
        println!("cargo:rustc-link-arg-bins=-Wl,--export-dynamic-symbol={name}");
    }
    println!("cargo:rerun-if-changed=build.rs");
    commit();
}
