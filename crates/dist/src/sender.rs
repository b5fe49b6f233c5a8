//! Link and monitor signals from a local process to a remote one.

use std::sync::Arc;

use kvik_heap::Heap;
use kvik_proc::remote::SignalDelivery;
use kvik_proc::send::SendOptions;
use kvik_proc::{node as this, sysmon, RefId, RemotePid};
use kvik_term::Term;

use crate::connect::{self, ANSWER};
use crate::node::{self, NodeState, RemoteNode};
use crate::signal::{Outgoing, SignalKind};

/// The process that sends a signal.
#[derive(Copy, Clone)]
pub struct Sender {
    pub pid: u32,
    /// May be suspended until the connection is no longer busy.
    pub waits: bool,
}
impl Sender {
    pub fn send(
        self,
        node: &Arc<RemoteNode>,
        o: &Outgoing<'_, '_>,
        way: SendOptions,
        record: impl FnOnce(&mut NodeState),
    ) -> SignalDelivery {
        match connect::send(node, o, way, self.waits.then_some(self.pid), record) {
            Ok(gone) if gone.wait => {
                tell_monitor(node, self.pid);
                SignalDelivery::Wait
            }
            Ok(_) => SignalDelivery::Done,
            Err(_) => SignalDelivery::Unreachable,
        }
    }
    /// Sends a signal to a remote process.
    pub fn to_process(
        self,
        r: RemotePid,
        number: Option<u64>,
        (kind, way): (SignalKind, SendOptions),
        record: impl FnOnce(&mut NodeState),
    ) -> SignalDelivery {
        if !this::is_alive() || r.node() == this::name() {
            return SignalDelivery::Unreachable;
        }
        let h = Heap::detached();
        let mut parts = vec![Term::local_pid(self.pid), r.term(&h)];
        if let Some(n) = number {
            parts.insert(0, h.unsigned(n));
        }
        let o = Outgoing { kind, parts: &parts, payload: None, token: None };
        self.send(&node::of(r.node()), &o, way, record)
    }
}
/// Reports a process that waits for a connection to `system_monitor`.
pub fn tell_monitor(node: &RemoteNode, pid: u32) {
    let controller = node.lock().controller;
    if let Some(c) = controller {
        sysmon::busy_dist_port(pid, c.term());
    }
}
/// Sends the exit signal of a linked process.
pub fn send_ended(
    node: &Arc<RemoteNode>,
    from: u32,
    to: RemotePid,
    reason: Term<'_>,
    token: Option<Term<'_>>,
) -> bool {
    let to = to.owned();
    let parts = [Term::local_pid(from), to.term()];
    let o = Outgoing { kind: SignalKind::Ended, parts: &parts, payload: Some(reason), token };
    connect::send(node, &o, ANSWER, None, |_| ()).is_ok()
}
pub fn send_demonitor_by(
    sender: Sender,
    node: &Arc<RemoteNode>,
    id: RefId,
    part: Term<'_>,
) -> SignalDelivery {
    let h = Heap::detached();
    let parts = [Term::local_pid(sender.pid), part, id.term(&h)];
    let o = Outgoing { kind: SignalKind::Demonitor, parts: &parts, payload: None, token: None };
    sender.send(node, &o, ANSWER, |_| ())
}
/// Sends a demonitor because the watching process has ended.
pub fn send_demonitor(node: &Arc<RemoteNode>, from: u32, id: RefId, part: Term<'_>) {
    send_demonitor_by(Sender { pid: from, waits: false }, node, id, part);
}
