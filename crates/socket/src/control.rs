//! Control messages (ancillary data). In the kernel's layout each has a header (its length
//! including the header, level, type), its data, and padding that aligns the next.

use kvik_heap::Heap;
use kvik_release::SocketNatives;
use kvik_term::Term;

use crate::address::{self, ipv4_tuple, ipv6_tuple, number32, number64};
use crate::answer::{atom, bytes, field, is, record, small_int};
use crate::type_of_service;

const HEAD: usize = size_of::<libc::cmsghdr>();

fn aligned(n: usize) -> usize {
    n.next_multiple_of(size_of::<usize>())
}

/// The kind of data of a control message's type.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Data {
    /// Returned only as bytes.
    Raw,
    /// A `timeval`
    Time,
    /// A `timespec`
    NanoTime,
    Tos,
    Int,
    Byte,
    Ipv4Packet,
    Ipv6Packet,
    Address,
    Error,
}
struct Kind {
    level: i32,
    number: i32,
    name: &'static str,
    data: Data,
    /// Whether it can be sent by its value.
    sent: bool,
    /// The natives that know it first.
    since: SocketNatives,
}
const fn kind(level: i32, number: i32, name: &'static str, data: Data, sent: bool) -> Kind {
    Kind { level, number, name, data, sent, since: SocketNatives::V1 }
}
impl Kind {
    const fn since(self, since: SocketNatives) -> Kind {
        Kind { since, ..self }
    }
}
const SOCKET: i32 = libc::SOL_SOCKET;
const IP: i32 = libc::IPPROTO_IP;
const IPV6: i32 = libc::IPPROTO_IPV6;
#[rustfmt::skip]
const KINDS: &[Kind] = &[
    kind(SOCKET, libc::SCM_CREDENTIALS, "credentials", Data::Raw, false),
    kind(SOCKET, libc::SCM_RIGHTS, "rights", Data::Raw, false),
    kind(SOCKET, libc::SCM_TIMESTAMP, "timestamp", Data::Time, true),
    kind(SOCKET, libc::SO_TIMESTAMPNS, "timestampns", Data::NanoTime, true).since(SocketNatives::V3),
    kind(IP, libc::IP_TOS, "tos", Data::Tos, true),
    kind(IP, libc::IP_TTL, "ttl", Data::Int, true),
    kind(IP, libc::IP_RECVTTL, "recvttl", Data::Byte, false),
    kind(IP, libc::IP_PKTINFO, "pktinfo", Data::Ipv4Packet, false),
    kind(IP, libc::IP_ORIGDSTADDR, "origdstaddr", Data::Address, false),
    kind(IP, libc::IP_RECVTOS, "recvtos", Data::Tos, false),
    kind(IP, libc::IP_RECVERR, "recverr", Data::Error, false),
    kind(IPV6, libc::IPV6_PKTINFO, "pktinfo", Data::Ipv6Packet, false),
    kind(IPV6, libc::IPV6_HOPLIMIT, "hoplimit", Data::Int, true),
    kind(IPV6, libc::IPV6_TCLASS, "tclass", Data::Int, true),
    kind(IPV6, libc::IPV6_RECVTCLASS, "recvtclass", Data::Int, false),
    kind(IPV6, libc::IPV6_RECVERR, "recverr", Data::Error, false),
    kind(IPV6, libc::IPV6_FLOWINFO, "flowinfo", Data::Int, false).since(SocketNatives::V3),
];

/// `socket`, or the number of a protocol.
pub fn level(h: &Heap, n: i32) -> Term<'_> {
    match n {
        libc::SOL_SOCKET => atom("socket"),
        n => h.integer(n.into()),
    }
}
pub fn level_number(t: Term<'_>) -> Option<i32> {
    match is(t, "socket") {
        true => Some(libc::SOL_SOCKET),
        false => small_int(t),
    }
}

/// A list of `#{level, type, data, value}`; `value` if the type is known. Truncated data end the
/// list, with `bad_data` unless they are those of an option.
pub fn decode<'h>(h: &'h Heap, mut b: &[u8], of_option: bool, natives: SocketNatives) -> Term<'h> {
    let mut all = Vec::new();
    while b.len() >= HEAD {
        let len = number64(b, 0).unwrap_or(0) as usize;
        let (level_number, number) = (int_at(b, 8), int_at(b, 12));
        let Some(data) = b.get(HEAD..len) else {
            if !of_option {
                all.push(atom("bad_data"));
            }
            break;
        };
        let kind = known(natives).find(|k| k.level == level_number && k.number == number);
        let name = kind.map_or_else(|| h.integer(number.into()), |k| atom(k.name));
        let mut fields =
            vec![("level", level(h, level_number)), ("type", name), ("data", h.binary(data))];
        if let Some(value) = kind.and_then(|k| value(h, k.data, data, natives)) {
            fields.push(("value", value));
        }
        all.push(record(h, &fields));
        b = b.get(aligned(len)..).unwrap_or_default();
    }
    h.list(&all)
}
fn known(natives: SocketNatives) -> impl Iterator<Item = &'static Kind> {
    KINDS.iter().filter(move |k| k.since <= natives)
}
/// The name of the part of a time that is less than a second.
fn fraction(data: Data) -> &'static str {
    match data {
        Data::NanoTime => "nsec",
        _ => "usec",
    }
}
fn int_at(b: &[u8], at: usize) -> i32 {
    number32(b, at).unwrap_or(0) as i32
}

