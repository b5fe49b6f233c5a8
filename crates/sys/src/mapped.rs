//! Reading files through memory: a mapping of a file's pages in the page cache, and copies out of
//! it without a system call.
//!
//! A copy holds what `pread` would have read, or it fails. Two things may be wrong with the pages.
//! A truncated file has fewer, and a disk may fail to deliver one: touching such a page raises
//! `SIGBUS`; the handler maps an empty page there, and the copy fails. And the rest of the page in
//! which a file was cut becomes zeros without notice. But a file system removes the pages behind
//! before it clears that rest, so each copy checks the file's last page at its end: while that page
//! is there, nothing before it was cut.

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::os::fd::RawFd;
use std::ptr;
use std::sync::atomic::{compiler_fence, AtomicUsize, Ordering};
use std::sync::OnceLock;

use libc::{c_int, c_void, siginfo_t};

use crate::file;

/// Most mapped bytes of one file, and of all.
const MAX_BYTES: u64 = 256 << 20;
const MOST_IN_ALL: usize = 1 << 30;
/// Most mappings: the system allows a program some 65,000, and its allocator needs them too.
const MOST_FILES: usize = 1000;

/// File systems, by `f_type` of `statfs(2)`, that keep the order above and have one cache for reads
/// and mappings. Excluded are xfs, which clears the rest of a page before it removes the pages
/// behind; network file systems, where a read may revalidate the cache and a mapping does not; and
/// overlays, whose underlying file system is unknown.
const FILE_SYSTEMS: [u32; 3] = [0xef53, 0x9123_683e, 0x0102_1994]; // ext2 to ext4, btrfs, tmpfs

kvik_state::vm_state! {
    static FILES: AtomicUsize = AtomicUsize::new(0);
    static BYTES: AtomicUsize = AtomicUsize::new(0);
}

/// The system's page size, once there is a mapping.
static PAGE: AtomicUsize = AtomicUsize::new(4096);
/// The previous handler of the signal.
static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

thread_local! {
    /// Address range that this thread copies from right now: first byte, and the one behind the
    /// last.
    static COPIES: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
    /// A page of that range was missing.
    static MISSED: Cell<bool> = const { Cell::new(false) };
}

pub struct Mapped {
    start: *const u8,
    size: usize,
    /// Offset of the last page.
    last: usize,
}

// SAFETY: nobody writes to the memory through this, and the memory stays until it is dropped.
unsafe impl Send for Mapped {}

impl Mapped {
    /// Maps a file of `size` bytes that is open for reading. `None` if it should not or cannot be
    /// mapped.
    pub fn of(fd: RawFd, size: u64) -> Option<Mapped> {
        if size > MAX_BYTES || !suits(fd) || !has_handler() {
            return None;
        }
        let size = size as usize;
        let page = PAGE.load(Ordering::Relaxed);
        let last = size.checked_sub(1)? / page * page;
        // Counted before it exists; if a limit is exceeded, it is not mapped, and its drop undoes
        // the count.
        let first = FILES.fetch_add(1, Ordering::Relaxed) < MOST_FILES;
        let room = BYTES.fetch_add(size, Ordering::Relaxed) + size <= MOST_IN_ALL;
        let mut mapped = Mapped { start: ptr::null(), size, last };
        if first && room {
            mapped.map(fd);
        }
        (!mapped.start.is_null()).then_some(mapped)
    }
    fn map(&mut self, fd: RawFd) {
        // SAFETY: a new mapping that replaces nothing.
        let p = unsafe {
            libc::mmap(ptr::null_mut(), self.size, libc::PROT_READ, libc::MAP_SHARED, fd, 0)
        };
        if p != libc::MAP_FAILED {
            self.start = p.cast();
        }
    }

    /// Readable bytes: all but the last page.
    #[inline]
    pub fn len(&self) -> usize {
        self.last
    }
    pub fn is_empty(&self) -> bool {
        self.last == 0
    }

