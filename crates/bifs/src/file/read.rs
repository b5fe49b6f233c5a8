//! Reading: open files, and whole files by name.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::Ordering;

use kvik_env::file::{self as sys, FileKind, OpenMode, Whence};
use kvik_env::{embedded, Errno, Result};
use kvik_heap::{BinRef, Heap};
use kvik_proc::{BifResult, Proc, Raised};
use kvik_sys::large_alloc;
use kvik_term::{am, Atom, Term};

use super::{elsewhere, error_on, ok_on, path_of, posix_error, size_arg, with_file, Open, LARGE};
use crate::blocking_pool::hand_off;

/// Reads up to this size get their memory without a look at how much there is to read.
pub(super) const TRUSTED_SIZE: usize = 256 * 1024;
/// The system may not have memory for larger reads.
const DOUBTFUL_SIZE: usize = 1 << 30;

impl Open {
    /// Whether a read of `size` bytes has to go to another thread.
    #[inline]
    pub(super) fn read_waits(&self, size: usize, offset: Option<i64>) -> bool {
        self.waits
            || self.pace.slow()
            || size > LARGE && self.bounded(size, offset).is_ok_and(|n| n > LARGE)
    }

    /// How much memory a read of `size` bytes (from `offset` on) gets. A size beyond what the file
    /// has is cut, so that a read of gigabytes costs no more than the file. `NOMEM` for one beyond
    /// what the system has, however little there is to read: as in OTP.
    #[inline]
    pub(super) fn bounded(&self, size: usize, offset: Option<i64>) -> Result<usize> {
        if size <= self.trusted.load(Ordering::Relaxed) {
            return Ok(size);
        }
        self.bounded_by_file(size, offset)
    }
    /// After a read of `n` bytes on a scheduler, later reads of up to `n` bytes get their memory
    /// without a look at the file.
    #[inline]
    fn brought(&self, n: usize) {
        if n > self.trusted.load(Ordering::Relaxed) {
            self.trusted.store(n, Ordering::Relaxed);
        }
    }
    fn bounded_by_file(&self, size: usize, offset: Option<i64>) -> Result<usize> {
        if size > DOUBTFUL_SIZE && !large_alloc::is_obtainable(size) {
            return Err(Errno::NOMEM);
        }
        let fd = self.fd.as_raw_fd();
        let here = || sys::seek(fd, Whence::Current, 0).unwrap_or(0);
        Ok(match sys::fstat(fd) {
            Ok(i) if self.regular && i.size > 0 => {
                let at = offset.or_else(|| self.here()).map_or_else(here, |o| o as u64);
                size.min((i.size.saturating_sub(at) as usize).max(TRUSTED_SIZE))
            }
            _ => size,
        })
    }

    /// Reads what there is, from `offset` or the current offset, on a scheduler. `AGAIN`: the read
    /// would block.
    #[inline(always)]
    pub(super) fn read_now<'a>(
        &self,
        room: &'a mut [MaybeUninit<u8>],
        offset: Option<i64>,
    ) -> Result<&'a mut [u8]> {
        let at = offset.or_else(|| self.here());
        let part = self.read_at(room, at)?;
        if offset.is_none() {
            self.moved(at, part.len());
        }
        Ok(part)
    }
    #[inline(always)]
    fn read_at<'a>(
        &self,
        room: &'a mut [MaybeUninit<u8>],
        offset: Option<i64>,
    ) -> Result<&'a mut [u8]> {
        let fd = self.fd.as_raw_fd();
        if self.pace.asks() {
            return self.read_cached(room, offset);
        }
        self.pace.timed(|| {
            let room = match offset {
                Some(at) => match self.view.read(fd, room, at) {
                    Ok(part) => return Ok(part),
                    Err(room) => room,
                },
                None => room,
            };
            sys::read_full(fd, room, offset)
        })
    }
    /// The same, cache-only.
    #[cold]
    fn read_cached<'a>(
        &self,
        room: &'a mut [MaybeUninit<u8>],
        offset: Option<i64>,
    ) -> Result<&'a mut [u8]> {
        let fd = self.fd.as_raw_fd();
        let mut can_ask = true;
        let r = sys::read_cached(fd, room, offset, &mut can_ask);
        self.pace.asked(can_ask, !matches!(r, Err(Errno::AGAIN)));
        r
    }

    /// The same on a thread that may block.
    pub(super) fn read_waiting(&self, size: usize, offset: Option<i64>) -> Result<BinRef> {
        let fd = self.fd.as_raw_fd();
        let read = || BinRef::fill(size, |room| sys::read_full(fd, room, offset));
        self.pace.watched(read).ok_or(Errno::NOMEM)?
    }
}

