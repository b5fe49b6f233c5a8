//! Programs: starting them, and their resource usage.

use std::io;
use std::process::ExitStatus;

pub use kvik_sys::spawn::{in_its_own_session, reap, ChildProcess, Program};
pub use std::process::{Child as StdChild, Command, Stdio};

use crate::{embedded, Fault, Result};

/// Starts a program and returns its process id; see [`kvik_sys::spawn::spawn`].
#[inline]
pub fn spawn(p: &Program<'_>) -> Result<i32> {
    Fault::Spawn.fail()?;
    match embedded::real_path(p.path) {
        Some(path) => kvik_sys::spawn::spawn(&Program { path: &path?, ..*p }),
        None => kvik_sys::spawn::spawn(p),
    }
}

/// Ends this program without destructors, exit handlers or output that is still buffered.
pub use kvik_sys::spawn::exit_at_once;

/// Starts a program for the command line's own use.
pub fn start(c: &mut Command) -> io::Result<StdChild> {
    Fault::Spawn.fail()?;
    c.spawn()
}
/// The same, and waits for its end.
pub fn status(c: &mut Command) -> io::Result<ExitStatus> {
    Fault::Spawn.fail()?;
    c.status()
}