    /// Fills `room` from `at` on. `Err`: the caller has to ask the system, and this mapping is of
    /// no more use.
    ///
    /// # Panics
    /// If the range exceeds [`Mapped::len`].
    #[inline]
    pub fn read<'a>(
        &self,
        at: usize,
        room: &'a mut [MaybeUninit<u8>],
    ) -> Result<&'a mut [u8], &'a mut [MaybeUninit<u8>]> {
        assert!(room.len() <= self.last && at <= self.last - room.len());
        let start = self.start as usize;
        COPIES.set((start, start + self.size));
        compiler_fence(Ordering::SeqCst);
        // SAFETY: both have so many bytes, by what is checked above, and a mapping overlaps
        // nothing. What other programs write to the file meanwhile is there or not, byte by byte,
        // as with `pread`.
        unsafe {
            copy(self.start.add(at), room.as_mut_ptr().cast(), room.len());
            ptr::read_volatile(self.start.add(self.last));
        }
        compiler_fence(Ordering::SeqCst);
        COPIES.set((0, 0));
        if MISSED.replace(false) {
            return Err(room);
        }
        // SAFETY: all of it was written just now.
        Ok(unsafe { &mut *(room as *mut [MaybeUninit<u8>] as *mut [u8]) })
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        FILES.fetch_sub(1, Ordering::Relaxed);
        BYTES.fetch_sub(self.size, Ordering::Relaxed);
        if !self.start.is_null() {
            // SAFETY: the mapping is ours, and nobody reads from it any more.
            unsafe { libc::munmap(self.start.cast_mut().cast(), self.size) };
        }
    }
}

/// # Safety
/// As of `ptr::copy_nonoverlapping`, but that others may write to `from`.
#[inline]
unsafe fn copy(from: *const u8, to: *mut u8, n: usize) {
    // By the CPU's own copy instruction, as in the kernel: from 2 to 32 KB it takes up to a third
    // less time than `memcpy`, and the compiler sees neither what is read nor that others may write
    // it.
    // SAFETY: by the caller.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::asm!("rep movsb", inout("rcx") n => _, inout("rdi") to => _, inout("rsi") from => _,
            options(nostack, preserves_flags));
    }
    // SAFETY: by the caller.
    #[cfg(not(target_arch = "x86_64"))]
    unsafe {
        ptr::copy_nonoverlapping(from, to, n);
    }
}

/// Whether the file is on one of the file systems.
fn suits(fd: RawFd) -> bool {
    file::system(fd).is_some_and(|system| FILE_SYSTEMS.contains(&system))
}

/// Installs the handler that keeps a missing page from ending the program.
fn has_handler() -> bool {
    static HAS: OnceLock<bool> = OnceLock::new();
    *HAS.get_or_init(|| {
        // SAFETY: the structures are filled before use; the handler does what one may do.
        unsafe {
            match libc::sysconf(libc::_SC_PAGESIZE) {
                n if n > 0 => PAGE.store(n as usize, Ordering::Relaxed),
                _ => return false,
            }
            let mut before: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(libc::SIGBUS, ptr::null(), &mut before) != 0 {
                return false;
            }
            BEFORE.get_or_init(|| before);
            let mut ours: libc::sigaction = std::mem::zeroed();
            let handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) = not_there;
            ours.sa_sigaction = handler as usize;
            ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigemptyset(&mut ours.sa_mask);
            libc::sigaction(libc::SIGBUS, &ours, ptr::null_mut()) == 0
        }
    })
}

/// `SIGBUS`, for a page that this thread copies from or for any other.
extern "C" fn not_there(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel's own structure.
    let at = unsafe { (*info).si_addr() } as usize;
    let (from, to) = COPIES.get();
    if (from..to).contains(&at) && put_empty_page(at) {
        MISSED.set(true);
        return;
    }
    pass_on(signal, info, context);
}

