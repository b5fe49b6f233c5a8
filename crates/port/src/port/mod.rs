//! [`Port`]: its state, and the operations that processes have on it.

use std::sync::Arc;

use kvik_env::Errno;
use kvik_heap::{Heap, OwnedTerm};
use kvik_term::{am, Atom, Term};

use crate::driver::{Driver, Exit, Flow, Ready};
use crate::host::host;
use crate::options::PortOptions;
use crate::{poll, table, trace, write_coalescing};

mod lock;
mod requests;
pub(crate) mod state;
pub mod trace_events;

use lock::{Lock, PortGuard};
pub use state::Core;
use state::State;
use trace_events::TraceEvents;

pub struct Port {
    /// Its 28-bit number.
    pub id: u32,
    pub(crate) lock: Lock,
    /// Queued events that it gets as a tracer.
    pub(crate) events: TraceEvents,
}

pub(crate) struct Inner {
    pub(crate) core: Core,
    driver: Box<dyn Driver>,
}

/// Why a port could not be opened.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum OpenError {
    Badarg,
    SystemLimit,
    Posix(Errno),
}

/// The data of `port_info`.
pub struct PortInfo {
    pub name: Vec<u8>,
    pub owner: u32,
    pub links: Vec<u32>,
    pub monitored_by: Vec<u32>,
    pub registered: Option<Atom>,
    pub input: u64,
    pub output: u64,
    pub os_pid: Option<i32>,
    /// Processes that it monitors.
    pub monitors: Vec<u32>,
    pub queue_size: usize,
    pub parallelism: bool,
}

/// A message that is no request to the port: its owner gets the exit signal `badsig`.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum BadSignal {
    NoRequest,
    /// Output that is not iodata: it is logged too.
    BadOutput,
}

/// The result of output.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Command {
    Done,
    /// The port is busy: the process must suspend itself until the port resumes it. `port_command`
    /// took nothing and must be repeated; a message was taken.
    Wait,
    /// Not taken (`nosuspend`).
    Busy,
    Closed,
}

impl Inner {
    pub(crate) fn carries_packets(&self) -> bool {
        self.driver.carries_packets()
    }
    fn carries_force(&self) -> bool {
        self.driver.carries_force()
    }
    pub(crate) fn is_open(&self) -> bool {
        self.core.state == State::Open
    }
}

