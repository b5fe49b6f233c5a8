//! Where this thread's last step from one key to the next has led, as a guess at where the next step
//! begins. Whoever uses it looks whether the key is there: it may be of another table, or of this one as
//! it was.

use std::cell::Cell;

/// Bits for an index in a node.
const BITS: u32 = 6;
/// The last step, or a look-up after it, has used it.
const FRESH: u64 = 1 << 63;

thread_local! {
    static KEPT: Cell<u64> = const { Cell::new(0) };
}

/// The index of a child in the root, and in each inner node below it, and of an object in the leaf. The
/// first one has the lowest bits. In a tree that is deeper than there is room for it is wrong.
#[derive(Copy, Clone)]
pub(super) struct Guess {
    indices: u64,
    used: u32,
}

impl Guess {
    /// Before any index is pushed, that of the first object in any tree.
    pub fn new() -> Guess {
        Guess { indices: 0, used: 0 }
    }
    pub fn kept() -> Guess {
        Guess { indices: KEPT.get(), used: 0 }
    }
    /// The kept one, as long as each look-up finds its key there.
    #[inline]
    pub fn fresh() -> Option<Guess> {
        Some(Guess::kept()).filter(|g| g.indices & FRESH != 0)
    }
    /// A look-up has not found its key there: the next ones do not try.
    pub fn spoil() {
        KEPT.set(KEPT.get() & !FRESH);
    }
    pub fn keep(&self) {
        KEPT.set(self.indices | FRESH);
    }
    pub fn push(&mut self, i: usize) {
        let bits = i as u64 & !(u64::MAX << BITS);
        self.indices |= bits.checked_shl(self.used).unwrap_or(0);
        self.used += BITS;
    }
    /// Takes the next index.
    pub fn next(&mut self) -> usize {
        let i = self.indices.checked_shr(self.used).unwrap_or(0) & !(u64::MAX << BITS);
        self.used += BITS;
        i as usize
    }
    /// With the index that was taken last one higher, or lower. `rest` is this one after that.
    pub fn moved(&self, rest: &Guess, is_lower: bool) -> Guess {
        let one = 1u64.checked_shl(rest.used.saturating_sub(BITS)).unwrap_or(0);
        let indices = match is_lower {
            true => self.indices.wrapping_sub(one),
            false => self.indices.wrapping_add(one),
        };
        Guess { indices, used: self.used }
    }
}
