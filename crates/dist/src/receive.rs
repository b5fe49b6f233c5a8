//! The receive path: signals from processes of other nodes to those of this one. Signals that
//! cannot be decoded or are illegal are logged and end the connection.

use std::sync::Arc;

use kvik_etf::tag;
use kvik_heap::roots::Root;
use kvik_heap::{Heap, OwnedTerm};
use kvik_proc::process::is_alive;
use kvik_proc::signal::{control, deliver, deliver_from, Control, Signal};
use kvik_proc::{node as this, registry, seq_trace, Proc, RefId, RemotePid, ABROAD};
use kvik_term::{am, Atom, PidTerm, Ref, Term, View};

use crate::connect::{self, From, ANSWER};
use crate::encoded::{Behind, Encoded, SentReason};
use crate::fragments::Whole;
use crate::node::{RemoteNode, RemoteRef};
use crate::packet::{FIRST_FRAGMENT, HEADER, NEXT_FRAGMENT};
use crate::rejected;
use crate::sender::send_ended;
use crate::signal::{altact, op, DistFlags, Outgoing, SignalKind};
use crate::spawn;
use crate::watchers::{add_watcher, forget_watcher, RemoteMonitor};

/// Handles a packet of a connection. False: it is invalid, and the connection ends.
pub fn packet(node: &Arc<RemoteNode>, id: u32, packet: &[u8]) -> bool {
    let flags = match node.lock_up(id) {
        Some(mut s) => {
            s.received += 1;
            s.flags
        }
        None => return true,
    };
    let from = From { node, id };
    // Without headers, a byte comes first that may be anything.
    let content = match packet {
        // A keep-alive.
        [] => return true,
        [_, rest @ ..] if !flags.headers() => rest,
        _ => packet,
    };
    match content {
        [] | [_] => false,
        [tag::VERSION, HEADER | FIRST_FRAGMENT | NEXT_FRAGMENT, ..] if !flags.headers() => {
            rejected::header(&from, content);
            false
        }
        [tag::VERSION, ..] if !flags.headers() => {
            read(&from, Encoded { bytes: content, atoms: &[], header: false, source: None })
        }
        [tag::VERSION, kind, rest @ ..] => match with_header(&from, flags, *kind, rest) {
            Ok(Some(Arrived::Plain(atoms, at))) => {
                let bytes = &rest[at..];
                read(&from, Encoded { bytes, atoms: &atoms, header: true, source: None })
            }
            Ok(Some(Arrived::Fragments(w))) => {
                let (bytes, source) = (w.bytes.bytes(), Some(&w.bytes));
                read(&from, Encoded { bytes, atoms: &w.atoms, header: true, source })
            }
            Ok(None) => true,
            Err(fault) => {
                if fault == Fault::Header {
                    rejected::header(&from, content);
                }
                false
            }
        },
        _ => {
            rejected::incompatible(&from);
            false
        }
    }
}

/// A complete signal.
enum Arrived {
    /// The atoms of its header, and the header's length.
    Plain(Vec<Atom>, usize),
    Fragments(Whole),
}

/// Why a packet with a header is rejected.
#[derive(PartialEq, Eq)]
enum Fault {
    /// The header cannot be read.
    Header,
    /// A fragment that is out of sequence, or whose operation cannot be read, which is logged.
    Fragment,
}

/// Parses what follows the version byte and header kind. `Ok(None)`: more fragments must come.
fn with_header(
    from: &From<'_>,
    flags: DistFlags,
    kind: u8,
    rest: &[u8],
) -> Result<Option<Arrived>, Fault> {
    let Some(mut s) = from.node.lock_up(from.id) else { return Ok(None) };
    if kind == HEADER {
        let (atoms, at) = s.receive_cache.read_header(rest).map_err(|_| Fault::Header)?;
        return Ok(Some(Arrived::Plain(atoms, at)));
    }
    if !flags.has(DistFlags::FRAGMENTS) || !matches!(kind, FIRST_FRAGMENT | NEXT_FRAGMENT) {
        return Err(Fault::Header);
    }
    let short = || if kind == FIRST_FRAGMENT { Fault::Header } else { Fault::Fragment };
    let (number, rest) = rest.split_first_chunk::<8>().ok_or_else(short)?;
    let (left, rest) = rest.split_first_chunk::<8>().ok_or_else(short)?;
    let (number, left) = (u64::from_be_bytes(*number), u64::from_be_bytes(*left));
    if kind == FIRST_FRAGMENT {
        let (atoms, at) = s.receive_cache.read_header(rest).map_err(|_| Fault::Header)?;
        let body = &rest[at..];
        let e = Encoded { bytes: body, atoms: &atoms, header: true, source: None };
        if left > 1 && e.term(0, &Heap::detached()).is_none() {
            drop(s);
            rejected::term(from, body, &atoms, None);
            return Err(Fault::Fragment);
        }
        if number == 0 {
            // OTP takes the number for that of a message that is whole.
            return Ok(Some(Arrived::Plain(atoms, 16 + at)));
        }
        s.incoming.begin(number, left, atoms, body).ok_or(Fault::Fragment)?;
    } else {
        s.incoming.append(number, rest);
    }
    let whole = s.incoming.came(number, left).map_err(|()| Fault::Fragment)?;
    Ok(whole.map(Arrived::Fragments))
}

