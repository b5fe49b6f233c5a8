//! One connection: bytes in, bytes out, and until when it may take its time.

use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::time::Duration;

use kvik_env::clock::Instant;
use kvik_env::socket::Stream;

use crate::http::{self, Request, Status, MOST_HEAD};

/// How long a request, or an answer, may take on its way.
const SLOW: Duration = Duration::from_secs(5);
/// How long one that has shown the token may be silent.
const IDLE: Duration = Duration::from_secs(30);

pub struct Connection {
    stream: Stream,
    input: Vec<u8>,
    output: Vec<u8>,
    sent: usize,
    /// It ends when all is sent.
    ends: bool,
    /// Has it shown the token?
    pub trusted: bool,
    /// What it waits for.
    pub waits: Option<Waits>,
    /// When it is closed.
    pub until: Instant,
}

/// Somebody waits to hear about a process.
pub struct Waits {
    pub pid: u32,
    pub until: Instant,
    pub request: Request,
}

/// What a connection has come to.
pub enum Next {
    /// Nothing to do before something comes.
    Wait,
    Request(Request),
    /// A request that is none.
    Refuse(Status),
    /// It is over.
    End,
}

impl Connection {
    pub fn new(stream: Stream, now: Instant) -> Connection {
        Connection {
            stream,
            input: Vec::new(),
            output: Vec::new(),
            sent: 0,
            ends: false,
            trusted: false,
            waits: None,
            until: now + SLOW,
        }
    }
    /// Sends what is there, then takes what has come until that is a request.
    pub fn next(&mut self) -> Next {
        loop {
            match self.send() {
                Ok(true) => {}
                Ok(false) => return Next::Wait,
                Err(()) => return Next::End,
            }
            if self.ends {
                return self.linger();
            }
            if self.waits.is_some() {
                return Next::Wait;
            }
            match http::parse(&self.input) {
                Ok(Some((request, n))) => {
                    self.input.drain(..n);
                    return Next::Request(request);
                }
                Ok(None) => {}
                Err(status) => return Next::Refuse(status),
            }
            match self.receive() {
                Ok(true) => {}
                Ok(false) => return Next::Wait,
                Err(()) => return Next::End,
            }
        }
    }
    /// True when all is sent.
    fn send(&mut self) -> Result<bool, ()> {
        while let Some(rest) = self.output.get(self.sent..).filter(|r| !r.is_empty()) {
            match self.stream.write(rest) {
                Ok(0) => return Err(()),
                Ok(n) => self.sent += n,
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Err(()),
            }
        }
        self.output.clear();
        self.sent = 0;
        Ok(true)
    }
    /// False where nothing has come.
    fn receive(&mut self) -> Result<bool, ()> {
        let mut room = [0; 2048];
        let most = room.len().min(MOST_HEAD.saturating_sub(self.input.len()));
        match self.stream.read(room.get_mut(..most).unwrap_or(&mut [])) {
            Ok(0) => Err(()),
            Ok(n) => {
                self.input.extend_from_slice(room.get(..n).unwrap_or(&[]));
                Ok(true)
            }
            Err(e) if e.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(e) if e.kind() == ErrorKind::Interrupted => Ok(true),
            Err(_) => Err(()),
        }
    }
    /// The answer was the last. What the other end still sends is thrown away until it has seen that:
    /// closed before, the answer might be lost on its way.
    fn linger(&mut self) -> Next {
        let _ = self.stream.shutdown(Shutdown::Write);
        let mut room = [0; 2048];
        for _ in 0..64 {
            match self.stream.read(&mut room) {
                Ok(0) => return Next::End,
                Ok(_) => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Next::Wait,
                Err(_) => return Next::End,
            }
        }
        Next::End
    }
    /// Is nothing under way on it?
    pub fn is_idle(&self) -> bool {
        self.waits.is_none() && self.output.is_empty() && self.input.is_empty()
    }
    /// An answer goes out.
    pub fn answer(&mut self, bytes: Vec<u8>, ends: bool, now: Instant) {
        self.output.extend(bytes);
        self.ends = ends;
        self.waits = None;
        self.until = now + if self.trusted && !ends { IDLE } else { SLOW };
    }
}
