//! The modules needed at startup: those that the boot script loads, and those that are called
//! meanwhile. Input for [`kvik_bifs::speculative_load`]: a superfluous entry costs some time, a
//! missing module is loaded on demand as usual.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use kvik_bifs::{filename, speculative_load};
use kvik_etf::DecodeOpts;
use kvik_heap::Heap;
use kvik_proc::sched::online_cpus;
use kvik_term::atom::without_ranks;
use kvik_term::Term;

use crate::VmOptions;

/// The condition under which a module is called during startup.
#[derive(Copy, Clone, PartialEq, Eq)]
enum When {
    Always,
    /// With a shell on the terminal.
    Shell,
    /// Without a shell.
    NoShell,
    /// With an expression to evaluate.
    Eval,
}
use When::*;

/// Modules called during startup that the boot script does not load, in the order of the calls.
const STARTING: &[(When, &[&str])] = &[
    (Always, &["logger_proxy", "logger_olp", "queue", "proplists", "peer", "beam_lib", "binary"]),
    (Always, &["gb_sets", "gb_trees", "os", "unicode", "erl_features", "inet_db", "inet_config"]),
    (Always, &["inet_udp", "inet", "inet_parse", "inet_gethost_native", "rpc", "global"]),
    (Always, &["net_kernel", "rand", "maps", "erl_distribution", "global_group", "erpc"]),
    (Always, &["standard_error", "supervisor_bridge", "user_sup"]),
    (NoShell, &["user"]),
    (Shell, &["user_drv", "group", "io_lib", "io_lib_format", "edlin", "group_history", "timer"]),
    (Always, &["kernel_config", "kernel_refc", "logger_sup", "logger_handler_watcher"]),
    (Always, &["erl_signal_handler", "logger_formatter", "logger_std_h", "logger_h_common"]),
    (Shell, &["shell"]),
    (Always, &["c", "orddict", "raw_file_io"]),
    (Eval, &["erl_scan", "erl_anno", "ordsets", "erl_internal", "otp_internal"]),
    (Shell, &["io", "string", "unicode_util"]),
];

/// Prepares them if there is a second CPU besides the booting one. Returns when startup seems to be
/// over.
pub fn work(options: &VmOptions) {
    match online_cpus() {
        0 | 1 => kvik_env::thread::sleep(speculative_load::IDLE_TIMEOUT),
        _ => speculative_load::work(without_ranks(|| modules(options)).made.unwrap_or_default()),
    }
    kvik_jit::free_buffers();
    kvik_jit::save_code_cache();
}

fn modules(options: &VmOptions) -> Option<Vec<(String, PathBuf)>> {
    let args = &options.init_args;
    let embedded = value(args, "-mode").is_some_and(|m| m == "embedded");
    let script = kvik_env::fs::read(boot_file(options)?).ok()?;
    let h = Heap::detached();
    let (script, _) = kvik_etf::decode(&script, &h, DecodeOpts::default()).ok()?;
    let [_, _, commands] = script.as_tuple_n()?;
    let mut dirs = Vec::new();
    let mut all = Vec::new();
    let mut loads = true;
    for command in commands.list() {
        let tuple = command.as_tuple().map_or(&[][..], |t| t.elements());
        match (tuple.first().and_then(|t| t.as_atom()).map_or("", |a| a.name()), tuple) {
            ("path", [_, path]) => dirs = path.list().filter_map(|d| dir(d, options)).collect(),
            ("primLoad", [_, names]) if loads => {
                let names = names.list().filter_map(|n| n.as_atom());
                all.extend(names.filter_map(|n| found(&dirs, n.name())));
            }
            ("kernel_load_completed", _) => loads = embedded,
            _ => {}
        }
    }
    if !embedded {
        let has = |flag: &str| args.iter().any(|a| a == flag);
        let shell = !has("-noshell") && !has("-noinput");
        let happens = |when: When| match when {
            Always => true,
            Shell => shell,
            NoShell => !shell,
            Eval => has("-eval"),
        };
        let names = STARTING.iter().filter(|s| happens(s.0)).flat_map(|s| s.1);
        all.extend(names.filter_map(|n| found(&dirs, n)));
    }
    Some(all)
}

fn value<'a>(args: &'a [OsString], flag: &str) -> Option<&'a OsStr> {
    args.windows(2).find(|w| w[0] == flag).map(|w| w[1].as_os_str())
}

/// The boot script, searched for as `init` does.
fn boot_file(options: &VmOptions) -> Option<PathBuf> {
    let mut name = value(&options.init_args, "-boot").unwrap_or(OsStr::new("start")).to_owned();
    name.push(".boot");
    let of_root = options.root.join("bin").join(&name);
    [PathBuf::from(name), of_root].into_iter().find(|p| kvik_env::fs::is_file(p))
}

/// A directory of the script; `None` if it starts with a variable other than `$ROOT`.
fn dir(t: Term<'_>, options: &VmOptions) -> Option<PathBuf> {
    let bytes = filename::native(t)?;
    match bytes.strip_prefix(b"$ROOT/") {
        Some(rest) => Some(options.root.join(OsString::from_vec(rest.to_vec()))),
        None if bytes.starts_with(b"$") => None,
        None => Some(Path::new(&OsString::from_vec(bytes)).to_path_buf()),
    }
}

fn found(dirs: &[PathBuf], name: &str) -> Option<(String, PathBuf)> {
    let paths = dirs.iter().map(|d| d.join(format!("{name}.beam")));
    paths.into_iter().find(|p| kvik_env::fs::is_file(p)).map(|p| (name.to_string(), p))
}
