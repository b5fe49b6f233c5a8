//! Where a file stands. Of an ordinary file that is kept here, and the system is asked for bytes at
//! that place: to have it keep the place costs a call for each `position`, and with each read a lock
//! where a program has threads. It is told when something goes by what it knows. A file that was empty
//! when it was opened is asked again when it was written to for a while (see [`Kept`]).

use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering};

use kvik_env::file::{self as sys, Whence};
use kvik_env::Result;

use super::Open;

/// Instead of a place: the system has it.
const ELSEWHERE: i64 = -1;
/// A file of any kind may be put as far as this.
const SURE: i64 = i32::MAX as i64;

/// Writes of a file that was empty before it is asked whether it has bytes now.
const EARLY: u32 = 32;

/// Whether the place is kept here. Not of what has no size, as the files in `/proc`, which have places
/// of their own kind; nor where each write goes to the end; nor when somebody was given the descriptor.
#[derive(Copy, Clone, Default, PartialEq, Eq)]
pub enum Kept {
    #[default]
    Never,
    Always,
    /// When it was written to for a while, and has bytes then.
    Later,
}

pub struct Place {
    /// It may be kept here.
    kept: AtomicBool,
    /// So many writes more until it is asked whether it may; 0: it is not asked.
    early: AtomicU32,
    at: AtomicI64,
    /// Where it stands by what was read and written here, where the system has the place: only to be
    /// guessed by.
    likely: AtomicI64,
}

impl Place {
    /// Of a file just opened.
    pub fn new(kept: Kept) -> Place {
        let always = kept == Kept::Always;
        Place {
            kept: AtomicBool::new(always),
            early: AtomicU32::new(if kept == Kept::Later { EARLY } else { 0 }),
            at: AtomicI64::new(if always { 0 } else { ELSEWHERE }),
            likely: AtomicI64::new(0),
        }
    }
}

impl Open {
    /// Where it stands, if that is kept here.
    #[inline]
    pub(super) fn here(&self) -> Option<i64> {
        let at = self.place.at.load(Ordering::Relaxed);
        (at != ELSEWHERE).then_some(at)
    }
    /// So many bytes were read or written there, or where the system has it stand.
    #[inline]
    pub(super) fn moved(&self, from: Option<i64>, n: usize) {
        let (place, from) = match from {
            Some(at) => (&self.place.at, at),
            None => (&self.place.likely, self.place.likely.load(Ordering::Relaxed)),
        };
        place.store(from.saturating_add(n as i64), Ordering::Relaxed);
    }
    /// Where a call at `offset`, or where the file stands, most likely begins.
    #[inline]
    pub(super) fn likely(&self, offset: Option<i64>) -> usize {
        let at = offset.or_else(|| self.here());
        at.unwrap_or_else(|| self.place.likely.load(Ordering::Relaxed)) as usize
    }
    /// The system is to know it.
    #[inline]
    pub(super) fn tell_place(&self) -> Result<()> {
        self.here().map_or(Ok(()), |at| self.tell(at))
    }
    fn tell(&self, at: i64) -> Result<()> {
        self.place.at.store(ELSEWHERE, Ordering::Relaxed);
        self.place.likely.store(at, Ordering::Relaxed);
        sys::seek(self.fd.as_raw_fd(), Whence::Start, at).map(drop)
    }
    /// The system has it from now on: others know the descriptor.
    pub(super) fn give_up_place(&self) -> Result<()> {
        self.place.kept.store(false, Ordering::Relaxed);
        self.place.early.store(0, Ordering::Relaxed);
        self.tell_place()
    }
    /// It was written where the system has it stand.
    #[inline]
    pub(super) fn wrote_there(&self) {
        let left = self.place.early.load(Ordering::Relaxed);
        if left > 0 {
            self.place.early.store(left - 1, Ordering::Relaxed);
            if left == 1 {
                self.keep_place();
            }
        }
    }
    #[cold]
    fn keep_place(&self) {
        let fd = self.fd.as_raw_fd();
        if sys::fstat(fd).is_ok_and(|i| i.size > 0) {
            if let Ok(at) = sys::seek(fd, Whence::Current, 0) {
                self.place.kept.store(true, Ordering::Relaxed);
                self.place.at.store(at as i64, Ordering::Relaxed);
            }
        }
    }
    /// Puts it somewhere else.
    pub(super) fn seek(&self, whence: Whence, offset: i64) -> Result<u64> {
        let to = match whence {
            Whence::Start => Some(offset),
            Whence::Current => self.here().and_then(|at| at.checked_add(offset)),
            Whence::End => None,
        };
        match to {
            Some(to) if self.place.kept.load(Ordering::Relaxed) && (0..=SURE).contains(&to) => {
                self.place.at.store(to, Ordering::Relaxed);
                Ok(to as u64)
            }
            _ => {
                self.tell_place()?;
                let to = sys::seek(self.fd.as_raw_fd(), whence, offset)?;
                self.place.likely.store(to as i64, Ordering::Relaxed);
                Ok(to)
            }
        }
    }
}
