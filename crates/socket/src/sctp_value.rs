//! Values of SCTP's options that came with V3: structures of `linux/sctp.h` as maps.

use kvik_heap::Heap;
use kvik_term::Term;

use crate::address::{self, number16, number32, number64};
use crate::answer::{atom, field, is, record, small_int, unsigned};

/// `sockaddr_storage`
const ADDRESS_SIZE: usize = 128;

/// The type of a field.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Part {
    Association,
    Short,
    Long,
    Count,
    Address,
    /// Names of bits, in 16 of them.
    Flags(&'static [(&'static str, u32)]),
    /// Names of numbers.
    State(&'static [(&'static str, i32)]),
    Nested(&'static Layout),
}
use Part::*;

/// Whether a field is there when a value is set.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Set {
    Never,
    May,
    Must,
}

/// A map's key, the field's offset and type.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
struct Field {
    key: &'static str,
    at: usize,
    part: Part,
    set: Set,
}
const fn must(key: &'static str, at: usize, part: Part) -> Field {
    Field { key, at, part, set: Set::Must }
}
const fn may(key: &'static str, at: usize, part: Part) -> Field {
    Field { key, at, part, set: Set::May }
}
const fn told(key: &'static str, at: usize, part: Part) -> Field {
    Field { key, at, part, set: Set::Never }
}

/// What a value must name for an option to be read.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Query {
    None,
    /// These fields, if there is a value.
    Maybe(&'static [&'static str]),
    Always(&'static [&'static str]),
}

/// A structure.
#[derive(PartialEq, Eq, Debug)]
pub struct Layout {
    /// The value of `'$esock_name'` in a map that is read.
    name: &'static str,
    pub size: usize,
    fields: &'static [Field],
    query: Query,
}

pub const ADAPTATION_LAYER: Layout = Layout {
    name: "sctp_adaptation_layer",
    size: 4,
    fields: &[must("indication", 0, Long)],
    query: Query::None,
};
pub const ASSOCIATION: Layout = Layout {
    name: "sctp_associnfo",
    size: 20,
    fields: &[
        must("assoc_id", 0, Association),
        must("asocmaxrxt", 4, Short),
        must("number_peer_destinations", 6, Short),
        must("peer_rwnd", 8, Long),
        must("local_rwnd", 12, Long),
        must("cookie_life", 16, Long),
    ],
    query: Query::None,
};
const SEND_FLAGS: &[(&str, u32)] =
    &[("unordered", 1), ("addr_over", 2), ("abort", 4), ("eof", libc::MSG_FIN as u32)];
pub const SEND_PARAMETERS: Layout = Layout {
    name: "sctp_send_recv_info",
    size: 32,
    fields: &[
        must("stream", 0, Short),
        told("ssn", 2, Short),
        must("flags", 4, Flags(SEND_FLAGS)),
        must("ppid", 8, Long),
        must("context", 12, Long),
        must("time_to_live", 16, Long),
        told("tsn", 20, Long),
        told("cum_tsn", 24, Long),
        may("assoc_id", 28, Association),
    ],
    query: Query::None,
};
/// A primary address: `sctp_prim` and `sctp_setpeerprim`.
pub const PRIMARY_ADDRESS: Layout = Layout {
    name: "",
    size: 4 + ADDRESS_SIZE,
    fields: &[must("assoc_id", 0, Association), must("addr", 4, Address)],
    query: Query::None,
};
const PATH_STATES: &[(&str, i32)] = &[
    ("inactive", 0),
    ("potentially_failed", 1),
    ("active", 2),
    ("unconfirmed", 3),
    ("unknown", 0xffff),
];
pub const PEER_ADDRESS: Layout = Layout {
    name: "sctp_paddrinfo",
    size: 152,
    fields: &[
        told("assoc_id", 0, Association),
        told("address", 4, Address),
        told("state", 132, State(PATH_STATES)),
        told("cwnd", 136, Long),
        told("srtt", 140, Long),
        told("rto", 144, Long),
        told("mtu", 148, Long),
    ],
    query: Query::Always(&["addr", "assoc_id"]),
};
const ASSOCIATION_STATES: &[(&str, i32)] = &[
    ("empty", 0),
    ("closed", 1),
    ("cookie_wait", 2),
    ("cookie_echoed", 3),
    ("established", 4),
    ("shutdown_pending", 5),
    ("shutdown_sent", 6),
    ("shutdown_received", 7),
    ("shutdown_ack_sent", 8),
];
pub const STATUS: Layout = Layout {
    name: "sctp_status",
    size: 24 + 152,
    fields: &[
        told("assoc_id", 0, Association),
        told("state", 4, State(ASSOCIATION_STATES)),
        told("rwnd", 8, Long),
        told("unacked_data", 12, Short),
        told("pending_data", 14, Short),
        told("in_streams", 16, Short),
        told("out_streams", 18, Short),
        told("fragmentation_point", 20, Long),
        told("primary", 24, Nested(&PEER_ADDRESS)),
    ],
    query: Query::Maybe(&["assoc_id"]),
};
pub const STATISTICS: Layout = Layout {
    name: "sctp_assoc_stats",
    size: 256,
    fields: &[
        told("assoc_id", 0, Association),
        told("max_rto_addr", 8, Address),
        told("max_rto", 136, Count),
        told("in_sacks", 144, Count),
        told("out_sacks", 152, Count),
        told("out_packets", 160, Count),
        told("in_packets", 168, Count),
        told("rtx_chunks", 176, Count),
        told("out_of_seq_tsns", 184, Count),
        told("in_dup_chunks", 192, Count),
        told("gap_ack_recv", 200, Count),
        told("out_unordered_chunks", 208, Count),
        told("in_unordered_chunks", 216, Count),
        told("out_ordered_chunks", 224, Count),
        told("in_ordered_chunks", 232, Count),
        told("out_ctrl_chunks", 240, Count),
        told("in_ctrl_chunks", 248, Count),
    ],
    query: Query::None,
};

