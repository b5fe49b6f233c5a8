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

/// A collection of so many words is given away although no other process waits: one may soon.
const ALWAYS_WORDS: usize = 8 * LONG_WORDS;

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

/// Whether another thread should collect this heap; `others`: processes that wait for the
/// scheduler.
pub(super) fn is_for_another(p: &Proc, kind: Kind, others: usize) -> bool {
    let full = !matches!(kind, Kind::Usual { full: false });
    let words = p.heap.words_to_move(full);
    !p.heap.is_suspended() && words >= if others > 0 { LONG_WORDS } else { ALWAYS_WORDS }
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
                p.heap.collect_to_fit();
                None
            }
            Kind::Literals => p.copy_literals(),
        };
        let took_ns = clock::now() - began;
        send_work(from, Work::Collected(Box::new(Collected { process, stats, heard, took_ns })));
    }
}
