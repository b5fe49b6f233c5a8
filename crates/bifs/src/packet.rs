//! `erlang:decode_packet/3`.

use kvik_port::packet::{self, Http, Kind, Length, Limits, Uri};
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_term::{am, Atom, Term};

pub const BIFS: &[BifEntry] = &[bif!("erlang", "decode_packet", 3, decode_packet_3)];

/// The protocol, and whether HTTP's strings are binaries.
fn kind(t: Term<'_>) -> Option<(Kind, bool)> {
    let k = match (t.as_small(), t.as_atom()) {
        (Some(0), _) | (_, Some(am::raw)) => Kind::Raw,
        (Some(n @ (1 | 2 | 4)), _) => Kind::Length(n as u8),
        (_, Some(a)) => match a {
            am::asn1 => Kind::Asn1,
            am::sunrm => Kind::SunRm,
            am::cdr => Kind::Cdr,
            am::fcgi => Kind::Fcgi,
            am::line => Kind::Line,
            am::tpkt => Kind::Tpkt,
            am::http => Kind::Http,
            am::httph => Kind::HttpHeader,
            am::http_bin => return Some((Kind::Http, true)),
            am::httph_bin => return Some((Kind::HttpHeader, true)),
            am::ssl_tls => Kind::SslTls,
            _ => return None,
        },
        _ => return None,
    };
    Some((k, false))
}

fn limits(t: Term<'_>, kind: Kind) -> Option<Limits> {
    let mut l = Limits { packet_size: 0, line_length: 0, delimiter: b'\n' };
    for o in t.list_to_vec()? {
        let [k, v] = o.as_tuple_n()?;
        let v = u32::try_from(v.as_u64()?).ok()?;
        match k.as_atom()? {
            am::packet_size => l.packet_size = v as usize,
            am::line_length => l.line_length = v as usize,
            am::line_delimiter if kind == Kind::Line => l.delimiter = u8::try_from(v).ok()?,
            _ => return None,
        }
    }
    Some(l)
}

fn decode_packet_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let h = &p.heap;
    let (kind, binaries) = kind(a[0]).ok_or_else(|| p.badarg())?;
    let bits = a[1].as_bits().ok_or_else(|| p.badarg())?;
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
        Kind::Http | Kind::HttpHeader => {
            let (line, _) = packet::http(whole, kind == Kind::HttpHeader);
            http_term(p, &line, binaries)
        }
        Kind::SslTls => match packet::ssl_tls(whole) {
            None => return invalid(),
            Some((kind, (major, minor), data)) => {
                let version = h.tuple(&[Term::int(major as i32), Term::int(minor as i32)]);
                let kind = Term::int(kind as i32);
                h.tuple(&[am::ssl_tls.into(), Term::NIL, kind, version, h.binary(&data)])
            }
        },
        _ => {
            let body = packet::body(kind, whole);
            let head = if let Kind::Length(n) = kind { n as usize } else { 0 };
            h.sub_binary(a[1], head * 8, body.len() * 8).unwrap_or(Term::NIL)
        }
    };
    let rest = h.sub_binary(a[1], n * 8, bits.bit_len() - n * 8).unwrap_or(Term::NIL);
    Ok(h.tuple(&[am::ok.into(), value, rest]))
}

/// A line of HTTP as sockets and `decode_packet` give it.
pub fn http_term<'h>(p: &'h Proc, line: &Http<'_>, binaries: bool) -> Term<'h> {
    let h = &p.heap;
    let string = |b: &[u8]| match binaries {
        true => h.binary(b),
        false => h.charlist(b.iter().map(|x| *x as u32).collect::<Vec<_>>().into_iter()),
    };
    let version =
        |(major, minor): (u32, u32)| h.tuple(&[h.unsigned(major as u64), h.unsigned(minor as u64)]);
    let known = |list: &[&str], b: &[u8]| {
        let i = list.iter().position(|x| x.as_bytes() == b)?;
        Some((i + 1, Atom::intern(list.get(i)?).ok()?))
    };
    match line {
        Http::EndOfHeaders => am::http_eoh.into(),
        Http::Error(b) => h.tuple(&[am::http_error.into(), string(b)]),
        Http::Response { version: v, status, phrase } => h.tuple(&[
            am::http_response.into(),
            version(*v),
            h.unsigned(*status as u64),
            string(phrase),
        ]),
        Http::Request { method, uri, version: v } => {
            let method = match known(packet::METHODS, method) {
                Some((_, a)) => a.into(),
                None => string(method),
            };
            let uri = match uri {
                Uri::Star => am::op_times.into(),
                Uri::AbsPath(b) => h.tuple(&[am::abs_path.into(), string(b)]),
                Uri::Absolute(https, host, port, path) => h.tuple(&[
                    am::absoluteURI.into(),
                    if *https { am::https } else { am::http }.into(),
                    string(host),
                    port.map_or(am::undefined.into(), |n| h.unsigned(n as u64)),
                    string(path),
                ]),
                Uri::Scheme(a, b) => h.tuple(&[am::scheme.into(), string(a), string(b)]),
                Uri::Other(b) => string(b),
            };
            h.tuple(&[am::http_request.into(), method, uri, version(*v)])
        }
        Http::Header { name, as_is, value } => {
            let (i, name) = match known(packet::HEADERS, name) {
                Some((i, a)) => (i, a.into()),
                None => (0, string(name)),
            };
            let i = Term::int(i as i32);
            h.tuple(&[am::http_header.into(), i, name, string(as_is), string(value)])
        }
    }
}
