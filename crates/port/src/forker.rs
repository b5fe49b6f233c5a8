//! The port that OTP's emulator opens first, to the process that forks programs for it. Here
//! [`crate::spawn_thread`] starts them; the port is there all the same, so that `erlang:ports/0` is never
//! empty and numbers of ports are OTP's. Nobody can close it, and what is sent to it is dropped.

use crate::driver::{Driver, Flow, Ready};
use crate::options::PortOptions;
use crate::port::state::Core;
use crate::port::{OpenError, Port};

struct Forker;

impl Driver for Forker {
    fn output(&mut self, _: &mut Core, _: &[u8]) -> Flow {
        Ok(())
    }
    fn ready(&mut self, _: &mut Core, _: Ready, _: &mut [u8]) -> Flow {
        Ok(())
    }
    fn is_permanent(&self) -> bool {
        true
    }
    fn stop(&mut self, _: &mut Core) {}
}

/// Opens it for the first process, which is not linked to it.
pub fn open() -> Result<(), OpenError> {
    let o = PortOptions::default();
    let port = Port::with_driver(0, b"forker".to_vec(), &o, Box::new(Forker), |_, _| {})?;
    if let Some(mut g) = port.look() {
        g.core.links.clear();
    }
    Ok(())
}
