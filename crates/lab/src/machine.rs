//! The machine the figures come from.

use std::fs::read_to_string;

pub struct Machine {
    pub cores: usize,
    pub model: String,
    pub kernel: String,
    pub memory_mb: u64,
    pub load: String,
}

impl Machine {
    pub fn look() -> Machine {
        let cpuinfo = read_to_string("/proc/cpuinfo").unwrap_or_default();
        let meminfo = read_to_string("/proc/meminfo").unwrap_or_default();
        let kernel = read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let loadavg = read_to_string("/proc/loadavg").unwrap_or_default();
        Machine {
            cores: std::thread::available_parallelism().map_or(1, |n| n.get()),
            model: field(&cpuinfo, "model name").unwrap_or_else(|| "unknown".to_owned()),
            kernel: kernel.trim().to_owned(),
            memory_mb: field(&meminfo, "MemTotal").and_then(|m| leading(&m)).unwrap_or(0) / 1024,
            load: loadavg.split(' ').next().unwrap_or("?").to_owned(),
        }
    }
}

/// The value of the first line `name : value`.
pub fn field(text: &str, name: &str) -> Option<String> {
    let line = text.lines().find(|l| l.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

pub fn leading(text: &str) -> Option<u64> {
    text.split_whitespace().next()?.parse().ok()
}

/// Busy time of all cores so far, in clock ticks: everybody's, to tell load from outside.
pub fn busy_ticks() -> Option<u64> {
    let stat = read_to_string("/proc/stat").ok()?;
    let cpu = stat.lines().next()?;
    let fields: Vec<u64> = cpu.split_whitespace().skip(1).filter_map(|f| f.parse().ok()).collect();
    // user nice system idle iowait irq softirq steal: all but idle and iowait
    Some(fields.iter().enumerate().filter(|(i, _)| *i < 8 && *i != 3 && *i != 4).map(|f| f.1).sum())
}
