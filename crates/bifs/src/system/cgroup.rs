//! The limit on processor time that a control group sets (cgroups(7)).

use kvik_env::fs::read_to_string;

/// Whole processors that the group of this program may use, at most `online`; `None` if nothing is
/// found about groups.
pub(super) fn cpu_quota(online: usize) -> Option<usize> {
    quota(online, |path| read_to_string(path).ok())
}

fn quota(online: usize, read: impl Fn(&str) -> Option<String>) -> Option<usize> {
    let groups = read("/proc/self/cgroup")?;
    let mounts = read("/proc/self/mountinfo")?;
    let limit = match Group::of(&groups)? {
        Group::Of(group) => {
            let directory = mounted(&mounts, "cgroup", |m| m.flags.split(',').any(|f| f == "cpu"))?;
            let directory = directory.directory(group);
            let quota = read(&format!("{directory}/cpu.cfs_quota_us"))?;
            format!("{} {}", quota.trim(), read(&format!("{directory}/cpu.cfs_period_us"))?.trim())
        }
        Group::Unified(group) => {
            let has_cpu = |m: &Mount| {
                let all = read(&format!("{}{group}/cgroup.controllers", m.at)).unwrap_or_default();
                all.split_whitespace().any(|c| c == "cpu")
            };
            let mount = mounted(&mounts, "cgroup2", has_cpu)?;
            read(&format!("{}{group}/cpu.max", mount.at))?
        }
    };
    let (quota, period) = limit.trim().split_once(' ')?;
    let period: i64 = period.parse().ok()?;
    let quota: i64 = if quota == "max" { -1 } else { quota.parse().ok()? };
    if quota <= 0 || period <= 0 {
        return Some(online);
    }
    Some(((quota / period).max(1) as usize).min(online))
}

/// The group that rules this program's processor time, as a path below the mount point.
enum Group<'a> {
    /// In a hierarchy of its own (version 1).
    Of(&'a str),
    /// In the one for all (version 2).
    Unified(&'a str),
}

impl Group<'_> {
    /// From lines of the form `ID:CONTROLLERS:PATH`; version 2 names no controllers.
    fn of(groups: &str) -> Option<Group<'_>> {
        let mut unified = None;
        for line in groups.lines() {
            let mut fields = line.splitn(3, ':').skip(1);
            let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
            if controllers.split(',').any(|c| c == "cpu") {
                return Some(Group::Of(path));
            }
            if controllers.is_empty() {
                unified = Some(Group::Unified(path));
            }
        }
        unified
    }
}

/// A line of `/proc/self/mountinfo`.
struct Mount<'a> {
    root: &'a str,
    at: &'a str,
    flags: &'a str,
}

impl Mount<'_> {
    /// Where a group of version 1 is: at the mount point if that is what is mounted there.
    fn directory(&self, group: &str) -> String {
        if self.root == group {
            self.at.into()
        } else {
            format!("{}{group}", self.at)
        }
    }
}

/// The first mount of that type for which `is` holds.
fn mounted<'a>(mounts: &'a str, kind: &str, is: impl Fn(&Mount) -> bool) -> Option<Mount<'a>> {
    let one = |line: &'a str| {
        let (place, file_system) = line.split_once(" - ")?;
        let mut place = place.split(' ').skip(3);
        let mut file_system = file_system.split(' ');
        if file_system.next() != Some(kind) {
            return None;
        }
        let flags = file_system.nth(1).unwrap_or_default();
        Some(Mount { root: place.next()?, at: place.next()?, flags })
    };
    mounts.lines().filter_map(one).find(|m| is(m))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(files: &[(&str, &str)], online: usize) -> Option<usize> {
        let file = |path: &str| files.iter().find(|f| f.0 == path).map(|f| f.1.to_string());
        quota(online, file)
    }

    #[test]
    fn version_2() {
        let files = |max: &'static str| {
            [
                ("/proc/self/cgroup", "0::/a\n"),
                ("/proc/self/mountinfo", "9 8 0:2 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n"),
                ("/sys/fs/cgroup/a/cgroup.controllers", "cpuset cpu io\n"),
                ("/sys/fs/cgroup/a/cpu.max", max),
            ]
        };
        assert_eq!(with(&files("max 100000\n"), 8), Some(8));
        assert_eq!(with(&files("250000 100000\n"), 8), Some(2));
        assert_eq!(with(&files("50000 100000\n"), 8), Some(1));
        assert_eq!(with(&files("900000 100000\n"), 8), Some(8));
        assert_eq!(with(&files("nonsense"), 8), None);
    }

    #[test]
    fn version_1() {
        let files = |group: &'static str, quota: &'static str| {
            [
                ("/proc/self/cgroup", group),
                ("/proc/self/mountinfo", "9 8 0:2 /d /c rw shared:7 - cgroup c rw,cpu,cpuacct\n"),
                ("/c/cpu.cfs_quota_us", quota),
                ("/c/cpu.cfs_period_us", "100000\n"),
                ("/c/e/cpu.cfs_quota_us", "300000\n"),
                ("/c/e/cpu.cfs_period_us", "100000\n"),
            ]
        };
        assert_eq!(with(&files("4:cpu,cpuacct:/d\n0::/\n", "-1\n"), 4), Some(4));
        assert_eq!(with(&files("4:cpu,cpuacct:/d\n", "200000\n"), 4), Some(2));
        assert_eq!(with(&files("4:cpu,cpuacct:/e\n", "200000\n"), 4), Some(3));
    }

    #[test]
    fn nothing_is_found() {
        assert_eq!(with(&[], 8), None);
        let files = [("/proc/self/cgroup", "0::/\n"), ("/proc/self/mountinfo", "")];
        assert_eq!(with(&files, 8), None);
    }
}
