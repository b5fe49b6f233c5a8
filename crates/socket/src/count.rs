//! Counts of open sockets, by domain, type and protocol.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use kvik_heap::Heap;
use kvik_release::SocketNatives;
use kvik_term::Term;

use crate::answer::record;
use crate::natives::natives;

/// A counter: its name in `socket:info/0`, and which sockets it counts.
struct Kind {
    name: &'static str,
    counts: fn(domain: i32, kind: i32, protocol: i32) -> bool,
}
const KINDS: [Kind; 11] = [
    Kind { name: "num_sockets", counts: |_, _, _| true },
    Kind { name: "num_tdgrams", counts: |_, k, _| k == libc::SOCK_DGRAM },
    Kind { name: "num_tstreams", counts: |_, k, _| k == libc::SOCK_STREAM },
    Kind { name: "num_tseqpkgs", counts: |_, k, _| k == libc::SOCK_SEQPACKET },
    // OTP 25 counts local sockets as those of `inet6`.
    Kind { name: "num_dlocal", counts: |_, _, _| false },
    Kind { name: "num_dinet", counts: |d, _, _| d == libc::AF_INET },
    Kind { name: "num_dinet6", counts: |d, _, _| d == libc::AF_INET6 || d == libc::AF_UNIX },
    Kind { name: "num_pip", counts: |_, _, p| p == libc::IPPROTO_IP },
    Kind { name: "num_psctp", counts: |_, _, p| p == libc::IPPROTO_SCTP },
    Kind { name: "num_ptcp", counts: |_, _, p| p == libc::IPPROTO_TCP || is_counted_mptcp(p) },
    Kind { name: "num_pudp", counts: |_, _, p| p == libc::IPPROTO_UDP },
];
fn is_counted_mptcp(protocol: i32) -> bool {
    protocol == libc::IPPROTO_MPTCP && natives() >= SocketNatives::V3
}
kvik_state::vm_state! {
    static COUNTS: [AtomicU64; KINDS.len()] = [const { AtomicU64::new(0) }; KINDS.len()];
}

fn counted(domain: i32, kind: i32, protocol: i32) -> impl Iterator<Item = &'static AtomicU64> {
    let all = KINDS.iter().zip(COUNTS.iter());
    all.filter(move |(k, _)| (k.counts)(domain, kind, protocol)).map(|(_, count)| count)
}
pub fn opened(domain: i32, kind: i32, protocol: i32) {
    for c in counted(domain, kind, protocol) {
        c.fetch_add(1, Relaxed);
    }
}
pub fn closed(domain: i32, kind: i32, protocol: i32) {
    for c in counted(domain, kind, protocol) {
        c.fetch_sub(1, Relaxed);
    }
}

pub fn all(h: &Heap) -> Term<'_> {
    let mut fields = vec![("num_cnt_bits", h.integer(64))];
    for (k, n) in KINDS.iter().zip(COUNTS.iter()) {
        fields.push((k.name, h.unsigned(n.load(Relaxed))));
    }
    record(h, &fields)
}
