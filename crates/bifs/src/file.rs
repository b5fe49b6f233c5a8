//! `prim_file`: open files. What works on names is in `path`.
//!
//! A handle is a magic reference to a [`File`]. Its descriptor closes when the handle is closed or
//! when nobody holds the reference any more, which is the case at the latest when the opening
//! process is gone: its heap has the only one unless it was sent away.
//!
//! Calls on ordinary files run at once on the scheduler: what is in the page cache costs less than
//! a switch to another thread. What may wait (FIFOs and devices, the disk) and what is very large
//! goes to the threads of `blocking`.

use std::borrow::Cow;
use std::ffi::CStr;
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex};

use kvik_heap::{BinRef, Heap};
use kvik_proc::{bif, BifEntry, BifResult, Proc, Raised};
use kvik_sys::file::{self as sys, Advice, Kind, Mode, Whence};
use kvik_sys::{fd, Errno};
use kvik_term::{am, Atom, Term};

use crate::blocking::hand_off;
use crate::buffer::Queue;

pub const BIFS: &[BifEntry] = &[
    bif!("prim_file", "open_nif", 2, open_2),
    bif!("prim_file", "file_desc_to_ref_nif", 1, file_desc_to_ref_1),
    bif!("prim_file", "close_nif", 1, close_1),
    bif!("prim_file", "delayed_close_nif", 1, close_1),
    bif!("prim_file", "read_nif", 2, read_2),
    bif!("prim_file", "write_nif", 2, write_2),
    bif!("prim_file", "pread_nif", 3, pread_3),
    bif!("prim_file", "pwrite_nif", 3, pwrite_3),
    bif!("prim_file", "seek_nif", 3, seek_3),
    bif!("prim_file", "sync_nif", 2, sync_2),
    bif!("prim_file", "truncate_nif", 1, truncate_1),
    bif!("prim_file", "allocate_nif", 3, allocate_3),
    bif!("prim_file", "advise_nif", 4, advise_4),
    bif!("prim_file", "get_handle_nif", 1, get_handle_1),
    bif!("prim_file", "read_file_nif", 1, read_file_1),
    bif!("prim_file", "ipread_s32bu_p32bu_nif", 3, ipread_3),
];

/// An open file.
pub struct File {
    /// Shared with calls that other threads make.
    fd: Mutex<Option<Arc<OwnedFd>>>,
    /// An ordinary file: its size is a bound on what a read can bring.
    regular: bool,
    /// Reading may wait for something other than a disk.
    waits: bool,
    /// Each write waits for the disk.
    sync: bool,
}

impl File {
    fn new(fd: OwnedFd, kind: Kind, sync: bool) -> File {
        let regular = kind == Kind::Regular;
        let waits = !regular && kind != Kind::Directory;
        File { fd: Mutex::new(Some(Arc::new(fd))), regular, waits, sync }
    }
    /// Is a read of so many bytes for another thread?
    fn read_waits(&self, size: usize, offset: Option<i64>) -> bool {
        let large = |fd: Arc<OwnedFd>| bounded(self.regular, fd.as_raw_fd(), size, offset) > LARGE;
        self.waits || size > LARGE && self.descriptor().is_ok_and(large)
    }
    fn write_waits(&self, size: usize) -> bool {
        self.waits || self.sync || size > LARGE
    }
    fn descriptor(&self) -> kvik_sys::Result<Arc<OwnedFd>> {
        let fd = self.fd.lock().unwrap_or_else(|e| e.into_inner());
        fd.clone().ok_or(Errno::INVAL)
    }
}

/// What takes a millisecond or so: a scheduler has other things to do.
const LARGE: usize = 4 << 20;

/// Reads up to this size get their memory before anybody knows how much there is to read.
const TRUSTED_SIZE: usize = 256 * 1024;

fn error_on(h: &Heap, e: Errno) -> Term<'_> {
    let name = Atom::intern(e.name()).unwrap_or(am::error);
    h.tuple(&[am::error.into(), name.into()])
}

/// `{error, enoent}` and its kin.
pub fn posix_error(p: &Proc, e: Errno) -> Term<'_> {
    error_on(&p.heap, e)
}

