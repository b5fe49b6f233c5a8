//! The load generator: one thread with many connections in one epoll set.
//!
//! In the closed loop every connection has a fixed number of requests under way, which saturates the
//! server. In the open loop requests are due at fixed times, whether the server keeps up or not, and
//! the time of an answer counts from when its request was due: a server that stalls is charged with
//! all requests that it kept waiting, also those that could not be sent yet.

use super::wire::Wire;
use kvik_sys::poll::{Interest, PollEvents, Poller};
use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::time::{Duration, Instant};

/// Which requests of a connection an answer is for. They are numbered from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answered {
    /// The oldest without an answer.
    Oldest,
    Number(u64),
    /// All up to that number.
    UpTo(u64),
}

/// A protocol's side of a connection whose handshake is done.
pub trait ClientSession {
    /// Appends a request.
    fn request(&mut self, output: &mut Vec<u8>);
    /// Reads complete messages at the start of the input: how many bytes they took. Appends what they
    /// answer, and what is to be said in return.
    fn receive(
        &mut self,
        input: &[u8],
        answers: &mut Vec<Answered>,
        output: &mut Vec<u8>,
    ) -> Result<usize, String>;
}

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It sends requests.
    Asks,
    /// It only listens, as a consumer does.
    Listens,
}

struct Connection {
    wire: Wire,
    session: Box<dyn ClientSession>,
    role: Role,
    input: Vec<u8>,
    output: Vec<u8>,
    /// When the requests without an answer were due, the oldest first; `None` has its answer.
    due: VecDeque<Option<u64>>,
    /// The number of the oldest.
    oldest: u64,
}

/// Nanoseconds since the generator was made.
type Nanos = u64;

#[derive(Debug, Clone, Copy)]
enum Pace {
    /// Nothing is sent.
    Idle,
    Closed,
    /// The time of the next request, the distance between two, and when none is due any more.
    Open {
        next: f64,
        interval: f64,
        end: f64,
    },
}

/// What a phase was like.
pub struct LoadPhase {
    pub answers: u64,
    pub seconds: f64,
    /// CPU time of the generator.
    pub client_seconds: f64,
    /// Nanoseconds from when a request was due to its answer, ascending.
    pub latencies: Vec<Nanos>,
    /// How late requests were sent that nothing held up but the generator, ascending.
    pub lags: Vec<Nanos>,
}

/// What a phase begins and ends with: it reads the server's CPU time.
pub type Probe<'a> = &'a mut dyn FnMut();

pub struct Load {
    begin: Instant,
    poller: Poller,
    events: PollEvents,
    connections: Vec<Connection>,
    pace: Pace,
    /// Connections that may send a request; once for each that they may send.
    free: VecDeque<usize>,
    /// Requests that are due and wait for a free connection.
    waiting: VecDeque<Nanos>,
    /// Connections with output.
    unsent: Vec<usize>,
    answered: Vec<Answered>,
    buffer: Vec<u8>,
    answers: u64,
    outstanding: u64,
    latencies: Vec<Nanos>,
    lags: Vec<Nanos>,
}

/// How long the answers may take that are missing when a phase ends.
const DRAIN: Duration = Duration::from_secs(60);
/// Shorter waits are spun: the kernel wakes a sleeper that late.
const SPIN: Duration = Duration::from_micros(80);
/// The longest wait for an event: a phase ends on time.
const TICK: Duration = Duration::from_millis(20);

impl Load {
    pub fn new() -> Result<Load, String> {
        let poller = Poller::new().map_err(|e| format!("epoll: {}", e.name()))?;
        Ok(Load {
            begin: Instant::now(),
            poller,
            events: PollEvents::default(),
            connections: Vec::new(),
            pace: Pace::Idle,
            free: VecDeque::new(),
            waiting: VecDeque::new(),
            unsent: Vec::new(),
            answered: Vec::new(),
            buffer: vec![0; 64 << 10],
            answers: 0,
            outstanding: 0,
            latencies: Vec::new(),
            lags: Vec::new(),
        })
    }

