//! The `tcp_inet` and `udp_inet` drivers behind `gen_tcp` and `gen_udp`.
//!
//! `prim_inet` opens a port for each socket, sends commands by `port_control`, and data by
//! `port_command`. Operations that take time are answered by `{inet_async, Port, Ref, Result}`,
//! sends by `{inet_reply, Port, Result}`.

mod addr;
mod carry;
mod control;
mod interfaces;
mod options;
mod output;
mod receive;
mod stats;
mod tcp;
mod udp;

use std::collections::VecDeque;
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd, RawFd};
use std::time::Duration;

use kvik_env::clock::monotonic_nanos;
use kvik_env::poll::Interest;
use kvik_env::socket::{Addr, Family};
use kvik_env::Errno;
use kvik_heap::Heap;
use kvik_term::{am, Atom, Term};

use crate::driver::{ControlReply, Driver, Exit, Flow, Ready};
use crate::packet::PacketKind;
use crate::poll::{self, Source};
use crate::port::state::Core;
use crate::queue::OutQueue;

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Proto {
    Tcp,
    Udp,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum State {
    Closed,
    Open,
    Connecting,
    Connected,
    Listening,
}

/// Whether data go to the owner as they come.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Active {
    No,
    Yes,
    Once,
    /// For this many more messages.
    Count(i16),
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum What {
    Connect,
    Accept,
    Receive,
}

/// The process that gets a send's result, and the reference in it (since OTP 26).
#[derive(Copy, Clone, PartialEq, Eq)]
pub(crate) struct Sender {
    pid: u32,
    reference: Option<[u32; 3]>,
}

impl Sender {
    /// Splits output into its sender and the data. Since OTP 26 a reference comes first: the size
    /// of its external format in two bytes, then that format.
    fn of(pid: u32, bytes: &[u8]) -> Option<(Sender, &[u8])> {
        if !kvik_release::current().has_local_format() {
            return Some((Sender { pid, reference: None }, bytes));
        }
        let (size, rest) = bytes.split_first_chunk::<2>()?;
        let (reference, rest) = rest.split_at_checked(u16::from_be_bytes(*size).into())?;
        let heap = Heap::detached();
        let opts = kvik_etf::DecodeOpts::default();
        let (reference, _) = kvik_etf::decode(reference, &heap, opts).ok()?;
        let numbers = reference.as_local_ref()?.numbers();
        Some((Sender { pid, reference: Some(numbers) }, rest))
    }
}

/// A request that is answered later.
struct Pending {
    id: u16,
    caller: u32,
    what: What,
    /// When it ends with `timeout`, in nanoseconds of the monotonic clock, or [`NEVER`].
    deadline: i64,
}

pub(crate) struct Inet {
    proto: Proto,
    fd: Option<OwnedFd>,
    family: Family,
    state: State,
    bound: bool,
    /// In a poll set.
    polled: bool,
    pending: VecDeque<Pending>,
    /// The number of the next request.
    next_request: u16,
    active: Active,
    list: bool,
    deliver_port: bool,
    header: usize,
    packet: PacketKind,
    packet_code: i32,
    http_binaries: bool,
    in_headers: bool,
    packet_size: usize,
    delimiter: u8,
    buffer: usize,
    high: usize,
    low: usize,
    msgq: (i32, i32),
    send_timeout: i32,
    send_timeout_close: bool,
    delay_send: bool,
    exit_on_close: bool,
    read_packets: i32,
    show_econnreset: bool,
    /// Whether bytes behind a packet may be read with it.
    read_ahead: bool,
    /// Other code reads and writes the descriptor (`inet:ignorefd`).
    ignored: bool,
    /// The descriptor came from outside, and is not closed with the socket. Another port may use it
    /// too, so a duplicate is in the poll set.
    adopted: bool,
    duplicate: Option<OwnedFd>,
    /// `{linger, {true, 0}}`: the queue is dropped when the socket is closed.
    linger_zero: bool,
    debug: bool,
    /// `buffer` was set, so that `recbuf` leaves it alone.
    buffer_set: bool,
    /// The options `recvtos`, `recvtclass` and `recvttl` that are on, a bit each.
    control_messages: u8,
    network_namespace: Option<Vec<u8>>,
    /// Names that `inet:sockname` and `inet:peername` return instead of the true ones.
    fake_name: Option<Addr>,
    fake_peer: Option<Addr>,
    stats: stats::Stats,
    /// Processes to tell when the queue is empty.
    want_empty: Vec<u32>,
    input: receive::Input,
    /// Data may be there without an event: read until there are none.
    recheck: bool,
    /// A failed read that the next time slice acts on.
    deferred: Option<Errno>,
    queue: OutQueue,
    /// Senders that wait for the queue to become shorter, and their deadlines.
    senders: Vec<(Sender, i64)>,
    /// The shutdown to do when the queue is empty.
    shutdown: Option<u8>,
    shutdown_done: bool,
    /// The connection is gone, perhaps by a reset; the next receive (send) returns that.
    delayed_close_receive: bool,
    delayed_close_send: bool,
    delayed_reset: bool,
    told_closed: bool,
    file: Option<output::SendFile>,
    /// When the earliest running timer fires.
    armed: i64,
}

const INFINITY: i32 = -1;
/// No deadline.
const NEVER: i64 = i64::MAX;

/// Adds the drivers.
pub fn install() {
    crate::add_driver("tcp_inet", |_| Box::new(Inet::new(Proto::Tcp)));
    crate::add_driver("udp_inet", |_| Box::new(Inet::new(Proto::Udp)));
}

fn posix(e: Errno) -> Atom {
    Atom::intern(e.name()).unwrap_or(am::error)
}

impl Inet {
    fn new(proto: Proto) -> Inet {
        Inet {
            proto,
            fd: None,
            family: Family::Inet,
            state: State::Closed,
            bound: false,
            polled: false,
            pending: VecDeque::new(),
            next_request: 0,
            active: Active::No,
            list: true,
            deliver_port: false,
            header: 0,
            packet: PacketKind::Raw,
            packet_code: 0,
            http_binaries: false,
            in_headers: false,
            packet_size: 0,
            delimiter: b'\n',
            buffer: kvik_release::current().inet_buffer(),
            high: 8192,
            low: 4096,
            msgq: (4096, 8192),
            send_timeout: INFINITY,
            send_timeout_close: false,
            delay_send: false,
            exit_on_close: true,
            read_packets: 5,
            show_econnreset: false,
            read_ahead: true,
            ignored: false,
            adopted: false,
            duplicate: None,
            linger_zero: false,
            debug: false,
            buffer_set: false,
            control_messages: 0,
            network_namespace: None,
            fake_name: None,
            fake_peer: None,
            stats: stats::Stats::default(),
            want_empty: Vec::new(),
            input: receive::Input::default(),
            recheck: false,
            deferred: None,
            queue: OutQueue::default(),
            senders: Vec::new(),
            shutdown: None,
            shutdown_done: false,
            delayed_close_receive: false,
            delayed_close_send: false,
            delayed_reset: false,
            told_closed: false,
            file: None,
            armed: NEVER,
        }
    }
    /// An accepted socket, with the options that the driver passes on; `prim_inet` copies others,
    /// among them `active`.
    fn accepted(&self, fd: OwnedFd) -> Inet {
        Inet {
            fd: Some(fd),
            family: self.family,
            state: State::Connected,
            bound: true,
            list: self.list,
            deliver_port: self.deliver_port,
            header: self.header,
            packet: self.packet,
            packet_code: self.packet_code,
            http_binaries: self.http_binaries,
            in_headers: self.packet == PacketKind::HttpHeader,
            packet_size: self.packet_size,
            buffer: self.buffer,
            high: self.high,
            low: self.low,
            msgq: self.msgq,
            send_timeout: self.send_timeout,
            send_timeout_close: self.send_timeout_close,
            exit_on_close: self.exit_on_close,
            show_econnreset: self.show_econnreset,
            read_ahead: self.read_ahead,
            linger_zero: self.linger_zero,
            ..Inet::new(Proto::Tcp)
        }
    }
    fn raw(&self) -> Result<RawFd, Errno> {
        self.fd.as_ref().map(|f| f.as_raw_fd()).ok_or(Errno::BADF)
    }
    fn is_active(&self) -> bool {
        self.active != Active::No
    }

    /// Enters the poll set, once: both directions, edge-triggered.
    fn watch(&mut self, core: &Core) -> Result<(), Errno> {
        if !self.polled {
            let i = Interest { read: true, write: true, edge: true };
            let mut fd = self.raw()?;
            if self.adopted {
                fd = self.duplicate.insert(kvik_env::fd::duplicate(fd)?).as_raw_fd();
            }
            poll::add(core.home, fd, Source::Both, core.id, i)?;
            self.polled = true;
        }
        Ok(())
    }
    /// Closes the descriptor. The queue is dropped.
    fn close_socket(&mut self, core: &Core) {
        self.input.clear();
        self.deferred = None;
        self.clear_queue(core);
        self.leave_poll_set(core);
        if !self.adopted {
            self.fd = None;
            self.state = State::Closed;
        }
    }
    fn leave_poll_set(&mut self, core: &Core) {
        let duplicate = self.duplicate.take();
        if let (true, Some(fd)) =
            (std::mem::take(&mut self.polled), duplicate.as_ref().or(self.fd.as_ref()))
        {
            poll::remove(core.home, fd.as_raw_fd());
        }
    }

    /// The deadline of a timeout in milliseconds, with a timer for it. A socket starts no timer if
    /// an earlier one is running.
    fn deadline(&mut self, core: &Core, timeout: i32) -> i64 {
        if timeout < 0 {
            return NEVER;
        }
        let at = monotonic_nanos().saturating_add(timeout as i64 * 1_000_000);
        self.arm(core, at);
        at
    }
    fn arm(&mut self, core: &Core, at: i64) {
        if at < self.armed {
            let left = at.saturating_sub(monotonic_nanos()).max(0) as u64;
            poll::set_timer(core.home, core.id, Duration::from_nanos(left), 0);
            self.armed = at;
        }
    }

    /// Queues a request of the caller's; the reply to its `port_control` names it.
    fn later(&mut self, core: &Core, what: What, timeout: i32) -> ControlReply {
        let id = self.next_request;
        self.next_request = id.wrapping_add(1);
        let deadline = if timeout == 0 && what == What::Receive && self.proto == Proto::Tcp {
            // The caller handles that timeout.
            NEVER
        } else {
            self.deadline(core, timeout)
        };
        self.pending.push_back(Pending { id, caller: core.caller, what, deadline });
        control::ok(&id.to_be_bytes())
    }
    /// Answers the oldest request.
    fn answer(
        &mut self,
        core: &Core,
        words: usize,
        result: impl for<'h> FnOnce(&'h Heap) -> Term<'h>,
    ) {
        let Some(p) = self.pending.pop_front() else {
            return;
        };
        answer(core, &p, words, result);
    }
    fn answer_error(&mut self, core: &Core, reason: Atom) {
        self.answer(core, 3, |h| h.tuple(&[am::error.into(), reason.into()]));
    }
    fn answer_all(&mut self, core: &Core, reason: Atom) {
        while !self.pending.is_empty() {
            self.answer_error(core, reason);
        }
    }

    /// Ends the port from within. As with `driver_exit` of OTP, the owner is unlinked, so that it
    /// gets no exit signal, and the queue is dropped.
    fn exit(&mut self, core: &mut Core, exit: Exit) -> Flow {
        self.queue.clear();
        core.unlink_owner();
        Err(exit)
    }

    /// Sends `{inet_reply, Port, Result}`, where the result is `ok` or an error, followed by the
    /// sender's reference if there is one.
    fn reply(&self, core: &Core, to: Sender, error: Option<Atom>) {
        let port = core.term();
        core.send(to.pid, 14, |h| {
            let r = match error {
                None => am::ok.into(),
                Some(e) => h.tuple(&[am::error.into(), e.into()]),
            };
            match to.reference {
                None => h.tuple(&[am::inet_reply.into(), port, r]),
                Some(n) => h.tuple(&[am::inet_reply.into(), port, r, h.ref_of_numbers(n)]),
            }
        });
    }

    /// A message was delivered: ends `once`, and counts down.
    fn delivered(&mut self, core: &Core) {
        match self.active {
            Active::Once => self.active = Active::No,
            Active::Count(1) => {
                self.active = Active::No;
                self.tell_passive(core);
            }
            Active::Count(n) => self.active = Active::Count(n - 1),
            _ => {}
        }
    }
    fn tell_passive(&self, core: &Core) {
        let tag = match self.proto {
            Proto::Tcp => am::tcp_passive,
            Proto::Udp => am::udp_passive,
        };
        let port = core.term();
        core.send(core.owner(), 3, |h| h.tuple(&[tag.into(), port]));
    }

    /// Data in the socket's mode: a list, or a binary after a list of header bytes.
    fn data<'h>(&self, h: &'h Heap, bytes: &[u8]) -> Term<'h> {
        if self.list || self.header > bytes.len() {
            return h.byte_list(bytes);
        }
        let (head, rest) = bytes.split_at(self.header);
        let items: Vec<_> = head.iter().map(|b| Term::int(*b as i32)).collect();
        h.list_with_tail(&items, h.binary(rest))
    }
    /// How many of `n` bytes OTP counts as input: not those in the list before a binary.
    fn counted(&self, n: usize) -> usize {
        if self.list || self.header > n {
            return n;
        }
        n - self.header
    }
    /// Words that [`Inet::data`] needs.
    fn data_words(&self, n: usize) -> usize {
        if self.list {
            2 * n
        } else {
            2 * self.header + 2 + n.min(64).div_ceil(8) + 6
        }
    }

    fn timer(&mut self, core: &mut Core) -> Flow {
        self.armed = NEVER;
        let now = monotonic_nanos();
        while let Some(i) = self.pending.iter().position(|p| p.deadline <= now) {
            let Some(p) = self.pending.remove(i) else { break };
            match p.what {
                What::Connect => self.close_socket(core),
                What::Receive => self.input.forget_remain(),
                What::Accept => {}
            }
            answer(core, &p, 3, |h| h.tuple(&[am::error.into(), am::timeout.into()]));
        }
        self.send_timed_out(core, now)?;
        let pending = self.pending.iter().map(|p| p.deadline);
        let next = pending.chain(self.senders.iter().map(|s| s.1)).min();
        self.arm(core, next.unwrap_or(NEVER));
        Ok(())
    }
}

