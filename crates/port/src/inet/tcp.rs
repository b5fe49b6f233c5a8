//! Streams: accepting, receiving packets, sending with back-pressure.

use std::io::IoSlice;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

use kvik_heap::Heap;
use kvik_sys::socket::{self, ECONNABORTED, ECONNRESET, ENOTCONN};
use kvik_sys::{fd, Errno};
use kvik_term::{am, Atom, Term};

use super::{control, next_timer, posix, Active, Inet, State, What};
use crate::driver::{Exit, Flow, Reply};
use crate::options::Options;
use crate::packet::{self, Kind, Length, Limits};
use crate::packet_term::http_term;
use crate::poll::{self, Source};
use crate::port::{Core, Port};

/// Messages of one turn.
const TURN: usize = 64;
/// The most that is read for one packet.
const MAX_PACKET: usize = 1 << 26;

/// A part of a file that is on its way out.
pub struct SendFile {
    file: OwnedFd,
    offset: i64,
    left: u64,
    sent: u64,
    caller: u32,
}

fn fail(e: Errno) -> Reply {
    Reply::List([&[0], e.name().as_bytes()].concat())
}
fn fail_text(t: &str) -> Reply {
    Reply::List([&[0], t.as_bytes()].concat())
}

impl Inet {
    pub(super) fn accept(&mut self, core: &mut Core, data: &[u8]) -> Reply {
        let Ok(timeout) = <[u8; 4]>::try_from(data).map(i32::from_be_bytes) else {
            return fail(Errno::INVAL);
        };
        if self.state != State::Listening {
            return fail(Errno::INVAL);
        }
        if let Err(e) = self.watch(core) {
            return fail(e);
        }
        let r = self.later(core, What::Accept, timeout);
        self.accept_ready(core);
        r
    }

    /// Gives connections that wait to those who want one.
    fn accept_ready(&mut self, core: &Core) {
        while let (Some(p), Ok(l)) = (self.pending.front(), self.raw()) {
            let owner = p.caller;
            match socket::accept(l) {
                Ok(fd) => match self.accepted_port(owner, fd) {
                    Ok(port) => self.answer(core, 3, |h| h.tuple(&[am::ok.into(), port])),
                    Err(e) => self.answer_error(core, e),
                },
                Err(Errno::AGAIN) => return,
                Err(ECONNABORTED) => continue,
                Err(e) => return self.answer_error(core, posix(e)),
            }
        }
    }

