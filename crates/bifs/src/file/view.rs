//! Small reads of a file in memory without a system call: the file's pages are mapped
//! (`kvik_env::mapped`) once somebody has read from it for a while, and copied from.
//!
//! Of files that are open for reading alone, on a disk of this machine, and as far as they went when
//! they were mapped; all else is read as before. A page that is not in memory has the scheduler wait
//! for it, as `pread` would, but the kernel reads less ahead for a mapping: so where the first look at
//! a piece of the file took long, the next reads are made by calls.

use std::mem::MaybeUninit;
use std::ops::RangeInclusive;
use std::os::fd::RawFd;
use std::sync::{Mutex, PoisonError};

use kvik_env::clock::monotonic_nanos;
use kvik_env::file as sys;
use kvik_env::mapped::Mapped;

/// Reads before a file is mapped, which costs as much as some of them.
const FEW: u32 = 32;
/// A file of so many bytes and fewer is not.
const SHORT: u64 = 256 << 10;
/// A page that is touched for the first time costs something too: larger reads take no less time so.
const LARGEST: usize = 32 << 10;
/// Pages that the kernel finds together when one of them is touched: 16 of 4 KB.
const PIECE: usize = 64 << 10;
/// A first look at a piece that took so many nanoseconds has waited for the disk, and so many reads are
/// made without looking then.
const LONG: i64 = 100_000;
const REST: u32 = 1024;

pub struct View(Mutex<State>);

enum State {
    /// Not yet, for so many reads.
    Waits(u32),
    Is(Seen),
    /// Not of this file, or no more.
    Not,
}

struct Seen {
    mapped: Mapped,
    /// A bit for each piece: it has been looked at.
    pieces: Box<[u64]>,
    /// Reads that are to be made by calls.
    rest: u32,
}

impl View {
    /// Of a file just opened. `may`: it is open for reading alone, and an ordinary one.
    pub fn new(may: bool) -> View {
        View(Mutex::new(if may { State::Waits(FEW) } else { State::Not }))
    }
    /// Lets go of the file's pages: what is mapped stays in memory.
    pub fn end(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = State::Not;
    }

    /// Fills `room` from `at` on, or gives it back: the system is to be asked.
    #[inline]
    pub fn read<'a>(
        &self,
        fd: RawFd,
        room: &'a mut [MaybeUninit<u8>],
        at: i64,
    ) -> Result<&'a mut [u8], &'a mut [MaybeUninit<u8>]> {
        if room.len() > LARGEST {
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
    /// One read more that was no look.
    fn wait(&mut self, fd: RawFd) {
        match self {
            State::Waits(0) => {
                let size = sys::fstat(fd).map_or(0, |i| i.size);
                let mapped = if size > SHORT { Mapped::of(fd, size) } else { None };
                *self = mapped.map_or(State::Not, |mapped| State::Is(Seen::new(mapped)));
            }
            State::Waits(n) => *n -= 1,
            State::Is(_) | State::Not => {}
        }
    }
}

impl Seen {
    fn new(mapped: Mapped) -> Seen {
        let pieces = vec![0; mapped.len().div_ceil(PIECE).div_ceil(64)].into();
        Seen { mapped, pieces, rest: 0 }
    }
    /// Is all of that to be read here?
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
        let pieces = at / PIECE..=(at + room.len() - 1) / PIECE;
        if pieces.clone().all(|p| self.knows(p)) {
            return self.mapped.read(at, room);
        }
        self.look(at, room, pieces)
    }
    #[inline]
    fn knows(&self, piece: usize) -> bool {
        self.pieces[piece / 64] & 1 << (piece % 64) != 0
    }
    /// The first read of pieces.
    #[cold]
    fn look<'a>(
        &mut self,
        at: usize,
        room: &'a mut [MaybeUninit<u8>],
        pieces: RangeInclusive<usize>,
    ) -> Result<&'a mut [u8], &'a mut [MaybeUninit<u8>]> {
        let begin = monotonic_nanos();
        let r = self.mapped.read(at, room);
        if monotonic_nanos() - begin > LONG {
            self.rest = REST;
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
        let reads = |view: &View, at: i64, n: usize| {
            let mut room = vec![MaybeUninit::uninit(); n];
            view.read(file.as_raw_fd(), &mut room, at).is_ok_and(|b| *b == vec![7; n])
        };
        let view = View::new(true);
        assert!((0..=FEW).all(|_| !reads(&view, 0, 10)));
        assert!(reads(&view, 0, 10) && reads(&view, 65_000, 10_000) && reads(&view, 0, LARGEST));
        // Too large, in or behind the last page, before the first byte, nothing at all.
        assert!(!reads(&view, 0, LARGEST + 1) && !reads(&view, 390_000, 9_000));
        assert!(!reads(&view, 400_000, 1) && !reads(&view, i64::MAX, 1) && !reads(&view, -1, 1));
        assert!(!reads(&view, 0, 0));
        let State::Is(seen) = &mut *view.0.lock().unwrap() else { panic!() };
        assert!(seen.knows(0) && seen.knows(1) && !seen.knows(2));
        seen.rest = 2;
        let rests = |seen: &mut Seen| !seen.covers(0, 1);
        assert!(rests(seen) && rests(seen) && !rests(seen));
        // Cut, it is for the system to read.
        let cut = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        cut.set_len(100_000).unwrap();
        let mut room = [MaybeUninit::uninit(); 10];
        assert!(seen.read(0, &mut room).is_err());
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn never_looks_where_it_may_not() {
        let path = format!("/dev/shm/kvik-no-view-{}", std::process::id());
        let reads = |view: &View, size: usize| {
            std::fs::write(&path, vec![7; size]).unwrap();
            let file = std::fs::File::open(&path).unwrap();
            let mut room = [MaybeUninit::uninit(); 10];
            (0..2 * FEW).filter(|_| view.read(file.as_raw_fd(), &mut room, 0).is_ok()).count()
        };
        assert_eq!(reads(&View::new(false), 400_000), 0);
        assert_eq!(reads(&View::new(true), SHORT as usize), 0);
        let view = View::new(true);
        assert!(reads(&view, 400_000) > 0);
        view.end();
        assert_eq!(reads(&view, 400_000), 0);
        std::fs::remove_file(&path).unwrap();
    }
}
