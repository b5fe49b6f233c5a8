//! The whole machine: fills the tables the lower crates call up through, loads the preloaded
//! modules, starts the first processes and the schedulers.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::path::PathBuf;

/// What the command line comes to.
pub struct Options {
    /// OTP's root directory.
    pub root: PathBuf,
    /// The directory of the preloaded modules' files.
    pub preloaded: PathBuf,
    /// `+` flags: name, value.
    pub vm_flags: Vec<(String, Option<String>)>,
    /// What `init` gets.
    pub init_args: Vec<OsString>,
}

/// Runs the VM until it halts; returns the exit status.
pub fn run(_options: Options) -> i32 {
    1
}
