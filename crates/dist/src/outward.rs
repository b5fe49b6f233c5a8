//! From processes of this node to those of others.

use kvik_heap::{Heap, OwnedTerm};
use kvik_proc::remote::{Outward, Told};
use kvik_proc::send::{Sent, Way};
use kvik_proc::{node as this, seq, Proc, RefId, RemotePid};
use kvik_term::{Atom, Pid, Ref, Term, View};

use crate::connect::{self, Refused, ANSWER, CONTROL};
use crate::node::{self, State};
use crate::signal::{Flags, Kind, Outgoing};
use crate::teller::{send_demonitor_by, send_ended, tell_monitor, Teller};
use crate::{spawn, watchers};

/// Bytes that are written in the time of a call.
const BYTES_A_REDUCTION: usize = 256;

/// Where a message goes, and what its operation names.
fn destination(to: Term<'_>) -> Option<(Atom, Kind, Term<'_>)> {
    Some(match to.view() {
        View::Pid(Pid::External(e)) => (e.node(), Kind::Send, to),
        View::Ref(Ref::External(e)) => (e.node(), Kind::SendAlias, to),
        _ => {
            let [name, at] = to.as_tuple_n()?;
            name.as_atom()?;
            (at.as_atom()?, Kind::SendName, name)
        }
    })
}

pub fn send(p: &Proc, to: Term<'_>, m: Term<'_>, way: Way) -> Sent {
    let Some((name, kind, to_part)) = destination(to) else { return Sent::BadArg };
    // Of this node, but from before it was started, nobody is left.
    if name == this::name() {
        return Sent::Ok;
    }
    if !this::is_alive() {
        return if way.may_connect { Sent::Ok } else { Sent::NoConnection };
    }
    let node = node::of(name);
    let token = seq::on().then(|| p.seq_send(to, m)).filter(|t| !t.term().is_nil());
    let token = token.as_ref().map(OwnedTerm::term);
    let parts = [p.self_pid(), to_part];
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
        Err(Refused::Busy) => Sent::Busy,
        Err(Refused::NoConnection) if way.may_connect => Sent::Ok,
        Err(Refused::NoConnection) => Sent::NoConnection,
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
    let o = Outgoing { kind: Kind::Down, parts: &parts, payload, token: None };
    connect::send(&w.node, &o, ANSWER, None, |_| ()).is_ok()
}

/// The node of a pid or `{Name, Node}`, and what a monitor's operation says of it.
fn watched(t: Term<'_>) -> Option<(Atom, Term<'_>)> {
    let (name, _, part) = destination(t).filter(|d| d.1 != Kind::SendAlias)?;
    (name != this::name() && this::is_alive()).then_some((name, part))
}

fn done(is: bool) -> Told {
    if is {
        Told::Done
    } else {
        Told::Unreachable
    }
}

pub fn tell(from: u32, what: Outward<'_>, waits: bool) -> Told {
    let teller = Teller { pid: from, waits };
    match what {
        Outward::Link(r) => teller.to_process(r, None, (Kind::Link, CONTROL), |s| {
            s.links.insert((from, r));
        }),
        Outward::Unlink(r, id) => unlink(teller, r, id),
        Outward::UnlinkAck(r, id) => {
            teller.to_process(r, Some(id), (Kind::UnlinkAck, ANSWER), |_| ())
        }
        Outward::Forget(r) => {
            let node = node::known(r.node());
            done(node.is_some_and(|node| node.lock().links.remove(&(from, r))))
        }
        Outward::Ended(r, reason, token) => done(ended(from, r, reason, token)),
        Outward::Exit(to, reason) => exit(teller, to, reason),
        Outward::Monitor(id, t) => monitor(teller, id, t),
        Outward::Demonitor(id, t) => demonitor(teller, id, t),
        Outward::Down(id, reason) => done(tell_watcher(id, reason)),
        Outward::GroupLeader(leader, member) => group_leader(teller, leader, member),
        Outward::SpawnerEnded(id, reason) => done(spawn::spawner_ended(from, id, reason)),
    }
}
/// What was linked while a connection is being made is unlinked behind that. Who knows no answers to
/// that sends none: the link is gone at once then.
fn unlink(teller: Teller, r: RemotePid, id: u64) -> Told {
    let told = teller.to_process(r, Some(id), (Kind::Unlink, CONTROL), |_| ());
    let Some(node) = node::known(r.node()) else { return told };
    let mut s = node.lock();
    if s.phase == node::Phase::Up && !s.flags.has(Flags::UNLINK_ID) {
        s.links.remove(&(teller.pid, r));
        return Told::Unreachable;
    }
    told
}

fn ended(from: u32, r: RemotePid, reason: &OwnedTerm, token: Option<&OwnedTerm>) -> bool {
    let Some(node) = node::known(r.node()) else { return false };
    let linked = node.lock().links.remove(&(from, r));
    linked && send_ended(&node, from, r, reason.term(), token.map(OwnedTerm::term))
}
fn exit(teller: Teller, to: Term<'_>, reason: Term<'_>) -> Told {
    let Some((name, part)) = watched(to) else { return Told::Unreachable };
    let parts = [Term::local_pid(teller.pid), part];
    let o = Outgoing { kind: Kind::Exit, parts: &parts, payload: Some(reason), token: None };
    teller.send(&node::of(name), &o, CONTROL, |_| ())
}
fn monitor(teller: Teller, id: RefId, t: Term<'_>) -> Told {
    let Some((name, part)) = watched(t) else { return Told::Unreachable };
    let h = Heap::detached();
    let parts = [Term::local_pid(teller.pid), part, id.term(&h)];
    let o = Outgoing { kind: Kind::Monitor, parts: &parts, payload: None, token: None };
    let record = |s: &mut State| {
        s.monitors.insert(id, teller.pid);
    };
    teller.send(&node::of(name), &o, CONTROL, record)
}
fn demonitor(teller: Teller, id: RefId, t: Term<'_>) -> Told {
    let Some((name, part)) = watched(t) else { return Told::Unreachable };
    let node = node::of(name);
    let there = node.lock().monitors.remove(&id).is_some();
    match there {
        true => send_demonitor_by(teller, &node, id, part),
        false => Told::Unreachable,
    }
}
fn group_leader(teller: Teller, leader: Term<'_>, member: Term<'_>) -> Told {
    let Some((name, part)) = watched(member) else { return Told::Unreachable };
    let parts = [leader, part];
    let o = Outgoing { kind: Kind::GroupLeader, parts: &parts, payload: None, token: None };
    teller.send(&node::of(name), &o, CONTROL, |_| ())
}
