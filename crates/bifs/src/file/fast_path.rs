//! Fast path of `prim_file`: one BIF for each of its functions on open files, in place of up to
//! eight calls, most of which only look into the handle.
//!
//! A handle is `#file_descriptor{module = prim_file, data = #{handle, owner, r_ahead_size,
//! r_buffer}}`. The buffer holds the bytes that were read ahead.

use kvik_env::file::Whence;
use kvik_env::{Errno, Result};
use kvik_heap::{BinRef, Heap};
use kvik_proc::{BifResult, Proc, Raised};
use kvik_sync::SpinLockGuard;
use kvik_term::{am, map, Term};

use super::read::{make_room, read_at, read_term};
use super::write::{write_list, write_one};
use super::{elsewhere, error_on, ok_on, ok_value, whence, with_file, Open};
use crate::buffer::{buffer, Buffer, Queue};
use crate::{iolist, iovec};

/// Minimum size of a read that looks for the end of a line.
const LEAST_FOR_A_LINE: usize = 256;

/// A read that needs this much more than the buffer holds does not read ahead.
const READ_AHEAD_LIMIT_BYTES: usize = 64 << 10;

struct Handle<'h> {
    file: Term<'h>,
    /// Number of bytes to read ahead, beyond those asked for.
    ahead: usize,
    buffer: Term<'h>,
}

/// The parts of a handle, which only its owner may use.
#[inline(always)]
fn handle<'h>(p: &'h Proc, t: Term<'h>) -> std::result::Result<Handle<'h>, Raised> {
    let data = match t.as_tuple_n() {
        Some([tag, _, data]) if tag == am::file_descriptor => data,
        _ => return Err(p.error(am::function_clause)),
    };
    let [file, owner, ahead, buffer] =
        parts(data).ok_or_else(|| p.error_pair(am::badmatch, data))?;
    if !owner.same(p.self_pid()) {
        return Err(p.error(am::not_on_controlling_process));
    }
    let ahead = ahead.as_usize().ok_or_else(|| p.badarith())?;
    Ok(Handle { file, ahead, buffer })
}

/// File, owner, number of bytes to read ahead and buffer.
#[inline(always)]
fn parts(data: Term<'_>) -> Option<[Term<'_>; 4]> {
    let map = data.as_map()?;
    let known = [am::handle, am::owner, am::r_ahead_size, am::r_buffer];
    match map.flat()? {
        // Up to OTP 25 keys are in the order of their names.
        (keys, &[a, b, c, d]) if keys.iter().zip(known).all(|(k, a)| *k == a) => Some([a, b, c, d]),
        _ => {
            let [a, b, c, d] = known.map(|key| map::get(map, key.into()));
            Some([a?, b?, c?, d?])
        }
    }
}

/// `{error, badarg}`: these functions don't raise it.
fn bad(p: &Proc) -> Term<'_> {
    p.heap.tuple(&[am::error.into(), am::badarg.into()])
}

pub fn read_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let h = handle(p, a[0])?;
    let Some(size) = a[1].as_usize().filter(|n| i64::try_from(*n).is_ok()) else {
        return odd_size(p, a[1]);
    };
    make_room(p, h.file, size, None, (am::read, a))?;
    let kept = buffer(p, h.buffer)?;
    let filled = kept.lock_filled();
    if filled.is_none() && size > 0 && (h.ahead == 0 || size >= h.ahead.max(READ_AHEAD_LIMIT_BYTES))
    {
        return read_at(p, h.file, Ok(None), Ok(size as i64));
    }
    let mut q = filled.unwrap_or_else(|| kept.lock());
    if q.len() >= size {
        p.heap.bump_reductions(4 + size as i64 / 1024);
        return Ok(ok_on(&p.heap, Ok(q.take(&p.heap, size))));
    }
    let ahead = if size - q.len() < h.ahead.max(READ_AHEAD_LIMIT_BYTES) { h.ahead } else { 0 };
    let want = size - q.len() + ahead;
    let now = with_file(p, h.file, |open| {
        if open.read_waits(want, None) {
            return Err(Errno::AGAIN);
        }
        let want = open.bounded(want, None)?;
        BinRef::fill_behind(q.pieces(), want, |room| open.read_now(room, None))
            .ok_or(Errno::NOMEM)?
    })?;
    if !matches!(now, Err(Errno::AGAIN)) {
        p.heap.bump_reductions(4 + want as i64 / 1024);
        return Ok(split(&p.heap, &mut q, size, now));
    }
    drop(q);
    let Some(kept) = p.heap.resource_of(h.buffer) else { return Err(p.badarg()) };
    let work = move |open: &Open| open.read_waiting(open.bounded(want, None)?, None);
    Err(elsewhere(p, h.file, work, move |h, r| match kept.downcast_ref::<Buffer>() {
        Some(b) => {
            let mut q = b.lock();
            let all = r.map(|r| joined(&q, r));
            split(h, &mut q, size, all)
        }
        None => error_on(h, Errno::INVAL),
    }))
}