    /// Adds a connection whose handshake is done.
    pub fn add(
        &mut self,
        wire: Wire,
        session: Box<dyn ClientSession>,
        role: Role,
    ) -> Result<(), String> {
        wire.unblock()?;
        let index = self.connections.len();
        let interest = Interest { read: true, write: true, edge: true };
        let added = self.poller.add(wire.descriptor(), index as u64, interest);
        added.map_err(|e| format!("epoll: {}", e.name()))?;
        self.connections.push(Connection {
            wire,
            session,
            role,
            input: Vec::new(),
            output: Vec::new(),
            due: VecDeque::new(),
            oldest: 1,
        });
        Ok(())
    }

    /// Every connection has `depth` requests under way: for `warm`, then for `time`, which counts.
    pub fn saturate(
        &mut self,
        depth: usize,
        [warm, time]: [Duration; 2],
        probe: Probe,
    ) -> Result<LoadPhase, String> {
        self.begin_phase(depth);
        self.pace = Pace::Closed;
        self.until(warm)?;
        let phase = self.measured(probe, |load| load.until(time))?;
        self.drain()?;
        Ok(phase)
    }

    /// `rate` requests a second are due, of which a connection sends up to `depth` before an answer.
    pub fn at_rate(
        &mut self,
        depth: usize,
        rate: f64,
        [warm, time]: [Duration; 2],
        probe: Probe,
    ) -> Result<LoadPhase, String> {
        self.begin_phase(depth);
        let schedule = |load: &mut Load, time: Duration| {
            let (interval, now) = (1e9 / rate, load.now() as f64);
            let end = now + time.as_nanos() as f64;
            load.pace = Pace::Open { next: now + interval, interval, end };
        };
        schedule(self, warm);
        self.until(warm)?;
        self.drain()?;
        self.measured(probe, |load| {
            schedule(load, time);
            load.until(time)?;
            load.drain()
        })
    }

    /// One request on each connection, answered.
    pub fn greet(&mut self) -> Result<(), String> {
        self.begin_phase(1);
        for index in std::mem::take(&mut self.free) {
            let now = self.now();
            self.ask(index, now);
        }
        self.drain()
    }

    fn begin_phase(&mut self, depth: usize) {
        let asks = |c: &Connection| c.role != Role::Listens;
        let all: Vec<usize> =
            (0..self.connections.len()).filter(|i| asks(&self.connections[*i])).collect();
        self.free = (0..depth).flat_map(|_| all.iter().copied()).collect();
    }

    fn measured(
        &mut self,
        probe: Probe,
        run: impl FnOnce(&mut Load) -> Result<(), String>,
    ) -> Result<LoadPhase, String> {
        let client = || kvik_sys::usage::cpu_time_ns() as f64 / 1e9;
        probe();
        self.latencies.clear();
        self.lags.clear();
        let (answers, begin, used) = (self.answers, self.now(), client());
        run(self)?;
        let (seconds, client_seconds) = ((self.now() - begin) as f64 / 1e9, client() - used);
        probe();
        let [mut latencies, mut lags] = [&mut self.latencies, &mut self.lags].map(std::mem::take);
        latencies.sort_unstable();
        lags.sort_unstable();
        let answers = self.answers - answers;
        Ok(LoadPhase { answers, seconds, client_seconds, latencies, lags })
    }

    fn now(&self) -> Nanos {
        self.begin.elapsed().as_nanos() as Nanos
    }

    fn until(&mut self, time: Duration) -> Result<(), String> {
        let end = self.now() + time.as_nanos() as Nanos;
        self.send_due()?;
        while self.now() < end {
            self.turn()?;
        }
        self.send_due()
    }

    /// Sends nothing more that is not due yet, and waits for all answers.
    fn drain(&mut self) -> Result<(), String> {
        self.pace = Pace::Idle;
        let end = Instant::now() + DRAIN;
        while self.outstanding > 0 || !self.waiting.is_empty() {
            if Instant::now() > end {
                let missing = self.outstanding + self.waiting.len() as u64;
                return Err(format!("{missing} requests had no answer within {DRAIN:?}"));
            }
            self.turn()?;
        }
        Ok(())
    }

    /// Waits for events, and handles them.
    fn turn(&mut self) -> Result<(), String> {
        let timeout = match self.pace {
            Pace::Open { next, .. } => {
                let left = Duration::from_nanos((next - self.now() as f64).max(0.0) as Nanos);
                left.saturating_sub(SPIN).min(TICK)
            }
            _ => TICK,
        };
        let fault = |e: kvik_sys::Errno| format!("epoll: {}", e.name());
        self.poller.wait(&mut self.events, Some(timeout)).map_err(fault)?;
        let ready: Vec<usize> = self.events.iter().map(|e| e.token as usize).collect();
        for index in ready {
            self.receive(index)?;
            self.flush(index)?;
            self.send_due()?;
        }
        self.send_due()
    }

