//! Values of options, as terms and in the kernel's layout.

use kvik_heap::Heap;
use kvik_release::SocketNatives;
use kvik_term::{am, Term};

use crate::address::{domain, domain_number, ipv4, ipv4_tuple, ipv6, number16, number32};
use crate::answer::{atom, bytes, field, is, latin1, record, small_int, unsigned};
use crate::sctp_value::Layout;
use crate::{control, type_of_service};

/// The type of an option's value.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum OptionValue {
    Bool,
    Int,
    Unsigned,
    /// `#{onoff, linger}`, or `abort` to set
    Linger,
    /// An interface's name
    Device,
    Domain,
    Type,
    Protocol,
    Tos,
    /// `want`, `dont`, `do`, `probe`, or a number
    MtuDiscover,
    /// 0 to 255, or `default`
    Hops,
    Ipv4,
    /// `#{multiaddr, interface}`
    Membership,
    /// `#{multiaddr, interface, sourceaddr}`
    SourceMembership,
    /// `#{multiaddr, interface, mode, slist}`, or `null`
    SourceFilter,
    Membership6,
    /// A list of control messages
    ControlMessages,
    /// The name of an algorithm
    Congestion,
    SctpAssociation,
    SctpEvents,
    /// The same with defaults for those that are not there, and three more (V3)
    SctpEventsOr,
    SctpInitial,
    SctpTimeouts,
    Structure(&'static Layout),
}
use OptionValue::*;

/// `IFNAMSIZ`, and the most that OTP takes for the name of an algorithm.
const DEVICE_ROOM: usize = 16;
const CONGESTION_ROOM: usize = 257;

const KINDS: &[(&str, i32)] = &[
    ("stream", libc::SOCK_STREAM),
    ("dgram", libc::SOCK_DGRAM),
    ("raw", libc::SOCK_RAW),
    ("seqpacket", libc::SOCK_SEQPACKET),
];
pub fn kind_number(t: Term<'_>) -> Option<i32> {
    let known = KINDS.iter().find(|(name, _)| is(t, name));
    known.map(|(_, n)| *n).or_else(|| small_int(t))
}
pub fn kind(h: &Heap, n: i32) -> Term<'_> {
    match KINDS.iter().find(|(_, number)| *number == n) {
        Some((name, _)) => atom(name),
        None if n == libc::SOCK_RDM => atom("rdm"),
        None => h.integer(n.into()),
    }
}

const DISCOVERY: &[(&str, i32)] = &[("dont", 0), ("want", 1), ("do", 2), ("probe", 3)];

/// `SCTP_EVENTS`: a byte each, in this order.
const EVENTS: [&str; 10] = [
    "data_io",
    "association",
    "address",
    "send_failure",
    "peer_error",
    "shutdown",
    "partial_delivery",
    "adaptation_layer",
    "authentication",
    "sender_dry",
];

/// The number of events in `EVENTS` that are on by default.
const DEFAULT_EVENTS: usize = 7;
const LATER_EVENTS: [&str; 3] = ["stream_reset", "assoc_reset", "stream_change"];
/// `None`: a value that is no boolean.
fn events(t: Term<'_>) -> Option<Vec<u8>> {
    t.as_map()?;
    let all = EVENTS.iter().chain(&LATER_EVENTS).enumerate();
    all.map(|(i, name)| match field(t, name) {
        Some(on) => on.as_bool().map(u8::from),
        None => Some((i < DEFAULT_EVENTS).into()),
    })
    .collect()
}

