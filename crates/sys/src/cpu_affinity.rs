//! CPU affinity and CPU time of threads and programs.

use std::fs;
use std::mem::MaybeUninit;

use crate::errno::{check, Errno, Result};

/// Processors, as the kernel numbers them: those below 1,024.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct CpuSet([u64; 16]);

impl CpuSet {
    const BYTES: usize = size_of::<[u64; 16]>();

    /// The CPU that this thread runs on. `None` if it has no number, or one that is too high.
    pub fn here() -> Option<CpuSet> {
        cpu().filter(|n| *n < 64 * 16).map(one)
    }
    /// The CPUs that a process (its first thread) may run on.
    pub fn of(pid: i32) -> Result<CpuSet> {
        let mut words = [0u64; 16];
        let at = words.as_mut_ptr();
        // Not by the C library's function, which asks for an array of another type.
        // SAFETY: the call writes at most so many bytes.
        let n = unsafe { libc::syscall(libc::SYS_sched_getaffinity, pid, Self::BYTES, at) };
        check(n as i32)?;
        Ok(CpuSet(words))
    }
    /// Restricts a process to these CPUs.
    pub fn keep(&self, pid: i32) -> Result<()> {
        let at = self.0.as_ptr();
        // SAFETY: the call reads so many bytes.
        let r = unsafe { libc::syscall(libc::SYS_sched_setaffinity, pid, Self::BYTES, at) };
        check(r as i32).map(drop)
    }
    pub fn count(&self) -> u32 {
        self.0.iter().map(|w| w.count_ones()).sum()
    }
    /// One set for each CPU.
    pub fn each(self) -> impl Iterator<Item = CpuSet> {
        (0..self.0.len() * 64).map(one).filter(move |p| self.has(p))
    }
    pub fn has(&self, other: &CpuSet) -> bool {
        self.0.iter().zip(&other.0).all(|(a, b)| b & !a == 0)
    }
}

/// The set of the CPU with this number.
fn one(n: usize) -> CpuSet {
    let mut words = [0; 16];
    words[n / 64] = 1 << (n % 64);
    CpuSet(words)
}

/// The number of the processor that this thread runs on.
pub fn cpu() -> Option<usize> {
    // SAFETY: no memory is involved.
    usize::try_from(unsafe { libc::sched_getcpu() }).ok()
}
/// The number of the CPU on which a process (its first thread) runs, or ran last.
pub fn cpu_of(pid: i32) -> Option<usize> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    // The fields follow the name, which may contain blanks and parentheses.
    let end = stat.iter().rposition(|c| *c == b')')?;
    let field = stat[end + 1..].trim_ascii_start().split(|c| *c == b' ').nth(36)?;
    std::str::from_utf8(field).ok()?.parse().ok()
}

/// Nanoseconds of processor time that a process (all its threads) has used.
pub fn cpu_nanos_of(pid: i32) -> Result<i64> {
    let mut clock = 0;
    let mut t = MaybeUninit::<libc::timespec>::zeroed();
    // SAFETY: both structures are ours to write; all zeros is a value of either.
    let t = unsafe {
        match libc::clock_getcpuclockid(pid, &mut clock) {
            0 => check(libc::clock_gettime(clock, t.as_mut_ptr()))?,
            e => return Err(Errno(e)),
        };
        t.assume_init()
    };
    Ok(t.tv_sec.saturating_mul(1_000_000_000).saturating_add(t.tv_nsec))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thread_runs_on_the_cpu_it_is_bound_to() {
        let all = CpuSet::of(0).unwrap();
        let here = CpuSet::here().unwrap();
        assert!(all.count() >= 1 && here.count() == 1 && all.has(&here));
        assert!(!here.has(&all) || all.count() == 1);
        here.keep(0).unwrap();
        assert!(CpuSet::of(0).unwrap() == here && CpuSet::here() == Some(here));
        // SAFETY: no memory is involved.
        let me = unsafe { libc::gettid() };
        assert!(cpu().is_some() && cpu_of(me) == cpu() && cpu_of(i32::MAX).is_none());
        all.keep(0).unwrap();
        assert!(CpuSet::of(0).unwrap() == all);
        assert!(CpuSet::of(i32::MAX).is_err());
    }

    #[test]
    fn processor_time_of_others() {
        let me = std::process::id() as i32;
        let begun = cpu_nanos_of(me).unwrap();
        assert!(begun > 0);
        assert!((0..1_000_000).any(|_| cpu_nanos_of(me).unwrap() > begun));
        // No number of a process is as high.
        assert!(cpu_nanos_of(1 << 22).is_err());
    }
}
