//! `kvik`: accepts `erl`'s arguments and replaces it. Under its own name it also has commands such
//! as `kvik erlc`, `kvik bench` and `kvik sched`.
#![forbid(unsafe_code)]

mod command_line;
mod env_args;
mod front;
mod help;
mod launch;
mod otp_root;
mod sched;
mod shims;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

#[global_allocator]
static ALLOCATOR: kvik_sys::alloc::Allocator = kvik_sys::alloc::Allocator;

fn main() {
    kvik_sys::alloc::prepare();
    let mut argv = std::env::args_os();
    let name = PathBuf::from(argv.next().unwrap_or_default());
    let args: Vec<OsString> = argv.collect();
    let base = name.file_name().and_then(|s| s.to_str()).unwrap_or_default();
    let status = match (front::named(base), base) {
        (Some(front_end), _) => launch::tool(&name, front_end(args)),
        (None, "erl" | "erlexec") => launch::erl(&name, args),
        _ => kvik(&name, args),
    };
    std::process::exit(status)
}

/// Runs `kvik`, whose first argument is a command, a flag of `erl`, or absent.
fn kvik(name: &Path, args: Vec<OsString>) -> i32 {
    let word = args.first().and_then(|a| a.to_str()).unwrap_or_default();
    if let Some(front_end) = front::named(word) {
        return launch::tool(Path::new(word), front_end(args[1..].to_vec()));
    }
    if let (Some(text), true) = (help::of(word), help::asked(args.get(1))) {
        kvik_sys::say!("{text}");
        return 0;
    }
    match word {
        "bench" => {
            kvik_lab::main(args[1..].iter().map(|a| a.to_string_lossy().into_owned()).collect())
        }
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