/// Encodes a value in the kernel's layout. `None`: an invalid value.
pub fn encode(v: OptionValue, t: Term<'_>, natives: SocketNatives) -> Option<Vec<u8>> {
    let int = |n: i32| n.to_ne_bytes().to_vec();
    let words = |all: &[u32]| all.iter().flat_map(|n| n.to_ne_bytes()).collect::<Vec<u8>>();
    Some(match v {
        Bool => int(t.as_bool()?.into()),
        Int => int(small_int(t)?),
        Unsigned => words(&[unsigned(t)?]),
        Linger if is(t, "abort") => words(&[1, 0]),
        Linger => {
            let on = field(t, "onoff")?.as_bool()?;
            let seconds = small_int(field(t, "linger")?).filter(|n| *n >= 0)?;
            words(&[on.into(), seconds as u32])
        }
        Device => text(t, DEVICE_ROOM, natives)?,
        Congestion => text(t, CONGESTION_ROOM, natives)?,
        Domain => int(domain_number(t)?),
        Tos => int(type_of_service::encode(t, natives)?),
        MtuDiscover => {
            let known = DISCOVERY.iter().find(|(name, _)| is(t, name));
            int(known.map(|(_, n)| *n).or_else(|| small_int(t))?)
        }
        Hops if is(t, "default") => int(-1),
        Hops => int(small_int(t).filter(|n| (0..=255).contains(n))?),
        Ipv4 => ipv4(t)?.octets().to_vec(),
        Membership => members(t, &["multiaddr", "interface"])?,
        SourceMembership => members(t, &["multiaddr", "interface", "sourceaddr"])?,
        SourceFilter => source_filter(t)?,
        Membership6 => {
            let mut b = ipv6(field(t, "multiaddr")?)?.octets().to_vec();
            b.extend(unsigned(field(t, "interface")?)?.to_ne_bytes());
            b
        }
        SctpAssociation => {
            let mut b = association(field(t, "assoc_id")?)?.to_ne_bytes().to_vec();
            b.extend(shorts(t, &["asocmaxrxt", "number_peer_destinations"])?);
            b.extend(longs(t, &["peer_rwnd", "local_rwnd", "cookie_life"])?);
            b
        }
        SctpEvents => {
            let of = |name: &&str| field(t, name).and_then(Term::as_bool).map(u8::from);
            EVENTS.iter().map(of).collect::<Option<_>>()?
        }
        SctpEventsOr => events(t)?,
        Structure(layout) => layout.encode(t)?,
        SctpInitial => {
            let names = ["num_outstreams", "max_instreams", "max_attempts", "max_init_timeo"];
            shorts(t, &names)?
        }
        SctpTimeouts => {
            let mut b = association(field(t, "assoc_id")?)?.to_ne_bytes().to_vec();
            b.extend(longs(t, &["initial", "max", "min"])?);
            b
        }
        Type | Protocol | ControlMessages => return None,
    })
}
/// Characters that leave room for the terminating NUL, which is not passed. Since V2 they may be a
/// binary, which ends at a NUL or where the room does.
fn text(t: Term<'_>, room: usize, natives: SocketNatives) -> Option<Vec<u8>> {
    match bytes(t).filter(|_| natives > SocketNatives::V1) {
        Some(b) => Some(b.iter().copied().take(room - 1).take_while(|c| *c != 0).collect()),
        None => latin1(t).filter(|b| b.len() < room),
    }
}
fn members(t: Term<'_>, names: &[&str]) -> Option<Vec<u8>> {
    let mut b: Vec<u8> = Vec::new();
    for name in names {
        b.extend(ipv4(field(t, name)?)?.octets());
    }
    Some(b)
}
/// `struct ip_msfilter`
fn source_filter(t: Term<'_>) -> Option<Vec<u8>> {
    if is(t, "null") {
        return Some(Vec::new());
    }
    let sources = field(t, "slist")?.list_to_vec()?;
    let mode = field(t, "mode")?;
    let mode: u32 = match () {
        () if is(mode, "exclude") => 0,
        () if is(mode, "include") => 1,
        () => return None,
    };
    let mut b = members(t, &["multiaddr", "interface"])?;
    b.extend(mode.to_ne_bytes());
    b.extend((sources.len() as u32).to_ne_bytes());
    for s in sources {
        b.extend(ipv4(s)?.octets());
    }
    Some(b)
}
fn association(t: Term<'_>) -> Option<i32> {
    small_int(t).or_else(|| unsigned(t).map(|n| n as i32))
}
/// The fields of a map, each a C `unsigned int`, truncated to 16 bits.
fn shorts(t: Term<'_>, names: &[&str]) -> Option<Vec<u8>> {
    let mut b = Vec::new();
    for name in names {
        b.extend((unsigned(field(t, name)?)? as u16).to_ne_bytes());
    }
    Some(b)
}
fn longs(t: Term<'_>, names: &[&str]) -> Option<Vec<u8>> {
    let mut b = Vec::new();
    for name in names {
        b.extend(unsigned(field(t, name)?)?.to_ne_bytes());
    }
    Some(b)
}

/// The largest size of a value, in bytes.
pub fn room(v: OptionValue, control_room: usize) -> usize {
    match v {
        Linger => 8,
        Device => DEVICE_ROOM + 1,
        Congestion => CONGESTION_ROOM,
        SctpAssociation => 20,
        SctpInitial => 8,
        SctpTimeouts => 16,
        ControlMessages => control_room,
        Structure(layout) => layout.size,
        _ => 4,
    }
}

/// Decodes a value. `local`: the socket is of domain `local`.
pub fn decode<'h>(
    h: &'h Heap,
    v: OptionValue,
    b: &[u8],
    local: bool,
    natives: SocketNatives,
) -> Term<'h> {
    let n = match *b {
        [one] => one.into(),
        _ => number32(b, 0).unwrap_or(0) as i32,
    };
    let number = |at| h.unsigned(number32(b, at).unwrap_or(0).into());
    let short = |at| h.integer(number16(b, at).unwrap_or(0).into());
    match v {
        Bool => Term::bool(n != 0),
        Int | Hops => h.integer(n.into()),
        Linger => {
            let seconds = h.integer((number32(b, 4).unwrap_or(0) as i32).into());
            record(h, &[("onoff", Term::bool(n != 0)), ("linger", seconds)])
        }
        Device => h.byte_list(b),
        Congestion => h.byte_list(b.strip_suffix(&[0]).unwrap_or(b)),
        Domain => domain(h, n),
        Type => kind(h, n),
        Protocol if n == 0 && local => am::default.into(),
        Protocol => h.integer(n.into()),
        Unsigned => number(0),
        Tos => type_of_service::decode(h, n, natives),
        MtuDiscover => match DISCOVERY.iter().find(|(_, number)| *number == n) {
            Some((name, _)) => atom(name),
            None => h.integer(n.into()),
        },
        Ipv4 => ipv4_tuple(h, b.first_chunk().copied().unwrap_or_default()),
        ControlMessages => control::decode(h, b, true, natives),
        SctpAssociation => record(
            h,
            &[
                ("assoc_id", number(0)),
                ("asocmaxrxt", short(4)),
                ("number_peer_destinations", short(6)),
                ("peer_rwnd", number(8)),
                ("local_rwnd", number(12)),
                ("cookie_life", number(16)),
            ],
        ),
        SctpInitial => record(
            h,
            &[
                ("num_outstreams", short(0)),
                ("max_instreams", short(2)),
                ("max_attempts", short(4)),
                ("max_init_timeo", short(6)),
            ],
        ),
        SctpTimeouts => record(
            h,
            &[
                ("assoc_id", number(0)),
                ("initial", number(4)),
                ("max", number(8)),
                ("min", number(12)),
            ],
        ),
        Structure(layout) => layout.decode(h, b),
        // These cannot be read, only set.
        Membership | SourceMembership | SourceFilter | Membership6 | SctpEvents | SctpEventsOr => {
            h.binary(b)
        }
    }
}
