//! `nif_recv`, `nif_recvfrom`, `nif_recvmsg`.

use std::mem::MaybeUninit;
use std::os::fd::RawFd;

use kvik_env::socket::raw as sys;
use kvik_env::Errno;
use kvik_heap::BinRef;
use kvik_proc::{BifResult, Proc};
use kvik_release::SocketNatives::{V1, V2, V3};
use kvik_term::{am, Term};

use crate::address;
use crate::answer::{
    atom, closed, error, error_invalid, is, ok, raise_invalid, settle, sizes, ArgResult, Rejection,
};
use crate::message;
use crate::requests::{PendingRequest, QueuePosition, READERS};
use crate::send::cannot_select;
use crate::socket::{socket, Socket, SocketState};

/// The most bytes of one system call, whatever the caller asks for: the rest comes with the next
/// call.
const MAX_READ_BYTES: usize = 16 << 20;

/// How many bytes to read: the number asked for, or the socket's setting if that is 0.
pub fn room(asked: usize, setting: usize) -> usize {
    if asked == 0 { setting } else { asked }.min(MAX_READ_BYTES)
}

/// The caller and its reference: the atom `zero` if it does not wait.
#[derive(Copy, Clone)]
pub struct ReceiveCall<'a, 'h> {
    p: &'h Proc,
    socket: &'a Socket,
    reference: Term<'h>,
}
impl<'a, 'h> ReceiveCall<'a, 'h> {
    pub fn new(
        p: &'h Proc,
        socket: &'a Socket,
        reference: Term<'h>,
    ) -> ArgResult<'h, ReceiveCall<'a, 'h>> {
        let r = ReceiveCall { p, socket, reference };
        match r.polls() || reference.as_ref().is_some() {
            true => Ok(r),
            false => Err(p.badarg().into()),
        }
    }
    fn polls(&self) -> bool {
        is(self.reference, "zero")
    }
    pub fn may_read(&self, s: &mut SocketState) -> ArgResult<'h, RawFd> {
        let Some(fd) = s.open() else { return Err(Rejection::Answer(closed(&self.p.heap))) };
        if s.acceptors.current.is_some() {
            return Err(Rejection::Answer(error_invalid(&self.p.heap, "state")));
        }
        match s.readers.turn(self.p.pid()) {
            QueuePosition::Mine => Ok(fd),
            QueuePosition::Waiting => Err(raise_invalid(self.p, atom("state")).into()),
            QueuePosition::Others if self.polls() => match self.socket.natives {
                V1 | V2 => Ok(fd),
                V3 => Err(Rejection::Answer(am::timeout.into())),
            },
            QueuePosition::Others => {
                let r = PendingRequest::new(self.socket, self.p.pid(), self.reference);
                s.readers.push(r);
                Err(Rejection::Answer(am::select.into()))
            }
        }
    }
    /// The caller's read is done: makes the next reader current.
    fn is_served(&self, s: &mut SocketState) {
        if s.readers.current.is_some() {
            self.socket.serve_next(s, READERS);
        }
    }
    fn wait(&self, s: &mut SocketState) -> ArgResult<'h, ()> {
        s.readers.serve(self.socket, self.p.pid(), self.reference);
        if self.socket.select(s, READERS.events, self.p.pid(), self.reference) {
            return Ok(());
        }
        self.is_served(s);
        Err(cannot_select(self.p, "select_read").into())
    }
    /// `{ok, Data}`, or `{select_read, Data}` if the socket selects after each read.
    pub fn finish(&self, s: &mut SocketState, data: Term<'h>) -> ArgResult<'h, Term<'h>> {
        if s.select_read && !self.polls() {
            self.wait(s)?;
            return Ok(self.p.heap.tuple(&[atom("select_read"), data]));
        }
        self.is_served(s);
        Ok(ok(&self.p.heap, data))
    }
    /// Handles a failed read.
    pub fn failed(&self, s: &mut SocketState, e: Errno) -> ArgResult<'h, Term<'h>> {
        if self.socket.natives > V1 {
            s.buffers_filled = 0;
        }
        match (e, self.polls()) {
            (Errno::AGAIN, true) => Ok(match self.socket.natives {
                V1 => am::ok.into(),
                V2 => am::timeout.into(),
                V3 => {
                    self.is_served(s);
                    am::timeout.into()
                }
            }),
            (Errno::AGAIN, false) => {
                s.buffers_filled = 0;
                self.wait(s)?;
                Ok(am::select.into())
            }
            (e, _) => {
                s.counters.read_fails += 1;
                let reason = atom(e.name());
                self.socket.fail_all(s, READERS, reason);
                Ok(error(&self.p.heap, reason))
            }
        }
    }
    /// Reads once, into a binary of `size` bytes.
    fn read(
        &self,
        s: &mut SocketState,
        size: usize,
        f: impl for<'b> FnOnce(&'b mut [MaybeUninit<u8>]) -> kvik_env::Result<&'b mut [u8]>,
    ) -> kvik_env::Result<BinRef> {
        s.counters.read_tries += 1;
        BinRef::fill(size, f).unwrap_or(Err(Errno::NOMEM))
    }
    fn binary(&self, b: BinRef) -> Term<'h> {
        // Copied if it fills less than half, so that the large buffer is freed.
        let bytes = b.bytes();
        match bytes.len() * 2 < b.capacity() {
            true => self.p.heap.binary(bytes),
            false => self.p.heap.whole_binary(b),
        }
    }
    /// A message, with its address or as a map.
    fn message(
        &self,
        s: &mut SocketState,
        bytes: usize,
        message: Term<'h>,
    ) -> ArgResult<'h, Term<'h>> {
        match self.socket.natives {
            V1 | V2 => s.counters.read_whole(bytes),
            V3 => s.counters.read_message(bytes),
        }
        self.finish(s, message)
    }
}

