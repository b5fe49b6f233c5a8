//! The CPU time that other programs take during a run.
//!
//! What all processors did is known, and what the run has used as far as somebody waited for its parts.
//! The rest is somebody else's; but OTP lets go of its helper, which starts ports' programs, without
//! asking what those have used. So what other programs say of themselves is asked too, and the lesser
//! of both counts.

use std::collections::HashMap;
use std::fs::{read_dir, read_to_string};

/// The system counts time in hundredths of a second.
const TICKS_A_SECOND: f64 = 100.0;

/// What was used so far, in ticks.
pub struct SystemLoad {
    busy: Option<u64>,
    /// By each process but this one, and by those that it waited for.
    others: HashMap<u32, u64>,
}

impl SystemLoad {
    pub fn look() -> SystemLoad {
        SystemLoad { busy: busy(), others: others() }
    }
    /// Seconds of processor time that others took since then, while a run took so many that are
    /// known. All that the run started must have ended.
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

/// Busy time of all cores so far: everybody's.
fn busy() -> Option<u64> {
    let stat = read_to_string("/proc/stat").ok()?;
    let cpu = stat.lines().next()?;
    let fields: Vec<u64> = cpu.split_whitespace().skip(1).filter_map(|f| f.parse().ok()).collect();
    // user nice system idle iowait irq softirq steal: all but idle and iowait
    Some(fields.iter().enumerate().filter(|(i, _)| *i < 8 && *i != 3 && *i != 4).map(|f| f.1).sum())
}

fn others() -> HashMap<u32, u64> {
    let pids = read_dir("/proc").into_iter().flatten().flatten();
    let pids = pids.filter_map(|e| e.file_name().to_str()?.parse().ok());
    // Who is gone by then is left out.
    pids.filter(|pid| *pid != std::process::id())
        .filter_map(|pid| Some((pid, used(pid)?)))
        .collect()
}

fn used(pid: u32) -> Option<u64> {
    let stat = read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // Its name stands in parentheses, and may have any in it. Fields 14 to 17 are utime, stime and
    // the same of children that were waited for.
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
        // However many others want the processors, it has had some of one.
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