/// Reads what there is into a new binary, on a scheduler.
#[inline(always)]
fn read_binary<'h>(
    p: &'h Proc,
    open: &Open,
    size: usize,
    offset: Option<i64>,
) -> Result<Option<Term<'h>>> {
    if size <= 64 {
        let mut room = [const { MaybeUninit::uninit() }; 64];
        let part = open.read_now(&mut room[..size], offset)?;
        return Ok((!part.is_empty()).then(|| p.heap.binary(part)));
    }
    let b = BinRef::fill_from(open.likely(offset), size, |room| open.read_now(room, offset));
    let b = b.ok_or(Errno::NOMEM)??;
    open.brought(b.bytes().len());
    p.heap.bump_reductions(4 + b.bytes().len() as i64 / 1024);
    Ok(read_term(&p.heap, size, b))
}

/// The binary that a read of `size` bytes returned. `None`: it is empty.
#[inline]
pub(super) fn read_term(h: &Heap, size: usize, b: BinRef) -> Option<Term<'_>> {
    match b.bytes().len() {
        0 => None,
        // A short read must not keep a large block.
        n if n <= size / 2 => Some(h.binary(b.bytes())),
        _ => Some(h.whole_binary(b)),
    }
}

/// `{ok, Binary}`, `eof` or `{error, Posix}`.
#[inline]
fn read_result<'h>(h: &'h Heap, r: Result<Option<Term<'h>>>) -> Term<'h> {
    match r {
        Ok(Some(t)) => h.tuple(&[am::ok.into(), t]),
        Ok(None) => am::eof.into(),
        Err(e) => error_on(h, e),
    }
}

/// Collects the heap if needed before a `prim_file` read: see [`Proc::collected_for`].
#[inline]
pub(super) fn make_room<'h>(
    p: &'h Proc,
    file: Term<'h>,
    size: usize,
    offset: Option<i64>,
    (function, args): (Atom, &[Term<'h>]),
) -> std::result::Result<(), Raised> {
    if !p.may_collect_for(size) {
        return Ok(());
    }
    collect(p, file, size, offset, (function, args))
}
fn collect<'h>(
    p: &'h Proc,
    file: Term<'h>,
    size: usize,
    offset: Option<i64>,
    (function, args): (Atom, &[Term<'h>]),
) -> std::result::Result<(), Raised> {
    // Not for more than the file has.
    let size = with_file(p, file, |open| open.bounded(size, offset))?;
    p.collected_for(size.unwrap_or(0), (am::prim_file, function), args)
}

/// A read at `offset`, or at the current offset.
#[inline(always)]
pub(super) fn read_at<'h>(
    p: &'h Proc,
    file: Term<'h>,
    offset: Result<Option<i64>>,
    size: Result<i64>,
) -> BifResult<'h> {
    let now = with_file(p, file, |open| {
        let (offset, size) = (offset?, size? as usize);
        if open.read_waits(size, offset) {
            return Err(Errno::AGAIN);
        }
        read_binary(p, open, open.bounded(size, offset)?, offset)
    })?;
    match (now, offset, size) {
        (Err(Errno::AGAIN), Ok(offset), Ok(size)) => {
            let work = move |open: &Open| {
                let size = open.bounded(size as usize, offset)?;
                Ok((size, open.read_waiting(size, offset)?))
            };
            fn answer(h: &Heap, r: Result<(usize, BinRef)>) -> Term<'_> {
                read_result(h, r.map(|(size, b)| read_term(h, size, b)))
            }
            Err(elsewhere(p, file, work, answer))
        }
        (now, _, _) => Ok(read_result(&p.heap, now)),
    }
}

pub fn read_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let size = size_arg(p, a[1])?;
    read_at(p, a[0], Ok(None), size)
}

pub fn pread_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (offset, size) = (size_arg(p, a[1])?, size_arg(p, a[2])?);
    if let (Ok(offset), Ok(size)) = (offset, size) {
        make_room(p, a[0], size as usize, Some(offset), (am::pread_nif, a))?;
    }
    read_at(p, a[0], offset.map(Some), size)
}

