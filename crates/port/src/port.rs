//! [`Port`]: its state, and what processes may do to it.

use std::sync::Arc;

use kvik_heap::{Heap, OwnedTerm};
use kvik_proc::sched::current;
use kvik_proc::sched::meter::{self, during};
use kvik_sys::{count, Errno};
use kvik_term::{am, Atom, Term};

use crate::channel::Channel;
use crate::driver::{Driver, Exit, Flow, Ready, Reply};
use crate::events::Events;
use crate::held;
use crate::host::host;
pub use crate::info::{find, flush_all, Info};
use crate::input::Piece;
use crate::lock::{Held, Lock};
use crate::options::{Limits, Options, What};
use crate::{poll, table, trace};

/// The first byte of a term in the external format.
const EXTERNAL: u8 = 131;

pub struct Port {
    /// Its 28-bit number.
    pub id: u32,
    pub(crate) lock: Lock,
    /// What it is to hear as a tracer.
    pub(crate) events: Events,
}

pub(crate) struct Inner {
    pub(crate) core: Core,
    driver: Box<dyn Driver>,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum State {
    Open,
    /// Closed for everybody, but output still waits to be written.
    Flushing,
    Closed,
}

/// What a port is, besides its driver.
pub struct Core {
    pub id: u32,
    /// Its poll set.
    pub home: usize,
    state: State,
    /// Its driver's `stop` is running, right after it was open.
    is_stopping: bool,
    name: Vec<u8>,
    owner: u32,
    links: Vec<u32>,
    monitors: Vec<(u32, [u32; 3], Option<Atom>)>,
    data: OwnedTerm,
    /// The process that is calling.
    pub caller: u32,
    /// The scheduler in one of whose turns output comes, so that it may be held back to its end.
    pub(crate) turn: Option<usize>,
    pub binary: bool,
    pub eof: bool,
    /// It was opened with `line`.
    pub line: bool,
    pub parallelism: bool,
    busy_limits: Option<Limits>,
    busy: bool,
    /// Processes that are suspended until it is busy no longer.
    waiters: Vec<u32>,
    /// The driver wants the port to end, and could not say so when it returned.
    failed: Option<Exit>,
    pub(crate) channel: Option<Arc<dyn Channel>>,
    input: u64,
    output: u64,
}

/// Why a port could not be opened.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum OpenError {
    Badarg,
    SystemLimit,
    Posix(Errno),
}

/// What was sent to a port is not for it: its owner gets the exit signal `badsig`.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct BadSignal;

/// What became of output.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Command {
    Done,
    /// The port is busy: the process is to suspend itself until the port resumes it. Of
    /// `port_command` nothing was taken, and it is to ask again; a message was taken.
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

