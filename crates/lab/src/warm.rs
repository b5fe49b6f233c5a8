//! Memory at hand before a run that needs much.
//!
//! A virtual machine gives pages that are free for some seconds back to its host, and to get them
//! again costs up to ten times as much as to use one that was kept. Whoever comes after a pause
//! would pay: a million processes took 0.2 s or 1.8 s here, by nothing but that, and ten thousand
//! five times as long. So as much memory
//! as a program took in earlier rounds is used once, and freed, right before it starts.

use crate::machine::{field, leading};
use kvik_sys::alloc;

/// Uses memory for a program that took so much at most.
pub fn touch(peak_kb: u64) {
    if let Some(kb) = portion(peak_kb, available_kb()) {
        alloc::touch((kb << 10) as usize);
    }
}

/// How much of it: nobody else is to be pressed out of memory.
fn portion(peak_kb: u64, available_kb: u64) -> Option<u64> {
    Some(peak_kb.min(available_kb / 2)).filter(|kb| *kb > 0)
}

fn available_kb() -> u64 {
    let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    field(&meminfo, "MemAvailable").and_then(|m| leading(&m)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_much_and_never_all() {
        assert_eq!(portion(0, 1 << 30), None);
        assert_eq!(portion(700 << 10, 16 << 20), Some(700 << 10));
        assert_eq!(portion(700 << 10, 1 << 20), Some(512 << 10));
        assert_eq!(portion(700 << 10, 0), None);
        assert!(available_kb() > 1000);
    }
}
