//! Encoding of signals between nodes: `{Operation, …}`, then an optional message or reason.

use std::cell::Cell;

use kvik_etf::{AtomRefs, EncodeOpts, Encoding};
use kvik_heap::OwnedTerm;
use kvik_term::{am, Term, View};

use crate::fragments::{LargeMessage, OutgoingSignal};
use crate::packet::{Form, Packet, FRAGMENT_BYTES};

/// A node's capabilities, as exchanged in the handshake.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub struct DistFlags(pub u64);

macro_rules! flags {
    ($($name:ident = $bit:expr;)*) => { impl DistFlags { $(pub const $name: u64 = $bit;)* } };
}
flags! {
    PUBLISHED = 1;
    EXTENDED_REFERENCES = 4;
    DIST_MONITOR = 8;
    FUN_TAGS = 0x10;
    DIST_MONITOR_NAME = 0x20;
    HIDDEN_ATOM_CACHE = 0x40;
    ATOM_CACHE = 2;
    NEW_FUN_TAGS = 0x80;
    EXTENDED_PIDS_PORTS = 0x100;
    EXPORT_PTR_TAG = 0x200;
    BIT_BINARIES = 0x400;
    NEW_FLOATS = 0x800;
    UNICODE_IO = 0x1000;
    DIST_HDR_ATOM_CACHE = 0x2000;
    SMALL_ATOM_TAGS = 0x4000;
    UTF8_ATOMS = 0x1_0000;
    MAP_TAG = 0x2_0000;
    BIG_CREATION = 0x4_0000;
    SEND_SENDER = 0x8_0000;
    BIG_SEQTRACE_LABELS = 0x10_0000;
    EXIT_PAYLOAD = 0x40_0000;
    FRAGMENTS = 0x80_0000;
    HANDSHAKE_23 = 0x100_0000;
    UNLINK_ID = 0x200_0000;
    MANDATORY_25_DIGEST = 0x400_0000;
    SPAWN = 1 << 32;
    V4_NC = 4 << 32;
    ALIAS = 8 << 32;
    ALTACT_SIG = 0x20 << 32;
    NATIVE_RECORDS = 0x40 << 32;
}
impl DistFlags {
    /// Flags that a peer must have.
    pub const MANDATORY: u64 = DistFlags::EXTENDED_REFERENCES
        | DistFlags::FUN_TAGS
        | DistFlags::NEW_FUN_TAGS
        | DistFlags::EXTENDED_PIDS_PORTS
        | DistFlags::EXPORT_PTR_TAG
        | DistFlags::BIT_BINARIES
        | DistFlags::NEW_FLOATS
        | DistFlags::UTF8_ATOMS
        | DistFlags::MAP_TAG
        | DistFlags::BIG_CREATION
        | DistFlags::HANDSHAKE_23;
    /// The same, plus those that the emulated release requires.
    pub fn mandatory() -> u64 {
        DistFlags::MANDATORY | kvik_release::current().dist_flags
    }

    /// The flags that we offer under every release.
    const OFFERED: u64 = DistFlags::MANDATORY
        | DistFlags::DIST_MONITOR
        | DistFlags::DIST_MONITOR_NAME
        | DistFlags::UNICODE_IO
        | DistFlags::SMALL_ATOM_TAGS
        | DistFlags::SEND_SENDER
        | DistFlags::BIG_SEQTRACE_LABELS
        | DistFlags::DIST_HDR_ATOM_CACHE
        | DistFlags::HIDDEN_ATOM_CACHE
        | DistFlags::EXIT_PAYLOAD
        | DistFlags::FRAGMENTS
        | DistFlags::UNLINK_ID
        | DistFlags::MANDATORY_25_DIGEST
        | DistFlags::SPAWN
        | DistFlags::V4_NC
        | DistFlags::ALIAS;
    /// The same, plus those of the release that runs.
    pub fn offered() -> u64 {
        let release = kvik_release::current();
        let with = |has: bool, flag: u64| if has { flag } else { 0 };
        DistFlags::OFFERED
            | with(release.has_priority_messages(), DistFlags::ALTACT_SIG)
            | with(release.has_native_records(), DistFlags::NATIVE_RECORDS)
    }
    /// Flags that a controller may refuse.
    pub const REJECTABLE: u64 = DistFlags::DIST_HDR_ATOM_CACHE
        | DistFlags::HIDDEN_ATOM_CACHE
        | DistFlags::FRAGMENTS
        | DistFlags::ATOM_CACHE;

