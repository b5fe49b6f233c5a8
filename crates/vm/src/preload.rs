//! The modules that are loaded before any process runs.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::OnceLock;

use kvik_bifs::speculative_load;
use kvik_code::LoadedModule;
use kvik_env::{fs, thread};
use kvik_proc::sched::online_cpus;

/// Loads all preloaded modules from `dir`.
pub fn all(dir: &Path) -> Result<(), String> {
    let names = kvik_release::current().preloaded();
    let paths: Vec<PathBuf> = names.map(|name| dir.join(format!("{name}.beam"))).collect();
    for (path, made) in paths.iter().zip(prepare(&paths)) {
        let made = made.unwrap_or_else(|| Err("not prepared".into()));
        made.and_then(kvik_bifs::code::preload).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(())
}

/// Names the modules' atoms in OTP's load order, last of the list first, independent of the order
/// of preparation.
fn name_atoms(paths: &[PathBuf]) {
    if !kvik_term::atom::keys_are_by_rank() {
        return;
    }
    let mut file = Vec::new();
    for path in paths.iter().rev() {
        // Errors are reported when the module is prepared.
        let _ = speculative_load::read(path, &mut file).map(|()| kvik_jit::name_atoms(&file));
    }
}

type Made = Result<LoadedModule, String>;

/// Prepares all modules, with two threads if there are two CPUs.
fn prepare(paths: &[PathBuf]) -> Vec<Option<Made>> {
    name_atoms(paths);
    let made: Vec<OnceLock<Made>> = paths.iter().map(|_| OnceLock::new()).collect();
    // Largest first, so that both threads end at about the same time.
    let size = |path: &PathBuf| fs::size(path);
    let mut order: Vec<(u64, usize)> = paths.iter().map(size).zip(0..).collect();
    order.sort_by_key(|(size, _)| Reverse(*size));
    let next = AtomicUsize::new(0);
    let work = || {
        let mut file = Vec::new();
        while let Some(&(_, i)) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            let read = speculative_load::read(&paths[i], &mut file).map_err(|e| e.to_string());
            let prepared = read.and_then(|()| kvik_jit::prepare(&file).map_err(|e| e.to_string()));
            let _ = made[i].set(prepared);
        }
    };
    thread::scope(|s| {
        if online_cpus() > 1 {
            // If no thread can be started, this one does all.
            let _ = thread::spawn_scoped(s, "preload", work);
        }
        work();
    });
    made.into_iter().map(OnceLock::into_inner).collect()
}
