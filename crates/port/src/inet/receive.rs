//! Input of a stream, and its split into packets.
//!
//! A read never takes more from the kernel than OTP's does: unread data decide whether the kernel
//! resets the connection when the socket is closed.

use kvik_env::socket::{self, ECONNRESET, ENOTCONN};
use kvik_env::Errno;
use kvik_heap::Heap;
use kvik_term::{am, Term};

use super::{control, posix, Inet, State, What};
use crate::driver::{ControlReply, Flow};
use crate::packet::{self, Length, PacketKind, PacketLimits};
use crate::packet_term::http_term;
use crate::poll::{self, Source};
use crate::port::state::Core;

/// The most reads of one time slice, if each fills its buffer.
const READS: usize = 64;
/// The most bytes that are read for one packet.
const MAX_PACKET: usize = 1 << 26;
/// A buffer larger than this many bytes is freed when it is empty.
const KEPT_BUFFER: usize = 64 * 1024;

/// Bytes that have come and are not yet delivered.
#[derive(Default)]
pub(super) struct Input {
    bytes: Vec<u8>,
    /// Bytes at the start that have been delivered.
    start: usize,
    /// The buffer's size as OTP counts it; 0 if none is allocated.
    size: usize,
    /// Bytes that the next packet still lacks, if known.
    remain: usize,
}

impl Input {
    fn filled(&self) -> &[u8] {
        &self.bytes[self.start..]
    }
    fn is_allocated(&self) -> bool {
        self.size > 0
    }
    pub(super) fn clear(&mut self) {
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        if bytes.capacity() > KEPT_BUFFER {
            bytes = Vec::new();
        }
        *self = Input { bytes, ..Input::default() };
    }
    /// Makes room for a packet.
    fn expand(&mut self, len: usize) {
        self.size = self.size.max(self.start + len);
    }
    fn restart(&mut self) {
        self.bytes.drain(..self.start);
        self.start = 0;
    }
    fn consume(&mut self, len: usize) {
        self.start += len;
        if self.start >= self.bytes.len() {
            self.clear();
        }
    }
    /// Stops waiting for the rest of a packet.
    pub(super) fn forget_remain(&mut self) {
        self.remain = 0;
    }
    fn push_front(&mut self, data: &[u8]) {
        self.bytes.splice(..self.start, data.iter().copied());
        self.start = 0;
        self.size = self.size.max(self.bytes.len());
        self.remain = 0;
    }
}

/// What the buffered bytes allow.
enum Next {
    Ready(usize),
    /// `read` bytes are to be read; `exact`: they complete a packet.
    Need {
        read: usize,
        exact: bool,
    },
    Invalid,
}

/// The result of one read.
#[derive(PartialEq, Eq, Debug)]
enum Read {
    /// There was nothing.
    Blocked,
    /// Less than the buffer's room.
    Short,
    /// There may be more.
    Full,
    /// The stream has ended or failed.
    Ended,
    /// The stream has ended or failed; left to the next time slice.
    Deferred,
}

impl Inet {
    pub(super) fn receive(&mut self, core: &mut Core, data: &[u8]) -> ControlReply {
        if self.state != State::Connected {
            if !std::mem::take(&mut self.delayed_close_receive) {
                return control::error(ENOTCONN);
            }
            self.delayed_close_send = false;
            return match std::mem::take(&mut self.delayed_reset) {
                true => control::error(ECONNRESET),
                false => control::error_text("closed"),
            };
        }
        let (true, Ok(d)) = (!self.is_active(), <[u8; 8]>::try_from(data)) else {
            return control::error(Errno::INVAL);
        };
        let timeout = i32::from_be_bytes([d[0], d[1], d[2], d[3]]);
        let n = u32::from_be_bytes([d[4], d[5], d[6], d[7]]) as usize;
        if self.packet != PacketKind::Raw && n != 0 {
            return control::error(Errno::INVAL);
        }
        if n > MAX_PACKET {
            return control::error(Errno::NOMEM);
        }
        if !self.pending.is_empty() {
            return control::error_text("ealready");
        }
        if let Err(e) = self.watch(core) {
            return control::error(e);
        }
        let reply = self.later(core, What::Receive, timeout);
        if !self.ignored {
            self.read_now(core, n);
        }
        if timeout == 0 && !self.pending.is_empty() {
            self.input.forget_remain();
            self.answer_error(core, am::timeout);
        }
        reply
    }

