//! From processes of other nodes to those of this one. What cannot be read, or says what no node may
//! say, ends the connection.

use std::sync::Arc;

use kvik_etf::{tag, DecodeOpts};
use kvik_heap::roots::Root;
use kvik_heap::{Heap, OwnedTerm};
use kvik_proc::signal::{control, deliver, Control, Signal};
use kvik_proc::{node as this, registry, seq, Proc, RefId, RemotePid, ABROAD};
use kvik_term::{am, Pid, Ref, Term, View};

use crate::connect::{self, ANSWER};
use crate::node::{Node, RemoteRef};
use crate::outward::{self, Watch};
use crate::signal::{op, Kind, Outgoing, PASS_THROUGH};
use crate::spawn;

/// The connection a signal came by.
pub struct From<'a> {
    pub node: &'a Arc<Node>,
    pub id: u32,
}

/// A packet of a connection. False: it is no good.
pub fn packet(node: &Arc<Node>, id: u32, packet: &[u8]) -> bool {
    match node.lock_up(id) {
        Some(mut s) => s.received += 1,
        None => return true,
    }
    // An empty one only says that the other node is there.
    let Some((first, rest)) = packet.split_first() else { return true };
    *first == PASS_THROUGH && read(&From { node, id }, rest).is_some()
}

fn opts() -> DecodeOpts<'static> {
    DecodeOpts { abroad: true, ..DecodeOpts::default() }
}

/// Words that a term of so many bytes may take; more cost a copy.
fn words(bytes: usize) -> usize {
    bytes.min(512)
}
/// A term between nodes. Compressed ones no node sends: what they come to is bounded by nothing that
/// was sent.
fn decode<'h>(bytes: &[u8], h: &'h Heap) -> Option<(Term<'h>, usize)> {
    match bytes {
        [_, tag::COMPRESSED, ..] => None,
        _ => kvik_etf::decode(bytes, h, opts()).ok(),
    }
}
/// The message or reason behind a signal.
fn payload(bytes: &[u8]) -> Option<OwnedTerm> {
    let mut good = false;
    let t = OwnedTerm::build(words(bytes.len()), |h| match decode(bytes, h) {
        Some((t, _)) => {
            good = true;
            t
        }
        None => Term::NIL,
    });
    good.then_some(t)
}

fn read(from: &From<'_>, bytes: &[u8]) -> Option<()> {
    let h = Heap::detached();
    let (t, used) = decode(bytes, &h)?;
    let rest = bytes.get(used..)?;
    let (op, parts) = t.as_tuple()?.elements().split_first()?;
    let op = u8::try_from(op.as_small()?).ok()?;
    let token_at = match op {
        op::SEND_TT | op::SEND_SENDER_TT | op::ALIAS_SEND_TT => Some(2),
        op::EXIT_TT | op::EXIT2_TT | op::PAYLOAD_EXIT_TT | op::PAYLOAD_EXIT2_TT => Some(2),
        op::REG_SEND_TT => Some(3),
        op::SPAWN_REQUEST_TT => Some(5),
        op::SPAWN_REPLY_TT => Some(4),
        _ => None,
    };
    let mut parts = parts.to_vec();
    let token = match token_at {
        Some(i) if i < parts.len() => Some(OwnedTerm::new(parts.remove(i))),
        Some(_) => return None,
        None => None,
    };
    signal(from, op, &parts, token, rest)
}