fn put_empty_page(at: usize) -> bool {
    let page = PAGE.load(Ordering::Relaxed);
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
    let at = (at & !(page - 1)) as *mut c_void;
    // SAFETY: it replaces a page of the mapping that this thread reads from, which nobody will read
    // from again; the call is a system call alone, and changes `errno` only where it fails.
    unsafe { libc::mmap(at, page, libc::PROT_READ, flags, -1, 0) != libc::MAP_FAILED }
}

/// Calls the previous handler; without one, the program ends as it would have.
fn pass_on(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let before = BEFORE.get();
    let handler = before.map_or(libc::SIG_DFL, |b| b.sa_sigaction);
    // SAFETY: the handler is what the program had set, of the kind that its flags say. Where there
    // was none the signal comes again when this returns, and ends the program.
    unsafe {
        if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
            let mut default: libc::sigaction = std::mem::zeroed();
            default.sa_sigaction = libc::SIG_DFL;
            libc::sigaction(signal, &default, ptr::null_mut());
        } else if before.is_some_and(|b| b.sa_flags & libc::SA_SIGINFO != 0) {
            let f: extern "C" fn(c_int, *mut siginfo_t, *mut c_void) = std::mem::transmute(handler);
            f(signal, info, context);
        } else {
            let f: extern "C" fn(c_int) = std::mem::transmute(handler);
            f(signal);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{File, OpenOptions};
    use std::io::Write;
    use std::os::fd::AsRawFd;

    /// A file of the given size in memory, removed on drop.
    struct Scratch(std::path::PathBuf);
    impl Scratch {
        fn new(name: &str, size: usize) -> Scratch {
            let path = format!("/dev/shm/kvik-{name}-{}", std::process::id()).into();
            let bytes: Vec<u8> = (0..size).map(|i| (i / 7) as u8).collect();
            File::create(&path).unwrap().write_all(&bytes).unwrap();
            Scratch(path)
        }
        fn mapped(&self) -> Mapped {
            let file = File::open(&self.0).unwrap();
            Mapped::of(file.as_raw_fd(), file.metadata().unwrap().len()).unwrap()
        }
    }
    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }
    fn bytes(m: &Mapped, at: usize, n: usize) -> Option<Vec<u8>> {
        let mut room = vec![MaybeUninit::uninit(); n];
        m.read(at, &mut room).ok().map(|b| b.to_vec())
    }

    #[test]
    fn a_copy_is_what_is_in_the_file() {
        let f = Scratch::new("mapped", 40_000);
        let m = f.mapped();
        assert_eq!(m.len(), 36_864);
        let expected =
            |at: usize, n: usize| (at..at + n).map(|i| (i / 7) as u8).collect::<Vec<_>>();
        assert_eq!(bytes(&m, 0, 36_864).unwrap(), expected(0, 36_864));
        assert_eq!(bytes(&m, 4_090, 20).unwrap(), expected(4_090, 20));
        // What others write is visible at once.
        let mut file = OpenOptions::new().write(true).open(&f.0).unwrap();
        file.write_all(b"new").unwrap();
        assert_eq!(bytes(&m, 0, 3).unwrap(), b"new");
    }

    #[test]
    fn a_file_that_was_cut_is_for_the_system_to_read() {
        // In the middle of a page, at its end, to nothing; and only the last page, which no read
        // returns.
        for (cut, good) in [(10_000, false), (8_192, false), (0, false), (37_000, true)] {
            let f = Scratch::new(&format!("cut-{cut}"), 40_000);
            let m = f.mapped();
            assert!(bytes(&m, 0, 100).is_some());
            OpenOptions::new().write(true).open(&f.0).unwrap().set_len(cut).unwrap();
            assert_eq!(bytes(&m, 9_990, 100).is_some(), good, "{cut}");
        }
    }

    #[test]
    fn no_more_than_may_be() {
        assert!(Mapped::of(-1, 10_000).is_none());
        let f = Scratch::new("much", 10_000);
        let file = File::open(&f.0).unwrap();
        assert!(Mapped::of(file.as_raw_fd(), MAX_BYTES + 1).is_none());
        assert!(Mapped::of(file.as_raw_fd(), 0).is_none());
    }
}
