//! Wake-up prefetch. Where the state of waiting processes no longer fits in the caches, a scheduler
//! prefetches that of the process it wakes and of those it will probably wake next:
//! docs/internals/scheduling.md.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::OnceLock;

use crate::process::table;

/// Process count above which the state of waiting processes no longer fits in L2.
const CACHE_RESIDENT_PROCESSES: usize = 8_192;
/// Prefetch distance, in wake-ups, while predictions hold: main memory takes longer than a time
/// slice of a small process.
const PREFETCH_DISTANCE: u32 = 5;

kvik_state::vm_state! {
    /// For each slot of the process table, which process the one there woke last. An entry is a
    /// hint: 0, or the number of a process that may be gone.
    static WOKEN_BY: OnceLock<Box<[AtomicU32]>> = OnceLock::new();
    /// Whether `WOKEN_BY` has entries.
    static USED: AtomicBool = AtomicBool::new(false);
}

/// Whether there are enough processes for prefetching to pay. While there are, who wakes whom is
/// recorded.
pub(super) fn is_active() -> bool {
    let count = table().count();
    if count >= CACHE_RESIDENT_PROCESSES {
        WOKEN_BY.get_or_init(|| kvik_sys::alloc::zeroes(table().size()));
        USED.store(true, Relaxed);
    } else if count < CACHE_RESIDENT_PROCESSES / 2
        && USED.load(Relaxed)
        && USED.swap(false, Relaxed)
    {
        WOKEN_BY.get().into_iter().for_each(|words| kvik_sys::alloc::clear(words));
    }
    count >= CACHE_RESIDENT_PROCESSES
}

/// A scheduler's prediction of its next wake-ups.
#[derive(Copy, Clone, Default)]
pub(super) struct WakePredictor {
    /// The predicted next process.
    next: u32,
    /// The last process prefetched, and how many wake-ups from now it is expected.
    last: u32,
    ahead: u32,
    /// The difference between the last woken process's number and that of the process it wakes.
    /// Processes are often made in the order in which they will communicate, so one with no
    /// recorded wake-up is predicted by its neighbour's step.
    step: u32,
    woken: u32,
}

impl WakePredictor {
    /// The process that `pid` will probably wake.
    #[inline]
    fn predict(&self, after: &[AtomicU32], pid: u32) -> u32 {
        match slot(after, pid).load(Relaxed) {
            0 => pid.wrapping_add(self.step),
            known => known,
        }
    }
    /// The running process wakes another: prefetches that one and those predicted to follow.
    #[inline(always)]
    pub fn prefetch(&mut self, waker: Option<u32>, woken: u32) {
        let Some(after) = WOKEN_BY.get() else { return };
        if let Some(waker) = waker {
            slot(after, waker).store(woken, Relaxed);
            if waker == self.woken {
                self.step = woken.wrapping_sub(waker);
            }
        }
        self.woken = woken;
        // A correct prediction extends the distance; a wrong one starts again.
        let most = match self.next == woken && self.ahead > 0 {
            true => {
                self.ahead -= 1;
                PREFETCH_DISTANCE.min(self.ahead + 2)
            }
            false => {
                table().fetch(woken);
                (self.last, self.ahead) = (woken, 0);
                1
            }
        };
        while self.ahead < most {
            self.last = self.predict(after, self.last);
            self.ahead += 1;
            table().fetch(self.last);
        }
        self.next = self.predict(after, woken);
    }
}

#[inline]
fn slot(after: &[AtomicU32], pid: u32) -> &AtomicU32 {
    &after[pid as usize & (after.len() - 1)]
}