/// `{ok, Value}` or `{error, Posix}`.
pub fn ok_value<'h>(p: &'h Proc, r: kvik_sys::Result<Term<'h>>) -> BifResult<'h> {
    Ok(ok_on(&p.heap, r))
}
fn ok_on<'h>(h: &'h Heap, r: kvik_sys::Result<Term<'h>>) -> Term<'h> {
    match r {
        Ok(t) => h.tuple(&[am::ok.into(), t]),
        Err(e) => error_on(h, e),
    }
}

/// `ok` or `{error, Posix}`.
pub fn ok_or_error(p: &Proc, r: kvik_sys::Result<()>) -> BifResult<'_> {
    Ok(done_on(&p.heap, r))
}
fn done_on(h: &Heap, r: kvik_sys::Result<()>) -> Term<'_> {
    match r {
        Ok(()) => am::ok.into(),
        Err(e) => error_on(h, e),
    }
}

/// A path as `prim_file` passes it: bytes that end in NUL, with none before.
pub fn path_of<'h>(t: Term<'h>) -> kvik_sys::Result<Cow<'h, CStr>> {
    let bits = t.as_bits().filter(|b| b.is_binary()).ok_or(Errno::INVAL)?;
    let ends_well = |b: &[u8]| {
        let i = b.iter().position(|c| *c == 0)?;
        b[i..].iter().all(|c| *c == 0).then_some(i)
    };
    match bits.as_bytes() {
        Some(b) => {
            ends_well(b).ok_or(Errno::INVAL)?;
            Ok(CStr::from_bytes_until_nul(b).map_err(|_| Errno::INVAL)?.into())
        }
        None => {
            let mut b = bits.to_bytes().into_owned();
            let i = ends_well(&b).ok_or(Errno::INVAL)?;
            b.truncate(i);
            Ok(std::ffi::CString::new(b).map_err(|_| Errno::INVAL)?.into())
        }
    }
}

/// An integer argument: `badarg` for what is no number, `einval` for one that is out of range.
fn size_arg(p: &Proc, t: Term<'_>) -> Result<kvik_sys::Result<i64>, Raised> {
    if !t.is_integer() && t.as_float().is_none() {
        return Err(p.badarg());
    }
    Ok(t.as_i64().filter(|n| *n >= 0).ok_or(Errno::INVAL))
}

fn resource<'h>(p: &Proc, t: Term<'h>) -> Result<&'h File, Raised> {
    let r = Heap::resource_ref(t).and_then(|r| r.downcast_ref::<File>());
    r.ok_or_else(|| p.badarg())
}

/// Runs an operation on an open file. One that is closed answers `{error, einval}`.
pub(crate) fn with_file<'h, R>(
    p: &'h Proc,
    t: Term<'h>,
    f: impl FnOnce(&File, RawFd) -> kvik_sys::Result<R>,
) -> Result<kvik_sys::Result<R>, Raised> {
    let file = resource(p, t)?;
    let fd = file.fd.lock().unwrap_or_else(|e| e.into_inner());
    Ok(match &*fd {
        Some(fd) => f(file, fd.as_raw_fd()),
        None => Err(Errno::INVAL),
    })
}

/// The same by a thread that may wait, for what answers `ok`.
fn elsewhere(
    p: &Proc,
    t: Term<'_>,
    f: impl FnOnce(RawFd) -> kvik_sys::Result<()> + Send + 'static,
) -> Raised {
    let fd = match resource(p, t) {
        Ok(file) => file.descriptor(),
        Err(r) => return r,
    };
    hand_off(p, move || f(fd?.as_raw_fd()), done_on)
}

fn modes(list: Term<'_>) -> (Mode, bool) {
    let mut m = Mode::default();
    let mut skip_type_check = false;
    for t in list.list() {
        match t.as_atom() {
            Some(am::read) => m.read = true,
            Some(am::write) => m.write = true,
            Some(am::exclusive) => m.exclusive = true,
            Some(am::append) => m.append = true,
            Some(am::sync) => m.sync = true,
            Some(am::directory) => m.directory = true,
            Some(am::skip_type_check) => skip_type_check = true,
            _ => {}
        }
    }
    if m.append || m.exclusive {
        m.write = true;
    } else if !m.write {
        m.read = true;
    }
    (m, skip_type_check)
}

