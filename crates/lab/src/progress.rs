//! Progress display on the terminal's current line: the current run and the time left.

use crate::rounds::RoundStep;
use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

pub struct Progress {
    steps: Vec<RoundStep>,
    rounds: usize,
    /// No round begins after that; see `rounds`.
    budget: Option<Duration>,
    begin: Instant,
    /// How long the last run of a job by a peer took.
    known: BTreeMap<(usize, usize), Duration>,
    /// A terminal gets a progress bar; a file gets a line for each round.
    drawn: bool,
}

impl Progress {
    pub fn new(steps: &[RoundStep], rounds: usize, budget: Option<u64>) -> Progress {
        Progress {
            steps: steps.to_vec(),
            rounds,
            budget: budget.map(Duration::from_secs),
            begin: Instant::now(),
            known: BTreeMap::new(),
            drawn: std::io::stderr().is_terminal(),
        }
    }

    pub fn took(&mut self, step: &RoundStep, time: Duration) {
        self.known.insert((step.job, step.peer), time);
    }

    /// Estimated time of a step: its last run's, or the average of all others.
    fn of(&self, step: &RoundStep) -> Duration {
        let number = u32::try_from(self.known.len()).unwrap_or(u32::MAX).max(1);
        let usual = || self.known.values().sum::<Duration>() / number;
        self.known.get(&(step.job, step.peer)).copied().unwrap_or_else(usual)
    }

    /// Estimated time of a round.
    pub fn takes(&self, round: usize) -> Duration {
        self.steps.iter().filter(|s| s.round == round).map(|s| self.of(s)).sum()
    }

    /// Estimated time of the steps from `index` on, including further rounds that fit the budget.
    fn left(&self, index: usize, spent: Duration) -> Option<Duration> {
        if self.known.is_empty() {
            return None;
        }
        let steps = self.steps.get(index..).unwrap_or_default();
        let now = steps.first().map_or(0, |s| s.round);
        let this = steps.iter().filter(|s| s.round == now).map(|s| self.of(s)).sum();
        let mut left: Duration = this;
        for round in now + 1..self.rounds {
            left += self.takes(round);
            if self.budget.is_some_and(|b| one_too_many(round, spent + left, b)) {
                return Some(left - self.takes(round));
            }
        }
        Some(left)
    }

    pub fn show(&self, index: usize, job: &str, peer: &str) {
        let Some(step) = self.steps.get(index) else { return };
        let round = format!("round {}/{}", step.round + 1, self.rounds);
        if !self.drawn {
            if index == 0 || self.steps[index - 1].round != step.round {
                kvik_sys::complain!("{round}");
            }
            return;
        }
        let spent = self.begin.elapsed();
        let left = self.left(index, spent);
        let done =
            left.map_or(0.0, |left| spent.as_secs_f64() / (spent + left).as_secs_f64().max(0.001));
        let left = left.map_or(String::new(), |left| format!("  {} left", clock(left)));
        eprint!("\r\x1b[K{} {round}  {job} on {peer}{left}", bar(done));
        // A closed terminal must not affect the measurement.
        let _ = std::io::stderr().flush();
    }

    pub fn clear(&self) {
        if self.drawn {
            eprint!("\r\x1b[K");
        }
    }
}

/// Whether a round after `done` others must be skipped, as it would end at `end`.
pub fn one_too_many(done: usize, end: Duration, budget: Duration) -> bool {
    done > 0 && end >= budget
}

/// With fewer samples the spread means little.
pub const MIN_SAMPLES: usize = 5;

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
    fn estimates_the_remaining_time() {
        let seconds = Duration::from_secs;
        let steps: Vec<RoundStep> = (0..20).map(|i| RoundStep::new(i / 2, 0, i % 2)).collect();
        let left = |known: &[u64], budget, index| {
            let mut progress = Progress::new(&steps, 10, budget);
            for (peer, time) in known.iter().enumerate() {
                progress.took(&steps[peer], seconds(*time));
            }
            progress.left(index, seconds(0))
        };
        assert_eq!(left(&[], None, 0), None);
        assert_eq!(left(&[2, 4], None, 0), Some(seconds(60)));
        assert_eq!(left(&[2, 4], None, 19), Some(seconds(4)));
        assert_eq!(left(&[2], None, 18), Some(seconds(4)), "as long as others do");
        assert_eq!(left(&[2, 4], Some(33), 0), Some(seconds(30)), "whole rounds only");
        assert_eq!(left(&[2, 4], Some(1), 0), Some(seconds(6)), "one is made whatever");
    }
}
