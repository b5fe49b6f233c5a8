//! One run of one program in a process of its own, with a time limit.

use crate::machine::{busy_ticks, field, leading};
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

pub struct Outcome {
    pub output: String,
    pub wall_ms: f64,
    /// Processor time of the whole machine during the run, in cores: what others took included.
    pub busy_cores: f64,
    pub peak_kb: u64,
}

pub fn run(command: &mut Command, folder: &Path, limit: Duration) -> Result<Outcome, String> {
    let before = busy_ticks();
    let begin = Instant::now();
    let mut child = command
        .arg("-pa")
        .arg(folder)
        .current_dir(folder)
        .env("ERL_CRASH_DUMP_SECONDS", "0")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| e.to_string())?;
    let stdout = child.stdout.take().map(drain);
    let stderr = child.stderr.take().map(drain);
    let (output, peak_kb) = match stdout {
        Some(stdout) => wait_for(&mut child, &stdout, begin, limit)?,
        None => (String::new(), 0),
    };
    let status = child.wait().map_err(|e| e.to_string())?;
    let wall = begin.elapsed();
    if !status.success() {
        let said = stderr.and_then(|s| s.recv_timeout(Duration::from_millis(500)).ok());
        return Err(format!("{status}: {}", tail(&output, &said.unwrap_or_default())));
    }
    let ticks = busy_ticks().zip(before).map_or(0, |(after, before)| after.saturating_sub(before));
    let busy_cores = ticks as f64 / 100.0 / wall.as_secs_f64().max(0.001);
    Ok(Outcome { output, wall_ms: wall.as_secs_f64() * 1000.0, busy_cores, peak_kb })
}

/// Reads a pipe to its end on a thread, so that the caller can watch the clock.
fn drain<R: Read + Send + 'static>(mut pipe: R) -> Receiver<String> {
    let (send, receive) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // A pipe that breaks ends the text; the exit status tells what happened.
        let _ = pipe.read_to_end(&mut bytes);
        let _ = send.send(String::from_utf8_lossy(&bytes).into_owned());
    });
    receive
}

/// The output once it has ended, and the highest memory seen while looking every so often.
fn wait_for(
    child: &mut Child,
    stdout: &Receiver<String>,
    begin: Instant,
    limit: Duration,
) -> Result<(String, u64), String> {
    let mut peak_kb = 0;
    loop {
        match stdout.recv_timeout(Duration::from_millis(100)) {
            Ok(text) => return Ok((text, peak_kb)),
            Err(RecvTimeoutError::Disconnected) => return Ok((String::new(), peak_kb)),
            Err(RecvTimeoutError::Timeout) => peak_kb = peak_kb.max(resident_peak(child.id())),
        }
        if begin.elapsed() > limit {
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("took more than {} s", limit.as_secs()));
        }
    }
}

fn resident_peak(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    field(&status, "VmHWM").and_then(|v| leading(&v)).unwrap_or(0)
}

/// The last words of a run that failed, on one line.
fn tail(output: &str, errors: &str) -> String {
    let text = format!("{} {}", output.trim(), errors.trim());
    let flat: Vec<char> = text.split_whitespace().collect::<Vec<_>>().join(" ").chars().collect();
    let from = flat.len().saturating_sub(200);
    flat[from..].iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(code: &str, limit_ms: u64) -> Result<Outcome, String> {
        // `-pa FOLDER` become the script's arguments and are ignored.
        let mut command = Command::new("sh");
        command.args(["-c", code, "sh"]);
        run(&mut command, Path::new("/"), Duration::from_millis(limit_ms))
    }

    #[test]
    fn gives_output_and_time() {
        let outcome = sh("echo hi; sleep 0.2", 5000).unwrap();
        assert_eq!(outcome.output, "hi\n");
        assert!(outcome.wall_ms >= 200.0);
    }

    #[test]
    fn a_crash_is_a_fault_with_its_last_words() {
        let fault = sh("echo out; echo err >&2; exit 3", 5000).err().unwrap();
        assert!(fault.contains('3') && fault.contains("out") && fault.contains("err"), "{fault}");
    }

    #[test]
    fn a_hang_is_ended() {
        let begin = Instant::now();
        assert!(sh("exec sleep 20", 200).is_err());
        assert!(begin.elapsed() < Duration::from_secs(10));
    }
}
