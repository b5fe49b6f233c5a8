//! What runs now, and how long is left, on the line where the cursor is.

use crate::rounds::Step;
use std::collections::BTreeMap;
use std::io::Write;
use std::time::{Duration, Instant};

pub struct Progress {
    steps: Vec<Step>,
    rounds: usize,
    begin: Instant,
    /// How long the last run of a job by a peer took.
    known: BTreeMap<(usize, usize), Duration>,
}

impl Progress {
    pub fn new(steps: &[Step], rounds: usize) -> Progress {
        Progress { steps: steps.to_vec(), rounds, begin: Instant::now(), known: BTreeMap::new() }
    }

    pub fn took(&mut self, step: &Step, time: Duration) {
        self.known.insert((step.job, step.peer), time);
    }

    /// What a round will take.
    pub fn takes(&self, round: usize) -> Duration {
        let steps = self.steps.iter().filter(|s| s.round == round);
        steps.filter_map(|s| self.known.get(&(s.job, s.peer))).sum()
    }

    /// What the steps from `index` on will take: as long as last time, or as long as others do.
    fn left(&self, index: usize) -> Option<Duration> {
        let sum: Duration = self.known.values().sum();
        let usual = sum / u32::try_from(self.known.len()).ok().filter(|n| *n > 0)?;
        let of = |s: &Step| self.known.get(&(s.job, s.peer)).copied().unwrap_or(usual);
        Some(self.steps[index.min(self.steps.len())..].iter().map(of).sum())
    }

    pub fn show(&self, index: usize, job: &str, peer: &str) {
        let Some(step) = self.steps.get(index) else { return };
        let (left, spent) = (self.left(index), self.begin.elapsed());
        let done = match left {
            Some(left) => spent.as_secs_f64() / (spent + left).as_secs_f64().max(0.001),
            None => 0.0,
        };
        let left = left.map_or(String::new(), |left| format!("  {} left", clock(left)));
        let round = step.round + 1;
        let bar = bar(done);
        eprint!("\r\x1b[K{bar} round {round}/{}  {job} on {peer}{left}", self.rounds);
        // A terminal that is gone does not concern the measurement.
        let _ = std::io::stderr().flush();
    }

    pub fn clear(&self) {
        eprint!("\r\x1b[K");
    }
}

fn bar(done: f64) -> String {
    const WIDTH: usize = 20;
    let full = ((done * WIDTH as f64) as usize).min(WIDTH);
    format!("[{}{}]", "#".repeat(full), "-".repeat(WIDTH - full))
}

fn clock(time: Duration) -> String {
    format!("{}:{:02}", time.as_secs() / 60, time.as_secs() % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_bar_and_clock() {
        assert_eq!(bar(0.5), "[##########----------]");
        assert_eq!(bar(7.0), "[####################]");
        assert_eq!(clock(Duration::from_secs(125)), "2:05");
    }

    #[test]
    fn what_is_known_tells_what_is_left() {
        let mut progress = Progress::new(&[], 1);
        assert_eq!(progress.left(0), None);
        progress.known.insert((0, 0), Duration::from_secs(2));
        assert_eq!(progress.left(0), Some(Duration::ZERO));
        assert_eq!(progress.takes(0), Duration::ZERO);
    }
}