impl Core {
    pub fn term(&self) -> Term<'static> {
        Term::local_port(self.id)
    }
    pub fn owner(&self) -> u32 {
        self.owner
    }
    pub fn is_open(&self) -> bool {
        self.state == State::Open
    }
    /// May its driver send something?
    pub fn may_send(&self) -> bool {
        self.is_open() || self.is_stopping
    }

    /// The owner is not told of its end.
    pub fn unlink_owner(&mut self) {
        let owner = self.owner;
        let linked = self.links.len();
        self.links.retain(|pid| *pid != owner);
        if let (Some(h), true) = (host(), self.links.len() < linked) {
            h.unlink(owner, self.term());
        }
    }

    /// Sends `{Port, Message}` to the owner.
    pub fn tell_owner(&self, words: usize, message: impl for<'h> FnOnce(&'h Heap) -> Term<'h>) {
        let Some(h) = host() else { return };
        let port = self.term();
        let m = OwnedTerm::build(words + 3, |heap| heap.tuple(&[port, message(heap)]));
        trace::sent(self.id, self.owner, &m);
        h.send(self.owner, port, m);
    }

    /// Sends any message to a process.
    pub fn send(&self, pid: u32, words: usize, m: impl for<'h> FnOnce(&'h Heap) -> Term<'h>) {
        if let Some(h) = host() {
            let m = OwnedTerm::build(words, m);
            trace::sent(self.id, pid, &m);
            h.send(pid, self.term(), m);
        }
    }

    /// Sends `{Port, {data, Data}}`. Lines are counted as input when they are read, with their ends.
    pub fn deliver(&mut self, piece: Piece<'_>) {
        let (Piece::Data(bytes) | Piece::Eol(bytes) | Piece::NoEol(bytes)) = piece;
        if let Piece::Data(bytes) = piece {
            self.count_input(bytes.len());
        }
        let binary = self.binary;
        let words = 8 + if binary { 2 + bytes.len().min(64) / 8 + 6 } else { 2 * bytes.len() };
        self.tell_owner(words, |h| {
            let data = if binary { h.binary(bytes) } else { h.byte_list(bytes) };
            let data = match piece {
                Piece::Data(_) => data,
                Piece::Eol(_) => h.tuple(&[am::eol.into(), data]),
                Piece::NoEol(_) => h.tuple(&[am::noeol.into(), data]),
            };
            h.tuple(&[am::data.into(), data])
        });
    }

    /// The input has ended: `{Port, eof}` where that was asked for, else the port ends.
    pub fn end_of_input(&mut self) -> Flow {
        if !self.eof {
            return Err(Exit::Normal);
        }
        self.tell_owner(0, |_| am::eof.into());
        Ok(())
    }

    /// Output has been written: are those who waited for that to go on?
    pub fn drained(&mut self, queued: usize) {
        if self.busy && self.busy_limits.is_none_or(|l| queued < l.low.max(1)) {
            self.set_busy(false);
        }
    }
    /// Output waits.
    pub fn queued(&mut self, queued: usize) {
        if self.busy_limits.is_some_and(|l| queued >= l.high) {
            self.busy = true;
        }
    }
    pub fn set_busy(&mut self, busy: bool) {
        self.busy = busy;
        if !busy {
            self.wake_waiters();
        }
    }
    fn wake_waiters(&mut self) {
        let Some(h) = host() else { return };
        self.waiters.drain(..).for_each(|pid| h.resume(pid));
    }
    /// A call that answers something else may end the port.
    pub fn fail(&mut self, flow: Flow) {
        self.failed = flow.err().or(self.failed);
    }
    /// So many bytes go to a process in a message that the driver makes by itself: they are input of
    /// the VM, as in OTP not of the port.
    pub fn came(&self, n: usize) {
        count::add(count::What::Input, n as u64);
    }
    pub fn count_input(&mut self, n: usize) {
        self.input += n as u64;
        self.came(n);
    }
    pub fn count_output(&mut self, n: usize) {
        self.output += n as u64;
        count::add(count::What::Output, n as u64);
    }
}

