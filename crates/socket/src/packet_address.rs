//! Addresses of the link layer: `AF_PACKET`, and the hardware addresses of interfaces.

use kvik_heap::Heap;
use kvik_term::Term;

use crate::address::{native, number16, number32};
use crate::answer::{atom, record};

/// `ARPHRD_…` numbers that have names.
const HARDWARE: &[(u16, &str)] = &[
    (libc::ARPHRD_NETROM, "netrom"),
    (libc::ARPHRD_ETHER, "ether"),
    (libc::ARPHRD_EETHER, "eether"),
    (libc::ARPHRD_AX25, "ax25"),
    (libc::ARPHRD_PRONET, "pronet"),
    (libc::ARPHRD_CHAOS, "chaos"),
    (libc::ARPHRD_IEEE802, "ieee802"),
    (libc::ARPHRD_ARCNET, "arcnet"),
    (libc::ARPHRD_APPLETLK, "appletlk"),
    (libc::ARPHRD_DLCI, "dlci"),
    (libc::ARPHRD_ATM, "atm"),
    (libc::ARPHRD_METRICOM, "metricom"),
    (libc::ARPHRD_IEEE1394, "ieee1394"),
    (libc::ARPHRD_EUI64, "eui64"),
    (libc::ARPHRD_INFINIBAND, "infiniband"),
    (libc::ARPHRD_TUNNEL, "tunnel"),
    (libc::ARPHRD_TUNNEL6, "tunnel6"),
    (libc::ARPHRD_LOOPBACK, "loopback"),
    (libc::ARPHRD_LOCALTLK, "localtlk"),
    (libc::ARPHRD_NONE, "none"),
    (libc::ARPHRD_VOID, "void"),
];
/// Hardware types that have names as address families.
const HARDWARE_FAMILIES: &[u16] = &[
    libc::ARPHRD_NETROM,
    libc::ARPHRD_ETHER,
    libc::ARPHRD_IEEE802,
    libc::ARPHRD_DLCI,
    libc::ARPHRD_IEEE1394,
    libc::ARPHRD_LOOPBACK,
    libc::ARPHRD_NONE,
];
/// `PACKET_…`, by number.
const PACKET_KINDS: &[&str] =
    &["host", "broadcast", "multicast", "otherhost", "outgoing", "loopback", "user", "kernel"];

fn hardware(h: &Heap, n: u16) -> Term<'_> {
    let name = HARDWARE.iter().find(|(number, _)| *number == n);
    name.map_or_else(|| h.integer(n.into()), |(_, name)| atom(name))
}

/// `struct sockaddr_ll`
pub fn encode<'h>(h: &'h Heap, b: &[u8]) -> Option<Term<'h>> {
    let b = b.first_chunk::<20>()?;
    let kind = b[10];
    let kind = match PACKET_KINDS.get(usize::from(kind)) {
        Some(name) => atom(name),
        None => h.integer(kind.into()),
    };
    let len = usize::from(b[11]).min(8);
    Some(record(
        h,
        &[
            ("family", atom("packet")),
            ("protocol", h.integer(u16::from_be_bytes([b[2], b[3]]).into())),
            ("ifindex", h.integer((number32(b, 4)? as i32).into())),
            ("hatype", hardware(h, number16(b, 8)?)),
            ("pkttype", kind),
            ("addr", h.binary(&b[12..12 + len])),
        ],
    ))
}
/// A `sockaddr` whose family is a kind of hardware.
pub fn hardware_address<'h>(h: &'h Heap, b: &[u8]) -> Term<'h> {
    let n = number16(b, 0).unwrap_or(0);
    let family = match HARDWARE_FAMILIES.contains(&n) {
        true => hardware(h, n),
        false => h.integer(n.into()),
    };
    native(h, family, b)
}
