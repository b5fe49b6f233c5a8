//! `prim_file`: open files. What works on names is in `path`.
//!
//! A handle is a magic reference to a [`File`]. Its descriptor closes when the handle is closed or
//! when nobody holds the reference any more, which is the case at the latest when the opening
//! process is gone: its heap has the only one unless it was sent away.
//!
//! Calls on ordinary files run at once on the scheduler: what is in the page cache costs less than
//! a switch to another thread.

use std::ffi::CStr;
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex};

use kvik_heap::{BinRef, Heap};
use kvik_proc::{bif, BifEntry, BifResult, Proc};
use kvik_sys::file::{self as sys, Advice, Info, Kind, Mode, Whence};
use kvik_sys::{fd, Errno};
use kvik_term::{am, Atom, Term};

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
    bif!("prim_file", "read_handle_info_nif", 1, read_handle_info_1),
    bif!("prim_file", "get_handle_nif", 1, get_handle_1),
    bif!("prim_file", "read_file_nif", 1, read_file_1),
    bif!("prim_file", "ipread_s32bu_p32bu_nif", 3, ipread_3),
];

/// An open file.
pub struct File {
    fd: Mutex<Option<OwnedFd>>,
    /// An ordinary file: its size is a bound on what a read can bring.
    regular: bool,
}

/// Reads up to this size get their memory before anybody knows how much there is to read.
const TRUSTED_SIZE: usize = 256 * 1024;

/// `{error, enoent}` and its kin.
pub fn posix_error<'h>(p: &'h Proc, e: Errno) -> Term<'h> {
    let name = Atom::intern(e.name()).unwrap_or(am::error);
    p.heap.tuple(&[am::error.into(), name.into()])
}

/// `{ok, Value}` or `{error, Posix}`.
pub fn ok_value<'h>(p: &'h Proc, r: kvik_sys::Result<Term<'h>>) -> BifResult<'h> {
    Ok(match r {
        Ok(t) => p.heap.tuple(&[am::ok.into(), t]),
        Err(e) => posix_error(p, e),
    })
}

/// `ok` or `{error, Posix}`.
pub fn ok_or_error<'h>(p: &'h Proc, r: kvik_sys::Result<()>) -> BifResult<'h> {
    Ok(match r {
        Ok(()) => am::ok.into(),
        Err(e) => posix_error(p, e),
    })
}

/// A path as `prim_file` passes it: bytes that end in NUL, with none before.
pub fn path_of<'h>(t: Term<'h>) -> kvik_sys::Result<std::borrow::Cow<'h, CStr>> {
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
fn size_arg(p: &Proc, t: Term<'_>) -> Result<kvik_sys::Result<i64>, kvik_proc::Raised> {
    if !t.is_integer() && t.as_float().is_none() {
        return Err(p.badarg());
    }
    Ok(t.as_i64().filter(|n| *n >= 0).ok_or(Errno::INVAL))
}

fn resource<'h>(p: &Proc, t: Term<'h>) -> Result<&'h File, kvik_proc::Raised> {
    let r = Heap::resource_ref(t).and_then(|r| r.downcast_ref::<File>());
    r.ok_or_else(|| p.badarg())
}

/// Runs an operation on an open file. One that is closed answers `{error, einval}`.
fn with_file<'h, R>(
    p: &'h Proc,
    t: Term<'h>,
    f: impl FnOnce(&File, RawFd) -> kvik_sys::Result<R>,
) -> Result<kvik_sys::Result<R>, kvik_proc::Raised> {
    let file = resource(p, t)?;
    let fd = file.fd.lock().unwrap_or_else(|e| e.into_inner());
    Ok(match &*fd {
        Some(fd) => f(file, fd.as_raw_fd()),
        None => Err(Errno::INVAL),
    })
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
    Ok(File { fd: Mutex::new(Some(fd)), regular: kind == Kind::Regular })
}