/// How a receive goes on after a read.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Progress {
    /// The buffer was full, and more may be read at once.
    More,
    Done,
    /// Less came than was asked for, and the caller waits for the rest.
    Waits,
    /// The same, and the caller does not wait.
    TimedOut,
}

/// What a receive asks for, and whether its read filled that.
struct Asked {
    bytes: usize,
    is_full: bool,
}

pub fn receive_4<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    settle(receive(p, a))
}
fn receive<'h>(p: &'h Proc, a: &[Term<'h>]) -> ArgResult<'h, Term<'h>> {
    let socket = socket(p, a[0])?;
    let reader = ReceiveCall::new(p, socket, a[3])?;
    let ([asked], flags) = sizes(p, [a[1]], a[2])?;
    let mut s = socket.lock();
    let fd = reader.may_read(&mut s)?;
    // What an earlier receive has kept may be enough.
    if !s.kept.is_empty() && s.kept.len() >= asked {
        // All that is kept counts, as in OTP.
        let all = s.kept.len();
        let rest = s.kept.split_off(if asked == 0 { all } else { asked });
        let data = std::mem::replace(&mut s.kept, rest);
        s.buffers_filled = 0;
        s.counters.read_part(all);
        s.counters.read_packet();
        return reader.finish(&mut s, p.heap.binary(&data));
    }
    let lacking = if asked == 0 { s.settings.receive_buffer } else { asked - s.kept.len() };
    let size = lacking.min(MAX_READ_BYTES);
    match reader.read(&mut s, size, |room| sys::receive(fd, room, flags)) {
        Ok(b) if b.bytes().is_empty() && socket.is_stream() => Ok(at_end(p, socket, &mut s)),
        Ok(b) => {
            let is_full = b.bytes().len() == size && (asked == 0 || size == lacking);
            received(&reader, &mut s, Asked { bytes: asked, is_full }, b)
        }
        Err(e) => reader.failed(&mut s, e),
    }
}
/// The stream has ended: `{error, closed}`, with what was kept `{error, {closed, Data}}`.
fn at_end<'h>(p: &'h Proc, socket: &Socket, s: &mut SocketState) -> Term<'h> {
    if socket.natives != V2 {
        s.counters.read_fails += 1;
    }
    socket.fail_all(s, READERS, am::closed.into());
    let kept = std::mem::take(&mut s.kept);
    match kept.is_empty() {
        true => closed(&p.heap),
        false => error(&p.heap, p.heap.tuple(&[am::closed.into(), p.heap.binary(&kept)])),
    }
}

fn progress(reader: &ReceiveCall<'_, '_>, s: &mut SocketState, asked: &Asked) -> Progress {
    let Socket { natives, .. } = *reader.socket;
    let stream = reader.socket.is_stream();
    if asked.is_full && asked.bytes == 0 && stream {
        s.buffers_filled += 1;
        if s.buffers_filled < s.settings.receive_times {
            return Progress::More;
        }
        s.buffers_filled = 0;
        return Progress::Done;
    }
    let progress = match () {
        () if asked.is_full || asked.bytes == 0 || !stream => Progress::Done,
        () if reader.polls() && natives == V1 => Progress::Done,
        () if reader.polls() => Progress::TimedOut,
        () => Progress::Waits,
    };
    if natives > V1 || (progress == Progress::Done && !asked.is_full) {
        s.buffers_filled = 0;
    }
    progress
}

