//! Chores: `cargo xtask tidy` keeps the house, `cargo xtask compat` writes the generated part of
//! docs/COMPATIBILITY.md.
#![forbid(unsafe_code)]

mod compat;
mod tidy;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let faults = match args[..] {
        ["tidy"] => tidy::faults(&tidy::root()),
        ["compat"] => compat::write(&tidy::root()).err().into_iter().collect(),
        ["compat", "--check"] => compat::check(&tidy::root()).err().into_iter().collect(),
        _ => vec!["usage: cargo xtask tidy | compat [--check]".into()],
    };
    faults.iter().for_each(|f| eprintln!("{f}"));
    if faults.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