fn open(path: &CStr, mode: Mode, skip_type_check: bool) -> kvik_sys::Result<File> {
    let fd = sys::open(path, mode)?;
    let kind = sys::fstat(fd.as_raw_fd()).map_or(Kind::Other, |i| i.kind);
    if kind == Kind::Directory && !mode.directory && !skip_type_check {
        return Err(Errno::ISDIR);
    }
    Ok(File::new(fd, kind, mode.sync))
}

/// May opening this wait, as for a FIFO's other end?
fn open_waits(path: &CStr) -> bool {
    let kind = sys::stat(path, true).map(|i| i.kind);
    !matches!(kind, Err(_) | Ok(Kind::Regular | Kind::Directory))
}

fn open_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    if !a[1].is_list() {
        return Err(p.badarg());
    }
    let (mode, skip) = modes(a[1]);
    p.heap.bump_reductions(40);
    let path = match path_of(a[0]) {
        Ok(path) => path,
        Err(e) => return Ok(posix_error(p, e)),
    };
    fn opened(h: &Heap, r: kvik_sys::Result<File>) -> Term<'_> {
        ok_on(h, r.map(|f| h.magic_ref(Arc::new(f))))
    }
    if open_waits(&path) {
        let path = path.into_owned();
        return Err(hand_off(p, move || open(&path, mode, skip), opened));
    }
    Ok(opened(&p.heap, open(&path, mode, skip)))
}

fn file_desc_to_ref_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let n = a[0].as_i64().and_then(|n| i32::try_from(n).ok());
    let n = n.ok_or_else(|| p.badarg())?;
    let r = fd::adopt(n).map(|fd| {
        let kind = sys::fstat(n).map_or(Kind::Other, |i| i.kind);
        p.heap.magic_ref(Arc::new(File::new(fd, kind, false)))
    });
    ok_value(p, r)
}

fn close_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let file = resource(p, a[0])?;
    let fd = file.fd.lock().unwrap_or_else(|e| e.into_inner()).take();
    let r = fd.ok_or(Errno::INVAL).and_then(|fd| match Arc::into_inner(fd) {
        Some(fd) => fd::close(fd),
        // A call is under way in another thread: it closes after that.
        None => Ok(()),
    });
    ok_or_error(p, r)
}

/// Reads into a new binary by `read`, which fills as much as there is.
fn read_binary<'h>(
    p: &'h Proc,
    size: usize,
    read: impl for<'a> FnOnce(&'a mut [MaybeUninit<u8>]) -> kvik_sys::Result<&'a mut [u8]>,
) -> kvik_sys::Result<Option<Term<'h>>> {
    if size <= 64 {
        let mut room = [const { MaybeUninit::uninit() }; 64];
        let part = read(&mut room[..size])?;
        return Ok((!part.is_empty()).then(|| p.heap.binary(part)));
    }
    let b = BinRef::fill(size, read).ok_or(Errno::NOMEM)??;
    p.heap.bump_reductions(4 + b.bytes().len() as i64 / 1024);
    Ok(read_term(&p.heap, size, b))
}

/// What a read of so many bytes brought. `None`: nothing.
fn read_term(h: &Heap, size: usize, b: BinRef) -> Option<Term<'_>> {
    match b.bytes().len() {
        0 => None,
        // A short read must not keep a large block.
        n if n <= size / 2 => Some(h.binary(b.bytes())),
        _ => Some(h.whole_binary(b)),
    }
}

/// `{ok, Binary}`, `eof` or `{error, Posix}`.
fn read_result<'h>(h: &'h Heap, r: kvik_sys::Result<Option<Term<'h>>>) -> Term<'h> {
    match r {
        Ok(Some(t)) => h.tuple(&[am::ok.into(), t]),
        Ok(None) => am::eof.into(),
        Err(e) => error_on(h, e),
    }
}

/// A read by a thread that may wait: at `offset`, or where the file stands.
fn read_elsewhere(p: &Proc, file: &File, offset: Option<i64>, size: usize) -> Raised {
    let (regular, fd) = (file.regular, file.descriptor());
    let work = move || {
        let fd = fd?;
        let fd = fd.as_raw_fd();
        let size = bounded(regular, fd, size, offset);
        let b = BinRef::fill(size, |room| match offset {
            Some(o) => fd::pread_full(fd, room, o),
            None => fd::read_full(fd, room),
        });
        Ok((size, b.ok_or(Errno::NOMEM)??))
    };
    hand_off(p, work, |h, r| read_result(h, r.map(|(size, b)| read_term(h, size, b))))
}