    fn accepted_port(&self, owner: u32, fd: OwnedFd) -> Result<Term<'static>, Atom> {
        let socket = Box::new(self.accepted(fd));
        let o = Options { read: true, write: true, binary: true, ..Options::default() };
        let link = |port, make| {
            if let (true, Some(h)) = (make, crate::host::host()) {
                h.link(owner, port);
            }
        };
        match Port::with_driver(owner, b"tcp_inet".to_vec(), &o, socket, link) {
            Ok(p) => Ok(Term::local_port(p.id)),
            Err(_) => Err(am::system_limit),
        }
    }

    pub(super) fn receive(&mut self, core: &mut Core, data: &[u8]) -> Reply {
        if self.state != State::Connected {
            return match self.closed_receive.take() {
                Some(ECONNRESET) if self.show_econnreset => fail(ECONNRESET),
                Some(_) => fail_text("closed"),
                None => fail(ENOTCONN),
            };
        }
        let Ok(d) = <[u8; 8]>::try_from(data) else {
            return fail(Errno::INVAL);
        };
        let timeout = i32::from_be_bytes([d[0], d[1], d[2], d[3]]);
        let n = u32::from_be_bytes([d[4], d[5], d[6], d[7]]) as usize;
        if self.is_active() || self.packet != Kind::Raw && n != 0 {
            return fail(Errno::INVAL);
        }
        if n > MAX_PACKET {
            return fail(Errno::NOMEM);
        }
        if !self.pending.is_empty() {
            return fail_text("ealready");
        }
        if let Err(e) = self.watch(core) {
            return fail(e);
        }
        let r = self.later(core, What::Receive(n), timeout);
        let _ = self.receive_some(core, &mut [0; 4096]);
        if timeout == 0 && !self.pending.is_empty() {
            self.answer_error(core, am::timeout);
        }
        r
    }

    pub(super) fn unreceive(&mut self, core: &mut Core, data: &[u8]) {
        let rest = self.input.split_off(self.start);
        self.input = [data, &rest].concat();
        self.start = 0;
        if self.is_active() {
            poll::again(core.home, Source::Input, core.id);
        }
    }

    pub(super) fn shut_down(&mut self, _core: &mut Core, data: &[u8]) -> Reply {
        let [how] = *data else {
            return fail(Errno::INVAL);
        };
        if self.state != State::Connected {
            return fail(ENOTCONN);
        }
        if how != 0 && !self.queue.is_empty() {
            self.shutdown = Some(how);
            return control::ok(&[]);
        }
        match self.raw().and_then(|fd| socket::shutdown(fd, how)) {
            Ok(()) => control::ok(&[]),
            Err(e) => fail(e),
        }
    }

    pub(super) fn tcp_ready(&mut self, core: &mut Core, buffer: &mut [u8]) -> Flow {
        match self.state {
            State::Listening => {
                self.accept_ready(core);
                Ok(())
            }
            State::Connecting => self.tcp_writable(core),
            State::Connected => self.receive_some(core, buffer),
            _ => Ok(()),
        }
    }

    /// Does anybody want data now?
    fn wanted(&self) -> Option<usize> {
        if self.is_active() {
            return Some(0);
        }
        match self.pending.front()?.what {
            What::Receive(n) => Some(n),
            _ => None,
        }
    }

    /// Delivers what has come, and reads more, as long as somebody wants it.
    fn receive_some(&mut self, core: &mut Core, buffer: &mut [u8]) -> Flow {
        for _ in 0..TURN {
            let Some(n) = self.wanted() else { return Ok(()) };
            match self.next_packet(n) {
                Length::Known(len) if core.channel.is_some() && self.is_active() => {
                    self.pass_on(core, len)?;
                    continue;
                }
                Length::Known(len) => {
                    self.deliver(core, len);
                    continue;
                }
                Length::Invalid => return self.failed(core, Errno(90)),
                Length::More => {}
            }
            let Ok(fd) = self.raw() else { return Ok(()) };
            let room = match n {
                0 if self.packet == Kind::Raw => buffer.len().min(self.buffer.max(1)),
                _ => buffer.len(),
            };
            match fd::read_bytes(fd, &mut buffer[..room]) {
                Ok(0) => return self.closed_by_peer(core),
                Ok(k) => self.input.extend_from_slice(&buffer[..k]),
                Err(Errno::AGAIN) => return Ok(()),
                Err(ECONNRESET) if !self.show_econnreset => return self.closed_by_peer(core),
                Err(e) => return self.failed(core, e),
            }
        }
        poll::again(core.home, Source::Input, core.id);
        Ok(())
    }

    /// The length of what is to be delivered next, where it is all there.
    fn next_packet(&self, want: usize) -> Length {
        let b = &self.input[self.start..];
        if want > 0 {
            return if b.len() >= want { Length::Known(want) } else { Length::More };
        }
        let limits = Limits {
            packet_size: self.packet_size,
            line_length: self.buffer,
            delimiter: self.delimiter,
        };
        match packet::length(self.packet, b, limits, self.in_headers) {
            Length::Known(n) if n > b.len() || n == 0 => Length::More,
            l => l,
        }
    }

    /// So many bytes of the input are done with.
    pub(super) fn taken(&mut self, len: usize) {
        self.start += len;
        if self.start == self.input.len() {
            self.input.clear();
            self.start = 0;
        } else if self.start > 64 * 1024 {
            self.input.drain(..self.start);
            self.start = 0;
        }
    }

    fn deliver(&mut self, core: &Core, len: usize) {
        let bytes: Vec<u8> = self.input[self.start..self.start + len].to_vec();
        self.taken(len);
        self.stats.received(len);
        core.came(self.counted(packet::body(self.packet, &bytes).len()));
        let words = self.data_words(len) + 64;
        if self.is_active() {
            self.deliver_active(core, &bytes, words);
            self.delivered(core);
            return;
        }
        let Some(p) = self.pending.pop_front() else {
            return;
        };
        let mut in_headers = self.in_headers;
        super::answer(core, &p, words, |h| {
            let data = match self.packet {
                Kind::Http | Kind::HttpHeader => {
                    let (line, next) = packet::http(&bytes, self.in_headers);
                    in_headers = next || self.packet == Kind::HttpHeader;
                    http_term(h, &line, self.http_binaries)
                }
                _ => self.data(h, packet::body(self.packet, &bytes)),
            };
            h.tuple(&[am::ok.into(), data])
        });
        self.in_headers = in_headers;
    }

    fn deliver_active(&mut self, core: &Core, bytes: &[u8], words: usize) {
        let port = core.term();
        let body = packet::body(self.packet, bytes);
        let mut in_headers = self.in_headers;
        core.send(core.owner(), words, |h| match self.packet {
            Kind::Http | Kind::HttpHeader => {
                let (line, next) = packet::http(bytes, self.in_headers);
                in_headers = next || self.packet == Kind::HttpHeader;
                h.tuple(&[am::http.into(), port, http_term(h, &line, self.http_binaries)])
            }
            Kind::SslTls => ssl_message(h, port, bytes),
            _ if self.deliver_port => {
                let data = h.tuple(&[am::data.into(), self.data(h, body)]);
                h.tuple(&[port, data])
            }
            _ => h.tuple(&[am::tcp.into(), port, self.data(h, body)]),
        });
        self.in_headers = in_headers;
    }

    fn tell_closed(&mut self, core: &Core) {
        if !std::mem::replace(&mut self.told_closed, true) {
            let port = core.term();
            core.send(core.owner(), 3, |h| h.tuple(&[am::tcp_closed.into(), port]));
        }
    }
    /// Those who wait for their send are told that it has failed.
    fn fail_senders(&mut self, core: &mut Core, reason: Atom) {
        self.queue.clear();
        if let Some(f) = self.file.take() {
            tell_file(core, &f, Err(reason));
        }
        for (to, _) in std::mem::take(&mut self.senders) {
            self.reply(core, to, Some(reason));
        }
        core.set_busy(false);
    }

    /// The other side has closed.
    pub(super) fn closed_by_peer(&mut self, core: &mut Core) -> Flow {
        if self.senders.is_empty() && self.file.is_none() {
            self.closed_send = true;
        }
        self.fail_senders(core, am::closed);
        (self.input, self.start) = (Vec::new(), 0);
        if self.is_active() {
            self.tell_closed(core);
            if self.exit_on_close {
                return self.exit(core, Exit::Normal);
            }
            self.state = State::Open;
            self.active = Active::No;
            return Ok(());
        }
        self.answer_all(core, am::closed);
        if self.exit_on_close {
            self.close_socket(core);
        }
        Ok(())
    }

    /// Reading or a packet has failed.
    fn failed(&mut self, core: &mut Core, e: Errno) -> Flow {
        self.fail_senders(core, am::closed);
        (self.input, self.start) = (Vec::new(), 0);
        if !self.is_active() {
            if self.exit_on_close {
                self.close_socket(core);
            }
            self.answer_all(core, posix(e));
            return Ok(());
        }
        let port = core.term();
        core.send(core.owner(), 5, |h| h.tuple(&[am::tcp_error.into(), port, posix(e).into()]));
        self.tell_closed(core);
        if self.exit_on_close {
            return self.exit(core, Exit::Posix(e));
        }
        self.active = Active::No;
        Ok(())
    }

    /// The socket was closed while it was passive, and its owner makes it active: it is told now
    /// what it would have been told then.
    pub(super) fn activated_closed(&mut self, core: &mut Core) -> Flow {
        if self.closed_receive.take() == Some(ECONNRESET) && self.show_econnreset {
            let port = core.term();
            let reason = posix(ECONNRESET);
            core.send(core.owner(), 5, |h| h.tuple(&[am::tcp_error.into(), port, reason.into()]));
        }
        self.tell_closed(core);
        match self.exit_on_close {
            true => self.exit(core, Exit::Normal),
            false => Ok(()),
        }
    }

    pub(super) fn tcp_send(&mut self, core: &mut Core, bytes: &[u8]) -> Flow {
        let caller = core.caller;
        if self.state != State::Connected {
            let reason =
                if std::mem::take(&mut self.closed_send) { am::closed } else { posix(ENOTCONN) };
            self.reply(core, caller, Some(reason));
            return Ok(());
        }
        let head = (bytes.len() as u32).to_be_bytes();
        let head = match self.packet {
            Kind::Length(n) => &head[4 - n as usize..],
            _ => &[],
        };
        self.stats.sent(head.len() + bytes.len());
        let mut done = 0;
        let waiting = !self.queue.is_empty() || self.file.is_some();
        if !waiting {
            let fd = match self.raw() {
                Ok(fd) => fd,
                Err(e) => return self.send_failed(core, e),
            };
            match fd::writev(fd, &[IoSlice::new(head), IoSlice::new(bytes)]) {
                Ok(n) => done = n,
                Err(Errno::AGAIN) => {}
                Err(e) => return self.send_failed(core, e),
            }
        }
        if done < head.len() {
            self.queue.push(&head[done..]);
            done = head.len();
        }
        self.queue.push(&bytes[done - head.len()..]);
        if !self.queue.is_empty() {
            if let Err(e) = self.watch(core) {
                return self.send_failed(core, e);
            }
        }
        if waiting && self.queue.len() >= self.high {
            if self.send_timeout == 0 {
                self.reply(core, caller, Some(am::timeout));
                return Ok(());
            }
            self.wait_to_send(core, caller);
            return Ok(());
        }
        self.reply(core, caller, None);
        Ok(())
    }

    fn wait_to_send(&mut self, core: &mut Core, caller: u32) {
        let timer = if self.send_timeout > 0 {
            let t = next_timer();
            let after = Duration::from_millis(self.send_timeout as u64);
            poll::set_timer(core.home, core.id, after, t);
            t
        } else {
            0
        };
        self.senders.push((caller, timer));
        core.set_busy(true);
    }

    pub(super) fn send_timed_out(&mut self, core: &mut Core, tag: u64) -> Flow {
        let late: Vec<_> = self.senders.iter().filter(|s| s.1 == tag).map(|s| s.0).collect();
        self.senders.retain(|s| s.1 != tag);
        for to in late {
            self.reply(core, to, Some(am::timeout));
        }
        core.set_busy(false);
        if self.send_timeout_close {
            self.close_socket(core);
        }
        Ok(())
    }

    fn send_failed(&mut self, core: &mut Core, e: Errno) -> Flow {
        let reset = e == ECONNRESET && self.show_econnreset;
        let reason = if reset { posix(e) } else { am::closed };
        let caller = core.caller;
        let waiting = !self.senders.is_empty();
        self.fail_senders(core, reason);
        if !waiting {
            self.reply(core, caller, Some(reason));
        }
        if self.is_active() {
            if reset {
                let port = core.term();
                core.send(core.owner(), 5, |h| {
                    h.tuple(&[am::tcp_error.into(), port, reason.into()])
                });
            }
            self.tell_closed(core);
            if self.exit_on_close {
                return self.exit(core, Exit::Normal);
            }
        } else {
            self.closed_receive = Some(e);
            self.answer_all(core, reason);
        }
        self.close_socket(core);
        Ok(())
    }

    pub(super) fn tcp_writable(&mut self, core: &mut Core) -> Flow {
        match self.state {
            State::Connecting => {
                let r = self.raw().and_then(|fd| {
                    socket::take_error(fd)?;
                    // Readable and writable says nothing before the handshake is over.
                    socket::peer_addr(fd).map(drop)
                });
                match r {
                    Ok(()) => {
                        self.state = State::Connected;
                        self.answer(core, 0, |_| am::ok.into());
                    }
                    Err(ENOTCONN) => return Ok(()),
                    Err(e) => {
                        self.state = State::Open;
                        self.answer_error(core, posix(e));
                    }
                }
                Ok(())
            }
            State::Connected if core.channel.is_some() => self.fetch(core),
            State::Connected => self.write_queue(core),
            _ => Ok(()),
        }
    }

    pub(super) fn write_queue(&mut self, core: &mut Core) -> Flow {
        while !self.queue.is_empty() {
            let r = self.raw().and_then(|fd| self.queue.slices(|s| fd::writev(fd, s)));
            match r {
                Ok(n) => self.queue.advance(n),
                Err(Errno::AGAIN) => break,
                Err(_) if core.channel.is_some() => return self.closed_by_peer(core),
                Err(e) => return self.send_failed(core, e),
            }
        }
        if self.queue.len() <= self.low && !self.senders.is_empty() {
            for (to, _) in std::mem::take(&mut self.senders) {
                self.reply(core, to, None);
            }
            core.set_busy(false);
        }
        if self.queue.is_empty() {
            self.write_file(core);
            let port = core.term();
            for to in std::mem::take(&mut self.want_empty) {
                core.send(to, 3, |h| h.tuple(&[am::empty_out_q.into(), port]));
            }
            if let (Some(how), Ok(fd)) = (self.shutdown.take(), self.raw()) {
                let _ = socket::shutdown(fd, how);
            }
        }
        Ok(())
    }

    pub(super) fn send_file(&mut self, core: &mut Core, data: &[u8]) -> Reply {
        let Ok(d) = <[u8; 20]>::try_from(data) else {
            return fail(Errno::INVAL);
        };
        if self.state != State::Connected {
            return fail(ENOTCONN);
        }
        if self.file.is_some() {
            return fail(Errno::INVAL);
        }
        let n = i32::from_ne_bytes([d[0], d[1], d[2], d[3]]);
        let long = |i: usize| d[i..i + 8].iter().fold(0u64, |n, b| n << 8 | *b as u64);
        let file = match fd::duplicate(n) {
            Ok(f) => f,
            Err(e) => return fail(e),
        };
        self.file = Some(SendFile {
            file,
            offset: long(4) as i64,
            left: long(12),
            sent: 0,
            caller: core.caller,
        });
        if let Err(e) = self.watch(core) {
            return fail(e);
        }
        if self.queue.is_empty() {
            self.write_file(core);
        }
        control::ok(&[])
    }

    fn write_file(&mut self, core: &Core) {
        let (Some(f), Ok(to)) = (&mut self.file, self.fd.as_ref().ok_or(())) else {
            return;
        };
        let r = loop {
            if f.left == 0 {
                break Ok(());
            }
            let count = f.left.min(1 << 20) as usize;
            match socket::send_file(to.as_raw_fd(), f.file.as_raw_fd(), f.offset, count) {
                Ok(0) => break Ok(()),
                Ok(n) => {
                    f.offset += n as i64;
                    f.sent += n as u64;
                    f.left -= n as u64;
                }
                Err(Errno::AGAIN) => return,
                Err(Errno::PIPE | ECONNRESET) => break Err(am::closed),
                Err(e) => break Err(posix(e)),
            }
        };
        if let Some(f) = self.file.take() {
            tell_file(core, &f, r);
        }
    }
}

fn tell_file(core: &Core, f: &SendFile, r: Result<(), Atom>) {
    let port = core.term();
    core.send(f.caller, 20, |h| {
        let r = match r {
            Ok(()) => {
                let low = h.unsigned(f.sent & 0xFFFF_FFFF);
                h.tuple(&[am::ok.into(), low, h.unsigned(f.sent >> 32)])
            }
            Err(e) => h.tuple(&[am::error.into(), e.into()]),
        };
        h.tuple(&[am::sendfile.into(), port, r])
    });
}

fn ssl_message<'h>(h: &'h Heap, port: Term<'static>, bytes: &[u8]) -> Term<'h> {
    let (kind, (major, minor), data) = packet::ssl_tls(bytes).unwrap_or_default();
    let version = h.tuple(&[Term::int(major as i32), Term::int(minor as i32)]);
    let kind = Term::int(kind as i32);
    h.tuple(&[am::ssl_tls.into(), port, kind, version, h.binary(&data)])
}
