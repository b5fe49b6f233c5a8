//! What sets the releases apart in what they say of `.beam` files.

use crate::Release;

impl Release {
    /// The release that a refused file's author is told to compile with, where files of compilers
    /// that did not know `swap` (OTP 22 and earlier) are refused.
    pub fn earliest_compiler(&self) -> Option<&'static str> {
        match self.number {
            ..27 => None,
            27 | 28 => Some("24"),
            _ => Some("25"),
        }
    }

    /// What else helps against a file that must be compiled again, as the log says it.
    pub fn besides_recompiling(&self) -> &'static str {
        if self.number >= 27 {
            " or update your Erlang/OTP version"
        } else {
            ""
        }
    }
}
