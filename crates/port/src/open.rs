//! Opening a port for a program, a file, descriptors or a driver.

use std::sync::Arc;

use kvik_env::Errno;
use kvik_term::Term;

use crate::driver::Driver;
use crate::options::{PortOptions, PortTarget};
use crate::pipes::{open_fds, open_file, program, shell};
use crate::port::{OpenError, Port};

impl Port {
    /// Opens a port for a process. `link` makes (`true`) or unmakes the process's side of the link
    /// between them; it is made before anything can come from the port.
    pub fn open(
        owner: u32,
        what: &PortTarget,
        o: &PortOptions,
        link: impl Fn(Term<'static>, bool),
    ) -> Result<Arc<Port>, OpenError> {
        let (driver, name) = open_driver(what, o)?;
        Port::with_driver(owner, name, o, driver, link)
    }
}

/// The driver for a target, and the port's name.
fn open_driver(
    what: &PortTarget,
    o: &PortOptions,
) -> Result<(Box<dyn Driver>, Vec<u8>), OpenError> {
    match what {
        PortTarget::Fd(input, output) if *input < 0 || *output < 0 => {
            Err(OpenError::Posix(Errno::INVAL))
        }
        PortTarget::Fd(input, output) => {
            let name = format!("{input}/{output}").into_bytes();
            Ok((Box::new(open_fds(*input, *output, o)), name))
        }
        PortTarget::File(path) => {
            let p = open_file(path, o)?;
            Ok((Box::new(p), path.clone()))
        }
        PortTarget::Executable(path) => {
            let p = program(path.clone(), o)?;
            Ok((Box::new(p), path.clone()))
        }
        PortTarget::Driver(name) => {
            let d = crate::driver_by_name(name).ok_or(OpenError::Badarg)?;
            Ok((d, name.clone()))
        }
        PortTarget::Spawn(command) => match crate::driver_by_name(command) {
            Some(d) => Ok((d, command.clone())),
            None => Ok((Box::new(shell(command, o)?), command.clone())),
        },
    }
}
