//! One connection: input, output, and its deadline.

use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::time::Duration;

use kvik_env::clock::Instant;
use kvik_env::socket::Stream;

use crate::http::{self, HttpRequest, HttpStatus, MOST_HEAD};

/// Maximum time to receive a request or to send an answer.
const IO_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum idle time of a connection that has shown the token.
const IDLE: Duration = Duration::from_secs(30);

pub struct Connection {
    stream: Stream,
    input: Vec<u8>,
    output: Vec<u8>,
    sent: usize,
    /// Close it when everything is sent.
    ends: bool,
    /// Whether it has shown the token.
    pub trusted: bool,
    /// The process details that it waits for.
    pub waits: Option<Waits>,
    /// When it times out.
    pub until: Instant,
}

/// A request that waits for details of a process.
pub struct Waits {
    pub pid: u32,
    pub until: Instant,
    pub request: HttpRequest,
}

/// Next event of a connection.
pub enum ConnectionEvent {
    /// Nothing to do until more input or output space.
    Wait,
    Request(HttpRequest),
    /// A malformed request.
    Refuse(HttpStatus),
    /// The connection is over.
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
            until: now + IO_TIMEOUT,
        }
    }
    /// Sends pending output, then reads until a request is complete.
    pub fn next(&mut self) -> ConnectionEvent {
        loop {
            match self.send() {
                Ok(true) => {}
                Ok(false) => return ConnectionEvent::Wait,
                Err(()) => return ConnectionEvent::End,
            }
            if self.ends {
                return self.linger();
            }
            if self.waits.is_some() {
                return ConnectionEvent::Wait;
            }
            match http::parse(&self.input) {
                Ok(Some((request, n))) => {
                    self.input.drain(..n);
                    return ConnectionEvent::Request(request);
                }
                Ok(None) => {}
                Err(status) => return ConnectionEvent::Refuse(status),
            }
            match self.receive() {
                Ok(true) => {}
                Ok(false) => return ConnectionEvent::Wait,
                Err(()) => return ConnectionEvent::End,
            }
        }
    }
    /// True when everything is sent.
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
    /// False if no input is available.
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
    /// Lingers after the last answer: shuts down output and discards input until the other end
    /// closes. Closing at once could lose the answer in transit.
    fn linger(&mut self) -> ConnectionEvent {
        let _ = self.stream.shutdown(Shutdown::Write);
        let mut room = [0; 2048];
        for _ in 0..64 {
            match self.stream.read(&mut room) {
                Ok(0) => return ConnectionEvent::End,
                Ok(_) => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => return ConnectionEvent::Wait,
                Err(_) => return ConnectionEvent::End,
            }
        }
        ConnectionEvent::End
    }
    /// Whether nothing is in progress on it.
    pub fn is_idle(&self) -> bool {
        self.waits.is_none() && self.output.is_empty() && self.input.is_empty()
    }
    /// Queues an answer.
    pub fn answer(&mut self, bytes: Vec<u8>, ends: bool, now: Instant) {
        self.output.extend(bytes);
        self.ends = ends;
        self.waits = None;
        self.until = now + if self.trusted && !ends { IDLE } else { IO_TIMEOUT };
    }
}
