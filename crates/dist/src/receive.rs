//! The receive path: signals from processes of other nodes to those of this one. Undecodable or
//! illegal signals end the connection.

use std::sync::Arc;

use kvik_etf::{tag, DecodeOpts, Decoding};
use kvik_heap::roots::Root;
use kvik_heap::{BinRef, Heap, OwnedTerm};
use kvik_proc::signal::{control, deliver, deliver_from, Control, Signal};
use kvik_proc::{node as this, registry, seq_trace, Proc, RefId, RemotePid, ABROAD};
use kvik_term::{am, Atom, PidTerm, Ref, Term, View};

use crate::connect::{self, From, ANSWER};
use crate::fragments::Whole;
use crate::node::{RemoteNode, RemoteRef};
use crate::packet::{FIRST_FRAGMENT, HEADER, NEXT_FRAGMENT, PASS_THROUGH};
use crate::sender::send_ended;
use crate::signal::{altact, op, DistFlags, Outgoing, SignalKind};
use crate::spawn;
use crate::watchers::{add_watcher, forget_watcher, RemoteMonitor};

/// Handles a packet of a connection. False: it is invalid.
pub fn packet(node: &Arc<RemoteNode>, id: u32, packet: &[u8]) -> bool {
    let flags = match node.lock_up(id) {
        Some(mut s) => {
            s.received += 1;
            s.flags
        }
        None => return true,
    };
    let from = From { node, id };
    let done = match packet {
        // A keep-alive.
        [] => Some(()),
        [PASS_THROUGH, rest @ ..] if !flags.headers() => {
            read(&from, Encoded { bytes: rest, atoms: &[], header: false, source: None })
        }
        [tag::VERSION, kind, rest @ ..] if flags.headers() => {
            let whole = with_header(&from, flags, *kind, rest);
            if whole.is_none() {
                corrupted("header", &from, packet);
            }
            match whole {
                Some(Some(Arrived::Plain(atoms, at))) => {
                    let bytes = &rest[at..];
                    read(&from, Encoded { bytes, atoms: &atoms, header: true, source: None })
                }
                Some(Some(Arrived::Fragments(w))) => {
                    let (bytes, source) = (w.bytes.bytes(), Some(&w.bytes));
                    read(&from, Encoded { bytes, atoms: &w.atoms, header: true, source })
                }
                Some(None) => Some(()),
                None => return false,
            }
        }
        _ => None,
    };
    if done.is_none() {
        corrupted("term", &from, packet);
    }
    done.is_some()
}

/// A complete signal.
enum Arrived {
    /// The atoms of its header, and the header's length.
    Plain(Vec<Atom>, usize),
    Fragments(Whole),
}

/// Parses what follows the version byte and header kind. `Some(None)`: more fragments must come.
fn with_header(
    from: &From<'_>,
    flags: DistFlags,
    kind: u8,
    rest: &[u8],
) -> Option<Option<Arrived>> {
    let Some(mut s) = from.node.lock_up(from.id) else { return Some(None) };
    if kind == HEADER {
        let (atoms, at) = s.receive_cache.read_header(rest).ok()?;
        return Some(Some(Arrived::Plain(atoms, at)));
    }
    let (number, rest) = rest.split_first_chunk::<8>()?;
    let (left, rest) = rest.split_first_chunk::<8>()?;
    let (number, left) = (u64::from_be_bytes(*number), u64::from_be_bytes(*left));
    match kind {
        _ if !flags.has(DistFlags::FRAGMENTS) => return None,
        FIRST_FRAGMENT => {
            let (atoms, at) = s.receive_cache.read_header(rest).ok()?;
            s.incoming.begin(number, left, atoms, &rest[at..])?;
        }
        NEXT_FRAGMENT => s.incoming.append(number, rest),
        _ => return None,
    }
    let whole = s.incoming.came(number, left).ok()?;
    Some(whole.map(Arrived::Fragments))
}

/// Bytes of a packet that the log shows.
const BYTES_SHOWN: usize = 1000;

/// Logs a packet that cannot be read; the connection ends then.
fn corrupted(what: &str, from: &From<'_>, packet: &[u8]) {
    let what = if what == "term" { "external term" } else { "distribution header" };
    let shown = packet.iter().take(BYTES_SHOWN).map(|b| b.to_string()).collect::<Vec<_>>();
    let more = if packet.len() > BYTES_SHOWN { ",..." } else { "" };
    let text = format!(
        "{} got a corrupted {what} from {} on distribution channel {}\n<<{}{more}>>",
        this::name().name(),
        from.node.name.name(),
        from.node.name.index(),
        shown.join(","),
    );
    kvik_proc::exit::log_warning_of_node(&text);
}

/// A received signal in encoded form.
#[derive(Copy, Clone)]
struct Encoded<'a> {
    bytes: &'a [u8],
    /// The atoms that its references stand for.
    atoms: &'a [Atom],
    /// Terms behind a distribution header have no version byte.
    header: bool,
    /// The binary that holds the bytes.
    source: Option<&'a BinRef>,
}

/// Initial heap words for a term of that many bytes; a larger term costs a copy.
fn words(bytes: usize) -> usize {
    bytes.min(512)
}