impl Layout {
    /// The structure of a map. `None`: an invalid value.
    pub fn encode(&self, t: Term<'_>) -> Option<Vec<u8>> {
        t.as_map()?;
        let mut b = vec![0; self.size];
        for f in self.fields {
            let value = match (f.set, field(t, f.key)) {
                (Set::Never, _) | (Set::May, None) => continue,
                (_, value) => value?,
            };
            f.part.write(&mut b[f.at..], value)?;
        }
        Some(b)
    }
    /// The structure that is passed when the option is read. `None`: an invalid value.
    pub fn query(&self, value: Option<Term<'_>>) -> Option<Vec<u8>> {
        let mut b = vec![0; self.size];
        let (keys, value) = match (self.query, value) {
            (Query::None, _) | (Query::Maybe(_), None) => return Some(b),
            (Query::Maybe(keys) | Query::Always(keys), value) => (keys, value?),
        };
        for key in keys {
            let (at, part) = match *key {
                "addr" => (4, Address),
                _ => (0, Association),
            };
            part.write(&mut b[at..], field(value, key)?)?;
        }
        Some(b)
    }
    pub fn decode<'h>(&self, h: &'h Heap, b: &[u8]) -> Term<'h> {
        let mut b = b.to_vec();
        b.resize(self.size, 0);
        let mut fields = Vec::new();
        if !self.name.is_empty() {
            fields.push(("$esock_name", atom(self.name)));
        }
        fields.extend(self.fields.iter().map(|f| (f.key, f.part.read(h, &b[f.at..]))));
        record(h, &fields)
    }
}

impl Part {
    fn write(self, to: &mut [u8], t: Term<'_>) -> Option<()> {
        let bytes = match self {
            Association => small_int(t).or(unsigned(t).map(|n| n as i32))?.to_ne_bytes().to_vec(),
            Short => (unsigned(t)? as u16).to_ne_bytes().to_vec(),
            Long => unsigned(t)?.to_ne_bytes().to_vec(),
            Address => address::decode(t)?.bytes().to_vec(),
            Flags(names) => (bits(names, t)? as u16).to_ne_bytes().to_vec(),
            Count | State(_) | Nested(_) => return None,
        };
        to.get_mut(..bytes.len())?.copy_from_slice(&bytes);
        Some(())
    }
    fn read<'h>(self, h: &'h Heap, b: &[u8]) -> Term<'h> {
        let long = number32(b, 0).unwrap_or(0);
        let short = number16(b, 0).unwrap_or(0);
        match self {
            Association | Long => h.unsigned(long.into()),
            Short => h.integer(short.into()),
            Count => h.unsigned(number64(b, 0).unwrap_or(0)),
            Address => address::encode(h, b.get(..ADDRESS_SIZE).unwrap_or(b)),
            Flags(names) => {
                let named = names.iter().filter(|(_, bit)| u32::from(short) & bit != 0);
                h.list(&named.map(|(name, _)| atom(name)).collect::<Vec<_>>())
            }
            State(names) => match names.iter().find(|(_, n)| *n == long as i32) {
                Some((name, _)) => atom(name),
                None => h.integer((long as i32).into()),
            },
            Nested(layout) => layout.decode(h, b),
        }
    }
}
/// A number, or a list of names.
fn bits(names: &[(&str, u32)], t: Term<'_>) -> Option<u32> {
    if let Some(n) = unsigned(t) {
        return Some(n);
    }
    let bit = |t: Term| names.iter().find(|(name, _)| is(t, name)).map(|(_, bit)| *bit);
    t.list_to_vec()?.into_iter().try_fold(0, |all, t| Some(all | bit(t)?))
}