impl Port {
    /// Opens a port for a process. `link` makes (`true`) or unmakes the process's side of the link
    /// between them; it is made before anything can come from the port.
    pub fn open(
        owner: u32,
        what: &What,
        o: &Options,
        link: impl Fn(Term<'static>, bool),
    ) -> Result<Arc<Port>, OpenError> {
        let (driver, name) = crate::pipes::open_driver(what, o)?;
        Port::with_driver(owner, name, o, driver, link)
    }

    pub fn with_driver(
        owner: u32,
        name: Vec<u8>,
        o: &Options,
        driver: Box<dyn Driver>,
        link: impl Fn(Term<'static>, bool),
    ) -> Result<Arc<Port>, OpenError> {
        held::write();
        let home = poll::choose();
        let core = |id| Core {
            id,
            home,
            state: State::Open,
            is_stopping: false,
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
            Arc::new(Port { id, lock, events: Events::default() })
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

    /// To look at one that is open.
    pub(crate) fn look(&self) -> Option<Held<'_>> {
        Some(self.lock()).filter(|g| g.is_open())
    }
    /// To have one that is open do something.
    fn open_lock(&self) -> Option<Held<'_>> {
        held::write_but(self.id);
        let mut g = self.look()?;
        g.tell();
        if self.events.any() {
            self.output_events(&mut g);
        }
        Some(g).filter(|g| g.is_open())
    }

    /// Runs the driver, and ends the port where it says so.
    pub(crate) fn run(&self, g: &mut Held<'_>, f: impl FnOnce(&mut dyn Driver, &mut Core) -> Flow) {
        let Inner { core, driver } = &mut **g;
        if let Err(exit) = f(&mut **driver, core) {
            // What is queued goes nowhere once writing has failed.
            let flush = exit == Exit::Normal || driver.drains_after_failure();
            self.end(g, OwnedTerm::immediate(exit.term()), flush, None);
        }
    }

    /// Tells everybody that the port is gone, and stops the driver once its output is written.
    /// `but`: a process that is not told.
    fn end(&self, g: &mut Held<'_>, reason: OwnedTerm, flush: bool, but: Option<u32>) {
        let Inner { core, driver } = &mut **g;
        // It was sent before; should that fail, there is nobody left to hear of it.
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
            // What it says in its last call still arrives, unless it had output to write first.
            core.is_stopping = core.state == State::Open;
            core.state = State::Closed;
            driver.stop(core);
            core.is_stopping = false;
            table::remove(self.id);
            trace::forget(self.id);
        }
    }
    /// Ends it for a process that asks for that.
    fn end_for(&self, g: &mut Held<'_>, from: u32) {
        trace::received(self.id, from, |_| am::close.into());
        self.end(g, OwnedTerm::immediate(am::normal.into()), true, None);
    }
    /// A new owner is asked for.
    fn told_to_connect(&self, from: u32, pid: u32) {
        trace::received(self.id, from, |h| h.tuple(&[am::connect.into(), Term::local_pid(pid)]));
    }

    /// The scheduler's call: something is ready.
    pub fn ready(&self, why: Ready, buffer: &mut [u8]) {
        let Some(mut g) = self.lock_for(why) else { return };
        if g.core.state != State::Closed {
            g.tell();
            self.serve(&mut g, why, buffer);
        }
    }
    pub(crate) fn serve(&self, g: &mut Held<'_>, why: Ready, buffer: &mut [u8]) {
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

    /// Output from process `from`.
    pub fn command(&self, from: u32, bytes: &[u8], nosuspend: bool) -> Command {
        during(meter::State::Port, || self.write(from, bytes, !nosuspend, false))
    }
    /// Whether its driver can be written to while it is busy.
    pub fn takes_force(&self) -> bool {
        self.open_lock().is_some_and(|g| g.carries_force())
    }
    /// The same with no regard to whether it is busy. `None`: its driver has none of that.
    pub fn force(&self, from: u32, bytes: &[u8]) -> Option<Command> {
        let mut g = self.open_lock()?;
        if !g.carries_force() {
            return None;
        }
        g.core.caller = from;
        g.core.count_output(bytes.len());
        trace::received_data(self.id, from, bytes);
        self.run(&mut g, |d, c| d.output(c, bytes));
        Some(Command::Done)
    }
    /// `take`: even of a busy port, whose sender waits behind it then.
    fn write(&self, from: u32, bytes: &[u8], may_wait: bool, take: bool) -> Command {
        let Some(mut g) = self.open_lock() else {
            return Command::Closed;
        };
        let was_busy = g.core.busy;
        if was_busy && !may_wait {
            return Command::Busy;
        }
        if !was_busy || take {
            g.core.caller = from;
            g.core.count_output(bytes.len());
            trace::received_data(self.id, from, bytes);
            g.core.turn = current();
            self.run(&mut g, |d, c| d.output(c, bytes));
            g.core.turn = None;
        }
        if was_busy && g.core.busy && g.core.state == State::Open {
            g.core.waiters.push(from);
            return Command::Wait;
        }
        Command::Done
    }

    pub(crate) fn write_held(&self) {
        let mut g = self.lock();
        if g.core.state != State::Closed {
            self.run(&mut g, |d, c| d.write_held(c));
        }
    }

    pub fn control(&self, from: u32, op: u32, data: &[u8]) -> Option<Reply> {
        during(meter::State::Port, || self.controlled(from, op, data))
    }
    fn controlled(&self, from: u32, op: u32, data: &[u8]) -> Option<Reply> {
        let mut g = self.open_lock()?;
        trace::received_request(self.id, from, am::control, op, data);
        let reply = self.ask(&mut g, from, |driver, core| driver.control(core, op, data))?;
        trace::answered(self.id, from, |h| {
            let (Reply::List(data) | Reply::Binary(data)) = &reply;
            h.tuple(&[am::control.into(), h.binary(data)])
        });
        Some(reply)
    }

    /// What its driver answers to a process.
    fn ask<T>(
        &self,
        g: &mut Held<'_>,
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
        during(meter::State::Port, call)
    }

    /// Does something with the driver, if nobody has the port's lock. False: somebody has.
    pub fn try_run(&self, f: &mut dyn FnMut(&mut dyn Driver, &mut Core) -> Flow) -> bool {
        let Some(mut g) = self.try_lock() else { return false };
        if g.core.state != State::Closed {
            self.run(&mut g, |driver, core| f(driver, core));
        }
        true
    }

    /// Ends it for its driver, from outside of its calls.
    pub fn fail(&self, exit: Exit) {
        if let Some(mut g) = self.open_lock() {
            self.run(&mut g, |_, _| Err(exit));
        }
    }

    /// `port_close/1`. `false`: it was closed already.
    pub fn close(&self, from: u32) -> bool {
        let Some(mut g) = self.open_lock() else {
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
        during(meter::State::Port, || self.message_of(from, message, may_wait))
    }
    fn message_of(
        &self,
        from: u32,
        message: Term<'_>,
        may_wait: bool,
    ) -> Result<Command, BadSignal> {
        let [owner, request] = message.as_tuple_n().ok_or(BadSignal)?;
        let owner = owner.as_local_pid().ok_or(BadSignal)?;
        if self.look().is_some_and(|g| g.core.owner != owner) {
            return Err(BadSignal);
        }
        if request == am::close {
            if let Some(mut g) = self.open_lock() {
                let tracer = trace::of_sends(self.id);
                self.end_for(&mut g, from);
                trace::sent_closed(tracer, self.id, owner);
                g.core.tell_owner(0, |_| am::closed.into());
            }
            return Ok(Command::Done);
        }
        let [tag, arg] = request.as_tuple_n().ok_or(BadSignal)?;
        match tag.as_atom() {
            Some(am::command) => {
                let bytes = crate::iodata::bytes(arg).ok_or(BadSignal)?;
                Ok(self.write(from, &bytes, may_wait, true))
            }
            Some(am::connect) => {
                let pid = arg.as_local_pid().ok_or(BadSignal)?;
                // Only `port_connect/2` links it.
                if let Some(mut g) = self.open_lock() {
                    self.told_to_connect(from, pid);
                    g.core.tell_owner(0, |_| am::connected.into());
                    g.core.owner = pid;
                }
                Ok(Command::Done)
            }
            _ => Err(BadSignal),
        }
    }

    /// `false`: the port is gone (`noproc` for who wants to link).
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
    /// An exit signal from a process: by `exit/2`, or over a link, which is gone then.
    pub fn exit(&self, from: u32, over_link: bool, reason: Term<'_>) {
        let Some(mut g) = self.open_lock() else {
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
        // What waits to be written is dropped.
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
    pub fn info(&self) -> Option<Info> {
        let g = self.look()?;
        let c = &g.core;
        Some(Info {
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

/// The port's side of a link, where it is new.
fn link(core: &mut Core, pid: u32) {
    if !core.links.contains(&pid) {
        trace::life(core.id, "getting_linked", Term::local_pid(pid));
        core.links.push(pid);
    }
}
