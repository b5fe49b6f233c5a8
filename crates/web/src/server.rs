//! The thread that serves the page: connections, and steps of the process sampler while a viewer is
//! active.
//!
//! Everything is bounded: the number of connections, their duration, and the size of requests. When
//! all slots are taken, the oldest connection that has not shown the token is closed, else an idle
//! one.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::Arc;
use std::time::Duration;

use kvik_env::clock::Instant;
use kvik_env::poll::{Interest, PollEvents, Poller};
use kvik_env::socket::{Listener, Stream};
use kvik_term::Term;
use serde_json::{json, Value};

use crate::connection::{Connection, ConnectionEvent, Waits};
use crate::data::{self, Samples};
use crate::http::{answer, refusal, HttpRequest};
use crate::page::PAGE;
use crate::process_details::show;
use crate::process_sampler::{ProcessSampler, ANSWER_TIMEOUT};

/// Maximum number of connections.
const CONNECTIONS: usize = 64;
/// Maximum connections accepted, and requests answered on one connection, in a row.
const IN_A_ROW: usize = 64;
/// How long after a request a viewer counts as active.
const LOOKS_ON: Duration = Duration::from_secs(3);
/// Interval between steps while a viewer is active. It is jittered, so that periodic events are
/// neither always nor never sampled.
const STEP_US: u64 = 5_000;
const MORE_US: u64 = 10_000;
/// Maximum age of the numbers shown.
const FRESH: Duration = Duration::from_millis(200);
/// Retry delay after a connection could not be accepted for lack of descriptors.
const AGAIN: Duration = Duration::from_millis(100);

const LISTENER: u64 = 0;

/// Stops a server.
pub struct StopHandle {
    poller: Arc<Poller>,
    over: Arc<AtomicBool>,
}
impl StopHandle {
    pub fn stop(&self) {
        self.over.store(true, Relaxed);
        self.poller.wake();
    }
}

pub struct Server {
    listener: Listener,
    poller: Arc<Poller>,
    over: Arc<AtomicBool>,
    token: String,
    /// By number, from 1 on, so the oldest comes first.
    connections: BTreeMap<u64, Connection>,
    last: u64,
    /// When to accept connections.
    accept_at: Option<Instant>,
    sampler: ProcessSampler,
    samples: Samples,
    /// The viewer counts as active until then; below, when the next step is due.
    looks_until: Option<Instant>,
    step_at: Instant,
    chance: u64,
    shown: Option<(Instant, Arc<[u8]>)>,
}

impl Server {
    pub fn new(listener: Listener, token: String) -> io::Result<(Server, StopHandle)> {
        let poller = Arc::new(Poller::new()?);
        let i = Interest { read: true, write: false, edge: true };
        poller.add(listener.as_raw_fd(), LISTENER, i)?;
        let over = Arc::new(AtomicBool::new(false));
        let stop = StopHandle { poller: poller.clone(), over: over.clone() };
        let server = Server {
            listener,
            poller,
            over,
            token,
            connections: BTreeMap::new(),
            last: LISTENER,
            accept_at: None,
            sampler: ProcessSampler::default(),
            samples: Samples::default(),
            looks_until: None,
            step_at: Instant::now(),
            chance: kvik_proc::clock::now() | 1,
            shown: None,
        };
        Ok((server, stop))
    }

    pub fn run(mut self) {
        let mut events = PollEvents::default();
        while !self.over.load(Relaxed) {
            let timeout = self.next_due().map(|t| t.saturating_duration_since(Instant::now()));
            if self.poller.wait(&mut events, timeout).is_err() {
                return;
            }
            let now = Instant::now();
            for e in events.iter() {
                match e.token {
                    LISTENER => self.accept_at = Some(now),
                    n => self.serve(n, now),
                }
            }
            if self.accept_at.is_some_and(|t| t <= now) {
                self.accept(now);
            }
            self.step(now);
            self.expire(now);
        }
    }
    /// When something is due even without events.
    fn next_due(&self) -> Option<Instant> {
        let slow =
            self.connections.values().map(|c| c.waits.as_ref().map_or(c.until, |w| w.until)).min();
        let step = self.looks_until.map(|_| self.step_at);
        [slow, step, self.accept_at].into_iter().flatten().min()
    }