    /// Reads once, within a call.
    pub(super) fn read_now(&mut self, core: &mut Core, request: usize) {
        poll::with_buffer(|buffer| {
            let mut read = self.read_once(core, request, buffer, false);
            // A request larger than the scheduler's buffer takes more reads.
            while request > buffer.len() && read == Ok(Read::Full) && self.wants_data() {
                read = self.read_once(core, 0, buffer, true);
            }
            match read {
                Ok(Read::Blocked | Read::Ended) => {}
                // The event for the rest may have come before.
                Ok(_) if self.wants_data() => self.read_again(core),
                Ok(_) => {}
                Err(exit) => core.fail(Err(exit)),
            }
        });
    }

    /// Schedules another read for the next time slice.
    pub(super) fn read_again(&mut self, core: &Core) {
        self.recheck = true;
        poll::again(core.home, Source::Input, core.id);
    }

    pub(super) fn unreceive(&mut self, core: &mut Core, data: &[u8]) -> ControlReply {
        if self.state != State::Connected {
            return control::error(ENOTCONN);
        }
        self.input.push_front(data);
        if self.is_active() {
            let flow = self.deliver_ready(core);
            core.fail(flow);
        }
        control::ok(&[])
    }

    fn wants_data(&self) -> bool {
        self.state == State::Connected
            && !self.ignored
            && (self.is_active() || self.pending.front().is_some_and(|p| p.what == What::Receive))
    }

    /// Reads while data are wanted and each read fills its buffer. If this time slice has read
    /// something, the end of the stream is left to another one: the receiver of the data is to run
    /// before the socket is closed.
    pub(super) fn receive_ready(&mut self, core: &mut Core, hup: bool, buffer: &mut [u8]) -> Flow {
        let unsure = hup | std::mem::take(&mut self.recheck);
        for i in 0..READS {
            if !self.wants_data() {
                return Ok(());
            }
            match self.read_once(core, 0, buffer, i > 0)? {
                Read::Blocked | Read::Ended => return Ok(()),
                Read::Short if !unsure => return Ok(()),
                Read::Short | Read::Deferred => break,
                Read::Full => {}
            }
        }
        if self.wants_data() {
            self.read_again(core);
        }
        Ok(())
    }

    /// How many bytes to read next; `Err`: the buffered bytes gave a result without a read.
    fn room(
        &mut self,
        core: &mut Core,
        request: usize,
    ) -> Result<usize, Result<Read, super::Exit>> {
        if !self.input.is_allocated() {
            self.input.size = if request > 0 { request } else { self.buffer };
            self.input.remain = request;
            return Ok(if request > 0 { request } else { self.header_room(self.input.size) });
        }
        if request > 0 {
            let n = self.input.filled().len();
            if n >= request {
                return Err(self.deliver(core, request).map(|()| Read::Full));
            }
            self.input.expand(request);
            self.input.remain = request - n;
            return Ok(self.input.remain);
        }
        if self.input.remain > 0 {
            return Ok(self.input.remain);
        }
        match self.next_packet() {
            Next::Invalid => Err(self.receive_failed(core, Errno(90)).map(|()| Read::Ended)),
            Next::Ready(len) => Err(self.deliver(core, len).map(|()| Read::Full)),
            Next::Need { read, exact } => {
                if exact {
                    self.input.remain = read;
                    return Ok(read);
                }
                Ok(self.header_room(read))
            }
        }
    }

    /// How many bytes to read while a packet's length is not known: so many, or without
    /// `read_ahead` as few as may tell it.
    fn header_room(&self, room: usize) -> usize {
        match self.packet.least_header() {
            Some(least) if !self.read_ahead => {
                least.saturating_sub(self.input.filled().len()).max(1)
            }
            _ => room,
        }
    }