fn value<'h>(h: &'h Heap, data: Data, b: &[u8], natives: SocketNatives) -> Option<Term<'h>> {
    let int = |at| Some(h.integer((number32(b, at)? as i32).into()));
    Some(match data {
        Data::Raw => return None,
        Data::Time | Data::NanoTime => {
            let long = |at| Some(h.integer(number64(b, at)? as i64));
            record(h, &[("sec", long(0)?), (fraction(data), long(8)?)])
        }
        Data::Tos => type_of_service::decode(h, (*b.first()?).into(), natives),
        Data::Int => int(0)?,
        Data::Byte => h.integer((*b.first()?).into()),
        Data::Ipv4Packet => {
            let b = b.first_chunk::<12>()?;
            let index = h.unsigned(number32(b, 0)?.into());
            let ip = |at: usize| ipv4_tuple(h, [b[at], b[at + 1], b[at + 2], b[at + 3]]);
            record(h, &[("ifindex", index), ("spec_dst", ip(4)), ("addr", ip(8))])
        }
        Data::Ipv6Packet => {
            let (ip, _) = b.split_first_chunk::<16>()?;
            record(h, &[("addr", ipv6_tuple(h, *ip)), ("ifindex", int(16)?)])
        }
        Data::Address => address::encode(h, b),
        Data::Error => error(h, b)?,
    })
}

/// Names of the origins in `struct sock_extended_err`, by number.
const ORIGINS: &[&str] = &["none", "local", "icmp", "icmp6", "txstatus", "zerocopy", "txtime"];
const ICMP: u8 = 2;
const ICMP6: u8 = 3;
/// ICMP types and their names, and the names of the codes of type `dest_unreach`.
type Kinds = &'static [(u8, &'static str)];
const ICMP_TYPES: Kinds = &[(3, "dest_unreach"), (11, "time_exceeded")];
#[rustfmt::skip]
const ICMP_CODES: Kinds = &[
    (0, "net_unreach"), (1, "host_unreach"), (3, "port_unreach"), (4, "frag_needed"),
    (6, "net_unknown"), (7, "host_unknown"),
];
const ICMP6_TYPES: Kinds = &[(1, "dest_unreach"), (2, "pkt_toobig"), (3, "time_exceeded")];
#[rustfmt::skip]
const ICMP6_CODES: Kinds = &[
    (0, "noroute"), (1, "adm_prohibited"), (2, "not_neighbour"), (3, "addr_unreach"),
    (4, "port_unreach"), (5, "policy_fail"), (6, "reject_route"),
];

/// `struct sock_extended_err`, followed by the address of the node that reports the error.
fn error<'h>(h: &'h Heap, b: &[u8]) -> Option<Term<'h>> {
    let (e, offender) = b.split_first_chunk::<16>()?;
    let [origin, kind, code] = [e[4], e[5], e[6]];
    let number = |n: u8| h.integer(n.into());
    let named = |table: Kinds, n: u8| {
        let name = table.iter().find(|(number, _)| *number == n);
        name.map_or_else(|| number(n), |(_, name)| atom(name))
    };
    let (types, codes): (Kinds, Kinds) = match origin {
        ICMP => (ICMP_TYPES, ICMP_CODES),
        ICMP6 => (ICMP6_TYPES, ICMP6_CODES),
        _ => (&[], &[]),
    };
    let unreachable = types.first().is_some_and(|(n, _)| *n == kind);
    let int = |at| h.integer(int_at(e, at).into());
    let origin = ORIGINS.get(usize::from(origin)).map_or_else(|| number(origin), |o| atom(o));
    let mut fields = vec![
        ("error", atom(kvik_env::Errno(int_at(e, 0)).name())),
        ("origin", origin),
        ("type", named(types, kind)),
        ("code", if unreachable { named(codes, code) } else { number(code) }),
        ("info", int(8)),
        ("data", int(12)),
    ];
    if !offender.is_empty() {
        fields.push(("offender", address::encode(h, offender)));
    }
    Some(record(h, &fields))
}

/// Encodes control messages in the kernel's layout, in at most `room` bytes. `None`: invalid ones.
pub fn encode(list: Term<'_>, room: usize, natives: SocketNatives) -> Option<Vec<u8>> {
    let mut all = Vec::new();
    for t in list.list_to_vec()? {
        let (level, kind) = (level_number(field(t, "level")?)?, field(t, "type")?);
        let known = known(natives).find(|k| k.level == level && is(kind, k.name));
        let (number, data) = match (field(t, "data"), field(t, "value")) {
            (Some(data), None) => {
                let number = small_int(kind).or(known.map(|k| k.number))?;
                (number, data_of(data)?)
            }
            (None, Some(value)) => {
                let known = known.filter(|k| k.sent)?;
                (known.number, value_of(known.data, value, natives)?)
            }
            _ => return None,
        };
        all.extend((HEAD + data.len()).to_ne_bytes());
        all.extend(level.to_ne_bytes());
        all.extend(number.to_ne_bytes());
        all.extend(data);
        all.resize(aligned(all.len()), 0);
        if all.len() > room {
            return None;
        }
    }
    Some(all)
}
fn data_of(t: Term<'_>) -> Option<Vec<u8>> {
    if let Some(b) = bytes(t) {
        return Some(b.into_owned());
    }
    let n = small_int(t).or(t.as_bool().map(i32::from))?;
    Some(n.to_ne_bytes().to_vec())
}
fn value_of(data: Data, t: Term<'_>, natives: SocketNatives) -> Option<Vec<u8>> {
    match data {
        Data::Time | Data::NanoTime => {
            let part = |name| Some(field(t, name)?.as_i64()?.to_ne_bytes());
            Some([part("sec")?, part(fraction(data))?].concat())
        }
        Data::Tos => Some(type_of_service::encode(t, natives)?.to_ne_bytes().to_vec()),
        Data::Int => Some(small_int(t)?.to_ne_bytes().to_vec()),
        _ => None,
    }
}
