//! Chores: `cargo xtask tidy` checks the repository's rules, `cargo xtask compat` writes the generated
//! part of docs/COMPATIBILITY.md, `cargo xtask headline` those of README.md and docs/PERFORMANCE.md,
//! `cargo xtask page` looks at the live page in a browser, `cargo xtask notices` writes the licences of
//! what is in the program.
#![forbid(unsafe_code)]

mod browser;
mod compat;
mod cycles;
mod headline;
mod notices;
mod page;
mod seam;
mod statics;
mod tidy;
mod type_names;
mod view;

use std::process::ExitCode;

fn look(address: &str, dir: &str, seconds: &str) -> Vec<String> {
    let seconds = seconds.parse().map_err(|_| format!("{seconds}: how many seconds?"));
    let looked = seconds.and_then(|s| page::check(address, dir.as_ref(), s));
    looked.err().into_iter().collect()
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let faults = match args[..] {
        ["tidy"] => tidy::faults(&tidy::root()),
        ["compat"] => compat::write(&tidy::root()).err().into_iter().collect(),
        ["compat", "--check"] => compat::check(&tidy::root()).err().into_iter().collect(),
        ["page", address, dir] => look(address, dir, "6"),
        ["page", address, dir, seconds] => look(address, dir, seconds),
        ["headline", report] => {
            headline::write(&tidy::root(), report.as_ref()).err().into_iter().collect()
        }
        ["notices", file] => {
            notices::write(&tidy::root(), file.as_ref()).err().into_iter().collect()
        }
        _ => vec!["usage: cargo xtask tidy | compat [--check] | page ADDRESS DIR [SECONDS] | \
                   headline REPORT_DIR | notices FILE"
            .into()],
    };
    faults.iter().for_each(|f| eprintln!("{f}"));
    if faults.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