fn signal(
    from: &From<'_>,
    op: u8,
    parts: &[Term<'_>],
    token: Option<OwnedTerm>,
    rest: &[u8],
) -> Option<()> {
    match (op, parts) {
        (op::SEND | op::SEND_TT | op::SEND_SENDER | op::SEND_SENDER_TT, [_, to]) => {
            to.as_pid()?;
            message(to.as_local_pid(), payload(rest)?, token);
        }
        (op::REG_SEND | op::REG_SEND_TT, [sender, _, to]) => {
            sender.as_pid()?;
            message(registry::whereis_process(to.as_atom()?), payload(rest)?, token);
        }
        (op::ALIAS_SEND | op::ALIAS_SEND_TT, [_, to]) => {
            alias_message(to.as_ref()?, payload(rest)?, token);
        }
        (op::LINK, [a, b]) => link(from, from.process(*a)?, *b)?,
        (op::UNLINK, [a, b]) => unlink(from, from.process(*a)?, *b, None)?,
        (op::UNLINK_ID, [id, a, b]) => {
            let id = id.as_u64().filter(|n| *n != 0)?;
            unlink(from, from.process(*a)?, *b, Some(id))?
        }
        (op::UNLINK_ID_ACK, [id, a, b]) => {
            unlink_answered(from, id.as_u64()?, from.process(*a)?, *b)?
        }
        (op::EXIT | op::EXIT_TT, [a, b, reason]) => {
            ended(from, from.process(*a)?, *b, OwnedTerm::new(*reason), token)?
        }
        (op::PAYLOAD_EXIT | op::PAYLOAD_EXIT_TT, [a, b]) => {
            ended(from, from.process(*a)?, *b, payload(rest)?, token)?
        }
        (op::EXIT2 | op::EXIT2_TT, [a, b, reason]) => {
            exit(from.process(*a)?, *b, OwnedTerm::new(*reason), token)?
        }
        (op::PAYLOAD_EXIT2 | op::PAYLOAD_EXIT2_TT, [a, b]) => {
            exit(from.process(*a)?, *b, payload(rest)?, token)?
        }
        (op::MONITOR, [watcher, watched, r]) => {
            monitor(from, from.process(*watcher)?, *watched, *r)?
        }
        (op::DEMONITOR, [watcher, _, r]) => {
            from.process(*watcher)?;
            demonitor(from, *r)?
        }
        (op::MONITOR_EXIT, [watched, watcher, r, reason]) => {
            down(from, *watched, *watcher, *r, OwnedTerm::new(*reason))?
        }
        (op::PAYLOAD_MONITOR_EXIT, [watched, watcher, r]) => {
            down(from, *watched, *watcher, *r, payload(rest)?)?
        }
        (op::GROUP_LEADER, [leader, member]) => group_leader(*leader, *member)?,
        (op::SPAWN_REQUEST | op::SPAWN_REQUEST_TT, [r, parent, leader, call, options]) => {
            let request = spawn::Request {
                key: from.reference(*r)?,
                reference: *r,
                parent: from.process(*parent)?,
                leader: *leader,
                call: *call,
                options: *options,
                token: token.filter(is_token),
            };
            request.run(from, payload(rest)?)?
        }
        (op::SPAWN_REPLY | op::SPAWN_REPLY_TT, [r, parent, flags, result]) => {
            let flags = flags.as_small().filter(|n| (0..1 << 27).contains(n))?;
            let token = token.filter(is_token).unwrap_or_default();
            spawn_reply(from, *r, *parent, (flags, *result), token)?
        }
        _ => return None,
    }
    Some(())
}

impl From<'_> {
    /// A process of the node the signal came from.
    fn process(&self, t: Term<'_>) -> Option<RemotePid> {
        RemotePid::of(t).filter(|r| r.node() == self.node.name)
    }
    /// A reference of that node.
    fn reference(&self, t: Term<'_>) -> Option<RemoteRef> {
        match t.as_ref()? {
            Ref::External(e) if e.node() == self.node.name => Some((e.creation(), e.ref_numbers())),
            _ => None,
        }
    }
}

