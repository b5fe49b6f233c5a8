//! Unique integers (`erlang:unique_integer/1`), whose monotonic ones also number what a trace tells.

use std::sync::atomic::{AtomicU64, Ordering};

use kvik_heap::Heap;
use kvik_term::Term;

kvik_state::vm_state! {
    static UNIQUE: AtomicU64 = AtomicU64::new(0);
    /// The last monotonic integer given out, as an offset from the first.
    static MONOTONIC: AtomicU64 = AtomicU64::new(u64::MAX);
}

/// The first unique integer that need not be positive: the least small integer.
pub const FIRST: i64 = kvik_term::word::SMALL_MIN;

pub fn monotonic_state() -> u64 {
    MONOTONIC.load(Ordering::Relaxed)
}
pub fn set_monotonic_state(n: u64) {
    MONOTONIC.store(n, Ordering::Relaxed);
}

/// A new unique integer.
pub fn integer(h: &Heap, monotonic: bool, positive: bool) -> Term<'_> {
    let n = match monotonic {
        true => MONOTONIC.fetch_add(1, Ordering::Relaxed).wrapping_add(1),
        false => UNIQUE.fetch_add(1, Ordering::Relaxed),
    };
    let n = n as i128 + if positive { 1 } else { FIRST as i128 };
    match i64::try_from(n) {
        Ok(n) => h.integer(n),
        Err(_) => h.unsigned(n as u64),
    }
}
