//! Programs that make their load themselves, phase by phase: two nodes, and mnesia
//! (`lab/erlang/lab_phases.erl`). The driver reads their CPU time before and after each phase, while
//! they wait for its word.

use super::processes;
use std::io::{BufRead, BufReader, Write};
use std::process::Child;

/// A phase that a program has ended.
#[derive(Debug, PartialEq)]
pub struct ProgramPhase {
    pub name: String,
    pub count: f64,
    pub seconds: f64,
    /// Microseconds of p50, p99 and p99.9.
    pub latencies: [f64; 3],
}

impl ProgramPhase {
    /// `NAME COUNT NANOSECONDS P50 P99 P999`
    fn parse(text: &str) -> Option<ProgramPhase> {
        let (name, rest) = text.split_once(' ')?;
        let numbers: Option<Vec<f64>> = rest.split(' ').map(|word| word.parse().ok()).collect();
        let numbers = <[f64; 5]>::try_from(numbers?).ok()?;
        let [count, nanos, latencies @ ..] = numbers;
        let good = numbers.iter().all(|n| n.is_finite() && *n > 0.0);
        good.then(|| ProgramPhase {
            name: name.to_owned(),
            count,
            seconds: nanos / 1e9,
            latencies: latencies.map(|nanos| nanos / 1e3),
        })
    }
}

/// Leads a program through its phases; each with the CPU seconds of all processes meanwhile.
pub fn lead(child: &mut Child, mut ended: impl FnMut(ProgramPhase, f64)) -> Result<(), String> {
    let (Some(output), Some(mut input)) = (child.stdout.take(), child.stdin.take()) else {
        return Err("no pipes".to_owned());
    };
    let (mut before, mut last) = (0, String::new());
    for line in BufReader::new(output).lines() {
        let line = line.map_err(|e| e.to_string())?;
        let now = processes::cpu_nanos();
        match line.split_once(' ') {
            Some(("begin", _)) => before = now,
            Some(("end", text)) => {
                let phase = ProgramPhase::parse(text).ok_or_else(|| format!("said {line}"))?;
                ended(phase, (now - before) as f64 / 1e9);
            }
            _ if line == "done" => return Ok(()),
            // A warning of its logger.
            _ => {
                last = line;
                continue;
            }
        }
        input.write_all(b"go\n").map_err(|e| e.to_string())?;
    }
    Err(format!("ended before it was done, and said {last}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_a_phase_came_to() {
        let phase = ProgramPhase::parse("pingpong 2000 500000000 250000 1000000 2000000").unwrap();
        assert_eq!((phase.name.as_str(), phase.count, phase.seconds), ("pingpong", 2000.0, 0.5));
        assert_eq!(phase.latencies, [250.0, 1000.0, 2000.0]);
        assert_eq!(ProgramPhase::parse("pingpong 0 5 1 1 1"), None);
        assert_eq!(ProgramPhase::parse("pingpong 7 5"), None);
    }
}