    pub fn has(self, bits: u64) -> bool {
        self.0 & bits == bits
    }
    pub fn published(self) -> bool {
        self.has(DistFlags::PUBLISHED)
    }
    /// Whether packets begin with a distribution header.
    pub fn headers(self) -> bool {
        self.0 & (DistFlags::DIST_HDR_ATOM_CACHE | DistFlags::FRAGMENTS) != 0
    }
    fn monitors(self) -> bool {
        self.has(DistFlags::DIST_MONITOR | DistFlags::DIST_MONITOR_NAME)
    }
}

/// Operation numbers.
pub mod op {
    pub const LINK: u8 = 1;
    pub const SEND: u8 = 2;
    pub const EXIT: u8 = 3;
    pub const UNLINK: u8 = 4;
    pub const REG_SEND: u8 = 6;
    pub const GROUP_LEADER: u8 = 7;
    pub const EXIT2: u8 = 8;
    pub const SEND_TT: u8 = 12;
    pub const EXIT_TT: u8 = 13;
    pub const REG_SEND_TT: u8 = 16;
    pub const EXIT2_TT: u8 = 18;
    pub const MONITOR: u8 = 19;
    pub const DEMONITOR: u8 = 20;
    pub const MONITOR_EXIT: u8 = 21;
    pub const SEND_SENDER: u8 = 22;
    pub const SEND_SENDER_TT: u8 = 23;
    pub const PAYLOAD_EXIT: u8 = 24;
    pub const PAYLOAD_EXIT_TT: u8 = 25;
    pub const PAYLOAD_EXIT2: u8 = 26;
    pub const PAYLOAD_EXIT2_TT: u8 = 27;
    pub const PAYLOAD_MONITOR_EXIT: u8 = 28;
    pub const SPAWN_REQUEST: u8 = 29;
    pub const SPAWN_REQUEST_TT: u8 = 30;
    pub const SPAWN_REPLY: u8 = 31;
    pub const SPAWN_REPLY_TT: u8 = 32;
    pub const ALIAS_SEND: u8 = 33;
    pub const ALIAS_SEND_TT: u8 = 34;
    pub const UNLINK_ID: u8 = 35;
    pub const UNLINK_ID_ACK: u8 = 36;
    /// A message or an exit signal that may be one with priority; [`super::altact`] has its flags.
    pub const ALTACT_SIG_SEND: u8 = 37;
}

/// Flags of the operation [`op::ALTACT_SIG_SEND`]; others are ignored.
pub mod altact {
    pub const PRIORITY: u8 = 1;
    /// A token of sequential tracing follows.
    pub const TOKEN: u8 = 2;
    /// The receiver is an alias.
    pub const ALIAS: u8 = 4;
    /// The receiver is a name.
    pub const NAME: u8 = 8;
    /// An exit signal, not a message.
    pub const EXIT: u8 = 16;
}

/// A kind of signal, independent of the operation number that encodes it.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum SignalKind {
    /// Sender, receiver; a message.
    Send,
    /// Sender, name; a message.
    SendName,
    /// Sender, alias; a message.
    SendAlias,
    /// Sender, receiver (a pid, a name or an alias); a message.
    SendPriority,
    /// From, to.
    Link,
    /// Number, from, to.
    Unlink,
    UnlinkAck,
    /// From, to; a reason.
    Ended,
    Exit,
    /// From, alias; a reason.
    ExitAlias,
    /// From, to (a pid or an alias); a reason.
    ExitPriority,
    /// Watcher, watched, reference.
    Monitor,
    Demonitor,
    /// Watched, watcher, reference; a reason.
    Down,
    /// Leader, member.
    GroupLeader,
    /// Reference, parent, leader, `{M, F, Arity}`, options; arguments.
    SpawnRequest,
    /// Reference, parent, flags, pid or error.
    SpawnReply,
}

/// An outgoing signal: the operation's terms, the message or reason if there is one, and a
/// sequential tracing token.
#[derive(Copy, Clone)]
pub struct Outgoing<'a, 'h> {
    pub kind: SignalKind,
    pub parts: &'a [Term<'h>],
    pub payload: Option<Term<'h>>,
    pub token: Option<Term<'h>>,
}

/// A signal held until there is a connection.
pub struct HeldSignal {
    kind: SignalKind,
    parts: Vec<OwnedTerm>,
    payload: Option<OwnedTerm>,
    token: Option<OwnedTerm>,
}

pub fn encode_opts() -> EncodeOpts {
    EncodeOpts { utf8_atoms: true, ..EncodeOpts::default() }
}

/// Encoding steps between two checks of the length.
const STEPS_PER_LENGTH_CHECK: usize = 4096;

