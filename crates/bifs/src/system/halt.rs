//! `erlang:halt/2`.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::OnceLock;
use std::time::Duration;

use kvik_env::{process, thread};
use kvik_heap::OwnedTerm;
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{am, print, Term};

pub const BIFS: &[BifEntry] = &[bif!("erlang", "halt", 2, halt_2)];

/// How the program ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Halt {
    /// With a code, after pending output if there is a `flush`.
    Code { code: i32, flush: Option<Flush> },
    /// With a core dump.
    Abort,
    /// With a crash dump.
    Slogan(String),
}

/// Writing of pending output before the end, and other things that delay it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flush {
    /// Milliseconds that it may take; `None`: any time.
    timeout: Option<u64>,
}

/// What NIF libraries do when the VM halts after flushing.
pub struct HaltHooks {
    /// Calls their callbacks.
    pub begin: fn(),
    /// Waits for the calls into them that delay halting.
    pub wait: fn(),
}
kvik_state::vm_state! {
    static HOOKS: OnceLock<HaltHooks> = OnceLock::new();
    static FLUSHING: AtomicBool = AtomicBool::new(false);
}

/// The first call counts.
pub fn set_halt_hooks(hooks: HaltHooks) {
    let _ = HOOKS.set(hooks);
}

/// Exit code when flushing takes too long.
const FLUSH_TIMEOUT_CODE: i32 = 255;

impl Flush {
    /// The first one ends the program, when all is written or its time is over.
    fn begin(&self) {
        if FLUSHING.swap(true, Ordering::AcqRel) {
            loop {
                thread::park();
            }
        }
        let limit = super::config().halt_flush_timeout;
        if let Some(ms) = self.timeout.into_iter().chain(limit).min() {
            // OTP does not even begin then.
            if ms == 0 {
                process::exit_at_once(FLUSH_TIMEOUT_CODE);
            }
            let ring = move || {
                thread::sleep(Duration::from_millis(ms));
                process::exit_at_once(FLUSH_TIMEOUT_CODE)
            };
            let _ = thread::spawn("halt limit", None, ring);
        }
        if let Some(hooks) = HOOKS.get() {
            (hooks.begin)();
        }
    }
    fn finish(&self) {
        kvik_port::flush_all();
        if let Some(hooks) = HOOKS.get() {
            // Libraries may have been loaded meanwhile.
            (hooks.begin)();
            (hooks.wait)();
        }
    }
}

/// Ends the program.
fn end(p: &Proc, h: Halt) {
    use std::io::Write;
    crate::dump::only_one(matches!(h, Halt::Slogan(_)));
    if let Halt::Code { flush: Some(flush), .. } = &h {
        flush.begin();
    }
    let _ = std::io::stdout().flush();
    kvik_port::spawn_thread::settle();
    kvik_port::settle();
    match &h {
        Halt::Code { flush: Some(flush), .. } => flush.finish(),
        Halt::Slogan(_) => kvik_port::flush_all(),
        _ => kvik_port::tty::restore(),
    }
    match h {
        Halt::Code { code, flush } => {
            if flush.is_some() {
                kvik_jit::save_code_cache();
            }
            std::process::exit(code)
        }
        Halt::Abort => std::process::abort(),
        Halt::Slogan(s) => {
            crate::dump::say(format!("{s}\n").as_bytes());
            crate::dump::write(Some(p), kvik_proc::sched::take_own(), &s);
            std::process::exit(1)
        }
    }
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

/// What the options say of flushing. `None`: one of them is none.
fn flush_option(options: &[Term<'_>]) -> Option<Option<Flush>> {
    let (mut flush, mut timeout) = (true, None);
    let has_timeout = kvik_release::current().has_halt_timeout();
    for o in options {
        let [name, value] = o.as_tuple_n::<2>()?;
        match name.as_atom()? {
            am::flush => flush = value.as_bool()?,
            am::flush_timeout if has_timeout => {
                timeout = Some(u64::from(u32::try_from(value.as_u64()?).ok()?));
            }
            _ => return None,
        }
    }
    Some(flush.then_some(Flush { timeout }))
}

fn halt_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let [status, options] = *a else { return Err(p.badarg()) };
    let flush = options.list_to_vec().and_then(|options| flush_option(&options));
    let Some(flush) = flush else { return Err(p.badarg_because(am::badopt)) };
    let h = if let Some(n) = status.as_u64() {
        let code = (n & 0x7FFF_FFFF) as i32;
        Halt::Code { code, flush }
    } else if status.is_atom(am::abort) {
        Halt::Abort
    } else {
        let text = |t: Term<'_>| -> Option<String> {
            let chars = t.list_to_vec()?.into_iter().take(SLOGAN);
            chars.map(|c| char::from_u32(u32::try_from(c.as_small()?).ok()?)).collect()
        };
        let mut slogan = text(status).ok_or_else(|| p.badarg())?;
        // What C prints of it.
        slogan.truncate(slogan.find('\0').unwrap_or(slogan.len()));
        Halt::Slogan(slogan)
    };
    end(p, h);
    Ok(am::undefined.into())
}