fn open_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    if !a[1].is_list() {
        return Err(p.badarg());
    }
    let (mode, skip) = modes(a[1]);
    p.heap.bump_reductions(40);
    let r = path_of(a[0]).and_then(|path| open(&path, mode, skip));
    ok_value(p, r.map(|f| p.heap.magic_ref(Arc::new(f))))
}

fn file_desc_to_ref_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let n = a[0].as_i64().and_then(|n| i32::try_from(n).ok());
    let n = n.ok_or_else(|| p.badarg())?;
    let r = fd::adopt(n).map(|fd| {
        let regular = sys::fstat(n).is_ok_and(|i| i.kind == Kind::Regular);
        p.heap.magic_ref(Arc::new(File { fd: Mutex::new(Some(fd)), regular }))
    });
    ok_value(p, r)
}

fn close_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let file = resource(p, a[0])?;
    let fd = file.fd.lock().unwrap_or_else(|e| e.into_inner()).take();
    ok_or_error(p, fd.ok_or(Errno::INVAL).and_then(fd::close))
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
    let n = b.bytes().len();
    p.heap.bump_reductions(4 + n as i64 / 1024);
    Ok(match n {
        0 => None,
        // A short read must not keep a large block.
        _ if n <= size / 2 => Some(p.heap.binary(b.bytes())),
        _ => Some(p.heap.refc_binary(b, n)),
    })
}

/// `{ok, Binary}`, `eof` or `{error, Posix}`.
fn read_result<'h>(p: &'h Proc, r: kvik_sys::Result<Option<Term<'h>>>) -> BifResult<'h> {
    Ok(match r {
        Ok(Some(t)) => p.heap.tuple(&[am::ok.into(), t]),
        Ok(None) => am::eof.into(),
        Err(e) => posix_error(p, e),
    })
}

/// How much memory a read of `size` bytes from `at` on gets. A size beyond what the file has is
/// cut, so that `read(F, 1 bsl 40)` costs no more than the file.
fn bounded(file: &File, fd: RawFd, size: usize, at: impl FnOnce() -> u64) -> usize {
    if size <= TRUSTED_SIZE {
        return size;
    }
    match sys::fstat(fd) {
        Ok(i) if file.regular && i.size > 0 => {
            size.min((i.size.saturating_sub(at()) as usize).max(TRUSTED_SIZE))
        }
        _ => size,
    }
}

fn read_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let size = size_arg(p, a[1])?;
    let r = with_file(p, a[0], |file, fd| {
        let size =
            bounded(file, fd, size? as usize, || sys::seek(fd, Whence::Current, 0).unwrap_or(0));
        read_binary(p, size, |room| fd::read_full(fd, room))
    })?;
    read_result(p, r)
}

fn pread_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (offset, size) = (size_arg(p, a[1])?, size_arg(p, a[2])?);
    let r = with_file(p, a[0], |file, fd| {
        let offset = offset?;
        let size = bounded(file, fd, size? as usize, || offset as u64);
        read_binary(p, size, |room| fd::pread_full(fd, room, offset))
    })?;
    read_result(p, r)
}

/// Binaries that one call writes.
const MAX_SLICES: usize = 1024;

/// Gives `write` the first binaries of a list, and answers what it does and the rest of the list.
fn with_slices<'h, R>(
    p: &'h Proc,
    list: Term<'h>,
    write: impl FnOnce(&mut [IoSlice<'_>]) -> R,
) -> Result<(R, Term<'h>), kvik_proc::Raised> {
    let mut it = list.list();
    let mut bytes = Vec::new();
    while bytes.len() < MAX_SLICES {
        let Some(t) = it.next() else { break };
        let b = t.as_bits().filter(|b| b.is_binary());
        bytes.push(b.ok_or_else(|| p.badarg())?.to_bytes());
    }
    if !it.rest.is_list() {
        return Err(p.badarg());
    }
    let mut slices: Vec<_> = bytes.iter().map(|b| IoSlice::new(b)).collect();
    let total: usize = bytes.iter().map(|b| b.len()).sum();
    p.heap.bump_reductions(4 + total as i64 / 1024);
    Ok((write(&mut slices), it.rest))
}

fn write_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (r, rest) =
        with_slices(p, a[1], |slices| with_file(p, a[0], |_, fd| fd::writev_full(fd, slices)))?;
    match r? {
        Err(e) => Ok(posix_error(p, e)),
        Ok(_) if !rest.is_nil() => Ok(p.heap.tuple(&[am::continue_.into(), rest])),
        Ok(_) => Ok(am::ok.into()),
    }
}