/// The bytes in the buffer followed by those in `b`.
fn joined(q: &Queue, b: BinRef) -> BinRef {
    if q.len() == 0 {
        return b;
    }
    let size = q.len() + b.bytes().len();
    BinRef::gather(size, |g| q.pieces().chain([b.bytes()]).for_each(|piece| g.push(piece))).0
}

/// Returns the first `size` bytes that were read, and keeps the rest in the buffer.
fn split<'h>(h: &'h Heap, q: &mut Queue, size: usize, r: Result<BinRef>) -> Term<'h> {
    q.clear();
    let b = match r {
        Ok(b) => b,
        Err(e) => return error_on(h, e),
    };
    if b.bytes().is_empty() {
        return am::eof.into();
    }
    let first = size.min(b.bytes().len());
    q.push_shared(b.clone(), first);
    let whole = first == b.bytes().len();
    let t = if whole { read_term(h, b.capacity(), b) } else { h.binary_part(b, 0, first) };
    t.map_or(am::eof.into(), |t| ok_on(h, Ok(t)))
}

/// The result for an invalid size.
fn odd_size<'h>(p: &'h Proc, t: Term<'h>) -> BifResult<'h> {
    match t.as_i64() {
        Some(n) if n < 0 => Ok(bad(p)),
        Some(_) => Ok(error_on(&p.heap, Errno::NOMEM)),
        _ if t.is_integer() => Ok(error_on(&p.heap, Errno::INVAL)),
        _ if t.as_float().is_some() => Ok(bad(p)),
        _ => Err(p.badarith()),
    }
}

pub fn read_line_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let h = handle(p, a[0])?;
    let size = h.ahead.max(LEAST_FOR_A_LINE);
    let mut q = buffer(p, h.buffer)?.lock();
    if let Some(t) = q.take_line(&p.heap) {
        p.heap.bump_reductions(2);
        return Ok(ok_on(&p.heap, Ok(t)));
    }
    if let Some(end) = q.find(b'\n', 0) {
        p.heap.bump_reductions(2 + end as i64 / 1024);
        return Ok(line(&p.heap, &mut q, end + 1));
    }
    p.heap.bump_reductions(4 + size as i64 / 1024);
    let now = with_file(p, h.file, |open| loop {
        if open.read_waits(size, None) {
            return Err(Errno::AGAIN);
        }
        let b = BinRef::fill(size, |room| open.read_now(room, None)).ok_or(Errno::NOMEM)??;
        if let Some(n) = more(&mut q, b) {
            return Ok(n);
        }
    })?;
    match now {
        Err(Errno::AGAIN) => drop(q),
        Ok(n) => return Ok(line(&p.heap, &mut q, n)),
        Err(e) => return Ok(error_on(&p.heap, e)),
    }
    let Some(kept) = p.heap.resource_of(h.buffer) else { return Err(p.badarg()) };
    let work = move |open: &Open| {
        let mut pieces = Vec::new();
        loop {
            let b = open.read_waiting(size, None)?;
            let last = b.bytes().is_empty() || memchr::memchr(b'\n', b.bytes()).is_some();
            pieces.push(b);
            if last {
                return Ok(pieces);
            }
        }
    };
    Err(elsewhere(p, h.file, work, move |h, r: Result<Vec<BinRef>>| {
        let Some(b) = kept.downcast_ref::<Buffer>() else { return error_on(h, Errno::INVAL) };
        let mut q = b.lock();
        match r.map(|pieces| pieces.into_iter().find_map(|b| more(&mut q, b))) {
            Ok(n) => line(h, &mut q, n.unwrap_or(0)),
            Err(e) => error_on(h, e),
        }
    }))
}

