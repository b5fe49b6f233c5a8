//! The modules that are there before any process runs.

use std::cmp::Reverse;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::OnceLock;
use std::thread;

use kvik_code::Instance;
use kvik_jit::LoadError;
use kvik_proc::sched::online_cpus;

/// The modules that are there before any file is read, as OTP has them.
const PRELOADED: [&str; 18] = [
    "erl_tracer",
    "erts_code_purger",
    "erts_dirty_process_signal_handler",
    "erts_internal",
    "erts_literal_area_collector",
    "erl_init",
    "init",
    "persistent_term",
    "prim_buffer",
    "prim_eval",
    "prim_file",
    "prim_inet",
    "prim_zip",
    "zlib",
    "erlang",
    "erl_prim_loader",
    "atomics",
    "counters",
];

/// Loads them all, from files of this directory.
pub fn all(dir: &Path) -> Result<(), String> {
    let paths = PRELOADED.map(|name| dir.join(format!("{name}.beam")));
    let mut files = Vec::new();
    for path in &paths {
        files.push(std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?);
    }
    for (path, made) in paths.iter().zip(prepare(&files)) {
        let made =
            made.map_or_else(|| Err("not prepared".into()), |m| m.map_err(|e| e.to_string()));
        made.and_then(kvik_bifs::code::preload).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(())
}

type Made = Result<Instance, LoadError>;

/// Prepares them all, by two threads where there are two processors.
fn prepare(files: &[Vec<u8>]) -> Vec<Option<Made>> {
    let made: Vec<OnceLock<Made>> = files.iter().map(|_| OnceLock::new()).collect();
    // The largest first: so both threads end at about the same time.
    let mut order: Vec<usize> = (0..files.len()).collect();
    order.sort_by_key(|i| Reverse(files[*i].len()));
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(&i) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            let _ = made[i].set(kvik_jit::prepare(&files[i]));
        }
    };
    thread::scope(|s| {
        if online_cpus() > 1 {
            // Without it the one thread does all.
            let _ = thread::Builder::new().name("preload".into()).spawn_scoped(s, work);
        }
        work();
    });
    made.into_iter().map(OnceLock::into_inner).collect()
}
