//! How pids are shown, and references written, release by release.

use crate::Release;

/// How the number of a process is shown, as `<0.NUMBER.SERIAL>`.
#[derive(Debug, PartialEq, Eq)]
pub struct PidBits {
    pub number: u32,
    pub serial: u32,
}
/// Since OTP 26. There a serial has 32 bits; here a pid has 32 in all.
pub(crate) const SINCE_26: PidBits = PidBits { number: 28, serial: 4 };

impl Release {
    /// Whether an alias that is written out, as bytes or text, has its process's number as further
    /// numbers. Before, it is looked up in a table when the alias is read again.
    pub fn writes_alias_pids(&self) -> bool {
        self.number >= 26
    }
}
