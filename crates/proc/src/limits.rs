//! What a process's heap may come to.

use kvik_term::{am, map, Term};

use crate::Proc;

/// OTP's least sizes, in words.
pub const MIN_HEAP: usize = 233;
pub const MIN_BIN_VHEAP: usize = 46_422;

/// The `max_heap_size` setting.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct MaxHeap {
    /// In words; 0 for no limit.
    pub size: usize,
    pub kill: bool,
    pub log: bool,
}

impl MaxHeap {
    pub fn of(t: Option<Term<'_>>) -> MaxHeap {
        let mut s = MaxHeap { size: 0, kill: true, log: true };
        let Some(t) = t else { return s };
        s.size = t.as_usize().unwrap_or(0);
        if let Some(m) = t.as_map() {
            let switch = |k: kvik_term::Atom, d: bool| {
                map::get(m, k.into()).and_then(|b| b.as_bool()).unwrap_or(d)
            };
            s.size = map::get(m, am::size.into()).and_then(|n| n.as_usize()).unwrap_or(0);
            s.kill = switch(am::kill, s.kill);
            s.log = switch(am::error_logger, s.log);
        }
        s
    }
}

/// The least of OTP's heap sizes that holds so many words: 12, 38, each the sum of the two before
/// and one more, and from a certain size on a fifth more than the one before.
pub fn next_heap_size(words: usize) -> usize {
    const LARGEST: usize = 1 << 59;
    let (mut before, mut size) = (12, 38);
    let mut sums = 2..23;
    while size < words.min(LARGEST) {
        let next = if sums.next().is_some() { size + before + 1 } else { size + size / 5 };
        (before, size) = (size, next);
    }
    size
}

impl Proc {
    /// Tells the heap what the settings say. A `min_heap_size` that was not set leaves it small.
    pub fn apply_limits(&self) {
        let limits = self.extra(|x| {
            let max = MaxHeap::of(x.max_heap_size.as_ref().map(|t| t.term())).size;
            let min = if x.min_heap_size > MIN_HEAP { x.min_heap_size } else { 0 };
            (min, x.fullsweep_after, max)
        });
        if let Some((min, after, max)) = limits {
            self.heap.set_limits(min.max(kvik_heap::alloc::FIRST_WORDS), after, max);
        }
    }
}
