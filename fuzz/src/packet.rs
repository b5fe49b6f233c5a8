//! What tells packets and lines apart: `erlang:decode_packet/3` with the sockets' decoders behind
//! it, and what ports do with what a program writes.
//!
//! The first bytes say which kind, which limits, and how the bytes come in.

use std::sync::OnceLock;

use kvik_port::input::{Input, InputPiece};
use kvik_port::packet::{self, Length, PacketKind, PacketLimits};
use kvik_proc::{Bif, Proc};
use kvik_term::{am, Atom, Term};

use crate::{bif, call};

const HEAD: usize = 4;
const KINDS: [PacketKind; 13] = [
    PacketKind::Raw,
    PacketKind::Length(1),
    PacketKind::Length(2),
    PacketKind::Length(4),
    PacketKind::Asn1,
    PacketKind::SunRm,
    PacketKind::Cdr,
    PacketKind::Fcgi,
    PacketKind::Line,
    PacketKind::Tpkt,
    PacketKind::Http,
    PacketKind::HttpHeader,
    PacketKind::SslTls,
];
const NAMES: [Atom; 15] = [
    am::raw,
    am::asn1,
    am::sunrm,
    am::cdr,
    am::fcgi,
    am::line,
    am::tpkt,
    am::http,
    am::httph,
    am::http_bin,
    am::httph_bin,
    am::ssl_tls,
    am::raw,
    am::line,
    am::http,
];

pub fn run(data: &[u8]) {
    crate::install();
    let Some((head, bytes)) = data.split_first_chunk::<HEAD>() else { return };
    let head = head.map(usize::from);
    if head[0] & 1 == 0 {
        decoded(head, bytes);
        lengths(head, bytes);
    } else {
        port(head, bytes);
    }
}

/// The BIF takes one packet after the other.
fn decoded(head: [usize; HEAD], bytes: &[u8]) {
    static DECODE: OnceLock<Bif> = OnceLock::new();
    let decode = *DECODE.get_or_init(|| bif("erlang", "decode_packet", 3));
    let p = Proc::new(1, 64);
    let h = &p.heap;
    let kind = match NAMES.get(head[1] & 31) {
        Some(a) => Term::from(*a),
        None => Term::int([0, 1, 2, 4][head[1] & 3]),
    };
    let option = |name: Atom, n: usize| h.tuple(&[name.into(), Term::int(n as i32)]);
    let mut options = vec![option(am::packet_size, head[2]), option(am::line_length, head[3])];
    if head[0] & 2 != 0 {
        options.push(option(am::line_delimiter, head[3]));
    }
    let mut rest = h.binary(bytes);
    while let Some(t) = call(&p, decode, &[kind, rest, h.list(&options)]) {
        let Some([ok, _, more]) = t.as_tuple_n::<3>() else { break };
        assert!(ok == am::ok);
        let size = |t: Term<'_>| t.as_bits().map_or(0, |b| b.byte_size());
        assert!(size(more) < size(rest), "nothing was taken");
        rest = more;
    }
}

/// What is known of a packet does not change when more bytes come.
fn lengths(head: [usize; HEAD], bytes: &[u8]) {
    let kind = KINDS[head[1] % KINDS.len()];
    let limits = PacketLimits { packet_size: head[2], line_length: head[3], delimiter: b'\n' };
    let in_headers = head[0] & 4 != 0;
    let all = packet::length(kind, bytes, limits, in_headers);
    let some = packet::length(kind, &bytes[..bytes.len() / 2], limits, in_headers);
    let settled = !matches!(kind, PacketKind::Raw | PacketKind::Http | PacketKind::HttpHeader);
    // A line that was cut may turn out to be one that is too long.
    if settled && limits.packet_size == 0 && some != Length::More {
        assert_eq!(all, some, "{kind:?}");
    }
    if let Length::Known(n) = all {
        let whole = &bytes[..n.min(bytes.len())];
        packet::body(kind, whole);
        packet::http(whole, in_headers);
        packet::ssl_tls(whole);
    }
}

/// A port's pieces are the same however the bytes come in.
fn port(head: [usize; HEAD], bytes: &[u8]) {
    let line = (head[0] & 2 != 0).then_some(head[1]);
    let packet = [0, 1, 2, 4][head[1] & 3];
    let at_once = pieces(line, packet, [bytes]);
    let by_bytes = pieces(line, packet, bytes.chunks(1 + head[2]));
    let halves = bytes.split_at(head[3].min(bytes.len()));
    let in_two = pieces(line, packet, [halves.0, halves.1]);
    if line.is_none() && packet == 0 {
        assert_eq!(at_once.concat(), by_bytes.concat());
        return;
    }
    assert_eq!(at_once, by_bytes);
    assert_eq!(at_once, in_two);
}

fn pieces<'b>(
    line: Option<usize>,
    packet: u8,
    parts: impl IntoIterator<Item = &'b [u8]>,
) -> Vec<Vec<u8>> {
    let mut got = Vec::new();
    let mut take = |piece: InputPiece<'_>| {
        let (kind, bytes) = match piece {
            InputPiece::Data(b) => (None, b),
            InputPiece::Eol(b) => (Some(b'E'), b),
            InputPiece::NoEol(b) => (Some(b'N'), b),
        };
        assert!(line.is_none_or(|most| bytes.len() <= most.max(1)));
        got.push(kind.into_iter().chain(bytes.iter().copied()).collect());
    };
    let mut input = Input::new(line, packet);
    for part in parts {
        input.feed(part, &mut take);
    }
    input.end(&mut take);
    got
}
