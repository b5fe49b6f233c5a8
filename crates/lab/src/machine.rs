//! The machine that the figures were measured on.

use std::fs::read_to_string;
use std::time::{SystemTime, UNIX_EPOCH};

pub struct Machine {
    pub cores: usize,
    pub model: String,
    pub kernel: String,
    pub memory_mb: u64,
    pub load: String,
    /// The date in UTC: `2026-01-31`.
    pub day: String,
}

impl Machine {
    pub fn look() -> Machine {
        let cpuinfo = read_to_string("/proc/cpuinfo").unwrap_or_default();
        let meminfo = read_to_string("/proc/meminfo").unwrap_or_default();
        let kernel = read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let loadavg = read_to_string("/proc/loadavg").unwrap_or_default();
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
        Machine {
            cores: std::thread::available_parallelism().map_or(1, |n| n.get()),
            model: field(&cpuinfo, "model name").unwrap_or_else(|| "unknown".to_owned()),
            kernel: kernel.trim().to_owned(),
            memory_mb: field(&meminfo, "MemTotal").and_then(|m| leading(&m)).unwrap_or(0) / 1024,
            day: day(seconds / 86_400),
            load: loadavg.split(' ').next().unwrap_or("?").to_owned(),
        }
    }
}

/// The date that many days after 1970-01-01.
fn day(mut days: u64) -> String {
    let leap = |y: u64| y.is_multiple_of(4) && (!y.is_multiple_of(100) || y.is_multiple_of(400));
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let mut month = 1;
    for length in [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", days + 1)
}

/// The value of the first line `name : value`.
pub fn field(text: &str, name: &str) -> Option<String> {
    let line = text.lines().find(|l| l.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

pub fn leading(text: &str) -> Option<u64> {
    text.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::day;

    #[test]
    fn days_have_names() {
        let found = [0, 58, 59, 11_016, 11_017, 20_453].map(day);
        let known =
            ["1970-01-01", "1970-02-28", "1970-03-01", "2000-02-29", "2000-03-01", "2025-12-31"];
        assert_eq!(found, known);
    }
}
