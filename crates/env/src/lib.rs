//! `Env`: the seam between the VM and the operating system. All crates above get time, randomness,
//! events, files, sockets, programs and threads from here only (docs/internals/env.md).
//!
//! In production each function is the call below it, inlined. With the feature `simulation`
//! the current environment, [`current`], can make calls fail and replace the clock.
#![forbid(unsafe_code)]

pub mod clock;
pub mod embedded;
pub mod faults;
pub mod fd;
pub mod file;
pub mod fs;
pub mod path;
pub mod pipe;
pub mod poll;
pub mod process;
pub mod random;
#[cfg(feature = "simulation")]
mod simulation;
pub mod socket;
pub mod thread;

// Calls that no fault can strike yet.
pub use kvik_sys::{cpu_affinity, mapped, shared_memory, signal, tty};
pub use kvik_sys::{Errno, Result};

pub use faults::Fault;
#[cfg(feature = "simulation")]
pub use simulation::{current, Env};

/// Sets up the environment from the variables `KVIK_FAULTS` and `KVIK_CLOCK`, in a build that has
/// faults. `Err` says what is wrong with them.
pub fn start() -> std::result::Result<(), String> {
    #[cfg(feature = "simulation")]
    simulation::from_variables()?;
    Ok(())
}
