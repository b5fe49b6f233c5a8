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

pub struct Place(AtomicI64);

impl Place {
    /// Of a file just opened.
    pub fn new(kept: bool) -> Place {
        Place(AtomicI64::new(if kept { 0 } else { ELSEWHERE }))
    }
}

impl Open {
    /// Where it stands, if that is kept here.
    #[inline]
    pub(super) fn here(&self) -> Option<i64> {
        let at = self.place.0.load(Ordering::Relaxed);
        (at != ELSEWHERE).then_some(at)
    }
    /// So many bytes were read or written there.
    #[inline]
    pub(super) fn moved(&self, from: i64, n: usize) {
        self.place.0.store(from.saturating_add(n as i64), Ordering::Relaxed);
    }
    /// The system is to know it.
    #[inline]
    pub(super) fn tell_place(&self) -> Result<()> {
        self.here().map_or(Ok(()), |at| self.tell(at))
    }
    fn tell(&self, at: i64) -> Result<()> {
        self.place.0.store(ELSEWHERE, Ordering::Relaxed);
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
                self.place.0.store(to, Ordering::Relaxed);
                Ok(to as u64)
            }
            _ => {
                self.tell_place()?;
                sys::seek(self.fd.as_raw_fd(), whence, offset)
            }
        }
    }
}
