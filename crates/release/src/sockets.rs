//! What sockets of the inet driver do otherwise from release to release.

use crate::Release;

impl Release {
    /// Bytes that the inet driver receives at once, until it is told otherwise (`buffer`).
    pub fn inet_buffer(&self) -> usize {
        match self.number {
            ..28 => 1460,
            _ => 9216,
        }
    }

    /// Whether the first send after a file that could not be sent says `closed`, not `enotconn`.
    pub fn tells_sender_of_lost_file(&self) -> bool {
        self.number >= 27
    }

    /// Whether the owner of an active socket is told that a send was too late and has closed it.
    pub fn tells_owner_of_late_send(&self) -> bool {
        self.number >= 29
    }
}
