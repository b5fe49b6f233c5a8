//! Code coverage.

use crate::compiler::Compiler;
use crate::x86_64::asm::*;

impl Compiler<'_> {
    /// Adds one to the counter at an address, or sets it. Several schedulers may do so at once.
    pub fn count_at(&mut self, address: usize, counts: bool) {
        self.a.mov_word(RAX, CodeWord::private(address as u64));
        match counts {
            true => {
                self.a.lock();
                self.a.alu_mi(Alu::Add, RAX, 0, 1)
            }
            false => self.a.mov_mi(RAX, 0, 1),
        }
    }
}
