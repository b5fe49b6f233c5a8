//! The thread that serves the page: connections, and steps of the survey while somebody looks on.
//!
//! Everything is bounded: how many connections there are, how long each may take, how much it may
//! send. Where there is no more room the oldest that has not shown the token makes some, else one
//! that is silent.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::Arc;
use std::time::Duration;

use kvik_env::clock::Instant;
use kvik_env::poll::{Events, Interest, Poller};
use kvik_env::socket::{Listener, Stream};
use kvik_term::Term;
use serde_json::{json, Value};

use crate::about::show;
use crate::connection::{Connection, Next, Waits};
use crate::data::{self, Samples};
use crate::http::{answer, refusal, Request};
use crate::page::PAGE;
use crate::survey::{Survey, PATIENCE};

/// The most connections at once.
const CONNECTIONS: usize = 64;
/// Connections that are accepted, and requests of one that are answered, in a row.
const IN_A_ROW: usize = 64;
/// After a question somebody looks on for so long.
const LOOKS_ON: Duration = Duration::from_secs(3);
/// How often to take a step while somebody looks on: now a little sooner, now later, so that what
/// happens at regular intervals is not always, or never, seen.
const STEP_US: u64 = 5_000;
const MORE_US: u64 = 10_000;
/// How old the numbers may be that are shown.
const FRESH: Duration = Duration::from_millis(200);
/// Where no connection can be accepted, as there are no descriptors: when to try again.
const AGAIN: Duration = Duration::from_millis(100);

const LISTENER: u64 = 0;

/// Ends a server.
pub struct Stop {
    poller: Arc<Poller>,
    over: Arc<AtomicBool>,
}
impl Stop {
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
    /// By number, from 1 on: the oldest first.
    connections: BTreeMap<u64, Connection>,
    last: u64,
    /// Connections to be accepted, then.
    accept_at: Option<Instant>,
    survey: Survey,
    samples: Samples,
    /// Somebody looks on until then, and the next step is due then.
    looks_until: Option<Instant>,
    step_at: Instant,
    chance: u64,
    shown: Option<(Instant, Arc<[u8]>)>,
}

impl Server {
    pub fn new(listener: Listener, token: String) -> io::Result<(Server, Stop)> {
        let poller = Arc::new(Poller::new()?);
        let i = Interest { read: true, write: false, edge: true };
        poller.add(listener.as_raw_fd(), LISTENER, i)?;
        let over = Arc::new(AtomicBool::new(false));
        let stop = Stop { poller: poller.clone(), over: over.clone() };
        let server = Server {
            listener,
            poller,
            over,
            token,
            connections: BTreeMap::new(),
            last: LISTENER,
            accept_at: None,
            survey: Survey::default(),
            samples: Samples::default(),
            looks_until: None,
            step_at: Instant::now(),
            chance: kvik_proc::clock::now() | 1,
            shown: None,
        };
        Ok((server, stop))
    }

    pub fn run(mut self) {
        let mut events = Events::default();
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
    /// When something is due even if nothing comes.
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
                // The other end has gone already.
                Err(e) if e.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(_) => {
                    self.accept_at = Some(now + AGAIN);
                    return;
                }
            }
        }
        // The others, when those that are there have been served.
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
    /// Which connection is to go where there are too many: the oldest that has not shown the token,
    /// else that which has been silent longest. `None`: all of them are being answered.
    fn least(&self) -> Option<u64> {
        let all = || self.connections.iter();
        let stranger = all().find(|(_, c)| !c.trusted);
        let silent = || all().filter(|(_, c)| c.is_idle()).min_by_key(|(_, c)| c.until);
        stranger.or_else(silent).map(|(n, _)| *n)
    }
    /// Goes on with a connection as far as that can be done.
    fn serve(&mut self, n: u64, now: Instant) {
        for _ in 0..IN_A_ROW {
            let Some(c) = self.connections.get_mut(&n) else { return };
            match c.next() {
                Next::Wait => return,
                Next::Request(r) => self.request(n, &r, now),
                Next::Refuse(status) => c.answer(refusal(status), true, now),
                Next::End => {
                    self.connections.remove(&n);
                    return;
                }
            }
        }
        // So many at once no page asks.
        self.connections.remove(&n);
    }
    fn request(&mut self, n: u64, r: &Request, now: Instant) {
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
            // Relative addresses begin where the page is.
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
                self.survey.ask_details(pid);
                if let Some(c) = self.connections.get_mut(&n) {
                    c.waits = Some(Waits { pid, until: now + PATIENCE, request: r.clone() });
                }
            }
            _ => c.answer(refusal(404), true, now),
        }
    }
    fn reply(&mut self, n: u64, body: &[u8], r: &Request, now: Instant) {
        if let Some(c) = self.connections.get_mut(&n) {
            c.answer(answer(200, "application/json", body, r.head, r.close), r.close, now);
        }
    }
    /// Somebody looks on.
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
                    data::json(&self.survey, &self.samples).to_string().into_bytes().into();
                self.shown = Some((now, body.clone()));
                body
            }
        }
    }

    /// What is done every few milliseconds while somebody looks on.
    fn step(&mut self, now: Instant) {
        let Some(until) = self.looks_until else { return };
        if until <= now {
            self.looks_until = None;
            self.shown = None;
            return self.survey.forget();
        }
        if self.step_at <= now {
            self.step_at = now + Duration::from_micros(STEP_US + self.chance() % MORE_US);
            self.samples.take();
            self.survey.step(now);
        }
        for (pid, details) in self.survey.answers() {
            let body = details.unwrap_or_else(|| json!({ "gone": true })).to_string();
            self.tell(pid, body.as_bytes(), now);
        }
    }
    /// Who waits to hear about that process hears it.
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
    /// Ends what took too long, and tells of processes that do not answer.
    fn expire(&mut self, now: Instant) {
        let silent = |c: &Connection| c.waits.as_ref().filter(|w| w.until <= now).map(|w| w.pid);
        let silent: Vec<u32> = self.connections.values().filter_map(silent).collect();
        for pid in silent {
            let body = self.no_answer(pid).to_string();
            self.tell(pid, body.as_bytes(), now);
        }
        self.connections.retain(|_, c| c.until > now || c.waits.is_some());
    }
    /// What there is to say of a process that does not answer.
    fn no_answer(&self, pid: u32) -> Value {
        let mut rows = vec![json!(["status", "no answer"])];
        if let Some(k) = self.survey.known(pid).filter(|k| k.numbers.at > 0) {
            rows.push(json!(["reductions", k.numbers.reductions.to_string()]));
            rows.push(json!(["message_queue_len", k.numbers.mailbox.to_string()]));
            rows.push(json!(["memory", format!("{} bytes", k.numbers.memory)]));
        }
        json!({ "title": show(Term::local_pid(pid)), "silent": true, "rows": rows, "stack": [] })
    }
    /// Chance enough for intervals (xorshift).
    fn chance(&mut self) -> u64 {
        let mut x = self.chance;
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.chance = x;
        x >> 16
    }
}

/// Are they the same? How long that takes does not tell where they differ.
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
