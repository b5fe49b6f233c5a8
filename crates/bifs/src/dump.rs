//! Crash dumps: the file that `halt("text")` writes, in the format that OTP documents ("How to
//! Interpret the Erlang Crash Dumps") and its `crashdump_viewer` reads. Unknown values are omitted.

mod out;
mod processes;
mod system;
mod terms;

use std::cell::Cell;
use std::ffi::OsString;
use std::io::{Error, ErrorKind, Result, Write};
use std::os::unix::ffi::OsStringExt;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kvik_env::fs::{File, OpenOptions, OpenOptionsExt};
use kvik_env::signal::{self, SignalAction, NAMES};
use kvik_env::thread;
use kvik_port::{env, signals, table};
use kvik_proc::process::RunToken;
use kvik_proc::Proc;
use kvik_sys::alloc::{self, NoMemory};
use kvik_term::{am, print, Atom, Term};

pub use kvik_sys::complain_as_emulator as say;
use out::DumpWriter;
pub use processes::Processes;
pub use system::{objects, ports};
use terms::Terms;

/// An environment variable, with changes made by the program.
fn variable(name: &str) -> Option<Vec<u8>> {
    env::read().get(name.as_bytes()).cloned()
}
/// A number as C's `atoi` reads it: 0 if there is none.
fn number(text: &[u8]) -> i64 {
    let text = String::from_utf8_lossy(text);
    let text = text.trim_start();
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let n = digits[..end].parse().unwrap_or(0);
    if text.starts_with('-') {
        -n
    } else {
        n
    }
}

/// Tells `heart`, if this node has one, that a dump is being written (its command 8). It is the
/// port that the process `heart` registers.
fn tell_heart() -> bool {
    let all = table::all();
    let heart = all.iter().filter_map(|p| Some((p, p.info()?)));
    let mut heart = heart.filter(|(_, i)| i.registered == Some(am::heart_port));
    let Some((port, info)) = heart.next() else { return false };
    port.command(info.owner, &[8], true);
    // No turn of a process ends from here on, so the byte must not be held for that.
    kvik_port::settle();
    true
}

/// Ends the program by `SIGALRM` after that many seconds, as `alarm` would.
fn end_after(seconds: u64) {
    let ring = move || {
        thread::sleep(Duration::from_secs(seconds));
        if let Some((name, n)) = NAMES.iter().find(|(name, _)| *name == "sigalrm") {
            if let Ok(name) = Atom::intern(name) {
                signals::set(name, SignalAction::Default);
            }
            let _ = signal::send(process::id() as i32, *n);
        }
    };
    let _ = thread::spawn("dump limit", None, ring);
}

static UNDER_WAY: AtomicBool = AtomicBool::new(false);

/// Called before the program ends, with or without a dump. While a dump is written, all other
/// threads block here.
pub fn only_one(dumps: bool) {
    let other = match dumps {
        true => UNDER_WAY.swap(true, Ordering::AcqRel),
        false => UNDER_WAY.load(Ordering::Acquire),
    };
    if other {
        loop {
            thread::park();
        }
    }
}

/// Ends the program when an allocation fails, with a dump as far as memory for that is left.
pub fn end_without_memory(m: &NoMemory) -> ! {
    static BEGUN: AtomicBool = AtomicBool::new(false);
    thread_local!(static HERE: Cell<bool> = const { Cell::new(false) });
    if HERE.replace(true) {
        // The dump itself ran out of memory.
        process::exit(1);
    }
    while BEGUN.swap(true, Ordering::AcqRel) {
        // The first thread to get here ends the program for all.
        thread::park();
    }
    // Release free memory for writing the dump.
    alloc::release_reserve();
    alloc::tidy(true);
    alloc::give_back();
    while alloc::give_back_large() {}
    only_one(true);
    let NoMemory { allocator, kind, bytes } = m;
    let slogan =
        format!("{allocator}: Cannot allocate {bytes} bytes of memory (of type \"{kind}\").");
    say(format!("{slogan}\n").as_bytes());
    end_where_dump_stops();
    // This may run anywhere, even inside a collection: do not inspect this thread's process or run
    // queue.
    write(None, Vec::new(), &slogan);
    process::exit(1)
}

