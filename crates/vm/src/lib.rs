//! The whole machine: fills the tables the lower crates call up through, loads the preloaded
//! modules, starts the first processes and the schedulers.
#![forbid(unsafe_code)]

mod ahead;
mod boot;
mod flags;
pub mod hooks;
mod preload;

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

/// Runs the VM. It ends the program by `halt`; what comes back is the status of a failed start.
pub fn run(options: Options) -> i32 {
    if let Err(e) = kvik_env::start() {
        kvik_sys::complain!("kvik: {e}");
        return 1;
    }
    let flags = match flags::Flags::read(&options.vm_flags) {
        Ok(f) => f,
        Err(e) => {
            kvik_sys::complain!("{e}");
            return 1;
        }
    };
    match boot::start(&options, &flags) {
        Ok(()) => {
            ahead::work(&options);
            loop {
                kvik_env::thread::park();
            }
        }
        Err(e) => {
            kvik_sys::complain!("kvik: {e}");
            1
        }
    }
}
