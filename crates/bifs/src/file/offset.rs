//! The file offset. For a regular file it is tracked in the handle, and reads pass it to the
//! kernel: the kernel's own offset costs a system call for each `position`, and a lock for each
//! read in a program with threads. The kernel's offset is updated before an operation that uses
//! it. A file that was empty when it was opened is checked again after some writes
//! ([`OffsetMode`]).

use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering};

use kvik_env::file::{self as sys, Whence};
use kvik_env::Result;

use super::Open;

/// In place of an offset: the kernel has it.
const ELSEWHERE: i64 = -1;
/// `position` succeeds up to this offset on any file system, so no system call has to check it.
const ALWAYS_VALID_OFFSET: i64 = i32::MAX as i64;

/// Writes to a file that was empty before its size is checked again.
const WRITES_BEFORE_RECHECK: u32 = 32;

/// Whether the offset is tracked in the handle. Not for files without a size, such as those in
/// `/proc`, whose offsets have a meaning of their own; not in append mode; and not after the
/// descriptor was handed out.
#[derive(Copy, Clone, Default, PartialEq, Eq)]
pub enum OffsetMode {
    #[default]
    Never,
    Always,
    /// After `WRITES_BEFORE_RECHECK` writes, if the file has bytes then.
    Later,
}

pub struct FileOffset {
    /// Whether the offset may be tracked here.
    kept: AtomicBool,
    /// Writes left until the size is checked again; 0: it is not.
    early: AtomicU32,
    at: AtomicI64,
    /// While the kernel has the offset: an estimate of it from the reads and writes made here.
    likely: AtomicI64,
}

impl FileOffset {
    /// For a file just opened.
    pub fn new(kept: OffsetMode) -> FileOffset {
        let always = kept == OffsetMode::Always;
        FileOffset {
            kept: AtomicBool::new(always),
            early: AtomicU32::new(if kept == OffsetMode::Later {
                WRITES_BEFORE_RECHECK
            } else {
                0
            }),
            at: AtomicI64::new(if always { 0 } else { ELSEWHERE }),
            likely: AtomicI64::new(0),
        }
    }
}

impl Open {
    /// The offset, if it is tracked here.
    #[inline]
    pub(super) fn here(&self) -> Option<i64> {
        let at = self.place.at.load(Ordering::Relaxed);
        (at != ELSEWHERE).then_some(at)
    }
    /// Advances the offset by `n` bytes from `from`, or the estimate if the kernel has the offset.
    #[inline]
    pub(super) fn moved(&self, from: Option<i64>, n: usize) {
        let (place, from) = match from {
            Some(at) => (&self.place.at, at),
            None => (&self.place.likely, self.place.likely.load(Ordering::Relaxed)),
        };
        place.store(from.saturating_add(n as i64), Ordering::Relaxed);
    }
    /// The likely start of a call at `offset`, or at the current offset.
    #[inline]
    pub(super) fn likely(&self, offset: Option<i64>) -> usize {
        let at = offset.or_else(|| self.here());
        at.unwrap_or_else(|| self.place.likely.load(Ordering::Relaxed)) as usize
    }
    /// Hands the offset to the kernel, if it is tracked here.
    #[inline]
    pub(super) fn sync_to_kernel(&self) -> Result<()> {
        self.here().map_or(Ok(()), |at| self.tell(at))
    }
    fn tell(&self, at: i64) -> Result<()> {
        self.place.at.store(ELSEWHERE, Ordering::Relaxed);
        self.place.likely.store(at, Ordering::Relaxed);
        sys::seek(self.fd.as_raw_fd(), Whence::Start, at).map(drop)
    }
    /// Stops tracking the offset for good: others know the descriptor.
    pub(super) fn hand_over_to_kernel(&self) -> Result<()> {
        self.place.kept.store(false, Ordering::Relaxed);
        self.place.early.store(0, Ordering::Relaxed);
        self.sync_to_kernel()
    }
    /// Counts a write at the kernel's offset, and begins to track the offset if it is time to.
    #[inline]
    pub(super) fn wrote_there(&self) {
        let left = self.place.early.load(Ordering::Relaxed);
        if left > 0 {
            self.place.early.store(left - 1, Ordering::Relaxed);
            if left == 1 {
                self.track();
            }
        }
    }
    #[cold]
    fn track(&self) {
        let fd = self.fd.as_raw_fd();
        if sys::fstat(fd).is_ok_and(|i| i.size > 0) {
            if let Ok(at) = sys::seek(fd, Whence::Current, 0) {
                self.place.kept.store(true, Ordering::Relaxed);
                self.place.at.store(at as i64, Ordering::Relaxed);
            }
        }
    }
    /// Sets the offset.
    pub(super) fn seek(&self, whence: Whence, offset: i64) -> Result<u64> {
        let to = match whence {
            Whence::Start => Some(offset),
            Whence::Current => self.here().and_then(|at| at.checked_add(offset)),
            Whence::End => None,
        };
        match to {
            Some(to)
                if self.place.kept.load(Ordering::Relaxed)
                    && (0..=ALWAYS_VALID_OFFSET).contains(&to) =>
            {
                self.place.at.store(to, Ordering::Relaxed);
                Ok(to as u64)
            }
            _ => {
                self.sync_to_kernel()?;
                let to = sys::seek(self.fd.as_raw_fd(), whence, offset)?;
                self.place.likely.store(to as i64, Ordering::Relaxed);
                Ok(to)
            }
        }
    }
}
