//! Data that a program carries in its own file: a read-only segment behind all others, which the
//! system maps when it starts the program. So the data are there where the file cannot be opened
//! (no `/proc`, no read permission, removed meanwhile).

use std::ffi::{c_int, c_void, CStr, OsString};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::slice;

use crate::errno::{check, Result};
use crate::fd;

const PAGE_SIZE: usize = 4096;

/// The segments of this program's file that nobody writes to.
pub struct OwnImage {
    /// The one with data.
    pub data: &'static [u8],
    /// Those before it: code and constants, as they are in the file.
    pub program: Vec<&'static [u8]>,
}

/// The data segment of this program's file: the last segment, if it is for reading only and begins
/// with `magic`. `Ok(None)`: there is none, as the linker's last segment can be written to.
/// `Err(FAULT)`: the file was cut, and what is missing has no memory.
pub fn find(magic: &[u8]) -> Result<Option<OwnImage>> {
    let mut segments: Vec<Segment> = Vec::new();
    // SAFETY: the callback gets the vector back as it is given here, and stops after the first
    // object, which is the program.
    unsafe { libc::dl_iterate_phdr(Some(collect), (&raw mut segments).cast()) };
    let Some((last, others)) = segments.split_last() else { return Ok(None) };
    let Some(data) = last.constant() else { return Ok(None) };
    if others.is_empty() || data.len() < magic.len() {
        return Ok(None);
    }
    let (pipe_end, pipe) = fd::pipe()?;
    for byte in [0, data.len() - 1] {
        // The system answers EFAULT where a page has no file behind it; to touch it is a signal.
        fd::write(pipe.as_raw_fd(), &data[byte..=byte])?;
    }
    drop(pipe_end);
    if !data.starts_with(magic) {
        return Ok(None);
    }
    let program = others.iter().filter_map(Segment::constant).collect();
    Ok(Some(OwnImage { data, program }))
}

impl OwnImage {
    /// Unmaps the pages that somebody who read all of it has mapped: they stay in the system's cache
    /// of the file, and those that are used are mapped again.
    pub fn unmap_pages(&self) {
        for bytes in self.program.iter().chain([&self.data]) {
            let pages = bytes.as_ptr_range();
            let start = (pages.start as usize).next_multiple_of(PAGE_SIZE);
            let end = pages.end as usize / PAGE_SIZE * PAGE_SIZE;
            if start < end {
                // SAFETY: whole pages of a private mapping of the program's file to which nobody can
                // write, so that the file has the same bytes for who touches them next. A failure
                // leaves them mapped.
                unsafe { libc::madvise(start as *mut c_void, end - start, libc::MADV_DONTNEED) };
            }
        }
    }
}

/// A loaded segment of the program.
struct Segment {
    flags: u32,
    start: *const u8,
    size: usize,
}
impl Segment {
    /// Its bytes in the file, unless they may be written to.
    fn constant(&self) -> Option<&'static [u8]> {
        // SAFETY: the loader has mapped so many bytes there, for good, and nobody can write to them.
        (self.flags & libc::PF_W == 0)
            .then(|| unsafe { slice::from_raw_parts(self.start, self.size) })
    }
}

/// Notes the loaded segments of the first object, the program itself.
unsafe extern "C" fn collect(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    to: *mut c_void,
) -> c_int {
    // SAFETY: `find` gives its vector; the loader's tables stay while the program runs.
    unsafe {
        let to = &mut *to.cast::<Vec<Segment>>();
        let info = &*info;
        for h in slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum as usize) {
            if h.p_type == libc::PT_LOAD {
                let start = (info.dlpi_addr + h.p_vaddr) as usize as *const u8;
                to.push(Segment { flags: h.p_flags, start, size: h.p_filesz as usize });
            }
        }
    }
    1
}

/// What tells this build of the program from any other: the linker's mark, if it has left one.
pub fn build_id() -> Option<&'static [u8]> {
    let mut notes: Vec<&'static [u8]> = Vec::new();
    // SAFETY: the callback gets the vector back as it is given here, and stops after the first
    // object, which is the program.
    unsafe { libc::dl_iterate_phdr(Some(collect_notes), (&raw mut notes).cast()) };
    notes.into_iter().find_map(find_build_id)
}

/// Notes the segments with notes of the first object, the program itself.
unsafe extern "C" fn collect_notes(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    to: *mut c_void,
) -> c_int {
    // SAFETY: `build_id` gives its vector; the loader's tables, and the segments that they tell of,
    // stay while the program runs, and nobody writes to notes.
    unsafe {
        let to = &mut *to.cast::<Vec<&'static [u8]>>();
        let info = &*info;
        for h in slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum as usize) {
            if h.p_type == libc::PT_NOTE && h.p_flags & libc::PF_W == 0 {
                let start = (info.dlpi_addr + h.p_vaddr) as usize as *const u8;
                to.push(slice::from_raw_parts(start, h.p_memsz as usize));
            }
        }
    }
    1
}

/// The linker's note with the build's number among notes: each has the sizes of its name and its
/// contents, and its type, and both parts are padded to four bytes.
fn find_build_id(mut notes: &[u8]) -> Option<&[u8]> {
    const BUILD_ID: u32 = 3;
    loop {
        let (head, rest) = notes.split_first_chunk::<12>()?;
        let [name, size, kind] = [0, 4, 8]
            .map(|at| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]));
        let (name, rest) = rest.split_at_checked(name.next_multiple_of(4) as usize)?;
        let contents = rest.get(..size as usize)?;
        if kind == BUILD_ID && name == b"GNU\0" {
            return Some(contents);
        }
        notes = rest.get(size.next_multiple_of(4) as usize..)?;
    }
}

/// The name by which the system started this program: the argument of `execve`.
pub fn started_as() -> Option<OsString> {
    // SAFETY: the system's string, which stays, if it gives one.
    unsafe {
        let name = libc::getauxval(libc::AT_EXECFN) as *const libc::c_char;
        (!name.is_null()).then(|| OsString::from_vec(CStr::from_ptr(name).to_bytes().to_vec()))
    }
}

/// A file in memory alone with these bytes, open for reading and with nobody who could change it.
/// `executable`: it may be started as a program (by a descriptor that stays open).
pub fn memory_file(name: &CStr, bytes: &[u8], executable: bool) -> Result<OwnedFd> {
    // SAFETY: the name ends in a zero byte; the descriptor is new, and belongs to nobody else.
    let made = unsafe {
        let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
        // Where files in memory may not be executed unless they are made so; unknown before Linux 6.3.
        let exec = if executable { libc::MFD_EXEC } else { 0 };
        let make = |flags| check(libc::memfd_create(name.as_ptr(), flags));
        OwnedFd::from_raw_fd(make(flags | exec).or_else(|_| make(flags))?)
    };
    let raw = made.as_raw_fd();
    fd::write_all(raw, bytes, Some(0), &mut 0)?;
    let seals = libc::F_SEAL_WRITE | libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
    // SAFETY: no memory is involved.
    unsafe {
        check(libc::fcntl(raw, libc::F_ADD_SEALS, seals))?;
        check(libc::fchmod(raw, if executable { 0o555 } else { 0o444 }))?;
    }
    // What is made so is open for writing, too; where it cannot be opened again the seals refuse that.
    let again = std::fs::File::open(format!("/proc/self/fd/{raw}"));
    Ok(again.map_or(made, OwnedFd::from))
}