impl Encoded<'_> {
    /// Decodes the term at a position; also returns where it ends. Compressed terms are rejected:
    /// no node sends them, and their expanded size is not bounded by the input.
    fn term<'h>(&self, at: usize, h: &'h Heap) -> Option<(Term<'h>, usize)> {
        let at = match self.header {
            true => at,
            false if self.bytes.get(at) == Some(&tag::VERSION) => at + 1,
            false => return None,
        };
        let opts = DecodeOpts {
            abroad: true,
            atoms: self.atoms,
            source: self.source,
            ..DecodeOpts::default()
        };
        let mut d = Decoding::bare(at, opts);
        loop {
            if let Some(done) = d.run(self.bytes, h, &mut { usize::MAX }).ok()? {
                return Some(done);
            }
        }
    }
    fn owned(&self, at: usize) -> Option<OwnedTerm> {
        let mut good = false;
        let bytes = self.bytes.len().saturating_sub(at);
        let t = OwnedTerm::build(words(bytes), |h| match self.term(at, h) {
            Some((t, _)) => {
                good = true;
                t
            }
            None => Term::NIL,
        });
        good.then_some(t)
    }
}

/// The position of the message or reason behind a signal.
#[derive(Copy, Clone)]
struct Behind<'a>(Encoded<'a>, usize);

/// Decodes the message or reason behind a signal.
fn payload(b: Behind<'_>) -> Option<OwnedTerm> {
    b.0.owned(b.1)
}

fn read(from: &From<'_>, e: Encoded<'_>) -> Option<()> {
    let h = Heap::detached();
    let (t, used) = e.term(0, &h)?;
    let rest = Behind(e, used);
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
    rest: Behind<'_>,
) -> Option<()> {
    match (op, parts) {
        (op::SEND | op::SEND_TT | op::SEND_SENDER | op::SEND_SENDER_TT, [_, to]) => {
            to.as_pid()?;
            message(from, to.as_local_pid(), payload(rest)?, token);
        }
        (op::REG_SEND | op::REG_SEND_TT, [sender, _, to]) => {
            sender.as_pid()?;
            message(from, registry::whereis_process(to.as_atom()?), payload(rest)?, token);
        }
        (op::ALIAS_SEND | op::ALIAS_SEND_TT, [_, to]) => {
            alias_message(from, to.as_ref()?, payload(rest)?, token);
        }
        (op::ALTACT_SIG_SEND, [flags, sender, to, ..]) => {
            sender.as_pid()?;
            altact_signal(from, low_byte(*flags)?, (*sender, *to), payload(rest)?, token)?
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
            let request = spawn::RemoteSpawn {
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

fn message(from: &From<'_>, to: Option<u32>, m: OwnedTerm, token: Option<OwnedTerm>) {
    let Some(pid) = to else { return };
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
}
fn is_token(t: &OwnedTerm) -> bool {
    t.term().as_tuple_n::<5>().is_some()
}
fn alias_message(from: &From<'_>, to: Ref<'_>, m: OwnedTerm, token: Option<OwnedTerm>) {
    let Ref::Local(r) = to else { return };
    let (Some(pid), id) = (r.alias_pid(), RefId::of(r)) else { return };
    let node = Term::from(from.node.name);
    if token.is_none() && !seq_trace::on() {
        control(pid, Control::AliasMessage { id, from: node, message: m });
        return;
    }
    let token = token.filter(is_token).unwrap_or_default();
    let put = move |p: Option<&Proc>| {
        if let Some(p) = p.filter(|p| p.uses_alias(id)) {
            p.put_tokened_from(node, m, token)
        }
    };
    deliver(pid, Signal::Run(Box::new(put)));
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
    payload: OwnedTerm,
    token: Option<OwnedTerm>,
) -> Option<()> {
    let (is, priority) = (|flag| flags & flag != 0, flags & altact::PRIORITY != 0);
    let exits = is(altact::EXIT).then(|| from.process(sender));
    if is(altact::ALIAS) {
        let to = to.as_ref().filter(|_| !is(altact::NAME))?;
        match exits {
            Some(r) => exit_alias(r?, to, payload, priority),
            None if priority => priority_message(from, to, payload, token),
            None => alias_message(from, to, payload, token),
        }
        return Some(());
    }
    let pid = match is(altact::NAME) {
        true => registry::whereis_process(to.as_atom()?),
        false => {
            to.as_pid()?;
            to.as_local_pid()
        }
    };
    match (exits, pid) {
        (Some(r), Some(pid)) => exit(r?, Term::local_pid(pid), payload, token)?,
        (Some(_), None) => (),
        (None, pid) => message(from, pid, payload, token),
    }
    Some(())
}
fn priority_message(from: &From<'_>, to: Ref<'_>, m: OwnedTerm, token: Option<OwnedTerm>) {
    let Ref::Local(r) = to else { return };
    let (Some(pid), alias) = (r.alias_pid(), RefId::of(r)) else { return };
    let token = token.filter(is_token).or_else(|| seq_trace::on().then(OwnedTerm::default));
    let from = from.node.name.into();
    control(pid, Control::PriorityMessage { alias, from, message: m, token });
}
fn exit_alias(r: RemotePid, to: Ref<'_>, reason: OwnedTerm, priority: bool) {
    let Ref::Local(to) = to else { return };
    let (Some(pid), alias) = (to.alias_pid(), RefId::of(to)) else { return };
    control(pid, Control::ExitAlias { alias, priority, from: r.owned(), reason });
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
    reason: OwnedTerm,
    token: Option<OwnedTerm>,
) -> Option<()> {
    let Some(pid) = own(to)? else { return Some(()) };
    from.node.lock_up(from.id)?.links.remove(&(pid, r));
    let token = token.filter(is_token).map(Box::new);
    let forget = move |p: Option<&Proc>| p.into_iter().for_each(|p| p.forget_unlinking(r));
    control(pid, Control::Exit { from: r.owned(), linked: true, reason, token });
    // The peer will not answer an unlink any more.
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
    let id = from.node.lock_up(from.id)?.watched.remove(&key);
    id.into_iter().for_each(forget_watcher);
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
    // Accept it only if this node's connection has that monitor.
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
