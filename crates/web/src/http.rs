//! The subset of HTTP/1.1 that the page needs: requests without a body, answers of known length.

/// Maximum size of a request's head.
pub const MOST_HEAD: usize = 8 << 10;
/// Maximum number of lines in a head.
const MOST_LINES: usize = 64;

/// A parsed request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HttpRequest {
    pub path: String,
    /// Answer with the head only.
    pub head: bool,
    /// Close the connection after the answer.
    pub close: bool,
}

/// The status code of a refusal.
pub type HttpStatus = u16;

/// The reason phrase of a status.
fn reason(s: HttpStatus) -> &'static str {
    match s {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        413 => "Content Too Large",
        431 => "Request Header Fields Too Large",
        505 => "HTTP Version Not Supported",
        _ => "Internal Server Error",
    }
}

/// Parses the first request: the request and its length; `None` if it is incomplete.
pub fn parse(bytes: &[u8]) -> Result<Option<(HttpRequest, usize)>, HttpStatus> {
    let mut lines = [httparse::EMPTY_HEADER; MOST_LINES];
    let mut r = httparse::Request::new(&mut lines);
    let length = match r.parse(bytes) {
        Ok(httparse::Status::Complete(n)) if n <= MOST_HEAD => n,
        Ok(httparse::Status::Partial) if bytes.len() < MOST_HEAD => return Ok(None),
        Ok(_) | Err(httparse::Error::TooManyHeaders) => return Err(431),
        Err(httparse::Error::Version) => return Err(505),
        Err(_) => return Err(400),
    };
    let head = match r.method {
        Some("GET") => false,
        Some("HEAD") => true,
        _ => return Err(405),
    };
    let path = r.path.filter(|p| p.starts_with('/')).ok_or(400u16)?;
    let mut close = r.version != Some(1);
    for h in r.headers.iter() {
        let is = |name: &str| h.name.eq_ignore_ascii_case(name);
        if is("transfer-encoding") || is("content-length") && h.value != b"0" {
            return Err(413);
        }
        close |= is("connection") && h.value.eq_ignore_ascii_case(b"close");
    }
    Ok(Some((HttpRequest { path: path.to_string(), head, close }, length)))
}

/// Security headers: the page may run its inline scripts and connect to its origin. No caching, no
/// framing, no referrer.
const SAFETY: &str = "Cache-Control: no-store\r\n\
    Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; \
    script-src 'unsafe-inline'; connect-src 'self'; img-src data:; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'\r\n\
    Referrer-Policy: no-referrer\r\n\
    X-Content-Type-Options: nosniff\r\n";

/// An answer.
pub fn answer(s: HttpStatus, kind: &str, body: &[u8], head: bool, close: bool) -> Vec<u8> {
    let allow = if s == 405 { "Allow: GET, HEAD\r\n" } else { "" };
    let close = if close { "Connection: close\r\n" } else { "" };
    let lines = format!(
        "HTTP/1.1 {s} {}\r\nContent-Type: {kind}; charset=utf-8\r\nContent-Length: {}\r\n\
         {SAFETY}{allow}{close}\r\n",
        reason(s),
        body.len()
    );
    let mut all = lines.into_bytes();
    if !head {
        all.extend_from_slice(body);
    }
    all
}
/// The answer to a refused request. The connection is closed.
pub fn refusal(s: HttpStatus) -> Vec<u8> {
    answer(s, "text/plain", format!("{s} {}\n", reason(s)).as_bytes(), false, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(text: &str) -> HttpStatus {
        match parse(text.as_bytes()) {
            Ok(Some(_)) => 200,
            Ok(None) => 0,
            Err(s) => s,
        }
    }

    #[test]
    fn parses_requests() {
        let text = "GET /a/b?c HTTP/1.1\r\nHost: x\r\n\r\nGET /";
        let r = HttpRequest { path: "/a/b?c".into(), head: false, close: false };
        assert_eq!(parse(text.as_bytes()), Ok(Some((r, text.len() - 5))));
        for (text, close) in [
            ("HEAD / HTTP/1.1\r\nconnection: Close\r\n\r\n", true),
            ("HEAD / HTTP/1.0\r\n\r\n", true),
            ("HEAD / HTTP/1.1\r\nContent-Length: 0\r\n\r\n", false),
        ] {
            let r = HttpRequest { path: "/".into(), head: true, close };
            assert_eq!(parse(text.as_bytes()), Ok(Some((r, text.len()))), "{text}");
        }
    }
    #[test]
    fn refuses_malformed_requests() {
        let long = format!("GET /{}", "x".repeat(MOST_HEAD));
        let ended = format!("{long} HTTP/1.1\r\n\r\n");
        let many = format!("GET / HTTP/1.1\r\n{}", "a: b\r\n".repeat(MOST_LINES + 1));
        for (text, s) in [
            ("", 0),
            ("GET / HT", 0),
            (&*long, 431),
            (&*ended, 431),
            (&*many, 431),
            ("POST / HTTP/1.1\r\n\r\n", 405),
            ("BREW / HTTP/1.1\r\n\r\n", 405),
            ("GET / HTTP/2.0\r\n\r\n", 505),
            ("GET * HTTP/1.1\r\n\r\n", 400),
            ("GET /\0 HTTP/1.1\r\n\r\n", 400),
            ("\x16\x03\x01", 400),
            ("GET / HTTP/1.1\r\n: x\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nContent-Length: 1\r\n\r\n", 413),
            ("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 413),
        ] {
            assert_eq!(status(text), s, "{text:.40}");
        }
    }
    #[test]
    fn response_has_content_length() {
        let text = String::from_utf8(answer(200, "text/html", b"abc", true, false)).unwrap();
        assert!(text.starts_with("HTTP/1.1 200 OK\r\n") && text.ends_with("\r\n\r\n"));
        assert!(text.contains("Content-Length: 3\r\n") && !text.contains("Connection"));
        let text = String::from_utf8(refusal(405)).unwrap();
        assert!(
            text.contains("Allow: GET, HEAD\r\n") && text.ends_with("405 Method Not Allowed\n")
        );
    }
}
