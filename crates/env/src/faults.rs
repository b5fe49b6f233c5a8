//! Faults: errors between the VM and the operating system, and how a simulation causes them.
//!
//! Each call of this crate that a fault may strike first checks for one: by [`Fault::fail`] if it
//! can only fail, by [`Fault::room`] or [`Fault::part`] if it may also move fewer bytes than it was
//! given. In production these checks are compiled away.

use std::io::IoSlice;

use crate::Result;

/// Makes the enumeration, and the table of names and effects.
macro_rules! faults {
    ($($fault:ident, $name:literal, $effects:expr, $strikes:literal;)*) => {
        /// Where the operating system may let the VM down.
        #[derive(Copy, Clone, PartialEq, Eq, Debug)]
        pub enum Fault { $(#[doc = $strikes] $fault),* }

        #[cfg(feature = "simulation")]
        impl Fault {
            /// Each with its name and the effects it may have.
            pub const ALL: &[(Fault, &str, &[effect::Kind])] =
                &[$((Fault::$fault, $name, $effects)),*];
        }
    };
}

// name in Rust, name in KVIK_FAULTS, effects it may have, the calls that it strikes
faults! {
    FileOpen, "file_open", FAILS, "Opening a file.";
    FileRead, "file_read", FAILS, "Reading from a file, until the buffer is full or the file ends.";
    FileWrite, "file_write", FAILS_OR_SHORT, "Writing to a file.";
    FileSync, "file_sync", FAILS, "Flushing a file to its device.";
    PipeOpen, "pipe_open", FAILS, "Making a pipe.";
    PipeRead, "pipe_read", FAILS_OR_SHORT, "Reading from a program or terminal.";
    PipeWrite, "pipe_write", FAILS_OR_SHORT, "Writing to a program or terminal.";
    SocketOpen, "socket_open", FAILS, "Making a socket.";
    SocketConnect, "socket_connect", FAILS, "Connecting a socket.";
    SocketAccept, "socket_accept", FAILS, "Accepting a connection.";
    SocketReceive, "socket_receive", FAILS_OR_SHORT, "Receiving from a stream.";
    SocketSend, "socket_send", FAILS_OR_SHORT, "Sending on a stream.";
    DatagramReceive, "datagram_receive", FAILS, "Receiving a datagram or a message.";
    DatagramSend, "datagram_send", FAILS, "Sending a datagram.";
    Poll, "poll", FAILS, "Waiting for events.";
    Spawn, "spawn", FAILS, "Starting a program.";
    ThreadSpawn, "thread_spawn", FAILS, "Starting a thread.";
    ClockJump, "clock_jump", JUMPS, "Reading the time of day.";
    Random, "random", VALUE, "Asking for a number that nobody can guess.";
}

#[cfg(feature = "simulation")]
pub use crate::simulation::When;
#[cfg(feature = "simulation")]
pub use effect::*;
#[cfg(feature = "simulation")]
mod effect {
    use crate::Errno;

    /// What happens instead of the call, or to it.
    #[derive(Copy, Clone, PartialEq, Debug)]
    pub enum Effect {
        Fail(Errno),
        /// Half of the bytes, at least one.
        Short,
        /// The time of day jumps by so many nanoseconds, for good.
        Jump(i64),
        Value(u64),
    }
    #[derive(Copy, Clone, PartialEq, Eq, Debug)]
    pub enum Kind {
        Fail,
        Short,
        Jump,
        Value,
    }
    impl Effect {
        pub fn kind(self) -> Kind {
            match self {
                Effect::Fail(_) => Kind::Fail,
                Effect::Short => Kind::Short,
                Effect::Jump(_) => Kind::Jump,
                Effect::Value(_) => Kind::Value,
            }
        }
    }
    pub(super) const FAILS: &[Kind] = &[Kind::Fail];
    pub(super) const FAILS_OR_SHORT: &[Kind] = &[Kind::Fail, Kind::Short];
    pub(super) const JUMPS: &[Kind] = &[Kind::Jump];
    pub(super) const VALUE: &[Kind] = &[Kind::Value];
}

impl Fault {
    #[cfg(feature = "simulation")]
    fn strike(self) -> Option<Effect> {
        crate::current().faults.strike(self)
    }

    /// The error that the call has to return.
    #[inline(always)]
    pub(crate) fn fail(self) -> Result<()> {
        #[cfg(feature = "simulation")]
        if let Some(Effect::Fail(e)) = self.strike() {
            return Err(e);
        }
        Ok(())
    }

    /// How many of `n` bytes a call on a file may move.
    #[inline(always)]
    pub(crate) fn room(self, n: usize) -> Result<usize> {
        #[cfg(feature = "simulation")]
        match self.strike() {
            Some(Effect::Fail(e)) => return Err(e),
            Some(Effect::Short) => return Ok(n.div_ceil(2)),
            _ => {}
        }
        Ok(n)
    }

    /// Makes a call that moves up to `n` bytes through a pipe or socket, with as many as it may
    /// move.
    ///
    /// The system moves fewer only if no more are there, or no more fit, and tells poll sets when
    /// that changes. So after a short call the poll sets are notified here.
    #[inline(always)]
    pub(crate) fn part<E: From<crate::Errno>>(
        self,
        n: usize,
        call: impl FnOnce(usize) -> std::result::Result<usize, E>,
    ) -> std::result::Result<usize, E> {
        #[cfg(feature = "simulation")]
        match self.strike() {
            Some(Effect::Fail(e)) => return Err(e.into()),
            Some(Effect::Short) => {
                let done = call(n.div_ceil(2));
                crate::current().pollers.tell_all();
                return done;
            }
            _ => {}
        }
        call(n)
    }

    /// [`Fault::part`] for a call that writes several slices: a short call gets the first half of
    /// the bytes as one slice.
    #[inline(always)]
    pub(crate) fn writev(
        self,
        slices: &[IoSlice<'_>],
        write: impl FnOnce(&[IoSlice<'_>]) -> Result<usize>,
    ) -> Result<usize> {
        if cfg!(not(feature = "simulation")) {
            return write(slices);
        }
        let bytes: Vec<u8> = slices.iter().flat_map(|s| s.iter().copied()).collect();
        self.part(bytes.len(), |n| match n == bytes.len() {
            true => write(slices),
            false => write(&[IoSlice::new(&bytes[..n])]),
        })
    }

    /// The value that a simulation uses instead of a random one.
    #[cfg(feature = "simulation")]
    pub(crate) fn value(self) -> Option<u64> {
        match self.strike() {
            Some(Effect::Value(n)) => Some(n),
            _ => None,
        }
    }

    /// By how much the time of day has to jump.
    #[cfg(feature = "simulation")]
    pub(crate) fn jump(self) -> i64 {
        match self.strike() {
            Some(Effect::Jump(nanos)) => nanos,
            _ => 0,
        }
    }
}
