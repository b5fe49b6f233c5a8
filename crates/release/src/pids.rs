//! How pids are shown, release by release.

/// How the number of a process is shown, as `<0.NUMBER.SERIAL>`.
#[derive(Debug, PartialEq, Eq)]
pub struct PidBits {
    pub number: u32,
    pub serial: u32,
}
/// Since OTP 26. There a serial has 32 bits; here a pid has 32 in all.
pub(crate) const SINCE_26: PidBits = PidBits { number: 28, serial: 4 };