fn pwrite_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let offset = size_arg(p, a[1])?;
    let (r, rest) = with_slices(p, a[2], |slices| {
        with_file(p, a[0], |_, fd| fd::pwritev_full(fd, slices, offset?))
    })?;
    match r? {
        Err(e) => Ok(posix_error(p, e)),
        Ok(n) if !rest.is_nil() => {
            let n = p.heap.unsigned(n as u64);
            Ok(p.heap.tuple(&[am::continue_.into(), n, rest]))
        }
        Ok(_) => Ok(am::ok.into()),
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
    let r = with_file(p, a[0], |_, fd| sys::sync(fd, data_only))?;
    ok_or_error(p, r)
}

fn truncate_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let r = with_file(p, a[0], |_, fd| sys::truncate_here(fd))?;
    ok_or_error(p, r)
}

fn allocate_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (offset, length) = (size_arg(p, a[1])?, size_arg(p, a[2])?);
    let r = with_file(p, a[0], |_, fd| sys::allocate(fd, offset?, length?))?;
    ok_or_error(p, r)
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

/// The record `#file_info{}`. `access` is bits: 1 read, 2 write.
pub fn file_info<'h>(p: &'h Proc, i: &Info, access: u32) -> Term<'h> {
    // Times before the year 0 have no date.
    const FIRST_TIME: i64 = -62_167_219_200;
    let h = &p.heap;
    let kind = match i.kind {
        Kind::Device => am::device,
        Kind::Directory => am::directory,
        Kind::Regular => am::regular,
        Kind::Symlink => am::symlink,
        Kind::Fifo | Kind::Socket | Kind::Other => am::other,
    };
    let access = match access {
        1 => am::read,
        2 => am::write,
        3 => am::read_write,
        _ => am::none,
    };
    // OTP keeps 32 bits of these.
    let n = |v: u64| h.unsigned(v & 0xFFFF_FFFF);
    let time = |t: i64| h.integer(t.max(FIRST_TIME));
    h.tuple(&[
        am::file_info.into(),
        h.unsigned(i.size),
        kind.into(),
        access.into(),
        time(i.accessed),
        time(i.modified),
        time(i.changed),
        n(i.mode as u64),
        n(i.links),
        n(i.device),
        n(i.raw_device),
        n(i.inode),
        n(i.uid as u64),
        n(i.gid as u64),
    ])
}

/// What the permission bits allow us.
fn access_by_mode(i: &Info) -> u32 {
    let (uid, gid) = sys::effective_ids();
    let shift = if i.uid == uid {
        6
    } else if i.gid == gid {
        3
    } else {
        0
    };
    let bits = i.mode >> shift;
    (bits >> 2 & 1) | (bits & 2)
}

fn read_handle_info_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    Ok(match with_file(p, a[0], |_, fd| sys::fstat(fd))? {
        Ok(i) => file_info(p, &i, access_by_mode(&i)),
        Err(e) => posix_error(p, e),
    })
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
    let r = path_of(a[0]).and_then(|path| read_file(&path));
    ok_value(
        p,
        r.map(|b| match b.bytes().len() {
            n if n <= 64 => p.heap.binary(b.bytes()),
            n => p.heap.refc_binary(b, n),
        }),
    )
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
        let info = read_handle_info_1(&p, &[f]).unwrap().as_tuple().unwrap();
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