thread_local! {
    /// The atom table of the last message, reused because it is large; empty between messages.
    static ATOM_REFS: Cell<Option<AtomRefs>> = const { Cell::new(None) };
}

impl HeldSignal {
    pub fn new(o: &Outgoing<'_, '_>) -> HeldSignal {
        let own = |t: &Term<'_>| OwnedTerm::new(*t);
        HeldSignal {
            kind: o.kind,
            parts: o.parts.iter().map(own).collect(),
            payload: o.payload.as_ref().map(own),
            token: o.token.as_ref().map(own),
        }
    }
    pub fn bytes(&self) -> usize {
        let words = |t: &OwnedTerm| 1 + t.words();
        let all = self.parts.iter().chain(&self.payload).chain(&self.token);
        8 * all.map(words).sum::<usize>()
    }
    pub fn encode(&self, f: DistFlags) -> Option<(Option<u32>, OutgoingSignal)> {
        let parts: Vec<_> = self.parts.iter().map(OwnedTerm::term).collect();
        let payload = self.payload.as_ref().map(OwnedTerm::term);
        let token = self.token.as_ref().map(OwnedTerm::term);
        let o = Outgoing { kind: self.kind, parts: &parts, payload, token };
        Some((o.sender(), o.encode(f)?))
    }
}

