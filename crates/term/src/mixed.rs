//! The hash of tables whose keys are a few numbers. Attackers cannot choose those, or gain nothing by
//! it, so a simple hash suffices.

use std::hash::Hasher;

#[derive(Default)]
pub struct Mixed(u64);

pub const MIX: u64 = 0x9E37_79B9_7F4A_7C15;

impl Hasher for Mixed {
    #[inline]
    fn write_u32(&mut self, n: u32) {
        self.0 = (self.0.rotate_left(20) ^ n as u64).wrapping_mul(MIX);
    }
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|b| self.write_u32(*b as u32));
    }
    #[inline]
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}
