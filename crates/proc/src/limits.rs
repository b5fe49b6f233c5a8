//! Limits of a process's heap and of its stack traces.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::Mutex;

use kvik_heap::Heap;
use kvik_term::{am, map, Atom, Term};

use crate::Proc;

/// OTP's minimum sizes, in words.
pub const MIN_HEAP: usize = 233;
pub const MIN_BIN_VHEAP: usize = 46_422;

/// The `max_heap_size` setting.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct MaxHeap {
    /// In words; 0 for no limit.
    pub size: usize,
    pub kill: bool,
    pub log: bool,
    /// Binaries outside the heap that it refers to count too.
    pub shared_binaries: bool,
}

impl MaxHeap {
    const NONE: MaxHeap = MaxHeap { size: 0, kill: true, log: true, shared_binaries: false };

    /// Parses a number of words, or a map with `size` and switches; a missing switch has the
    /// system's value.
    pub fn read(t: Term<'_>) -> Option<MaxHeap> {
        let s = MaxHeap::read_any(t)?;
        (s.size == 0 || s.size >= Defaults::least_heap_size()).then_some(s)
    }
    /// The same, without checking the size.
    pub fn read_any(t: Term<'_>) -> Option<MaxHeap> {
        let default = MaxHeap::system();
        if let Some(size) = t.as_usize() {
            return Some(MaxHeap { size, ..default });
        }
        let m = t.as_map()?;
        let switch = |k: Atom, d: bool| map::get(m, k.into()).map_or(Some(d), |b| b.as_bool());
        let mut new = MaxHeap {
            size: map::get(m, am::size.into())?.as_usize()?,
            kill: switch(am::kill, default.kill)?,
            log: switch(am::error_logger, default.log)?,
            ..default
        };
        if kvik_release::current().limits_shared_binaries() {
            new.shared_binaries = switch(am::include_shared_binaries, default.shared_binaries)?;
        }
        Some(new)
    }
    /// The setting for new processes.
    pub fn system() -> MaxHeap {
        Defaults::get().max_heap
    }
    /// Sets it; returns the old one.
    pub fn set_system(new: MaxHeap) -> MaxHeap {
        Defaults::change(|d| std::mem::replace(&mut d.max_heap, new))
    }
    pub fn of(p: &Proc) -> MaxHeap {
        p.rare(|x| x.max_heap_size).flatten().unwrap_or(MaxHeap::NONE)
    }
    pub fn map<'h>(self, h: &'h Heap) -> Term<'h> {
        let mut all = vec![
            (am::error_logger, self.log.into()),
            (am::kill, self.kill.into()),
            (am::size, h.unsigned(self.size as u64)),
        ];
        if kvik_release::current().limits_shared_binaries() {
            all.push((am::include_shared_binaries, self.shared_binaries.into()));
        }
        h.map_of_atoms(&all)
    }
}

/// Settings of a new process whose options do not say otherwise; the command line and
/// `system_flag/2` change them.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Defaults {
    /// In words, as is the next.
    pub min_heap_size: usize,
    pub min_bin_vheap_size: usize,
    pub fullsweep_after: usize,
    pub max_heap: MaxHeap,
    pub off_heap_queue: bool,
    pub async_dist: bool,
}

impl Defaults {
    /// OTP's defaults.
    pub const USUAL: Defaults = Defaults {
        min_heap_size: MIN_HEAP,
        min_bin_vheap_size: MIN_BIN_VHEAP,
        fullsweep_after: 65_535,
        max_heap: MaxHeap::NONE,
        off_heap_queue: false,
        async_dist: false,
    };
    pub fn get() -> Defaults {
        *DEFAULTS.lock().unwrap_or_else(|e| e.into_inner())
    }
    pub fn change<T>(f: impl FnOnce(&mut Defaults) -> T) -> T {
        let mut d = DEFAULTS.lock().unwrap_or_else(|e| e.into_inner());
        let answer = f(&mut d);
        NON_DEFAULT.store(*d != Defaults::USUAL, Relaxed);
        answer
    }
    /// The smallest `min_heap_size` that a process may ask for.
    pub fn least_heap_size() -> usize {
        Defaults::unusual().map_or(MIN_HEAP, |d| d.min_heap_size)
    }
    pub fn least_bin_vheap_size() -> usize {
        Defaults::unusual().map_or(MIN_BIN_VHEAP, |d| d.min_bin_vheap_size)
    }
    /// The current defaults, if they are not OTP's.
    pub(crate) fn unusual() -> Option<Defaults> {
        NON_DEFAULT.load(Relaxed).then(Defaults::get)
    }
}

kvik_state::vm_state! {
    static DEFAULTS: Mutex<Defaults> = Mutex::new(Defaults::USUAL);
    static NON_DEFAULT: AtomicBool = AtomicBool::new(false);
    /// `erlang:system_flag(backtrace_depth, N)`
    pub static BACKTRACE_DEPTH: AtomicUsize = AtomicUsize::new(8);
}

/// The smallest of OTP's heap sizes that holds that many words: 12, 38, each the sum of the two
/// before and one more, and from a certain size on a fifth more than the one before.
pub fn next_heap_size(words: usize) -> usize {
    const MAX_WORDS: usize = 1 << 59;
    if words <= 12 {
        return 12;
    }
    let (mut before, mut size) = (12, 38);
    let mut sums = 2..23;
    while size < words.min(MAX_WORDS) {
        let next = if sums.next().is_some() { size + before + 1 } else { size + size / 5 };
        (before, size) = (size, next);
    }
    size
}

impl Proc {
    /// Applies the settings to the heap. A `min_heap_size` that was not set leaves it small.
    pub fn apply_limits(&self) {
        let limits = self.rare(|x| {
            let max = x.max_heap_size.map_or(0, |m| m.size);
            let min = if x.min_heap_size > MIN_HEAP { x.min_heap_size } else { 0 };
            (min, x.fullsweep_after, max)
        });
        if let Some((min, after, max)) = limits {
            self.heap.set_limits(min.max(kvik_heap::alloc::LEAST_WORDS), after, max);
            self.allow_off_heap();
        }
    }
    /// Applies `min_bin_vheap_size`, which a collection knows nothing of.
    pub(crate) fn allow_off_heap(&self) {
        if let Some(words) = self.rare(|x| x.min_bin_vheap_size) {
            self.heap.allow_off_heap(words);
        }
    }
}
