//! Long collections, done by other threads: meanwhile the scheduler runs other processes. A
//! process whose heap is being collected counts as running, as one does that another scheduler
//! runs. See `docs/internals/gc.md`.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};

use kvik_heap::long_collection::LONG_WORDS;
use kvik_heap::GcStats;

use super::{all, send_work, Work};
use crate::clock;
use crate::hooks::hooks;
use crate::process::RunToken;
use crate::trace::gc::Collection;
use crate::Proc;

/// A collection of so many words, some ten milliseconds, is given away if others wait soon.
const SOON_WORDS: usize = 8 * LONG_WORDS;
/// One of so many is given away in any case. For smaller ones of a process that runs alone it costs
/// more than it is worth: the heap is in the caches of this processor (4 ms of 30, of a program
/// that decodes JSON 15%).
const ALWAYS_WORDS: usize = 64 * LONG_WORDS;
/// Timers that are due by then count as processes that wait soon.
pub(super) const SOON_NS: u64 = 10_000_000;

#[derive(Copy, Clone)]
pub(super) enum Kind {
    Usual {
        full: bool,
    },
    /// For hibernation.
    ToFit,
    /// One that copies literals which are to be freed.
    Literals,
}

/// A collection to be done.
struct Job {
    process: RunToken,
    kind: Kind,
    /// What the process's tracers were told of its begin.
    heard: Option<Collection>,
    /// The scheduler that gave it away.
    from: usize,
}

/// A collection that is done. The scheduler that gave it away gets it back.
pub(super) struct Collected {
    pub process: RunToken,
    pub stats: Option<GcStats>,
    pub heard: Option<Collection>,
    pub took_ns: u64,
}

#[derive(Default)]
struct Jobs {
    waiting: VecDeque<Job>,
    /// Threads at work.
    threads: usize,
}

kvik_state::vm_state! {
    static JOBS: Mutex<Jobs> = Mutex::new(Jobs { waiting: VecDeque::new(), threads: 0 });
}

fn jobs() -> MutexGuard<'static, Jobs> {
    JOBS.lock().unwrap_or_else(|e| e.into_inner())
}

/// What a scheduler had run when it last asked whether a collection is for another thread.
#[derive(Copy, Clone, Default)]
pub(super) struct Ran {
    /// The process in question.
    pub pid: u32,
    /// Its reductions then, in time slices.
    pub own: u64,
    /// Time slices of all processes.
    pub all: u64,
}

impl Ran {
    /// Whether others ran since then about as often as this process.
    pub fn others_until(self, now: Ran) -> bool {
        let own = now.own.wrapping_sub(self.own);
        self.pid != now.pid || now.all - self.all > own + own / 8 + 4
    }
}

/// The most words that a collection between two time slices can move; 0 while there can be none.
pub(super) fn words(p: &Proc, kind: Kind) -> usize {
    match p.heap.is_suspended() {
        true => 0,
        false => p.heap.words_to_move(!matches!(kind, Kind::Usual { full: false })),
    }
}
/// Whether another thread should do a long collection: others wait for the scheduler, or will soon.
pub(super) fn is_for_another(words: usize, wait: bool, soon: impl FnOnce() -> bool) -> bool {
    wait || words >= ALWAYS_WORDS || words >= SOON_WORDS && soon()
}

/// Has another thread collect the heap of a process that is between two time slices. As many
/// threads work on that as there are schedulers.
pub(super) fn give(process: RunToken, kind: Kind, from: usize) {
    let heard = match kind {
        Kind::Usual { full } => process.private().gc_begins(full, 0),
        Kind::ToFit | Kind::Literals => None,
    };
    let mut j = jobs();
    j.waiting.push_back(Job { process, kind, heard, from });
    if j.threads < all().len() {
        j.threads += 1;
        drop(j);
        (hooks().on_another_thread)(Box::new(work));
    }
}

fn work() {
    let mut j = jobs();
    while let Some(job) = j.waiting.pop_front() {
        drop(j);
        job.run();
        j = jobs();
    }
    j.threads -= 1;
}

impl Job {
    fn run(self) {
        let Job { mut process, kind, heard, from } = self;
        let began = clock::now();
        let p = process.private_mut();
        let stats = match kind {
            Kind::Usual { full } => Some(p.heap.collect_parked(full)),
            Kind::ToFit => {
                p.collect_to_fit();
                None
            }
            Kind::Literals => p.copy_literals(),
        };
        let took_ns = clock::now() - began;
        send_work(from, Work::Collected(Box::new(Collected { process, stats, heard, took_ns })));
    }
}
