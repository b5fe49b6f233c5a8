//! Samples the processes for the live page: reductions, mailboxes and memory, as each reports them.
//!
//! A process is asked by a signal, as `process_info/2` does: it answers between two of its time
//! slices, on its scheduler, and a waiting process goes on waiting. The sampler never blocks. A
//! process that has not answered after [`ANSWER_TIMEOUT`] is shown as unresponsive, and is not
//! asked again until it has answered.
//!
//! Once a second there is a *round*. With many processes a round asks only a part of them, and each
//! part in two rounds, to measure the reductions used in between; processes that are shown are
//! asked in every round. The requests of a round are spread over the time until the next one.

use std::collections::{HashMap, HashSet, VecDeque};
use std::mem;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

use kvik_env::clock::Instant;
use kvik_proc::process::table;
use kvik_proc::signal::ask;
use serde_json::Value;

use crate::process_details::{self, Numbers, ProcessDetails};

/// With at most this many processes a round asks all; otherwise `PART` new ones.
const ALL: usize = 4000;
pub const PART: usize = 2000;
/// Maximum slots of the process table that a round scans.
const MAX_SLOTS_PER_ROUND: usize = 1 << 20;
/// Rows of each list.
const TOP: usize = 20;
const ROUND: Duration = Duration::from_secs(1);
/// Server steps over which a round spreads its requests.
const STEPS_PER_ROUND: usize = 50;
/// Time limit for an answer.
pub const ANSWER_TIMEOUT: Duration = Duration::from_millis(300);

/// An answer; `None` if the process has ended.
enum Answer {
    Numbers(u32, Option<Numbers>),
    About(u32, Option<ProcessDetails>),
    Details(u32, Option<Value>),
}

/// Last known numbers of a process.
#[derive(Clone, Default)]
pub struct ProcessSample {
    pub numbers: Numbers,
    /// Reductions per second between its last two answers.
    pub rate: Option<f64>,
    pub silent: bool,
}

/// The lists of top processes, by criterion.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum List {
    Reductions = 0,
    Mailbox = 1,
    Memory = 2,
}
pub const LISTS: [(&str, List); 3] =
    [("reductions", List::Reductions), ("mailbox", List::Mailbox), ("memory", List::Memory)];

impl List {
    /// Sort key, higher first. Unresponsive processes come first in the reductions list.
    fn rank(self, k: &ProcessSample) -> (bool, u64, u64) {
        match self {
            List::Reductions => {
                (k.silent, k.rate.map_or(0, |r| r as u64 + 1), k.numbers.reductions)
            }
            List::Mailbox => (false, k.numbers.mailbox as u64, k.numbers.reductions),
            List::Memory => (false, k.numbers.memory as u64, 0),
        }
    }
}

pub struct ProcessSampler {
    tell: Sender<Answer>,
    told: Receiver<Answer>,
    /// Processes left to ask in this round, and how many to ask in each step.
    queue: VecDeque<u32>,
    a_step: usize,
    /// Processes that have not answered, and when they were asked.
    asked: HashMap<u32, Instant>,
    known: HashMap<u32, ProcessSample>,
    about: HashMap<u32, ProcessDetails>,
    tops: [Vec<u32>; LISTS.len()],
    /// Where the next scan of the process table starts, and the processes the last one found.
    cursor: usize,
    part: Vec<u32>,
    began: Option<Instant>,
    last_asked: Option<Instant>,
    ranked: bool,
    /// Number of processes that a round asks.
    pub size: usize,
    /// Processes asked for details that have not answered, and the answers received.
    details: HashSet<u32>,
    answers: Vec<(u32, Option<Value>)>,
}

impl Default for ProcessSampler {
    fn default() -> ProcessSampler {
        let (tell, told) = mpsc::channel();
        ProcessSampler {
            tell,
            told,
            queue: VecDeque::new(),
            a_step: 0,
            asked: HashMap::new(),
            known: HashMap::new(),
            about: HashMap::new(),
            tops: Default::default(),
            cursor: 0,
            part: Vec::new(),
            began: None,
            last_asked: None,
            ranked: true,
            size: 0,
            details: HashSet::new(),
            answers: Vec::new(),
        }
    }
}

