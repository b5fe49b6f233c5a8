//! What sets the releases apart in what they say of `.beam` files, and which functions they know of.

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

    /// Whether the call of a function by its name makes it known to `binary_to_term/2` with `safe`, from
    /// the next change of code on, though it is missing.
    pub fn stages_applied(&self) -> bool {
        self.number >= 27
    }
}
