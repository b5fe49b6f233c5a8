//! `nif_recv`, `nif_recvfrom`, `nif_recvmsg`.

use std::os::fd::RawFd;

use kvik_env::socket::raw as sys;
use kvik_env::Errno;
use kvik_heap::BinRef;
use kvik_proc::{BifResult, Proc};
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
fn room(asked: usize, setting: usize) -> usize {
    if asked == 0 { setting } else { asked }.min(MAX_READ_BYTES)
}

/// The caller and its reference: the atom `zero` if it does not wait.
#[derive(Copy, Clone)]
struct Reader<'a, 'h> {
    p: &'h Proc,
    socket: &'a Socket,
    reference: Term<'h>,
}
impl<'a, 'h> Reader<'a, 'h> {
    fn new(p: &'h Proc, socket: &'a Socket, reference: Term<'h>) -> ArgResult<'h, Reader<'a, 'h>> {
        let r = Reader { p, socket, reference };
        match r.polls() || reference.as_ref().is_some() {
            true => Ok(r),
            false => Err(p.badarg().into()),
        }
    }
    fn polls(&self) -> bool {
        is(self.reference, "zero")
    }
    fn may_read(&self, s: &mut SocketState) -> ArgResult<'h, RawFd> {
        let Some(fd) = s.open() else { return Err(Rejection::Answer(closed(&self.p.heap))) };
        if s.acceptors.current.is_some() {
            return Err(Rejection::Answer(error_invalid(&self.p.heap, "state")));
        }
        match s.readers.turn(self.p.pid()) {
            QueuePosition::Mine => Ok(fd),
            QueuePosition::Waiting => Err(raise_invalid(self.p, atom("state")).into()),
            QueuePosition::Others if self.polls() => Ok(fd),
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
    /// Handles a failed read.
    fn failed(&self, s: &mut SocketState, e: Errno) -> ArgResult<'h, Term<'h>> {
        match e {
            Errno::AGAIN if self.polls() => Ok(am::ok.into()),
            Errno::AGAIN => {
                s.buffers_filled = 0;
                self.wait(s)?;
                Ok(am::select.into())
            }
            e => {
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
        f: impl for<'b> FnOnce(&'b mut [std::mem::MaybeUninit<u8>]) -> kvik_env::Result<&'b mut [u8]>,
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
}

pub fn receive_4<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    settle(receive(p, a))
}
fn receive<'h>(p: &'h Proc, a: &[Term<'h>]) -> ArgResult<'h, Term<'h>> {
    let socket = socket(p, a[0])?;
    let reader = Reader::new(p, socket, a[3])?;
    let ([asked], flags) = sizes(p, [a[1]], a[2])?;
    let mut s = socket.lock();
    let fd = reader.may_read(&mut s)?;
    let size = room(asked, s.settings.receive_buffer);
    match reader.read(&mut s, size, |room| sys::receive(fd, room, flags)) {
        Ok(b) if b.bytes().is_empty() && socket.is_stream() => {
            s.counters.read_fails += 1;
            socket.fail_all(&mut s, READERS, am::closed.into());
            Ok(closed(&p.heap))
        }
        Ok(b) => received(&reader, &mut s, asked, size, b),
        Err(e) => reader.failed(&mut s, e),
    }
}
/// `{ok, Data}`; `{more, Data}` if the buffer was full and more may be read at once; `{select,
/// Data}` if less came than was asked for.
fn received<'h>(
    reader: &Reader<'_, 'h>,
    s: &mut SocketState,
    asked: usize,
    size: usize,
    b: BinRef,
) -> ArgResult<'h, Term<'h>> {
    let (h, n) = (&reader.p.heap, b.bytes().len());
    let (full, stream) = (n == size, reader.socket.is_stream());
    if full && asked == 0 && stream {
        s.counters.read_part(n);
        s.buffers_filled += 1;
        if s.buffers_filled < s.settings.receive_times {
            s.readers.serve(reader.socket, reader.p.pid(), reader.reference);
            return Ok(h.tuple(&[am::more.into(), reader.binary(b)]));
        }
        s.buffers_filled = 0;
        s.counters.read_packet();
    } else if (full && size >= asked) || asked == 0 || !stream || reader.polls() {
        s.counters.read_part(n);
        s.counters.read_packet();
        if !full {
            s.buffers_filled = 0;
        }
    } else {
        s.counters.read_part_of_call(n);
        reader.wait(s)?;
        return Ok(h.tuple(&[am::select.into(), reader.binary(b)]));
    }
    reader.is_served(s);
    Ok(ok(h, reader.binary(b)))
}

pub fn receive_from_4<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    settle(receive_from(p, a))
}
fn receive_from<'h>(p: &'h Proc, a: &[Term<'h>]) -> ArgResult<'h, Term<'h>> {
    let socket = socket(p, a[0])?;
    let reader = Reader::new(p, socket, a[3])?;
    let ([asked], flags) = sizes(p, [a[1]], a[2])?;
    let mut s = socket.lock();
    let fd = reader.may_read(&mut s)?;
    let size = room(asked, s.settings.receive_buffer);
    let mut from = None;
    match reader.read(&mut s, size, |room| sys::receive_from(fd, room, flags, &mut from)) {
        Ok(b) if b.bytes().is_empty() && socket.is_stream() => Ok(at_end(p, &mut s)),
        Ok(b) => {
            s.counters.read_whole(b.bytes().len());
            reader.is_served(&mut s);
            let from = address::encode(&p.heap, from.as_ref().map_or(&[], |a| a.bytes()));
            Ok(ok(&p.heap, p.heap.tuple(&[from, reader.binary(b)])))
        }
        Err(e) => reader.failed(&mut s, e),
    }
}
fn at_end<'h>(p: &'h Proc, s: &mut SocketState) -> Term<'h> {
    s.counters.read_fails += 1;
    closed(&p.heap)
}

pub fn receive_message_5<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    settle(receive_message(p, a))
}
fn receive_message<'h>(p: &'h Proc, a: &[Term<'h>]) -> ArgResult<'h, Term<'h>> {
    let socket = socket(p, a[0])?;
    let reader = Reader::new(p, socket, a[4])?;
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
        Ok(b) if b.bytes().is_empty() && socket.is_stream() => Ok(at_end(p, &mut s)),
        Ok(b) => {
            s.counters.read_whole(b.bytes().len());
            reader.is_served(&mut s);
            let envelope = envelope.ok_or_else(|| p.badarg())?;
            let used = control.get(..envelope.control).unwrap_or_default();
            Ok(ok(&p.heap, message::encode(&p.heap, reader.binary(b), used, &envelope)))
        }
        Err(e) => reader.failed(&mut s, e),
    }
}