/// How much memory a read of `size` bytes (from `offset` on) gets. A size beyond what the file has is
/// cut, so that `read(F, 1 bsl 40)` costs no more than the file.
fn bounded(regular: bool, fd: RawFd, size: usize, offset: Option<i64>) -> usize {
    if size <= TRUSTED_SIZE {
        return size;
    }
    let here = || sys::seek(fd, Whence::Current, 0).unwrap_or(0);
    match sys::fstat(fd) {
        Ok(i) if regular && i.size > 0 => {
            let at = offset.map_or_else(here, |o| o as u64);
            size.min((i.size.saturating_sub(at) as usize).max(TRUSTED_SIZE))
        }
        _ => size,
    }
}

fn read_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let size = size_arg(p, a[1])?;
    let file = resource(p, a[0])?;
    match size {
        Ok(n) if file.read_waits(n as usize, None) => {
            return Err(read_elsewhere(p, file, None, n as usize));
        }
        _ => {}
    }
    let r = with_file(p, a[0], |file, fd| {
        let size = bounded(file.regular, fd, size? as usize, None);
        read_binary(p, size, |room| fd::read_full(fd, room))
    })?;
    Ok(read_result(&p.heap, r))
}

fn pread_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (offset, size) = (size_arg(p, a[1])?, size_arg(p, a[2])?);
    let file = resource(p, a[0])?;
    match (offset, size) {
        (Ok(at), Ok(n)) if file.read_waits(n as usize, Some(at)) => {
            return Err(read_elsewhere(p, file, Some(at), n as usize));
        }
        _ => {}
    }
    let r = with_file(p, a[0], |file, fd| {
        let offset = offset?;
        let size = bounded(file.regular, fd, size? as usize, Some(offset));
        read_binary(p, size, |room| fd::pread_full(fd, room, offset))
    })?;
    Ok(read_result(&p.heap, r))
}

/// Binaries that one call writes.
const MAX_SLICES: usize = 1024;

/// The bytes of the first binaries of a list, how many those are, and the rest of the list.
type Slices<'h> = (Vec<(Term<'h>, Cow<'h, [u8]>)>, usize, Term<'h>);

fn slices<'h>(p: &'h Proc, list: Term<'h>) -> Result<Slices<'h>, Raised> {
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

/// Writes binaries at `offset`, or where the file stands: how many bytes that was.
fn write_all(fd: RawFd, offset: Option<i64>, s: &mut [IoSlice<'_>]) -> kvik_sys::Result<usize> {
    match offset {
        Some(at) => fd::pwritev_full(fd, s, at),
        None => fd::writev_full(fd, s),
    }
}

/// A write, which goes to a thread that may wait where it may take long.
fn write_binaries<'h>(
    p: &'h Proc,
    file: Term<'h>,
    offset: Option<i64>,
    list: Term<'h>,
) -> Result<(kvik_sys::Result<usize>, Term<'h>), Raised> {
    let (all, total, rest) = slices(p, list)?;
    let f = resource(p, file)?;
    if rest.is_nil() && f.write_waits(total) {
        let mut queue = Queue::default();
        all.iter().for_each(|(t, b)| queue.push(p, *t, b, false));
        let fd = f.descriptor();
        let work = move || {
            let mut s: Vec<_> = queue.pieces().map(IoSlice::new).collect();
            write_all(fd?.as_raw_fd(), offset, &mut s).map(drop)
        };
        return Err(hand_off(p, work, done_on));
    }
    let r = with_file(p, file, |_, fd| match &all[..] {
        [(_, b)] => write_all(fd, offset, &mut [IoSlice::new(b)]),
        _ => {
            let mut s: Vec<_> = all.iter().map(|(_, b)| IoSlice::new(b)).collect();
            write_all(fd, offset, &mut s)
        }
    })?;
    Ok((r, rest))
}

fn write_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    match write_binaries(p, a[0], None, a[1])? {
        (Err(e), _) => Ok(posix_error(p, e)),
        (Ok(_), rest) if !rest.is_nil() => Ok(p.heap.tuple(&[am::continue_.into(), rest])),
        _ => Ok(am::ok.into()),
    }
}

