//! Signals: all that one process (or port, or timer) can send another. They travel through the
//! inbox, so that those of one sender arrive in the order they were sent.

use kvik_heap::{Heap, OwnedTerm};
use kvik_sync::{pin, Pushed};
use kvik_term::object::LocalRef;
use kvik_term::{am, Atom, Term};

use crate::process::{table, Ticket};
use crate::{sched, Proc};

/// The numbers of a reference of this node.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RefId(pub [u32; 3]);

impl RefId {
    pub fn of(r: LocalRef<'_>) -> RefId {
        RefId(r.numbers())
    }
    pub fn of_term(t: Term<'_>) -> Option<RefId> {
        match t.as_ref()? {
            kvik_term::Ref::Local(r) => Some(RefId::of(r)),
            kvik_term::Ref::External(_) => None,
        }
    }
    pub fn next() -> RefId {
        RefId(kvik_heap::build::next_ref())
    }
    pub fn term(self, heap: &Heap) -> Term<'_> {
        heap.ref_of_numbers(self.0)
    }
}

/// What a process is asked to run.
pub type Closure = Box<dyn FnOnce(Option<&Proc>) + Send>;

pub enum Signal {
    Message(OwnedTerm),
    /// The time a `receive` was to wait may be over.
    Time,
    Control(Box<Control>),
    /// Runs in the process (with `None` when it has ended).
    Run(Closure),
}

pub enum Control {
    AliasMessage {
        id: RefId,
        message: OwnedTerm,
    },
    /// A message to a process that is traced for what it receives.
    MessageFrom {
        from: u32,
        message: OwnedTerm,
    },
    /// `from`, here and below: a local pid or port.
    Link {
        from: Term<'static>,
    },
    Unlink {
        from: Term<'static>,
        id: u64,
    },
    UnlinkAck {
        from: Term<'static>,
        id: u64,
    },
    Exit {
        from: OwnedTerm,
        linked: bool,
        reason: OwnedTerm,
    },
    Monitor {
        from: u32,
        id: RefId,
        name: Option<Atom>,
    },
    Demonitor {
        id: RefId,
    },
    Down {
        id: RefId,
        reason: OwnedTerm,
    },
}

impl From<Control> for Signal {
    fn from(c: Control) -> Signal {
        Signal::Control(Box::new(c))
    }
}

/// Sends a signal to a local process. When there is none the signal is answered in its place;
/// false then.
#[inline]
pub fn deliver(pid: u32, s: impl Into<Signal>) -> bool {
    match try_deliver(pid, s.into()) {
        Ok(()) => true,
        Err(s) => {
            undeliverable(pid, s);
            false
        }
    }
}

/// Sends a message. Who finds the receiver waiting ends its wait, and with that may put the message
/// into its mailbox with his own hands. Answers how many words were copied for a receiver that
/// doesn't wait.
#[inline]
pub fn send_message(from: u32, pid: u32, m: Term<'_>) -> usize {
    let guard = pin();
    let Some(task) = table().get(pid, &guard) else { return 0 };
    if let Some(ticket) = task.unpark() {
        ticket.private().last_from.set(from);
        ticket.private().accept(m);
        sched::wake(ticket);
        return 0;
    }
    let m = OwnedTerm::new(m);
    let words = m.words();
    if let Pushed::Woken(ticket) = task.send(Signal::Message(m)) {
        sched::wake(ticket);
    }
    words
}

/// The same to an alias.
#[inline]
pub fn send_to_alias(from: u32, pid: u32, id: RefId, m: Term<'_>) {
    let guard = pin();
    let Some(task) = table().get(pid, &guard) else { return };
    if let Some(ticket) = task.unpark() {
        let p = ticket.private();
        if !p.is_exiting() && p.uses_alias(id) {
            p.last_from.set(from);
            p.accept(m);
        }
        return go_on(ticket);
    }
    let message = OwnedTerm::new(m);
    if let Pushed::Woken(ticket) = task.send(Control::AliasMessage { id, message }.into()) {
        sched::wake(ticket);
    }
}

/// Lets a process whose wait was ended run, or wait on if there is nothing for it to do.
fn go_on(ticket: Ticket) {
    if ticket.private().has_to_run() {
        return sched::wake(ticket);
    }
    if let Some(ticket) = ticket.park() {
        sched::wake(ticket);
    }
}

/// The same, but gives the signal back when there is no such process.
#[inline]
pub fn try_deliver(pid: u32, s: Signal) -> Result<(), Signal> {
    let guard = pin();
    let Some(task) = table().get(pid, &guard) else { return Err(s) };
    if matches!(s, Signal::Control(_)) {
        // Handled on the spot where the process waits: most such signals change nothing that it
        // waits for.
        if let Some(ticket) = task.unpark() {
            ticket.private().handle(s);
            go_on(ticket);
            return Ok(());
        }
    }
    match task.send(s) {
        Pushed::Queued => Ok(()),
        Pushed::Woken(ticket) => {
            sched::wake(ticket);
            Ok(())
        }
        Pushed::Closed(s) => Err(s),
    }
}

/// Does what a process that has ended owes the senders of signals.
pub fn undeliverable(pid: u32, s: Signal) {
    let c = match s {
        Signal::Run(f) => return f(None),
        Signal::Control(c) => *c,
        Signal::Message(_) | Signal::Time => return,
    };
    let me = Term::local_pid(pid);
    let noproc = || OwnedTerm::immediate(Term::atom(am::noproc));
    match c {
        Control::Link { from } => {
            let from_me = OwnedTerm::immediate(me);
            let exit = Control::Exit { from: from_me, linked: true, reason: noproc() };
            send_to_peer(from, pid, exit);
        }
        Control::Unlink { from, id } => {
            send_to_peer(from, pid, Control::UnlinkAck { from: me, id })
        }
        Control::Monitor { from, id, .. } => {
            deliver(from, Control::Down { id, reason: noproc() });
        }
        _ => {}
    }
}

/// A signal from a process to another, or to a port.
pub fn send_to_peer(to: Term<'static>, from: u32, c: Control) {
    if let Some(pid) = to.as_local_pid() {
        deliver(pid, c);
    } else if let Some(port) = to.as_local_port() {
        let h = &crate::hooks::hooks().port;
        match c {
            Control::Link { .. } => {
                (h.link)(port, from);
            }
            Control::Unlink { .. } => (h.unlink)(port, from),
            Control::Exit { linked, reason, .. } => (h.exit)(port, from, linked, &reason),
            Control::Demonitor { id } => (h.demonitor)(port, id),
            _ => {}
        }
    }
}

/// A message built on the spot.
pub fn message(build: impl for<'h> FnOnce(&'h Heap) -> Term<'h>) -> OwnedTerm {
    let heap = Heap::detached();
    OwnedTerm::new(build(&heap))
}
/// Sends a message built on the spot.
pub fn post(pid: u32, build: impl for<'h> FnOnce(&'h Heap) -> Term<'h>) -> bool {
    deliver(pid, Signal::Message(message(build)))
}
