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

/// In an archive that git made of a commit, this file holds that commit.
const ARCHIVED: &str = "commit.txt";

/// The commit of these sources: of the git checkout that they are, or of the archive. HEAD's log
/// grows with each commit.
fn commit() {
    let top = |path: String| std::fs::canonicalize(path).ok();
    let is_checkout = top("../..".into()) == git(&["rev-parse", "--show-toplevel"]).and_then(top);
    let checked_out = || git(&["rev-parse", "HEAD"]).filter(|_| is_checkout);
    let archived = || std::fs::read_to_string(ARCHIVED).ok().filter(|text| !text.starts_with('$'));
    let text = match checked_out().or_else(archived) {
        Some(commit) => format!(" ({})", &commit[..commit.len().min(12)]),
        None => String::new(),
    };
    println!("cargo:rustc-env=KVIK_COMMIT={text}");
    let log = git(&["rev-parse", "--git-path", "logs/HEAD"]).filter(|_| is_checkout);
    if let Some(path) = log.filter(|path| Path::new(path).exists()) {
        println!("cargo:rerun-if-changed={path}");
    }
    println!("cargo:rerun-if-changed={ARCHIVED}");
}

fn main() {
    for name in EXPORTED {
        println!("cargo:rustc-link-arg-bins=-Wl,--export-dynamic-symbol={name}");
    }
    println!("cargo:rerun-if-changed=build.rs");
    commit();
}