    /// Sends what the pace asks for.
    fn send_due(&mut self) -> Result<(), String> {
        let now = self.now();
        match &mut self.pace {
            Pace::Idle => {}
            Pace::Closed => self.waiting.resize(self.free.len(), now),
            Pace::Open { next, interval, end } => {
                while *next <= now as f64 && *next < *end {
                    let due = *next as Nanos;
                    if self.waiting.len() < self.free.len() {
                        self.lags.push(now - due);
                    }
                    self.waiting.push_back(due);
                    *next += *interval;
                }
            }
        }
        while !self.waiting.is_empty() && !self.free.is_empty() {
            let (due, index) = (self.waiting.pop_front(), self.free.pop_front());
            let Some((due, index)) = due.zip(index) else { break };
            self.ask(index, due);
        }
        while let Some(index) = self.unsent.pop() {
            self.flush(index)?;
        }
        Ok(())
    }

    fn ask(&mut self, index: usize, due: Nanos) {
        let connection = &mut self.connections[index];
        if connection.output.is_empty() {
            self.unsent.push(index);
        }
        connection.session.request(&mut connection.output);
        connection.due.push_back(Some(due));
        self.outstanding += 1;
    }

    fn flush(&mut self, index: usize) -> Result<(), String> {
        let Connection { wire, output, .. } = &mut self.connections[index];
        let mut sent = 0;
        while sent < output.len() {
            match wire.write(&output[sent..]) {
                Ok(n) => sent += n,
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(format!("write: {e}")),
            }
        }
        output.drain(..sent);
        match wire.flush() {
            Err(e) if wire.holds_back() && e.kind() == ErrorKind::WouldBlock => Ok(()),
            other => other.map_err(|e| format!("write: {e}")),
        }
    }

    /// Reads all that has arrived, and settles what it answers.
    fn receive(&mut self, index: usize) -> Result<(), String> {
        loop {
            let connection = &mut self.connections[index];
            let n = match connection.wire.read(&mut self.buffer) {
                Ok(0) => return Err("the server closed a connection".to_owned()),
                Ok(n) => n,
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(e) if e.kind() == ErrorKind::Interrupted => continue,
                Err(e) => return Err(format!("read: {e}")),
            };
            let Connection { session, input, output, .. } = connection;
            let some = &self.buffer[..n];
            // Whole messages need no copy.
            let used = if input.is_empty() {
                let used = session.receive(some, &mut self.answered, output)?;
                input.extend_from_slice(&some[used..]);
                0
            } else {
                input.extend_from_slice(some);
                session.receive(input, &mut self.answered, output)?
            };
            input.drain(..used);
            self.settle(index)?;
            // A short read has emptied the socket.
            if n < self.buffer.len() && self.connections[index].wire.is_plain() {
                return Ok(());
            }
        }
    }

    /// Counts the requests that were answered.
    fn settle(&mut self, index: usize) -> Result<(), String> {
        if self.answered.is_empty() {
            return Ok(());
        }
        let now = self.now();
        for answer in self.answered.drain(..) {
            let connection = &mut self.connections[index];
            let last = connection.oldest + connection.due.len() as u64 - 1;
            let (from, to) = match answer {
                Answered::Oldest => (connection.oldest, connection.oldest),
                Answered::Number(n) => (n, n),
                Answered::UpTo(n) => (connection.oldest, n.min(last)),
            };
            for number in from..=to {
                let at = number.checked_sub(connection.oldest).map(|at| at as usize);
                let due = at.and_then(|at| connection.due.get_mut(at)).and_then(Option::take);
                match due {
                    Some(due) => {
                        self.latencies.push(now.saturating_sub(due));
                        self.free.push_back(index);
                        self.answers += 1;
                        self.outstanding -= 1;
                    }
                    // `UpTo` may repeat what was answered by number.
                    None if matches!(answer, Answered::UpTo(_)) => {}
                    None => return Err(format!("an answer to no request: {answer:?}")),
                }
            }
            while connection.due.front() == Some(&None) {
                connection.due.pop_front();
                connection.oldest += 1;
            }
        }
        Ok(())
    }
}

