//! System information and control: `erlang:system_info/1`, `system_flag/2`, `memory/0,1`, `halt/2`,
//! the node's name while it has none, and small natives of `erts_internal`. `vm` passes in the
//! facts of other crates through [`SystemConfig`].

mod allocators;
mod cgroup;
mod check_io;
mod flags;
mod halt;
pub(crate) mod info;
mod internal;
mod memory;
mod monitor;
pub(crate) mod processors;
mod procs;
mod profile;
mod seq_trace;
mod time_warp;
mod topology_text;

pub use flags::{backtrace_depth, set_outstanding_requests, wall_time_on};
pub use flags::{set_trace_control_word, trace_control_word};
pub use halt::{install, set_halt_hooks, Halt, HaltHooks};
pub use info::{system_version, END_TIME};
pub use internal::set_warning_map;
pub use memory::items_without_waiting as memory;
pub(crate) use memory::memory as memory_term;
pub(crate) use monitor::options as monitor_options;
pub(crate) use seq_trace::set as set_seq_token;
pub use time_warp::follow_system_time;

use std::ffi::OsString;
use std::sync::OnceLock;

use kvik_proc::BifEntry;

pub const BIFS: &[&[BifEntry]] = &[
    flags::BIFS,
    halt::BIFS,
    info::BIFS,
    internal::BIFS,
    memory::BIFS,
    monitor::BIFS,
    profile::BIFS,
    seq_trace::BIFS,
];

/// Settings from the command line.
#[derive(Clone, Debug)]
pub struct SystemConfig {
    pub schedulers: usize,
    pub schedulers_online: usize,
    pub dirty_cpu: usize,
    pub dirty_cpu_online: usize,
    pub dirty_io: usize,
    pub async_threads: usize,
    pub port_limit: usize,
    pub ets_limit: usize,
    pub break_ignored: bool,
    pub kernel_poll: bool,
    pub dist_buf_busy_limit: usize,
    /// `no_time_warp`, `single_time_warp`, `multi_time_warp`.
    pub time_warp_mode: &'static str,
    pub time_correction: bool,
    pub modified_timing: Option<usize>,
    pub compat_rel: usize,
    /// Seconds after which an unreferenced node is removed; `None`: never.
    pub node_table_gc: Option<usize>,
    pub ets_always_compress: bool,
    pub ets_realloc_moves: bool,
    pub port_parallelism: bool,
    /// Milliseconds that `halt` may flush for; `None`: as long as it takes.
    pub halt_flush_timeout: Option<u64>,
}

/// Table limit from the environment, but at least the default.
fn ets_limit() -> usize {
    const USUAL: usize = 8192;
    let wanted = std::env::var("ERL_MAX_ETS_TABLES").ok().and_then(|n| n.parse().ok());
    wanted.unwrap_or(USUAL).max(USUAL)
}

impl Default for SystemConfig {
    fn default() -> SystemConfig {
        let cpus = kvik_env::thread::available_parallelism().map_or(1, |n| n.get());
        SystemConfig {
            schedulers: cpus,
            schedulers_online: cpus,
            dirty_cpu: cpus,
            dirty_cpu_online: cpus,
            dirty_io: 10,
            async_threads: 1,
            port_limit: 65_536,
            ets_limit: ets_limit(),
            break_ignored: false,
            kernel_poll: true,
            dist_buf_busy_limit: 1_048_576,
            time_warp_mode: kvik_release::current().time_warp_mode,
            time_correction: true,
            modified_timing: None,
            compat_rel: usize::from(kvik_release::current().number),
            node_table_gc: Some(60),
            ets_always_compress: false,
            ets_realloc_moves: false,
            port_parallelism: false,
            halt_flush_timeout: None,
        }
    }
}

kvik_state::vm_state! {
    /// The arguments that OTP's emulator would have been started with.
    static EMU_ARGS: OnceLock<Vec<OsString>> = OnceLock::new();
}

/// Only the first call has an effect.
pub fn set_emu_args(args: Vec<OsString>) {
    let _ = EMU_ARGS.set(args);
}

/// Sets the CPU topology given by `+sct`; the error is the reason for a rejection.
pub fn define_cpu_topology(text: &str) -> Result<(), &'static str> {
    processors::define(text)
}

kvik_state::vm_state! {
    static CONFIG: OnceLock<SystemConfig> = OnceLock::new();
}

/// Returns false if the configuration was already set or read.
pub fn set_config(c: SystemConfig) -> bool {
    CONFIG.set(c).is_ok()
}
pub fn config() -> &'static SystemConfig {
    CONFIG.get_or_init(SystemConfig::default)
}

/// Number of scheduler threads.
pub(crate) fn schedulers() -> usize {
    match kvik_proc::sched::all().len() {
        0 => config().schedulers,
        n => n,
    }
}