impl Port {
    pub fn with_driver(
        owner: u32,
        name: Vec<u8>,
        o: &PortOptions,
        driver: Box<dyn Driver>,
        link: impl Fn(Term<'static>, bool),
    ) -> Result<Arc<Port>, OpenError> {
        write_coalescing::write();
        let home = poll::choose();
        let core = |id| Core {
            id,
            home,
            state: State::Open,
            is_stopping: false,
            tells_closed: false,
            name,
            owner,
            links: vec![owner],
            monitors: Vec::new(),
            data: OwnedTerm::immediate(Term::atom(am::undefined)),
            caller: owner,
            turn: None,
            binary: o.binary,
            eof: o.eof,
            line: o.line.is_some(),
            parallelism: o.parallelism,
            busy_limits: o.busy,
            busy: false,
            waiters: Vec::new(),
            failed: None,
            channel: None,
            input: 0,
            output: 0,
        };
        let port = table::insert(|id| {
            let lock = Lock::new(Inner { core: core(id), driver });
            Arc::new(Port { id, lock, events: TraceEvents::default() })
        })
        .ok_or(OpenError::SystemLimit)?;
        link(Term::local_port(port.id), true);
        let mut g = port.lock();
        let Inner { core, driver } = &mut *g;
        if let Err(e) = driver.start(core) {
            driver.stop(core);
            core.state = State::Closed;
            drop(g);
            table::remove(port.id);
            link(Term::local_port(port.id), false);
            return Err(match e {
                Exit::Posix(e) => OpenError::Posix(e),
                _ => OpenError::Badarg,
            });
        }
        trace::opened(port.id, owner, &core.name);
        drop(g);
        Ok(port)
    }

    /// Locks an open port for reading its state.
    pub(crate) fn look(&self) -> Option<PortGuard<'_>> {
        Some(self.lock()).filter(|g| g.is_open())
    }
    /// Locks an open port for an operation.
    fn open_lock(&self) -> Option<PortGuard<'_>> {
        write_coalescing::write_but(self.id);
        let mut g = self.look()?;
        g.tell();
        if self.events.any() {
            self.output_events(&mut g);
        }
        Some(g).filter(|g| g.is_open())
    }

    /// Calls the driver, and ends the port if that returns an error.
    pub(crate) fn run(
        &self,
        g: &mut PortGuard<'_>,
        f: impl FnOnce(&mut dyn Driver, &mut Core) -> Flow,
    ) {
        let Inner { core, driver } = &mut **g;
        if let Err(exit) = f(&mut **driver, core) {
            // After a failed write the queue is dropped.
            let flush = exit == Exit::Normal;
            self.end(g, OwnedTerm::immediate(exit.term()), flush, None);
        }
    }

    /// Notifies links and monitors that the port is gone, and stops the driver once its output is
    /// written. `but`: a process that gets no exit signal.
    fn end(&self, g: &mut PortGuard<'_>, reason: OwnedTerm, flush: bool, but: Option<u32>) {
        let Inner { core, driver } = &mut **g;
        // Held output was sent before the end. An error has no receiver any more.
        let _ = driver.write_held(core);
        if core.state == State::Open {
            core.wake_waiters();
            table::closed(self.id);
            trace::closed(self.id, reason.term(), host().and_then(|h| h.name_of(self.id)));
            if let Some(c) = core.channel.take() {
                c.ended(reason.term());
            }
            if let Some(h) = host() {
                h.unregister(self.id);
            }
            for pid in std::mem::take(&mut core.links) {
                if let (Some(h), true) = (host(), Some(pid) != but) {
                    h.exit(pid, self.id, reason.clone());
                }
            }
            for (pid, n, name) in std::mem::take(&mut core.monitors) {
                if let Some(h) = host() {
                    h.down(pid, n, self.id, name, reason.clone());
                }
            }
        }
        if flush && driver.queued() > 0 {
            let first = core.state == State::Open;
            core.state = State::Flushing;
            let failed = first && driver.closing(core).is_err();
            if !failed && driver.queued() > 0 {
                return;
            }
        }
        if core.state != State::Closed {
            // Messages of its last call still arrive, unless it had output to write first.
            core.is_stopping = core.state == State::Open;
            core.state = State::Closed;
            driver.stop(core);
            core.is_stopping = false;
            if std::mem::take(&mut core.tells_closed) {
                core.tell_owner(0, |_| am::closed.into());
            }
            table::remove(self.id);
            trace::forget(self.id);
        }
    }
    /// Called by a scheduler for an event.
    pub fn ready(&self, why: Ready, buffer: &mut [u8]) {
        let Some(mut g) = self.lock_for(why) else { return };
        if g.core.state != State::Closed {
            g.tell();
            self.serve(&mut g, why, buffer);
        }
    }
    pub(crate) fn serve(&self, g: &mut PortGuard<'_>, why: Ready, buffer: &mut [u8]) {
        match g.core.state {
            State::Closed => {}
            State::Open => {
                if why == Ready::Fetch {
                    self.output_events(g);
                }
                if g.is_open() {
                    self.run(g, |d, c| d.ready(c, why, buffer));
                }
            }
            State::Flushing => {
                let Inner { core, driver } = &mut **g;
                let failed = driver.drains_on(why) && driver.ready(core, why, buffer).is_err();
                if failed || driver.queued() == 0 {
                    self.end(g, OwnedTerm::default(), false, None);
                }
            }
        }
    }

    pub(crate) fn write_held(&self) {
        let mut g = self.lock();
        if g.core.state != State::Closed {
            self.run(&mut g, |d, c| d.write_held(c));
        }
    }

    /// Runs `f` on the driver if the port's lock is free. False: it is not.
    pub fn try_run(&self, f: &mut dyn FnMut(&mut dyn Driver, &mut Core) -> Flow) -> bool {
        let Some(mut g) = self.try_lock() else { return false };
        if g.core.state != State::Closed {
            self.run(&mut g, |driver, core| f(driver, core));
        }
        true
    }

    /// Ends the port for its driver, from outside the driver's calls.
    pub fn fail(&self, exit: Exit) {
        if let Some(mut g) = self.open_lock() {
            self.run(&mut g, |_, _| Err(exit));
        }
    }

    /// See [`Driver::open_reference`].
    pub fn open_reference(&self) -> Option<[u32; 3]> {
        self.lock().driver.open_reference()
    }

    pub fn owner(&self) -> Option<u32> {
        self.look().map(|g| g.core.owner)
    }
    pub fn is_open(&self) -> bool {
        self.look().is_some()
    }
    pub fn set_data(&self, t: Term<'_>) -> bool {
        let data = OwnedTerm::new(t);
        match self.look() {
            Some(mut g) => {
                g.core.data = data;
                true
            }
            None => false,
        }
    }
    pub fn data<'h>(&self, heap: &'h Heap) -> Option<Term<'h>> {
        self.look().map(|g| heap.copy(g.core.data.term()))
    }
    pub fn info(&self) -> Option<PortInfo> {
        let g = self.look()?;
        let c = &g.core;
        Some(PortInfo {
            name: c.name.clone(),
            owner: c.owner,
            links: c.links.clone(),
            monitored_by: c.monitors.iter().map(|m| m.0).collect(),
            registered: host().and_then(|h| h.name_of(self.id)),
            input: c.input,
            output: c.output,
            os_pid: g.driver.os_pid(),
            monitors: g.driver.monitors(),
            queue_size: g.driver.queued(),
            parallelism: c.parallelism,
        })
    }

    pub(crate) fn flush(&self) {
        let mut g = self.lock();
        if g.core.state != State::Closed {
            g.driver.flush();
        }
    }
}
