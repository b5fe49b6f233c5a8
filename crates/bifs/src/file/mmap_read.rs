//! Small reads of a cached file without a system call: after a number of reads the file is mapped
//! (`kvik_env::mapped`), and later reads copy from the mapping.
//!
//! Only files on a local disk that are open read-only are mapped, up to the size they had when
//! they were mapped; all other reads are system calls. A page that is not in memory blocks the
//! scheduler, as `pread` would, but the kernel reads less ahead for a mapping. So if the first
//! access to a piece of the file was slow, the next reads are system calls.

use std::mem::MaybeUninit;
use std::ops::RangeInclusive;
use std::os::fd::RawFd;
use std::sync::{Mutex, PoisonError};

use kvik_env::clock::monotonic_nanos;
use kvik_env::file as sys;
use kvik_env::mapped::Mapped;

/// Reads before a file is mapped: mapping costs as much as several reads.
const READS_BEFORE_MAPPING: u32 = 32;
/// Files up to this size are not mapped.
const UNMAPPED_FILE_BYTES: u64 = 256 << 10;
/// Larger reads are system calls: the page faults of a first access cost as much as the call.
const MAX_READ_BYTES: usize = 32 << 10;
/// The kernel's fault-around: the pages it maps together on a page fault, 16 of 4 KB.
const FAULT_AROUND_BYTES: usize = 64 << 10;
/// If the first access to a piece took longer than this, it waited for the disk, and the next
/// [`READS_AFTER_SLOW_FAULT`] reads are system calls.
const SLOW_FAULT_NS: i64 = 100_000;
const READS_AFTER_SLOW_FAULT: u32 = 1024;

pub struct MappedReader(Mutex<State>);

enum State {
    /// Not mapped yet; reads left until it is.
    Waits(u32),
    Is(MappedPages),
    /// This file is not to be mapped, or no longer.
    Not,
}

struct MappedPages {
    mapped: Mapped,
    /// One bit for each piece: whether it has been accessed.
    pieces: Box<[u64]>,
    /// Reads still to be made by system calls, after a slow access.
    rest: u32,
}

impl MappedReader {
    /// For a file just opened. `may`: it is a regular file, open read-only.
    pub fn new(may: bool) -> MappedReader {
        MappedReader(Mutex::new(if may { State::Waits(READS_BEFORE_MAPPING) } else { State::Not }))
    }
    /// Unmaps the file: mapped pages cannot leave memory.
    pub fn end(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = State::Not;
    }

    /// Fills `room` from offset `at`, or gives it back if the read has to be a system call.
    #[inline]
    pub fn read<'a>(
        &self,
        fd: RawFd,
        room: &'a mut [MaybeUninit<u8>],
        at: i64,
    ) -> Result<&'a mut [u8], &'a mut [MaybeUninit<u8>]> {
        if room.len() > MAX_READ_BYTES {
            return Err(room);
        }
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let State::Is(seen) = &mut *state else {
            state.wait(fd);
            return Err(room);
        };
        if !seen.covers(at, room.len()) {
            return Err(room);
        }
        let r = seen.read(at as usize, room);
        if r.is_err() {
            *state = State::Not;
        }
        r
    }
}

impl State {
    /// Counts a read by a system call, and maps the file when there were enough.
    fn wait(&mut self, fd: RawFd) {
        match self {
            State::Waits(0) => {
                let size = sys::fstat(fd).map_or(0, |i| i.size);
                let mapped = if size > UNMAPPED_FILE_BYTES { Mapped::of(fd, size) } else { None };
                *self = mapped.map_or(State::Not, |mapped| State::Is(MappedPages::new(mapped)));
            }
            State::Waits(n) => *n -= 1,
            State::Is(_) | State::Not => {}
        }
    }
}