    fn accept(&mut self, now: Instant) {
        for _ in 0..IN_A_ROW {
            match self.listener.accept() {
                Ok(stream) => self.welcome(stream, now),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    self.accept_at = None;
                    return;
                }
                // The other end has closed already.
                Err(e) if e.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(_) => {
                    self.accept_at = Some(now + AGAIN);
                    return;
                }
            }
        }
        // Accept the others after serving the present ones.
        self.accept_at = Some(now);
    }
    fn welcome(&mut self, stream: Stream, now: Instant) {
        if self.connections.len() >= CONNECTIONS {
            match self.least() {
                Some(n) => drop(self.connections.remove(&n)),
                None => return,
            }
        }
        self.last += 1;
        let i = Interest { read: true, write: true, edge: true };
        let ready =
            stream.prepare().is_ok() && self.poller.add(stream.as_raw_fd(), self.last, i).is_ok();
        if ready {
            self.connections.insert(self.last, Connection::new(stream, now));
            self.serve(self.last, now);
        }
    }
    /// The connection to close when there are too many: the oldest that has not shown the token,
    /// else the one idle for longest. `None`: all are being answered.
    fn least(&self) -> Option<u64> {
        let all = || self.connections.iter();
        let stranger = all().find(|(_, c)| !c.trusted);
        let silent = || all().filter(|(_, c)| c.is_idle()).min_by_key(|(_, c)| c.until);
        stranger.or_else(silent).map(|(n, _)| *n)
    }
    /// Serves a connection until it would block.
    fn serve(&mut self, n: u64, now: Instant) {
        for _ in 0..IN_A_ROW {
            let Some(c) = self.connections.get_mut(&n) else { return };
            match c.next() {
                ConnectionEvent::Wait => return,
                ConnectionEvent::Request(r) => self.request(n, &r, now),
                ConnectionEvent::Refuse(status) => c.answer(refusal(status), true, now),
                ConnectionEvent::End => {
                    self.connections.remove(&n);
                    return;
                }
            }
        }
        // The page never sends that many requests at once.
        self.connections.remove(&n);
    }
    fn request(&mut self, n: u64, r: &HttpRequest, now: Instant) {
        let path = r.path.split('?').next().unwrap_or_default();
        let (first, rest) = path[1..].split_once('/').unwrap_or((&path[1..], ""));
        let trusted = same(first.as_bytes(), self.token.as_bytes());
        let Some(c) = self.connections.get_mut(&n) else { return };
        if !trusted {
            return c.answer(refusal(403), true, now);
        }
        c.trusted = true;
        let process = rest.strip_prefix("process/").and_then(|p| p.parse().ok());
        match (rest, process) {
            // Relative URLs resolve against the page's.
            ("", _) if path.ends_with('/') => {
                let page = answer(200, "text/html", PAGE.as_bytes(), r.head, r.close);
                c.answer(page, r.close, now);
            }
            ("data", _) => {
                self.looked(now);
                let body = self.data(now);
                self.reply(n, &body, r, now);
            }
            (_, Some(pid)) => {
                self.looked(now);
                self.sampler.ask_details(pid);
                if let Some(c) = self.connections.get_mut(&n) {
                    c.waits = Some(Waits { pid, until: now + ANSWER_TIMEOUT, request: r.clone() });
                }
            }
            _ => c.answer(refusal(404), true, now),
        }
    }
    fn reply(&mut self, n: u64, body: &[u8], r: &HttpRequest, now: Instant) {
        if let Some(c) = self.connections.get_mut(&n) {
            c.answer(answer(200, "application/json", body, r.head, r.close), r.close, now);
        }
    }
    /// Notes that a viewer is active.
    fn looked(&mut self, now: Instant) {
        if self.looks_until.is_none() {
            self.step_at = now;
            self.step(now);
        }
        self.looks_until = Some(now + LOOKS_ON);
    }
    fn data(&mut self, now: Instant) -> Arc<[u8]> {
        match &self.shown {
            Some((at, body)) if now.saturating_duration_since(*at) < FRESH => body.clone(),
            _ => {
                let body: Arc<[u8]> =
                    data::json(&self.sampler, &self.samples).to_string().into_bytes().into();
                self.shown = Some((now, body.clone()));
                body
            }
        }
    }

    /// Periodic work while a viewer is active.
    fn step(&mut self, now: Instant) {
        let Some(until) = self.looks_until else { return };
        if until <= now {
            self.looks_until = None;
            self.shown = None;
            return self.sampler.forget();
        }
        if self.step_at <= now {
            self.step_at = now + Duration::from_micros(STEP_US + self.chance() % MORE_US);
            self.samples.take();
            self.sampler.step(now);
        }
        for (pid, details) in self.sampler.answers() {
            let body = details.unwrap_or_else(|| json!({ "gone": true })).to_string();
            self.tell(pid, body.as_bytes(), now);
        }
    }
    /// Answers the requests that wait for details of that process.
    fn tell(&mut self, pid: u32, body: &[u8], now: Instant) {
        let waits = |c: &Connection| c.waits.as_ref().is_some_and(|w| w.pid == pid);
        let who: Vec<u64> =
            self.connections.iter().filter(|(_, c)| waits(c)).map(|(n, _)| *n).collect();
        for n in who {
            let waits = self.connections.get_mut(&n).and_then(|c| c.waits.take());
            if let Some(w) = waits {
                self.reply(n, body, &w.request, now);
                self.serve(n, now);
            }
        }
    }
    /// Closes connections that timed out, and answers requests whose processes do not respond.
    fn expire(&mut self, now: Instant) {
        let silent = |c: &Connection| c.waits.as_ref().filter(|w| w.until <= now).map(|w| w.pid);
        let silent: Vec<u32> = self.connections.values().filter_map(silent).collect();
        for pid in silent {
            let body = self.no_answer(pid).to_string();
            self.tell(pid, body.as_bytes(), now);
        }
        self.connections.retain(|_, c| c.until > now || c.waits.is_some());
    }
    /// The details shown of a process that does not respond.
    fn no_answer(&self, pid: u32) -> Value {
        let mut rows = vec![json!(["status", "no answer"])];
        if let Some(k) = self.sampler.known(pid).filter(|k| k.numbers.at > 0) {
            rows.push(json!(["reductions", k.numbers.reductions.to_string()]));
            rows.push(json!(["message_queue_len", k.numbers.mailbox.to_string()]));
            rows.push(json!(["memory", format!("{} bytes", k.numbers.memory)]));
        }
        json!({ "title": show(Term::local_pid(pid)), "silent": true, "rows": rows, "stack": [] })
    }
    /// Random numbers for the jitter (xorshift).
    fn chance(&mut self) -> u64 {
        let mut x = self.chance;
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.chance = x;
        x >> 16
    }
}

/// Constant-time comparison: its duration does not reveal where the values differ.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |d, (a, b)| d | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    #[test]
    fn tokens_are_compared_to_the_end() {
        let same = |a: &str, b: &str| super::same(a.as_bytes(), b.as_bytes());
        assert!(same("abc", "abc") && same("", ""));
        assert!(!same("abc", "abd") && !same("ab", "abc") && !same("abc", ""));
    }
}
