//! The `tcp_inet` and `udp_inet` drivers behind `gen_tcp` and `gen_udp`.
//!
//! `prim_inet` opens a port for each socket, gives commands by `port_control`, and sends by
//! `port_command`. What takes time is answered by `{inet_async, Port, Ref, Result}`, a send by
//! `{inet_reply, Port, Result}`.

mod addr;
mod carry;
mod control;
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

use crate::driver::{Driver, Exit, Flow, Ready, Reply};
use crate::packet::Kind;
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

/// Does data go to the owner as it comes?
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Active {
    No,
    Yes,
    Once,
    /// So many messages more.
    Count(i16),
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum What {
    Connect,
    Accept,
    Receive,
}

/// Who is told what became of a send, and by which reference it knows that (since OTP 26).
#[derive(Copy, Clone, PartialEq, Eq)]
pub(crate) struct Sender {
    pid: u32,
    reference: Option<[u32; 3]>,
}

impl Sender {
    /// The sender of these bytes, and what is to be sent. Since OTP 26 a reference comes first: the
    /// size of its external format in two bytes, and that.
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
    packet: Kind,
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
    /// Somebody else reads and writes the descriptor (`inet:ignorefd`).
    ignored: bool,
    /// The descriptor came from outside, and is not closed with the socket. Another port may have
    /// it too, so what is in the poll set is a duplicate.
    adopted: bool,
    duplicate: Option<OwnedFd>,
    /// `{linger, {true, 0}}`: what is queued is not written when the socket is closed.
    linger_zero: bool,
    debug: bool,
    /// `buffer` was set, so that `recbuf` leaves it alone.
    buffer_set: bool,
    /// The options `recvtos`, `recvtclass` and `recvttl` that are on, a bit each.
    control_messages: u8,
    network_namespace: Option<Vec<u8>>,
    /// Names that `inet:sockname` and `inet:peername` are to answer.
    fake_name: Option<Addr>,
    fake_peer: Option<Addr>,
    stats: stats::Stats,
    /// Who wants to know when everything is written.
    want_empty: Vec<u32>,
    input: receive::Input,
    /// The poll set may not tell of what is there: it is to be read until there is nothing.
    recheck: bool,
    /// A failed read that the next turn acts on.
    deferred: Option<Errno>,
    queue: OutQueue,
    /// Whose sends wait for the queue to become shorter, and the deadline of each.
    senders: Vec<(Sender, i64)>,
    /// To be shut down when the queue is empty.
    shutdown: Option<u8>,
    shutdown_done: bool,
    /// The connection is gone; the next receive (send) is told so, and that it was reset.
    delayed_close_receive: bool,
    delayed_close_send: bool,
    delayed_reset: bool,
    told_closed: bool,
    file: Option<output::SendFile>,
    /// When the next timer fires that was set.
    armed: i64,
}

const INFINITY: i32 = -1;
/// The deadline of what has none.
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
            packet: Kind::Raw,
            packet_code: 0,
            http_binaries: false,
            in_headers: false,
            packet_size: 0,
            delimiter: b'\n',
            buffer: 1460,
            high: 8192,
            low: 4096,
            msgq: (4096, 8192),
            send_timeout: INFINITY,
            send_timeout_close: false,
            delay_send: false,
            exit_on_close: true,
            read_packets: 5,
            show_econnreset: false,
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
    /// A socket that was accepted, with the options that the driver hands down; `prim_inet` copies
    /// others, `active` among them.
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
            in_headers: self.packet == Kind::HttpHeader,
            packet_size: self.packet_size,
            buffer: self.buffer,
            high: self.high,
            low: self.low,
            msgq: self.msgq,
            send_timeout: self.send_timeout,
            send_timeout_close: self.send_timeout_close,
            exit_on_close: self.exit_on_close,
            show_econnreset: self.show_econnreset,
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

    /// Enters the poll set, once: both directions, told of changes only.
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
    /// Gives the descriptor back. What is queued is dropped.
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

    /// The deadline of what may take so many milliseconds, with a timer for it. One timer of a
    /// socket is under way where the earliest deadline needs no other.
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

    /// Notes a request of the caller's; the answer to its `port_control` names it.
    fn later(&mut self, core: &Core, what: What, timeout: i32) -> Reply {
        let id = self.next_request;
        self.next_request = id.wrapping_add(1);
        let deadline = if timeout == 0 && what == What::Receive && self.proto == Proto::Tcp {
            // Its caller sees to that.
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

    /// Ends the port from within. As with `driver_exit` of OTP the owner is unlinked, so that it
    /// gets no exit signal, and what is still queued is dropped.
    fn exit(&mut self, core: &mut Core, exit: Exit) -> Flow {
        self.queue.clear();
        core.unlink_owner();
        Err(exit)
    }

    /// `{inet_reply, Port, Result}`, where the result is `ok` or an error, with the sender's reference
    /// behind it where there is one.
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

    /// A message was delivered: `once` and counts come to their end.
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

    /// Bytes as the socket's mode wants them: a list, or a binary behind some bytes of a list.
    fn data<'h>(&self, h: &'h Heap, bytes: &[u8]) -> Term<'h> {
        if self.list || self.header > bytes.len() {
            return h.byte_list(bytes);
        }
        let (head, rest) = bytes.split_at(self.header);
        let items: Vec<_> = head.iter().map(|b| Term::int(*b as i32)).collect();
        h.list_with_tail(&items, h.binary(rest))
    }
    /// How much of so many bytes OTP counts as input: not those that make a list before a binary.
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

    fn timer(&mut self, core: &mut Core) {
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
        self.send_timed_out(core, now);
        let pending = self.pending.iter().map(|p| p.deadline);
        let next = pending.chain(self.senders.iter().map(|s| s.1)).min();
        self.arm(core, next.unwrap_or(NEVER));
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
        // One that was accepted may be active, as the one that listens is.
        match self.fd {
            Some(_) => self.watch(core).map_err(Exit::Posix),
            None => Ok(()),
        }
    }
    fn output(&mut self, core: &mut Core, bytes: &[u8]) -> Flow {
        let (sender, bytes) = Sender::of(core.caller, bytes).ok_or(Exit::Posix(Errno::INVAL))?;
        match self.proto {
            Proto::Tcp => self.tcp_send(core, sender, bytes),
            Proto::Udp => {
                let r = self.udp_send(bytes);
                self.reply(core, sender, r.err());
                Ok(())
            }
        }
    }
    fn ready(&mut self, core: &mut Core, why: Ready, buffer: &mut [u8]) -> Flow {
        match (why, self.proto) {
            (Ready::Timer(_), _) => {
                self.timer(core);
                Ok(())
            }
            (Ready::Input { hangup }, Proto::Tcp) => self.tcp_ready(core, hangup, buffer),
            (Ready::Input { .. }, Proto::Udp) => self.udp_ready(core, buffer),
            (Ready::Output, Proto::Tcp) => self.tcp_writable(core),
            (Ready::Fetch, Proto::Tcp) => self.fetch(core),
            _ => Ok(()),
        }
    }
    fn control(&mut self, core: &mut Core, op: u32, data: &[u8]) -> Option<Reply> {
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
        // One that came from outside stays open.
        self.fd.take().map(IntoRawFd::into_raw_fd);
    }
}
