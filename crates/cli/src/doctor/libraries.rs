//! NIF libraries and drivers: whether they open. A library runs code of its own when it is opened,
//! so each is opened by a process of its own, which answers through the socket that is its standard
//! input: what the library prints is no answer.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use kvik_env::process::{self, Command, Stdio};
use kvik_env::socket::UnixStream;
use kvik_env::{fs, thread};

use super::files::{self, Files};
use super::{Report, OPEN};

/// What a library for Erlang exports, one or the other.
const ENTRY_POINTS: [&[u8]; 2] = [b"nif_init", b"driver_init"];
/// How much of a library is searched for them at once.
const CHUNK: usize = 1 << 20;
/// Libraries of this size are not searched.
const MAX_MEGABYTES: u64 = 4096;
/// A library that is not open after this time is given up.
const OPEN_LIMIT: Duration = Duration::from_secs(10);
/// The longest answer that is read.
const MAX_ANSWER: u64 = 1 << 16;

/// Examines the libraries below a folder, except those below `known`.
pub fn examine(report: &mut Report, subject: &str, files: &Files, known: Option<&Path>) {
    let is_known = |file: &Path| {
        known.is_some_and(|root| fs::canonicalize(file).is_ok_and(|file| file.starts_with(root)))
    };
    let (mut count, mut failed) = (0, Vec::new());
    for file in files.with_extension("so").filter(|file| !is_known(file)) {
        match is_for_erlang(file) {
            Ok(true) => {
                count += 1;
                failed.extend(opens(file).err().map(|why| (file, "does not open", why)));
            }
            Ok(false) => {}
            Err(why) => failed.push((file, "cannot be read", why)),
        }
    }
    let open = count - failed.iter().filter(|f| f.1 == "does not open").count();
    report.fact(subject, format_args!("{open} of {count} libraries open"));
    for (file, what, why) in failed {
        report.fault("", format_args!("{} {what}: {why}", files.shown(file)));
    }
}

fn is_for_erlang(file: &Path) -> Result<bool, String> {
    let mut file = files::open(file, MAX_MEGABYTES)?;
    let longest = ENTRY_POINTS.iter().map(|name| name.len()).max().unwrap_or(1);
    let mut bytes = Vec::with_capacity(CHUNK + longest);
    loop {
        let read = (&mut file as &mut dyn Read).take(CHUNK as u64).read_to_end(&mut bytes);
        if read.map_err(|e| e.to_string())? == 0 {
            return Ok(false);
        }
        if ENTRY_POINTS.iter().any(|name| bytes.windows(name.len()).any(|w| w == *name)) {
            return Ok(true);
        }
        // A name may lie on both sides of the border.
        bytes.drain(..bytes.len().saturating_sub(longest - 1));
    }
}

/// Has a process open a library. Only an answer counts: a library may end the process with any
/// status.
fn opens(file: &Path) -> Result<(), String> {
    let exe = std::env::current_exe().map_err(|e| e.to_string())?;
    let (ours, theirs) = UnixStream::pair().map_err(|e| e.to_string())?;
    ours.set_read_timeout(Some(OPEN_LIMIT)).map_err(|e| e.to_string())?;
    let mut command = Command::new(exe);
    command.args(["doctor", OPEN]).arg(file);
    command.stdin(OwnedFd::from(theirs)).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = process::start(&mut command).map_err(|e| e.to_string())?;
    // It holds a copy of the child's end, which would keep the stream open after the child's death.
    drop(command);
    let answer = answer(ours);
    let ended = child.try_wait();
    let _ = child.kill();
    let status = child.wait().map_err(|e| e.to_string())?;
    match (answer, ended) {
        (Ok(Some(why)), _) if why.is_empty() => Ok(()),
        (Ok(Some(why)), _) => Err(why),
        (Err(_), Ok(None)) => {
            Err(format!("its initialisation is not over after {} s", OPEN_LIMIT.as_secs()))
        }
        _ => Err(format!("it ends the process ({status})")),
    }
}

/// The answer, which ends with a zero byte; none if the stream ends before.
fn answer(from: UnixStream) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    io::BufRead::read_until(&mut io::BufReader::new(from.take(MAX_ANSWER)), 0, &mut bytes)?;
    let text = bytes.strip_suffix(b"\0");
    Ok(text.map(|text| String::from_utf8_lossy(text).into_owned()))
}

/// `kvik doctor --open FILE`: writes why the file does not open, or nothing, and a zero byte to the
/// standard input. Ends when that is closed, whatever the library does meanwhile.
pub fn open_here(file: &Path) -> i32 {
    let watch = || {
        let _ = io::stdin().read(&mut [0]);
        process::exit_at_once(1);
    };
    let socket = io::stdin().as_fd().try_clone_to_owned();
    let (Ok(socket), Ok(_)) = (socket, thread::spawn("parent", None, watch)) else { return 1 };
    let mut answer = kvik_nif::opens(file).err().unwrap_or_default().into_bytes();
    answer.push(0);
    let _ = UnixStream::from(socket).write_all(&answer);
    // Without the library's destructors.
    process::exit_at_once(0)
}