impl LoadPhase {
    pub fn rate(&self) -> f64 {
        self.answers as f64 / self.seconds
    }
    /// The share of a CPU that the generator used.
    pub fn client_share(&self) -> f64 {
        self.client_seconds / self.seconds
    }
}

/// The value that a share of all are not above, in microseconds.
pub fn percentile(sorted: &[Nanos], share: f64) -> f64 {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.max(1) - 1).map_or(0.0, |nanos| *nanos as f64 / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    /// A line is a request, and so is its answer.
    struct Lines;

    impl ClientSession for Lines {
        fn request(&mut self, output: &mut Vec<u8>) {
            output.extend_from_slice(b"ask\n");
        }
        fn receive(
            &mut self,
            input: &[u8],
            answers: &mut Vec<Answered>,
            _: &mut Vec<u8>,
        ) -> Result<usize, String> {
            let used = input.iter().rposition(|c| *c == b'\n').map_or(0, |at| at + 1);
            let lines = input[..used].iter().filter(|c| **c == b'\n');
            answers.extend(lines.map(|_| Answered::Oldest));
            Ok(used)
        }
    }

    /// A server that echoes; before the bytes after `stall_after` of them it waits once.
    fn echo(stall_after: usize, stall: Duration) -> TcpStream {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            let (mut peer, _) = listener.accept().unwrap();
            let (mut some, mut passed) = ([0; 4096], 0);
            while let Ok(n @ 1..) = peer.read(&mut some) {
                if passed < stall_after && passed + n >= stall_after {
                    std::thread::sleep(stall);
                }
                passed += n;
                if peer.write_all(&some[..n]).is_err() {
                    break;
                }
            }
        });
        TcpStream::connect(address).unwrap()
    }

    fn load(stream: TcpStream) -> Load {
        let mut load = Load::new().unwrap();
        load.add(Wire::Plain(stream), Box::new(Lines), Role::Asks).unwrap();
        load
    }

    #[test]
    fn counts_what_was_answered() {
        let mut load = load(echo(usize::MAX, Duration::ZERO));
        let ms = Duration::from_millis;
        let mut probes = 0;
        let phase = load.saturate(4, [ms(5), ms(60)], &mut || probes += 1).unwrap();
        assert!(probes == 2 && phase.answers > 0 && phase.seconds >= 0.06);
        assert!(load.outstanding == 0 && load.free.len() >= 4);
        assert_eq!(phase.latencies.len() as u64, phase.answers);
    }

    #[test]
    fn a_stall_is_charged_to_all_requests_that_were_due() {
        // One request at a time: without the correction one alone would be slow.
        let mut load = load(echo(4 * 20, Duration::from_millis(300)));
        let ms = Duration::from_millis;
        let phase = load.at_rate(1, 1000.0, [ms(0), ms(500)], &mut || ()).unwrap();
        let slow = phase.latencies.iter().filter(|n| **n > 50_000_000).count();
        assert!(slow >= 230, "{slow} of {}", phase.latencies.len());
        assert_eq!(phase.latencies.len(), 499);
    }

    #[test]
    fn answers_come_by_number_and_in_any_order() {
        let mut load = load(echo(usize::MAX, Duration::ZERO));
        (0..5).for_each(|due| load.ask(0, due));
        let mut settle = |answers: &[Answered]| {
            load.answered.extend_from_slice(answers);
            load.settle(0).map(|()| (load.answers, load.outstanding, load.connections[0].oldest))
        };
        assert_eq!(settle(&[Answered::Number(2)]), Ok((1, 4, 1)));
        assert_eq!(settle(&[Answered::UpTo(3)]), Ok((3, 2, 4)));
        assert_eq!(settle(&[Answered::Oldest, Answered::Number(5)]), Ok((5, 0, 6)));
        assert!(settle(&[Answered::Number(5)]).is_err());
    }

    #[test]
    fn percentiles() {
        let sorted: Vec<Nanos> = (1..=1000).map(|n| n * 1000).collect();
        let found = [0.5, 0.99, 0.999, 1.0].map(|share| percentile(&sorted, share));
        assert_eq!(found, [500.0, 990.0, 999.0, 1000.0]);
        assert_eq!(percentile(&[7000], 0.5), 7.0);
    }
}