/// Ends the program when the dump makes no progress for `STALLED`. This thread, and others that
/// wait for it, may hold any lock, so the dump can deadlock.
fn end_where_dump_stops() {
    const STALLED: Duration = Duration::from_secs(10);
    let watch = || loop {
        let before = out::written();
        thread::sleep(STALLED);
        if out::written() == before {
            process::exit(1);
        }
    };
    let _ = thread::spawn("dump watch", Some(64 << 10), watch);
}

/// Writes the dump unless the environment forbids it. `p` is the running process that ends the
/// program; `None` if the user does. `queued` holds the contents of the run queues.
pub fn write(p: Option<&Proc>, queued: Vec<RunToken>, slogan: &str) {
    let seconds = variable("ERL_CRASH_DUMP_SECONDS").map(|s| number(&s));
    if seconds == Some(0) {
        return;
    }
    if let Some(n) = seconds.and_then(|s| u64::try_from(s).ok()) {
        end_after(n);
    }
    if tell_heart() && seconds.is_none() {
        return;
    }
    let bytes = variable("ERL_CRASH_DUMP_BYTES").and_then(|b| String::from_utf8(b).ok());
    let bytes = bytes.and_then(|b| b.trim_start().parse::<i64>().ok());
    let limit = bytes.and_then(|b| u64::try_from(b).ok());
    if limit == Some(0) {
        return;
    }
    let name = variable("ERL_CRASH_DUMP").unwrap_or_else(|| b"erl_crash.dump".to_vec());
    say(&[b"\nCrash dump is being written to: ", name.as_slice(), b"..."].concat());
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o640);
    let Ok(file) = File::with(&options, OsString::from_vec(name)) else { return };
    // A disk that is full ends the dump as its last line does; a limit that is reached ends the line.
    let stopped = |e: Error| limit.is_some() && e.kind() == ErrorKind::WriteZero;
    if !dump(p, queued, slogan, file, limit).is_err_and(stopped) {
        say(b"done\n");
    }
}

fn dump(
    p: Option<&Proc>,
    queued: Vec<RunToken>,
    slogan: &str,
    file: File,
    limit: Option<u64>,
) -> Result<()> {
    let mut out = DumpWriter::new(file, limit);
    system::header(&mut out, slogan)?;
    system::schedulers(&mut out, p)?;
    system::memory(&mut out)?;
    let mut processes = processes::Processes::stop(p, queued);
    processes.describe(&mut out)?;
    system::ports(&mut out)?;
    system::tables(&mut out)?;
    if p.is_some() {
        system::timers(&mut out)?;
    }
    system::node(&mut out)?;
    system::modules(&mut out)?;
    // Without a running process, memory may have run out, and terms would need more.
    if p.is_some() {
        processes.terms(&mut out)?;
    }
    system::atoms(&mut out)?;
    writeln!(out, "=end")?;
    out.flush()
}

/// The parts of a dump that `system_info/1` returns as text.
pub fn part(name: &str) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    let written = match name {
        "info" => system::memory(&mut text),
        "loaded" => system::sizes_of_modules(&mut text),
        "dist" => system::node(&mut text),
        "ports" => system::ports(&mut text),
        _ => return None,
    };
    written.ok().map(|()| text)
}

/// A process as a dump describes it.
pub fn process(p: &Proc, own: bool) -> Vec<u8> {
    processes::text_of(p, own)
}
/// The process that runs here, as `process_dump` in match specifications describes it.
pub fn process_for_tracer(p: &Proc) -> Vec<u8> {
    processes::told_to_tracer(p)
}

/// A term as dumps print it.
fn show(t: Term<'_>) -> String {
    String::from_utf8_lossy(&print::display(t)).into_owned()
}
/// An atom, quoted if necessary.
fn quoted(a: Atom) -> String {
    show(a.into())
}
/// An address with the function that contains it.
fn place(address: usize) -> Option<String> {
    let i = kvik_code::at(address)?;
    let f = i.function_at(address)?;
    let (m, name) = (quoted(i.name), quoted(f.function));
    Some(format!("{m}:{name}/{} + {}", f.arity, address - i.start - f.start as usize))
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn numbers_are_read_as_c_does() {
        let cases = [("5", 5), (" -1", -1), ("12x", 12), ("x", 0), ("", 0), ("+3", 3)];
        for (text, n) in cases {
            assert_eq!(number(text.as_bytes()), n, "{text}");
        }
    }
}
