//! Packet boundaries of protocols, for `erlang:decode_packet/3` and the sockets' `packet` option.
//! Independent of terms.

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum PacketKind {
    Raw,
    /// A length of 1, 2 or 4 bytes before each packet.
    Length(u8),
    Asn1,
    SunRm,
    Cdr,
    Fcgi,
    Line,
    Tpkt,
    /// A request or status line, then headers.
    Http,
    /// Headers.
    HttpHeader,
    SslTls,
}

impl PacketKind {
    /// Bytes of the smallest part of a packet that may tell its length. `None`: there are no
    /// packets. Of a line, any byte may be the last.
    pub fn least_header(self) -> Option<usize> {
        Some(match self {
            PacketKind::Raw => return None,
            PacketKind::Length(n) => n.into(),
            PacketKind::Asn1 => 2,
            PacketKind::SunRm | PacketKind::Tpkt => 4,
            PacketKind::SslTls => 5,
            PacketKind::Fcgi => 8,
            PacketKind::Cdr => 12,
            PacketKind::Line | PacketKind::Http | PacketKind::HttpHeader => 1,
        })
    }
}

/// Size limits of a packet, 0 for none, and the line delimiter.
#[derive(Copy, Clone, Debug)]
pub struct PacketLimits {
    pub packet_size: usize,
    pub line_length: usize,
    pub delimiter: u8,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Length {
    /// The packet's length including its header; it may exceed the bytes at hand.
    Known(usize),
    /// More bytes are needed to tell.
    More,
    Invalid,
}
use Length::*;

fn number(bytes: &[u8]) -> usize {
    bytes.iter().fold(0, |n, b| n << 8 | *b as usize)
}

/// The length of the packet at the start of `b`. `in_headers`: the first line of an HTTP request or
/// response has been taken.
pub fn length(kind: PacketKind, b: &[u8], l: PacketLimits, in_headers: bool) -> Length {
    let head = |n: usize, body: &dyn Fn(&[u8]) -> Option<usize>| match b.get(..n) {
        None => More,
        Some(h) => body(h).map_or(Invalid, |body| with_head(n, body, l)),
    };
    match kind {
        PacketKind::Raw if b.is_empty() => More,
        PacketKind::Raw => Known(b.len()),
        PacketKind::Length(n) => head(n as usize, &|h| Some(number(h))),
        PacketKind::SunRm => head(4, &|h| Some(number(h) & 0x7FFF_FFFF)),
        PacketKind::Cdr => head(12, &|h| {
            let mut size = [h[8], h[9], h[10], h[11]];
            if h[6] & 1 != 0 {
                size.reverse();
            }
            h.starts_with(b"GIOP").then(|| number(&size))
        }),
        PacketKind::Fcgi => head(8, &|h| (h[0] == 1).then(|| number(&h[4..6]) + h[6] as usize)),
        PacketKind::Tpkt => head(4, &|h| number(&h[2..4]).checked_sub(4).filter(|_| h[0] == 3)),
        PacketKind::SslTls => head(5, &|h| {
            if h[0] & 0x80 != 0 && h[2] == 1 {
                (number(&h[..2]) & 0x7FFF).checked_sub(3)
            } else {
                Some(number(&h[3..5]))
            }
        }),
        PacketKind::Asn1 => asn1(b, l),
        PacketKind::Line => line(b, l),
        PacketKind::Http => http_length(b, l, in_headers),
        PacketKind::HttpHeader => http_length(b, l, true),
    }
}

fn with_head(head: usize, body: usize, l: PacketLimits) -> Length {
    if l.packet_size != 0 && body > l.packet_size || head + body > i32::MAX as usize {
        return Invalid;
    }
    Known(head + body)
}

fn asn1(b: &[u8], l: PacketLimits) -> Length {
    let Some((first, rest)) = b.split_first() else { return More };
    let mut at = 1;
    if rest.is_empty() {
        return More;
    }
    if first & 0x1F == 0x1F {
        at += rest.iter().take_while(|x| **x & 0x80 != 0).count() + 1;
        if b.len() <= at {
            return More;
        }
    }
    let Some(len) = b.get(at) else { return More };
    let n = (len & 0x7F) as usize;
    at += 1;
    if len & 0x80 == 0 {
        return with_head(at, n, l);
    }
    match b.get(at..at + n) {
        None => More,
        Some(_) if n > 4 => Invalid,
        Some(digits) => with_head(at + n, number(digits), l),
    }
}

fn line(b: &[u8], l: PacketLimits) -> Length {
    let over = |n: usize| l.packet_size != 0 && n > l.packet_size;
    match memchr::memchr(l.delimiter, b) {
        Some(i) if over(i + 1) => Invalid,
        Some(i) if l.line_length != 0 && i + 1 > l.line_length => Known(l.line_length),
        Some(i) => Known(i + 1),
        None if over(b.len()) => Invalid,
        None if l.line_length != 0 && b.len() >= l.line_length => Known(l.line_length),
        None => More,
    }
}

fn is_space(b: u8) -> bool {
    matches!(b, b' ' | b'\t')
}

fn http_length(b: &[u8], l: PacketLimits, in_headers: bool) -> Length {
    if b == b"\n" || b == b"\r\n" {
        return Known(b.len());
    }
    let max = if l.packet_size != 0 { l.packet_size } else { l.line_length };
    let over = |n: usize| max != 0 && n > max;
    let mut from = 0;
    loop {
        let Some(i) = b[from..].iter().position(|x| *x == b'\n') else {
            return if max != 0 && b.len() >= max { Invalid } else { More };
        };
        let end = from + i + 1;
        // A header continues if the next line begins with a space.
        let goes_on = in_headers && end > 2 && b.get(end).is_some_and(|x| is_space(*x));
        if goes_on {
            from = end;
        } else if over(end) {
            return Invalid;
        } else if in_headers && end == b.len() {
            return More;
        } else {
            return Known(end);
        }
    }
}

/// The part of a whole packet that is delivered.
pub fn body(kind: PacketKind, packet: &[u8]) -> &[u8] {
    match kind {
        PacketKind::Length(n) => packet.get(n as usize..).unwrap_or(&[]),
        PacketKind::Fcgi => {
            let padding = packet.get(6).copied().unwrap_or(0) as usize;
            packet.get(..packet.len().saturating_sub(padding)).unwrap_or(&[])
        }
        _ => packet,
    }
}

#[derive(Debug, PartialEq, Eq)]
pub enum Uri<'a> {
    Star,
    AbsPath(&'a [u8]),
    /// Whether it is https, then host, port and path.
    Absolute(bool, &'a [u8], Option<u32>, &'a [u8]),
    Scheme(&'a [u8], &'a [u8]),
    Other(&'a [u8]),
}

/// A parsed line of HTTP.
#[derive(Debug, PartialEq, Eq)]
pub enum Http<'a> {
    Request {
        method: &'a [u8],
        uri: Uri<'a>,
        version: (u32, u32),
    },
    Response {
        version: (u32, u32),
        status: u32,
        phrase: &'a [u8],
    },
    /// The name in its usual capitalisation, the name as received, the value.
    Header {
        name: Vec<u8>,
        as_is: &'a [u8],
        value: &'a [u8],
    },
    EndOfHeaders,
    Error(&'a [u8]),
}

/// Headers that are returned as atoms; the index in the list is part of the result.
pub const HEADERS: &[&str] = &[
    "Cache-Control",
    "Connection",
    "Date",
    "Pragma",
    "Transfer-Encoding",
    "Upgrade",
    "Via",
    "Accept",
    "Accept-Charset",
    "Accept-Encoding",
    "Accept-Language",
    "Authorization",
    "From",
    "Host",
    "If-Modified-Since",
    "If-Match",
    "If-None-Match",
    "If-Range",
    "If-Unmodified-Since",
    "Max-Forwards",
    "Proxy-Authorization",
    "Range",
    "Referer",
    "User-Agent",
    "Age",
    "Location",
    "Proxy-Authenticate",
    "Public",
    "Retry-After",
    "Server",
    "Vary",
    "Warning",
    "Www-Authenticate",
    "Allow",
    "Content-Base",
    "Content-Encoding",
    "Content-Language",
    "Content-Length",
    "Content-Location",
    "Content-Md5",
    "Content-Range",
    "Content-Type",
    "Etag",
    "Expires",
    "Last-Modified",
    "Accept-Ranges",
    "Set-Cookie",
    "Set-Cookie2",
    "X-Forwarded-For",
    "Cookie",
    "Keep-Alive",
    "Proxy-Connection",
];
/// Methods that are returned as atoms.
pub const METHODS: &[&str] = &["OPTIONS", "GET", "HEAD", "POST", "PUT", "DELETE", "TRACE"];
/// Longer header names keep their capitalisation.
const MAX_NAME: usize = 50;

/// Parses a whole packet of HTTP. The second value: whether a header comes next.
pub fn http(packet: &[u8], in_headers: bool) -> (Http<'_>, bool) {
    let line = match packet {
        [line @ .., b'\r', _] => line,
        [line @ .., b'\n'] => line,
        line => line,
    };
    let parsed = match in_headers {
        true if line.is_empty() => return (Http::EndOfHeaders, false),
        true => header(line),
        false => first_line(line),
    };
    match parsed {
        Some(h) => (h, true),
        None => (Http::Error(packet), in_headers),
    }
}

/// Whether the byte is not allowed in a name or method.
fn is_special(b: u8) -> bool {
    !(33..128).contains(&b) || b"()<>@,;:\\\"/[]?={}".contains(&b)
}
fn split_while(b: &[u8], f: impl Fn(u8) -> bool) -> (&[u8], &[u8]) {
    b.split_at(b.iter().take_while(|x| f(**x)).count())
}
fn digits(b: &[u8]) -> Option<(u32, &[u8])> {
    let (d, rest) = split_while(b, |x| x.is_ascii_digit());
    let n = d.iter().fold(0u32, |n, x| n.wrapping_mul(10).wrapping_add((x - b'0') as u32));
    (!d.is_empty()).then_some((n, rest))
}
fn version(b: &[u8]) -> Option<((u32, u32), &[u8])> {
    let (major, rest) = digits(b.strip_prefix(b"HTTP/")?)?;
    let (minor, rest) = digits(rest.strip_prefix(b".")?)?;
    Some(((major, minor), rest))
}

fn first_line(line: &[u8]) -> Option<Http<'_>> {
    if line.starts_with(b"HTTP/") {
        let (version, rest) = version(line)?;
        let (space, rest) = split_while(rest, is_space);
        if space.is_empty() {
            return None;
        }
        let (status, rest) = digits(rest).unwrap_or((0, rest));
        let (space, phrase) = split_while(rest, is_space);
        if space.is_empty() && !phrase.is_empty() {
            return None;
        }
        return Some(Http::Response { version, status, phrase });
    }
    let (method, rest) = split_while(line, |b| !is_special(b));
    if method.is_empty() || !is_space(*rest.first()?) {
        return None;
    }
    let (_, rest) = split_while(rest, is_space);
    let (target, rest) = split_while(rest, |b| !is_space(b));
    if target.is_empty() {
        return None;
    }
    let (_, rest) = split_while(rest, is_space);
    let version = match rest {
        [] => (0, 9),
        _ if rest.len() < 8 => return None,
        _ => version(rest)?.0,
    };
    Some(Http::Request { method, uri: uri(target), version })
}

fn uri(b: &[u8]) -> Uri<'_> {
    let after = |scheme: &[u8]| {
        let (head, rest) = b.split_at_checked(scheme.len())?;
        head.eq_ignore_ascii_case(scheme).then_some(rest)
    };
    if b == b"*" {
        Uri::Star
    } else if b.len() <= 1 || b[0] == b'/' {
        Uri::AbsPath(b)
    } else if let Some(rest) = after(b"http://") {
        absolute(false, rest)
    } else if let Some(rest) = after(b"https://") {
        absolute(true, rest)
    } else {
        match b.iter().position(|x| *x == b':') {
            Some(i) => Uri::Scheme(&b[..i], &b[i + 1..]),
            None => Uri::Other(b),
        }
    }
}
fn absolute(https: bool, b: &[u8]) -> Uri<'_> {
    let (place, path): (&[u8], &[u8]) = match b.iter().position(|x| *x == b'/') {
        Some(i) => b.split_at(i),
        None => (b, b"/"),
    };
    match place.iter().position(|x| *x == b':') {
        None => Uri::Absolute(https, place, None, path),
        Some(i) => {
            let port = digits(&place[i + 1..]).filter(|(n, rest)| *n != 0 && rest.is_empty());
            Uri::Absolute(https, &place[..i], port.map(|p| p.0), path)
        }
    }
}

fn header(line: &[u8]) -> Option<Http<'_>> {
    let (as_is, rest) = split_while(line, |b| !is_special(b));
    let value = split_while(rest.strip_prefix(b":")?, is_space).1;
    let mut name = as_is.to_vec();
    if name.len() <= MAX_NAME {
        let mut up = true;
        for b in &mut name {
            if up {
                b.make_ascii_uppercase();
                up = false;
            } else {
                b.make_ascii_lowercase();
                up = *b == b'-';
            }
        }
    }
    Some(Http::Header { name, as_is, value })
}

/// Parses a record of SSL or TLS: type, version, and data; an SSL 2 client hello gets the header of
/// later versions.
pub fn ssl_tls(packet: &[u8]) -> Option<(u8, (u8, u8), Vec<u8>)> {
    match *packet {
        [a, _, 1, ref data @ ..] if a & 0x80 != 0 => {
            let len = (data.len() as u32).to_be_bytes();
            let mut all = vec![1, len[1], len[2], len[3]];
            all.extend_from_slice(data);
            Some((22, (*data.first()?, *data.get(1)?), all))
        }
        [kind, major, minor, _, _, ref data @ ..] => Some((kind, (major, minor), data.to_vec())),
        _ => None,
    }
}
