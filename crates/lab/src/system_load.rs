//! The CPU time that other programs use during a run.
//!
//! An upper bound is the busy time of all processors minus the CPU time of the run's reaped
//! processes. It is too high where OTP does not reap the helper that starts ports' programs. So the
//! CPU times that other processes report are summed too, and the lower of both counts.

use std::collections::HashMap;
use std::fs::{read_dir, read_to_string};

/// Unit of the system's CPU times.
const TICKS_A_SECOND: f64 = 100.0;

/// CPU time used so far, in ticks.
pub struct SystemLoad {
    busy: Option<u64>,
    /// Of each other process, including the children it has reaped.
    others: HashMap<u32, u64>,
}

impl SystemLoad {
    pub fn look() -> SystemLoad {
        SystemLoad { busy: busy(), others: others() }
    }
    /// CPU seconds used by others since then; `own_seconds` is what the run used. All processes of
    /// the run must have ended.
    pub fn others_since(&self, own_seconds: f64) -> f64 {
        let now = SystemLoad::look();
        let said: u64 = now
            .others
            .iter()
            .map(|(pid, t)| t.saturating_sub(self.others.get(pid).copied().unwrap_or(0)))
            .sum();
        let ticks = now.busy.zip(self.busy).map_or(0, |(now, then)| now.saturating_sub(then));
        let rest = (ticks as f64 / TICKS_A_SECOND - own_seconds).max(0.0);
        rest.min(said as f64 / TICKS_A_SECOND)
    }
}

/// Busy time of all cores so far, by all processes.
fn busy() -> Option<u64> {
    let stat = read_to_string("/proc/stat").ok()?;
    let cpu = stat.lines().next()?;
    let fields: Vec<u64> = cpu.split_whitespace().skip(1).filter_map(|f| f.parse().ok()).collect();
    // user nice system idle iowait irq softirq steal: all except idle and iowait
    Some(fields.iter().enumerate().filter(|(i, _)| *i < 8 && *i != 3 && *i != 4).map(|f| f.1).sum())
}

fn others() -> HashMap<u32, u64> {
    let pids = read_dir("/proc").into_iter().flatten().flatten();
    let pids = pids.filter_map(|e| e.file_name().to_str()?.parse().ok());
    // Processes that have ended meanwhile are left out.
    pids.filter(|pid| *pid != std::process::id())
        .filter_map(|pid| Some((pid, used(pid)?)))
        .collect()
}

fn used(pid: u32) -> Option<u64> {
    let stat = read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name is in parentheses and may itself contain some. Fields 14 to 17 are utime, stime, and
    // the same of reaped children.
    let fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11).take(4);
    fields.map(|f| f.parse::<u64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn turn(rounds: u32) -> Command {
        let mut c = Command::new("sh");
        c.args(["-c", &format!("i=0; while [ $i -lt {rounds} ]; do i=$((i+1)); done")]);
        c
    }

    #[test]
    fn measures_the_load_of_others() {
        let _one = crate::run::ONE.lock();
        let before = SystemLoad::look();
        let mut other = turn(100_000_000).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(600));
        let seen = before.others_since(0.0);
        other.kill().unwrap();
        other.wait().unwrap();
        // Even with other load on the processors it has run for some time.
        assert!(seen > 0.05, "{seen}");
    }

    #[test]
    fn load_of_others_excludes_the_run() {
        let _one = crate::run::ONE.lock();
        let before = SystemLoad::look();
        assert!(turn(300_000).status().unwrap().success());
        let busy = before.busy.zip(busy()).map(|(then, now)| now - then).unwrap();
        let known = busy as f64 / TICKS_A_SECOND;
        assert_eq!(before.others_since(known + 60.0), 0.0);
    }
}
