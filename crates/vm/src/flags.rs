//! `+` flags. Those without meaning here were accepted by the command line and are passed over
//! (docs/COMPATIBILITY.md lists them).

use std::net::SocketAddr;

use kvik_bifs::{convert, filename, system};
use kvik_port::breaks::Mode;
use kvik_proc::sched::online_cpus;
use kvik_term::am;

pub struct Flags {
    pub schedulers: usize,
    /// Microseconds of looking for work before a scheduler sleeps.
    pub spin_us: u64,
    pub max_processes: usize,
    pub breaks: Mode,
    /// Bytes that wait for another node before their senders do.
    pub dist_busy: usize,
    /// Where to serve the live page.
    pub web: Option<SocketAddr>,
}

impl Flags {
    pub fn read(flags: &[(String, Option<String>)]) -> Result<Flags, String> {
        let mut f = Flags {
            schedulers: online_cpus(),
            spin_us: 0,
            max_processes: 262_144,
            breaks: Mode::Menu,
            dist_busy: 1 << 20,
            web: None,
        };
        for (name, value) in flags {
            let value = value.as_deref().unwrap_or_default();
            let bad = || format!("bad value \"{value}\" for +{name}");
            match name.as_str() {
                "S" => f.schedulers = schedulers(value, f.schedulers).ok_or_else(bad)?,
                "SP" => {
                    let percent: usize = first(value).parse().map_err(|_| bad())?;
                    f.schedulers = (online_cpus() * percent / 100).max(1);
                }
                "P" => f.max_processes = processes(value).ok_or_else(bad)?,
                "sbwt" => f.spin_us = spin(value).ok_or_else(bad)?,
                "zdbbl" => f.dist_busy = kilobytes(value).ok_or_else(bad)?,
                "web" => f.web = Some(value.parse().map_err(|_| bad())?),
                "pc" => match value {
                    "unicode" => convert::set_printable_unicode(true),
                    "latin1" => convert::set_printable_unicode(false),
                    _ => return Err(format!("bad range of printable characters: {value}")),
                },
                "JPperf" => match value {
                    "true" | "map" => {
                        kvik_code::perf::enable().map_err(|e| format!("perf: {e}"))?
                    }
                    "false" => {}
                    _ => return Err(bad()),
                },
                "B" | "Bi" | "Bc" | "Bd" => f.breaks = breaks(&name[1..], value),
                "W" => warnings(value).ok_or_else(bad)?,
                "We" | "Wi" | "Ww" => warnings(&name[1..]).ok_or_else(bad)?,
                // A letter behind says what to do with names that are not valid; OTP's `file`
                // asks for that nowhere.
                _ if name.starts_with("fnl") => filename::set_utf8_names(false),
                _ if name.starts_with("fnu") => filename::set_utf8_names(true),
                _ => {}
            }
        }
        Ok(f)
    }
}

fn first(value: &str) -> &str {
    value.split(':').next().unwrap_or_default()
}

/// `N` or `N:Online`; 0 for the default, less than 0 for so many fewer.
fn schedulers(value: &str, default: usize) -> Option<usize> {
    let online = value.split(':').nth(1).unwrap_or(first(value));
    let count = if online.is_empty() { first(value) } else { online };
    match count.parse::<i64>().ok()? {
        0 => Some(default),
        n if n < 0 => Some((default as i64 + n).max(1) as usize),
        n => usize::try_from(n).ok().filter(|n| *n <= 1024),
    }
}

/// 1 to 2,097,151.
fn kilobytes(value: &str) -> Option<usize> {
    let n: usize = value.parse().ok().filter(|n| (1..=2_097_151).contains(n))?;
    Some(n * 1024)
}

/// A power of two, as `erl` rounds it.
fn processes(value: &str) -> Option<usize> {
    if value == "legacy" {
        return Some(262_144);
    }
    let n: usize = value.parse().ok().filter(|n| (1024..=134_217_727).contains(n))?;
    Some(n.next_power_of_two())
}

/// What warnings are logged as.
fn warnings(letter: &str) -> Option<()> {
    system::set_warning_map(match letter {
        "e" => am::error,
        "i" => am::info,
        "w" => am::warning,
        _ => return None,
    });
    Some(())
}

/// What follows the B, in the same word or the next.
fn breaks(letter: &str, value: &str) -> Mode {
    match if letter.is_empty() { value } else { letter } {
        "i" => Mode::Ignore,
        "c" => Mode::Key,
        _ => Mode::Disabled,
    }
}

fn spin(value: &str) -> Option<u64> {
    Some(match value {
        "none" => 0,
        "very_short" => 5,
        "short" => 10,
        "medium" => 20,
        "long" => 50,
        "very_long" => 100,
        _ => return None,
    })
}
