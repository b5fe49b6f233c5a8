//! `prim_file`: open files. Functions that take names are in `path`.
//!
//! A handle is a magic reference to a [`FileHandle`]. Its descriptor closes when the handle is
//! closed, when the last reference is gone, or when the process that opened it ends (`owners`).
//!
//! Calls on regular files run directly on the scheduler: access to the page cache costs less than a
//! thread switch. Calls that may block (FIFOs and devices, the disk: see `blocking_detector`) and
//! very large ones run on the threads of `blocking_pool`.

mod blocking_detector;
mod fast_path;
mod mmap_read;
mod offset;
mod owners;
mod read;
mod write;

use std::borrow::Cow;
use std::ffi::CStr;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard};

use kvik_env::file::{self as sys, Advice, FileKind, OpenMode, Whence};
use kvik_env::{fd, Errno};
use kvik_heap::Heap;
use kvik_proc::{bif, BifEntry, BifResult, Proc, Raised};
use kvik_term::{am, Atom, Term};

use crate::blocking_pool::{answer, hand_off};
use blocking_detector::BlockingDetector;
use mmap_read::MappedReader;
use offset::{FileOffset, OffsetMode};
pub use owners::install;

pub const BIFS: &[BifEntry] = &[
    bif!("prim_file", "read", 2, fast_path::read_2, sheds until 28),
    bif!("prim_file", "read_line", 1, fast_path::read_line_1, until 28),
    bif!("prim_file", "write", 2, fast_path::write_2, until 28),
    bif!("prim_file", "position", 2, fast_path::position_2, until 28),
    bif!("prim_file", "open_nif", 2, open_2),
    bif!("prim_file", "file_desc_to_ref_nif", 1, file_desc_to_ref_1),
    bif!("prim_file", "close_nif", 1, close_1),
    bif!("prim_file", "delayed_close_nif", 1, close_1),
    bif!("prim_file", "read_nif", 2, read::read_2, sheds),
    bif!("prim_file", "write_nif", 2, write::write_2),
    bif!("prim_file", "pread_nif", 3, read::pread_3, sheds),
    bif!("prim_file", "pwrite_nif", 3, write::pwrite_3),
    bif!("prim_file", "seek_nif", 3, seek_3),
    bif!("prim_file", "sync_nif", 2, sync_2),
    bif!("prim_file", "truncate_nif", 1, truncate_1),
    bif!("prim_file", "allocate_nif", 3, allocate_3),
    bif!("prim_file", "advise_nif", 4, advise_4),
    bif!("prim_file", "get_handle_nif", 1, get_handle_1),
    bif!("prim_file", "read_file_nif", 1, read::read_file_1),
    bif!("prim_file", "ipread_s32bu_p32bu_nif", 3, read::ipread_3),
];

/// A handle: an open file until it is closed, at the latest when its owner ends.
pub struct FileHandle {
    open: Mutex<Option<Arc<Open>>>,
    owner: u32,
}

/// An open file, shared with calls that other threads make.
struct Open {
    fd: OwnedFd,
    /// A regular file: its size bounds what a read can return.
    regular: bool,
    /// Reads may block on something other than a disk.
    waits: bool,
    /// Each write waits for the disk (`O_SYNC`).
    sync: bool,
    pace: BlockingDetector,
    place: FileOffset,
    view: MappedReader,
    /// Reads up to this size allocate their buffer in full; larger reads allocate no more than the
    /// file holds.
    trusted: AtomicUsize,
}

/// How a file is opened, as far as reads and writes depend on it.
#[derive(Default)]
struct Use {
    /// Each write waits for the disk (`O_SYNC`).
    sync: bool,
    /// See `offset`.
    place: OffsetMode,
    /// See `mmap_read`.
    views: bool,
}

impl FileHandle {
    fn new(fd: OwnedFd, kind: FileKind, used: Use, owner: u32) -> Arc<FileHandle> {
        let regular = kind == FileKind::Regular;
        let waits = !regular && kind != FileKind::Directory;
        let Use { sync, place, views } = used;
        let views = views && place == OffsetMode::Always;
        let (pace, place, view) =
            (BlockingDetector::new(regular), FileOffset::new(place), MappedReader::new(views));
        let trusted = AtomicUsize::new(read::TRUSTED_SIZE);
        let open = Open { fd, regular, waits, sync, pace, place, view, trusted };
        let file = Arc::new(FileHandle { open: Mutex::new(Some(Arc::new(open))), owner });
        owners::opened(&file);
        file
    }
    #[inline]
    fn lock(&self) -> MutexGuard<'_, Option<Arc<Open>>> {
        self.open.lock().unwrap_or_else(|e| e.into_inner())
    }
    /// Closes the file if it is open. If another thread's call is using it, that call closes it
    /// when done.
    fn close(&self) -> kvik_env::Result<()> {
        let open = self.lock().take();
        open.ok_or(Errno::INVAL).and_then(|open| match Arc::into_inner(open) {
            Some(open) => fd::close(open.fd),
            None => Ok(()),
        })
    }
    fn open(&self) -> kvik_env::Result<Arc<Open>> {
        self.lock().clone().ok_or(Errno::INVAL)
    }
}