fn pwrite_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let offset = match size_arg(p, a[1])? {
        Ok(n) => n,
        // What is to be written counts all the same.
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

fn seek_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let offset = a[2].as_i64().ok_or_else(|| p.badarg())?;
    let whence = match a[1].as_atom() {
        Some(am::bof) => Whence::Start,
        Some(am::cur) => Whence::Current,
        Some(am::eof) => Whence::End,
        _ => return Err(p.badarg()),
    };
    let r = with_file(p, a[0], |_, fd| sys::seek(fd, whence, offset))?;
    ok_value(p, r.map(|n| p.heap.unsigned(n)))
}

fn sync_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let data_only = a[1].as_small().ok_or_else(|| p.badarg())? != 0;
    Err(elsewhere(p, a[0], move |fd| sys::sync(fd, data_only)))
}

fn truncate_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let r = with_file(p, a[0], |_, fd| sys::truncate_here(fd))?;
    ok_or_error(p, r)
}

fn allocate_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (offset, length) = (size_arg(p, a[1])?, size_arg(p, a[2])?);
    Err(elsewhere(p, a[0], move |fd| sys::allocate(fd, offset?, length?)))
}

fn advise_4<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (offset, length) = (size_arg(p, a[1])?, size_arg(p, a[2])?);
    let advice = match a[3].as_atom() {
        Some(am::normal) => Ok(Advice::Normal),
        Some(am::random) => Ok(Advice::Random),
        Some(am::sequential) => Ok(Advice::Sequential),
        Some(am::will_need) => Ok(Advice::WillNeed),
        Some(am::dont_need) => Ok(Advice::DontNeed),
        Some(am::no_reuse) => Ok(Advice::NoReuse),
        _ => Err(Errno::INVAL),
    };
    let r = with_file(p, a[0], |_, fd| {
        sys::advise(fd, offset?, length?, advice?);
        Ok(())
    })?;
    ok_or_error(p, r)
}

fn get_handle_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(match with_file(p, a[0], |_, fd| Ok(fd))? {
        Ok(fd) => p.heap.binary(&fd.to_ne_bytes()),
        Err(e) => posix_error(p, e),
    })
}

/// A whole file. Where the size is not known (`/proc`) or was wrong, as far as it goes.
fn read_file(path: &CStr) -> kvik_sys::Result<BinRef> {
    let file = sys::open(path, Mode { read: true, ..Mode::default() })?;
    let fd = file.as_raw_fd();
    let info = sys::fstat(fd)?;
    if info.kind == Kind::Directory {
        return Err(Errno::ISDIR);
    }
    let size = info.size as usize;
    if info.kind == Kind::Regular && size > 0 {
        return BinRef::fill(size, |room| fd::read_full(fd, room)).ok_or(Errno::NOMEM)?;
    }
    let mut all = Vec::new();
    std::io::Read::read_to_end(&mut std::fs::File::from(file), &mut all)?;
    Ok(BinRef::from_bytes(&all))
}

fn read_file_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    p.heap.bump_reductions(60);
    let path = match path_of(a[0]) {
        Ok(path) => path,
        Err(e) => return Ok(posix_error(p, e)),
    };
    fn whole(h: &Heap, r: kvik_sys::Result<BinRef>) -> Term<'_> {
        ok_on(h, r.map(|b| h.whole_binary(b)))
    }
    let waits = match sys::stat(&path, true) {
        Ok(i) if i.kind == Kind::Regular => i.size as usize > LARGE,
        Ok(i) => i.kind != Kind::Directory,
        Err(_) => false,
    };
    if waits {
        let path = path.into_owned();
        return Err(hand_off(p, move || read_file(&path), whole));
    }
    Ok(whole(&p.heap, read_file(&path)))
}

