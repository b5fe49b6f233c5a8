//! Large writes to ext4 are made in pieces.
//!
//! What one call writes lies in the page cache in runs of pages as long as the call allows, up to 2 MB
//! (since Linux 6.16). Whoever writes some bytes into such a run later, the kernel looks at a record
//! for each 4 KB of all of it: 512 of them, which takes four times as long as the write. Pieces make
//! shorter runs.

use std::io::IoSlice;
use std::os::fd::AsRawFd;
use std::sync::OnceLock;

use kvik_sys::fd::Pieces;
use kvik_sys::file as sys;

use super::place::Kept;
use super::Open;

/// No run is longer. With half of that small writes take two thirds of the time yet, but large reads a
/// twentieth more.
pub(super) const PIECE: usize = 256 << 10;

/// Is a file written in pieces? Asked when there is a large write.
pub struct InPieces(OnceLock<bool>);

impl InPieces {
    /// Of a file just opened. Not of one without a place, nor where a call stands for more than its
    /// bytes: for one trip to the disk, or, at the end, for what others never see in part.
    pub fn new(place: Kept, sync: bool) -> InPieces {
        let never = sync || place == Kept::Never;
        InPieces(if never { OnceLock::from(false) } else { OnceLock::new() })
    }
}

impl Open {
    /// In which pieces these are to be written, at `offset` or where the file stands.
    pub(super) fn pieces(&self, offset: Option<i64>, s: &[IoSlice<'_>]) -> Pieces {
        if s.iter().map(|s| s.len()).sum::<usize>() <= PIECE || !self.is_in_pieces() {
            return Pieces::WHOLE;
        }
        Pieces { from: self.likely(offset), size: PIECE }
    }
    fn is_in_pieces(&self) -> bool {
        let asked = || sys::system(self.fd.as_raw_fd()) == Some(sys::EXT);
        *self.in_pieces.0.get_or_init(asked)
    }
}