impl ProcessSampler {
    /// Periodic work, every few milliseconds while a viewer is active.
    pub fn step(&mut self, now: Instant) {
        self.hear();
        if self.began.is_none_or(|b| now.saturating_duration_since(b) >= ROUND) && self.ranked {
            self.begin(now);
        }
        for _ in 0..self.a_step {
            let Some(pid) = self.queue.pop_front() else { break };
            self.ask(pid, now);
        }
        let over = |t: Instant| now.saturating_duration_since(t) >= ANSWER_TIMEOUT;
        let waits = || !self.asked.is_empty() && !self.last_asked.is_none_or(over);
        if !self.ranked && self.queue.is_empty() && !waits() {
            self.rank(now);
        }
    }
    /// Drops all data when no viewer is active any more.
    pub fn forget(&mut self) {
        let (asked, details) = (mem::take(&mut self.asked), mem::take(&mut self.details));
        let (tell, told) = (self.tell.clone(), mem::replace(&mut self.told, mpsc::channel().1));
        *self = ProcessSampler { tell, told, asked, details, ..ProcessSampler::default() };
    }
    fn begin(&mut self, now: Instant) {
        self.began = Some(now);
        self.ranked = false;
        let all = self.whom();
        self.size = all.len();
        self.known.retain(|pid, _| all.contains(pid));
        self.asked.retain(|pid, _| table().get(*pid, &kvik_sync::pin()).is_some());
        self.queue = all.into_iter().collect();
        self.a_step = (self.size / STEPS_PER_ROUND).max(50);
    }
    fn whom(&mut self) -> HashSet<u32> {
        if table().count() <= ALL {
            self.part.clear();
            return table().numbers().into_iter().collect();
        }
        let mut new = Vec::new();
        let mut places = 0;
        while new.len() < PART && places < MAX_SLOTS_PER_ROUND {
            let some = 256;
            let (found, next) = table().numbers_in(self.cursor, some, usize::MAX);
            new.extend(found);
            places += some;
            self.cursor = next;
        }
        let old = mem::replace(&mut self.part, new.clone());
        new.into_iter().chain(old).chain(self.tops.iter().flatten().copied()).collect()
    }
    fn ask(&mut self, pid: u32, now: Instant) {
        if self.asked.contains_key(&pid) {
            return;
        }
        self.asked.insert(pid, now);
        self.last_asked = Some(now);
        let tell = self.tell.clone();
        let numbers = move |p: Option<&kvik_proc::Proc>| {
            let _ = tell.send(Answer::Numbers(pid, p.map(process_details::numbers)));
        };
        ask(pid, Box::new(numbers));
    }
    fn hear(&mut self) {
        while let Ok(a) = self.told.try_recv() {
            match a {
                Answer::Numbers(pid, n) => {
                    self.asked.remove(&pid);
                    self.note(pid, n);
                }
                Answer::About(pid, Some(a)) => {
                    self.about.insert(pid, a);
                }
                Answer::About(pid, None) => {
                    self.about.remove(&pid);
                }
                Answer::Details(pid, d) => {
                    self.details.remove(&pid);
                    self.answers.push((pid, d));
                }
            }
        }
    }
    fn note(&mut self, pid: u32, numbers: Option<Numbers>) {
        let Some(numbers) = numbers else {
            self.known.remove(&pid);
            return;
        };
        let k = self.known.entry(pid).or_default();
        let seconds = numbers.at.saturating_sub(k.numbers.at) as f64 / 1e9;
        let used = numbers.reductions.saturating_sub(k.numbers.reductions);
        if k.numbers.at > 0 && seconds > 0.01 {
            k.rate = Some(used as f64 / seconds);
        }
        *k = ProcessSample { numbers, rate: k.rate, silent: false };
    }
    /// Ends a round: ranks the processes and asks the top ones for what rows show.
    fn rank(&mut self, now: Instant) {
        self.ranked = true;
        for (pid, since) in &self.asked {
            if now.saturating_duration_since(*since) >= ANSWER_TIMEOUT {
                self.known.entry(*pid).or_default().silent = true;
            }
        }
        for (_, list) in LISTS {
            let mut all: Vec<_> = self.known.iter().map(|(pid, k)| (list.rank(k), *pid)).collect();
            let order = |a: &((bool, u64, u64), u32), b: &((bool, u64, u64), u32)| {
                b.0.cmp(&a.0).then(a.1.cmp(&b.1))
            };
            if all.len() > TOP {
                all.select_nth_unstable_by(TOP, order);
                all.truncate(TOP);
            }
            all.sort_unstable_by(order);
            if let Some(top) = self.tops.get_mut(list as usize) {
                *top = all.into_iter().map(|(_, pid)| pid).collect();
            }
        }
        let tops: HashSet<u32> = self.tops.iter().flatten().copied().collect();
        self.about.retain(|pid, _| tops.contains(pid));
        for pid in tops.into_iter().filter(|pid| !self.asked.contains_key(pid)) {
            let tell = self.tell.clone();
            let about = move |p: Option<&kvik_proc::Proc>| {
                let _ = tell.send(Answer::About(pid, p.map(process_details::about)));
            };
            ask(pid, Box::new(about));
        }
    }
    /// The top processes: pid, numbers, and details if they have reported them.
    pub fn top(
        &self,
        list: List,
    ) -> impl Iterator<Item = (u32, &ProcessSample, Option<&ProcessDetails>)> {
        let top = self.tops.get(list as usize).map_or(&[][..], |t| t);
        top.iter().filter_map(|pid| Some((*pid, self.known.get(pid)?, self.about.get(pid))))
    }
    pub fn known(&self, pid: u32) -> Option<&ProcessSample> {
        self.known.get(&pid)
    }
    /// Asks a process for all details. [`ProcessSampler::answers`] returns them.
    pub fn ask_details(&mut self, pid: u32) {
        if !self.details.insert(pid) {
            return;
        }
        let tell = self.tell.clone();
        let details = move |p: Option<&kvik_proc::Proc>| {
            let _ = tell.send(Answer::Details(pid, p.map(process_details::details)));
        };
        ask(pid, Box::new(details));
    }
    /// Details received; `None` for a process that has ended.
    pub fn answers(&mut self) -> Vec<(u32, Option<Value>)> {
        self.hear();
        mem::take(&mut self.answers)
    }
}
