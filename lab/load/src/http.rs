//! A client of HTTP/1.1 with keep-alive: the same request again and again.

use super::load::{Answered, ClientSession};

pub struct HttpClient {
    request: Vec<u8>,
    /// The least size of a body.
    least: usize,
}

impl HttpClient {
    pub fn get(path: &str, least: usize) -> HttpClient {
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n");
        HttpClient { request: request.into_bytes(), least }
    }
}

impl ClientSession for HttpClient {
    fn request(&mut self, output: &mut Vec<u8>) {
        output.extend_from_slice(&self.request);
    }

    fn receive(
        &mut self,
        input: &[u8],
        answers: &mut Vec<Answered>,
        _: &mut Vec<u8>,
    ) -> Result<usize, String> {
        let mut used = 0;
        while let Some(response) = Response::parse(&input[used..])? {
            if response.status != 200 || response.body < self.least {
                return Err(format!("answered {} with {} bytes", response.status, response.body));
            }
            used += response.size;
            answers.push(Answered::Oldest);
        }
        Ok(used)
    }
}

/// A complete response at the start of the input.
#[derive(Debug, PartialEq)]
pub struct Response {
    pub status: u16,
    /// Bytes of the whole response, and of its body.
    pub size: usize,
    pub body: usize,
}

impl Response {
    pub fn parse(input: &[u8]) -> Result<Option<Response>, String> {
        let Some(end) = input.windows(4).position(|w| w == b"\r\n\r\n") else { return Ok(None) };
        let head = std::str::from_utf8(&input[..end]).map_err(|_| "a head that is no text")?;
        let mut lines = head.split("\r\n");
        let status = lines.next().and_then(|line| line.strip_prefix("HTTP/1.1 ")?.get(..3));
        let status = status.and_then(|code| code.parse().ok());
        let status = status.ok_or_else(|| format!("not a response: {head}"))?;
        let is_length = |name: &str| name.trim().eq_ignore_ascii_case("content-length");
        let length = lines.filter_map(|line| line.split_once(':')).find(|(n, _)| is_length(n));
        let body = match length {
            Some((_, digits)) => {
                digits.trim().parse().map_err(|_| format!("bad length: {head}"))?
            }
            None if status == 101 => 0,
            None => return Err(format!("no length: {head}")),
        };
        let size = end + 4 + body;
        Ok((size <= input.len()).then_some(Response { status, size, body }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asks_as_the_protocol_has_it() {
        let mut output = Vec::new();
        HttpClient::get("/x", 0).request(&mut output);
        assert_eq!(output, b"GET /x HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n");
    }

    #[test]
    fn responses_are_taken_one_by_one() {
        let one = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nX: y\r\n\r\nabc";
        let two = [&one[..], &one[..]].concat();
        for cut in 0..two.len() {
            let mut answers = Vec::new();
            let used = HttpClient::get("/", 3).receive(&two[..cut], &mut answers, &mut Vec::new());
            assert_eq!(used, Ok(cut / one.len() * one.len()));
            assert_eq!(answers.len(), cut / one.len());
        }
    }

    #[test]
    fn refuses_other_answers() {
        let receive = |text: &str, least| {
            HttpClient::get("/", least).receive(text.as_bytes(), &mut Vec::new(), &mut Vec::new())
        };
        assert!(receive("HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n", 0).is_err());
        assert!(receive("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nab", 3).is_err());
        assert!(receive("HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n", 0).is_err());
        assert!(receive("HTTP/1.1 200 OK\r\n\r\n", 0).is_err());
        assert!(receive("SSH-2.0\r\n\r\n", 0).is_err());
    }
}
