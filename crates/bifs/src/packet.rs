//! `erlang:decode_packet/3`.

use kvik_port::packet::{self, Length, PacketKind, PacketLimits};
use kvik_port::packet_term::http_term;
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{am, Term};

use crate::iolist::whole_bytes;

pub const BIFS: &[BifEntry] = &[bif!("erlang", "decode_packet", 3, decode_packet_3)];

/// The packet type, and whether HTTP strings are binaries.
fn kind(t: Term<'_>) -> Option<(PacketKind, bool)> {
    let k = match (t.as_small(), t.as_atom()) {
        (Some(0), _) | (_, Some(am::raw)) => PacketKind::Raw,
        (Some(n @ (1 | 2 | 4)), _) => PacketKind::Length(n as u8),
        (_, Some(a)) => match a {
            am::asn1 => PacketKind::Asn1,
            am::sunrm => PacketKind::SunRm,
            am::cdr => PacketKind::Cdr,
            am::fcgi => PacketKind::Fcgi,
            am::line => PacketKind::Line,
            am::tpkt => PacketKind::Tpkt,
            am::http => PacketKind::Http,
            am::httph => PacketKind::HttpHeader,
            am::http_bin => return Some((PacketKind::Http, true)),
            am::httph_bin => return Some((PacketKind::HttpHeader, true)),
            am::ssl_tls => PacketKind::SslTls,
            _ => return None,
        },
        _ => return None,
    };
    Some((k, false))
}

fn limits(t: Term<'_>, kind: PacketKind) -> Option<PacketLimits> {
    let mut l = PacketLimits { packet_size: 0, line_length: 0, delimiter: b'\n' };
    for o in t.list_to_vec()? {
        let [k, v] = o.as_tuple_n()?;
        let v = u32::try_from(v.as_u64()?).ok()?;
        match k.as_atom()? {
            am::packet_size => l.packet_size = v as usize,
            am::line_length => l.line_length = v as usize,
            am::line_delimiter if kind == PacketKind::Line => l.delimiter = u8::try_from(v).ok()?,
            _ => return None,
        }
    }
    Some(l)
}

fn decode_packet_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let h = &p.heap;
    let (kind, binaries) = kind(a[0]).ok_or_else(|| p.badarg_because(am::badopt))?;
    let bits = whole_bytes(a[1]).ok_or_else(|| p.badarg())?;
    let l = limits(a[2], kind).ok_or_else(|| p.badarg())?;
    let all = bits.to_bytes();
    let bytes = all.get(..bits.bit_len() / 8).unwrap_or(&[]);
    let invalid = || Ok(h.tuple(&[am::error.into(), am::invalid.into()]));
    let more = |n: Term<'h>| Ok(h.tuple(&[am::more.into(), n]));
    let n = match packet::length(kind, bytes, l, false) {
        Length::Invalid => return invalid(),
        Length::More => return more(am::undefined.into()),
        Length::Known(n) => n,
    };
    let Some(whole) = bytes.get(..n).filter(|_| n > 0) else {
        return more(h.unsigned(n as u64));
    };
    let value = match kind {
        PacketKind::Http | PacketKind::HttpHeader => {
            let (line, _) = packet::http(whole, kind == PacketKind::HttpHeader);
            http_term(h, &line, binaries)
        }
        PacketKind::SslTls => match packet::ssl_tls(whole) {
            None => return invalid(),
            Some((kind, (major, minor), data)) => {
                let version = h.tuple(&[Term::int(major as i32), Term::int(minor as i32)]);
                let kind = Term::int(kind as i32);
                h.tuple(&[am::ssl_tls.into(), Term::NIL, kind, version, h.binary(&data)])
            }
        },
        _ => {
            let body = packet::body(kind, whole);
            let head = if let PacketKind::Length(n) = kind { n as usize } else { 0 };
            h.sub_binary(a[1], head * 8, body.len() * 8).unwrap_or(Term::NIL)
        }
    };
    let rest = h.sub_binary(a[1], n * 8, bits.bit_len() - n * 8).unwrap_or(Term::NIL);
    Ok(h.tuple(&[am::ok.into(), value, rest]))
}
