//! `kvik`: accepts `erl`'s arguments and replaces it. Under its own name it also has commands such
//! as `kvik erlc`, `kvik bench` and `kvik doctor`.
#![forbid(unsafe_code)]

mod build;
mod built;
mod command_line;
mod doctor;
mod env_args;
mod front;
mod help;
mod launch;
mod otp_root;
mod sched;
mod shims;
mod template;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

#[global_allocator]
static ALLOCATOR: kvik_sys::alloc::Allocator = kvik_sys::alloc::Allocator;

fn main() {
    kvik_sys::alloc::prepare();
    let mut argv = std::env::args_os();
    let name = PathBuf::from(argv.next().unwrap_or_default());
    let args: Vec<OsString> = argv.collect();
    if let Some(status) = built::run(&name, &args) {
        std::process::exit(status)
    }
    let base = name.file_name().and_then(|s| s.to_str()).unwrap_or_default();
    let status = match (front::named(base), base) {
        (Some(front_end), _) => launch::tool(&name, front_end(args)),
        (None, "erl" | "erlexec") => launch::erl(&name, args),
        _ => kvik(&name, args),
    };
    std::process::exit(status)
}

/// Takes the options that select an OTP off the front of a command's arguments. A node reads its own: it must not
/// hand them to the programs that it starts.
fn select_otp(args: &mut Vec<OsString>) {
    let mut selected = Vec::new();
    let mut words = args.iter();
    let command = loop {
        let Some(word) = words.next() else { return };
        let Some((option, value)) = command_line::selector(word) else { break word };
        let Some(value) = value.or_else(|| words.next().map(OsString::as_os_str)) else { return };
        selected.push((option, value.to_owned()));
    };
    let is_flag = |a: &OsString| a.as_encoded_bytes().starts_with(b"-") && a != "--version";
    if is_flag(command) || command.as_encoded_bytes().starts_with(b"+") {
        return;
    }
    let rest = words.len() + 1;
    args.drain(..args.len() - rest);
    for (option, variable) in command_line::SELECTORS {
        let value = selected.iter().rev().find(|(o, _)| *o == option);
        value.into_iter().for_each(|(_, value)| std::env::set_var(variable, value));
    }
}

/// Runs `kvik`, whose first argument is a command, a flag of `erl`, or absent.
fn kvik(name: &Path, mut args: Vec<OsString>) -> i32 {
    select_otp(&mut args);
    let word = args.first().and_then(|a| a.to_str()).unwrap_or_default();
    if let Some(front_end) = front::named(word) {
        return launch::tool(Path::new(word), front_end(args[1..].to_vec()));
    }
    if let (Some(text), true) = (help::of(word), help::asked(args.get(1))) {
        kvik_sys::say!("{text}");
        return 0;
    }
    if word == "help" {
        if let Some(status) = help::generate(&args[1..]) {
            return status;
        }
    }
    match word {
        "bench" => {
            kvik_lab::main(args[1..].iter().map(|a| a.to_string_lossy().into_owned()).collect())
        }
        "build" => build::main(name, &args[1..]),
        "doctor" => doctor::main(name, &args[1..]),
        "run" => launch::tool(name, front::run(&args[1..])),
        "sched" => sched::main(&args[1..]),
        "shims" => shims::main(&args[1..]),
        "help" if args.len() > 1 => kvik(name, vec![args[1].clone(), "--help".into()]),
        "--help" | "-h" | "help" => {
            kvik_sys::say!("{}", help::HELP);
            0
        }
        "--version" => help::version(name),
        _ if word.is_empty() || word.starts_with(['-', '+']) => launch::erl(name, args),
        _ => launch::complain(&help::unknown(word)),
    }
}
