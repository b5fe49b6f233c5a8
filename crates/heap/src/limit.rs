//! Limit on the size of a single object that a program requests: the available memory. A larger
//! request is refused with `system_limit` before memory is touched.

use std::sync::OnceLock;

use kvik_env::fs::read_to_string;

/// Upper limit on any machine.
const MAX_LIMIT_BYTES: usize = 1 << 40;
/// Below this size the machine's memory is not checked.
const LITTLE: usize = 1 << 24;

/// Bytes of memory available to this program.
pub fn memory() -> usize {
    static BYTES: OnceLock<usize> = OnceLock::new();
    *BYTES.get_or_init(|| {
        let machine = read_to_string("/proc/meminfo").ok().map(|s| {
            let kb = |name| {
                let line = s.lines().find_map(|l| l.strip_prefix(name))?;
                line.split_whitespace().next()?.parse::<usize>().ok()
            };
            (kb("MemTotal:").unwrap_or(MAX_LIMIT_BYTES >> 10) + kb("SwapTotal:").unwrap_or(0)) << 10
        });
        let group = read_to_string("/sys/fs/cgroup/memory.max")
            .ok()
            .and_then(|s| s.trim().parse::<usize>().ok());
        [machine, group].into_iter().flatten().fold(MAX_LIMIT_BYTES, usize::min)
    })
}

/// Whether a single object may have so many bytes.
#[inline]
pub fn fits(bytes: usize) -> bool {
    bytes <= LITTLE || bytes <= memory()
}
