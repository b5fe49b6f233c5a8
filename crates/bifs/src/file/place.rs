//! Where a file stands. Of an ordinary file that is kept here, and the system is asked for bytes at
//! that place: to have it keep the place costs a call for each `position`, and with each read a lock
//! where a program has threads. It is told when something goes by what it knows.

use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicI64, Ordering};

use kvik_sys::file::{self as sys, Whence};
use kvik_sys::Result;

use super::Open;

/// Instead of a place: the system has it.
const ELSEWHERE: i64 = -1;
/// A file of any kind may be put as far as this.
const SURE: i64 = i32::MAX as i64;

pub struct Place {
    at: AtomicI64,
    /// Where it stands by what was read and written here, where the system has the place: only to be
    /// guessed by.
    likely: AtomicI64,
}

impl Place {
    /// Of a file just opened.
    pub fn new(kept: bool) -> Place {
        let at = AtomicI64::new(if kept { 0 } else { ELSEWHERE });
        Place { at, likely: AtomicI64::new(0) }
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
    /// Puts it somewhere else.
    pub(super) fn seek(&self, whence: Whence, offset: i64) -> Result<u64> {
        let to = match whence {
            Whence::Start => Some(offset),
            Whence::Current => self.here().and_then(|at| at.checked_add(offset)),
            Whence::End => None,
        };
        match to {
            Some(to) if self.keeps_place && (0..=SURE).contains(&to) => {
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