/// Adds bytes to the buffer. Returns the length of the line if its end has been read.
fn more(q: &mut Queue, b: BinRef) -> Option<usize> {
    let known = q.len();
    let end = b.bytes().is_empty();
    q.push_shared(b, 0);
    q.find(b'\n', known).map(|i| i + 1).or(end.then_some(known))
}

/// The first `n` bytes as a line, with CR LF at its end replaced by LF.
fn line<'h>(h: &'h Heap, q: &mut Queue, n: usize) -> Term<'h> {
    if n == 0 {
        return am::eof.into();
    }
    let t = q.take(h, n);
    let crlf = t.as_bits().and_then(|b| b.as_bytes()).and_then(|b| b.strip_suffix(b"\r\n"));
    let t = crlf.map_or(t, |b| {
        h.gathered(b.len() + 1, |g| {
            g.push(b);
            g.push(b"\n");
        })
    });
    ok_on(h, Ok(t))
}

/// Discards the bytes read ahead, and moves the file offset back to the user's position.
#[cold]
fn put_back(
    p: &Proc,
    file: Term<'_>,
    mut q: SpinLockGuard<'_, Queue>,
) -> std::result::Result<(), Raised> {
    let back = -(q.len() as i64);
    q.clear();
    // If the file can't seek the bytes are lost, as in OTP.
    let _ = with_file(p, file, |open| open.seek(Whence::Current, back))?;
    Ok(())
}

pub fn write_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let h = handle(p, a[0])?;
    if let Some(q) = buffer(p, h.buffer)?.lock_filled() {
        put_back(p, h.file, q)?;
    }
    match a[1].as_bits().filter(|b| b.is_binary()).and_then(|b| b.as_bytes()) {
        Some(bytes) if !bytes.is_empty() => write_one(p, h.file, a[1], bytes),
        _ => write_data(p, h.file, a[1]),
    }
}
#[inline(never)]
fn write_data<'h>(p: &'h Proc, file: Term<'h>, data: Term<'h>) -> BifResult<'h> {
    match iovec::vector(p, data)? {
        Ok(list) => write_list(p, file, list),
        Err(iolist::BadList) => Ok(bad(p)),
    }
}

pub fn position_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let h = handle(p, a[0])?;
    let (mark, offset) = match (a[1].as_tuple_n(), a[1].as_atom()) {
        (Some([mark, offset]), _) => (mark, offset),
        (_, Some(am::bof | am::cur | am::eof)) => (a[1], Term::int(0)),
        _ => (am::bof.into(), a[1]),
    };
    let mut q = buffer(p, h.buffer)?.lock_filled();
    let ahead = q.as_ref().filter(|_| mark == am::cur).map_or(0, |q| q.len() as i64);
    if mark == am::cur && !(offset.is_integer() || offset.as_float().is_some()) {
        return Err(p.badarith());
    }
    if let Some(q) = &mut q {
        q.clear();
    }
    let offset = offset.as_i64().and_then(|n| n.checked_sub(ahead));
    let (Some(whence), Some(offset)) = (whence(mark), offset) else { return Ok(bad(p)) };
    let r = with_file(p, h.file, |open| open.seek(whence, offset))?;
    ok_value(p, r.map(|n| p.heap.unsigned(n)))
}
