//! Resource usage of started programs: processor time, memory, context switches.

use std::mem::MaybeUninit;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use crate::errno::{check, retry, Errno, Result};

/// Usage of one program, or of several together.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Usage {
    pub cpu_seconds: f64,
    pub switches: u64,
    /// Peak resident memory.
    pub peak_kb: u64,
}

impl Usage {
    fn of(usage: &libc::rusage) -> Usage {
        let seconds = |t: libc::timeval| t.tv_sec as f64 + t.tv_usec as f64 / 1e6;
        Usage {
            cpu_seconds: seconds(usage.ru_utime) + seconds(usage.ru_stime),
            switches: (usage.ru_nvcsw + usage.ru_nivcsw).unsigned_abs(),
            peak_kb: usage.ru_maxrss.unsigned_abs(),
        }
    }
    /// The sum of both, with the higher peak.
    #[must_use]
    pub fn and(self, other: Usage) -> Usage {
        Usage {
            cpu_seconds: self.cpu_seconds + other.cpu_seconds,
            switches: self.switches + other.switches,
            peak_kb: self.peak_kb.max(other.peak_kb),
        }
    }
}

/// The processor time of this program, all threads together.
pub fn cpu_time_ns() -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is written.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// From now on orphaned descendants become children of this program, so that [`reap`] counts them.
pub fn adopt_orphans() -> Result<()> {
    // SAFETY: no memory is involved.
    check(unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }).map(drop)
}

/// Reaps a child that has ended: its process id, its status, and the resource usage of it and of
/// the children it waited for. `None` if children are left but none has ended. `pid` 0 is any
/// child.
pub fn reap(pid: u32) -> Result<Option<(u32, ExitStatus, Usage)>> {
    let which = if pid == 0 { -1 } else { i32::try_from(pid).map_err(|_| Errno::INVAL)? };
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the call fills both structures; all zeros is a value of `rusage` too.
    let (child, usage) = unsafe {
        let child =
            retry(|| check(libc::wait4(which, &mut status, libc::WNOHANG, usage.as_mut_ptr())))?;
        (child, usage.assume_init())
    };
    Ok((child != 0)
        .then(|| (child.unsigned_abs(), ExitStatus::from_raw(status), Usage::of(&usage))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_child_has_used_something() {
        let mut child = Command::new("sh")
            .args(["-c", "i=0; while [ $i -lt 9999 ]; do i=$((i+1)); done; exit 7"])
            .spawn()
            .unwrap();
        let (pid, status, usage) = loop {
            if let Some(ended) = reap(child.id()).unwrap() {
                break ended;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        };
        assert_eq!((pid, status.code()), (child.id(), Some(7)));
        assert!(usage.cpu_seconds > 0.0 && usage.peak_kb > 100, "{usage:?}");
        assert!(reap(child.id()).is_err() && child.wait().is_err());
    }

    #[test]
    fn sums_and_peaks() {
        let one = Usage { cpu_seconds: 1.0, switches: 3, peak_kb: 100 };
        let two = Usage { cpu_seconds: 0.5, switches: 4, peak_kb: 70 };
        assert_eq!(one.and(two), Usage { cpu_seconds: 1.5, switches: 7, peak_kb: 100 });
    }
}