/// Calls of this size take about a millisecond, too long for a scheduler.
const LARGE: usize = 4 << 20;

fn error_on(h: &Heap, e: Errno) -> Term<'_> {
    let name = Atom::intern(e.name()).unwrap_or(am::error);
    h.tuple(&[am::error.into(), name.into()])
}

/// `{error, enoent}` and its kin.
pub fn posix_error(p: &Proc, e: Errno) -> Term<'_> {
    error_on(&p.heap, e)
}

/// `{ok, Value}` or `{error, Posix}`.
pub fn ok_value<'h>(p: &'h Proc, r: kvik_env::Result<Term<'h>>) -> BifResult<'h> {
    Ok(ok_on(&p.heap, r))
}
#[inline]
fn ok_on<'h>(h: &'h Heap, r: kvik_env::Result<Term<'h>>) -> Term<'h> {
    match r {
        Ok(t) => h.tuple(&[am::ok.into(), t]),
        Err(e) => error_on(h, e),
    }
}

/// `ok` or `{error, Posix}`.
pub fn ok_or_error(p: &Proc, r: kvik_env::Result<()>) -> BifResult<'_> {
    Ok(done_on(&p.heap, r))
}
fn done_on(h: &Heap, r: kvik_env::Result<()>) -> Term<'_> {
    match r {
        Ok(()) => am::ok.into(),
        Err(e) => error_on(h, e),
    }
}

/// A path as `prim_file` passes it: bytes that end in NUL, with none before.
pub fn path_of<'h>(t: Term<'h>) -> kvik_env::Result<Cow<'h, CStr>> {
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

/// An integer argument: `badarg` for other terms, `einval` if out of range.
fn size_arg(p: &Proc, t: Term<'_>) -> Result<kvik_env::Result<i64>, Raised> {
    if !t.is_integer() && t.as_float().is_none() {
        return Err(p.badarg());
    }
    Ok(t.as_i64().filter(|n| *n >= 0).ok_or(Errno::INVAL))
}

#[inline]
fn resource<'h>(p: &Proc, t: Term<'h>) -> Result<&'h FileHandle, Raised> {
    let r = Heap::resource_ref(t).and_then(|r| r.downcast_ref::<FileHandle>());
    r.ok_or_else(|| p.badarg())
}

/// Runs an operation on an open file; a closed one gives `{error, einval}`.
#[inline(always)]
fn with_file<'h, R>(
    p: &'h Proc,
    t: Term<'h>,
    f: impl FnOnce(&Open) -> kvik_env::Result<R>,
) -> Result<kvik_env::Result<R>, Raised> {
    let file = resource(p, t)?.lock();
    Ok(file.as_ref().ok_or(Errno::INVAL).and_then(|open| f(open)))
}

/// Like [`with_file`], on the descriptor, after its kernel offset is brought up to date.
pub(crate) fn with_fd<'h, R>(
    p: &'h Proc,
    t: Term<'h>,
    f: impl FnOnce(RawFd) -> kvik_env::Result<R>,
) -> Result<kvik_env::Result<R>, Raised> {
    with_file(p, t, |open| {
        open.sync_to_kernel()?;
        f(open.fd.as_raw_fd())
    })
}

/// Like [`with_file`], on a thread that may block, after the kernel offset is brought up to date.
fn elsewhere<T: Send + 'static>(
    p: &Proc,
    t: Term<'_>,
    f: impl FnOnce(&Open) -> kvik_env::Result<T> + Send + 'static,
    answer: impl for<'h> FnOnce(&'h Heap, kvik_env::Result<T>) -> Term<'h> + Send + 'static,
) -> Raised {
    match resource(p, t) {
        Ok(file) => {
            let open = file.open().and_then(|open| open.sync_to_kernel().map(|()| open));
            hand_off(p, move || f(&*open?), answer)
        }
        Err(r) => r,
    }
}

/// A duplicate descriptor of an open file; the caller closes it. `None`: the term is no handle.
pub fn duplicate(t: Term<'_>) -> Option<kvik_env::Result<OwnedFd>> {
    let file = Heap::resource_ref(t)?.downcast_ref::<FileHandle>()?;
    Some(file.open().and_then(|open| fd::duplicate(open.fd.as_raw_fd())))
}

