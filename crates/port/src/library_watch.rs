//! A descriptor that a library waits for (`enif_select`, `driver_select`), in its poll set.

use std::os::fd::{AsRawFd, OwnedFd, RawFd};

use kvik_env::poll::Interest;
use kvik_env::{fd, Errno, Result};

use crate::poll::{self, Source};

/// Where a descriptor's poll set has it already, as the socket of another driver, a duplicate of it goes
/// there as well.
#[derive(Default)]
pub struct LibraryWatch {
    is_there: bool,
    duplicate: Option<OwnedFd>,
}

impl LibraryWatch {
    /// Waits for these events from now on; `None`: for none. Returns true for a descriptor that is always
    /// ready (an ordinary file), which is not waited for.
    pub fn set(&mut self, fd: RawFd, wanted: Option<Interest>) -> Result<bool> {
        // Always in the set with that number: sets are taken modulo their count.
        let (home, at) = (fd as usize, self.duplicate.as_ref().map_or(fd, OwnedFd::as_raw_fd));
        match (self.is_there, wanted) {
            (false, None) => Ok(false),
            (true, Some(i)) => {
                poll::modify(home, at, Source::Library, fd as u32, i).map(|()| false)
            }
            (true, None) => {
                poll::remove(home, at);
                *self = LibraryWatch::default();
                Ok(false)
            }
            (false, Some(i)) => {
                let add = |at| poll::add(home, at, Source::Library, fd as u32, i);
                let mut added = add(fd);
                if matches!(added, Err(Errno::EXIST)) {
                    let other = self.duplicate.insert(fd::duplicate(fd)?);
                    added = add(other.as_raw_fd());
                }
                self.is_there = matches!(added, Ok(false));
                added
            }
        }
    }
}
