//! `nif_supports`: features of the system, with the numbers that `prim_socket` passes.

use kvik_env::socket::raw::{self as sys, SIOCATMARK, SIOCGIFTXQLEN, SIOCSIFTXQLEN};
use kvik_heap::Heap;
use kvik_proc::{BifResult, Proc};
use kvik_release::SocketNatives::{self, V1, V2, V3};
use kvik_term::{Atom, Term};

use crate::answer::atom;
use crate::control::level;
use crate::natives::natives;
use crate::option_table::{Opt, LEVELS};

/// `MSG_…`
pub const MESSAGE_FLAGS: &[(&str, i32)] = &[
    ("cmsg_cloexec", libc::MSG_CMSG_CLOEXEC),
    ("confirm", libc::MSG_CONFIRM),
    ("ctrunc", libc::MSG_CTRUNC),
    ("dontroute", libc::MSG_DONTROUTE),
    ("eor", libc::MSG_EOR),
    ("errqueue", libc::MSG_ERRQUEUE),
    ("more", libc::MSG_MORE),
    ("nosignal", libc::MSG_NOSIGNAL),
    ("oob", libc::MSG_OOB),
    ("peek", libc::MSG_PEEK),
    ("trunc", libc::MSG_TRUNC),
];

/// Since V3. The number is that of `more`: SCTP uses it for its own purpose.
const NOTIFICATION: (&str, i32) = ("notification", 0x8000);

/// `IFF_…`; 0 for those of other systems.
pub const INTERFACE_FLAGS: &[(&str, i32)] = &[
    ("up", libc::IFF_UP),
    ("broadcast", libc::IFF_BROADCAST),
    ("debug", libc::IFF_DEBUG),
    ("loopback", libc::IFF_LOOPBACK),
    ("pointopoint", libc::IFF_POINTOPOINT),
    ("notrailers", libc::IFF_NOTRAILERS),
    ("knowsepoch", 0),
    ("running", libc::IFF_RUNNING),
    ("noarp", libc::IFF_NOARP),
    ("promisc", libc::IFF_PROMISC),
    ("allmulti", libc::IFF_ALLMULTI),
    ("master", libc::IFF_MASTER),
    ("oactive", 0),
    ("slave", libc::IFF_SLAVE),
    ("simplex", 0),
    ("link0", 0),
    ("link1", 0),
    ("link2", 0),
    ("multicast", libc::IFF_MULTICAST),
    ("portsel", libc::IFF_PORTSEL),
    ("automedia", libc::IFF_AUTOMEDIA),
    ("cantconfig", 0),
    ("ppromisc", 0),
    ("dynamic", libc::IFF_DYNAMIC),
    ("monitor", 0),
    ("staticarp", 0),
    ("dying", 0),
    ("renaming", 0),
    ("nogroup", 0),
    ("lower_up", 0x1_0000),
    ("dormant", 0x2_0000),
    ("echo", 0x4_0000),
];

/// Since V2.
const LATER_INTERFACE_FLAGS: [(&str, i32); 2] = [("dhcprunning", 0), ("private", 0)];

/// `SIOC…`, of `netdevice(7)`.
const REQUESTS: &[(&str, u64)] = &[
    ("gifname", libc::SIOCGIFNAME),
    ("gifindex", libc::SIOCGIFINDEX),
    ("gifflags", libc::SIOCGIFFLAGS),
    ("gifaddr", libc::SIOCGIFADDR),
    ("gifdstaddr", libc::SIOCGIFDSTADDR),
    ("gifbrdaddr", libc::SIOCGIFBRDADDR),
    ("gifnetmask", libc::SIOCGIFNETMASK),
    ("gifmtu", libc::SIOCGIFMTU),
    ("gifhwaddr", libc::SIOCGIFHWADDR),
    ("gifmap", libc::SIOCGIFMAP),
    ("giftxqlen", SIOCGIFTXQLEN),
    ("gifconf", libc::SIOCGIFCONF),
    ("sifflags", libc::SIOCSIFFLAGS),
    ("sifaddr", libc::SIOCSIFADDR),
    ("sifdstaddr", libc::SIOCSIFDSTADDR),
    ("sifbrdaddr", libc::SIOCSIFBRDADDR),
    ("sifmtu", libc::SIOCSIFMTU),
    ("siftxqlen", SIOCSIFTXQLEN),
];

/// Since V2.
const LATER_REQUESTS: [(&str, u64); 2] = [("nread", libc::FIONREAD), ("atmark", SIOCATMARK)];

