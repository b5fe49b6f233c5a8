//! Routes every signal into a connection, which is requested if there is none, and ends
//! connections. `carrier.rs` establishes them.

use std::sync::Arc;

use kvik_heap::build::{next_ref_of, RefKind};
use kvik_heap::OwnedTerm;
use kvik_proc::send::SendOptions;
use kvik_proc::signal::{control, deliver, post, Control, Signal};
use kvik_proc::signal_handlers::resume;
use kvik_proc::{node as this, registry, Proc, RemotePid};
use kvik_term::{am, Atom, Term};

use crate::fragments::OutgoingSignal as Encoded;
use crate::node::{noconnection, Controller, NodeState, Phase, RemoteNode};
use crate::packet::FRAGMENT_BYTES;
use crate::signal::{HeldSignal, Outgoing};
use crate::{node_events, spawn_request, watchers};

/// Why a signal was not sent.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum ConnectError {
    NoConnection,
    Busy,
}

/// The connection that a signal came by.
pub struct From<'a> {
    pub node: &'a Arc<RemoteNode>,
    pub id: u32,
}

/// A signal that was accepted for sending.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Gone {
    /// The sender must suspend; it is resumed later.
    pub wait: bool,
    /// Bytes written.
    pub bytes: usize,
}

/// Options of signals that are not messages: they are sent even if the connection is busy.
pub const CONTROL: SendOptions = SendOptions::ANY;
/// Options of replies: without a connection the reply is not needed.
pub const ANSWER: SendOptions = SendOptions { may_connect: false, ..SendOptions::ANY };

/// Sends a signal. `record` runs under the same lock and notes what to undo when the connection is
/// lost. Only a sender given as `Some` is suspended.
pub fn send(
    node: &Arc<RemoteNode>,
    o: &Outgoing<'_, '_>,
    way: SendOptions,
    sender: Option<u32>,
    record: impl FnOnce(&mut NodeState),
) -> Result<Gone, ConnectError> {
    if !way.may_wait && is_busy(node) {
        return Err(ConnectError::Busy);
    }
    let (flags, id) = {
        let s = node.lock();
        match s.phase {
            Phase::Up => (s.flags, s.id),
            _ => {
                drop(s);
                let full = attach(node, way, |s| {
                    record(s);
                    let held = HeldSignal::new(o);
                    let bytes = held.bytes();
                    s.hold(held);
                    Gone { wait: s.suspend(sender), bytes }
                });
                return full;
            }
        }
    };
    let signal = o.encode(flags);
    let bytes = match &signal {
        Some(Encoded::Packet(p)) => p.len(),
        Some(Encoded::Large(_)) => FRAGMENT_BYTES,
        None => 0,
    };
    let mut resumed = Vec::new();
    let wait = {
        let mut s = node.lock_up(id).ok_or(ConnectError::NoConnection)?;
        record(&mut s);
        if let Some(signal) = signal {
            s.push(o.sender(), signal, &mut resumed);
        }
        s.suspend(sender)
    };
    resumed.into_iter().for_each(|pid| resume(pid, pid));
    node.kick();
    Ok(Gone { wait, bytes })
}

/// Whether a sender would have to wait. Fragments are encoded as far as there is room: in OTP the
/// senders of large messages, once resumed, refill what the carrier has drained.
fn is_busy(node: &RemoteNode) -> bool {
    let mut resumed = Vec::new();
    let busy = {
        let mut s = node.lock();
        if s.phase == Phase::Up {
            s.encode_fragments(usize::MAX, &mut resumed);
        }
        s.phase != Phase::Idle && s.busy
    };
    resumed.into_iter().for_each(|pid| resume(pid, pid));
    busy
}

/// Runs `record` on a node's state, requesting a connection if there is none.
pub fn attach<R>(
    node: &Arc<RemoteNode>,
    way: SendOptions,
    record: impl FnOnce(&mut NodeState) -> R,
) -> Result<R, ConnectError> {
    if !this::is_alive() || node.name == this::name() {
        return Err(ConnectError::NoConnection);
    }
    let mut s = node.lock();
    if s.phase == Phase::Idle && !way.may_connect {
        return Err(ConnectError::NoConnection);
    }
    let asks = s.phase == Phase::Idle;
    if asks {
        s.begin();
    }
    let r = record(&mut s);
    let id = s.id;
    drop(s);
    if asks && !ask_kernel(node, id) {
        down(node, id, None);
    }
    Ok(r)
}

