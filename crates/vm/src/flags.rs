//! `+` flags: what they set, and which values are rejected, as by `erl`. docs/COMPATIBILITY.md
//! lists the flags that are accepted without effect.

mod allocators;
mod checked;
mod numbers;
mod schedulers;

use std::net::SocketAddr;
use std::path::PathBuf;

use kvik_bifs::{convert, filename, system};
use kvik_code::CoverageMode;
use kvik_port::ctrl_c::BreakMode;
use kvik_proc::limits::{next_heap_size, Defaults};
use kvik_term::am;

use numbers::{atoi, strtol};
use schedulers::Schedulers;

pub struct EmulatorFlags {
    /// Values reported by `system_info/1`.
    pub machine: system::SystemConfig,
    /// Microseconds that a scheduler spins for work before it sleeps.
    pub spin_us: u64,
    pub max_processes: usize,
    pub max_atoms: usize,
    pub breaks: BreakMode,
    /// Address of the live page.
    pub web: Option<SocketAddr>,
    /// The module whose `boot/1` starts the system.
    pub boot_module: String,
    /// Whether stack traces include files and lines (off with `+L`).
    pub line_numbers: bool,
    /// Limit on outstanding system tasks of a process; 0: the default.
    pub outstanding_requests: usize,
    pub processes: Defaults,
    /// Whether functions are named to `perf`, and in which directory.
    pub perf: bool,
    pub perf_directory: PathBuf,
}

type Read = Result<(), String>;

/// Returns the error `no()` unless `is` holds.
fn ensure(is: bool, no: impl FnOnce() -> String) -> Read {
    if is {
        Ok(())
    } else {
        Err(no())
    }
}

impl EmulatorFlags {
    pub fn read(flags: &[(String, Option<String>)]) -> Result<EmulatorFlags, String> {
        let mut f = EmulatorFlags {
            machine: system::SystemConfig::default(),
            spin_us: 0,
            max_processes: kvik_release::current().processes,
            max_atoms: kvik_term::atom::USUAL_ATOMS,
            breaks: BreakMode::Menu,
            web: None,
            boot_module: "init".into(),
            line_numbers: true,
            outstanding_requests: 0,
            processes: Defaults::USUAL,
            perf: false,
            perf_directory: "/tmp".into(),
        };
        f.environment();
        let mut s = Schedulers::new();
        for (name, value) in flags {
            let value = value.as_deref().unwrap_or_default();
            let known = s.read(name, value)?
                || f.limit(name, value)?
                || f.heap(name, value)?
                || f.time(name, value)?
                || f.setting(name, value)?;
            if !known {
                checked::check(name, value)?;
            }
        }
        s.settle(&mut f.machine)?;
        checked::poll_sets(flags)?;
        Ok(f)
    }

    /// Reads defaults from the environment; flags override them.
    fn environment(&mut self) {
        if let Ok(n) = std::env::var("ERL_FULLSWEEP_AFTER") {
            self.processes.fullsweep_after = usize::from(atoi(&n) as u16);
        }
        if let Ok(n) = std::env::var("ERL_MAX_PORTS") {
            let n = usize::try_from(atoi(&n)).unwrap_or(0);
            self.machine.port_limit =
                n.clamp(1024, kvik_port::table::MAX_PORTS).next_power_of_two();
        }
    }

