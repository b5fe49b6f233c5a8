//! How large one thing may be that a program asks for: no larger than the memory there is. What
//! asks for more is refused with `system_limit` before memory is touched.

use std::sync::OnceLock;

use kvik_env::fs::read_to_string;

/// Whatever the machine has.
const MOST: usize = 1 << 40;
/// So much is not worth a look at the machine.
const LITTLE: usize = 1 << 24;

/// Bytes of memory that this program can have.
pub fn memory() -> usize {
    static BYTES: OnceLock<usize> = OnceLock::new();
    *BYTES.get_or_init(|| {
        let machine = read_to_string("/proc/meminfo").ok().map(|s| {
            let kb = |name| {
                let line = s.lines().find_map(|l| l.strip_prefix(name))?;
                line.split_whitespace().next()?.parse::<usize>().ok()
            };
            (kb("MemTotal:").unwrap_or(MOST >> 10) + kb("SwapTotal:").unwrap_or(0)) << 10
        });
        let group = read_to_string("/sys/fs/cgroup/memory.max")
            .ok()
            .and_then(|s| s.trim().parse::<usize>().ok());
        [machine, group].into_iter().flatten().fold(MOST, usize::min)
    })
}

/// May there be one thing of so many bytes?
#[inline]
pub fn fits(bytes: usize) -> bool {
    bytes <= LITTLE || bytes <= memory()
}
