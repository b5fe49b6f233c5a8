//! The send path: signals from processes of this node to those of others.

use kvik_heap::{Heap, OwnedTerm};
use kvik_proc::remote::{RemoteSignal, SignalDelivery};
use kvik_proc::send::{SendOptions, Sent};
use kvik_proc::{node as this, seq_trace, Proc, RefId, RemotePid};
use kvik_term::{Atom, PidTerm, Ref, Term, View};

use crate::connect::{self, ConnectError, ANSWER, CONTROL};
use crate::node::{self, NodeState};
use crate::sender::{send_demonitor_by, send_ended, tell_monitor, Sender};
use crate::signal::{DistFlags, Outgoing, SignalKind};
use crate::{spawn, watchers};

/// Bytes encoded per reduction.
const BYTES_A_REDUCTION: usize = 256;

/// Node, signal kind and destination term of a message.
fn destination(to: Term<'_>) -> Option<(Atom, SignalKind, Term<'_>)> {
    Some(match to.view() {
        View::Pid(PidTerm::External(e)) => (e.node(), SignalKind::Send, to),
        View::Ref(Ref::External(e)) => (e.node(), SignalKind::SendAlias, to),
        _ => {
            let [name, at] = to.as_tuple_n()?;
            name.as_atom()?;
            (at.as_atom()?, SignalKind::SendName, name)
        }
    })
}

pub fn send(p: &Proc, to: Term<'_>, m: Term<'_>, way: SendOptions) -> Sent {
    let Some((name, kind, to_part)) = destination(to) else { return Sent::BadArg };
    // No process from an earlier start of this node exists.
    if name == this::name() {
        return Sent::Ok;
    }
    if !this::is_alive() {
        return if way.may_connect { Sent::Ok } else { Sent::NoConnection };
    }
    let node = node::of(name);
    let token = seq_trace::on().then(|| p.seq_send(to, m)).filter(|t| !t.term().is_nil());
    let token = token.as_ref().map(OwnedTerm::term);
    let parts = [p.self_pid(), to_part];
    let kind = if way.priority { SignalKind::SendPriority } else { kind };
    let o = Outgoing { kind, parts: &parts, payload: Some(m), token };
    let sender = way.may_wait.then_some(p.pid());
    let sent = connect::send(&node, &o, way, sender, |_| ());
    if let Ok(gone) = sent {
        p.heap.bump_reductions((1 + gone.bytes / BYTES_A_REDUCTION) as i64);
    }
    match sent {
        Ok(gone) if gone.wait => {
            tell_monitor(&node, p.pid());
            p.wait_for_connection();
            Sent::Ok
        }
        Ok(_) => Sent::Ok,
        Err(ConnectError::Busy) => Sent::Busy,
        Err(ConnectError::NoConnection) if way.may_connect => Sent::Ok,
        Err(ConnectError::NoConnection) => Sent::NoConnection,
    }
}

fn tell_watcher(id: RefId, reason: &OwnedTerm) -> bool {
    let Some(w) = watchers::take(id) else { return false };
    if let Some(mut s) = w.node.lock_up(w.id) {
        s.watched.remove(&w.key);
    }
    let watcher = w.watcher.owned();
    let parts = [w.watched, watcher.term(), w.reference.term()];
    let payload = Some(reason.term());
    let o = Outgoing { kind: SignalKind::Down, parts: &parts, payload, token: None };
    connect::send(&w.node, &o, ANSWER, None, |_| ()).is_ok()
}

/// The node of a pid or `{Name, RemoteNode}`, and the term that names it in a monitor signal.
fn watched(t: Term<'_>) -> Option<(Atom, Term<'_>)> {
    let (name, _, part) = destination(t).filter(|d| d.1 != SignalKind::SendAlias)?;
    (name != this::name() && this::is_alive()).then_some((name, part))
}

fn done(is: bool) -> SignalDelivery {
    if is {
        SignalDelivery::Done
    } else {
        SignalDelivery::Unreachable
    }
}