    /// Flags that limit the number of something.
    fn limit(&mut self, name: &str, v: &str) -> Result<bool, String> {
        let within = |low: i64, high: i64, what: &str| {
            let n = strtol(v).filter(|n| (low..=high).contains(n));
            n.map(|n| n as usize).ok_or_else(|| format!("bad {what} {v}"))
        };
        match name {
            "P" if v == "legacy" => {}
            "P" => {
                let n = within(1024, 134_217_727, "number of processes")?;
                self.max_processes = n.next_power_of_two();
            }
            "Q" if v == "legacy" => {}
            "Q" => {
                let n = within(1024, 134_217_727, "number of ports")?;
                self.machine.port_limit = n.next_power_of_two().min(kvik_port::table::MAX_PORTS);
            }
            "t" => self.max_atoms = within(8192, i64::from(i32::MAX), "atom table size")?,
            "e" => {
                let n = atoi(v);
                ensure(n >= 0, || format!("bad maximum number of ets tables {v}"))?;
                self.machine.ets_limit = self.machine.ets_limit.max(n as usize);
            }
            "zosrl" => {
                let n = strtol(v).filter(|n| (1..=134_217_727).contains(n));
                let bad = || format!("Invalid outstanding requests limit {v}");
                self.outstanding_requests = n.ok_or_else(bad)? as usize;
            }
            "zhft" if !kvik_release::current().has_halt_timeout() => {
                return Err("bad -z option -zhft".into());
            }
            "zhft" if v == "infinity" => self.machine.halt_flush_timeout = None,
            "zhft" => {
                let n = strtol(v).filter(|n| (0..=i64::from(i32::MAX)).contains(n));
                let bad = || format!("Invalid halt flush timeout {v}");
                self.machine.halt_flush_timeout = Some(n.ok_or_else(bad)? as u64);
            }
            "zdbbl" => {
                let n = atoi(v);
                ensure((1..=2_097_151).contains(&n), || format!("Invalid dbbl limit: {n}"))?;
                self.machine.dist_buf_busy_limit = n as usize * 1024;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Flags for the initial heap and other memory settings of processes.
    fn heap(&mut self, name: &str, v: &str) -> Result<bool, String> {
        let d = &mut self.processes;
        let positive = || {
            let n = atoi(v);
            ensure(n > 0, || format!("bad heap size {v}")).map(|()| next_heap_size(n as usize))
        };
        let switch = |what: &str| match v {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(format!("bad max heap {what} {v}")),
        };
        match name {
            "h" | "hms" => d.min_heap_size = positive()?,
            "hmbs" => d.min_bin_vheap_size = positive()?,
            "hpds" => ensure(atoi(v) > 0, || format!("bad initial process dictionary size {v}"))?,
            "hmax" => {
                let n = atoi(v);
                ensure((0..1 << 59).contains(&n), || format!("bad max heap size {v}"))?;
                d.max_heap.size = n as usize;
            }
            "hmaxk" => d.max_heap.kill = switch("kill")?,
            "hmaxel" => d.max_heap.log = switch("error logger")?,
            "hmaxib" if kvik_release::current().limits_shared_binaries() => {
                d.max_heap.shared_binaries = switch("include bins")?
            }
            "pad" if kvik_release::current().limits_shared_binaries() => {
                d.async_dist = match v {
                    "true" => true,
                    "false" => false,
                    _ => return Err(format!("bad async dist value {v}")),
                }
            }
            "hmaxib" | "pad" => return Err(format!("unknown flag -{name}")),
            "hmqd" => {
                d.off_heap_queue = match v {
                    "on_heap" => false,
                    "off_heap" => true,
                    _ => return Err(format!("Invalid message_queue_data flag: {v}")),
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn time(&mut self, name: &str, v: &str) -> Result<bool, String> {
        match name {
            "c" => {
                self.machine.time_correction = match v {
                    "true" => true,
                    "false" | "" => false,
                    _ => return Err(format!("Invalid time correnction value: {v}")),
                }
            }
            "C" => {
                let modes = ["no_time_warp", "single_time_warp", "multi_time_warp"];
                let mode = modes.into_iter().find(|m| *m == v);
                let bad = || format!("Invalid time warp mode: {v}");
                self.machine.time_warp_mode = mode.ok_or_else(bad)?;
            }
            "T" => {
                let n = atoi(v);
                ensure((0..10).contains(&n), || format!("bad modified timing level {v}"))?;
                self.machine.modified_timing = Some(n as usize);
            }
            "zdntgc" if v == "infinity" => self.machine.node_table_gc = None,
            "zdntgc" => {
                let n = v.parse().ok().filter(|n| *n <= 100_000_000);
                let bad = || format!("Invalid delayed node table gc: {v}");
                self.machine.node_table_gc = Some(n.ok_or_else(bad)?);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn setting(&mut self, name: &str, v: &str) -> Result<bool, String> {
        match name {
            "R" => {
                let this = i64::from(kvik_release::current().number);
                let n = atoi(v);
                let bad = || format!("bad compatibility release number {v}");
                ensure((this - 2..=this).contains(&n), bad)?;
                self.machine.compat_rel = n as usize;
            }
            "spp" => {
                let bad = || format!("bad port parallelism scheduling hint {v}");
                self.machine.port_parallelism = v.parse().map_err(|_| bad())?;
            }
            "sct" => system::define_cpu_topology(v)
                .map_err(|why| format!("bad cpu topology '{v}': {why}"))?,
            "r" => self.machine.ets_realloc_moves = true,
            "ec" => self.machine.ets_always_compress = true,
            "i" => self.boot_module = v.into(),
            "L" => self.line_numbers = false,
            "sbwt" => {
                let bad = || format!("bad scheduler busy wait threshold: {v}");
                self.spin_us = spin(v).ok_or_else(bad)?;
            }
            "web" => {
                let bad = || format!("bad value \"{v}\" for +web");
                self.web = Some(v.parse().map_err(|_| bad())?);
            }
            "pc" => match v {
                "unicode" => convert::set_printable_unicode(true),
                "latin1" => convert::set_printable_unicode(false),
                _ => return Err(format!("bad range of printable characters: {v}")),
            },
            "JPcover" if !kvik_release::current().has_coverage() => {
                return Err("this release has no +JPcover".into());
            }
            "JPcover" => {
                let mode = match v {
                    "true" => Some(CoverageMode::LineCounters),
                    "false" => Some(CoverageMode::None),
                    _ => CoverageMode::of_name(v).filter(|m| *m != CoverageMode::None),
                };
                mode.ok_or_else(|| format!("bad +JPcover flag {v}"))?.set();
            }
            "JPperf" => match v {
                "true" | "map" => self.perf = true,
                "false" => self.perf = false,
                "fp" | "no_fp" => {}
                "dump" => return Err("+JPperf dump is not supported".into()),
                _ => return Err(format!("bad +JPperf support flag {v}")),
            },
            "JPperfdirectory" => self.perf_directory = v.into(),
            name if name.starts_with('D') => debugger(name, v)?,
            "B" | "Bi" | "Bc" | "Bd" => self.breaks = breaks(&name[1..], v),
            "W" => warnings(v)?,
            "We" | "Wi" | "Ww" => warnings(&name[1..])?,
            // A further letter says how to report invalid names; OTP's `file` never asks for it.
            _ if name.starts_with("fnl") => filename::set_utf8_names(false),
            _ if name.starts_with("fnu") => filename::set_utf8_names(true),
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// `+D…`: a debugger is to be supported, and code is to have places for breakpoints.
fn debugger(name: &str, v: &str) -> Read {
    ensure(kvik_release::current().has_debugger(), || format!("unknown flag -{name}"))?;
    match (name, v) {
        ("D", _) => kvik_code::debugger::enable(),
        ("Dibpl", "true") => kvik_code::debugger::want_line_breakpoints(true),
        ("Dibpl", "false") => kvik_code::debugger::want_line_breakpoints(false),
        ("Dibpl", _) => return Err(format!("{name} expected `true' or `false' but got: `{v}'")),
        _ if name.starts_with("Di") => {
            return Err(format!("Unknown instrumentation option {name}"))
        }
        _ => return Err(format!("Unknown option {name}")),
    }
    Ok(())
}

/// Sets how warnings are logged; only the first letter counts.
fn warnings(value: &str) -> Read {
    system::set_warning_map(match value.bytes().next() {
        Some(b'e') => am::error,
        Some(b'i') => am::info,
        Some(b'w') => am::warning,
        _ => return Err(format!("unrecognized warning_map option {value}")),
    });
    Ok(())
}

/// Parses the value of `+B`, given in the same word or the next.
fn breaks(letter: &str, value: &str) -> BreakMode {
    match if letter.is_empty() { value } else { letter } {
        "i" => BreakMode::Ignore,
        "c" => BreakMode::Key,
        _ => BreakMode::Disabled,
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
