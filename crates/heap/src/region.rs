//! Classifies addresses, for builds that check what native code does.

use crate::frag::Frag;
use crate::Heap;

/// Part of a process's memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemoryRegion {
    /// In the block, where objects have been allocated.
    UsedBlock,
    /// In the block, above its top: free words, or the stack.
    FreeBlock,
    /// In the message that is borrowed and not taken.
    BorrowedMessage,
    /// In an older generation, a fragment, a literal, or nowhere.
    Elsewhere,
}

impl Heap {
    /// The region of an address.
    pub fn region_of(&self, address: usize) -> MemoryRegion {
        let [start, top, end] = [&self.start, &self.htop, &self.end].map(|p| p.get() as usize);
        if (start..top).contains(&address) {
            return MemoryRegion::UsedBlock;
        }
        if (top..end).contains(&address) {
            return MemoryRegion::FreeBlock;
        }
        let borrowed = self.lent.get();
        if borrowed.is_null() {
            return MemoryRegion::Elsewhere;
        }
        // SAFETY: a borrowed fragment is live until it is given back.
        let (words, used) = unsafe { (Frag::words(borrowed) as usize, (*borrowed).used) };
        match (words..words + 8 * used).contains(&address) {
            true => MemoryRegion::BorrowedMessage,
            false => MemoryRegion::Elsewhere,
        }
    }
}
