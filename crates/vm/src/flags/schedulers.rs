//! The number of schedulers of each kind, and of async threads.

use kvik_bifs::system::SystemConfig;
use kvik_proc::sched::online_cpus;

use super::numbers::{atoi, pair};
use super::{ensure, Read};

/// Maximum number of schedulers of a kind.
const MAX_SCHEDULERS: i64 = 1024;

#[derive(Copy, Clone)]
struct Count {
    all: i64,
    online: i64,
}

pub struct Schedulers {
    normal: Count,
    dirty_cpu: Count,
    dirty_io: i64,
    async_threads: i64,
    /// Percentages applied to the counts.
    normal_share: Count,
    dirty_share: Count,
}

impl Schedulers {
    pub fn new() -> Schedulers {
        let cpus = Count { all: online_cpus() as i64, online: online_cpus() as i64 };
        let whole = Count { all: 100, online: 100 };
        Schedulers {
            normal: cpus,
            dirty_cpu: cpus,
            dirty_io: 10,
            async_threads: std::env::var("ERL_THREAD_POOL_SIZE")
                .map_or(1, |n| atoi(&n).clamp(1, 1024)),
            normal_share: whole,
            dirty_share: whole,
        }
    }

    pub fn read(&mut self, name: &str, v: &str) -> Result<bool, String> {
        match name {
            "S" => self.normal = count(v, self.normal.online, "schedulers")?,
            "SDcpu" => {
                self.dirty_cpu = count(v, self.dirty_cpu.online, "dirty CPU schedulers")?;
            }
            "SP" => self.normal_share = share(v, "schedulers")?,
            "SDPcpu" => self.dirty_share = share(v, "dirty CPU schedulers")?,
            "SDio" => {
                self.dirty_io = atoi(v);
                let bad = || format!("bad number of dirty I/O schedulers {v}");
                ensure((1..=MAX_SCHEDULERS).contains(&self.dirty_io), bad)?;
            }
            "A" => {
                let n = atoi(v);
                ensure((0..=1024).contains(&n), || format!("bad number of async threads {v}"))?;
                self.async_threads = n.max(1);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Computes the final numbers from all flags.
    pub fn settle(self, c: &mut SystemConfig) -> Read {
        let of = |count: Count, share: Count| Count {
            all: (count.all * share.all / 100).max(1),
            online: (count.online * share.online / 100).max(1),
        };
        let n = of(self.normal, self.normal_share);
        ensure(n.all <= MAX_SCHEDULERS, || {
            let percent = self.normal_share.all;
            format!("bad schedulers percentage {percent} (total amount of schedulers {})", n.all)
        })?;
        ensure(n.online <= n.all, || {
            format!(
                "bad schedulers online percentage {} (total amount of schedulers {}, online {})",
                self.normal_share.online, n.all, n.online
            )
        })?;
        let dirty = of(self.dirty_cpu, self.dirty_share);
        c.schedulers = n.all as usize;
        c.schedulers_online = n.online as usize;
        c.dirty_cpu = dirty.all.min(n.all) as usize;
        c.dirty_cpu_online = dirty.online.min(n.online) as usize;
        c.dirty_io = self.dirty_io as usize;
        c.async_threads = self.async_threads as usize;
        Ok(())
    }
}

/// Parses `All`, `All:Online` or `:Online`; values up to 0 are added to the number of CPUs.
fn count(v: &str, online: i64, what: &str) -> Result<Count, String> {
    let cpus = online_cpus() as i64;
    let (given, on) = match pair(v).ok_or_else(|| format!("bad amount of {what} {v}"))? {
        (None, on) => (cpus, on.unwrap_or(cpus)),
        (Some(all), None) => (all, all.min(online)),
        (Some(all), Some(on)) => (all, on),
    };
    let from_cpus = |n: i64| if n > 0 { n } else { cpus.saturating_add(n) };
    let c = Count { all: from_cpus(given), online: from_cpus(on) };
    ensure((1..=MAX_SCHEDULERS).contains(&c.all), || format!("bad amount of {what} {given}"))?;
    ensure((1..=c.all).contains(&c.online), || {
        format!("bad amount of {what} online {} (total amount of {what} {})", c.online, c.all)
    })?;
    Ok(c)
}

/// Parses the same forms as percentages.
fn share(v: &str, what: &str) -> Result<Count, String> {
    let (all, online) = match pair(v) {
        Some((None, Some(online))) => (100, online),
        Some((Some(all), online)) => (all, online.unwrap_or(all.min(100))),
        _ => (-1, -1),
    };
    let most = MAX_SCHEDULERS * 100;
    let good = (0..=most).contains(&all) && (0..=most).contains(&online);
    ensure(good, || format!("bad {what} percentage specifier {v}"))?;
    Ok(Count { all, online })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(flags: &[(&str, &str)]) -> Result<(usize, usize, usize), String> {
        let mut s = Schedulers::new();
        for (name, value) in flags {
            assert!(s.read(name, value)?);
        }
        let mut c = SystemConfig::default();
        s.settle(&mut c)?;
        Ok((c.schedulers, c.schedulers_online, c.dirty_io))
    }

    #[test]
    fn online_schedulers_are_no_more_than_processors_unless_said() {
        let cpus = online_cpus();
        assert_eq!(settled(&[]), Ok((cpus, cpus, 10)));
        assert_eq!(settled(&[("S", "1000")]), Ok((1000, cpus, 10)));
        assert_eq!(settled(&[("S", "8:6"), ("SDio", "3")]), Ok((8, 6, 3)));
        assert_eq!(settled(&[("S", "8:8"), ("SP", "50:25")]), Ok((4, 2, 10)));
        assert_eq!(settled(&[("S", "1")]), Ok((1, 1, 10)));
    }

    #[test]
    fn refuses_what_cannot_be() {
        for (flag, value) in [("S", "2:4"), ("S", "x"), ("S", "2000"), ("SP", "-1"), ("SDio", "0")]
        {
            assert!(settled(&[(flag, value)]).is_err(), "+{flag} {value}");
        }
    }
}
