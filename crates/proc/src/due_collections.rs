//! Collections that are due: at the process's next safepoint, or between its time slices.

use kvik_heap::long_collection::LONG_WORDS;

use crate::process::flag;
use crate::Proc;

impl Proc {
    /// Requests a collection at the next safepoint, or before it runs again.
    pub fn ask_for_gc(&self, full: bool) {
        self.heap.ask_for_gc();
        if full {
            self.settle_messages();
            self.request(true);
        }
    }
    fn request(&self, full: bool) {
        if self.is_minor_due() == full {
            self.with_rare(|x| x.minor_collection = !full);
        }
        self.set_flag(flag::COLLECT, true);
    }
    fn is_minor_due(&self) -> bool {
        self.rare(|x| x.minor_collection) == Some(true)
    }
    /// The collection that was requested, and whether it is a full one; clears the request.
    pub(crate) fn take_collection(&self) -> Option<bool> {
        if !self.set_flag(flag::COLLECT, false) {
            return None;
        }
        let minor = self.is_minor_due();
        if minor {
            self.with_rare(|x| x.minor_collection = false);
        }
        Some(!minor)
    }
    /// Whether a full collection was requested. The collector calls it, once: it clears the
    /// request.
    pub fn take_full_gc(&self) -> bool {
        self.take_collection() == Some(true)
    }
    /// Puts a collection that is due, or nearly so, off until the time slice is over, if it may
    /// take long: the scheduler can then have another thread do it. False: it does not take long,
    /// or not now.
    pub fn collect_after_turn(&self) -> bool {
        let requested = self.flag(flag::COLLECT);
        let full = requested && !self.is_minor_due();
        if self.heap.words_to_move(full) < LONG_WORDS || self.heap.is_suspended() {
            return false;
        }
        if !requested {
            self.request(false);
        }
        true
    }
    /// The same before a function is called again that the process is in, with its time slice over.
    pub fn collect_before(&self, full: bool) -> bool {
        let is_long = self.heap.words_to_move(full) >= LONG_WORDS && !self.heap.is_suspended();
        if is_long {
            self.heap.ask_for_gc();
            self.request(full);
        }
        is_long
    }
}
