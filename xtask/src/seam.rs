//! The operating system is reached through crate `env` alone (docs/internals/env.md): what other crates
//! may not name.

use std::fs;
use std::path::Path;

/// Names below a path.
enum Names {
    All,
    Only(&'static [&'static str]),
}
use Names::{All, Only};

/// What is below these paths belongs to the operating system, and what is there instead.
const SYSTEM: &[(&str, Names, &str)] = &[
    ("std::fs", All, "kvik_env::fs"),
    ("std::os::unix::fs", All, "kvik_env::fs"),
    ("std::os::unix::net", All, "kvik_env::socket"),
    ("std::net", Only(&["TcpListener", "TcpStream", "UdpSocket"]), "kvik_env::socket"),
    ("std::thread", All, "kvik_env::thread"),
    ("std::time", Only(&["Instant", "SystemTime", "UNIX_EPOCH"]), "kvik_env::clock"),
    ("std::process", Only(&["Command", "Child", "Stdio"]), "kvik_env::process"),
    ("std::hash", Only(&["RandomState"]), "kvik_env::random"),
    ("std::collections::hash_map", Only(&["RandomState"]), "kvik_env::random"),
    ("getrandom", All, "kvik_env::random"),
    ("kvik_sys", Only(SYSTEM_CALLS), "kvik_env"),
];
/// Modules of crate `sys` that call the system. Its others are allocators, libraries and counters.
const SYSTEM_CALLS: &[&str] = &[
    "clock",
    "fd",
    "file",
    "mapped",
    "path",
    "place",
    "poll",
    "raw_socket",
    "shared",
    "signal",
    "socket",
    "spawn",
    "ticks",
    "tty",
    "usage",
];
/// Functions of the C library that a crate may call: for the memory of heaps and code, and what NIF
/// libraries and drivers are promised.
const C_LIBRARY: &[(&str, Names)] = &[
    ("heap", Only(&["madvise", "mmap"])),
    ("jit", Only(&["madvise", "mmap", "mprotect", "mremap", "munmap"])),
    ("nif", All),
];
/// Crates for which nothing of this holds: the seam and what is below it, the benchmark tool, which
/// watches other programs, and locks, whose waiters must not wait for a simulated time.
const EXEMPT: &[&str] = &["sys", "env", "lab", "sync"];
/// Files that are compiled for tests only.
const TESTS: &[&str] = &["map_tests.rs", "snapshots.rs", "tests.rs", "tests_oracle.rs"];

pub fn check(root: &Path, dir: &Path, name: &str, out: &mut Vec<String>) {
    if !EXEMPT.contains(&name) {
        files(root, &dir.join("src"), name, out);
    }
}

fn files(root: &Path, dir: &Path, name: &str, out: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    for path in entries.filter_map(|e| Some(e.ok()?.path())) {
        let is = |names: &[&str]| names.iter().any(|n| path.ends_with(n));
        if path.is_dir() {
            files(root, &path, name, out);
        } else if path.extension().is_some_and(|e| e == "rs") && !is(TESTS) {
            let text = fs::read_to_string(&path).unwrap_or_default();
            let short = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            out.extend(breaches(&text, name).map(|(n, what)| format!("{short}:{n}: {what}")));
        }
    }
}

/// The lines of code, not of comments or tests, that go past the seam, and what is wrong with each.
fn breaches<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = (usize, String)> + 'a {
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let system = SYSTEM.iter().flat_map(move |(path, names, instead)| {
        let bad = names_below(code, path).filter(|(_, n)| names.has(n));
        bad.map(move |(at, n)| (at, format!("{path}::{n}: use {instead}")))
    });
    let may = C_LIBRARY.iter().find(|(c, _)| *c == name).map(|(_, names)| names);
    let calls = names_below(code, "libc").filter(move |(at, n)| {
        let is_call =
            code[*at..].find(n).is_some_and(|i| code[at + i + n.len()..].starts_with('('));
        is_call && !may.is_some_and(|m| m.has(n))
    });
    let calls = calls.map(|(at, n)| (at, format!("libc::{n}: a system call outside kvik_sys")));
    let line = |at: usize| code[..at].lines().count().max(1);
    let is_comment = |at: usize| {
        let start = code[..at].rfind('\n').map_or(0, |i| i + 1);
        code[start..].trim_start().starts_with("//")
    };
    system
        .chain(calls)
        .filter(move |(at, _)| !is_comment(*at))
        .map(move |(at, what)| (line(at + 1), what))
}

impl Names {
    fn has(&self, name: &str) -> bool {
        match self {
            All => true,
            Only(names) => names.contains(&name),
        }
    }
}

/// Where code names the path, and each name below it: one, or all in braces. The path alone, as in
/// `use std::fs;`, has the name `self`.
fn names_below<'a>(code: &'a str, path: &'a str) -> impl Iterator<Item = (usize, &'a str)> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let found = code.match_indices(path).filter(move |(at, _)| {
        let before = code[..*at].chars().next_back();
        let behind = code[at + path.len()..].chars().next();
        !before.is_some_and(|c| is_word(c) || c == ':') && !behind.is_some_and(is_word)
    });
    found.flat_map(move |(at, _)| {
        let rest = &code[at + path.len()..];
        let names: Vec<&str> = match rest.strip_prefix("::") {
            None => vec!["self"],
            Some(rest) => match rest.strip_prefix('{') {
                None => vec![rest.split(|c| !is_word(c)).next().unwrap_or_default()],
                Some(list) => {
                    let list = list.split('}').next().unwrap_or_default().split(',');
                    let name = |n: &'a str| n.trim().split(|c| !is_word(c)).next();
                    list.filter_map(name).filter(|n| !n.is_empty()).collect()
                }
            },
        };
        names.into_iter().map(move |n| (at, n))
    })
}

#[cfg(test)]
mod tests {
    fn breaches(text: &str, name: &str) -> Vec<(usize, String)> {
        let mut all: Vec<_> = super::breaches(text, name).collect();
        all.sort();
        all
    }

    #[test]
    fn finds_what_goes_past_the_seam() {
        let text = "use std::time::{Duration, Instant};\n\
                    use std::fs;\n\
                    // std::fs is not for us\n\
                    std::process::exit(1); std::process::Command::new(x);\n\
                    use kvik_sys::{\n    alloc,\n    poll::Poller,\n};\n\
                    use kvik_sys::Errno; use std::net::SocketAddr;\n\
                    unsafe { libc::read(0) }; let e = libc::EIO;\n\
                    mystd::fs::x();\n\
                    #[cfg(test)]\nmod tests {\n    use std::thread;\n}\n";
        let lines = |name| breaches(text, name).iter().map(|b| b.0).collect::<Vec<_>>();
        assert_eq!(lines("port"), [1, 2, 4, 5, 10]);
        assert_eq!(lines("nif"), [1, 2, 4, 5]);
        let what: Vec<String> = breaches(text, "jit").into_iter().map(|b| b.1).collect();
        assert_eq!(what[0], "std::time::Instant: use kvik_env::clock");
        assert_eq!(what[3], "kvik_sys::poll: use kvik_env");
        assert_eq!(what[4], "libc::read: a system call outside kvik_sys");
    }
}
