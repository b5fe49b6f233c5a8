//! `nif_supports`: features of the system, with the numbers that `prim_socket` passes.

use kvik_env::socket::raw::{self as sys, SIOCGIFTXQLEN, SIOCSIFTXQLEN};
use kvik_heap::Heap;
use kvik_proc::{BifResult, Proc};
use kvik_term::{Atom, Term};

use crate::answer::atom;
use crate::control::level;
use crate::option_table::LEVELS;

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
    let h = &p.heap;
    let flags =
        |table: &'static [(&str, i32)]| pairs(h, table.iter().map(|(k, v)| (*k, *v as u64)));
    Ok(match a[0].as_atom().map(|k| k.name()) {
        Some("msg_flags") => flags(MESSAGE_FLAGS),
        Some("ioctl_flags") => flags(INTERFACE_FLAGS),
        Some("ioctl_requests") => pairs(h, REQUESTS.iter().copied()),
        Some("protocols") => protocols(h),
        Some("options") => options(h),
        _ => Term::NIL,
    })
}

/// `[{[Name, …], Number}, …]`: protocols that have options first, then the system's list reversed.
fn protocols(h: &Heap) -> Term<'_> {
    const OWN: [(&str, i32); 5] = [
        ("sctp", libc::IPPROTO_SCTP),
        ("udp", libc::IPPROTO_UDP),
        ("tcp", libc::IPPROTO_TCP),
        ("ipv6", libc::IPPROTO_IPV6),
        ("ip", libc::IPPROTO_IP),
    ];
    let of = |names: Vec<Term<'static>>, n: i32| h.tuple(&[h.list(&names), h.integer(n.into())]);
    let mut all: Vec<Term> = OWN.iter().map(|(name, n)| of(vec![atom(name)], *n)).collect();
    let text = |b: &[u8]| {
        let name: String = b.iter().map(|c| char::from(*c)).collect();
        Atom::intern(&name).ok().map(Term::atom)
    };
    for (name, aliases, n) in sys::protocols().into_iter().rev() {
        let aliases = aliases.iter().rev().filter_map(|a| text(a));
        all.push(of(text(&name).into_iter().chain(aliases).collect(), n));
    }
    h.list(&all)
}

/// `[{Level, [{Name, Number} | Name, …]}, …]`: a name alone is an unsupported option.
fn options(h: &Heap) -> Term<'_> {
    let mut levels = Vec::new();
    for (number, table) in LEVELS.iter().rev() {
        let mut options: Vec<Term> = Vec::new();
        for o in table.iter().rev() {
            let name = atom(o.name);
            options.push(match o.is_there() {
                true => h.tuple(&[name, h.integer(o.number.into())]),
                false => name,
            });
        }
        levels.push(h.tuple(&[level(h, *number), h.list(&options)]));
    }
    h.list(&levels)
}