/// A process of this node: its number, or nothing for one from before the node was started. `None`
/// where it is none of ours.
fn own(t: Term<'_>) -> Option<Option<u32>> {
    match t.view() {
        View::Pid(Pid::Local(n)) => Some(Some(n)),
        View::Pid(Pid::External(_)) if this::is_own(t) => Some(None),
        _ => None,
    }
}
/// The same for a reference.
fn own_ref(t: Term<'_>) -> Option<Option<RefId>> {
    match t.as_ref()? {
        Ref::Local(r) => Some(Some(RefId::of(r))),
        Ref::External(e) if e.node() == this::name() => Some(None),
        Ref::External(_) => None,
    }
}

fn message(to: Option<u32>, m: OwnedTerm, token: Option<OwnedTerm>) {
    let Some(pid) = to else { return };
    match token.filter(is_token) {
        None if !seq::on() => deliver(pid, Signal::Message(m)),
        token => {
            let put = |p: Option<&Proc>| {
                if let Some(p) = p {
                    p.put_with_token(m, token.unwrap_or_default())
                }
            };
            deliver(pid, Signal::Run(Box::new(put)))
        }
    };
}
fn is_token(t: &OwnedTerm) -> bool {
    t.term().as_tuple_n::<5>().is_some()
}
fn alias_message(to: Ref<'_>, m: OwnedTerm, token: Option<OwnedTerm>) {
    let Ref::Local(r) = to else { return };
    let (Some(pid), id) = (r.alias_pid(), RefId::of(r)) else { return };
    if token.is_none() && !seq::on() {
        control(pid, Control::AliasMessage { id, message: m });
        return;
    }
    let token = token.filter(is_token).unwrap_or_default();
    let put = move |p: Option<&Proc>| {
        if let Some(p) = p.filter(|p| p.uses_alias(id)) {
            p.put_with_token(m, token)
        }
    };
    deliver(pid, Signal::Run(Box::new(put)));
}

fn link(from: &From<'_>, r: RemotePid, to: Term<'_>) -> Option<()> {
    let Some(pid) = own(to)? else {
        // From before the node was started: nobody can say who that was.
        return Some(());
    };
    let (node, conn) = (from.node.clone(), from.id);
    // In the process's order of things, as what unlinks them is.
    let linked = move |p: Option<&Proc>| match (p, node.lock_up(conn)) {
        (Some(p), Some(mut s)) => {
            s.links.insert((pid, r));
            p.remote_has_linked(r)
        }
        (Some(p), None) => {
            p.remote_has_linked(r);
            connect::lose_link(pid, r)
        }
        (None, up) => {
            drop(up);
            outward::send_ended(&node, pid, r, am::noproc.into(), None);
        }
    };
    deliver(pid, Signal::Run(Box::new(linked)));
    Some(())
}
fn unlink(from: &From<'_>, r: RemotePid, to: Term<'_>, id: Option<u64>) -> Option<()> {
    let Some(pid) = own(to)? else { return Some(()) };
    let node = from.node.clone();
    let unlinked = move |p: Option<&Proc>| {
        p.into_iter().for_each(|p| p.remote_has_unlinked(r));
        // An unlinking of our own is still to be answered.
        let still = p.is_some_and(|p| p.has_remote_link(r));
        if !still {
            node.lock().links.remove(&(pid, r));
        }
        if let Some(id) = id {
            kvik_proc::remote::tell(pid, kvik_proc::remote::Outward::UnlinkAck(r, id));
        }
    };
    deliver(pid, Signal::Run(Box::new(unlinked)));
    Some(())
}
fn unlink_answered(from: &From<'_>, id: u64, r: RemotePid, to: Term<'_>) -> Option<()> {
    let Some(pid) = own(to)? else { return Some(()) };
    let node = from.node.clone();
    let answered = move |p: Option<&Proc>| {
        if p.is_none_or(|p| p.remote_unlink_answered(r, id)) {
            node.lock().links.remove(&(pid, r));
        }
    };
    deliver(pid, Signal::Run(Box::new(answered)));
    Some(())
}
fn ended(
    from: &From<'_>,
    r: RemotePid,
    to: Term<'_>,
    reason: OwnedTerm,
    token: Option<OwnedTerm>,
) -> Option<()> {
    let Some(pid) = own(to)? else { return Some(()) };
    from.node.lock_up(from.id)?.links.remove(&(pid, r));
    let token = token.filter(is_token).map(Box::new);
    let forget = move |p: Option<&Proc>| p.into_iter().for_each(|p| p.forget_unlinking(r));
    control(pid, Control::Exit { from: r.owned(), linked: true, reason, token });
    // It will not answer any more.
    deliver(pid, Signal::Run(Box::new(forget)));
    Some(())
}
fn exit(r: RemotePid, to: Term<'_>, reason: OwnedTerm, token: Option<OwnedTerm>) -> Option<()> {
    let Some(pid) = own(to)? else { return Some(()) };
    let token = token.filter(is_token).map(Box::new);
    control(pid, Control::Exit { from: r.owned(), linked: false, reason, token });
    Some(())
}