pub fn supports_0<'h>(p: &'h Proc, _: &[Term<'h>]) -> BifResult<'h> {
    let all = ["sctp", "ipv6", "local", "netns", "sendfile"]
        .map(|name| p.heap.tuple(&[atom(name), kvik_term::am::true_.into()]));
    Ok(p.heap.list(&all))
}

/// A list of names with numbers, in reverse order of the table.
fn pairs<'h>(h: &'h Heap, all: impl DoubleEndedIterator<Item = (&'static str, u64)>) -> Term<'h> {
    let pairs: Vec<_> = all.rev().map(|(name, n)| h.tuple(&[atom(name), h.unsigned(n)])).collect();
    h.list(&pairs)
}

pub fn supports_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (h, natives) = (&p.heap, natives());
    /// The rows that only some natives have.
    fn only<T: Copy, const N: usize>(
        there: bool,
        rows: [T; N],
    ) -> impl DoubleEndedIterator<Item = T> {
        rows.into_iter().filter(move |_| there)
    }
    let number = |(name, n): (&'static str, i32)| (name, n as u64);
    Ok(match a[0].as_atom().map(|k| k.name()) {
        Some("msg_flags") => {
            let later = only(natives >= V3, [NOTIFICATION]);
            pairs(h, MESSAGE_FLAGS.iter().copied().chain(later).map(number))
        }
        Some("ioctl_flags") => {
            let later = only(natives >= V2, LATER_INTERFACE_FLAGS);
            pairs(h, INTERFACE_FLAGS.iter().copied().chain(later).map(number))
        }
        Some("ioctl_requests") => {
            let later = only(natives >= V2, LATER_REQUESTS);
            pairs(h, REQUESTS.iter().copied().chain(later))
        }
        Some("protocols") => protocols(h, natives),
        Some("options") => options(h, natives),
        _ => Term::NIL,
    })
}

/// `[{[Name, …], Number}, …]`: protocols that have options first, then the system's list reversed.
fn protocols(h: &Heap, natives: SocketNatives) -> Term<'_> {
    const OWN: [(&str, i32, SocketNatives); 7] = [
        ("mptcp", libc::IPPROTO_MPTCP, V3),
        ("igmp", libc::IPPROTO_IGMP, V2),
        ("sctp", libc::IPPROTO_SCTP, V1),
        ("udp", libc::IPPROTO_UDP, V1),
        ("tcp", libc::IPPROTO_TCP, V1),
        ("ipv6", libc::IPPROTO_IPV6, V1),
        ("ip", libc::IPPROTO_IP, V1),
    ];
    let of = |names: Vec<Term<'static>>, n: i32| h.tuple(&[h.list(&names), h.integer(n.into())]);
    let own = OWN.iter().filter(|(_, _, since)| *since <= natives);
    let mut all: Vec<Term> = own.map(|(name, n, _)| of(vec![atom(name)], *n)).collect();
    for (name, aliases, n) in sys::protocols().into_iter().rev() {
        let aliases = aliases.iter().rev().filter_map(|a| latin1_atom(a));
        all.push(of(latin1_atom(&name).into_iter().chain(aliases).collect(), n));
    }
    h.list(&all)
}
fn latin1_atom(bytes: &[u8]) -> Option<Term<'static>> {
    let name: String = bytes.iter().map(|c| char::from(*c)).collect();
    Atom::intern(&name).ok().map(Term::atom)
}
/// Makes the atoms of `protocols` in the order in which OTP makes them.
pub fn name_protocols() {
    for (name, aliases, _) in sys::protocols() {
        for name in aliases.iter().chain([&name]) {
            latin1_atom(name);
        }
    }
}

/// `[{Level, [{Name, Number} | Name, …]}, …]`: a name alone is an unsupported option. A level is
/// `socket` or a number; in V3 it is a name, and a number follows.
fn options(h: &Heap, natives: SocketNatives) -> Term<'_> {
    let mut levels = Vec::new();
    for l in LEVELS.iter().rev() {
        let one = |o: &Opt| match o.is_there() {
            true => h.tuple(&[atom(o.name), h.integer(o.number.into())]),
            false => atom(o.name),
        };
        let options = h.list(&l.options(natives).rev().map(one).collect::<Vec<_>>());
        levels.push(match natives {
            V1 | V2 => h.tuple(&[level(h, l.number), options]),
            V3 => h.tuple(&[atom(l.name), h.integer(l.number.into()), options]),
        });
    }
    h.list(&levels)
}