/// Reads a size and a position (32 bits each, big-endian) and then the block they describe.
fn ipread_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (offset, max) = (size_arg(p, a[1])?, size_arg(p, a[2])?);
    let r = with_file(p, a[0], |_, fd| {
        let (offset, max) = (offset?, max?);
        if max >= 1 << 31 {
            return Err(Errno::INVAL);
        }
        let mut room = [const { MaybeUninit::uninit() }; 8];
        let head = fd::pread_full(fd, &mut room, offset)?;
        let Ok([a, b, c, d, e, f, g, h]) = <[u8; 8]>::try_from(&*head) else {
            return Ok(None);
        };
        let size = u32::from_be_bytes([a, b, c, d]);
        let at = u32::from_be_bytes([e, f, g, h]);
        if size as i64 > max {
            return Ok(None);
        }
        let data = read_binary(p, size as usize, |r| fd::pread_full(fd, r, at as i64))?;
        Ok(Some((size, at, data)))
    })?;
    Ok(match r {
        Ok(Some((size, at, data))) => {
            let h = &p.heap;
            let (size, at) = (h.unsigned(size as u64), h.unsigned(at as u64));
            let data = data.unwrap_or(am::eof.into());
            h.tuple(&[am::ok.into(), h.tuple(&[size, at, data])])
        }
        Ok(None) => am::eof.into(),
        Err(e) => posix_error(p, e),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_error(t: Term<'_>, name: &str) -> bool {
        matches!(t.as_tuple_n(), Some([e, n]) if e == am::error && n.as_atom().unwrap().name() == name)
    }
    fn value<'h>(t: Term<'h>) -> Term<'h> {
        let [ok, v] = t.as_tuple_n().unwrap();
        assert!(ok == am::ok);
        v
    }

    #[test]
    fn a_file_from_open_to_close() {
        let dir = std::env::temp_dir().join(format!("kvik-file-{}", std::process::id()));
        let name = format!("{}\0", dir.display());
        let p = Proc::new(1, 1000);
        let h = &p.heap;
        let name = h.binary(name.as_bytes());
        let rw = h.list(&[am::read.into(), am::write.into()]);
        let f = value(open_2(&p, &[name, rw]).unwrap());
        let data = vec![b'k'; 3000];
        let iov = h.list(&[h.binary(b"abc"), h.binary(&data)]);
        assert!(write_2(&p, &[f, iov]).unwrap() == am::ok);
        let at = value(seek_3(&p, &[f, am::bof.into(), Term::int(1)]).unwrap());
        assert_eq!(at.as_small(), Some(1));
        let b = value(read_2(&p, &[f, Term::int(2)]).unwrap());
        assert_eq!(b.as_bytes().unwrap(), b"bc");
        let b = value(pread_3(&p, &[f, Term::int(3), Term::small(1 << 40).unwrap()]).unwrap());
        assert_eq!(b.as_bytes().unwrap(), data);
        assert!(pread_3(&p, &[f, Term::int(9000), Term::int(5)]).unwrap() == am::eof);
        assert!(is_error(pread_3(&p, &[f, Term::int(-1), Term::int(5)]).unwrap(), "einval"));
        assert!(pread_3(&p, &[f, am::ok.into(), Term::int(5)]).is_err());
        let iov = h.list(&[h.binary(b"XYZ")]);
        assert!(pwrite_3(&p, &[f, Term::int(0), iov]).unwrap() == am::ok);
        assert!(truncate_1(&p, &[f]).unwrap() == am::ok);
        let whole = value(read_file_1(&p, &[name]).unwrap());
        assert_eq!(whole.as_bytes().unwrap(), b"XYZ");
        let info = crate::path::read_handle_info_1(&p, &[f]).unwrap().as_tuple().unwrap();
        assert_eq!((info.len(), info.get(1).unwrap().as_small()), (14, Some(3)));
        assert!(close_1(&p, &[f]).unwrap() == am::ok);
        assert!(is_error(close_1(&p, &[f]).unwrap(), "einval"));
        assert!(is_error(read_2(&p, &[f, Term::int(1)]).unwrap(), "einval"));
        std::fs::remove_file(dir).unwrap();
        assert!(is_error(read_file_1(&p, &[name]).unwrap(), "enoent"));
        assert!(is_error(open_2(&p, &[h.binary(b"/\0"), Term::NIL]).unwrap(), "eisdir"));
        assert!(is_error(open_2(&p, &[h.binary(b"no nul"), Term::NIL]).unwrap(), "einval"));
    }
}