impl Outgoing<'_, '_> {
    /// The flags of the operation that has them, if that encodes this kind of signal and the other
    /// node knows it.
    fn altact(&self, f: DistFlags) -> Option<u8> {
        let kind = match self.kind {
            SignalKind::SendAlias => 0,
            SignalKind::SendPriority => altact::PRIORITY,
            SignalKind::ExitAlias => altact::EXIT,
            SignalKind::ExitPriority => altact::EXIT | altact::PRIORITY,
            _ => return None,
        };
        let receiver = match self.parts.last()?.view() {
            View::Ref(_) => altact::ALIAS,
            View::Atom(_) => altact::NAME,
            _ => 0,
        };
        let token = if self.token.is_some() { altact::TOKEN } else { 0 };
        f.has(DistFlags::ALTACT_SIG).then_some(kind | receiver | token)
    }
    /// The kind of signal that a node gets which knows no priority.
    fn without_priority(&self) -> Option<SignalKind> {
        let alias = || self.parts.last().is_some_and(|to| to.as_ref().is_some());
        Some(match self.kind {
            SignalKind::SendPriority if alias() => SignalKind::SendAlias,
            SignalKind::SendPriority if self.parts.last()?.as_atom().is_some() => {
                SignalKind::SendName
            }
            SignalKind::SendPriority => SignalKind::Send,
            SignalKind::ExitAlias => return None,
            SignalKind::ExitPriority if alias() => return None,
            SignalKind::ExitPriority => SignalKind::Exit,
            kind => kind,
        })
    }
    /// The operation number, and whether the reason follows as a separate term.
    fn operation(&self, f: DistFlags) -> Option<(u8, bool)> {
        let t = self.token.is_some();
        let one_of = |plain, traced| if t { traced } else { plain };
        let late = f.has(DistFlags::EXIT_PAYLOAD);
        if self.altact(f).is_some() {
            return Some((op::ALTACT_SIG_SEND, true));
        }
        Some(match self.without_priority()? {
            SignalKind::Send if f.has(DistFlags::SEND_SENDER) => {
                (one_of(op::SEND_SENDER, op::SEND_SENDER_TT), true)
            }
            SignalKind::Send => (one_of(op::SEND, op::SEND_TT), true),
            SignalKind::SendName => (one_of(op::REG_SEND, op::REG_SEND_TT), true),
            SignalKind::SendAlias => (one_of(op::ALIAS_SEND, op::ALIAS_SEND_TT), true),
            SignalKind::Link => (op::LINK, false),
            SignalKind::Unlink if f.has(DistFlags::UNLINK_ID) => (op::UNLINK_ID, false),
            SignalKind::Unlink => (op::UNLINK, false),
            SignalKind::UnlinkAck if f.has(DistFlags::UNLINK_ID) => (op::UNLINK_ID_ACK, false),
            SignalKind::Ended if late => (one_of(op::PAYLOAD_EXIT, op::PAYLOAD_EXIT_TT), true),
            SignalKind::Ended => (one_of(op::EXIT, op::EXIT_TT), false),
            SignalKind::Exit if late => (one_of(op::PAYLOAD_EXIT2, op::PAYLOAD_EXIT2_TT), true),
            SignalKind::Exit => (one_of(op::EXIT2, op::EXIT2_TT), false),
            SignalKind::Monitor if f.monitors() => (op::MONITOR, false),
            SignalKind::Demonitor if f.monitors() => (op::DEMONITOR, false),
            SignalKind::Down if f.monitors() && late => (op::PAYLOAD_MONITOR_EXIT, true),
            SignalKind::Down if f.monitors() => (op::MONITOR_EXIT, false),
            SignalKind::GroupLeader => (op::GROUP_LEADER, false),
            SignalKind::SpawnRequest => (one_of(op::SPAWN_REQUEST, op::SPAWN_REQUEST_TT), true),
            SignalKind::SpawnReply => (one_of(op::SPAWN_REPLY, op::SPAWN_REPLY_TT), true),
            // The other node does not know this operation.
            SignalKind::SendPriority
            | SignalKind::ExitAlias
            | SignalKind::ExitPriority
            | SignalKind::UnlinkAck
            | SignalKind::Monitor
            | SignalKind::Demonitor
            | SignalKind::Down => return None,
        })
    }
    /// The local process that sent the signal, if the operation names it.
    pub fn sender(&self) -> Option<u32> {
        let at = match self.kind {
            SignalKind::GroupLeader => return None,
            SignalKind::Unlink | SignalKind::UnlinkAck | SignalKind::SpawnRequest => 1,
            SignalKind::SpawnReply => 3,
            _ => 0,
        };
        self.parts.get(at)?.as_local_pid()
    }
    /// Encodes the signal; `None` if the other node would not understand it.
    pub fn encode(&self, f: DistFlags) -> Option<OutgoingSignal> {
        let (op, payload_behind) = self.operation(f)?;
        let empty = Term::atom(am::empty);
        let mut parts: Vec<Term<'_>> = self.parts.to_vec();
        match op {
            op::SEND | op::SEND_TT => parts[0] = empty,
            op::REG_SEND | op::REG_SEND_TT => parts.insert(1, empty),
            op::UNLINK => {
                parts.remove(0);
            }
            op::ALTACT_SIG_SEND => {
                parts.insert(0, Term::int(self.altact(f).unwrap_or_default().into()))
            }
            _ => {}
        }
        parts.extend(self.token);
        parts.extend(self.payload.filter(|_| !payload_behind));
        let payload = self.payload.filter(|_| payload_behind);
        let refs =
            f.has(DistFlags::DIST_HDR_ATOM_CACHE).then(|| ATOM_REFS.take().unwrap_or_default());
        let (e, large) = encoded((op, &parts), payload, refs, f);
        let whole = (!large).then(|| e.bytes().to_vec());
        let mut refs = e.into_parts().0;
        let signal = match (whole, payload) {
            (Some(body), _) => {
                let form = if f.headers() { Form::Header } else { Form::PassThrough };
                let atoms = refs.as_mut().map_or(Vec::new(), AtomRefs::take);
                OutgoingSignal::Packet(Packet { form, atoms, body })
            }
            (None, payload) => {
                refs.iter_mut().for_each(AtomRefs::clear);
                let control = encoded((op, &parts), None, refs.take(), f).0;
                let bytes = control.bytes().to_vec();
                let refs = control.into_parts().0;
                let payload = payload.unwrap_or(Term::NIL);
                OutgoingSignal::Large(Box::new(LargeMessage::new(
                    self.sender(),
                    bytes,
                    payload,
                    refs,
                )))
            }
        };
        ATOM_REFS.set(refs);
        Some(signal)
    }
}

/// Encodes the operation and its payload. Returns true, with the encoding unfinished, if it must be
/// sent in fragments.
fn encoded<'h>(
    (op, parts): (u8, &[Term<'h>]),
    payload: Option<Term<'h>>,
    refs: Option<AtomRefs>,
    f: DistFlags,
) -> (Encoding<'h>, bool) {
    use kvik_etf::tag;
    let mut e = Encoding::empty(encode_opts(), refs);
    let tuple = [tag::SMALL_TUPLE, 1 + parts.len() as u8, tag::SMALL_INTEGER, op];
    if !f.headers() {
        e.then(&[tag::VERSION], &[]);
    }
    e.then(&tuple, parts);
    if let Some(t) = payload {
        e.then_last(t, !f.headers());
    }
    let may_split = payload.is_some() && f.has(DistFlags::FRAGMENTS);
    while !e.run(&mut { STEPS_PER_LENGTH_CHECK }) {
        if may_split && e.bytes().len() > FRAGMENT_BYTES {
            return (e, true);
        }
    }
    let large = may_split && e.bytes().len() > FRAGMENT_BYTES;
    (e, large)
}