impl MappedPages {
    fn new(mapped: Mapped) -> MappedPages {
        let pieces = vec![0; mapped.len().div_ceil(FAULT_AROUND_BYTES).div_ceil(64)].into();
        MappedPages { mapped, pieces, rest: 0 }
    }
    /// Whether the mapping serves a read of `n` bytes at `at`.
    #[inline]
    fn covers(&mut self, at: i64, n: usize) -> bool {
        if self.rest > 0 {
            self.rest -= 1;
            return false;
        }
        n > 0 && n <= self.mapped.len() && (0..=(self.mapped.len() - n) as i64).contains(&at)
    }
    #[inline]
    fn read<'a>(
        &mut self,
        at: usize,
        room: &'a mut [MaybeUninit<u8>],
    ) -> Result<&'a mut [u8], &'a mut [MaybeUninit<u8>]> {
        let pieces = at / FAULT_AROUND_BYTES..=(at + room.len() - 1) / FAULT_AROUND_BYTES;
        if pieces.clone().all(|p| self.knows(p)) {
            return self.mapped.read(at, room);
        }
        self.look(at, room, pieces)
    }
    #[inline]
    fn knows(&self, piece: usize) -> bool {
        self.pieces[piece / 64] & 1 << (piece % 64) != 0
    }
    /// The first access to one or more pieces, which is timed.
    #[cold]
    fn look<'a>(
        &mut self,
        at: usize,
        room: &'a mut [MaybeUninit<u8>],
        pieces: RangeInclusive<usize>,
    ) -> Result<&'a mut [u8], &'a mut [MaybeUninit<u8>]> {
        let begin = monotonic_nanos();
        let r = self.mapped.read(at, room);
        if monotonic_nanos() - begin > SLOW_FAULT_NS {
            self.rest = READS_AFTER_SLOW_FAULT;
        }
        for piece in pieces {
            self.pieces[piece / 64] |= 1 << (piece % 64);
        }
        r
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;

    #[test]
    fn looks_once_it_was_read_from_for_a_while() {
        let path = format!("/dev/shm/kvik-view-{}", std::process::id());
        std::fs::write(&path, vec![7; 400_000]).unwrap();
        let file = std::fs::File::open(&path).unwrap();
        let reads = |view: &MappedReader, at: i64, n: usize| {
            let mut room = vec![MaybeUninit::uninit(); n];
            view.read(file.as_raw_fd(), &mut room, at).is_ok_and(|b| *b == vec![7; n])
        };
        let view = MappedReader::new(true);
        assert!((0..=READS_BEFORE_MAPPING).all(|_| !reads(&view, 0, 10)));
        assert!(
            reads(&view, 0, 10) && reads(&view, 65_000, 10_000) && reads(&view, 0, MAX_READ_BYTES)
        );
        // Too large, beyond the end, before the first byte, empty.
        assert!(!reads(&view, 0, MAX_READ_BYTES + 1) && !reads(&view, 390_000, 9_000));
        assert!(!reads(&view, 400_000, 1) && !reads(&view, i64::MAX, 1) && !reads(&view, -1, 1));
        assert!(!reads(&view, 0, 0));
        let State::Is(seen) = &mut *view.0.lock().unwrap() else { panic!() };
        assert!(seen.knows(0) && seen.knows(1) && !seen.knows(2));
        seen.rest = 2;
        let rests = |seen: &mut MappedPages| !seen.covers(0, 1);
        assert!(rests(seen) && rests(seen) && !rests(seen));
        // After the file is truncated, reads have to be system calls.
        let cut = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        cut.set_len(100_000).unwrap();
        let mut room = [MaybeUninit::uninit(); 10];
        assert!(seen.read(0, &mut room).is_err());
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn never_looks_where_it_may_not() {
        let path = format!("/dev/shm/kvik-no-view-{}", std::process::id());
        let reads = |view: &MappedReader, size: usize| {
            std::fs::write(&path, vec![7; size]).unwrap();
            let file = std::fs::File::open(&path).unwrap();
            let mut room = [MaybeUninit::uninit(); 10];
            (0..2 * READS_BEFORE_MAPPING)
                .filter(|_| view.read(file.as_raw_fd(), &mut room, 0).is_ok())
                .count()
        };
        assert_eq!(reads(&MappedReader::new(false), 400_000), 0);
        assert_eq!(reads(&MappedReader::new(true), UNMAPPED_FILE_BYTES as usize), 0);
        let view = MappedReader::new(true);
        assert!(reads(&view, 400_000) > 0);
        view.end();
        assert_eq!(reads(&view, 400_000), 0);
        std::fs::remove_file(&path).unwrap();
    }
}
