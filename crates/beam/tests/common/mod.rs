//! Locates real `.beam` files for the tests: those of the installed OTP.

use std::path::{Path, PathBuf};

/// Every `.beam` file of the OTP at `$KVIK_OTP_ROOT` or the system's; none if there is no OTP.
pub fn installed() -> Vec<PathBuf> {
    let root = std::env::var("KVIK_OTP_ROOT").unwrap_or_else(|_| "/usr/lib/erlang".into());
    let mut files = Vec::new();
    let mut dirs = vec![Path::new(&root).join("lib")];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|e| e == "beam") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}