/// Counts as OTP does: in V2 what was kept counts with each read, in V3 the last of several full
/// buffers twice.
fn count(reader: &ReceiveCall<'_, '_>, s: &mut SocketState, asked: &Asked, p: Progress, n: usize) {
    let natives = reader.socket.natives;
    let c = &mut s.counters;
    match p {
        Progress::Waits if natives != V3 => c.read_part_of_call(n),
        _ => c.read_part(n),
    }
    match p {
        Progress::More => {}
        Progress::Waits if natives == V3 => c.read_packet_so_far(),
        Progress::Waits => {}
        Progress::Done if natives == V3 && asked.is_full && asked.bytes == 0 => {
            if reader.socket.is_stream() {
                c.read_part(n);
            }
            c.read_packet();
        }
        Progress::Done | Progress::TimedOut => c.read_packet(),
    }
}

/// `{ok, Data}`; `{more, Data}`; if less came than was asked for, `{select, Data}` or
/// `{timeout, Data}`, in V2 `select`, which keeps the data.
fn received<'h>(
    reader: &ReceiveCall<'_, 'h>,
    s: &mut SocketState,
    asked: Asked,
    b: BinRef,
) -> ArgResult<'h, Term<'h>> {
    let h = &reader.p.heap;
    let progress = progress(reader, s, &asked);
    count(reader, s, &asked, progress, s.kept.len() + b.bytes().len());
    if progress == Progress::Waits && reader.socket.natives == V2 {
        s.kept.extend_from_slice(b.bytes());
        reader.wait(s)?;
        return Ok(am::select.into());
    }
    let mut kept = std::mem::take(&mut s.kept);
    let data = match kept.is_empty() {
        true => reader.binary(b),
        false => {
            kept.extend_from_slice(b.bytes());
            h.binary(&kept)
        }
    };
    let tag = match progress {
        Progress::Done => return reader.finish(s, data),
        Progress::More => {
            s.readers.serve(reader.socket, reader.p.pid(), reader.reference);
            am::more
        }
        Progress::Waits => {
            reader.wait(s)?;
            am::select
        }
        Progress::TimedOut => {
            reader.is_served(s);
            am::timeout
        }
    };
    Ok(h.tuple(&[tag.into(), data]))
}

pub fn receive_from_4<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    settle(receive_from(p, a))
}
fn receive_from<'h>(p: &'h Proc, a: &[Term<'h>]) -> ArgResult<'h, Term<'h>> {
    let socket = socket(p, a[0])?;
    let reader = ReceiveCall::new(p, socket, a[3])?;
    let ([asked], flags) = sizes(p, [a[1]], a[2])?;
    let mut s = socket.lock();
    let fd = reader.may_read(&mut s)?;
    let size = room(asked, s.settings.receive_buffer);
    let mut from = None;
    match reader.read(&mut s, size, |room| sys::receive_from(fd, room, flags, &mut from)) {
        Ok(b) if b.bytes().is_empty() && socket.is_stream() => {
            Ok(at_message_end(p, socket, &mut s))
        }
        Ok(b) => {
            // A stream's messages have no source.
            let from = match from.as_ref().map_or(&[][..], |a| a.bytes()) {
                [] => address::native(&p.heap, atom("unspec"), &[]),
                bytes => address::encode(&p.heap, bytes),
            };
            let n = b.bytes().len();
            reader.message(&mut s, n, p.heap.tuple(&[from, reader.binary(b)]))
        }
        Err(e) => reader.failed(&mut s, e),
    }
}
/// The stream has ended. Those who wait are told since V3.
fn at_message_end<'h>(p: &'h Proc, socket: &Socket, s: &mut SocketState) -> Term<'h> {
    s.counters.read_fails += 1;
    if socket.natives >= V3 {
        socket.fail_all(s, READERS, am::closed.into());
    }
    closed(&p.heap)
}

pub fn receive_message_5<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    settle(receive_message(p, a))
}
fn receive_message<'h>(p: &'h Proc, a: &[Term<'h>]) -> ArgResult<'h, Term<'h>> {
    let socket = socket(p, a[0])?;
    let reader = ReceiveCall::new(p, socket, a[4])?;
    let ([asked, control], flags) = sizes(p, [a[1], a[2]], a[3])?;
    let mut s = socket.lock();
    let fd = reader.may_read(&mut s)?;
    let size = room(asked, s.settings.receive_buffer);
    let mut control = vec![0; room(control, s.settings.receive_control)];
    let mut envelope = None;
    let read = reader.read(&mut s, size, |room| {
        sys::receive_message(fd, room, &mut control, flags, &mut envelope)
    });
    match read {
        Ok(b) if b.bytes().is_empty() && socket.is_stream() => {
            Ok(at_message_end(p, socket, &mut s))
        }
        Ok(b) => {
            let envelope = envelope.ok_or_else(|| p.badarg())?;
            let used = control.get(..envelope.control).unwrap_or_default();
            let n = b.bytes().len();
            let data = reader.binary(b);
            let message = message::encode(&p.heap, data, used, &envelope, socket.natives);
            reader.message(&mut s, n, message)
        }
        Err(e) => reader.failed(&mut s, e),
    }
}
