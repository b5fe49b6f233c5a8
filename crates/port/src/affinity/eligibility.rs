//! Eligibility for pinning: programs that cannot start others.
//!
//! A child process or thread inherits its parent's CPU set for good. So a program that is pinned
//! for a while must not start anything meanwhile, nor query its CPU set: it would see, and tell its
//! children, that there is one CPU. For an ordinary program linked to the C library, the symbols it
//! imports tell what it can ask of the system. It is eligible if it imports none of
//! [`SPAWN_FUNCTIONS`]: `cat`, `tr`, most drivers that are written in C. Nothing is known of other
//! programs, which are left alone.

use std::collections::{BTreeSet, HashMap};
use std::io::Read;
use std::sync::Mutex;

use kvik_env::fs::{self, File, MetadataExt};
use object::{Object, ObjectSymbol};

/// Functions that start a program or a thread, load code that may, or query the number of CPUs;
/// without the prefixes `__` and `__libc_`.
const SPAWN_FUNCTIONS: &[&[u8]] = &[
    b"aio_fsync",
    b"aio_read",
    b"aio_read64",
    b"aio_write",
    b"aio_write64",
    b"clone",
    b"clone3",
    b"daemon",
    b"dlmopen",
    b"dlopen",
    b"execl",
    b"execle",
    b"execlp",
    b"execv",
    b"execve",
    b"execveat",
    b"execvp",
    b"execvpe",
    b"fexecve",
    b"fork",
    b"forkpty",
    b"get_nprocs",
    b"get_nprocs_conf",
    b"getaddrinfo_a",
    b"getcpu",
    b"lio_listio",
    b"lio_listio64",
    b"mq_notify",
    b"popen",
    b"posix_spawn",
    b"posix_spawnp",
    b"pthread_create",
    b"pthread_getaffinity_np",
    b"pthread_setaffinity_np",
    b"rexec",
    b"sched_getaffinity",
    b"sched_getcpu",
    b"sched_setaffinity",
    b"syscall",
    b"sysconf",
    b"system",
    b"thrd_create",
    b"timer_create",
    b"unshare",
    b"vfork",
    b"wordexp",
];
/// The C library and its dynamic loader.
const C_LIBRARY: &[&str] = &["ld-linux", "ld-musl", "ld64.so", "libc.so", "libc.musl"];
/// Programs in larger files are not eligible.
const MAX_FILE_BYTES: u64 = 4 << 20;
/// Files whose result is cached.
const MAX_REMEMBERED_FILES: usize = 1024;

/// A file and its state: device, inode, and time of the last change.
type Id = (u64, u64, i64, i64);
/// The cached results.
static FILES: Mutex<Option<HashMap<Id, bool>>> = Mutex::new(None);

/// Whether a program is known to start no other and no thread, and never to query its CPU set.
pub(crate) fn is_eligible(pid: i32) -> bool {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count);
    threads == 1 && files(pid).is_some_and(|all| all.iter().all(|path| is_eligible_file(path)))
}

/// The files whose code the program has mapped, except the C library. None if it has no C library,
/// or has code that is in no file.
fn files(pid: i32) -> Option<Vec<String>> {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).ok()?;
    let mut paths = BTreeSet::new();
    for line in maps.lines() {
        // Address range, permissions, offset, device, inode, path; the path may contain blanks.
        let mut words = line.splitn(6, ' ');
        let may_run = words.nth(1)?.contains('x');
        let path = words.last().unwrap_or_default().trim_start();
        match path {
            _ if !may_run => {}
            "[vdso]" | "[vsyscall]" => {}
            _ if path.starts_with('/') => drop(paths.insert(path)),
            _ => return None,
        }
    }
    let is_c = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or_default();
        C_LIBRARY.iter().any(|c| name.starts_with(c))
    };
    let (c, others): (Vec<_>, Vec<_>) = paths.into_iter().partition(|p| is_c(p));
    // As the program sees them: it may have another root.
    let seen = |path: &&str| format!("/proc/{pid}/root{path}");
    (!c.is_empty()).then(|| others.iter().map(seen).collect())
}

fn is_eligible_file(path: &str) -> bool {
    let Ok(about) = fs::metadata(path) else { return false };
    if !about.is_file() || about.len() > MAX_FILE_BYTES {
        return false;
    }
    let id = (about.dev(), about.ino(), about.mtime(), about.mtime_nsec());
    let mut known = FILES.lock().unwrap_or_else(|e| e.into_inner());
    let known = known.get_or_insert_default();
    if known.len() >= MAX_REMEMBERED_FILES {
        known.clear();
    }
    *known.entry(id).or_insert_with(|| takes_no_starter(path) == Some(true))
}
/// None for a file whose symbols cannot be read.
fn takes_no_starter(path: &str) -> Option<bool> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MAX_FILE_BYTES).read_to_end(&mut bytes).ok()?;
    let file = object::File::parse(bytes.as_slice()).ok()?;
    let mut taken = 0;
    for name in file.dynamic_symbols().filter(|s| s.is_undefined()) {
        let name = name.name_bytes().ok()?;
        taken += usize::from(!name.is_empty());
        if starts(name) {
            return Some(false);
        }
    }
    // A file without imports makes its system calls itself.
    Some(taken > 0)
}
fn starts(name: &[u8]) -> bool {
    let bare = name.strip_prefix(b"__libc_").or(name.strip_prefix(b"__")).unwrap_or(name);
    SPAWN_FUNCTIONS.binary_search(&bare).is_ok()
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    fn plain(path: &str, args: &[&str]) -> bool {
        let mut p = Command::new(path).args(args).stdin(Stdio::piped()).spawn().unwrap();
        // Until it reads: before that it loads what it needs.
        let stat = format!("/proc/{}/stat", p.id());
        while !fs::read_to_string(&stat).unwrap().contains(") S ") {
            std::thread::yield_now();
        }
        let plain = is_eligible(p.id() as i32);
        drop(p.stdin.take());
        p.wait().unwrap();
        plain
    }

    #[test]
    fn programs_that_can_start_others_are_not_eligible() {
        assert!(SPAWN_FUNCTIONS.is_sorted());
        assert!(plain("/bin/cat", &[]));
        assert!(plain("/usr/bin/tr", &["a", "b"]));
        assert!(!plain("/bin/sh", &["-c", "read line"]));
        assert!(!plain("/usr/bin/perl", &["-e", "<STDIN>"]));
        // This process has threads; the second process id does not exist.
        assert!(!is_eligible(std::process::id() as i32) && !is_eligible(1 << 22));
    }
    #[test]
    fn names() {
        assert!([&b"fork"[..], b"__fork", b"__libc_fork", b"system"].iter().all(|n| starts(n)));
        assert!([&b"read"[..], b"forks", b"__read", b""].iter().all(|n| !starts(n)));
    }
    #[test]
    fn files_that_are_no_programs_are_not_eligible() {
        assert_eq!(takes_no_starter("/etc/passwd"), None);
        assert!(!is_eligible_file("/nonexistent"));
        assert!(!is_eligible_file("/"));
    }
}
