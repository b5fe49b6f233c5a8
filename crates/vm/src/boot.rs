//! Startup: native functions, preloaded modules, first processes, schedulers.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::Ordering::Relaxed;

use kvik_bifs::system;
use kvik_heap::Heap;
use kvik_port::ctrl_c::BreakMode;
use kvik_proc::limits::Defaults;
use kvik_proc::spawn::{spawn, SpawnOptions};
use kvik_proc::Priority;
use kvik_proc::{process, sched};
use kvik_term::atom::without_ranks;
use kvik_term::{am, Atom, Term};

use crate::flags::EmulatorFlags;
use crate::{code_cache, hooks, preload, VmOptions};

pub fn start(options: &VmOptions, flags: &EmulatorFlags) -> Result<(), String> {
    let config =
        sched::SchedulerConfig { schedulers: flags.machine.schedulers, spin_us: flags.spin_us };
    // The VM creates its own atoms in another order than the program would, so they get no ranks.
    without_ranks(|| install(options, flags, &config)).made?;
    code_cache::install();
    preload::all(&options.preloaded)?;
    first_processes(options, &flags.boot_module)?;
    sched::online::begin_with(flags.machine.schedulers_online);
    sched::start(&config).map_err(|e| format!("no threads: {e}"))?;
    system::follow_system_time().map_err(|e| format!("no threads: {e}"))?;
    if let Some(at) = flags.web {
        let address = kvik_web::start(at).map_err(|e| format!("+web {at}: {e}"))?;
        // Standard output belongs to the program.
        kvik_sys::complain!("kvik: live page at {address}");
    }
    Ok(())
}

/// Initializes the tables and hooks of all crates, before any process exists.
fn install(
    options: &VmOptions,
    flags: &EmulatorFlags,
    config: &sched::SchedulerConfig,
) -> Result<(), String> {
    kvik_heap::build::begin_refs(kvik_env::random::number());
    kvik_bifs::trace::install();
    kvik_bifs::file::install();
    kvik_bifs::system::install();
    kvik_dist::install();
    if !kvik_jit::init() {
        return Err("no executable memory for native code".into());
    }
    hooks::install();
    kvik_nif::install();
    apply(flags)?;
    sched::prepare(config);
    system::set_emu_args(emu_args(options));
    let break_ignored = flags.breaks == BreakMode::Ignore;
    system::set_config(system::SystemConfig { break_ignored, ..flags.machine.clone() });
    kvik_bifs::register(&[kvik_web::BIFS, kvik_dist::BIFS, kvik_socket::BIFS])?;
    kvik_socket::install();
    process::init_table(flags.max_processes);
    kvik_port::install(flags.machine.schedulers).map_err(|e| format!("no poll set: {e:?}"))?;
    kvik_bifs::break_menu::install();
    kvik_port::ctrl_c::init(flags.breaks).map_err(|e| format!("+B: {e:?}"))
}

/// Passes settings to the crates that hold them.
fn apply(flags: &EmulatorFlags) -> Result<(), String> {
    if let Some(words) = kvik_release::current().max_integer_words {
        kvik_heap::arith::set_max_words(words);
    }
    if let Some(words) = kvik_release::current().integer_words_per_reduction {
        kvik_heap::arith::set_words_per_reduction(words);
    }
    kvik_term::atom::set_limit(flags.max_atoms);
    kvik_port::table::set_limit(flags.machine.port_limit);
    kvik_dist::set_busy_limit(flags.machine.dist_buf_busy_limit);
    kvik_jit::LINE_NUMBERS.store(flags.line_numbers, Relaxed);
    Defaults::change(|d| *d = flags.processes);
    if flags.outstanding_requests > 0 {
        system::set_outstanding_requests(flags.outstanding_requests);
    }
    if flags.perf {
        kvik_code::perf::enable(&flags.perf_directory).map_err(|e| format!("perf: {e}"))?;
    }
    Ok(())
}

/// The command line that `erl` would give OTP's emulator for these options.
fn emu_args(options: &VmOptions) -> Vec<OsString> {
    let mut all = vec![std::env::current_exe().map_or_else(|_| "kvik".into(), OsString::from)];
    for (flag, value) in &options.vm_flags {
        all.push(format!("-{flag}").into());
        all.extend(value.iter().map(OsString::from));
    }
    all.extend(options.init_args.iter().cloned());
    all
}

fn atom(name: &str) -> Atom {
    Atom::intern(name).unwrap_or(am::undefined)
}

/// Starts the boot process (pid 0) and the VM's system processes, which OTP's code looks up by
/// name.
fn first_processes(options: &VmOptions, boot: &str) -> Result<(), String> {
    let h = Heap::detached();
    let args: Vec<Term> =
        options.init_args.iter().map(|a| h.binary(a.as_os_str().as_bytes())).collect();
    let args = h.list(&[atom(boot).into(), h.list(&args)]);
    let start = |module, priority, args| {
        let o = SpawnOptions { system: true, priority, ..SpawnOptions::default() };
        let p = spawn(None, atom(module), atom("start"), args, o);
        let p = p.ok_or_else(|| "no room for processes".to_string())?;
        let pid = p.pid;
        p.go();
        Ok::<u32, String>(pid)
    };
    start("erl_init", Priority::Normal, args)?;
    start("erts_code_purger", Priority::High, Term::NIL)?;
    let collector = start("erts_literal_area_collector", Priority::High, Term::NIL)?;
    kvik_bifs::literals::set_collector(collector);
    // They would answer for processes on dirty schedulers. kvik has no such processes, but programs
    // see these three in `processes/0`.
    for priority in [Priority::Normal, Priority::High, Priority::Max] {
        start("erts_dirty_process_signal_handler", priority, Term::NIL)?;
    }
    if kvik_release::current().has_trace_cleaner() {
        let cleaner = start("erts_trace_cleaner", Priority::Normal, Term::NIL)?;
        kvik_proc::trace::session::set_cleaner(cleaner);
    }
    Ok(())
}
