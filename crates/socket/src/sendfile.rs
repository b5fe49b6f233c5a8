//! `nif_sendfile`: sends a part of a file without passing it through a process.

use std::os::fd::{AsRawFd, RawFd};

use kvik_env::{socket as sys, Errno};
use kvik_proc::{BifResult, Proc};
use kvik_term::{am, Term};

use crate::answer::{
    atom, error, error_invalid, invalid, ok, out_of_range, raise_invalid, settle, ArgResult,
};
use crate::requests::WRITERS;
use crate::send::{may_write, wait};
use crate::socket::{socket, Socket, SocketState};

/// The most bytes of one system call.
const CHUNK: usize = 1 << 20;
/// Bytes after which other processes run: the rest waits for a select message, which comes at once.
const TURN: usize = 16 << 20;

/// The offset and the count (0: to the end of the file).
fn part<'h>(p: &'h Proc, a: &[Term<'h>]) -> ArgResult<'h, (i64, usize)> {
    if !a[2].is_integer() || !a[3].is_integer() {
        return Err(p.badarg().into());
    }
    let offset = a[2].as_i64().ok_or_else(|| out_of_range(p, a[2]))?;
    let count = a[3].as_u64().ok_or_else(|| out_of_range(p, a[3]))?;
    Ok((offset, count as usize))
}

pub fn start_5<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    settle(start(p, a))
}
fn start<'h>(p: &'h Proc, a: &[Term<'h>]) -> ArgResult<'h, Term<'h>> {
    let socket = socket(p, a[0])?;
    if a[1].as_ref().is_none() || a[4].as_ref().is_none() {
        return Err(p.badarg().into());
    }
    let (offset, count) = part(p, a)?;
    let mut s = socket.lock();
    let fd = may_write(p, socket, &mut s, a[1])?;
    if s.file.is_some() {
        return Ok(error_invalid(&p.heap, "state"));
    }
    let file = match kvik_bifs::file::duplicate(a[4]) {
        Some(Ok(file)) => file,
        Some(Err(e)) => return Ok(failed(p, socket, &mut s, atom(e.name()))),
        None => {
            let reason = invalid(&p.heap, atom("efile"));
            return Ok(failed(p, socket, &mut s, reason));
        }
    };
    let source = file.as_raw_fd();
    s.file = Some(file);
    let c = s.counters.file();
    c.tries += 1;
    c.so_far = 0;
    copy(p, socket, &mut s, (fd, source), (offset, count), a[1])
}

pub fn go_on_4<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    settle(go_on(p, a))
}
fn go_on<'h>(p: &'h Proc, a: &[Term<'h>]) -> ArgResult<'h, Term<'h>> {
    let socket = socket(p, a[0])?;
    if a[1].as_ref().is_none() {
        return Err(p.badarg().into());
    }
    let part = part(p, a)?;
    let mut s = socket.lock();
    let Some(fd) = s.open() else { return Ok(crate::answer::closed(&p.heap)) };
    if s.connector.is_some() {
        return Ok(error_invalid(&p.heap, "state"));
    }
    let mine = s.writers.current.as_ref().is_some_and(|r| r.pid == p.pid());
    match s.file.as_ref().map(AsRawFd::as_raw_fd).filter(|_| mine) {
        Some(source) => copy(p, socket, &mut s, (fd, source), part, a[1]),
        None => Err(raise_invalid(p, atom("state")).into()),
    }
}

pub fn deferred_close_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let mut s = socket(p, a[0])?.lock();
    Ok(match s.file.take() {
        Some(_) => am::ok.into(),
        None => error_invalid(&p.heap, "state"),
    })
}

fn copy<'h>(
    p: &'h Proc,
    socket: &Socket,
    s: &mut SocketState,
    (to, from): (RawFd, RawFd),
    part: (i64, usize),
    reference: Term<'h>,
) -> ArgResult<'h, Term<'h>> {
    let (sent, end) = copy_some(s, to, from, part);
    let sent = p.heap.unsigned(sent as u64);
    match end {
        Ok(true) => {
            if s.writers.current.is_some() {
                socket.serve_next(s, WRITERS);
            }
            s.file = None;
            Ok(ok(&p.heap, sent))
        }
        Ok(false) => match wait(p, socket, s, reference) {
            Ok(()) => {
                s.counters.file().waits += 1;
                Ok(p.heap.tuple(&[am::select.into(), sent]))
            }
            Err(e) => {
                s.file = None;
                Err(e)
            }
        },
        Err(e) => {
            s.file = None;
            Ok(failed(p, socket, s, atom(e.name())))
        }
    }
}

/// Returns how many bytes were sent, and whether those are all.
fn copy_some(
    s: &mut SocketState,
    to: RawFd,
    from: RawFd,
    (mut offset, count): (i64, usize),
) -> (usize, kvik_env::Result<bool>) {
    let mut sent = 0;
    loop {
        let left = if count == 0 { CHUNK } else { (count - sent).min(CHUNK) };
        let r = sys::send_file(to, from, offset, left);
        let c = s.counters.file();
        c.calls += 1;
        let n = match r {
            Ok(0) => return (sent, Ok(true)),
            Ok(n) => n,
            Err(Errno::AGAIN) => return (sent, Ok(false)),
            Err(e) => return (sent, Err(e)),
        };
        sent += n;
        offset += n as i64;
        c.packets += 1;
        c.bytes += n as u64;
        c.packet_max = c.packet_max.max(sent as u64);
        c.so_far += n as u64;
        c.max = c.max.max(c.so_far);
        if count > 0 && sent == count {
            return (sent, Ok(true));
        }
        if sent >= TURN {
            return (sent, Ok(false));
        }
    }
}

fn failed<'h>(p: &'h Proc, socket: &Socket, s: &mut SocketState, reason: Term<'h>) -> Term<'h> {
    s.counters.file().fails += 1;
    socket.fail_all(s, WRITERS, reason);
    error(&p.heap, reason)
}
