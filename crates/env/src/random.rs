//! Unpredictable numbers.

use std::hash::{BuildHasher, RandomState};

/// A number that differs from run to run.
pub fn number() -> u64 {
    #[cfg(feature = "simulation")]
    if let Some(n) = crate::Fault::Random.value() {
        return n;
    }
    RandomState::new().hash_one(std::process::id())
}

/// 128 bits from the system.
pub fn secret() -> std::io::Result<[u8; 16]> {
    #[cfg(feature = "simulation")]
    if let Some(n) = crate::Fault::Random.value() {
        return Ok(u128::from(n).to_ne_bytes());
    }
    let mut bytes = [0; 16];
    std::io::Read::read_exact(&mut crate::fs::File::open("/dev/urandom")?, &mut bytes)?;
    Ok(bytes)
}
