//! The complete VM: fills in the hook tables of the lower crates, loads the preloaded modules,
//! starts the first processes and the schedulers.
#![forbid(unsafe_code)]

mod boot;
pub mod code_cache;
mod flags;
pub mod hooks;
mod preload;
mod speculative_load;

use std::ffi::OsString;
use std::path::PathBuf;

/// The result of parsing the command line.
pub struct VmOptions {
    /// OTP's root directory.
    pub root: PathBuf,
    /// The directory of the preloaded modules' files.
    pub preloaded: PathBuf,
    /// `+` flags: name, value.
    pub vm_flags: Vec<(String, Option<String>)>,
    /// The arguments passed to `init`.
    pub init_args: Vec<OsString>,
}

/// Runs the VM, which ends the program by `halt`. Returns only if the start fails, with the exit
/// status.
pub fn run(options: VmOptions) -> i32 {
    if let Err(e) = kvik_env::start() {
        kvik_sys::complain!("kvik: {e}");
        return 1;
    }
    let flags = match flags::EmulatorFlags::read(&options.vm_flags) {
        Ok(f) => f,
        Err(e) => {
            kvik_sys::complain_as_emulator(format!("{e}\n").as_bytes());
            return 1;
        }
    };
    match boot::start(&options, &flags) {
        Ok(()) => {
            speculative_load::work(&options);
            kvik_jit::keep_up_code_cache();
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
