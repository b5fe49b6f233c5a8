//! `/tmp/perf-PID.map`: function addresses for `perf` (`+JPperf true`, `+JPperfdirectory`).

use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::{Mutex, OnceLock};

use kvik_env::fs::{remove_file, File};

use crate::LoadedModule;

static MAP: OnceLock<Mutex<BufWriter<File>>> = OnceLock::new();

/// Starts recording committed modules, in a file in that directory.
pub fn enable(directory: &Path) -> std::io::Result<()> {
    let path = directory.join(format!("perf-{}.map", std::process::id()));
    // An existing file is from an earlier process with the same pid.
    let _ = remove_file(&path);
    let _ = MAP.set(Mutex::new(BufWriter::new(File::create_new(&path)?)));
    Ok(())
}

/// A line for each function: start and size in hexadecimal, name.
pub(crate) fn note(i: &LoadedModule) {
    let Some(map) = MAP.get() else { return };
    let mut map = map.lock().unwrap_or_else(|e| e.into_inner());
    for (n, f) in i.functions.iter().enumerate() {
        let end = i.functions.get(n + 1).map_or(i.size, |next| next.start as usize);
        let (at, size) = (i.start + f.start as usize, end.saturating_sub(f.start as usize));
        let (module, name) = (i.name.name(), f.function.name());
        let _ = writeln!(map, "{at:x} {size:x} {module}:{name}/{}", f.arity);
    }
    // The program may end without flushing.
    let _ = map.flush();
}
