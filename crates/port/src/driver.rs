//! What a driver does for its port.

use kvik_env::Errno;
use kvik_term::{am, Atom, Term};

use crate::port::state::Core;

/// Why the scheduler calls.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Ready {
    Input {
        hangup: bool,
    },
    Output,
    /// Its channel has something to send.
    Fetch,
    /// The program has begun, or could not.
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

/// What comes after a driver's call.
pub type Flow = Result<(), Exit>;

/// The answer to `port_control`: the driver's flags say which.
pub enum Reply {
    List(Vec<u8>),
    Binary(Vec<u8>),
}

/// Called with the port's lock held: no call may wait, but for what `os_pid` asks. Where a process calls (`output`, `control`),
/// [`Core::caller`] is that process.
pub trait Driver: Send {
    /// Once the port has its number and lock.
    fn start(&mut self, _core: &mut Core) -> Flow {
        Ok(())
    }
    fn output(&mut self, core: &mut Core, bytes: &[u8]) -> Flow;
    /// Writes what it holds back (`write_coalescing.rs`).
    fn write_held(&mut self, _core: &mut Core) -> Flow {
        Ok(())
    }
    /// `buffer` is the scheduler's, for the length of the call.
    fn ready(&mut self, core: &mut Core, why: Ready, buffer: &mut [u8]) -> Flow;
    /// `None`: `badarg`.
    fn control(&mut self, _core: &mut Core, _op: u32, _data: &[u8]) -> Option<Reply> {
        None
    }
    /// Whether `call` is more than `badarg`.
    fn has_call(&self) -> bool {
        false
    }
    /// The same for `port_call`, in the external term format.
    fn call(&mut self, _core: &mut Core, _op: u32, _data: &[u8]) -> Option<Vec<u8>> {
        None
    }
    /// Bytes that wait to be written.
    fn queued(&self) -> usize {
        0
    }
    /// Writes out what waits, however long it takes: the VM halts.
    fn flush(&mut self) {}
    /// The port is closed for everybody, with output in its queue: drop what is not to be written.
    fn closing(&mut self, _core: &mut Core) -> Flow {
        Ok(())
    }
    /// Once that is so: may this have it write?
    fn drains_on(&self, why: Ready) -> bool {
        why == Ready::Output
    }
    /// Is its queue written out also where the driver has ended the port for an error?
    fn drains_after_failure(&self) -> bool {
        false
    }
    /// May it be written to while it is busy (`force`)?
    fn carries_force(&self) -> bool {
        self.carries_packets()
    }
    /// Processes that it monitors.
    fn monitors(&self) -> Vec<u32> {
        Vec::new()
    }
    /// The driver itself, where somebody else knows its type.
    fn as_any(&mut self) -> Option<&mut dyn std::any::Any> {
        None
    }
    /// The port is gone: leave the poll set, give back everything.
    fn stop(&mut self, core: &mut Core);
    fn os_pid(&self) -> Option<i32> {
        None
    }
    /// Does it know packets, so that it can carry a channel, and may it be written to while it is
    /// busy?
    fn carries_packets(&self) -> bool {
        false
    }
}
