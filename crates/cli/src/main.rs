//! `kvik`: takes `erl`'s arguments and stands where `erl` stands. Under its own name it also knows
//! a few words of its own, such as `kvik erlc`, `kvik bench` and `kvik sched`.
#![forbid(unsafe_code)]

mod command_line;
mod env_args;
mod launch;
mod otp_root;
mod sched;

use std::ffi::OsString;
use std::path::Path;

#[global_allocator]
static ALLOCATOR: kvik_sys::alloc::Allocator = kvik_sys::alloc::Allocator;

fn main() {
    let mut argv = std::env::args_os();
    let name = argv.next().unwrap_or_default();
    let args: Vec<OsString> = argv.collect();
    let name = Path::new(&name).file_name().map(|s| s.to_string_lossy().into_owned());
    let status = match name.as_deref() {
        Some(tool @ ("erlc" | "escript" | "dialyzer" | "typer" | "ct_run")) => {
            launch::tool(tool, args)
        }
        _ => kvik(args),
    };
    std::process::exit(status)
}

/// The words that `kvik` itself takes as its first argument.
fn kvik(args: Vec<OsString>) -> i32 {
    match args.first().and_then(|a| a.to_str()) {
        Some("erlc") => launch::tool("erlc", args[1..].to_vec()),
        Some("escript") => launch::tool("escript", args[1..].to_vec()),
        Some("bench") => {
            kvik_lab::main(args[1..].iter().map(|a| a.to_string_lossy().into_owned()).collect())
        }
        Some("sched") => sched::main(&args[1..]),
        Some("shims") => launch::shims(&args[1..]),
        _ => launch::erl(args),
    }
}