/// A size and a position (32 bits each, big-endian) and the block that they describe. `None`:
/// there is none. `read` takes a number of bytes and an offset.
fn described(
    offset: i64,
    max: i64,
    read: impl Fn(usize, i64) -> Result<BinRef>,
) -> Result<Option<(u32, u32, BinRef)>> {
    if max >= 1 << 31 {
        return Err(Errno::INVAL);
    }
    let head = read(8, offset)?;
    let Ok([a, b, c, d, e, f, g, h]) = <[u8; 8]>::try_from(head.bytes()) else {
        return Ok(None);
    };
    let size = u32::from_be_bytes([a, b, c, d]);
    let at = u32::from_be_bytes([e, f, g, h]);
    if size as i64 > max {
        return Ok(None);
    }
    Ok(Some((size, at, read(size as usize, at as i64)?)))
}

fn description(h: &Heap, r: Result<Option<(u32, u32, BinRef)>>) -> Term<'_> {
    match r {
        Ok(Some((size, at, data))) => {
            let (n, at) = (h.unsigned(size as u64), h.unsigned(at as u64));
            let data = read_term(h, size as usize, data).unwrap_or(am::eof.into());
            h.tuple(&[am::ok.into(), h.tuple(&[n, at, data])])
        }
        Ok(None) => am::eof.into(),
        Err(e) => error_on(h, e),
    }
}

pub fn ipread_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (offset, max) = (size_arg(p, a[1])?, size_arg(p, a[2])?);
    let now = with_file(p, a[0], |open| {
        let read = |size, at| {
            if open.read_waits(size, Some(at)) {
                return Err(Errno::AGAIN);
            }
            BinRef::fill(size, |room| open.read_now(room, Some(at))).ok_or(Errno::NOMEM)?
        };
        described(offset?, max?, read)
    })?;
    match now {
        Err(Errno::AGAIN) => {
            let work = move |open: &Open| {
                described(offset?, max?, |size, at| open.read_waiting(size, Some(at)))
            };
            Err(elsewhere(p, a[0], work, description))
        }
        now => Ok(description(&p.heap, now)),
    }
}

/// Reads a whole file; to its end if the size is not known (`/proc`). `AGAIN`: the read would
/// block, and `may_wait` is false.
fn read_file(path: &CStr, may_wait: bool) -> Result<BinRef> {
    if let Some(bytes) = embedded::contents(path) {
        return bytes.map(BinRef::from_bytes);
    }
    let file = sys::open(path, OpenMode { read: true, ..OpenMode::default() })?;
    let fd: RawFd = file.as_raw_fd();
    let info = sys::fstat(fd)?;
    if info.kind == FileKind::Directory {
        return Err(Errno::ISDIR);
    }
    let size = info.size as usize;
    if info.kind == FileKind::Regular && size > 0 {
        return BinRef::fill(size, |room| match may_wait {
            true => sys::read_full(fd, room, None),
            false => sys::read_cached(fd, room, None, &mut true),
        })
        .ok_or(Errno::NOMEM)?;
    }
    let mut all = Vec::new();
    std::io::Read::read_to_end(&mut kvik_env::fs::File::from(file), &mut all)?;
    Ok(BinRef::from_bytes(&all))
}

pub fn read_file_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    p.heap.bump_reductions(60);
    let path = match path_of(a[0]) {
        Ok(path) => path,
        Err(e) => return Ok(posix_error(p, e)),
    };
    fn whole(h: &Heap, r: Result<BinRef>) -> Term<'_> {
        ok_on(h, r.map(|b| h.whole_binary(b)))
    }
    let waits = match sys::stat(&path, true) {
        Ok(i) if i.kind == FileKind::Regular => {
            let size = i.size as usize;
            p.collected_for(size, (am::prim_file, am::read_file_nif), a)?;
            size > LARGE
        }
        Ok(i) => i.kind != FileKind::Directory,
        Err(_) => false,
    };
    let now = if waits { Err(Errno::AGAIN) } else { read_file(&path, false) };
    if !matches!(now, Err(Errno::AGAIN)) {
        return Ok(whole(&p.heap, now));
    }
    let path = path.into_owned();
    Err(hand_off(p, move || read_file(&path, true), whole))
}