/// Handles an encoded signal. False: it is invalid.
fn read(from: &From<'_>, e: Encoded<'_>) -> bool {
    let h = Heap::detached();
    let Some((t, at)) = e.term(0, &h) else {
        rejected::term(from, e.bytes, e.atoms, None);
        return false;
    };
    let rest = Behind::new(e, at);
    if operation(from, t, &rest).is_some() {
        return true;
    }
    match rest.corrupted() {
        // Nobody reads it.
        Some(Some(pid)) if !is_alive(pid) => return true,
        Some(receiver) => rejected::term(from, &e.bytes[at..], e.atoms, receiver),
        None => rejected::operation(t),
    }
    false
}

/// Takes a control tuple apart. None: it is invalid, or what is behind it cannot be read.
fn operation(from: &From<'_>, t: Term<'_>, rest: &Behind<'_>) -> Option<()> {
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
    let token_at = match (op, parts.first()) {
        (op::ALTACT_SIG_SEND, Some(flags)) if low_byte(*flags)? & altact::TOKEN != 0 => Some(3),
        _ => token_at,
    };
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
    rest: &Behind<'_>,
) -> Option<()> {
    match (op, parts) {
        (op::SEND | op::SEND_TT | op::SEND_SENDER | op::SEND_SENDER_TT, [_, to]) => {
            to.as_pid()?;
            message(from, to.as_local_pid(), rest, token)?;
        }
        (op::REG_SEND | op::REG_SEND_TT, [sender, _, to]) => {
            sender.as_pid()?;
            message(from, registry::whereis_process(to.as_atom()?), rest, token)?;
        }
        (op::ALIAS_SEND | op::ALIAS_SEND_TT, [_, to]) => {
            alias_message(from, to.as_ref()?, rest, token)?;
        }
        (op::ALTACT_SIG_SEND, [flags, sender, to, ..]) => {
            sender.as_pid()?;
            altact_signal(from, low_byte(*flags)?, (*sender, *to), rest, token)?
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
            ended(from, from.process(*a)?, *b, SentReason::Term(*reason), token)?
        }
        (op::PAYLOAD_EXIT | op::PAYLOAD_EXIT_TT, [a, b]) => {
            ended(from, from.process(*a)?, *b, SentReason::Behind(rest), token)?
        }
        (op::EXIT2 | op::EXIT2_TT, [a, b, reason]) => {
            exit(from.process(*a)?, *b, SentReason::Term(*reason), token)?
        }
        (op::PAYLOAD_EXIT2 | op::PAYLOAD_EXIT2_TT, [a, b]) => {
            exit(from.process(*a)?, *b, SentReason::Behind(rest), token)?
        }
        (op::MONITOR, [watcher, watched, r]) => {
            monitor(from, from.process(*watcher)?, *watched, *r)?
        }
        (op::DEMONITOR, [watcher, _, r]) => {
            from.process(*watcher)?;
            demonitor(from, *r)?
        }
        (op::MONITOR_EXIT, [watched, watcher, r, reason]) => {
            down(from, *watched, *watcher, *r, SentReason::Term(*reason))?
        }
        (op::PAYLOAD_MONITOR_EXIT, [watched, watcher, r]) => {
            down(from, *watched, *watcher, *r, SentReason::Behind(rest))?
        }
        (op::GROUP_LEADER, [leader, member]) => group_leader(*leader, *member)?,
        (op::SPAWN_REQUEST | op::SPAWN_REQUEST_TT, [r, parent, leader, call, options]) => {
            let request = spawn::RemoteSpawn {
                key: from.reference(*r)?,
                reference: *r,
                parent: from.process(*parent)?,
                leader: *leader,
                call: *call,
                options: *options,
                token: token.filter(is_token),
            };
            request.run(from, rest.read(None)?)?
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
    /// A pid of the sending node.
    fn process(&self, t: Term<'_>) -> Option<RemotePid> {
        RemotePid::of(t).filter(|r| r.node() == self.node.name)
    }
    /// A reference of the sending node.
    fn reference(&self, t: Term<'_>) -> Option<RemoteRef> {
        match t.as_ref()? {
            Ref::External(e) if e.node() == self.node.name => Some((e.creation(), e.ref_numbers())),
            _ => None,
        }
    }
}

/// The number of a process of this node; `Some(None)` if the pid is from an earlier start of the
/// node. `None` if it is not ours.
fn own(t: Term<'_>) -> Option<Option<u32>> {
    match t.view() {
        View::Pid(PidTerm::Local(n)) => Some(Some(n)),
        View::Pid(PidTerm::External(_)) if this::is_own(t) => Some(None),
        _ => None,
    }
}
/// Like `own`, for a reference.
fn own_ref(t: Term<'_>) -> Option<Option<RefId>> {
    match t.as_ref()? {
        Ref::Local(r) => Some(Some(RefId::of(r))),
        Ref::External(e) if e.node() == this::name() => Some(None),
        Ref::External(_) => None,
    }
}

fn message(
    from: &From<'_>,
    to: Option<u32>,
    rest: &Behind<'_>,
    token: Option<OwnedTerm>,
) -> Option<()> {
    let Some(pid) = to else { return Some(()) };
    let m = rest.read(Some(pid))?;
    let node = Term::from(from.node.name);
    match token.filter(is_token) {
        None if !seq_trace::on() => deliver_from(pid, node, m),
        token => {
            let put = move |p: Option<&Proc>| {
                if let Some(p) = p {
                    p.put_tokened_from(node, m, token.unwrap_or_default())
                }
            };
            deliver(pid, Signal::Run(Box::new(put)))
        }
    };
    Some(())
}
fn is_token(t: &OwnedTerm) -> bool {
    t.term().as_tuple_n::<5>().is_some()
}
fn alias_message(
    from: &From<'_>,
    to: Ref<'_>,
    rest: &Behind<'_>,
    token: Option<OwnedTerm>,
) -> Option<()> {
    let Some((pid, id)) = alias(to) else { return Some(()) };
    let m = rest.read(Some(pid))?;
    let node = Term::from(from.node.name);
    if token.is_none() && !seq_trace::on() {
        control(pid, Control::AliasMessage { id, from: node, message: m });
        return Some(());
    }
    let token = token.filter(is_token).unwrap_or_default();
    let put = move |p: Option<&Proc>| {
        if let Some(p) = p.filter(|p| p.uses_alias(id)) {
            p.put_tokened_from(node, m, token)
        }
    };
    deliver(pid, Signal::Run(Box::new(put)));
    Some(())
}
/// The process of an alias of this node.
fn alias(to: Ref<'_>) -> Option<(u32, RefId)> {
    match to {
        Ref::Local(r) => Some((r.alias_pid()?, RefId::of(r))),
        Ref::External(_) => None,
    }
}

/// The lowest byte of a number that is not negative, however large.
fn low_byte(t: Term<'_>) -> Option<u8> {
    match t.view() {
        View::Small(n) if n >= 0 => Some(n as u8),
        View::Big(b) if !b.is_negative() => b.digits().first().map(|d| *d as u8),
        _ => None,
    }
}
/// A message or exit signal to a process, a name or an alias, perhaps with priority.
fn altact_signal(
    from: &From<'_>,
    flags: u8,
    (sender, to): (Term<'_>, Term<'_>),
    rest: &Behind<'_>,
    token: Option<OwnedTerm>,
) -> Option<()> {
    let (is, priority) = (|flag| flags & flag != 0, flags & altact::PRIORITY != 0);
    let exits = is(altact::EXIT).then(|| from.process(sender));
    if is(altact::ALIAS) {
        let to = to.as_ref().filter(|_| !is(altact::NAME))?;
        return match exits {
            Some(r) => exit_alias(r?, to, rest, priority),
            None if priority => priority_message(from, to, rest, token),
            None => alias_message(from, to, rest, token),
        };
    }
    let pid = match is(altact::NAME) {
        true => registry::whereis_process(to.as_atom()?),
        false => {
            to.as_pid()?;
            to.as_local_pid()
        }
    };
    match (exits, pid) {
        (Some(r), Some(pid)) => exit(r?, Term::local_pid(pid), SentReason::Behind(rest), token),
        (Some(_), None) => Some(()),
        (None, pid) => message(from, pid, rest, token),
    }
}
fn priority_message(
    from: &From<'_>,
    to: Ref<'_>,
    rest: &Behind<'_>,
    token: Option<OwnedTerm>,
) -> Option<()> {
    let Some((pid, alias)) = alias(to) else { return Some(()) };
    let m = rest.read(Some(pid))?;
    let token = token.filter(is_token).or_else(|| seq_trace::on().then(OwnedTerm::default));
    let from = from.node.name.into();
    control(pid, Control::PriorityMessage { alias, from, message: m, token });
    Some(())
}
fn exit_alias(r: RemotePid, to: Ref<'_>, rest: &Behind<'_>, priority: bool) -> Option<()> {
    let Some((pid, alias)) = alias(to) else { return Some(()) };
    let reason = rest.read(Some(pid))?;
    control(pid, Control::ExitAlias { alias, priority, from: r.owned(), reason });
    Some(())
}

fn link(from: &From<'_>, r: RemotePid, to: Term<'_>) -> Option<()> {
    let Some(pid) = own(to)? else {
        // The pid is from an earlier start of the node; its process is unknown.
        return Some(());
    };
    let (node, conn) = (from.node.clone(), from.id);
    // Runs as a signal of the process, so that it is ordered with unlink signals.
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
            send_ended(&node, pid, r, am::noproc.into(), None);
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
        // Keep the link while an unlink of ours is unanswered.
        let still = p.is_some_and(|p| p.has_remote_link(r));
        if !still {
            node.lock().links.remove(&(pid, r));
        }
        if let Some(id) = id {
            kvik_proc::remote::tell(pid, kvik_proc::remote::RemoteSignal::UnlinkAck(r, id));
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
    reason: SentReason<'_>,
    token: Option<OwnedTerm>,
) -> Option<()> {
    let Some(pid) = own(to)? else { return Some(()) };
    let reason = reason.read(pid)?;
    let Some(mut s) = from.node.lock_up(from.id) else { return Some(()) };
    s.links.remove(&(pid, r));
    drop(s);
    let token = token.filter(is_token).map(Box::new);
    let forget = move |p: Option<&Proc>| p.into_iter().for_each(|p| p.forget_unlinking(r));
    control(pid, Control::Exit { from: r.owned(), linked: true, reason, token });
    // The peer will not answer an unlink any more.
    deliver(pid, Signal::Run(Box::new(forget)));
    Some(())
}
fn exit(
    r: RemotePid,
    to: Term<'_>,
    reason: SentReason<'_>,
    token: Option<OwnedTerm>,
) -> Option<()> {
    let Some(pid) = own(to)? else { return Some(()) };
    let reason = reason.read(pid)?;
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
        let o = Outgoing { kind: SignalKind::Down, parts: &parts, payload, token: None };
        let _ = connect::send(from.node, &o, ANSWER, None, |_| ());
        return Some(());
    };
    let w = RemoteMonitor { watcher, key, reference: r, watched: shown, pid };
    if let Some(id) = add_watcher(from.node, from.id, w) {
        control(pid, Control::Monitor { from: ABROAD, id, name });
    }
    Some(())
}
fn demonitor(from: &From<'_>, r: Term<'_>) -> Option<()> {
    let key = from.reference(r)?;
    let id = from.node.lock_up(from.id).and_then(|mut s| s.watched.remove(&key));
    id.into_iter().for_each(forget_watcher);
    Some(())
}
fn down(
    from: &From<'_>,
    watched: Term<'_>,
    watcher: Term<'_>,
    r: Term<'_>,
    reason: SentReason<'_>,
) -> Option<()> {
    let named = watched.as_atom().is_some();
    (named || RemotePid::of(watched).is_some()).then_some(())?;
    let (Some(pid), Some(id)) = (own(watcher)?, own_ref(r)?) else { return Some(()) };
    // Accept it only if this node's connection has that monitor.
    let watched = from.node.lock_up(from.id).and_then(|mut s| s.monitors.remove(&id));
    if watched == Some(pid) {
        control(pid, Control::Down { id, reason: reason.read(pid)? });
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