fn monitor(from: &From<'_>, watcher: RemotePid, watched: Term<'_>, r: Term<'_>) -> Option<()> {
    let key = from.reference(r)?;
    let name = watched.as_atom();
    let (pid, shown) = match name {
        Some(n) => (registry::whereis_process(n), Term::atom(n)),
        None => {
            let pid = own(watched)?;
            (pid, pid.map_or(Term::NIL, Term::local_pid))
        }
    };
    let Some(pid) = pid else {
        let watcher = watcher.owned();
        let parts = [watched, watcher.term(), r];
        let payload = Some(am::noproc.into());
        let o = Outgoing { kind: Kind::Down, parts: &parts, payload, token: None };
        let _ = connect::send(from.node, &o, ANSWER, None, |_| ());
        return Some(());
    };
    let w = Watch { watcher, key, reference: r, watched: shown, pid };
    if let Some(id) = outward::add_watcher(from.node, from.id, w) {
        control(pid, Control::Monitor { from: ABROAD, id, name });
    }
    Some(())
}
fn demonitor(from: &From<'_>, r: Term<'_>) -> Option<()> {
    let key = from.reference(r)?;
    let id = from.node.lock_up(from.id)?.watched.remove(&key);
    id.into_iter().for_each(outward::forget_watcher);
    Some(())
}
fn down(
    from: &From<'_>,
    watched: Term<'_>,
    watcher: Term<'_>,
    r: Term<'_>,
    reason: OwnedTerm,
) -> Option<()> {
    let named = watched.as_atom().is_some();
    (named || RemotePid::of(watched).is_some()).then_some(())?;
    let (Some(pid), Some(id)) = (own(watcher)?, own_ref(r)?) else { return Some(()) };
    // Only of who is watched there.
    if from.node.lock_up(from.id)?.monitors.remove(&id) == Some(pid) {
        control(pid, Control::Down { id, reason });
    }
    Some(())
}
fn group_leader(leader: Term<'_>, member: Term<'_>) -> Option<()> {
    leader.as_pid()?;
    let Some(pid) = own(member)? else { return Some(()) };
    let leader = OwnedTerm::new(leader);
    let lead = move |p: Option<&Proc>| {
        if let Some(p) = p {
            p.heap.set_root(Root::GroupLeader, p.heap.copy(leader.term()));
        }
    };
    deliver(pid, Signal::Run(Box::new(lead)));
    Some(())
}
fn spawn_reply(
    from: &From<'_>,
    r: Term<'_>,
    parent: Term<'_>,
    (flags, result): (i64, Term<'_>),
    token: OwnedTerm,
) -> Option<()> {
    let result = match result.as_atom() {
        Some(error) => Err(error),
        None => Ok(from.process(result)?),
    };
    let (Some(pid), Some(id)) = (own(parent)?, own_ref(r)?) else { return Some(()) };
    spawn::replied(from, id, pid, spawn::Answer { flags: flags as u64, result, token });
    Some(())
}