    /// Reads once, and delivers complete packets. `defer`: an end is not acted on.
    fn read_once(
        &mut self,
        core: &mut Core,
        request: usize,
        buffer: &mut [u8],
        defer: bool,
    ) -> Result<Read, super::Exit> {
        let room = match self.room(core, request) {
            Ok(room) => room,
            Err(decided) => return decided,
        };
        let Ok(fd) = self.raw() else { return Ok(Read::Ended) };
        let room = room.min(buffer.len()).max(1);
        let n = match self.deferred.take() {
            Some(e) => Err(e),
            None => socket::read_bytes(fd, &mut buffer[..room]),
        };
        match n {
            Err(Errno::AGAIN) => Ok(Read::Blocked),
            Ok(0) if defer => Ok(Read::Deferred),
            Err(e) if defer => {
                self.deferred = Some(e);
                Ok(Read::Deferred)
            }
            Ok(0) => self.closed_by_peer(core).map(|()| Read::Ended),
            Err(ECONNRESET) if !self.show_econnreset => {
                self.closed_by_peer(core).map(|()| Read::Ended)
            }
            Err(e) => self.receive_failed(core, e).map(|()| Read::Ended),
            Ok(n) => {
                self.take_in(core, &buffer[..n])?;
                Ok(if n == room { Read::Full } else { Read::Short })
            }
        }
    }

    /// Bytes have been read.
    fn take_in(&mut self, core: &mut Core, bytes: &[u8]) -> Flow {
        let n = bytes.len();
        let remain = self.input.remain;
        let whole = if remain > 0 { n >= remain } else { self.packet == PacketKind::Raw };
        if whole && self.input.bytes.is_empty() && core.channel.is_none() {
            // Nothing is buffered: deliver without a copy.
            self.input.clear();
            return self.deliver_packet(core, bytes);
        }
        self.input.bytes.extend_from_slice(bytes);
        if remain > 0 {
            self.input.remain = remain.saturating_sub(n);
            let all = self.input.filled().len();
            return match self.input.remain {
                0 => self.deliver(core, all),
                _ => Ok(()),
            };
        }
        match self.next_packet() {
            Next::Invalid => self.receive_failed(core, Errno(90)),
            Next::Ready(len) => self.deliver(core, len),
            Next::Need { read, exact } => {
                if exact {
                    self.input.remain = read;
                }
                Ok(())
            }
        }
    }

    fn next_packet(&mut self) -> Next {
        let limits = PacketLimits {
            packet_size: self.packet_size,
            line_length: self.input.size,
            delimiter: self.delimiter,
        };
        let i = &mut self.input;
        let n = i.filled().len();
        match packet::length(self.packet, i.filled(), limits, self.in_headers) {
            Length::Known(len) if len > 0 && len <= n => return Next::Ready(len),
            Length::Known(len) if len > 0 => {
                i.expand(len);
                return Next::Need { read: len - n, exact: true };
            }
            Length::Invalid => return Next::Invalid,
            Length::Known(_) | Length::More => {}
        }
        if i.start > 0 {
            i.restart();
        }
        if i.size > n {
            return Next::Need { read: i.size - n, exact: false };
        }
        if self.packet_size > n {
            i.expand(self.packet_size);
            return Next::Need { read: self.packet_size - n, exact: false };
        }
        Next::Invalid
    }