pub fn tell(from: u32, what: RemoteSignal<'_>, waits: bool) -> SignalDelivery {
    let sender = Sender { pid: from, waits };
    match what {
        RemoteSignal::Link(r) => sender.to_process(r, None, (SignalKind::Link, CONTROL), |s| {
            s.links.insert((from, r));
        }),
        RemoteSignal::Unlink(r, id) => unlink(sender, r, id),
        RemoteSignal::UnlinkAck(r, id) => {
            sender.to_process(r, Some(id), (SignalKind::UnlinkAck, ANSWER), |_| ())
        }
        RemoteSignal::Forget(r) => {
            let node = node::known(r.node());
            done(node.is_some_and(|node| node.lock().links.remove(&(from, r))))
        }
        RemoteSignal::Ended(r, reason, token) => done(ended(from, r, reason, token)),
        RemoteSignal::Exit(to, reason, priority) => exit(sender, to, reason, priority),
        RemoteSignal::Monitor(id, t) => monitor(sender, id, t),
        RemoteSignal::Demonitor(id, t) => demonitor(sender, id, t),
        RemoteSignal::Down(id, reason) => done(tell_watcher(id, reason)),
        RemoteSignal::GroupLeader(leader, member) => group_leader(sender, leader, member),
        RemoteSignal::SpawnerEnded(id, reason) => done(spawn::spawner_ended(from, id, reason)),
    }
}
/// While a connection is pending, the unlink is held behind the link signal. A node without
/// `UNLINK_ID` sends no acknowledgement, so the link is removed at once.
fn unlink(sender: Sender, r: RemotePid, id: u64) -> SignalDelivery {
    let told = sender.to_process(r, Some(id), (SignalKind::Unlink, CONTROL), |_| ());
    let Some(node) = node::known(r.node()) else { return told };
    let mut s = node.lock();
    if s.phase == node::Phase::Up && !s.flags.has(DistFlags::UNLINK_ID) {
        s.links.remove(&(sender.pid, r));
        return SignalDelivery::Unreachable;
    }
    told
}

fn ended(from: u32, r: RemotePid, reason: &OwnedTerm, token: Option<&OwnedTerm>) -> bool {
    let Some(node) = node::known(r.node()) else { return false };
    let linked = node.lock().links.remove(&(from, r));
    linked && send_ended(&node, from, r, reason.term(), token.map(OwnedTerm::term))
}
fn exit(sender: Sender, to: Term<'_>, reason: Term<'_>, priority: bool) -> SignalDelivery {
    let there = |name: &Atom| *name != this::name() && this::is_alive();
    let Some((name, kind, part)) = destination(to).filter(|d| there(&d.0)) else {
        return SignalDelivery::Unreachable;
    };
    let kind = match (kind, priority) {
        (_, true) => SignalKind::ExitPriority,
        (SignalKind::SendAlias, false) => SignalKind::ExitAlias,
        (_, false) => SignalKind::Exit,
    };
    let parts = [Term::local_pid(sender.pid), part];
    let o = Outgoing { kind, parts: &parts, payload: Some(reason), token: None };
    sender.send(&node::of(name), &o, CONTROL, |_| ())
}
fn monitor(sender: Sender, id: RefId, t: Term<'_>) -> SignalDelivery {
    let Some((name, part)) = watched(t) else { return SignalDelivery::Unreachable };
    let h = Heap::detached();
    let parts = [Term::local_pid(sender.pid), part, id.term(&h)];
    let o = Outgoing { kind: SignalKind::Monitor, parts: &parts, payload: None, token: None };
    let record = |s: &mut NodeState| {
        s.monitors.insert(id, sender.pid);
    };
    sender.send(&node::of(name), &o, CONTROL, record)
}
fn demonitor(sender: Sender, id: RefId, t: Term<'_>) -> SignalDelivery {
    let Some((name, part)) = watched(t) else { return SignalDelivery::Unreachable };
    let node = node::of(name);
    let there = node.lock().monitors.remove(&id).is_some();
    match there {
        true => send_demonitor_by(sender, &node, id, part),
        false => SignalDelivery::Unreachable,
    }
}
fn group_leader(sender: Sender, leader: Term<'_>, member: Term<'_>) -> SignalDelivery {
    let Some((name, part)) = watched(member) else { return SignalDelivery::Unreachable };
    let parts = [leader, part];
    let o = Outgoing { kind: SignalKind::GroupLeader, parts: &parts, payload: None, token: None };
    sender.send(&node::of(name), &o, CONTROL, |_| ())
}
