//! One run of a program in a process of its own, with a time limit.

use crate::servers::processes;
use crate::system_load::SystemLoad;
use kvik_sys::signal;
use kvik_sys::usage::{reap, Usage};
use std::io::{ErrorKind, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{channel, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

const KILL: i32 = 9;
/// SIGINT and SIGTERM.
const INTERRUPTS: [i32; 2] = [2, 15];
/// Load by other programs that counts as a disturbance, in cores.
const DISTURBING: f64 = 0.1;
/// Resolution of the system's CPU times: less cannot be distinguished from nothing.
const UNSEEN_SECONDS: f64 = 0.03;

#[derive(Debug, Clone)]
pub struct RunResult {
    pub output: String,
    pub wall_seconds: f64,
    /// Resources used by the program and everything it started.
    pub usage: Usage,
    /// CPU time used by others meanwhile, in cores.
    pub outside_cores: f64,
}

impl RunResult {
    pub fn disturbed(&self) -> bool {
        self.outside_cores > DISTURBING + UNSEEN_SECONDS / self.wall_seconds.max(0.001)
    }
}

/// From now on ^C ends only the current run, and earlier measurements are kept.
pub fn heed_interrupts() {
    // If this fails, ^C ends the lab like any program, and orphans are not counted.
    for signal in INTERRUPTS {
        let _ = signal::set(signal, signal::SignalAction::Handle);
    }
    let _ = kvik_sys::usage::adopt_orphans();
}

pub fn interrupted() -> bool {
    static INTERRUPTED: AtomicBool = AtomicBool::new(false);
    if signal::take().any(|s| INTERRUPTS.contains(&s)) {
        INTERRUPTED.store(true, Ordering::Relaxed);
    }
    INTERRUPTED.load(Ordering::Relaxed)
}

pub fn run(command: &mut Command, folder: &Path, limit: Duration) -> Result<RunResult, String> {
    kvik_sys::spawn::from_a_copy(command);
    let before = SystemLoad::look();
    let begin = Instant::now();
    let mut child = command
        .current_dir(folder)
        .env("ERL_CRASH_DUMP_SECONDS", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // A process group of its own: ^C reaches only the lab, and leftover processes can be killed
        // together.
        .process_group(0)
        .spawn()
        .map_err(|e| e.to_string())?;
    let stdout = child.stdout.take().map(Drain::of);
    let stderr = child.stderr.take().map(Drain::of);
    let ended = until_end(&child, begin, limit);
    let wall = begin.elapsed();
    let orphans = end_group(&child);
    let output = stdout.map(Drain::text).unwrap_or_default();
    let failed = |why: String| {
        format!("{why}: {}", tail(&output, &stderr.map(Drain::text).unwrap_or_default()))
    };
    let usage = match ended {
        Ok((status, usage)) if status.success() => usage,
        Ok((status, _)) => return Err(failed(status.to_string())),
        Err(why) => return Err(failed(why)),
    };
    let usage = usage.and(orphans);
    let others = before.others_since(usage.cpu_seconds);
    let wall_seconds = wall.as_secs_f64();
    Ok(RunResult { output, wall_seconds, usage, outside_cores: others / wall_seconds.max(0.001) })
}

/// A pipe read by a thread, so that the caller can watch the clock.
struct Drain {
    bytes: Arc<Mutex<Vec<u8>>>,
    end: Receiver<()>,
}

impl Drain {
    fn of<R: Read + Send + 'static>(mut pipe: R) -> Self {
        let (send, end) = channel();
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let all = bytes.clone();
        std::thread::spawn(move || {
            let mut some = vec![0; 64 << 10];
            // A read error ends the output; the exit status shows what happened.
            loop {
                match pipe.read(&mut some) {
                    Err(e) if e.kind() == ErrorKind::Interrupted => {}
                    Ok(0) | Err(_) => break,
                    Ok(n) => {
                        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
                        all.extend_from_slice(&some[..n]);
                    }
                }
            }
            let _ = send.send(());
        });
        Self { bytes, end }
    }

    /// The output of a child that has ended. End-of-file may not come while another process has the
    /// pipe open: one that left the group, or a fork of the lab before its `exec`.
    fn text(self) -> String {
        let _ = self.end.recv_timeout(Duration::from_secs(1));
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// Waits for the child to end; its exit status and resource usage.
fn until_end(
    child: &Child,
    begin: Instant,
    limit: Duration,
) -> Result<(ExitStatus, Usage), String> {
    loop {
        let ended = reap(child.id()).map_err(|e| format!("wait: {}", e.name()))?;
        if let Some((_, status, usage)) = ended {
            return Ok((status, usage));
        }
        if begin.elapsed() > limit {
            return Err(format!("did not end within {} s and was ended", limit.as_secs()));
        }
        if interrupted() {
            return Err("interrupted".to_owned());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Waits briefly for the child's leftover processes, then kills the rest; returns their resource
/// usage.
fn end_group(child: &Child) -> Usage {
    let mut sum = Usage::default();
    let begin = Instant::now();
    while begin.elapsed() < Duration::from_secs(2) {
        match reap(0) {
            // No child is left.
            Err(_) => break,
            Ok(Some((_, _, usage))) => sum = sum.and(usage),
            Ok(None) if begin.elapsed() > Duration::from_millis(200) => {
                // Fails if the group has ended, which is fine.
                let _ = signal::send(-child.id().cast_signed(), KILL);
                // Daemons leave the group; those whose parent has ended are below the lab.
                processes::kill_all();
                std::thread::sleep(Duration::from_millis(10));
            }
            Ok(None) => std::thread::sleep(Duration::from_millis(1)),
        }
    }
    sum
}

/// The end of a run's output, on one line.
pub fn tail(output: &str, errors: &str) -> String {
    let text = format!("{} {}", output.trim(), errors.trim());
    let flat: Vec<char> = text.split_whitespace().collect::<Vec<_>>().join(" ").chars().collect();
    let from = flat.len().saturating_sub(200);
    flat[from..].iter().collect()
}

/// A run reaps every child of this process, so tests that start children are serialized.
#[cfg(test)]
pub static ONE: std::sync::Mutex<()> = std::sync::Mutex::new(());

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(code: &str, limit_ms: u64) -> Result<RunResult, String> {
        let _one = ONE.lock();
        // Processes of another test's browser end some time after it, and would count as this run's.
        while reap(0).is_ok() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let mut command = Command::new("sh");
        command.args(["-c", code]);
        run(&mut command, Path::new("/"), Duration::from_millis(limit_ms))
    }

    #[test]
    fn gives_output_and_time() {
        let outcome = sh("echo hi; sleep 0.2", 5000).unwrap();
        assert_eq!(outcome.output, "hi\n");
        assert!(outcome.wall_seconds >= 0.2);
        assert!(outcome.usage.peak_kb > 100 && outcome.usage.cpu_seconds < 0.2);
    }

    #[test]
    fn tells_what_it_used_itself() {
        let outcome = sh("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done", 20_000).unwrap();
        assert!(outcome.usage.cpu_seconds > 0.02, "{:?}", outcome.usage);
        assert!(outcome.usage.cpu_seconds <= outcome.wall_seconds * 1.1);
    }

    #[test]
    fn its_memory_is_not_what_the_lab_once_held() {
        const LARGE: u64 = 300 << 10;
        let mut ballast = kvik_sys::alloc::Ballast::new((LARGE << 10) as usize);
        ballast.resize((LARGE << 10) as usize);
        ballast.resize(0);
        let outcome = sh(":", 5000).unwrap();
        assert!(outcome.usage.peak_kb < LARGE / 2, "{:?}", outcome.usage);
    }

    #[test]
    fn output_is_read_while_the_pipe_stays_open() {
        // It leaves the group, and holds the pipe open.
        let outcome = sh("setsid sleep 3 & echo hi", 5000).unwrap();
        assert_eq!(outcome.output, "hi\n");
    }

    #[test]
    fn ends_a_daemon_that_left_the_group() {
        kvik_sys::usage::adopt_orphans().unwrap();
        let outcome = sh("setsid sleep 100 & echo $!", 5000).unwrap();
        let daemon = format!("/proc/{}", outcome.output.trim());
        assert!(daemon.len() > "/proc/".len() && !Path::new(&daemon).exists(), "{daemon}");
    }

    #[test]
    fn crash_is_reported_with_the_last_output() {
        let fault = sh("echo out; echo err >&2; exit 3", 5000).err().unwrap();
        assert!(fault.contains('3') && fault.contains("out") && fault.contains("err"), "{fault}");
    }

    #[test]
    fn a_hang_is_ended_with_all_it_started() {
        let begin = Instant::now();
        let fault = sh("echo begun; sleep 60 & sleep 60", 2000).err().unwrap();
        assert!(fault.contains("did not end") && fault.contains("begun"), "{fault}");
        assert!(begin.elapsed() < Duration::from_secs(50));
    }

    #[test]
    fn load_from_outside_disturbs() {
        let run = |outside_cores, wall_seconds| RunResult {
            output: String::new(),
            wall_seconds,
            usage: Usage::default(),
            outside_cores,
        };
        assert!(run(0.2, 1.0).disturbed() && !run(0.11, 1.0).disturbed());
        assert!(!run(0.2, 0.2).disturbed(), "three ticks are nothing");
    }
}
