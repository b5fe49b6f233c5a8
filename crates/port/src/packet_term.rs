//! Terms for packets that are delivered as more than bytes.

use kvik_heap::Heap;
use kvik_term::{am, Atom, Term};

use crate::packet::{self, Http, Uri};

/// The term that sockets and `decode_packet` return for a line of HTTP.
pub fn http_term<'h>(h: &'h Heap, line: &Http<'_>, binaries: bool) -> Term<'h> {
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
