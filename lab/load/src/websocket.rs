//! A client of WebSockets: text frames that the server echoes.

use super::http::Response;
use super::load::{Answered, ClientSession};
use super::wire::Wire;
use std::io::{Read, Write};

/// A key, and what a server must answer to it: the example of RFC 6455.
const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";
const ACCEPT: &str = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";
const FINAL_TEXT: u8 = 0x81;
const MASKED: u8 = 0x80;
const MASK: [u8; 4] = [0x5a, 0x17, 0xc3, 0x2e];
const TEXT: &[u8] = b"A short message, as they are in a chat, goes there and comes back.";

pub struct WebSocket {
    frame: Vec<u8>,
}

impl WebSocket {
    /// Asks for the upgrade.
    pub fn open(wire: &mut Wire, path: &str) -> Result<WebSocket, String> {
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {KEY}\r\n\r\n"
        );
        wire.write_all(request.as_bytes()).map_err(|e| e.to_string())?;
        // Byte by byte: what follows belongs to the session.
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            wire.read_exact(&mut byte).map_err(|e| e.to_string())?;
            head.push(byte[0]);
        }
        let response = Response::parse(&head)?.ok_or("half a response")?;
        let accepted = String::from_utf8_lossy(&head).contains(ACCEPT);
        match (response.status, accepted) {
            (101, true) => Ok(WebSocket { frame: masked(TEXT) }),
            (status, _) => Err(format!("no WebSocket: {status}")),
        }
    }
}

/// A text of less than 126 bytes, masked as what clients send is.
fn masked(text: &[u8]) -> Vec<u8> {
    let mut frame = vec![FINAL_TEXT, MASKED | text.len() as u8];
    frame.extend_from_slice(&MASK);
    frame.extend(text.iter().zip(MASK.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    frame
}

impl ClientSession for WebSocket {
    fn request(&mut self, output: &mut Vec<u8>) {
        output.extend_from_slice(&self.frame);
    }

    fn receive(
        &mut self,
        input: &[u8],
        answers: &mut Vec<Answered>,
        _: &mut Vec<u8>,
    ) -> Result<usize, String> {
        let whole = input.chunks_exact(TEXT.len() + 2);
        for frame in whole {
            if frame[..2] != [FINAL_TEXT, TEXT.len() as u8] || &frame[2..] != TEXT {
                return Err(format!("an echo of something else: {frame:?}"));
            }
            answers.push(Answered::Oldest);
        }
        Ok(input.len() / (TEXT.len() + 2) * (TEXT.len() + 2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_masked() {
        // The example of RFC 6455, with another mask.
        let frame = masked(b"Hello");
        assert_eq!(frame[..6], [0x81, 0x85, 0x5a, 0x17, 0xc3, 0x2e]);
        assert_eq!(frame[6..], [b'H' ^ 0x5a, b'e' ^ 0x17, b'l' ^ 0xc3, b'l' ^ 0x2e, b'o' ^ 0x5a]);
    }

    #[test]
    fn echoes_are_answers() {
        let mut socket = WebSocket { frame: masked(TEXT) };
        let echo = [&[FINAL_TEXT, TEXT.len() as u8], TEXT].concat();
        let two = [&echo[..], &echo[..], &echo[..9]].concat();
        let mut answers = Vec::new();
        let used = socket.receive(&two, &mut answers, &mut Vec::new());
        assert_eq!((used, answers.len()), (Ok(2 * echo.len()), 2));
        let other = [&[FINAL_TEXT, TEXT.len() as u8], &[b'x'; TEXT.len()][..]].concat();
        assert!(socket.receive(&other, &mut Vec::new(), &mut Vec::new()).is_err());
    }
}
