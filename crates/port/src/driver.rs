//! [`Driver`]: the interface between a port and its driver.

use kvik_env::Errno;
use kvik_term::{am, Atom, Term};

use crate::port::state::Core;

/// The reason for a scheduler's call.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Ready {
    Input {
        hangup: bool,
    },
    Output,
    /// Its channel has something to send.
    Fetch,
    /// The program was started, or could not be.
    Started,
    /// The program has ended.
    Child,
    /// A timer that the driver set, by its tag.
    Timer(u64),
    /// A linked-in driver has events that it is to be called for.
    Driver,
    /// A descriptor that a linked-in driver has selected, for output or input.
    Selected {
        fd: i32,
        output: bool,
    },
}

/// How a port ends.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Exit {
    Normal,
    Posix(Errno),
    Reason(Atom),
    Number(i32),
}

impl Exit {
    pub fn term(self) -> Term<'static> {
        match self {
            Exit::Normal => am::normal.into(),
            Exit::Posix(e) => Atom::intern(e.name()).unwrap_or(am::error).into(),
            Exit::Reason(a) => a.into(),
            Exit::Number(n) => Term::int(n),
        }
    }
}

/// The result of a driver's call: `Err` ends the port.
pub type Flow = Result<(), Exit>;

/// The reply to `port_control`: the driver's flags choose the variant.
pub enum ControlReply {
    List(Vec<u8>),
    Binary(Vec<u8>),
}

/// Called with the port's lock held: no call may wait, except for `os_pid`. When a process calls
/// (`output`, `control`), [`Core::caller`] is that process.
pub trait Driver: Send {
    /// Called once the port has its number and lock.
    fn start(&mut self, _core: &mut Core) -> Flow {
        Ok(())
    }
    fn output(&mut self, core: &mut Core, bytes: &[u8]) -> Flow;
    /// The same for bytes in several slices, at least one.
    fn output_slices(&mut self, core: &mut Core, slices: &[&[u8]]) -> Flow {
        match slices {
            [bytes] => self.output(core, bytes),
            _ => self.output(core, &slices.concat()),
        }
    }
    /// Writes the output it holds (`write_coalescing.rs`).
    fn write_held(&mut self, _core: &mut Core) -> Flow {
        Ok(())
    }
    /// `buffer` is lent by the scheduler for the length of the call.
    fn ready(&mut self, core: &mut Core, why: Ready, buffer: &mut [u8]) -> Flow;
    /// `None`: `badarg`.
    fn control(&mut self, _core: &mut Core, _op: u32, _data: &[u8]) -> Option<ControlReply> {
        None
    }
    /// Whether it implements `call`; otherwise `port_call` is a `badarg`.
    fn has_call(&self) -> bool {
        false
    }
    /// Like `control`, for `port_call`, in the external term format.
    fn call(&mut self, _core: &mut Core, _op: u32, _data: &[u8]) -> Option<Vec<u8>> {
        None
    }
    /// Bytes that wait to be written.
    fn queued(&self) -> usize {
        0
    }
    /// Writes the queue, however long it takes: the VM halts.
    fn flush(&mut self) {}
    /// The port is closed, with output in its queue: drop what is not to be written.
    fn closing(&mut self, _core: &mut Core) -> Flow {
        Ok(())
    }
    /// Whether an event may make it write once the port is closed.
    fn drains_on(&self, why: Ready) -> bool {
        why == Ready::Output
    }
    /// Whether it may be written to while it is busy (`force`).
    fn carries_force(&self) -> bool {
        self.carries_packets()
    }
    /// Processes that it monitors.
    fn monitors(&self) -> Vec<u32> {
        Vec::new()
    }
    /// The reference of the message `{Ref, PortOrError}` that `open_port` waits for.
    fn open_reference(&self) -> Option<[u32; 3]> {
        None
    }
    /// The driver itself, for callers that know its type.
    fn as_any(&mut self) -> Option<&mut dyn std::any::Any> {
        None
    }
    /// Whether no process can close the port.
    fn is_permanent(&self) -> bool {
        false
    }
    /// The port is gone: leave the poll set, give back everything.
    fn stop(&mut self, core: &mut Core);
    fn os_pid(&self) -> Option<i32> {
        None
    }
    /// Whether it knows packets, so that it can carry a channel, and may be written to while it is
    /// busy.
    fn carries_packets(&self) -> bool {
        false
    }
}
