//! CPU time and memory of a server: of all processes below this one, with those that have ended.
//!
//! The driver adopts orphans, so what a server starts stays below it, daemons too.

use crate::machine::{field, leading};
use kvik_sys::cpu_affinity::cpu_nanos_of;
use std::collections::HashMap;
use std::fs::{read_dir, read_to_string};

/// Unit of the CPU times in `/proc/PID/stat`.
const NANOS_A_TICK: u64 = 10_000_000;
const KILL: i32 = 9;

/// What `/proc/PID/stat` says of a process.
struct Stat {
    parent: u32,
    /// CPU time of the process, and of the children that it has waited for, in ticks.
    own: u64,
    reaped: u64,
}

impl Stat {
    fn of(pid: u32) -> Option<Stat> {
        Stat::parse(&read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    fn parse(text: &str) -> Option<Stat> {
        // The name is in parentheses and may itself contain some; the state follows.
        let rest = text.rsplit_once(')')?.1.split_whitespace().skip(1);
        let fields: Vec<u64> = rest.map(|word| word.parse().unwrap_or(0)).collect();
        let at = |n: usize| fields.get(n).copied();
        let parent = u32::try_from(at(0)?).ok()?;
        Some(Stat { parent, own: at(10)? + at(11)?, reaped: at(12)? + at(13)? })
    }
}

/// All processes below this one.
fn descendants() -> Vec<(u32, Stat)> {
    let names = read_dir("/proc").into_iter().flatten().flatten();
    let pids = names.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let mut children: HashMap<u32, Vec<(u32, Stat)>> = HashMap::new();
    for (pid, stat) in pids.filter_map(|pid| Some((pid, Stat::of(pid)?))) {
        children.entry(stat.parent).or_default().push((pid, stat));
    }
    let mut found = children.remove(&std::process::id()).unwrap_or_default();
    let mut next = 0;
    while next < found.len() {
        found.extend(children.remove(&found[next].0).unwrap_or_default());
        next += 1;
    }
    found
}

/// CPU time so far of everything below this process, in nanoseconds. It never decreases: the time of
/// a process that ends goes to whoever waits for it.
pub fn cpu_nanos() -> u64 {
    let ours = Stat::of(std::process::id()).map_or(0, |stat| stat.reaped);
    let of = |(pid, stat): &(u32, Stat)| {
        // The clock is finer than ticks. One that has ended and was not waited for has only ticks.
        let clock = cpu_nanos_of(pid.cast_signed()).ok().and_then(|n| u64::try_from(n).ok());
        clock.unwrap_or(stat.own * NANOS_A_TICK).max(stat.own * NANOS_A_TICK)
            + stat.reaped * NANOS_A_TICK
    };
    ours * NANOS_A_TICK + descendants().iter().map(of).sum::<u64>()
}

/// The sum over all processes of a size in a file of `/proc/PID`, in KB.
fn sum_kb(file: &str, name: &str) -> u64 {
    let of = |(pid, _): &(u32, Stat)| {
        let text = read_to_string(format!("/proc/{pid}/{file}")).ok()?;
        leading(&field(&text, name)?)
    };
    descendants().iter().filter_map(of).sum()
}

/// Resident memory, with a share of what processes have in common.
pub fn resident_kb() -> u64 {
    sum_kb("smaps_rollup", "Pss")
}

/// The sum of the highest resident sizes of the processes that are there now.
pub fn peak_kb() -> u64 {
    sum_kb("status", "VmHWM")
}

/// Ends everything below this process.
pub fn end_all() {
    for _ in 0..500 {
        let left = kill_all();
        while let Ok(Some(_)) = kvik_sys::usage::reap(0) {}
        if left == 0 {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

/// Kills the processes that are below this one now, and returns their number.
pub fn kill_all() -> usize {
    let left = descendants();
    for (pid, _) in &left {
        // Fails if it has ended meanwhile.
        let _ = kvik_sys::signal::send(pid.cast_signed(), KILL);
    }
    left.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_line_whose_name_has_parentheses() {
        let text = "7 (a) (b) S 3 7 7 0 -1 4194304 1 2 3 4 50 6 700 8 20 0 1";
        let stat = Stat::parse(text).unwrap();
        assert_eq!((stat.parent, stat.own, stat.reaped), (3, 56, 708));
        assert!(Stat::parse("7 (x) S 3").is_none());
    }
}