    /// Delivers complete packets.
    pub(super) fn deliver_ready(&mut self, core: &mut Core) -> Flow {
        if !self.input.is_allocated() || self.input.remain > 0 {
            return Ok(());
        }
        match self.next_packet() {
            Next::Ready(len) => self.deliver(core, len),
            Next::Need { read, exact: true } => {
                self.input.remain = read;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Delivers a packet of `len` bytes, and in active mode those after it.
    fn deliver(&mut self, core: &mut Core, mut len: usize) -> Flow {
        loop {
            let bytes = std::mem::take(&mut self.input.bytes);
            let start = self.input.start;
            let flow = self.deliver_packet(core, &bytes[start..start + len]);
            self.input.bytes = bytes;
            self.input.consume(len);
            flow?;
            if !self.input.is_allocated() {
                return Ok(());
            }
            self.input.remain = 0;
            if !self.is_active() {
                self.input.restart();
                return Ok(());
            }
            match self.next_packet() {
                Next::Ready(next) => len = next,
                Next::Need { read, exact } => {
                    self.input.restart();
                    self.input.remain = if exact { read } else { 0 };
                    return Ok(());
                }
                Next::Invalid => return Ok(()),
            }
        }
    }

    fn deliver_packet(&mut self, core: &mut Core, bytes: &[u8]) -> Flow {
        self.stats.received(bytes.len());
        if core.channel.is_some() && self.is_active() {
            return self.pass_on(core, bytes);
        }
        core.came(self.counted(packet::body(self.packet, bytes).len()));
        let words = self.data_words(bytes.len()) + 64;
        if self.is_active() {
            self.deliver_active(core, bytes, words);
            self.delivered(core);
            return Ok(());
        }
        let Some(p) = self.pending.pop_front() else {
            return Ok(());
        };
        let mut in_headers = self.in_headers;
        super::answer(core, &p, words, |h| {
            let data = match self.packet {
                PacketKind::Http | PacketKind::HttpHeader => {
                    let (line, next) = packet::http(bytes, self.in_headers);
                    in_headers = next || self.packet == PacketKind::HttpHeader;
                    http_term(h, &line, self.http_binaries)
                }
                _ => self.data(h, packet::body(self.packet, bytes)),
            };
            h.tuple(&[am::ok.into(), data])
        });
        self.in_headers = in_headers;
        Ok(())
    }

    fn deliver_active(&mut self, core: &Core, bytes: &[u8], words: usize) {
        let port = core.term();
        let body = packet::body(self.packet, bytes);
        let mut in_headers = self.in_headers;
        core.send(core.owner(), words, |h| match self.packet {
            PacketKind::Http | PacketKind::HttpHeader => {
                let (line, next) = packet::http(bytes, self.in_headers);
                in_headers = next || self.packet == PacketKind::HttpHeader;
                h.tuple(&[am::http.into(), port, http_term(h, &line, self.http_binaries)])
            }
            PacketKind::SslTls => ssl_message(h, port, bytes),
            _ if self.deliver_port => {
                let data = h.tuple(&[am::data.into(), self.data(h, body)]);
                h.tuple(&[port, data])
            }
            _ => h.tuple(&[am::tcp.into(), port, self.data(h, body)]),
        });
        self.in_headers = in_headers;
    }

    /// The peer has closed the connection.
    pub(super) fn closed_by_peer(&mut self, core: &mut Core) -> Flow {
        let blocked = self.fail_senders(core, am::closed) | self.abort_file(core, am::closed);
        // A waiting sender has been told; otherwise the next one is.
        self.delayed_close_send |= !blocked;
        self.input.clear();
        if !self.is_active() {
            if self.exit_on_close {
                self.close_socket(core);
            }
            self.answer_all(core, am::closed);
            return Ok(());
        }
        self.tell_closed(core);
        match self.exit_on_close {
            true => self.exit(core, super::Exit::Normal),
            false => Ok(()),
        }
    }

    /// A read has failed, or a packet is invalid.
    fn receive_failed(&mut self, core: &mut Core, e: Errno) -> Flow {
        self.fail_senders(core, am::closed);
        let reason = super::output::file_error(e);
        self.abort_file(core, reason);
        self.input.clear();
        if !self.is_active() {
            if self.exit_on_close {
                self.close_socket(core);
            }
            self.answer_all(core, posix(e));
            return Ok(());
        }
        self.tell_error(core, e);
        self.tell_closed(core);
        match self.exit_on_close {
            true => self.exit(core, super::Exit::Posix(e)),
            false => Ok(()),
        }
    }
}

fn ssl_message<'h>(h: &'h Heap, port: Term<'static>, bytes: &[u8]) -> Term<'h> {
    let (kind, (major, minor), data) = packet::ssl_tls(bytes).unwrap_or_default();
    let version = h.tuple(&[Term::int(major as i32), Term::int(minor as i32)]);
    let kind = Term::int(kind as i32);
    h.tuple(&[am::ssl_tls.into(), port, kind, version, h.binary(&data)])
}
