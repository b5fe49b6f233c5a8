//! Writing open files.

use std::borrow::Cow;
use std::io::IoSlice;
use std::os::fd::{AsRawFd, RawFd};

use kvik_env::{file, Result};
use kvik_heap::BinRef;
use kvik_proc::{BifResult, Proc, Raised};
use kvik_term::{am, Term};

use super::{done_on, elsewhere, posix_error, size_arg, with_file, Open, LARGE};
use crate::buffer::Queue;

/// Maximum number of binaries that one call writes.
const MAX_SLICES: usize = 1024;

/// The bytes of the first binaries of a list, how many those are, and the rest of the list.
type Slices<'h> = (Vec<(Term<'h>, Cow<'h, [u8]>)>, usize, Term<'h>);

fn slices<'h>(p: &'h Proc, list: Term<'h>) -> std::result::Result<Slices<'h>, Raised> {
    let mut it = list.list();
    let mut all = Vec::with_capacity(2);
    let mut total = 0;
    while all.len() < MAX_SLICES {
        let Some(t) = it.next() else { break };
        let b = t.as_bits().filter(|b| b.is_binary()).ok_or_else(|| p.badarg())?.to_bytes();
        total += b.len();
        all.push((t, b));
    }
    if !it.rest.is_list() {
        return Err(p.badarg());
    }
    p.heap.bump_reductions(4 + total as i64 / 1024);
    Ok((all, total, it.rest))
}

impl Open {
    /// Whether a write of `size` bytes has to go to another thread.
    #[inline]
    fn write_waits(&self, size: usize) -> bool {
        self.waits || self.sync || size > LARGE || self.pace.writes_slow()
    }
    /// Writes binaries at `offset`, or at the current offset. Returns the number of bytes.
    fn write(&self, offset: Option<i64>, s: &mut [IoSlice<'_>]) -> Result<usize> {
        match s {
            [one] if !one.is_empty() => self.write_bytes(offset, one),
            s => self.write_by(offset, |fd, at, done| file::write_full(fd, s, at, done)),
        }
    }
    /// The same for one binary.
    #[inline(always)]
    fn write_bytes(&self, offset: Option<i64>, bytes: &[u8]) -> Result<usize> {
        if BinRef::copies_slowly(bytes, self.likely(offset)) {
            return self.write_copy(offset, bytes);
        }
        self.write_by(offset, |fd, at, done| file::write_all(fd, bytes, at, done))
    }
    #[cold]
    fn write_copy(&self, offset: Option<i64>, bytes: &[u8]) -> Result<usize> {
        let aside = BinRef::copy_for(bytes, self.likely(offset));
        let bytes = aside.as_ref().map_or(bytes, |(b, from)| &b.bytes()[*from..]);
        self.write_by(offset, |fd, at, done| file::write_all(fd, bytes, at, done))
    }
    #[inline(always)]
    fn write_by(
        &self,
        offset: Option<i64>,
        call: impl FnOnce(RawFd, Option<i64>, &mut usize) -> Result<()>,
    ) -> Result<usize> {
        let at = offset.or_else(|| self.here());
        let mut done = 0;
        let r = self.pace.timed(|| call(self.fd.as_raw_fd(), at, &mut done));
        if offset.is_none() {
            self.moved(at, done);
            if at.is_none() {
                self.wrote_there();
            }
        }
        r.map(|()| done)
    }
}

/// Writes binaries: on this scheduler, or on a thread that may block if the write may be slow.
fn write_binaries<'h>(
    p: &'h Proc,
    file: Term<'h>,
    offset: Option<i64>,
    list: Term<'h>,
) -> std::result::Result<(Result<usize>, Term<'h>), Raised> {
    let (all, total, rest) = slices(p, list)?;
    let now = with_file(p, file, |open| {
        if open.write_waits(total) {
            return Ok(None);
        }
        let mut s: Vec<_> = all.iter().map(|(_, b)| IoSlice::new(b)).collect();
        open.write(offset, &mut s).map(Some)
    })?;
    if let Some(now) = now.transpose() {
        return Ok((now, rest));
    }
    let mut queue = Queue::default();
    all.iter().for_each(|(t, b)| queue.push(p, *t, b, false));
    let mut rest = rest;
    while !rest.is_nil() {
        let (all, _, more) = slices(p, rest)?;
        all.iter().for_each(|(t, b)| queue.push(p, *t, b, false));
        rest = more;
    }
    Err(write_later(p, file, offset, queue))
}

fn write_later(p: &Proc, file: Term<'_>, offset: Option<i64>, queue: Queue) -> Raised {
    let work = move |open: &Open| {
        let mut s: Vec<_> = queue.pieces().map(IoSlice::new).collect();
        open.pace.watched(|| file::write_full(open.fd.as_raw_fd(), &mut s, offset, &mut 0))
    };
    elsewhere(p, file, work, done_on)
}

/// Writes a binary, whose bytes are `bytes`, at the current offset. The code for small writes is
/// kept together here, because a system call evicts much of it from the CPU caches.
#[inline(always)]
pub fn write_one<'h>(p: &'h Proc, file: Term<'h>, t: Term<'h>, bytes: &[u8]) -> BifResult<'h> {
    p.heap.bump_reductions(4 + bytes.len() as i64 / 1024);
    let now = with_file(p, file, |open| match open.write_waits(bytes.len()) {
        true => Ok(false),
        false => open.write_bytes(None, bytes).map(|_| true),
    })?;
    match now {
        Ok(true) => Ok(am::ok.into()),
        Ok(false) => Err(write_one_later(p, file, t, bytes)),
        Err(e) => Ok(posix_error(p, e)),
    }
}
#[cold]
fn write_one_later(p: &Proc, file: Term<'_>, t: Term<'_>, bytes: &[u8]) -> Raised {
    let mut queue = Queue::default();
    queue.push(p, t, bytes, false);
    write_later(p, file, None, queue)
}

/// Writes a list of binaries at the current offset.
pub fn write_list<'h>(p: &'h Proc, file: Term<'h>, list: Term<'h>) -> BifResult<'h> {
    let mut rest = list;
    loop {
        match write_binaries(p, file, None, rest)? {
            (Err(e), _) => return Ok(posix_error(p, e)),
            (Ok(_), more) if more.is_nil() => return Ok(am::ok.into()),
            (Ok(_), more) => rest = more,
        }
    }
}

pub fn write_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    match write_binaries(p, a[0], None, a[1])? {
        (Err(e), _) => Ok(posix_error(p, e)),
        (Ok(_), rest) if !rest.is_nil() => Ok(p.heap.tuple(&[am::continue_.into(), rest])),
        _ => Ok(am::ok.into()),
    }
}

pub fn pwrite_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let offset = match size_arg(p, a[1])? {
        Ok(n) => n,
        // Bad data takes precedence over a bad offset.
        Err(e) => return slices(p, a[2]).map(|_| posix_error(p, e)),
    };
    match write_binaries(p, a[0], Some(offset), a[2])? {
        (Err(e), _) => Ok(posix_error(p, e)),
        (Ok(n), rest) if !rest.is_nil() => {
            let n = p.heap.unsigned(n as u64);
            Ok(p.heap.tuple(&[am::continue_.into(), n, rest]))
        }
        _ => Ok(am::ok.into()),
    }
}
