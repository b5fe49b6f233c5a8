//! `erlang:halt/2`.

use std::time::Duration;

use kvik_env::thread;
use kvik_heap::OwnedTerm;
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{am, print, Term};

use super::config;

pub const BIFS: &[BifEntry] = &[bif!("erlang", "halt", 2, halt_2)];

/// How the program ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Halt {
    /// With a code, after pending output if `flush`; with 255 if that takes longer than `timeout`.
    Code { code: i32, flush: bool, timeout: Option<Duration> },
    /// With a core dump.
    Abort,
    /// With a crash dump.
    Slogan(String),
}

/// Ends the program.
fn end(p: &Proc, h: Halt) {
    use std::io::Write;
    crate::dump::only_one(matches!(h, Halt::Slogan(_)));
    if let Halt::Code { flush: true, timeout: Some(timeout), .. } = h {
        limit(timeout);
    }
    let _ = std::io::stdout().flush();
    kvik_port::spawn_thread::settle();
    kvik_port::settle();
    match &h {
        Halt::Code { flush: true, .. } | Halt::Slogan(_) => kvik_port::flush_all(),
        _ => kvik_port::tty::restore(),
    }
    match h {
        Halt::Code { code, .. } => std::process::exit(code),
        Halt::Abort => std::process::abort(),
        Halt::Slogan(s) => {
            crate::dump::say(format!("{s}\n").as_bytes());
            crate::dump::write(Some(p), kvik_proc::sched::take_own(), &s);
            std::process::exit(1)
        }
    }
}

/// The status of a program that could not write all that was left in time.
const TIMED_OUT: i32 = 255;

/// Ends the program after that time if nothing else does; without any time at once, as OTP does
/// though there may be nothing to write.
fn limit(time: Duration) {
    let end = move || {
        thread::sleep(time);
        kvik_port::tty::restore();
        std::process::exit(TIMED_OUT)
    };
    if time.is_zero() {
        end();
    }
    // Where no thread can be had the flush has no limit.
    let _ = thread::spawn("halt", None, end);
}

/// Ends the program: the VM cannot run without its system processes.
fn system_process_ends(p: &Proc, reason: &OwnedTerm) {
    let shown = |t: Term<'_>| String::from_utf8_lossy(&print::display(t)).into_owned();
    let (pid, reason) = (shown(p.self_pid()), shown(reason.term()));
    end(p, Halt::Slogan(format!("System process {pid} terminated: {reason}")))
}
pub fn install() {
    kvik_proc::hooks::on_system_exit(system_process_ends);
}

/// Slogans are cut to this many characters.
const SLOGAN: usize = 1023;

fn halt_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [status, options] = *a else { return Err(p.badarg()) };
    let (mut flush, mut timeout) = (true, config().halt_flush_timeout);
    let release = kvik_release::current();
    let Some(options) = options.list_to_vec() else {
        return Err(p.badarg());
    };
    for o in options {
        let bad = || p.badarg_because(am::badopt);
        let [key, value] = o.as_tuple_n::<2>().ok_or_else(bad)?;
        match key.as_atom() {
            Some(am::flush) => flush = value.as_bool().ok_or_else(bad)?,
            Some(am::flush_timeout) if release.halt_flush_timeout => {
                let ms = value.as_u64().and_then(|n| u32::try_from(n).ok()).ok_or_else(bad)?;
                timeout = Some(Duration::from_millis(ms.into()));
            }
            _ => return Err(bad()),
        }
    }
    let h = if let Some(n) = status.as_u64() {
        let code = (n & 0x7FFF_FFFF) as i32;
        Halt::Code { code, flush, timeout }
    } else if status.is_atom(am::abort) {
        Halt::Abort
    } else {
        let text = |t: Term<'_>| -> Option<String> {
            let chars = t.list_to_vec()?.into_iter().take(SLOGAN);
            chars.map(|c| char::from_u32(u32::try_from(c.as_small()?).ok()?)).collect()
        };
        Halt::Slogan(text(status).ok_or_else(|| p.badarg())?)
    };
    end(p, h);
    Ok(am::undefined.into())
}