impl NodeState {
    /// Registers a sender to be resumed, if it has to wait. The resume may arrive before the sender
    /// suspends itself; the sender handles both in order.
    fn suspend(&mut self, sender: Option<u32>) -> bool {
        let Some(pid) = sender else { return false };
        if self.large.wait(pid) {
            return true;
        }
        self.suspended.extend(self.busy.then_some(pid));
        self.busy
    }
    /// Marks a connection as pending.
    pub fn begin(&mut self) {
        self.phase = Phase::Pending;
        self.id = self.id.wrapping_add(1) & 0xFF_FFFF;
        self.handle = next_ref_of(RefKind::Magic);
        (self.sent, self.received) = (0, 0);
    }
}

/// `{auto_connect, RemoteNode, Handle}`
fn ask_kernel(node: &Arc<RemoteNode>, id: u32) -> bool {
    let Some(kernel) = registry::whereis_process(am::net_kernel) else { return false };
    post(kernel, |h| {
        let s = node.lock();
        debug_assert!(s.id == id || s.phase != Phase::Pending);
        h.tuple(&[am::auto_connect.into(), node.name.into(), s.handle(h, node)])
    })
}

/// Handles a connection that was lost, or (without a reason) could not be made: notifies all
/// processes with links, monitors or requests there. False: there is no such connection.
pub fn down(node: &Arc<RemoteNode>, id: u32, reason: Option<Term<'_>>) -> bool {
    let mut lost = {
        let mut s = node.lock();
        if s.phase == Phase::Idle || s.id != id {
            return false;
        }
        let fresh =
            NodeState { id, handle: s.handle, creation: s.creation, ..NodeState::default() };
        std::mem::replace(&mut *s, fresh)
    };
    for pid in lost.suspended.drain(..).chain(lost.large.waiting()) {
        resume(pid, pid);
    }
    for (pid, r) in std::mem::take(&mut lost.links) {
        lose_link(pid, r);
    }
    for (id, pid) in std::mem::take(&mut lost.monitors) {
        control(pid, Control::Down { id, reason: noconnection() });
    }
    for id in std::mem::take(&mut lost.watched).into_values() {
        watchers::forget_watcher(id);
    }
    spawn_request::failed(std::mem::take(&mut lost.spawns), am::noconnection);
    for (pid, n) in std::mem::take(&mut lost.node_monitors) {
        for _ in 0..n {
            post(pid, |h| h.tuple(&[am::nodedown.into(), node.name.into()]));
        }
    }
    if lost.phase == Phase::Up {
        let reason = reason.map(|r| match r.as_atom() {
            Some(am::normal) => OwnedTerm::immediate(am::connection_closed.into()),
            _ => OwnedTerm::new(r),
        });
        let published = lost.flags.published();
        node_events::tell_all(am::nodedown, node.name, Some(id), published, reason.as_ref());
    }
    true
}

/// Ends a connection by ending its port or process.
pub fn kill(c: Controller, reason: Atom) {
    let exit = OwnedTerm::immediate(reason.into());
    match c {
        Controller::Port(n) => {
            if let Some(p) = kvik_port::table::get(n) {
                p.fail(kvik_port::driver::Exit::Reason(reason));
            }
        }
        Controller::Process(pid) => {
            let from = OwnedTerm::immediate(Term::local_pid(pid));
            control(pid, Control::Exit { from, linked: false, reason: exit, token: None });
        }
    }
}

/// Tells a linked process that the other end is unreachable.
pub fn lose_link(pid: u32, r: RemotePid) {
    let forget = move |p: Option<&Proc>| p.into_iter().for_each(|p| p.forget_unlinking(r));
    deliver(pid, Signal::Run(Box::new(forget)));
    let from = r.owned();
    control(pid, Control::Exit { from, linked: true, reason: noconnection(), token: None });
}