fn modes(list: Term<'_>) -> (OpenMode, bool) {
    let mut m = OpenMode::default();
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

fn open(
    path: &CStr,
    mode: OpenMode,
    skip_type_check: bool,
    owner: u32,
) -> kvik_env::Result<Arc<FileHandle>> {
    let fd = sys::open(path, mode)?;
    let (kind, size) =
        sys::fstat(fd.as_raw_fd()).map_or((FileKind::Other, 0), |i| (i.kind, i.size));
    if kind == FileKind::Directory && !mode.directory && !skip_type_check {
        return Err(Errno::ISDIR);
    }
    let place = match size {
        _ if kind != FileKind::Regular || mode.append => OffsetMode::Never,
        0 => OffsetMode::Later,
        _ => OffsetMode::Always,
    };
    let used = Use { sync: mode.sync, place, views: !mode.write };
    Ok(FileHandle::new(fd, kind, used, owner))
}

/// Whether opening this may block, as on the other end of a FIFO. The extra call costs half as much
/// as opening. Opening a FIFO with `O_NONBLOCK` instead would wake the processes that block on its
/// other end.
fn open_waits(path: &CStr) -> bool {
    let kind = sys::stat(path, true).map(|i| i.kind);
    !matches!(kind, Err(_) | Ok(FileKind::Regular | FileKind::Directory))
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
    fn opened(h: &Heap, r: kvik_env::Result<Arc<FileHandle>>) -> Term<'_> {
        ok_on(h, r.map(|f| h.magic_ref(f)))
    }
    owners::may_own(p);
    let me = p.pid();
    let (waits, path) = (open_waits(&path), path.into_owned());
    answer(p, waits, move || open(&path, mode, skip, me), opened)
}

fn file_desc_to_ref_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let n = a[0].as_i64().and_then(|n| i32::try_from(n).ok());
    let n = n.ok_or_else(|| p.badarg())?;
    let r = fd::adopt(n).map(|fd| {
        let kind = sys::fstat(n).map_or(FileKind::Other, |i| i.kind);
        owners::may_own(p);
        p.heap.magic_ref(FileHandle::new(fd, kind, Use::default(), p.pid()))
    });
    ok_value(p, r)
}

fn close_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let r = resource(p, a[0])?.close();
    ok_or_error(p, r)
}

fn whence(t: Term<'_>) -> Option<Whence> {
    match t.as_atom()? {
        am::bof => Some(Whence::Start),
        am::cur => Some(Whence::Current),
        am::eof => Some(Whence::End),
        _ => None,
    }
}

fn seek_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let offset = a[2].as_i64().ok_or_else(|| p.badarg())?;
    let whence = whence(a[1]).ok_or_else(|| p.badarg())?;
    let r = with_file(p, a[0], |open| open.seek(whence, offset))?;
    ok_value(p, r.map(|n| p.heap.unsigned(n)))
}

fn sync_2<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let data_only = a[1].as_small().ok_or_else(|| p.badarg())? != 0;
    let work = move |open: &Open| open.pace.syncing(|| sys::sync(open.fd.as_raw_fd(), data_only));
    Err(elsewhere(p, a[0], work, done_on))
}

fn truncate_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let r = with_fd(p, a[0], sys::truncate_here)?;
    ok_or_error(p, r)
}

fn allocate_3<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let (offset, length) = (size_arg(p, a[1])?, size_arg(p, a[2])?);
    let work = move |open: &Open| sys::allocate(open.fd.as_raw_fd(), offset?, length?);
    Err(elsewhere(p, a[0], work, done_on))
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
    let r = with_file(p, a[0], |open| {
        let (offset, length, advice) = (offset?, length?, advice?);
        if advice == Advice::DontNeed {
            open.view.end();
        }
        sys::advise(open.fd.as_raw_fd(), offset, length, advice);
        Ok(())
    })?;
    ok_or_error(p, r)
}

fn get_handle_1<'h>(p: &'h Proc, a: &[Term<'h>]) -> BifResult<'h> {
    let fd = with_file(p, a[0], |open| open.hand_over_to_kernel().map(|()| open.fd.as_raw_fd()))?;
    Ok(match fd {
        Ok(fd) => p.heap.binary(&fd.to_ne_bytes()),
        Err(e) => posix_error(p, e),
    })
}

#[cfg(test)]
mod tests {
    use super::read::*;
    use super::write::*;
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
        let many = |n| pread_3(&p, &[f, Term::int(3), Term::small(n).unwrap()]).unwrap();
        let b = value(many(1 << 30));
        assert_eq!(b.as_bytes().unwrap(), data);
        assert!(is_error(many(1 << 46), "enomem"));
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