fn answer(
    core: &Core,
    p: &Pending,
    words: usize,
    result: impl for<'h> FnOnce(&'h Heap) -> Term<'h>,
) {
    let (port, id) = (core.term(), Term::int(p.id as i32));
    core.send(p.caller, words + 5, |h| h.tuple(&[am::inet_async.into(), port, id, result(h)]));
}

impl Driver for Inet {
    fn start(&mut self, core: &mut Core) -> Flow {
        // An accepted socket may be active, as its listener is.
        match self.fd {
            Some(_) => self.watch(core).map_err(Exit::Posix),
            None => Ok(()),
        }
    }
    fn output(&mut self, core: &mut Core, bytes: &[u8]) -> Flow {
        let (sender, bytes) = Sender::of(core.caller, bytes).ok_or(Exit::Posix(Errno::INVAL))?;
        match self.proto {
            Proto::Tcp => self.tcp_send(core, sender, &[bytes]),
            Proto::Udp => {
                let r = self.udp_send(bytes);
                self.reply(core, sender, r.err());
                Ok(())
            }
        }
    }
    fn output_slices(&mut self, core: &mut Core, slices: &[&[u8]]) -> Flow {
        let ([first, rest @ ..], Proto::Tcp) = (slices, self.proto) else {
            return self.output(core, &slices.concat());
        };
        let (sender, first) = Sender::of(core.caller, first).ok_or(Exit::Posix(Errno::INVAL))?;
        if rest.is_empty() {
            return self.tcp_send(core, sender, &[first]);
        }
        let mut slices = slices.to_vec();
        slices[0] = first;
        self.tcp_send(core, sender, &slices)
    }
    fn ready(&mut self, core: &mut Core, why: Ready, buffer: &mut [u8]) -> Flow {
        match (why, self.proto) {
            (Ready::Timer(_), _) => self.timer(core),
            (Ready::Input { hangup }, Proto::Tcp) => self.tcp_ready(core, hangup, buffer),
            (Ready::Input { .. }, Proto::Udp) => self.udp_ready(core, buffer),
            (Ready::Output, Proto::Tcp) => self.tcp_writable(core),
            (Ready::Fetch, Proto::Tcp) => self.fetch(core),
            _ => Ok(()),
        }
    }
    fn control(&mut self, core: &mut Core, op: u32, data: &[u8]) -> Option<ControlReply> {
        control::control(self, core, op, data)
    }
    fn queued(&self) -> usize {
        self.queue.len()
    }
    fn carries_packets(&self) -> bool {
        self.proto == Proto::Tcp
    }
    fn flush(&mut self) {
        let Ok(fd) = self.raw() else { return };
        while !self.queue.is_empty() {
            if kvik_env::fd::wait_ready(fd, true, 2000) != Ok(true) {
                return;
            }
            match self.queue.slices(|s| kvik_env::socket::writev(fd, s)) {
                Ok(n) => self.queue.advance(n),
                Err(_) => self.queue.clear(),
            }
        }
    }
    fn closing(&mut self, _core: &mut Core) -> Flow {
        if self.linger_zero || self.file.is_some() || self.ignored || !self.polled {
            self.queue.clear();
        }
        Ok(())
    }
    fn stop(&mut self, core: &mut Core) {
        self.answer_all(core, am::closed);
        self.want_empty.clear();
        self.close_socket(core);
        // A descriptor from outside stays open.
        self.fd.take().map(IntoRawFd::into_raw_fd);
    }
}
