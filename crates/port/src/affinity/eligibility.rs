//! Programs that cannot start others.
//!
//! To what a program starts, another program or a thread, goes where it may run itself, for good. So
//! one that is kept on a processor for a while must not start anything meanwhile, nor ask where it
//! may run: it would find, and tell what it starts, that there is one processor. Of an ordinary
//! program that is linked to the C library, what it can ask of the system is known from the names it
//! takes from there; and plain is one that takes none of [`STARTERS`]: `cat`, `tr`, most drivers that
//! are written in C. Of any other nothing is known, and it is left alone.

use std::collections::{BTreeSet, HashMap};
use std::io::Read;
use std::sync::Mutex;

use kvik_env::fs::{self, File, MetadataExt};
use object::{Object, ObjectSymbol};

/// By which a program or a thread is begun, code is loaded that may, or the system is asked how many
/// processors there are; without what their names begin with (`__`, `__libc_`).
const STARTERS: &[&[u8]] = &[
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
/// The C library and what loads it.
const C_LIBRARY: &[&str] = &["ld-linux", "ld-musl", "ld64.so", "libc.so", "libc.musl"];
/// A larger file is not looked at.
const LARGEST: u64 = 4 << 20;
/// Files of which that is remembered.
const MOST: usize = 1024;

/// Which file, and in which state: its device, its number, and when it was changed.
type Id = (u64, u64, i64, i64);
/// What was found of the files that were looked at.
static FILES: Mutex<Option<HashMap<Id, bool>>> = Mutex::new(None);

/// Is it known that a program starts no other and no thread, and never asks where it may run?
pub(crate) fn is_plain(pid: i32) -> bool {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).map_or(0, Iterator::count);
    threads == 1 && files(pid).is_some_and(|all| all.iter().all(|path| is_plain_file(path)))
}

/// The files whose code it has, but for the C library. None if it does without that, or has code
/// that is in no file.
fn files(pid: i32) -> Option<Vec<String>> {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).ok()?;
    let mut paths = BTreeSet::new();
    for line in maps.lines() {
        // Addresses, what may be done, offset, device, number, path; the last may have blanks.
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

fn is_plain_file(path: &str) -> bool {
    let Ok(about) = fs::metadata(path) else { return false };
    if !about.is_file() || about.len() > LARGEST {
        return false;
    }
    let id = (about.dev(), about.ino(), about.mtime(), about.mtime_nsec());
    let mut known = FILES.lock().unwrap_or_else(|e| e.into_inner());
    let known = known.get_or_insert_default();
    if known.len() >= MOST {
        known.clear();
    }
    *known.entry(id).or_insert_with(|| takes_no_starter(path) == Some(true))
}
/// None for a file whose names cannot be read.
fn takes_no_starter(path: &str) -> Option<bool> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(LARGEST).read_to_end(&mut bytes).ok()?;
    let file = object::File::parse(bytes.as_slice()).ok()?;
    let mut taken = 0;
    for name in file.dynamic_symbols().filter(|s| s.is_undefined()) {
        let name = name.name_bytes().ok()?;
        taken += usize::from(!name.is_empty());
        if starts(name) {
            return Some(false);
        }
    }
    // One that takes nothing asks the system itself.
    Some(taken > 0)
}
fn starts(name: &[u8]) -> bool {
    let bare = name.strip_prefix(b"__libc_").or(name.strip_prefix(b"__")).unwrap_or(name);
    STARTERS.binary_search(&bare).is_ok()
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
        let plain = is_plain(p.id() as i32);
        drop(p.stdin.take());
        p.wait().unwrap();
        plain
    }

    #[test]
    fn who_can_start_others_is_not_plain() {
        assert!(STARTERS.is_sorted());
        assert!(plain("/bin/cat", &[]));
        assert!(plain("/usr/bin/tr", &["a", "b"]));
        assert!(!plain("/bin/sh", &["-c", "read line"]));
        assert!(!plain("/usr/bin/perl", &["-e", "<STDIN>"]));
        // This one has threads, and none has this number.
        assert!(!is_plain(std::process::id() as i32) && !is_plain(1 << 22));
    }
    #[test]
    fn names() {
        assert!([&b"fork"[..], b"__fork", b"__libc_fork", b"system"].iter().all(|n| starts(n)));
        assert!([&b"read"[..], b"forks", b"__read", b""].iter().all(|n| !starts(n)));
    }
    #[test]
    fn what_is_no_program() {
        assert_eq!(takes_no_starter("/etc/passwd"), None);
        assert!(!is_plain_file("/nonexistent"));
        assert!(!is_plain_file("/"));
    }
}
