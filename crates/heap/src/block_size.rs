//! How large a heap's block is to be: see `docs/internals/gc.md`, "Block size".

use crate::gc::distance;
use crate::Heap;

/// Number of collections after which a process gets larger blocks.
const SOME_COLLECTIONS: u16 = 4;
pub(crate) const BUSY_WORDS: usize = 256;

/// What a collection adds to the frequency counter; each time slice subtracts one.
pub(crate) const COLLECTION: u8 = 8;
/// From three collections in one time slice on, or as many in two dozen, a block grows with each
/// collection even if little survives, up to a limit or to as many words as survive in total:
/// collecting then costs more than scanning the survivors.
const FREQUENT_COLLECTIONS: u8 = 3 * COLLECTION;
pub(crate) const MANY_WORDS: usize = 4096;
/// The most of the frequency counter that one time slice hands on to the next.
pub(crate) const CARRIED_OVER: u8 = FREQUENT_COLLECTIONS + COLLECTION;
/// From so many on, reached by five to eight collections in one time slice, a block grows further:
/// the process computes, and a larger block that still fits in the caches takes fewer collections.
/// A process that only has something to do now and then stays below.
const INCESSANT_COLLECTIONS: u8 = CARRIED_OVER + 4 * COLLECTION;
const MOST_WORDS_BY_FREQUENCY: usize = 16_384;

/// A block that has grown is not shrunk below this: when its contents have moved to the old heap,
/// it is soon filled again.
const KEPT_WORDS: usize = 3000;

/// Whether blocks are exactly as large as needed; large ones, an eighth larger.
const TIGHT: bool = cfg!(feature = "tight");
/// Instead of a least block size: exactly as many words as needed.
pub(crate) const FIT: u32 = u32::MAX;
/// The same, and an eighth more.
pub(crate) const FIT_IDLE: u32 = u32::MAX - 1;

/// An old heap has room for what so many collections like the first one move there. A full
/// collection of fewer old words costs little.
pub(crate) const MINOR_PER_FULL: usize = 8;

/// Nothing is moved to save fewer words than this.
const SMALL_WORDS: usize = 128;
/// From this size on a block grows by a quarter, no longer to twice its size.
const LARGE_WORDS: usize = 1 << 20;

/// The block size for that many words, in steps of a quarter.
pub fn next_size(words: usize) -> usize {
    let step = (words / 4).next_power_of_two().max(8);
    words.div_ceil(step) * step
}

/// Whether a block is far too large for the words wanted, and so little survived that moving it
/// once more costs next to nothing.
pub(crate) fn is_worth_moving(survived: usize, wanted: usize, cap: usize) -> bool {
    cap > wanted * 2 && cap - wanted >= SMALL_WORDS && survived * 4 <= wanted
}

impl Heap {
    /// The least words of the next block: more for a process that has collected several times,
    /// which in its first block would do so at every other message.
    fn least_words(&self) -> usize {
        let busy = if self.gc_count.get() >= SOME_COLLECTIONS { BUSY_WORDS } else { 0 };
        busy.max(self.min_words.get() as usize)
    }
    /// Words up to which a block grows because collections are frequent; 0 if they are not.
    fn most_for_turn(&self, survived: usize, old_used: usize) -> usize {
        let least = match self.often.get() {
            INCESSANT_COLLECTIONS.. => MOST_WORDS_BY_FREQUENCY,
            FREQUENT_COLLECTIONS.. => MANY_WORDS,
            _ => return 0,
        };
        (survived + old_used).max(least)
    }
    /// A block up to this size is not shrunk: see [`KEPT_WORDS`]. One that has grown because
    /// collections were frequent stays as it is as long as they are.
    fn kept_words(&self) -> usize {
        match self.often.get() {
            FREQUENT_COLLECTIONS.. => MOST_WORDS_BY_FREQUENCY,
            _ => KEPT_WORDS,
        }
    }
    /// Whether the next block should have room to grow into. If not, and the heap grows after all,
    /// its contents are moved twice; a block that is too large holds memory for as long as it lives.
    fn is_likely_to_grow(&self, size: usize) -> bool {
        self.gc_count.get() < SOME_COLLECTIONS || self.mature() * 4 >= size
    }
    /// Words of the to-space for a collection that at worst needs so many.
    pub(crate) fn to_space_words(&self, worst: usize) -> usize {
        if TIGHT || self.min_words.get() >= FIT_IDLE {
            return worst;
        }
        let size = distance(self.start.get(), self.end.get());
        let words = match worst {
            n if !self.is_likely_to_grow(size) => next_size(n.max(size)),
            n if n < LARGE_WORDS => next_size(n * 2),
            n => next_size(n + n / 4),
        };
        words.max(self.least_words())
    }
    /// The size of the block, by what survived: in steps, so that a process that repeats its work
    /// gets the same heap size again, though a few words more or less survive.
    pub(crate) fn wanted_words(
        &self,
        survived: usize,
        stack_and_need: usize,
        old_used: usize,
        minor: bool,
    ) -> usize {
        let used = survived + stack_and_need;
        match self.min_words.get() {
            _ if TIGHT && used < MANY_WORDS => return used,
            _ if TIGHT => return used + used / 8,
            FIT => return used,
            FIT_IDLE => return used + used / 8,
            _ => {}
        }
        let size = distance(self.start.get(), self.end.get());
        // After a full collection nothing is old: the old objects are among the survivors.
        let old = if minor { distance(self.old_start.get(), self.old_end.get()) } else { 0 };
        let size = if used * 4 > size * 3 {
            next_size(used + if used < LARGE_WORDS { used.max(16) } else { used / 4 })
        } else if size < self.most_for_turn(survived, old_used) {
            size * 2
        } else if size > self.kept_words() && used * 4 < size {
            next_size((used * 3).max(old / 2)).min(size)
        } else {
            size
        };
        size.max(self.least_words()).max(used)
    }
}
