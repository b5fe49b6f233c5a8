//! Requests to a port from processes, and from the connection to another node that it carries.

use std::sync::Arc;

use kvik_heap::OwnedTerm;
use kvik_proc::sched::current;
use kvik_proc::sched::microstate_timing::{self, during};
use kvik_term::{am, Atom, Term};

use super::lock::PortGuard;
use super::{BadSignal, Command, Port};
use crate::channel::Channel;
use crate::driver::{ControlReply, Driver, Ready};
use crate::iodata::{self, IodataPieces};
use crate::port::state::{Core, State};
use crate::trace;

/// The first byte of a term in the external format.
const EXTERNAL: u8 = 131;

impl Port {
    /// Ends the port at a process's request.
    fn end_for(&self, g: &mut PortGuard<'_>, from: u32) {
        trace::received(self.id, from, |_| am::close.into());
        self.end(g, OwnedTerm::immediate(am::normal.into()), true, None);
    }
    /// Traces the request for a new owner.
    fn told_to_connect(&self, from: u32, pid: u32) {
        trace::received(self.id, from, |h| h.tuple(&[am::connect.into(), Term::local_pid(pid)]));
    }

    /// Output from process `from`.
    pub fn command(&self, from: u32, bytes: &[u8], nosuspend: bool) -> Command {
        self.command_slices(from, &[bytes], nosuspend)
    }
    /// The same for bytes in several slices, at least one.
    pub fn command_slices(&self, from: u32, slices: &[&[u8]], nosuspend: bool) -> Command {
        during(microstate_timing::Microstate::Port, || self.write(from, slices, !nosuspend, false))
    }
    /// Whether its driver can be written to while it is busy.
    pub fn takes_force(&self) -> bool {
        self.open_lock().is_some_and(|g| g.carries_force())
    }
    /// The bytes of output to it.
    pub fn pieces<'h>(&self, data: Term<'h>) -> Option<IodataPieces<'h>> {
        iodata::pieces(data).or_else(|| {
            self.look().filter(|g| !g.carries_packets())?;
            iodata::pieces_of_bits(data)
        })
    }
    /// Output even to a busy port. `None`: its driver does not support that.
    pub fn force(&self, from: u32, bytes: &[u8]) -> Option<Command> {
        let mut g = self.open_lock()?;
        if !g.carries_force() {
            return None;
        }
        g.core.caller = from;
        g.core.count_output(bytes.len());
        trace::received_data(self.id, from, &[bytes]);
        self.run(&mut g, |d, c| d.output(c, bytes));
        Some(Command::Done)
    }
    /// `take`: a busy port takes the output too, and the sender waits afterwards.
    fn write(&self, from: u32, slices: &[&[u8]], may_wait: bool, take: bool) -> Command {
        let Some(mut g) = self.open_lock() else {
            return Command::Closed;
        };
        let was_busy = g.core.busy;
        if was_busy && !may_wait {
            return Command::Busy;
        }
        if !was_busy || take {
            g.core.caller = from;
            g.core.count_output(slices.iter().map(|bytes| bytes.len()).sum());
            trace::received_data(self.id, from, slices);
            g.core.turn = current();
            self.run(&mut g, |d, c| d.output_slices(c, slices));
            g.core.turn = None;
        }
        if was_busy && g.core.busy && g.core.state == State::Open {
            g.core.waiters.push(from);
            return Command::Wait;
        }
        Command::Done
    }

    pub fn control(&self, from: u32, op: u32, data: &[u8]) -> Option<ControlReply> {
        during(microstate_timing::Microstate::Port, || self.controlled(from, op, data))
    }
    fn controlled(&self, from: u32, op: u32, data: &[u8]) -> Option<ControlReply> {
        let mut g = self.open_lock()?;
        trace::received_request(self.id, from, am::control, op, data);
        let reply = self.ask(&mut g, from, |driver, core| driver.control(core, op, data))?;
        trace::answered(self.id, from, |h| {
            let (ControlReply::List(data) | ControlReply::Binary(data)) = &reply;
            h.tuple(&[am::control.into(), h.binary(data)])
        });
        Some(reply)
    }

    /// Calls the driver for a process and returns its answer.
    fn ask<T>(
        &self,
        g: &mut PortGuard<'_>,
        from: u32,
        call: impl FnOnce(&mut dyn Driver, &mut Core) -> Option<T>,
    ) -> Option<T> {
        g.core.caller = from;
        let mut reply = None;
        self.run(g, |driver, core| {
            reply = call(driver, core);
            core.failed.take().map_or(Ok(()), Err)
        });
        reply
    }

    /// `port_call/3`
    pub fn call(&self, from: u32, op: u32, data: &[u8]) -> Option<Vec<u8>> {
        let call = || {
            let mut g = self.open_lock()?;
            if !g.driver.has_call() {
                return None;
            }
            trace::received_request(self.id, from, am::call, op, data);
            let reply = self.ask(&mut g, from, |driver, core| driver.call(core, op, data))?;
            if reply.first() == Some(&EXTERNAL) {
                trace::answered(self.id, from, |h| h.tuple(&[am::call.into(), h.binary(&reply)]));
            }
            Some(reply)
        };
        during(microstate_timing::Microstate::Port, call)
    }

    /// `port_close/1`. `false`: it was closed already, or cannot be.
    pub fn close(&self, from: u32) -> bool {
        let Some(mut g) = self.open_lock().filter(|g| !g.driver.is_permanent()) else {
            return false;
        };
        self.end_for(&mut g, from);
        true
    }

    /// `port_connect/2`: a new owner, linked to the port like the old one.
    pub fn connect(&self, from: u32, pid: u32) -> bool {
        let Some(mut g) = self.open_lock() else {
            return false;
        };
        link(&mut g.core, pid);
        self.told_to_connect(from, pid);
        trace::answered(self.id, from, |_| am::connected.into());
        g.core.owner = pid;
        true
    }

    /// `Port ! {Owner, Request}`.
    pub fn message(
        &self,
        from: u32,
        message: Term<'_>,
        may_wait: bool,
    ) -> Result<Command, BadSignal> {
        during(microstate_timing::Microstate::Port, || self.message_of(from, message, may_wait))
    }
    fn message_of(
        &self,
        from: u32,
        message: Term<'_>,
        may_wait: bool,
    ) -> Result<Command, BadSignal> {
        use BadSignal::NoRequest;
        let [owner, request] = message.as_tuple_n().ok_or(NoRequest)?;
        let owner = owner.as_local_pid().ok_or(NoRequest)?;
        let output = match request.as_tuple_n() {
            Some([tag, data]) if tag == am::command => {
                Some(self.pieces(data).ok_or(BadSignal::BadOutput)?)
            }
            _ => None,
        };
        if self.look().is_some_and(|g| g.core.owner != owner) {
            return Err(NoRequest);
        }
        if let Some(pieces) = output {
            return Ok(self.write(from, &pieces.slices(), may_wait, true));
        }
        if request == am::close {
            if let Some(mut g) = self.open_lock().filter(|g| !g.driver.is_permanent()) {
                let tracer = trace::of_sends(self.id);
                self.end_for(&mut g, from);
                trace::sent_closed(tracer, self.id, owner);
                match g.core.state {
                    State::Closed => g.core.tell_owner(0, |_| am::closed.into()),
                    _ => g.core.tells_closed = true,
                }
            }
            return Ok(Command::Done);
        }
        let [tag, arg] = request.as_tuple_n().ok_or(NoRequest)?;
        match tag.as_atom() {
            Some(am::connect) => {
                let pid = arg.as_local_pid().ok_or(NoRequest)?;
                // Only `port_connect/2` links it.
                if let Some(mut g) = self.open_lock() {
                    self.told_to_connect(from, pid);
                    g.core.tell_owner(0, |_| am::connected.into());
                    g.core.owner = pid;
                }
                Ok(Command::Done)
            }
            _ => Err(NoRequest),
        }
    }

    /// `false`: the port is gone (`noproc` for the linking process).
    pub fn link(&self, pid: u32) -> bool {
        let Some(mut g) = self.open_lock() else {
            return false;
        };
        link(&mut g.core, pid);
        true
    }
    pub fn unlink(&self, pid: u32) {
        if let Some(mut g) = self.open_lock() {
            trace::life(self.id, "getting_unlinked", Term::local_pid(pid));
            g.core.links.retain(|p| *p != pid);
        }
    }
    /// An exit signal from a process: by `exit/2`, or over a link, which is then removed.
    pub fn exit(&self, from: u32, over_link: bool, reason: Term<'_>) {
        let Some(mut g) = self.open_lock().filter(|g| !g.driver.is_permanent()) else {
            return;
        };
        if over_link {
            let was = g.core.links.len();
            g.core.links.retain(|p| *p != from);
            if g.core.links.len() == was {
                return;
            }
        }
        if reason == am::normal && over_link && from != g.core.owner {
            return;
        }
        // `kill` drops the output queue.
        let kill = reason == am::kill;
        let reason = match kill {
            true => OwnedTerm::immediate(am::killed.into()),
            false => OwnedTerm::new(reason),
        };
        self.end(&mut g, reason, !kill, None);
    }
    pub fn monitor(&self, pid: u32, reference: [u32; 3], name: Option<Atom>) -> bool {
        let Some(mut g) = self.open_lock() else {
            return false;
        };
        g.core.monitors.push((pid, reference, name));
        true
    }
    pub fn demonitor(&self, reference: [u32; 3]) {
        if let Some(mut g) = self.open_lock() {
            g.core.monitors.retain(|(_, n, _)| *n != reference);
        }
    }

    /// Makes the port carry a channel. False: it is closed, carries one already, or its driver
    /// knows no packets.
    pub fn carry(&self, c: Arc<dyn Channel>) -> bool {
        match self.look() {
            Some(mut g) if g.carries_packets() && g.core.channel.is_none() => {
                g.core.channel = Some(c);
                true
            }
            _ => false,
        }
    }
    /// The channel has something to send. May be called from anywhere, even in the channel's own
    /// calls: the holder of the port's lock then fetches it.
    pub fn fetch(&self) {
        during(microstate_timing::Microstate::Port, || self.ready(Ready::Fetch, &mut []))
    }
}

/// Adds the port's side of a link, if it is new.
fn link(core: &mut Core, pid: u32) {
    if !core.links.contains(&pid) {
        trace::life(core.id, "getting_linked", Term::local_pid(pid));
        core.links.push(pid);
    }
}
